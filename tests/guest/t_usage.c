// SPDX-License-Identifier: MIT
/* User-visible activity of the GPU: fdinfo, trace events, the GPU's event trace. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
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
/* An unmapped address; volatile, so that the compiler cannot detect it. */
static void *volatile unmapped = (void *)8;

/* Return the contents of a kernel file. */
static const char *file_text(const char *path)
{
	size_t used = 0;
	ssize_t got;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	while (used < sizeof(text) - 1 &&
	       (got = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)got;
	text[used] = '\0';
	close(fd);
	return text;
}

static u64 last_ticks(const struct fixture *fx)
{
	struct drm_pumice_context_get_state state = need_state(fx->fd, fx->context);

	return state.last_end - state.last_start;
}

static void engine_time_is_that_of_the_jobs(void)
{
	struct fixture fx = fx_open();
	u64 ticks = 0;
	u32 i;

	CHECK_EQUAL(fdinfo_number(fx.fd, "drm-cycles-compute"), 0);
	for (i = 0; i < 10; i++) {
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, i)), 1);
		ticks += last_ticks(&fx);
		CHECK_EQUAL(fdinfo_number(fx.fd, "drm-cycles-compute"), ticks);
	}
	CHECK_EQUAL(fdinfo_number(fx.fd, "drm-engine-compute"), ticks * 1000000000ull /
		    need_info(fx.fd).clock_hz);
	CHECK_EQUAL(fdinfo_number(fx.fd, "drm-maxfreq-compute"), need_info(fx.fd).clock_hz);
}

static void every_data_master_is_an_engine(void)
{
	struct render r = render_open();
	struct fixture transfer = r.fx;

	render_check_works(&r);
	CHECK(fdinfo_number(r.fx.fd, "drm-cycles-render-geometry"));
	CHECK(fdinfo_number(r.fx.fd, "drm-cycles-render-fragment"));
	CHECK_EQUAL(fdinfo_number(r.fx.fd, "drm-cycles-compute"), 0);
	CHECK_EQUAL(fdinfo_number(r.fx.fd, "drm-cycles-transfer"), 0);
	transfer.context = need_context_of(r.fx.fd, r.fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	CHECK_EQUAL(fx_run(&transfer, transfer_fill_stream(&transfer, r.fx.data.va, 1, 64)), 1);
	CHECK(fdinfo_number(r.fx.fd, "drm-cycles-transfer"));
	CHECK_EQUAL(fdinfo_number(r.fx.fd, "drm-cycles-compute"), 0);
}

static void engine_time_of_a_job_that_runs_grows(void)
{
	struct fixture fx = fx_open();
	u64 first = 0, i;

	fx_block(&fx);
	need_in_flight(1);
	for (i = 0; i < 10000 && !first; i++)
		first = fdinfo_number(fx.fd, "drm-cycles-compute");
	CHECK(first);
	CHECK(fdinfo_number(fx.fd, "drm-cycles-compute") > first);
}

static void engine_time_stays_when_the_context_is_destroyed(void)
{
	struct fixture fx = fx_open();
	u64 ticks;

	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, 1)), 1);
	ticks = fdinfo_number(fx.fd, "drm-cycles-compute");
	CHECK(ticks);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	CHECK_EQUAL(fdinfo_number(fx.fd, "drm-cycles-compute"), ticks);
}

static void files_have_their_own_numbers(void)
{
	struct fixture one = fx_open(), other = fx_open();

	CHECK_EQUAL(fx_run(&one, fx_store_stream(&one, one.data.va, 1)), 1);
	CHECK(fdinfo_number(one.fd, "drm-cycles-compute"));
	CHECK_EQUAL(fdinfo_number(other.fd, "drm-cycles-compute"), 0);
	CHECK(fdinfo_number(one.fd, "drm-client-id") != fdinfo_number(other.fd, "drm-client-id"));
}

static void memory_is_that_of_the_buffers(void)
{
	int fd = need_gpu();
	char path[64];

	CHECK_EQUAL(fdinfo_number(fd, "drm-total-memory"), 0);
	need_bo(fd, 4 * MIB);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	CHECK(strstr(file_text(path), "drm-total-memory:\t4 MiB"));
}

/* Return a file's page tables in KiB: one table for the page, one for its directory. */
static void page_tables_are_shown(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd), bo = need_bo(fd, 2 * PAGE);

	CHECK_EQUAL(fdinfo_number(fd, "pumice-page-tables"), 0);
	need_map(fd, vm, bo, 0, FX_FREE, PAGE, 0);
	CHECK_EQUAL(fdinfo_number(fd, "pumice-page-tables"), 8);
	need_map(fd, vm, bo, PAGE, FX_FREE + PAGE, PAGE, 0);
	CHECK_EQUAL(fdinfo_number(fd, "pumice-page-tables"), 8);
	need_map(fd, vm, bo, 0, FX_FREE + 2 * MIB, PAGE, 0);
	CHECK_EQUAL(fdinfo_number(fd, "pumice-page-tables"), 12);
	CHECK_EQUAL(fdinfo_number(need_gpu(), "pumice-page-tables"), 0);
	/* The context keeps the VM, and therefore the file its tables. */
	need_context(fd, vm);
	CHECK_OK(gpu_vm_destroy(fd, vm));
	CHECK_EQUAL(fdinfo_number(fd, "pumice-page-tables"), 12);
}

