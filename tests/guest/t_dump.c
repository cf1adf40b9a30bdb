// SPDX-License-Identifier: MIT
/*
 * Devcoredumps: a fault, a time-out and a reset each create one, and pumice-dump prints
 * from it the data of this program: its name, the job, the stream, the instruction, the
 * page tables.
 *
 * The driver limits the rate of dumps, and the core keeps one at a time: so a case clears
 * an existing dump and fails its job again until there is a dump of its own.
 */
#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "parameters.h"
#include "pumice_formats.h"
#include "pumice_regs.h"
#include "fixture.h"
#include "system.h"

#define DUMPS		"/sys/class/devcoredump/devcd*/data"
#define UNMAPPED	(FX_FREE + PAGE)
#define TIMEOUT_MS	500
/*
 * For firmware that is stopped: the job must not time out before that, however slow the guest is,
 * and live firmware must reply. After a quarter of the first the driver pings it.
 */
#define PATIENT_MS	20000
#define FW_TIMEOUT_MS	2000
#define WAIT_NS		(20 * 1000000000ull)	/* for the dump of a failed job */
#define POLL_US		20000
#define TEXT_BYTES	(1u << 20)

/* Find the path of a dump. */
static bool find_dump(char *path, size_t bytes)
{
	glob_t found;
	bool have = !glob(DUMPS, 0, NULL, &found);

	if (have) {
		snprintf(path, bytes, "%s", found.gl_pathv[0]);
		globfree(&found);
	}
	return have;
}

/* Writing any data to a dump deletes it. */
static void clear_dumps(void)
{
	char path[128];
	u64 deadline = now_ns() + WAIT_NS;

	while (find_dump(path, sizeof(path)) && now_ns() < deadline) {
		write_file(path, "0");
		usleep(POLL_US);
	}
	CHECK(!find_dump(path, sizeof(path)));
}

/* Return the output of pumice-dump, which the caller frees. */
static char *show(const char *path)
{
	char command[256], *text = calloc(1, TEXT_BYTES);
	FILE *tool;

	CHECK(text);
	snprintf(command, sizeof(command), "pumice-dump %s", path);
	tool = popen(command, "r");
	CHECK(tool);
	fread(text, 1, TEXT_BYTES - 1, tool);
	CHECK_EQUAL(pclose(tool), 0);
	return text;
}

