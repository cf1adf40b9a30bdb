// SPDX-License-Identifier: MIT
/*
 * Ends of jobs: every fault of the CDM with the address that it reports, faults of
 * memory, PDS and USC, and abort at any point. In all cases the job ends
 * once, after its last group, and the first reason is reported.
 */
#include <string.h>

#include "cdm_fixture.h"

#define WORD0(type) ((u32)PUMICE_CDM_TYPE_##type << PUMICE_CDM_HALT__TYPE__SHIFT)

/* The last word of a STATE command; the layout is written out here, independent of the packer. */
#define SIZE(x, y, z) ((u32)(z) << 22 | (u32)(y) << 11 | (x))

/* One malformed command after a valid launch of a group that still runs. */
struct bad {
	const char *what;
	u32 words[7];
	enum pumice_fault fault;
};

static const struct bad bad_commands[] = {
	{ "type 0", { 0 }, PUMICE_FAULT_CDM_COMMAND },
	{ "type 13", { 13u << 28 }, PUMICE_FAULT_CDM_COMMAND },
	{ "type 15", { 0xffffffff }, PUMICE_FAULT_CDM_COMMAND },

	{ "halt bit 0", { WORD0(HALT) | 1 }, PUMICE_FAULT_CDM_RESERVED },
	{ "halt bit 27", { WORD0(HALT) | 1u << 27 }, PUMICE_FAULT_CDM_RESERVED },
	{ "fence bit 5", { WORD0(FENCE) | 1u << 5 }, PUMICE_FAULT_CDM_RESERVED },
	{ "return bit 9", { WORD0(RETURN) | 1u << 9 }, PUMICE_FAULT_CDM_RESERVED },
	{ "call bit 1", { WORD0(CALL) | 2 }, PUMICE_FAULT_CDM_RESERVED },
	{ "call address bit 0", { WORD0(CALL), 1 }, PUMICE_FAULT_CDM_RESERVED },
	{ "call address bit 1", { WORD0(CALL), 2 }, PUMICE_FAULT_CDM_RESERVED },
	{ "call address bit 40", { WORD0(CALL), 0, 0x100 }, PUMICE_FAULT_CDM_RESERVED },
	{ "task bit 0", { WORD0(TASK) | 1 }, PUMICE_FAULT_CDM_RESERVED },
	{ "task bit 27", { WORD0(TASK) | 1u << 27 }, PUMICE_FAULT_CDM_RESERVED },
	{ "launch bit 1", { WORD0(LAUNCH) | 2 }, PUMICE_FAULT_CDM_RESERVED },
	{ "launch bit 3", { WORD0(LAUNCH) | 8 }, PUMICE_FAULT_CDM_RESERVED },
	{ "state bit 10", { WORD0(STATE) | 1u << 10, 0, 0, 0, 0, SIZE(1, 1, 1) },
	  PUMICE_FAULT_CDM_RESERVED },
	{ "state PDS address bit 3", { WORD0(STATE), 8, 0, 0, 0, SIZE(1, 1, 1) },
	  PUMICE_FAULT_CDM_RESERVED },
	{ "state word 2 bit 17", { WORD0(STATE), 0, 1u << 17, 0, 0, SIZE(1, 1, 1) },
	  PUMICE_FAULT_CDM_RESERVED },
	{ "state word 3 bit 29", { WORD0(STATE), 0, 0, 1u << 29, 0, SIZE(1, 1, 1) },
	  PUMICE_FAULT_CDM_RESERVED },
	{ "state local bytes bit 0", { WORD0(STATE), 0, 0, 0, 1, SIZE(1, 1, 1) },
	  PUMICE_FAULT_CDM_RESERVED },
	{ "indirect bit 0", { WORD0(LAUNCH_INDIRECT) | 1 }, PUMICE_FAULT_CDM_RESERVED },
	{ "indirect address bit 0", { WORD0(LAUNCH_INDIRECT), 1 }, PUMICE_FAULT_CDM_ALIGN },
	{ "indirect address bit 1", { WORD0(LAUNCH_INDIRECT), 2 }, PUMICE_FAULT_CDM_ALIGN },
	{ "indirect address bit 40", { WORD0(LAUNCH_INDIRECT), 0, 0x100 },
	  PUMICE_FAULT_CDM_RESERVED },
	{ "link bit 27", { WORD0(LINK) | 1u << 27 }, PUMICE_FAULT_CDM_RESERVED },
	{ "link address bit 0", { WORD0(LINK), 1 }, PUMICE_FAULT_CDM_ALIGN },
	{ "link address bit 63", { WORD0(LINK), 0, 1u << 31 }, PUMICE_FAULT_CDM_RESERVED },
	{ "flush bit 7", { WORD0(FLUSH) | 1u << 7 }, PUMICE_FAULT_CDM_RESERVED },
	{ "scope 4 of a flush", { WORD0(FLUSH) | 4u << 2 }, PUMICE_FAULT_CDM_RESERVED },
	{ "timestamp bit 1", { WORD0(TIMESTAMP) | 2 }, PUMICE_FAULT_CDM_RESERVED },
	{ "timestamp address bit 2", { WORD0(TIMESTAMP), 4 }, PUMICE_FAULT_CDM_ALIGN },
	{ "timestamp address bit 41", { WORD0(TIMESTAMP), 0, 0x200 }, PUMICE_FAULT_CDM_RESERVED },
	{ "marker bit 1", { WORD0(MARKER) | 2 }, PUMICE_FAULT_CDM_RESERVED },
	{ "marker address bit 1", { WORD0(MARKER), 2 }, PUMICE_FAULT_CDM_ALIGN },
	{ "marker address bit 40", { WORD0(MARKER), 0, 0x100 }, PUMICE_FAULT_CDM_RESERVED },

	{ "no instance in x", { WORD0(STATE), 0, 0, 0, 0, SIZE(0, 1, 1) },
	  PUMICE_FAULT_CDM_GROUP_SIZE },
	{ "no instance in y", { WORD0(STATE), 0, 0, 0, 0, SIZE(1, 0, 1) },
	  PUMICE_FAULT_CDM_GROUP_SIZE },
	{ "no instance in z", { WORD0(STATE), 0, 0, 0, 0, SIZE(1, 1, 0) },
	  PUMICE_FAULT_CDM_GROUP_SIZE },
	{ "1025 instances in x", { WORD0(STATE), 0, 0, 0, 0, SIZE(1025, 1, 1) },
	  PUMICE_FAULT_CDM_GROUP_SIZE },
	{ "2 * 513 instances", { WORD0(STATE), 0, 0, 0, 0, SIZE(513, 2, 1) },
	  PUMICE_FAULT_CDM_GROUP_SIZE },
	{ "maximum in all dimensions", { WORD0(STATE), 0, 0, 0, 0, 0xffffffff },
	  PUMICE_FAULT_CDM_GROUP_SIZE },

	{ "x beyond 32 bits", { WORD0(LAUNCH), 2, 1, 1, 0xffffffff, 0, 0 },
	  PUMICE_FAULT_CDM_GRID },
	{ "y beyond 32 bits", { WORD0(LAUNCH), 1, 0xffffffff, 1, 0, 1, 0 },
	  PUMICE_FAULT_CDM_GRID },
	{ "z at the end of 32 bits", { WORD0(LAUNCH), 1, 1, 1, 0, 0, 0xffffffff },
	  PUMICE_FAULT_CDM_GRID },
	{ "z beyond 32 bits, no group in x", { WORD0(LAUNCH), 0, 1, 2, 0, 0, 0xffffffff },
	  PUMICE_FAULT_CDM_GRID },
	{ "2^64 groups", { WORD0(LAUNCH), 0x80000000, 0x80000000, 4, 0, 0, 0 },
	  PUMICE_FAULT_CDM_GRID },
	{ "2^96 groups", { WORD0(LAUNCH), 0xffffffff, 0xffffffff, 0xffffffff, 0, 0, 0 },
	  PUMICE_FAULT_CDM_GRID },

	{ "return outside of a sub-list", { WORD0(RETURN) }, PUMICE_FAULT_CDM_RETURN },
};

