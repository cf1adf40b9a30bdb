// SPDX-License-Identifier: MIT
/*
 * Random programs have every operation of hw/isa.xml but those in exempt[], in every form and of
 * every type: the random tests compare only these with the reference model. Operands of
 * arithmetic, of loads, stores, atomics and bursts have every bank, but for those of depth and the
 * pixel outputs of uvsw. Banks of the other layouts are not compared: copies, textures, branches,
 * signals, fences, ranges of the caches, itr and ray_query.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gen.h"
#include "gfx.h"
#include "pumice_info.h"

#define PROGRAMS	2000u	/* of each stage */

/* Operations that random programs do not have, and the test that compares them instead. */
static const struct {
	enum pumice_usc_op op;
	const char *why;
} exempt[] = {
	{ PUMICE_USC_OP_PBE, "it has no result on the USC; usc-stages has its words and faults" },
};

enum { OPERANDS = 4 };

static const u8 field_of[OPERANDS] = {
	PUMICE_USC_FIELD_DST, PUMICE_USC_FIELD_SRC0, PUMICE_USC_FIELD_SRC1, PUMICE_USC_FIELD_SRC2,
};

/* Generated operations, by opcode and form: bits of types, and for each operand bits of banks. */
static struct seen {
	u32 types;
	u32 full[OPERANDS], elem[OPERANDS], indexed[OPERANDS];
} seen[256][PUMICE_USC_FORM_COUNT];

static const char *exemption(u32 opcode)
{
	for (u32 n = 0; n < sizeof(exempt) / sizeof(exempt[0]); n++) {
		if (exempt[n].op == opcode)
			return exempt[n].why;
	}
	return NULL;
}

static void note_insn(const struct pumice_usc_insn *insn)
{
	const u32 raw[OPERANDS] = { insn->dst, insn->src0, insn->src1, insn->src2 };
	struct seen *s = &seen[insn->opcode][insn->form];

	s->types |= 1u << insn->type;
	for (u32 n = 0; n < OPERANDS; n++) {
		struct pumice_usc_operand v;

		pumice_usc_operand_unpack(&raw[n], &v);
		*(v.idx ? &s->indexed[n] : v.elem ? &s->elem[n] : &s->full[n]) |= 1u << v.bank;
	}
}

static void note(const struct gen_program *prog)
{
	for (u32 n = 0; n < prog->insns; n++) {
		struct pumice_usc_insn insn;

		assert_int_equal(pumice_usc_unpack(&prog->code[n * PUMICE_USC_WORDS], &insn),
				 PUMICE_ISA_UNPACK_OK);
		note_insn(&insn);
	}
}

/* Programs of the generators of test_random.c and test_graphics.c, for all cases. */
static int generate(void **state)
{
	static struct gen_program prog;
	struct gen_rng rng = { 20261126 };

	(void)state;
	for (u32 n = 0; n < PROGRAMS; n++) {
		gen_program(&rng, n % 2, &prog);
		note(&prog);
		for (u32 stage = USC_STAGE_VERTEX; stage <= USC_STAGE_TILE; stage++) {
			gen_gfx_program(&rng, stage, n % 2, &prog);
			note(&prog);
		}
	}
	return 0;
}

/* Return the banks that no operand of a field had; dynamic constants are always indexed. */
static u32 missing_banks(const struct pumice_isa_class *class, const struct seen *s, u32 n)
{
	const u32 always = class->indexed | 1u << PUMICE_USC_BANK_DC;

	return (class->full & ~always & ~s->full[n]) | (class->full & always & ~s->indexed[n]) |
	       (class->elem & ~s->elem[n]);
}

/* Return whether an operation has operands of any bank in random programs. */
static bool has_any_bank(const struct pumice_isa_op_info *op)
{
	return (op->layout == PUMICE_USC_LAYOUT_ALU || op->layout == PUMICE_USC_LAYOUT_ALU3 ||
		op->layout == PUMICE_USC_LAYOUT_MEM || op->layout == PUMICE_USC_LAYOUT_ATOMIC ||
		op->layout == PUMICE_USC_LAYOUT_BURST) &&
	       op->opcode != PUMICE_USC_OP_DEPTH && op->opcode != PUMICE_USC_OP_PBE;
}

/* Report what is missing of an operation in a form; return the number of findings. */
static u32 check(const struct pumice_isa_op_info *op, u32 number)
{
	const struct pumice_isa_form *form = &op->form[number];
	const struct seen *s = &seen[op->opcode][number];
	const u32 types = op->types & ~s->types;
	u32 found = types != 0;

	if (types)
		print_error("%s of form %u has no program for types %#x\n", op->name,
			    number, types);
	for (u32 n = 0; n < OPERANDS && has_any_bank(op); n++) {
		for (u32 k = 0; k < form->nr_operands; k++) {
			u32 banks = 0;

			if (form->operands[k].field == field_of[n])
				banks = missing_banks(
					&pumice_usc_isa.classes[form->operands[k].cls], s, n);
			/* Its programs have no pixel outputs. */
			if (op->opcode == PUMICE_USC_OP_UVSW)
				banks &= ~(1u << PUMICE_USC_BANK_O);
			if (banks)
				print_error("%s of form %u has no program with operand %u of banks %#x\n",
					    op->name, number, k, banks);
			found += banks != 0;
		}
	}
	return found;
}

static void usc_random_programs_have_every_operation(void **state)
{
	u32 found = 0;

	(void)state;
	for (u32 n = 0; n < PUMICE_USC_OPS; n++) {
		const struct pumice_isa_op_info *op = &pumice_usc_ops[n];

		for (u32 form = 0; form < PUMICE_USC_FORM_COUNT && !exemption(op->opcode); form++)
			if (op->forms >> form & 1)
				found += check(op, form);
	}
	assert_int_equal(found, 0);
}

/* An operation that is generated needs no exemption. */
static void usc_exempt_operations_are_not_in_random_programs(void **state)
{
	(void)state;
	for (u32 n = 0; n < sizeof(exempt) / sizeof(exempt[0]); n++)
		if (seen[exempt[n].op][0].types)
			fail_msg("%s", exempt[n].why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_random_programs_have_every_operation),
		cmocka_unit_test(usc_exempt_operations_are_not_in_random_programs),
	};

	return cmocka_run_group_tests(tests, generate, NULL);
}
