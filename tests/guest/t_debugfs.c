// SPDX-License-Identifier: MIT
/*
 * Files of the driver in debugfs: the processes of contexts and VMs, the last faults, labels of
 * mapped buffers, the firmware's log with names in place of numbers, the GPU's mode, and the
 * counts of the memory hierarchy.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "debugfs.h"
#include "harness.h"
#include "perf.h"
#include "power.h"
#include "parameters.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

#define KEPT		16u	/* faults that the driver keeps */
#define TIMEOUT_MS	500
#define PATIENT_MS	60000	/* of jobs that are not to time out */
#define LOG_INFO	"1"	/* default */
#define LOG_DEBUG	"2"

/* Name this process; returns "NAME (PID)" as the driver prints it. */
static const char *name_process(const char *name)
{
	static char owner[64];

	CHECK_EQUAL(prctl(PR_SET_NAME, name), 0);
	snprintf(owner, sizeof(owner), "%s (%d)", name, getpid());
	return owner;
}

static void contexts_name_their_process(void)
{
	const char *owner = name_process("quartz");
	struct fixture fx = fx_open();
	char id[64];

	snprintf(id, sizeof(id), "its context %u, priority normal, queued 0, in flight 0",
		 fx.context);
	need_line("contexts", owner, id);
	CHECK(strstr(need_line("contexts", owner, id), ": compute, of "));
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	CHECK(!text_line(debugfs_text("contexts"), owner, id));
}

/* Threads have names of their own; by which of them objects are created does not matter. */
static void *open_as_worker(void *fx)
{
	CHECK_EQUAL(prctl(PR_SET_NAME, "worker"), 0);
	*(struct fixture *)fx = fx_open();
	return NULL;
}

static void process_is_named_by_its_first_thread(void)
{
	const char *owner = name_process("schist");
	struct fixture fx;
	pthread_t thread;

	CHECK_OK(-pthread_create(&thread, NULL, open_as_worker, &fx));
	CHECK_OK(-pthread_join(thread, NULL));
	need_line("contexts", owner, ": compute, of schist (");
	need_line("vms", owner, "vm of schist (");
}

/* A name that looks like the end of a line, and one of another VM. */
static void names_and_labels_are_escaped(void)
{
	char shown[64];
	int fd = need_gpu();
	u32 vm, bo = need_bo(fd, PAGE);

	name_process("a\nvm of \\b (1)");
	snprintf(shown, sizeof(shown), "vm of a\\nvm of \\\\b (1) (%d), client ", getpid());
	vm = need_vm(fd);
	need_line("vms", shown, "");
	gpu_set_label(fd, bo, "x\n\x1b[2J \xc3\xa9");
	need_map(fd, vm, bo, 0, FX_FREE, PAGE, 0);
	need_line("vms", "from 0x0: x\\n\\e[2J \\303\\251", "");
	need_line("bos", ": x\\n\\e[2J \\303\\251", "");
}

/* Fault as a process of its own, which ends with all its objects. Returns its number. */
static pid_t fault_in_child(const char *name, u64 va)
{
	pid_t pid = fork();
	struct fixture fx;
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		name_process(name);
		fx = fx_open();
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, va, 1)), -EIO);
		_exit(0);
	}
	CHECK_EQUAL(waitpid(pid, &status, 0), pid);
	CHECK_EQUAL(status, 0);
	return pid;
}

/* The times are those of a clock that this process reads, too. */
static void fault_is_kept_after_its_process_has_ended(void)
{
	const u64 va = FX_FREE + 5 * PAGE;
	double before = (double)now_ns() / 1e9, after, when;
	char owner[64], cause[64];
	const char *line;
	pid_t pid = fault_in_child("basalt", va);

	after = (double)now_ns() / 1e9;
	need_nothing_left();
	snprintf(owner, sizeof(owner), "] basalt (%d): context ", pid);
	snprintf(cause, sizeof(cause), " by usc-data, write at 0x%llx", (unsigned long long)va);
	line = need_line("contexts", owner, cause);
	CHECK(strstr(line, " job 1, compute, its context 1 job 1: mmu-"));
	CHECK_EQUAL(sscanf(line, "[%lf]", &when), 1);
	CHECK(when > before - 0.001 && when < after + 0.001);
}

