/* SPDX-License-Identifier: MIT */
/*
 * One vector level: all lane-parallel functions, and their lookup.
 *
 * Included by level_*.c, which define USC_VEC_BYTES and USC_LEVEL_OPS (the name of the table)
 * and set the compiler to that level.
 */
#include <string.h>

#ifdef __clang__
/* A loop that the compiler does not unroll is only slower. */
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

#include "scalar.h"
#include "vec.h"

#include "vec_forms.h"
#include "vec_double.h"
#include "vec_float.h"
#include "vec_convert.h"
#include "vec_bits.h"
#include "vec_transcendental.h"
#include "vec_alu.h"
#include "vec_scan.h"
#include "vec_access.h"
#include "vec_memory.h"
#include "vec_mem_narrow.h"
#include "vec_mem_wide.h"
#include "vec_mem_atomic.h"
#include "vec_move.h"
#include "vec_gfx.h"
#include "vec_lookup.h"

#include "vec_pair.h"

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
};
