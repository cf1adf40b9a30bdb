// SPDX-License-Identifier: MIT
/* What users see of the GPU's work: fdinfo, trace events, the GPU's event trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include "harness.h"
#include "pumice_formats.h"
#include "pumice_regs.h"
#include "render.h"
#include "system.h"

#define TRACING		"/sys/kernel/tracing"
#define RECORD_WORDS	PUMICE_TRACE_RECORD_WORDS
#define RING		32768u	/* records */
#define TEXT_BYTES	(256 * 1024)

static char text[TEXT_BYTES];
/* Where nothing is; volatile, so that the compiler does not see it coming. */
static void *volatile nowhere = (void *)8;

/* A whole file of the kernel's. */
static const char *file_text(const char *path)
{
	size_t used = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	while (used < sizeof(text) - 1 && (got = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	close(fd);
	return text;
}

/* A number behind "key:" in a file's fdinfo. */
static u64 fdinfo(int fd, const char *key)
{
	const char *at;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	at = strstr(file_text(path), key);
	CHECK(at && at[strlen(key)] == ':');
	return strtoull(at + strlen(key) + 1, NULL, 10);
}

static u64 last_ticks(const struct rig *rig)
{
	struct drm_pumice_context_get_state state = need_state(rig->fd, rig->context);

	return state.last_end - state.last_start;
}

static void engine_time_is_that_of_the_jobs(void)
{
	struct rig rig = rig_open();
	u64 ticks = 0;
	u32 i;

	CHECK_EQUAL(fdinfo(rig.fd, "drm-cycles-compute"), 0);
	for (i = 0; i < 10; i++) {
		CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, rig.data.va, i)), 1);
		ticks += last_ticks(&rig);
		CHECK_EQUAL(fdinfo(rig.fd, "drm-cycles-compute"), ticks);
	}
	CHECK_EQUAL(fdinfo(rig.fd, "drm-engine-compute"), ticks * 1000000000ull /
		    need_info(rig.fd).clock_hz);
	CHECK_EQUAL(fdinfo(rig.fd, "drm-maxfreq-compute"), need_info(rig.fd).clock_hz);
}

static void every_data_master_is_an_engine(void)
{
	struct render r = render_open();
	struct rig transfer = r.rig;

	render_check_works(&r);
	CHECK(fdinfo(r.rig.fd, "drm-cycles-render-geometry"));
	CHECK(fdinfo(r.rig.fd, "drm-cycles-render-fragment"));
	CHECK_EQUAL(fdinfo(r.rig.fd, "drm-cycles-compute"), 0);
	CHECK_EQUAL(fdinfo(r.rig.fd, "drm-cycles-transfer"), 0);
	transfer.context = need_context_of(r.rig.fd, r.rig.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	CHECK_EQUAL(rig_run(&transfer, transfer_fill_stream(&transfer, r.rig.data.va, 1, 64)), 1);
	CHECK(fdinfo(r.rig.fd, "drm-cycles-transfer"));
	CHECK_EQUAL(fdinfo(r.rig.fd, "drm-cycles-compute"), 0);
}

static void engine_time_of_a_job_that_runs_grows(void)
{
	struct rig rig = rig_open();
	u64 first = 0, i;

	rig_block(&rig);
	need_in_flight(1);
	for (i = 0; i < 10000 && !first; i++)
		first = fdinfo(rig.fd, "drm-cycles-compute");
	CHECK(first);
	CHECK(fdinfo(rig.fd, "drm-cycles-compute") > first);
}

static void engine_time_stays_when_the_context_goes(void)
{
	struct rig rig = rig_open();
	u64 ticks;

	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, rig.data.va, 1)), 1);
	ticks = fdinfo(rig.fd, "drm-cycles-compute");
	CHECK(ticks);
	CHECK_OK(gpu_context_destroy(rig.fd, rig.context));
	CHECK_EQUAL(fdinfo(rig.fd, "drm-cycles-compute"), ticks);
}

static void files_have_their_own_numbers(void)
{
	struct rig one = rig_open(), other = rig_open();

	CHECK_EQUAL(rig_run(&one, rig_store_stream(&one, one.data.va, 1)), 1);
	CHECK(fdinfo(one.fd, "drm-cycles-compute"));
	CHECK_EQUAL(fdinfo(other.fd, "drm-cycles-compute"), 0);
	CHECK(fdinfo(one.fd, "drm-client-id") != fdinfo(other.fd, "drm-client-id"));
}

