// SPDX-License-Identifier: MIT
/*
 * Coordinate programs, derived from vertex programs.
 *
 * Source: document 001, "Binning Pass": a stripped down version of the vertex program, created by
 * the compiler, that computes the position only.
 *
 * A backward slice: an instruction remains if it writes a register that one which remains reads, or
 * one of the outputs. The order of instructions is not used: any writer of a register that is read
 * anywhere remains, as do all branches with all that they depend on, so that the rest runs along
 * the same path with the same values. An access to memory remains together with the waits for its
 * signal. Reads of the uniform stream all remain, because each one takes the next word.
 *
 * Limits: an indexed register is all of its bank; accesses that write local memory remain; a
 * program that stores to memory is refused. Fewer instructions precede sig_done and sig_waitany,
 * whose results depend on time: a program has to be right with any of them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pumice_formats.h"
#include "pumice_isa.h"
#include "slice.h"

#define WORDS		PUMICE_USC_WORDS
#define FIRST_SLOT	64u	/* number of SL0 among the internal registers */
/* Above the number of any register. */
#define MAX_NUMBER	(PUMICE_USC_MAX_SHARED + PUMICE_USC_BURST_WORDS)

/* Registers of an operand. */
struct range {
	unsigned int bank;
	uint32_t first, count;
};

struct slice {
	const uint32_t *usc;
	uint32_t count, outputs;
	uint8_t *keep;
	bool needed[PUMICE_USC_BANK_COUNT][MAX_NUMBER];
	uint32_t signals;	/* bit n: an access that remains has sig n */
	uint32_t queried;	/* bit n: an instruction that remains reads the state of sig n */
	bool changed;
	char *error;
	size_t error_bytes;
};

/* An instruction, and its description. */
struct decoded {
	const uint32_t *words;
	struct pumice_usc_insn insn;
	const struct pumice_isa_op_info *op;
	const struct pumice_isa_form *form;
};

__attribute__((format(printf, 2, 3)))
static int refuse(const struct slice *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(s->error, s->error_bytes, format, args);
	va_end(args);
	return -EINVAL;
}

static bool decode(const struct slice *s, uint32_t i, struct decoded *d)
{
	d->words = &s->usc[WORDS * i];
	if (pumice_usc_unpack(d->words, &d->insn) != PUMICE_ISA_UNPACK_OK)
		return false;
	d->op = pumice_isa_find_opcode(&pumice_usc_isa, d->insn.opcode);
	d->form = pumice_isa_form_of(&pumice_usc_isa, d->op, d->words);
	return true;
}

static uint32_t field_of(const struct decoded *d, const struct pumice_isa_operand *place)
{
	return (uint32_t)pumice_isa_get(&pumice_usc_isa, d->op->layout, place->field, d->words);
}

static bool is_register(const struct pumice_isa_operand *place)
{
	const struct pumice_isa_class *cls = &pumice_usc_isa.classes[place->cls];

	return place->cls != PUMICE_USC_CLASS_MASK && (cls->full || cls->elem);
}

static struct range range_of(const struct decoded *d, const struct pumice_isa_operand *place,
			     const struct pumice_usc_operand *reg)
{
	struct range r = {
		.bank = reg->bank, .first = reg->num,
		.count = pumice_usc_registers(&d->insn, place),
	};
	const bool offset = reg->bank == PUMICE_USC_BANK_SR && reg->num >= PUMICE_USC_SR_SR36 &&
			    reg->num <= PUMICE_USC_SR_SR43;

	/* An offset register is an internal or a slot register: which, depends on the device. */
	if (offset)
		r.bank = PUMICE_USC_BANK_I;
	if (reg->bank == PUMICE_USC_BANK_SL) {
		r.bank = PUMICE_USC_BANK_I;
		r.first += FIRST_SLOT;
	}
	if (offset || reg->idx || r.first + r.count > MAX_NUMBER) {
		r.first = 0;
		r.count = MAX_NUMBER;
	}
	return r;
}

static void need(struct slice *s, unsigned int bank, uint32_t number)
{
	s->changed |= !s->needed[bank][number];
	s->needed[bank][number] = true;
}

static void need_mask(struct slice *s, uint32_t raw)
{
	struct pumice_usc_mask mask;

	pumice_usc_mask_unpack(&raw, &mask);
	if (mask.a >= PUMICE_USC_MASK_CONSTS)
		need(s, PUMICE_USC_BANK_R, mask.a - PUMICE_USC_MASK_CONSTS);
	if (mask.b >= PUMICE_USC_MASK_CONSTS)
		need(s, PUMICE_USC_BANK_R, mask.b - PUMICE_USC_MASK_CONSTS);
}

/* Signals of an access, or of a wait or a query. */
static uint32_t signals_of(const struct decoded *d)
{
	uint32_t signals = 0;

	for (unsigned int i = 0; i < d->form->nr_operands; i++) {
		const struct pumice_isa_operand *place = &d->form->operands[i];
		const uint32_t raw = field_of(d, place);

		if (place->cls == PUMICE_USC_CLASS_SIG)
			signals |= 1u << raw;
		if (place->cls == PUMICE_USC_CLASS_ASYNC && raw)
			signals |= 1u << (raw - PUMICE_USC_ASYNC_SIG0);
	}
	return signals;
}

