/* SPDX-License-Identifier: MIT */
/*
 * Operands that are looked up: indexed registers, dynamic constants, words of the uniform stream,
 * slot registers used as rows, and pixel outputs.
 *
 * Source: document 003, "Index Registers", "Dynamic Constant Registers", "Slot Registers" and
 * "Pixel Output Registers"; hw/formats.xml, usc_operand and usc_dim. Included by level_*.c after
 * access.inc.h, move.inc.h and gfx.inc.h.
 *
 * Such an operand is in scratch rows while its instruction runs, one for each of its registers;
 * scalars are words that follow each other. A destination is also
 * fetched before and written back entirely after, so that lanes which the instruction does
 * not write keep their values without being determined. Pixel outputs, and words of the common
 * store that lanes select, are written back only in written lanes: one word represents all
 * samples of its pixel, or is another lane's too.
 *
 * Limits: an index beyond the registers is a fault in a valid lane, whatever the
 * instruction's mask; in another lane it reads 0 and writes nothing.
 */

#define VO_ROW_SHIFT 7u	/* bytes of a vertex output register's row, log2 */
_Static_assert(USC_ROW_WORDS * 4 == 1u << VO_ROW_SHIFT, "a vertex output is one row");

/* Return the lanes of an index row whose register exists. */
static inline u32 lanes_within(const vu *index, const struct usc_lookup *l)
{
	u32 beyond = 0;

	EACH(k)
		beyond |= ROW_BITS(vm_above(index[k], splat(l->last)), k);
	return ~beyond;
}

static inline const vu *index_row(const struct exec *x, const struct usc_lookup *l)
{
	return (const vu *)(const void *)(x->base[USC_BASE_OWN] + l->index);
}

/*
 * Compute the offset of each lane's word from the register numbered in the instruction, bytes:
 * in a row of a vector register, or the word that all lanes share.
 */
static inline void lane_offsets(vu *off, const vu *index, const struct usc_lookup *l)
{
	u32 step = l->shift == VO_ROW_SHIFT ? 4 : 0;

	EACH(k)
		off[k] = (index[k] << (l->shift + l->dim)) + lane_numbers(k) * step;
}

/* Fetch registers by each lane's index. False if a valid lane's is out of range. */
static bool fetch_rows(struct exec *x, const struct usc_lookup *l, vu *row)
{
	const vu *index = index_row(x, l);
	u32 within = lanes_within(index, l);
	vu off[VECS];

	if (x->valid & ~within)
		return false;
	lane_offsets(off, index, l);
	if (l->kind == USC_LOOKUP_PLANES) {
		const vu *prim = prim_offsets(x, l->base == USC_BASE_COEFFS_ALT);

		EACH(k)
			off[k] += prim[k];
	}
	for (u32 n = 0; n < l->count; n++, row += VECS) {
		EACH(k)
			row[k] = splat(0);
		gather(row, x->base[l->base] + l->offset + (n << l->shift), off, 0, within);
	}
	return true;
}

/* Compute byte offsets from word addresses; those beyond 4 GiB become the last one below. */
static void scale_row(vu *row, const vu *words)
{
	EACH(k) {
		vm beyond = vm_above(words[k], splat(UINT32_MAX >> 2));

		row[k] = vm_select(beyond, splat(UINT32_MAX & ~3u), words[k] << 2);
	}
}

/* Write lanes whose register exists; of those with the same one the highest takes precedence. */
static void write_back_rows(struct exec *x, const struct usc_lookup *l, const vu *row, u32 lanes)
{
	const vu *index = index_row(x, l);
	vu off[VECS];

	lane_offsets(off, index, l);
	lanes &= lanes_within(index, l);
	for (u32 n = 0; n < l->count; n++, row += VECS)
		scatter(x->base[l->base] + l->offset + (n << l->shift), off, 0, row, lanes);
}

/* Return the address of scalars by lane 0's index, or NULL if that is out of range. */
static u32 *indexed_word(struct exec *x, const struct usc_lookup *l)
{
	u32 index = *(const u32 *)(const void *)index_row(x, l);

	if (index > l->last)
		return NULL;
	return (u32 *)(void *)(x->base[l->base] + l->offset + (index << (l->shift + l->dim)));
}

static u32 *slot_word(struct exec *x, const struct usc_lookup *l)
{
	return (u32 *)(void *)(x->base[USC_BASE_SLOT] + l->offset);
}

/* Fetch scalars, each a word. False if lane 0's index is out of range. */
static bool fetch_words(struct exec *x, const struct usc_lookup *l, u32 *to)
{
	const u8 *from = (const u8 *)indexed_word(x, l);

	for (u32 n = 0; from && n < l->count; n++, from += 1u << l->shift)
		to[n] = *(const u32 *)(const void *)from;
	return from;
}

/* Report that these lanes, not none, use a register that does not exist. */
static const struct usc_insn *index_fault(struct exec *x, const struct usc_insn *i, u32 lanes)
{
	const struct usc_insn *stop = exec_fault(x, i, PUMICE_FAULT_USC_INDEX);

	exec_fault_lane(x, lanes);
	return stop;
}

