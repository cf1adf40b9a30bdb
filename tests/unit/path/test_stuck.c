// SPDX-License-Identifier: MIT
/* A job that is killed: its result reports the unit and the instructions of its waves. */
#include "path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pumice_regs.h"
#include "stuck.pasm.h"

/* Instructions of stuck.pasm. */
#define PC_STORED	3u	/* after the store */
#define PC_BARRIER	5u
#define PC_SPIN		7u

#define GROUPS		10u
#define GROUP		96u
#define WAVES		(GROUPS * 3)

/* Run the job until all its instances have stored, and some time longer. */
static void run_until_stored(struct path *p, uint64_t va, uint32_t instances)
{
	volatile uint32_t *out = p->out_cpu;
	struct pumice_context_state s;
	uint32_t i;

	assert_int_equal(pumice_context_run(p->context, va, SECOND / 1000, &s), -ETIME);
	for (i = 0; i < instances; i++)
		while (!__atomic_load_n(&out[i], __ATOMIC_RELAXED))
			path_run_briefly(p);
	for (i = 0; i < 20; i++)
		path_run_briefly(p);
}

static void run_until_stuck(struct path *p, uint64_t va)
{
	run_until_stored(p, va, GROUPS * GROUP);
}

static struct pumice_job_result kill_and_get_result(struct path *p)
{
	struct pumice_job_result r;

	assert_int_equal(pumice_context_kill(p->context), 0);
	assert_int_equal(pumice_context_get_job_result(p->context, 0, &r, sizeof(r)), 0);
	assert_int_equal(r.job, 1);
	assert_int_equal(r.error, -ECANCELED);
	assert_int_equal(r.fault, PUMICE_FAULT_KILLED);
	return r;
}

/* Check that every place is possible for such a wave; return the number of waves at one of them. */
static uint32_t waves_at(const struct pumice_job_result *r, uint64_t code, uint32_t pc,
			 uint32_t *total)
{
	uint32_t i, waves = 0;

	*total = 0;
	for (i = 0; i < r->place_count; i++) {
		const struct pumice_stuck_place *place = &r->places[i];

		assert_int_equal(place->code, code);
		assert_true(place->pc >= PC_STORED && place->pc <= PC_SPIN);
		assert_int_not_equal(place->pc, PC_BARRIER + 1);
		/* One that has not reached the barrier yet is not at it. */
		if (place->barrier)
			assert_int_equal(place->pc, PC_BARRIER);
		assert_true(place->waves > 0);
		assert_int_equal(place->lanes, UINT32_MAX);
		assert_true(place->usc < PUMICE_MAX_CORES * PUMICE_MAX_USCS_PER_CORE);
		assert_true(place->slot < PUMICE_USC_SLOTS && place->wave < 3);
		*total += place->waves;
		if (place->pc == pc)
			waves += place->waves;
	}
	return waves;
}

/* The text about the killed job has the words. */
static void assert_described(struct path *p, const char *words)
{
	char text[PUMICE_ERROR_BYTES];

	assert_int_equal(pumice_context_describe_job(p->context, 1, text, sizeof(text)), 0);
	/* print_message() cuts a long text, and so the line after it. */
	fputs(text, stdout);
	putchar('\n');
	assert_non_null(strstr(text, words));
}

