/* SPDX-License-Identifier: MIT */
/*
 * Graphics: vertex outputs, varyings, derivatives, pixel outputs.
 *
 * Source: document 003, "Vertex Output Registers", "Pixel Output Registers" and "Coefficient
 * Registers"; document 004, "UITR"; Documentation/precision.rst, "Varyings". Included by level_*.c
 * after memory.inc.h and float.inc.h.
 *
 * Limits: pixel outputs are fast if the wave's spans are adjacent in a tile of one sample per
 * pixel, as inside large primitives; else they go span by span, and with more samples lane by
 * lane (exec_gfx.c). Words of pixels that are not valid in this wave are not accessed: they
 * may belong to another wave.
 */

static const struct usc_insn *uvsw(struct exec *x, const struct usc_insn *i)
{
	copy_row_to((u8 *)(x->vo + i->value * USC_ROW_WORDS), row_of(x, i, USC_SRC0));
	return exec_next(x, i);
}

static const struct usc_insn *uvsw_indexed(struct exec *x, const struct usc_insn *i);

/* Subtract neighbouring lanes: in x those of a pair, in y those two apart. */
FAMILY
derivative(struct exec *x, const struct usc_insn *i, bool in_y)
{
	const vu *s = row_of(x, i, USC_SRC0);
	vu *d = row_of(x, i, USC_DST);

	EACH(k) {
		vu a = s[k], low, high;

#if VEC_BYTES == 64
		low = in_y ? (vu)_mm512_shuffle_epi32((__m512i)a, 0x44) :
			     (vu)_mm512_shuffle_epi32((__m512i)a, 0xa0);
		high = in_y ? (vu)_mm512_shuffle_epi32((__m512i)a, 0xee) :
			      (vu)_mm512_shuffle_epi32((__m512i)a, 0xf5);
#elif VEC_BYTES == 32
		low = in_y ? (vu)_mm256_shuffle_epi32((__m256i)a, 0x44) :
			     (vu)_mm256_shuffle_epi32((__m256i)a, 0xa0);
		high = in_y ? (vu)_mm256_shuffle_epi32((__m256i)a, 0xee) :
			      (vu)_mm256_shuffle_epi32((__m256i)a, 0xf5);
#else
		low = in_y ? (vu){ a[0], a[1], a[0], a[1] } : (vu){ a[0], a[0], a[2], a[2] };
		high = in_y ? (vu){ a[2], a[3], a[2], a[3] } : (vu){ a[1], a[1], a[3], a[3] };
#endif
		d[k] = f_result((vf)high - (vf)low);
	}
	return exec_next(x, i);
}

VARIANT(ddx, derivative(x, i, false))
VARIANT(ddy, derivative(x, i, true))

FAMILY
discard(struct exec *x, const struct usc_insn *i, bool known)
{
	u32 lanes;

	if (!x->gfx->discards)
		return exec_fault(x, i, PUMICE_FAULT_USC_STAGE);
	lanes = active_lanes(x, i, known);
	if (lanes)
		exec_drop(x, lanes);
	return exec_next(x, i);
}

MASKED(discard)

/*
 * Return the positions of all lanes, from the tile's corner; computed once per quantum of the wave.
 */
static const vf *positions(struct exec *x, bool centroid)
{
	float (*at)[USC_ROW_WORDS] = x->position[centroid];

	if (!(x->positions >> centroid & 1)) {
		usc_gfx_positions(x->gfx, x->span, x->spans, centroid, at[0], at[1]);
		for (u32 l = x->spans * USC_SPAN_LANES; l < PUMICE_LANES; l++) {
			at[0][l] = at[0][l % USC_SPAN_LANES];
			at[1][l] = at[1][l % USC_SPAN_LANES];
		}
		x->positions |= 1u << centroid;
	}
	return (const vf *)(const void *)at;
}

/* Return the number of coefficients of a primitive in a set. */
static inline u32 prim_coeffs(const struct exec *x, bool alternate)
{
	return alternate ? x->gfx->coeffs_alt : x->gfx->coeffs;
}

/* Return the bytes from the first primitive's coefficients of a set to those of each lane's. */
static const vu *prim_offsets(struct exec *x, bool alternate)
{
	u32 *offset = x->prim_offset[alternate];

	if (!(x->prims_known >> alternate & 1)) {
		for (u32 l = 0; l < PUMICE_LANES; l++) {
			u32 n = l / USC_SPAN_LANES;

			offset[l] = x->span[n < x->spans ? n : 0].prim * prim_coeffs(x,
										     alternate) * 4;
		}
		x->prims_known |= 1u << alternate;
	}
	return (const vu *)(const void *)offset;
}

