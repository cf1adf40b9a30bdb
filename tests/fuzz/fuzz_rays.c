// SPDX-License-Identifier: MIT
/*
 * A job of rays with an arbitrary control stream, programs and acceleration structure, most fields
 * valid, through the real firmware.
 *
 * Rules: the job succeeds, ends with a fault of the enumeration and a unit, or can be killed after
 * PATIENCE polls; then the next job, of another context, works.
 */
#include <string.h>

#include "enc.h"
#include "host.h"

/* In words, from the start of the VM's stream page: commands, a structure, rays. */
#define SUBLIST		256u
#define HEADER		512u
#define NODES		544u
#define LEAVES		608u
#define RAYS		672u
/* In words, from the start of the code page. */
#define USC_AT		0u
#define PDS_AT		128u
#define PDS_WORDS	64u	/* of a program */

#define PATIENCE	200u

static u64 stream_va(u32 word)
{
	return FX_STREAM_VA + word * 4ull;
}

static float number(struct fuzz *f)
{
	const u32 bits = (u32)fuzz_number(f);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return fuzz_below(f, 16) ? (float)fuzz_below(f, 9) - 4 : value;
}

static void put_structure(struct fuzz *f, u32 *page)
{
	const struct pumice_rt_header header = {
		.level = fuzz_mutate(f, PUMICE_RT_LEVEL_BOTTOM) & 1, .nodes = fuzz_mutate(f, 2),
		.leaves = fuzz_mutate(f, 4), .node_addr = stream_va(fuzz_mutate(f, NODES) & 1023 & ~31u),
		.leaf_addr = stream_va(fuzz_mutate(f, LEAVES) & 1023 & ~15u),
		.low = { -4, -4, -4 }, .high = { 4, 4, 4 },
	};
	u32 i, n;

	pumice_rt_header_pack(page + HEADER, &header);
	for (i = 0; i < 2; i++) {
		struct pumice_rt_node node = { 0 };

		for (n = 0; n < 4; n++) {
			const struct pumice_rt_child_ref child = {
				.kind = fuzz_mutate(f, n % 3) & 3, .index = fuzz_mutate(f, n / 2),
			};

			node.low_x[n] = node.low_y[n] = node.low_z[n] = number(f);
			node.high_x[n] = node.high_y[n] = node.high_z[n] = 4;
			pumice_rt_child_ref_pack(&node.child[n], &child);
		}
		pumice_rt_node_pack(page + NODES + i * PUMICE_RT_NODE_WORDS, &node);
	}
	for (i = 0; i < 4; i++) {
		struct pumice_rt_triangle t = { .primitive = i };

		for (n = 0; n < 3; n++) {
			t.v0[n] = number(f);
			t.v1[n] = number(f);
			t.v2[n] = number(f);
		}
		pumice_rt_triangle_pack(page + LEAVES + i * PUMICE_RT_TRIANGLE_WORDS, &t);
	}
}

/* A program of a few sources; it ends, or writes the ray that it generates. */
static void put_stage(struct fuzz *f, struct fx_vm *vm, u32 kind, u32 words[4])
{
	static const u32 sources[] = {
		PUMICE_PDS_SOURCE_RAY_INDEX, PUMICE_PDS_SOURCE_RAY_X, PUMICE_PDS_SOURCE_RAY_Y,
		PUMICE_PDS_SOURCE_RAY_ORIGIN_X, PUMICE_PDS_SOURCE_RAY_MAX, PUMICE_PDS_SOURCE_RAY_T,
		PUMICE_PDS_SOURCE_RAY_KIND, PUMICE_PDS_SOURCE_LOCAL_X,
	};
	const u32 at = PDS_AT + kind * PDS_WORDS, count = fuzz_below(f, 5);
	const struct pumice_stage stage = {
		.pds_addr = FX_CODE_VA + at * 4, .pds_insns = (u16)fuzz_mutate(f, count + 2),
		.attrs = (u8)fuzz_mutate(f, 4), .temps = (u8)fuzz_mutate(f, 8),
		.shared = (u16)fuzz_mutate(f, 0), .coeffs = (u16)fuzz_mutate(f, 0) & 1023,
	};
	struct pumice_pds_insn insn = { .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V };
	u32 i;

	for (i = 0; i < count; i++) {
		insn.reg = (u16)i;
		insn.source = (u8)sources[fuzz_below(f, kind ? 8 : 3)];
		pumice_pds_pack(vm->code + at + i * PUMICE_PDS_WORDS, &insn);
	}
	insn = (struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA + fuzz_mutate(f, USC_AT) * 4,
		.insns = kind ? 1 : fuzz_mutate(f, PUMICE_RT_RAY_REGS + 1),
	};
	if (kind)	/* the last instruction, END */
		insn.addr = FX_CODE_VA + PUMICE_RT_RAY_REGS * PUMICE_USC_WORDS * 4;
	pumice_pds_pack(vm->code + at + i * PUMICE_PDS_WORDS, &insn);
	insn = (struct pumice_pds_insn){ .opcode = PUMICE_PDS_OP_END };
	pumice_pds_pack(vm->code + at + (i + 1) * PUMICE_PDS_WORDS, &insn);
	pumice_stage_pack(words, &stage);
}

