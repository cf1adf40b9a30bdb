// SPDX-License-Identifier: MIT
/*
 * Predecoding of checked instruction words.
 *
 * Source: hw/isa.xml; program.h for the form.
 *
 * Limits: everything here has passed usc_validate(); nothing is checked twice.
 */
#include <stdlib.h>
#include <string.h>

#include "exec.h"
#include "program.h"
#include "pumice_formats.h"

#define WORD_SHIFT 2u
#define ROW_SHIFT 7u
#define ROW_BYTES (USC_ROW_WORDS * 4u)
#define SCRATCH_OFFSET(place) ((place) * USC_SCRATCH_ROWS * ROW_BYTES)
_Static_assert(ROW_BYTES == 1u << ROW_SHIFT, "a register of a wave is one row");

#define PAIR_REACH 2u	/* following instructions that determine how an instruction is run */

/* Program under construction; the arrays have room for the whole program. */
struct builder {
	struct usc_program *program;
	struct usc_insn *insn;		/* the current instruction */
	bool has_masks;			/* its masks and lookups are allocated */
	u32 dim;			/* log2 of the dimension of its index registers */
};

static void set_ref(struct usc_insn *insn, enum usc_place place, enum usc_base base, u32 offset)
{
	insn->base[place] = base;
	insn->offset[place] = offset;
}

/* Add a word that all lanes read to the pool. */
static void set_pool(struct builder *b, enum usc_place place, u32 word)
{
	struct usc_program *p = b->program;

	p->pool[p->pool_words] = word;
	set_ref(b->insn, place, USC_BASE_POOL, p->pool_words++ * 4);
	b->insn->scalars |= 1u << place;
}

static void constant_ref(struct usc_program *p, u32 number, u8 *base, u32 *offset)
{
	if (number == PUMICE_USC_K_WAVE) {
		*base = USC_BASE_SPECIAL;
		*offset = USC_SPECIAL_WAVE * ROW_BYTES;
		p->specials |= 1u << USC_SPECIAL_WAVE;
	} else {
		*base = USC_BASE_CONST;
		*offset = number * ROW_BYTES;
	}
}

/* Set one of the two registers of a mask; returns whether it is equal in every wave. */
static bool mask_register(struct usc_program *p, struct usc_mask *mask, u32 n,
			  u32 number, bool invert)
{
	mask->invert[n] = invert;
	if (number >= PUMICE_USC_MASK_CONSTS) {
		mask->base[n] = USC_BASE_REG;
		mask->offset[n] = (number - PUMICE_USC_MASK_CONSTS) * ROW_BYTES;
		return false;
	}
	constant_ref(p, number, &mask->base[n], &mask->offset[n]);
	return number != PUMICE_USC_K_WAVE;
}

static u32 constant_bits(u32 number, bool invert)
{
	const struct pumice_isa_special *k =
		pumice_isa_find_special(&pumice_usc_isa, PUMICE_USC_BANK_K, number);
	u32 bits = 0;

	for (u32 l = 0; l < PUMICE_LANES; l++)
		bits |= (k->lanes[l] & 1) << l;
	return invert ? ~bits : bits;
}

/* Allocate the instruction's masks and lookups. */
static void alloc_masks(struct builder *b)
{
	if (b->has_masks)
		return;
	b->insn->mask = b->program->masks;
	b->program->masks += USC_PLACES;
	b->has_masks = true;
}

/* Set the write mask, or a mask used as value. Only the former may be constant. */
static void set_mask(struct builder *b, u32 which, u32 raw)
{
	struct usc_program *p = b->program;
	struct pumice_usc_mask enc;
	struct usc_mask *mask;
	bool known;

	alloc_masks(b);
	if (which == USC_MASK_OF_LANES)
		b->insn->masked = true;
	mask = &p->mask[b->insn->mask + which];
	pumice_usc_mask_unpack(&raw, &enc);
	known = mask_register(p, mask, 0, enc.a, enc.a_not);
	known &= mask_register(p, mask, 1, enc.b, enc.b_not);
	if (known && which == USC_MASK_OF_LANES) {
		b->insn->lanes_known = true;
		b->insn->lanes = constant_bits(enc.a, enc.a_not) & constant_bits(enc.b, enc.b_not);
	}
}

