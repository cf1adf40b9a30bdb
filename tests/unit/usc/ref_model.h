/* SPDX-License-Identifier: MIT */
/*
 * Reference model of the USC: semantics of the instruction set, lane by lane.
 *
 * Written from hw/isa.xml and document 002, "Instructions", alone, independent of the interpreter:
 * it shares no code with it, works on the encoded words, and has no vectors, scheduling or caches.
 * Waves run one at a time from barrier to barrier, so it is valid for programs whose waves
 * do not race. Slot registers are written when no wave of the task can run: then those that
 * have stopped at the same instruction write it, the lowest one first. A work-group copy is
 * executed by the lowest wave when all of the group have stopped at it.
 *
 * Data of loads are early, or late: REF_DATA when the access is complete, REF_LATENCY instructions
 * of the wave after it began; REF_POISON when the wave has waited, and an instruction that uses
 * them before is a fault.
 *
 * A work-group copy to memory reads its source when it is complete: in both of these, when the
 * first wave has waited, or by its clock. Copies and bursts to shared registers and local memory
 * write them then.
 *
 * Limits: a global access outside of the given memory is reported as an error, not translated. With
 * REF_POISON, local memory that is late is not found when it is used, nor are words of the oldest
 * of more than REF_MAX_COPIES copies. Late slot registers are those of a task of one wave.
 */
#ifndef PUMICE_TESTS_USC_REF_MODEL_H
#define PUMICE_TESTS_USC_REF_MODEL_H

#include <stdbool.h>

#include "pumice_isa.h"
#include "pumice_regs.h"

#define REF_MAX_REGS (PUMICE_USC_MAX_TEMPS + PUMICE_USC_MAX_ATTRS)
#define REF_MAX_WAVES (PUMICE_GROUP_INSTANCES / PUMICE_LANES)

#define REF_PIXEL_RATE 0xffu
#define REF_TILE_PIXELS 1024u

/* 2x2 pixels of a primitive; sample s of pixel p is bit 4 p + s. */
struct ref_span {
	u32 quad, prim, samples, covered, live;
};

/* Of a group of a graphics data master; stage as in enum usc_stage. */
struct ref_gfx {
	u32 stage, sample;	/* or REF_PIXEL_RATE */
	u32 spans, coeffs, coeffs_alt;	/* coefficients: of a primitive */
	struct ref_span span[PUMICE_TASK_INSTANCES / 4];
	u32 vo_words;		/* vertex output registers */
	const u32 *uniforms;	/* the uniform stream */
	u32 uniform_words;
	u32 quads_across, samples, words;	/* of the tile */
	u32 (*output)[REF_TILE_PIXELS];		/* word n of sample s at [s * words + n] */
	u32 vo[PUMICE_TASK_INSTANCES / PUMICE_LANES][PUMICE_USC_MAX_VO][PUMICE_LANES];
	/* The depth test: whether a sample passes. Called once for each live sample. */
	bool (*depth)(u32 pixel, u32 sample, u32 depth);
	/* Result of a texture read; coordinates, further operand and state as words. */
	u32 (*texture)(u32 op, u32 type, u32 dim, u32 comp, bool spans, const u32 *words, u32 count,
		       u32 component);
};

/* Arrival of data that are loaded with a signal. */
enum ref_late { REF_EARLY, REF_DATA, REF_POISON };

#define REF_LATENCY 64u

/* A load under way to one register. */
struct ref_load {
	bool pending;
	u32 signal;
	u64 when;
	bool lane[PUMICE_LANES];
	u32 value[PUMICE_LANES];
	u32 samples[PUMICE_LANES];	/* of a pixel output: bit s is sample s */
};

#define REF_COPY_WORDS 128u

/* A copy or burst that is not complete: to memory, or from it. */
struct ref_copy {
	bool load;
	bool shared;		/* shared registers, else local memory */
	u32 task, first, words;	/* the registers' task; first register or byte */
	u64 memory;
	u32 value[REF_COPY_WORDS];	/* of a load */
	u32 waves;		/* that wait for it: bit n is wave n of the group */
	u32 signal;
	u64 when[REF_MAX_WAVES];
};

#define REF_MAX_COPIES 16u	/* that a wave waits for */

/* A part of memory that a lane stores, which is not complete or not waited for. */
struct ref_store {
	u32 wave, number;	/* of its stores */
	u32 signal;
	u64 when, addr;
	u32 value, bytes;
	bool stored, complete, ended;
};