/* Evaluate one plane, A, B, C at cf, at the positions: a row. */
static inline __attribute__((always_inline)) void
plane_one(const u32 *cf, const vf *at, vf *out)
{
	vf a = (vf)splat(cf[0]), b = (vf)splat(cf[1]), c = (vf)splat(cf[2]);

	EACH(k)
		out[k] = a * at[k] + b * at[VECS + k] + c;
}

static void plane_each(const u32 *cf, const vu *off, const vf *at, vf *out)
{
	vu a[VECS] = { 0 }, b[VECS] = { 0 }, c[VECS] = { 0 };

	gather(a, (const u8 *)cf, off, 0, UINT32_MAX);
	gather(b, (const u8 *)(cf + 1), off, 0, UINT32_MAX);
	gather(c, (const u8 *)(cf + 2), off, 0, UINT32_MAX);
	EACH(k)
		out[k] = (vf)a[k] * at[k] + (vf)b[k] * at[VECS + k] + (vf)c[k];
}

static void plane_rows(const vf *abc, const vf *at, vf *out)
{
	EACH(k)
		out[k] = abc[k] * at[k] + abc[VECS + k] * at[VECS + k] + abc[2 * VECS + k];
}

/* Planes of an operand of itr: of one primitive, of that of each lane, or indexed. */
struct planes {
	const u32 *cf;
	const vu *off;	/* bytes from cf to each lane's; NULL: all lanes have the same */
	bool rows;	/* each register is a row */
};

static inline __attribute__((always_inline)) struct planes
planes_of(struct exec *x, const struct usc_insn *i, enum usc_place place)
{
	const bool alternate = i->base[place] == USC_BASE_COEFFS_ALT;
	struct planes p = { .cf = exec_operand(x, i, place) };

	if (i->base[place] == USC_BASE_SCRATCH)
		p.rows = true;
	else if (!x->one_prim)
		p.off = prim_offsets(x, alternate);
	else if (x->spans)
		p.cf += x->span[0].prim * prim_coeffs(x, alternate);
	return p;
}

static inline __attribute__((always_inline)) void
plane_at(const struct planes *p, u32 plane, const vf *at, vf *out)
{
	if (p->rows)
		plane_rows((const vf *)(const void *)p->cf + plane * 3 * VECS, at, out);
	else if (p->off)
		plane_each(p->cf + plane * 3, p->off, at, out);
	else
		plane_one(p->cf + plane * 3, at, out);
}

FAMILY
iterate(struct exec *x, const struct usc_insn *i, bool perspective, bool centroid)
{
	const vf *at = positions(x, centroid);
	const struct planes planes = planes_of(x, i, USC_SRC0);
	vu *d = row_of(x, i, USC_DST);
	vf w[VECS], v[VECS];

	if (perspective) {
		const struct planes rw = planes_of(x, i, USC_SRC1);

		plane_at(&rw, 0, at, w);
	}
	for (u32 n = 0; n < i->words; n++, d += VECS) {
		plane_at(&planes, n, at, v);
		EACH(k) {
			if (perspective)
				v[k] /= w[k];
			d[k] = f_result(v[k]);
		}
	}
	return exec_next(x, i);
}

VARIANT(iterate_linear, iterate(x, i, false, false))
VARIANT(iterate_perspective, iterate(x, i, true, false))
VARIANT(iterate_linear_centroid, iterate(x, i, false, true))
VARIANT(iterate_perspective_centroid, iterate(x, i, true, true))

/* Store adjacent words whose bit is set; no other is written. */
static inline void store_some(u32 *p, const vu *s, u32 lanes)
{
#if VEC_BYTES == 32
	EACH(k)
		_mm256_maskstore_epi32((int *)p + k * VEC_LANES, (__m256i)vector_mask(lanes, k),
				       (__m256i)s[k]);
#elif VEC_BYTES == 64
	EACH(k)
		_mm512_mask_storeu_epi32(p + k * VEC_LANES, vector_mask(lanes, k), (__m512i)s[k]);
#else
	for (; lanes; lanes &= lanes - 1) {
		u32 l = (u32)__builtin_ctz(lanes);

		p[l] = ((const u32 *)(const void *)s)[l];
	}
#endif
}

typedef u32 span_words __attribute__((vector_size(16), may_alias, aligned(4)));

/* Return the words of an output register in a tile of one sample per pixel. */
static inline u32 *output_words(const struct exec *x, u32 number)
{
	return x->gfx->tile->outputs + number * x->gfx->tile->pixels;
}

