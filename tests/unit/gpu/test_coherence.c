// SPDX-License-Identifier: MIT
/*
 * Fences and cache operations of programs, of control streams and of the firmware, by the lines
 * that caches of the memory hierarchy hold and have written afterwards.
 *
 * A work-group of 32 instances stores one line of 128 bytes, which the MCU L0 of its USC keeps open
 * until an operation passes it on.
 */
#include <string.h>

#include "../../../qemu-device/gpu/dm/flush.h"
#include "../../../qemu-device/gpu/gpu.h"
#include "../../../qemu-device/gpu/strict/race.h"
#include "../../../qemu-device/gpu/strict/targets.h"
#include "../usc/enc.h"
#include "job.h"

#define LINE	128u
#define NEAR	(JOB_DATA + LINE)	/* another line of the job's context */
#define USC	0u

static const struct job line_job = { .program = JOB_NUMBER, .group = 32, .groups = 1 };

/* State of the line after a job. */
struct reach {
	bool l1, slc;		/* held by the L1 of the core, by the SLC */
	u64 to_slc, to_memory;	/* bytes that these have written */
};

static struct fixture *create(void)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2 });

	job_map(fx);
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	return fx;
}

static bool held(struct fixture *fx, enum pumice_cache cache, u32 ctx, u64 addr)
{
	return hierarchy_holds(fx->gpu->hierarchy, cache, USC, PUMICE_MEM_CLIENT_USC_STORE, ctx,
			       addr);
}

/* Return the counters of stores of programs. */
static struct hierarchy_client stores(struct fixture *fx)
{
	struct hierarchy_client out;

	hierarchy_client_counters(fx->gpu->hierarchy, PUMICE_MEM_CLIENT_USC_STORE, &out);
	return out;
}

static void assert_reach(struct fixture *fx, const struct reach *want)
{
	struct hierarchy_level l1;

	hierarchy_level_counters(fx->gpu->hierarchy, PUMICE_CACHE_DATA_L2, &l1);
	assert_int_equal(held(fx, PUMICE_CACHE_DATA_L2, JOB_CTX, JOB_DATA), want->l1);
	assert_int_equal(held(fx, PUMICE_CACHE_SLC, JOB_CTX, JOB_DATA), want->slc);
	assert_int_equal(l1.written_bytes, want->to_slc);
	assert_int_equal(stores(fx).slc.written_bytes, want->to_memory);
}

/* Run the job with these programs; the stream has words of a command before its end. */
static u32 run_words(struct fixture *fx, const u32 *word, u32 words)
{
	const struct pumice_cdm_state state = job_state(line_job.group);
	const struct pumice_cdm_launch launch = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };
	u32 *at = job_stream(fx);

	pumice_cdm_state_pack(at, &state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &launch);
	at += PUMICE_CDM_LAUNCH_WORDS;
	memcpy(at, word, words * sizeof(*word));
	at += words;
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	return fx_fw_wait(fx, JOB_EVENTS);
}

/* The same with one word, or none if it is 0. */
static u32 run(struct fixture *fx, u32 command)
{
	return run_words(fx, &command, command != 0);
}

static void run_program(struct fixture *fx, const struct pumice_usc_insn *last)
{
	job_write_programs_with(fx, line_job.program, last);
	assert_int_equal(run(fx, 0), PUMICE_IC_PENDING__CDM_DONE__MASK);
}

static const struct reach in_l0 = { false, false, 0, 0 };
static const struct reach in_l1 = { true, false, 0, 0 };
static const struct reach in_slc = { true, true, LINE, 0 };
static const struct reach in_memory = { true, true, LINE, LINE };
static const struct reach l1_dropped = { false, true, LINE, 0 };
static const struct reach all_dropped = { false, false, LINE, LINE };

static const enum pumice_usc_scope usc_scopes[] = {
	PUMICE_USC_SCOPE_GROUP, PUMICE_USC_SCOPE_CORE, PUMICE_USC_SCOPE_DEVICE,
	PUMICE_USC_SCOPE_SYSTEM,
};

