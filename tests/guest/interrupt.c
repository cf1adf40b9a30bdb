// SPDX-License-Identifier: MIT
/* Signals that interrupt the calls of one thread. See interrupt.h. */
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define NS_PER_US	1000

static void ignore_signal(int number)
{
	(void)number;
}

timer_t interrupt_me(uint32_t interval_us)
{
	const struct sigaction action = { .sa_handler = ignore_signal };
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	const struct timespec time = { .tv_nsec = (long)interval_us * NS_PER_US };
	const struct itimerspec interval = { .it_value = time, .it_interval = time };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	CHECK_OK(sigaction(SIGALRM, &action, NULL) ? -errno : 0);
	CHECK_OK(timer_create(CLOCK_MONOTONIC, &event, &timer) ? -errno : 0);
	CHECK_OK(timer_settime(timer, 0, &interval, NULL) ? -errno : 0);
	return timer;
}
