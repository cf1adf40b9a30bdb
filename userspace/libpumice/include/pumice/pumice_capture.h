/* SPDX-License-Identifier: MIT */
/*
 * libpumice, captures: a frame with all memory that its jobs can access, in a file.
 *
 * pumice_capture_write() is called instead of, or before, pumice_render(): the
 * replay begins with the contents of the buffers at that time. pumice-frame
 * replays a file on a GPU inside its own process and shows the events.
 *
 * Errors, threads and lifetimes are as in pumice.h.
 */
#ifndef PUMICE_PUMICE_CAPTURE_H
#define PUMICE_PUMICE_CAPTURE_H

#include "pumice_gfx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of ranges of a capture; more return -E2BIG. */
#define PUMICE_CAPTURE_MAX_RANGES 65536

/** struct pumice_capture_frame - captured state other than memory. */
struct pumice_capture_frame {
	/** @geometry: vertex control stream */
	uint64_t geometry;
	/** @render: render record */
	uint64_t render;
	/** @width: of the data set, pixels */
	uint32_t width;
	/** @height: of the data set, pixels */
	uint32_t height;
	/** @samples: of the data set */
	uint32_t samples;
	/** @tile_size: of the data set, enum pumice_tile_size */
	uint32_t tile_size;
	/** @pages: pages of its free list */
	uint32_t pages;
	/** @spill_outputs: as in struct pumice_hwrt_desc */
	uint32_t spill_outputs;
	/** @target_count: images that the frame is stored to, at most PUMICE_MAX_TARGETS */
	uint32_t target_count;
	/** @targets: their texture structures */
	uint32_t targets[PUMICE_MAX_TARGETS][8];
};

/** pumice_capture_frame_init - initialise: one sample, a parameter buffer of 4 MiB, no targets. */
void pumice_capture_frame_init(struct pumice_capture_frame *frame);

/** struct pumice_capture_range - memory of a capture. */
struct pumice_capture_range {
	/** @va: GPU virtual address, page aligned */
	uint64_t va;
	/** @bytes: whole pages */
	uint64_t bytes;
	/** @flags: PUMICE_BIND_* */
	uint32_t flags;
	/** @data: @bytes bytes, owned by the capture; NULL with PUMICE_BIND_NULL */
	const void *data;
};

/** struct pumice_capture - a capture file in memory. */
struct pumice_capture;

/**
 * pumice_capture_write - write a file.
 * @vm: all its bound buffers are captured; jobs that write them must have ended.
 *   NULL mappings are captured as ranges without data
 * @frame: jobs and their data set
 * @path: file, replaced if it exists
 *
 * Return: 0, -EINVAL, -E2BIG, -ENOMEM, or the error of writing the file.
 */
int pumice_capture_write(struct pumice_vm *vm, const struct pumice_capture_frame *frame,
			 const char *path);

/**
 * pumice_capture_parse - read a capture.
 * @data: the file's bytes; not needed after the call
 * @bytes: of @data
 * @capture: out
 * @error: text of the error; may be NULL
 * @error_bytes: of @error
 *
 * Return: 0, -EINVAL if it is not a valid capture, -ENOMEM.
 */
int pumice_capture_parse(const void *data, size_t bytes, struct pumice_capture **capture,
			 char *error, size_t error_bytes);

/** pumice_capture_load - load the same from a file. Return: as parse, or the error of reading. */
int pumice_capture_load(const char *path, struct pumice_capture **capture, char *error,
			size_t error_bytes);

/** pumice_capture_destroy - free it. */
void pumice_capture_destroy(struct pumice_capture *capture);

/** pumice_capture_frame - return the captured state other than memory. */
const struct pumice_capture_frame *pumice_capture_frame(const struct pumice_capture *capture);

/** pumice_capture_range - get range @index, by address. Return: 0, or -ENOENT beyond the last. */
int pumice_capture_range(const struct pumice_capture *capture, uint32_t index,
			 struct pumice_capture_range *range);

/**
 * pumice_capture_place - bind a capture's memory at its addresses in an empty VM.
 *
 * A capture is placed once; again only after an error, in another VM. The buffers live as long as
 * the capture: destroy it after the VM.
 *
 * Return: 0, -ENOMEM, -EBUSY if it is placed, -E2BIG for a NULL mapping that is too large; -EINVAL,
 * before anything is bound, if a range is not in one heap of the device
 * (pumice_device_limits.heaps) or has not whole pages of it, and for a range whose memory is not
 * contiguous for these.
 */
int pumice_capture_place(struct pumice_capture *capture, struct pumice_vm *vm);

/** struct pumice_hwrt_layout - location of a data set's parameter buffer. */
struct pumice_hwrt_layout {
	/** @regions: region headers: for each core those of all tiles */
	uint64_t regions;
	/** @lists: page 0 of the local and the global free list; 0: none */
	uint64_t lists[2];
};

/**
 * pumice_hwrt_layout - get the location of a scene's parameter buffer; in process only.
 * Return: 0, -EOPNOTSUPP.
 */
int pumice_hwrt_layout(const struct pumice_hwrt *hwrt, uint32_t scene,
		       struct pumice_hwrt_layout *layout);

/**
 * pumice_vm_peek - read memory as the GPU sees it, including the parameter buffer; in process only.
 * Return: 0, -EFAULT where nothing is mapped, -EOPNOTSUPP.
 */
int pumice_vm_peek(struct pumice_vm *vm, uint64_t va, void *data, uint64_t bytes);

#ifdef __cplusplus
}
#endif

#endif