static void stores_stay_in_the_first_cache_without_a_fence(void **state)
{
	struct fixture *fx = create();

	(void)state;
	run_program(fx, NULL);
	assert_reach(fx, &in_l0);
	fx_destroy(fx);
}

/* One row for each scope, group first. */
static void assert_scopes_of_op(u8 op, const struct reach *const want[4])
{
	const bool range = op == PUMICE_USC_OP_CACHE_CLEAN_RANGE ||
			   op == PUMICE_USC_OP_CACHE_INVALIDATE_RANGE;
	u32 n;

	for (n = 0; n < 4; n++) {
		const struct pumice_usc_insn insn = {
			.opcode = op, .func = (u8)usc_scopes[n], .src2 = range ? SH(0) : 0,
			.words = range ? LINE / 4 : 0,
		};
		struct fixture *fx = create();

		run_program(fx, &insn);
		assert_reach(fx, want[n]);
		fx_destroy(fx);
	}
}

static void fences_of_programs_write_as_far_as_their_scope(void **state)
{
	(void)state;
	assert_scopes_of_op(PUMICE_USC_OP_MEM_FENCE, (const struct reach *const[]){
		&in_l1, &in_l1, &in_slc, &in_memory });
}

static void programs_clean_as_far_as_their_scope(void **state)
{
	static const struct reach *const want[] = { &in_l1, &in_slc, &in_slc, &in_memory };

	(void)state;
	assert_scopes_of_op(PUMICE_USC_OP_CACHE_CLEAN, want);
	assert_scopes_of_op(PUMICE_USC_OP_CACHE_CLEAN_RANGE, want);
}

/* Lines that are dropped were written before. */
static void programs_invalidate_without_loss(void **state)
{
	static const struct reach *const want[] = {
		&in_l1, &l1_dropped, &l1_dropped, &all_dropped };

	(void)state;
	assert_scopes_of_op(PUMICE_USC_OP_CACHE_INVALIDATE, want);
	assert_scopes_of_op(PUMICE_USC_OP_CACHE_INVALIDATE_RANGE, want);
}

/* Load a line as a program of a context would. */
static void load(struct fixture *fx, u32 ctx, u64 addr)
{
	assert_true(hierarchy_request(fx->gpu->hierarchy, &(struct mem_request){
		.client = PUMICE_MEM_CLIENT_USC_LOAD, .place = USC, .ctx = ctx, .addr = addr,
		.bytes = 4,
	}));
	hierarchy_drain(fx->gpu->hierarchy);
}

static void operations_are_on_lines_of_the_context_alone(void **state)
{
	const struct pumice_usc_insn all = INSN(CACHE_INVALIDATE, .func = PUMICE_USC_SCOPE_SYSTEM);
	struct fixture *fx = create();

	(void)state;
	load(fx, JOB_CTX, NEAR);
	load(fx, JOB_CTX + 1, JOB_DATA);
	run_program(fx, &all);
	assert_false(held(fx, PUMICE_CACHE_DATA_L2, JOB_CTX, NEAR));
	assert_false(held(fx, PUMICE_CACHE_SLC, JOB_CTX, NEAR));
	assert_true(held(fx, PUMICE_CACHE_DATA_L2, JOB_CTX + 1, JOB_DATA));
	assert_true(held(fx, PUMICE_CACHE_SLC, JOB_CTX + 1, JOB_DATA));
	fx_destroy(fx);
}

/* Store to a line of another context, as far as the L1 of the core. */
static void store_of_another(struct fixture *fx)
{
	assert_true(hierarchy_request(fx->gpu->hierarchy, &(struct mem_request){
		.client = PUMICE_MEM_CLIENT_USC_STORE, .place = USC, .ctx = JOB_CTX + 1,
		.addr = JOB_DATA, .bytes = LINE, .write = true,
	}));
	hierarchy_fence(fx->gpu->hierarchy, USC, HIERARCHY_GROUP, CACHE_ANY_CTX);
}

