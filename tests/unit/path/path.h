/* SPDX-License-Identifier: MIT */
/*
 * Fixture of the tests from a call of the library through firmware, MMU and waves to a
 * result: one device for each number of cores and threads.
 */
#ifndef TEST_PATH_H
#define TEST_PATH_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "progfile.h"
#include "pumice/pumice.h"

#define SECOND		1000000000ull
/*
 * Time-out of waits that must succeed, and the first number of threads of a series of runs.
 * ThreadSanitizer is many times slower, and races need threads.
 */
#ifdef __SANITIZE_THREAD__
#define LONG		(600 * SECOND)
#define FIRST_THREADS	1u
#else
#define LONG		(60 * SECOND)
#define FIRST_THREADS	0u
#endif

struct path {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_bo *out;		/* memory for results */
	uint64_t out_va, out_bytes;
	uint32_t *out_cpu;
	const char *preset;	/* of all sizes; NULL: the default one with this number of cores */
	unsigned int cores, threads;
};

/* A program, assembled for work-groups of some size. */
struct path_sized {
	uint32_t group;		/* instances */
	const void *file;
	size_t bytes;
};

/* Of NAME_SIZE.pasm.h. */
#define PATH_SIZED(name, size)	{ size, name##_##size##_program, sizeof(name##_##size##_program) }

/* Open a device with p->cores and p->threads; close it. */
void path_open(struct path *p);
void path_close(struct path *p);
/* Call @fn with a device of each of cores {1,2,4,16} and threads {0,1,2}. */
void path_each(void (*fn)(struct path *p));
/* Call @fn with a device of each preset. */
void path_each_preset(void (*fn)(struct path *p));
/* Call @fn with one device. */
void path_one(unsigned int cores, unsigned int threads, void (*fn)(struct path *p));

/* Create a kernel from a program file. */
struct pumice_kernel *path_kernel(struct path *p, const void *file, size_t bytes);
/* Add a dispatch of groups in x. */
void path_dispatch(struct path *p, const struct pumice_kernel *k, uint32_t groups,
		   const uint32_t *uniforms, uint32_t words);
/* Run the stream in p->context, and empty it. Returns the value of pumice_context_run(). */
int path_run(struct path *p, struct pumice_context_state *state);
/*
 * Both; work-groups of this number of instances must run if a USC has room for one, and else the
 * dispatch must be refused. Returns whether they ran.
 */
bool path_dispatch_if_it_fits(struct path *p, const struct pumice_kernel *k, uint32_t instances,
			      uint32_t groups, const uint32_t *uniforms, uint32_t words);
/* Let the GPU work briefly: without threads it works during waits only. */
void path_run_briefly(struct path *p);
/* Run store.pasm in the context and check every word. */
void path_assert_works(struct path *p, struct pumice_context *context);

/* The address as two words of uniforms. */
#define VA_WORDS(va) (uint32_t)(va), (uint32_t)((va) >> 32)

#endif
