/* SPDX-License-Identifier: MIT */
/*
 * Pairs of instructions that are common in inner loops, run by one function.
 *
 * Included by level_*.c after the others. The second instruction is unchanged: it may be a
 * branch target, and a slice may end before it.
 *
 * Limits: results, faults and the count of instructions equal those of separate execution; in
 * particular a product is rounded before it is added.
 */

static inline bool continues(const struct exec *x, const struct usc_insn *next)
{
	return (uintptr_t)next < (uintptr_t)x->limit;
}

static const struct usc_insn *local_load_twice(struct exec *x, const struct usc_insn *i)
{
	u32 active = active_lanes(x, i, true);

	if (active && !local_load_near(x, i, active, 1))
		return local_load_any(x, i, active);
	i++;
	return continues(x, i) ? local_load(x, i, true) : i;
}

/* Run all consecutive loads with the same offsets: their words are located once. */
static const struct usc_insn *local_load_chain(struct exec *x, const struct usc_insn *i)
{
	const vu *off = row_of(x, i, USC_SRC0);
	u32 active = active_lanes(x, i, true), first;
	bool more = true;
	vu idx[VECS];

	if (!active)
		return exec_next(x, i);
	first = ((const u32 *)(const void *)off)[first_lane(active)];
	if (!near_words(off, first, active, idx))
		return local_load_any(x, i, active);
	for (; more; i++) {
		u64 at = (u64)first + i->value;

		if (!near_in_local(x, at, idx, 1))
			return local_load_any(x, i, active);
		load_near_word(x, at, idx, active, row_of(x, i, USC_DST));
		more = i->run == local_load_chain && continues(x, i + 1);
	}
	return exec_next(x, i - 1);
}

