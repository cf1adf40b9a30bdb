// SPDX-License-Identifier: MIT
/*
 * Reference model of the USC: operands and masks. See ref_model.h.
 */
#include "ref_step.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers in place of the register "uniform", for the words of this instruction. */
#define TAKEN 64u

/* Document 002, "Predefined Constants". */
static u32 constant(const struct ref_step *s, u32 number, u32 lane)
{
	switch (number) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return lane;
	case 3:
		return s->g->first_wave + s->w->number_in_group;
	case 4:
		return 255;
	case 5:
		return lane % 2 ? 2 : 1;
	case 6:
		return lane % 3 == 0 ? 1 : lane % 3 == 1 ? 2 : 4;
	case 7:
		return lane % 4 == 0 ? 1 : lane % 4 == 1 ? 2 : lane % 4 == 2 ? 4 : 8;
	case 8:
		return lane < 16 ? 1 : 0;
	case 9:
		return lane % 4 < 2 ? 1 : 0;
	case 10:
		return lane % 8 < 4 ? 1 : 0;
	case 11:
		return lane % 16 < 8 ? 1 : 0;
	}
	abort();
}

static u32 special_register(const struct ref_step *s, u32 number, u32 lane)
{
	switch (number) {
	case PUMICE_USC_SR_INSTANCE:
		return s->w->first_instance + lane;
	case PUMICE_USC_SR_WAVE_IN_GROUP:
		return s->w->number_in_group;
	case PUMICE_USC_SR_TASK_IN_GROUP:
		return s->w->task;
	case PUMICE_USC_SR_CORE:
		return s->g->core;
	case PUMICE_USC_SR_USC:
		return s->g->usc;
	case PUMICE_USC_SR_SLOT:
		return s->w->slot;
	case PUMICE_USC_SR_VALID:
		return s->w->valid;
	case PUMICE_USC_SR_WAVES_IN_GROUP:
		return s->g->waves;
	case PUMICE_USC_SR_TASKS_IN_GROUP:
		return s->g->tasks;
	case PUMICE_USC_SR_INSTANCES_IN_TASK:
		return s->w->instances_of_task;
	case PUMICE_USC_SR_BYTES_OF_LOCAL:
		return s->g->local_bytes;
	case TAKEN:
	case TAKEN + 1:
	case TAKEN + 2:
		return s->uniform[number - TAKEN];
	}
	abort();
}

static u32 f32_bits(double value)
{
	float f = (float)value;
	u32 out;

	memcpy(&out, &f, sizeof(out));
	return out;
}

/* 0 to 31: whole numbers. */
static u32 special_integer(u32 number)
{
	static const u32 first[] = { 0, 1, 0xffffffffu, 0x80000000u, 0x7fffffffu };
	static const u32 last[] = { 24, 31, 32, 63, 64, 127, 128, 255, 256, 65535, 65536, 1024 };

	if (number < 5)
		return first[number];
	return number < 20 ? number - 3 : last[number - 20];
}

/* 64 to 95: small numbers, mathematical constants. */
static u32 special_number(u32 number)
{
	static const double f[] = {
		1, 2, 0.5, -1, M_PI, 2 * M_PI, 1 / M_PI, M_E, 1 / M_LN2, M_LN2,
		M_SQRT2, INFINITY, 0,
		0.25, 0.125, 3, 4, 8, 10, 16, 100, -2, -0.5, 1.0 / 3, 2.0 / 3, M_PI / 2, 0.5 / M_PI,
		M_SQRT1_2, 255, 1.0 / 255, -INFINITY, 0x1p-23,
	};

	return number == 76 ? 0x7fc00000u : f32_bits(f[number - 64]);
}

/* 128 to 159: powers of two, limits. */
static u32 special_scale(u32 number)
{
	static const double f[] = {
		65535, 1.0 / 65535, 0x1p-4, 0x1p-5, 0x1p-6, 0x1p-7, 0x1p-8, 0x1p-9,
		0x1p-10, 0x1p-16,
		0x1p23, 0x1p24, 0x1p-24, 0x1p31, 0x1p32, 0x1p-32, FLT_MAX, FLT_MIN, -M_PI, -0.25,
	};

	return f32_bits(number < 140 ? ldexp(1, (int)number - 128 + 5) : f[number - 140]);
}

