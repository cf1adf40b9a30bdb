/* SPDX-License-Identifier: MIT */
/*
 * Interpreter of USC programs: definitions shared by its files.
 *
 * Each instruction has a function that runs it for a whole wave and returns the next. The
 * files:
 *
 *   exec_scalar.c   scalar forms
 *   exec_reduce.c   reductions, first_where_true
 *   exec_flow.c     branches, barrier, end, signals
 *   exec_copy.c     work-group copies, bursts to the common store, the window of dynamic
 *                   constants
 *   exec_uniform.c  the uniform stream
 *   exec_slot.c     writes to slot registers, which waves of a task execute together
 *   exec_ray.c      ray queries
 *   exec_gfx.c      graphics: textures, dropped pixels, the tile
 *   step.c          a wave an instruction at a time, for count.c and late.c
 *   vec/            lane-parallel work, compiled once per vector level of the
 *                   host (level_*.c); results are equal on every level
 *
 * Limits: a struct exec exists for one quantum of a group; nothing in it is kept.
 */
#ifndef PUMICE_GPU_USC_EXEC_H
#define PUMICE_GPU_USC_EXEC_H

#include <string.h>

#include "../levels/levels.h"
#include "../strict/lines.h"
#include "../strict/strict.h"
#include "../tag/tag.h"
#include "gfx.h"
#include "state.h"

#define USC_F32_NAN 0x7fc00000u	/* the canonical NaN */

/* Reason for a wave to leave the interpreter. */
enum usc_exit {
	USC_EXIT_SLICE,		/* the slice is used up */
	USC_EXIT_YIELD,		/* waits for a signal; others may run */
	USC_EXIT_BARRIER,
	USC_EXIT_SLOT,		/* waits for its task to write a slot register */
	USC_EXIT_COPY,		/* waits for its group to reach the work-group copy */
	USC_EXIT_END,
	USC_EXIT_FAULT,		/* reason in x->fault */
};

struct exec {
	/* Base addresses of operands. */
	u8 *base[USC_BASES];

	/* The wave's slice. */
	const struct usc_insn *limit;	/* end of the slice */
	const struct usc_insn *from;	/* start of the current run of instructions */
	u32 done;			/* instructions before that */
	u32 slice;			/* instructions allowed */
	u32 valid;			/* lanes with an instance */
	bool exclusive;			/* no other wave can run instead */
	bool detail;			/* count the detailed counters of hw/perf.h */
	bool stepped;			/* run an instruction at a time: step.h */
	bool pause;			/* end the slice here: see exec_check_stop() */
	u8 exit;			/* enum usc_exit */
	struct usc_wave *wave;
	u64 wait;			/* issue slots to wait for, after USC_EXIT_YIELD */

	/* The step: set when it should end; or NULL. */
	const _Atomic bool *stop;
	u32 far_hits;			/* in the second level of the TLB */
	u32 slow;			/* calls of exec_check_stop(), and steps of rays, not yet
					 * charged to the budget */

	/* The group's quantum: added to performance counters after it. */
	u64 issued, stalled;
	u64 tlb_hits;

	/* The wave, if gfx is set: see usc_gfx_exec(). */
	u32 *vo;			/* VERTEX: its output registers */
	struct usc_span *span;		/* FRAGMENT, TILE: its first span */
	u32 spans;			/* of the wave */
	bool direct, in_line, one_prim;	/* as in struct usc_wave */
	u8 positions;			/* bit 0: position[0] is valid, bit 1: position[1] */
	u8 prims_known;			/* bit n: prim_offset[n] is valid */

	/* The group. */
	const struct usc_gfx *gfx;	/* or NULL */
	u8 ctx;				/* MMU context */
	u32 local_bytes;
	u8 *local;
	u64 code_addr;			/* GPU virtual address of the program */
	u32 first_wave;			/* the group's first wave in the compute task */
	const struct usc_program *program;
	struct usc *usc;

	struct gpu_fault fault;		/* completely filled in if exit is USC_EXIT_FAULT */
	u32 special[USC_SPECIAL_ROWS][USC_ROW_WORDS] __attribute__((aligned(128)));
	u32 scratch[USC_PLACES][USC_SCRATCH_ROWS][USC_ROW_WORDS] __attribute__((aligned(128)));
	/*
	 * x and y of each lane, for modes without and with centroid; byte offset of its
	 * coefficients in the normal and in the alternate set.
	 */
	float position[2][2][USC_ROW_WORDS] __attribute__((aligned(128)));
	u32 prim_offset[2][USC_ROW_WORDS] __attribute__((aligned(128)));
};

