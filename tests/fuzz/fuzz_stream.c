// SPDX-License-Identifier: MIT
/*
 * A job with arbitrary streams and programs, most fields valid: control stream, PDS program
 * and USC program from the input, through the real firmware.
 *
 * Rules: the job succeeds, ends with a fault of the enumeration and a unit, or
 * can be killed after PATIENCE polls; then the next job, of another context, works.
 */
#include <string.h>

#include "enc.h"
#include "host.h"

/* In words, from the start of the VM's code page. */
#define PDS_AT		0u
#define PDS_MAX		16u	/* instructions */
#define USC_AT		(PDS_MAX * PUMICE_PDS_WORDS)
#define USC_MAX		48u	/* instructions */
/* In words, from the start of its stream page. */
#define STREAM_WORDS	512u
#define SUBLIST		256u	/* where a sub-list starts */

#define PATIENCE	24u	/* polls of a job before it is killed */

/* Parameters of the STATE command. */
struct job {
	u32 pds_insns, usc_insns;
};

static u64 address(struct fuzz *f)
{
	switch (fuzz_below(f, 8)) {
	case 0:
		return fuzz_number(f);
	case 1:
		return FX_STREAM_VA + (fuzz_u16(f) & ~3u);
	default:
		return FX_STREAM_VA + 2048 + fuzz_u8(f) * 16u;
	}
}

/* Return the nth set bit, n modulo their number; 0 if none is set. */
static u32 nth_bit(u32 bits, u32 n)
{
	u32 bit;

	if (!bits)
		return 0;
	for (n %= (u32)__builtin_popcount(bits);; n--) {
		bit = (u32)__builtin_ctz(bits);
		if (!n)
			return bit;
		bits &= bits - 1;
	}
}

/* Return an operand that its class probably accepts. */
static u32 operand(struct fuzz *f, const struct pumice_isa_class *cls)
{
	u8 choice = fuzz_u8(f);
	bool elem = cls->elem && (!cls->full || choice % 2);
	u32 bank = nth_bit(elem ? cls->elem : cls->full, choice / 2), idx;

	if (choice == 255)
		return (u32)fuzz_number(f);
	idx = bank == PUMICE_USC_BANK_DC || choice % 32 == 9 ? choice / 64 % 2 + 1 : 0;
	return usc_operand(bank, bank == PUMICE_USC_BANK_IMM ? 0 : fuzz_mutate(f, choice % 8),
			   elem) |
	       idx << PUMICE_USC_OPERAND__IDX__SHIFT;
}

static u32 field(struct fuzz *f, u32 cls)
{
	const struct pumice_isa_class *c = &pumice_usc_isa.classes[cls];

	if (c->full || c->elem)
		return operand(f, c);
	switch (cls) {
	case PUMICE_USC_CLASS_MASK:
		return fuzz_mutate(f, ALWAYS);
	case PUMICE_USC_CLASS_TARGET:
		return fuzz_mutate(f, fuzz_below(f, 12));
	default:
		return fuzz_mutate(f, fuzz_below(f, 16));
	}
}

/* Return an instruction of any operation, usually legal. */
static void usc_insn(struct fuzz *f, u32 *words)
{
	const struct pumice_isa_op_info *op = &pumice_usc_ops[fuzz_below(f, PUMICE_USC_OPS)];
	u32 form = nth_bit(op->forms, fuzz_below(f, 2)), i, raw;
	bool immediate = fuzz_below(f, 128) == 1, indexed = false;

	memset(words, 0, PUMICE_USC_WORDS * 4);
	words[0] = op->opcode;
	pumice_isa_set(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_TYPE, words,
		       nth_bit(op->types, fuzz_below(f, 4)));
	pumice_isa_set(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_FORM, words, form);
	for (i = 0; i < op->form[form].nr_operands; i++) {
		u32 at = op->form[form].operands[i].field;
		const struct pumice_field_info *place =
			pumice_isa_place(&pumice_usc_isa, op->layout, at);

		raw = field(f, op->form[form].operands[i].cls);
		raw &= 0xffffffffu >> (32 - place->width);
		pumice_isa_set(&pumice_usc_isa, op->layout, at, words, raw);
		immediate |= raw == IMM;
		indexed |= (raw & PUMICE_USC_OPERAND__IDX__MASK) &&
			   pumice_usc_isa.classes[op->form[form].operands[i].cls].full;
	}
	if (indexed && pumice_isa_place(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_DIM))
		pumice_isa_set(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_DIM, words,
			       fuzz_below(f, 5));
	if (immediate)
		pumice_isa_set(&pumice_usc_isa, op->layout, PUMICE_USC_FIELD_IMM, words,
			       (u32)fuzz_number(f));
}

