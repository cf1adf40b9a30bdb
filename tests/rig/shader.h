/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Small USC programs for the guest's tests, written with the generated pack
 * functions: neither assembler nor library is needed, and invalid encodings
 * can be written, too.
 *
 * Launch convention (see fixture.h): shared registers contain the launch's parameters,
 * v0 is the instance's global number in x.
 */
#ifndef FX_SHADER_H
#define FX_SHADER_H

#include "pumice_isa.h"
#include "pumice_types.h"

#define SHADER_MAX_INSNS	32
#define SHADER_TEMPS		8

/** struct shader - a program that is being written */
struct shader {
	u32 words[SHADER_MAX_INSNS * 4];
	u32 insns;
};

/* Operands. */
u32 reg_r(u32 number);
u32 reg_v(u32 number);
u32 reg_sh(u32 number);
u32 reg_vo(u32 number);
u32 reg_o(u32 number);
u32 immediate(void);

/** mask_all - the mask that is true in all lanes. */
u16 mask_all(void);

/** mask_register - the mask in temporary register @number, below 16. */
u16 mask_register(u32 number);

/** emit - add an instruction. */
void emit(struct shader *shader, struct pumice_usc_insn insn);

/** emit_raw - add four words without changes. */
void emit_raw(struct shader *shader, const u32 *words);

void emit_end(struct shader *shader);

/** emit_store - sh0:sh1 is an address: memory[sh0 + 4 * v0 + displacement] = rN. */
void emit_store(struct shader *shader, u32 value_reg, u16 displacement);

/** shader_store - memory[sh0:sh1 + 4 * v0] = sh2 + v0. */
struct shader shader_store(void);

/** shader_store_one - memory[sh0:sh1] = sh2, written by every instance. sh3 must be 0. */
struct shader shader_store_one(void);

/** shader_copy - memory[sh0:sh1 + 4 * v0] = memory[sh2:sh3 + 4 * v0] + sh4. */
struct shader shader_copy(void);

/** shader_loop - memory[sh0:sh1 + 4 * v0] = sh2, then never ends. */
struct shader shader_loop(void);

/** shader_spin - never ends, and does nothing; of any stage. */
struct shader shader_spin(void);

/** shader_store_loop - memory[sh0:sh1 + 4 * v0] = sh2, repeatedly. */
struct shader shader_store_loop(void);

/** shader_end - ends at once. */
struct shader shader_end(void);

/** shader_vertex - v0 to v3 are the position, v4 to v6 three varyings. */
struct shader shader_vertex(void);

/** shader_fragment - v0 to v2 are the colour; alpha is one. */
struct shader shader_fragment(void);

/** shader_tile - end of tile: the PBE state is in sh0 and up. */
struct shader shader_tile(void);

#endif
