/* SPDX-License-Identifier: MIT */
/* Pictures as PNG files, by libpng. */
#ifndef PUMICE_DEMO_PICTURE_H
#define PUMICE_DEMO_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Write width x height pixels of 8-bit R, G, B, row by row from the top. */
bool picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);

/*
 * Read a PNG file as words of 8-bit R, G, B, A, R lowest; free()
 * them. NULL, with a reason in *error, if it is not a PNG file
 * or has 0 or more than max pixels in a line or column.
 */
uint32_t *picture_read(const char *path, uint32_t max, uint32_t *width, uint32_t *height,
		       const char **error);

#endif
