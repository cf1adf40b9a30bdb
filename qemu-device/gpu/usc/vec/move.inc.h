/* SPDX-License-Identifier: MIT */
/*
 * Data movement between lanes, under masks, and conditions over all lanes.
 *
 * Source: document 002, "Data Movement", "Control flow" and operand [M]. Included by
 * level_*.c after row.inc.h.
 *
 * Limits: a source that is one word is read before the destination is written, since it may
 * be element 0 of that destination.
 */

/* A source: a row, or one word for all lanes. */
struct source {
	const vu *row;
	vu word;
};

static inline struct source source_of(const struct exec *x, const struct usc_insn *i,
				      enum usc_place place, bool is_word)
{
	struct source s = { .row = row_of(x, i, place) };

	if (is_word)
		s.word = splat(*exec_operand(x, i, place));
	return s;
}

static inline vu lanes_of(const struct source *s, bool is_word, unsigned int k)
{
	return is_word ? s->word : s->row[k];
}

FAMILY
mov_lanes(struct exec *x, const struct usc_insn *i, bool masked,
					       bool word)
{
	const struct usc_mask *mask = exec_mask(x, i, USC_MASK_OF_LANES);
	struct source s = source_of(x, i, USC_SRC0, word);
	vu *d = row_of(x, i, USC_DST);

	EACH(k) {
		vu a = lanes_of(&s, word, k);

		d[k] = masked ? vm_select(mask_vector(x, mask, k), a, d[k]) : a;
	}
	return exec_next(x, i);
}

FAMILY
select_lanes(struct exec *x, const struct usc_insn *i,
						  bool word0, bool word1)
{
	const struct usc_mask *mask = exec_mask(x, i, USC_MASK_OF_LANES);
	struct source s = source_of(x, i, USC_SRC0, word0);
	struct source t = source_of(x, i, USC_SRC1, word1);
	vu *d = row_of(x, i, USC_DST);

	EACH(k)
		d[k] = vm_select(mask_vector(x, mask, k), lanes_of(&t, word1, k),
			       lanes_of(&s, word0, k));
	return exec_next(x, i);
}

VARIANT(mov_all_row, mov_lanes(x, i, false, false))
VARIANT(mov_all_word, mov_lanes(x, i, false, true))
VARIANT(mov_mask_row, mov_lanes(x, i, true, false))
VARIANT(mov_mask_word, mov_lanes(x, i, true, true))
VARIANT(select_row_row, select_lanes(x, i, false, false))
VARIANT(select_row_word, select_lanes(x, i, false, true))
VARIANT(select_word_row, select_lanes(x, i, true, false))
VARIANT(select_word_word, select_lanes(x, i, true, true))

FAMILY
first_where_true(struct exec *x, const struct usc_insn *i, bool known)
{
	u32 lanes = active_lanes(x, i, known);
	const u32 *src = exec_operand(x, i, USC_SRC0);

	if (lanes) {
		bool word = i->scalars >> USC_SRC0 & 1;

		*exec_operand(x, i, USC_DST) = src[word ? 0 : __builtin_ctz(lanes)];
	}
	return exec_next(x, i);
}

FAMILY
ballot(struct exec *x, const struct usc_insn *i, bool known)
{
	*exec_operand(x, i, USC_DST) = active_lanes(x, i, known);
	return exec_next(x, i);
}

static const struct usc_insn *shuffle_row(struct exec *x, const struct usc_insn *i)
{
	permute(row_of(x, i, USC_DST), (const vu_any *)row_of(x, i, USC_SRC0),
		row_of(x, i, USC_SRC1));
	return exec_next(x, i);
}

/* All lanes read the same source lane. */
static inline vu shuffled_word(struct exec *x, const struct usc_insn *i)
{
	u32 lane = *exec_operand(x, i, USC_SRC1) % PUMICE_LANES;

	return splat(exec_operand(x, i, USC_SRC0)[lane]);
}

