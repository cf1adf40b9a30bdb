// SPDX-License-Identifier: MIT
/*
 * Jobs that are switched out and resumed: at every boundary, with the same work
 * done as without; saved state, states that are refused when read back, and which
 * reason is reported if a job ends in more than one way.
 */
#include "cdm_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "pumice_names.h"

#define LIST_A	(CDMFX_STREAM + 0x400)
#define LIST_B	(CDMFX_STREAM + 0x800)
#define CHAIN	(CDMFX_STREAM + 0xc00)
#define MARK	CDMFX_DATA
#define COUNTS	(CDMFX_DATA + 0x100)
#define GROUPS	(6 + 4 + 4 + 12 + 1 + 1 + 3)	/* with the task without instances */

/*
 * A stream with every kind of command: launches, nesting, a
 * chain, fences, counts in memory, a task.
 */
static void put_everything(struct cdm_fixture *fx)
{
	fx->data[(COUNTS - CDMFX_DATA) / 4] = 2;
	fx->data[(COUNTS - CDMFX_DATA) / 4 + 1] = 3;
	fx->data[(COUNTS - CDMFX_DATA) / 4 + 2] = 2;
	put_state(fx, 4, 1, 1);
	put_launch(fx, 3, 2, 1);
	put_fence(fx);
	put_marker(fx, MARK, 1, true);
	put_call(fx, LIST_A);
	put_indirect(fx, COUNTS, 7, 0, 9);
	put_flush(fx, true, true);
	put_link(fx, CHAIN);

	fx->at = LIST_A;
	put_launch_at(fx, &(struct pumice_cdm_launch){ false, 2, 1, 2, 100, 200, 300 });
	put_call(fx, LIST_B);
	put_marker(fx, MARK + 4, 2, false);
	put_return(fx);

	fx->at = LIST_B;
	put_state(fx, 8, 2, 1);
	put_launch(fx, 1, 1, 4);
	put_return(fx);

	fx->at = CHAIN;
	put_state(fx, 16, 1, 1);
	put_launch(fx, 1, 1, 1);
	put_task(fx);
	put_launch_at(fx, &(struct pumice_cdm_launch){ true, 3, 1, 1, 0, 0, 0 });
	put_marker(fx, MARK + 8, 3, true);
	put_halt(fx);
}

static struct cdm_fixture *everything_fixture(unsigned int room)
{
	struct cdm_fixture *fx = cdmfx_create();

	fx->pds.room = room;
	put_everything(fx);
	return fx;
}

/* Switch out, end the running groups, and check that the job was switched out. */
static void switch_out(struct cdm_fixture *fx)
{
	unsigned int ended = fx->ended;

	cdm_switch_out(fx->cdm);
	cdmfx_walk(fx);
	if (fx->ended == ended)
		cdmfx_finish(fx);
	assert_int_equal(fx->ended, ended + 1);
}

/* A job that ran in slices dispatches the same groups as one that was not switched. */
static void expect_same_work(const struct cdm_fixture *fx, const struct cdm_fixture *whole)
{
	u32 i;

	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, whole->pds.started);
	for (i = 0; i < whole->pds.started; i++) {
		const struct fake_group *got = &fx->pds.group[i], *want = &whole->pds.group[i];
		u32 a[PUMICE_CDM_LAUNCH_WORDS], b[PUMICE_CDM_LAUNCH_WORDS];

		assert_memory_equal(got->id, want->id, sizeof(want->id));
		assert_int_equal(got->linear, want->linear);
		assert_int_equal(got->size_x, want->size_x);
		assert_int_equal(got->sequences, want->sequences);
		pumice_cdm_launch_pack(a, &got->grid);
		pumice_cdm_launch_pack(b, &want->grid);
		assert_memory_equal(a, b, sizeof(b));
	}
	assert_int_equal(cdm_status(fx->cdm)->done, cdm_status(whole->cdm)->done);
	assert_memory_equal(fx->data, whole->data, CDMFX_DATA_BYTES);
}

static struct cdm_fixture *run_whole(void)
{
	struct cdm_fixture *fx = everything_fixture(3);

	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, GROUPS);
	assert_int_equal(fx->data[0], 1);
	assert_int_equal(fx->data[2], 3);
	return fx;
}

