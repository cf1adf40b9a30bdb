/* SPDX-License-Identifier: MIT */
/*
 * Programs whose loads are late, run by one group; for test_late.c and test_late_banks.c.
 */
#ifndef PUMICE_TESTS_USC_LATE_CODE_H
#define PUMICE_TESTS_USC_LATE_CODE_H

#include "fixture.h"

#define GROUP		32u	/* instances */
#define MAX_INSNS	96u
#define LOADED		0x10000u	/* word n of memory is LOADED + n */
#define BEFORE		7u

#define IDX(n) usc_operand(PUMICE_USC_BANK_IDX, (n), false)
#define SL(n) usc_operand(PUMICE_USC_BANK_SL, (n), false)
#define O(n) usc_operand(PUMICE_USC_BANK_O, (n), false)

/* The program under construction: begins with R0 = 4 * lane, and R8 to R11 = BEFORE. */
struct code {
	struct pumice_usc_insn insn[MAX_INSNS];
	u32 insns;
};

/* Limits of the programs of work-groups. */
extern const struct usc_program_limits late_limits;

void add(struct code *c, struct pumice_usc_insn insn);
void begin(struct code *c);
/* Load R8 with signal 3. */
void add_load(struct code *c);
/* Start group 0 and let it run until its first task, of several, has ended. */
void run_to_end_of_task(struct fixture *fx);
struct fixture *fixture_of(enum usc_late_mode late);
/* Set memory, reset the fixture, and return the program with its end; the caller puts it. */
struct usc_program *program_of(struct fixture *fx, struct code *c,
			       const struct usc_program_limits *limits);
/* Run a group to its end. */
void run_group(struct fixture *fx, struct code *c, const struct fx_group *group);
/* Run a work-group of some instances to its end. */
void run(struct fixture *fx, struct code *c, u32 instances);
/* Return a word of a register of a wave's lane 1, after the run; of the first wave. */
u32 wave_result(const struct fixture *fx, u32 wave, u32 reg);
u32 result(const struct fixture *fx, u32 reg);
/* The instruction before the end used a place too early. */
void assert_late(const struct fixture *fx, const struct code *c, u32 place, bool local, bool write);

#endif
