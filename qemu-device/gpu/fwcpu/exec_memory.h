/* SPDX-License-Identifier: MIT */
/*
 * Loads and stores (unprivileged ISA 20191213, section 2.6). Part of
 * fwcpu_exec(), exec.c; no header of its own. RAM is served here, at any
 * alignment; everything else in mem.c.
 *
 * A store may hit decoded code, which is then forgotten. A store outside RAM
 * may have changed the interrupt lines, so it ends the stretch and they are
 * looked at. So does a store that is to be executed again, with nothing retired.
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
		goto leave;						\
	at += (length) / 2;						\
	left--;								\
	goto leave;							\
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
