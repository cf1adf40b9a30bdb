// SPDX-License-Identifier: MIT
/*
 * Random vertex, fragment and end-of-tile programs: the USC against the reference
 * model, to the bit: registers, memory, vertex outputs, the tile, live samples of
 * each span.
 *
 * PUMICE_TEST_SEED and PUMICE_TEST_PROGRAMS in the environment override the seed
 * and the number of programs.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "exec.h"
#include "fake_tag.h"
#include "faults.h"

#define PROGRAMS 3000u
#define LATE_PROGRAMS 1500u	/* the same with data that arrive late */
#define MAX_SPANS (PUMICE_TASK_INSTANCES / USC_SPAN_LANES)
#define MAX_WORDS 8u
#define MAX_PRIMS 8u
#define MAX_STEPS 100000u

/* A task of a data master, for both. */
struct scene {
	struct usc_gfx gfx;
	struct usc_tile tile;
	struct usc_span span[MAX_SPANS];
	u32 prims;
	struct ref_gfx ref;
	u32 outputs[4 * MAX_WORDS * PUMICE_TILE_PIXELS];
	u32 ref_outputs[4 * MAX_WORDS][REF_TILE_PIXELS];
	/* One word beyond a row's alignment, which is not guaranteed. */
	u32 vo[1 + USC_MAX_WAVES * PUMICE_USC_MAX_VO * PUMICE_LANES];
};

static bool passes(u32 pixel, u32 sample, u32 depth)
{
	return ((pixel * 2654435761u ^ sample * 40503u ^ depth * 2246822519u) >> 13 & 3) != 0;
}

static void test_depth(const struct usc_gfx *gfx, struct usc_span *span, const u32 *depth)
{
	const struct usc_span *end = gfx->span + gfx->spans;

	for (u32 l = 0; l < PUMICE_LANES && span + l / 4 < end; l++) {
		for (u32 s = 0; s < gfx->tile->samples; s++) {
			u32 bit = 1u << (l % 4 * 4 + s);

			if ((gfx->sample == USC_PIXEL_RATE || gfx->sample == s) &&
			    !passes(span[l / 4].quad * 4u + l % 4, s, depth[l]))
				span[l / 4].live &= (u16)~bit;
		}
	}
}

static const struct usc_gfx_ops ops = { .depth = test_depth };

static void random_tile(struct gen_rng *rng, const struct gen_program *prog, struct scene *t)
{
	static const u8 size[3][2] = { { 32, 32 }, { 16, 16 }, { 32, 16 } };
	const u8 *wh = size[gen_below(rng, 3)];

	t->tile = (struct usc_tile){
		.pixels = PUMICE_TILE_PIXELS,
		.outputs = t->outputs, .words = (u8)prog->limits.outputs,
		.samples = (u8)(1u << (gen_below(rng, 2) ? 0 : gen_below(rng, 3))),
		.width = wh[0], .height = wh[1],
	};
	for (u32 n = 0; n < t->tile.samples * t->tile.words * PUMICE_TILE_PIXELS; n++)
		t->outputs[n] = gen_random(rng);
	memcpy(t->ref_outputs, t->outputs, sizeof(t->outputs));
}

/* Spans without common samples; adjacent and full, or anywhere with holes. */
static void random_spans(struct gen_rng *rng, struct scene *t)
{
	u32 quads = t->tile.width * t->tile.height / 4u, all = (1u << t->tile.samples) - 1;
	u32 whole = all * 0x1111, start = gen_below(rng, quads), shape = gen_below(rng, 4);
	u16 used[PUMICE_TILE_PIXELS / 4] = { 0 };

	t->gfx.spans = 1 + gen_below(rng, MAX_SPANS);
	t->prims = 1 + gen_below(rng, MAX_PRIMS);
	for (u32 n = 0; n < t->gfx.spans; n++) {
		u32 quad = shape ? (start + n) % quads : gen_below(rng, quads);
		u32 mask = shape > 1 ? whole : gen_random(rng) & gen_random(rng) & whole;

		if (shape == 2 && gen_below(rng, 8) == 0)
			mask &= gen_random(rng);
		mask &= ~(u32)used[quad];
		used[quad] |= (u16)mask;
		t->span[n] = (struct usc_span){
			.quad = (u8)quad, .samples = (u16)mask,
			.prim = (u8)(gen_below(rng, 4) ? n * t->prims / t->gfx.spans :
							 gen_below(rng, t->prims)),
			.covered = (u16)(mask | (gen_random(rng) & gen_random(rng) & whole)),
			.live = (u16)gen_random(rng),
		};
	}
}

