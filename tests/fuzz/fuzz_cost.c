// SPDX-License-Identifier: MIT
/*
 * A compute job of maximum cost: launches of the longest programs, all of them
 * different and endless, so that the cache must keep them; PDS programs that
 * read memory for each instance in each instruction; programs that read textures with
 * the most samples. Through the real firmware.
 *
 * Rules: those of oracle.h; the job ends, or can be killed; the next job works.
 */
#include "enc.h"
#include "host.h"
#include "oracle.h"
#include "../unit/support/number.h"
#include "oracle.h"

/* Pages of the VM mapped to the same memory: a program of that length. */
#define LONG_PAGE	256u
#define LONG_VA		(FX_STREAM_VA + LONG_PAGE * 4096ull)
#define LONG_INSNS	(4096u / (PUMICE_USC_WORDS * 4u))	/* in a page */
#define LONG_PAGES	(PUMICE_USC_MAX_INSNS / LONG_INSNS)
#define READS_PAGE	2u
#define READS_VA	(FX_STREAM_VA + READS_PAGE * 4096ull)
#define DATA_PAGE	3u	/* read by them: also one page */
#define DATA_VA		(FX_STREAM_VA + DATA_PAGE * 4096ull)
#define DATA_PAGES	128u

#define SAMPLE_PAGE	(DATA_PAGE + DATA_PAGES)	/* a program of texture instructions */
#define SAMPLE_VA	(FX_STREAM_VA + SAMPLE_PAGE * 4096ull)
#define SAMPLE_INSNS	200u

#define MAX_LAUNCHES	24u
#define PATIENCE	4000u	/* polls of the job before it is killed */
#define TASK_WORDS	(2 * PUMICE_PDS_WORDS)

static u64 map_page(struct fixture *r, struct fx_vm *vm, u32 page, u32 count)
{
	const u64 bus = testmem_alloc(r->tm, 4096, 4096);
	const struct pumice_mmu_pt_entry entry = { .valid = true, .addr = bus };

	while (count--)
		vm->pt[page + count] = pumice_mmu_pt_entry_pack64(&entry);
	return bus;
}

/* An endless loop, and unreachable code that must be loaded. */
static void put_long_program(struct fixture *r, struct fx_vm *vm)
{
	u32 *code = testmem_host(r->tm, map_page(r, vm, LONG_PAGE, LONG_PAGES)), i;

	usc_put(code, 0, INSN(JUMP));
	for (i = 1; i < LONG_INSNS; i++)
		usc_put(code, i, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = i));
}

/* Of the data page; 16 samples of two levels each. */
static void put_texture(u32 *at)
{
	const struct pumice_texture texture = {
		.addr = DATA_VA, .format = PUMICE_FORMAT_RGBA8_UNORM,
		.layout = PUMICE_LAYOUT_TWIDDLED, .dim = PUMICE_TEXTURE_DIM_2D, .levels = 8,
		.width = 127, .height = 127, .swizzle_g = PUMICE_SWIZZLE_G,
		.swizzle_b = PUMICE_SWIZZLE_B, .swizzle_a = PUMICE_SWIZZLE_A,
	};
	const struct pumice_sampler sampler = {
		.min_linear = true, .mag_linear = true, .mip_filter = PUMICE_MIP_FILTER_LINEAR,
		.aniso_log2 = 4, .max_lod = 4,
	};

	pumice_texture_pack(at, &texture);
	pumice_sampler_pack(at + PUMICE_TEXTURE_WORDS, &sampler);
}

/* Texture instructions, after a PDS program that loads the state. */
static void put_samples(struct fixture *r, struct fx_vm *vm)
{
	const struct pumice_pds_insn pds[] = {
		{ .opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH,
		  .count = PUMICE_TEXTURE_WORDS + PUMICE_SAMPLER_WORDS, .addr = DATA_VA },
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = SAMPLE_VA + 4 * PUMICE_PDS_WORDS * 4,
		  .insns = SAMPLE_INSNS + 3 },
		{ .opcode = PUMICE_PDS_OP_END },
	};
	u32 *words = testmem_host(r->tm, map_page(r, vm, SAMPLE_PAGE, 1)), *code, i;

	for (i = 0; i < 3; i++)
		pumice_pds_pack(words + i * PUMICE_PDS_WORDS, &pds[i]);
	code = words + 4 * PUMICE_PDS_WORDS;
	usc_put(code, 0, INSN(MOV, .dst = R(8), .mask = ALWAYS, .src0 = IMM,
			      .imm = number_bits(0.07f)));
	usc_put(code, 1, INSN(MOV, .dst = R(11), .mask = ALWAYS, .src0 = IMM,
			      .imm = number_bits(1)));
	for (i = 2; i < SAMPLE_INSNS + 2; i++)
		usc_put(code, i, INSN(SAMPLE_GRAD, .type = F32, .dst = R(4),
				      .func = PUMICE_TEXTURE_DIM_2D, .mask = ALWAYS,
				      .src0 = R(0), .src1 = R(8), .src2 = SH(0)));
	usc_put(code, i, INSN(END));
}