/* Turn the operand set by set_bank() into one that is looked up. */
static struct usc_lookup *set_lookup(struct builder *b, enum usc_place place,
				     enum usc_lookup_kind kind)
{
	struct usc_insn *insn = b->insn;
	struct usc_lookup *l;

	alloc_masks(b);
	l = &b->program->lookup[insn->mask + place];
	l->kind = kind;
	l->base = insn->base[place];
	l->offset = insn->offset[place];
	l->count = 1;
	set_ref(insn, place, USC_BASE_SCRATCH, SCRATCH_OFFSET(place));
	insn->lookups |= 1u << place;
	return l;
}

/* Record that the greatest index depends on the number of registers. */
static void depend_on_bank(struct usc_program *p, enum pumice_usc_bank bank)
{
	switch (bank) {
	case PUMICE_USC_BANK_R:
		p->exact |= USC_EXACT_TEMPS;
		break;
	case PUMICE_USC_BANK_V:
		p->exact |= USC_EXACT_ATTRS;
		break;
	case PUMICE_USC_BANK_SH:
		p->exact |= USC_EXACT_SHARED;
		break;
	case PUMICE_USC_BANK_CF:
		p->exact |= USC_EXACT_COEFFS;
		break;
	case PUMICE_USC_BANK_CFA:
		p->exact |= USC_EXACT_COEFFS_ALT;
		break;
	case PUMICE_USC_BANK_VO:
		p->exact |= USC_EXACT_VO;
		break;
	case PUMICE_USC_BANK_O:
		p->exact |= USC_EXACT_OUTPUTS;
		break;
	default:
		break;	/* slot registers: equal for all programs of a GPU */
	}
}

static bool is_plane(u32 cls)
{
	return cls == PUMICE_USC_CLASS_CFPLANE || cls == PUMICE_USC_CLASS_WPLANE;
}

/*
 * Return how an indexed operand of a class is looked up. Only a class that includes vector
 * registers has a value in each lane.
 */
static enum usc_lookup_kind indexed_kind(const struct pumice_usc_operand *opnd, u32 cls)
{
	const bool lanes = pumice_usc_isa.classes[cls].full >> PUMICE_USC_BANK_R & 1;

	if (is_plane(cls))
		return USC_LOOKUP_PLANES;
	if (cls == PUMICE_USC_CLASS_SDATA)
		return USC_LOOKUP_SHARED;
	switch (opnd->bank) {
	case PUMICE_USC_BANK_DC:
		return USC_LOOKUP_DC;
	case PUMICE_USC_BANK_O:
		return USC_LOOKUP_OUTPUTS;
	case PUMICE_USC_BANK_VO:
		return USC_LOOKUP_VO;
	case PUMICE_USC_BANK_SH:
	case PUMICE_USC_BANK_CF:
	case PUMICE_USC_BANK_CFA:
		return lanes ? USC_LOOKUP_LANES : USC_LOOKUP_WORD;
	default:
		return opnd->elem ? USC_LOOKUP_WORD : USC_LOOKUP_ROWS;
	}
}

