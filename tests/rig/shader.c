// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Small USC programs. See shader.h. */
#include "shader.h"

#include <string.h>

#include "check.h"
#include "pumice_formats.h"
#include "pumice_regs.h"

static u32 operand(enum pumice_usc_bank bank, u32 number)
{
	const struct pumice_usc_operand fields = { .bank = (u8)bank, .num = (u16)number };
	u32 word;

	pumice_usc_operand_pack(&word, &fields);
	return word;
}

u32 reg_r(u32 number)
{
	return operand(PUMICE_USC_BANK_R, number);
}

u32 reg_v(u32 number)
{
	return operand(PUMICE_USC_BANK_V, number);
}

u32 reg_sh(u32 number)
{
	return operand(PUMICE_USC_BANK_SH, number);
}

u32 reg_vo(u32 number)
{
	return operand(PUMICE_USC_BANK_VO, number);
}

u32 reg_o(u32 number)
{
	return operand(PUMICE_USC_BANK_O, number);
}

u32 immediate(void)
{
	return operand(PUMICE_USC_BANK_IMM, 0);
}

/* Element 0 of a register: which receives the result of signal waits. */
static u32 element(u32 number)
{
	const struct pumice_usc_operand fields = {
		.bank = PUMICE_USC_BANK_R, .num = (u16)number, .elem = true,
	};
	u32 word;

	pumice_usc_operand_pack(&word, &fields);
	return word;
}

/* A single mask is encoded as itself and one. */
static u16 mask(u32 a)
{
	const struct pumice_usc_mask fields = { .a = (u8)a, .b = PUMICE_USC_K_ONE };
	u32 word;

	pumice_usc_mask_pack(&word, &fields);
	return (u16)word;
}

u16 mask_all(void)
{
	return mask(PUMICE_USC_K_ONE);
}

u16 mask_register(u32 number)
{
	return mask(PUMICE_USC_MASK_CONSTS + number);
}

void emit_raw(struct shader *shader, const u32 *words)
{
	CHECK(shader->insns < SHADER_MAX_INSNS);
	memcpy(shader->words + shader->insns * 4, words, 4 * sizeof(u32));
	shader->insns++;
}

void emit(struct shader *shader, struct pumice_usc_insn insn)
{
	u32 words[4] = { 0 };

	pumice_usc_pack(words, &insn);
	emit_raw(shader, words);
}

void emit_end(struct shader *shader)
{
	emit(shader, (struct pumice_usc_insn){ .opcode = PUMICE_USC_OP_END });
}

/* r0 = 4 * v0: byte offset of the instance's word. */
static void emit_offset(struct shader *shader)
{
	emit(shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_SHL, .dst = reg_r(0), .src0 = reg_v(0),
		.src1 = immediate(), .imm = 2,
	});
}

void emit_store(struct shader *shader, u32 value_reg, u16 displacement)
{
	emit_offset(shader);
	emit(shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_GLOBAL_STORE32, .mask = mask_all(), .src2 = reg_sh(0),
		.src0 = reg_r(0), .src1 = reg_r(value_reg), .disp = displacement,
	});
}

struct shader shader_store(void)
{
	struct shader shader = { .insns = 0 };

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_ADD, .dst = reg_r(1), .src0 = reg_v(0), .src1 = reg_sh(2),
	});
	emit_store(&shader, 1, 0);
	emit_end(&shader);
	return shader;
}

struct shader shader_store_one(void)
{
	struct shader shader = { .insns = 0 };

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_MOV, .dst = reg_r(0), .mask = mask_all(),
		.src0 = reg_sh(3),
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_MOV, .dst = reg_r(1), .mask = mask_all(),
		.src0 = reg_sh(2),
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_GLOBAL_STORE32, .mask = mask_all(), .src2 = reg_sh(0),
		.src0 = reg_r(0), .src1 = reg_r(1),
	});
	emit_end(&shader);
	return shader;
}

struct shader shader_copy(void)
{
	struct shader shader = { .insns = 0 };

	emit_offset(&shader);
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_GLOBAL_LOAD32, .dst = reg_r(1), .mask = mask_all(),
		.src2 = reg_sh(2), .src0 = reg_r(0),
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_SIG_WAIT, .dst = element(2),
	});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_ADD, .dst = reg_r(1), .src0 = reg_r(1), .src1 = reg_sh(4),
	});
	emit_store(&shader, 1, 0);
	emit_end(&shader);
	return shader;
}

static struct shader store_and_loop(bool store_again)
{
	struct shader shader = { .insns = 0 };

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_MOV, .dst = reg_r(1), .mask = mask_all(),
		.src0 = reg_sh(2),
	});
	emit_store(&shader, 1, 0);
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_JUMP, .target = store_again ? 0 : shader.insns,
	});
	emit_end(&shader);
	return shader;
}

struct shader shader_loop(void)
{
	return store_and_loop(false);
}

struct shader shader_spin(void)
{
	struct shader shader = { .insns = 0 };

	emit(&shader, (struct pumice_usc_insn){ .opcode = PUMICE_USC_OP_JUMP, .target = 0 });
	emit_end(&shader);
	return shader;
}

struct shader shader_store_loop(void)
{
	return store_and_loop(true);
}

struct shader shader_end(void)
{
	struct shader shader = { .insns = 0 };

	emit_end(&shader);
	return shader;
}

struct shader shader_vertex(void)
{
	struct shader shader = { .insns = 0 };
	u32 i;

	for (i = 0; i < 7; i++)
		emit(&shader, (struct pumice_usc_insn){
			.opcode = PUMICE_USC_OP_UVSW, .dst = reg_vo(i), .src0 = reg_v(i),
		});
	emit_end(&shader);
	return shader;
}

struct shader shader_fragment(void)
{
	struct shader shader = { .insns = 0 };
	u32 i;

	for (i = 0; i < 3; i++)
		emit(&shader, (struct pumice_usc_insn){
			.opcode = PUMICE_USC_OP_MOV, .dst = reg_o(i), .src0 = reg_v(i),
			.mask = mask_all(),
		});
	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_MOV, .dst = reg_o(3), .src0 = immediate(),
		.mask = mask_all(), .imm = 0x3f800000,
	});
	emit_end(&shader);
	return shader;
}

struct shader shader_tile(void)
{
	struct shader shader = { .insns = 0 };

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_PBE, .src0 = reg_sh(0),
	});
	emit_end(&shader);
	return shader;
}
