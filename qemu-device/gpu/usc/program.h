/* SPDX-License-Identifier: MIT */
/*
 * USC programs in predecoded form.
 *
 * Source: hw/isa.xml. Every instruction has been unpacked, checked and its operands resolved
 * to an offset from one of a few base addresses of a wave, so that no bit field is decoded at
 * run time.
 *
 * The form does not depend on the executor. Only the member run belongs to the interpreter; a
 * compiling tier reads op, type, form and operands.
 *
 * Limits: a program is constant once it is built. It can be used with any limits that include
 * its needs, and are equal where its form depends on them.
 */
#ifndef PUMICE_GPU_USC_PROGRAM_H
#define PUMICE_GPU_USC_PROGRAM_H

#include "pumice_isa.h"
#include "gfx.h"
#include "usc.h"

/*
 * Host memory of decoded programs: idle ones; the share of each data master, and that of the vertex
 * programs of the PDM; all of them. A share has room for the longest programs that a job must have
 * at the same time, 12.8 MiB each: one, a state's two, background, end of tile and object, one, or
 * those of rays, hits and misses.
 */
#define USC_CACHE_IDLE_BYTES	(16u << 20)
#define USC_CACHE_CDM_BYTES	(24u << 20)
#define USC_CACHE_VDM_BYTES	(28u << 20)
#define USC_CACHE_PDM_BYTES	(44u << 20)
#define USC_CACHE_DEFERRED_BYTES	(28u << 20)
#define USC_CACHE_RDM_BYTES	(44u << 20)
#define USC_CACHE_BYTES		(USC_CACHE_CDM_BYTES + USC_CACHE_VDM_BYTES + USC_CACHE_PDM_BYTES + \
				 USC_CACHE_DEFERRED_BYTES + USC_CACHE_RDM_BYTES)
/* Programs evicted, or freed, at a time. */
#define USC_CACHE_PIECE		64u

/* Instructions of one piece of a load: each takes some 50 us. */
#define USC_FETCH_PIECE		4096u
#define USC_DECODE_PIECE	256u
/*
 * Maximum wait of a load for memory, in GPU clock ticks, since a program of its data master
 * became idle. Longer than the kernel driver's time-out for jobs, which reports more.
 */
#define USC_LOAD_PATIENCE_NS	10000000000ull

/* Base of an operand's offset; the wave supplies the addresses. */
enum usc_base {
	USC_BASE_REG,		/* the wave's rows in the unified store: temporaries, attributes */
	USC_BASE_SHARED,	/* the task's shared registers, followed by its coefficients */
	USC_BASE_COEFFS_ALT,	/* its coefficients of the alternate set */
	USC_BASE_OWN,		/* the wave's internal registers, followed by its index registers */
	USC_BASE_SLOT,		/* the task's slot registers */
	USC_BASE_CONST,		/* rows of the predefined constants, by number */
	USC_BASE_SPECIAL,	/* rows of the wave's own values, enum usc_special_row */
	USC_BASE_POOL,		/* the program's immediates and special constants */
	USC_BASE_SCRATCH,	/* USC_SCRATCH_ROWS an operand: masks used as values, operands
				 * looked up */
	USC_BASES
};

/*
 * Rows of USC_BASE_SPECIAL: special registers before the offset registers by number, the
 * constant "wave", special registers after the offset registers.
 */
#define USC_SPECIAL_WAVE 7u
#define USC_SPECIAL_AFTER (USC_SPECIAL_WAVE + 1u)
#define USC_SPECIAL_ROWS (USC_SPECIAL_AFTER + PUMICE_USC_SR_BYTES_OF_LOCAL - PUMICE_USC_SR_SR43)
_Static_assert(PUMICE_USC_SR_VALID + 1u == USC_SPECIAL_WAVE, "rows of special registers");
_Static_assert(USC_SPECIAL_ROWS <= 32, "bits of usc_program.specials");

/* Row of a special register that is not an offset register. */
#define USC_SPECIAL_ROW(number) \
	((number) < USC_SPECIAL_WAVE ? (number) : \
				       (number) + USC_SPECIAL_AFTER - PUMICE_USC_SR_SR43 - 1u)

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