/* After every possible number of steps, with and without running groups. */
static void a_job_resumes_unchanged_from_every_boundary(void **state)
{
	struct cdm_fixture *whole = run_whole();
	u32 steps, room, switches = 0;

	(void)state;
	for (room = 1; room <= 3; room++) {
		bool done = false;

		for (steps = 0; !done; steps++) {
			struct cdm_fixture *fx = everything_fixture(room);
			u32 i;

			cdmfx_start(fx);
			for (i = 0; i < steps && !fx->ended; i++) {
				if (!cdmfx_step(fx, 1) && fx->pds.running)
					fake_pds_finish(&fx->pds);
			}
			done = fx->ended;
			if (!done) {
				switch_out(fx);
				assert_true(fx->end == DM_SWITCHED || fx->end == DM_DONE);
				if (fx->end == DM_SWITCHED) {
					switches++;
					cdmfx_resume(fx);
					cdmfx_finish(fx);
				}
			}
			expect_same_work(fx, whole);
			cdmfx_destroy(fx);
		}
	}
	assert_true(switches > 3 * GROUPS);
	cdmfx_destroy(whole);
}

/*
 * Switched out after a few steps each, repeatedly, and resumed on separate CDMs.
 * Less than three steps can be too few to pass a command that waits.
 */
static void a_job_resumes_unchanged_over_many_switches(void **state)
{
	struct cdm_fixture *whole = run_whole();
	u32 slice;

	(void)state;
	for (slice = 3; slice < 12; slice++) {
		struct cdm_fixture *fx = everything_fixture(2);
		u32 i;

		cdmfx_start(fx);
		for (;;) {
			for (i = 0; i < slice && cdm_status(fx->cdm)->busy; i++) {
				if (!cdmfx_step(fx, 1) && fx->pds.running)
					fake_pds_finish(&fx->pds);
			}
			if (cdm_status(fx->cdm)->busy)
				switch_out(fx);
			if (fx->end != DM_SWITCHED)
				break;
			cdm_reset(fx->cdm);
			cdmfx_resume(fx);
		}
		expect_same_work(fx, whole);
		cdmfx_destroy(fx);
	}
	cdmfx_destroy(whole);
}

static void a_switched_job_saves_its_position(void **state)
{
	struct cdm_fixture *fx = everything_fixture(3);
	struct pumice_cdm_save save;
	u32 words[PUMICE_CDM_STATE_WORDS];

	(void)state;
	cdmfx_start(fx);
	cdmfx_walk(fx);		/* three of six groups */
	cdm_switch_out(fx->cdm);
	cdmfx_walk(fx);
	assert_int_equal(fx->ended, 0);	/* groups still run */
	assert_false(fx->pds.in_launch);
	assert_int_equal(fx->save[0], 0);
	fake_pds_finish_all(&fx->pds);
	cdmfx_walk(fx);
	assert_int_equal(fx->end, DM_SWITCHED);
	assert_int_equal(fx->pds.started, 3);
	assert_int_equal(fx->pds.aborts, 0);
	assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_NONE);
	assert_int_equal(pumice_cdm_save_unpack(fx->save, &save), PUMICE_UNPACK_OK);
	assert_true(save.dispatching && save.has_state);
	assert_int_equal(save.depth, 0);
	assert_int_equal(save.linear, 3);
	assert_int_equal(save.groups, 3);
	assert_int_equal(save.pc, CDMFX_STREAM + (PUMICE_CDM_STATE_WORDS +
						  PUMICE_CDM_LAUNCH_WORDS) * 4);
	memcpy(words, fx->stream, sizeof(words));
	assert_memory_equal(save.state, words, sizeof(words));
	assert_memory_equal(save.launch, fx->stream + PUMICE_CDM_STATE_WORDS, 7 * 4);
	cdmfx_destroy(fx);
}

static void switching_out_an_idle_cdm_does_nothing(void **state)
{
	struct cdm_fixture *fx = everything_fixture(3);

	(void)state;
	cdm_switch_out(fx->cdm);
	cdmfx_walk(fx);
	assert_int_equal(fx->ended, 0);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);	/* it was not kept for the next job */
	cdmfx_destroy(fx);
}

/* After its HALT a job has no state to save. */
static void a_draining_job_ends_normally(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 3, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	switch_out(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->save[0], 0);
	cdmfx_destroy(fx);
}

