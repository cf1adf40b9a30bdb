/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores (unprivileged ISA 20191213, section 2.6). Part of fwcpu_exec(), exec.c; no
 * header of its own. Accesses to RAM are done here, at any alignment; others in mem.c.
 *
 * A store may hit decoded code, whose records are then dropped. A store outside RAM may
 * change the interrupt lines, so it ends the current run and they are polled. So does a store
 * that must be executed again, without retiring it.
 */
#define LOAD(name, length, size, get, type)				\
op_##name: {								\
	uint32_t addr = x[in->rs1] + in->imm;				\
	uint32_t val;							\
									\
	if (fwcpu_likely(addr <= ram_size - (size)))			\
		val = get(ram + addr);					\
	else if (!fwcpu_load_outside(cpu, addr, size, &val))		\
		goto fault;						\
	x[in->rd] = (uint32_t)(type)val;				\
	NEXT(length);							\
}

#define STORE(name, length, size, put)					\
op_##name: {								\
	uint32_t addr = x[in->rs1] + in->imm;				\
									\
	if (fwcpu_likely(addr <= ram_size - (size))) {			\
		put(ram + addr, x[in->rs2]);				\
		if (fwcpu_unlikely(code_map[addr >> FWCPU_GRANULE_SHIFT])) \
			fwcpu_code_written(cpu, addr, size);		\
		NEXT(length);						\
	}								\
	if (!fwcpu_store_outside(cpu, addr, size, x[in->rs2]))		\
		goto fault;						\
	if (fwcpu_unlikely(cpu->retry))					\
		goto done;						\
	at += (length) / 2;						\
	left--;								\
	goto done;							\
}

#define GET8(p)		(*(p))
#define PUT8(p, val)	(*(p) = (uint8_t)(val))

	LOAD(LB, 4, 1, GET8, int8_t)
	LOAD(LBU, 4, 1, GET8, uint8_t)
	LOAD(LH, 4, 2, fwcpu_get16, int16_t)
	LOAD(LHU, 4, 2, fwcpu_get16, uint16_t)
	LOAD(LW, 4, 4, fwcpu_get32, uint32_t)
	LOAD(C_LW, 2, 4, fwcpu_get32, uint32_t)

	STORE(SB, 4, 1, PUT8)
	STORE(SH, 4, 2, fwcpu_put16)
	STORE(SW, 4, 4, fwcpu_put32)
	STORE(C_SW, 2, 4, fwcpu_put32)

fault:
	RAISE(cpu->fault_cause, cpu->fault_tval);

#undef LOAD
#undef STORE
#undef GET8
#undef PUT8