static void random_scene(struct gen_rng *rng, const struct gen_program *prog, struct scene *t)
{
	t->gfx = (struct usc_gfx){
		.stage = (u8)prog->limits.stage, .sample = USC_PIXEL_RATE, .ops = &ops,
		.discards = true, .depth_writes = true, .coeffs = prog->limits.coeffs,
		.coeffs_alt = prog->limits.coeffs_alt,
		.vo = t->vo + 1, .vo_words = prog->limits.vo,
		.tile = &t->tile, .span = t->span,
	};
	memset(t->vo, 0, sizeof(t->vo));
	random_tile(rng, prog, t);
	random_spans(rng, t);
	if (t->tile.samples > 1 && gen_below(rng, 2))
		t->gfx.sample = (u8)gen_below(rng, t->tile.samples);
}

/* The same for the model. */
static void copy_scene(const struct scene *t, struct ref_gfx *ref, u32 (*outputs)[REF_TILE_PIXELS])
{
	memset(ref, 0, sizeof(*ref));
	ref->stage = t->gfx.stage;
	ref->sample = t->gfx.sample == USC_PIXEL_RATE ? REF_PIXEL_RATE : t->gfx.sample;
	ref->spans = t->gfx.spans;
	ref->coeffs = t->gfx.coeffs;
	ref->coeffs_alt = t->gfx.coeffs_alt;
	ref->vo_words = t->gfx.vo_words;
	ref->quads_across = t->tile.width / 2u;
	ref->samples = t->tile.samples;
	ref->words = t->tile.words;
	ref->output = outputs;
	ref->depth = passes;
	ref->texture = fake_tag_mix;
	for (u32 n = 0; n < t->gfx.spans; n++)
		ref->span[n] = (struct ref_span){
			.quad = t->span[n].quad, .prim = t->span[n].prim,
			.samples = t->span[n].samples, .covered = t->span[n].covered,
		};
}

/* The uniform stream of both, in the part of memory that nothing writes. */
static void set_uniforms(struct gen_rng *rng, struct scene *t, const struct ref_group *ref)
{
	const u32 at = 256 * gen_below(rng, (GEN_READ_BYTES - GEN_UNIFORMS * 4) / 256 + 1);

	if (t->gfx.stage == USC_STAGE_TILE)
		return;
	t->gfx.uniforms = ref->memory_va + at;
	t->ref.uniforms = (const u32 *)(const void *)(ref->memory + at);
	t->gfx.uniform_words = t->ref.uniform_words = GEN_UNIFORMS;
}

static bool same_outputs(const struct scene *t, const struct ref_group *ref)
{
	size_t tile = (size_t)t->tile.samples * t->tile.words * PUMICE_TILE_PIXELS * 4;
	u32 row = PUMICE_LANES * 4;

	if (t->gfx.stage == USC_STAGE_VERTEX) {
		for (u32 w = 0; w < ref->waves; w++) {
			if (!both_same("vertex outputs of wave", 0, w,
				       t->gfx.vo + w * t->gfx.vo_words * PUMICE_LANES,
				       t->ref.vo[w], (size_t)t->gfx.vo_words * row))
				return false;
		}
		return true;
	}
	for (u32 n = 0; n < t->gfx.spans; n++) {
		if (t->span[n].live != t->ref.span[n].live) {
			print_error("span %u: live %#x, must be %#x\n", n, t->span[n].live,
				    t->ref.span[n].live);
			return false;
		}
	}
	return both_same("tile", 0, 0, t->outputs, t->ref_outputs, tile);
}

