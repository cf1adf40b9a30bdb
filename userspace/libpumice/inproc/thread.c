// SPDX-License-Identifier: MIT
/* In-process backend: threads that serve a socket. */
#include <signal.h>

#include "inproc.h"

int server_thread(pthread_t *thread, void *(*serve)(void *), void *server)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(thread, NULL, serve, server);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}
