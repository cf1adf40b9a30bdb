// SPDX-License-Identifier: MIT
/*
 * Capture files (hw/formats.xml, capture_file): a
 * frame with the memory bound in its address space.
 *
 * A file is untrusted input: all of it is validated before any
 * object is created, and each rejection reports its reason.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "bound.h"
#include "heaps_internal.h"
#include "internal.h"
#include "pumice/pumice_capture.h"
#include "pumice_regs.h"

#define HEADER_BYTES	(PUMICE_CAPTURE_FILE_WORDS * 4u)
#define RANGE_BYTES	(PUMICE_CAPTURE_FILE_RANGE_WORDS * 4u)
#define MAX_FILE_BYTES	(16ull << 30)	/* larger files are rejected unread */
#define KNOWN_FLAGS	(PUMICE_BIND_READONLY | PUMICE_BIND_NOEXEC | PUMICE_BIND_NULL)

struct pumice_capture {
	u8 *file;
	struct pumice_capture_frame frame;
	u32 ranges;
	struct pumice_capture_range *range;
	struct pumice_bo **bo;		/* of each range, after placement */
	bool placed;
};

/* Destination of the reason of a rejection. */
struct reason {
	char *text;
	size_t bytes;
};

#define REFUSE(reason, ...) fail_text((reason)->text, (reason)->bytes, EINVAL, __VA_ARGS__)

/* ----------------------------------------------------------------- writing */

/* A file that is being written, and the CRC of the data after its header. */
struct sink {
	FILE *file;
	u32 crc;
};

/* Return the error of the last write: the reason, such as a full disk. */
static int write_error(void)
{
	return errno ? -errno : -EIO;
}

static int put(struct sink *sink, const void *data, size_t bytes)
{
	sink->crc = (u32)crc32_z(sink->crc, data, bytes);
	return fwrite(data, 1, bytes, sink->file) == bytes ? 0 : write_error();
}

/* Return the next range to be written, from a range on; NULL if there is none. */
static struct bound_range *written_from(struct bound_range *r)
{
	while (r && r->bo && r->bo->scratch)
		r = bound_next(r);
	return r;
}

static struct bound_range *first_written(struct bound *bound)
{
	return written_from(bound_first(bound));
}

static struct bound_range *next_written(struct bound_range *r)
{
	return written_from(bound_next(r));
}

/* Get the data bytes of a range in a file: 0 for a range without memory. */
static u64 data_bytes(u64 bytes, u32 flags)
{
	return flags & PUMICE_BIND_NULL ? 0 : bytes;
}

static int put_ranges(struct sink *sink, struct bound *bound)
{
	struct bound_range *r;
	int err = 0;

	for (r = first_written(bound); r && !err; r = next_written(r)) {
		u32 words[PUMICE_CAPTURE_FILE_RANGE_WORDS];

		pumice_capture_file_range_pack(words, &(struct pumice_capture_file_range){
			.va = r->at.va, .bytes = r->at.size, .flags = r->flags });
		err = put(sink, words, sizeof(words));
	}
	for (r = first_written(bound); r && !err; r = next_written(r)) {
		void *cpu;

		if (!data_bytes(r->at.size, r->flags))
			continue;
		err = pumice_bo_map((struct pumice_bo *)r->bo, &cpu);
		if (!err)
			err = put(sink, (const u8 *)cpu + r->bo_offset, r->at.size);
	}
	return err;
}

static void pack_header(u32 *words, const struct pumice_capture_frame *frame,
			struct bound *bound, u32 crc)
{
	struct pumice_capture_file h = {
		.crc32 = crc,
		.file_bytes = HEADER_BYTES,
		.geometry = frame->geometry, .render = frame->render,
		.width = frame->width, .height = frame->height, .samples = frame->samples,
		.tile_size = frame->tile_size, .pages = frame->pages,
		.spill_outputs = frame->spill_outputs, .target_count = frame->target_count,
	};
	struct bound_range *r;

