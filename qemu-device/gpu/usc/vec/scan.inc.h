/* SPDX-License-Identifier: MIT */
/*
 * Scans over the lanes.
 *
 * Source: hw/isa.xml, "Reductions", which gives the order of operations. Included by
 * level_*.c after the arithmetic of one vector.
 */

/* Shift the row up by by lanes. */
static __attribute__((noinline)) void lower_lanes(vu *d, const vu *s, u32 by)
{
	vu idx[VECS];

	EACH(k)
		idx[k] = lane_numbers(k) - by;
	permute(d, (const vu_any *)s, idx);
}

/* Load the row; invalid lanes become the identity. */
static inline void scan_begin(const struct exec *x, const struct usc_insn *i, vu *r, u32 identity)
{
	const vu *s = row_of(x, i, USC_SRC0);

	EACH(k)
		r[k] = vm_select(vector_mask(x->valid, k), s[k], splat(identity));
}

static inline const struct usc_insn *scan_end(struct exec *x, const struct usc_insn *i, vu *r,
					      u32 identity)
{
	vu *d = row_of(x, i, USC_DST);

	if (i->op == PUMICE_USC_OP_SCAN_EXCL) {
		lower_lanes(r, r, 1);
		r[0] = vm_select(vector_mask(1, 0), splat(identity), r[0]);
	}
	EACH(k)
		d[k] = r[k];
	return exec_next(x, i);
}

#define SCAN(name, identity, result)							\
	static const struct usc_insn *name(struct exec *x, const struct usc_insn *i)	\
	{										\
		vu r[VECS], lower[VECS];						\
											\
		scan_begin(x, i, r, identity);						\
		for (u32 by = 1; by < PUMICE_LANES; by *= 2) {				\
			lower_lanes(lower, r, by);					\
			EACH(k) {							\
				vu a = lower[k], b = r[k];				\
				vm takes = vector_mask(UINT32_MAX << by, k);		\
											\
				r[k] = vm_select(takes, (vu)(result), b);			\
			}								\
		}									\
		return scan_end(x, i, r, identity);					\
	}

SCAN(scan_add_int, 0, a + b)
SCAN(scan_add_f32, F_SIGN, f_add(a, b))
SCAN(scan_min_uint, UINT32_MAX, u_min(a, b))
SCAN(scan_min_int, INT32_MAX, s_min(a, b))
SCAN(scan_min_f32, USC_F32_NAN, f_min(a, b))
SCAN(scan_max_uint, 0, u_max(a, b))
SCAN(scan_max_int, F_SIGN, s_max(a, b))
SCAN(scan_max_f32, USC_F32_NAN, f_max(a, b))
SCAN(scan_and, UINT32_MAX, a & b)
SCAN(scan_or, 0, a | b)
SCAN(scan_xor, 0, a ^ b)

static usc_exec_fn *scan_find(const struct usc_insn *insn)
{
	/* By type: u32, i32, f32. */
	static usc_exec_fn *const scans[PUMICE_USC_REDUCE_COUNT][PUMICE_USC_TYPE_COUNT] = {
		[PUMICE_USC_REDUCE_ADD] = { scan_add_int, scan_add_int, scan_add_f32 },
		[PUMICE_USC_REDUCE_MIN] = { scan_min_uint, scan_min_int, scan_min_f32 },
		[PUMICE_USC_REDUCE_MAX] = { scan_max_uint, scan_max_int, scan_max_f32 },
		[PUMICE_USC_REDUCE_AND] = { scan_and },
		[PUMICE_USC_REDUCE_OR] = { scan_or },
		[PUMICE_USC_REDUCE_XOR] = { scan_xor },
	};

	if (insn->op != PUMICE_USC_OP_SCAN && insn->op != PUMICE_USC_OP_SCAN_EXCL)
		return NULL;
	return scans[insn->func][insn->type];
}

static usc_exec_fn *arithmetic_find(const struct usc_insn *insn)
{
	usc_exec_fn *fn = scan_find(insn);

	return fn ? fn : alu_find(insn);
}
