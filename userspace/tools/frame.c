// SPDX-License-Identifier: MIT
/*
 * pumice-frame: replays a captured frame on a GPU inside this process.
 *
 * Prints streams and records decoded, writes the list of every
 * tile and the stored image, as a whole picture and per tile.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "frame.h"
#include "../demos/picture.h"

struct options {
	const char *dir, *device, *file;
	bool tiles, print;
};

void frame_fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, FRAME_TOOL ": ");
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

static void check(const struct frame *f, int err)
{
	if (err)
		frame_fail("%s", pumice_device_error(f->dev));
}

/* Create a file in the folder of the results. */
static FILE *open_result(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file)
		frame_fail("%s: %s", path, strerror(errno));
	return file;
}

static void close_result(FILE *file)
{
	if (fclose(file))
		frame_fail("a result cannot be written: %s", strerror(errno));
}

static void tile_grid(struct frame *f, const struct options *o)
{
	static const uint32_t size[PUMICE_TILE_SIZE_COUNT][2] = {
		[PUMICE_TILE_SIZE_32X32] = { 32, 32 },
		[PUMICE_TILE_SIZE_16X16] = { 16, 16 },
		[PUMICE_TILE_SIZE_32X16] = { 32, 16 },
	};

	if (!pumice_tile_size_valid(f->desc->tile_size))
		frame_fail("%s: unknown tile_size %u; 0 to %u are known: capture the frame again",
			   o->file, f->desc->tile_size, PUMICE_TILE_SIZE_COUNT - 1);
	f->tile_w = size[f->desc->tile_size][0];
	f->tile_h = size[f->desc->tile_size][1];
	f->tiles_x = (f->desc->width + f->tile_w - 1) / f->tile_w;
	f->tiles_y = (f->desc->height + f->tile_h - 1) / f->tile_h;
}

static void open_frame(struct frame *f, const struct options *o)
{
	struct pumice_freelist_desc list = { 0 };
	struct pumice_hwrt_desc hwrt = { 0 };
	struct pumice_device_info info;
	char error[PUMICE_ERROR_BYTES];

	f->dev = command_device_open(FRAME_TOOL, o->device);
	if (pumice_capture_load(o->file, &f->capture, error, sizeof(error)))
		frame_fail("%s", error);
	f->desc = pumice_capture_frame(f->capture);
	pumice_device_info(f->dev, &info);
	f->cores = info.cores;
	tile_grid(f, o);
	check(f, pumice_vm_create(f->dev, &f->vm));
	check(f, pumice_capture_place(f->capture, f->vm));
	list.initial_pages = list.max_pages = f->desc->pages;
	check(f, pumice_freelist_create(f->vm, &list, &f->list));
	hwrt.width = f->desc->width;
	hwrt.height = f->desc->height;
	hwrt.samples = f->desc->samples;
	hwrt.tile_size = f->desc->tile_size;
	hwrt.spill_outputs = f->desc->spill_outputs;
	hwrt.local = f->list;
	check(f, pumice_hwrt_create(f->vm, &hwrt, &f->hwrt));
}

static void close_frame(struct frame *f)
{
	pumice_hwrt_destroy(f->hwrt);
	pumice_freelist_destroy(f->list);
	pumice_vm_destroy(f->vm);
	pumice_capture_destroy(f->capture);
	pumice_device_close(f->dev);
}

/* Run both jobs; a fault is reported, and the available part of the frame is still shown. */
static bool replay(const struct frame *f)
{
	const struct pumice_frame jobs = {
		.hwrt = f->hwrt, .geometry = f->desc->geometry, .render = f->desc->render,
	};
	struct pumice_context_state state = { 0 };
	struct pumice_job_result geometry;
	struct pumice_context *context;
	int err;

	check(f, pumice_context_create_type(f->vm, PUMICE_CONTEXT_RENDER, PUMICE_PRIORITY_NORMAL,
					    &context));
	err = pumice_render(context, &jobs, PUMICE_FOREVER, &state);
	if (err)
		fprintf(stderr, FRAME_TOOL ": the frame failed: %s\n", pumice_device_error(f->dev));
	if (!pumice_context_get_job_result(context, 1, &geometry, sizeof(geometry)) &&
	    geometry.partial_renders)
		fprintf(stderr, FRAME_TOOL ": %u pages were too few and led to %u partial renders; "
			"capture with a larger free list to see none\n",
			f->desc->pages, geometry.partial_renders);
	pumice_context_destroy(context);
	return !err;
}