static void unmapped_page_tables_are_freed(void)
{
	int fd = need_gpu();
	u32 vm = need_vm(fd);

	need_map(fd, vm, need_bo(fd, PAGE), 0, FX_FREE, PAGE, 0);
	need_unmap(fd, vm, FX_FREE, PAGE);
	CHECK_EQUAL(fdinfo_number(fd, "pumice-page-tables"), 0);
}

static void parameter_buffers_are_shown(void)
{
	int fd = need_gpu();
	struct drm_pumice_free_list_create args = render_list_args(need_vm(fd));
	u32 list;

	CHECK_EQUAL(fdinfo_number(fd, "pumice-parameter-buffers"), 0);
	list = need_free_list(fd, args);
	CHECK_EQUAL(fdinfo_number(fd, "pumice-parameter-buffers"),
		    (args.initial_pages + args.grow_pages) * (PAGE / 1024));
	CHECK_EQUAL(fdinfo_number(need_gpu(), "pumice-parameter-buffers"), 0);
	CHECK_OK(gpu_free_list_destroy(fd, list));
	need_left((struct counts){ .vms = 1 });
	CHECK_EQUAL(fdinfo_number(fd, "pumice-parameter-buffers"), 0);
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

static void events_report_a_job_with_gpu_times(void)
{
	struct drm_pumice_context_get_state state;
	struct fixture fx = fx_open();
	char line[128];

	need_events();
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, 1)), 1);
	end_events();
	state = need_state(fx.fd, fx.context);
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
	struct fixture fx = fx_open();

	need_events();
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	end_events();
	file_text(TRACING "/trace");
	CHECK(strstr(text, "pumice_job_fault: "));
	CHECK(strstr(text, "unit=usc-data access=write addr=0x40000000"));
	CHECK(strstr(text, "error=-5"));
}

/* Open the trace of the device, whatever the number of the node. */
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

/* Read all available records; returns their number. */
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
	struct fixture fx = fx_open();
	int fd = need_trace();
	u32 count, i;

	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, 1)), 1);
	count = read_records(fd, records, RING);
	state = need_state(fx.fd, fx.context);
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
	struct fixture fx = fx_open();
	int fd = need_trace();
	u32 count, i;

	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	count = read_records(fd, records, RING);
	CHECK(count_kind(records, count, PUMICE_TRACE_KIND_MMU_FAULT) > 0);
	for (i = 0; i < count; i++)
		if (records[i].kind == PUMICE_TRACE_KIND_MMU_FAULT)
			CHECK_EQUAL(records[i].arg0, FX_FREE);
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
	CHECK_EQUAL(read(fd, unmapped, sizeof(words)), 0);
	close(fd);
}

static void gpu_trace_with_a_bad_pointer_gives_efault(void)
{
	struct fixture fx = fx_open();
	int fd = need_trace();

	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, 1)), 1);
	CHECK(read(fd, unmapped, 4096) < 0 && errno == EFAULT);
	close(fd);
}

/* Return the number of records of all traces that no reader got. */
static u64 records_lost(void)
{
	unsigned long long lost;
	char path[256];
	const char *at;

	CHECK(debugfs_path("state", path, sizeof(path)));
	at = strstr(file_text(path), "gpu_trace records lost: ");
	CHECK(at);
	CHECK_EQUAL(sscanf(at, "gpu_trace records lost: %llu", &lost), 1);
	return lost;
}

/* The records that were stored are returned; others that were copied are counted as lost. */
static void gpu_trace_returns_the_records_before_a_bad_page(void)
{
	char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fixture fx = fx_open();
	u64 stream = fx_store_stream(&fx, fx.data.va, 1), lost = records_lost();
	int fd = need_trace();
	ssize_t got;
	u32 i;

	CHECK(page != MAP_FAILED);
	CHECK_OK(munmap(page + PAGE, PAGE));
	for (i = 0; i < 2 * PAGE / (RECORD_WORDS * 4); i++)
		CHECK_EQUAL(fx_run(&fx, stream), 1);
	got = read(fd, page, 2 * PAGE);
	CHECK(got > 0 && got <= PAGE && got % (RECORD_WORDS * 4) == 0);
	CHECK(records_lost() > lost);
	close(fd);
}

/*
 * Allocate memory whose first access blocks until its fault is handled. *uffd is -1 on a kernel
 * without userfaultfd (the debug kernel), with ordinary memory.
 */
