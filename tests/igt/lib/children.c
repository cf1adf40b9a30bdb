// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Processes that a subtest starts.
 *
 * Limits: MAX_CHILDREN at a time. A child that cannot be killed is not waited
 * for: the runner's time limit covers that case.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "layer.h"

#define MAX_CHILDREN	64u
#define SIGNAL_STATUS	128	/* added to the number of the signal that killed a child */

#define MAX_HELPERS	4

static pid_t children[MAX_CHILDREN];
static pid_t helpers[MAX_HELPERS];	/* 0: a free place */
static unsigned int count;
static bool is_child;
static volatile sig_atomic_t time_is_over;

bool igt_layer_is_child(void)
{
	return is_child;
}

/* Like fork(); the new process does not run its parent's cleanup. */
static pid_t start_process(void)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	igt_assert_f(pid >= 0, "fork\n");
	if (pid)
		return pid;
	count = 0;
	memset(helpers, 0, sizeof(helpers));
	igt_layer_forget_exit_handlers();
	return 0;
}

bool igt_layer_fork(void)
{
	pid_t pid;

	igt_assert_f(!is_child, "a child cannot have children\n");
	igt_assert_f(count < MAX_CHILDREN, "no more than %u children\n", MAX_CHILDREN);
	pid = start_process();
	if (pid) {
		children[count++] = pid;
		return false;
	}
	is_child = true;
	return true;
}

/* Kill helpers when the process ends: they must not outlive it. */
static void end_helpers(int signal)
{
	int i;

	(void)signal;
	for (i = 0; i < MAX_HELPERS; i++) {
		if (helpers[i] && !kill(helpers[i], SIGTERM))
			waitpid(helpers[i], NULL, 0);
	}
}

bool igt_layer_fork_helper(struct igt_helper_process *helper)
{
	igt_assert(!helper->running);
	for (helper->id = 0; helper->id < MAX_HELPERS && helpers[helper->id]; helper->id++)
		;
	igt_assert_f(helper->id < MAX_HELPERS, "no more than %u helpers\n", MAX_HELPERS);
	igt_install_exit_handler(end_helpers);
	helper->pid = start_process();
	if (!helper->pid)
		return true;
	helper->running = true;
	helpers[helper->id] = helper->pid;
	return false;
}

int igt_wait_helper(struct igt_helper_process *helper)
{
	int status = -1;

	igt_assert(helper->running);
	while (waitpid(helper->pid, &status, 0) < 0 && errno == EINTR)
		;
	helper->running = false;
	helpers[helper->id] = 0;
	return status;
}

void igt_stop_helper(struct igt_helper_process *helper)
{
	int number = helper->use_SIGKILL ? SIGKILL : SIGTERM, status;

	if (!helper->running)
		return;
	kill(helper->pid, number);
	status = igt_wait_helper(helper);
	igt_assert_f(WIFSIGNALED(status) && WTERMSIG(status) == number,
		     "a helper ended by itself, with status %#x\n", status);
}

void igt_kill_children(int signal)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		kill(children[i], signal);
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Return whether the process was one of the children. */
static bool forget(pid_t pid)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (children[i] == pid) {
			children[i] = children[--count];
			return true;
		}
	}
	return false;
}

/* Wait for all; if one fails, kill the others. Returns the first failure. */
static int wait_all(void)
{
	int first = 0, status;
	pid_t pid;

	while (count) {
		pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno == EINTR) {
			if (time_is_over)
				igt_kill_children(SIGKILL);
			continue;
		}
		if (pid < 0)
			break;
		if (!forget(pid))
			continue;
		if (status && !first) {
			first = status_of(status);
			if (WIFSIGNALED(status))
				igt_warn("a child was killed by signal %d, %s\n",
					 WTERMSIG(status), strsignal(WTERMSIG(status)));
			igt_kill_children(SIGKILL);
		}
	}
	return first;
}

void igt_layer_forget_children(void)
{
	igt_kill_children(SIGKILL);
	wait_all();
}

void igt_waitchildren(void)
{
	int status = wait_all();

	if (status)
		igt_fail(status);
}

static void note_time(int signal)
{
	(void)signal;
	time_is_over = 1;
}

void igt_waitchildren_timeout(int seconds, const char *reason)
{
	/* Periodic: the first signal may arrive just before the wait. */
	const struct itimerval limit = { .it_value = { .tv_sec = seconds },
					 .it_interval = { .tv_sec = 1 } };
	const struct itimerval off = { 0 };
	const struct sigaction action = { .sa_handler = note_time };
	struct sigaction before;
	int status;

	time_is_over = 0;
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &limit, NULL);
	status = wait_all();
	setitimer(ITIMER_REAL, &off, NULL);
	sigaction(SIGALRM, &before, NULL);
	if (time_is_over)
		igt_critical("Timed out: %s\n", reason ? reason : "children still running");
	if (status)
		igt_fail(time_is_over ? IGT_EXIT_FAILURE : status);
}