/* Kinds of operands that are not simply at their offset. */
enum usc_lookup_kind {
	USC_LOOKUP_ROWS,	/* indexed vector registers, lane by lane */
	USC_LOOKUP_WORD,	/* indexed scalars, by lane 0's index */
	USC_LOOKUP_LANES,	/* indexed words of the common store, lane by lane */
	USC_LOOKUP_PLANES,	/* the same for each lane's primitive */
	USC_LOOKUP_DC,		/* dynamic constants */
	USC_LOOKUP_UNIFORM,	/* the next word of the uniform stream */
	USC_LOOKUP_SLOT,	/* a slot register used as a row */
	USC_LOOKUP_OUTPUT,	/* a pixel output register */
	USC_LOOKUP_OUTPUTS,	/* indexed pixel output registers, lane by lane */
	USC_LOOKUP_VO,		/* indexed vertex output registers: not in lookups, see uvsw */
	USC_LOOKUP_SCALED,	/* a row of word addresses, as byte offsets */
	USC_LOOKUP_SHARED,	/* indexed data in the common store, by lane 0's index: not in
				 * lookups, see exec_copy.c */
};

/* Most registers of an operand that is looked up: of a burst. */
#define USC_SCRATCH_ROWS PUMICE_USC_BURST_WORDS

/*
 * An operand that is kept in scratch rows while its instruction runs: fetched before, and if
 * it is the destination, written back after.
 */
struct usc_lookup {
	u32 offset;	/* bytes: the register numbered in the instruction; of pixel outputs its
			 * number */
	u32 last;	/* greatest index that is within the allocation; of dynamic constants the
			 * number of the register */
	u32 index;	/* bytes: the row of the index register in USC_BASE_OWN */
	u8 base;	/* enum usc_base */
	u8 kind;	/* enum usc_lookup_kind */
	u8 shift : 3;	/* bytes from one register to the next are 1 << shift */
	u8 dim : 3;	/* registers from one index to the next are 1 << dim */
	u8 scaled : 1;	/* of ROWS: the row is one of word addresses, too */
	u8 count;	/* registers from the selected one on, if they are in scratch rows */
};

struct exec;
struct usc_insn;

/*
 * Run one instruction; returns the next. When the wave must pause or stop,
 * x->limit is cleared, so that any address compares as being past it.
 */
typedef const struct usc_insn *usc_exec_fn(struct exec *x, const struct usc_insn *i);

/* Destination of an access whose signal reports that it is loaded. */
enum usc_loads {
	USC_LOADS_NONE,
	USC_LOADS_REGISTERS,	/* the operand USC_DST */
	USC_LOADS_SHARED,	/* words of shared registers */
	USC_LOADS_LOCAL,	/* words of local memory, at USC_SRC0 */
};

/* A line of the host's cache; a power of two, so that numbers of instructions are shifts. */
#define USC_INSN_BYTES 64u

struct usc_insn {
	usc_exec_fn *run;	/* interpreter's function for it */
	usc_exec_fn *then;	/* the same, if scratch rows must be filled first */
	u32 offset[USC_PLACES];	/* operands: bytes from their base */
	u8 base[USC_PLACES];	/* enum usc_base */
	u32 value;		/* branch target; displacement in bytes; vertex output register */
	u32 mask;		/* first of USC_PLACES entries in the program's masks and lookups */
	u32 lanes;		/* lanes where the double mask is true, if lanes_known; bit l
				 * is lane l */
	u8 op;			/* enum pumice_usc_op */
	u8 type : 4;		/* enum pumice_usc_type */
	u8 form : 4;		/* enum pumice_usc_form */
	u8 func;		/* enum pumice_usc_reduce, pumice_usc_atomic, pumice_usc_scope,
				   pumice_usc_iterate, pumice_texture_dim */
	u8 sig[4];		/* completion signals, unused ones repeat the first */
	u8 scalars : 4;		/* bit n: operand n is one word, not a row */
	u8 values : 4;		/* bit n: operand n is a mask used as value */
	u8 lookups : 4;		/* bit n: operand n is looked up */
	u8 outputs : 4;		/* bit n: operand n is a pixel output register */
	bool lanes_known : 1;	/* the double mask is equal in every wave */
	bool no_base : 1;	/* an optional operand is omitted: a base, a texture's
				 * further one */
	bool masked : 1;	/* has a double mask */
	bool writes_slot : 1;	/* the destination is a slot register */
	u8 loads : 2;		/* enum usc_loads */
	u8 registers[USC_PLACES];	/* of an operand that is not indexed: how many follow each
					 * other; words of copies excepted. 0: there is none */
	u16 words;		/* words of a burst, a copy or a window; components; component */
};
_Static_assert(sizeof(struct usc_insn) == USC_INSN_BYTES, "one cache line");
_Static_assert(PUMICE_USC_TYPE_COUNT <= 16 && PUMICE_USC_FORM_COUNT <= 16 && USC_PLACES <= 4 &&
	       USC_LOADS_LOCAL < 4, "fields of struct usc_insn");

