// SPDX-License-Identifier: MIT
/*
 * A job of rays with an arbitrary control stream, programs and acceleration structure, most fields
 * valid, through the real firmware. Programs generate rays, access memory and trace further rays.
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
#define OUTPUT		960u	/* of programs: 64 words */
/* In words, from the start of the code page. */
#define USC_AT		0u
#define USC_WORDS	128u	/* of a program */
#define PDS_AT		512u
#define PDS_WORDS	64u	/* of a program */

/* Temporaries of programs: a ray, the result of a query, others. */
#define RAY		0u
#define RESULT		PUMICE_RT_RAY_REGS
#define ADDR		(RESULT + PUMICE_RT_RESULT_REGS)
#define WAIT		(ADDR + 1)
#define TEMPS		(WAIT + 1)

enum kind { GENERATE, HIT, MISS };

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

/* Return a number, usually the good one. */
static float other(struct fuzz *f, float good)
{
	return fuzz_below(f, 16) == 1 ? number(f) : good;
}

/* Four triangles that rays along z hit, in a tree of two nodes. */
static void put_structure(struct fuzz *f, u32 *page)
{
	static const struct pumice_rt_child_ref children[2][4] = {
		{ { .kind = PUMICE_RT_CHILD_NODE, .index = 1 }, { .kind = PUMICE_RT_CHILD_LEAF },
		  { .kind = PUMICE_RT_CHILD_LEAF, .index = 1 },
		  { .kind = PUMICE_RT_CHILD_LEAF, .index = 2 } },
		{ { .kind = PUMICE_RT_CHILD_LEAF, .index = 3 } },
	};
	const struct pumice_rt_header header = {
		.level = fuzz_mutate(f, PUMICE_RT_LEVEL_BOTTOM) & 1, .nodes = fuzz_mutate(f, 2),
		.leaves = fuzz_mutate(f, 4),
		.node_addr = stream_va(fuzz_mutate(f, NODES) & 1023 & ~31u),
		.leaf_addr = stream_va(fuzz_mutate(f, LEAVES) & 1023 & ~15u),
		.low = { -4, -4, -4 }, .high = { 4, 4, 4 },
	};
	u32 i, n;

	pumice_rt_header_pack(page + HEADER, &header);
	for (i = 0; i < 2; i++) {
		struct pumice_rt_node node = { 0 };

		for (n = 0; n < 4; n++) {
			const struct pumice_rt_child_ref child = {
				.kind = fuzz_mutate(f, children[i][n].kind) & 3,
				.index = fuzz_mutate(f, children[i][n].index),
			};

			node.low_x[n] = other(f, -4);
			node.low_y[n] = other(f, -4);
			node.low_z[n] = other(f, -4);
			node.high_x[n] = node.high_y[n] = node.high_z[n] = 4;
			pumice_rt_child_ref_pack(&node.child[n], &child);
		}
		pumice_rt_node_pack(page + NODES + i * PUMICE_RT_NODE_WORDS, &node);
	}
	for (i = 0; i < 4; i++) {
		struct pumice_rt_triangle t = { .primitive = i };

		for (n = 0; n < 3; n++) {
			t.v0[n] = other(f, n < 2 ? -4 : (float)i);
			t.v1[n] = other(f, n < 2 ? 4 - 8 * (float)n : (float)i);
			t.v2[n] = other(f, n < 2 ? 4 * (float)n : (float)i);
		}
		pumice_rt_triangle_pack(page + LEAVES + i * PUMICE_RT_TRIANGLE_WORDS, &t);
	}
}

/* Rays along z from z = -8, of a grid, and some words that are others. */
static const float good_ray[PUMICE_RT_RAY_REGS] = { [2] = -8, [6] = 1, [7] = 100 };

