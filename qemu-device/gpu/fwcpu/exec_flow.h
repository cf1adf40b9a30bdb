/* SPDX-License-Identifier: MIT */
/*
 * Branches and jumps (unprivileged ISA 20191213, section 2.5). Part of
 * fwcpu_exec(), exec.c; no header of its own. With compressed instructions every
 * target is aligned (bit 0 cannot be set); a target outside RAM faults when
 * it is fetched.
 */
#define BRANCH_AS(name, length, condition)				\
op_##name: {								\
	uint32_t a = x[in->rs1];					\
	uint32_t b = x[in->rs2];					\
									\
	if (condition)							\
		JUMP(at + in->imm);					\
	NEXT(length);							\
}

#define BRANCH(name, condition)						\
	BRANCH_AS(name, 4, condition)

#define BRANCH_BOTH(name, condition)					\
	BRANCH_AS(name, 4, condition)					\
	BRANCH_AS(C_##name, 2, condition)

#define CALL(name, length)						\
op_##name:								\
	x[in->rd] = at * 2 + (length);					\
	JUMP(at + in->imm);

/* The target is read before the link is written: rd and rs1 may be the same. */
#define CALL_REGISTER(name, length)					\
op_##name: {								\
	uint32_t target = x[in->rs1] + in->imm;				\
									\
	x[in->rd] = at * 2 + (length);					\
	JUMP(target / 2);						\
}

	BRANCH_BOTH(BEQ, a == b)
	BRANCH_BOTH(BNE, a != b)
	BRANCH(BLT, (int32_t)a < (int32_t)b)
	BRANCH(BGE, (int32_t)a >= (int32_t)b)
	BRANCH(BLTU, a < b)
	BRANCH(BGEU, a >= b)

	CALL(JAL, 4)
	CALL(C_JAL, 2)
	CALL_REGISTER(JALR, 4)
	CALL_REGISTER(C_JALR, 2)

#undef BRANCH
#undef BRANCH_AS
#undef BRANCH_BOTH
#undef CALL
#undef CALL_REGISTER
