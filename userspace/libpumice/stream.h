/* SPDX-License-Identifier: MIT */
/*
 * A stream under construction: its memory (stream.c), and the draw state and data that it has
 * already, which are not added again (gfx_merge.c).
 */
#ifndef PUMICE_LIBPUMICE_STREAM_H
#define PUMICE_LIBPUMICE_STREAM_H

#include "internal.h"

#define STREAM_SHARED	64u	/* blocks of data that are remembered */

/* Draw state at the end of the commands, as far as only this stream's draws precede it. */
struct stream_state {
	u64 set;	/* address of the record that is set, or 0: unknown */
	u64 before;	/* the same before the last command, if that is a STATE */
	bool last;	/* the last command is a STATE */
};

struct stream_merge {
	struct stream_state state;
	struct stream_shared {
		u64 hash, offset, bytes;	/* bytes 0: none */
	} shared[STREAM_SHARED];
};

struct pumice_stream {
	struct pumice_vm *vm;
	struct pumice_bo *bo;
	u8 *cpu;
	u64 va;
	u64 commands;	/* bytes of commands */
	u64 data;	/* offset at which data begins */
	/* Commands since its last end: before VERSION_CACHES no stream may have both. */
	bool has_flush, has_rays;
	/* A pointer, as taking the address of the next command changes it: pumice_stream_va(). */
	struct stream_merge *merge;
};

/* Forget the draw state: other commands may follow, or be entered from elsewhere. */
static inline void stream_forget_state(const struct pumice_stream *s)
{
	s->merge->state = (struct stream_state){ 0 };
}

/* Forget the data: memory of some of it is used again. */
void stream_forget_data(const struct pumice_stream *s);

#endif