/* Return the address of an operand: a row of 32 words, or one word. */
static inline u32 *exec_operand(const struct exec *x, const struct usc_insn *i,
				enum usc_place place)
{
	return (u32 *)(void *)(x->base[i->base[place]] + i->offset[place]);
}

/* Return the row of a mask register. */
static inline const u32 *exec_mask_row(const struct exec *x, const struct usc_mask *mask, u32 n)
{
	return (const u32 *)(const void *)(x->base[mask->base[n]] + mask->offset[n]);
}

static inline const struct usc_lookup *exec_lookup(const struct exec *x, const struct usc_insn *i,
						   enum usc_place place)
{
	return &x->program->lookup[i->mask + place];
}

static inline const struct usc_mask *exec_mask(const struct exec *x, const struct usc_insn *i,
					       u32 which)
{
	return &x->program->mask[i->mask + which];
}

/*
 * Continue after instruction i. If the compiler makes this a tail call, instructions are
 * chained without a loop between them; otherwise the stack grows by a frame for each, at most
 * USC_WAVE_QUANTUM.
 */
static inline const struct usc_insn *exec_next(struct exec *x, const struct usc_insn *i)
{
	i++;
	return (uintptr_t)i < (uintptr_t)x->limit ? i->run(x, i) : i;
}

/* Return the wave's clock at instruction i. */
static inline u64 exec_clock(const struct exec *x, const struct usc_insn *i)
{
	return x->wave->clock + x->done + (u64)(i - x->from);
}

/* Leave the interpreter; the wave continues at next. */
static inline const struct usc_insn *exec_leave(struct exec *x, const struct usc_insn *next,
						enum usc_exit why)
{
	x->exit = why;
	x->limit = NULL;
	return next;
}

/*
 * Begin a run of instructions at next, as far as the slice allows: this may be beyond the end of
 * the program, where the wave leaves.
 */
static inline void exec_run_from(struct exec *x, const struct usc_insn *next)
{
	size_t left = x->slice - x->done;

	x->from = next;
	x->limit = (const struct usc_insn *)((uintptr_t)next + left * sizeof(*next));
}

/* Not NULL, and every instruction compares as being past it. */
#define EXEC_PAUSE ((const struct usc_insn *)(uintptr_t)1)

/* End the slice after this instruction. This affects only how much is run in one step. */
static inline void exec_pause(struct exec *x)
{
	x->pause = true;
	x->limit = EXEC_PAUSE;
}

/*
 * Call in a slow instruction: charge the step for it, and if the step should end, end the
 * slice.
 */
static inline void exec_check_stop(struct exec *x)
{
	x->slow++;
	if (x->stop && atomic_load_explicit(x->stop, memory_order_relaxed))
		exec_pause(x);
}

/*
 * Continue at instruction index target, within the slice. Runs the target at once, as exec_next()
 * does. If x->stepped, returns it instead: step.c runs each instruction itself.
 */
static inline const struct usc_insn *exec_jump(struct exec *x, const struct usc_insn *i, u32 target)
{
	const struct usc_insn *next = &x->program->insn[target];

	x->done += (u32)(i + 1 - x->from);
	exec_run_from(x, next);
	return !x->stepped && (uintptr_t)next < (uintptr_t)x->limit ? next->run(x, next) : next;
}

/* Return the base address of an access to memory, displacement included. */
static inline u64 exec_base(const struct exec *x, const struct usc_insn *i)
{
	u64 base = 0;

	if (!i->no_base) {
		/*
		 * The pair is in element 0 of neighbouring rows, or in neighbouring words: of the
		 * common store, or looked up.
		 */
		u32 step = i->base[USC_SRC2] == USC_BASE_REG ? USC_ROW_WORDS : 1;
		const u32 *pair = exec_operand(x, i, USC_SRC2);

		base = pair[0] | (u64)pair[step] << 32;
	}
	return base + i->value;
}

/* An access to memory has begun at instruction i: its signal becomes done. */
static inline void exec_signal(struct exec *x, const struct usc_insn *i)
{
	x->wave->done[i->sig[0]] = exec_clock(x, i) + 1 + USC_GLOBAL_LATENCY;
}

/* Return the signals of the instruction, bit n for signal n. */
static inline u32 exec_signals(const struct usc_insn *i)
{
	return 1u << i->sig[0] | 1u << i->sig[1] | 1u << i->sig[2] | 1u << i->sig[3];
}

