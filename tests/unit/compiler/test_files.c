// SPDX-License-Identifier: MIT
/*
 * Files of the command-line tools: included files are found in their folders, and output that
 * cannot be written leaves neither a part of a file nor removes a device.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "file.h"

static char folder[] = "/tmp/pumice-files-XXXXXX";

static void make(const char *path, const char *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

#define MAKE(path, text) make(path, text, sizeof(text) - 1)

static int create(void **state)
{
	(void)state;
	if (!mkdtemp(folder) || chdir(folder) || mkdir("a", 0700) || mkdir("b", 0700))
		return -1;
	MAKE("x.inc", "here");
	MAKE("a/x.inc", "in a");
	MAKE("b/x.inc", "in b");
	MAKE("b/y.inc", "only in b");
	MAKE("-", "a file");
	MAKE("nul.inc", "end\n\0foo\n");
	return 0;
}

static int destroy(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return chdir("/") || system(command);
}

static void check_include(const char *from, const char *name, const char *path, const char *text)
{
	struct file_dirs search = { .dir = { "a", "b" }, .count = 2 };
	char *found = NULL, *contents = NULL;

	assert_int_equal(file_include(&search, from, name, &found, &contents), 0);
	assert_string_equal(found, path);
	assert_string_equal(contents, text);
	free(found);
	free(contents);
}

static void files_are_included_from_the_folder_of_the_file_and_those_of_options(void **state)
{
	char name[64];

	(void)state;
	check_include("t.pasm", "x.inc", "x.inc", "here");
	check_include("b/t.pasm", "x.inc", "b/x.inc", "in b");
	check_include("/t.pasm", "x.inc", "a/x.inc", "in a");
	check_include("t.pasm", "y.inc", "b/y.inc", "only in b");
	/* Not standard input. */
	check_include("t.pasm", "-", "./-", "a file");
	snprintf(name, sizeof(name), "%s/x.inc", folder);
	check_include("b/t.pasm", name, name, "here");
}

static void files_that_cannot_be_included_have_their_error(void **state)
{
	struct file_dirs none = { .count = 0 };
	char *found = NULL, *contents = NULL;

	(void)state;
	assert_int_equal(file_include(&none, "t", "z.inc", &found, &contents), -ENOENT);
	assert_int_equal(file_include(&none, "t", "a", &found, &contents), -EISDIR);
	/* The text would end before the end of the file. */
	assert_int_equal(file_include(&none, "t", "nul.inc", &found, &contents), -EINVAL);
}

static void output_that_cannot_be_written_removes_no_device(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(symlink("/dev/full", "full"), 0);
	assert_int_equal(file_write("test", "full", "text", 4), 1);
	assert_int_equal(lstat("full", &st), 0);
}

static void output_that_is_incomplete_is_removed(void **state)
{
	const struct rlimit small = { 1024, RLIM_INFINITY };
	static char data[4096];
	struct rlimit before;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(file_write("test", "out", data, sizeof(data)), 1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(access("out", F_OK), -1);
	assert_int_equal(file_write("test", "out", data, sizeof(data)), 0);
	assert_int_equal(access("out", F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_included_from_the_folder_of_the_file_and_those_of_options),
		cmocka_unit_test(files_that_cannot_be_included_have_their_error),
		cmocka_unit_test(output_that_cannot_be_written_removes_no_device),
		cmocka_unit_test(output_that_is_incomplete_is_removed),
	};

	return cmocka_run_group_tests_name("compiler-files", tests, create, destroy);
}
