// SPDX-License-Identifier: MIT
/*
 * Mode strict: bytes that are not in memory when the firmware sleeps, by starts, ends and switches
 * of all data masters. A compute job stores by the caches and nothing cleans them; the proxy sleeps
 * after each access to a register.
 */
#include <string.h>

#include "../../../qemu-device/gpu/gpu.h"
#include "../../../qemu-device/gpu/regs/regs.h"
#include "../../../qemu-device/gpu/strict/lines.h"
#include "../usc/enc.h"
#include "job.h"

#define OTHER	(JOB_CTX + 1)
#define SAVE	0x20000ull	/* in context 0: the state of a job that is switched out */
#define TRANSFER 2048u	/* the stream of the TDM, in the page of that of the CDM */
#define TAG	0x500000007ull
#define PAGE	4096u
#define GROUPS	20u	/* of a job that is switched out */

/* Operations on the caches of the system, of a context. */
#define CLEAN(ctx)	(PUMICE_SLC_OP__CLEAN__MASK | \
			 PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, PUMICE_MEM_SCOPE_SYSTEM) | \
			 PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, ctx))
#define CLEAN_JOB	CLEAN(JOB_CTX)
#define CLEAN_OTHER	CLEAN(OTHER)

static const struct job stores = { .program = JOB_NUMBER, .group = 32, .groups = 1 };
static const struct job endless = { .program = JOB_TOUCH, .group = 32, .groups = 1 };
static u32 *data;
static char text[STRICT_TEXT_BYTES];	/* of the finding */

static struct fixture *create(void)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 1, .manual_clock = true });

	data = job_map(fx);
	fx_boot_proxy(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "strict"), 0);
	dropped_set(&fx->gpu->dropped, false);	/* the proxy reads no status */
	return fx;
}

/* Run a compute job, whose end the firmware does not handle. */
static void store(struct fixture *fx)
{
	assert_int_equal(job_run(fx, &stores), PUMICE_IC_PENDING__CDM_DONE__MASK);
}

static void start_stream(struct fixture *fx)
{
	fx_fw_write64(fx, PUMICE_TDM_STREAM_BASE, JOB_STREAM + TRANSFER);
	fx_fw_write(fx, PUMICE_TDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_TDM_CTRL, PUMICE_TDM_CTRL__START__MASK);
}

/* Run a job of the TDM in the context, whose end the firmware does not handle. */
static void run_transfer(struct fixture *fx)
{
	start_stream(fx);
	fx_fw_wait(fx, PUMICE_IC_PENDING__TDM_DONE__MASK);
}

/* Start one without work. */
static void start_transfer(struct fixture *fx)
{
	pumice_tdm_halt_pack(job_stream(fx) + TRANSFER / 4, &(struct pumice_tdm_halt){ 0 });
	start_stream(fx);
}

static void transfer(struct fixture *fx)
{
	start_transfer(fx);
	fx_fw_wait(fx, PUMICE_IC_PENDING__TDM_DONE__MASK);
}

/* Run a job of the PDM that faults, since it has no scene, and handle its end. */
static void render(struct fixture *fx, u32 partial)
{
	fx_fw_write64(fx, PUMICE_PDM_STREAM_BASE, JOB_DATA);
	fx_fw_write(fx, PUMICE_PDM_MMU_CTX, JOB_CTX);
	fx_fw_write64(fx, PUMICE_PDM_TAG, TAG);
	fx_fw_write(fx, PUMICE_PDM_CTRL, PUMICE_PDM_CTRL__START__MASK | partial);
	fx_fw_wait(fx, PUMICE_IC_PENDING__PDM_FAULT__MASK);
	fx_fw_read(fx, PUMICE_PDM_STATUS);
}

/* Let the firmware sleep. Assert that there is no finding, or one of the data with the words. */
static void assert_unflushed(struct fixture *fx, const char *words)
{
	struct strict_finding f;
	u32 count;

	fx_drain(fx);
	count = strict_count(&fx->gpu->strict);
	if (count) {
		assert_true(strict_get(&fx->gpu->strict, 0, &f));
		strict_describe(&f, text);
		print_message("%s\n", text);
	}
	assert_int_equal(count, words != NULL);
	if (!words)
		return;
	assert_int_equal(f.kind, PUMICE_FINDING_UNFLUSHED_WRITE);
	assert_int_equal(f.addr, JOB_DATA);
	assert_int_equal(f.ctx, JOB_CTX);
	assert_non_null(strstr(text, words));
}

/*
 * The firmware reads the status for another reason, before the event of the end, or without it. An
 * event that it clears before it is raised does not report the end.
 */
