// SPDX-License-Identifier: MIT
/*
 * Counts of the memory hierarchy in tools: the driver's file, differences of two readings, rates
 * and tables. Files have the columns of hw/hier.h; those of the driver are compared in tests/guest.
 */
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "counts.h"
#include "hier.h"

#define HEAD_CLIENTS	"client REQUESTS BYTES FIRST_REQUESTS ...\n"
#define HEAD_LEVELS	"\nlevel REQUESTS BYTES HITS ...\n"
#define CLIENT		"usc-load 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
#define LEVEL		"slc 1 2 3 4 5 6 7 8 9 10 11 12 13\n"

static char error[256];

static struct counts *parse(const char *text)
{
	FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	struct counts *c;

	assert_non_null(file);
	error[0] = '\0';
	c = counts_parse(file, error, sizeof(error));
	fclose(file);
	return c;
}

static void a_file_has_clients_and_levels_by_columns(void **state)
{
	struct counts *c = parse(HEAD_CLIENTS CLIENT "tag 16 0 0 0 0 0 0 0 0 0 0 0 0 0 18446744073709551615\n"
				 HEAD_LEVELS LEVEL);

	(void)state;
	assert_non_null(c);
	assert_int_equal(c->clients, 2);
	assert_int_equal(c->levels, 1);
	assert_string_equal(c->client[0].name, "usc-load");
	assert_int_equal(c->client[0].requests, 1 + PUMICE_HIER_CLIENT_REQUESTS);
	assert_int_equal(c->client[0].first_hits, 1 + PUMICE_HIER_CLIENT_FIRST_HITS);
	assert_int_equal(c->client[0].slc_misses, 1 + PUMICE_HIER_CLIENT_SLC_MISSES);
	assert_int_equal(c->client[0].written_bytes, 1 + PUMICE_HIER_CLIENT_WRITTEN_BYTES);
	assert_string_equal(c->client[1].name, "tag");
	assert_int_equal(c->client[1].requests, 16);
	assert_true(c->client[1].written_bytes == UINT64_MAX);
	assert_string_equal(c->level[0].name, "slc");
	assert_int_equal(c->level[0].misses, 1 + PUMICE_HIER_LEVEL_MISSES);
	assert_int_equal(c->level[0].written_bytes, 1 + PUMICE_HIER_LEVEL_WRITTEN_BYTES);
	free(c);
}

/* A later version of the device may have more columns. */
static void further_columns_are_ignored(void **state)
{
	struct counts *c = parse(HEAD_CLIENTS "tag 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 99 98\n"
				 HEAD_LEVELS LEVEL);

	(void)state;
	assert_non_null(c);
	assert_int_equal(c->client[0].written_bytes, 15);
	free(c);
}

static void files_of_another_format_are_refused(void **state)
{
	static const char *const bad[] = {
		"", "fast\n", CLIENT, HEAD_CLIENTS CLIENT, HEAD_LEVELS LEVEL,
		HEAD_CLIENTS "tag 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n" HEAD_LEVELS LEVEL,
		HEAD_CLIENTS "tag 1 2 3 4 5 6 7 8 9 10 11 12 13 14 x\n" HEAD_LEVELS LEVEL,
		HEAD_CLIENTS CLIENT HEAD_LEVELS "slc 1 2\n",
	};
	static char many[1 << 15];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_null(parse(bad[i]));
		assert_string_equal(error, "the driver's file of counts is not valid");
	}
	strcpy(many, HEAD_CLIENTS);
	for (i = 0; i <= COUNTS_CLIENTS; i++)
		strcat(many, CLIENT);
	strcat(many, HEAD_LEVELS LEVEL);
	assert_null(parse(many));
}