/* While the groups of a switched job drain, a fault or an abort takes precedence. */
static void a_fault_or_abort_during_the_switch_ends_the_job(void **state)
{
	u32 abort;

	(void)state;
	for (abort = 0; abort < 2; abort++) {
		struct cdm_fixture *fx = everything_fixture(3);

		cdmfx_start(fx);
		cdmfx_walk(fx);
		cdm_switch_out(fx->cdm);
		cdmfx_walk(fx);
		if (abort)
			cdm_abort(fx->cdm);
		else
			fake_pds_fault(&fx->pds, PUMICE_FAULT_USC_BRANCH);
		assert_int_equal(fx->pds.aborts, 1);
		cdmfx_finish(fx);
		assert_int_equal(fx->end, abort ? DM_ABORTED : DM_FAULT);
		assert_int_equal(fx->save[0], 0);
		cdmfx_destroy(fx);
	}
}

/* Requested before the first step of a resumed job: saved again unchanged. */
static void a_job_can_be_switched_out_before_it_resumes(void **state)
{
	struct cdm_fixture *whole = run_whole();
	struct cdm_fixture *fx = everything_fixture(3);
	u32 words[PUMICE_CDM_SAVE_WORDS];

	(void)state;
	cdmfx_start(fx);
	cdmfx_walk(fx);
	switch_out(fx);
	memcpy(words, fx->save, sizeof(words));
	cdmfx_resume(fx);
	switch_out(fx);
	assert_int_equal(fx->end, DM_SWITCHED);
	assert_memory_equal(fx->save, words, sizeof(words));
	cdmfx_resume(fx);
	cdmfx_finish(fx);
	expect_same_work(fx, whole);
	cdmfx_destroy(fx);
	cdmfx_destroy(whole);
}

static void expect_save_fault(const struct cdm_fixture *fx, enum pumice_fault fault,
			      enum pumice_access access, u64 addr)
{
	const struct gpu_fault *got = &cdm_status(fx->cdm)->fault;

	assert_int_equal(fx->end, DM_FAULT);
	assert_string_equal(pumice_fault_str(got->fault), pumice_fault_str(fault));
	assert_int_equal(got->unit, PUMICE_UNIT_CDM);
	assert_int_equal(got->access, access);
	assert_int_equal(got->ctx, 0);
	assert_int_equal(got->addr, addr);
}

static void a_save_area_that_cannot_be_written_is_a_fault_of_the_job(void **state)
{
	static const struct {
		u64 save, addr;
		enum pumice_fault fault;
	} cases[] = {
		{ CDMFX_SAVE - 4, CDMFX_SAVE - 4, PUMICE_FAULT_MMU_PT_INVALID },
		/* Its last word is beyond the mapping. */
		{ CDMFX_SAVE + CDMFX_SAVE_BYTES - 124, CDMFX_SAVE + CDMFX_SAVE_BYTES,
		  PUMICE_FAULT_MMU_PT_INVALID },
		{ (1ull << PUMICE_MMU_VA_BITS) - 4, (1ull << PUMICE_MMU_VA_BITS) - 4,
		  PUMICE_FAULT_MMU_PC_INVALID },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cdm_fixture *fx = everything_fixture(3);

		fx->job.save = cases[i].save;
		cdmfx_start(fx);
		cdmfx_walk(fx);
		switch_out(fx);
		expect_save_fault(fx, cases[i].fault, PUMICE_ACCESS_WRITE, cases[i].addr);
		cdmfx_resume(fx);
		cdmfx_walk(fx);
		expect_save_fault(fx, cases[i].fault, PUMICE_ACCESS_READ, cases[i].addr);
		cdmfx_destroy(fx);
	}
}

static void a_misaligned_save_area_is_a_fault(void **state)
{
	u32 off;

	(void)state;
	for (off = 1; off < 4; off++) {
		struct cdm_fixture *fx = everything_fixture(3);

		fx->job.save = CDMFX_SAVE + off;
		cdmfx_start(fx);
		switch_out(fx);
		expect_save_fault(fx, PUMICE_FAULT_CDM_ALIGN, PUMICE_ACCESS_READ, fx->job.save);
		assert_int_equal(fx->save[0], 0);
		cdmfx_resume(fx);
		cdmfx_walk(fx);
		expect_save_fault(fx, PUMICE_FAULT_CDM_ALIGN, PUMICE_ACCESS_READ, fx->job.save);
		cdmfx_destroy(fx);
	}
}

static void a_save_area_may_cross_pages(void **state)
{
	struct cdm_fixture *whole = run_whole();
	struct cdm_fixture *fx = everything_fixture(3);

	(void)state;
	fx->job.save = CDMFX_SAVE + 0x1000 - 60;
	cdmfx_start(fx);
	cdmfx_walk(fx);
	switch_out(fx);
	assert_int_equal(fx->end, DM_SWITCHED);
	cdmfx_resume(fx);
	cdmfx_finish(fx);
	expect_same_work(fx, whole);
	cdmfx_destroy(fx);
	cdmfx_destroy(whole);
}

