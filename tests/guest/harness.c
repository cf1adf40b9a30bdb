// SPDX-License-Identifier: MIT
/* Harness of the guest's test programs. See harness.h. */
#include "harness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel_log.h"

#define SECONDS		120	/* time limit of a case */
#define KILL_SECONDS	30	/* time for a killed case to exit */
#define STATUS_FAILED	1
#define MS_PER_SECOND	1000
#define NS_PER_MS	1000000

enum outcome {
	OUTCOME_OK,
	OUTCOME_FAILED,
	OUTCOME_STUCK,	/* it did not exit after being killed */
};

/* Shared by all cases: a reset after the end of one counts for the next one. */
static struct kernel_log kernel_log;

static void vnote(const char *format, va_list args)
{
	printf("# ");
	vprintf(format, args);
	printf("\n");
	fflush(stdout);
}

void test_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vnote(format, args);
	va_end(args);
}

void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("# %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(STATUS_FAILED);
}

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * MS_PER_SECOND + now.tv_nsec / NS_PER_MS;
}

/*
 * Return whether the process of a pidfd ended in time. The log is read meanwhile, before the
 * kernel overwrites it.
 */
static bool wait_end(int pidfd, unsigned int seconds)
{
	const long long end = now_ms() + (long long)seconds * MS_PER_SECOND;
	struct pollfd fds[] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = kernel_log.fd, .events = POLLIN },
	};
	long long left;

	do {
		left = end - now_ms();
		if (poll(fds, 2, left > 0 ? (int)left : 0) < 0 && errno != EINTR)
			return false;
		kernel_log_read(&kernel_log);
	} while (!fds[0].revents && left > 0);
	return fds[0].revents;
}

static enum outcome outcome_of(int status)
{
	if (WIFSIGNALED(status)) {
		test_note("ended by signal %d (%s)", WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
		return OUTCOME_FAILED;
	}
	return WEXITSTATUS(status) ? OUTCOME_FAILED : OUTCOME_OK;
}

/* A reset must fail the case: jobs that had not begun are replayed, so it could pass otherwise. */
static bool resets_are_as_announced(const struct test_case *test)
{
	unsigned int resets;

	kernel_log_read(&kernel_log);
	resets = kernel_log_take(&kernel_log);
	if (kernel_log.overrun) {
		test_note("the kernel's log was overwritten before it was read");
		kernel_log.overrun = false;
		return false;
	}
	if (resets && !test->resets)
		test_note("%u resets that the case does not announce: %s", resets,
			  kernel_log.last);
	if (!resets && test->resets)
		test_note("announces a reset of the GPU, and there was none");
	return !resets == !test->resets;
}

static enum outcome run_case(const struct test_case *test)
{
	unsigned int seconds = test->seconds ? test->seconds : SECONDS;
	enum outcome outcome;
	int pidfd, status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		test_note("fork: %s", strerror(errno));
		return OUTCOME_FAILED;
	}
	if (!pid) {
		setpgid(0, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		test->run();
		fflush(stdout);
		_exit(0);
	}
	setpgid(pid, pid);
	pidfd = open_pidfd(pid);
	if (!wait_end(pidfd, seconds)) {
		test_note("not done after %u seconds", seconds);
		kill(-pid, SIGKILL);
		if (!wait_end(pidfd, KILL_SECONDS)) {
			close(pidfd);
			return OUTCOME_STUCK;
		}
	}
	close(pidfd);
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	outcome = outcome_of(status);
	return resets_are_as_announced(test) ? outcome : OUTCOME_FAILED;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
	int i;

	if (argc < 2)
		return true;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], name))
			return true;
	}
	return false;
}

int test_main(int argc, char **argv, const struct test_case *cases, unsigned int count)
{
	unsigned int wanted = 0, number = 0, failed = 0, i;
	int err = kernel_log_open(&kernel_log);

	if (err) {
		printf("Bail out! the kernel's log: %s\n", strerror(-err));
		return 1;
	}
	for (i = 0; i < count; i++)
		wanted += is_wanted(cases[i].name, argc, argv);
	printf("1..%u\n", wanted);
	for (i = 0; i < count; i++) {
		enum outcome outcome;
		bool bad;

		if (!is_wanted(cases[i].name, argc, argv))
			continue;
		outcome = run_case(&cases[i]);
		number++;
		bad = outcome == OUTCOME_FAILED || outcome == OUTCOME_STUCK;
		failed += bad;
		printf("%s %u - %s\n", bad ? "not ok" : "ok", number, cases[i].name);
		fflush(stdout);
		if (outcome == OUTCOME_STUCK) {
			printf("Bail out! %s cannot be killed\n", cases[i].name);
			return 1;
		}
	}
	if (argc > 1 && wanted != (unsigned int)argc - 1) {
		test_note("no case has one of the names given");
		return 1;
	}
	return failed ? 1 : 0;
}