/* Set an operand of count registers with an index register added to its number. */
static void set_indexed(struct builder *b, enum usc_place place,
			const struct pumice_usc_operand *opnd, u32 cls, u32 count)
{
	bool dc = opnd->bank == PUMICE_USC_BANK_DC;
	struct usc_lookup *l = set_lookup(b, place, indexed_kind(opnd, cls));

	b->program->own = true;
	depend_on_bank(b->program, opnd->bank);
	l->index = (USC_OWN_INDEX + opnd->idx - 1) * ROW_BYTES;
	l->dim = (u8)b->dim;
	l->shift = l->base == USC_BASE_REG ? ROW_SHIFT : WORD_SHIFT;
	l->count = (u8)count;
	if (l->kind == USC_LOOKUP_LANES)
		b->insn->scalars &= (u8)~(1u << place);
	b->insn->outputs &= (u8)~(1u << place);
	if (l->kind == USC_LOOKUP_VO || l->kind == USC_LOOKUP_SHARED) {
		/* No row is filled: the operand is that of the indices. */
		b->insn->lookups &= (u8)~(1u << place);
		set_ref(b->insn, place, USC_BASE_OWN, l->index);
	}
	if (dc)
		l->last = opnd->num;
	else
		l->last = (usc_bank_registers(opnd->bank, &b->program->limits) - count -
			   opnd->num) >> l->dim;
}

static void set_own(struct builder *b, enum usc_place place, u32 row)
{
	set_ref(b->insn, place, USC_BASE_OWN, row * ROW_BYTES);
	b->program->own = true;
}

/* Set an operand that is a word of the common store, or a slot register. */
static void set_word(struct builder *b, enum usc_place place, enum usc_base base, u32 number)
{
	set_ref(b->insn, place, base, number * 4);
	b->insn->scalars |= 1u << place;
}

/* Set an operand from its bank and number. */
static void set_bank(struct builder *b, enum usc_place place, const struct pumice_usc_operand *at,
		     u32 imm)
{
	const struct pumice_isa_special *special;
	struct usc_program *p = b->program;
	struct usc_insn *insn = b->insn;
	const struct pumice_usc_operand opnd = *at;
	u32 row;

	switch (opnd.bank) {
	case PUMICE_USC_BANK_R:
		set_ref(insn, place, USC_BASE_REG, opnd.num * ROW_BYTES);
		break;
	case PUMICE_USC_BANK_V:
		set_ref(insn, place, USC_BASE_REG, (p->limits.temps + opnd.num) * ROW_BYTES);
		p->exact |= USC_EXACT_TEMPS;
		break;
	case PUMICE_USC_BANK_SH:
		set_word(b, place, USC_BASE_SHARED, opnd.num);
		break;
	case PUMICE_USC_BANK_CF:
		set_word(b, place, USC_BASE_SHARED, p->limits.shared + opnd.num);
		p->exact |= USC_EXACT_SHARED;
		break;
	case PUMICE_USC_BANK_CFA:
		set_word(b, place, USC_BASE_COEFFS_ALT, opnd.num);
		break;
	case PUMICE_USC_BANK_SL:
		set_word(b, place, USC_BASE_SLOT, opnd.num);
		insn->writes_slot |= place == USC_DST;
		break;
	case PUMICE_USC_BANK_O:
		set_ref(insn, place, USC_BASE_SCRATCH, opnd.num);
		insn->outputs |= 1u << place;
		break;
	case PUMICE_USC_BANK_VO:
		insn->value = opnd.num;
		break;
	case PUMICE_USC_BANK_I:
		set_own(b, place, opnd.num);
		break;
	case PUMICE_USC_BANK_IDX:
		set_own(b, place, USC_OWN_INDEX + opnd.num);
		break;
	case PUMICE_USC_BANK_DC:
		break;	/* set by set_indexed() */
	case PUMICE_USC_BANK_K:
		constant_ref(p, opnd.num, &insn->base[place], &insn->offset[place]);
		break;
	case PUMICE_USC_BANK_SR:
		if (opnd.num == PUMICE_USC_SR_UNIFORM)
			break;	/* set by set_register() */
		row = USC_SPECIAL_ROW(opnd.num);
		set_ref(insn, place, USC_BASE_SPECIAL, row * ROW_BYTES);
		p->specials |= 1u << row;
		break;
	case PUMICE_USC_BANK_SC:
		special = pumice_isa_find_special(&pumice_usc_isa, PUMICE_USC_BANK_SC, opnd.num);
		set_pool(b, place, special->lanes[0]);
		break;
	case PUMICE_USC_BANK_IMM:
		set_pool(b, place, imm);
		break;
	case PUMICE_USC_BANK_M:
		set_ref(insn, place, USC_BASE_SCRATCH, SCRATCH_OFFSET(place));
		set_mask(b, USC_MASK_OF(place), opnd.num);
		insn->values |= 1u << place;
		break;
	default:
		insn->no_base = true;	/* NONE: an omitted optional operand */
	}
}

