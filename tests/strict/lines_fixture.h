/* SPDX-License-Identifier: MIT */
/* Fixture of tests of lines: memory of an MMU context, in which a job runs. */
#ifndef PUMICE_TESTS_STRICT_LINES_FIXTURE_H
#define PUMICE_TESTS_STRICT_LINES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "strict/lines.h"
#include "testmem.h"

#include <cmocka.h>

#define CTX	3u
#define OTHER	4u
#define VA	0x40000000ull
#define BYTES	(10u << 20)	/* of memory: more lines than are kept */
#define ALL	UINT64_MAX

extern struct testmem *tm;
extern struct mmu mmu;
extern struct lines *lines;
extern u8 *memory;	/* at VA, of BYTES */
extern u64 at;		/* result of reads() */
extern const struct lines_writer writer;

int set_up(void **state);
int tear_down(void **state);
bool reads(u64 va, u64 bytes);
/* Announce an atomic operation on a word. */
void announce_atomic(u64 va);
/* End the only job of the context, and handle the end. */
void end_of_a_job_handled(void);
/* Write characters to memory, and compare them. */
void put(u64 va, const char *bytes);
void assert_memory(u64 va, const char *bytes);

#endif
