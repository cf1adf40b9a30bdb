/* SPDX-License-Identifier: MIT */
/* Internal interface of pumice-frame. */
#ifndef PUMICE_FRAME_H
#define PUMICE_FRAME_H

#include <stdio.h>

#include <pumice/pumice_capture.h>

#define FRAME_TOOL	"pumice-frame"

/* A captured frame on a separate GPU. */
struct frame {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_capture *capture;
	const struct pumice_capture_frame *desc;
	struct pumice_freelist *list;
	struct pumice_hwrt *hwrt;
	uint32_t cores;
	uint32_t tile_w, tile_h, tiles_x, tiles_y;
};

/* All of them exit with a message on failure. */
_Noreturn void frame_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* frame_print.c: print the streams and records of the frame, decoded. */
void frame_print(const struct frame *frame, FILE *out);

/*
 * frame_lists.c: print the primitives of each tile, read from the parameter buffer after the
 * replay.
 */
void frame_lists(const struct frame *frame, FILE *out);

/* frame_picture.c: return target n as 8-bit R, G, B; free() it. */
uint8_t *frame_picture(const struct frame *frame, uint32_t n, uint32_t *width, uint32_t *height);

#endif
