// SPDX-License-Identifier: MIT
/*
 * Mistakes in legal programs: registers that are read although nothing has written them, loads
 * that are read without a wait, and paths without an end.
 *
 * Only what is certain is reported, along the control flow:
 * - a register that no path from the start to the instruction writes. The PDS program writes
 *   first; programs of graphics stages get their inputs elsewhere, so all of V, SH, CF and CFA
 *   count as written there. An indexed write writes its whole bank;
 * - a load whose signal is not waited for between it and the use of its registers, read or written,
 *   without a branch between, also if sig_waitany names it among others;
 * - instructions from which no path leads to an end;
 * - a vertex program without a position, and a fragment program without any effect: nothing is
 *   drawn. One that stores to memory or drops pixels has an effect;
 * - with the inputs of a graphics stage: a register that none of them loads.
 *
 * Limits: SH, CF and CFA are shared by the waves: their writes count without an order, and
 * waits of other waves are not checked. Of SL and O only the waits are checked; VO and local memory
 * are not.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "check.h"
#include "pumice_formats.h"
#include "pumice_isa.h"
#include "pumice_names.h"
#include "program_header.h"
#include "pumice_regs.h"
#include "rules.h"
#include "pumice/pumice.h"

#define WORDS		PUMICE_USC_WORDS
#define MAX_RANGES	16u	/* of registers of an instruction */
#define TEXT_BYTES	1024u

/* Registers of a wave in one set: R, V, I, IDX. */
#define FIRST_R		0u
#define FIRST_V		(FIRST_R + PUMICE_USC_MAX_TEMPS)
#define FIRST_I		(FIRST_V + PUMICE_USC_MAX_ATTRS)
#define FIRST_IDX	(FIRST_I + PUMICE_USC_OWN_REGS)
#define OWN_REGISTERS	(FIRST_IDX + PUMICE_USC_INDEX_REGS)
/* Shared registers follow in the numbers of registers, but not in the sets. */
#define FIRST_SH	OWN_REGISTERS
#define FIRST_SL	(FIRST_SH + PUMICE_USC_MAX_SHARED)
#define FIRST_O		(FIRST_SL + PUMICE_USC_OWN_REGS)
#define FIRST_CF	(FIRST_O + PUMICE_USC_MAX_OUTPUTS)
#define FIRST_CFA	(FIRST_CF + PUMICE_USC_MAX_COEFFS)
#define REGISTERS	(FIRST_CFA + PUMICE_USC_MAX_COEFFS_ALT)
#define SET_WORDS	((OWN_REGISTERS + 63) / 64)
#define NONE		UINT32_MAX
#define POSITION_REGS	4u	/* vo0 to vo3 */

/* Registers of one operand. */
struct range {
	uint32_t first;		/* number of a register */
	uint32_t count;
	bool indexed;		/* one or some of them */
};

/* Registers that an instruction reads, and then writes. */
struct effects {
	struct range reads[MAX_RANGES], writes[2];
	unsigned int read_count, write_count;
	uint32_t signals;	/* bit n: sig n */
	bool access;		/* to memory; else signals are those of a wait or a query */
};

struct checker {
	const char *name;
	const struct pumice_program *program;
	struct pumice_program_info info;
	pumice_asm_report report;
	void *data;
	bool inputs;			/* only those of a stage are checked */
	int findings;
	uint64_t (*written)[SET_WORDS];	/* before each instruction */
	bool *reached, *ends;
	uint32_t *stack, *edge_of, *next_edge;	/* edges are 2 an instruction */
	bool shared[REGISTERS];		/* written anywhere: SH, CF, CFA; SL and O always */
	bool reported[REGISTERS];
};

static uint32_t number_of(unsigned int bank, uint32_t register_number)
{
	switch (bank) {
	case PUMICE_USC_BANK_R:
		return FIRST_R + register_number;
	case PUMICE_USC_BANK_V:
		return FIRST_V + register_number;
	case PUMICE_USC_BANK_I:
		return FIRST_I + register_number;
	case PUMICE_USC_BANK_IDX:
		return FIRST_IDX + register_number;
	case PUMICE_USC_BANK_SH:
		return FIRST_SH + register_number;
	case PUMICE_USC_BANK_SL:
		return FIRST_SL + register_number;
	case PUMICE_USC_BANK_O:
		return FIRST_O + register_number;
	case PUMICE_USC_BANK_CF:
		return FIRST_CF + register_number;
	case PUMICE_USC_BANK_CFA:
		return FIRST_CFA + register_number;
	default:
		return NONE;
	}
}