static bool has(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool has(const char *text, const char *format, ...)
{
	char want[256];
	va_list args;
	bool found;

	va_start(args, format);
	vsnprintf(want, sizeof(want), format, args);
	va_end(args);
	found = strstr(text, want);
	if (!found)
		test_note("not in the dump: %s", want);
	return found;
}

static bool is_mine(const char *text)
{
	char mine[64];

	snprintf(mine, sizeof(mine), "process: t_dump (%d)", getpid());
	return strstr(text, mine);
}

/* Fail jobs until one creates a dump; returns the dump as text. */
static char *need_dump(void (*fail)(void *data), void *data)
{
	u64 deadline = now_ns() + 4 * WAIT_NS, soon;
	char path[128], *text;

	while (now_ns() < deadline) {
		clear_dumps();
		fail(data);
		for (soon = now_ns() + WAIT_NS / 10; now_ns() < soon; usleep(POLL_US)) {
			if (!find_dump(path, sizeof(path)))
				continue;
			text = show(path);
			if (is_mine(text))
				return text;
			free(text);
			break;
		}
	}
	test_fail(__FILE__, __LINE__, "no dump came");
	return NULL;
}

struct faulting {
	struct fixture *fx;
	u64 stream;
	u32 jobs;
};

static void fault(void *data)
{
	struct faulting *f = data;

	f->jobs++;
	CHECK_EQUAL(fx_run(f->fx, f->stream), -EIO);
}

static void fault_leaves_its_walk_stream_and_instruction(void)
{
	struct drm_pumice_job_get_result result = { 0 };
	struct fixture fx = fx_open();
	struct faulting f = { .fx = &fx, .stream = fx_store_stream(&fx, UNMAPPED + 0x40, 0) };
	char *text;

	/* The page before is mapped, so that the walk reaches the last level. */
	need_mem(fx.fd, fx.vm, UNMAPPED - PAGE, PAGE);
	text = need_dump(fault, &f);
	CHECK_OK(gpu_job_result(fx.fd, fx.context, f.jobs, &result));
	CHECK(has(text, "reason: fault: a job faulted\n"));
	CHECK(has(text, "job: %u of context %u, a compute job", f.jobs, fx.context));
	CHECK(has(text, "stream: 0x%010llx\n", (unsigned long long)f.stream));
	CHECK(has(text, " by usc-data, write at 0x%010llx, usc %u pc 2", UNMAPPED + 0x40ull,
		  result.usc));
	CHECK(has(text, "=>     2  global_store32"));
	CHECK(has(text, "       3  end"));
	CHECK(has(text, "page-table walk of 0x%010llx:", UNMAPPED + 0x40ull));
	CHECK(has(text, "page catalogue at 0x"));
	CHECK(has(text, "page table at 0x"));
	CHECK(has(text, "the address is not mapped\n"));
	CHECK(has(text, "control stream:\n  %010llx  cdm_state", (unsigned long long)f.stream));
	CHECK(has(text, "cdm_launch"));
	CHECK(has(text, "cdm_halt"));
	CHECK(has(text, "SYS_ID"));
	CHECK(has(text, "MMU_CTX"));
	CHECK(has(text, "fault mmu-pt-invalid\n"));	/* from the firmware's log */
	/* The GPU has continued since the fault. */
	CHECK(has(text, "waves in flight (read later): "));
	CHECK(has(text, "registers (read later):\n"));
	CHECK(has(text, "firmware (read later): build "));
	CHECK(has(text, "firmware log (read later):\n"));
	free(text);
}

/*
 * The walk for the middle of 2 MiB ends at the first entry of its page table, in the heap of
 * such pages. A NULL mapping has them in any state of the memory.
 */
static void block_that_is_mapped_as_one_is_one_page(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_heaps query = need_heaps(fx.fd);
	const u64 block = query.heaps[query.count - 1].start + 6 * MIB, va = block + MIB;
	struct faulting f = { .fx = &fx, .stream = fx_store_stream(&fx, va, 0) };
	char *text;

	need_map(fx.fd, fx.vm, 0, 0, block, 2 * MIB,
		 DRM_PUMICE_BIND_NULL | DRM_PUMICE_BIND_READONLY);
	text = need_dump(fault, &f);
	CHECK(has(text, "page-table walk of 0x%010llx:", (unsigned long long)va));
	CHECK(has(text, "page directory at 0x"));
	CHECK(has(text, ", entry 3: 0x"));
	CHECK(has(text, "page table at 0x"));
	CHECK(has(text, ", entry 0: 0x"));
	free(text);
}

static void command_that_is_wrong_shows_in_its_stream(void)
{
	struct fixture fx = fx_open();
	struct faulting f = { .fx = &fx };
	char *text;

	f.stream = fx_place(&fx, (const u32[1]){ 0xf0000000 }, 1);
	text = need_dump(fault, &f);
	CHECK(has(text, "fault: cdm-command by cdm"));
	CHECK(has(text, "control stream:\n  %010llx", (unsigned long long)f.stream));
	CHECK(has(text, "around the fault, "));
	CHECK(has(text, "000000f0"));
	free(text);
}

struct hanging {
	struct fixture fx;
	u64 stream;
	u32 resets;
};

static void time_out(void *data)
{
	struct hanging *h = data;

	h->fx = fx_open();
	fx_block(&h->fx);
	CHECK_EQUAL(fx_wait(&h->fx), -ETIMEDOUT);
}

/* The loop of shader_loop() is one jump, instruction 3. */
static void check_loop(const char *text, const struct hanging *h)
{
	CHECK(has(text, "job: 1 of context %u, a compute job", h->fx.context));
	CHECK(has(text, "unit: usc-code\n"));
	CHECK(has(text, "busy data masters: compute"));
	CHECK(has(text, "1 at pc 3 of program 0x"));
	CHECK(has(text, "       2  global_atomic"));
	CHECK(has(text, "=>     3  jump"));
	CHECK(has(text, "waves in flight: 1\n"));
	CHECK(has(text, "cdm, runs, mmu context"));
	CHECK(has(text, "pc 3 of 0x"));
	CHECK(has(text, "cdm_launch"));
	CHECK(has(text, "DBG_CDM_STATUS"));
	CHECK(has(text, "BUSY = true"));
}

static void time_out_leaves_the_loop(void)
{
	struct hanging h;
	char *text = need_dump(time_out, &h);

	CHECK(has(text, "reason: time-out: a job took too long\n"));
	CHECK(has(text, "fault: killed by usc-code, at instruction 0x"));
	check_loop(text, &h);
	free(text);
}

static void hang_firmware(void *data)
{
	struct hanging *h = data;

	h->fx = fx_with(need_gpu(), DRM_PUMICE_PRIORITY_NORMAL, PATIENT_MS);
	fx_block(&h->fx);
	need_firmware_stopped();
	CHECK_EQUAL(fx_wait(&h->fx), -ECANCELED);
}

static void stopped_firmware_leaves_the_state_of_the_gpu(void)
{
	long usual = module_parameter("fw_timeout_ms");
	struct hanging h;
	char *text;

	CHECK_OK(set_module_parameter("fw_timeout_ms", FW_TIMEOUT_MS));
	text = need_dump(hang_firmware, &h);
	CHECK_OK(set_module_parameter("fw_timeout_ms", usual));
	CHECK(has(text, "reason: reset: firmware does not reply\n"));
	CHECK(has(text, "on the CDM: context "));
	check_loop(text, &h);
	fx_check_works(&(struct fixture[1]){ fx_open() }[0]);
	free(text);
}

static void dump_is_for_root_only_and_is_freed_when_cleared(void)
{
	struct fixture fx = fx_open();
	struct faulting f = { .fx = &fx, .stream = UNMAPPED };
	struct stat st;
	char path[128];

	free(need_dump(fault, &f));
	CHECK(find_dump(path, sizeof(path)));
	CHECK_EQUAL(stat(path, &st), 0);
	CHECK_EQUAL(st.st_uid, 0);
	CHECK_EQUAL(st.st_mode & 0777, 0600);
	CHECK(st.st_size == 0 || st.st_size > (off_t)sizeof(u64));
	clear_dumps();
}

/* Regardless of the number of faults: jobs complete, and there is at most one dump. */
static void many_faults_leave_one_dump(void)
{
	struct fixture fx = fx_open();
	u64 stream = fx_store_stream(&fx, UNMAPPED, 0);
	glob_t found;
	u32 i;

	clear_dumps();
	for (i = 0; i < 300; i++)
		fx_submit(&fx, stream);
	CHECK_EQUAL(fx_wait(&fx), -EIO);
	CHECK_EQUAL(need_state(fx.fd, fx.context).jobs_faulted, 300);
	fx_check_works(&fx);
	if (!glob(DUMPS, 0, NULL, &found)) {
		CHECK_EQUAL(found.gl_pathc, 1);
		globfree(&found);
	}
	clear_dumps();
}

static const struct test_case cases[] = {
	TEST_CASE(fault_leaves_its_walk_stream_and_instruction),
	TEST_CASE(block_that_is_mapped_as_one_is_one_page),
	TEST_CASE(command_that_is_wrong_shows_in_its_stream),
	TEST_CASE(time_out_leaves_the_loop),
	TEST_CASE_RESETS(stopped_firmware_leaves_the_state_of_the_gpu),
	TEST_CASE(dump_is_for_root_only_and_is_freed_when_cleared),
	TEST_CASE(many_faults_leave_one_dump),
};

int main(int argc, char **argv)
{
	const struct test_parameter timeout = { "job_timeout_ms", TIMEOUT_MS };
	int status = test_main_with(argc, argv, cases, sizeof(cases) / sizeof(cases[0]),
				    &timeout, 1);

	clear_dumps();
	return status;
}
