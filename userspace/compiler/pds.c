// SPDX-License-Identifier: MIT
/*
 * The PDS program: written explicitly between .pds and
 * .endpds, or generated from .uniforms, .input and .const.
 */
#include <ctype.h>
#include <string.h>

#include "expected.h"
#include "internal.h"
#include "pumice/pumice.h"
#include "pumice_names.h"
#include "rules.h"

static bool add(struct assembler *as, const struct pumice_pds_insn *insn)
{
	uint32_t *words = code_add(as, &as->pds);

	if (!words)
		return false;
	pumice_pds_pack(words, insn);
	if (as->pds.insns > PUMICE_PDS_MAX_INSNS)
		return asm_error(as, NULL, "more than %u PDS instructions", PUMICE_PDS_MAX_INSNS);
	return true;
}

/* Relocate the address field of the instruction that is added next. */
static bool add_reloc(struct assembler *as, enum pumice_pds_reloc kind)
{
	if (as->reloc_count == sizeof(as->relocs) / sizeof(as->relocs[0]))
		return asm_error(as, NULL, "too many relocations");
	as->relocs[as->reloc_count++] = (struct pumice_program_reloc){
		.insn = (uint16_t)as->pds.insns, .kind = kind };
	return true;
}

/* Count the words of the uniform block that a burst accesses. */
static bool use_uniforms(struct assembler *as, uint64_t words)
{
	if (words > PUMICE_MAX_UNIFORM_WORDS)
		return asm_error(as, NULL, "a uniform block has at most %u words",
				 PUMICE_MAX_UNIFORM_WORDS);
	if (words > as->header.uniform_words)
		as->header.uniform_words = (uint32_t)words;
	return true;
}

/* Get the PDS bank of a plain register. */
static uint8_t pds_bank(const struct pumice_usc_operand *reg)
{
	uint8_t bank = 0;

	while (rule_pds_bank(bank) != reg->bank)
		bank++;
	return bank;
}

bool pds_dma_uniforms(struct assembler *as, const struct pumice_usc_operand *reg, uint32_t words)
{
	struct pumice_pds_insn insn = { .opcode = PUMICE_PDS_OP_DMA, .bank = pds_bank(reg),
					.reg = reg->num, .count = (uint16_t)words };

	return use_uniforms(as, words) && add_reloc(as, PUMICE_PDS_RELOC_UNIFORMS) &&
	       add(as, &insn);
}

bool pds_write(struct assembler *as, enum pumice_pds_op op, const struct pumice_usc_operand *reg,
	       uint32_t value)
{
	struct pumice_pds_insn insn = { .opcode = op, .reg = reg->num };

	insn.bank = pds_bank(reg);
	if (op == PUMICE_PDS_OP_MOV)
		insn.source = (uint8_t)value;
	else
		insn.imm = value;
	return add(as, &insn);
}

/* Record that the instruction added next is a task without an instruction count. */
static void add_open_task(struct assembler *as)
{
	if (as->pds.insns < PUMICE_PDS_MAX_INSNS)
		as->open_task[as->pds.insns] = true;
}

/* Tasks written without an instruction count run the whole program. */
static void fill_tasks(struct assembler *as)
{
	for (size_t i = 0; i < as->pds.insns; i++) {
		uint32_t *words = &as->pds.words[ASM_WORDS * i];
		struct pumice_pds_insn insn;

		if (!as->open_task[i])
			continue;
		pumice_pds_unpack(words, &insn);
		insn.insns = (uint32_t)as->usc.insns;
		pumice_pds_pack(words, &insn);
	}
}

/* Add the implicit instructions of directives: the task and the end. */
bool pds_finish(struct assembler *as)
{
	struct pumice_pds_insn task = { .opcode = PUMICE_PDS_OP_TASK };
	struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };

	if (!as->pds_written) {
		add_open_task(as);
		if (!add_reloc(as, PUMICE_PDS_RELOC_CODE) || !add(as, &task) || !add(as, &end))
			return false;
	}
	if (!as->pds.insns)
		return asm_error_in(as, &as->pds_where, &as->pds_at,
				    "the PDS program has no instruction: write at least task code "
				    "and end");
	/* Reachable with .word. */
	if (as->pds.insns > PUMICE_PDS_MAX_INSNS)
		return asm_error(as, NULL, "more than %u PDS instructions", PUMICE_PDS_MAX_INSNS);
	fill_tasks(as);
	return true;
}