static void end_is_handled_after_its_event(void **state)
{
	static const struct {
		const char *fault;
		bool lost, clear;
	} rows[] = {
		{ .fault = "late-end,where=tdm,us=1000" },
		{ .fault = "lost-irq,where=tdm", .lost = true },
		{ .fault = "lost-irq,where=tdm", .lost = true, .clear = true },
	};
	u32 n;

	(void)state;
	for (n = 0; n < 3; n++) {
		struct fixture *fx = create();

		store(fx);
		assert_int_equal(pumice_gpu_inject(fx->gpu, rows[n].fault), 0);
		start_transfer(fx);
		fx_wait_reg(fx, PUMICE_DBG_TDM_STATUS, PUMICE_DBG_TDM_STATUS__BUSY__MASK, 0);
		if (rows[n].clear)
			fx_fw_write(fx, PUMICE_IC_CLEAR, PUMICE_IC_PENDING__TDM_DONE__MASK);
		fx_fw_read(fx, PUMICE_TDM_STATUS);
		assert_unflushed(fx, NULL);
		fx->clock += 1000000;
		if (!rows[n].lost)
			fx_fw_wait(fx, PUMICE_IC_PENDING__TDM_DONE__MASK);
		fx_fw_read(fx, PUMICE_TDM_STATUS);
		assert_unflushed(fx, rows[n].lost ? NULL : "\"wave\":0");
		fx_destroy(fx);
	}
}

static void end_of_a_render_is_one_of_its_job(void **state)
{
	struct fixture *fx = create();

	(void)state;
	store(fx);
	render(fx, 0);
	assert_unflushed(fx, "\"master\":\"pdm\",\"job_context\":7,\"job\":5,");
	fx_destroy(fx);
}

static void end_of_a_partial_render_is_not_one_of_a_job(void **state)
{
	struct fixture *fx = create();

	(void)state;
	store(fx);
	render(fx, PUMICE_PDM_CTRL__PARTIAL__MASK);
	assert_unflushed(fx, NULL);
	fx_destroy(fx);
}

/* Jobs whose streams are not valid: they begin, and end with a fault. */
static void ends_of_geometry_and_ray_jobs_are_handled(void **state)
{
	static const struct {
		u32 stream, ctx, tag, ctrl, event, status;
		const char *words;
	} rows[] = {
		{ PUMICE_VDM_STREAM_BASE, PUMICE_VDM_MMU_CTX, PUMICE_VDM_TAG, PUMICE_VDM_CTRL,
		  PUMICE_IC_PENDING__VDM_FAULT__MASK, PUMICE_VDM_STATUS,
		  "\"master\":\"vdm\",\"job_context\":7,\"job\":5," },
		{ PUMICE_RDM_STREAM_BASE, PUMICE_RDM_MMU_CTX, PUMICE_RDM_TAG, PUMICE_RDM_CTRL,
		  PUMICE_IC_PENDING__RDM_FAULT__MASK, PUMICE_RDM_STATUS,
		  "\"master\":\"rdm\",\"job_context\":7,\"job\":5," },
	};
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		struct fixture *fx = create();

		store(fx);
		fx_fw_write64(fx, rows[n].stream, JOB_DATA);
		fx_fw_write(fx, rows[n].ctx, JOB_CTX);
		fx_fw_write64(fx, rows[n].tag, TAG);
		fx_fw_write(fx, rows[n].ctrl, PUMICE_VDM_CTRL__START__MASK);
		fx_fw_wait(fx, rows[n].event);
		fx_fw_read(fx, rows[n].status);
		assert_unflushed(fx, rows[n].words);
		fx_destroy(fx);
	}
}

/*
 * The caches are cleaned afterwards: an early one is an error. The host has none. The registers are
 * accessed directly, as the proxy sleeps after each access.
 */
static void an_early_signal_is_one_of_the_firmware(void **state)
{
	struct strict_finding f;
	u32 firmware;

	(void)state;
	for (firmware = 0; firmware < 2; firmware++) {
		struct fixture *fx = create();

		fx_fw_write64(fx, PUMICE_CDM_TAG, TAG);
		store(fx);
		fx_fw_write(fx, PUMICE_FIND_FW_ARG(0), (u32)TAG);
		fx_fw_write(fx, PUMICE_FIND_FW_ARG(1), (u32)(TAG >> 32));
		regs_read(fx->gpu, PUMICE_REG_BUS_FW, 0, PUMICE_CDM_STATUS, 4);
		regs_write(fx->gpu, firmware ? PUMICE_REG_BUS_FW : PUMICE_REG_BUS_HOST, 0,
			   PUMICE_FIND_FW_SIGNAL, 0, 4);
		regs_write(fx->gpu, PUMICE_REG_BUS_FW, 0, PUMICE_SLC_OP, CLEAN_JOB, 4);
		fx_fw_read(fx, PUMICE_SYS_VERSION);
		fx_drain(fx);
		assert_int_equal(strict_count(&fx->gpu->strict), firmware);
		if (firmware) {
			assert_true(strict_get(&fx->gpu->strict, 0, &f));
			assert_int_equal(f.kind, PUMICE_FINDING_EARLY_SIGNAL);
			assert_int_equal(f.addr, JOB_DATA);
			assert_int_equal(f.job.tag, TAG);
		}
		fx_destroy(fx);
	}
}

