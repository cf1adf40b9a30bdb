// SPDX-License-Identifier: MIT
/*
 * The driver's events in pumice-trace, with a folder in the place of tracefs: lost events, and
 * what is reported of kernels and devices that are too old. The tracks of the firmware's decisions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fwif.h"
#include "trace_kernel.h"

#define INSTANCE "/instances/pumice-trace"

struct fixture {
	char folder[64];
	int64_t offset_ns;	/* GPU clock minus that of the events */
};

static void make_folder(const struct fixture *f, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s%s", f->folder, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_file(const struct fixture *f, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", f->folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static void read_file(const struct fixture *f, const char *name, char *text, size_t bytes)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", f->folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, bytes - 1, file)] = '\0';
	fclose(file);
}

static int create(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->folder, "/tmp/trace-kernel-XXXXXX");
	*state = f;
	return mkdtemp(f->folder) ? 0 : -1;
}

static int destroy(void **state)
{
	struct fixture *f = *state;
	char command[128];
	int status;

	snprintf(command, sizeof(command), "rm -r %s", f->folder);
	status = system(command);
	free(f);
	return status;
}

/* An instance with the driver's events, as the kernel creates it. */
static void make_instance(const struct fixture *f)
{
	make_folder(f, "/instances");
	make_folder(f, INSTANCE);
	make_folder(f, INSTANCE "/events");
	make_folder(f, INSTANCE "/events/pumice");
	make_folder(f, INSTANCE "/per_cpu");
	make_folder(f, INSTANCE "/per_cpu/cpu0");
}

/* Record with this file of the first processor, and these events. Returns the lost ones. */
static uint64_t record(const struct fixture *f, const char *stats, const char *events, char *json,
		       size_t bytes)
{
	struct trace_kernel *k;
	struct perfetto *p;
	char path[128], enable[4], clock[8];
	const char *error;
	uint64_t lost, dropped;

	make_instance(f);
	k = trace_kernel_open(f->folder, &error);
	assert_non_null(k);
	read_file(f, INSTANCE "/events/pumice/enable", enable, sizeof(enable));
	assert_string_equal(enable, "1");
	/* The clock that the GPU's is compared with. */
	read_file(f, INSTANCE "/trace_clock", clock, sizeof(clock));
	assert_string_equal(clock, "mono");
	make_file(f, INSTANCE "/per_cpu/cpu0/stats", stats);
	make_file(f, INSTANCE "/trace", events);
	snprintf(path, sizeof(path), "%s/trace.json", f->folder);
	p = perfetto_open(path, 1000000000);
	assert_non_null(p);
	lost = trace_kernel_close(k, p, f->offset_ns);
	assert_true(perfetto_close(p, &dropped));
	assert_int_equal(dropped, 0);
	read_file(f, INSTANCE "/events/pumice/enable", enable, sizeof(enable));
	assert_string_equal(enable, "0");
	read_file(f, "/trace.json", json, bytes);
	return lost;
}

static const char events[] =
	"# tracer: nop\n"
	"  sh-7 [000] ..... 2.000000: pumice_job_submit: context=3 stream=0x0 waits=0 dm=1 pid=7 comm=sh\n"
	"  sh-7 [000] ..... 2.100000: pumice_job_run: context=3 job=1\n"
	"  sh-7 [000] ..... 2.200000: pumice_job_done: context=3 job=1 error=0\n";

static void an_overrun_of_the_kernels_buffer_is_reported(void **state)
{
	char json[8192];

	assert_int_equal(record(*state, "entries: 9\noverrun: 41\ncommit overrun: 7\n", events,
				json, sizeof(json)), 41);
	assert_non_null(strstr(json, "\"lost events\""));
	assert_non_null(strstr(json, "job_done"));
}

static void a_trace_without_overrun_has_no_lost_events(void **state)
{
	char json[8192];

	assert_int_equal(record(*state, "entries: 9\noverrun: 0\ncommit overrun: 7\n", events,
				json, sizeof(json)), 0);
	assert_null(strstr(json, "\"lost events\""));
	assert_non_null(strstr(json, "sh (7)"));
}

/* Two contexts with jobs of the same number, the second of which completes first. */
static const char jobs[] =
	"  sh-7 [000] ..... 2.000000: pumice_job_submit: context=3 stream=0x0 waits=0 dm=1 pid=7 comm=sh\n"
	"  sh-7 [000] ..... 2.100000: pumice_job_submit: context=4 stream=0x0 waits=0 dm=1 pid=8 comm=ls\n"
	"  sh-7 [000] ..... 2.200000: pumice_job_run: context=3 job=1\n"
	"  sh-7 [000] ..... 2.300000: pumice_job_run: context=4 job=1\n"
	"  sh-7 [000] ..... 2.350000: pumice_job_start: context=4 job=1\n"
	"  sh-7 [000] ..... 2.400000: pumice_job_done: context=4 job=1 error=0\n"
	"  sh-7 [000] ..... 2.500000: pumice_job_done: context=3 job=1 error=-5\n";