static void memory_is_that_of_the_buffers(void)
{
	int fd = need_gpu();
	char path[64];

	CHECK_EQUAL(fdinfo(fd, "drm-total-memory"), 0);
	need_bo(fd, 4 * MIB);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	CHECK(strstr(file_text(path), "drm-total-memory:\t4 MiB"));
}

static void need_events(void)
{
	if (access(TRACING "/trace", F_OK))
		CHECK_OK(mount("tracefs", TRACING, "tracefs", 0, NULL));
	CHECK_OK(write_file(TRACING "/trace", ""));
	CHECK_OK(write_file(TRACING "/events/pumice/enable", "1"));
}

static void end_events(void)
{
	CHECK_OK(write_file(TRACING "/events/pumice/enable", "0"));
}

static void events_tell_of_a_job_with_gpu_times(void)
{
	struct drm_pumice_context_get_state state;
	struct rig rig = rig_open();
	char line[128];

	need_events();
	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, rig.data.va, 1)), 1);
	end_events();
	state = need_state(rig.fd, rig.context);
	file_text(TRACING "/trace");
	CHECK(strstr(text, "pumice_job_submit: "));
	CHECK(strstr(text, "pumice_job_run: "));
	snprintf(line, sizeof(line), "job=1 gpu_time=%llu mmu_context=",
		 (unsigned long long)state.last_start);
	CHECK(strstr(text, line));
	snprintf(line, sizeof(line), "job=1 gpu_time=%llu run_ticks=%llu groups=1 slices=1 error=0",
		 (unsigned long long)state.last_end,
		 (unsigned long long)(state.last_end - state.last_start));
	CHECK(strstr(text, line));
	CHECK(!strstr(text, "pumice_job_fault: "));
}

static void events_name_the_fault_of_a_job(void)
{
	struct rig rig = rig_open();

	need_events();
	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, RIG_FREE, 1)), -EIO);
	end_events();
	file_text(TRACING "/trace");
	CHECK(strstr(text, "pumice_job_fault: "));
	CHECK(strstr(text, "unit=usc-data access=write addr=0x40000000"));
	CHECK(strstr(text, "error=-5"));
}

/* Where the file is, whatever the number of the node. */
static int open_trace(void)
{
	char name[64], path[128];

	CHECK_OK(gpu_pci_name(name, sizeof(name)));
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/gpu_trace", name);
	if (access(path, F_OK))
		snprintf(path, sizeof(path), "/sys/kernel/debug/dri/0/gpu_trace");
	return open(path, O_RDONLY | O_CLOEXEC);
}

static int need_trace(void)
{
	int fd = open_trace();

	CHECK(fd >= 0);
	return fd;
}

/* All records that there are; returns their number. */
static u32 read_records(int fd, struct pumice_trace_record *records, u32 room)
{
	u32 words[64 * RECORD_WORDS], count = 0, i;
	ssize_t got;

	while ((got = read(fd, words, sizeof(words))) > 0) {
		CHECK_EQUAL(got % (RECORD_WORDS * 4), 0);
		for (i = 0; i < (u32)got / (RECORD_WORDS * 4); i++) {
			CHECK(count < room);
			pumice_trace_record_unpack(words + i * RECORD_WORDS, &records[count++]);
		}
	}
	CHECK_EQUAL(got, 0);
	return count;
}

static u32 count_kind(const struct pumice_trace_record *records, u32 count, u32 kind)
{
	u32 i, found = 0;

	for (i = 0; i < count; i++)
		found += records[i].kind == kind;
	return found;
}

static struct pumice_trace_record records[RING];

static void gpu_trace_shows_a_job_from_start_to_end(void)
{
	struct drm_pumice_context_get_state state;
	struct rig rig = rig_open();
	int fd = need_trace();
	u32 count, i;

	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, rig.data.va, 1)), 1);
	count = read_records(fd, records, RING);
	state = need_state(rig.fd, rig.context);
	CHECK_EQUAL(count_kind(records, count, PUMICE_TRACE_KIND_JOB_START), 1);
	CHECK_EQUAL(count_kind(records, count, PUMICE_TRACE_KIND_JOB_END), 1);
	CHECK_EQUAL(count_kind(records, count, PUMICE_TRACE_KIND_LAUNCH), 1);
	CHECK_EQUAL(count_kind(records, count, PUMICE_TRACE_KIND_GROUP_START), 1);
	CHECK_EQUAL(count_kind(records, count, PUMICE_TRACE_KIND_GROUP_END), 1);
	CHECK(count_kind(records, count, PUMICE_TRACE_KIND_MMU_WALK) > 0);
	for (i = 0; i < count; i++) {
		if (records[i].kind == PUMICE_TRACE_KIND_JOB_START)
			CHECK(records[i].time <= state.last_end);
		if (records[i].kind == PUMICE_TRACE_KIND_JOB_END)
			CHECK(records[i].time >= state.last_start);
	}
	close(fd);
}