/* 192 to 223: colours, logarithms, angles, bits. */
static u32 special_other(u32 number)
{
	static const double f[] = {
		0.04045, 0.0031308, 12.92, 1 / 12.92, 1.055, 0.055, 2.4, 1 / 2.4, 0.2126, 0.7152,
		0.0722, 0.299, 0.587, 0.114, M_LN2 / M_LN10, M_LN10 / M_LN2, M_LN10, 1 / M_LN10,
		1.7320508075688772, 0.57735026918962576, 1.6180339887498949, M_PI / 4, M_PI / 180,
		180 / M_PI,
	};
	static const u32 bits[] = { 0x00ff00ff, 0xff00ff00, 0x0f0f0f0f, 0x55555555, 0x33333333,
				    0x007fffff, 0xff000000, 0xffff0000 };

	return number < 216 ? f32_bits(f[number - 192]) : bits[number - 216];
}

static u32 special_constant(u32 number)
{
	switch (number / 32) {
	case 0:
		return special_integer(number);
	case 2:
		return special_number(number);
	case 4:
		return special_scale(number);
	case 6:
		return special_other(number);
	}
	abort();
}

/*
 * An operand, with sr36 to sr43 replaced by the registers that they name: internal registers from
 * the first on, slot registers from the last on.
 */
struct pumice_usc_operand ref_operand(const struct ref_step *s, u32 raw)
{
	struct pumice_usc_operand o;
	u32 internal = 8 - s->g->slot_regs;

	pumice_usc_operand_unpack(&raw, &o);
	if (o.bank != PUMICE_USC_BANK_SR || o.num < 36 || o.num > 43)
		return o;
	if (o.num - 36u < internal)
		return (struct pumice_usc_operand){ .bank = PUMICE_USC_BANK_I,
						    .num = (u16)(o.num - 36), .elem = o.elem };
	return (struct pumice_usc_operand){ .bank = PUMICE_USC_BANK_SL, .num = (u16)(43 - o.num) };
}

static u64 registers_of(const struct ref_step *s, u32 bank)
{
	switch (bank) {
	case PUMICE_USC_BANK_R:
		return s->g->temps;
	case PUMICE_USC_BANK_V:
		return s->g->attrs;
	case PUMICE_USC_BANK_SH:
		return s->g->shared_words;
	case PUMICE_USC_BANK_CF:
		return s->g->coeffs;
	case PUMICE_USC_BANK_CFA:
		return s->g->coeffs_alt;
	case PUMICE_USC_BANK_DC:
		return s->w->dc_words;
	case PUMICE_USC_BANK_O:
		return s->g->gfx->words;
	case PUMICE_USC_BANK_VO:
		return s->g->gfx->vo_words;
	}
	abort();
}

/* The register's number with the index register, if there is one: element 0 has lane 0's. */
static u64 number_of(const struct ref_step *s, const struct pumice_usc_operand *o, u32 lane)
{
	static const u32 dimension[] = { 1, 2, 4, 8, 16 };
	u64 index;

	if (!o->idx)
		return o->num;
	index = s->w->idx[o->idx - 1][o->elem ? 0 : lane];
	return o->num + index * dimension[s->in.dim];
}

u32 *ref_word(const struct ref_step *s, const struct pumice_usc_operand *o, u32 lane)
{
	static u32 invalid;
	u64 n = number_of(s, o, lane);

	invalid = 0;
	if (o->idx && n >= registers_of(s, o->bank))
		return &invalid;	/* a lane that is not valid */
	lane = o->elem ? 0 : lane;
	switch (o->bank) {
	case PUMICE_USC_BANK_R:
		return &s->w->reg[n][lane];
	case PUMICE_USC_BANK_V:
		return &s->w->reg[s->g->temps + n][lane];
	case PUMICE_USC_BANK_SH:
		return &s->g->shared[s->w->task][n];
	case PUMICE_USC_BANK_CF:
		return &s->g->coeff[s->w->task][n];
	case PUMICE_USC_BANK_CFA:
		return &s->g->coeff_alt[s->w->task][n];
	case PUMICE_USC_BANK_I:
		return &s->w->internal[n][lane];
	case PUMICE_USC_BANK_IDX:
		return &s->w->idx[n][lane];
	case PUMICE_USC_BANK_SL:
		return &s->g->slot_reg[s->w->task][n];
	}
	abort();
}

/* Document 003: each instance has a window of 16 constants, here one for each index register. */
static u32 dynamic_constant(const struct ref_step *s, const struct pumice_usc_operand *o, u32 lane)
{
	u64 addr = s->w->dc_base + number_of(s, o, lane) * 4, start = addr - addr % 64;
	u32 word, index = o->idx - 1u;

	if (!ref_valid(s->w, lane))
		return 0;
	if (!s->w->dc[index][lane].kept || s->w->dc[index][lane].addr != start) {
		s->w->dc[index][lane].kept = true;
		s->w->dc[index][lane].addr = start;
		memcpy(s->w->dc[index][lane].bytes, s->g->memory + (start - s->g->memory_va), 64);
		s->g->dc_fetches++;
	}
	memcpy(&word, &s->w->dc[index][lane].bytes[addr - start], 4);
	return word;
}