static void jobs_begin_and_end_in_their_contexts(void **state)
{
	static const char *const lines[] = {
		"{\"ph\":\"b\",\"pid\":1,\"tid\":1,\"name\":\"context 3 job 1\",\"ts\":3200000.000,",
		"{\"ph\":\"e\",\"pid\":1,\"tid\":1,\"name\":\"context 3 job 1\",\"ts\":3500000.000,",
		"{\"ph\":\"b\",\"pid\":1,\"tid\":2,\"name\":\"context 4 job 1\",\"ts\":3300000.000,",
		"{\"ph\":\"e\",\"pid\":1,\"tid\":2,\"name\":\"context 4 job 1\",\"ts\":3400000.000,",
	};
	struct fixture *f = *state;
	char json[8192];
	size_t i;

	f->offset_ns = 1000000000;
	record(f, "entries: 9\noverrun: 0\n", jobs, json, sizeof(json));
	/* print_message() cuts a long text, and so the line after it. */
	fputs(json, stdout);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_non_null(strstr(json, lines[i]));
	assert_non_null(strstr(json, "\"detail\":\"context=3 job=1 error=-5\""));
	/* The GPU's own trace has the starts. */
	assert_null(strstr(json, "job_start"));
}

/* As the kernel prints a name that is like an event, one with a line end, and one that is cut. */
static const char forged[] =
	" 1: pumice_no: y-8       [000] ..... 3.000000: pumice_job_submit: context=4 stream=0x0 waits=0 dm=1 pid=8 comm=1: pumice_no: y\n"
	"              : \n: pumice_no: z-9       [000] ..... 4.000000: pumice_job_submit: context=5 stream=0x0 waits=0 dm=1 pid=9 comm=: \n"
	": pumice_no: z\n"
	"              sh-7       [000] ..... 5.000000: pumice_job_wait:\n";

static void names_of_processes_are_not_events(void **state)
{
	char json[8192];

	assert_int_equal(record(*state, "entries: 9\noverrun: 0\n", forged, json, sizeof(json)), 0);
	assert_null(strstr(json, "\"name\":\"no\""));
	assert_null(strstr(json, "\"name\":\"job_wait\""));
	assert_non_null(strstr(json, "\"1: pumice_no: y (8), context 4\""));
	assert_non_null(strstr(json, "\":  (9), context 5\""));
	assert_non_null(strstr(json, "\"ts\":3000000.000"));
	assert_non_null(strstr(json, "\"ts\":4000000.000"));
}

static void names_of_processes_are_strings_of_json(void **state)
{
	static const char submit[] =
		"  sh-7 [000] ..... 2.000000: pumice_job_submit: context=3 stream=0x0 waits=0 dm=1 pid=7 "
		"comm=\"},{\\\033[2J\001\177\303\n";
	char json[8192];

	record(*state, "entries: 9\noverrun: 0\n", submit, json, sizeof(json));
	assert_non_null(strstr(json, "{\"name\":\"\\\"},{\\\\?[2J??? (7), context 3\"}"));
	assert_null(strpbrk(json, "\033\001\177\303"));
}

static void a_missing_tracefs_and_a_driver_without_events_are_distinguished(void **state)
{
	const struct fixture *f = *state;
	const char *error;

	assert_null(trace_kernel_open(f->folder, &error));
	assert_non_null(strstr(error, "is it mounted"));
	make_folder(f, "/instances");
	assert_null(trace_kernel_open(f->folder, &error));
	assert_non_null(strstr(error, "the driver has no trace events"));
}

static void missing_records_of_an_older_device_are_reported(void **state)
{
	(void)state;
	assert_non_null(strstr(trace_kernel_missing(0x00020002, 0x00010006), "before 2.3"));
	assert_non_null(strstr(trace_kernel_missing(0x0001ffff, 0x00010006), "before 2.3"));
	assert_non_null(strstr(trace_kernel_missing(0x00020003, 0x00010005), "before 1.6"));
	assert_null(trace_kernel_missing(0x00020003, 0x00010006));
	assert_null(trace_kernel_missing(0x00030000, 0x00020000));
}