/* The maximum number of instructions, each of which reads a word for each instance. */
static void put_reads(struct fixture *r, struct fx_vm *vm, struct fuzz *f)
{
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA, .insns = 1,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };
	u32 *pds = testmem_host(r->tm, map_page(r, vm, READS_PAGE, 1)), i;
	const u32 stride = 8 + fuzz_below(f, 64) * 4;

	put_texture(testmem_host(r->tm, map_page(r, vm, DATA_PAGE, DATA_PAGES)));
	for (i = 0; i < PUMICE_PDS_MAX_INSNS - 2; i++) {
		const struct pumice_pds_insn dma = {
			.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_V,
			.reg = (u16)(i % 4), .count = 1, .addr = DATA_VA, .stride = (u16)stride,
		};

		pumice_pds_pack(pds + i * PUMICE_PDS_WORDS, &dma);
	}
	pumice_pds_pack(pds + i * PUMICE_PDS_WORDS, &task);
	pumice_pds_pack(pds + (i + 1) * PUMICE_PDS_WORDS, &end);
	usc_put(vm->code, 0, INSN(END));
}

static u32 *put_launch(u32 *at, const struct pumice_cdm_state *state, u32 groups)
{
	const struct pumice_cdm_launch launch = {
		.groups_x = groups, .groups_y = 1, .groups_z = 1,
	};

	pumice_cdm_state_pack(at, state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &launch);
	return at + PUMICE_CDM_LAUNCH_WORDS;
}

/* Load the long program without its last @n instructions: a new program to the cache. */
static u32 *launch_long(struct fx_vm *vm, struct fuzz *f, u32 *at, u32 n)
{
	const u32 words = PUMICE_USC_WORDS + n * TASK_WORDS;
	const struct pumice_pds_insn task = {
		.opcode = PUMICE_PDS_OP_TASK, .addr = LONG_VA,
		.insns = PUMICE_USC_MAX_INSNS - n,
	};
	const struct pumice_pds_insn end = { .opcode = PUMICE_PDS_OP_END };
	const struct pumice_cdm_state state = {
		.pds_addr = FX_CODE_VA + words * 4, .pds_insns = 2,
		.temps = (u8)(1 + fuzz_below(f, 4)), .size_x = 1, .size_y = 1, .size_z = 1,
	};

	pumice_pds_pack(vm->code + words, &task);
	pumice_pds_pack(vm->code + words + PUMICE_PDS_WORDS, &end);
	return put_launch(at, &state, 1);
}

static u32 *launch_reads(struct fuzz *f, u32 *at)
{
	const struct pumice_cdm_state state = {
		.pds_addr = READS_VA, .pds_insns = PUMICE_PDS_MAX_INSNS, .attrs = 4, .temps = 1,
		.size_x = (u16)(1024 >> fuzz_below(f, 3)), .size_y = 1, .size_z = 1,
	};

	return put_launch(at, &state, 1 + fuzz_below(f, 4));
}

static u32 *launch_samples(u32 *at)
{
	const struct pumice_cdm_state state = {
		.pds_addr = SAMPLE_VA, .pds_insns = 3, .temps = 12,
		.shared = PUMICE_TEXTURE_WORDS + PUMICE_SAMPLER_WORDS,
		.size_x = 128, .size_y = 1, .size_z = 1,
	};

	return put_launch(at, &state, 1);
}

static u32 *put_any(struct fx_vm *vm, struct fuzz *f, u32 *at, u32 n)
{
	switch (fuzz_below(f, 4)) {
	case 0:
		return launch_reads(f, at);
	case 1:
		return launch_samples(at);
	default:
		return launch_long(vm, f, at, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	u32 launches, *at, i;

	/* Other data masters have no programs in this test. */
	oracle_limit_memory(USC_CACHE_CDM_BYTES + USC_CACHE_IDLE_BYTES + ORACLE_REST_BYTES);
	fx_vm(r, &vm);
	fx_context(r, &vm, 1, &c);
	put_long_program(r, &vm);
	put_reads(r, &vm, &f);
	put_samples(r, &vm);
	at = vm.stream;
	launches = 1 + fuzz_below(&f, MAX_LAUNCHES);
	for (i = 0; i < launches; i++)
		at = put_any(&vm, &f, at, i);
	*at = PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
	fx_compute(&c, FX_STREAM_VA, 1);
	fx_update(&c, c.object_addr, 1);
	fx_put_kick(r, &c);
	fx_kick(r);
	host_end_job(r, &c, 1, PATIENCE, NULL);
	host_check_job(r);
	fx_destroy(r);
	return 0;
}