static void set_register(struct builder *b, enum usc_place place, u32 raw,
			 const struct pumice_isa_operand *operand,
			 const struct pumice_usc_insn *enc)
{
	const u32 count = pumice_usc_registers(enc, operand);
	struct pumice_usc_operand opnd;

	pumice_usc_operand_unpack(&raw, &opnd);
	usc_resolve_offset(&opnd, b->program->limits.slot_regs);
	if (opnd.elem)
		b->insn->scalars |= 1u << place;
	set_bank(b, place, &opnd, enc->imm);
	if (opnd.idx)
		b->insn->registers[place] = 1;
	else if (opnd.bank != PUMICE_USC_BANK_NONE && operand->cls != PUMICE_USC_CLASS_SDATA)
		b->insn->registers[place] = (u8)count;
	if (opnd.idx) {
		set_indexed(b, place, &opnd, operand->cls, count);
	} else if (opnd.bank == PUMICE_USC_BANK_O) {
		set_lookup(b, place, USC_LOOKUP_OUTPUT);
	} else if (opnd.bank == PUMICE_USC_BANK_SR && opnd.num == PUMICE_USC_SR_UNIFORM) {
		set_lookup(b, place, USC_LOOKUP_UNIFORM);
	} else if (opnd.bank == PUMICE_USC_BANK_SL && !pumice_usc_isa.classes[operand->cls].elem) {
		/* Only vectors are valid here. */
		set_lookup(b, place, USC_LOOKUP_SLOT);
		b->insn->scalars &= (u8)~(1u << place);
	}
}

static void set_operand(struct builder *b, const struct pumice_isa_operand *operand,
			const struct pumice_usc_insn *enc)
{
	switch (operand->field) {
	case PUMICE_USC_FIELD_MASK:
		set_mask(b, USC_MASK_OF_LANES, enc->mask);
		break;
	case PUMICE_USC_FIELD_DST:
		set_register(b, USC_DST, enc->dst, operand, enc);
		break;
	case PUMICE_USC_FIELD_SRC0:
		set_register(b, USC_SRC0, enc->src0, operand, enc);
		break;
	case PUMICE_USC_FIELD_SRC1:
		set_register(b, USC_SRC1, enc->src1, operand, enc);
		break;
	case PUMICE_USC_FIELD_SRC2:
		set_register(b, USC_SRC2, enc->src2, operand, enc);
		break;
	case PUMICE_USC_FIELD_DISP:
		b->insn->value = enc->disp;
		break;
	case PUMICE_USC_FIELD_TARGET:
		b->insn->value = enc->target;
		break;
	case PUMICE_USC_FIELD_FUNC:
		b->insn->func = enc->func;
		break;
	case PUMICE_USC_FIELD_WORDS:
		b->insn->words = enc->words;
		break;
	case PUMICE_USC_FIELD_COMPS:
		b->insn->words = enc->comps;
		break;
	case PUMICE_USC_FIELD_COMP:
		b->insn->words = enc->comp;
		break;
	case PUMICE_USC_FIELD_SIG0:
		memset(b->insn->sig, enc->sig0, sizeof(b->insn->sig));
		break;
	case PUMICE_USC_FIELD_ASYNC:
		b->insn->loads = enc->async ? USC_LOADS_REGISTERS : USC_LOADS_NONE;
		memset(b->insn->sig, enc->async ? enc->async - 1 : 0, sizeof(b->insn->sig));
		break;
	case PUMICE_USC_FIELD_SIG1:
		b->insn->sig[1] = enc->sig1;
		break;
	case PUMICE_USC_FIELD_SIG2:
		b->insn->sig[2] = enc->sig2;
		break;
	case PUMICE_USC_FIELD_SIG3:
		b->insn->sig[3] = enc->sig3;
		break;
	}
}