/* The sum's other source is addend. */
FAMILY
mul_add(struct exec *x, const struct usc_insn *i, enum usc_place addend)
{
	const struct usc_insn *add = i + 1;
	const vu *s = row_of(x, i, USC_SRC0), *t = row_of(x, i, USC_SRC1);
	const vu *other = row_of(x, add, addend);
	vu *product = row_of(x, i, USC_DST), *sum = row_of(x, add, USC_DST);

	if (!continues(x, add))
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

static inline void fma_regs(struct exec *x, const struct usc_insn *i)
{
	const vu *s = reg_of(x, i, USC_SRC0), *t = reg_of(x, i, USC_SRC1);
	const vu *u = reg_of(x, i, USC_SRC2);
	vu *d = reg_of(x, i, USC_DST);

	EACH(k)
		d[k] = f_fma(s[k], t[k], u[k]);
}

/* Sums of products, many of which are consecutive in inner loops. */
static const struct usc_insn *fma_twice(struct exec *x, const struct usc_insn *i)
{
	fma_regs(x, i);
	i++;
	if (!continues(x, i))
		return i;
	fma_regs(x, i);
	return exec_next(x, i);
}

/*
 * Sum all consecutive products of one register: the sum stays in the host's registers, and
 * becomes the canonical NaN at the end if it is one.
 */
static const struct usc_insn *fma_chain(struct exec *x, const struct usc_insn *i)
{
	const vu *u = reg_of(x, i, USC_SRC2);
	vu *d = reg_of(x, i, USC_DST);
	bool more = true;
	vf sum[VECS];

	EACH(k)
		sum[k] = (vf)u[k];
	for (; more; i++) {
		const vu *s = reg_of(x, i, USC_SRC0), *t = reg_of(x, i, USC_SRC1);

		EACH(k)
			sum[k] = f_fma_any_nan(s[k], t[k], (vu)sum[k]);
		more = i->run == fma_chain && continues(x, i + 1);
	}
	EACH(k)
		d[k] = f_result(sum[k]);
	return exec_next(x, i - 1);
}

/* Run one whose first factor is a in all lanes. */
static inline void fma_of_word(struct exec *x, const struct usc_insn *i, vu a)
{
	const vu *t = reg_of(x, i, USC_SRC1), *u = reg_of(x, i, USC_SRC2);
	vu *d = reg_of(x, i, USC_DST);

	EACH(k)
		d[k] = f_fma(a, t[k], u[k]);
}

/*
 * Broadcast one lane's value and compute two products with it, without reading it back from
 * memory.
 */
static const struct usc_insn *shuffle_fma_twice(struct exec *x, const struct usc_insn *i)
{
	vu a = shuffled_word(x, i);
	vu *d = row_of(x, i, USC_DST);

	EACH(k)
		d[k] = a;
	i++;
	if (!continues(x, i))
		return i;
	fma_of_word(x, i, a);
	i++;
	if (!continues(x, i))
		return i;
	fma_of_word(x, i, a);
	return exec_next(x, i);
}

static bool same_row(const struct usc_insn *a, enum usc_place pa, const struct usc_insn *b,
		     enum usc_place pb)
{
	return a->base[pa] == b->base[pb] && a->offset[pa] == b->offset[pb] &&
	       !((b->scalars | b->values) >> pb & 1);
}

/* Return whether two loads have equal offsets in the same lanes that the first leaves as is. */
static bool is_load_chain(const struct usc_insn *insn)
{
	const struct usc_insn *next = insn + 1;

	return insn->lanes == next->lanes && same_row(insn, USC_SRC0, next, USC_SRC0) &&
	       !same_row(insn, USC_DST, next, USC_SRC0);
}

static bool is_vector_f32(const struct usc_insn *insn, enum pumice_usc_op op)
{
	return insn->op == op && insn->type == PUMICE_USC_TYPE_F32 &&
	       insn->form == PUMICE_USC_FORM_VECTOR && !insn->values && !insn->lookups &&
	       !insn->scalars;
}

static bool is_fma_of_registers(const struct usc_insn *insn)
{
	return is_vector_f32(insn, PUMICE_USC_OP_FMA) && insn->base[USC_DST] == USC_BASE_REG &&
	       insn->base[USC_SRC0] == USC_BASE_REG && insn->base[USC_SRC1] == USC_BASE_REG &&
	       insn->base[USC_SRC2] == USC_BASE_REG;
}

/* insn[insns] is not an fma, so the next instruction can always be read. */
static bool is_fma_twice(const struct usc_insn *insn)
{
	return is_fma_of_registers(insn) && is_fma_of_registers(insn + 1);
}

/* Return whether the next one adds to this one's sum, and does not use it otherwise. */
static bool is_fma_chain(const struct usc_insn *insn)
{
	const struct usc_insn *next = insn + 1;

	return is_fma_twice(insn) && same_row(insn, USC_DST, next, USC_DST) &&
	       same_row(insn, USC_DST, next, USC_SRC2) &&
	       !same_row(insn, USC_DST, next, USC_SRC0) && !same_row(insn, USC_DST, next, USC_SRC1);
}

/* Return whether the result of insn is the first factor, and is not overwritten. */
static bool is_fma_of(const struct usc_insn *insn, const struct usc_insn *fma)
{
	return is_fma_of_registers(fma) && same_row(insn, USC_DST, fma, USC_SRC0) &&
	       !same_row(insn, USC_DST, fma, USC_SRC1) &&
	       !same_row(insn, USC_DST, fma, USC_SRC2) && !same_row(insn, USC_DST, fma, USC_DST);
}

static usc_exec_fn *find_pair(const struct usc_insn *insn)
{
	const struct usc_insn *next = insn + 1;

	if (insn->lookups || next->lookups)
		return NULL;
	if (insn->op == PUMICE_USC_OP_LOCAL_LOAD32 && next->op == insn->op && insn->lanes_known &&
	    next->lanes_known)
		return is_load_chain(insn) ? local_load_chain : local_load_twice;
	if (insn->op == PUMICE_USC_OP_SHUFFLE && insn->scalars == 1u << USC_SRC1 && !insn->values &&
	    is_fma_of(insn, next) && is_fma_of(insn, next + 1))
		return shuffle_fma_twice;
	if (is_fma_chain(insn))
		return fma_chain;
	if (is_fma_twice(insn))
		return fma_twice;
	if (is_vector_f32(insn, PUMICE_USC_OP_MUL) && is_vector_f32(next, PUMICE_USC_OP_ADD)) {
		bool first = same_row(insn, USC_DST, next, USC_SRC0);
		bool second = same_row(insn, USC_DST, next, USC_SRC1);

		if (first != second)
			return first ? mul_add_1 : mul_add_0;
	}
	return NULL;
}