/* The numbers of the kept jobs, which are the newest, ascend. */
static void last_sixteen_faults_are_kept(void)
{
	const char *owner = name_process("obsidian"), *at;
	struct fixture fx = fx_open();
	u64 stream = fx_store_stream(&fx, FX_FREE, 1);
	u32 i, job, want = 5, lines = 0;

	for (i = 0; i < KEPT + 4; i++)
		CHECK_EQUAL(fx_run(&fx, stream), -EIO);
	at = strstr(debugfs_text("contexts"), "last jobs that failed, ");
	CHECK(at);
	for (at = strstr(at, "\n["); at; at = strstr(at + 1, "\n[")) {
		lines++;
		CHECK(!strncmp(strstr(at, "] ") + 2, owner, strlen(owner)));
		CHECK_EQUAL(sscanf(strstr(at, "its context "), "its context %*u job %u", &job), 1);
		CHECK_EQUAL(job, want);
		want++;
	}
	CHECK_EQUAL(lines, KEPT);
}

static void time_out_is_kept(void)
{
	const char *owner = name_process("gneiss");
	struct fixture fx = fx_open();

	fx_block(&fx);
	CHECK_EQUAL(fx_wait(&fx), -ETIMEDOUT);
	need_line("contexts", owner, ": timed out in usc-code, at 0x");
}

/* The jobs of a queue that are lost together are one record. */
static void jobs_lost_in_a_reset_are_kept(void)
{
	const char *owner = name_process("talc"), *line;
	struct fixture fx = fx_with(need_gpu(), DRM_PUMICE_PRIORITY_NORMAL, PATIENT_MS);
	u64 empty = fx_empty_stream(&fx);
	u32 i;

	fx_block(&fx);
	for (i = 0; i < KEPT; i++)
		fx_submit(&fx, empty);
	need_in_flight(1 + KEPT);
	need_flr();
	CHECK_EQUAL(fx_wait(&fx), -ECANCELED);
	line = need_line("contexts", owner, " job 1 and 16 after it: ");
	CHECK(strstr(line, ": lost in a reset of the GPU, without a result"));
}

/* A job that completes, and one that is cancelled, are not faults. */
static void other_ends_of_jobs_are_not_kept(void)
{
	const char *owner = name_process("marble");
	struct fixture fx = fx_open();

	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, fx.data.va, 1)), 1);
	fx_block(&fx);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	CHECK_EQUAL(fx_wait(&fx), -ECANCELED);
	CHECK(!text_line(debugfs_text("contexts"), owner, "its context "));
}

/* Return the lines of the VM of one process: up to the next VM. */
static const char *vm_text(const char *owner)
{
	char head[80];
	char *at, *end;

	snprintf(head, sizeof(head), "vm of %s, client ", owner);
	at = strstr(debugfs_text("vms"), head);
	CHECK(at);
	end = strstr(at, "\nvm of ");
	if (end)
		*end = '\0';
	return at;
}

static void vms_show_process_and_labels_of_mappings(void)
{
	const char *owner = name_process("granite"), *vm;
	int fd = need_gpu();
	u32 id = need_vm(fd), bo = need_bo(fd, 3 * PAGE), plain = need_bo(fd, PAGE);
	char line[160];

	gpu_set_label(fd, bo, "vertices of a hill");
	need_map(fd, id, bo, PAGE, FX_FREE, 2 * PAGE, 0);
	need_map(fd, id, plain, 0, FX_FREE + MIB, PAGE, 0);
	need_map(fd, id, 0, 0, FX_FREE + 2 * MIB, PAGE, DRM_PUMICE_BIND_NULL);
	vm = vm_text(owner);
	snprintf(line, sizeof(line), "client %llu\n",
		 (unsigned long long)fdinfo_number(fd, "drm-client-id"));
	CHECK(strstr(vm, line));
	CHECK(strstr(vm, "  0x0040000000 to 0x0040001fff: "
		     "buffer of 12288 bytes from 0x1000: vertices of a hill\n"));
	CHECK(strstr(vm, "  0x0040100000 to 0x0040100fff: buffer of 4096 bytes from 0x0\n"));
	CHECK(strstr(vm, "  0x0040200000 to 0x0040200fff: no memory\n"));
	need_unmap(fd, id, FX_FREE, PAGE);
	CHECK(strstr(vm_text(owner), "  0x0040001000 to 0x0040001fff: "
		     "buffer of 12288 bytes from 0x2000: vertices of a hill\n"));
}

