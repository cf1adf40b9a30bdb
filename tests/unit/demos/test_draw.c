// SPDX-License-Identifier: MIT
/* Frames that the demos count as binned while the previous one was rendered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draw.h"

static void spans_overlap_if_they_have_ticks_in_common(void **state)
{
	static const struct {
		struct draw_span a, b;
		bool overlap;
	} cases[] = {
		{ { 10, 20 }, { 15, 25 }, true },
		{ { 10, 20 }, { 19, 25 }, true },
		{ { 10, 20 }, { 12, 18 }, true },
		{ { 10, 20 }, { 10, 20 }, true },
		{ { 10, 20 }, { 20, 25 }, false },	/* as soon as the other has ended */
		{ { 10, 20 }, { 30, 40 }, false },
		{ { 10, 20 }, { 0, 0 }, false },	/* no previous frame */
		{ { 10, 20 }, { 15, 15 }, false },
		{ { UINT64_MAX - 1, UINT64_MAX }, { 0, UINT64_MAX }, true },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(draw_spans_overlap(&cases[i].a, &cases[i].b), cases[i].overlap);
		assert_int_equal(draw_spans_overlap(&cases[i].b, &cases[i].a), cases[i].overlap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_overlap_if_they_have_ticks_in_common),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