/* A barrier of a program does not write lines of other processes. */
static void fences_are_on_lines_of_the_context_alone(void **state)
{
	const struct pumice_usc_insn fence = INSN(MEM_FENCE, .func = PUMICE_USC_SCOPE_SYSTEM);
	struct fixture *fx = create();

	(void)state;
	store_of_another(fx);
	run_program(fx, &fence);
	assert_reach(fx, &in_memory);
	assert_false(held(fx, PUMICE_CACHE_SLC, JOB_CTX + 1, JOB_DATA));
	fx_destroy(fx);
}

/* Of 32 words from the last word of the line: that line and the next one. */
static void a_range_selects_the_lines_of_its_bytes(void **state)
{
	const struct pumice_usc_insn range = INSN(CACHE_INVALIDATE_RANGE,
		.func = PUMICE_USC_SCOPE_CORE, .src2 = SH(0), .disp = LINE - 4, .words = 32);
	struct fixture *fx = create();

	(void)state;
	load(fx, JOB_CTX, NEAR);
	load(fx, JOB_CTX, NEAR + LINE);
	run_program(fx, &range);
	assert_false(held(fx, PUMICE_CACHE_DATA_L2, JOB_CTX, JOB_DATA));
	assert_false(held(fx, PUMICE_CACHE_DATA_L2, JOB_CTX, NEAR));
	assert_true(held(fx, PUMICE_CACHE_DATA_L2, JOB_CTX, NEAR + LINE));
	fx_destroy(fx);
}

/* ------------------------------------------------------------ registers */

#define CLEAN		PUMICE_SLC_OP__CLEAN__MASK
#define INVALIDATE	PUMICE_SLC_OP__INVALIDATE__MASK
#define RANGE		PUMICE_SLC_OP__RANGE__MASK
#define ALL		PUMICE_SLC_OP__ALL__MASK
#define OP(scope, ctx) \
	(PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, PUMICE_MEM_SCOPE_##scope) | \
	 PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, ctx))

static const struct reach lost_in_l1 = { false, false, 0, 0 };

/* Operations of the firmware, for a line that the MCU L0 keeps open. */
static void the_firmware_operates_as_far_as_its_scope(void **state)
{
	static const struct {
		u32 op;
		const struct reach *clean, *both, *drop;
	} rows[] = {
		{ OP(GROUP, JOB_CTX), &in_l1, &in_l1, &in_l1 },
		{ OP(CORE, JOB_CTX), &in_slc, &l1_dropped, &lost_in_l1 },
		{ OP(GPU, JOB_CTX), &in_slc, &l1_dropped, &lost_in_l1 },
		{ OP(SYSTEM, JOB_CTX), &in_memory, &all_dropped, &lost_in_l1 },
	};
	u32 n, kind;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const struct reach *const want[] = { rows[n].clean, rows[n].both, rows[n].drop };
		static const u32 kinds[] = { CLEAN, CLEAN | INVALIDATE, INVALIDATE };

		for (kind = 0; kind < 3; kind++) {
			struct fixture *fx = create();

			run_program(fx, NULL);
			fx_fw_write(fx, PUMICE_SLC_OP, rows[n].op | kinds[kind]);
			assert_reach(fx, want[kind]);
			assert_int_equal(fx_fw_read(fx, PUMICE_SLC_COUNT), 1);
			fx_destroy(fx);
		}
	}
}

/* CORE is of every core. */
static void the_firmware_operates_on_all_cores(void **state)
{
	struct fixture *fx = create();
	const u32 last = 2 * fx->gpu->config.uscs_per_core - 1;
	const struct mem_request read = {
		.client = PUMICE_MEM_CLIENT_USC_LOAD, .place = last, .ctx = JOB_CTX, .addr = NEAR,
		.bytes = 4,
	};

	(void)state;
	assert_true(hierarchy_request(fx->gpu->hierarchy, &read));
	fx_fw_write(fx, PUMICE_SLC_OP, OP(CORE, JOB_CTX) | INVALIDATE);
	assert_false(hierarchy_holds(fx->gpu->hierarchy, PUMICE_CACHE_DATA_L2, last, read.client,
				     JOB_CTX, NEAR));
	fx_destroy(fx);
}