/* ------------------------------------------------------------------- data */

#define OLD	0x77u

static struct fixture *create_old(void)
{
	struct fixture *fx = create();
	u32 n;

	for (n = 0; n < stores.group; n++)
		data[n] = OLD;
	return fx;
}

/* Assert which of the words that the instances have stored the CPU sees, or the former ones. */
static void assert_seen_from(u32 first, u32 end)
{
	u32 n;

	for (n = 0; n < stores.group; n++)
		assert_int_equal(data[n], n >= first && n < end ? job_number(n) : OLD);
}

/* Assert whether the CPU sees all of them. */
static void assert_seen(bool seen)
{
	assert_seen_from(0, seen ? stores.group : 0);
}

static void stores_are_seen_after_a_clean(void **state)
{
	struct fixture *fx = create_old();

	(void)state;
	store(fx);
	assert_seen(false);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_OTHER);
	assert_seen(false);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB);
	assert_seen(true);
	fx_destroy(fx);
}

static void stores_are_seen_after_an_invalidation_that_writes_lines(void **state)
{
	struct fixture *fx = create_old();

	(void)state;
	store(fx);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB | PUMICE_SLC_OP__INVALIDATE__MASK);
	assert_seen(true);
	fx_destroy(fx);
}

static void stores_are_lost_by_an_invalidation_alone(void **state)
{
	struct fixture *fx = create_old();

	(void)state;
	store(fx);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB ^ PUMICE_SLC_OP__CLEAN__MASK ^
				       PUMICE_SLC_OP__INVALIDATE__MASK);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB);
	assert_seen(false);
	fx_destroy(fx);
}

/* Apply an operation of the firmware to the second line of the stores. */
static void operate_on_the_second_line(struct fixture *fx, u32 kinds)
{
	fx_fw_write64(fx, PUMICE_SLC_START, JOB_DATA + LINES_BYTES);
	fx_fw_write64(fx, PUMICE_SLC_END, JOB_DATA + LINES_BYTES + 3);
	fx_fw_write(fx, PUMICE_SLC_OP, (CLEAN_JOB ^ PUMICE_SLC_OP__CLEAN__MASK) | kinds |
				       PUMICE_SLC_OP__RANGE__MASK);
}

static void operations_on_a_range_are_of_its_lines(void **state)
{
	static const u32 kinds[] = {
		PUMICE_SLC_OP__CLEAN__MASK,
		PUMICE_SLC_OP__CLEAN__MASK | PUMICE_SLC_OP__INVALIDATE__MASK,
		PUMICE_SLC_OP__INVALIDATE__MASK,
	};
	const u32 line = LINES_BYTES / 4;
	u32 n;

	(void)state;
	for (n = 0; n < 3; n++) {
		struct fixture *fx = create_old();

		store(fx);
		operate_on_the_second_line(fx, kinds[n]);
		assert_seen_from(line, n == 2 ? line : 2 * line);
		fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB);
		assert_seen_from(0, n == 2 ? line : 2 * line);
		fx_destroy(fx);
	}
}

/* Run the job with an instruction at the end of its program. */
static void store_and_execute(struct fixture *fx, const struct pumice_usc_insn *last)
{
	const struct pumice_cdm_state state = job_state(stores.group);
	const struct pumice_cdm_launch launch = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };
	u32 *at = job_stream(fx);

	job_write_programs_with(fx, stores.program, last);
	pumice_cdm_state_pack(at, &state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &launch);
	pumice_cdm_halt_pack(at + PUMICE_CDM_LAUNCH_WORDS, &(struct pumice_cdm_halt){ 0 });
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_DONE__MASK);
}

/* Copy bytes to another place, by a transfer. */
static void copy_bytes(struct fixture *fx, u64 src, u64 dst, u32 bytes)
{
	const struct pumice_tdm_copy copy = { .src = src, .dst = dst, .bytes = bytes };
	u32 *word = job_stream(fx) + TRANSFER / 4;

	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), testmem_ctx_reg(fx->tm, JOB_CTX));
	pumice_tdm_copy_pack(word, &copy);
	pumice_tdm_halt_pack(word + PUMICE_TDM_COPY_WORDS, &(struct pumice_tdm_halt){ 0 });
	run_transfer(fx);
}

static void copy_word(struct fixture *fx, u64 src, u64 dst)
{
	copy_bytes(fx, src, dst, 4);
}

#define COPIED	20u	/* words of copies, to the end of one line and the begin of the next one */
#define TO	7u	/* their destination in the data */

/* Write the words that are copied, at the second page of the data, and copy them. */
static void copy_numbers(struct fixture *fx)
{
	u32 n;

	for (n = 0; n < COPIED; n++)
		data[1024 + n] = 5 + n;
	copy_bytes(fx, JOB_DATA + 4096, JOB_DATA + 4 * TO, 4 * COPIED);
}

