// SPDX-License-Identifier: MIT
/*
 * Mode strict: use of registers and local memory that were never written.
 *
 * Source: hw/isa.xml: registers and local memory are zero when a task starts, so such a read has
 * a value. A program that depends on it by mistake is in error all the same, so it is a finding,
 * but no fault.
 *
 * Of each temporary, internal and index register the lanes with a value are kept, and of local
 * memory the bytes. Arithmetic has no write mask, and computes results of lanes which the program
 * then does not use. So lanes without a value are passed on to the result, and reported where they
 * have an effect: in addresses and data of memory accesses, branches, masks, outputs, and words
 * that waves share. A result keeps the instruction that first read the register, which is the
 * finding's instruction; its other side is the one at which it has the effect. A load from local
 * memory is reported at once.
 *
 * Limits: a result keeps one register without a value, of those that it depends on: the one that
 * lacks most lanes. Of shuffles the
 * lane itself is examined, not the one that is read; derivatives and textures read other lanes,
 * too. Not for registers of other banks, which the PDS or another unit fills.
 */
#include "unset.h"

#include <stdlib.h>
#include <string.h>

#include "finding.h"
#include "late_state.h"
#include "minmax.h"
#include "rows.h"

#define NO_ORIGIN UINT32_MAX	/* pc of an origin: it was not read yet */

struct unset_row {
	u32 set;	/* bit l: lane l has a value */
	struct usc_unset_origin origin;	/* of the others */
};

struct usc_unset {
	struct unset_row *row;	/* as the unified store */
	struct unset_row *own;	/* USC_OWN_ROWS for each wave */
	u8 *local;		/* of each byte of local memory: 1 if it has a value */

	/* The operand that is examined. */
	u32 lanes;		/* without a value */
	struct usc_unset_origin origin;
	const struct usc_unset_step *step;	/* the instruction that is complete */
};

struct usc_unset *usc_unset_create(const struct usc_config *config)
{
	struct usc_unset *unset = calloc(1, sizeof(*unset));

	if (!unset)
		return NULL;
	unset->row = calloc(config->unified_bytes / USC_ROW_BYTES + 1, sizeof(*unset->row));
	unset->own = calloc(USC_WAVES * USC_OWN_ROWS, sizeof(*unset->own));
	unset->local = calloc(1, config->local_bytes + 1u);
	if (!unset->row || !unset->own || !unset->local) {
		usc_unset_destroy(unset);
		return NULL;
	}
	return unset;
}

void usc_unset_destroy(struct usc_unset *unset)
{
	if (!unset)
		return;
	free(unset->row);
	free(unset->own);
	free(unset->local);
	free(unset);
}

void usc_unset_wave_begin(struct usc_unset *unset, u32 wave, u32 row, u32 temps, u32 attrs)
{
	const struct unset_row none = { .origin = { .pc = NO_ORIGIN } };

	for (u32 n = 0; n < temps; n++)
		unset->row[row + n] = none;
	for (u32 n = temps; n < temps + attrs; n++)
		unset->row[row + n].set = UINT32_MAX;
	for (u32 n = 0; n < USC_OWN_ROWS; n++)
		unset->own[wave * USC_OWN_ROWS + n] = none;
}

void usc_unset_group_begin(struct usc_unset *unset, u32 local_byte, u32 local_bytes)
{
	memset(&unset->local[local_byte], 0, local_bytes);
}

/* ------------------------------------------------------------------- operands */

static struct unset_row *row_of(const struct exec *x, struct usc_row p)
{
	const u32 n = p.offset / USC_ROW_BYTES;

	if (p.base == USC_BASE_REG)
		return &x->usc->unset->row[x->wave->regs / USC_ROW_WORDS + n];
	return &x->usc->unset->own[late_wave_index(x) * USC_OWN_ROWS + n];
}

/* Return where a register's lanes without a value were read first: here, if not before. */
static struct usc_unset_origin origin_of(const struct exec *x, const struct usc_insn *i,
					 struct usc_row p)
{
	struct usc_unset_origin origin = row_of(x, p)->origin;
	struct pumice_usc_operand reg = { 0 };
	struct pumice_usc_late late = { 0 };
	u32 bank, number;