/* One word of a good save, damaged. The save is of a job two lists deep in a launch. */
struct damage {
	const char *what;
	u32 word, value;
};

#define SAVE_FLAGS 1u
#define SAVE_RETURN(n) (4u + 2u * (n))
#define SAVE_STATE 12u
#define SAVE_LAUNCH 18u
#define SAVE_LINEAR 26u

static const struct damage damages[] = {
	{ "magic", 0, PUMICE_CDM_SAVE__MAGIC__VALUE ^ 1 },
	{ "flags, bit 5", SAVE_FLAGS, 3 | 2 << 2 | 1 << 5 },
	{ "flags, bit 31", SAVE_FLAGS, 3 | 2 << 2 | 1u << 31 },
	{ "too deep", SAVE_FLAGS, 3 | 5 << 2 },
	{ "as deep as the field goes", SAVE_FLAGS, 3 | 7 << 2 },
	{ "less deep than it has returns", SAVE_FLAGS, 3 | 1 << 2 },
	{ "a launch without state", SAVE_FLAGS, 1 | 2 << 2 },
	{ "missing state", SAVE_FLAGS, 0 | 2 << 2 },
	{ "missing launch", SAVE_FLAGS, 2 | 2 << 2 },
	{ "address, bit 40", 3, 0x100 },
	{ "misaligned return", SAVE_RETURN(1), 0x202 },
	{ "return of a list that was not entered", SAVE_RETURN(2), 4 },
	{ "return of the last list, high half", SAVE_RETURN(3) + 1, 1 },
	{ "state of another type", SAVE_STATE, PUMICE_CDM_LAUNCH__TYPE__VALUE << 28 },
	{ "state of no type", SAVE_STATE, 0 },
	{ "state with reserved bits", SAVE_STATE + 3, 1u << 31 },
	{ "state of a group of nothing", SAVE_STATE + 5, 0 },
	{ "state of a group too large", SAVE_STATE + 5, 0xffffffff },
	{ "launch of another type", SAVE_LAUNCH, PUMICE_CDM_CALL__TYPE__VALUE << 28 },
	{ "launch with reserved bits", SAVE_LAUNCH, PUMICE_CDM_LAUNCH__TYPE__VALUE << 28 | 2 },
	{ "task in place of a launch", SAVE_LAUNCH, PUMICE_CDM_TASK__TYPE__VALUE << 28 },
	{ "launch beyond 32 bits", SAVE_LAUNCH + 4, 0xffffffff },
	{ "launch of no groups", SAVE_LAUNCH + 2, 0 },
	{ "reserved word 25", 25, 1 },
	{ "all groups dispatched", SAVE_LINEAR, 4 },
	{ "more than all groups dispatched", SAVE_LINEAR, 0xffffffff },
	{ "far more than all groups dispatched", SAVE_LINEAR + 1, 1 },
	{ "reserved word 30", 30, 0x80000000 },
	{ "reserved word 31", 31, 1 },
};

/* Switch the CDM out in LIST_B, with one of four groups dispatched. */
static struct cdm_fixture *deep_fixture(void)
{
	struct cdm_fixture *fx = everything_fixture(1);

	cdmfx_start(fx);
	while (fx->pds.started < 6 + 4 + 1) {
		if (!cdmfx_step(fx, 1))
			fake_pds_finish(&fx->pds);
	}
	switch_out(fx);
	assert_int_equal(fx->end, DM_SWITCHED);
	return fx;
}

/* Meanwhile another job ended with a task without instances. */
static void a_launch_resumes_as_a_launch(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u32 i;

	(void)state;
	fx->pds.room = 1;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 6, 1, 1);
	put_halt(fx);
	fx->at = LIST_A;
	put_state(fx, 1, 1, 1);
	put_task(fx);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	switch_out(fx);
	assert_int_equal(fx->end, DM_SWITCHED);
	fx->job.stream = LIST_A;
	cdmfx_start(fx);
	cdmfx_finish(fx);
	cdmfx_resume(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, 7);
	for (i = 0; i < 7; i++)
		assert_int_equal(fx->pds.group[i].sequences, i == 1);
	assert_int_equal(cdm_status(fx->cdm)->done, 6);
	cdmfx_destroy(fx);
}

