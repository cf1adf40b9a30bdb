/* SPDX-License-Identifier: MIT */
/* Pictures of the examples that draw. */
#ifndef EXAMPLE_PICTURE_H
#define EXAMPLE_PICTURE_H

#include <pumice/pumice_gfx.h>

#include "gpu.h"

/* Write a canvas of RGBA8 as a PPM file. Ends the program when that fails. */
void picture_write(struct gpu *gpu, const struct pumice_canvas *canvas, const char *path);

#endif
