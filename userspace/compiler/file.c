// SPDX-License-Identifier: MIT
/* Files of the command-line tools. */
#include "file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (64u << 20)	/* larger inputs are refused */

static char *read_all(FILE *in, size_t *bytes)
{
	char *data = NULL;
	size_t room = 0, used = 0, got;

	do {
		if (room - used < 4096) {
			char *grown = realloc(data, room = room ? 2 * room : 16384);

			if (!grown || room > 2 * MAX_BYTES) {
				free(grown ? grown : data);
				errno = grown ? EFBIG : ENOMEM;
				return NULL;
			}
			data = grown;
		}
		got = fread(data + used, 1, room - used - 1, in);
		used += got;
	} while (got);
	if (ferror(in)) {
		free(data);
		return NULL;
	}
	data[used] = '\0';
	*bytes = used;
	return data;
}

char *file_read(const char *tool, const char *path, size_t *bytes)
{
	FILE *in = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	char *data = in ? read_all(in, bytes) : NULL;

	if (!data)
		fprintf(stderr, "%s: %s: %s\n", tool, path, strerror(errno));
	if (in && in != stdin)
		fclose(in);
	return data;
}

int file_write(const char *tool, const char *path, const void *data, size_t bytes)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "wb") : stdout;
	int failed = !out || fwrite(data, 1, bytes, out) != bytes || fflush(out);
	int error = errno;

	if (out && out != stdout && fclose(out) && !failed) {
		failed = 1;
		error = errno;
	}
	if (!failed)
		return 0;
	if (out && out != stdout)
		remove(path);
	fprintf(stderr, "%s: %s: %s\n", tool, path, strerror(error));
	return 1;
}
