/* SPDX-License-Identifier: MIT */
/* Animations as GIF files, by giflib: frames of up to 256 shades from black to a colour. */
#ifndef PUMICE_DEMO_ANIMATION_H
#define PUMICE_DEMO_ANIMATION_H

#include <stdbool.h>
#include <stdint.h>

struct animation;

/*
 * Begin a file of width x height pixels that repeats for ever. rgb is what value
 * 255 looks like; value v is v / 255 of it. NULL where the file cannot be made.
 */
struct animation *animation_open(const char *path, uint32_t width, uint32_t height,
				 const uint8_t rgb[3]);
/* One frame, shown for hundredths of a second. The values stay, though giflib may write to them. */
bool animation_frame(struct animation *animation, uint8_t *values, unsigned int hundredths);
/* False where not all of it could be written. */
bool animation_close(struct animation *animation);

#endif