static void load_table(struct fixture *fx)
{
	assert_true(hierarchy_request(fx->gpu->hierarchy, &(struct mem_request){
		.client = PUMICE_MEM_CLIENT_MMU_TABLE, .ctx = MEM_CTX_BUS, .addr = JOB_DATA,
		.bytes = 8,
	}));
	hierarchy_drain(fx->gpu->hierarchy);
}

/* Assert which of two contexts and the tables the SLC holds afterwards. */
static void assert_selected(u32 op, bool job, bool other, bool tables)
{
	struct fixture *fx = create();

	load(fx, JOB_CTX, JOB_DATA);
	load(fx, JOB_CTX + 1, JOB_DATA);
	load_table(fx);
	fx_fw_write(fx, PUMICE_SLC_OP, op);
	assert_int_equal(held(fx, PUMICE_CACHE_SLC, JOB_CTX, JOB_DATA), !job);
	assert_int_equal(held(fx, PUMICE_CACHE_SLC, JOB_CTX + 1, JOB_DATA), !other);
	assert_int_equal(held(fx, PUMICE_CACHE_SLC, MEM_CTX_BUS, JOB_DATA), !tables);
	fx_destroy(fx);
}

static void the_firmware_selects_a_context_the_tables_or_all(void **state)
{
	(void)state;
	assert_selected(OP(GPU, JOB_CTX) | INVALIDATE, false, false, false);
	assert_selected(OP(SYSTEM, JOB_CTX) | CLEAN, false, false, false);
	assert_selected(OP(SYSTEM, MMU_TABLES) | INVALIDATE, false, false, true);
	assert_selected(OP(SYSTEM, 0) | ALL | INVALIDATE, true, true, true);
	assert_selected(OP(GPU, 0) | ALL | INVALIDATE, false, false, false);
}

/* The CPU has changed some for new mappings, with no other operation before the next job. */
static void a_context_without_lines_has_none_of_tables(void **state)
{
	(void)state;
	assert_selected(OP(SYSTEM, JOB_CTX) | INVALIDATE, true, false, true);
	assert_selected(OP(SYSTEM, JOB_CTX + 1) | CLEAN | INVALIDATE, false, true, true);
	assert_selected(OP(SYSTEM, JOB_CTX) | CLEAN | INVALIDATE | RANGE, false, false, false);
}

static void set_range(struct fixture *fx, u64 first, u64 last)
{
	fx_fw_write64(fx, PUMICE_SLC_START, first);
	fx_fw_write64(fx, PUMICE_SLC_END, last);
}

/* The last byte of one line and the first one of the next. */
static void the_firmware_selects_a_range(void **state)
{
	struct fixture *fx = create();

	(void)state;
	load(fx, JOB_CTX, NEAR - LINE);
	load(fx, JOB_CTX, NEAR);
	load(fx, JOB_CTX, NEAR + LINE);
	load(fx, JOB_CTX, NEAR + 2 * LINE);
	set_range(fx, NEAR + LINE - 1, NEAR + LINE);
	fx_fw_write(fx, PUMICE_SLC_OP, OP(SYSTEM, JOB_CTX) | INVALIDATE | RANGE);
	assert_true(held(fx, PUMICE_CACHE_SLC, JOB_CTX, NEAR - LINE));
	assert_false(held(fx, PUMICE_CACHE_SLC, JOB_CTX, NEAR));
	assert_false(held(fx, PUMICE_CACHE_SLC, JOB_CTX, NEAR + LINE));
	assert_true(held(fx, PUMICE_CACHE_SLC, JOB_CTX, NEAR + 2 * LINE));
	/* Without RANGE the registers are ignored. */
	fx_fw_write(fx, PUMICE_SLC_OP, OP(SYSTEM, JOB_CTX) | INVALIDATE);
	assert_false(held(fx, PUMICE_CACHE_SLC, JOB_CTX, NEAR - LINE));
	fx_destroy(fx);
}