static void gpu_trace_shows_a_fault(void)
{
	struct rig rig = rig_open();
	int fd = need_trace();
	u32 count, i;

	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, RIG_FREE, 1)), -EIO);
	count = read_records(fd, records, RING);
	CHECK(count_kind(records, count, PUMICE_TRACE_KIND_MMU_FAULT) > 0);
	for (i = 0; i < count; i++)
		if (records[i].kind == PUMICE_TRACE_KIND_MMU_FAULT)
			CHECK_EQUAL(records[i].arg0, RIG_FREE);
	close(fd);
}

static void gpu_trace_has_one_reader(void)
{
	int fd = need_trace();

	CHECK(open_trace() < 0 && errno == EBUSY);
	close(fd);
	fd = need_trace();
	close(fd);
}

static void gpu_trace_gives_whole_records_only(void)
{
	u32 words[RECORD_WORDS];
	int fd = need_trace();

	CHECK(read(fd, words, sizeof(words) - 1) < 0 && errno == EINVAL);
	CHECK(read(fd, words, 0) < 0 && errno == EINVAL);
	CHECK_EQUAL(read(fd, nowhere, sizeof(words)), 0);
	close(fd);
}

static void gpu_trace_with_a_bad_pointer_gives_efault(void)
{
	struct rig rig = rig_open();
	int fd = need_trace();

	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, rig.data.va, 1)), 1);
	CHECK(read(fd, nowhere, 4096) < 0 && errno == EFAULT);
	close(fd);
}

static void gpu_trace_that_nobody_reads_keeps_the_newest(void)
{
	struct rig rig = rig_open();
	u64 stream = rig_store_stream(&rig, rig.data.va, 1);
	int fd = need_trace();
	u32 count, i;

	for (i = 0; i < 9000; i++)
		CHECK_EQUAL(rig_run(&rig, stream), 1);
	count = read_records(fd, records, RING);
	CHECK(count > RING / 2);
	CHECK_EQUAL(records[count - 1].kind, PUMICE_TRACE_KIND_JOB_END);
	for (i = 1; i < count; i++)
		CHECK((u16)(records[i].sequence - records[i - 1].sequence) < RING);
	close(fd);
}

static void gpu_trace_goes_on_after_a_gpu_reset(void)
{
	struct rig rig = rig_open();
	int fd = need_trace();
	u32 count;

	need_flr();
	CHECK_EQUAL(rig_run(&rig, rig_store_stream(&rig, rig.data.va, 1)), 1);
	count = read_records(fd, records, RING);
	CHECK_EQUAL(count_kind(records, count, PUMICE_TRACE_KIND_JOB_END), 1);
	close(fd);
}

static void gpu_trace_survives_the_device(void)
{
	int fd = need_trace();
	u32 words[RECORD_WORDS];

	need_unbound();
	CHECK(read(fd, words, sizeof(words)) < 0);
	close(fd);
	need_bound();
	fd = need_trace();
	close(fd);
}

static const struct test_case cases[] = {
	TEST_CASE(engine_time_is_that_of_the_jobs),
	TEST_CASE(every_data_master_is_an_engine),
	TEST_CASE(engine_time_of_a_job_that_runs_grows),
	TEST_CASE(engine_time_stays_when_the_context_goes),
	TEST_CASE(files_have_their_own_numbers),
	TEST_CASE(memory_is_that_of_the_buffers),
	TEST_CASE(events_tell_of_a_job_with_gpu_times),
	TEST_CASE(events_name_the_fault_of_a_job),
	TEST_CASE(gpu_trace_shows_a_job_from_start_to_end),
	TEST_CASE(gpu_trace_shows_a_fault),
	TEST_CASE(gpu_trace_has_one_reader),
	TEST_CASE(gpu_trace_gives_whole_records_only),
	TEST_CASE(gpu_trace_with_a_bad_pointer_gives_efault),
	TEST_CASE(gpu_trace_that_nobody_reads_keeps_the_newest),
	TEST_CASE(gpu_trace_goes_on_after_a_gpu_reset),
	TEST_CASE(gpu_trace_survives_the_device),
};

TEST_MAIN(cases)