	for (r = first_written(bound); r; r = next_written(r)) {
		h.file_bytes += RANGE_BYTES + data_bytes(r->at.size, r->flags);
		h.ranges++;
	}
	memcpy(h.targets, frame->targets, sizeof(h.targets));
	pumice_capture_file_pack(words, &h);
}

/* The header is written last: until then the file is not valid. */
static int write_file(FILE *file, const struct pumice_capture_frame *frame,
		      struct bound *bound)
{
	struct sink sink = { .file = file };
	u32 words[PUMICE_CAPTURE_FILE_WORDS] = { 0 };
	int err;

	if (fwrite(words, sizeof(words), 1, file) != 1)
		return write_error();
	err = put_ranges(&sink, bound);
	if (err)
		return err;
	pack_header(words, frame, bound, sink.crc);
	if (fseek(file, 0, SEEK_SET) || fwrite(words, sizeof(words), 1, file) != 1 ||
	    fflush(file))
		return write_error();
	return 0;
}

int pumice_capture_write(struct pumice_vm *vm, const struct pumice_capture_frame *frame,
			 const char *path)
{
	FILE *file;
	int err;

	if (!frame || !path)
		return fail_null(vm->dev, "capture", frame ? "path" : "frame");
	if (frame->target_count > PUMICE_MAX_TARGETS)
		return fail(vm->dev, EINVAL, "capture: target_count %u is not 0 to %u",
			    frame->target_count, PUMICE_MAX_TARGETS);
	file = fopen(path, "wb");
	if (!file)
		return fail(vm->dev, errno, "capture: %s: %s", path, strerror(errno));
	pthread_mutex_lock(&vm->lock);
	if (vm->bound.incomplete)
		err = -ENOMEM;
	else if (vm->bound.count > PUMICE_CAPTURE_MAX_RANGES)
		err = -E2BIG;
	else
		err = write_file(file, frame, &vm->bound);
	pthread_mutex_unlock(&vm->lock);
	if (fclose(file) && !err)
		err = write_error();
	return err ? fail(vm->dev, -err, "capture: %s: %s", path, strerror(-err)) : 0;
}

/* ----------------------------------------------------------------- reading */

static int check_header(const u8 *file, size_t bytes, struct pumice_capture_file *h,
			const struct reason *reason)
{
	u32 words[PUMICE_CAPTURE_FILE_WORDS];
	enum pumice_unpack unpack;
	u32 crc;

	if (bytes < HEADER_BYTES)
		return REFUSE(reason, "%zu bytes are less than a header's %u: the file is truncated",
			      bytes, HEADER_BYTES);
	memcpy(words, file, sizeof(words));
	unpack = pumice_capture_file_unpack(words, h);
	if (words[0] != PUMICE_CAPTURE_FILE__MAGIC__VALUE)
		return REFUSE(reason, "not a capture file: the first word is %#x, not %#x; write one with "
			      "pumice_capture_write(), or by PUMICE_CAPTURE=FILE of a demo",
			      words[0], PUMICE_CAPTURE_FILE__MAGIC__VALUE);
	if (words[1] != PUMICE_CAPTURE_FILE__VERSION__VALUE)
		return REFUSE(reason, "version %u is not %u: capture the frame again", words[1],
			      PUMICE_CAPTURE_FILE__VERSION__VALUE);
	if (unpack != PUMICE_UNPACK_OK)
		return REFUSE(reason, "reserved bits of the header are set");
	if (h->file_bytes != bytes)
		return REFUSE(reason, "%zu bytes, but the header says %llu: capture the frame again",
			      bytes, (unsigned long long)h->file_bytes);
	if (h->ranges > PUMICE_CAPTURE_MAX_RANGES ||
	    (bytes - HEADER_BYTES) / RANGE_BYTES < h->ranges)
		return REFUSE(reason, "%u ranges are more than fit the file or %u: it is damaged",
			      h->ranges, PUMICE_CAPTURE_MAX_RANGES);
	if (h->target_count > PUMICE_MAX_TARGETS)
		return REFUSE(reason, "%u targets are more than %u: the file is damaged",
			      h->target_count, PUMICE_MAX_TARGETS);
	crc = (u32)crc32_z(0, file + HEADER_BYTES, bytes - HEADER_BYTES);
	if (crc != h->crc32)
		return REFUSE(reason, "damaged: checksum %08x instead of %08x: capture the frame again",
			      crc, h->crc32);
	return 0;
}