static void *need_slow_page(int *uffd)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED);
	*uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (*uffd < 0) {
		CHECK_EQUAL(errno, ENOSYS);
		return page;
	}
	CHECK_OK(ioctl(*uffd, UFFDIO_API, &api));
	reg.range.start = (uintptr_t)page;
	reg.range.len = PAGE;
	CHECK_OK(ioctl(*uffd, UFFDIO_REGISTER, &reg));
	return page;
}

static void handle_fault(int uffd)
{
	struct uffdio_zeropage zero = { .range.len = PAGE };
	struct uffd_msg msg;

	CHECK_EQUAL(read(uffd, &msg, sizeof(msg)), (int)sizeof(msg));
	CHECK_EQUAL(msg.event, UFFD_EVENT_PAGEFAULT);
	zero.range.start = msg.arg.pagefault.address & ~(u64)(PAGE - 1);
	CHECK_OK(ioctl(uffd, UFFDIO_ZEROPAGE, &zero));
}

/** struct slow_read - a read of the trace into memory that is not present yet */
struct slow_read {
	int trace;
	void *to;
	ssize_t got;
};

static void *read_slowly(void *arg)
{
	struct slow_read *slow = arg;

	/* The GPU may write the records shortly after the job has ended. */
	do {
		slow->got = read(slow->trace, slow->to, PAGE);
	} while (!slow->got);
	return NULL;
}

/*
 * A reader's page fault may block forever: the pages may belong to a file system in
 * user space. Jobs wait for a reset, so a reset must not wait for a reader.
 */
static void reset_does_not_wait_for_a_reader_of_the_gpu_trace(void)
{
	struct slow_read slow = { .trace = need_trace() };
	struct pollfd fault = { .events = POLLIN };
	struct fixture fx = fx_open();
	pthread_t thread;

	fx_check_works(&fx);
	slow.to = need_slow_page(&fault.fd);
	CHECK_OK(pthread_create(&thread, NULL, read_slowly, &slow));
	if (fault.fd >= 0)
		CHECK_EQUAL(poll(&fault, 1, -1), 1);
	need_flr();
	fx_close(&fx);
	fx = fx_open();
	fx_check_works(&fx);
	if (fault.fd >= 0)
		handle_fault(fault.fd);
	CHECK_OK(pthread_join(thread, NULL));
	CHECK(slow.got > 0 && slow.got % (RECORD_WORDS * 4) == 0);
}

static void gpu_trace_without_a_reader_keeps_the_newest(void)
{
	struct fixture fx = fx_open();
	u64 stream = fx_store_stream(&fx, fx.data.va, 1), lost = records_lost();
	int fd = need_trace();
	u32 count, i;

	for (i = 0; i < 9000; i++)
		CHECK_EQUAL(fx_run(&fx, stream), 1);
	count = read_records(fd, records, RING);
	CHECK(count > RING / 2);
	/* After the end of the last job only the firmware acts. */
	for (i = count; i && records[i - 1].kind == PUMICE_TRACE_KIND_FIRMWARE; i--)
		;
	CHECK(i && records[i - 1].kind == PUMICE_TRACE_KIND_JOB_END);
	for (i = 1; i < count; i++)
		CHECK((u16)(records[i].sequence - records[i - 1].sequence) < RING);
	/* Each record of the trace was read or is counted as lost, once. */
	lost = records_lost() - lost;
	CHECK(lost > 0);
	CHECK_EQUAL(records[count - 1].sequence, (u16)(lost + count));
	close(fd);
}

static void gpu_trace_continues_after_a_gpu_reset(void)
{
	struct fixture fx = fx_open();
	int fd = need_trace();
	u32 count;

	need_flr();
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, 1)), 1);
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
	TEST_CASE(engine_time_stays_when_the_context_is_destroyed),
	TEST_CASE(files_have_their_own_numbers),
	TEST_CASE(memory_is_that_of_the_buffers),
	TEST_CASE(page_tables_are_shown),
	TEST_CASE(unmapped_page_tables_are_freed),
	TEST_CASE(parameter_buffers_are_shown),
	TEST_CASE(events_report_a_job_with_gpu_times),
	TEST_CASE(events_name_the_fault_of_a_job),
	TEST_CASE(gpu_trace_shows_a_job_from_start_to_end),
	TEST_CASE(gpu_trace_shows_a_fault),
	TEST_CASE(gpu_trace_has_one_reader),
	TEST_CASE(gpu_trace_gives_whole_records_only),
	TEST_CASE(gpu_trace_with_a_bad_pointer_gives_efault),
	TEST_CASE(gpu_trace_returns_the_records_before_a_bad_page),
	TEST_CASE_SECONDS(reset_does_not_wait_for_a_reader_of_the_gpu_trace, 60),
	TEST_CASE_SECONDS(gpu_trace_without_a_reader_keeps_the_newest, 200),
	TEST_CASE(gpu_trace_continues_after_a_gpu_reset),
	TEST_CASE(gpu_trace_survives_the_device),
};

TEST_MAIN(cases)
