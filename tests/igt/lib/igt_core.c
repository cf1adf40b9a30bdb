// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Subtests and their verdicts. See igt_core.h. */
#include "igt_core.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "layer.h"

#define NAME_BYTES	128
#define DESCRIPTION_BYTES 4096
#define SIGNAL_STATUS	128	/* added to the number of a deadly signal */

enum verdict {
	VERDICT_NONE,		/* subtests run */
	VERDICT_SKIP,		/* a fixture skipped: so do they */
	VERDICT_FAIL,
};

enum block {
	BLOCK_NONE,
	BLOCK_FIXTURE,
	BLOCK_SUBTEST,
};

static struct {
	enum block block;
	char name[NAME_BYTES];		/* of the subtest that runs */
	struct timespec start;		/* of it */
	enum verdict verdict;		/* for the subtests that follow */
	unsigned int matched, passed, skipped, failed;
	int status;			/* of the first failure */
	char described[DESCRIPTION_BYTES]; /* descriptions of open groups, and the next */
	unsigned int described_used;	/* by groups */
} state;

sigjmp_buf igt_layer_mark;

/* ----------------------------------------------------------------- results */

static double seconds_since(const struct timespec *start)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) +
	       (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

/* Write to both streams, because the runner reads each separately. */
static void report(const char *line)
{
	fflush(stderr);
	fputs(line, stdout);
	fflush(stdout);
	fputs(line, stderr);
	fflush(stderr);
}

static void report_result(const char *result)
{
	char line[NAME_BYTES + 64];

	snprintf(line, sizeof(line), "Subtest %s: %s (%.3fs)\n", state.name, result,
		 seconds_since(&state.start));
	report(line);
	igt_layer_kmsg("%s: finished subtest %s, %s\n", igt_layer_program(), state.name, result);
}

static void note_failure(int status)
{
	if (!state.failed)
		state.status = status;
	state.failed++;
}

static void leave_block(void)
{
	state.block = BLOCK_NONE;
	state.name[0] = 0;
}

/* End the block early. */
static void jump_out(void) __attribute__((noreturn));
static void jump_out(void)
{
	leave_block();
	siglongjmp(igt_layer_mark, 1);
}

void igt_success(void)
{
	if (state.block != BLOCK_SUBTEST)
		return;
	igt_layer_forget_children();
	report_result("SUCCESS");
	state.passed++;
	jump_out();
}

void igt_fail(int exitcode)
{
	if (igt_layer_is_child())
		exit(exitcode);
	igt_layer_forget_children();
	note_failure(exitcode);
	igt_layer_log_dump(state.block == BLOCK_SUBTEST ? state.name : "fixture");
	if (state.block == BLOCK_SUBTEST) {
		report_result("FAIL");
		jump_out();
	}
	if (state.block == BLOCK_FIXTURE) {
		state.verdict = VERDICT_FAIL;
		jump_out();
	}
	exit(exitcode);
}

static void skip(void) __attribute__((noreturn));
static void skip(void)
{
	if (igt_layer_is_child()) {
		igt_critical("a child process cannot skip\n");
		exit(IGT_EXIT_FAILURE);
	}
	igt_layer_forget_children();
	if (state.block == BLOCK_SUBTEST) {
		report_result("SKIP");
		state.skipped++;
		jump_out();
	}
	if (state.block == BLOCK_FIXTURE) {
		state.verdict = VERDICT_SKIP;
		jump_out();
	}
	exit(IGT_EXIT_SKIP);
}

void igt_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	igt_vlog(NULL, IGT_LOG_INFO, format, args);
	va_end(args);
	skip();
}

static void log_errno(const char *domain, enum igt_log_level level, int error)
{
	if (error)
		igt_log(domain, level, "Last errno: %d, %s\n", error, strerror(error));
}

void igt_layer_skip_check(const char *file, int line, const char *function, const char *check,
			  const char *format, ...)
{
	int error = errno;
	va_list args;

	igt_info("Test requirement not met in function %s, file %s:%d:\n", function, file, line);
	igt_info("Test requirement: %s\n", check);
	if (format) {
		va_start(args, format);
		igt_vlog(NULL, IGT_LOG_INFO, format, args);
		va_end(args);
	}
	log_errno(NULL, IGT_LOG_INFO, error);
	skip();
}

