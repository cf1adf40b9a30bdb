// SPDX-License-Identifier: MIT
/* Pictures as PNG files, by libpng's simplified interface. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

#include <png.h>

bool picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb)
{
	png_image image = { .version = PNG_IMAGE_VERSION, .width = width, .height = height,
			    .format = PNG_FORMAT_RGB };

	return png_image_write_to_file(&image, path, 0, rgb, 0, NULL) != 0;
}

uint32_t *picture_read(const char *path, uint32_t max, uint32_t *width, uint32_t *height,
		       const char **error)
{
	static char text[64];
	png_image image = { .version = PNG_IMAGE_VERSION };
	uint32_t *pixels = NULL;

	*error = "its width or height is 0, or too large";
	if (png_image_begin_read_from_file(&image, path)) {
		image.format = PNG_FORMAT_RGBA;
		if (image.width && image.height && image.width <= max && image.height <= max)
			pixels = malloc((size_t)image.width * image.height * sizeof(*pixels));
		if (pixels && png_image_finish_read(&image, NULL, pixels, 0, NULL)) {
			*width = image.width;
			*height = image.height;
			return pixels;
		}
	}
	if (image.message[0]) {
		snprintf(text, sizeof(text), "%s", image.message);
		*error = text;
	}
	png_image_free(&image);
	free(pixels);
	return NULL;
}
