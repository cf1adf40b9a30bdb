// SPDX-License-Identifier: MIT
/* Files of the command-line tools. */
#include "file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_BYTES (64u << 20)	/* larger inputs are rejected */

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

	int error = errno;

	if (!data && tool)
		fprintf(stderr, "%s: %s: %s\n", tool, path, strerror(error));
	if (in && in != stdin)
		fclose(in);
	errno = error;
	return data;
}

/*
 * Return whether this is a file that is worth nothing with a part of its contents; a device is not.
 */
static bool is_removable(FILE *file)
{
	struct stat st;

	return file && file != stdout && !fstat(fileno(file), &st) && S_ISREG(st.st_mode);
}

int file_write(const char *tool, const char *path, const void *data, size_t bytes)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "wb") : stdout;
	int failed = !out || fwrite(data, 1, bytes, out) != bytes || fflush(out);
	int error = errno;
	const bool removable = is_removable(out);

	if (out && out != stdout && fclose(out) && !failed) {
		failed = 1;
		error = errno;
	}
	if (!failed)
		return 0;
	if (removable)
		remove(path);
	/* The loss of standard output is reported at the end of the program: see command.h. */
	if (out != stdout)
		fprintf(stderr, "%s: %s: %s\n", tool, path, strerror(error));
	return 1;
}

/* Build DIR/name, or name if there is no folder. */
static char *join(const char *dir, size_t length, const char *name)
{
	char *path = malloc(length + strlen(name) + 2);

	if (!path)
		return NULL;
	memcpy(path, dir, length);
	if (length && dir[length - 1] != '/')
		path[length++] = '/';
	strcpy(path + length, name);
	return path;
}

/* Read the text at a path; the path is consumed or freed. */
static int read_text(char *found, char **path, char **text)
{
	size_t bytes;
	int error;

	if (!found)
		return -ENOMEM;
	*text = file_read(NULL, found, &bytes);
	if (*text && strlen(*text) == bytes) {
		*path = found;
		return 0;
	}
	error = *text ? EINVAL : errno;
	free(*text);
	free(found);
	return -error;
}

int file_include(void *data, const char *from, const char *name, char **path, char **text)
{
	const struct file_dirs *dirs = data;
	const char *slash = strrchr(from, '/');
	int err;

	if (*name == '/' || !strcmp(name, "-"))
		return read_text(join("", 0, *name == '/' ? name : "./-"), path, text);
	err = read_text(join(from, slash ? (size_t)(slash - from) + 1 : 0, name), path, text);
	for (unsigned int i = 0; err == -ENOENT && i < dirs->count; i++)
		err = read_text(join(dirs->dir[i], strlen(dirs->dir[i]), name), path, text);
	return err;
}