/* Write a rectangle of a picture, clipped to its edges. */
static void write_part(const char *path, const uint8_t *rgb, const uint32_t size[2],
		       const uint32_t at[2], const uint32_t part[2])
{
	const uint32_t w = at[0] + part[0] > size[0] ? size[0] - at[0] : part[0];
	const uint32_t h = at[1] + part[1] > size[1] ? size[1] - at[1] : part[1];
	uint8_t *out = malloc((size_t)w * h * 3);

	if (!out)
		frame_fail("out of memory");
	for (uint32_t y = 0; y < h; y++)
		memcpy(out + (size_t)y * w * 3,
		       rgb + ((size_t)(at[1] + y) * size[0] + at[0]) * 3, (size_t)w * 3);
	if (!picture_write(path, w, h, out))
		frame_fail("%s: cannot be written: %s", path, strerror(errno));
	free(out);
}

static void write_tiles(const struct frame *f, const char *dir, const uint8_t *rgb,
			const uint32_t size[2])
{
	const uint32_t part[2] = { f->tile_w, f->tile_h };
	char path[4096];

	for (uint32_t y = 0; y < f->tiles_y; y++) {
		for (uint32_t x = 0; x < f->tiles_x; x++) {
			const uint32_t at[2] = { x * f->tile_w, y * f->tile_h };

			if (at[0] >= size[0] || at[1] >= size[1])
				continue;
			snprintf(path, sizeof(path), "%s/tile-%03u-%03u.png", dir, x, y);
			write_part(path, rgb, size, at, part);
		}
	}
}

static void write_targets(const struct frame *f, const struct options *o)
{
	static const uint32_t corner[2];
	char path[4096];

	for (uint32_t n = 0; n < f->desc->target_count; n++) {
		uint32_t size[2];
		uint8_t *rgb = frame_picture(f, n, &size[0], &size[1]);

		snprintf(path, sizeof(path), "%s/target-%u.png", o->dir, n);
		write_part(path, rgb, size, corner, size);
		if (!n && o->tiles)
			write_tiles(f, o->dir, rgb, size);
		free(rgb);
	}
}

static void parse_options(int argc, char **argv, struct options *o)
{
	const struct command_option options[] = {
		{ .letter = 'd', .name = "device", .value = "DEVICE", .text = &o->device,
		  .help = "the GPU: inproc, inproc:cores=1,threads=0 …; drm is refused\n"
			  "(default inproc:cores=4,threads=2)" },
		COMMAND_OUTPUT(&o->dir, "DIR", "where to write lists.txt, streams.txt, target-N.png\n"
			       "(default: the current folder)"),
		{ 'p', "print", NULL, "print the streams instead of writing them",
		  .flag = &o->print },
		{ 't', "tiles", NULL, "also each tile's part of target 0, as tile-X-Y.png",
		  .flag = &o->tiles },
		{ 0 }
	};
	const struct command command = {
		.name = FRAME_TOOL,
		.words = "FILE",
		.min_words = 1, .max_words = 1,
		.purpose = "Replays a frame that pumice_capture_write() wrote, on a GPU in this process.\n",
		.options = options,
		.versions = COMMAND_VERSION_GPU | COMMAND_VERSION_CAPTURE,
	};

	o->file = argv[command_line(&command, argc, argv)];
	if (!strncmp(o->device, "drm", strlen("drm")))
		command_refuse(&command, "-d %s: a frame is replayed on a GPU in this process, inproc",
			       o->device);
}

int main(int argc, char **argv)
{
	struct options o = { .dir = ".", .device = "inproc:cores=4,threads=2" };
	struct frame f = { 0 };
	FILE *out;
	bool good;

	parse_options(argc, argv, &o);
	open_frame(&f, &o);
	if (mkdir(o.dir, 0777) && errno != EEXIST)
		frame_fail("%s: %s", o.dir, strerror(errno));
	out = o.print ? stdout : open_result(o.dir, "streams.txt");
	frame_print(&f, out);
	if (!o.print)
		close_result(out);
	good = replay(&f);
	out = open_result(o.dir, "lists.txt");
	frame_lists(&f, out);
	close_result(out);
	write_targets(&f, &o);
	close_frame(&f);
	return !good;
}
