/* SPDX-License-Identifier: MIT */
/* Files of the command-line tools: whole, "-" for standard input and output. */
#ifndef PUMICE_ASM_FILE_H
#define PUMICE_ASM_FILE_H

#include <stddef.h>

/*
 * Read a file, NUL terminated, to be freed; NULL with errno after a message to standard error,
 * or without one if @tool is NULL.
 */
char *file_read(const char *tool, const char *path, size_t *bytes);
/*
 * Write a file; on failure it is removed, unless it is a device. Return: 0, or 1 after a message to
 * standard error, which for standard output comes at the end of the program: see command_line().
 */
int file_write(const char *tool, const char *path, const void *data, size_t bytes);

#define FILE_MAX_DIRS 16u

/* Folders searched for included files, after that of the including file. */
struct file_dirs {
	const char *dir[FILE_MAX_DIRS];
	unsigned int count;
};

/* For .include: @data is struct file_dirs. See pumice_asm_include. */
int file_include(void *data, const char *from, const char *name, char **path, char **text);

#endif