/* Format the name of a register. */
static const char *name_of(uint32_t number, char text[16])
{
	static const struct {
		uint32_t first;
		unsigned int bank;
	} banks[] = {
		{ FIRST_CFA, PUMICE_USC_BANK_CFA },
		{ FIRST_CF, PUMICE_USC_BANK_CF }, { FIRST_O, PUMICE_USC_BANK_O },
		{ FIRST_SL, PUMICE_USC_BANK_SL }, { FIRST_SH, PUMICE_USC_BANK_SH },
		{ FIRST_IDX, PUMICE_USC_BANK_IDX }, { FIRST_I, PUMICE_USC_BANK_I },
		{ FIRST_V, PUMICE_USC_BANK_V }, { FIRST_R, PUMICE_USC_BANK_R },
	};
	unsigned int i = 0;

	while (number < banks[i].first)
		i++;
	snprintf(text, 16, "%s%u", pumice_usc_bank_str(banks[i].bank), number - banks[i].first);
	return text;
}

/* Report a mistake at an instruction, with its source line if there is one. */
__attribute__((format(printf, 3, 4)))
static void finding(struct checker *c, uint32_t insn, const char *format, ...)
{
	struct pumice_source_line lines[PUMICE_SOURCE_DEPTH];
	uint32_t count = PUMICE_SOURCE_DEPTH;
	char text[TEXT_BYTES];
	size_t used = 0;
	va_list args;

	c->findings++;
	if (pumice_program_get_lines(c->program, insn, lines, &count))
		count = 0;
	if (!count)
		used = (size_t)snprintf(text, sizeof(text), "%.200s: instruction %u",
					c->name, insn);
	for (uint32_t i = 0; i < count && used < sizeof(text) / 2; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%.200s:%u",
					 i ? " < " : "", lines[i].file, lines[i].line);
	used += (size_t)snprintf(text + used, sizeof(text) - used, ": warning: ");
	va_start(args, format);
	vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
	c->report(c->data, text);
}

static void add_read(struct effects *e, uint32_t first, uint32_t count)
{
	if (first != NONE && e->read_count < MAX_RANGES)
		e->reads[e->read_count++] = (struct range){ .first = first, .count = count };
}

static void add_mask(struct effects *e, uint32_t raw)
{
	struct pumice_usc_mask mask;

	pumice_usc_mask_unpack(&raw, &mask);
	if (mask.a >= PUMICE_USC_MASK_CONSTS)
		add_read(e, FIRST_R + mask.a - PUMICE_USC_MASK_CONSTS, 1);
	if (mask.b >= PUMICE_USC_MASK_CONSTS)
		add_read(e, FIRST_R + mask.b - PUMICE_USC_MASK_CONSTS, 1);
}

static void add_operand(struct effects *e, const struct pumice_usc_insn *insn,
			const struct pumice_isa_operand *place, uint32_t raw)
{
	const bool write = place->field == PUMICE_USC_FIELD_DST;
	struct pumice_usc_operand reg;
	struct range range;

	pumice_usc_operand_unpack(&raw, &reg);
	if (reg.bank == PUMICE_USC_BANK_M)
		add_mask(e, reg.num);
	if (reg.idx)
		add_read(e, FIRST_IDX + reg.idx - 1u, 1);
	/* It may be this internal register; which one a read returns depends on the device. */
	if (write && reg.bank == PUMICE_USC_BANK_SR)
		reg = (struct pumice_usc_operand){ .bank = PUMICE_USC_BANK_I,
						   .num = (uint16_t)(reg.num -
								     PUMICE_USC_SR_SR36) };
	range.first = number_of(reg.bank, reg.idx ? 0 : reg.num);
	range.indexed = reg.idx;
	range.count = reg.idx ? rule_registers(reg.bank) : pumice_usc_registers(insn, place);
	if (range.first == NONE || !range.count)
		return;
	if (write)
		e->writes[e->write_count++] = range;
	else if (!reg.idx)
		add_read(e, range.first, range.count);
}

/* x - x and x ^ x are 0, whatever x is. */
static bool is_zero_idiom(const struct pumice_usc_insn *insn)
{
	return (insn->opcode == PUMICE_USC_OP_XOR || insn->opcode == PUMICE_USC_OP_SUB) &&
	       insn->src0 == insn->src1;
}