static bool plain_address(struct assembler *as, uint64_t *address)
{
	const struct token number = as->token;

	if (number.kind != TOKEN_INT || number.value >> PUMICE_MMU_VA_BITS)
		return asm_error(as, NULL, "expected uniforms, code, or an address of %u bits",
				 PUMICE_MMU_VA_BITS);
	*address = number.value;
	token_next(as);
	return true;
}

/* Parse an address: code or uniforms, with a displacement, or a number. */
static bool address(struct assembler *as, struct pumice_pds_insn *insn, bool *uniforms)
{
	uint64_t offset = 0;
	bool code = token_is(&as->token, "code");

	*uniforms = token_is(&as->token, "uniforms");
	if (!code && !*uniforms) {
		if (!plain_address(as, &offset))
			return false;
		insn->addr = offset;
		return true;
	}
	if (!add_reloc(as, code ? PUMICE_PDS_RELOC_CODE : PUMICE_PDS_RELOC_UNIFORMS))
		return false;
	token_next(as);
	if (token_accept(as, '+') &&
	    !token_count(as, "a displacement", UINT32_MAX, &offset))
		return false;
	insn->addr = offset;
	return true;
}

static bool parse_task(struct assembler *as, struct pumice_pds_insn *insn)
{
	uint64_t insns;
	bool uniforms;

	if (!address(as, insn, &uniforms))
		return false;
	if (!token_accept(as, ',')) {
		add_open_task(as);
		return true;
	}
	if (!token_count(as, "a number of instructions", PUMICE_USC_MAX_INSNS, &insns))
		return false;
	if (!insns)
		return asm_error(as, NULL, "a task runs at least one instruction");
	insn->insns = (uint32_t)insns;
	return true;
}

static bool parse_dma(struct assembler *as, struct pumice_pds_insn *insn)
{
	uint64_t count, stride = 0, last = 0;
	bool uniforms;

	if (!token_expect(as, ',') ||
	    !token_count(as, "a number of words", PUMICE_USC_MAX_SHARED, &count) ||
	    !token_expect(as, ',') || !address(as, insn, &uniforms))
		return false;
	if (token_accept(as, ',') && !token_count(as, "a stride", UINT16_MAX, &stride))
		return false;
	insn->count = (uint16_t)count;
	insn->stride = (uint16_t)stride;
	if (insn->bank == PUMICE_PDS_BANK_V)
		last = (uint64_t)as->header.size_x * as->header.size_y * as->header.size_z - 1;
	return !uniforms || use_uniforms(as, (insn->addr + last * stride + 3) / 4 + count);
}

bool pds_source(struct assembler *as, uint32_t *source)
{
	char text[EXPECTED_BYTES];

	for (uint32_t s = 0; s < PUMICE_PDS_SOURCE_COUNT; s++) {
		if (!pumice_pds_source_valid(s) || !token_is(&as->token, pumice_pds_source_str(s)))
			continue;
		token_next(as);
		*source = s;
		return true;
	}
	return asm_error(as, NULL, "expected one of %s", expected_sources(text));
}

/* Add an instruction as written, unless it breaks a rule. */
static bool add_checked(struct assembler *as, const struct token *name,
			const struct pumice_pds_insn *insn)
{
	const char *wrong = rule_check_pds(insn);

	if (wrong)
		return asm_error(as, name, "%s", wrong);
	return operand_stages(as, name, rule_pds_stages(insn)) && add(as, insn);
}

