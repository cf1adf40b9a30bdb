/* SPDX-License-Identifier: MIT */
/*
 * Functions of instructions from the arithmetic of one vector.
 *
 * Included by level_*.c after row.inc.h. An operation is written once, as an expression of
 * vectors a, b and c; its forms differ in the source of those: rows, one word for all lanes,
 * or (scalar form) only words.
 *
 * Limits: sources of one word are read before the destination is written, since they may be
 * element 0 of it.
 */

/* at is row_of, or reg_of if all rows are the wave's registers, which is faster. */
#define UNARY_AT(name, at, result)							\
	static const struct usc_insn *name(struct exec *x, const struct usc_insn *i)	\
	{										\
		const vu *s = at(x, i, USC_SRC0);					\
		vu *d = at(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k];							\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);							\
	}

#define BINARY_AT(name, at, result)							\
	static const struct usc_insn *name(struct exec *x, const struct usc_insn *i)	\
	{										\
		const vu *s = at(x, i, USC_SRC0), *t = at(x, i, USC_SRC1);		\
		vu *d = at(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k], b = t[k];						\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);							\
	}

#define BINARY_WORD_AT(name, at, result)						\
	static const struct usc_insn *name(struct exec *x, const struct usc_insn *i)	\
	{										\
		const vu *s = at(x, i, USC_SRC0);					\
		vu b = splat(*exec_operand(x, i, USC_SRC1));				\
		vu *d = at(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k];							\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);							\
	}

#define TERNARY_AT(name, word1, word2, at, result)					\
	static const struct usc_insn *name(struct exec *x, const struct usc_insn *i)	\
	{										\
		const vu *s = at(x, i, USC_SRC0);					\
		const vu *t = (word1 ? row_of : at)(x, i, USC_SRC1);			\
		const vu *u = (word2 ? row_of : at)(x, i, USC_SRC2);			\
		vu b1 = splat(*(const u32 *)(const void *)t);				\
		vu c1 = splat(*(const u32 *)(const void *)u);				\
		vu *d = at(x, i, USC_DST);						\
											\
		EACH(k) {								\
			vu a = s[k], b = word1 ? b1 : t[k], c = word2 ? c1 : u[k];	\
											\
			d[k] = (vu)(result);						\
		}									\
		return exec_next(x, i);							\
	}

#define UNARY(name, result)								\
	UNARY_AT(name##_row, row_of, result)						\
	UNARY_AT(name##_reg, reg_of, result)

#define BINARY(name, result)								\
	BINARY_AT(name##_row, row_of, result)						\
	BINARY_WORD_AT(name##_word, row_of, result)					\
	BINARY_AT(name##_reg, reg_of, result)						\
	BINARY_WORD_AT(name##_reg_word, reg_of, result)

#define TERNARY(name, result)								\
	TERNARY_AT(name##_row_row, false, false, row_of, result)			\
	TERNARY_AT(name##_word_row, true, false, row_of, result)			\
	TERNARY_AT(name##_row_word, false, true, row_of, result)			\
	TERNARY_AT(name##_word_word, true, true, row_of, result)			\
	TERNARY_AT(name##_reg_reg, false, false, reg_of, result)			\
	TERNARY_AT(name##_word_reg, true, false, reg_of, result)			\
	TERNARY_AT(name##_reg_word, false, true, reg_of, result)			\
	static const struct usc_insn *name##_one(struct exec *x, const struct usc_insn *i) \
	{										\
		vu a = splat(*exec_operand(x, i, USC_SRC0));				\
		vu b = splat(*exec_operand(x, i, USC_SRC1));				\
		vu c = splat(*exec_operand(x, i, USC_SRC2));				\
											\
		*exec_operand(x, i, USC_DST) = ((vu)(result))[0];			\
		return exec_next(x, i);							\
	}

/* Also with the scalar form, for operations that are not in exec_scalar.c. */
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
	/* By bit: 0 if source 1 is one word, 1 if source 2 is, 2 if all rows are registers. */
	usc_exec_fn *vector[8];
	usc_exec_fn *scalar;	/* NULL if exec_scalar.c implements it */
};

#define ALL_REGISTERS 4u

#define VECTOR_1(name) { name##_row, NULL, NULL, NULL, name##_reg, NULL, NULL, NULL }
#define VECTOR_2(name)									\
	{ name##_row, name##_word, NULL, NULL, name##_reg, name##_reg_word, NULL, NULL }
#define VECTOR_3(name)									\
	{ name##_row_row, name##_word_row, name##_row_word, name##_word_word,		\
	  name##_reg_reg, name##_word_reg, name##_reg_word, name##_word_word }

#define NO_FNS { { NULL }, NULL }
#define ROW(name) { VECTOR_1(name), NULL }
#define ROW_WORD(name) { VECTOR_2(name), NULL }
#define ROW_ONE(name) { VECTOR_1(name), name##_one }
#define ROW_WORD_ONE(name) { VECTOR_2(name), name##_one }
#define THREE(name) { VECTOR_3(name), name##_one }