/* Fetch one operand into its scratch rows. Returns false with x->exit set on a fault. */
static bool fetch(struct exec *x, const struct usc_insn *i, enum usc_place place)
{
	const struct usc_lookup *l = exec_lookup(x, i, place);
	vu *row = row_of(x, i, place);

	switch (l->kind) {
	case USC_LOOKUP_DC:
		return exec_dc_read(x, i, l, (u32 *)(void *)row);
	case USC_LOOKUP_UNIFORM:
		return exec_uniform_read(x, i, (u32 *)(void *)row);
	case USC_LOOKUP_SLOT:
		EACH(k)
			row[k] = splat(*slot_word(x, l));
		return true;
	case USC_LOOKUP_OUTPUT:
		read_output(x, l->offset, row);
		return true;
	case USC_LOOKUP_OUTPUTS:
		if (x->valid & ~lanes_within(index_row(x, l), l))
			break;
		exec_outputs_read_indexed(x, l, (u32 *)(void *)row);
		return true;
	case USC_LOOKUP_SCALED:
		scale_row(row, (const vu *)(const void *)(x->base[l->base] + l->offset));
		return true;
	case USC_LOOKUP_WORD:
		if (!fetch_words(x, l, (u32 *)(void *)row))
			break;
		return true;
	default:
		if (!fetch_rows(x, l, row))
			break;
		if (l->scaled)
			scale_row(row, row);
		return true;
	}
	index_fault(x, i, l->kind == USC_LOOKUP_WORD ?
			  1 : x->valid & ~lanes_within(index_row(x, l), l));
	return false;
}

/* Write vertex outputs by each lane's index, which is in the row of the destination. */
static const struct usc_insn *uvsw_indexed(struct exec *x, const struct usc_insn *i)
{
	const struct usc_lookup *l = exec_lookup(x, i, USC_DST);
	const vu *index = row_of(x, i, USC_DST);
	u32 within = lanes_within(index, l);
	vu off[VECS];

	if (x->valid & ~within)
		return index_fault(x, i, x->valid & ~within);
	EACH(k)
		off[k] = (index[k] << (VO_ROW_SHIFT + l->dim)) + lane_numbers(k) * 4;
	scatter((u8 *)(x->vo + i->value * USC_ROW_WORDS), off, 0, row_of(x, i, USC_SRC0), within);
	return exec_next(x, i);
}

/*
 * Write the first active lane's value to a slot register; without an active lane it is
 * unchanged.
 */
static void write_back_slot(struct exec *x, const struct usc_insn *i, const struct usc_lookup *l,
			    const vu *row)
{
	u32 lanes = x->valid;

	if (i->masked)
		lanes = active_lanes(x, i, i->lanes_known);
	if (lanes)
		*slot_word(x, l) = ((const u32 *)(const void *)row)[__builtin_ctz(lanes)];
}

static void write_back(struct exec *x, const struct usc_insn *i)
{
	const struct usc_lookup *l = exec_lookup(x, i, USC_DST);
	const vu *row = row_of(x, i, USC_DST);

	if (l->kind == USC_LOOKUP_SLOT)
		write_back_slot(x, i, l, row);
	else if (l->kind == USC_LOOKUP_OUTPUT)
		write_output(x, l->offset, row, written_lanes(x, i));
	else if (l->kind == USC_LOOKUP_WORD)
		*indexed_word(x, l) = *(const u32 *)(const void *)row;
	else if (l->kind == USC_LOOKUP_OUTPUTS)
		exec_outputs_write_indexed(x, l, (const u32 *)(const void *)row,
					   written_lanes(x, i));
	else if (l->kind == USC_LOOKUP_LANES)
		write_back_rows(x, l, row, written_lanes(x, i));
	else
		write_back_rows(x, l, row, UINT32_MAX);
}

/* Fill the scratch rows of sources. Returns false with x->exit set on a fault. */
static inline __attribute__((always_inline)) bool
fetch_each_source(struct exec *x, const struct usc_insn *i)
{
	for (enum usc_place place = USC_SRC0; place < USC_PLACES; place++) {
		if (i->values >> place & 1)
			write_value(x, i, place);
		else if ((i->lookups >> place & 1) && !fetch(x, i, place))
			return false;
	}
	return true;
}

/* The same, for late_store.c. */
static bool fetch_sources(struct exec *x, const struct usc_insn *i)
{
	return fetch_each_source(x, i);
}

static const struct usc_insn *run_lookups(struct exec *x, const struct usc_insn *i)
{
	const struct usc_insn *limit = x->limit, *next;

	if (!fetch_each_source(x, i))
		return i;
	if (!(i->lookups >> USC_DST & 1))
		return i->then(x, i);
	if (!fetch(x, i, USC_DST))
		return i;
	/* Run this instruction only, so that control returns here. */
	x->limit = i + 1;
	next = i->then(x, i);
	if (!x->limit)
		return next;
	x->limit = x->pause ? EXEC_PAUSE : limit;
	write_back(x, i);
	return (uintptr_t)next < (uintptr_t)x->limit ? next->run(x, next) : next;
}
