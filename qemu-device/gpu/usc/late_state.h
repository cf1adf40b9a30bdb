/* SPDX-License-Identifier: MIT */
/*
 * State of data that arrive late, shared by late.c (registers of a wave), late_copy.c (words of
 * the common store, of local memory and of slot registers) and late_store.c (stores of registers
 * to memory). See late.c.
 */
#ifndef PUMICE_GPU_USC_LATE_STATE_H
#define PUMICE_GPU_USC_LATE_STATE_H

#include "pumice_formats.h"
#include "step.h"

#define LATE_RANGES 16u	/* of a wave, in its list */
#define LATE_ROW_BYTES (USC_ROW_WORDS * 4u)
#define LATE_OUTPUT_ROWS (PUMICE_USC_MAX_OUTPUTS * PUMICE_MAX_SAMPLES)	/* of a wave */
#define LATE_SLOT_WORDS (PUMICE_USC_SLOTS * PUMICE_USC_OWN_REGS)

/* A register of a wave: a load that has not arrived. */
struct late_row {
	u64 when;		/* wave's clock at which it is complete */
	u32 lanes;
	u32 signal;		/* plus 1; 0: nothing is under way */
	u32 data[USC_ROW_WORDS];
};

enum late_store { LATE_COMMON, LATE_LOCAL, LATE_SLOTS, LATE_STORES };

/* Words of a store that a wave has to wait for: that are loaded, or copied to memory. */
struct late_range {
	u64 when;
	u64 copy;		/* number of the copy, burst or load: equal in its waves */
	u64 va;			/* of a copy to memory: its destination */
	u32 pc;			/* and its instruction */
	u32 first, words;
	bool copied;		/* to memory: the words are its source */
	u8 signal;
	u8 store;		/* enum late_store */
	bool arrived;		/* with the wait of another wave */
};

/*
 * A word of a store, to a wave: signals that it has to wait for before it uses the word, of ranges
 * that are no longer in its list. Their words have arrived.
 */
struct late_word {
	u16 loads;
	u16 copies;		/* to memory: it may be read */
};

_Static_assert(PUMICE_USC_SIGNALS <= 16, "late_word has a bit for each signal");
struct late_store_record;	/* late_store.c */

struct late_wave {
	u32 rows;		/* that are under way */
	u32 lanes;		/* that its last load of registers loads */
	bool outputs;		/* it has loaded pixel outputs */
	bool joined;		/* a load to a slot register that others still execute */
	u32 ranges;
	struct late_range range[LATE_RANGES];	/* oldest first */
	u32 dropped;		/* signals in its words */
	struct late_word *word;	/* of all stores; NULL until a range leaves the list early */

	/* Stores that it has not waited for, or only those that are not in memory yet if data are
	 * not poisoned; oldest first. */
	struct late_store_record *stores, *last;
	struct late_store_record *pending;	/* the first that is not in memory, or NULL */
	u32 store_count;
	u32 meetings;		/* barriers and work-group copies that it has passed */
};

struct usc_late {
	u64 copies;
	u64 quanta;		/* of waves, so far */
	u32 stores;		/* in the lists of all waves */
	u64 compared;		/* lanes of loads with lanes of stores, so far */
	struct late_row *row;	/* as the unified store */
	struct late_row *own;	/* USC_OWN_ROWS for each wave */
	struct late_row *output;	/* LATE_OUTPUT_ROWS for each wave: by output, then sample */
	u32 *data[LATE_STORES];	/* of ranges, as the stores */
	u32 first_word[LATE_STORES + 1];	/* of each store in late_wave.word; their number */
	struct late_wave wave[USC_WAVES];
};

static inline u32 late_wave_index(const struct exec *x)
{
	return (u32)(x->wave - x->usc->wave);
}

static inline struct late_wave *late_wave_of(const struct exec *x)
{
	return &x->usc->late->wave[late_wave_index(x)];
}