/* Write v0 to all registers of a ray; then END. */
static void put_program(u32 *at)
{
	u32 i;

	for (i = 0; i < PUMICE_RT_RAY_REGS; i++)
		usc_put(at, i, INSN(UVSW, .dst = usc_operand(PUMICE_USC_BANK_VO, i, false),
				    .src0 = usc_operand(PUMICE_USC_BANK_V, 0, false)));
	usc_put(at, i, INSN(END));
}

static u32 put_state(struct fuzz *f, struct fx_vm *vm, u32 *at, bool generate)
{
	struct pumice_rdm_state state = {
		.any = fuzz_below(f, 2), .structure = stream_va(fuzz_mutate(f, HEADER) & 1008),
		.uniforms = FX_STREAM_VA, .uniform_words = (u16)fuzz_mutate(f, 4),
	};

	if (generate)
		put_stage(f, vm, 0, state.generate);
	if (fuzz_below(f, 8))
		put_stage(f, vm, 1, state.hit);
	if (fuzz_below(f, 8))
		put_stage(f, vm, 2, state.miss);
	pumice_rdm_state_pack(at, &state);
	return PUMICE_RDM_STATE_WORDS;
}

static u32 put_launch(struct fuzz *f, u32 *at, bool generate)
{
	const struct pumice_rdm_launch launch = {
		.width = fuzz_mutate(f, fuzz_below(f, 40)), .height = fuzz_mutate(f, 1),
		.rays = generate ? 0 : stream_va(fuzz_mutate(f, RAYS) & 1023),
	};

	pumice_rdm_launch_pack(at, &launch);
	return PUMICE_RDM_LAUNCH_WORDS;
}

static u32 put_control(struct fuzz *f, u32 *at)
{
	const struct pumice_cdm_call call = { .addr = stream_va(fuzz_mutate(f, SUBLIST)) };
	const struct pumice_cdm_marker marker = {
		.addr = stream_va(fuzz_mutate(f, 1000)), .value = (u32)fuzz_number(f),
		.wait = fuzz_below(f, 2),
	};

	switch (fuzz_below(f, 4)) {
	case 0:
		pumice_cdm_call_pack(at, &call);
		return PUMICE_CDM_CALL_WORDS;
	case 1:
		pumice_cdm_marker_pack(at, &marker);
		return PUMICE_CDM_MARKER_WORDS;
	case 2:
		*at = (u32)fuzz_number(f);
		return 1;
	default:
		*at = fuzz_below(f, 16) << PUMICE_CDM_HALT__TYPE__SHIFT;
		return 1;
	}
}

static void put_stream(struct fuzz *f, struct fx_vm *vm, u32 *at, u32 last)
{
	const bool generate = fuzz_below(f, 2);
	u32 n = fuzz_below(f, 4);

	if (fuzz_below(f, 64) != 1)
		at += put_state(f, vm, at, generate);
	at += put_launch(f, at, fuzz_below(f, 64) == 1 ? !generate : generate);
	while (n--)
		at += fuzz_below(f, 2) ? put_launch(f, at, generate) : put_control(f, at);
	*at = last << PUMICE_CDM_HALT__TYPE__SHIFT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct fwif_cccb_compute job = {
		.header = { FWIF_CCCB_RAYS, sizeof(job) }, .stream = FX_STREAM_VA, .seqno = 1,
	};
	struct fuzz f = { data, size };
	struct fixture *r = fx_booted();
	const struct fwif_job_result *result;
	struct fx_context c;
	struct fx_vm vm;
	u32 i;

	fx_vm(r, &vm);
	fx_context_of(r, &vm, FWIF_DM_RDM, 1, &c);
	put_program(vm.code + USC_AT);
	put_structure(&f, vm.stream);
	for (i = RAYS; i < 1024; i++) {
		const float value = number(&f);

		memcpy(vm.stream + i, &value, sizeof(value));
	}
	put_stream(&f, &vm, vm.stream, PUMICE_RDM_TYPE_HALT);
	put_stream(&f, &vm, vm.stream + SUBLIST, PUMICE_RDM_TYPE_RETURN);
	for (i = fuzz_below(&f, 3); i; i--)
		vm.stream[fuzz_u16(&f) % 1024] ^= 1u << fuzz_below(&f, 32);
	fx_bytes(&c, &job, sizeof(job));
	fx_update(&c, c.object_addr, 1);
	fx_put_kick(r, &c);
	fx_kick(r);
	result = host_end_job(r, &c, 1, PATIENCE, NULL);
	FUZZ_CHECK(!result->fault || result->unit != PUMICE_UNIT_NONE ||
		   result->fault == PUMICE_FAULT_KILLED, "fault %u of no unit", result->fault);
	host_check_job(r);
	fx_destroy(r);
	return 0;
}