static void malformed_commands_stop_the_job_with_their_fault(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad_commands) / sizeof(bad_commands[0]); i++) {
		struct cdm_fixture *fx = cdmfx_create();
		u64 at;

		put_state(fx, 1, 1, 1);
		put_launch(fx, 1, 1, 1);
		at = fx->at;
		put_words(fx, bad_commands[i].words, 7);
		cdmfx_start(fx);
		cdmfx_walk(fx);
		if (cdm_status(fx->cdm)->fault.fault != bad_commands[i].fault)
			fail_msg("%s: fault %u", bad_commands[i].what,
				 cdm_status(fx->cdm)->fault.fault);
		assert_int_equal(fx->ended, 0);
		assert_int_equal(fx->pds.aborts, 1);
		cdmfx_finish(fx);
		cdmfx_expect_fault(fx, bad_commands[i].fault, at);
		assert_int_equal(fx->pds.launches, 1);
		cdmfx_destroy(fx);
	}
}

static void the_largest_group_is_accepted(void **state)
{
	static const u16 sizes[][3] = { { 1024, 1, 1 }, { 1, 1024, 1 }, { 1, 1, 1023 },
					{ 32, 32, 1 }, { 16, 8, 8 } };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct cdm_fixture *fx = cdmfx_create();

		put_state(fx, sizes[i][0], sizes[i][1], sizes[i][2]);
		put_halt(fx);
		cdmfx_start(fx);
		cdmfx_finish(fx);
		assert_int_equal(fx->end, DM_DONE);
		cdmfx_destroy(fx);
	}
}