static void bad_operations_of_the_firmware_are_logged_and_do_nothing(void **state)
{
	static const struct {
		u32 op;
		const char *why;
	} rows[] = {
		{ OP(SYSTEM, JOB_CTX), "neither cleans nor invalidates" },
		{ PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, PUMICE_MEM_SCOPE_COUNT) | ALL |
		  INVALIDATE, "scope that does not exist" },
		{ OP(SYSTEM, MMU_TABLES + 1) | INVALIDATE, "context that does not exist" },
		{ OP(SYSTEM, JOB_CTX) | INVALIDATE | RANGE, "ends before it starts" },
	};
	struct fixture *fx = create();
	u32 n;

	(void)state;
	load(fx, JOB_CTX, JOB_DATA);
	set_range(fx, JOB_DATA + 1, JOB_DATA);
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		fx_fw_write(fx, PUMICE_SLC_OP, rows[n].op);
		assert_non_null(strstr(fx->log, rows[n].why));
		assert_int_equal(fx_fw_read(fx, PUMICE_SLC_COUNT), 0);
		assert_true(held(fx, PUMICE_CACHE_SLC, JOB_CTX, JOB_DATA));
	}
	/* A range of one byte, and any number of a context that is ignored. */
	set_range(fx, JOB_DATA, JOB_DATA);
	fx_fw_write(fx, PUMICE_SLC_OP, OP(SYSTEM, 63) | ALL | INVALIDATE | RANGE);
	assert_int_equal(fx_fw_read(fx, PUMICE_SLC_COUNT), 1);
	assert_false(held(fx, PUMICE_CACHE_SLC, JOB_CTX, JOB_DATA));
	fx_destroy(fx);
}

/* They are counted, so that firmware can be tested in it. */
static void operations_in_fast_mode_are_only_counted(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2 });

	(void)state;
	job_map(fx);
	fx_boot_proxy(fx);
	fx_fw_write(fx, PUMICE_SLC_OP, OP(SYSTEM, 0) | ALL | CLEAN | INVALIDATE);
	assert_int_equal(fx_fw_read(fx, PUMICE_SLC_COUNT), 1);
	assert_null(fx->gpu->hierarchy);
	/* The host has no access. */
	fx_write(fx, PUMICE_SLC_OP, OP(SYSTEM, 0) | ALL | CLEAN | INVALIDATE);
	assert_int_equal(fx_fw_read(fx, PUMICE_SLC_COUNT), 1);
	pumice_gpu_reset(fx->gpu);
	assert_int_equal(fx->gpu->slc_regs.count, 0);
	fx_destroy(fx);
}

/* ------------------------------------------------------------ streams */

static u32 flush_word(struct pumice_cdm_flush flush)
{
	u32 word;

	pumice_cdm_flush_pack(&word, &flush);
	return word;
}

static void assert_flush(struct pumice_cdm_flush flush, const struct reach *want)
{
	struct fixture *fx = create();

	job_write_programs(fx, line_job.program);
	assert_int_equal(run(fx, flush_word(flush)), PUMICE_IC_PENDING__CDM_DONE__MASK);
	assert_reach(fx, want);
	fx_destroy(fx);
}