/* Results of transfers bypass the caches. */
static void copies_to_bytes_that_caches_hold_are_in_memory(void **state)
{
	struct fixture *fx = create_old();
	u32 n;

	(void)state;
	store(fx);
	copy_numbers(fx);
	for (n = 0; n < stores.group; n++)
		assert_int_equal(data[n], n - TO < COPIED ? 5 + n - TO : OLD);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB);
	for (n = 0; n < stores.group; n++)
		assert_int_equal(data[n], n - TO < COPIED ? 5 + n - TO : job_number(n));
	fx_destroy(fx);
}

/* The second copy writes words that the first one has read. */
static void bytes_that_copies_have_written_are_not_stale(void **state)
{
	struct fixture *fx = create_old();
	u32 n;

	(void)state;
	copy_bytes(fx, JOB_DATA, JOB_DATA + 8192, 4 * stores.group);
	copy_numbers(fx);
	copy_bytes(fx, JOB_DATA, JOB_DATA + 8192, 4 * stores.group);
	for (n = 0; n < stores.group; n++)
		assert_int_equal(data[2048 + n], n - TO < COPIED ? 5 + n - TO : OLD);
	assert_int_equal(strict_count(&fx->gpu->strict), 0);
	fx_destroy(fx);
}

/* Run a program that stores the numbers of instances, or their offsets. */
static void execute(struct fixture *fx, bool offsets)
{
	const struct pumice_usc_insn last =
		INSN(GLOBAL_STORE32, .sig0 = 0, .mask = ALWAYS, .src2 = SH(0),
		     .src0 = R(1), .src1 = offsets ? R(1) : R(0), .disp = 1024);

	store_and_execute(fx, &last);
}

static void reset(struct fixture *fx)
{
	pumice_gpu_reset(fx->gpu);
	fx_setup_mmu(fx);
	fx_boot_proxy(fx);
	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), testmem_ctx_reg(fx->tm, JOB_CTX));
}

static void reset_drops_lines_of_caches(void **state)
{
	struct fixture *fx = create_old();

	(void)state;
	execute(fx, false);
	reset(fx);
	execute(fx, true);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB);
	assert_int_equal(data[256 + 7], 4 * 7);
	assert_int_equal(strict_count(&fx->gpu->strict), 0);
	fx_destroy(fx);
}

/* The second job runs a program that the CPU has changed, as caches hold it. */
static void programs_that_caches_hold_are_executed(void **state)
{
	struct fixture *fx = create_old();
	struct strict_finding f;
	u32 n;

	(void)state;
	execute(fx, false);
	execute(fx, true);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB);
	for (n = 0; n < stores.group; n++)
		assert_int_equal(data[256 + n], job_number(n));
	assert_int_equal(strict_count(&fx->gpu->strict), 1);
	assert_true(strict_get(&fx->gpu->strict, 0, &f));
	assert_int_equal(f.kind, PUMICE_FINDING_STALE_READ);
	assert_int_equal(f.unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(f.access, PUMICE_ACCESS_EXEC);
	assert_int_equal(f.addr & ~(u64)(PAGE - 1), JOB_CODE);
	fx_destroy(fx);
}

/* A word that jobs read, and another USC accesses between an operation of a job and its request. */
#define COUNTER		256u
#define COUNTER_VA	(JOB_DATA + 4 * COUNTER)

static bool announces;

bool __real_lines_is_stale(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, u64 *at);
bool __wrap_lines_is_stale(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, u64 *at);

/* An atomic operation is requested: announce one of another USC. */
bool __wrap_lines_is_stale(struct lines *lines, unsigned int ctx, u64 va, u64 bytes, u64 *at)
{
	if (announces && va == COUNTER_VA) {
		lines_expect(lines, ctx, va, bytes, false);
		lines_expect(lines, ctx, va, bytes, true);
	}
	return __real_lines_is_stale(lines, ctx, va, bytes, at);
}

/* The job before has read the counter, and no invalidation follows. */
static void atomic_operations_of_two_uscs_are_not_stale(void **state)
{
	const struct pumice_usc_insn add =
		INSN(GLOBAL_ATOMIC, .func = PUMICE_USC_ATOMIC_ADD, .sig0 = 0, .mask = ALWAYS,
		     .src2 = SH(0), .src0 = R(1), .disp = 4 * COUNTER, .src1 = R(0), .dst = R(2));
	struct fixture *fx = create_old();

	(void)state;
	copy_word(fx, COUNTER_VA, COUNTER_VA + PAGE);
	announces = true;
	store_and_execute(fx, &add);
	announces = false;
	assert_int_equal(data[COUNTER], 0);
	assert_int_equal(strict_count(&fx->gpu->strict), 0);
	fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB);
	assert_int_equal(data[COUNTER], job_number(0));
	fx_destroy(fx);
}

