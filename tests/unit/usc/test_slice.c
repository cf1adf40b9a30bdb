// SPDX-License-Identifier: MIT
/*
 * Coordinate programs derived from random vertex programs: in the reference model both leave the
 * same position, to the bit, and most derived programs are shorter.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "exec.h"
#include "fake_tag.h"
#include "slice.h"

#define PROGRAMS	4000u
#define MAX_STEPS	200000u
#define INSN_WORDS		PUMICE_USC_WORDS

static struct ref_gfx gfx[2];
static struct ref_group group[2];

/* Replace each instruction that stores to memory by a fence, of which any number may follow. */
static void remove_stores(struct gen_program *prog)
{
	static uint8_t keep[GEN_MAX_INSNS];
	struct pumice_usc_insn fence = { .opcode = PUMICE_USC_OP_MEM_FENCE };
	char error[256];

	for (u32 i = 0; i < prog->insns; i++) {
		static u32 one[2 * INSN_WORDS];
		struct pumice_usc_insn insn;

		/* Alone, followed by an end: branches to itself are legal. */
		memcpy(one, prog->code + i * INSN_WORDS, sizeof(one) / 2);
		assert_int_equal(pumice_usc_unpack(one, &insn), PUMICE_ISA_UNPACK_OK);
		if (insn.target)
			continue;
		if (slice_program(one, 1, 4, keep, error, sizeof(error)) == -EINVAL)
			pumice_usc_pack(prog->code + i * INSN_WORDS, &fence);
	}
}

/* Copy the instructions that remain, with their branches. */
static void derive(const struct gen_program *from, const uint8_t *keep, struct gen_program *to)
{
	*to = *from;
	to->insns = 0;
	for (u32 i = 0; i < from->insns; i++) {
		u32 *words = to->code + to->insns * INSN_WORDS, target = 0;
		struct pumice_usc_insn insn;

		if (!keep[i])
			continue;
		memcpy(words, from->code + i * INSN_WORDS, INSN_WORDS * 4);
		pumice_usc_unpack(words, &insn);
		for (u32 k = 0; k < insn.target; k++)
			target += keep[k];
		if (insn.target) {
			insn.target = (u16)target;
			pumice_usc_pack(words, &insn);
		}
		to->insns++;
	}
}

/* Run a program in the model, from the same state as all others of this seed. */
static enum ref_end run(struct fixture *fx, u64 seed, const struct gen_program *prog,
			const struct gen_program *set_up, u32 n)
{
	static struct usc_gfx of_device;
	struct fx_group shape = { .tasks = 1, .local_bytes = 5 * GEN_LOCAL_WAVE_BYTES };
	struct gen_rng rng = { seed };
	struct usc_program *program;
	enum ref_end end;

	memset(&gfx[n], 0, sizeof(gfx[n]));
	gfx[n].stage = USC_STAGE_VERTEX;
	gfx[n].sample = REF_PIXEL_RATE;
	gfx[n].vo_words = set_up->limits.vo;
	gfx[n].texture = fake_tag_mix;
	of_device = (struct usc_gfx){
		.stage = USC_STAGE_VERTEX, .sample = USC_PIXEL_RATE, .vo_words = set_up->limits.vo,
	};
	fx_clear(fx);
	program = fx_program(fx, set_up->code, set_up->insns, &set_up->limits);
	assert_non_null(program);
	shape.instances[0] = PUMICE_LANES;
	shape.gfx = &of_device;
	both_set_up(&rng, fx, 0, set_up, &shape, program, &group[n]);
	gfx[n].uniforms = (const u32 *)(const void *)group[n].memory;
	gfx[n].uniform_words = GEN_UNIFORMS;
	group[n].gfx = &gfx[n];
	group[n].code = prog->code;
	group[n].insns = prog->insns;
	ref_begin_gfx(&group[n]);
	end = ref_run(&group[n], MAX_STEPS);
	free(group[n].memory);
	fx_put(fx, program);
	return end;
}

/* Return the instructions that were removed; positions must be equal. */
static u32 try_program(struct fixture *fx, u64 seed)
{
	static struct gen_program whole, part;
	static uint8_t keep[GEN_MAX_INSNS];
	struct gen_rng rng = { seed };
	const u32 outputs = 4 + seed % 2;
	char error[256] = "";

	gen_gfx_program(&rng, USC_STAGE_VERTEX, true, &whole);
	remove_stores(&whole);
	if (slice_program(whole.code, whole.insns, outputs, keep, error, sizeof(error)))
		fail_msg("%s", error);
	derive(&whole, keep, &part);
	assert_int_equal(run(fx, seed, &whole, &whole, 0), REF_ENDED);
	assert_int_equal(run(fx, seed, &part, &whole, 1), REF_ENDED);
	for (u32 n = 0; n < outputs && n < whole.limits.vo; n++)
		if (!both_same("output", n, 0, gfx[1].vo[0][n], gfx[0].vo[0][n], PUMICE_LANES * 4))
			fail_msg("seed %llu", (unsigned long long)seed);
	return whole.insns - part.insns;
}

static void derived_programs_compute_the_same_position(void **state)
{
	struct fixture *fx;
	u32 shorter = 0;
	u64 removed = 0;

	(void)state;
	both_begin();
	fx = fx_create(BOTH_GROUP_BYTES);
	for (u64 n = 0; n < PROGRAMS; n++) {
		const u32 less = try_program(fx, 9000 + n);

		shorter += less > 0;
		removed += less;
	}
	fx_destroy(fx);
	print_message("%u of %u are shorter, by %llu instructions\n", shorter, PROGRAMS,
		      (unsigned long long)removed);
	assert_true(shorter > PROGRAMS / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(derived_programs_compute_the_same_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