static bool effects_of(const uint32_t *words, struct pumice_usc_insn *insn, struct effects *e)
{
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *form;

	*e = (struct effects){ .read_count = 0 };
	if (pumice_usc_unpack(words, insn) != PUMICE_ISA_UNPACK_OK)
		return false;
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn->opcode);
	form = pumice_isa_form_of(&pumice_usc_isa, op, words);
	if (insn->opcode == PUMICE_USC_OP_PBE)	/* stores all outputs of the tile */
		add_read(e, FIRST_O, PUMICE_USC_MAX_OUTPUTS);
	for (unsigned int i = 0; i < form->nr_operands; i++) {
		const struct pumice_isa_operand *place = &form->operands[i];
		const struct pumice_isa_class *cls = &pumice_usc_isa.classes[place->cls];
		const uint32_t raw = (uint32_t)pumice_isa_get(&pumice_usc_isa, op->layout,
							      place->field, words);

		e->access |= place->cls == PUMICE_USC_CLASS_BASE;
		if (place->cls == PUMICE_USC_CLASS_SIG)
			e->signals |= 1u << raw;
		if (place->cls == PUMICE_USC_CLASS_ASYNC && raw) {
			e->signals |= 1u << (raw - PUMICE_USC_ASYNC_SIG0);
			e->access = true;
		}
		if (place->cls == PUMICE_USC_CLASS_MASK)
			add_mask(e, raw);
		else if (cls->full || cls->elem)
			add_operand(e, insn, place, raw);
	}
	if (is_zero_idiom(insn))
		e->read_count = 0;
	return true;
}

static bool is_branch(const struct pumice_usc_insn *insn)
{
	return insn->opcode == PUMICE_USC_OP_BRZ || insn->opcode == PUMICE_USC_OP_BRNZ ||
	       insn->opcode == PUMICE_USC_OP_BR_ALL || insn->opcode == PUMICE_USC_OP_BR_ANY ||
	       insn->opcode == PUMICE_USC_OP_JUMP;
}

/* Return whether a branch is always taken: jump, or a mask of one in all lanes. */
static bool is_always(const struct pumice_usc_insn *insn)
{
	const uint32_t raw = insn->mask;
	struct pumice_usc_mask mask;

	pumice_usc_mask_unpack(&raw, &mask);
	return insn->opcode == PUMICE_USC_OP_JUMP ||
	       ((insn->opcode == PUMICE_USC_OP_BR_ALL || insn->opcode == PUMICE_USC_OP_BR_ANY) &&
		mask.a == PUMICE_USC_K_ONE && !mask.a_not && mask.b == PUMICE_USC_K_ONE &&
		!mask.b_not);
}

/* Instructions that may follow; NONE for none, which includes those that do not exist. */
static void successors(const struct checker *c, uint32_t i, uint32_t next[2])
{
	const uint32_t count = c->info.usc_insns;
	struct pumice_usc_insn insn = { 0 };

	next[0] = i + 1 < count ? i + 1 : NONE;
	next[1] = NONE;
	if (pumice_usc_unpack(&c->info.usc[WORDS * i], &insn) != PUMICE_ISA_UNPACK_OK ||
	    insn.opcode == PUMICE_USC_OP_END)
		next[0] = NONE;
	else if (is_branch(&insn))
		next[1] = insn.target < count ? insn.target : NONE;
	if (is_always(&insn))
		next[0] = NONE;
}

/* Add written registers: those of a wave to a set, shared ones for the whole program. */
static void add_written(struct checker *c, uint64_t *set, const struct range *range)
{
	for (uint32_t n = range->first; n < range->first + range->count && n < REGISTERS; n++) {
		if (n < FIRST_SH)
			set[n / 64] |= 1ull << n % 64;
		else
			c->shared[n] = true;
	}
}