bool ref_select(const struct ref_step *s, u32 raw, u32 count, u32 lane, u32 *number)
{
	struct pumice_usc_operand o;
	u64 n;

	o = ref_operand(s, raw);
	n = number_of(s, &o, lane);
	*number = (u32)n;
	return !o.idx || n + count <= registers_of(s, o.bank);
}

static const struct pumice_isa_operand *operand_in(const struct ref_step *s, u32 field)
{
	const struct pumice_isa_form *form =
		&pumice_isa_find_opcode(&pumice_usc_isa, s->in.opcode)->form[s->in.form];

	for (u32 n = 0; n < form->nr_operands; n++) {
		if (form->operands[n].field == field)
			return &form->operands[n];
	}
	return NULL;
}

/* Return whether an operand of a class has one value for all lanes, whatever register it is. */
bool ref_is_one_value(u32 class)
{
	return class == PUMICE_USC_CLASS_SREG || class == PUMICE_USC_CLASS_SDST ||
	       class == PUMICE_USC_CLASS_SANY || class == PUMICE_USC_CLASS_SADDR ||
	       class == PUMICE_USC_CLASS_BASE || class == PUMICE_USC_CLASS_TEXSTATE ||
	       class == PUMICE_USC_CLASS_PBESTATE || class == PUMICE_USC_CLASS_SDATA;
}

/* Return the number of registers of an operand, from the one that it names on. */
u32 ref_count(const struct ref_step *s, const struct pumice_isa_operand *operand)
{
	switch (operand->cls) {
	case PUMICE_USC_CLASS_BASE:
		return 2;
	case PUMICE_USC_CLASS_WPLANE:
		return 3;
	case PUMICE_USC_CLASS_CFPLANE:
		return 3 * s->in.comps;
	case PUMICE_USC_CLASS_TEXSTATE:
		return 12;
	case PUMICE_USC_CLASS_PBESTATE:
		return 8;
	case PUMICE_USC_CLASS_SDATA:
		return s->in.words;
	default:
		return pumice_usc_registers(&s->in, operand);
	}
}

/* Return whether an operand's index exceeds its bank in a relevant lane. */
static bool leads_beyond(const struct ref_step *s, u32 field, u32 raw)
{
	const struct pumice_isa_operand *operand = operand_in(s, field);
	u32 number;

	if (!operand || !raw)
		return false;
	if (ref_is_one_value(operand->cls))
		return !ref_select(s, raw, ref_count(s, operand), 0, &number);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (ref_valid(s->w, l) && !ref_select(s, raw, ref_count(s, operand), l, &number))
			return true;
	}
	return false;
}

bool ref_indices_lead_somewhere(struct ref_step *s)
{
	if (leads_beyond(s, PUMICE_USC_FIELD_DST, s->in.dst) ||
	    leads_beyond(s, PUMICE_USC_FIELD_SRC0, s->in.src0) ||
	    leads_beyond(s, PUMICE_USC_FIELD_SRC1, s->in.src1) ||
	    leads_beyond(s, PUMICE_USC_FIELD_SRC2, s->in.src2))
		return ref_fault(s, PUMICE_FAULT_USC_INDEX);
	return true;
}

/* Document 001: each read of the register is the next word of the stream. */
static bool take_uniform(struct ref_step *s, u32 field, u32 *raw, u32 n)
{
	const struct ref_gfx *gfx = s->g->gfx;
	struct pumice_usc_operand o;

	pumice_usc_operand_unpack(raw, &o);
	if (!operand_in(s, field) || o.bank != PUMICE_USC_BANK_SR || o.num != PUMICE_USC_SR_UNIFORM)
		return true;
	if (!gfx || s->w->uniforms >= gfx->uniform_words)
		return ref_fault(s, PUMICE_FAULT_USC_UNIFORM);
	s->uniform[n] = gfx->uniforms[s->w->uniforms++];
	o.num = (u16)(TAKEN + n);
	pumice_usc_operand_pack(raw, &o);
	return true;
}

bool ref_take_uniforms(struct ref_step *s)
{
	return take_uniform(s, PUMICE_USC_FIELD_SRC0, &s->in.src0, 0) &&
	       take_uniform(s, PUMICE_USC_FIELD_SRC1, &s->in.src1, 1) &&
	       take_uniform(s, PUMICE_USC_FIELD_SRC2, &s->in.src2, 2);
}

