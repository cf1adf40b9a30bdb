/* SPDX-License-Identifier: MIT */
/*
 * A firmware processor and its reference, started in the same state and compared.
 *
 * Also usable for the processor alone: pair.cpu is a complete machine.
 */
#ifndef PUMICE_TEST_FWCPU_PAIR_H
#define PUMICE_TEST_FWCPU_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fwcpu.h"
#include "ref.h"
#include "fixture.h"

/* Addresses of the tests' code and handler, and the hart id. */
#define PAIR_CODE	0x1000u
#define PAIR_HANDLER	0x2000u
#define PAIR_HART	5u

struct pair {
	struct fwcpu cpu;
	struct fixture cpu_fixture;
	struct ref ref;
	struct fixture ref_fixture;
	uint64_t now;
	char what[128];		/* names the case when a comparison fails */
};

/* cmocka set-up and tear-down; *state is a struct pair *. */
int pair_setup(void **state);
int pair_teardown(void **state);

/* Both machines as after fwcpu_start(PAIR_CODE), mtvec = PAIR_HANDLER, RAM zero. */
void pair_restart(struct pair *p);

/* Set RAM in both machines, and notify the processor. */
void pair_put16(struct pair *p, uint32_t addr, uint32_t val);
void pair_put32(struct pair *p, uint32_t addr, uint32_t val);

/* The same code at PAIR_CODE, one word per instruction. */
void pair_code(struct pair *p, const uint32_t *words, size_t count);
#define PAIR_PROGRAM(p, ...) \
	pair_code(p, (const uint32_t[]) { __VA_ARGS__ }, \
		  sizeof((const uint32_t[]) { __VA_ARGS__ }) / 4)

void pair_set_x(struct pair *p, unsigned int reg, uint32_t val);
void pair_set_pc(struct pair *p, uint32_t pc);
void pair_set_irq(struct pair *p, bool level);
void pair_set_timer(struct pair *p, uint64_t mtimecmp);

/* Run both for @budget units at p->now, and assert that their states are equal. */
enum fwcpu_stop pair_run(struct pair *p, uint32_t budget);

/* Assert that processor and reference are equal, memory included. */
void pair_compare(struct pair *p);

/* Return a 32-bit word of the processor's RAM. */
uint32_t pair_word(const struct pair *p, uint32_t addr);

/* A random number generator; the same seed gives the same sequence. */
struct random {
	uint64_t state;
};

uint32_t random_next(struct random *r);
/* Return an edge value of arithmetic, or a random one. */
uint32_t random_operand(struct random *r);
/* Return the seed for a test: FWCPU_SEED from the environment, else the time; printed. */
uint64_t random_seed(const char *test);

#endif