static void differences_are_those_of_each_value(void **state)
{
	struct counts *a = parse(HEAD_CLIENTS CLIENT HEAD_LEVELS LEVEL);
	struct counts *b = parse(HEAD_CLIENTS "usc-load 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25\n"
				 HEAD_LEVELS "slc 2 4 3 4 5 6 7 8 9 10 11 12 20\n");
	struct counts *c = counts_between(a, b), *none = counts_between(a, a);

	(void)state;
	assert_int_equal(c->client[0].requests, 10);
	assert_int_equal(c->client[0].written_bytes, 10);
	assert_int_equal(c->level[0].requests, 1);
	assert_int_equal(c->level[0].bytes, 2);
	assert_int_equal(c->level[0].written_bytes, 7);
	assert_true(counts_any(c));
	assert_false(counts_any(none));
	free(a);
	free(b);
	free(c);
	free(none);
}

/* As when the mode has changed, or the driver has been loaded again. */
static void counts_that_have_begun_again_are_all_new(void **state)
{
	struct counts *a = parse(HEAD_CLIENTS "tag 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9\n"
				 HEAD_LEVELS LEVEL);
	struct counts *b = parse(HEAD_CLIENTS "tag 8 70 9 9 9 9 9 9 9 9 9 9 9 9 9\n"
				 HEAD_LEVELS LEVEL);
	/* More requests than before, of which fewer missed. */
	struct counts *more = parse(HEAD_CLIENTS "tag 20 20 20 19 1 20 20 20 20 20 20 20 20 20 20\n"
				    HEAD_LEVELS "slc 20 20 19 1 20 20 20 20 20 20 20 20 20\n");
	struct counts *c = counts_between(a, b), *d = counts_between(a, more);

	(void)state;
	assert_int_equal(c->client[0].requests, 8);
	assert_int_equal(c->client[0].bytes, 70);
	assert_int_equal(c->client[0].written_bytes, 9);
	assert_int_equal(c->level[0].requests, 0);
	assert_int_equal(d->client[0].requests, 20);
	assert_int_equal(d->client[0].first_hits, 19);
	assert_int_equal(d->client[0].first_misses, 1);
	assert_int_equal(d->level[0].requests, 20);
	assert_int_equal(d->level[0].misses, 1);
	free(a);
	free(b);
	free(more);
	free(c);
	free(d);
}

static void rates_are_rounded(void **state)
{
	(void)state;
	assert_int_equal(counts_rate(0, 0), -1);
	assert_int_equal(counts_rate(0, 1), 0);
	assert_int_equal(counts_rate(5, 0), 1000);
	assert_int_equal(counts_rate(1, 2), 333);
	assert_int_equal(counts_rate(2, 1), 667);
}

/* Clients without requests have no line; levels have. */
static void tables_have_clients_with_requests_and_all_levels(void **state)
{
	struct counts *c = parse(HEAD_CLIENTS "tag 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
				 "usc-load 100 400 100 75 25 0 25 0 0 0 20 5 7 640 64\n" HEAD_LEVELS
				 "slc 32 4096 20 5 0 0 7 0 0 5 640 1 64\n"
				 "texture-l1 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	(void)state;
	assert_true(c && out);
	counts_print(out, c);
	fclose(out);
	assert_null(strstr(text, "tag"));
	assert_non_null(strstr(text, "usc-load                  100            400    75.0%        -"
				     "    80.0%            7            640             64\n"));
	assert_non_null(strstr(text, "slc                        32           4096    80.0%"
				     "            640             64\n"));
	assert_non_null(strstr(text, "texture-l1                  0              0        -"));
	free(text);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_has_clients_and_levels_by_columns),
		cmocka_unit_test(further_columns_are_ignored),
		cmocka_unit_test(files_of_another_format_are_refused),
		cmocka_unit_test(differences_are_those_of_each_value),
		cmocka_unit_test(counts_that_have_begun_again_are_all_new),
		cmocka_unit_test(rates_are_rounded),
		cmocka_unit_test(tables_have_clients_with_requests_and_all_levels),
	};

	return cmocka_run_group_tests_name("counts", tests, NULL, NULL);
}
