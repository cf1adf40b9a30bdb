// SPDX-License-Identifier: MIT
/*
 * Tests of the harness: a seeded failure must be reported as a failure.
 *
 * Runs on the build machine, without a GPU. The program runs itself with the
 * argument "seeded", whose cases fail in all possible ways, and reads the
 * report.
 */
#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORT_BYTES 16384
#define RESET "3,1,1,-;pumice 0000:01:00.0: [drm] *ERROR* resetting the GPU: seeded\n"

static char report[REPORT_BYTES];
static int report_status;
/* Receives the messages that the driver would write to the kernel's log. */
static int log_input;
static bool log_is_missing;

/* A harness that runs cases while another one does has a log of its own. */
static void make_log(void)
{
	char path[32];
	int fds[2];

	if (pipe(fds))
		exit(1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	setenv("PUMICE_KMSG", path, 1);
	log_input = fds[1];
}

static void log_reset(void)
{
	CHECK_EQUAL(write(log_input, RESET, strlen(RESET)), strlen(RESET));
}

static void passes(void)
{
	CHECK(1);
	CHECK_EQUAL(2 + 2, 4);
	CHECK_OK(0);
	CHECK_ERROR(-EINVAL, EINVAL);
}

static void fails_a_condition(void)
{
	CHECK(!"seeded");
}

static void fails_an_equality(void)
{
	CHECK_EQUAL(1, 2);
}

static void fails_by_success(void)
{
	CHECK_ERROR(0, EINVAL);
}

static void fails_by_another_error(void)
{
	CHECK_ERROR(-EFAULT, EINVAL);
}

static void crashes(void)
{
	raise(SIGSEGV);
}

static void hangs(void)
{
	for (;;)
		pause();
}

static void resets_the_gpu(void)
{
	log_reset();
}

static void announces_resets(void)
{
	log_reset();
	log_reset();
}

static void announced_reset_does_not_happen(void)
{
}

static const struct test_case seeded[] = {
	TEST_CASE(passes),
	TEST_CASE(fails_a_condition),
	TEST_CASE(fails_an_equality),
	TEST_CASE(fails_by_success),
	TEST_CASE(fails_by_another_error),
	TEST_CASE(crashes),
	TEST_CASE_SECONDS(hangs, 1),
	TEST_CASE(resets_the_gpu),
	TEST_CASE_RESETS(announces_resets),
	TEST_CASE_RESETS(announced_reset_does_not_happen),
};

/* Run the seeded cases, or one by name, in a child; store its output and exit status. */
static void read_report(char *name)
{
	size_t used = 0;
	int fds[2];
	ssize_t got;
	pid_t pid;

	CHECK_OK(pipe(fds));
	pid = fork();
	if (!pid) {
		char *argv[] = { "seeded", name, NULL };

		if (log_is_missing)
			setenv("PUMICE_KMSG", "/no/such/file", 1);
		else
			make_log();
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		exit(test_main(name ? 2 : 1, argv, seeded, sizeof(seeded) / sizeof(seeded[0])));
	}
	close(fds[1]);
	while ((got = read(fds[0], report + used, sizeof(report) - 1 - used)) > 0)
		used += (size_t)got;
	close(fds[0]);
	waitpid(pid, &report_status, 0);
}

static void a_program_with_a_failed_case_exits_with_1(void)
{
	read_report(NULL);
	CHECK(WIFEXITED(report_status));
	CHECK_EQUAL(WEXITSTATUS(report_status), 1);
}

static void every_case_gets_one_line_with_its_outcome(void)
{
	static const char *const lines[] = {
		"1..10\n",
		"\nok 1 - passes\n",
		"\nnot ok 2 - fails_a_condition\n",
		"\nnot ok 3 - fails_an_equality\n",
		"\nnot ok 4 - fails_by_success\n",
		"\nnot ok 5 - fails_by_another_error\n",
		"\nnot ok 6 - crashes\n",
		"\nnot ok 7 - hangs\n",
		"\nnot ok 8 - resets_the_gpu\n",
		"\nok 9 - announces_resets\n",
		"\nnot ok 10 - announced_reset_does_not_happen\n",
	};
	unsigned int i;

	read_report(NULL);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!strstr(report, lines[i]))
			test_fail(__FILE__, __LINE__, "no line \"%s\"", lines[i]);
	}
}

static void a_failed_check_reports_file_line_and_values(void)
{
	read_report(NULL);
	CHECK(strstr(report, "harness_test.c:"));
	CHECK(strstr(report, "1 is 1 (0x1), should be 2 (0x2)"));
	CHECK(strstr(report, "0 gives success, should give EINVAL"));
	CHECK(strstr(report, "-EFAULT gives EFAULT, should give EINVAL"));
}

static void an_unannounced_reset_is_reported(void)
{
	read_report(NULL);
	CHECK(strstr(report, "# 1 resets that the case does not announce: "
			     "resetting the GPU: seeded\nnot ok 8 "));
	CHECK(strstr(report, "# announces a reset of the GPU, and there was none\nnot ok 10 "));
}

/* Without the log, resets would remain undetected. */
static void a_program_that_cannot_read_the_log_fails(void)
{
	log_is_missing = true;
	read_report(NULL);
	CHECK_EQUAL(WEXITSTATUS(report_status), 1);
	CHECK(!strncmp(report, "Bail out!", 9));
}

static void a_case_that_does_not_exist_is_a_failure(void)
{
	char name[] = "no_such_case";

	read_report(name);
	CHECK(WIFEXITED(report_status));
	CHECK_EQUAL(WEXITSTATUS(report_status), 1);
}

static void a_case_can_be_run_by_name(void)
{
	char name[] = "passes";

	read_report(name);
	CHECK(WIFEXITED(report_status));
	CHECK_EQUAL(WEXITSTATUS(report_status), 0);
	CHECK(strstr(report, "1..1\nok 1 - passes\n"));
}

static const struct test_case cases[] = {
	TEST_CASE(a_program_with_a_failed_case_exits_with_1),
	TEST_CASE(every_case_gets_one_line_with_its_outcome),
	TEST_CASE(a_failed_check_reports_file_line_and_values),
	TEST_CASE(a_case_can_be_run_by_name),
	TEST_CASE(a_case_that_does_not_exist_is_a_failure),
	TEST_CASE(an_unannounced_reset_is_reported),
	TEST_CASE(a_program_that_cannot_read_the_log_fails),
};

int main(int argc, char **argv)
{
	make_log();
	return test_main(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