static void write_output(struct exec *x, u32 number, const vu *row, u32 lanes)
{
	const u32 *from = (const u32 *)(const void *)row;
	u32 *out;

	if (!x->direct) {
		exec_outputs_write(x, number, from, lanes);
		return;
	}
	out = output_words(x, number);
	if (x->in_line && lanes == UINT32_MAX) {
		copy_row_to((u8 *)(out + x->span[0].quad * USC_SPAN_LANES), row);
	} else if (x->in_line) {
		store_some(out + x->span[0].quad * USC_SPAN_LANES, row, lanes);
	} else {
		for (u32 n = 0; lanes; n++, lanes >>= USC_SPAN_LANES) {
			u32 *to = out + x->span[n].quad * USC_SPAN_LANES;

			if ((lanes & 0xf) == 0xf)
				*(span_words *)to =
					*(const span_words *)(from + n * USC_SPAN_LANES);
			else
				for (u32 p = lanes & 0xf; p; p &= p - 1)
					to[__builtin_ctz(p)] = from[n * USC_SPAN_LANES +
								    (u32)__builtin_ctz(p)];
		}
	}
}

static void read_output(const struct exec *x, u32 number, vu *row)
{
	u32 *to = (u32 *)(void *)row, *out, lanes = x->valid;

	if (!x->direct) {
		exec_outputs_read(x, number, to);
		return;
	}
	out = output_words(x, number);
	if (x->in_line && lanes == UINT32_MAX) {
		copy_row_from(row, (const u8 *)(out + x->span[0].quad * USC_SPAN_LANES));
		return;
	}
	EACH(k)
		row[k] = splat(0);
	for (u32 n = 0; lanes; n++, lanes >>= USC_SPAN_LANES) {
		const u32 *from = out + x->span[n].quad * USC_SPAN_LANES;

		for (u32 p = lanes & 0xf; p; p &= p - 1)
			to[n * USC_SPAN_LANES + (u32)__builtin_ctz(p)] = from[__builtin_ctz(p)];
	}
}

/*
 * Return the lanes that the instruction writes: its mask may be of another kind, and some
 * instructions write few lanes.
 */
static u32 written_lanes(const struct exec *x, const struct usc_insn *i)
{
	if (i->op == PUMICE_USC_OP_REDUCE_PART)
		return x->valid & 0x01010101;
	if (!i->masked || i->op == PUMICE_USC_OP_SELECT)
		return x->valid;
	return active_lanes(x, i, i->lanes_known);
}

/* mov to an output, the most common way to write one. */
FAMILY
mov_output(struct exec *x, const struct usc_insn *i, bool word)
{
	u32 number = exec_lookup(x, i, USC_DST)->offset;
	u32 lanes = active_lanes(x, i, i->lanes_known);
	vu row[VECS];

	if (word) {
		EACH(k)
			row[k] = splat(*exec_operand(x, i, USC_SRC0));
		write_output(x, number, row, lanes);
	} else {
		write_output(x, number, row_of(x, i, USC_SRC0), lanes);
	}
	return exec_next(x, i);
}

VARIANT(mov_output_row, mov_output(x, i, false))
VARIANT(mov_output_word, mov_output(x, i, true))

/*
 * Find the function of an instruction whose only looked-up operand is an output as
 * destination.
 */
static usc_exec_fn *find_output(const struct usc_insn *insn)
{
	if (insn->op != PUMICE_USC_OP_MOV || insn->values || insn->lookups != 1u << USC_DST ||
	    insn->outputs != 1u << USC_DST)
		return NULL;
	return insn->scalars >> USC_SRC0 & 1 ? mov_output_word : mov_output_row;
}

static usc_exec_fn *gfx_find(const struct usc_insn *insn)
{
	static usc_exec_fn *const modes[PUMICE_USC_ITERATE_COUNT] = {
		[PUMICE_USC_ITERATE_LINEAR] = iterate_linear,
		[PUMICE_USC_ITERATE_PERSPECTIVE] = iterate_perspective,
		[PUMICE_USC_ITERATE_LINEAR_CENTROID] = iterate_linear_centroid,
		[PUMICE_USC_ITERATE_PERSPECTIVE_CENTROID] = iterate_perspective_centroid,
	};

	switch (insn->op) {
	case PUMICE_USC_OP_UVSW:
		return insn->base[USC_DST] == USC_BASE_OWN ? uvsw_indexed : uvsw;
	case PUMICE_USC_OP_ITR:
		return modes[insn->func];
	case PUMICE_USC_OP_DDX:
		return ddx;
	case PUMICE_USC_OP_DDY:
		return ddy;
	case PUMICE_USC_OP_DISCARD:
		return insn->lanes_known ? discard_known : discard_masked;
	default:
		return NULL;
	}
}