static void check_waves(struct path *p)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	struct pumice_kernel *k = path_kernel(p, stuck_program, sizeof(stuck_program));
	const uint64_t code = pumice_kernel_code_va(k);
	struct pumice_context_state s;
	struct pumice_job_result r;
	uint32_t spin, barrier, total;
	uint64_t va;

	path_dispatch(p, k, GROUPS, uniforms, 2);
	assert_int_equal(pumice_stream_end(p->stream, &va), 0);
	run_until_stuck(p, va);
	r = kill_and_get_result(p);
	assert_int_equal(r.waves, WAVES);
	assert_int_equal(r.waves_looked, WAVES);
	spin = waves_at(&r, code, PC_SPIN, &total);
	barrier = waves_at(&r, code, PC_BARRIER, &total);
	assert_int_equal(total, WAVES);
	if (!p->threads) {
		assert_int_equal(r.place_count, 2);
		assert_int_equal(spin, GROUPS);
		assert_int_equal(barrier, 2 * GROUPS);
		assert_described(p, "in flight\n  10 at instruction 7 of the program at 0x");
		assert_described(p, "\n  20 at instruction 5 (barrier) of the program at 0x");
	}
	/* The fields for older users have the same contents. */
	assert_int_equal(r.unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(r.pc, r.places[0].pc);
	assert_int_equal(r.usc, r.places[0].usc);
	assert_int_equal(r.fault_va, code + r.pc * 16);
	assert_int_equal(pumice_context_get_state(p->context, &s), 0);
	assert_int_equal(s.unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(s.pc, r.pc);
	pumice_kernel_destroy(k);
}

static void a_killed_job_reports_the_positions_of_its_waves(void **state)
{
	(void)state;
	path_each(check_waves);
}

#define MANY		300u	/* waves, more than are read */

/* Return the number of instances of a job that have stored. */
static uint32_t stored(struct path *p, uint32_t instances)
{
	volatile uint32_t *out = p->out_cpu;
	uint32_t i, count = 0;

	for (i = 0; i < instances; i++)
		count += __atomic_load_n(&out[i], __ATOMIC_RELAXED);
	return count;
}

/* More waves than are read, on all USCs: the part that is read is spread over all. */
static void check_many(struct path *p)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	struct pumice_kernel *k = path_kernel(p, stuck_program, sizeof(stuck_program));
	struct pumice_job_result r;
	char words[64];
	struct pumice_context_state s;
	uint32_t i, total = 0;
	uint64_t va;

	path_dispatch(p, k, 1000, uniforms, 2);
	assert_int_equal(pumice_stream_end(p->stream, &va), 0);
	assert_int_equal(pumice_context_run(p->context, va, SECOND / 1000, &s), -ETIME);
	while (stored(p, 1000 * GROUP) < MANY * 32)
		path_run_briefly(p);
	r = kill_and_get_result(p);
	assert_true(r.waves >= MANY);
	assert_int_equal(r.waves_looked, 256);
	for (i = 0; i < r.place_count; i++)
		total += r.places[i].waves;
	assert_int_equal(total, 256);
	snprintf(words, sizeof(words), "%u waves in flight, of which 256 were sampled\n", r.waves);
	assert_described(p, words);
	pumice_kernel_destroy(k);
}

static void a_part_of_many_waves_is_read(void **state)
{
	(void)state;
	path_one(4, 0, check_many);
	path_one(4, 2, check_many);
}

#define PLACES		20u	/* more than are reported */

/* Assemble a program of which each wave loops at an instruction of its own. */
static struct pumice_kernel *assemble_places(struct path *p)
{
	char text[4096] = ".group 32, 1, 1\n.uniforms sh0, 2\n.input v0, global_x\n"
			  "mov.u32 r2, 1\nshl.u32 r1, v0, 2\n"
			  "global_store32 sig0, [one], sh0 + r1, r2\n";
	struct pumice_kernel *k;
	size_t length;
	uint32_t i;

	for (i = 0; i < PLACES; i++) {
		length = strlen(text);
		snprintf(text + length, sizeof(text) - length,
			 "lt.u32 r0, v0, %u\nbr_any next%u, [r0]\njump after%u\n"
			 "next%u: jump next%u\nafter%u:\n", 32 * (i + 1), i, i, i, i, i);
	}
	length = strlen(text);
	snprintf(text + length, sizeof(text) - length, "end\n");
	assert_int_equal(pumice_kernel_assemble(p->vm, "places", text, &k), 0);
	return k;
}

/* Waves at the places that follow the last one of the table are sampled, but have no place. */
static void check_places(struct path *p)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	struct pumice_kernel *k = assemble_places(p);
	struct pumice_job_result r;
	uint32_t i;
	uint64_t va;

	path_dispatch(p, k, PLACES, uniforms, 2);
	assert_int_equal(pumice_stream_end(p->stream, &va), 0);
	run_until_stored(p, va, PLACES * 32);
	r = kill_and_get_result(p);
	assert_int_equal(r.waves, PLACES);
	assert_int_equal(r.waves_looked, PLACES);
	assert_int_equal(r.place_count, PUMICE_STUCK_PLACES);
	for (i = 0; i < r.place_count; i++)
		assert_int_equal(r.places[i].waves, 1);
	assert_described(p, "20 waves in flight\n  1 at instruction ");
	assert_described(p, "\n  4 at other instructions\n");
	pumice_kernel_destroy(k);
}

static void waves_at_more_places_than_are_reported_are_counted(void **state)
{
	(void)state;
	path_one(2, 0, check_places);
}

