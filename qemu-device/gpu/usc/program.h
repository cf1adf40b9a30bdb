/* SPDX-License-Identifier: MIT */
/*
 * USC programs in predecoded form.
 *
 * Source: hw/isa.xml. Every instruction has been unpacked, checked and its
 * operands resolved to an offset from one of a few base addresses that a wave
 * brings along, so that running it looks at no bit field any more.
 *
 * The form is the same for every way of running it. Only the member run belongs
 * to the interpreter; a tier that compiles reads op, type, form and operands.
 *
 * Limits: one form per (code, limits); a program never changes once it is built.
 */
#ifndef PUMICE_GPU_USC_PROGRAM_H
#define PUMICE_GPU_USC_PROGRAM_H

#include "pumice_isa.h"
#include "usc.h"

/* Host memory that a cache keeps for programs that nobody runs. */
#define USC_CACHE_IDLE_BYTES (16u << 20)

/* What the offset of an operand counts from; the wave supplies the addresses. */
enum usc_base {
	USC_BASE_REG,		/* the wave's rows in the unified store: temporaries, attributes */
	USC_BASE_SHARED,	/* the task's shared registers, behind them its coefficients */
	USC_BASE_OWN,		/* the wave's internal registers, behind them its index registers */
	USC_BASE_SLOT,		/* the task's slot registers */
	USC_BASE_CONST,		/* rows of the predefined constants, by number */
	USC_BASE_SPECIAL,	/* rows of the wave's own values, enum usc_special_row */
	USC_BASE_POOL,		/* the program's immediates and special constants */
	USC_BASE_SCRATCH,	/* rows by operand: masks used as values, operands looked up */
	USC_BASES
};

/* Rows of USC_BASE_SPECIAL: special registers by number, then the constant "wave". */
#define USC_SPECIAL_WAVE 7u
#define USC_SPECIAL_ROWS 8u

/* Operands of an instruction. */
enum usc_place { USC_DST, USC_SRC0, USC_SRC1, USC_SRC2, USC_PLACES };

/* Masks of an instruction: the double mask and those used as values. */
#define USC_MASK_OF_LANES 0u
#define USC_MASK_OF(place) ((place) - USC_SRC0 + 1u)
#define USC_MASKS USC_PLACES

/* A double mask: lane l is true where both words, each with its inversion, have bit 0 set. */
struct usc_mask {
	u32 offset[2];	/* bytes */
	u8 base[2];	/* enum usc_base */
	u8 invert[2];	/* 1 to invert bit 0 */
};

/* Why an operand is not simply where its offset says. */
enum usc_lookup_kind {
	USC_LOOKUP_ROWS,	/* indexed vector registers, lane by lane */
	USC_LOOKUP_WORD,	/* an indexed scalar, by lane 0's index */
	USC_LOOKUP_DC,		/* dynamic constants */
	USC_LOOKUP_SLOT,	/* a slot register where a row is meant */
	USC_LOOKUP_OUTPUT,	/* a pixel output register */
};

/*
 * An operand that stands in a scratch row while its instruction runs: fetched
 * before, and if it is the destination put back behind it.
 */
struct usc_lookup {
	u32 offset;	/* bytes: the register numbered in the instruction; of outputs its number */
	u32 last;	/* greatest index that is within the allocation; of dynamic constants that number */
	u32 index;	/* bytes: the row of the index register in USC_BASE_OWN */
	u8 base;	/* enum usc_base */
	u8 kind;	/* enum usc_lookup_kind */
	u8 shift;	/* bytes from one register to the next are 1 << shift */
	u8 dim;		/* registers from one index to the next are 1 << dim */
};

struct exec;
struct usc_insn;

/*
 * Run one instruction; returns the next. When the wave must pause or stop,
 * x->limit is cleared, so that any address compares as being past it.
 */
typedef const struct usc_insn *usc_exec_fn(struct exec *x, const struct usc_insn *i);

struct usc_insn {
	usc_exec_fn *run;	/* interpreter's function for it */
	usc_exec_fn *then;	/* the same, where scratch rows are to be filled before */
	u32 offset[USC_PLACES];	/* operands: bytes from their base */
	u8 base[USC_PLACES];	/* enum usc_base */
	u32 value;		/* branch target; displacement in bytes; vertex output register */
	u32 mask;		/* first of USC_PLACES in the program's masks and lookups */
	u32 lanes;		/* where the double mask is true, if lanes_known; bit l is lane l */
	u8 op;			/* enum pumice_usc_op */
	u8 type;		/* enum pumice_usc_type */
	u8 form;		/* enum pumice_usc_form */
	u8 func;		/* enum pumice_usc_reduce, pumice_usc_atomic, pumice_usc_scope,
				   pumice_usc_iterate, pumice_texture_dim */
	u8 sig[4];		/* completion signals, unused ones repeat the first */
	u8 scalars;		/* bit n: operand n is one word, not a row */
	u8 values;		/* bit n: operand n is a mask used as value */
	bool lanes_known;	/* the double mask is the same in every wave */
	bool no_base;		/* an optional operand is left out: a base, a texture's further one */
	bool masked;		/* has a double mask */
	u8 lookups;		/* bit n: operand n is looked up */
	u8 outputs;		/* bit n: and is a pixel output register */
	u16 words;		/* of a burst, a copy or a window; components; component */
};

struct usc_program {
	/* The code. insn[insns] stands for running past the end. */
	struct usc_insn *insn;
	u32 insns;
	struct usc_mask *mask;
	struct usc_lookup *lookup;
	u32 masks;		/* entries of both */
	u32 *pool;		/* immediates and special constants */
	u32 pool_words;
	u32 specials;		/* bit n: row n of USC_BASE_SPECIAL is read */
	bool own;		/* rows of USC_BASE_OWN are used */

	/* What it was made from: the key in the cache. */
	u32 *words;
	u64 hash;
	struct usc_program_limits limits;

	/* Held by the cache, under its lock. */
	u32 refs;
	u64 bytes;		/* host memory */
	struct usc_program *next;		/* in its bucket */
	struct usc_program *older, *newer;	/* among those without references */
};

/* Registers of a bank whose number is a matter of allocation; 0 for other banks. */
u32 usc_bank_registers(enum pumice_usc_bank bank, const struct usc_program_limits *limits);

/* Why an instruction is refused: a fault code, or PUMICE_FAULT_NONE. */
enum pumice_fault usc_validate(const u32 *words, u32 insns,
			       const struct usc_program_limits *limits,
			       struct pumice_usc_insn *insn);

/*
 * Check the words and build the predecoded form, which then owns them. NULL with
 * *fault and *pc at the first refused instruction, or with PUMICE_FAULT_NONE when
 * memory lacks; the words then stay the caller's.
 */
struct usc_program *usc_predecode(u32 *words, u32 insns, const struct usc_program_limits *limits,
				  enum pumice_fault *fault, u32 *pc);
void usc_program_free(struct usc_program *program);

/* Bytes of the programs in the cache that nobody runs. */
u64 usc_program_cache_idle(struct usc_program_cache *cache);

#endif