/* Parse one range; *data and *left are the rest of the file's data. */
static int parse_range(const u8 *head, const u8 **data, u64 *left,
		       struct pumice_capture_range *out, u64 *last, const struct reason *reason)
{
	const u64 end = 1ull << PUMICE_MMU_VA_BITS;
	struct pumice_capture_file_range r;
	u32 words[PUMICE_CAPTURE_FILE_RANGE_WORDS];
	u64 size;

	memcpy(words, head, sizeof(words));
	if (pumice_capture_file_range_unpack(words, &r) != PUMICE_UNPACK_OK)
		return REFUSE(reason, "reserved bits of a range are set");
	if (r.flags & ~KNOWN_FLAGS)
		return REFUSE(reason,
			      "unknown flags %#x of the range at %#llx; accepted: 0x1 (READONLY), 0x2 (NOEXEC), 0x8 (NULL)",
			      r.flags & ~KNOWN_FLAGS, (unsigned long long)r.va);
	size = data_bytes(r.bytes, r.flags);
	if (!r.bytes || r.bytes % PAGE_BYTES || r.va % PAGE_BYTES)
		return REFUSE(reason, "a range at %#llx of %#llx bytes is not whole pages",
			      (unsigned long long)r.va, (unsigned long long)r.bytes);
	if (r.va < *last || r.va > end || r.bytes > end - r.va)
		return REFUSE(reason, "a range at %#llx of %#llx bytes is not within %#llx to %#llx",
			      (unsigned long long)r.va, (unsigned long long)r.bytes,
			      (unsigned long long)*last, (unsigned long long)end - 1);
	if (size > *left)
		return REFUSE(reason, "a range at %#llx of %#llx bytes, but the file has %#llx more",
			      (unsigned long long)r.va, (unsigned long long)r.bytes,
			      (unsigned long long)*left);
	*out = (struct pumice_capture_range){
		.va = r.va, .bytes = r.bytes, .flags = r.flags, .data = size ? *data : NULL,
	};
	*last = r.va + r.bytes;
	*data += size;
	*left -= size;
	return 0;
}

static int parse_ranges(struct pumice_capture *c, u64 bytes, const struct reason *reason)
{
	const u8 *head = c->file + HEADER_BYTES, *data = head + (u64)c->ranges * RANGE_BYTES;
	u64 left = bytes - (u64)(data - c->file), last = 0;
	int err = 0;
	u32 i;

	c->range = calloc(c->ranges + 1, sizeof(*c->range));
	c->bo = calloc(c->ranges + 1, sizeof(struct pumice_bo *));
	if (!c->range || !c->bo)
		return fail_text(reason->text, reason->bytes, ENOMEM, "out of memory");
	for (i = 0; i < c->ranges && !err; i++)
		err = parse_range(head + (u64)i * RANGE_BYTES, &data, &left, &c->range[i], &last,
				  reason);
	if (!err && left)
		err = REFUSE(reason, "%llu bytes after the last range: the file is damaged",
			     (unsigned long long)left);
	return err;
}

static int parse(struct pumice_capture *c, size_t bytes, const struct reason *reason)
{
	struct pumice_capture_file h = { 0 };
	int err = check_header(c->file, bytes, &h, reason);

	if (err)
		return err;
	c->ranges = h.ranges;
	c->frame = (struct pumice_capture_frame){
		.geometry = h.geometry, .render = h.render, .width = h.width,
		.height = h.height, .samples = h.samples, .tile_size = h.tile_size,
		.pages = h.pages, .spill_outputs = h.spill_outputs,
		.target_count = h.target_count,
	};
	memcpy(c->frame.targets, h.targets, sizeof(c->frame.targets));
	return parse_ranges(c, bytes, reason);
}