/* A cyclic stream has no waves: the data master itself is reported. */
static void check_stream(struct path *p)
{
	const struct pumice_cdm_link link = { .addr = pumice_stream_va(p->stream) };
	uint32_t words[PUMICE_CDM_LINK_WORDS];
	struct pumice_context_state s;
	struct pumice_job_result r;

	pumice_cdm_link_pack(words, &link);
	assert_int_equal(pumice_stream_emit(p->stream, words, PUMICE_CDM_LINK_WORDS), 0);
	assert_int_equal(pumice_context_run(p->context, link.addr, SECOND / 50, &s), -ETIME);
	r = kill_and_get_result(p);
	assert_int_equal(r.unit, PUMICE_UNIT_CDM);
	assert_int_equal(r.waves, 0);
	assert_int_equal(r.place_count, 0);
}

static void an_endless_stream_reports_its_data_master(void **state)
{
	(void)state;
	path_one(1, 0, check_stream);
	path_one(2, 2, check_stream);
}

/* A job that never started has no place. */
static void check_waiting(struct path *p)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	struct pumice_kernel *k = path_kernel(p, stuck_program, sizeof(stuck_program));
	struct pumice_context *other;
	struct pumice_context_state s;
	struct pumice_job_result r;
	uint64_t va;

	assert_int_equal(pumice_context_create(p->vm, PUMICE_PRIORITY_NORMAL, &other), 0);
	path_dispatch(p, k, GROUPS, uniforms, 2);
	assert_int_equal(pumice_stream_end(p->stream, &va), 0);
	run_until_stuck(p, va);
	assert_int_equal(pumice_context_run(other, va, SECOND / 50, &s), -ETIME);
	assert_int_equal(pumice_context_kill(other), 0);
	assert_int_equal(pumice_context_get_job_result(other, 1, &r, sizeof(r)), 0);
	assert_int_equal(r.fault, PUMICE_FAULT_KILLED);
	assert_int_equal(r.unit, PUMICE_UNIT_FW);
	assert_int_equal(r.waves, 0);
	assert_int_equal(r.place_count, 0);
	r = kill_and_get_result(p);
	assert_int_equal(r.waves, WAVES);
	pumice_context_destroy(other);
	pumice_kernel_destroy(k);
}

static void a_job_that_never_ran_reports_no_waves_of_others(void **state)
{
	(void)state;
	path_one(2, 0, check_waiting);
	path_one(2, 2, check_waiting);
}

/* Two jobs of one context: the record of the first is not one of the second. */
static void check_queued(struct path *p)
{
	const uint32_t uniforms[2] = { VA_WORDS(p->out_va) };
	struct pumice_kernel *k = path_kernel(p, stuck_program, sizeof(stuck_program));
	struct pumice_job queued = { .context = p->context };
	struct pumice_job_result r;

	path_dispatch(p, k, GROUPS, uniforms, 2);
	assert_int_equal(pumice_stream_end(p->stream, &queued.stream), 0);
	run_until_stuck(p, queued.stream);
	assert_int_equal(pumice_submit(p->dev, &queued, 1, NULL), 0);
	assert_int_equal(pumice_context_kill(p->context), 0);
	assert_int_equal(pumice_context_get_job_result(p->context, 1, &r, sizeof(r)), 0);
	assert_int_equal(r.fault, PUMICE_FAULT_KILLED);
	assert_int_equal(r.waves, WAVES);
	assert_true(r.place_count > 0);
	assert_int_equal(pumice_context_get_job_result(p->context, 2, &r, sizeof(r)), 0);
	assert_int_equal(r.fault, PUMICE_FAULT_KILLED);
	assert_int_equal(r.unit, PUMICE_UNIT_FW);
	assert_int_equal(r.waves, 0);
	assert_int_equal(r.waves_looked, 0);
	assert_int_equal(r.place_count, 0);
	pumice_kernel_destroy(k);
}

static void a_job_killed_in_the_queue_reports_no_places_of_the_previous(void **state)
{
	(void)state;
	path_one(2, 0, check_queued);
	path_one(2, 2, check_queued);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_killed_job_reports_the_positions_of_its_waves),
		cmocka_unit_test(a_part_of_many_waves_is_read),
		cmocka_unit_test(waves_at_more_places_than_are_reported_are_counted),
		cmocka_unit_test(an_endless_stream_reports_its_data_master),
		cmocka_unit_test(a_job_that_never_ran_reports_no_waves_of_others),
		cmocka_unit_test(a_job_killed_in_the_queue_reports_no_places_of_the_previous),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