struct usc_program {
	/* The code. insn[insns] handles running past the end. */
	struct usc_insn *insn;
	u32 insns;
	struct usc_mask *mask;
	struct usc_lookup *lookup;
	u32 masks;		/* entries of both */
	u32 *pool;		/* immediates and special constants */
	u32 pool_words;
	u32 specials;		/* bit n: row n of USC_BASE_SPECIAL is read */
	bool own;		/* rows of USC_BASE_OWN are used */

	/* The source words: the key in the cache. */
	u32 *words;
	u64 hash;
	struct usc_program_limits limits;
	struct usc_program_limits needs;	/* registers of each bank that it uses */
	u32 exact;		/* banks whose limit its form depends on: bits of enum usc_exact */

	/* Cache state, under its lock. */
	u32 refs;
	u64 serial;		/* of those in the cache, each another one */
	u64 bytes;		/* host memory */
	struct usc_program *next, **link;	/* in its bucket */
	struct usc_program *older, *newer;	/* in the list of idle programs */
};

enum usc_exact {
	USC_EXACT_TEMPS = 1,	/* position of attributes, after the temporaries */
	USC_EXACT_ATTRS = 2,
	USC_EXACT_SHARED = 4,	/* position of coefficients, after the shared registers */
	USC_EXACT_COEFFS = 8,
	USC_EXACT_VO = 16,
	USC_EXACT_OUTPUTS = 32,
	USC_EXACT_COEFFS_ALT = 64,
};

/* Number of registers in a bank whose size is allocated; 0 for other banks. */
u32 usc_bank_registers(enum pumice_usc_bank bank, const struct usc_program_limits *limits);

/*
 * Replace an offset register (document 003, "Special Constant": numbers 36 to 43) by the internal
 * or slot register that it names. Internal registers are numbered upwards from the first offset
 * register, slot registers downwards from the last: there are 8 of both, so each offset register
 * is one of them, and a register's number does not depend on how many of the other kind exist.
 */
static inline void usc_resolve_offset(struct pumice_usc_operand *opnd, u32 slot_regs)
{
	u32 offset = opnd->num - PUMICE_USC_SR_SR36;

	if (opnd->bank != PUMICE_USC_BANK_SR || opnd->num < PUMICE_USC_SR_SR36 ||
	    opnd->num > PUMICE_USC_SR_SR43)
		return;
	if (offset < PUMICE_USC_OWN_REGS - slot_regs) {
		opnd->bank = PUMICE_USC_BANK_I;
		opnd->num = (u16)offset;
	} else {
		opnd->bank = PUMICE_USC_BANK_SL;
		opnd->num = (u16)(PUMICE_USC_OWN_REGS - 1 - offset);
		opnd->elem = false;	/* it is one value */
	}
}

/* Check an instruction. Returns the fault code of a refused one, or PUMICE_FAULT_NONE. */
enum pumice_fault usc_validate(const u32 *words, u32 insns,
			       const struct usc_program_limits *limits,
			       struct usc_program_limits *needs, struct pumice_usc_insn *insn);

/*
 * Begin the predecoded form of a program, build it from words in pieces up to insns, then end
 * it: from then on it owns the words. Each returns false, or NULL, when out of memory;
 * usc_predecode() returns the fault of the refused instruction *at.
 */