/* Parse a file; the capture takes ownership, on failure it is freed. */
static int parse_owned(u8 *file, size_t bytes, struct pumice_capture **capture,
		       const struct reason *reason)
{
	struct pumice_capture *c = calloc(1, sizeof(*c));
	int err;

	if (!c) {
		free(file);
		return fail_text(reason->text, reason->bytes, ENOMEM, "out of memory");
	}
	c->file = file;
	err = parse(c, bytes, reason);
	if (err)
		pumice_capture_destroy(c);
	else
		*capture = c;
	return err;
}

int pumice_capture_parse(const void *data, size_t bytes, struct pumice_capture **capture,
			 char *error, size_t error_bytes)
{
	char text[PUMICE_ERROR_BYTES];
	const struct reason reason = { text, sizeof(text) };
	u8 *file;
	int err;

	if (!data)
		return fail_text(error, error_bytes, EINVAL, "capture: data is NULL; set it");
	file = malloc(bytes + 1);
	if (!file)
		return fail_text(error, error_bytes, ENOMEM, "capture: out of memory");
	memcpy(file, data, bytes);
	err = parse_owned(file, bytes, capture, &reason);
	return err ? fail_text(error, error_bytes, -err, "capture: %s", text) : 0;
}

/* Read a whole file; NULL with errno. */
static u8 *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	struct stat info;
	u8 *data = NULL;

	if (!file)
		return NULL;
	errno = 0;
	if (!fstat(fileno(file), &info)) {
		if (!S_ISREG(info.st_mode)) {
			errno = S_ISDIR(info.st_mode) ? EISDIR : ESPIPE;
		} else if ((u64)info.st_size > MAX_FILE_BYTES) {
			errno = EFBIG;
		} else {
			*bytes = (size_t)info.st_size;
			data = malloc(*bytes + 1);
		}
	}
	if (data && fread(data, 1, *bytes, file) != *bytes) {
		free(data);
		data = NULL;
		errno = EIO;
	}
	fclose(file);
	return data;
}

int pumice_capture_load(const char *path, struct pumice_capture **capture, char *error,
			size_t error_bytes)
{
	char text[PUMICE_ERROR_BYTES];
	const struct reason reason = { text, sizeof(text) };
	size_t bytes;
	u8 *file;
	int err;

	if (!path)
		return fail_text(error, error_bytes, EINVAL, "capture: path is NULL; set it");
	file = read_file(path, &bytes);
	err = errno ? errno : EIO;
	if (!file)
		return fail_text(error, error_bytes, err, "capture: %s: %s", path, err == ESPIPE ?
				 "a pipe or a device: store the capture in a file" : strerror(err));
	err = parse_owned(file, bytes, capture, &reason);
	return err ? fail_text(error, error_bytes, -err, "capture: %s: %s", path, text) : 0;
}

static void destroy_buffers(struct pumice_capture *c)
{
	u32 i;

	for (i = 0; c->bo && i < c->ranges; i++) {
		pumice_bo_destroy(c->bo[i]);
		c->bo[i] = NULL;
	}
}

void pumice_capture_destroy(struct pumice_capture *c)
{
	if (!c)
		return;
	destroy_buffers(c);
	free(c->bo);
	free(c->range);
	free(c->file);
	free(c);
}

const struct pumice_capture_frame *pumice_capture_frame(const struct pumice_capture *capture)
{
	return &capture->frame;
}

int pumice_capture_range(const struct pumice_capture *capture, uint32_t index,
			 struct pumice_capture_range *range)
{
	if (index >= capture->ranges)
		return -ENOENT;
	*range = capture->range[index];
	return 0;
}

/* Check that each range consists of pages of one heap of the device, before anything is changed. */
static int check_place(const struct pumice_capture *c, struct pumice_device *dev)
{
	u32 i;

	for (i = 0; i < c->ranges; i++) {
		const struct pumice_capture_range *r = &c->range[i];
		const struct pumice_heap *heap = heaps_find(dev, r->va);

		if (!heap || heap != heaps_find(dev, r->va + r->bytes - 1))
			return fail(dev, EINVAL,
				    "capture: a range at %#llx of %#llx bytes is not in one heap of this device; see pumice_device_limits()",
				    (unsigned long long)r->va, (unsigned long long)r->bytes);
		if ((r->va | r->bytes) % heap->page_bytes)
			return fail(dev, EINVAL,
				    "capture: a range at %#llx of %#llx bytes does not consist of its heap's pages, %#llx: bind it in the heap of 4 KiB pages",
				    (unsigned long long)r->va, (unsigned long long)r->bytes,
				    (unsigned long long)heap->page_bytes);
	}
	return 0;
}

