// SPDX-License-Identifier: MIT
/*
 * Invalid input: every kind of error is reported at its position, nothing is
 * written, and corrupt program files are refused.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "asm.h"
#include "pumice_isa.h"

/* Reported errors: the first one, and their number. */
struct reports {
	char first[1024];
	unsigned int count;
};

static void collect(void *data, const char *text)
{
	struct reports *reports = data;

	if (!reports->count++)
		snprintf(reports->first, sizeof(reports->first), "%s", text);
}

/* Check a table of texts and the start of their first error. */
struct error_case {
	const char *text;
	const char *expected;
};

static void check_errors(const struct error_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct reports reports = { .count = 0 };
		uint8_t *file = NULL;
		size_t bytes;

		assert_int_equal(pumice_assemble("t", cases[i].text, collect, &reports, &file,
						 &bytes), -EINVAL);
		assert_null(file);
		if (strncmp(reports.first, cases[i].expected, strlen(cases[i].expected)))
			fail_msg("%s\ngave: %s\nexpected: %s", cases[i].text, reports.first,
				 cases[i].expected);
	}
}

static void every_kind_of_error_is_reported_at_its_position(void **state)
{
	static const struct error_case cases[] = {
		{ "foo r1", "t:1:1: error: no such operation; if it is a macro, "
		  "define it before: .macro foo\nfoo r1\n^~~\n" },
		{ "end\n\tadd r1, r2, r3", "t:2:2: error: add needs a type" },
		{ "add.f64 r1, r2, r3", "t:1:1: error: add does not exist for this type" },
		{ "neg.u32 r1, r2", "t:1:1: error: neg does not exist for this type" },
		{ "add.u32 r1, 5, r3", "t:1:13: error: an immediate is not allowed here" },
		{ "add.u32 r1[0], r2, r3", "t:1:16: error: a scalar is needed here: r2[0]\n" },
		{ "div.f32 r1, r2, r3", "t:1:9: error: a scalar is needed here: r1[0]; a division in each lane is a sequence with udiv_rcp (integers) or div_fixup (f32)\n" },
		{ "add.u32 r1, r2", "t:1:15: error: expected ','" },
		{ "add.u32 r1, r2, r3, r4", "t:1:19: error: unexpected text" },
		{ "add.f32 r1, r2, 3", "t:1:17: error: an f32 operation: write 3.0" },
		{ "add.u32 r1, r2, 4294967296", "t:1:17: error: the number does not fit" },
		{ "select r1, [one], 1, 77", "t:1:22: error: an instruction has one immediate" },
		{ "mov r1, [r16], r2", "t:1:10: error: r16 cannot be a mask" },
		{ "mov r1, [sh1], r2", "t:1:10: error: sh1 cannot be a mask" },
		{ "mov r1, [r1 | r2], r2", "t:1:13: error: expected ']'" },
		{ "mov q1, [one], r2", "t:1:5: error: q1 is not defined; accepted: r0 to " },
		{ "mov r, [one], r2", "t:1:5: error: a register needs a number" },
		{ "mov r1[1], r2[0]", "t:1:8: error: only element 0" },
		{ "reduce_part.f32 xor, r1, r2",
		  "t:1:17: error: the bitwise operator xor is for u32" },
		{ "reduce_part.u32 mul, r1, r2", "t:1:17: error: expected one of add, " },
		{ "sig_wait r1[0], sig16", "t:1:17: error: expected a signal" },
		{ "sig_waitany2 r1[0], sig3, sig16", "t:1:27: error: expected a signal" },
		{ "sig_waitany3 r1[0], sig3, sig4",
		  "t:1:31: error: expected ','; sig_waitany3 takes 4 operands, such as "
		  "sig_waitany3 r1[0], sig0, sig1, sig2\n" },
		{ "sig_waitany2 r1[0], sig3, sig4, sig5", "t:1:31: error: unexpected text" },
		{ "local_load32 r1, [one], r2 + 4096", "t:1:30: error: a displacement is a whole" },
		{ "local_load32 r1, [one], sh0 + r2", "t:1:31: error: expected a displacement" },
		{ "global_load32 sig0, r1, [one], r0 + r2",
		  "t:1:32: error: a scalar is needed here: r0[0]" },
		{ "jump missing\nend", "t:1:6: error: undefined label missing" },
		{ "jump 2\nend", "t:1:6: error: there is no instruction 2: the program has 2, "
		  "counted from 0\n" },
		{ "end\njump 1 + 4 * 19", "t:2:6: error: there is no instruction 77" },
		{ "uvsw vo0, vo1", "t:1:11: error: vo1 is a vertex output, which programs write and "
		  "do not read: use the register with its value\n" },
		{ "mov vo0, [one], 1", "t:1:5: error: vo0 is a vertex output, which only uvsw "
		  "accesses: write uvsw vo0, and a register\n" },
		{ "jump at_end\nend\nat_end:", "t:1:6: error: no instruction follows label at_end" },
		{ "x: end\nx: end", "t:2:1: error: x is defined twice" },
		{ "r1: end", "t:1:1: error: r1 already has another meaning" },
		{ ".alias sid, r1", "t:1:8: error: sid already has another meaning" },
		{ "@", "t:1:1: error: expected an operation" },
		{ ".wrong", "t:1:1: error: no such directive" },
		{ ".group 33, 32", "t:1:14: error: a work-group has at most 1024" },
		{ ".group 32, 32, 2", "t:1:17: error: a work-group has at most 1024" },
		{ ".group 0", "t:1:8: error: a work-group has 1 to 1024" },
		{ ".local 6", "t:1:8: error: local memory is a multiple of 4" },
		{ ".temps 249", "t:1:8: error: temporary registers is a whole number" },
		{ ".temps 2\nmov r2, [one], r1\nend",
		  "t:1:1: error: the program names 3 temporary" },
		{ "mov r248, [one], r1\nend",
		  "t:1:5: error: r248 does not exist: the last is r247" },
		{ ".uniforms v0, 4", "t:1:11: error: uniforms go to" },
		{ ".uniforms sh0, 0", "t:1:16: error: a number of words is 1 or more" },
		{ ".input sh0, local_x", "t:1:13: error: local_x differs between instances" },
		{ ".input sh0, colour", "t:1:13: error: expected one of " },
		{ ".const r0, 1",
		  "t:1:8: error: expected a shared, coefficient or attribute register" },
		{ ".equ N, r1", "t:1:9: error: expected a number" },
		{ ".endpds", "t:1:1: error: .endpds without .pds" },
		{ ".pds\nend", "t:1:1: error: .pds without .endpds" },
		{ ".const sh0, 1\n.pds", "t:2:5: error: directives already define the PDS program" },
		{ ".pds\nfly\n.endpds", "t:2:1: error: unknown PDS operation" },
		{ ".pds\ndma sh0, 4097, uniforms", "t:2:10: error: a number of words" },
		{ ".pds\ndma sh0, 4, 0x10000000000", "t:2:13: error: expected uniforms, code" },
		{ ".pds\nx: end", "t:2:1: error: a PDS program has no labels" },
		{ ".pds\ndma sh0, 1, uniforms + 4194304", "t:2:31: error: a uniform block has at most" },
		{ ".pds\n.endpds\nend", "t:1:1: error: the PDS program has no instruction" },
		{ ".word 1, 2, 3", "t:1:14: error: expected ','" },
		{ "; nothing", "t:1:1: error: the program has no instruction" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void error_text_states_the_rule(void **state)
{
	static const struct error_case cases[] = {
		{ "gobal_load32 sig0, r1, [one], r2",
		  "t:1:1: error: no such operation; the most similar is global_load32\n" },
		{ ".wurd 1, 2", "t:1:1: error: no such directive; the most similar is .word\n" },
		{ "add.f64 r1, r2, r3",
		  "t:1:1: error: add does not exist for this type, only for u32, i32, f32\n" },
		{ "sample.f32 r1, 2d, v0, r4",
		  "t:1:24: error: this register is not allowed here; accepted: sh0 to sh4095\n" },
		{ "dc_window r1, 16",
		  "t:1:11: error: a scalar is needed here: r1[0]\n" },
		{ "local_store32 [one], r2, 5",
		  "t:1:26: error: an immediate is not allowed here; accepted: r0 to r247, v0 to v247, "
		  "idx0 to idx1, o0 to o31, a special register such as instance, i0 to i7, sl0 to sl7, "
		  "a constant such as zero, a mask such as [r1]; copy it first, "
		  "to a register that is free, such as: mov r3, [one], 5\n" },
		{ "mov r1, [one], sr7",
		  "t:1:16: error: sr7 does not exist; accepted: instance, wave_in_group, task_in_group, "
		  "core, usc, slot, valid, sr36, sr37, sr38, sr39, sr40, sr41, sr42, sr43, "
		  "waves_in_group, tasks_in_group, instances_in_task, bytes_of_local, uniform\n" },
		{ "global_load32 sig0, i0, [one], r2",
		  "t:1:21: error: i0 is an internal register, which DMA, textures and iterators do "
		  "not reach: use a temporary or attribute register\n" },
		{ "global_store8 sig0, [one], r2, i1",
		  "t:1:32: error: i1 is an internal register, which DMA, textures and iterators" },
		{ "itr i2, perspective, 2, cf3, cf0",
		  "t:1:5: error: i2 is an internal register, which DMA, textures and iterators" },
		{ "sample.f32 i3, 2d, v0, sh0",
		  "t:1:12: error: i3 is an internal register, which DMA, textures and iterators" },
		{ "sample.f32 sig16, r4, 2d, v0, sh0",
		  "t:1:12: error: expected a signal, sig0 to sig15; sample takes 4 or 5 operands, "
		  "such as sample.f32 sig0, r0, 2d, v0, sh0\n" },
		{ "sample_lod.f32 sig1 r4, 2d, v0, sh0",
		  "t:1:21: error: expected ','; sample_lod takes 4 to 6 operands, such as "
		  "sample_lod.f32 r0, 2d, v0, r8, sh0\n" },
		{ "local_load32w r1, [one], r2 + 4096",
		  "t:1:31: error: a displacement is a whole number from 0 to 4095" },
		{ "local_atomicw.u32 add, r1, [one], r2 + 4096, r3",
		  "t:1:40: error: a displacement is a whole number from 0 to 4095" },
		{ "scan.u32 mul, r1, r2", "t:1:10: error: expected one of add, min, max, and, or, xor; "
		  "scan takes 3 operands, such as scan.u32 add, r1, r2\n" },
		{ "mem_fence wave", "t:1:11: error: expected one of group, device, system, core; "
		  "mem_fence takes 1 operand, such as mem_fence device\n" },
		{ ".pds\nattr v0, f32, 3, 0, 70000, 5",
		  "t:2:19: error: accepted here: a number from 0 to 65535\n" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

/* A wrong number or order of operands, and a destination that makes the operation scalar. */
static void an_error_has_the_form_of_the_operation(void **state)
{
	static const struct error_case cases[] = {
		{ "add.f32 r1, r2", "t:1:15: error: expected ','; add takes 3 operands, such as "
		  "add.f32 r1, r2, r3\n" },
		{ "add.f32 r1, r2, r3, r3", "t:1:19: error: unexpected text at the end of the line; "
		  "add takes 3 operands, such as add.f32 r1, r2, r3\n" },
		{ "mov r0, r1, r2", "t:1:11: error: unexpected text at the end of the line; "
		  "mov takes 2 or 3 operands, such as mov r1, [one], 1.5\n" },
		{ "barrier r1", "t:1:9: error: unexpected text at the end of the line; "
		  "barrier takes no operands\n" },
		{ "global_load32 sig1, r1, sh2 + r1", "t:1:25: error: expected '['; global_load32 "
		  "takes 4 operands, such as global_load32 sig0, r1, [one], sh0 + r2 + 64\n" },
		{ "br_any [r2], x", "t:1:8: error: expected a label; br_any takes 2 operands, such "
		  "as br_any loop, [r1]\n" },
		{ "sig_done1 r1[0], r2", "t:1:18: error: expected a signal, sig0 to sig15; "
		  "sig_done1 takes 2 operands, such as sig_done1 r1[0], sig0\n" },
		{ "itr r0, linear", "t:1:15: error: expected ','; itr takes 4 or 5 operands" },
		{ ".word 1, 2, 3", "t:1:14: error: expected ','\n" },
		{ "add.f32 sh3, r1, r2", "t:1:9: error: sh3 is a scalar, and r1 is not: a vector "
		  "operation writes r0 to r247, v0 to v247" },
		{ "mov r0 [one], 3", "t:1:9: error: a mask is an operand of its own: put a comma "
		  "before it; mov takes 2 or 3 operands, such as mov r1, [one], 1.5\n" },
		{ "mov r0 [!r1], 3", "t:1:9: error: a mask is an operand of its own" },
	};
	struct reports reports = { .count = 0 };
	uint8_t *file;
	size_t bytes;

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
	pumice_assemble("t", "sig_wait sig0", collect, &reports, &file, &bytes);
	assert_memory_equal(reports.first, "t:1:10: error: sig0 is not allowed here; accepted: ",
			    51);
	assert_non_null(strstr(reports.first, "; sig_wait takes 2 operands, such as "
					      "sig_wait r1[0], sig0\n"));
}

/* Errors name nothing that only the source tree has. */
static void an_error_has_no_reference_to_other_documents(void **state)
{
	char text[128];

	(void)state;
	for (size_t op = 0; op < pumice_usc_isa.nr_ops; op++) {
		for (unsigned int bad = 0; bad < 4; bad++) {
			static const char *const operands[] = { "vo1", "@", "[vo1]", "r0, vo1" };
			struct reports reports = { .count = 0 };
			uint8_t *file = NULL;
			size_t bytes;

			snprintf(text, sizeof(text), "%s %s", pumice_usc_isa.ops[op].name,
				 operands[bad]);
			if (!pumice_assemble("t", text, collect, &reports, &file, &bytes)) {
				free(file);
				continue;
			}
			assert_null(strstr(reports.first, "document"));
			assert_null(strstr(reports.first, "usc_"));
		}
	}
}

static void a_missing_register_is_reported_with_the_last_existing_one(void **state)
{
	static const struct error_case cases[] = {
		{ "mov v248, [one], r1", "t:1:5: error: v248 does not exist: the last is v247" },
		{ "add.u32 sh4096, sh0, 1",
		  "t:1:9: error: sh4096 does not exist: the last is sh4095" },
		{ "add.u32 cf4095, sh0, 1",
		  "t:1:9: error: cf4095 does not exist: the last is cf4094" },
		{ "mov i8, [one], r1", "t:1:5: error: i8 does not exist: the last is i7" },
		{ "mov sl8, [one], r1", "t:1:5: error: sl8 does not exist: the last is sl7" },
		{ "mov idx2, [one], r1", "t:1:5: error: idx2 does not exist: the last is idx1" },
		{ "mov r99999999999, [one], r1", "t:1:5: error: r99999999999 does not exist" },
		{ "mov r1, [one], sc32", "t:1:16: error: sc32 does not exist" },
		{ "mov r1, [one], sc240", "t:1:16: error: sc240 does not exist" },
		{ "mov instance, r1", "t:1:5: error: instance is read-only: of special registers, "
		  "sr36 to sr43 can be written" },
		{ "add.u32 sr47, r1, r2", "t:1:9: error: sr47 is read-only" },
		{ "global_store32 sig0, [one], r2, sr36",
		  "t:1:33: error: sr36 may be an internal register, which DMA" },
		{ "mov r1, [one], sr7", "t:1:16: error: sr7 does not exist" },
		{ "mov o32, [one], r1", "t:1:5: error: o32 does not exist: the last is o31" },
		{ "uvsw vo256, r1", "t:1:6: error: vo256 does not exist: the last is vo255" },
		{ "mov cfa1023, r1[0]", "t:1:5: error: cfa1023 does not exist: the last is cfa1022" },
		{ ".coeffs_alt 4\nadd.u32 r1, r2, cfa4\nend",
		  "t:1:1: error: the program names 5 alternate coefficient registers, the directive "
		  "gives 4" },
		{ ".coeffs_alt 1024",
		  "t:1:13: error: alternate coefficient registers is a whole number" },
		{ ".uniforms cfa1020, 4", "t:1:11: error: uniforms go to" },
		{ "mov r1, [one], dc5", "t:1:16: error: dynamic constants are named by an index" },
		{ "global_load64 sig0, r247, [one], r2",
		  "t:1:21: error: 2 registers from r247 on exceed r247" },
		{ "global_store128 sig0, [one], r2, v245",
		  "t:1:34: error: 4 registers from v245 on exceed v247" },
		{ "local_load128 r246, [one], r2",
		  "t:1:15: error: 4 registers from r246 on exceed r247" },
		{ "burst_load sig0, r240, [one], r2, 9",
		  "t:1:18: error: 9 registers from r240 on exceed r247" },
		{ "global_atomic.u32 cmpxchg, sig0, r1, [one], r2, r247",
		  "t:1:49: error: 2 registers from r247 on exceed r247" },
		{ "global_load32 sig0, r1, [one], sh4095 + r2",
		  "t:1:32: error: 2 registers from sh4095 on exceed sh4095" },
		{ ".coeffs 4\nglobal_load32 sig0, r1, [one], cf3 + r2\nend",
		  "t:1:1: error: the program names 5 coefficient registers, the directive gives 4" },
		{ ".coeffs 4096", "t:1:9: error: coefficient registers is a whole number" },
		{ ".uniforms cf4090, 6", "t:1:11: error: uniforms go to" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void indices_are_checked(void **state)
{
	static const struct error_case cases[] = {
		{ "mov r1, [one], r[idx2]", "t:1:18: error: expected idx0 or idx1" },
		{ "mov r1, [one], r[5]", "t:1:18: error: expected idx0 or idx1" },
		{ "mov r1, [one], r[idx0 * 3]", "t:1:25: error: a dimension is 1, 2, 4, 8 or 16" },
		{ "mov r1, [one], r[idx0 * 32 + 1]", "t:1:25: error: a dimension is 1, 2, 4" },
		{ "mov r1, [one], r[idx0 + 248]", "t:1:25: error: an indexed register is a whole" },
		{ "mov r1, [one], dc[idx0 + 4096]",
		  "t:1:26: error: an indexed register is a whole" },
		{ "mov r1, [one], r[idx0 - 1]", "t:1:23: error: expected ']'" },
		{ "mov r1, [one], sc[idx0]", "t:1:16: error: the bank sc has no index" },
		{ "mov r1, [one], i[idx0]", "t:1:16: error: the bank i has no index" },
		{ "mov r1, [one], idx[idx0]", "t:1:16: error: the bank idx has no index" },
		{ "add.u32 r[idx0 * 4], r[idx1 * 2], 1",
		  "t:1:24: error: the indexed operands of an instruction have one dimension: 2 "
		  "here, 4 before" },
		{ ".alias t, sh[idx0 * 2]\nadd.u32 r[idx0], r1, t",
		  "t:2:22: error: the indexed operands of an instruction have one dimension" },
		{ "sig_wait r[idx0][0], sig0", "t:1:12: error: sig_wait takes no indexed" },
		{ "local_load32 r[idx0 * 2], [one], r[idx1 * 4]",
		  "t:1:36: error: the indexed operands of an instruction have one dimension" },
		{ "global_store32 sig0, [one], r2, dc[idx0]",
		  "t:1:33: error: this register is not allowed here" },
		{ "mov r1, [r[idx0]], r2", "t:1:10: error: r cannot be a mask" },
		{ "shuffle sh3, r1, r2",
		  "t:1:9: error: this register is not allowed here; accepted: r0 to r247, "
		  "v0 to v247, sh[idx0], cf[idx0], cfa[idx0], idx0 to idx1, o0 to o31" },
		{ "add.u32 sh3, r1, r2", "t:1:9: error: sh3 is a scalar, and r1 is not: a "
		  "vector operation writes r0 to r247, v0 to v247, sh[idx0], cf[idx0], cfa[idx0], idx0" },
		{ "global_load32 sig0, sh[idx0], [one], r2",
		  "t:1:21: error: this register is not allowed here" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void bursts_atomics_and_types_are_checked(void **state)
{
	static const struct error_case cases[] = {
		{ "burst_load sig0, r4, [one], r2, 17",
		  "t:1:33: error: a burst has 1 to 16 words" },
		{ "burst_load sig0, r4, [one], r2, 0", "t:1:33: error: a burst has 1 to 16 words" },
		{ "group_load sig0, sh4, sh0, 1025",
		  "t:1:28: error: a work-group copy has 1 to 1024 words" },
		{ "group_store sig0, sh4, sh0, 0",
		  "t:1:29: error: a work-group copy has 1 to 1024" },
		{ "dc_window sh0, 16385",
		  "t:1:16: error: a window of dynamic constants has 1 to 16384 words" },
		{ "cache_clean_range device, sh0, 16385",
		  "t:1:32: error: the range of a cache operation has 1 to 16384 words" },
		{ "dc_window 6, 16", "t:1:11: error: the address 6 is not 4-byte aligned" },
		{ "shared_load sig0, sh4, sh0, 17", "t:1:29: error: a burst has 1 to 16 words" },
		{ "group_load_shared sig0, sh4, sh0, 1025",
		  "t:1:35: error: a work-group copy has 1 to 1024 words" },
		{ "group_store_shared sig0, sh4000, sh0, 97",
		  "t:1:26: error: 97 registers from sh4000 on exceed sh4095" },
		{ ".local 64\ngroup_load sig0, sh4, sh0, 17\nend",
		  "t:2:1: error: the copy ends at byte 68 of local memory, .local gives it 64 bytes" },
		{ ".local 64\ngroup_store sig0, sc19, sh0, 13\nend",
		  "t:2:1: error: the copy ends at byte 68 of local memory, .local gives it 64 bytes" },
		{ "group_load sig0, sc0, sh0, 1\nend",
		  "t:1:1: error: the copy ends at byte 4 of local memory, .local gives it 0 bytes" },
		{ "group_load sig0, sc1, sh0, 4",
		  "t:1:18: error: the address 1 in sc1 is not 4-byte aligned" },
		{ "group_load sig0, sh4, sh0 + r2, 4", "t:1:29: error: expected a displacement" },
		{ ".group 16\n.local 16\ngroup_load sig0, sh4, sh0, 4\nend",
		  "t:3:1: error: a work-group that copies has 17 instances or more" },
		{ "global_atomic.i32 xchg, sig0, r1, [one], r2, r3",
		  "t:1:19: error: the atomic operation xchg does not exist for i32" },
		{ "local_atomic.f32 min, r1, [one], r2, r3",
		  "t:1:18: error: the atomic operation min does not exist for f32" },
		{ "local_atomicw.i32 or, r1, [one], r2, r3",
		  "t:1:19: error: the atomic operation or does not exist for i32" },
		{ "local_atomic.u32 nand, r1, [one], r2, r3", "t:1:18: error: expected one of add, " },
		{ "scan.i32 or, r1, r2", "t:1:10: error: the bitwise operator or is for u32 only" },
		{ "mem_fence wave", "t:1:11: error: expected one of " },
		{ "add.f16 r1, r2, r3", "t:1:1: error: add does not exist for this type" },
		{ "fma.u32 r1, r2, r3, r4", "t:1:1: error: fma does not exist for this type" },
		{ "fma.f32 r1, r2, r3", "t:1:19: error: expected ','" },
		{ "fma.f32 r1, r2, 1.5, 2.5", "t:1:22: error: an instruction has one immediate" },
		{ "ldexp.f32 r1, r2, 1.5", "t:1:19: error: this operand is an integer" },
		{ "cvt_int.i32 r1[0], 2", "t:1:20: error: an f32 operation: write 2.0" },
		{ "local_store8 [one], r2, sh4",
		  "t:1:25: error: this register is not allowed here" },
		{ "global_load64 sig0, i1, [one], r2",
		  "t:1:21: error: i1 is an internal register, which DMA" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void operations_that_a_stage_lacks_are_refused(void **state)
{
	static const struct error_case cases[] = {
		{ ".stage compute\nuvsw vo0, r1", "t:2:1: error: uvsw is not for compute programs" },
		{ ".stage vertex\ndiscard [r1]", "t:2:1: error: discard is not for vertex" },
		{ ".stage fragment\npbe sh0", "t:2:1: error: pbe is not for fragment" },
		{ ".stage tile\nitr r0, linear, 1, cf0", "t:2:1: error: itr is not for tile" },
		{ ".stage vertex\nmov o0, r1", "t:2:5: error: o0 is not for vertex" },
		{ ".alias color, o0\n.stage compute\nadd.u32 r1, r2, color", "t:3:17: error: color is not for compute programs" },
		{ "add.u32 r1, o3, r2\nuvsw vo0, r1", "t:2:1: error: uvsw is not for fragment" },
		{ "uvsw vo0, r1\n.stage tile", "t:2:8: error: the preceding lines are not allowed in tile" },
		{ ".stage pixel", "t:1:8: error: expected compute, vertex, fragment, tile or rays" },
		{ ".stage rays\n.input v0, frag_x", "t:2:12: error: frag_x is not for rays" },
		{ ".stage rays\n.input v0, local_x", "t:2:12: error: local_x is not for rays" },
		{ ".stage compute\n.input v0, ray_t", "t:2:12: error: ray_t is not for compute" },
		{ ".stage vertex\n.input v0, frag_x", "t:2:12: error: frag_x is not for vertex" },
		{ ".pds\nattr v0, f32, 3, 0, 12, 5\nmov v4, front",
		  "t:3:1: error: mov is not for vertex" },
		{ ".outputs 33", "t:1:10: error: pixel output registers is a whole number" },
		{ ".vo 257", "t:1:5: error: vertex output registers is a whole number" },
		{ ".vo 1\nuvsw vo1, r1\nend", "t:1:1: error: the program names 2 vertex output" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void varyings_and_texture_reads_are_checked(void **state)
{
	static const struct error_case cases[] = {
		{ "itr r0, perspective, 2, cf3", "t:1:28: error: perspective needs the plane" },
		{ "itr r0, linear, 2, cf3, cf0", "t:1:25: error: linear has no plane" },
		{ "itr r0, linear, 0, cf3", "t:1:17: error: a varying has 1 to 4 components" },
		{ "itr r0, linear, 5, cf3", "t:1:17: error: a number of components" },
		{ "itr r246, linear, 4, cf3", "t:1:5: error: 4 registers from r246" },
		{ "itr r0, round, 1, cf3", "t:1:9: error: expected one of " },
		{ "fetch.f32 r0, cube, v0, sh0", "t:1:15: error: this texture read does not exist" },
		{ "gather.f32 r0, 1d, v0, sh0, 0", "t:1:16: error: this texture read does not" },
		{ "gather.f32 r0, 2d, v0, sh0, 4", "t:1:29: error: a component is a whole" },
		{ "sample.f32 r0, 2d, v0, sh4085", "t:1:24: error: 12 registers from sh4085" },
		{ "sample.f32 r0, 4d, v0, sh0", "t:1:16: error: expected one of " },
		{ "sample_grad.f32 r0, 2d_array, v0, r245, sh0",
		  "t:1:35: error: 4 registers from r245" },
		{ "sample.f32 r0, cube_array, v245, sh0", "t:1:28: error: 4 registers from v245" },
		{ ".stage tile\npbe sh4090", "t:2:5: error: 8 registers from sh4090" },
		{ ".pds\ncoeff v0, 0, 1", "t:2:1: error: planes are stored in coefficient" },
		{ ".pds\niterate v0, 63, 4, linear", "t:2:1: error: unknown varying" },
		{ ".pds\niterate v0, 0, 5, linear", "t:2:1: error: a varying has 1 to 4" },
		{ ".pds\nattr sh0, f32, 3, 0, 12, 5", "t:2:1: error: vertex attributes are stored in" },
		{ ".pds\nfetch sh0, 1", "t:2:1: error: vertex attributes are stored in" },
		{ ".pds\nfetch v0, 32", "t:2:9: error: accepted here: a number from 0 to 31" },
		{ ".pds\nattr v0, f33, 3, 0, 12, 5", "t:2:10: error: expected" },
		{ ".pds\ntexture v246, 0, linear, 2d, 0", "t:2:1: error: the registers exceed" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void the_pds_program_is_checked(void **state)
{
	static const struct error_case cases[] = {
		{ ".pds\ndma sh0, 0, uniforms", "t:2:1: error: a burst of the PDS has 1 to 4096" },
		{ ".pds\ndma sh4095, 2, uniforms", "t:2:1: error: the registers exceed" },
		{ ".pds\ndma cf0, 4096, uniforms", "t:2:1: error: the registers exceed" },
		{ ".pds\ndma v200, 49, uniforms", "t:2:1: error: the registers exceed" },
		{ ".pds\ndma cf0, 4, uniforms, 16", "t:2:1: error: only attribute registers have" },
		{ ".pds\ndma sh0, 4, uniforms + 2", "t:2:1: error: a burst of the PDS is 4-byte" },
		{ ".pds\ndma v0, 4, uniforms, 6", "t:2:1: error: a burst of the PDS is 4-byte" },
		{ ".pds\nmov cf0, local_x", "t:2:1: error: the value differs between instances" },
		{ ".pds\ntask code + 8", "t:2:1: error: a task's address is 16-byte aligned" },
		{ ".pds\ntask code, 65537", "t:2:12: error: a number of instructions" },
		{ ".input cf0, global_x", "t:1:13: error: global_x differs between instances" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void twenty_errors_are_reported_and_no_more(void **state)
{
	struct reports reports = { .count = 0 };
	char text[200] = "";
	uint8_t *file;
	size_t bytes;

	(void)state;
	for (unsigned int i = 0; i < 30; i++)
		strcat(text, "foo\n");
	assert_int_equal(pumice_assemble("t", text, collect, &reports, &file, &bytes), -EINVAL);
	assert_int_equal(reports.count, 20);
}

static void the_caret_is_printed_below_the_position_after_tabs(void **state)
{
	struct reports reports = { .count = 0 };
	uint8_t *file;
	size_t bytes;

	(void)state;
	pumice_assemble("t", "\tmov\tr1, [one], q7", collect, &reports, &file, &bytes);
	assert_memory_equal(reports.first, "t:1:17: error: q7 is not defined; accepted: r0 to ",
			    50);
	assert_string_equal(strchr(reports.first, '\n'),
			    "\n\tmov\tr1, [one], q7\n\t   \t           ^~\n");
}

static void random_text_never_crashes_the_assembler(void **state)
{
	static const char pieces[][24] = { "add", ".f32", " r1", ",", "[", "]", "sh0", "+", "-", "!",
					   "&", ":", "\n", ".pds", ".endpds", "dma ", "0x", "1.5e",
					   "99999999999999", ".group ", "one", ";", "\t", "loop",
					   ".equ A,", "global_load32 ", "sig0", "jump ", "\x80", "idx0",
					   "*", "r[", "global_atomic.u32 ", "dc[idx1 ", "16", "cf3",
					   ".macro m a\n", "\n.endm\n", ".repeat 3, i\n", "\n.endr\n",
					   "\\a", "\\@", "m r1\n", "(", ")", "<<", "/", "~", "mov r0, " };
	uint32_t rng = 12345;

	(void)state;
	for (unsigned int round = 0; round < 6000; round++) {
		char text[768] = "";
		uint8_t *file;
		size_t bytes;

		for (unsigned int i = 0; i < 24; i++) {
			rng = rng * 1664525u + 1013904223u;
			strcat(text, pieces[(rng >> 8) % (sizeof(pieces) / sizeof(pieces[0]))]);
		}
		if (!pumice_assemble("t", text, NULL, NULL, &file, &bytes))
			free(file);
	}
}

static void a_corrupt_file_is_refused_with_a_reason(void **state)
{
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(pumice_assemble("t", ".uniforms sh0, 4\nmov r1, [one], sh3\nend\n", NULL,
					 NULL, &file, &bytes), 0);
	for (size_t bit = 0; bit < bytes * 8; bit++) {
		char error[256] = "", *text;

		file[bit / 8] ^= (uint8_t)(1u << bit % 8);
		/* The checksum does not cover the header: other sizes may be accepted. */
		if (pumice_disassemble(file, bytes, &text, error, sizeof(error))) {
			assert_true(error[0]);
		} else {
			assert_in_range(bit / 32, 7, 11);
			free(text);
		}
		file[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	for (size_t cut = 0; cut < bytes; cut++) {
		char error[256] = "", *text;

		assert_int_equal(pumice_disassemble(file, cut, &text, error, sizeof(error)),
				 -EINVAL);
		assert_true(error[0]);
	}
	free(file);
}

/* Only the last source may be an immediate or a scalar; other sources are copied first. */
static void an_error_of_a_source_has_its_remedy(void **state)
{
	static const struct error_case cases[] = {
		{ "sub.u32 r5, 63, v1", "t:1:13: error: an immediate is not allowed here: only the "
		  "last source may be an immediate or a scalar; copy it first, "
		  "to a register that is free, such as: mov r6, [one], 63\n" },
		{ "mul.f32 r1, 2.0, v0", "t:1:13: error: an immediate is not allowed here: only the "
		  "last source may be an immediate or a scalar; swap the operands, or copy it first, "
		  "to a register that is free, such as: mov r2, [one], 2.0\n" },
		{ "lt.u32 r0, sh0, v0 ; less", "t:1:12: error: this register is not allowed here: "
		  "only the last source may be an immediate or a scalar; write gt and swap the "
		  "operands, or copy it first, "
		  "to a register that is free, such as: mov r1, [one], sh0\n" },
		{ "add.u32 r0, sh0, 5", "t:1:13: error: this register is not allowed here: only the "
		  "last source may be an immediate or a scalar; copy it first, "
		  "to a register that is free, such as: mov r1, [one], sh0\n" },
		{ "group_load sig0, 0, sh0, 64", "t:1:18: error: an immediate is not allowed here; "
		  "accepted: sh0 to sh4095, cf0 to cf4094, cfa0 to cfa1022, a constant such as sc0, sl0 "
		  "to sl7, element 0, such as r1[0], of r, v, idx, sr, i; copy it first, "
		  "to a register that is free, such as: mov r0[0], 0\n" },
		{ "mov r1, [one], r0[idx0]", "t:1:16: error: an index replaces the number of a register: "
		  "write r[idx0 + 0]\n" },
		{ "mov r1, [one], sh3[idx1]", "t:1:16: error: an index replaces the number of a "
		  "register: write sh[idx1 + 3]\n" },
		{ "mov r1, [one], i0[idx0]", "t:1:16: error: the bank i has no index: r, v, sh, cf, cfa, o, "
		  "vo and dc have\n" },
		{ "shl.f32 r0, r1, r2", "t:1:1: error: shl is for integers: write shl\n" },
		{ "mov.f32 r0, v0", "t:1:1: error: mov copies 32 bits of any type: write mov\n" },
		{ "barrier.f32", "t:1:1: error: barrier has no type: write barrier\n" },
		{ "br x, [r0]", "t:1:1: error: no such operation; the most similar is br_all\n" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

/* An error is a sentence with a remedy, at the position of the mistake. */
static void an_error_has_a_remedy(void **state)
{
	static const struct error_case cases[] = {
		{ "global_store32 sig0, [one], sh0, v0",
		  "t:1:29: error: an address is a base and an offset register: write sh0 + r0, where "
		  "r0 is 0\n" },
		{ "global_store32 sig0, [one], sh0 + 16, r0",
		  "t:1:29: error: an address is a base and an offset register: write sh0 + r1 + 16, "
		  "where r1 is 0\n" },
		{ "global_store32 sig0, [one], r4[0] + zero, v0",
		  "t:1:29: error: an address is a base and an offset register: write r4[0] + r5, where "
		  "r5 is 0\n" },
		{ "add.u32 r0, r0, 1.5", "t:1:17: error: an operation on integers: write a whole "
		  "number, or 0x3fc00000 for the bits of the float\n" },
		{ "mov r0, foo", "t:1:9: error: foo is not defined; accepted: r0 to r247, v0 to v247, "
		  "sh0 to sh4095, cf0 to cf4094, cfa0 to cfa1022, idx0 to idx1, o0 to o31, a constant "
		  "such as sc0, a special register such as instance, dc[idx0], i0 to i7, sl0 to sl7, a "
		  "constant such as zero, a number, a mask such as [r1], element 0, such as r1[0], of "
		  "r, v, idx, sr, i; mov takes 2 or 3 operands, such as mov r1, [one], 1.5\n" },
		{ "mov r0, [foo], r1", "t:1:10: error: foo is not defined; accepted: a predefined "
		  "constant such as one, or r0 to r15; mov takes" },
		{ "global_load32 sig0, r1, [one], foo", "t:1:32: error: foo is not defined; accepted: "
		  "an address such as sh0 + r2 + 16; global_load32 takes" },
		{ "x: mov r0, x", "t:1:12: error: x is a label, which only a branch names; accepted: " },
		{ "mov r0, 0xzz",
		  "t:1:9: error: 0xzz is not a number: numbers are such as 42, 0x2a and 1.5\n" },
		{ "mov r0, 1.2.3",
		  "t:1:9: error: 1.2.3 is not a number: numbers are such as 42, 0x2a and 1.5\n" },
		{ "MOV r0, r1", "t:1:1: error: no such operation: names of operations are in lower "
		  "case: write mov\n" },
		{ "mvo r0, r1", "t:1:1: error: no such operation; the most similar is mov\n" },
		{ "loop", "t:1:1: error: no such operation; the most similar is floor; if it is a "
		  "label, write loop:\n" },
		{ "jump missing\nend", "t:1:6: error: undefined label missing: write missing: before "
		  "the instruction to branch to\n" },
		{ ".equ N, 1\njump N\nend", "t:2:6: error: N is not a label: a branch names a label\n" },
		{ "end\na: end\na: end", "t:3:1: error: a is defined twice: first in line 2 of t; use "
		  "another name\n" },
		{ ".macro m\na: end\n.endm\nm\nm", "t:2:1: error: a is defined twice: first in line 2 "
		  "of t; append \\@ to the name, which is another number in each use\n" },
		{ "r0: end", "t:1:1: error: r0 already has another meaning: registers, predefined "
		  "constants and signals have such names; use another one\n" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

static void an_error_of_a_directive_has_a_remedy(void **state)
{
	static const struct error_case cases[] = {
		{ ".temps 1\nmov r5, r1\nend\n", "t:1:1: error: the program names 6 temporary "
		  "registers, the directive gives 1: write 6, or remove the directive\n"
		  ".temps 1\n^~~~~~\n" },
		{ "end\n.pds\nend\n", "t:2:1: error: .pds without .endpds: write .endpds after the last "
		  "PDS instruction\n.pds\n^~~~\n" },
		{ "", "t:1:1: error: the program has no instruction: write at least end\n" },
		{ ".equ A, 3", "t:1:1: error: the program has no instruction: write at least end\n"
		  ".equ A, 3\n^\n" },
		{ ".equ A, 3\n.equ B, 4\n", "t:1:1: error: the program has no instruction: write at "
		  "least end\n.equ A, 3\n^\n" },
		{ ".const foo, 1", "t:1:8: error: foo is not defined; accepted: a shared, coefficient "
		  "or attribute register\n" },
		{ ".equ A, A + 1", "t:1:9: error: expected a number: A is not defined; an .equ constant "
		  "is defined in a line before its use\n" },
		{ ".equ A, r1", "t:1:9: error: expected a number: r1 is not an .equ constant\n" },
		{ ".equ A, 1 / 0", "t:1:11: error: division by zero: the divisor must not be 0\n" },
		{ ".equ A, 1 << 32", "t:1:11: error: a shift is by 0 to 31 bits, and its result fits in "
		  "64 bits\n" },
		{ ".macro m\nend", "t:1:1: error: .macro without .endm: write .endm after the last line "
		  "that belongs to it\n.macro m\n^~~~~~\n" },
		{ ".endr", "t:1:1: error: .endr without .repeat: write .repeat COUNT before the lines "
		  "that belong to it, or remove this line\n" },
		{ "mov r0, \\b", "t:1:9: error: no argument or counter has the name b: write it in the "
		  "line of .macro, after the name, or of .repeat, after the number\nmov r0, \\b\n"
		  "        ^~\n" },
		{ "a\\@: end", "t:1:2: error: \\@ is the number of a use of a macro or repetition: write "
		  "it between .macro and .endm, or .repeat and .endr\n" },
		{ ".repeat -1\n.endr", "t:1:9: error: a number of repetitions is a whole number from 0 "
		  "to 65536\n" },
		{ ".uniforms sh0, 0", "t:1:16: error: a number of words is 1 or more: write the number "
		  "of words of the uniform block, or remove the line\n" },
		{ ".uniforms cf4090, 6", "t:1:11: error: uniforms go to existing registers: 6 words from "
		  "cf4090 on exceed cf4094\n" },
		{ ".macro m a\n.endm\nm 1, 2", "t:3:6: error: m takes 1 argument\n" },
		{ ".macro m\nm\n.endm\nm", "t:2:2: error: macros, repetitions and files are nested more "
		  "than 32 deep: does one of them use itself?\nm\n ^\n"
		  "t:2: note: the macro is used here\nnote: 29 more uses are omitted\n"
		  "t:4: note: the macro is used here\n" },
	};

	(void)state;
	check_errors(cases, sizeof(cases) / sizeof(cases[0]));
}

/* A name is defined even if its value is wrong, and its uses cause no error. */
static void a_wrong_definition_is_one_error(void **state)
{
	static const char *const texts[] = {
		".equ A, 1 / 0\nmov r0, A\nmul.f32 r1, r0, 1.0 + A\nend\n",
		".equ A, 1 / 0\n.group A\n.equ B, A + 1\nmov r0, B\nend\n",
		".equ A, 1 + 1.0\n.repeat A\nend\n.endr\n.repeat 2, i\nmov r\\i, A\n.endr\nend\n",
		"again\nmov r0, [one], 1\nbr_all again, [!r0]\nend\n",
		".alias q, foo\nmov r0, q\nadd.u32 q, q, q\nend\n",
		".equ A\nmov r0, A\n",
		/* A line with an error has no instruction; numbers count it. */
		"jump 2\nmov r0, [one], 9x\nend\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct reports reports = { .count = 0 };
		uint8_t *file;
		size_t bytes;

		assert_int_equal(pumice_assemble("t", texts[i], collect, &reports, &file, &bytes),
				 -EINVAL);
		assert_int_equal(reports.count, 1);
	}
	/* The errors of further lines are reported. */
	struct reports reports = { .count = 0 };
	uint8_t *file;
	size_t bytes;

	pumice_assemble("t", ".equ A, 1 / 0\nmov r0, A\nfoo\njump missing\n", collect,
			&reports, &file, &bytes);
	assert_int_equal(reports.count, 3);
}

/* Bits of a float that is 0 are those of the integer; bitwise operations have no type. */
static void a_float_is_accepted_where_its_bits_are_meant(void **state)
{
	uint8_t *file;
	size_t bytes;

	(void)state;
	assert_int_equal(pumice_assemble("t", "eq.u32 r0, r1, 0.0\nand r0, r0, -0.0\nmov r1, 1.5\n"
					 "add.f32 r0, r0, 1.5\nend\n", NULL, NULL,
					 &file, &bytes), 0);
	free(file);
}

/* Labels are looked up after the last line, so that no line ends the assembly. */
static void undefined_labels_are_twenty_errors_at_most(void **state)
{
	struct reports reports = { .count = 0 };
	char text[25 * 9 + 1] = "";
	uint8_t *file;
	size_t bytes;

	(void)state;
	for (unsigned int n = 0; n < 25; n++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "jump l%u\n", n);
	assert_int_equal(pumice_assemble("t", text, collect, &reports, &file, &bytes), -EINVAL);
	assert_int_equal(reports.count, 20);
}

#define NEST(text)	".repeat 1\n" text ".endr\n"

/* Only of more than eight uses some are omitted. */
static void eight_uses_of_a_line_are_all_printed(void **state)
{
	static const struct error_case cases[] = {
		{ NEST(NEST(NEST(NEST(NEST(NEST(NEST(NEST("foo\n")))))))),
		  "t:9:1: error: no such operation; if it is a label, write foo:\nfoo\n^~~\n"
		  "t:8: note: repeated here, repetition 0\nt:7: note: repeated here, repetition 0\n"
		  "t:6: note: repeated here, repetition 0\nt:5: note: repeated here, repetition 0\n"
		  "t:4: note: repeated here, repetition 0\nt:3: note: repeated here, repetition 0\n"
		  "t:2: note: repeated here, repetition 0\nt:1: note: repeated here, repetition 0\n" },
	};

	(void)state;
	check_errors(cases, 1);
}

static void of_a_long_line_two_hundred_columns_are_printed(void **state)
{
	struct reports reports = { .count = 0 };
	char text[300];
	const char *line;
	uint8_t *file;
	size_t bytes;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(pumice_assemble("t", text, collect, &reports, &file, &bytes), -EINVAL);
	line = strstr(reports.first, "\nxxx");
	assert_non_null(line);
	assert_int_equal(strcspn(line + 1, "\n"), 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_error_is_reported_at_its_position),
		cmocka_unit_test(error_text_states_the_rule),
		cmocka_unit_test(an_error_has_the_form_of_the_operation),
		cmocka_unit_test(an_error_has_no_reference_to_other_documents),
		cmocka_unit_test(a_missing_register_is_reported_with_the_last_existing_one),
		cmocka_unit_test(indices_are_checked),
		cmocka_unit_test(bursts_atomics_and_types_are_checked),
		cmocka_unit_test(operations_that_a_stage_lacks_are_refused),
		cmocka_unit_test(varyings_and_texture_reads_are_checked),
		cmocka_unit_test(the_pds_program_is_checked),
		cmocka_unit_test(twenty_errors_are_reported_and_no_more),
		cmocka_unit_test(undefined_labels_are_twenty_errors_at_most),
		cmocka_unit_test(eight_uses_of_a_line_are_all_printed),
		cmocka_unit_test(of_a_long_line_two_hundred_columns_are_printed),
		cmocka_unit_test(the_caret_is_printed_below_the_position_after_tabs),
		cmocka_unit_test(random_text_never_crashes_the_assembler),
		cmocka_unit_test(a_corrupt_file_is_refused_with_a_reason),
		cmocka_unit_test(an_error_of_a_source_has_its_remedy),
		cmocka_unit_test(an_error_has_a_remedy),
		cmocka_unit_test(an_error_of_a_directive_has_a_remedy),
		cmocka_unit_test(a_wrong_definition_is_one_error),
		cmocka_unit_test(a_float_is_accepted_where_its_bits_are_meant),
	};

	return cmocka_run_group_tests_name("compiler-errors", tests, NULL, NULL);
}
