// SPDX-License-Identifier: MIT
/*
 * Jobs that are switched out and resumed on the whole GPU. Every instance increments one
 * word, so lost or repeated groups are detected; the commands after the launch write memory
 * too. The final memory must not depend on when the switch occurs.
 */
#include "job.h"

#include <stdlib.h>
#include <string.h>

#define GROUP	64u
#define GROUPS	90u
#define SAVE	0x8000ull		/* in context 0 */
#define MARKER	(JOB_DATA + 0x100000)
#define STAMP	(JOB_DATA + 0x100008)
#define COUNTS	(JOB_DATA + 0x100040)
#define LIST_A	(JOB_STREAM + 0x200)
#define LIST_B	(JOB_STREAM + 0x400)
#define CHAIN	(JOB_STREAM + 0x600)
#define MARK	0x600dda7au
#define SWITCHED PUMICE_IC_PENDING__CDM_SWITCHED__MASK
#define DONE	PUMICE_IC_PENDING__CDM_DONE__MASK

struct place {
	u32 *stream, *data, *save;
};

static u32 *launch(u32 *at, u32 groups, u32 base)
{
	pumice_cdm_launch_pack(at, &(struct pumice_cdm_launch){
					   .groups_x = groups, .groups_y = 1, .groups_z = 1,
					   .base_x = base });
	return at + PUMICE_CDM_LAUNCH_WORDS;
}

static u32 *call(u32 *at, u64 addr)
{
	pumice_cdm_call_pack(at, &(struct pumice_cdm_call){ .addr = addr });
	return at + PUMICE_CDM_CALL_WORDS;
}

static u32 *list(const struct place *p, u64 addr)
{
	return p->stream + (addr - JOB_STREAM) / 4;
}

static void write_lists(const struct place *p)
{
	u32 *at = launch(list(p, LIST_A), 10, 20);

	at = call(at, LIST_B);
	at = launch(at, 5, 35);
	pumice_cdm_return_pack(at, &(struct pumice_cdm_return){ 0 });

	at = launch(list(p, LIST_B), 5, 30);
	pumice_cdm_return_pack(at, &(struct pumice_cdm_return){ 0 });

	at = launch(list(p, CHAIN), 30, 60);
	pumice_cdm_marker_pack(at, &(struct pumice_cdm_marker){
					   .addr = MARKER, .value = MARK, .wait = true });
	at += PUMICE_CDM_MARKER_WORDS;
	pumice_cdm_timestamp_pack(at, &(struct pumice_cdm_timestamp){ .addr = STAMP });
	at += PUMICE_CDM_TIMESTAMP_WORDS;
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
}

/* local_bytes determines how many groups run in parallel. */
static void write_stream(const struct place *p, u32 local_bytes)
{
	struct pumice_cdm_state state = job_state(GROUP);
	u32 *at = p->stream;

	state.local_bytes = local_bytes;
	pumice_cdm_state_pack(at, &state);
	at = launch(at + PUMICE_CDM_STATE_WORDS, 20, 0);
	pumice_cdm_fence_pack(at++, &(struct pumice_cdm_fence){ 0 });
	at = call(at, LIST_A);
	pumice_cdm_launch_indirect_pack(at, &(struct pumice_cdm_launch_indirect){
						    .addr = COUNTS, .base_x = 40 });
	at += PUMICE_CDM_LAUNCH_INDIRECT_WORDS;
	pumice_cdm_flush_pack(at++, &(struct pumice_cdm_flush){ .data = true, .code = true });
	pumice_cdm_link_pack(at, &(struct pumice_cdm_link){ .addr = CHAIN });
	write_lists(p);
}

static void clear(const struct place *p)
{
	memset(p->data, 0, JOB_DATA_BYTES);
	p->data[(COUNTS - JOB_DATA) / 4] = 20;
	p->data[(COUNTS - JOB_DATA) / 4 + 1] = 1;
	p->data[(COUNTS - JOB_DATA) / 4 + 2] = 1;
}

static struct fixture *make(const struct fx_options *options, u32 local_bytes, struct place *p)
{
	struct fixture *fx = fx_create(options);

