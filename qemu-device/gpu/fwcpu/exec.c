// SPDX-License-Identifier: MIT
/*
 * Interpreter: executes decoded instructions, each jumps directly to the code of the next
 * (labels as values).
 *
 * Sources: unprivileged ISA 20191213, chapters 2, 3, 7 and 9. The code of the operations is
 * in exec_alu.h, exec_memory.h, exec_flow.h and exec_system.h, which are included into
 * fwcpu_exec() and use its locals:
 *
 *   x     registers, with a sink for x0
 *   in    the instruction being executed
 *   at    its address in halfwords; may be out of range after a jump
 *   end   halfwords of RAM; code[end] is the end mark
 *   left  unused units of budget
 *
 * An operation ends with NEXT (fall through), JUMP, RAISE, or goto done.
 */

/* Else GCC merges the jumps of all operations into one: a quarter less speed (fwcpu_bench). */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-crossjumping")
#endif

#include "internal.h"

/* Account @used units as executed and retired. */
static void account(struct fwcpu *cpu, uint32_t used)
{
	cpu->executed += used;
	cpu->arch.mcycle += used;
	cpu->arch.minstret += used;
}

/* Results that the C operators leave undefined, or do not offer. */
static inline uint32_t sra(uint32_t a, uint32_t shift)
{
	return (uint32_t)((int32_t)a >> (shift & 31));
}

static inline uint32_t mulh(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}

static inline uint32_t mulhsu(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int64_t)b) >> 32);
}

/* Division by zero and overflow give results, not traps (table 7.1). */
static inline uint32_t div_signed(uint32_t a, uint32_t b)
{
	if (b == 0)
		return UINT32_MAX;
	if (b == UINT32_MAX)
		return 0u - a;
	return (uint32_t)((int32_t)a / (int32_t)b);
}

static inline uint32_t rem_signed(uint32_t a, uint32_t b)
{
	if (b == 0)
		return a;
	if (b == UINT32_MAX)
		return 0;
	return (uint32_t)((int32_t)a % (int32_t)b);
}

/* Return the bits of the instruction at @at, for mtval; it must be inside RAM. */
static uint32_t raw_insn(const struct fwcpu *cpu, uint32_t at)
{
	const uint8_t *p = cpu->cfg.ram + (size_t)at * 2;
	uint32_t low = fwcpu_get16(p);

	return (low & 3) == 3 ? fwcpu_get32(p) : low;
}

#define LABEL(name)		&&op_##name,
#define LABEL_BOTH(name)	&&op_##name, &&op_C_##name,

#define DISPATCH() do {							\
	in = &code[at];							\
	goto *labels[in->op];						\
} while (0)

#define NEXT(length) do {						\
	at += (length) / 2;						\
	if (fwcpu_unlikely(--left == 0))				\
		goto done;						\
	DISPATCH();							\
} while (0)

#define JUMP(to) do {							\
	at = (to);							\
	if (fwcpu_unlikely(--left == 0))				\
		goto done;						\
	if (fwcpu_unlikely(at >= end))					\
		RAISE(RV_CAUSE_FETCH_ACCESS, at * 2);			\
	DISPATCH();							\
} while (0)

#define RAISE(why, what) do {						\
	cause = (why);							\
	tval = (what);							\
	goto raise;							\
} while (0)

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"	/* labels as values */

/* The alignment of the loop to cache lines affects up to almost half of its speed. */
__attribute__((aligned(64)))
void fwcpu_exec(struct fwcpu *cpu, uint32_t count)
{
	static const void *const labels[FWCPU_OP_COUNT] = {
		&&op_DECODE,
		FWCPU_OPS_BOTH(LABEL_BOTH)
		FWCPU_OPS_SINGLE(LABEL)
	};
	const struct fwcpu_insn *const code = cpu->code;
	const struct fwcpu_insn *in;
	uint32_t *const x = cpu->arch.x;
	uint8_t *const ram = cpu->cfg.ram;
	const uint32_t ram_size = cpu->cfg.ram_size;
	const uint32_t end = ram_size / 2;
	const uint8_t *const code_map = cpu->code_map;
	uint32_t at = cpu->arch.pc / 2;
	uint32_t left = count;
	uint32_t cause, tval;

	if (at >= end)
		RAISE(RV_CAUSE_FETCH_ACCESS, at * 2);
	DISPATCH();

#include "exec_alu.h"
#include "exec_memory.h"
#include "exec_flow.h"
#include "exec_system.h"

raise:
	/* An exception uses a unit of budget, and its instruction does not retire. */
	account(cpu, count - left + 1);
	cpu->arch.minstret--;
	cpu->arch.pc = at * 2;
	fwcpu_exception(cpu, cause, tval);
	return;

done:
	account(cpu, count - left);
	cpu->arch.pc = at * 2;
}

#pragma GCC diagnostic pop
