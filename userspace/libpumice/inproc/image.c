// SPDX-License-Identifier: MIT
/* In-process backend: reading and checking a firmware file (struct fwif_image_header). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "inproc.h"

#define REFUSE(...) fail_text(error, error_bytes, EINVAL, "firmware " __VA_ARGS__)

static int check_header(const struct fwif_image_header *h, const char *path, char *error,
			size_t error_bytes)
{
	if (h->magic != FWIF_IMAGE_MAGIC)
		return REFUSE("%.100s: not a firmware file: the first word is %#x, not %#x", path,
			      h->magic, FWIF_IMAGE_MAGIC);
	if (h->version >> 16 != FWIF_VERSION_MAJOR)
		return REFUSE("%.100s: interface %u.%u is not %u.x: install the library's", path,
			      h->version >> 16, h->version & 0xffff, FWIF_VERSION_MAJOR);
	if (!h->payload_bytes || h->payload_bytes > PUMICE_FW_RAM_SIZE || h->payload_bytes % 4 ||
	    h->file_bytes != h->payload_bytes + sizeof(*h) || h->entry >= h->payload_bytes ||
	    h->entry % 2)
		return REFUSE("%.100s: damaged header: install it again", path);
	return 0;
}

static int read_image(FILE *f, const char *path, struct fwif_image_header *h, void **payload,
		      char *error, size_t error_bytes)
{
	u32 crc;
	int err;

	if (fread(h, sizeof(*h), 1, f) != 1)
		return REFUSE("%.100s: truncated file: install it again", path);
	err = check_header(h, path, error, error_bytes);
	if (err)
		return err;
	*payload = malloc(h->payload_bytes);
	if (!*payload)
		return fail_text(error, error_bytes, ENOMEM, "firmware: out of memory");
	if (fread(*payload, h->payload_bytes, 1, f) != 1)
		err = REFUSE("%.100s: truncated file: install it again", path);
	else if ((crc = (u32)crc32(0, *payload, h->payload_bytes)) != h->crc32)
		err = REFUSE("%.100s: damaged: checksum %08x instead of %08x: install it again",
			     path, crc, h->crc32);
	if (err)
		free(*payload);
	return err;
}

int image_load(const char *path, struct fwif_image_header *header, void **payload, char *error,
	       size_t error_bytes)
{
	FILE *f = fopen(path, "rb");
	int err;

	if (!f)
		return fail_text(error, error_bytes, errno, "firmware %.100s: %s", path,
				 strerror(errno));
	err = read_image(f, path, header, payload, error, error_bytes);
	fclose(f);
	return err;
}
