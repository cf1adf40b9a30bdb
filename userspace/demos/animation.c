// SPDX-License-Identifier: MIT
/* Animations as GIF files. */
#include "animation.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <gif_lib.h>

#define SHADES 256
#define REDS 6
#define GREENS 7
#define BLUES 6

struct animation {
	GifFileType *gif;
	uint32_t width, height;
};

/* Write the Netscape extension, which makes a GIF repeat. */
static bool put_loop(GifFileType *gif)
{
	static const unsigned char for_ever[3] = { 1, 0, 0 };

	return EGifPutExtensionLeader(gif, APPLICATION_EXT_FUNC_CODE) == GIF_OK &&
	       EGifPutExtensionBlock(gif, 11, "NETSCAPE2.0") == GIF_OK &&
	       EGifPutExtensionBlock(gif, sizeof(for_ever), for_ever) == GIF_OK &&
	       EGifPutExtensionTrailer(gif) == GIF_OK;
}

/* Build the palette: shades of a colour, or, without one, the colours of pictures. */
static void fill_map(GifColorType *colour, const uint8_t *rgb)
{
	for (int i = 0; i < SHADES; i++) {
		if (rgb) {
			colour[i].Red = (GifByteType)(rgb[0] * i / 255);
			colour[i].Green = (GifByteType)(rgb[1] * i / 255);
			colour[i].Blue = (GifByteType)(rgb[2] * i / 255);
		} else {
			colour[i].Red = (GifByteType)(i % REDS * 255 / (REDS - 1));
			colour[i].Green = (GifByteType)(i / REDS % GREENS * 255 / (GREENS - 1));
			colour[i].Blue =
				(GifByteType)(i / REDS / GREENS % BLUES * 255 / (BLUES - 1));
		}
	}
}

static bool put_head(struct animation *a, const uint8_t *rgb)
{
	ColorMapObject *map = GifMakeMapObject(SHADES, NULL);
	bool ok;

	if (!map)
		return false;
	fill_map(map->Colors, rgb);
	EGifSetGifVersion(a->gif, true);
	ok = EGifPutScreenDesc(a->gif, (int)a->width, (int)a->height, 8, 0, map) == GIF_OK &&
	     put_loop(a->gif);
	GifFreeMapObject(map);
	return ok;
}

static struct animation *open_file(const char *path, uint32_t width, uint32_t height,
				   const uint8_t *rgb)
{
	struct animation *a = calloc(1, sizeof(*a));
	int error, fd;

	if (!a)
		return NULL;
	a->width = width;
	a->height = height;
	/* Given a name, giflib would create a file that only its owner may read. */
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

struct animation *animation_open(const char *path, uint32_t width, uint32_t height,
				 const uint8_t rgb[3])
{
	return open_file(path, width, height, rgb);
}

struct animation *animation_open_pictures(const char *path, uint32_t width, uint32_t height)
{
	return open_file(path, width, height, NULL);
}

/* Dither an 8-bit value to one of n shades; threshold: 0 to 15. */
static unsigned int shade(unsigned int value, unsigned int n, unsigned int threshold)
{
	return (value * (n - 1) * 16 + threshold * 255 + 127) / (255 * 16);
}

bool animation_picture(struct animation *a, const uint8_t *rgb, unsigned int hundredths)
{
	static const uint8_t order[4][4] = {
		{ 0, 8, 2, 10 }, { 12, 4, 14, 6 }, { 3, 11, 1, 9 }, { 15, 7, 13, 5 },
	};
	uint8_t *values = malloc((size_t)a->width * a->height);
	bool ok;

	if (!values)
		return false;
	for (size_t i = 0; i < (size_t)a->width * a->height; i++) {
		const uint8_t *p = &rgb[i * 3];
		const unsigned int t = order[i / a->width % 4][i % a->width % 4];

		values[i] = (uint8_t)(shade(p[0], REDS, t) + REDS * (shade(p[1], GREENS, t) +
				      GREENS * shade(p[2], BLUES, t)));
	}
	ok = animation_frame(a, values, hundredths);
	free(values);
	return ok;
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
