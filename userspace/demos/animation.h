/* SPDX-License-Identifier: MIT */
/*
 * Animations as GIF files, by giflib: frames of up to 256 shades from black to a
 * colour, or of pictures in 252 colours.
 */
#ifndef PUMICE_DEMO_ANIMATION_H
#define PUMICE_DEMO_ANIMATION_H

#include <stdbool.h>
#include <stdint.h>

struct animation;

/*
 * Begin a file of width x height pixels that repeats endlessly. rgb is the colour
 * of value 255; value v is v / 255 of it. NULL if the file cannot be created.
 */
struct animation *animation_open(const char *path, uint32_t width, uint32_t height,
				 const uint8_t rgb[3]);
/*
 * Open a file of pictures: 6 shades of red and blue and 7 of green, with an ordered dither.
 */
struct animation *animation_open_pictures(const char *path, uint32_t width, uint32_t height);
/* Add one frame of 8-bit R, G, B, row by row from the top, of an animation of pictures. */
bool animation_picture(struct animation *animation, const uint8_t *rgb, unsigned int hundredths);
/* Add a frame, shown for hundredths of a second. giflib may rewrite values, but unchanged. */
bool animation_frame(struct animation *animation, uint8_t *values, unsigned int hundredths);
/* Finish the file. False if it could not be written completely. */
bool animation_close(struct animation *animation);

#endif
