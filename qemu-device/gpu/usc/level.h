/* SPDX-License-Identifier: MIT */
/*
 * One vector level: all lane-parallel functions, and their lookup.
 *
 * Included by level_*.c, which define VEC_BYTES and USC_LEVEL_OPS (the name of the table)
 * and set the compiler to that level.
 */
#include <string.h>

#ifdef __clang__
/* A loop that the compiler does not unroll is only slower. */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#include "../host_line.h"
#include "scalar.h"
#include "vec/row.inc.h"

#include "vec/forms.inc.h"
#include "vec/double.inc.h"
#include "vec/float.inc.h"
#include "vec/convert.inc.h"
#include "vec/bits.inc.h"
#include "vec/transcendental.inc.h"
#include "vec/alu.inc.h"
#include "vec/scan.inc.h"
#include "vec/access.inc.h"
#include "vec/memory.inc.h"
#include "vec/mem_narrow.inc.h"
#include "vec/mem_wide.inc.h"
#include "vec/mem_atomic.inc.h"
#include "vec/move.inc.h"
#include "vec/gfx.inc.h"
#include "vec/lookup.inc.h"

#include "vec/pair.inc.h"

static usc_exec_fn *find(const struct usc_insn *insn)
{
	usc_exec_fn *fn = move_find(insn);

	if (!fn)
		fn = memory_find(insn);
	if (!fn)
		fn = narrow_find(insn);
	if (!fn)
		fn = wide_find(insn);
	if (!fn)
		fn = atomic_find(insn);
	if (!fn)
		fn = gfx_find(insn);
	return fn ? fn : arithmetic_find(insn);
}

const struct usc_level_ops USC_LEVEL_OPS = {
	.find = find,
	.find_output = find_output,
	.find_pair = find_pair,
	.values = run_values,
	.lookups = run_lookups,
	.sources = fetch_sources,
};