	p->data = job_map(fx);
	p->stream = job_stream(fx);
	p->save = testmem_map(fx->tm, 0, SAVE, 0x1000, PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	job_write_programs(fx, JOB_COUNT);
	write_stream(p, local_bytes);
	clear(p);
	fx_boot_proxy(fx);
	fx_fw_write64(fx, PUMICE_CDM_SAVE_BASE, SAVE);
	return fx;
}

static void expect_all_work_once(struct fixture *fx, const struct place *p)
{
	u32 i;

	for (i = 0; i < GROUP * GROUPS; i++) {
		if (p->data[i] != 1)
			fail_msg("instance %u ran %u times", i, p->data[i]);
	}
	assert_int_equal(p->data[i], 0);
	assert_int_equal(p->data[(MARKER - JOB_DATA) / 4], MARK);
	assert_true(p->data[(STAMP - JOB_DATA) / 4] || p->data[(STAMP - JOB_DATA) / 4 + 1]);
	assert_int_equal(fx_fw_read64(fx, PUMICE_CDM_GROUPS), GROUPS);
	assert_int_equal(fx_read(fx, PUMICE_PDS_TASKS), 0);
	assert_int_equal(fx_read(fx, PUMICE_PDS_WAVES), 0);
}

static u32 switch_out(struct fixture *fx)
{
	fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__SWITCH_OUT__MASK);
	return fx_fw_wait(fx, JOB_EVENTS);
}

/* One group per USC, so that there are many boundaries; a switch after every number of steps. */
static void a_job_switched_out_after_any_step_does_all_its_work_once(void **state)
{
	struct place p;
	struct fixture *fx = make(&(struct fx_options){ .cores = 1 }, 65536, &p);
	u32 steps, i, switched = 0, event = SWITCHED;

	(void)state;
	for (steps = 0; event == SWITCHED; steps++) {
		clear(&p);
		job_control(fx, PUMICE_CDM_CTRL__START__MASK);
		for (i = 0; i < steps; i++)
			fx_poll(fx, 0);
		event = switch_out(fx);
		if (event == SWITCHED) {
			switched++;
			assert_int_equal(fx_read(fx, PUMICE_DBG_TASKS), 0);
			assert_int_equal(p.save[0], PUMICE_CDM_SAVE__MAGIC__VALUE);
			job_control(fx, PUMICE_CDM_CTRL__RESUME__MASK);
			assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), DONE);
		} else {
			assert_int_equal(event, DONE);
		}
		expect_all_work_once(fx, &p);
	}
	assert_true(switched > 20);
	fx_destroy(fx);
}

static void a_job_switched_out_repeatedly_does_all_its_work_once(void **state)
{
	static const u32 local[] = { 65536, 20000, 0 };
	u32 threads, i, round;

	(void)state;
	for (i = 0; i < 3 * 4; i++) {
		const struct fx_options options = { .cores = 1 + i % 2, .threads = i % 4 };
		struct place p;
		struct fixture *fx = make(&options, local[i / 4], &p);

		threads = options.threads;
		for (round = 0; round < (threads ? 10 : 3); round++) {
			u32 event;

			clear(&p);
			job_control(fx, PUMICE_CDM_CTRL__START__MASK);
			while ((event = switch_out(fx)) == SWITCHED)
				fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__RESUME__MASK);
			assert_int_equal(event, DONE);
			expect_all_work_once(fx, &p);
		}
		fx_destroy(fx);
	}
}

/* A job saved on one GPU is resumed on another, of another size, with the same memory. */
static void a_saved_job_resumes_on_another_gpu(void **state)
{
	struct place p, q;
	struct fixture *from = make(&(struct fx_options){ .cores = 1 }, 65536, &p);
	struct fixture *to = make(&(struct fx_options){ .cores = 4, .threads = 2 }, 65536, &q);

	(void)state;
	job_control(from, PUMICE_CDM_CTRL__START__MASK);
	assert_int_equal(switch_out(from), SWITCHED);
	assert_true(fx_fw_read64(from, PUMICE_CDM_GROUPS) < GROUPS);
	memcpy(q.data, p.data, JOB_DATA_BYTES);
	memcpy(q.save, p.save, PUMICE_CDM_SAVE_WORDS * 4);
	job_control(to, PUMICE_CDM_CTRL__RESUME__MASK);
	assert_int_equal(fx_fw_wait(to, JOB_EVENTS), DONE);
	expect_all_work_once(to, &q);
	fx_destroy(from);
	fx_destroy(to);
}

/* Another job runs in between, as with firmware. */
static void other_jobs_run_while_one_is_switched_out(void **state)
{
	static const u64 save[2] = { SAVE, SAVE + 0x100 };
	struct place p;
	struct fixture *fx = make(&(struct fx_options){ .cores = 1, .threads = 2 }, 65536, &p);
	u32 open = 3, round = 0, started = 0, i;

	(void)state;
	/* Both run the same stream over the same data: each instance counts to 2. */
	while (open) {
		u32 which = round++ & 1, event;

		if (!(open >> which & 1))
			continue;
		fx_fw_write64(fx, PUMICE_CDM_SAVE_BASE, save[which]);
		job_control(fx, started >> which & 1 ? PUMICE_CDM_CTRL__RESUME__MASK :
							PUMICE_CDM_CTRL__START__MASK);
		started |= 1u << which;
		event = switch_out(fx);
		if (event == SWITCHED)
			continue;
		assert_int_equal(event, DONE);
		assert_int_equal(fx_fw_read64(fx, PUMICE_CDM_GROUPS), GROUPS);
		open &= ~(1u << which);
	}
	for (i = 0; i < GROUP * GROUPS; i++)
		assert_int_equal(p.data[i], 2);
	fx_destroy(fx);
}

