// SPDX-License-Identifier: MIT
/*
 * Jobs that time out: the report of unit and instructions, and whose time counts. That only their
 * context is stopped, and that all others continue, is tested by IGT's pumice_hang.
 *
 * The time-out is reduced while this program runs and restored afterwards; it applies to
 * contexts created after it was set.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "parameters.h"
#include "pumice_formats.h"
#include "pumice_regs.h"
#include "fixture.h"
#include "system.h"

#define TIMEOUT_MS 500
#define MAX_LATER_JOBS 100	/* a quarter of the time-out is 6 of them, all of it 25 */
#define RECORD_BYTES 8192	/* larger than any record of the kernel log */

static void check_guilty(struct fixture *fx)
{
	struct drm_pumice_context_get_state state;
	int status = fx_wait(fx);

	state = need_state(fx->fd, fx->context);
	CHECK_EQUAL(status, -ETIMEDOUT);
	CHECK_EQUAL(state.state, DRM_PUMICE_CONTEXT_GUILTY);
	CHECK_EQUAL(state.fault, PUMICE_FAULT_KILLED);
	CHECK_EQUAL(state.jobs_done, 1);
	CHECK_EQUAL(state.jobs_faulted, 1);
}

/*
 * Wait for a message that contains a text; other cases may cause messages, too. The driver reports
 * a time-out after the job's fence has signalled. A missing message ends in the case's time limit.
 */
static void wait_logged(int log, const char *text)
{
	char record[RECORD_BYTES + 1];
	ssize_t got;

	do {
		got = read(log, record, RECORD_BYTES);
		CHECK(got > 0 || (got < 0 && (errno == EPIPE || errno == EINTR)));
		record[got > 0 ? got : 0] = '\0';
	} while (!strstr(record, text));
}

/* The loop of shader_loop() is one jump, instruction 3. */
static void time_out_names_unit_and_instruction(void)
{
	struct drm_pumice_job_get_result result = { 0 };
	struct fixture fx = fx_open();
	const struct drm_pumice_stuck_place *place = &result.places[0];
	const int log = need_log(0);
	char line[128];

	fx_block(&fx);
	check_guilty(&fx);
	CHECK_OK(gpu_job_result(fx.fd, fx.context, 1, &result));
	CHECK_EQUAL(result.error, -ETIMEDOUT);
	CHECK_EQUAL(result.fault, PUMICE_FAULT_KILLED);
	CHECK_EQUAL(result.unit, PUMICE_UNIT_USC_CODE);
	CHECK_EQUAL(result.waves, 1);
	CHECK_EQUAL(result.waves_looked, 1);
	CHECK_EQUAL(result.place_count, 1);
	CHECK_EQUAL(place->pc, 3);
	CHECK_EQUAL(place->waves, 1);
	CHECK_EQUAL(place->state, PUMICE_WAVE_STATE_RUNS);
	CHECK_EQUAL(place->lanes, UINT32_MAX);
	CHECK(place->code >= FX_CODE && place->code < FX_CODE + FX_CODE_BYTES);
	CHECK_EQUAL(result.pc, 3);
	CHECK_EQUAL(result.fault_va, place->code + 3 * 16);
	CHECK_EQUAL(result.usc, place->usc);
	snprintf(line, sizeof(line), "timed out in usc-code, 1 wave in flight; 1 at pc 3 of 0x%llx",
		 (unsigned long long)place->code);
	wait_logged(log, line);
	close(log);
}

static void time_out_counts_the_waves_of_all_cores(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_loop();
	struct mem mem = need_mem(fx.fd, fx.vm, FX_FREE, MIB);
	const struct launch launch = {
		.shader = &shader, .params = { (u32)mem.va, (u32)(mem.va >> 32), 1 },
		.groups = 200, .size = 1024,
	};
	struct drm_pumice_job_get_result result = { 0 };
	u32 i, sampled = 0;

	fx_submit(&fx, fx_stream(&fx, &launch));
	fx_wait(&fx);
	CHECK_OK(gpu_job_result(fx.fd, fx.context, 1, &result));
	CHECK(result.waves >= 32);
	CHECK(result.place_count >= 1);
	for (i = 0; i < result.place_count; i++) {
		CHECK_EQUAL(result.places[i].code, result.places[0].code);
		CHECK(result.places[i].pc <= 3);
		sampled += result.places[i].waves;
	}
	CHECK_EQUAL(sampled, result.waves_looked);
}