	if (origin.pc != NO_ORIGIN)
		return origin;
	usc_row_register(x, p, &bank, &number);
	reg.bank = (u8)bank;
	reg.num = (u16)number;
	pumice_usc_operand_pack(&late.place, &reg);
	pumice_usc_late_pack(&origin.place, &late);
	origin.pc = (u32)(i - x->program->insn);
	return origin;
}

/* Add the lanes of a register that have no value. */
static bool add_row(struct exec *x, const struct usc_insn *i, struct usc_row p, u32 lanes)
{
	struct usc_unset *unset = x->usc->unset;
	u32 without;

	if (p.base == USC_BASE_OUTPUTS)
		return true;
	without = lanes & ~row_of(x, p)->set;
	if (without && !unset->lanes)
		unset->origin = origin_of(x, i, p);
	unset->lanes |= without;
	return true;
}

/* Return the lanes in which a mask has no value: a false operand decides, whatever the other is. */
static u32 mask_lanes(struct exec *x, const struct usc_insn *i, u32 which)
{
	const struct usc_mask *mask = exec_mask(x, i, which);
	u32 without[2] = { 0, 0 }, no[2] = { 0, 0 };

	for (u32 n = 0; n < 2; n++) {
		const struct usc_row p = { mask->base[n], mask->offset[n] };
		const u32 *row = exec_mask_row(x, mask, n);

		if (p.base == USC_BASE_REG || p.base == USC_BASE_OWN)
			without[n] = ~row_of(x, p)->set;
		for (u32 l = 0; l < PUMICE_LANES; l++)
			no[n] |= (~(row[l] ^ mask->invert[n]) & 1) << l;
		no[n] &= ~without[n];
	}
	without[0] = x->valid & without[0] & ~no[1];
	without[1] = x->valid & without[1] & ~no[0];
	for (u32 n = 0; n < 2; n++) {
		const struct usc_row p = { mask->base[n], mask->offset[n] };

		if (without[n] && !x->usc->unset->lanes)
			x->usc->unset->origin = origin_of(x, i, p);
		x->usc->unset->lanes |= without[n];
	}
	return without[0] | without[1];
}

/* Return the lanes of a source that have no value; of a scalar all or none. */
static u32 source_lanes(struct exec *x, const struct usc_insn *i, enum usc_place place)
{
	const bool scalar = i->scalars >> place & 1;

	x->usc->unset->lanes = 0;
	if (i->values >> place & 1)
		return mask_lanes(x, i, USC_MASK_OF(place));
	usc_each_register(x, i, place, scalar ? 1 : x->valid, add_row);
	if (scalar && x->usc->unset->lanes)
		return UINT32_MAX;
	return x->usc->unset->lanes;
}

/* Return the lanes of an index register that have no value, of those that use it. */
static u32 index_lanes(struct exec *x, const struct usc_insn *i, enum usc_place place, u32 lanes)
{
	const struct usc_lookup *l = exec_lookup(x, i, place);

	x->usc->unset->lanes = 0;
	if (!(i->lookups >> place & 1) || l->kind == USC_LOOKUP_OUTPUT ||
	    l->kind == USC_LOOKUP_UNIFORM || l->kind == USC_LOOKUP_SLOT ||
	    l->kind == USC_LOOKUP_SCALED)
		return 0;
	add_row(x, i, (struct usc_row){ USC_BASE_OWN, l->index },
		l->kind == USC_LOOKUP_WORD ? 1 : lanes);
	return x->usc->unset->lanes;
}

/* ------------------------------------------------------------------- effects */

/* Return whether the destination is a register of those that are examined. */
static bool has_row(const struct exec *x, const struct usc_insn *i)
{
	const struct usc_lookup *l = exec_lookup(x, i, USC_DST);

	if (!i->registers[USC_DST] || i->op == PUMICE_USC_OP_UVSW || i->writes_slot ||
	    (i->outputs >> USC_DST & 1))
		return false;
	if (i->lookups >> USC_DST & 1)
		return l->base == USC_BASE_REG &&
		       (l->kind == USC_LOOKUP_ROWS || l->kind == USC_LOOKUP_WORD);
	return i->base[USC_DST] == USC_BASE_REG || i->base[USC_DST] == USC_BASE_OWN;
}