static void a_launch_without_state_stops_the_job(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_fence(fx);
	put_launch(fx, 0, 0, 0);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_CDM_STATE, CDMFX_STREAM + 4);
	cdmfx_destroy(fx);
}

static void a_misaligned_stream_stops_the_job(void **state)
{
	u32 off;

	(void)state;
	for (off = 1; off < 4; off++) {
		struct cdm_fixture *fx = cdmfx_create();
		const struct cdm_job job = { .ctx = CDMFX_CTX, .stream = CDMFX_STREAM + off };

		assert_true(cdm_start(fx->cdm, &job));
		cdmfx_finish(fx);
		cdmfx_expect_fault(fx, PUMICE_FAULT_CDM_ALIGN, CDMFX_STREAM + off);
		cdmfx_destroy(fx);
	}
}

static void a_sub_list_that_calls_itself_stops_the_job(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	put_call(fx, CDMFX_STREAM);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_CDM_DEPTH, CDMFX_STREAM);
	cdmfx_destroy(fx);
}

static void one_call_more_than_the_depth_stops_the_job(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u32 i;

	(void)state;
	for (i = 0; i <= PUMICE_CDM_MAX_DEPTH; i++) {
		fx->at = CDMFX_STREAM + i * 0x100;
		put_call(fx, CDMFX_STREAM + (i + 1) * 0x100);
	}
	cdmfx_start(fx);
	cdmfx_finish(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_CDM_DEPTH,
			   CDMFX_STREAM + PUMICE_CDM_MAX_DEPTH * 0x100);
	cdmfx_destroy(fx);
}

/* The stream's own memory: not mapped at all, truncated within a command, run past its end. */
static void memory_faults_report_the_address_of_the_word(void **state)
{
	const u64 last = 1ull << PUMICE_MMU_VA_BITS;
	const struct {
		u64 stream, fault_addr;
		u32 word;	/* the last one that is mapped */
		enum pumice_fault fault;
	} cases[] = {
		{ CDMFX_STREAM - 4, CDMFX_STREAM - 4, 0, PUMICE_FAULT_MMU_PD_INVALID },
		{ 0x8000000000, 0x8000000000, 0, PUMICE_FAULT_MMU_PC_INVALID },
		{ last, last, 0, PUMICE_FAULT_MMU_ADDRESS },
		{ CDMFX_END - 4, CDMFX_END, WORD0(LAUNCH), PUMICE_FAULT_MMU_PT_INVALID },
		{ CDMFX_END - 8, CDMFX_END, WORD0(FENCE), PUMICE_FAULT_MMU_PT_INVALID },
	};
	const u32 fence = WORD0(FENCE);
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cdm_fixture *fx = cdmfx_create();

		fx->at = CDMFX_END - 8;
		put_words(fx, &fence, 1);
		put_words(fx, &cases[i].word, 1);
		assert_true(cdm_start(
			fx->cdm, &(struct cdm_job){ .ctx = CDMFX_CTX, .stream = cases[i].stream }));
		cdmfx_finish(fx);
		cdmfx_expect_fault(fx, cases[i].fault, cases[i].fault_addr);
		cdmfx_destroy(fx);
	}
}

