/* SPDX-License-Identifier: MIT */
/* Files of the command-line tools: whole, "-" for standard input and output. */
#ifndef PUMICE_ASM_FILE_H
#define PUMICE_ASM_FILE_H

#include <stddef.h>

/* Read a file, NUL terminated, to be freed; NULL after a message to standard error. */
char *file_read(const char *tool, const char *path, size_t *bytes);
/* Write a file, or leave none behind; 0, or 1 after a message to standard error. */
int file_write(const char *tool, const char *path, const void *data, size_t bytes);

#endif