static bool mask_register(const struct ref_step *s, u32 number, bool negated, u32 lane)
{
	u32 word = number < 16 ? constant(s, number, lane) : s->w->reg[number - 16][lane];

	return (word % 2 == 1) != negated;
}

bool ref_mask(const struct ref_step *s, u32 raw, u32 lane)
{
	struct pumice_usc_mask m;

	pumice_usc_mask_unpack(&raw, &m);
	return mask_register(s, m.a, m.a_not, lane) && mask_register(s, m.b, m.b_not, lane);
}

static u32 read_lane(const struct ref_step *s, const struct pumice_usc_operand *o, u32 lane)
{
	switch (o->bank) {
	case PUMICE_USC_BANK_IMM:
		return s->in.imm;
	case PUMICE_USC_BANK_SC:
		return special_constant(o->num);
	case PUMICE_USC_BANK_K:
		return constant(s, o->num, lane);
	case PUMICE_USC_BANK_SR:
		return special_register(s, o->num, o->elem ? 0 : lane);
	case PUMICE_USC_BANK_M:
		return ref_mask(s, o->num, lane);
	case PUMICE_USC_BANK_O:
		return ref_output(s, (u32)number_of(s, o, lane), lane);
	case PUMICE_USC_BANK_DC:
		return dynamic_constant(s, o, lane);
	default:
		return *ref_word(s, o, lane);
	}
}

u32 ref_read_scalar(const struct ref_step *s, u32 raw)
{
	struct pumice_usc_operand o;

	o = ref_operand(s, raw);
	return read_lane(s, &o, 0);
}

bool ref_has(const struct ref_step *s, u32 field)
{
	const struct pumice_isa_op_info *op =
		pumice_isa_find_opcode(&pumice_usc_isa, s->in.opcode);

	return op->form[s->in.form].uses >> field & 1;
}

/* Return whether the destination is written in all lanes, not one value alone. */
static bool writes_lanes(const struct ref_step *s)
{
	const struct pumice_isa_op_info *op =
		pumice_isa_find_opcode(&pumice_usc_isa, s->in.opcode);
	const struct pumice_isa_form *form = &op->form[s->in.form];

	for (u32 n = 0; n < form->nr_operands; n++) {
		if (form->operands[n].field == PUMICE_USC_FIELD_DST)
			return !pumice_usc_isa.classes[form->operands[n].cls].elem;
	}
	return false;
}

bool ref_is_first_active(const struct ref_step *s, u32 lane)
{
	for (u32 l = 0; l <= lane; l++) {
		if (ref_valid(s->w, l) &&
		    (!ref_has(s, PUMICE_USC_FIELD_MASK) || ref_mask(s, s->in.mask, l)))
			return l == lane;
	}
	return false;
}

bool ref_writes_slot(const struct ref_step *s)
{
	struct pumice_usc_operand o;

	o = ref_operand(s, s->in.dst);
	return ref_has(s, PUMICE_USC_FIELD_DST) && o.bank == PUMICE_USC_BANK_SL;
}

bool ref_has_slot_value(const struct ref_step *s)
{
	/* Here the mask selects lanes of an operand, not lanes that write. */
	if (s->in.opcode == PUMICE_USC_OP_SELECT || s->in.opcode == PUMICE_USC_OP_BALLOT)
		return s->w->valid != 0;
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (ref_is_first_active(s, l))
			return true;
	}
	return false;
}

void ref_write(struct ref_step *s, u32 raw, u32 lane, u32 value)
{
	struct pumice_usc_operand o;

	o = ref_operand(s, raw);
	if (o.bank == PUMICE_USC_BANK_O)
		ref_set_output(s, (u32)number_of(s, &o, lane), lane, value);
	else if ((o.bank == PUMICE_USC_BANK_SH || o.bank == PUMICE_USC_BANK_CF ||
		  o.bank == PUMICE_USC_BANK_CFA) &&
		 writes_lanes(s) && !ref_valid(s->w, lane))
		return;
	else if (o.bank != PUMICE_USC_BANK_SL || !writes_lanes(s) || ref_is_first_active(s, lane))
		*ref_word(s, &o, lane) = value;
}

/* All lanes of an operand, before anything is written. */
void ref_read_all(const struct ref_step *s, u32 raw, u32 out[PUMICE_LANES])
{
	struct pumice_usc_operand o;

	o = ref_operand(s, raw);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		out[l] = read_lane(s, &o, l);
}
