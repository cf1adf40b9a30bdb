// SPDX-License-Identifier: MIT
/*
 * The assembler's table of symbols: the number of comparisons to find a name does not depend on the
 * number of symbols. Names and hash are fixed, so the numbers are the same in each run.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "internal.h"

#define SYMBOLS		16384u	/* the table is as full as it can be */
#define NAME_BYTES	24u
#define MOST		64u	/* comparisons; 31 is the largest number measured */

/* Return the slots of the longest run of used ones: no name is compared with more symbols. */
static size_t longest_run(const struct assembler *as)
{
	const size_t slots = 2 * as->symbol_room;
	size_t longest = 0, run = 0;

	/* Twice, for a run that continues from the last slot to the first one. */
	for (size_t i = 0; i < 2 * slots; i++) {
		run = as->symbol_slots[i % slots] ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void names_of_many_symbols_are_found_by_few_comparisons(void **state)
{
	static const char *const formats[] = { "l%u", "label_%u", "loop_%u_end" };
	char *names = malloc(SYMBOLS * NAME_BYTES);

	(void)state;
	assert_non_null(names);
	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		struct assembler *as = calloc(1, sizeof(*as));
		struct token name = { .kind = TOKEN_NAME };

		assert_non_null(as);
		for (uint32_t i = 0; i < SYMBOLS; i++) {
			name.text = names + i * NAME_BYTES;
			name.length = (size_t)snprintf(names + i * NAME_BYTES, NAME_BYTES,
						       formats[f], i);
			assert_non_null(symbol_add(as, &name, SYMBOL_LABEL));
		}
		assert_int_equal(as->symbol_count, SYMBOLS);
		assert_int_equal(as->symbol_room, SYMBOLS);
		print_message("  %s: at most %zu comparisons\n", formats[f], longest_run(as));
		assert_in_range(longest_run(as), 1, MOST);
		free(as->symbols);
		free(as->symbol_slots);
		free(as);
	}
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_many_symbols_are_found_by_few_comparisons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