static void put_rays(struct fuzz *f, u32 *page)
{
	const u32 words = OUTPUT - RAYS;
	u32 i;

	for (i = 0; i < words; i++) {
		const u32 reg = i % PUMICE_RT_RAY_REGS, ray = i / PUMICE_RT_RAY_REGS;
		const float place = (float)(reg ? ray / 9 : ray % 9) - 4;
		const float value = reg < 2 ? place : good_ray[reg];

		memcpy(page + RAYS + i, &value, sizeof(value));
	}
	for (i = fuzz_below(f, 16); i; i--) {
		const float value = number(f);

		memcpy(page + RAYS + fuzz_below(f, words), &value, sizeof(value));
	}
}

/* Set the temporaries of a ray: of good_ray, from column V0 and row V1, or others. */
static u32 put_ray(struct fuzz *f, u32 *at, u32 n)
{
	u32 i, bits;

	for (i = 0; i < PUMICE_RT_RAY_REGS; i++) {
		const bool other = fuzz_below(f, 8) == 1;
		const float value = other ? number(f) : good_ray[i];

		memcpy(&bits, &value, sizeof(bits));
		if (i < 2 && !other)
			usc_put(at, n++, INSN(CVT_F32, .dst = R(RAY + i), .src0 = V(i)));
		else
			usc_put(at, n++, INSN(MOV, .dst = R(RAY + i), .mask = ALWAYS, .src0 = IMM,
					      .imm = bits));
	}
	return n;
}

/* Access the output, or trace the ray. SH0 and SH1 have the address of the stream's page. */
static u32 put_access(struct fuzz *f, u32 *at, u32 n)
{
	const u16 disp = (u16)fuzz_mutate(f, OUTPUT * 4);

	switch (fuzz_below(f, 4)) {
	case 0:
		usc_put(at, n++, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0),
				      .src0 = R(ADDR), .disp = disp,
				      .src1 = R(fuzz_below(f, ADDR))));
		return n;
	case 1:
		usc_put(at, n++, INSN(GLOBAL_LOAD32, .dst = R(RESULT), .mask = ALWAYS,
				      .src2 = SH(0), .src0 = R(ADDR), .disp = disp));
		break;
	case 2:
		usc_put(at, n++, INSN(GLOBAL_ATOMIC, .dst = R(RESULT), .mask = ALWAYS,
				      .src2 = SH(0), .src0 = R(ADDR), .disp = disp,
				      .src1 = R(RAY)));
		break;
	default:
		usc_put(at, n++, INSN(RAY_QUERY, .dst = R(RESULT), .mask = ALWAYS, .src2 = SH(0),
				      .disp = (u16)fuzz_mutate(f, HEADER * 4), .src0 = R(RAY),
				      .func = (u8)fuzz_below(f, PUMICE_USC_RAY_COUNT)));
		break;
	}
	usc_put(at, n++, INSN(SIG_WAIT, .dst = R_ELEM(WAIT)));
	return n;
}

/* A program that generates a ray, or one that accesses memory; sometimes it does not end. */
static u32 put_program(struct fuzz *f, u32 *at, enum kind kind)
{
	u32 n = put_ray(f, at, 0), i;

	usc_put(at, n++, INSN(AND, .dst = R(ADDR), .src0 = V(0), .src1 = IMM, .imm = 60));
	for (i = 0; kind == GENERATE && i < PUMICE_RT_RAY_REGS; i++)
		usc_put(at, n++, INSN(UVSW, .dst = usc_operand(PUMICE_USC_BANK_VO, i, false),
				      .src0 = R(RAY + i)));
	for (i = fuzz_below(f, 4); i; i--)
		n = put_access(f, at, n);
	if (fuzz_below(f, 64) == 1) {
		usc_put(at, n, INSN(JUMP, .target = fuzz_below(f, n)));
		n++;
	}
	usc_put(at, n++, INSN(END));
	return n;
}