/* Store a word of another context with the same tables, and end its job. */
static void store_of_another(struct fixture *fx, u32 word)
{
	static const struct lines_writer writer = { .unit = PUMICE_UNIT_USC_DATA };
	struct lines *lines = fx->gpu->strict.lines;

	fx_fw_write64(fx, PUMICE_MMU_CTX(OTHER), testmem_ctx_reg(fx->tm, JOB_CTX));
	lines_expect(lines, OTHER, JOB_DATA + 4 * word, 4, true);
	lines_write(lines, OTHER, JOB_DATA + 4 * word, 4, &writer);
	data[word]++;
	lines_job_end(lines, OTHER, PUMICE_UNIT_PTLA, 0, 0, true);
	assert_int_equal(data[word], 0);
}

static void fences_of_programs_are_on_stores_of_their_context(void **state)
{
	static const enum pumice_usc_scope scopes[] = {
		PUMICE_USC_SCOPE_DEVICE, PUMICE_USC_SCOPE_SYSTEM,
	};
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		const struct pumice_usc_insn fence = INSN(MEM_FENCE, .func = (u8)scopes[n]);
		struct fixture *fx = create_old();

		store_of_another(fx, 1024);
		store_and_execute(fx, &fence);
		assert_seen(n);
		assert_int_equal(data[1024], 0);
		fx_destroy(fx);
	}
}

/* They are written by the tables with which they were stored. */
static void stores_are_seen_when_the_tables_change(void **state)
{
	struct fixture *fx = create_old();
	const u64 catalogue = fx_fw_read64(fx, PUMICE_MMU_CTX(JOB_CTX));

	(void)state;
	store(fx);
	fx_fw_write64(fx, PUMICE_MMU_CTX(OTHER), catalogue);
	assert_seen(false);
	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), 0);
	assert_seen(true);
	fx_destroy(fx);
}

static void stores_are_seen_when_strict_mode_ends(void **state)
{
	struct fixture *fx = create_old();

	(void)state;
	store(fx);
	assert_int_equal(pumice_gpu_set_mode(fx->gpu, "counted"), 0);
	assert_seen(true);
	fx_destroy(fx);
}

/* A transfer that reads by the caches does not see what the CPU has written since. */
static void copies_read_data_that_caches_hold(void **state)
{
	struct fixture *fx = create_old();
	u32 n;

	(void)state;
	for (n = 0; n < 3; n++) {
		data[0] = n;
		if (n == 2)
			fx_fw_write(fx, PUMICE_SLC_OP,
				    CLEAN_JOB | PUMICE_SLC_OP__INVALIDATE__MASK);
		copy_word(fx, JOB_DATA, JOB_DATA + 8192);
		fx_fw_write(fx, PUMICE_SLC_OP, CLEAN_JOB);
		assert_int_equal(data[2048], n == 2 ? 2 : 0);
	}
	assert_int_equal(strict_count(&fx->gpu->strict), 1);
	fx_destroy(fx);
}

/* Return the number of the word of a copy that has the lower bits of its destination. */
static u32 word_of_destination(void)
{
	u32 a[PUMICE_TDM_COPY_WORDS], b[PUMICE_TDM_COPY_WORDS], n = 0;

	pumice_tdm_copy_pack(a, &(struct pumice_tdm_copy){ .bytes = 4 });
	pumice_tdm_copy_pack(b, &(struct pumice_tdm_copy){ .bytes = 4, .dst = 64 });
	while (a[n] == b[n])
		n++;
	return n;
}

/*
 * Each copy reads a word of its own command, as caches hold it: that of the first one. The command
 * itself is read from memory, since streams bypass the caches.
 */
static void streams_read_memory_where_copies_read_stale_bytes(void **state)
{
	const u32 at = word_of_destination();
	struct fixture *fx = create_old();
	u32 n, first = 0;

	(void)state;
	for (n = 0; n < 3; n++) {
		data[16 * n] = OLD;
		copy_word(fx, JOB_STREAM + TRANSFER + 4 * at, JOB_DATA + 64 * n);
		if (!n)
			first = job_stream(fx)[TRANSFER / 4 + at];
		assert_int_equal(data[16 * n], first);
	}
	assert_int_not_equal(job_stream(fx)[TRANSFER / 4 + at], first);
	fx_destroy(fx);
}

static void stores_are_seen_while_another_job_of_the_context_runs(void **state)
{
	static const u32 ctx[] = { JOB_CTX, OTHER };
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		struct fixture *fx = create_old();

		assert_int_equal(pumice_gpu_inject(fx->gpu, "unit-hang,where=vdm"), 0);
		fx_fw_write(fx, PUMICE_VDM_MMU_CTX, ctx[n]);
		fx_fw_write(fx, PUMICE_VDM_CTRL, PUMICE_VDM_CTRL__START__MASK);
		store(fx);
		assert_seen(!n);
		fx_destroy(fx);
	}
}