/* From now on the library places objects in each heap only after the capture's ranges there. */
static int reserve_room(const struct pumice_capture *c, struct pumice_vm *vm)
{
	const struct pumice_heap *heaps = vm->dev->limits.heaps;
	u64 end[PUMICE_MAX_HEAPS] = { 0 };
	u32 i;
	int err = 0;

	for (i = 0; i < c->ranges; i++) {
		const struct pumice_heap *heap = heaps_find(vm->dev, c->range[i].va);

		if (heap)
			end[heap - heaps] = c->range[i].va + c->range[i].bytes;
	}
	for (i = 0; i < vm->dev->limits.heap_count && !err; i++)
		if (end[i])
			err = vm_reserve(vm, i, end[i]);
	return err;
}

/* Create a buffer with the data of a range. */
static int make_bo(const struct pumice_capture_range *r, struct pumice_vm *vm,
		   struct pumice_bo **bo)
{
	void *cpu;
	int err = pumice_bo_create(vm->dev, r->bytes, vm, bo);

	if (!err)
		err = pumice_bo_map(*bo, &cpu);
	if (!err)
		memcpy(cpu, r->data, r->bytes);
	return err;
}

/* Bind a range at its address. */
static int bind_range(const struct pumice_capture_range *r, struct pumice_bo *bo,
		      struct pumice_vm *vm)
{
	const struct pumice_bind op = { .bo = bo, .va = r->va, .size = r->bytes,
					.flags = r->flags };
	const u64 page = heaps_find(vm->dev, r->va)->page_bytes;
	int err = pumice_vm_bind(vm, &op, 1, NULL);

	/* All else that could be invalid about a buffer has been checked. */
	if (err == -EINVAL && bo && page > PAGE_BYTES)
		return fail(vm->dev, EINVAL,
			    "capture: memory for a range at %#llx of %#llx bytes is not contiguous for pages of %#llx: free memory, or replay it in process",
			    (unsigned long long)r->va, (unsigned long long)r->bytes,
			    (unsigned long long)page);
	return err;
}

int pumice_capture_place(struct pumice_capture *c, struct pumice_vm *vm)
{
	int err;
	u32 i;

	if (c->placed)
		return fail(vm->dev, EBUSY,
			    "capture: it is in a vm already; load it again for another one");
	err = check_place(c, vm->dev);
	if (!err && c->ranges)
		err = reserve_room(c, vm);
	for (i = 0; i < c->ranges && !err; i++) {
		if (c->range[i].data)
			err = make_bo(&c->range[i], vm, &c->bo[i]);
		if (!err)
			err = bind_range(&c->range[i], c->bo[i], vm);
	}
	if (err)
		destroy_buffers(c);
	c->placed = !err;
	return err;
}

/* ------------------------------------------------------- inspection of GPU */

int pumice_hwrt_layout(const struct pumice_hwrt *hwrt, uint32_t scene,
		       struct pumice_hwrt_layout *layout)
{
	struct pumice_device *dev = hwrt->dev;

	if (!dev->ops->hwrt_layout)
		return fail(dev, EOPNOTSUPP,
			    "parameter buffer: only an in-process device can read it; open inproc");
	return dev->ops->hwrt_layout(hwrt, scene, layout);
}

int pumice_vm_peek(struct pumice_vm *vm, uint64_t va, void *data, uint64_t bytes)
{
	if (!vm->dev->ops->vm_peek)
		return fail(vm->dev, EOPNOTSUPP,
			    "peek: only an in-process device can read memory; open inproc");
	return vm->dev->ops->vm_peek(vm, va, data, bytes);
}