/* A PDS program of a few sources, and the program that it starts. */
static void put_stage(struct fuzz *f, struct fx_vm *vm, enum kind kind, u32 words[4])
{
	static const u8 sources[] = {
		PUMICE_PDS_SOURCE_RAY_X, PUMICE_PDS_SOURCE_RAY_Y, PUMICE_PDS_SOURCE_RAY_INDEX,
		PUMICE_PDS_SOURCE_RAY_ORIGIN_X, PUMICE_PDS_SOURCE_RAY_MAX, PUMICE_PDS_SOURCE_RAY_T,
		PUMICE_PDS_SOURCE_RAY_KIND, PUMICE_PDS_SOURCE_LOCAL_X,
	};
	const u32 code = USC_AT + kind * USC_WORDS, at = PDS_AT + kind * PDS_WORDS;
	const u32 insns = put_program(f, vm->code + code, kind), movs = fuzz_below(f, 4);
	const u64 base = stream_va(0);
	const struct pumice_stage stage = {
		.pds_addr = FX_CODE_VA + at * 4, .pds_insns = (u16)fuzz_mutate(f, movs + 4),
		.attrs = (u8)fuzz_mutate(f, 4), .temps = (u8)fuzz_mutate(f, TEMPS),
		.shared = (u16)fuzz_mutate(f, 2), .coeffs = (u16)fuzz_mutate(f, 0) & 1023,
	};
	u32 *pds = vm->code + at;
	u32 i;

	for (i = 0; i < movs + 4; i++, pds += PUMICE_PDS_WORDS) {
		struct pumice_pds_insn insn = { .opcode = PUMICE_PDS_OP_END };

		if (i < movs)
			insn = (struct pumice_pds_insn){
				.opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V,
				.reg = (u16)i,
				.source = sources[fuzz_mutate(f, i) % (kind == GENERATE ? 3 : 8)],
			};
		else if (i < movs + 2)
			insn = (struct pumice_pds_insn){
				.opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH,
				.reg = (u16)(i - movs), .imm = (u32)(base >> (i - movs) * 32),
			};
		else if (i < movs + 3)
			insn = (struct pumice_pds_insn){
				.opcode = PUMICE_PDS_OP_TASK, .insns = fuzz_mutate(f, insns),
				.addr = FX_CODE_VA + fuzz_mutate(f, code) * 4,
			};
		pumice_pds_pack(pds, &insn);
	}
	pumice_stage_pack(words, &stage);
}

static u32 put_state(struct fuzz *f, struct fx_vm *vm, u32 *at, bool generate)
{
	struct pumice_rdm_state state = {
		.any = fuzz_below(f, 2), .structure = stream_va(fuzz_mutate(f, HEADER) & 1008),
		.uniforms = FX_STREAM_VA, .uniform_words = (u16)fuzz_mutate(f, 4),
	};

	if (generate)
		put_stage(f, vm, GENERATE, state.generate);
	if (fuzz_below(f, 8) != 1)
		put_stage(f, vm, HIT, state.hit);
	if (fuzz_below(f, 8) != 1)
		put_stage(f, vm, MISS, state.miss);
	pumice_rdm_state_pack(at, &state);
	return PUMICE_RDM_STATE_WORDS;
}

static u32 put_launch(struct fuzz *f, u32 *at, bool generate)
{
	const struct pumice_rdm_launch launch = {
		.width = fuzz_mutate(f, 1 + fuzz_below(f, 160)), .height = fuzz_mutate(f, 1),
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
		.header = { FWIF_CCCB_RAYS | FWIF_CACHES_ALL, sizeof(job) },
		.stream = FX_STREAM_VA, .seqno = 1,
	};
	struct fuzz f = { data, size };
	struct fixture *r = fx_booted();
	const struct fwif_job_result *result;
	struct fx_context c;
	struct fx_vm vm;
	u32 i;

	fx_vm(r, &vm);
	fx_context_of(r, &vm, FWIF_DM_RDM, 1, &c);
	/* In order of importance: an input may end before all is set. */
	put_stream(&f, &vm, vm.stream, PUMICE_RDM_TYPE_HALT);
	put_structure(&f, vm.stream);
	put_rays(&f, vm.stream);
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
