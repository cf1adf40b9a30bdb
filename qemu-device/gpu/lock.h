/* SPDX-License-Identifier: MIT */
/* Initialization of the locks that threads of the GPU acquire for each task. */
#ifndef PUMICE_LOCK_H
#define PUMICE_LOCK_H

#include <pthread.h>

/**
 * lock_init - initialize a lock that is held for less time than it takes to sleep
 * @lock: lock; pthread_mutex_destroy() releases it
 *
 * A waiter spins briefly before it sleeps in the host's kernel, where the host's C library can.
 */
static inline void lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
#ifdef __GLIBC__
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

#endif