static inline const struct usc_task *late_task_of(const struct exec *x)
{
	return &x->usc->task[x->wave->slot];
}

static inline const struct usc_group *late_group_of(const struct exec *x)
{
	return &x->usc->group[late_task_of(x)->group];
}

static inline bool late_poisons(const struct exec *x)
{
	return x->usc->config.late == USC_LATE_POISON;
}

static inline u32 *late_store_of(const struct exec *x, enum late_store store)
{
	switch (store) {
	case LATE_COMMON:
		return x->usc->common;
	case LATE_LOCAL:
		return (u32 *)(void *)x->usc->local;
	default:
		return x->usc->slot_reg[0];
	}
}

/* Return the first word of the wave's slot registers in their store. */
static inline u32 late_first_slot_word(const struct exec *x)
{
	return x->wave->slot * PUMICE_USC_OWN_REGS;
}

/* late.c: report the use of a place before its access is complete; returns false. */
bool late_report(struct exec *x, const struct usc_insn *i, const struct pumice_usc_late *what);
/* Report that of a register. */
bool late_report_register(struct exec *x, const struct usc_insn *i, u32 bank, u32 number,
			  u32 signal, bool write);
/* Check that an index register, at a byte offset in the wave's own rows, can be read. */
bool late_check_index(struct exec *x, const struct usc_insn *i, u32 offset);

/*
 * late_copy.c: make ranges arrive whose signals the wave has waited for, or that are complete at a
 * clock. A copy to memory may set x->exit to USC_EXIT_FAULT.
 */
void late_ranges_arrive(struct exec *x, u32 signals, u64 clock);
/* A wave no longer has to wait for these signals because of ranges that left its list early. */
void late_forget_dropped(struct usc_late *late, struct late_wave *wave, u32 signals);
/* Check the index of an operand, and the words of the common store or slot that it names. */
bool late_check_words(struct exec *x, const struct usc_insn *i, enum usc_place place, bool write);
/* Check the words of local memory that the active lanes access. */
bool late_check_local(struct exec *x, const struct usc_insn *i);
/* Check the words that a copy or burst accesses on chip. */
bool late_check_copy(struct exec *x, const struct usc_insn *i);
/* Return whether an operand without a row in lookups is the index of another: of SH or VO. */
bool late_is_index(const struct usc_insn *i, enum usc_place place);
/* Return whether an instruction loads a slot register. */
bool late_loads_slot(const struct usc_insn *i);
/*
 * Return whether another wave has executed the load to a slot register that this one executes
 * together with it: then the register is under way for both.
 */
bool late_has_joined(const struct exec *x, const struct usc_insn *i);
/*
 * Return the words of local memory that a work-group copy accesses now, and the first one, counted
 * in that of the USC; 0: none.
 */
u32 late_local_words(const struct exec *x, const struct usc_insn *i, u32 *first);
/*
 * Make the copies to memory of the wave arrive that write bytes from first to last: an instruction
 * that stores there follows. A fault sets x->exit.
 */
void late_copies_precede(struct exec *x, u64 first, u64 last);
/* Before and after an instruction that accesses words of a store. */
void late_copy_begin(struct exec *x, const struct usc_insn *i, struct usc_late_step *s);
void late_copy_end(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s);

/* late_store.c: drop the stores of a wave. */
void late_stores_drop(struct usc_late *late, u32 wave);
/*
 * Store the words of the wave that are complete at a clock, and end those whose signals it has
 * waited for. A fault sets x->exit.
 */
void late_stores_arrive(struct exec *x, u32 signals, u64 clock);
/*
 * Before an instruction: stores of waves of the group that wait for others arrive in time. Returns
 * false with x->exit set if it loads words that are stored later, or if a store faults.
 */
bool late_stores_begin(struct exec *x, const struct usc_insn *i, struct usc_late_step *s);
/* The instruction is complete. Returns as late_stores_begin(). */
bool late_stores_end(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s);

#endif
