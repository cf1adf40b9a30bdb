// SPDX-License-Identifier: MIT
/* Pictures as PNG files, by libpng's simplified interface. */
#include "picture.h"

#include <png.h>

bool picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *rgb)
{
	png_image image = { .version = PNG_IMAGE_VERSION, .width = width, .height = height,
			    .format = PNG_FORMAT_RGB };

	return png_image_write_to_file(&image, path, 0, rgb, 0, NULL) != 0;
}