static void stores_are_not_seen_after_all_jobs_of_the_context_have_ended(void **state)
{
	struct fixture *fx = create_old();

	(void)state;
	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), testmem_ctx_reg(fx->tm, JOB_CTX));
	transfer(fx);
	store(fx);
	assert_seen(false);
	fx_destroy(fx);
}

/* Another page is mapped at the address that the entry of a table has on the bus. */
static void entries_of_tables_are_not_data_of_the_context(void **state)
{
	struct fixture *fx = create_old();
	const u64 bus = testmem_bus(fx->tm, testmem_pt_entry(fx->tm, JOB_CTX, JOB_STREAM));
	u8 *page = testmem_map(fx->tm, JOB_CTX, bus & ~(u64)(PAGE - 1), PAGE,
			       PUMICE_PAGE_SIZE_4K, 0);
	u32 n;

	(void)state;
	for (n = 0; n < 2; n++) {
		memset(page, (int)n, PAGE);
		fx_fw_write(fx, PUMICE_MMU_INVAL, PUMICE_MMU_INVAL_ALL);
		store(fx);
	}
	assert_int_equal(strict_count(&fx->gpu->strict), 0);
	fx_destroy(fx);
}

/* A new work-group of a data master stores a word. Return whether that is a race. */
static bool store_as(struct fixture *fx, enum pumice_wave_master master, u32 word,
		     struct race_other *other)
{
	static const u32 before[RACE_WAVES];
	const struct race_group group = { .master = (u8)master, .ctx = JOB_CTX };
	struct race *race = fx->gpu->strict.race;
	const struct race_access a = {
		.group = race_group_begin(race, &group), .write = true, .clock = 1,
		.before = before,
	};

	return race_access(race, &a, (u8 *)&data[word], 4, other);
}

/* Assert that work-groups of a data master, which store a word now, are of a job with this tag. */
static void assert_job(struct fixture *fx, enum pumice_wave_master master, u32 word, u64 tag)
{
	struct race_other other = { 0 };

	assert_false(store_as(fx, master, word, &other));
	assert_true(store_as(fx, PUMICE_WAVE_MASTER_CDM, word, &other));
	assert_int_equal(other.group.master, master);
	assert_int_equal(other.tag, tag);
}

static void jobs_of_the_pdm_end_for_accesses_that_race(void **state)
{
	struct fixture *fx = create();

	(void)state;
	assert_job(fx, PUMICE_WAVE_MASTER_PDM, 0, 0);
	render(fx, 0);
	assert_job(fx, PUMICE_WAVE_MASTER_PDM, 1, 0);
	assert_job(fx, PUMICE_WAVE_MASTER_VDM, 2, 0);
	fx_destroy(fx);
}

/* Jobs that are busy without progress: they have begun, and none ends. */
static void jobs_begin_for_accesses_that_race(void **state)
{
	static const struct {
		enum pumice_wave_master master;
		const char *hang;
		u32 tag, ctx, ctrl;
	} rows[] = {
		{ PUMICE_WAVE_MASTER_VDM, "unit-hang,where=vdm", PUMICE_VDM_TAG,
		  PUMICE_VDM_MMU_CTX, PUMICE_VDM_CTRL },
		{ PUMICE_WAVE_MASTER_PDM, "unit-hang,where=pdm", PUMICE_PDM_TAG,
		  PUMICE_PDM_MMU_CTX, PUMICE_PDM_CTRL },
		{ PUMICE_WAVE_MASTER_RDM, "unit-hang,where=rdm", PUMICE_RDM_TAG,
		  PUMICE_RDM_MMU_CTX, PUMICE_RDM_CTRL },
	};
	struct fixture *fx = create();
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(pumice_gpu_inject(fx->gpu, rows[i].hang), 0);
		fx_fw_write64(fx, rows[i].tag, TAG + i);
		fx_fw_write(fx, rows[i].ctx, JOB_CTX);
		fx_fw_write(fx, rows[i].ctrl, PUMICE_PDM_CTRL__START__MASK);
		/* It runs already, so another START is refused. */
		fx_fw_write64(fx, rows[i].tag, TAG + 3);
		fx_fw_write(fx, rows[i].ctrl, PUMICE_PDM_CTRL__START__MASK);
	}
	for (i = 0; i < 3; i++)
		assert_job(fx, rows[i].master, i, TAG + i);
	fx_destroy(fx);
}

/* Begin a vertex job, which is busy without progress. */
static void hang_vdm(struct fixture *fx)
{
	assert_int_equal(pumice_gpu_inject(fx->gpu, "unit-hang,where=vdm"), 0);
	fx_fw_write64(fx, PUMICE_VDM_TAG, TAG);
	fx_fw_write(fx, PUMICE_VDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_VDM_CTRL, PUMICE_VDM_CTRL__START__MASK);
}

static void a_reset_ends_jobs_for_accesses_that_race(void **state)
{
	struct fixture *fx = create();

	(void)state;
	hang_vdm(fx);
	assert_job(fx, PUMICE_WAVE_MASTER_VDM, 0, TAG);
	pumice_gpu_reset(fx->gpu);
	assert_job(fx, PUMICE_WAVE_MASTER_VDM, 1, 0);
	fx_destroy(fx);
}