/* Return whether the device reports memory that a store of the model writes later. */
static bool same_place(const struct fixture *fx, const struct ref_group *ref)
{
	const u64 va = pumice_late_memory_va(fx->fault.addr);
	u32 signal = pumice_late_memory_signal(fx->fault.addr);

	if (ref_is_stored(ref, va, 1, &signal))
		return true;
	print_error("byte %#llx is not stored with signal %u\n", (unsigned long long)va, signal);
	return false;
}

/* Return whether the device reports a register that is late, where the model finds one. */
static bool same_fault(const struct fixture *fx, const struct ref_group *ref)
{
	const u32 word = (u32)fx->fault.addr;
	struct pumice_usc_operand reg;
	struct pumice_usc_late what;
	u32 signal = UINT32_MAX;

	if (fx->faults != 1 || fx->fault.fault != ref->fault || fx->fault.pc != ref->fault_pc) {
		print_error("fault %u at %u, must be %u at %u\n", fx->fault.fault, fx->fault.pc,
			    ref->fault, ref->fault_pc);
		return false;
	}
	if (pumice_late_is_memory(fx->fault.addr))
		return same_place(fx, ref);
	pumice_usc_late_unpack(&word, &what);
	pumice_usc_operand_unpack(&what.place, &reg);
	if (!what.local && ref_is_late(ref, &ref->wave[0], reg.bank, reg.num, &signal) &&
	    signal == what.sig)
		return true;
	print_error("register %u of bank %u is not loaded with signal %u\n", reg.num, reg.bank,
		    what.sig);
	return false;
}

/* Numbers of programs: not compared, because results are ambiguous; of a fault. */
struct outcome {
	u64 undecided, faults;
};

static bool try_scene(struct fixture *fx, u64 seed, bool hasty, struct outcome *outcome)
{
	static const u32 budgets[] = { 1, 3, 50, 1000, 1u << 20 };
	static struct gen_program prog;
	static struct ref_group ref;
	static struct scene t;
	struct gen_rng rng = { seed };
	u32 stage = USC_STAGE_VERTEX + gen_below(&rng, 3);
	struct fx_group shape = { .tasks = 1, .local_bytes = 5 * GEN_LOCAL_WAVE_BYTES };
	struct usc_program *program;
	bool one_wave = hasty || gen_below(&rng, 2), ok;
	enum ref_end end;

	if (hasty)
		gen_hasty_program(&rng, stage, true, &prog);
	else
		gen_gfx_program(&rng, stage, one_wave, &prog);
	random_scene(&rng, &prog, &t);
	if (one_wave && t.gfx.spans > USC_WAVE_SPANS)
		t.gfx.spans = USC_WAVE_SPANS;
	copy_scene(&t, &t.ref, t.ref_outputs);
	fx_clear(fx);
	program = fx_program(fx, prog.code, prog.insns, &prog.limits);
	if (!program) {
		print_error("instruction %u is refused: fault %u\n", fx->fault.pc, fx->fault.fault);
		return false;
	}
	shape.instances[0] = t.gfx.spans * USC_SPAN_LANES;
	shape.gfx = &t.gfx;
	shape.prims = t.prims;
	both_set_up(&rng, fx, 0, &prog, &shape, program, &ref);
	set_uniforms(&rng, &t, &ref);
	ref.gfx = &t.ref;
	ref_begin_gfx(&ref);
	usc_set_detail(fx->usc, gen_below(&rng, 4) == 0);	/* runs each instruction alone */
	usc_group_start(fx->usc, 0);
	fx_run(fx, budgets[gen_below(&rng, 5)]);
	ref_undecided = 0;
	end = ref_run(&ref, MAX_STEPS);
	if (end == REF_FAULT)
		ok = ref_undecided || same_fault(fx, &ref);
	else
		ok = end == REF_ENDED && fx->done[0] == 1 &&
		     (ref_undecided || (!fx->faults && both_same_state(fx, 0, &ref) &&
					same_outputs(&t, &ref)));
	if (fx->faults && !ok)
		print_error("fault %u at %u\n", fx->fault.fault, fx->fault.pc);
	outcome->undecided += ref_undecided != 0;
	outcome->faults += end == REF_FAULT;
	free(ref.memory);
	fx_put(fx, program);
	return ok;
}