/* Track and name of each line of the firmware's log, and whether it begins with its context. */
static const struct {
	const char *track, *name;
	bool context;
} decisions[] = {
	[FWIF_LOG_BOOT] = { "boot and errors", "boot", false },
	[FWIF_LOG_REFUSED] = { "boot and errors", "refused", false },
	[FWIF_LOG_KCCB_INVALID] = { "boot and errors", "kccb invalid", false },
	[FWIF_LOG_CONTEXT_NEW] = { "contexts and MMU", "context new", true },
	[FWIF_LOG_CONTEXT_RELEASED] = { "contexts and MMU", "context released", true },
	[FWIF_LOG_CONTEXT_KILL] = { "contexts and MMU", "context kill", true },
	[FWIF_LOG_CONTEXT_BROKEN] = { "boot and errors", "context broken", true },
	[FWIF_LOG_JOB_WAIT] = { "dependencies", "job wait", true },
	[FWIF_LOG_JOB_START] = { "scheduling", "job start", true },
	[FWIF_LOG_JOB_DONE] = { "scheduling", "job done", true },
	[FWIF_LOG_JOB_FAULT] = { "boot and errors", "job fault", true },
	[FWIF_LOG_JOB_SWITCH] = { "scheduling", "job switch", true },
	[FWIF_LOG_JOB_RESUME] = { "scheduling", "job resume", true },
	[FWIF_LOG_CONTEXT_BOOST] = { "scheduling", "context boost", true },
	[FWIF_LOG_MMU_BIND] = { "contexts and MMU", "mmu bind", false },
	[FWIF_LOG_MMU_INVALIDATE] = { "contexts and MMU", "mmu invalidate", false },
	[FWIF_LOG_FWCCB_FULL] = { "boot and errors", "fwccb full", false },
	[FWIF_LOG_PARTIAL] = { "parameter memory", "partial", true },
	[FWIF_LOG_FREE_LIST_GROW] = { "parameter memory", "free list grow", false },
	[FWIF_LOG_FREE_LIST_GROWN] = { "parameter memory", "free list grown", false },
	[FWIF_LOG_TRAP] = { "boot and errors", "trap", false },
	[FWIF_LOG_CONTEXT_PRIORITY] = { "scheduling", "context priority", true },
	[FWIF_LOG_PREEMPT_SLICE] = { "scheduling", "preempt slice", true },
	[FWIF_LOG_PREEMPT_PRIORITY] = { "scheduling", "preempt priority", true },
	[FWIF_LOG_PAGES_STALL] = { "parameter memory", "pages stall", true },
	[FWIF_LOG_PAGES_WAIT] = { "parameter memory", "pages wait", true },
	[FWIF_LOG_PAGES_RESUME] = { "parameter memory", "pages resume", true },
	[FWIF_LOG_PARTIAL_REQUEST] = { "parameter memory", "partial request", true },
	[FWIF_LOG_FLIP] = { "scheduling", "flip", true },
	[FWIF_LOG_OS_CONNECTED] = { "boot and errors", "os connected", false },
	[FWIF_LOG_OS_ENDED] = { "boot and errors", "os ended", false },
	[FWIF_LOG_OS_HOLD] = { "boot and errors", "os hold", true },
};

#define DECISIONS (sizeof(decisions) / sizeof(decisions[0]))

/* Return the event of a time, in microseconds: its line of the file, which is cut there. */
static const char *event_at(char *json, uint32_t us)
{
	char words[32], *at, *line;

	snprintf(words, sizeof(words), "\"ts\":%u.000", us);
	at = strstr(json, words);
	assert_non_null(at);
	for (line = at; line[-1] != '\n'; line--)
		;
	at[strcspn(at, "\n")] = '\0';
	return line;
}

static void each_decision_of_the_firmware_is_on_its_track(void **state)
{
	const struct fixture *f = *state;
	struct pumice_event_record record = { .kind = PUMICE_EVENT_FIRMWARE };
	static char all[65536], json[65536];
	char path[128], words[128];
	struct perfetto *p;
	const char *event;
	uint64_t dropped;
	uint32_t i;

	assert_int_equal(DECISIONS, FWIF_LOG_EVENT_COUNT);
	snprintf(path, sizeof(path), "%s/trace.json", f->folder);
	p = perfetto_open(path, 1000000000);
	assert_non_null(p);
	for (i = 0; i < DECISIONS; i++) {
		record.time = (i + 1) * 1000;
		record.arg0 = 77;
		record.arg1 = (uint64_t)i << 32;
		perfetto_event(p, &record);
	}
	assert_true(perfetto_close(p, &dropped));
	read_file(f, "/trace.json", all, sizeof(all));
	for (i = 0; i < DECISIONS; i++) {
		unsigned int track;

		strcpy(json, all);
		event = event_at(json, i + 1);
		print_message("%s\n", event);
		snprintf(words, sizeof(words), "\"name\":\"%s\",", decisions[i].name);
		assert_non_null(strstr(event, words));
		assert_int_equal(!!strstr(event, "\"context\":77"), decisions[i].context);
		assert_int_equal(sscanf(strstr(event, "\"tid\":"), "\"tid\":%u", &track), 1);
		snprintf(words, sizeof(words), "\"tid\":%u,\"name\":\"thread_name\",\"args\":"
			 "{\"name\":\"%s\"}", track, decisions[i].track);
		assert_non_null(strstr(all, words));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_overrun_of_the_kernels_buffer_is_reported,
						create, destroy),
		cmocka_unit_test_setup_teardown(a_trace_without_overrun_has_no_lost_events,
						create, destroy),
		cmocka_unit_test_setup_teardown(jobs_begin_and_end_in_their_contexts,
						create, destroy),
		cmocka_unit_test_setup_teardown(names_of_processes_are_strings_of_json, create,
						destroy),
		cmocka_unit_test_setup_teardown(names_of_processes_are_not_events, create, destroy),
		cmocka_unit_test_setup_teardown(
			a_missing_tracefs_and_a_driver_without_events_are_distinguished,
			create, destroy),
		cmocka_unit_test(missing_records_of_an_older_device_are_reported),
		cmocka_unit_test_setup_teardown(each_decision_of_the_firmware_is_on_its_track,
						create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