/* Begin a compute job, which is busy without progress, in a context. */
static void hang(struct fixture *fx, u32 ctx)
{
	assert_int_equal(pumice_gpu_inject(fx->gpu, "unit-hang,where=cdm"), 0);
	fx_fw_write(fx, PUMICE_CDM_MMU_CTX, ctx);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__START__MASK);
}

/* It waited for the CDM, and does not depend on the vertex job, which ended meanwhile. */
static void a_job_that_was_ready_before_the_end_of_another_races(void **state)
{
	struct fixture *fx = create();
	struct race_other other = { 0 };

	(void)state;
	hang_vdm(fx);
	assert_false(store_as(fx, PUMICE_WAVE_MASTER_VDM, 0, &other));
	atomic_store(&fx->clock, 1000000);
	/* It ends by the abort, or before by its stream, which is not mapped. */
	atomic_store(&fx->gpu->inject.hung, 0);
	fx_fw_write(fx, PUMICE_VDM_CTRL, PUMICE_VDM_CTRL__ABORT__MASK);
	fx_fw_wait(fx, PUMICE_IC_PENDING__VDM_ABORTED__MASK | PUMICE_IC_PENDING__VDM_FAULT__MASK);
	fx_fw_write64(fx, PUMICE_FIND_FW_READY, 1);
	hang(fx, JOB_CTX);
	assert_true(store_as(fx, PUMICE_WAVE_MASTER_CDM, 0, &other));
	assert_int_equal(other.tag, TAG);
	assert_false(other.same_job);
	fx_destroy(fx);
}

/* Slots may have tasks of jobs that run. */
static void end_of_a_transfer_names_no_job(void **state)
{
	struct fixture *fx = create();

	(void)state;
	store(fx);
	fx_fw_write64(fx, PUMICE_CDM_TAG, TAG);
	hang(fx, OTHER);
	transfer(fx);
	fx_fw_read(fx, PUMICE_TDM_STATUS);
	assert_unflushed(fx, "\"wave\":0");
	assert_null(strstr(text, "\"job\":"));
	fx_destroy(fx);
}

/* The firmware may prepare the next job in them. */
static void registers_that_change_after_a_start_are_of_the_next_job(void **state)
{
	struct fixture *fx = create();

	(void)state;
	fx_fw_write64(fx, PUMICE_CDM_TAG, TAG);
	job_start(fx, &endless);
	fx_wait_word(fx, data, 1);
	fx_fw_write64(fx, PUMICE_CDM_TAG, 1);
	fx_fw_write(fx, PUMICE_CDM_MMU_CTX, OTHER);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
	fx_fw_wait(fx, PUMICE_IC_PENDING__CDM_ABORTED__MASK);
	fx_fw_read(fx, PUMICE_CDM_STATUS);
	assert_unflushed(fx, "\"master\":\"cdm\",\"job_context\":7,\"job\":5,");
	fx_destroy(fx);
}

static void job_runs_in_the_context_of_its_start(void **state)
{
	struct fixture *fx = create();

	(void)state;
	store(fx);
	hang(fx, JOB_CTX);
	fx_fw_write(fx, PUMICE_CDM_MMU_CTX, OTHER);
	transfer(fx);
	fx_fw_read(fx, PUMICE_TDM_STATUS);
	assert_unflushed(fx, NULL);
	fx_destroy(fx);
}

static void start_that_is_refused_begins_no_job(void **state)
{
	struct fixture *fx = create();

	(void)state;
	store(fx);
	hang(fx, OTHER);
	transfer(fx);
	fx_fw_write(fx, PUMICE_CDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__START__MASK);
	fx_fw_read(fx, PUMICE_TDM_STATUS);
	assert_unflushed(fx, "\"wave\":0");
	fx_destroy(fx);
}

static void reset_drops_the_bytes(void **state)
{
	struct fixture *fx = create_old();

	(void)state;
	store(fx);
	reset(fx);
	transfer(fx);
	fx_fw_read(fx, PUMICE_TDM_STATUS);
	assert_unflushed(fx, NULL);
	assert_seen(false);
	fx_destroy(fx);
}

/* Write the commands of a launch of as many groups as data have, and return the next word. */
static u32 *write_indirect(u32 *at)
{
	const struct pumice_cdm_launch_indirect launch = { .addr = JOB_DATA, .base_x = 40 };

	pumice_cdm_fence_pack(at++, &(struct pumice_cdm_fence){ 0 });
	pumice_cdm_launch_indirect_pack(at, &launch);
	return at + PUMICE_CDM_LAUNCH_INDIRECT_WORDS;
}

/*
 * Start GROUPS work-groups, of which one runs at a time. USCs stop until the clock advances.
 * indirect: a second launch follows, with counts that the first group stores.
 */