/* Result of a run. */
enum ref_end { REF_ENDED, REF_FAULT, REF_STUCK };

struct ref_wave {
	u32 reg[REF_MAX_REGS][PUMICE_LANES];	/* temporaries, then attributes */
	u32 internal[PUMICE_USC_OWN_REGS][PUMICE_LANES];
	u32 idx[PUMICE_USC_INDEX_REGS][PUMICE_LANES];
	u32 uniforms;	/* words of the uniform stream read so far */
	u64 dc_base;	/* dynamic constants */
	u32 dc_words;
	/* 64 bytes that a lane has fetched with an index register. */
	struct {
		bool kept;
		u64 addr;
		u8 bytes[64];
	} dc[PUMICE_USC_INDEX_REGS][PUMICE_LANES];
	u32 task, number_in_group, first_instance, valid, slot, instances_of_task;
	u32 pc;
	u64 clock;		/* instructions, and those for which it waited */
	u64 done[PUMICE_USC_SIGNALS];
	u32 stores;		/* instructions so far that store registers to memory */
	struct ref_load reg_load[REF_MAX_REGS], idx_load[PUMICE_USC_INDEX_REGS];
	struct ref_load slot_load[PUMICE_USC_OWN_REGS], output_load[PUMICE_USC_MAX_OUTPUTS];
	enum { REF_RUNS, REF_WAITS, REF_COPIES, REF_MEETS, REF_DONE } state;
};

struct ref_group {
	/* The program and the registers of its tasks. */
	const u32 *code;
	u32 insns;
	u32 temps, attrs, shared_words, coeffs, coeffs_alt, slot_regs;
	u32 local_bytes;
	u32 first_wave;
	u32 core, usc, tasks;

	/* Memory that global accesses reach. */
	u8 *memory;
	u64 memory_va, memory_bytes;

	struct ref_gfx *gfx;	/* or NULL */
	enum ref_late late;

	/* State. */
	u32 waves;
	struct ref_wave wave[REF_MAX_WAVES];
	u32 shared[PUMICE_GROUP_TASKS][PUMICE_USC_MAX_SHARED];
	u32 coeff[PUMICE_GROUP_TASKS][PUMICE_USC_MAX_COEFFS];
	u32 coeff_alt[PUMICE_GROUP_TASKS][PUMICE_USC_MAX_COEFFS_ALT];
	u32 slot_reg[PUMICE_GROUP_TASKS][PUMICE_USC_OWN_REGS];
	u8 local[64u << 10];
	u32 copies;
	struct ref_copy copy[REF_MAX_COPIES * REF_MAX_WAVES];	/* oldest first */
	u32 stores, store_room;
	struct ref_store *store;	/* oldest first */
	u64 dc_fetches;	/* windows of dynamic constants, over all lanes */
	enum pumice_fault fault;	/* of REF_FAULT */
	u32 fault_pc;
};

/* Add a task's waves; their registers are zero. */
void ref_add_task(struct ref_group *g, u32 task, u32 instances, u32 slot, u32 first_instance);
/* Set the valid lanes of a group with gfx, after its tasks have been added. */
void ref_begin_gfx(struct ref_group *g);
/*
 * Run all waves to their end; REF_STUCK after max_steps instructions of one wave between barriers.
 */
enum ref_end ref_run(struct ref_group *g, u32 max_steps);

/* Return whether a load to a register is under way, and with which signal. */
bool ref_is_late(const struct ref_group *g, const struct ref_wave *w, u32 bank, u32 number,
		 u32 *signal);

/*
 * Return whether a wave that loads bytes of memory has not waited for a store of them; with this
 * signal if it is not NULL.
 */
bool ref_is_stored(const struct ref_group *g, u64 addr, u32 bytes, u32 *signal);

/* One operation on one lane, of two operands and of three. */
u32 ref_alu(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b);
u32 ref_alu3(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b, u32 c);

/* Rounding, scaling, conversions, bits (ref_more.c): false if the operation is none of these. */
bool ref_more(enum pumice_usc_op op, enum pumice_usc_type type, u32 a, u32 b, u32 *out);
/* The transcendental operations, correctly rounded: false if the operation is none of these. */
bool ref_transcendental(enum pumice_usc_op op, u32 a, u32 *out);
/*
 * Number of transcendental results nearer to the middle of two floats than
 * 2^-20 of their distance, where a correct USC may return either.
 */
extern u32 ref_undecided;

#endif