void igt_layer_fail_assert(const char *domain, const char *file, int line, const char *function,
			   const char *assertion, const char *format, ...)
{
	int error = errno;
	va_list args;

	igt_log(domain, IGT_LOG_CRITICAL, "Test assertion failure function %s, file %s:%d:\n",
		function, file, line);
	igt_log(domain, IGT_LOG_CRITICAL, "Failed assertion: %s\n", assertion);
	log_errno(domain, IGT_LOG_CRITICAL, error);
	if (format) {
		va_start(args, format);
		igt_vlog(domain, IGT_LOG_CRITICAL, format, args);
		va_end(args);
	}
	igt_fail(IGT_EXIT_FAILURE);
}

void igt_layer_abort(const char *domain, const char *file, int line, const char *function,
		     const char *expression, const char *format, ...)
{
	va_list args;

	igt_log(domain, IGT_LOG_CRITICAL, "Test abort in function %s, file %s:%d:\n", function,
		file, line);
	igt_log(domain, IGT_LOG_CRITICAL, "abort condition: %s\n", expression);
	va_start(args, format);
	igt_vlog(domain, IGT_LOG_CRITICAL, format, args);
	va_end(args);
	exit(IGT_EXIT_ABORT);
}

void igt_exit(void)
{
	if (igt_layer_options.mode == IGT_LAYER_RUN && igt_layer_options.wanted &&
	    !state.matched) {
		igt_critical("Unknown subtest: %s\n", igt_layer_options.wanted);
		exit(IGT_EXIT_INVALID);
	}
	if (igt_layer_options.mode != IGT_LAYER_RUN)
		exit(IGT_EXIT_SUCCESS);
	if (!state.failed)
		state.status = state.passed ? IGT_EXIT_SUCCESS : IGT_EXIT_SKIP;
	igt_layer_kmsg("%s: exiting, ret=%d\n", igt_layer_program(), state.status);
	exit(state.status);
}

/* ------------------------------------------------------------------ blocks */

bool igt_layer_enter_fixture(void)
{
	if (igt_layer_options.mode != IGT_LAYER_RUN || state.verdict != VERDICT_NONE)
		return false;
	state.block = BLOCK_FIXTURE;
	igt_layer_log_clear();
	return true;
}

void igt_layer_leave_fixture(void)
{
	leave_block();
}

static void check_name(const char *file, int line)
{
	const char *at;

	for (at = state.name; *at; at++) {
		if (isalnum((unsigned char)*at) || strchr("-_", *at))
			continue;
		fprintf(stderr, "%s:%d: \"%s\" is not a name of a subtest\n", file, line,
			state.name);
		exit(IGT_EXIT_INVALID);
	}
}

/* Descriptions of the open groups, then the subtest's, each indented. */
static void describe(const char *file, int line)
{
	size_t at = 0, length;

	printf("SUB %s %s:%d:\n", state.name, file, line);
	if (!state.described[0])
		printf("  NO DOCUMENTATION!\n");
	while (state.described[at]) {
		length = strcspn(&state.described[at], "\n");
		printf("%s  ", at ? "\n" : "");
		fwrite(&state.described[at], 1, length, stdout);
		printf("\n");
		at += length + (state.described[at + length] == '\n');
	}
	printf("\n");
}

/* Discard the description, which was for this subtest alone. */
static void use_up_description(void)
{
	state.described[state.described_used] = 0;
}

/* A fixture failed or skipped: the subtest does not run. */
static void report_verdict(void)
{
	char line[NAME_BYTES + 64];

	snprintf(line, sizeof(line), "Subtest %s: %s\n", state.name,
		 state.verdict == VERDICT_FAIL ? "FAIL" : "SKIP");
	report(line);
	if (state.verdict == VERDICT_FAIL)
		note_failure(IGT_EXIT_FAILURE);
	else
		state.skipped++;
}

