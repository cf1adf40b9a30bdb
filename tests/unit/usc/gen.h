/* SPDX-License-Identifier: MIT */
/*
 * Random programs over the whole USC instruction set whose results are defined.
 *
 * A program is straight code with bounded loops and forward branches. Waves
 * write local and global memory in their own part only; after a barrier they read all
 * parts, and another barrier ends that. Data of a global load is accessed only after a wait
 * for its signal. Copies by a whole work-group have no barriers around them.
 */
#ifndef PUMICE_TESTS_USC_GEN_H
#define PUMICE_TESTS_USC_GEN_H

#include "enc.h"
#include "usc.h"

#define GEN_MAX_INSNS 512u

/* Shared registers that every program expects. */
enum { GEN_SH_MEMORY = 0 /* pair: GPU virtual address of the group's memory */, GEN_SH_FREE = 2 };

/* The memory of a group: read-only words, then each wave's part. */
#define GEN_READ_BYTES 0x4000u
#define GEN_TREE_BYTE 0xa00u	/* of them: a structure of RAYS_SQUARES squares, see rays.h */
#define GEN_UNIFORMS 1024u	/* words of the uniform stream */
#define GEN_WAVE_BYTES 0x1000u
#define GEN_LOCAL_WAVE_BYTES 0x400u

struct gen_rng {
	u64 state;
};

struct gen_program {
	struct usc_program_limits limits;
	u32 insns;
	u32 uniforms;	/* most words of the uniform stream that a wave reads, below GEN_UNIFORMS */
	bool copies;	/* copies by the whole work-group: it must be large enough */
	u32 code[GEN_MAX_INSNS * PUMICE_USC_WORDS];
};

u32 gen_random(struct gen_rng *rng);
/* Return a number from 0 to n - 1. */
u32 gen_below(struct gen_rng *rng, u32 n);
/*
 * Return an edge value of arithmetic: special floats, extreme integers, small numbers, random
 * words.
 */
u32 gen_word(struct gen_rng *rng);

/* Words of an instruction: random, or a known opcode with small fields, often legal. */
void gen_noise(struct gen_rng *rng, u32 *words);

/* one_wave_tasks: no two waves share shared registers, which may then be written. */
void gen_program(struct gen_rng *rng, bool one_wave_tasks, struct gen_program *out);
/*
 * A program of any stage, enum usc_stage, that does not wait for some loads. One with copies, which
 * are to memory and whose source it may overwrite, is for groups of one wave.
 */
void gen_hasty_program(struct gen_rng *rng, u32 stage, bool one_wave_tasks,
		       struct gen_program *out);
/* One of a stage of graphics that waits. */
void gen_gfx_program(struct gen_rng *rng, u32 stage, bool one_wave_tasks, struct gen_program *out);

#endif