/* After the stores of the launch before it. */
static void flushes_of_a_stream_reach_as_far_as_their_scope(void **state)
{
	static const struct {
		enum pumice_mem_scope scope;
		const struct reach *clean, *invalidate;
	} rows[] = {
		{ PUMICE_MEM_SCOPE_GROUP, &in_l1, &in_l1 },
		{ PUMICE_MEM_SCOPE_CORE, &in_slc, &l1_dropped },
		{ PUMICE_MEM_SCOPE_GPU, &in_slc, &l1_dropped },
		{ PUMICE_MEM_SCOPE_SYSTEM, &in_memory, &all_dropped },
	};
	u32 n;

	(void)state;
	for (n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		const u8 scope = (u8)rows[n].scope;

		assert_flush((struct pumice_cdm_flush){ .scope = scope, .clean = true },
			     rows[n].clean);
		assert_flush((struct pumice_cdm_flush){ .scope = scope, .invalidate = true },
			     rows[n].invalidate);
	}
}

static void assert_command(const u32 *word, u32 words, const struct reach *want)
{
	struct fixture *fx = create();

	job_write_programs(fx, line_job.program);
	assert_int_equal(run_words(fx, word, words), PUMICE_IC_PENDING__CDM_DONE__MASK);
	assert_reach(fx, want);
	fx_destroy(fx);
}

/* Programs need no FLUSH between launches, nor before a word that the CPU observes. */
static void stores_are_visible_after_fences_and_in_front_of_markers(void **state)
{
	u32 wait, word[PUMICE_CDM_MARKER_WORDS + PUMICE_CDM_TIMESTAMP_WORDS];

	(void)state;
	pumice_cdm_fence_pack(word, &(struct pumice_cdm_fence){ 0 });
	assert_command(word, PUMICE_CDM_FENCE_WORDS, &l1_dropped);
	for (wait = 0; wait < 2; wait++) {
		const struct reach *want = wait ? &in_memory : &in_l0;
		const struct pumice_cdm_marker marker = {
			.wait = wait, .addr = JOB_DATA + 4096, .value = 7,
		};
		const struct pumice_cdm_timestamp timestamp = {
			.wait = wait, .addr = JOB_DATA + 4096,
		};

		pumice_cdm_marker_pack(word, &marker);
		assert_command(word, PUMICE_CDM_MARKER_WORDS, want);
		pumice_cdm_timestamp_pack(word, &timestamp);
		assert_command(word, PUMICE_CDM_TIMESTAMP_WORDS, want);
	}
}

/* An open line of another core's USC is passed on, too. */
static void flushes_of_a_stream_are_on_the_caches_of_all_uscs(void **state)
{
	struct fixture *fx = create();
	const u32 last = 2 * fx->gpu->config.uscs_per_core - 1;
	const struct mem_request store = {
		.client = PUMICE_MEM_CLIENT_USC_STORE, .place = last, .ctx = JOB_CTX, .addr = NEAR,
		.bytes = LINE, .write = true,
	};

	(void)state;
	job_write_programs(fx, line_job.program);
	assert_true(hierarchy_request(fx->gpu->hierarchy, &store));
	assert_false(hierarchy_holds(fx->gpu->hierarchy, PUMICE_CACHE_DATA_L2, last, store.client,
				     JOB_CTX, NEAR));
	run(fx, flush_word((struct pumice_cdm_flush){ .clean = true,
						      .scope = PUMICE_MEM_SCOPE_GROUP }));
	assert_true(hierarchy_holds(fx->gpu->hierarchy, PUMICE_CACHE_DATA_L2, last, store.client,
				    JOB_CTX, NEAR));
	run(fx, flush_word((struct pumice_cdm_flush){ .invalidate = true,
						      .scope = PUMICE_MEM_SCOPE_CORE }));
	assert_false(hierarchy_holds(fx->gpu->hierarchy, PUMICE_CACHE_DATA_L2, last, store.client,
				     JOB_CTX, NEAR));
	assert_true(held(fx, PUMICE_CACHE_SLC, JOB_CTX, NEAR));
	fx_destroy(fx);
}

/* The bits that the command had before: of all caches; and neither bit is a fence only. */
static void flushes_of_older_streams_keep_their_meaning(void **state)
{
	(void)state;
	assert_flush((struct pumice_cdm_flush){ .data = true }, &all_dropped);
	assert_flush((struct pumice_cdm_flush){ .code = true }, &all_dropped);
	assert_flush((struct pumice_cdm_flush){ 0 }, &in_l0);
	assert_int_equal(flush_word((struct pumice_cdm_flush){ .data = true, .code = true }),
			 0x90000003);
}