/* Mark what an instruction that remains reads. */
static void need_reads(struct slice *s, const struct decoded *d)
{
	for (unsigned int i = 0; i < d->form->nr_operands; i++) {
		const struct pumice_isa_operand *place = &d->form->operands[i];
		const uint32_t raw = field_of(d, place);
		struct pumice_usc_operand reg;
		struct range r;

		if (place->cls == PUMICE_USC_CLASS_MASK)
			need_mask(s, raw);
		if (!is_register(place))
			continue;
		pumice_usc_operand_unpack(&raw, &reg);
		if (reg.idx)
			need(s, PUMICE_USC_BANK_IDX, reg.idx - 1u);
		if (place->field == PUMICE_USC_FIELD_DST)
			continue;
		if (reg.bank == PUMICE_USC_BANK_M)
			need_mask(s, reg.num);
		r = range_of(d, place, &reg);
		for (uint32_t n = r.first; n < r.first + r.count; n++)
			need(s, r.bank, n);
	}
}

/* Return whether an instruction writes a register that is needed, or an output. */
static bool writes_needed(const struct slice *s, const struct decoded *d)
{
	for (unsigned int i = 0; i < d->form->nr_operands; i++) {
		const struct pumice_isa_operand *place = &d->form->operands[i];
		const uint32_t raw = field_of(d, place);
		struct pumice_usc_operand reg;
		struct range r;

		if (place->field != PUMICE_USC_FIELD_DST || !is_register(place))
			continue;
		pumice_usc_operand_unpack(&raw, &reg);
		r = range_of(d, place, &reg);
		if (reg.bank == PUMICE_USC_BANK_VO)
			return r.first < s->outputs;
		for (uint32_t n = r.first; n < r.first + r.count; n++)
			if (s->needed[r.bank][n])
				return true;
	}
	return false;
}

static bool reads_uniform(const struct decoded *d)
{
	for (unsigned int i = 0; i < d->form->nr_operands; i++) {
		const struct pumice_isa_operand *place = &d->form->operands[i];
		const uint32_t raw = field_of(d, place);
		struct pumice_usc_operand reg;

		if (!is_register(place))
			continue;
		pumice_usc_operand_unpack(&raw, &reg);
		if (reg.bank == PUMICE_USC_BANK_SR && reg.num == PUMICE_USC_SR_UNIFORM)
			return true;
	}
	return false;
}

static bool has_dst(const struct decoded *d)
{
	for (unsigned int i = 0; i < d->form->nr_operands; i++)
		if (d->form->operands[i].field == PUMICE_USC_FIELD_DST)
			return true;
	return false;
}

static bool has_base(const struct decoded *d)
{
	for (unsigned int i = 0; i < d->form->nr_operands; i++)
		if (d->form->operands[i].cls == PUMICE_USC_CLASS_BASE)
			return true;
	return false;
}

static bool stores_to_memory(const struct decoded *d)
{
	if (d->insn.opcode == PUMICE_USC_OP_GLOBAL_ATOMIC)
		return true;
	/*
	 * A fetch of dynamic constants and a copy to local memory only read; an operation on caches
	 * changes no data.
	 */
	return has_base(d) && !has_dst(d) && d->op->layout != PUMICE_USC_LAYOUT_RANGE &&
	       d->insn.opcode != PUMICE_USC_OP_DC_WINDOW &&
	       d->insn.opcode != PUMICE_USC_OP_GROUP_LOAD;
}

static bool is_local_atomic(const struct decoded *d)
{
	return d->insn.opcode == PUMICE_USC_OP_LOCAL_ATOMIC ||
	       d->insn.opcode == PUMICE_USC_OP_LOCAL_ATOMICW;
}

/* Return whether an instruction remains although no other reads what it writes. */
static bool is_root(const struct decoded *d)
{
	switch (d->op->layout) {
	case PUMICE_USC_LAYOUT_FLOW:
	case PUMICE_USC_LAYOUT_COPY:
		return true;
	default:
		return is_local_atomic(d) || !has_dst(d) || reads_uniform(d);
	}
}

/* Return whether an instruction remains, as far as is known. */
static bool remains(const struct slice *s, const struct decoded *d)
{
	if (d->op->layout == PUMICE_USC_LAYOUT_SIG)
		return (signals_of(d) & s->signals) || writes_needed(s, d);
	return is_root(d) || writes_needed(s, d) || (signals_of(d) & s->queried);
}

static void keep_insn(struct slice *s, uint32_t i, const struct decoded *d)
{
	s->keep[i] = 1;
	s->changed = true;
	need_reads(s, d);
	/* A query returns what the accesses of its signals do. */
	if (d->op->layout == PUMICE_USC_LAYOUT_SIG)
		s->queried |= signals_of(d);
	else
		s->signals |= signals_of(d);
}

static int check_all(const struct slice *s)
{
	struct decoded d;

	for (uint32_t i = 0; i < s->count; i++) {
		if (!decode(s, i, &d) ||
		    (d.op->layout == PUMICE_USC_LAYOUT_FLOW && d.insn.target >= s->count))
			return refuse(s, "instruction %u is not legal: no coordinate program is derived",
				      i);
		if (stores_to_memory(&d))
			return refuse(s, "instruction %u stores to memory, which a coordinate program would do again: write one",
				      i);
	}
	return 0;
}

int slice_program(const uint32_t *usc, uint32_t count, uint32_t outputs, uint8_t *keep, char *error,
		  size_t error_bytes)
{
	struct slice *s = calloc(1, sizeof(*s));
	struct decoded d;
	int err;

	if (!s)
		return -ENOMEM;
	s->usc = usc;
	s->count = count;
	s->outputs = outputs;
	s->keep = keep;
	s->error = error;
	s->error_bytes = error_bytes;
	memset(keep, 0, count);
	err = check_all(s);
	for (s->changed = !err; s->changed;) {
		s->changed = false;
		for (uint32_t i = count; i--;)
			if (!keep[i] && decode(s, i, &d) && remains(s, &d))
				keep_insn(s, i, &d);
	}
	free(s);
	return err;
}