static void a_context_that_is_off_stops_the_job(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	atomic_store(&fx->mmu.ctx[CDMFX_CTX], 0);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	cdmfx_expect_fault(fx, PUMICE_FAULT_MMU_CONTEXT_OFF, CDMFX_STREAM);
	cdmfx_destroy(fx);
}

static void a_refused_launch_stops_the_job_with_the_pds_reason(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	fx->pds.begin_fault = PUMICE_FAULT_PDS_RESOURCE;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 1, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_FAULT);
	assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_PDS_RESOURCE);
	assert_int_equal(cdm_status(fx->cdm)->fault.unit, PUMICE_UNIT_PDS);
	assert_int_equal(cdm_status(fx->cdm)->fault.addr, 0xabcd0);
	assert_int_equal(cdm_status(fx->cdm)->fault.pc, 4);
	cdmfx_destroy(fx);
}

static void a_group_that_faults_at_dispatch_stops_the_job(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	fx->pds.group_fault = PUMICE_FAULT_MMU_PT_INVALID;
	fx->pds.fault_linear = 5;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 10, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_walk(fx);
	assert_int_equal(fx->pds.started, 5);
	assert_int_equal(fx->pds.aborts, 1);
	assert_false(fx->pds.in_launch);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_FAULT);
	assert_int_equal(fx->pds.started, 5);
	assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_MMU_PT_INVALID);
	cdmfx_destroy(fx);
}

/* States of a job when it is stopped from outside. */
enum place { AT_START, IN_STREAM, IN_LAUNCH, WAITING_FOR_ROOM, AT_FENCE, DRAINING, PLACES };

static struct cdm_fixture *cdmfx_at(enum place place)
{
	struct cdm_fixture *fx = cdmfx_create();

	if (place == WAITING_FOR_ROOM)
		fx->pds.room = 2;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 4, 1, 1);
	if (place == AT_FENCE)
		put_fence(fx);
	put_launch(fx, 4, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	switch (place) {
	case AT_START:
		break;
	case IN_STREAM:
		cdm_step(fx->cdm, 2);
		cdmfx_source(fx, 0, 4);
		break;
	case IN_LAUNCH:
		cdm_step(fx->cdm, 2);
		cdmfx_source(fx, 0, 2);
		break;
	default:
		cdmfx_walk(fx);
	}
	assert_int_equal(fx->ended, 0);
	return fx;
}

static void abort_at_any_point_ends_once_and_dispatches_no_more(void **state)
{
	enum place place;

	(void)state;
	for (place = AT_START; place < PLACES; place++) {
		struct cdm_fixture *fx = cdmfx_at(place);
		u64 started = fx->pds.started;
		unsigned int wakes = fx->wakes;

		cdm_abort(fx->cdm);
		assert_int_equal(fx->pds.aborts, 1);
		assert_true(fx->wakes > wakes);
		assert_int_equal(fx->ended, 0);	/* never from cdm_abort() */
		assert_false(fx->pds.in_launch);
		cdm_abort(fx->cdm);
		assert_int_equal(fx->pds.aborts, 1);
		cdmfx_walk(fx);
		assert_int_equal(fx->ended, fx->pds.running == 0);
		if (fx->pds.running) {
			assert_true(cdm_status(fx->cdm)->busy);
			cdmfx_finish(fx);
		}
		assert_int_equal(fx->ended, 1);
		assert_int_equal(fx->end, DM_ABORTED);
		assert_int_equal(fx->pds.started, started);
		assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_NONE);
		assert_int_equal(cdm_status(fx->cdm)->done, 0);
		cdmfx_destroy(fx);
	}
}