/* Lines of the firmware name the context by its own number, which "contexts" shows. */
static u32 firmware_context(const struct fixture *fx, const char *owner)
{
	char its[32];
	u32 id;

	snprintf(its, sizeof(its), "its context %u, ", fx->context);
	CHECK_EQUAL(sscanf(need_line("contexts", owner, its), "context %u:", &id), 1);
	return id;
}

static void fw_log_has_names_in_place_of_numbers(void)
{
	const char *owner = name_process("slate");
	char path[256], part[64], address[64];
	struct fixture fx;
	u32 id;

	CHECK(debugfs_path("fw_log_level", path, sizeof(path)));
	CHECK_OK(write_file(path, LOG_DEBUG));
	fx = fx_open();
	id = firmware_context(&fx, owner);
	CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, FX_FREE, 1)), -EIO);
	CHECK_OK(gpu_context_set_priority(fx.fd, fx.context, DRM_PUMICE_PRIORITY_LOW));
	need_unmap(fx.fd, fx.vm, FX_DATA, PAGE);
	CHECK_OK(write_file(path, LOG_INFO));
	snprintf(part, sizeof(part), "INFO  context %u: new, priority normal", id);
	need_line("fw_log", part, "");
	snprintf(part, sizeof(part), "INFO  context %u: job 1 fault mmu-", id);
	need_line("fw_log", part, "");
	snprintf(part, sizeof(part), "INFO  context %u: priority low, was normal", id);
	need_line("fw_log", part, "");
	snprintf(address, sizeof(address), " invalidated, pages 0x%llx to ",
		 (unsigned long long)FX_DATA);
	need_line("fw_log", "DEBUG mmu context ", address);
}

static void mode_is_set_by_its_name(void)
{
	struct fixture fx = fx_open();

	CHECK(!strcmp(debugfs_text("mode"), "fast\n"));
	CHECK_OK(debugfs_set_mode("counted\n"));
	CHECK(!strcmp(debugfs_text("mode"), "counted\n"));
	fx_check_works(&fx);
	CHECK_OK(debugfs_set_mode("strict"));
	CHECK(!strcmp(debugfs_text("mode"), "strict\n"));
	fx_check_works(&fx);
	CHECK_OK(debugfs_set_mode("fast"));
	CHECK(!strcmp(debugfs_text("mode"), "fast\n"));
	fx_check_works(&fx);
	CHECK_EQUAL(debugfs_set_mode("slow"), -EINVAL);
	CHECK_EQUAL(debugfs_set_mode("counted-and-more-than-fits"), -EINVAL);
	CHECK(!strcmp(debugfs_text("mode"), "fast\n"));
}

/* The job times out, and the mode can change then. */
static void mode_does_not_change_while_a_job_runs(void)
{
	struct fixture fx = fx_open();

	fx_block(&fx);
	CHECK_EQUAL(debugfs_set_mode("counted"), -EBUSY);
	CHECK(!strcmp(debugfs_text("mode"), "fast\n"));
	CHECK_EQUAL(fx_wait(&fx), -ETIMEDOUT);
	CHECK_OK(debugfs_set_mode("counted"));
	CHECK_OK(debugfs_set_mode("fast"));
}

/* Return the value of a column, from 1 on, in the line of a client or level. */
static unsigned long long count_of(const char *name, unsigned int column)
{
	char start[64];
	const char *at;

	snprintf(start, sizeof(start), "%s ", name);
	at = strstr(need_line("hierarchy", start, ""), start);
	for (; column; column--) {
		at = strchr(at, ' ');
		CHECK(at);
		at++;
	}
	return strtoull(at, NULL, 10);
}