struct usc_program *usc_predecode_begin(u32 insns, const struct usc_program_limits *limits);
enum pumice_fault usc_predecode(struct usc_program *program, const u32 *words, u32 *at, u32 end);
void usc_predecode_end(struct usc_program *program, u32 *words);
void usc_program_free(struct usc_program *program);
/* Return the maximum host memory to predecode insns instructions, words included. */
u64 usc_predecode_bytes(u32 insns);

/* cache.c, for load.c. */

/* Shares of the memory. */
enum usc_share {
	USC_SHARE_CDM, USC_SHARE_VDM, USC_SHARE_PDM,
	USC_SHARE_DEFERRED,	/* vertex programs of the PDM */
	USC_SHARE_RDM,
	USC_SHARES
};

/* Return the share of a stage. */
static inline enum usc_share usc_cache_share(u32 stage)
{
	switch ((enum usc_stage)stage) {
	case USC_STAGE_COMPUTE:
		return USC_SHARE_CDM;
	case USC_STAGE_VERTEX:
		return USC_SHARE_VDM;
	case USC_STAGE_DEFERRED:
		return USC_SHARE_DEFERRED;
	case USC_STAGE_RAYS:
	case USC_STAGE_HIT:
		return USC_SHARE_RDM;
	case USC_STAGE_FRAGMENT:
	case USC_STAGE_TILE:
		break;
	}
	return USC_SHARE_PDM;
}

/*
 * Where and when a program was fetched, and for which limits: the counts of the MMU before that.
 * Until they change the same fetch has the same words.
 */
struct usc_source {
	u64 addr;		/* GPU virtual address, in ctx */
	u64 gen, code;		/* of ctx: of translations, and mmu_code_count() */
	u32 ctx, insns;
	struct usc_program_limits limits;
};

/*
 * Find the program that was fetched there, and take a reference; NULL when it is not known, or no
 * longer in the cache.
 */
struct usc_program *usc_cache_recall(struct usc_program_cache *cache,
				     const struct usc_source *source);
/* Note the program of a source; the caller has a reference. */
void usc_cache_note(struct usc_program_cache *cache, const struct usc_source *source,
		    const struct usc_program *program);

/* Find a program and take a reference; NULL when there is none. */
struct usc_program *usc_cache_find(struct usc_program_cache *cache, u64 hash, const u32 *words,
				   u32 insns, const struct usc_program_limits *limits);
/*
 * Add a new program with one reference, unless another load already added it: then that one
 * is returned.
 */
struct usc_program *usc_cache_insert(struct usc_program_cache *cache, struct usc_program *made,
				     u64 reserved);
/*
 * Reserve memory of the share of the stage's data master. DONE: reserved. MORE: idle programs
 * occupy the memory, and a piece of them was evicted; usc_cache_sweep(), then call again.
 * WAIT: not available now; *waits, at first false, is set while room is to be reported, until
 * a later call returns another result or usc_cache_wait_end() is called.
 */
enum usc_load_result usc_cache_reserve(struct usc_program_cache *cache, u32 stage, u64 bytes,
				       bool *waits);
void usc_cache_release(struct usc_program_cache *cache, u32 stage, u64 bytes);
/* Return the total number of programs of the stage's data master that became idle. */
u64 usc_cache_ended(struct usc_program_cache *cache, u32 stage);
/* Wake a waiter at its deadline. Returns the deadline, a new one for 0; 0: there is no waiter. */
u64 usc_cache_wait(struct usc_program_cache *cache, u64 deadline);
void usc_cache_wait_end(struct usc_program_cache *cache);
bool usc_cache_late(const struct usc_program_cache *cache, u64 deadline);
/*
 * Let usc_cache_sweep() free a program that was not completed; until then its reservation is
 * kept, but not charged to the share.
 */
void usc_cache_free_later(struct usc_program_cache *cache, struct usc_program *program,
			  u64 reserved);
/* Free some evicted programs. No lock held. */
void usc_cache_sweep(struct usc_program_cache *cache);
/* Initial value of hashes, secret from authors of programs. */
u64 usc_cache_seed(const struct usc_program_cache *cache);
/* Return the host memory of all programs and loads. */
u64 usc_program_cache_bytes(struct usc_program_cache *cache);

/* Return the bytes of the idle programs in the cache. */
u64 usc_program_cache_idle(struct usc_program_cache *cache);

#endif