/* Return the wave's clock at which all signals of the instruction are done. */
u64 exec_signals_done(const struct exec *x, const struct usc_insn *i);
/* Return the wave's clock at which all its signals are done. */
u64 exec_all_done(const struct exec *x);
/* Return the wave's clock at which the first of them is done. */
u64 exec_first_done(const struct exec *x, const struct usc_insn *i);
/*
 * Return those that are done when a wait for any of them ends, as exec_signals(): before the wait
 * and after it.
 */
u32 exec_any_done(const struct exec *x, const struct usc_insn *i);

/* The same as exec_host() for an address that is not in the first level of the TLB. */
u8 *exec_host_missed(struct exec *x, u64 va, bool store);

/* Return the host's address of va, valid to the end of its grain, or NULL with x->fault set. */
static inline u8 *exec_host(struct exec *x, u64 va, bool store)
{
	struct usc *usc = x->usc;
	u8 *host = NULL;

	if (!(va >> PUMICE_MMU_VA_BITS))
		host = mmu_tlb_lookup(usc->config.mmu, &usc->tlb, x->ctx, va,
				      store ? MMU_TLB_WRITE : MMU_TLB_READ);
	if (!host)
		return exec_host_missed(x, va, store);
	x->tlb_hits++;
	return host;
}

/*
 * Pass an access to the memory hierarchy, in detailed modes. Those of instructions that access
 * memory by lane are passed by request.c. source: PUMICE_UNIT_USC_DATA, or that with flags.
 */
static inline void exec_request(const struct exec *x, u64 va, u64 bytes, bool store,
				enum pumice_unit source)
{
	mmu_request(x->usc->config.mmu, &x->usc->tlb, x->ctx, va, bytes,
		    store ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ, source);
}

/* Mode strict: the program uses bytes of a request of MMU_WINDOW(). */
static inline void exec_use(const struct exec *x, u64 va, u64 bytes)
{
	mmu_use(x->usc->config.mmu, &x->usc->tlb, x->ctx, va, bytes, PUMICE_UNIT_USC_DATA);
}

/* Mode strict: the program will access bytes by exec_host(), and request them afterwards. */
static inline void exec_expect(const struct exec *x, u64 va, u64 bytes, bool store)
{
	const struct mmu *mmu = x->usc->config.mmu;

	if (x->usc->strict && !(va >> PUMICE_MMU_VA_BITS) &&
	    !mmu_is_coherent(mmu, &x->usc->tlb, x->ctx, va))
		lines_expect(x->usc->strict->lines, x->ctx, va, bytes, store);
}

/* Mode strict: bytes whose request was made before are in memory now. */
static inline void exec_stored(const struct exec *x, u64 va, u64 bytes)
{
	if (x->usc->strict)
		lines_write(x->usc->strict->lines, x->ctx, va, bytes, NULL);
}

/* Report a fault of instruction i itself. */
const struct usc_insn *exec_fault(struct exec *x, const struct usc_insn *i,
				  enum pumice_fault fault);
/* Report an access of instruction i to va, which is misaligned. */
const struct usc_insn *exec_align_fault(struct exec *x, const struct usc_insn *i,
					enum pumice_fault fault, u64 va, bool store);
/* Report an access of instruction i to local memory, beyond the allocation or misaligned. */
const struct usc_insn *exec_local_fault(struct exec *x, const struct usc_insn *i,
					enum pumice_fault fault, u64 offset);
/* Record the lane of the fault just raised: the lowest of these lanes. */
static inline void exec_fault_lane(struct exec *x, u32 lanes)
{
	x->fault.lane = (u8)__builtin_ctz(lanes);
	x->fault.lane_known = true;
	x->fault.instance = (u16)(x->wave->instance + x->fault.lane);
}

/* Report the fault that the MMU stored in x->fault. */
const struct usc_insn *exec_mmu_fault(struct exec *x, const struct usc_insn *i);

/*
 * Load the words of the dynamic constants that lookup selects to the valid lanes of row, zero
 * to the others. Returns false with x->exit set on a fault.
 */
bool exec_dc_read(struct exec *x, const struct usc_insn *i, const struct usc_lookup *lookup,
		  u32 *row);

/*
 * Load the next word of the wave's uniform stream to all lanes of row. Returns false with x->exit
 * set on a fault.
 */
bool exec_uniform_read(struct exec *x, const struct usc_insn *i, u32 *row);

/* Drop the windows of dynamic constants that the wave has fetched. */
static inline void exec_dc_drop(struct exec *x)
{
	memset(x->wave->dc_kept, 0, sizeof(x->wave->dc_kept));
}

