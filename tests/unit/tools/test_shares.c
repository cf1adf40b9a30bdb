// SPDX-License-Identifier: MIT
/* The file of shares and policy in pumice-shares, with files of the host in its place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "shares_file.h"

#define REFUSED	2	/* COMMAND_REFUSED */

static const struct command command = { .name = "test_shares" };
static char path[] = "/tmp/pumice-shares-XXXXXX";

static const char *content(void)
{
	static char text[512];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static int create(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 || close(fd);
}

static int destroy(void **state)
{
	(void)state;
	return unlink(path);
}

static void words_are_written_at_once(void **state)
{
	char *words[] = { "cdm=64", "vdm=none", "pdm=default", "rdm=3", "policy=round-robin",
			  NULL };
	char *one[] = { "rdm=200", NULL };

	(void)state;
	shares_check(&command, words);
	assert_true(shares_set(&command, path, words));
	assert_string_equal(content(), "cdm=64 vdm=none pdm=default rdm=3 policy=round-robin");
	shares_check(&command, one);
	assert_true(shares_set(&command, path, one));
	assert_string_equal(content(), "rdm=200");
}

/* The status of a process that checks the words, and writes them. */
static int status_of(char **words)
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		shares_check(&command, words);
		_exit(!shares_set(&command, path, words));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* And nothing is written, not even the words before. */
static void words_without_a_known_name_are_refused(void **state)
{
	static char *const bad[] = { "cdm", "cdm64", "=64", "tdm=64", "policy", "policies=graphics",
				     "", " cdm=64" };
	size_t i;

	(void)state;
	assert_int_equal(status_of((char *[]){ "cdm=1", NULL }), 0);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(status_of((char *[]){ "cdm=64", bad[i], NULL }), REFUSED);
	assert_string_equal(content(), "cdm=1");
}

/* All that a user needs to set is accepted: the longest words of each name. */
static void words_beyond_the_room_of_the_driver_are_refused(void **state)
{
	char *all[] = { "cdm=default", "vdm=default", "pdm=default", "rdm=default",
			"policy=cdm-vdm-pdm", NULL };
	char *many[17] = { NULL };
	size_t i;

	(void)state;
	assert_int_equal(status_of(all), 0);
	/* 16 words of 7 bytes and 15 spaces are 127; with a longer last one, 128. */
	for (i = 0; i < 16; i++)
		many[i] = "cdm=100";
	assert_int_equal(status_of(many), 0);
	many[15] = "cdm=1000";
	assert_int_equal(status_of(many), REFUSED);
}

/* The driver refuses when the file is closed, as a full device does. */
static void a_write_that_fails_is_reported(void **state)
{
	char *words[] = { "cdm=64", NULL };

	(void)state;
	assert_false(shares_set(&command, "/dev/full", words));
	assert_false(shares_set(&command, "/missing/pds_shares", words));
}

static void the_file_is_shown(void **state)
{
	static const char text[] = "cdm: 64/256, tasks all\npolicy: graphics, now graphics\n";
	char *shown = NULL;
	size_t bytes;
	FILE *file = fopen(path, "w"), *out = open_memstream(&shown, &bytes);

	(void)state;
	assert_true(file && out);
	fputs(text, file);
	fclose(file);
	assert_true(shares_show(&command, path, out));
	assert_false(shares_show(&command, "/missing/pds_shares", out));
	assert_false(shares_show(&command, "/tmp", out));	/* is opened, but cannot be read */
	fclose(out);
	assert_string_equal(shown, text);
	free(shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_written_at_once),
		cmocka_unit_test(words_without_a_known_name_are_refused),
		cmocka_unit_test(words_beyond_the_room_of_the_driver_are_refused),
		cmocka_unit_test(a_write_that_fails_is_reported),
		cmocka_unit_test(the_file_is_shown),
	};

	return cmocka_run_group_tests_name("shares", tests, create, destroy);
}