/* Return the destination of an access to memory. */
static enum usc_loads loads_of(const struct usc_insn *insn)
{
	switch (insn->op) {
	case PUMICE_USC_OP_GLOBAL_LOAD8:
	case PUMICE_USC_OP_GLOBAL_LOAD16:
	case PUMICE_USC_OP_GLOBAL_LOAD32:
	case PUMICE_USC_OP_GLOBAL_LOAD64:
	case PUMICE_USC_OP_GLOBAL_LOAD128:
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
	case PUMICE_USC_OP_BURST_LOAD:
	case PUMICE_USC_OP_RAY_QUERY:
		return USC_LOADS_REGISTERS;
	case PUMICE_USC_OP_SHARED_LOAD:
	case PUMICE_USC_OP_GROUP_LOAD_SHARED:
		return USC_LOADS_SHARED;
	case PUMICE_USC_OP_GROUP_LOAD:
		return USC_LOADS_LOCAL;
	default:
		return insn->loads;	/* texture reads: those with a signal */
	}
}

/* Return the operation that accesses words at byte offsets, of one at word addresses; else 0. */
static u32 byte_form(u32 op)
{
	switch (op) {
	case PUMICE_USC_OP_LOCAL_LOAD32W:
		return PUMICE_USC_OP_LOCAL_LOAD32;
	case PUMICE_USC_OP_LOCAL_STORE32W:
		return PUMICE_USC_OP_LOCAL_STORE32;
	case PUMICE_USC_OP_LOCAL_LOAD64W:
		return PUMICE_USC_OP_LOCAL_LOAD64;
	case PUMICE_USC_OP_LOCAL_STORE64W:
		return PUMICE_USC_OP_LOCAL_STORE64;
	case PUMICE_USC_OP_LOCAL_LOAD128W:
		return PUMICE_USC_OP_LOCAL_LOAD128;
	case PUMICE_USC_OP_LOCAL_STORE128W:
		return PUMICE_USC_OP_LOCAL_STORE128;
	case PUMICE_USC_OP_LOCAL_ATOMICW:
		return PUMICE_USC_OP_LOCAL_ATOMIC;
	default:
		return 0;
	}
}

/* Make an access at word addresses one at byte offsets, which are looked up. */
static void scale_words(struct builder *b)
{
	const u32 op = byte_form(b->insn->op);

	if (!op)
		return;
	b->insn->op = (u8)op;
	b->insn->value *= 4;
	if (!(b->insn->lookups >> USC_SRC0 & 1))
		set_lookup(b, USC_SRC0, USC_LOOKUP_SCALED);
	else
		b->program->lookup[b->insn->mask + USC_SRC0].scaled = true;
}

static void build_insn(struct usc_program *p, u32 pc, const struct pumice_usc_insn *enc)
{
	struct builder b = { .program = p, .insn = &p->insn[pc], .dim = enc->dim };
	const struct pumice_isa_op_info *op =
		pumice_isa_find_opcode(&pumice_usc_isa, enc->opcode);
	const struct pumice_isa_form *form = &op->form[enc->form];

	b.insn->op = enc->opcode;
	b.insn->type = enc->type;
	b.insn->form = enc->form;
	for (u32 n = 0; n < form->nr_operands; n++)
		set_operand(&b, &form->operands[n], enc);
	b.insn->loads = loads_of(b.insn);
	scale_words(&b);
	usc_exec_bind(b.insn);
}

