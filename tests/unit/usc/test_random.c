// SPDX-License-Identifier: MIT
/*
 * Random programs: the USC against the reference model, to the bit.
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

#include "exec.h"
#include "gen.h"
#include "ref_model.h"
#include "rig.h"

#define PROGRAMS 10000u		/* at the level that this host uses */
#define LESS 5u			/* by this factor at the levels below it */
#define MAX_GROUPS 3u
#define GROUP_BYTES (GEN_READ_BYTES + 12 * GEN_WAVE_BYTES)	/* 3 tasks of 4 waves */
#define MAX_STEPS 100000u
#define NOISE_WORDS (GROUP_BYTES / 2)

/* What memory holds at first: a stretch of this. */
static u32 noise[NOISE_WORDS];

static u64 setting(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Up to 3 tasks; partial waves and tasks without instances among them; at least so many instances. */
static struct rig_group random_shape(struct gen_rng *rng, bool one_wave_tasks, u32 least)
{
	struct rig_group shape = { .tasks = 1 + gen_below(rng, 3) };
	u32 waves = 0, instances = 0;

	for (u32 t = 0; t < shape.tasks; t++) {
		u32 most = one_wave_tasks ? PUMICE_LANES : PUMICE_TASK_INSTANCES;

		shape.instances[t] = gen_below(rng, 3) ? gen_below(rng, most + 1) : most;
		waves += (shape.instances[t] + PUMICE_LANES - 1) / PUMICE_LANES;
		instances += shape.instances[t];
	}
	if (instances < least)
		return random_shape(rng, one_wave_tasks, least);
	shape.local_bytes = (waves + 1) * GEN_LOCAL_WAVE_BYTES;
	shape.first_wave = gen_random(rng);
	return shape;
}

/* The same registers for both sides. */
static void fill_registers(struct gen_rng *rng, struct rig *rig, unsigned int number,
			   struct ref_group *ref, u64 memory_va)
{
	const struct usc_group *group = usc_group(rig->usc, number);
	u32 wave = 0;

	for (u32 t = 0; t < group->tasks; t++) {
		const struct usc_task *task = usc_task(rig->usc, group->slot[t]);
		u32 *shared = usc_shared(rig->usc, task);

		for (u32 n = 0; n < ref->shared_words; n++)
			shared[n] = gen_word(rng);
		shared[GEN_SH_MEMORY] = (u32)memory_va;
		shared[GEN_SH_MEMORY + 1] = (u32)(memory_va >> 32);
		memcpy(ref->shared[t], shared, ref->shared_words * 4);
		for (u32 n = 0; n < ref->coeffs; n++)
			ref->coeff[t][n] = usc_coeffs(rig->usc, task)[n] = gen_word(rng);
		for (u32 w = 0; w < task->waves; w++, wave++) {
			for (u32 r = 0; r < ref->attrs; r++) {
				u32 *row = usc_attr(rig->usc, task, w, r);

				for (u32 l = 0; l < PUMICE_LANES; l++)
					row[l] = gen_word(rng);
				memcpy(ref->wave[wave].reg[ref->temps + r], row, 128);
			}
		}
	}
}

static void set_up_group(struct gen_rng *rng, struct rig *rig, unsigned int number,
			 const struct gen_program *prog, struct rig_group *shape,
			 struct usc_program *program, struct ref_group *ref)
{
	u64 va = RIG_DATA + (u64)number * GROUP_BYTES;
	u32 instance = 0;

	shape->limits = prog->limits;
	rig_fill(rig, number, shape, program);
	ref->waves = 0;
	memset(ref->local, 0, sizeof(ref->local));
	memset(ref->slot_reg, 0, sizeof(ref->slot_reg));
	ref->code = prog->code;
	ref->insns = prog->insns;
	ref->temps = prog->limits.temps;
	ref->attrs = prog->limits.attrs;
	ref->shared_words = prog->limits.shared;
	ref->coeffs = prog->limits.coeffs;
	ref->local_bytes = shape->local_bytes;
	ref->first_wave = shape->first_wave;
	ref->core = RIG_CORE;
	ref->usc = RIG_NUMBER % PUMICE_USCS_PER_CORE;
	for (u32 t = 0; t < shape->tasks; t++) {
		ref_add_task(ref, t, shape->instances[t], usc_group(rig->usc, number)->slot[t],
			     instance);
		instance += shape->instances[t];
	}
	ref->memory_va = va;
	ref->memory_bytes = GEN_READ_BYTES + ref->waves * GEN_WAVE_BYTES;
	ref->memory = malloc(ref->memory_bytes);
	assert_non_null(ref->memory);
	memcpy(ref->memory, &noise[gen_below(rng, NOISE_WORDS / 2)], ref->memory_bytes);
	memcpy(rig->data + number * GROUP_BYTES, ref->memory, ref->memory_bytes);
	fill_registers(rng, rig, number, ref, va);
}

static bool same(const char *what, u32 number, u32 index, const void *got, const void *want,
		 size_t bytes)
{
	const u32 *g = got, *w = want;

	for (size_t n = 0; n < bytes / 4; n++) {
		if (g[n] != w[n]) {
			print_error("group %u: %s %u word %zu is %#x, must be %#x\n", number, what,
				    index, n, g[n], w[n]);
			return false;
		}
	}
	return true;
}

/* Registers of one wave: from the unified store, and its own. */
static bool same_wave(struct rig *rig, unsigned int number, u32 index, const struct usc_group *group,
		      const struct usc_task *task, u32 in_task, const struct ref_group *ref)
{
	const u32 *regs = rig->usc->unified + usc_wave_regs(task, in_task);
	u32 slot = (u32)(task - rig->usc->task);
	const u32 *own = rig->usc->own + (slot * USC_MAX_WAVES + in_task) * USC_OWN_WORDS;
	const struct ref_wave *w = &ref->wave[index];

	return same("registers of wave", number, index, regs, w->reg,
		    (size_t)(ref->temps + ref->attrs) * 128) &&
	       (!group->program->own ||
		(same("internal registers of wave", number, index, own, w->internal,
		      sizeof(w->internal)) &&
		 same("index registers of wave", number, index,
		      own + USC_OWN_INDEX * USC_ROW_WORDS, w->idx, sizeof(w->idx))));
}

/* Registers, local and global memory. */
static bool same_state(struct rig *rig, unsigned int number, const struct ref_group *ref)
{
	const struct usc_group *group = usc_group(rig->usc, number);
	bool ok = same("global memory", number, 0, rig->data + number * GROUP_BYTES, ref->memory,
		       ref->memory_bytes);
	u32 wave = 0;

	for (u32 t = 0; t < group->tasks; t++) {
		const struct usc_task *task = usc_task(rig->usc, group->slot[t]);

		ok = ok && same("shared registers of task", number, t,
				usc_shared(rig->usc, task), ref->shared[t], ref->shared_words * 4) &&
		     same("coefficient registers of task", number, t,
			  usc_coeffs(rig->usc, task), ref->coeff[t], ref->coeffs * 4) &&
		     same("slot registers of task", number, t,
			  rig->usc->slot_reg[group->slot[t]], ref->slot_reg[t],
			  sizeof(ref->slot_reg[t]));
		for (u32 w = 0; w < task->waves; w++, wave++)
			ok = ok && same_wave(rig, number, wave, group, task, w, ref);
	}
	return ok && same("local memory", number, 0, rig->usc->local + group->local_byte, ref->local,
			  ref->local_bytes);
}

/*
 * One program, in one to three work-groups that run at the same time. One whose
 * transcendental results the model cannot tell to the bit is counted, not compared.
 */
static bool try_program(struct rig *rig, u64 seed, u64 *undecided)
{
	static struct gen_program prog;
	static struct ref_group ref[MAX_GROUPS];
	static const u32 budgets[] = { 1, 3, 50, 1000, 1u << 20 };
	struct gen_rng rng = { seed };
	bool one_wave_tasks = gen_below(&rng, 2), ok = true;
	u32 groups = 1 + gen_below(&rng, MAX_GROUPS);
	struct usc_program *program;

	gen_program(&rng, one_wave_tasks, &prog);
	rig_clear(rig);
	program = rig_program(rig, prog.code, prog.insns, &prog.limits);
	if (!program) {
		print_error("instruction %u is refused: fault %u\n", rig->fault.pc, rig->fault.fault);
		return false;
	}
	for (u32 g = 0; g < groups; g++) {
		struct rig_group shape = random_shape(&rng, one_wave_tasks,
						      prog.copies ? PUMICE_USC_COPY_INSTANCES : 0);

		set_up_group(&rng, rig, g, &prog, &shape, program, &ref[g]);
		usc_group_start(rig->usc, g);
	}
	rig_run(rig, budgets[gen_below(&rng, 5)]);
	ref_undecided = 0;
	for (u32 g = 0; g < groups; g++)
		ok = ok && ref_run(&ref[g], MAX_STEPS) == REF_ENDED;
	for (u32 g = 0; g < groups; g++) {
		ok = ok && !rig->faults && rig->done[g] == 1 &&
		     (ref_undecided || same_state(rig, g, &ref[g]));
		free(ref[g].memory);
	}
	*undecided += ref_undecided != 0;
	if (rig->faults)
		print_error("fault %u at %u\n", rig->fault.fault, rig->fault.pc);
	rig_put(rig, program);
	return ok;
}

static void run_level(enum usc_level level)
{
	u64 seed = setting("PUMICE_TEST_SEED", 20261121);
	bool best = level + 1 == USC_LEVELS || !usc_level_usable(level + 1);
	u64 programs = setting("PUMICE_TEST_PROGRAMS", PROGRAMS);
	u64 undecided = 0;
	struct rig *rig;

	if (!best)
		programs = (programs + LESS - 1) / LESS;
	if (!usc_level_usable(level)) {
		print_message("this host lacks the level\n");
		skip();
	}
	usc_level_choose(level);
	for (u32 n = 0; n < NOISE_WORDS; n++)
		noise[n] = gen_word(&(struct gen_rng){ n });
	rig = rig_create(MAX_GROUPS * GROUP_BYTES);
	print_message("PUMICE_TEST_SEED=%llu, %llu programs\n", (unsigned long long)seed,
		      (unsigned long long)programs);
	for (u64 n = 0; n < programs; n++) {
		if (!try_program(rig, seed + n, &undecided)) {
			rig_destroy(rig);
			fail_msg("PUMICE_TEST_SEED=%llu PUMICE_TEST_PROGRAMS=1 shows it",
				 (unsigned long long)(seed + n));
		}
	}
	rig_destroy(rig);
	print_message("%llu programs were not compared\n", (unsigned long long)undecided);
	assert_true(undecided <= programs / 100 + 1);
}

static void usc_base_level_agrees_with_the_reference(void **state)
{
	(void)state;
	run_level(USC_LEVEL_BASE);
}

static void usc_avx2_level_agrees_with_the_reference(void **state)
{
	(void)state;
	run_level(USC_LEVEL_AVX2);
}

static void usc_avx512_level_agrees_with_the_reference(void **state)
{
	(void)state;
	run_level(USC_LEVEL_AVX512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_base_level_agrees_with_the_reference),
		cmocka_unit_test(usc_avx2_level_agrees_with_the_reference),
		cmocka_unit_test(usc_avx512_level_agrees_with_the_reference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