static void usc_program(struct fuzz *f, u32 *at, struct job *job)
{
	u32 i, n = fuzz_below(f, fuzz_below(f, 8) ? 12 : USC_MAX - 1);

	for (i = 0; i < n; i++)
		usc_insn(f, at + i * PUMICE_USC_WORDS);
	usc_put(at, n, INSN(END));
	job->usc_insns = n + 1;
}

static void pds_insn(struct fuzz *f, u32 *words)
{
	u64 addr = address(f);
	const struct pumice_pds_insn choice[] = {
		{ .opcode = PUMICE_PDS_OP_LDI, .bank = fuzz_mutate(f, 0) % 4,
		  .reg = (u16)fuzz_mutate(f, 2), .imm = (u32)fuzz_number(f) },
		{ .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V,
		  .reg = (u16)fuzz_mutate(f, 1), .source = fuzz_below(f, 24) },
		{ .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH,
		  .reg = (u16)fuzz_mutate(f, 0), .count = (u16)fuzz_mutate(f, 4),
		  .addr = addr, .stride = (u16)fuzz_mutate(f, 0) },
		{ .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_V,
		  .reg = (u16)fuzz_mutate(f, 0), .count = (u16)fuzz_mutate(f, 2),
		  .addr = addr, .stride = (u16)fuzz_mutate(f, 8) },
	};

	pumice_pds_pack(words, &choice[fuzz_below(f, 4)]);
}

/* Load an address into SH0 and SH1; then arbitrary instructions; then the task. */
static void pds_program(struct fuzz *f, u32 *at, struct job *job)
{
	u64 base = address(f);
	const struct pumice_pds_insn low = { .opcode = PUMICE_PDS_OP_LDI, .imm = (u32)base };
	const struct pumice_pds_insn high = {
		.opcode = PUMICE_PDS_OP_LDI, .reg = 1, .imm = (u32)(base >> 32) & 0xff,
	};
	const struct pumice_pds_insn task = {
		.opcode = fuzz_mutate(f, PUMICE_PDS_OP_TASK) & 0xff,
		.addr = FX_CODE_VA + fuzz_mutate(f, USC_AT * 4),
		.insns = fuzz_mutate(f, job->usc_insns),
	};
	const struct pumice_pds_insn end = { .opcode = fuzz_mutate(f, PUMICE_PDS_OP_END) & 0xff };
	u32 i, n = fuzz_below(f, fuzz_below(f, 8) ? 4 : PDS_MAX - 4);

	pumice_pds_pack(at, &low);
	pumice_pds_pack(at + PUMICE_PDS_WORDS, &high);
	for (i = 2; i < n + 2; i++)
		pds_insn(f, at + i * PUMICE_PDS_WORDS);
	pumice_pds_pack(at + i * PUMICE_PDS_WORDS, &task);
	pumice_pds_pack(at + (i + 1) * PUMICE_PDS_WORDS, &end);
	job->pds_insns = n + 4;
}

static u32 put_state(struct fuzz *f, u32 *at, const struct job *job)
{
	const struct pumice_cdm_state state = {
		.pds_addr = FX_CODE_VA + fuzz_mutate(f, PDS_AT * 4),
		.pds_insns = (u16)fuzz_mutate(f, job->pds_insns),
		.shared = (u16)fuzz_mutate(f, 8), .coeffs = (u16)fuzz_mutate(f, 4),
		.attrs = (u8)fuzz_mutate(f, 8),
		.temps = (u8)fuzz_mutate(f, 16), .local_bytes = fuzz_mutate(f, 1024),
		.size_x = (u16)fuzz_mutate(f, fuzz_below(f, 130) + 1),
		.size_y = (u16)fuzz_mutate(f, 1), .size_z = (u16)fuzz_mutate(f, 1),
	};

	pumice_cdm_state_pack(at, &state);
	return PUMICE_CDM_STATE_WORDS;
}

static u32 put_launch(struct fuzz *f, u32 *at)
{
	const struct pumice_cdm_launch launch = {
		.after = fuzz_below(f, 2), .groups_x = fuzz_mutate(f, fuzz_below(f, 5) + 1),
		.groups_y = fuzz_mutate(f, 1),
		.groups_z = fuzz_mutate(f, 1), .base_x = fuzz_mutate(f, 0),
		.base_y = fuzz_mutate(f, 0), .base_z = fuzz_mutate(f, 0),
	};

	pumice_cdm_launch_pack(at, &launch);
	return PUMICE_CDM_LAUNCH_WORDS;
}