/* Scopes beyond the last one, and each reserved bit. */
static void bad_flushes_are_refused_and_the_next_job_runs(void **state)
{
	struct fixture *fx = create();
	u32 bit, word;

	(void)state;
	job_write_programs(fx, line_job.program);
	for (bit = 0; bit < 28; bit++) {
		if (bit < 7 && bit != 4)	/* bit 4: scope 4 */
			continue;
		word = flush_word((struct pumice_cdm_flush){ .clean = true }) | 1u << bit;
		assert_int_equal(run(fx, word), PUMICE_IC_PENDING__CDM_FAULT__MASK);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT,
						  fx_fw_read(fx, PUMICE_CDM_STATUS)),
				 PUMICE_FAULT_CDM_RESERVED);
		assert_int_equal(run(fx, 0), PUMICE_IC_PENDING__CDM_DONE__MASK);
	}
	fx_destroy(fx);
}

static void results_with_operations_are_the_same_in_all_modes(void **state)
{
	const struct pumice_usc_insn all = INSN(CACHE_INVALIDATE, .func = PUMICE_USC_SCOPE_SYSTEM);
	const u32 flush = flush_word((struct pumice_cdm_flush){ .data = true });
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2 });
	u32 *data = job_map(fx);
	u32 n;

	(void)state;
	fx_boot_proxy(fx);
	job_write_programs_with(fx, line_job.program, &all);
	for (n = 0; n < 2; n++) {
		assert_int_equal(pumice_gpu_set_mode(fx->gpu, n ? "counted" : "fast"), 0);
		memset(data, 0, line_job.group * sizeof(*data));
		assert_int_equal(run(fx, flush), PUMICE_IC_PENDING__CDM_DONE__MASK);
		job_assert_numbers(data, &line_job);
	}
	fx_destroy(fx);
}

/* ------------------------------------------------------------------- mode strict */

/* Return whether a store by a new work-group of the compute job races with an earlier one. */
static bool store_races(struct fixture *fx)
{
	static const u32 before[RACE_WAVES];
	static u8 word[4] __attribute__((aligned(4)));
	const struct race_group group = { .master = PUMICE_WAVE_MASTER_CDM, .ctx = JOB_CTX };
	struct race *race = fx->gpu->strict.race;
	const struct race_access a = {
		.group = race_group_begin(race, &group), .write = true, .clock = 1,
		.before = before,
	};
	struct race_other other;

	return race_access(race, &a, word, sizeof(word), &other);
}

/* Return whether a read by the job that stores targets is one of bytes that it has stored. */
static bool target_is_read(struct fixture *fx)
{
	const struct targets_access a = { .master = GPU_PDM, .ctx = JOB_CTX, .va = NEAR,
					  .bytes = 4 };
	struct targets_other other;

	return targets_read(fx->gpu->strict.targets, &a, &other);
}

static void operations_order_the_work_of_their_own_job_only(void **state)
{
	const struct targets_access target = { .master = GPU_PDM, .ctx = JOB_CTX, .va = NEAR,
					       .bytes = LINE };
	struct fixture *fx = create();
	struct targets_other other;

	(void)state;
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	targets_job_begin(fx->gpu->strict.targets, GPU_PDM, 1);
	targets_store(fx->gpu->strict.targets, &target, &other);
	assert_false(store_races(fx));
	/* Of the firmware, in the job's context; of streams of other jobs. */
	fx_fw_write(fx, PUMICE_SLC_OP, PUMICE_SLC_OP__CLEAN__MASK |
		    PUMICE_SLC_OP__INVALIDATE__MASK |
		    PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, PUMICE_MEM_SCOPE_SYSTEM) |
		    PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, JOB_CTX));
	dm_fence(&fx->gpu->mmu, PUMICE_UNIT_VDM, JOB_CTX);
	dm_publish(&fx->gpu->mmu, PUMICE_UNIT_PTLA, JOB_CTX);
	assert_true(store_races(fx));
	assert_true(target_is_read(fx));
	dm_publish(&fx->gpu->mmu, PUMICE_UNIT_CDM, JOB_CTX);
	assert_false(store_races(fx));
	assert_true(target_is_read(fx));
	dm_fence(&fx->gpu->mmu, PUMICE_UNIT_PDM, JOB_CTX);
	assert_true(store_races(fx));
	assert_false(target_is_read(fx));
	fx_destroy(fx);
}