/* Both use the GPU for as long as permitted, and are switched out for each other. */
static void jobs_that_share_the_gpu_are_timed_by_their_own_ticks(void)
{
	int fd = need_gpu();
	struct fixture fixtures[2] = { fx_on(fd), fx_on(fd) };
	u64 clock_hz = need_info(fd).clock_hz;
	u32 i;

	for (i = 0; i < 2; i++)
		fx_run_on(&fixtures[i]);
	for (i = 0; i < 2; i++) {
		struct drm_pumice_job_get_result result = {
			.context = fixtures[i].context, .job = 1,
		};

		check_guilty(&fixtures[i]);
		CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_PUMICE_JOB_GET_RESULT, &result));
		CHECK_EQUAL(result.error, -ETIMEDOUT);
		CHECK_EQUAL(result.fault, PUMICE_FAULT_KILLED);
		CHECK(result.run_ticks >= TIMEOUT_MS * (clock_hz / 1000) * 3 / 4);
	}
}

static void job_that_waits_for_the_gpu_is_not_guilty(void)
{
	int fd = need_gpu();
	struct fixture hanging = fx_on(fd), patient = fx_on(fd);
	struct drm_pumice_job_get_result result = { .context = patient.context };

	/* An endless work-group cannot be switched out: the other waits for all its time. */
	fx_block(&hanging);
	fx_submit(&patient, fx_store_stream(&patient, patient.data.va, 6));
	CHECK_EQUAL(fx_wait(&patient), 1);
	fx_check_words(patient.data.cpu, 6);
	check_guilty(&hanging);
	CHECK_OK(gpu_ioctl(fd, DRM_IOCTL_PUMICE_JOB_GET_RESULT, &result));
	CHECK_EQUAL(result.job, 1);
	CHECK_EQUAL(result.error, 0);
}

/*
 * The scheduler restarts its tick with every job that it submits: jobs that follow each other fast
 * would postpone the time-out until the queue's ring is full, which has room for more than 300.
 */
static void jobs_submitted_later_do_not_postpone_the_time_out(void)
{
	const u64 pace_ns = TIMEOUT_MS * 1000000ull / 25;
	struct fixture hanging = fx_open(), later = hanging;
	const u64 stream = fx_store_stream(&hanging, hanging.data.va, 1);
	struct drm_pumice_job_get_result result = { 0 };
	u32 jobs = 0;

	later.sync = need_sync(later.fd);
	fx_block(&hanging);
	while (sync_wait(hanging.fd, hanging.sync, 0, pace_ns) == -ETIME) {
		if (fx_try_points(&later, stream, later.sync, 0, ++jobs))
			break;
		CHECK(jobs < MAX_LATER_JOBS);
	}
	CHECK_EQUAL(fx_wait(&hanging), -ETIMEDOUT);
	CHECK_EQUAL(need_state(hanging.fd, hanging.context).state, DRM_PUMICE_CONTEXT_GUILTY);
	CHECK_OK(gpu_job_result(hanging.fd, hanging.context, 1, &result));
	CHECK_EQUAL(result.error, -ETIMEDOUT);
	/* Nor do they make it shorter. */
	CHECK(result.run_ticks >= TIMEOUT_MS * (need_info(hanging.fd).clock_hz / 1000) * 3 / 4);
	CHECK(jobs > 1);
	CHECK_OK(gpu_job_result(hanging.fd, hanging.context, 2, &result));
	CHECK_EQUAL(result.error, -ECANCELED);
}

static const struct test_case cases[] = {
	TEST_CASE(time_out_names_unit_and_instruction),
	TEST_CASE(time_out_counts_the_waves_of_all_cores),
	TEST_CASE(jobs_that_share_the_gpu_are_timed_by_their_own_ticks),
	TEST_CASE(job_that_waits_for_the_gpu_is_not_guilty),
	TEST_CASE(jobs_submitted_later_do_not_postpone_the_time_out),
};

TEST_MAIN_TIMEOUT(cases, TIMEOUT_MS)