/* Commands that read or write memory, usually at mapped addresses. */
static u32 put_memory_command(struct fuzz *f, u32 *at)
{
	const struct pumice_cdm_launch_indirect indirect = {
		.addr = address(f), .base_x = fuzz_mutate(f, 0), .base_y = fuzz_mutate(f, 0),
		.base_z = fuzz_mutate(f, 0),
	};
	const struct pumice_cdm_timestamp timestamp = {
		.addr = address(f), .wait = fuzz_below(f, 2),
	};
	const struct pumice_cdm_marker marker = {
		.addr = address(f), .value = (u32)fuzz_number(f), .wait = fuzz_below(f, 2),
	};

	switch (fuzz_below(f, 3)) {
	case 0:
		pumice_cdm_launch_indirect_pack(at, &indirect);
		return PUMICE_CDM_LAUNCH_INDIRECT_WORDS;
	case 1:
		pumice_cdm_timestamp_pack(at, &timestamp);
		return PUMICE_CDM_TIMESTAMP_WORDS;
	default:
		pumice_cdm_marker_pack(at, &marker);
		return PUMICE_CDM_MARKER_WORDS;
	}
}

static u32 put_command(struct fuzz *f, u32 *at, const struct job *job)
{
	const struct pumice_cdm_call call = {
		.addr = FX_STREAM_VA + fuzz_mutate(f, SUBLIST * 4),
	};
	const struct pumice_cdm_link link = { .addr = call.addr };

	switch (fuzz_below(f, 12)) {
	case 0:
	case 1:
		return put_state(f, at, job);
	case 2:
	case 3:
	case 4:
		return put_launch(f, at);
	case 5:
		pumice_cdm_call_pack(at, &call);
		return PUMICE_CDM_CALL_WORDS;
	case 6:
		*at = fuzz_below(f, PUMICE_CDM_TYPE_COUNT + 1) << PUMICE_CDM_HALT__TYPE__SHIFT;
		return 1;
	case 7:
		pumice_cdm_link_pack(at, &link);
		return PUMICE_CDM_LINK_WORDS;
	case 8:
	case 9:
		return put_memory_command(f, at);
	case 10:
		pumice_cdm_task_pack(at, &(struct pumice_cdm_task){ 0 });
		return PUMICE_CDM_TASK_WORDS;
	default:
		*at = (u32)fuzz_number(f);
		return 1;
	}
}

/* Write a stream at @at: STATE and LAUNCH, then arbitrary commands, then @last. */
static void stream(struct fuzz *f, u32 *at, const struct job *job, enum pumice_cdm_type last)
{
	u32 n = fuzz_below(f, 6);

	if (fuzz_below(f, 64) != 1)
		at += put_state(f, at, job);
	at += put_launch(f, at);
	while (n--)
		at += put_command(f, at, job);
	*at = (u32)last << PUMICE_CDM_HALT__TYPE__SHIFT;
}

/* Change bits of the two pages, and occasionally the flags of one of them. */
static void damage(struct fuzz *f, struct fx_vm *vm)
{
	u32 n = fuzz_below(f, 4);

	if (fuzz_below(f, 16) == 1)
		vm->pt[fuzz_below(f, 2)] ^= fuzz_below(f, 16);

	while (n--) {
		u32 at = fuzz_u16(f) % 1024;

		(fuzz_below(f, 2) ? vm->stream : vm->code)[at] ^= 1u << fuzz_below(f, 32);
	}
}

/* Wait for the job, else kill it. */
static void finish(struct fixture *r, struct fx_context *c)
{
	const struct fwif_job_result *result = host_end_job(r, c, 1, PATIENCE, NULL);

	FUZZ_CHECK(!result->fault || result->unit != PUMICE_UNIT_NONE ||
		   result->fault == PUMICE_FAULT_KILLED, "fault %u of no unit", result->fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	struct job job;

	fx_vm(r, &vm);
	fx_context(r, &vm, 1, &c);
	usc_program(&f, vm.code + USC_AT, &job);
	pds_program(&f, vm.code + PDS_AT, &job);
	stream(&f, vm.stream, &job, PUMICE_CDM_TYPE_HALT);
	stream(&f, vm.stream + SUBLIST, &job, PUMICE_CDM_TYPE_RETURN);
	damage(&f, &vm);
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_update(&c, c.object_addr, 1);
	fx_put_kick(r, &c);
	fx_kick(r);
	finish(r, &c);
	host_check_job(r);
	fx_destroy(r);
	return 0;
}