static void a_usc_fault_at_any_point_stops_the_job(void **state)
{
	enum place place;

	(void)state;
	for (place = IN_STREAM; place < PLACES; place++) {
		struct cdm_fixture *fx = cdmfx_at(place);
		u64 started = fx->pds.started;

		fake_pds_finish(&fx->pds);
		fake_pds_fault(&fx->pds, PUMICE_FAULT_USC_OPCODE);
		assert_int_equal(fx->pds.aborts, 1);
		fake_pds_finish(&fx->pds);
		assert_int_equal(cdm_status(fx->cdm)->done, 1);
		cdmfx_finish(fx);
		assert_int_equal(fx->ended, 1);
		assert_int_equal(fx->end, DM_FAULT);
		assert_int_equal(fx->pds.started, started);
		assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_USC_OPCODE);
		assert_int_equal(cdm_status(fx->cdm)->fault.usc, 3);
		assert_int_equal(cdm_status(fx->cdm)->fault.pc, 9);
		assert_int_equal(cdm_status(fx->cdm)->done, 1);	/* the one before the fault */
		cdmfx_destroy(fx);
	}
}

static void the_first_reason_is_reported(void **state)
{
	struct cdm_fixture *fx = cdmfx_at(DRAINING);

	(void)state;
	fake_pds_fault(&fx->pds, PUMICE_FAULT_USC_OPCODE);
	fake_pds_fault(&fx->pds, PUMICE_FAULT_USC_END);
	cdm_abort(fx->cdm);
	assert_int_equal(fx->pds.aborts, 1);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_FAULT);
	assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_USC_OPCODE);
	cdmfx_destroy(fx);

	fx = cdmfx_at(DRAINING);
	cdm_abort(fx->cdm);
	fake_pds_fault(&fx->pds, PUMICE_FAULT_USC_OPCODE);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_ABORTED);
	assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_NONE);
	cdmfx_destroy(fx);
}

static void abort_while_idle_does_nothing(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	cdm_abort(fx->cdm);
	assert_int_equal(fx->pds.aborts, 0);
	assert_false(cdm_step(fx->cdm, 10));
	assert_int_equal(fx->ended, 0);
	cdmfx_destroy(fx);
}

static void a_job_after_a_stopped_one_runs(void **state)
{
	enum place place;

	(void)state;
	for (place = IN_STREAM; place < PLACES; place++) {
		struct cdm_fixture *fx = cdmfx_at(place);

		fake_pds_fault(&fx->pds, PUMICE_FAULT_USC_OPCODE);
		cdmfx_finish(fx);
		fx->pds.started = 0;
		cdmfx_start(fx);
		assert_int_equal(cdm_status(fx->cdm)->fault.fault, PUMICE_FAULT_NONE);
		cdmfx_finish(fx);
		assert_int_equal(fx->end, DM_DONE);
		assert_int_equal(fx->pds.started, 8);
		assert_int_equal(cdm_status(fx->cdm)->done, 8);
		cdmfx_destroy(fx);
	}
}

static u32 next_random(u64 *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(*state >> 33);
}

/* Random words as a stream: the job always ends, and never reads outside of mapped memory. */
static void random_streams_end(void **state)
{
	u64 rnd = 0x5eed0004;
	u32 run, i, faults = 0;

	(void)state;
	print_message("seed 0x%llx\n", (unsigned long long)rnd);
	for (run = 0; run < 2000; run++) {
		struct cdm_fixture *fx = cdmfx_create();

		fx->pds.room = 50;
		while (fx->at < CDMFX_STREAM + 0x400) {
			u32 word = next_random(&rnd);

			switch (next_random(&rnd) % 8) {
			case 0:
				put_state(fx, (u16)(word % 1100), 1, 1);
				break;
			case 1:
				put_launch(fx, word % 5, word >> 8 & 3, word >> 16 & 3);
				break;
			case 2:
				put_call(fx, CDMFX_STREAM + (word % 0x400 & ~3u));
				break;
			case 3:
				put_return(fx);
				break;
			case 4:
				put_fence(fx);
				break;
			case 5:
				put_words(fx, &word, 1);
				break;
			default:
				put_state(fx, 1, 1, 1);
			}
		}
		cdmfx_start(fx);
		for (i = 0; i < 100000 && !fx->ended; i++) {
			if (!cdmfx_step(fx, 10) && fx->pds.running)
				fake_pds_finish(&fx->pds);
		}
		if (!fx->ended) {
			cdm_abort(fx->cdm);
			cdmfx_finish(fx);
		}
		assert_int_equal(fx->ended, 1);
		faults += fx->end == DM_FAULT;
		cdmfx_destroy(fx);
	}
	assert_true(faults > 1000);
}