static bool parse_write(struct assembler *as, struct pumice_pds_insn *insn)
{
	struct token number;
	uint32_t source;

	if (!token_expect(as, ','))
		return false;
	if (insn->opcode == PUMICE_PDS_OP_MOV) {
		if (!pds_source(as, &source))
			return false;
		insn->source = (uint8_t)source;
		return true;
	}
	if (!token_number(as, &number))
		return false;
	insn->imm = (uint32_t)number.value;
	return true;
}

/* Parse a name of an enumeration: they are few, and may begin with a digit. */
static bool enum_value(struct assembler *as, const struct pumice_isa_class *cls, uint64_t *value)
{
	char text[EXPECTED_BYTES];

	for (uint32_t v = 0; v < 16; v++) {
		size_t length = cls->valid(v) ? strlen(cls->text(v)) : 0;
		const char *end = as->token.text + length;

		if (!length || as->token.kind == TOKEN_END ||
		    strncmp(as->token.text, cls->text(v), length) ||
		    isalnum((unsigned char)*end) || *end == '_')
			continue;
		as->at = end;
		token_next(as);
		*value = v;
		return true;
	}
	return asm_error(as, NULL, "expected one of %s", expected_word(text, cls));
}

/* Parse attributes, planes and varyings: operands as in the table, after the register. */
static bool parse_graphics(struct assembler *as, const struct pumice_isa_op_info *op,
			   struct pumice_pds_insn *insn)
{
	uint32_t words[PUMICE_PDS_WORDS];
	char text[EXPECTED_BYTES];

	pumice_pds_pack(words, insn);
	for (unsigned int i = 2; i < op->form[0].nr_operands; i++) {
		const struct pumice_isa_operand *place = &op->form[0].operands[i];
		const struct pumice_isa_class *cls = &pumice_pds_isa.classes[place->cls];
		const struct token at = as->token;
		uint64_t value;

		if (cls->optional && as->token.kind == TOKEN_END)
			break;
		if (!token_expect(as, ','))
			return false;
		if (cls->valid ? !enum_value(as, cls, &value) :
		    place->cls == PUMICE_PDS_CLASS_PDSADDR ? !plain_address(as, &value) :
		    !token_count(as, "this number", UINT32_MAX, &value))
			return false;
		if (!pumice_isa_set(&pumice_pds_isa, op->layout, place->field, words, value))
			return asm_error(as, &at, "accepted here: %s",
					 expected_number(text, &pumice_pds_isa, op->layout,
							 place->field));
	}
	pumice_pds_unpack(words, insn);
	return true;
}

static bool is_graphics(unsigned int opcode)
{
	return opcode == PUMICE_PDS_OP_ATTR || opcode == PUMICE_PDS_OP_FETCH ||
	       opcode == PUMICE_PDS_OP_COEFF ||
	       opcode == PUMICE_PDS_OP_ITERATE || opcode == PUMICE_PDS_OP_TEXTURE;
}

bool pds_line(struct assembler *as)
{
	const struct token name = as->token;
	struct pumice_pds_insn insn = { 0 };
	struct pumice_usc_operand reg;
	const struct pumice_isa_op_info *op = NULL;

	for (size_t i = 0; i < pumice_pds_isa.nr_ops; i++)
		if (token_is(&name, pumice_pds_isa.ops[i].name))
			op = &pumice_pds_isa.ops[i];
	if (!op)
		return asm_error(as, NULL, "unknown PDS operation");
	insn.opcode = (uint8_t)op->opcode;
	token_next(as);
	if (insn.opcode == PUMICE_PDS_OP_END)
		return add(as, &insn);
	if (insn.opcode == PUMICE_PDS_OP_TASK)
		return parse_task(as, &insn) && add_checked(as, &name, &insn);
	if (!operand_plain(as, &reg))
		return false;
	insn.bank = pds_bank(&reg);
	insn.reg = reg.num;
	if (is_graphics(insn.opcode) ? !parse_graphics(as, op, &insn) :
	    insn.opcode == PUMICE_PDS_OP_DMA ? !parse_dma(as, &insn) : !parse_write(as, &insn))
		return false;
	if (!add_checked(as, &name, &insn))
		return false;
	operand_use(as, &reg, rule_pds_registers(&insn));
	return true;
}