/* Return whether lanes without a value are passed on to the result: they have no effect yet. */
static bool passes_on(const struct exec *x, const struct usc_insn *i)
{
	switch (i->op) {
	case PUMICE_USC_OP_SCAN:
	case PUMICE_USC_OP_SCAN_EXCL:
	case PUMICE_USC_OP_REDUCE_FINISH:
		return false;
	case PUMICE_USC_OP_MOV:
	case PUMICE_USC_OP_SELECT:
		return has_row(x, i);
	default:
		return !i->masked && has_row(x, i);
	}
}

/* Return the lanes in which a source alone decides the result: 0 of and, others than 0 of or. */
static u32 deciding_lanes(const struct exec *x, const struct usc_insn *i, enum usc_place place,
			  u32 without)
{
	const u32 step = i->scalars >> place & 1 ? 0 : 1;
	u32 zero = 0;

	if ((i->op != PUMICE_USC_OP_AND && i->op != PUMICE_USC_OP_OR) ||
	    ((i->values | i->lookups) >> place & 1))
		return 0;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		zero |= (u32)!exec_operand(x, i, place)[l * step] << l;
	return (i->op == PUMICE_USC_OP_AND ? zero : ~zero) & ~without;
}

/* Return the lanes in which an operation that passes them on has a result without a value. */
static u32 result_lanes(const struct exec *x, const struct usc_insn *i, const u32 *without)
{
	const u32 decided = deciding_lanes(x, i, USC_SRC0, without[USC_SRC0]) |
			    deciding_lanes(x, i, USC_SRC1, without[USC_SRC1]);
	const u32 all = without[USC_SRC0] | without[USC_SRC1] | without[USC_SRC2];
	const u32 one = i->op == PUMICE_USC_OP_SELECT ? usc_active_lanes(x, i) : 0;

	if (i->op == PUMICE_USC_OP_SELECT)
		return (without[USC_SRC1] & one) | (without[USC_SRC0] & ~one);
	return all & ~decided;
}

/* Examine words of local memory that a load or copy reads; keep the first one in the step. */
static void check_local(const struct exec *x, struct usc_unset_step *s, u32 at, u32 bytes, u32 lane)
{
	const struct pumice_usc_late none = { .local = true };
	const u8 *local = &x->usc->unset->local[late_group_of(x)->local_byte];

	for (u32 n = at; n < at + bytes && !s->found; n++) {
		struct pumice_usc_late late = none;

		if (local[n])
			continue;
		late.place = n;
		pumice_usc_late_pack(&s->use.place, &late);
		s->found = true;
		s->lane_known = lane < PUMICE_LANES;
		s->lane = (u8)lane;
		s->use.pc = NO_ORIGIN;
	}
}

static void check_local_lanes(const struct exec *x, const struct usc_insn *i,
			      struct usc_unset_step *s, const struct usc_watch_step *w)
{
	for (u32 left = w->access.load ? w->lanes : 0; left && !s->found; left &= left - 1) {
		const u32 lane = (u32)__builtin_ctz(left);
		const u64 at = (u64)w->offset[lane] + i->value;

		if (at + w->access.bytes <= x->local_bytes)
			check_local(x, s, (u32)at, w->access.bytes, lane);
	}
}

/* Keep a use that has an effect in some lanes: the first one of the instruction. */
static void use(const struct exec *x, struct usc_unset_step *s, u32 lanes)
{
	if (!lanes || s->found)
		return;
	s->found = true;
	s->lane_known = true;
	s->lane = (u8)__builtin_ctz(lanes);
	s->use = x->usc->unset->origin;
}

/*
 * Examine masks and indices, which have an effect in each instruction; a mask of a move has none
 * yet. Returns the lanes of that one, and sets the origin of the result.
 */
static u32 check_control(struct exec *x, const struct usc_insn *i, struct usc_unset_step *s)
{
	u32 moved = 0;

	x->usc->unset->lanes = 0;
	if (i->masked && s->passes_on) {
		moved = mask_lanes(x, i, USC_MASK_OF_LANES);
		s->origin = x->usc->unset->origin;
	} else if (i->masked) {
		use(x, s, mask_lanes(x, i, USC_MASK_OF_LANES));
	}
	for (enum usc_place place = USC_DST; i->lookups && place < USC_PLACES; place++)
		use(x, s, index_lanes(x, i, place, s->lanes));
	return moved;
}