static void abort_job(struct pds *pds)
{
	cdm_abort(pds->during_opaque);
}

/* The PDS drops the device lock while it loads and fills: other calls may intervene. */
static void a_job_is_stopped_while_the_pds_works_for_it(void **state)
{
	unsigned int fill;

	(void)state;
	for (fill = 0; fill < 2; fill++) {
		struct cdm_fixture *fx = cdmfx_create();

		fx->pds.load_pieces = 3;
		fx->pds.fill_pieces = 2;
		*(fill ? &fx->pds.during_fill : &fx->pds.during_load) = abort_job;
		fx->pds.during_opaque = fx->cdm;
		put_state(fx, 1, 1, 1);
		put_launch(fx, 4, 1, 1);
		put_halt(fx);
		cdmfx_start(fx);
		cdmfx_finish(fx);
		assert_int_equal(fx->end, DM_ABORTED);
		assert_false(fx->pds.in_launch);
		assert_int_equal(fx->pds.started, 0);
		cdmfx_destroy(fx);
	}
}

/* Loading and filling in pieces does not change the dispatched groups. */
static void launches_in_pieces_are_dispatched_completely(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();
	u32 i;

	(void)state;
	fx->pds.load_pieces = 5;
	fx->pds.fill_pieces = 3;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 4, 2, 1);
	put_launch(fx, 3, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.launches, 2);
	assert_int_equal(fx->pds.loads, 10);
	assert_int_equal(fx->pds.started, 11);
	for (i = 0; i < 11; i++)
		assert_int_equal(fx->pds.group[i].linear, i < 8 ? i : i - 8);
	cdmfx_destroy(fx);
}

/* The CDM sleeps while there is no memory for programs. */
static void a_launch_without_memory_waits(void **state)
{
	struct cdm_fixture *fx = cdmfx_create();

	(void)state;
	fx->pds.load_pieces = 2;
	fx->pds.load_waits = true;
	put_state(fx, 1, 1, 1);
	put_launch(fx, 1, 1, 1);
	put_halt(fx);
	cdmfx_start(fx);
	while (!fx->pds.loads)
		assert_true(cdm_step(fx->cdm, 1));
	assert_true(cdm_step(fx->cdm, 1));	/* there is some now */
	cdmfx_finish(fx);
	assert_int_equal(fx->end, DM_DONE);
	assert_int_equal(fx->pds.started, 1);
	cdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_commands_stop_the_job_with_their_fault),
		cmocka_unit_test(the_largest_group_is_accepted),
		cmocka_unit_test(a_launch_without_state_stops_the_job),
		cmocka_unit_test(a_misaligned_stream_stops_the_job),
		cmocka_unit_test(a_sub_list_that_calls_itself_stops_the_job),
		cmocka_unit_test(one_call_more_than_the_depth_stops_the_job),
		cmocka_unit_test(memory_faults_report_the_address_of_the_word),
		cmocka_unit_test(a_context_that_is_off_stops_the_job),
		cmocka_unit_test(a_refused_launch_stops_the_job_with_the_pds_reason),
		cmocka_unit_test(a_group_that_faults_at_dispatch_stops_the_job),
		cmocka_unit_test(abort_at_any_point_ends_once_and_dispatches_no_more),
		cmocka_unit_test(a_usc_fault_at_any_point_stops_the_job),
		cmocka_unit_test(the_first_reason_is_reported),
		cmocka_unit_test(abort_while_idle_does_nothing),
		cmocka_unit_test(a_job_after_a_stopped_one_runs),
		cmocka_unit_test(random_streams_end),
		cmocka_unit_test(a_job_is_stopped_while_the_pds_works_for_it),
		cmocka_unit_test(launches_in_pieces_are_dispatched_completely),
		cmocka_unit_test(a_launch_without_memory_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