/* Set up x for a wave of a group with gfx. */
void usc_gfx_exec(struct exec *x, u32 in_task);
/*
 * Read a pixel output register of all lanes, 0 in lanes that are not valid; write one to the
 * live samples of some lanes.
 */
void exec_outputs_read(const struct exec *x, u32 number, u32 *row);
void exec_outputs_write(const struct exec *x, u32 number, const u32 *row, u32 lanes);
/* The same for the register that each lane's index selects, which exists in valid lanes. */
void exec_outputs_read_indexed(const struct exec *x, const struct usc_lookup *lookup, u32 *row);
void exec_outputs_write_indexed(const struct exec *x, const struct usc_lookup *lookup,
				const u32 *row, u32 lanes);
/* Return the word of a pixel output register of a sample, in a lane that has a span. */
u32 *exec_output_word(const struct exec *x, u32 number, u32 lane, u32 sample);
/* Return those of some valid lanes in which a write to a pixel output writes this sample. */
u32 exec_output_lanes(const struct exec *x, u32 sample, u32 lanes);
/* Return the lanes that read textures: all lanes of a span if one of them is valid. */
u32 exec_texture_lanes(const struct exec *x);
/* Drop the pixels of these lanes, which are valid. */
void exec_drop(struct exec *x, u32 lanes);

/* Return whether the wave that is at a work-group copy executes it for its group now. */
bool usc_copy_executes(const struct exec *x);
/*
 * Store words of on-chip memory to va, without a request to the memory hierarchy. Returns false
 * with x->fault set on a fault.
 */
bool usc_copy_store(struct exec *x, const u32 *chip, u64 va, u32 words);

/* Prepare x for waves of a group. */
void usc_exec_group(struct exec *x, struct usc *usc, unsigned int group);
/* Run a wave from i until it leaves, an instruction at a time (step.c). */
const struct usc_insn *usc_exec_stepped(struct exec *x, const struct usc_insn *i);
/* Update counters with the group's quantum since the last call. */
void usc_exec_count(struct exec *x);
/* Run one of its waves for at most slice instructions; returns how many it issued. */
u32 usc_exec(struct exec *x, struct usc_wave *wave, u32 slice, bool exclusive);

/*
 * Run an instruction whose run member is a wrapper: operands that are looked up included.
 */
const struct usc_insn *exec_then(struct exec *x, const struct usc_insn *i);

/* Functions of one level. */
struct usc_level_ops {
	/* The function for an instruction with lane-parallel work, or NULL for others. */
	usc_exec_fn *(*find)(const struct usc_insn *insn);
	/* The function for an instruction that writes a pixel output, or NULL: use lookups. */
	usc_exec_fn *(*find_output)(const struct usc_insn *insn);
	/* A function for an instruction and the next one together, or NULL. */
	usc_exec_fn *(*find_pair)(const struct usc_insn *insn);
	/* Write masks that are used as values, then run the instruction. */
	usc_exec_fn *values;
	/* The same, operands that are looked up included. */
	usc_exec_fn *lookups;
	/*
	 * Only fill the scratch rows of an instruction's sources. Returns false with x->exit set
	 * on a fault.
	 */
	bool (*sources)(struct exec *x, const struct usc_insn *i);
};

extern const struct usc_level_ops usc_level_base, usc_level_avx2, usc_level_avx512;

/* Return the functions of the host's level. */
const struct usc_level_ops *usc_level(void);
/* For tests and measurements; affects programs built afterwards. The level must be usable. */
void usc_level_choose(enum gpu_level level);

/* Set insn->run, and insn->then if it needs that; all the rest must be set. */
void usc_exec_bind(struct usc_insn *insn);

/* The same for an instruction that is followed by another, when both are set. */
void usc_exec_bind_pair(struct usc_insn *insn);

usc_exec_fn *usc_exec_scalar_find(const struct usc_insn *insn);
usc_exec_fn *usc_exec_reduce_find(const struct usc_insn *insn);
usc_exec_fn *usc_exec_flow_find(const struct usc_insn *insn);
usc_exec_fn *usc_exec_copy_find(const struct usc_insn *insn);
usc_exec_fn *usc_exec_gfx_find(const struct usc_insn *insn);
usc_exec_fn *usc_exec_ray_find(const struct usc_insn *insn);
/* For an instruction that writes a slot register; insn->then is that without scratch rows. */
usc_exec_fn usc_exec_slot_write;
/* For a work-group copy, likewise. */
usc_exec_fn usc_exec_group_copy;
/* Placed after the last instruction. */
usc_exec_fn usc_exec_past_end;

#endif