static void a_corrupt_save_area_is_a_fault_of_the_job(void **state)
{
	struct place p;
	struct fixture *fx = make(&(struct fx_options){ .cores = 1 }, 65536, &p);
	u32 status;

	(void)state;
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	assert_int_equal(switch_out(fx), SWITCHED);
	p.save[0] ^= 0x100;
	job_control(fx, PUMICE_CDM_CTRL__RESUME__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), PUMICE_IC_PENDING__CDM_FAULT__MASK);
	status = fx_fw_read(fx, PUMICE_CDM_STATUS);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT, status), PUMICE_FAULT_CDM_SAVE);
	assert_int_equal(fx_fw_read64(fx, PUMICE_CDM_FAULT_ADDR), SAVE);
	assert_non_null(strstr(fx->log, "cdm-save"));
	/* No state of it remains. */
	clear(&p);
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), DONE);
	expect_all_work_once(fx, &p);
	fx_destroy(fx);
}

/* A group that never ends has no boundary: the switch waits, and ABORT ends the job. */
static void a_job_that_never_reaches_a_boundary_is_aborted(void **state)
{
	const struct job forever = { .program = JOB_FOREVER, .group = 64, .groups = 5 };
	unsigned int threads;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .threads = threads });

		job_map(fx);
		fx_boot_proxy(fx);
		job_start(fx, &forever);
		fx_wait_reg(fx, PUMICE_PDS_TASKS, 0xff, forever.groups);
		fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__SWITCH_OUT__MASK);
		assert_int_equal(fx_fw_read(fx, PUMICE_CDM_STATUS) & 1, 1);
		fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
		assert_int_equal(fx_fw_wait(fx, JOB_EVENTS),
				 PUMICE_IC_PENDING__CDM_ABORTED__MASK);
		fx_destroy(fx);
	}
}

/* A cyclic stream does not block other work. */
static void an_endless_chain_starves_no_job_and_is_switched_out(void **state)
{
	unsigned int threads, i;

	(void)state;
	for (threads = 0; threads < 3; threads++) {
		struct place p;
		struct fixture *fx = make(&(struct fx_options){ .threads = threads }, 0, &p);

		pumice_cdm_link_pack(p.stream, &(struct pumice_cdm_link){ .addr = JOB_STREAM });
		job_control(fx, PUMICE_CDM_CTRL__START__MASK);
		for (i = 0; i < 100; i++)
			assert_int_equal(fx_fw_read(fx, PUMICE_SYS_ID), PUMICE_SYS_ID__RESET);
		assert_int_equal(switch_out(fx), SWITCHED);
		job_control(fx, PUMICE_CDM_CTRL__RESUME__MASK);
		fx_fw_write(fx, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
		assert_int_equal(fx_fw_wait(fx, JOB_EVENTS),
				 PUMICE_IC_PENDING__CDM_ABORTED__MASK);
		fx_destroy(fx);
	}
}

/* A write of START and SWITCH_OUT starts; SWITCH_OUT is for the previous job. */
static void start_precedes_resume_in_one_write(void **state)
{
	struct place p;
	struct fixture *fx = make(NULL, 0, &p);

	(void)state;
	job_control(fx, PUMICE_CDM_CTRL__START__MASK | PUMICE_CDM_CTRL__RESUME__MASK |
				PUMICE_CDM_CTRL__SWITCH_OUT__MASK);
	assert_int_equal(fx_fw_wait(fx, JOB_EVENTS), DONE);
	expect_all_work_once(fx, &p);
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_switched_out_after_any_step_does_all_its_work_once),
		cmocka_unit_test(a_job_switched_out_repeatedly_does_all_its_work_once),
		cmocka_unit_test(a_saved_job_resumes_on_another_gpu),
		cmocka_unit_test(other_jobs_run_while_one_is_switched_out),
		cmocka_unit_test(a_corrupt_save_area_is_a_fault_of_the_job),
		cmocka_unit_test(a_job_that_never_reaches_a_boundary_is_aborted),
		cmocka_unit_test(an_endless_chain_starves_no_job_and_is_switched_out),
		cmocka_unit_test(start_precedes_resume_in_one_write),
	};

	return cmocka_run_group_tests_name("gpu switch", tests, NULL, NULL);
}