static u32 lanes_of(u32 lanes)
{
	return (u32)__builtin_popcount(lanes);
}

void usc_unset_begin(struct exec *x, const struct usc_insn *i, const struct usc_watch_step *w,
		     struct usc_unset_step *s)
{
	u32 without[USC_PLACES] = { 0 };
	u32 most, moved, effect;

	*s = (struct usc_unset_step){ 0 };
	s->lanes = i->masked && i->op != PUMICE_USC_OP_SELECT ? usc_active_lanes(x, i) : x->valid;
	if (x->wave->ray_lanes) {	/* it was interrupted, and is examined already */
		s->lanes = late_wave_of(x)->lanes;
		return;
	}
	s->passes_on = passes_on(x, i);
	effect = i->op == PUMICE_USC_OP_FIRST_WHERE_TRUE ? s->lanes & -s->lanes : s->lanes;
	moved = check_control(x, i, s);
	most = lanes_of(moved);
	for (enum usc_place place = USC_SRC0; place < USC_PLACES; place++) {
		without[place] = source_lanes(x, i, place);
		if (!s->passes_on)
			use(x, s, i->scalars >> place & 1 && !i->masked ? without[place] :
									   without[place] & effect);
		else if (lanes_of(without[place]) > most)
			s->origin = x->usc->unset->origin;
		/* The program may not use the lanes that another source lacks. */
		most = max_u32(most, lanes_of(without[place]));
	}
	if (s->passes_on)
		s->without = result_lanes(x, i, without) | moved;
	s->lanes |= moved;
	s->words = late_local_words(x, i, &s->word);
	if (s->words && i->loads == USC_LOADS_NONE)
		check_local(x, s, s->word * 4 - late_group_of(x)->local_byte, s->words * 4,
			    PUMICE_LANES);
	check_local_lanes(x, i, s, w);
}

/* ------------------------------------------------------------------- completion */

/* A register is written in some lanes, with a result that the step describes. */
static bool write_row(struct exec *x, const struct usc_insn *i, struct usc_row p, u32 lanes)
{
	const struct usc_unset_step *s = x->usc->unset->step;
	struct unset_row *row;

	(void)i;
	if (p.base == USC_BASE_OUTPUTS)
		return true;
	row = row_of(x, p);
	row->set = (row->set & ~lanes) | (lanes & ~s->without);
	if (lanes & s->without)
		row->origin = s->origin;
	return true;
}

static void report(const struct exec *x, const struct usc_insn *i, const struct usc_unset_step *s)
{
	const u32 pc = (u32)(i - x->program->insn);
	const bool before = s->use.pc != NO_ORIGIN && s->use.pc != pc;
	struct strict_finding finding = usc_finding(x, PUMICE_FINDING_UNINITIALISED,
						    before ? s->use.pc : pc);

	finding.lane_known = s->lane_known;
	finding.lane = s->lane;
	finding.addr = s->use.place;
	finding.other = (struct strict_other){
		.known = before, .lane_known = s->lane_known, .pc = pc,
		.wave = x->wave->in_group, .lane = s->lane,
	};
	strict_report(x->usc->strict, &finding);
}

void usc_unset_end(struct exec *x, const struct usc_insn *i, const struct usc_watch_step *w,
		   const struct usc_unset_step *s)
{
	u8 *local = &x->usc->unset->local[late_group_of(x)->local_byte];
	const bool scalar = i->scalars >> USC_DST & 1;

	if (s->found)
		report(x, i, s);
	x->usc->unset->step = s;
	if (has_row(x, i))
		usc_each_register(x, i, USC_DST,
				  scalar ? 1 : i->masked && i->op != PUMICE_USC_OP_SELECT ?
				  s->lanes : UINT32_MAX, write_row);
	if (s->words && i->loads == USC_LOADS_LOCAL)
		memset(&x->usc->unset->local[s->word * 4], 1, s->words * 4);
	for (u32 left = w->access.store ? w->lanes : 0; left; left &= left - 1) {
		const u64 at = (u64)w->offset[__builtin_ctz(left)] + i->value;

		if (at + w->access.bytes <= x->local_bytes)
			memset(&local[at], 1, w->access.bytes);
	}
}
