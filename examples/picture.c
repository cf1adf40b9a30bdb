// SPDX-License-Identifier: MIT
/* Pictures of the examples that draw: see picture.h. */
#include "picture.h"

#include <stdio.h>
#include <stdlib.h>

static void write_rgb(const uint8_t *texels, uint32_t width, uint32_t height, const char *path)
{
	FILE *file = fopen(path, "wb");

	if (!file) {
		perror(path);
		exit(1);
	}
	fprintf(file, "P6 %u %u 255\n", width, height);
	for (size_t i = 0; i < (size_t)width * height; i++)
		fwrite(texels + 4 * i, 3, 1, file);
	if (fclose(file)) {
		perror(path);
		exit(1);
	}
	printf("wrote %s\n", path);
}

void picture_write(struct gpu *gpu, const struct pumice_canvas *canvas, const char *path)
{
	const struct pumice_image *image = pumice_canvas_image(canvas);
	struct pumice_image_desc desc;
	uint8_t *texels;

	pumice_image_info(image, &desc);
	texels = malloc((size_t)desc.width * desc.height * 4);
	if (!texels) {
		perror("picture");
		exit(1);
	}
	gpu_check(gpu, pumice_image_download(image, (struct pumice_image_part){ 0, 0 }, texels, 0),
		  "download");
	write_rgb(texels, desc.width, desc.height, path);
	free(texels);
}
