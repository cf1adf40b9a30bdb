/* SPDX-License-Identifier: MIT */
/*
 * Reference model of the USC: state of one instruction of one
 * wave, shared by its files. See ref_model.h.
 */
#ifndef PUMICE_TESTS_USC_REF_STEP_H
#define PUMICE_TESTS_USC_REF_STEP_H

#include <stdbool.h>

#include "pumice_formats.h"
#include "ref_model.h"

struct ref_step {
	struct ref_group *g;
	struct ref_wave *w;
	struct pumice_usc_insn in;
	u32 next;		/* pc after it */
	bool loads;		/* it writes its destination when its signal is done */
	u32 signal;		/* if it accesses memory with one; else UINT32_MAX */
	u32 uniform[3];		/* words of the uniform stream that its operands are */
};

static inline bool ref_valid(const struct ref_wave *w, u32 lane)
{
	return w->valid >> lane & 1;
}

/* Address of a register's word, for banks that are storage. */
u32 *ref_word(const struct ref_step *s, const struct pumice_usc_operand *o, u32 lane);
/*
 * The number of the register that an operand selects in a lane; false if an index leads beyond
 * the registers: the last of count from that one on.
 */
bool ref_select(const struct ref_step *s, u32 raw, u32 count, u32 lane, u32 *number);
/* Return a double mask in one lane. */
bool ref_mask(const struct ref_step *s, u32 raw, u32 lane);
/* Operands as encoded: one lane's, all lanes', element 0; and the destination. */
void ref_read_all(const struct ref_step *s, u32 raw, u32 out[PUMICE_LANES]);
u32 ref_read_scalar(const struct ref_step *s, u32 raw);
void ref_write(struct ref_step *s, u32 raw, u32 lane, u32 value);
/*
 * Return whether the instruction writes a slot register, and whether this wave has a lane whose
 * value it could be.
 */
bool ref_writes_slot(const struct ref_step *s);
bool ref_has_slot_value(const struct ref_step *s);
/* Return whether a lane is valid, with a true mask if there is one, and no lower lane is. */
bool ref_is_first_active(const struct ref_step *s, u32 lane);
/* Return whether the instruction has an operand in a field. */
bool ref_has(const struct ref_step *s, u32 field);
/* False, with the fault, if an index register exceeds its operand's registers. */
bool ref_indices_lead_somewhere(struct ref_step *s);
/*
 * Read the words of the uniform stream that sources are, in their order; false, with the fault, if
 * there are none left.
 */
bool ref_take_uniforms(struct ref_step *s);
/* Record a fault of this instruction; returns false. */
bool ref_fault(struct ref_step *s, enum pumice_fault why);

/* An operand, offset registers replaced by those that they name; its registers, from that on. */
struct pumice_usc_operand ref_operand(const struct ref_step *s, u32 raw);
u32 ref_count(const struct ref_step *s, const struct pumice_isa_operand *operand);
/* Return whether an operand of a class is the same for all lanes: an index is that of lane 0. */
bool ref_is_one_value(u32 cls);

/*
 * Late data (ref_late.c): before an instruction, false if it uses a register too early; a word that
 * is loaded; after the instruction.
 */
bool ref_late_begin(struct ref_step *s);
/* Begin a copy or burst; the words are moved when it is complete. */
void ref_begin_copy(struct ref_step *s, const struct ref_copy *copy);
/* Move the words of a copy or burst (ref_memory.c). */
void ref_complete_copy(struct ref_group *g, const struct ref_copy *copy);
/* Store the copies to memory that overlap bytes. */
void ref_store_copies_of(struct ref_group *g, u64 addr, u32 bytes);
/* Begin to store a part of memory; bytes: 1, 2, 4. See ref_store.c. */
void ref_put(struct ref_step *s, u64 addr, u32 value, u32 bytes);
/* Make stores of the wave complete that have one of some signals, or are complete at a clock. */
void ref_complete_stores(struct ref_step *s, u32 signals, u64 clock);
void ref_complete_all_stores(struct ref_group *g);
void ref_load(struct ref_step *s, u32 raw, u32 lane, u32 value);
void ref_late_end(struct ref_step *s);
/* Wait for signals, a bit each. */
void ref_wait(struct ref_step *s, u32 signals);
/* Wait for one of the instruction's signals; returns those that are done, a bit each. */
u32 ref_wait_any(struct ref_step *s);
u32 ref_signals(const struct ref_step *s);
bool ref_signals_done(const struct ref_step *s);

/* A pixel output register in one lane, read and written (ref_gfx.c). */
u32 ref_output(const struct ref_step *s, u32 number, u32 lane);
void ref_set_output(struct ref_step *s, u32 number, u32 lane, u32 value);
/* Return the samples that a write in a lane writes now, a bit each; write some samples. */
u32 ref_output_samples(const struct ref_step *s, u32 lane);
void ref_set_samples(struct ref_step *s, u32 number, u32 lane, u32 samples, u32 value);
/* Operations of graphics: *done is false if it is none of these; return false on a fault. */
bool ref_run_gfx(struct ref_step *s, bool *done);

/* Return whether all waves of the group meet at an operation. */
bool ref_is_copy(u32 opcode);

/* Loads, stores, atomics, bursts, copies, windows, fences; false on a fault. */
bool ref_is_memory(u32 opcode);
bool ref_run_memory(struct ref_step *s);

#endif