/* Neither clean nor invalidate: the stream has waited, and the lines remain in their caches. */
static void a_flush_of_no_cache_orders_the_work_and_keeps_its_stores(void **state)
{
	const struct targets_access target = { .master = GPU_PDM, .ctx = JOB_CTX, .va = NEAR,
					       .bytes = LINE };
	const struct dm_flush none = { .scope = PUMICE_MEM_SCOPE_SYSTEM };
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2 });
	const u32 *data = job_map(fx);
	struct targets_other other;

	(void)state;
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	job_write_programs(fx, line_job.program);
	run(fx, flush_word((struct pumice_cdm_flush){ 0 }));
	assert_int_equal(data[1], 0);
	fx_fw_write(fx, PUMICE_SLC_OP, PUMICE_SLC_OP__CLEAN__MASK |
		    PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, PUMICE_MEM_SCOPE_SYSTEM) |
		    PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, JOB_CTX));
	job_assert_numbers(data, &line_job);
	targets_job_begin(fx->gpu->strict.targets, GPU_PDM, 1);
	targets_store(fx->gpu->strict.targets, &target, &other);
	assert_false(store_races(fx));
	assert_false(dm_flush(&fx->gpu->mmu, PUMICE_UNIT_CDM, JOB_CTX, &none));
	assert_false(store_races(fx));
	assert_true(target_is_read(fx));
	assert_false(dm_flush(&fx->gpu->mmu, PUMICE_UNIT_PDM, JOB_CTX, &none));
	assert_false(target_is_read(fx));
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_stay_in_the_first_cache_without_a_fence),
		cmocka_unit_test(fences_of_programs_write_as_far_as_their_scope),
		cmocka_unit_test(programs_clean_as_far_as_their_scope),
		cmocka_unit_test(programs_invalidate_without_loss),
		cmocka_unit_test(operations_are_on_lines_of_the_context_alone),
		cmocka_unit_test(fences_are_on_lines_of_the_context_alone),
		cmocka_unit_test(a_range_selects_the_lines_of_its_bytes),
		cmocka_unit_test(the_firmware_operates_as_far_as_its_scope),
		cmocka_unit_test(the_firmware_operates_on_all_cores),
		cmocka_unit_test(the_firmware_selects_a_context_the_tables_or_all),
		cmocka_unit_test(a_context_without_lines_has_none_of_tables),
		cmocka_unit_test(the_firmware_selects_a_range),
		cmocka_unit_test(bad_operations_of_the_firmware_are_logged_and_do_nothing),
		cmocka_unit_test(operations_in_fast_mode_are_only_counted),
		cmocka_unit_test(flushes_of_a_stream_reach_as_far_as_their_scope),
		cmocka_unit_test(stores_are_visible_after_fences_and_in_front_of_markers),
		cmocka_unit_test(flushes_of_a_stream_are_on_the_caches_of_all_uscs),
		cmocka_unit_test(flushes_of_older_streams_keep_their_meaning),
		cmocka_unit_test(bad_flushes_are_refused_and_the_next_job_runs),
		cmocka_unit_test(results_with_operations_are_the_same_in_all_modes),
		cmocka_unit_test(operations_order_the_work_of_their_own_job_only),
		cmocka_unit_test(a_flush_of_no_cache_orders_the_work_and_keeps_its_stores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