static void start_slow_groups(struct fixture *fx, bool indirect)
{
	struct pumice_cdm_state state = job_state(stores.group);
	u32 *at = job_stream(fx);

	testmem_map(fx->tm, 0, SAVE, PAGE, PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	fx_fw_write64(fx, PUMICE_CDM_SAVE_BASE, SAVE);
	job_write_programs(fx, stores.program);
	state.local_bytes = 65536;
	pumice_cdm_state_pack(at, &state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &(struct pumice_cdm_launch){ .groups_x = GROUPS, .groups_y = 1,
								.groups_z = 1 });
	at += PUMICE_CDM_LAUNCH_WORDS;
	if (indirect)
		at = write_indirect(at);
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
	assert_int_equal(pumice_gpu_inject(fx->gpu, "slow-memory,where=usc,us=1000"), 0);
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
}

static void compute_job_that_is_switched_out_has_not_ended(void **state)
{
	struct fixture *fx = create();

	(void)state;
	start_slow_groups(fx, false);
	/* Both ends are handled after the switch. */
	transfer(fx);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__SWITCH_OUT__MASK);
	assert_int_equal(data[0], 0);
	fx->clock += 2000000;
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_SWITCHED__MASK);
	assert_int_equal(data[0], 1);
	fx_fw_read(fx, PUMICE_TDM_STATUS);
	fx_fw_read(fx, PUMICE_CDM_STATUS);
	assert_unflushed(fx, NULL);
	fx_destroy(fx);
}

/* The CDM reads counts from memory, and the end of another job has hidden them. */
static void counts_that_a_resumed_job_has_stored_are_read(void **state)
{
	struct fixture *fx = create();

	(void)state;
	start_slow_groups(fx, true);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__SWITCH_OUT__MASK);
	fx->clock += 2000000;
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_SWITCHED__MASK);
	assert_int_equal(pumice_gpu_inject(fx->gpu, "none"), 0);
	assert_int_equal(data[0], job_number(0));
	transfer(fx);
	assert_int_equal(data[0], 0);
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__RESUME__MASK);
	fx->clock += 2000000;
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_DONE__MASK);
	assert_int_equal(fx_fw_read64(fx, PUMICE_CDM_GROUPS),
			 GROUPS + job_number(0) * job_number(1) * job_number(2));
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stores_are_seen_after_a_clean),
		cmocka_unit_test(stores_are_seen_after_an_invalidation_that_writes_lines),
		cmocka_unit_test(stores_are_lost_by_an_invalidation_alone),
		cmocka_unit_test(operations_on_a_range_are_of_its_lines),
		cmocka_unit_test(copies_to_bytes_that_caches_hold_are_in_memory),
		cmocka_unit_test(bytes_that_copies_have_written_are_not_stale),
		cmocka_unit_test(programs_that_caches_hold_are_executed),
		cmocka_unit_test(atomic_operations_of_two_uscs_are_not_stale),
		cmocka_unit_test(fences_of_programs_are_on_stores_of_their_context),
		cmocka_unit_test(stores_are_seen_when_the_tables_change),
		cmocka_unit_test(stores_are_seen_when_strict_mode_ends),
		cmocka_unit_test(copies_read_data_that_caches_hold),
		cmocka_unit_test(streams_read_memory_where_copies_read_stale_bytes),
		cmocka_unit_test(stores_are_seen_while_another_job_of_the_context_runs),
		cmocka_unit_test(stores_are_not_seen_after_all_jobs_of_the_context_have_ended),
		cmocka_unit_test(entries_of_tables_are_not_data_of_the_context),
		cmocka_unit_test(end_is_handled_after_its_event),
		cmocka_unit_test(end_of_a_render_is_one_of_its_job),
		cmocka_unit_test(end_of_a_partial_render_is_not_one_of_a_job),
		cmocka_unit_test(ends_of_geometry_and_ray_jobs_are_handled),
		cmocka_unit_test(an_early_signal_is_one_of_the_firmware),
		cmocka_unit_test(jobs_of_the_pdm_end_for_accesses_that_race),
		cmocka_unit_test(jobs_begin_for_accesses_that_race),
		cmocka_unit_test(a_reset_ends_jobs_for_accesses_that_race),
		cmocka_unit_test(a_job_that_was_ready_before_the_end_of_another_races),
		cmocka_unit_test(end_of_a_transfer_names_no_job),
		cmocka_unit_test(registers_that_change_after_a_start_are_of_the_next_job),
		cmocka_unit_test(job_runs_in_the_context_of_its_start),
		cmocka_unit_test(start_that_is_refused_begins_no_job),
		cmocka_unit_test(reset_drops_the_bytes),
		cmocka_unit_test(reset_drops_lines_of_caches),
		cmocka_unit_test(compute_job_that_is_switched_out_has_not_ended),
		cmocka_unit_test(counts_that_a_resumed_job_has_stored_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