static void hierarchy_has_the_counts_of_jobs(void)
{
	struct fixture fx = fx_open();
	unsigned long long stream, slc;

	CHECK_OK(debugfs_set_mode("fast"));
	stream = count_of("cdm-stream", 1);
	slc = count_of("slc", 1);
	fx_check_works(&fx);
	CHECK_EQUAL(count_of("cdm-stream", 1), stream);
	CHECK_EQUAL(count_of("slc", 1), slc);
	CHECK_OK(debugfs_set_mode("counted"));
	fx_check_works(&fx);
	stream = count_of("cdm-stream", 1);
	CHECK(stream > 0);
	/* It bypasses the caches: column SLC_BYPASSES. */
	CHECK_EQUAL(count_of("cdm-stream", 13), stream);
	CHECK(count_of("slc", 1) > stream);
	/* The names of columns. */
	CHECK(need_line("hierarchy", "client REQUESTS BYTES FIRST_REQUESTS", "WRITTEN_BYTES"));
	CHECK(need_line("hierarchy", "level REQUESTS BYTES HITS", "WRITTEN_BYTES"));
	CHECK_OK(debugfs_set_mode("fast"));
}

/* Run a job with a monitor, and get the values of its two counters. */
static void run_monitored(struct fixture *fx, u64 stream, u32 perfmon, u64 values[2])
{
	fx_run_counted(fx, stream, perfmon);
	CHECK_OK(gpu_perfmon_values(fx->fd, perfmon, DRM_PUMICE_PERFMON_RESET, values));
}

static void a_monitor_has_the_requests_of_its_job(void)
{
	static const u32 counters[] = {
		PUMICE_PERF_HIER_CDM_STREAM_REQUESTS, PUMICE_PERF_HIER_USC_STORE_SLC_MISSES,
	};
	struct fixture fx = fx_open();
	u64 store = fx_store_stream(&fx, fx.data.va, 1), values[2];
	unsigned long long stream, misses;
	u32 id;

	CHECK_OK(debugfs_set_mode("fast"));
	CHECK_OK(gpu_perfmon_create(fx.fd, counters, 2, &id));
	run_monitored(&fx, store, id, values);
	CHECK_EQUAL(values[0], 0);
	CHECK_EQUAL(values[1], 0);
	CHECK_OK(debugfs_set_mode("counted"));
	fx_check_works(&fx);
	stream = count_of("cdm-stream", 1);
	misses = count_of("usc-store", 12);
	run_monitored(&fx, store, id, values);
	CHECK(values[0] > 0 && values[1] > 0);
	CHECK_EQUAL(values[0], count_of("cdm-stream", 1) - stream);
	CHECK_EQUAL(values[1], count_of("usc-store", 12) - misses);
	CHECK_OK(debugfs_set_mode("fast"));
}

/* A GPU that goes to sleep is reset, which clears the registers. */
static void hierarchy_keeps_counts_while_the_gpu_sleeps(void)
{
	struct fixture fx = fx_open();
	unsigned long long stream, slc;

	CHECK_OK(debugfs_set_mode("counted"));
	fx_check_works(&fx);
	stream = count_of("cdm-stream", 1);
	slc = count_of("slc", 1);
	CHECK(stream > 0);
	need_gpu_asleep();
	CHECK_EQUAL(count_of("cdm-stream", 1), stream);
	/* The firmware has booted again, with requests of its own. */
	CHECK(count_of("slc", 1) >= slc);
	CHECK_OK(debugfs_set_mode("fast"));
}

static const struct test_case cases[] = {
	TEST_CASE(contexts_name_their_process),
	TEST_CASE(process_is_named_by_its_first_thread),
	TEST_CASE(names_and_labels_are_escaped),
	TEST_CASE(fault_is_kept_after_its_process_has_ended),
	TEST_CASE(last_sixteen_faults_are_kept),
	TEST_CASE(time_out_is_kept),
	TEST_CASE(jobs_lost_in_a_reset_are_kept),
	TEST_CASE(other_ends_of_jobs_are_not_kept),
	TEST_CASE(vms_show_process_and_labels_of_mappings),
	TEST_CASE(fw_log_has_names_in_place_of_numbers),
	TEST_CASE(mode_is_set_by_its_name),
	TEST_CASE(mode_does_not_change_while_a_job_runs),
	TEST_CASE(hierarchy_has_the_counts_of_jobs),
	TEST_CASE(a_monitor_has_the_requests_of_its_job),
	TEST_CASE(hierarchy_keeps_counts_while_the_gpu_sleeps),
};

TEST_MAIN_TIMEOUT(cases, TIMEOUT_MS)