static const struct usc_insn *shuffle_word(struct exec *x, const struct usc_insn *i)
{
	vu a = shuffled_word(x, i);
	vu *d = row_of(x, i, USC_DST);

	EACH(k)
		d[k] = a;
	return exec_next(x, i);
}

static const struct usc_insn *rotate(struct exec *x, const struct usc_insn *i)
{
	u32 by = *exec_operand(x, i, USC_SRC1);
	vu idx[VECS];

	EACH(k)
		idx[k] = lane_numbers(k) + by;
	permute(row_of(x, i, USC_DST), (const vu_any *)row_of(x, i, USC_SRC0), idx);
	return exec_next(x, i);
}

static const struct usc_insn *butterfly(struct exec *x, const struct usc_insn *i)
{
	u32 by = *exec_operand(x, i, USC_SRC1);
	vu idx[VECS];

	EACH(k)
		idx[k] = lane_numbers(k) ^ by;
	permute(row_of(x, i, USC_DST), (const vu_any *)row_of(x, i, USC_SRC0), idx);
	return exec_next(x, i);
}

FAMILY
br_all(struct exec *x, const struct usc_insn *i, bool known)
{
	return active_lanes(x, i, known) != x->valid ? exec_next(x, i) : exec_jump(x, i, i->value);
}

FAMILY
br_any(struct exec *x, const struct usc_insn *i, bool known)
{
	return active_lanes(x, i, known) ? exec_jump(x, i, i->value) : exec_next(x, i);
}

MASKED(first_where_true)
MASKED(ballot)
MASKED(br_all)
MASKED(br_any)

/* Operands that are masks: expand them to rows of 0 and 1, then run the instruction. */
static inline void write_value(struct exec *x, const struct usc_insn *i, enum usc_place place)
{
	const struct usc_mask *mask = exec_mask(x, i, USC_MASK_OF(place));
	vu *d = row_of(x, i, place);

	EACH(k)
		d[k] = vm_select(mask_vector(x, mask, k), splat(1), splat(0));
}

static const struct usc_insn *run_values(struct exec *x, const struct usc_insn *i)
{
	for (enum usc_place place = USC_SRC0; place < USC_PLACES; place++) {
		if (i->values >> place & 1)
			write_value(x, i, place);
	}
	return i->then(x, i);
}

static usc_exec_fn *move_find(const struct usc_insn *insn)
{
	static usc_exec_fn *const movs[2][2] = { { mov_mask_row, mov_mask_word },
						 { mov_all_row, mov_all_word } };
	static usc_exec_fn *const selects[2][2] = { { select_row_row, select_row_word },
						    { select_word_row, select_word_word } };
	bool word0 = insn->scalars >> USC_SRC0 & 1, word1 = insn->scalars >> USC_SRC1 & 1;

	switch (insn->op) {
	case PUMICE_USC_OP_MOV:
		return movs[insn->lanes_known && insn->lanes == UINT32_MAX][word0];
	case PUMICE_USC_OP_SELECT:
		return selects[word0][word1];
	case PUMICE_USC_OP_FIRST_WHERE_TRUE:
		return insn->lanes_known ? first_where_true_known : first_where_true_masked;
	case PUMICE_USC_OP_BALLOT:
		return insn->lanes_known ? ballot_known : ballot_masked;
	case PUMICE_USC_OP_SHUFFLE:
		return word1 ? shuffle_word : shuffle_row;
	case PUMICE_USC_OP_ROTATE:
		return rotate;
	case PUMICE_USC_OP_BUTTERFLY:
		return butterfly;
	case PUMICE_USC_OP_BR_ALL:
		return insn->lanes_known ? br_all_known : br_all_masked;
	case PUMICE_USC_OP_BR_ANY:
		return insn->lanes_known ? br_any_known : br_any_masked;
	default:
		return NULL;
	}
}
