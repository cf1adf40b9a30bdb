/* SPDX-License-Identifier: MIT */
/* Pictures as PNG files, by libpng. */
#ifndef PUMICE_DEMO_PICTURE_H
#define PUMICE_DEMO_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

/* Write width x height pixels of 8-bit R, G, B, row by row from the top. */
bool picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb);

#endif