bool igt_layer_enter_subtest(const char *file, int line, const char *format, ...)
{
	const char *wanted = igt_layer_options.wanted;
	char announcement[NAME_BYTES + 32];
	va_list args;

	va_start(args, format);
	vsnprintf(state.name, sizeof(state.name), format, args);
	va_end(args);
	check_name(file, line);
	if (igt_layer_options.mode == IGT_LAYER_LIST)
		puts(state.name);
	if (igt_layer_options.mode == IGT_LAYER_TESTLIST)
		printf("igt@%s@%s\n", igt_layer_program(), state.name);
	if (igt_layer_options.mode == IGT_LAYER_DESCRIBE &&
	    (!wanted || igt_layer_matches(wanted, state.name)))
		describe(file, line);
	use_up_description();
	if (igt_layer_options.mode != IGT_LAYER_RUN ||
	    (wanted && !igt_layer_matches(wanted, state.name)))
		return false;
	state.matched++;
	if (state.verdict != VERDICT_NONE) {
		report_verdict();
		return false;
	}
	igt_layer_log_clear();
	igt_layer_kmsg("%s: starting subtest %s\n", igt_layer_program(), state.name);
	snprintf(announcement, sizeof(announcement), "Starting subtest: %s\n", state.name);
	report(announcement);
	clock_gettime(CLOCK_MONOTONIC, &state.start);
	state.block = BLOCK_SUBTEST;
	return true;
}

struct igt_layer_group igt_layer_enter_group(void)
{
	struct igt_layer_group group = {
		.open = true, .verdict = state.verdict, .described = state.described_used,
	};

	/* The last description applies to the whole group. */
	state.described_used = (unsigned int)strlen(state.described);
	return group;
}

void igt_layer_leave_group(struct igt_layer_group *group)
{
	group->open = false;
	state.verdict = (enum verdict)group->verdict;
	state.described_used = group->described;
	use_up_description();
}

void igt_describe_f(const char *format, ...)
{
	char *to = state.described + state.described_used;
	size_t room = sizeof(state.described) - state.described_used - 1, used;
	va_list args;

	va_start(args, format);
	vsnprintf(to, room, format, args);
	va_end(args);
	used = strlen(to);
	to[used] = '\n';
	to[used + 1] = 0;
}

const char *igt_subtest_name(void)
{
	return state.block == BLOCK_SUBTEST ? state.name : NULL;
}

bool igt_only_list_subtests(void)
{
	return igt_layer_options.mode != IGT_LAYER_RUN;
}

/* ----------------------------------------------------------------- crashes */

/* A crash ends the subtest, not the program; its status contains the signal. */
static void crash(int number)
{
	char line[64];
	int length;

	length = snprintf(line, sizeof(line), "Received signal SIG%s.\n", sigabbrev_np(number));
	if (write(STDERR_FILENO, line, (size_t)length) < 0 || igt_layer_is_child() ||
	    state.block != BLOCK_SUBTEST) {
		igt_layer_call_exit_handlers(number);
		signal(number, SIG_DFL);
		raise(number);
		return;
	}
	igt_layer_forget_children();
	note_failure(SIGNAL_STATUS + number);
	report_result("CRASH");
	jump_out();
}

void igt_layer_init(int argc, char **argv)
{
	static const int deadly[] = { SIGILL, SIGBUS, SIGFPE, SIGSEGV };
	static char stack[64 * 1024];
	const stack_t alternative = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = { .sa_handler = crash, .sa_flags = SA_ONSTACK };
	const char *slash = strrchr(argv[0], '/');
	unsigned int i;

	igt_layer_log_name(slash ? slash + 1 : argv[0]);
	igt_layer_parse(argc, argv);
	if (igt_layer_options.mode == IGT_LAYER_DESCRIBE && &igt_layer_description)
		printf("%s\n\n", igt_layer_description);
	if (igt_layer_options.mode != IGT_LAYER_RUN)
		return;
	igt_layer_kmsg("%s: executing\n", igt_layer_program());
	igt_layer_version();
	sigaltstack(&alternative, NULL);
	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		sigaction(deadly[i], &action, NULL);
}