static u64 number_of_programs(enum usc_late_mode late)
{
	const char *count = getenv("PUMICE_TEST_PROGRAMS");

	return count ? strtoull(count, NULL, 0) : late ? LATE_PROGRAMS : PROGRAMS;
}

/* Return the number of programs that fault. */
static u64 run_late(enum gpu_level level, enum usc_late_mode late, bool hasty)
{
	const char *from = getenv("PUMICE_TEST_SEED");
	u64 seed = from ? strtoull(from, NULL, 0) : 20261121;
	const u64 programs = number_of_programs(late);
	struct outcome outcome = { 0 };
	struct fixture *fx;

	if (!gpu_level_usable(level)) {
		print_message("this host lacks the level\n");
		skip();
	}
	usc_level_choose(level);
	both_begin();
	fx = fx_create_late(BOTH_GROUP_BYTES, late);
	for (u64 n = 0; n < programs; n++) {
		if (!try_scene(fx, seed + n, hasty, &outcome)) {
			fx_destroy(fx);
			fail_msg("PUMICE_TEST_SEED=%llu PUMICE_TEST_PROGRAMS=1 shows it",
				 (unsigned long long)(seed + n));
		}
	}
	fx_destroy(fx);
	assert_true(outcome.undecided <= programs / 100 + 1);
	return outcome.faults;
}

static void run_level(enum gpu_level level)
{
	assert_int_equal(run_late(level, USC_LATE_EARLY, false), 0);
}

static void usc_programs_that_wait_draw_the_same_with_late_data(void **state)
{
	(void)state;
	assert_int_equal(run_late(GPU_LEVEL_BASE, USC_LATE_DATA, false), 0);
	assert_int_equal(run_late(GPU_LEVEL_BASE, USC_LATE_POISON, false), 0);
}

static void usc_data_arrive_when_their_access_is_complete(void **state)
{
	(void)state;
	assert_int_equal(run_late(GPU_LEVEL_BASE, USC_LATE_DATA, true), 0);
}

/* Of the programs that do not wait, some do not use the data. */
static void usc_poison_reports_the_first_use_without_a_wait(void **state)
{
	const u64 faults = run_late(GPU_LEVEL_BASE, USC_LATE_POISON, true);
	const u64 programs = number_of_programs(USC_LATE_POISON);

	(void)state;
	print_message("%llu programs used data too early\n", (unsigned long long)faults);
	if (programs >= 100)	/* not one that another run names */
		assert_in_range(faults, programs / 4, programs - programs / 20);
}

static void usc_base_level_draws_as_the_reference(void **state)
{
	(void)state;
	run_level(GPU_LEVEL_BASE);
}

static void usc_avx2_level_draws_as_the_reference(void **state)
{
	(void)state;
	run_level(GPU_LEVEL_AVX2);
}

static void usc_avx512_level_draws_as_the_reference(void **state)
{
	(void)state;
	run_level(GPU_LEVEL_AVX512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_base_level_draws_as_the_reference),
		cmocka_unit_test(usc_avx2_level_draws_as_the_reference),
		cmocka_unit_test(usc_avx512_level_draws_as_the_reference),
		cmocka_unit_test(usc_programs_that_wait_draw_the_same_with_late_data),
		cmocka_unit_test(usc_data_arrive_when_their_access_is_complete),
		cmocka_unit_test(usc_poison_reports_the_first_use_without_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