u64 usc_predecode_bytes(u32 insns)
{
	const struct usc_program *p = NULL;
	const u64 each = sizeof(*p->insn) + USC_PLACES * (sizeof(*p->mask) + sizeof(*p->lookup)) +
			 (USC_PLACES - 1) * sizeof(*p->pool) + PUMICE_USC_WORDS * sizeof(u32);

	/* One more entry of each array: see trim(). */
	return sizeof(*p) + sizeof(*p->insn) + sizeof(*p->mask) + sizeof(*p->lookup) +
	       sizeof(*p->pool) + insns * each;
}

/* Allocate instructions of zero bytes, each in one line of the host's cache. */
static struct usc_insn *alloc_insns(size_t count)
{
	struct usc_insn *insn = aligned_alloc(USC_INSN_BYTES, count * sizeof(*insn));

	if (insn)
		memset(insn, 0, count * sizeof(*insn));
	return insn;
}

struct usc_program *usc_predecode_begin(u32 insns, const struct usc_program_limits *limits)
{
	struct usc_program *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->insn = alloc_insns(insns + 1u);
	p->mask = calloc((size_t)insns * USC_PLACES, sizeof(*p->mask));
	p->lookup = calloc((size_t)insns * USC_PLACES, sizeof(*p->lookup));
	p->pool = calloc((size_t)insns * (USC_PLACES - 1), sizeof(*p->pool));
	if (!p->insn || !p->mask || !p->lookup || !p->pool) {
		usc_program_free(p);
		return NULL;
	}
	p->insns = insns;
	p->limits = *limits;
	return p;
}

/* Release memory of the worst case that this program does not need. */
static void trim(struct usc_program *p)
{
	void *mask = realloc(p->mask, (p->masks + 1u) * sizeof(*p->mask));
	void *lookup = realloc(p->lookup, (p->masks + 1u) * sizeof(*p->lookup));
	void *pool = realloc(p->pool, (p->pool_words + 1u) * sizeof(*p->pool));

	if (mask)
		p->mask = mask;
	if (lookup)
		p->lookup = lookup;
	if (pool)
		p->pool = pool;
	p->bytes = sizeof(*p) + (p->insns + 1u) * sizeof(*p->insn) +
		(p->masks + 1u) * (sizeof(*p->mask) + sizeof(*p->lookup)) +
		(p->pool_words + 1u) * sizeof(*p->pool) + p->insns * PUMICE_USC_WORDS * sizeof(u32);
}

enum pumice_fault usc_predecode(struct usc_program *p, const u32 *words, u32 *at, u32 end)
{
	struct pumice_usc_insn enc;
	u32 n = *at > PAIR_REACH ? *at - PAIR_REACH : 0;

	for (; *at < end; ++*at) {
		enum pumice_fault fault = usc_validate(&words[*at * PUMICE_USC_WORDS], p->insns,
						       &p->limits, &p->needs, &enc);

		if (fault != PUMICE_FAULT_NONE)
			return fault;
		build_insn(p, *at, &enc);
		if (!p->insn[*at].run)
			return PUMICE_FAULT_USC_OPCODE;
	}
	/*
	 * A pair depends on the following instructions; the last ones are bound with the next
	 * piece.
	 */
	for (; n + PAIR_REACH < end; n++)
		usc_exec_bind_pair(&p->insn[n]);
	return PUMICE_FAULT_NONE;
}

void usc_predecode_end(struct usc_program *p, u32 *words)
{
	u32 n = p->insns > PAIR_REACH ? p->insns - PAIR_REACH : 0;

	for (; n + 1 < p->insns; n++)
		usc_exec_bind_pair(&p->insn[n]);
	p->insn[p->insns].run = usc_exec_past_end;
	p->words = words;
	trim(p);
}

void usc_program_free(struct usc_program *program)
{
	free(program->insn);
	free(program->mask);
	free(program->lookup);
	free(program->pool);
	free(program->words);
	free(program);
}