/* Return the registers that the PDS program writes before the first instruction. */
static void start_set(struct checker *c, unsigned int stage, uint64_t *set)
{
	static const uint8_t banks[] = {
		[PUMICE_PDS_BANK_V] = PUMICE_USC_BANK_V, [PUMICE_PDS_BANK_SH] = PUMICE_USC_BANK_SH,
		[PUMICE_PDS_BANK_CF] = PUMICE_USC_BANK_CF,
		[PUMICE_PDS_BANK_CFA] = PUMICE_USC_BANK_CFA,
	};

	memset(set, 0, SET_WORDS * sizeof(*set));
	memset(&c->shared[FIRST_SL], true, FIRST_CF - FIRST_SL);
	if (stage != PUMICE_PROGRAM_STAGE_COMPUTE) {
		add_written(c, set, &(struct range){ .first = FIRST_V,
						   .count = PUMICE_USC_MAX_ATTRS });
		memset(c->shared, true, sizeof(c->shared));
		return;
	}
	for (uint32_t i = 0; i < c->info.pds_insns; i++) {
		struct pumice_pds_insn insn;
		struct range range = { .indexed = false };

		if (pumice_pds_unpack(&c->info.pds[WORDS * i], &insn) != PUMICE_ISA_UNPACK_OK ||
		    insn.opcode == PUMICE_PDS_OP_END || insn.opcode == PUMICE_PDS_OP_TASK)
			continue;
		range.first = number_of(banks[insn.bank], insn.reg);
		range.count = rule_pds_registers(&insn);
		add_written(c, set, &range);
	}
}

/* Add the registers written before an instruction; false: all were known, and it was reached. */
static bool merge(struct checker *c, uint32_t insn, const uint64_t *set)
{
	bool changed = !c->reached[insn];

	c->reached[insn] = true;
	for (unsigned int i = 0; i < SET_WORDS; i++) {
		changed |= (set[i] & ~c->written[insn][i]) != 0;
		c->written[insn][i] |= set[i];
	}
	return changed;
}

/* Follow the control flow until the sets do not change. @queued: zeroed, for each instruction */
static void follow(struct checker *c, bool *queued)
{
	uint32_t depth = 0;

	c->stack[depth++] = 0;
	while (depth) {
		const uint32_t i = c->stack[--depth];
		struct pumice_usc_insn insn;
		uint64_t set[SET_WORDS];
		struct effects e;
		uint32_t next[2];

		queued[i] = false;
		memcpy(set, c->written[i], sizeof(set));
		effects_of(&c->info.usc[WORDS * i], &insn, &e);
		for (unsigned int k = 0; k < e.write_count; k++)
			add_written(c, set, &e.writes[k]);
		successors(c, i, next);
		for (unsigned int k = 0; k < 2; k++) {
			if (next[k] == NONE || !merge(c, next[k], set) || queued[next[k]])
				continue;
			queued[next[k]] = true;
			c->stack[depth++] = next[k];
		}
	}
}

/* Find the instructions from which the program can end, backwards from each end. */
static void find_ends(struct checker *c)
{
	uint32_t depth = 0;

	for (uint32_t i = 0; i < c->info.usc_insns; i++)
		c->edge_of[i] = NONE;
	for (uint32_t i = 0; i < c->info.usc_insns; i++) {
		uint32_t next[2];

		successors(c, i, next);
		for (uint32_t k = 0; k < 2; k++) {
			if (next[k] == NONE)
				continue;
			c->next_edge[2 * i + k] = c->edge_of[next[k]];
			c->edge_of[next[k]] = 2 * i + k;
		}
		if (next[0] == NONE && next[1] == NONE) {
			c->ends[i] = true;
			c->stack[depth++] = i;
		}
	}
	while (depth) {
		const uint32_t i = c->stack[--depth];

		for (uint32_t e = c->edge_of[i]; e != NONE; e = c->next_edge[e]) {
			if (c->ends[e / 2])
				continue;
			c->ends[e / 2] = true;
			c->stack[depth++] = e / 2;
		}
	}
}

/* Return whether an instruction begins a loop: one at or after it branches to it. */
static bool begins_loop(const struct checker *c, uint32_t i)
{
	for (uint32_t e = c->edge_of[i]; e != NONE; e = c->next_edge[e])
		if (e / 2 >= i)
			return true;
	return false;
}

/* Return whether an input of a stage can load a register. */
static bool is_input(uint32_t n)
{
	return (n >= FIRST_V && n < FIRST_V + PUMICE_USC_MAX_ATTRS) || n >= FIRST_SH;
}

static void check_reads(struct checker *c, uint32_t i, const struct effects *e)
{
	char name[16];

	for (unsigned int k = 0; k < e->read_count; k++) {
		for (uint32_t n = e->reads[k].first; n < e->reads[k].first + e->reads[k].count;
		     n++) {
			if (n >= REGISTERS || c->reported[n] || (c->inputs && !is_input(n)) ||
			    (n >= FIRST_SH ? c->shared[n] : c->written[i][n / 64] >> n % 64 & 1))
				continue;
			c->reported[n] = true;
			finding(c, i, "%s is read, but %s it: it is 0\n", name_of(n, name),
				c->inputs ? "no input of the stage loads" :
					    "nothing has written");
		}
	}
}