static void a_corrupt_save_area_is_refused(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct cdm_fixture *fx = deep_fixture();
		u64 started = fx->pds.started;

		assert_int_equal(fx->save[SAVE_FLAGS], 3 | 2 << 2);
		fx->save[damages[i].word] = damages[i].value;
		cdmfx_resume(fx);
		cdmfx_walk(fx);
		if (cdm_status(fx->cdm)->fault.fault != PUMICE_FAULT_CDM_SAVE)
			fail_msg("%s: fault %u", damages[i].what,
				 cdm_status(fx->cdm)->fault.fault);
		expect_save_fault(fx, PUMICE_FAULT_CDM_SAVE, PUMICE_ACCESS_READ, CDMFX_SAVE);
		assert_int_equal(fx->pds.started, started);
		cdmfx_destroy(fx);
	}
}

/* For each single flipped bit, the job runs, is refused, or faults. */
static void no_flipped_bit_of_a_save_area_crashes(void **state)
{
	struct cdm_fixture *fx = deep_fixture();
	u32 good[PUMICE_CDM_SAVE_WORDS], bit, refused = 0;

	(void)state;
	memcpy(good, fx->save, sizeof(good));
	for (bit = 0; bit < PUMICE_CDM_SAVE_WORDS * 32; bit++) {
		memcpy(fx->save, good, sizeof(good));
		fx->save[bit / 32] ^= 1u << bit % 32;
		fx->ended = 0;
		cdmfx_resume(fx);
		/* A grid may have become huge: end it by ABORT. */
		cdmfx_step(fx, 8);
		cdm_abort(fx->cdm);
		cdmfx_walk(fx);
		if (!fx->ended)
			cdmfx_finish(fx);
		assert_int_equal(fx->ended, 1);
		refused += fx->end == DM_FAULT &&
			   cdm_status(fx->cdm)->fault.fault == PUMICE_FAULT_CDM_SAVE;
	}
	assert_true(refused > PUMICE_CDM_SAVE_WORDS * 32 / 3);
	cdmfx_destroy(fx);
}

/* The PDS may refuse a launch that it accepted before: its memory has changed. */
static void a_resumed_launch_is_checked_by_the_pds_again(void **state)
{
	struct cdm_fixture *fx = deep_fixture();

	(void)state;
	fx->pds.begin_fault = PUMICE_FAULT_PDS_OPCODE;
	cdmfx_resume(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->end, DM_FAULT);
	assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_PDS_OPCODE);
	assert_int_equal(cdm_status(fx->cdm)->done, fx->pds.started);
	cdmfx_destroy(fx);
}

/* No command can follow the largest address. */
static void a_stream_at_the_end_of_the_address_space_faults_instead_of_being_saved(void **state)
{
	const u64 end = 1ull << PUMICE_MMU_VA_BITS;
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	testmem_map_bus(fx->tm, CDMFX_CTX, end - 0x1000, testmem_bus(fx->tm, fx->stream), 0x1000,
			PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	fx->at = CDMFX_STREAM + 0x1000 - (PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS) * 4;
	fx->job.stream = end - (PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS) * 4;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 9, 1, 1);
	fx->pds.room = 2;
	cdmfx_start(fx);
	cdmfx_walk(fx);
	switch_out(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_MMU_ADDRESS, end);
	assert_int_equal(fx->save[0], 0);
	cdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_resumes_unchanged_from_every_boundary),
		cmocka_unit_test(a_job_resumes_unchanged_over_many_switches),
		cmocka_unit_test(a_switched_job_saves_its_position),
		cmocka_unit_test(switching_out_an_idle_cdm_does_nothing),
		cmocka_unit_test(a_draining_job_ends_normally),
		cmocka_unit_test(a_fault_or_abort_during_the_switch_ends_the_job),
		cmocka_unit_test(a_job_can_be_switched_out_before_it_resumes),
		cmocka_unit_test(a_save_area_that_cannot_be_written_is_a_fault_of_the_job),
		cmocka_unit_test(a_misaligned_save_area_is_a_fault),
		cmocka_unit_test(a_save_area_may_cross_pages),
		cmocka_unit_test(a_launch_resumes_as_a_launch),
		cmocka_unit_test(a_corrupt_save_area_is_refused),
		cmocka_unit_test(no_flipped_bit_of_a_save_area_crashes),
		cmocka_unit_test(a_resumed_launch_is_checked_by_the_pds_again),
		cmocka_unit_test(
			a_stream_at_the_end_of_the_address_space_faults_instead_of_being_saved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
