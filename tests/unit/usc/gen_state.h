/* SPDX-License-Identifier: MIT */
/*
 * Random USC programs: declarations shared by the generator's files. See gen.h.
 */
#ifndef PUMICE_TESTS_USC_GEN_STATE_H
#define PUMICE_TESTS_USC_GEN_STATE_H

#include "gen.h"
#include "pumice_info.h"

/* Temporaries at the end of the allocation that random code does not touch. */
enum { KEEP_LOOP0, KEEP_LOOP1, KEEP_GLOBAL, KEEP_LOCAL, KEEP_ADDR, KEEP_BASE,
       KEEP_BASE_HIGH, KEEP };

/* The first temporaries are never loaded, so that one is always available. */
#define GEN_UNLOADED 4u

struct gen {
	struct gen_rng *rng;
	struct gen_program *out;
	bool write_shared;
	bool read_phase;	/* all waves read, none writes */
	bool hasty;		/* does not wait for some loads */
	bool timed;		/* its results may depend on the number of instructions */
	u32 depth;		/* of loops and branches */
	u32 times;		/* that the code here is executed, at most */
	u32 temps;		/* open to random code */
	u32 busy_temps[8];	/* bit sets: destinations of loads under way */
	u16 busy_sig;
	u16 stored_sig;		/* stores to memory that it has not waited for */
	u16 hasty_sig;		/* those for which it waits at a barrier only */
};

static inline u32 gen_keep(const struct gen *g, u32 which)
{
	return g->temps + which;
}

static inline bool gen_is_busy(const struct gen *g, u32 temp)
{
	return g->busy_temps[temp / 32] >> temp % 32 & 1;
}

void gen_emit(struct gen *g, struct pumice_usc_insn insn);
/* A temporary without a load under way; a double mask; an operand of a class. */
u32 gen_temp(struct gen *g);
u32 gen_mask(struct gen *g);
u32 gen_operand(struct gen *g, const struct pumice_isa_class *class, bool written);
/* Wait for all pending loads, by a random method. */
void gen_wait_all(struct gen *g);
/*
 * In timed programs sometimes wait for one of several signals, this one among them, and use a
 * register that it loads if it is done.
 */
void gen_wait_any(struct gen *g, u32 signal, u32 loaded);

/* One operation without memory, signals or control flow, with random operands. */
void gen_alu(struct gen *g);
/* The same for an operation that writes vertex outputs. */
void gen_uvsw(struct gen *g);
/* A product and a sum with it, as in inner loops; registers may be the same. */
void gen_product_sum(struct gen *g);
/* Fused ones, with or without a preceding broadcast of a lane's value. */
void gen_fused_sums(struct gen *g);

/* One operation of the program's stage, or a texture read (gen_gfx.c). */
void gen_gfx(struct gen *g);

/* A load of count temporaries from dst on begins: they are busy, except in hasty programs. */
void gen_load_begins(struct gen *g, u32 signal, u32 dst, u32 count);

/* A ray query, and the rays: not in hasty programs (gen_ray.c). */
void gen_ray(struct gen *g);

/* Memory: one access, or a related sequence. */
void gen_local(struct gen *g);
void gen_global(struct gen *g);
/*
 * Sometimes select the operand raw of an instruction by an index register, by which (0 or 1): the
 * same register, or scalar, in each lane. Emits the index.
 */
u32 gen_index_constant(struct gen *g, const struct pumice_usc_insn *insn, u32 raw, u32 which);
/*
 * Sometimes let each lane select the operand or the one that is the dimension after it: returns
 * how many more registers that needs, or 0. gen_index_lanes() emits the index then.
 */
u32 gen_index_choice(struct gen *g, const struct pumice_usc_insn *insn);
u32 gen_index_lanes(struct gen *g, u32 raw, u32 more, u32 which);
/* Set insn->dim to 0 if no operand is indexed, because it is refused then. */
void gen_clear_dim(struct pumice_usc_insn *insn);
/*
 * A copy by the whole group, without barriers: in the writing phase, in code that all waves
 * execute.
 */
void gen_copy(struct gen *g);
/* A burst to shared registers, where they may be written. */
void gen_shared(struct gen *g);

#endif
