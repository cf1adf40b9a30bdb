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
#include <unistd.h>

#define SECONDS		120	/* of a case */
#define KILL_SECONDS	30	/* until a killed case must be gone */
#define STATUS_FAILED	1

enum outcome {
	OUTCOME_OK,
	OUTCOME_FAILED,
	OUTCOME_STUCK,	/* it cannot even be killed */
};

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

/* Whether the process behind a pidfd ended in time. */
static bool wait_end(int pidfd, unsigned int seconds)
{
	struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };
	int ready;

	do {
		ready = poll(&poll_fd, 1, (int)seconds * 1000);
	} while (ready < 0 && errno == EINTR);
	return ready > 0;
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

static enum outcome run_case(const struct test_case *test)
{
	unsigned int seconds = test->seconds ? test->seconds : SECONDS;
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
	return outcome_of(status);
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
