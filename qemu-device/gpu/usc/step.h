/* SPDX-License-Identifier: MIT */
/*
 * Execution of a wave an instruction at a time, and its observers: detailed counters (count.c),
 * requests to the memory hierarchy (request.c), races (watch.c), uninitialised registers
 * (unset.c), stale entries of the TLB (stale.c), and data that arrive late (late.c). Chosen once
 * for a wave's turn: without any of them none of this runs.
 */
#ifndef PUMICE_GPU_USC_STEP_H
#define PUMICE_GPU_USC_STEP_H

#include "exec.h"

/* access.c: memory access of an instruction. */
struct usc_access {
	bool local, load, store;
	u32 bytes;	/* of each active lane */
};

/* Describe loads and stores; false for all other instructions. */
bool usc_access_of(const struct usc_insn *insn, struct usc_access *a);
/* Return the valid lanes where the double mask of an instruction that has one is true. */
u32 usc_active_lanes(const struct exec *x, const struct usc_insn *i);
/*
 * Return the offsets of an access before it runs: those that are looked up later are computed in
 * row; 0 in lanes whose index is a fault.
 */
const u32 *usc_access_offsets(const struct exec *x, const struct usc_insn *i, u32 *row);

/* count.c: counts of an instruction, determined before it runs. */
struct usc_tally {
	u64 load_bytes, store_bytes, conflicts;
};

void usc_tally_begin(const struct exec *x, const struct usc_insn *i, struct usc_tally *t);
/* The instruction is complete. */
void usc_tally_end(const struct exec *x, const struct usc_insn *i, const struct usc_tally *t);

/* request.c: accesses of an instruction to memory, by lane. */
struct usc_requests {
	u32 lanes;
	u32 bytes;	/* of each lane */
	bool store, atomic;	/* an atomic operation is a store, too */
	u64 va[PUMICE_LANES];
};

/* Before an instruction runs, in detailed modes; and when it is complete. */
void usc_requests_begin(const struct exec *x, const struct usc_insn *i, struct usc_requests *r);
void usc_requests_end(const struct exec *x, const struct usc_requests *r);

/*
 * stale.c: report uses of stale TLB entries, and announce accesses, in mode strict, before an
 * instruction runs.
 */
void usc_stale_begin(const struct exec *x, const struct usc_insn *i, const struct usc_requests *r);

/* watch.c: access of an instruction to local memory, by lane, and to shared registers. */
struct usc_watch_step {
	u64 va;		/* of a copy or burst to or from the common store or local memory */
	u32 bytes;	/* 0: the wave executes none */
	bool store;
	struct usc_access access;
	u32 lanes;	/* 0: it has none */
	u32 offset[PUMICE_LANES];
	u32 scatter;	/* lanes that write words of the common store by their indices */
	u32 index[PUMICE_LANES];
};

/* Before an instruction runs, in mode strict; and when it is complete. */
void usc_watch_begin(const struct exec *x, const struct usc_insn *i, struct usc_watch_step *s);
void usc_watch_end(struct exec *x, const struct usc_insn *i, const struct usc_watch_step *s);
/* The same for its accesses to memory, in detailed modes, before usc_watch_end(). */
void usc_watch_memory(struct exec *x, const struct usc_insn *i, const struct usc_requests *r,
		      const struct usc_watch_step *s);

/* unset.c: an instruction that may use registers or local memory without a value. */
struct usc_unset_origin {
	u32 pc;		/* instruction that read it first */
	u32 place;	/* struct pumice_usc_late */
};

struct usc_unset_step {
	u32 lanes;	/* that it writes, if it has a mask */
	u32 without;	/* of its result: lanes without a value */
	struct usc_unset_origin origin;	/* of those */
	bool passes_on;	/* they have no effect yet */
	bool found, lane_known;
	u8 lane;
	struct usc_unset_origin use;	/* if found: the error */
	u32 word, words;	/* of local memory that a copy accesses */
};

/* Before an instruction runs, in mode strict, after usc_watch_begin(); and when it is complete. */
void usc_unset_begin(struct exec *x, const struct usc_insn *i, const struct usc_watch_step *w,
		     struct usc_unset_step *s);
void usc_unset_end(struct exec *x, const struct usc_insn *i, const struct usc_watch_step *w,
		   const struct usc_unset_step *s);

/* late.c: an instruction that loads, or waits. */
struct usc_late_step {
	u32 lanes;	/* that are loaded */
	u32 first;	/* of a range: word in the store */
	u32 words;	/* of a range, which are loaded or stored; 0: none, or the access is
			 * refused */
	u32 signals;	/* bit n: it waits for signal n */
	bool stores;	/* registers to memory, and is executed by usc_late_store() */
	bool base_later;	/* it loads from memory, at a base that is looked up when it runs */
	u64 base;	/* of a copy or burst, if it is known before */
	u32 active;	/* lanes that load */
	u32 offset[PUMICE_LANES];	/* and their offsets */
};

/*
 * Before an instruction runs; only if usc->late is set. Returns false with x->exit set if it uses
 * a register or memory too early, or if a store or copy to memory that is complete now faults.
 */
bool usc_late_begin(struct exec *x, const struct usc_insn *i, struct usc_late_step *s);
/*
 * Instead of the function of an instruction that stores registers to memory: issue it. Returns the
 * next instruction, or this one with x->exit set on a fault.
 */
const struct usc_insn *usc_late_store(struct exec *x, const struct usc_insn *i);
/*
 * The instruction is complete. Returns false with x->exit set if a store or copy to memory faults,
 * or if it has loaded words that are stored later.
 */
bool usc_late_end(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s);

#endif