/* Loads in flight: the signal of each register plus 1, or 0. Coefficients are not loaded. */
#define LOADED_REGISTERS FIRST_CF

struct flight {
	uint8_t signal[LOADED_REGISTERS];
	uint32_t any;	/* bit n: a wait for sig n or others; done where a branch has led here */
};

/* The loads of some signals have arrived. */
static void end_flights(struct flight *flight, uint32_t signals)
{
	for (uint32_t n = 0; n < LOADED_REGISTERS && signals; n++)
		if (flight->signal[n] && signals >> (flight->signal[n] - 1) & 1)
			flight->signal[n] = 0;
	flight->any &= ~signals;
}

/* Return whether an instruction waits for one of several signals. */
static bool waits_for_any(const struct pumice_usc_insn *insn, const struct effects *e)
{
	return (insn->opcode == PUMICE_USC_OP_SIG_WAITANY2 ||
		insn->opcode == PUMICE_USC_OP_SIG_WAITANY3 ||
		insn->opcode == PUMICE_USC_OP_SIG_WAITANY4) && e->signals & (e->signals - 1);
}

/* Return whether an instruction waits for all accesses of the wave. */
static bool waits_for_all(const struct pumice_usc_insn *insn)
{
	switch (pumice_isa_find_opcode(&pumice_usc_isa, insn->opcode)->layout) {
	case PUMICE_USC_LAYOUT_FENCE:
	case PUMICE_USC_LAYOUT_RANGE:
		return true;
	default:
		return false;
	}
}

/* Report the registers of an operand that a load in flight writes. */
static void check_flight(struct checker *c, uint32_t i, const struct range *range, const char *used,
			 struct flight *flight)
{
	char name[16];

	for (uint32_t n = range->first;
	     !range->indexed && n < range->first + range->count && n < LOADED_REGISTERS; n++) {
		if (!flight->signal[n])
			continue;
		finding(c, i, "%s is %s without a wait for sig%u of the load that writes it\n",
			name_of(n, name), used, flight->signal[n] - 1u);
		flight->signal[n] = 0;
	}
}

static void check_waits(struct checker *c, uint32_t i, const struct pumice_usc_insn *insn,
			const struct effects *e, struct flight *flight)
{
	for (unsigned int k = 0; k < e->read_count; k++)
		check_flight(c, i, &e->reads[k], "read", flight);
	for (unsigned int k = 0; k < e->write_count; k++)
		check_flight(c, i, &e->writes[k], "written", flight);
	if (waits_for_all(insn))
		memset(flight, 0, sizeof(*flight));
	else if (is_branch(insn))
		end_flights(flight, flight->any);
	else if (waits_for_any(insn, e))
		flight->any |= e->signals;
	else if (e->access)
		flight->any &= ~e->signals;
	else
		end_flights(flight, e->signals);
	for (unsigned int k = 0; k < e->write_count; k++)
		for (uint32_t n = e->writes[k].first;
		     n < e->writes[k].first + e->writes[k].count && n < LOADED_REGISTERS; n++)
			flight->signal[n] = e->access && e->signals && !e->writes[k].indexed ?
					    (uint8_t)(__builtin_ctz(e->signals) + 1) : 0;
}

static void check_insns(struct checker *c)
{
	const uint32_t count = c->info.usc_insns;
	struct flight flight = { .signal = { 0 } };
	bool stuck = false;

	for (uint32_t i = 0; i < count; i++) {
		struct pumice_usc_insn insn;
		struct effects e;

		if (!c->reached[i] || !effects_of(&c->info.usc[WORDS * i], &insn, &e))
			continue;
		/* Several edges, or one from elsewhere: accesses in flight are not known. */
		if (c->edge_of[i] != NONE && (c->edge_of[i] != 2 * (i - 1) ||
					      c->next_edge[c->edge_of[i]] != NONE))
			memset(&flight, 0, sizeof(flight));
		check_reads(c, i, &e);
		if (c->inputs)
			continue;
		check_waits(c, i, &insn, &e, &flight);
		if (!c->ends[i] && !stuck && begins_loop(c, i)) {
			finding(c, i, "this loop never ends: no path leads from here to an end\n");
			stuck = true;
		}
		if (i + 1 == count && insn.opcode != PUMICE_USC_OP_END &&
		    !is_always(&insn))
			finding(c, i, "the last instruction is not an end\n");
	}
}

