/* SPDX-License-Identifier: MIT */
/*
 * One access to memory by one wave, and its results: for the tests of loads, stores,
 * bursts and atomics.
 *
 * The access is instruction 1 of its program. It reads the lanes' offsets from V0, stores
 * V1 and following registers, has its base address in SH0 and SH1, and loads into R0 and
 * following registers.
 */
#ifndef PUMICE_TESTS_USC_ACCESS_H
#define PUMICE_TESTS_USC_ACCESS_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "exec.h"
#include "fixture.h"

#define DATA_BYTES 0x8000u
#define LOCAL_BYTES 4096u
#define BEFORE 0x5eedu	/* in R0 before the access; 0 in the others */

struct access {
	struct pumice_usc_insn insn;
	u32 instances;		/* 0: a whole wave */
	u32 local_bytes;	/* 0: LOCAL_BYTES */
	u64 base;
	u32 off[PUMICE_LANES], data[PUMICE_USC_BURST_WORDS][PUMICE_LANES];
	u32 result[PUMICE_USC_BURST_WORDS][PUMICE_LANES];	/* R0 and following, afterwards */
};

#define LOAD(width, ...)							\
	INSN(GLOBAL_LOAD##width, .dst = R(0), .mask = ALWAYS, .src2 = SH(0), .src0 = V(0), \
	     __VA_ARGS__)
#define STORE(width, ...)							\
	INSN(GLOBAL_STORE##width, .mask = ALWAYS, .src2 = SH(0), .src0 = V(0), .src1 = V(1), \
	     __VA_ARGS__)
#define LOCAL_LOAD(width, ...)							\
	INSN(LOCAL_LOAD##width, .dst = R(0), .mask = ALWAYS, .src0 = V(0), __VA_ARGS__)
#define LOCAL_STORE(width, ...)							\
	INSN(LOCAL_STORE##width, .mask = ALWAYS, .src0 = V(0), .src1 = V(1), __VA_ARGS__)
#define BURST_LOAD(n)								\
	INSN(BURST_LOAD, .dst = R(0), .mask = ALWAYS, .src2 = SH(0), .src0 = V(0), .words = (n))
#define BURST_STORE(n)								\
	INSN(BURST_STORE, .mask = ALWAYS, .src2 = SH(0), .src0 = V(0), .src1 = V(1), .words = (n))

/* Run the access; results in it, fx->faults, fx->fault. Local memory begins as zero. */
void access_run(struct fixture *fx, struct access *a);
/* Get its program; NULL with fx->fault if it is refused. The caller releases it. */
struct usc_program *access_program(struct fixture *fx, const struct access *a);
/* Word n of the data is n; lane l's offset is l * step; data word w of lane l is 1000 w + l + 1. */
void access_plain(struct fixture *fx, struct access *a, u32 step);
/* A test for each vector level of this host, with DATA_BYTES of data. */
void at_each_level(void (*test)(struct fixture *fx));
/* Assert the fault of an access: of this group only, reported once, with all fields. */
void check_fault(const struct fixture *fx, enum pumice_fault fault,
		 enum pumice_access access, u64 addr);
/* The same for local memory: the fault reports the offset. */
void check_local_fault(const struct fixture *fx, enum pumice_fault fault, u64 offset);
u32 *data_words(struct fixture *fx);

#endif
