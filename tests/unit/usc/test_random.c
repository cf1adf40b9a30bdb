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

#include "both.h"
#include "exec.h"

#define PROGRAMS 10000u		/* at the level that this host uses */
#define LATE_PROGRAMS 1000u	/* with data that arrive late */
#define LESS 5u			/* by this factor at the levels below it */
#define MAX_GROUPS 3u
#define MAX_STEPS 100000u

static u64 setting(const char *name, u64 otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Up to 3 tasks, some with partial waves or without instances; at least this many instances. */
static struct fx_group random_shape(struct gen_rng *rng, bool one_wave_tasks, u32 min)
{
	struct fx_group shape = { .tasks = 1 + gen_below(rng, 3) };
	u32 waves = 0, instances = 0;

	for (u32 t = 0; t < shape.tasks; t++) {
		u32 most = one_wave_tasks ? PUMICE_LANES : PUMICE_TASK_INSTANCES;

		shape.instances[t] = gen_below(rng, 3) ? gen_below(rng, most + 1) : most;
		waves += (shape.instances[t] + PUMICE_LANES - 1) / PUMICE_LANES;
		instances += shape.instances[t];
	}
	if (instances < min)
		return random_shape(rng, one_wave_tasks, min);
	shape.local_bytes = (waves + 1) * GEN_LOCAL_WAVE_BYTES;
	shape.first_wave = gen_random(rng);
	return shape;
}

/* One wave that may execute copies: with several, the first to wait would complete them. */
static struct fx_group one_wave(struct gen_rng *rng)
{
	return (struct fx_group){
		.tasks = 1,
		.instances = { PUMICE_USC_COPY_INSTANCES +
			       gen_below(rng, PUMICE_LANES - PUMICE_USC_COPY_INSTANCES + 1) },
		.local_bytes = 2 * GEN_LOCAL_WAVE_BYTES,
	};
}

/* Return the windows of dynamic constants that the USC has fetched. */
static u64 windows_fetched(const struct fixture *fx)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	usc_counters_add(fx->usc, value);
	return value[PUMICE_PERF_USC_DC_WINDOWS];
}

/*
 * One program, in one to three work-groups that run at the same time. If its
 * transcendental results are ambiguous to the last bit, it is counted, not compared.
 */
static bool try_program(struct fixture *fx, u64 seed, bool hasty, u64 *undecided)
{
	static struct gen_program prog;
	static struct ref_group ref[MAX_GROUPS];
	static const u32 budgets[] = { 1, 3, 50, 1000, 1u << 20 };
	struct gen_rng rng = { seed };
	bool one_wave_tasks = gen_below(&rng, 2), ok = true;
	u32 groups = 1 + gen_below(&rng, MAX_GROUPS);
	struct usc_program *program;
	u64 fetches;

	if (hasty)
		gen_hasty_program(&rng, USC_STAGE_COMPUTE, one_wave_tasks, &prog);
	else
		gen_program(&rng, one_wave_tasks, &prog);
	fx_clear(fx);
	program = fx_program(fx, prog.code, prog.insns, &prog.limits);
	if (!program) {
		print_error("instruction %u is refused: fault %u\n", fx->fault.pc, fx->fault.fault);
		return false;
	}
	for (u32 g = 0; g < groups; g++) {
		struct fx_group shape = random_shape(&rng, one_wave_tasks,
						     prog.copies ? PUMICE_USC_COPY_INSTANCES : 0);

		if (hasty && prog.copies)
			shape = one_wave(&rng);

		both_set_up(&rng, fx, g, &prog, &shape, program, &ref[g]);
		usc_group_start(fx->usc, g);
	}
	fetches = windows_fetched(fx);
	fx_run(fx, budgets[gen_below(&rng, 5)]);
	fetches = windows_fetched(fx) - fetches;
	ref_undecided = 0;
	for (u32 g = 0; g < groups; g++)
		ok = ok && ref_run(&ref[g], MAX_STEPS) == REF_ENDED;
	for (u32 g = 0; g < groups; g++)
		fetches -= ref[g].dc_fetches;
	if (ok && fetches && !ref_undecided) {
		print_error("windows fetched more than by the model: %lld\n", (long long)fetches);
		ok = false;
	}
	for (u32 g = 0; g < groups; g++) {
		ok = ok && !fx->faults && fx->done[g] == 1 &&
		     (ref_undecided || both_same_state(fx, g, &ref[g]));
		free(ref[g].memory);
	}
	*undecided += ref_undecided != 0;
	if (fx->faults)
		print_error("fault %u at %u\n", fx->fault.fault, fx->fault.pc);
	fx_put(fx, program);
	return ok;
}

static void run_late(enum gpu_level level, enum usc_late_mode late, bool hasty)
{
	u64 seed = setting("PUMICE_TEST_SEED", 20261121);
	bool best = level + 1 == GPU_LEVELS || !gpu_level_usable(level + 1);
	u64 programs = setting("PUMICE_TEST_PROGRAMS", late ? LATE_PROGRAMS : PROGRAMS);
	u64 undecided = 0;
	struct fixture *fx;

	if (!best && !late)
		programs = (programs + LESS - 1) / LESS;
	if (!gpu_level_usable(level)) {
		print_message("this host lacks the level\n");
		skip();
	}
	usc_level_choose(level);
	both_begin();
	fx = fx_create_late(MAX_GROUPS * BOTH_GROUP_BYTES, late);
	print_message("PUMICE_TEST_SEED=%llu, %llu programs\n", (unsigned long long)seed,
		      (unsigned long long)programs);
	for (u64 n = 0; n < programs; n++) {
		if (!try_program(fx, seed + n, hasty, &undecided)) {
			fx_destroy(fx);
			fail_msg("PUMICE_TEST_SEED=%llu PUMICE_TEST_PROGRAMS=1 shows it",
				 (unsigned long long)(seed + n));
		}
	}
	fx_destroy(fx);
	print_message("%llu programs were not compared\n", (unsigned long long)undecided);
	assert_true(undecided <= programs / 100 + 1);
}

static void run_level(enum gpu_level level)
{
	run_late(level, USC_LATE_EARLY, false);
}

/* Shared registers and local memory that work-groups load are late, too. */
static void usc_programs_that_wait_have_the_same_results_with_late_data(void **state)
{
	(void)state;
	run_late(GPU_LEVEL_BASE, USC_LATE_DATA, false);
	run_late(GPU_LEVEL_BASE, USC_LATE_POISON, false);
}

/* Programs that do not wait, of several waves and tasks: each wave has its own clock. */
static void usc_data_of_each_wave_arrive_when_their_access_is_complete(void **state)
{
	(void)state;
	run_late(GPU_LEVEL_BASE, USC_LATE_DATA, true);
}

static void usc_base_level_agrees_with_the_reference(void **state)
{
	(void)state;
	run_level(GPU_LEVEL_BASE);
}

static void usc_avx2_level_agrees_with_the_reference(void **state)
{
	(void)state;
	run_level(GPU_LEVEL_AVX2);
}

static void usc_avx512_level_agrees_with_the_reference(void **state)
{
	(void)state;
	run_level(GPU_LEVEL_AVX512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_base_level_agrees_with_the_reference),
		cmocka_unit_test(usc_avx2_level_agrees_with_the_reference),
		cmocka_unit_test(usc_avx512_level_agrees_with_the_reference),
		cmocka_unit_test(usc_programs_that_wait_have_the_same_results_with_late_data),
		cmocka_unit_test(usc_data_of_each_wave_arrive_when_their_access_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
