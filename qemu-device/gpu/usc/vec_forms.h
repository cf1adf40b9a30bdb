/* SPDX-License-Identifier: MIT */
/*
 * From the arithmetic of one vector to the functions of an instruction.
 *
 * Included by level_*.c behind vec.h. An operation is written once, as an
 * expression of vectors a, b and c; its forms differ in where those come from:
 * rows, one word for all lanes, or (scalar form) words alone.
 *
 * Limits: sources of one word are read before the destination is written, since
 * they may be element 0 of it.
 */

#define UNARY(name, result)								\
	static const struct usc_insn *name##_row(struct exec *x, const struct usc_insn *i) \
	{										\
		const vu *s = row_of(x, i, USC_SRC0);					\
		vu *d = row_of(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k];							\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);							\
	}

#define BINARY_OF_ROWS(name, result)							\
	static const struct usc_insn *name##_row(struct exec *x, const struct usc_insn *i) \
	{										\
		const vu *s = row_of(x, i, USC_SRC0), *t = row_of(x, i, USC_SRC1);	\
		vu *d = row_of(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k], b = t[k];						\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);							\
	}

#define BINARY(name, result)								\
	BINARY_OF_ROWS(name, result)							\
	static const struct usc_insn *name##_word(struct exec *x, const struct usc_insn *i) \
	{										\
		const vu *s = row_of(x, i, USC_SRC0);					\
		vu b = splat(*exec_operand(x, i, USC_SRC1));				\
		vu *d = row_of(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k];							\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);							\
	}

#define TERNARY_OF(name, word1, word2, result)						\
	static const struct usc_insn *name(struct exec *x, const struct usc_insn *i)	\
	{										\
		const vu *s = row_of(x, i, USC_SRC0), *t = row_of(x, i, USC_SRC1);	\
		const vu *u = row_of(x, i, USC_SRC2);					\
		vu b1 = splat(*(const u32 *)(const void *)t);				\
		vu c1 = splat(*(const u32 *)(const void *)u);				\
		vu *d = row_of(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k], b = word1 ? b1 : t[k], c = word2 ? c1 : u[k];	\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);							\
	}

#define TERNARY(name, result)								\
	TERNARY_OF(name##_row_row, false, false, result)				\
	TERNARY_OF(name##_word_row, true, false, result)				\
	TERNARY_OF(name##_row_word, false, true, result)				\
	TERNARY_OF(name##_word_word, true, true, result)				\
	static const struct usc_insn *name##_one(struct exec *x, const struct usc_insn *i) \
	{										\
		vu a = splat(*exec_operand(x, i, USC_SRC0));				\
		vu b = splat(*exec_operand(x, i, USC_SRC1));				\
		vu c = splat(*exec_operand(x, i, USC_SRC2));				\
											\
		*exec_operand(x, i, USC_DST) = ((vu)(result))[0];			\
		return exec_next(x, i);							\
	}

/* With the scalar form too, for operations that exec_scalar.c does not have. */
#define UNARY_BOTH(name, result)							\
	UNARY(name, result)								\
	static const struct usc_insn *name##_one(struct exec *x, const struct usc_insn *i) \
	{										\
		vu a = splat(*exec_operand(x, i, USC_SRC0));				\
											\
		*exec_operand(x, i, USC_DST) = ((vu)(result))[0];			\
		return exec_next(x, i);							\
	}

#define BINARY_BOTH(name, result)							\
	BINARY(name, result)								\
	static const struct usc_insn *name##_one(struct exec *x, const struct usc_insn *i) \
	{										\
		vu a = splat(*exec_operand(x, i, USC_SRC0));				\
		vu b = splat(*exec_operand(x, i, USC_SRC1));				\
											\
		*exec_operand(x, i, USC_DST) = ((vu)(result))[0];			\
		return exec_next(x, i);							\
	}

/* The functions of one operation on one type. */
struct alu_fns {
	usc_exec_fn *vector[4];	/* by bit: 0 if source 1 is one word, 1 if source 2 is */
	usc_exec_fn *scalar;	/* NULL where exec_scalar.c has it */
};

#define NO_FNS { { NULL }, NULL }
#define ROW(name) { { name##_row }, NULL }
#define ROW_WORD(name) { { name##_row, name##_word }, NULL }
#define ROW_ONE(name) { { name##_row }, name##_one }
#define ROW_WORD_ONE(name) { { name##_row, name##_word }, name##_one }
#define THREE(name)									\
	{ { name##_row_row, name##_word_row, name##_row_word, name##_word_word }, name##_one }
