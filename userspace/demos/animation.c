// SPDX-License-Identifier: MIT
/* Animations as GIF files. */
#include "animation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <gif_lib.h>

#define SHADES 256

struct animation {
	GifFileType *gif;
	uint32_t width, height;
};

/* The Netscape extension, by which a GIF repeats. */
static bool put_loop(GifFileType *gif)
{
	static const unsigned char for_ever[3] = { 1, 0, 0 };

	return EGifPutExtensionLeader(gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
	       EGifPutExtensionBlock(gif, 11, "NETSCAPE2.0") == GIF_OK &&
	       EGifPutExtensionBlock(gif, sizeof(for_ever), for_ever) == GIF_OK &&
	       EGifPutExtensionTrailer(gif) == GIF_OK;
}

static bool put_head(struct animation *a, const uint8_t rgb[3])
{
	ColorMapObject *map = GifMakeMapObject(SHADES, NULL);
	bool ok;

	if (!map)
		return false;
	for (int i = 0; i < SHADES; i++) {
		map->Colors[i].Red = (GifByteType)(rgb[0] * i / 255);
		map->Colors[i].Green = (GifByteType)(rgb[1] * i / 255);
		map->Colors[i].Blue = (GifByteType)(rgb[2] * i / 255);
	}
	EGifSetGifVersion(a->gif, true);
	ok = EGifPutScreenDesc(a->gif, (int)a->width, (int)a->height, 8, 0, map) == GIF_OK &&
	     put_loop(a->gif);
	GifFreeMapObject(map);
	return ok;
}

struct animation *animation_open(const char *path, uint32_t width, uint32_t height,
				 const uint8_t rgb[3])
{
	struct animation *a = calloc(1, sizeof(*a));
	int error, fd;

	if (!a)
		return NULL;
	a->width = width;
	a->height = height;
	/* By name giflib would make a file that only its owner may read. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd >= 0)
		a->gif = EGifOpenFileHandle(fd, &error);
	if (a->gif && put_head(a, rgb))
		return a;
	if (a->gif)
		EGifCloseFile(a->gif, &error);
	else if (fd >= 0)
		close(fd);
	free(a);
	return NULL;
}

bool animation_frame(struct animation *a, uint8_t *values, unsigned int hundredths)
{
	const GraphicsControlBlock control = {
		.DisposalMode = DISPOSE_DO_NOT, .DelayTime = (int)hundredths,
		.TransparentColor = NO_TRANSPARENT_COLOR,
	};
	GifByteType extension[4];

	EGifGCBToExtension(&control, extension);
	if (EGifPutExtension(a->gif, GRAPHICS_EXT_FUNC_CODE, sizeof(extension), extension) !=
	    GIF_OK || EGifPutImageDesc(a->gif, 0, 0, (int)a->width, (int)a->height, false, NULL) !=
	    GIF_OK)
		return false;
	for (uint32_t y = 0; y < a->height; y++) {
		if (EGifPutLine(a->gif, values + (size_t)y * a->width, (int)a->width) != GIF_OK)
			return false;
	}
	return true;
}

bool animation_close(struct animation *a)
{
	int error;
	bool ok = EGifCloseFile(a->gif, &error) == GIF_OK;

	free(a);
	return ok;
}
