/* SPDX-License-Identifier: MIT */
/*
 * Pairs of instructions that inner loops are made of, run by one function.
 *
 * Included by level_*.c behind the others. The second instruction stays what it
 * is: it may be a branch target, and a slice may end in front of it.
 *
 * Limits: the results, the faults and the count of instructions are those of the
 * two one after the other; in particular a product is rounded before it is added.
 */

static inline bool goes_on(const struct exec *x, const struct usc_insn *next)
{
	return (uintptr_t)next < (uintptr_t)x->limit;
}

static const struct usc_insn *local_load_twice(struct exec *x, const struct usc_insn *i)
{
	u32 active = active_lanes(x, i, true);

	if (active && !local_load_near(x, i, active))
		return local_load_any(x, i, active);
	i++;
	return goes_on(x, i) ? local_load(x, i, true) : i;
}

/* The sum's other source is addend. */
FAMILY
mul_add(struct exec *x, const struct usc_insn *i, enum usc_place addend)
{
	const struct usc_insn *add = i + 1;
	const vu *s = row_of(x, i, USC_SRC0), *t = row_of(x, i, USC_SRC1);
	const vu *other = row_of(x, add, addend);
	vu *product = row_of(x, i, USC_DST), *sum = row_of(x, add, USC_DST);

	if (!goes_on(x, add))
		return mul_f32_row(x, i);
	EACH(k) {
		vu p = f_mul(s[k], t[k]), a = other[k];

		product[k] = p;
		sum[k] = f_add(p, a);
	}
	return exec_next(x, add);
}

VARIANT(mul_add_0, mul_add(x, i, USC_SRC0))
VARIANT(mul_add_1, mul_add(x, i, USC_SRC1))

static bool same_row(const struct usc_insn *a, enum usc_place pa, const struct usc_insn *b,
		     enum usc_place pb)
{
	return a->base[pa] == b->base[pb] && a->offset[pa] == b->offset[pb] &&
	       !((b->scalars | b->values) >> pb & 1);
}

static bool is_vector_f32(const struct usc_insn *insn, enum pumice_usc_op op)
{
	return insn->op == op && insn->type == PUMICE_USC_TYPE_F32 &&
	       insn->form == PUMICE_USC_FORM_VECTOR && !insn->values && !insn->scalars;
}

static usc_exec_fn *find_pair(const struct usc_insn *insn)
{
	const struct usc_insn *next = insn + 1;

	if (insn->lookups || next->lookups)
		return NULL;
	if (insn->op == PUMICE_USC_OP_LOCAL_LOAD32 && next->op == insn->op && insn->lanes_known &&
	    next->lanes_known)
		return local_load_twice;
	if (is_vector_f32(insn, PUMICE_USC_OP_MUL) && is_vector_f32(next, PUMICE_USC_OP_ADD)) {
		bool first = same_row(insn, USC_DST, next, USC_SRC0);
		bool second = same_row(insn, USC_DST, next, USC_SRC1);

		if (first != second)
			return first ? mul_add_1 : mul_add_0;
	}
	return NULL;
}
