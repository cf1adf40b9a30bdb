/* SPDX-License-Identifier: MIT */
/*
 * State shared by the threads of the ioctl fuzzer: one file, its live objects,
 * and the source of random values.
 */
#ifndef FUZZ_IOCTL_STATE_H
#define FUZZ_IOCTL_STATE_H

#include <stdbool.h>

#include "render.h"

#define FUZZ_LIVE	16	/* objects of a kind that are kept */
#define FUZZ_STREAMS	8

/** struct fuzz_rng - random numbers of a step, determined by its seed alone */
struct fuzz_rng {
	u64 state;
};

u64 fuzz_random(struct fuzz_rng *rng);

/** fuzz_below - return a number below @limit, which is not 0. */
u32 fuzz_below(struct fuzz_rng *rng, u32 limit);

/** fuzz_chance - return true with probability 1/@times. */
bool fuzz_chance(struct fuzz_rng *rng, u32 times);

/** fuzz_flags - return a subset of @known, occasionally an arbitrary value. */
u32 fuzz_flags(struct fuzz_rng *rng, u32 known);

/** fuzz_zero - return a must-be-zero field's value, usually 0. */
u32 fuzz_zero(struct fuzz_rng *rng);

/** fuzz_pages - return the bytes of 1 to @most pages, occasionally an arbitrary value. */
u64 fuzz_pages(struct fuzz_rng *rng, u32 most);

/** fuzz_va - return an address, usually in one of few pages, so that operations overlap. */
u64 fuzz_va(struct fuzz_rng *rng);

/** enum fuzz_kind - objects with handles */
enum fuzz_kind {
	FUZZ_BO,
	FUZZ_VM,
	FUZZ_CONTEXT,		/* compute, transfer */
	FUZZ_RENDER,		/* render contexts */
	FUZZ_FREE_LIST,
	FUZZ_HWRT,
	FUZZ_PERFMON,
	FUZZ_SYNC,
	FUZZ_KINDS,
};

/** struct fuzz - shared by all threads */
struct fuzz {
	int fd;
	struct render render;			/* objects that are never destroyed */
	u64 streams[FUZZ_STREAMS];		/* that end, fault, or never end */
	u64 points;				/* of timelines; atomic */
	u32 live[FUZZ_KINDS][FUZZ_LIVE];	/* handles; 0: none; atomic */
	int files[FUZZ_LIVE];			/* descriptors, or -1; atomic */
};

struct fuzz fuzz_open(void);

/** fuzz_close - close and unmap everything. */
void fuzz_close(struct fuzz *f);

/** fuzz_select - return a handle, usually a live one, which may be destroyed at any time. */
u32 fuzz_select(struct fuzz *f, struct fuzz_rng *rng, enum fuzz_kind kind);

/** fuzz_keep - store a new handle instead of another one. Return: the other one, or 0. */
u32 fuzz_keep(struct fuzz *f, struct fuzz_rng *rng, enum fuzz_kind kind, u32 handle);

/** fuzz_take - remove a live handle from the kept ones. Return: it, or 0. */
u32 fuzz_take(struct fuzz *f, struct fuzz_rng *rng, enum fuzz_kind kind);

/** fuzz_swap_file - store a descriptor, or -1, instead of another. Return: the other, or -1. */
int fuzz_swap_file(struct fuzz *f, struct fuzz_rng *rng, int file);

#endif