/* Results of a program of a graphics stage. */
struct results {
	uint32_t position;	/* bit n: vo n is written, n < 4 */
	bool effect;		/* pixels: outputs, depth or drops; or stores to memory */
	uint32_t last;		/* the last instruction that writes one */
};

static void add_results(struct results *r, uint32_t i, const uint32_t *words)
{
	const struct pumice_isa_op_info *op;
	struct pumice_usc_operand dst;
	struct pumice_usc_insn insn;

	if (pumice_usc_unpack(words, &insn) != PUMICE_ISA_UNPACK_OK)
		return;
	op = pumice_isa_find_opcode(&pumice_usc_isa, insn.opcode);
	pumice_usc_operand_unpack(&insn.dst, &dst);
	if (insn.opcode == PUMICE_USC_OP_UVSW && dst.num < POSITION_REGS) {
		r->position |= 1u << dst.num;
		r->last = i;
	}
	r->effect |= dst.bank == PUMICE_USC_BANK_O || insn.opcode == PUMICE_USC_OP_DEPTH ||
		     insn.opcode == PUMICE_USC_OP_DISCARD || strstr(op->name, "store") ||
		     strstr(op->name, "atomic");
}

static void check_results(struct checker *c, unsigned int stage)
{
	struct results r = { .position = 0 };

	for (uint32_t i = 0; i < c->info.usc_insns; i++)
		add_results(&r, i, &c->info.usc[WORDS * i]);
	if (stage == PUMICE_PROGRAM_STAGE_VERTEX && r.position != (1u << POSITION_REGS) - 1)
		finding(c, r.last, "a vertex program writes vo0 to vo3, the position; vo%d is never "
			"written\n", __builtin_ctz(~r.position));
	if (stage == PUMICE_PROGRAM_STAGE_FRAGMENT && !r.effect)
		finding(c, 0, "a fragment program writes an output, such as o0; this one has no "
			"effect\n");
}

static int check_program(struct checker *c, unsigned int stage)
{
	const size_t count = c->info.usc_insns;
	bool *queued = calloc(count, sizeof(*queued));
	uint64_t set[SET_WORDS];
	int ret = -ENOMEM;

	c->written = calloc(count, sizeof(*c->written));
	c->reached = calloc(count, sizeof(*c->reached));
	c->ends = calloc(count, sizeof(*c->ends));
	c->stack = calloc(count + 1, sizeof(*c->stack));
	c->edge_of = calloc(count, sizeof(*c->edge_of));
	c->next_edge = calloc(2 * count, sizeof(*c->next_edge));
	if (queued && c->written && c->reached && c->ends && c->stack && c->edge_of &&
	    c->next_edge) {
		start_set(c, stage, set);
		merge(c, 0, set);
		follow(c, queued);
		find_ends(c);
		check_insns(c);
		if (!c->inputs)
			check_results(c, stage);
		ret = c->findings;
	}
	free(queued);
	free(c->written);
	free(c->reached);
	free(c->ends);
	free(c->stack);
	free(c->edge_of);
	free(c->next_edge);
	return ret;
}

int pumice_check(const char *name, const void *file, size_t bytes, pumice_asm_report report,
		 void *data)
{
	struct checker *c = calloc(1, sizeof(*c));
	uint32_t words[PUMICE_PROGRAM_HEADER_WORDS];
	struct pumice_program_header header;
	struct pumice_program *program;
	int ret;

	if (!c)
		return -ENOMEM;
	ret = pumice_program_parse(file, bytes, &program, NULL, 0);
	if (!ret) {
		memcpy(words, file, sizeof(words));
		pumice_program_header_unpack(words, &header);
		*c = (struct checker){ .name = name, .program = program, .report = report,
				       .data = data };
		pumice_program_info(program, &c->info);
		ret = check_program(c, pumice_program_stage_of(&header));
		pumice_program_destroy(program);
	}
	free(c);
	return ret;
}

int pumice_check_stage(const struct pumice_program *program,
		       const struct pumice_check_inputs *inputs, pumice_asm_report report,
		       void *data)
{
	struct checker *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return -ENOMEM;
	*c = (struct checker){ .name = "program", .program = program, .report = report,
			       .data = data, .inputs = true };
	pumice_program_info(program, &c->info);
	c->info.pds = inputs->pds;
	c->info.pds_insns = inputs->insns;
	ret = check_program(c, PUMICE_PROGRAM_STAGE_COMPUTE);
	free(c);
	return ret;
}
