// SPDX-License-Identifier: MIT
/*
 * Operations and sources that the programs of each data master may use, and other reasons
 * for which they are refused. The table of permissions is repeated here, by name.
 */
#include "stage_fixture.h"

#include <string.h>

#define SHARED	16u
#define ATTRS	20u
#define COEFFS	12u
#define COEFFS_ALT 6u
#define VARYINGS 10u
#define ATTRIBUTES 3u

#define COMPUTE	(1u << USC_STAGE_COMPUTE)
#define VERTEX	(1u << USC_STAGE_VERTEX)
#define FRAGMENT (1u << USC_STAGE_FRAGMENT)
#define TILE	(1u << USC_STAGE_TILE)
#define ALL	(COMPUTE | VERTEX | FRAGMENT | TILE)

struct insn_case {
	const char *what;
	struct pumice_pds_insn insn;
	u32 stages;		/* that may use it */
	enum pumice_fault fault;	/* for those; 0: it is allowed */
};

static const struct insn_case cases[] = {
	{ "ldi sh", LDI(SH, SHARED - 1, 1), ALL, 0 },
	{ "ldi v", LDI(V, ATTRS - 1, 1), ALL, 0 },
	{ "ldi cf", LDI(CF, 0, 1), COMPUTE, 0 },
	{ "dma sh", DMA(SH, 0, SHARED, FX_DATA, 0), ALL, 0 },
	{ "dma v", DMA(V, 0, 2, FX_DATA, 8), COMPUTE | VERTEX, 0 },
	{ "dma cf", DMA(CF, 0, 2, FX_DATA, 0), ALL, 0 },
	{ "dma cf beyond", DMA(CF, COEFFS - 1, 2, FX_DATA, 0), ALL, PUMICE_FAULT_PDS_REGISTER },
	{ "dma cf with a stride", DMA(CF, 0, 2, FX_DATA, 8), ALL, PUMICE_FAULT_PDS_RESERVED },
	{ "ldi cfa", LDI(CFA, COEFFS_ALT - 1, 1), COMPUTE, 0 },
	{ "dma cfa", DMA(CFA, 0, 2, FX_DATA, 0), ALL, 0 },
	{ "dma cfa beyond", DMA(CFA, COEFFS_ALT - 1, 2, FX_DATA, 0), ALL,
	  PUMICE_FAULT_PDS_REGISTER },
	{ "mov group_x", MOV(SH, 0, GROUP_X), COMPUTE, 0 },
	{ "mov task", MOV(V, 0, TASK), COMPUTE, 0 },
	{ "mov local_x", MOV(V, 0, LOCAL_X), COMPUTE, 0 },
	{ "mov global_z", MOV(V, 0, GLOBAL_Z), COMPUTE, 0 },
	{ "mov vertex", MOV(V, ATTRS - 1, VERTEX), VERTEX, 0 },
	{ "mov instance_id", MOV(V, 0, INSTANCE), VERTEX, 0 },
	{ "mov frag_x", MOV(V, 0, FRAG_X), FRAGMENT | TILE, 0 },
	{ "mov frag_y", MOV(V, 0, FRAG_Y), FRAGMENT | TILE, 0 },
	{ "mov sample", MOV(V, 0, SAMPLE), FRAGMENT | TILE, 0 },
	{ "mov frag_z", MOV(V, 0, FRAG_Z), FRAGMENT, 0 },
	{ "mov frag_w", MOV(V, 0, FRAG_W), FRAGMENT, 0 },
	{ "mov front", MOV(V, 0, FRONT), FRAGMENT, 0 },
	{ "mov coverage", MOV(V, 0, COVERAGE), FRAGMENT, 0 },
	{ "attr", ATTR(ATTRS - 4, PUMICE_ATTR_KIND_F32, 4, FX_DATA, 16, 9, 0), VERTEX, 0 },
	{ "attr odd address", ATTR(0, PUMICE_ATTR_KIND_SINT10_2, 1, 0x10001, 3, ~0u, 255), VERTEX,
	  0 },
	{ "fetch", FETCH(ATTRS - 4, ATTRIBUTES - 1), VERTEX, 0 },
	{ "coeff", COEFF(0, VARYINGS - 4, 4), FRAGMENT, 0 },
	{ "coeff of 1/w and depth", COEFF(6, 64, 2), FRAGMENT, 0 },
	{ "iterate", ITERATE(ATTRS - 4, VARYINGS - 4, 4, PERSPECTIVE), FRAGMENT, 0 },
	{ "iterate depth", ITERATE(0, 65, 1, LINEAR), FRAGMENT, 0 },
	{ "texture", TEXTURE(ATTRS - 4, VARYINGS - 2, PERSPECTIVE_CENTROID, 2D, FX_DATA),
	  FRAGMENT, 0 },

	{ "vertex to sh", MOV(SH, 0, VERTEX), VERTEX, PUMICE_FAULT_PDS_SOURCE },
	{ "instance_id to sh", MOV(SH, 0, INSTANCE), VERTEX, PUMICE_FAULT_PDS_SOURCE },
	{ "front to sh", MOV(SH, 0, FRONT), FRAGMENT, PUMICE_FAULT_PDS_SOURCE },
	{ "vertex beyond", MOV(V, ATTRS, VERTEX), VERTEX, PUMICE_FAULT_PDS_REGISTER },
	{ "attr beyond", ATTR(ATTRS - 3, 0, 1, FX_DATA, 4, 9, 0), VERTEX,
	  PUMICE_FAULT_PDS_REGISTER },
	{ "attr of none", ATTR(0, 0, 0, FX_DATA, 4, 9, 0), VERTEX, PUMICE_FAULT_PDS_SOURCE },
	{ "attr of five", ATTR(0, 0, 5, FX_DATA, 4, 9, 0), VERTEX, PUMICE_FAULT_PDS_SOURCE },
	{ "fetch beyond", FETCH(ATTRS - 3, 0), VERTEX, PUMICE_FAULT_PDS_REGISTER },
	{ "fetch past the table", FETCH(0, ATTRIBUTES), VERTEX, PUMICE_FAULT_PDS_SOURCE },
	{ "fetch of the last number", FETCH(0, 31), VERTEX, PUMICE_FAULT_PDS_SOURCE },
	{ "coeff beyond", COEFF(COEFFS - 2, 0, 1), FRAGMENT, PUMICE_FAULT_PDS_REGISTER },
	{ "coeff of none", COEFF(0, 0, 0), FRAGMENT, PUMICE_FAULT_PDS_SOURCE },
	{ "coeff past the varyings", COEFF(0, VARYINGS - 1, 2), FRAGMENT, PUMICE_FAULT_PDS_SOURCE },
	{ "coeff 66", COEFF(0, 66, 1), FRAGMENT, PUMICE_FAULT_PDS_SOURCE },
	{ "coeff past depth", COEFF(0, 65, 2), FRAGMENT, PUMICE_FAULT_PDS_SOURCE },
	{ "coeff 63", COEFF(0, 63, 1), FRAGMENT, PUMICE_FAULT_PDS_SOURCE },
	{ "iterate beyond", ITERATE(ATTRS - 1, 0, 2, LINEAR), FRAGMENT, PUMICE_FAULT_PDS_REGISTER },
	{ "iterate of five", ITERATE(0, 0, 5, LINEAR), FRAGMENT, PUMICE_FAULT_PDS_SOURCE },
	{ "iterate past the varyings", ITERATE(0, VARYINGS, 1, LINEAR), FRAGMENT,
	  PUMICE_FAULT_PDS_SOURCE },
	{ "texture beyond", TEXTURE(ATTRS - 3, 0, LINEAR, 2D, FX_DATA), FRAGMENT,
	  PUMICE_FAULT_PDS_REGISTER },
	{ "texture past the varyings", TEXTURE(0, VARYINGS - 2, LINEAR, 3D, FX_DATA), FRAGMENT,
	  PUMICE_FAULT_PDS_SOURCE },
	{ "texture of 1/w", TEXTURE(0, 64, LINEAR, 1D, FX_DATA), FRAGMENT,
	  PUMICE_FAULT_PDS_SOURCE },
	{ "texture state misaligned", TEXTURE(0, 0, LINEAR, 2D, FX_DATA + 2), FRAGMENT,
	  PUMICE_FAULT_PDS_DMA },
	{ "texture state at the end", TEXTURE(0, 0, LINEAR, 2D, (1ull << 40) - 44), FRAGMENT,
	  PUMICE_FAULT_PDS_DMA },
};

static void each_stage_supports_only_its_operations(void **state)
{
	static const struct pumice_vdm_attribute table[ATTRIBUTES] = { { .comps = 1 } };
	struct pds_program_limits limits = {
		.attribute = table, .attributes = ATTRIBUTES, .shared = SHARED, .attrs = ATTRS,
		.coeffs = COEFFS, .coeffs_alt = COEFFS_ALT, .instances = 128,
		.varyings = VARYINGS,
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (limits.stage = 0; limits.stage <= USC_STAGE_TILE; limits.stage++) {
			const bool has = cases[i].stages >> limits.stage & 1;
			struct pumice_pds_insn out;
			u32 words[PUMICE_PDS_WORDS];
			enum pumice_fault got;

			pumice_pds_pack(words, &cases[i].insn);
			got = pds_decode(words, &limits, &out);
			if (got != (has ? cases[i].fault : PUMICE_FAULT_PDS_STAGE))
				fail_msg("%s in stage %u: fault %u", cases[i].what,
					 limits.stage, got);
		}
	}
}

static void banks_of_graphics_operations_are_fixed(void **state)
{
	static const struct pumice_vdm_attribute entry = { .comps = 1 };
	const struct pds_program_limits vertex = {
		.shared = 4096, .attrs = ATTRS, .coeffs = COEFFS, .coeffs_alt = COEFFS_ALT,
		.stage = USC_STAGE_VERTEX, .attribute = &entry, .attributes = 1,
	};
	const struct pds_program_limits fragment = {
		.shared = 4096, .attrs = ATTRS, .coeffs = COEFFS, .coeffs_alt = COEFFS_ALT,
		.stage = USC_STAGE_FRAGMENT,
		.varyings = VARYINGS,
	};
	struct pumice_pds_insn insn[5] = {
		ATTR(0, 0, 1, FX_DATA, 4, 9, 0), FETCH(0, 0), COEFF(0, 0, 1),
		ITERATE(0, 0, 1, LINEAR), TEXTURE(0, 0, LINEAR, 1D, FX_DATA),
	};
	static const u32 banks[5] = {
		1u << PUMICE_PDS_BANK_V, 1u << PUMICE_PDS_BANK_V,
		1u << PUMICE_PDS_BANK_CF | 1u << PUMICE_PDS_BANK_CFA,
		1u << PUMICE_PDS_BANK_V, 1u << PUMICE_PDS_BANK_V,
	};
	u32 i, b, words[PUMICE_PDS_WORDS];
	struct pumice_pds_insn out;

	(void)state;
	for (i = 0; i < 5; i++) {
		for (b = 0; b <= PUMICE_PDS_BANK_CFA; b++) {
			insn[i].bank = (u8)b;
			pumice_pds_pack(words, &insn[i]);
			assert_int_equal(pds_decode(words, i > 1 ? &fragment : &vertex, &out),
					 banks[i] >> b & 1 ? 0 : PUMICE_FAULT_PDS_REGISTER);
		}
	}
}

static void a_stage_is_loaded_with_its_limits(void **state)
{
	static const struct pumice_pds_insn insns[] = { LDI(SH, 1, 5), TASK, END };
	const struct pumice_stage registers = { .shared = 2, .attrs = 3, .temps = 4, .coeffs = 9,
						.coeffs_alt = 5 };
	const struct pds_stage_limits limits = { .stage = USC_STAGE_FRAGMENT, .outputs = 7, .vo = 0,
						 .varyings = 3 };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_stage stage;

	(void)state;
	assert_true(stage_load(fx, &registers, &limits, insns, 3, &stage));
	assert_int_equal(stage.stage, USC_STAGE_FRAGMENT);
	assert_int_equal(stage.code_addr, FX_CODE);
	assert_int_equal(stage.code->limits.stage, USC_STAGE_FRAGMENT);
	assert_int_equal(stage.code->limits.outputs, 7);
	assert_int_equal(stage.code->limits.coeffs, 9);
	assert_int_equal(stage.code->limits.coeffs_alt, 5);
	assert_int_equal(stage.code->limits.temps, 4);
	pds_stage_drop(fx->pds, &stage);
	pds_stage_drop(fx->pds, &stage);	/* a second call is harmless */
	fx_destroy(fx);
}

/* The caller's state may change between two pieces of a load: only the first one checks it. */
static void later_pieces_have_the_state_that_was_checked(void **state)
{
	static const struct pumice_pds_insn insns[] = { TASK, END };
	const struct pumice_stage checked = {
		.shared = 2, .attrs = 3, .temps = 4, .coeffs = 9, .coeffs_alt = 5,
		.pds_addr = FX_PDS, .pds_insns = 2,
	};
	const struct pumice_stage other = {
		.shared = 4095, .attrs = 255, .temps = 255, .coeffs = 1023, .coeffs_alt = 1023,
	};
	const struct pds_stage_limits limits = { .stage = USC_STAGE_FRAGMENT };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_stage stage = { 0 };
	struct mmu_tlb tlb = { 0 };
	struct pds_launch launch;

	(void)state;
	fx_program(fx, &launch, insns, 2);
	fx->cache.pieces = 2;
	assert_int_equal(pds_stage_load(fx->pds, &tlb, FX_CTX, &checked, &limits, &stage,
					&fx->fault), PDS_LOAD_MORE);
	assert_int_equal(pds_stage_load(fx->pds, &tlb, FX_CTX, &other, &limits, &stage,
					&fx->fault), PDS_LOAD_MORE);
	assert_int_equal(pds_stage_load(fx->pds, &tlb, FX_CTX, &other, &limits, &stage,
					&fx->fault), PDS_LOADED);
	assert_int_equal(stage.state.shared, 2);
	assert_int_equal(stage.state.attrs, 3);
	assert_int_equal(stage.state.temps, 4);
	assert_int_equal(stage.state.coeffs, 9);
	assert_int_equal(stage.state.coeffs_alt, 5);
	assert_int_equal(stage.state.pds_addr, FX_PDS);
	assert_int_equal(stage.code->limits.shared, 2);
	assert_int_equal(stage.code->limits.attrs, 3);
	assert_int_equal(stage.code->limits.temps, 4);
	assert_int_equal(stage.code->limits.coeffs, 9);
	assert_int_equal(stage.code->limits.coeffs_alt, 5);
	pds_stage_drop(fx->pds, &stage);
	fx_destroy(fx);
}

static void a_stage_that_can_never_fit_is_refused(void **state)
{
	static const struct pumice_pds_insn insns[] = { TASK, END };
	const struct pds_stage_limits limits = { .stage = USC_STAGE_FRAGMENT };
	static const struct pumice_stage bad[] = {
		{ .temps = 249 }, { .attrs = 249 }, { .shared = 4097 }, { .coeffs = 1024 },
		{ .coeffs_alt = 1024 },
		/* 4 waves of 248 rows in stores of 512 rows; 600 words in one of 512. */
		{ .temps = 248 }, { .shared = 300, .coeffs = 300 },
		{ .shared = 300, .coeffs = 100, .coeffs_alt = 200 },
	};
	static const struct fx_stores small = { .unified_bytes = 512 * 128, .common_bytes = 512 * 4,
						.local_bytes = 4096 };
	struct fixture *fx;
	struct pds_stage stage;
	u32 i;

	(void)state;
	/* One more than there may be, of each set: the store has room for them. */
	for (i = 0; i < 2; i++) {
		const struct pumice_stage most = { .coeffs = i ? 0 : 1023,
						   .coeffs_alt = i ? 1023 : 0 };
		const struct pumice_stage more = { .coeffs = i ? 0 : 1024,
						   .coeffs_alt = i ? 1024 : 0 };

		fx = fx_create(1, NULL);
		assert_true(stage_load(fx, &most, &limits, insns, 2, &stage));
		pds_stage_drop(fx->pds, &stage);
		assert_false(stage_load(fx, &more, &limits, insns, 2, &stage));
		fx_expect_fault(fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS, 0);
		fx_destroy(fx);
	}
	fx = fx_create(1, &small);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(stage_load(fx, &bad[i], &limits, insns, 2, &stage));
		fx_expect_fault(fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS, 0);
	}
	fx_destroy(fx);
}

/*
 * Documentation/device.rst, "Presets": the sizes of "waves", whose stores have 96 rows of 32 lanes.
 * A task is not divided, though a wave of the stages that are refused would fit.
 */
static void a_stage_has_to_fit_with_a_full_task(void **state)
{
	static const struct pumice_pds_insn insns[] = { TASK, END };
	static const struct fx_stores waves = {
		.unified_bytes = 12 << 10, .common_bytes = FX_COMMON, .local_bytes = FX_LOCAL,
		.batch = 64, .slots = 2, .tasks = 4,
	};
	static const enum usc_stage stages[] = { USC_STAGE_VERTEX, USC_STAGE_FRAGMENT,
						 USC_STAGE_RAYS };
	struct fixture *fx = fx_create(1, &waves);
	u32 i, temps;

	(void)state;
	for (i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		const struct pds_stage_limits limits = {
			.stage = stages[i], .vo = stages[i] == USC_STAGE_FRAGMENT ? 0 : 8,
		};

		for (temps = 40; temps <= 41; temps++) {
			const struct pumice_stage registers = { .temps = (u8)temps, .attrs = 8 };
			struct pds_stage stage;

			assert_int_equal(stage_load(fx, &registers, &limits, insns, 2, &stage),
					 temps == 40);
			if (temps == 40)
				pds_stage_drop(fx->pds, &stage);
			else
				fx_expect_fault(fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS,
						FX_PDS, 0);
		}
	}
	fx_destroy(fx);
}

static void bad_programs_are_refused_by_address(void **state)
{
	static const struct pumice_pds_insn no_task[] = { LDI(SH, 0, 1), END };
	static const struct pumice_pds_insn wrong[] = { TASK, MOV(V, 0, FRAG_X), END };
	static const struct pumice_pds_insn far[] = {
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = 0x90000000, .insns = 1 }, END,
	};
	const struct pumice_stage registers = { .shared = 1, .attrs = 1 };
	const struct pds_stage_limits limits = { .stage = USC_STAGE_VERTEX };
	struct fixture *fx = fx_create(1, NULL);
	struct pds_stage stage;

	(void)state;
	assert_false(stage_load(fx, &registers, &limits, no_task, 2, &stage));
	fx_expect_fault(fx, PUMICE_FAULT_PDS_NO_TASK, PUMICE_UNIT_PDS, FX_PDS + 16, 1);
	assert_false(stage_load(fx, &registers, &limits, wrong, 3, &stage));
	fx_expect_fault(fx, PUMICE_FAULT_PDS_STAGE, PUMICE_UNIT_PDS, FX_PDS + 16, 1);
	assert_false(stage_load(fx, &registers, &limits, far, 2, &stage));
	assert_int_equal(fx->fault.unit, PUMICE_UNIT_USC_CODE);
	assert_int_equal(fx->fault.addr, 0x90000000);
	fx_destroy(fx);
}

/* The smallest memory whose pool has the registers of a wave of rays; a smaller one is refused. */
static void outputs_of_rays_need_rows_of_the_pool(void **state)
{
	static const struct pumice_pds_insn insns[] = { TASK, END };
	const struct pds_stage_limits limits = { .stage = USC_STAGE_RAYS,
						 .vo = PUMICE_RT_RAY_REGS };
	const struct pumice_stage registers = { .pds_addr = FX_PDS, .pds_insns = 2 };
	u32 rows;

	(void)state;
	for (rows = 4 * PUMICE_RT_RAY_REGS - 1; rows <= 4 * PUMICE_RT_RAY_REGS; rows++) {
		const struct fx_stores stores = {
			.unified_bytes = FX_UNIFIED, .common_bytes = FX_COMMON,
			.local_bytes = FX_LOCAL, .vpm_bytes = rows * PUMICE_LANES * 4,
		};
		struct fixture *fx = fx_create(1, &stores);
		struct pds_stage stage = { 0 };
		struct mmu_tlb tlb = { 0 };
		struct pds_launch launch;

		fx_program(fx, &launch, insns, 2);
		assert_int_equal(pds_stage_load(fx->pds, &tlb, FX_CTX, &registers, &limits, &stage,
						&fx->fault),
				 rows < 4 * PUMICE_RT_RAY_REGS ? PDS_LOAD_FAULT : PDS_LOADED);
		if (rows < 4 * PUMICE_RT_RAY_REGS)
			fx_expect_fault(fx, PUMICE_FAULT_PDS_RESOURCE, PUMICE_UNIT_PDS, FX_PDS, 0);
		else
			assert_int_equal(stage.vo_words, PUMICE_RT_RAY_REGS);
		pds_stage_drop(fx->pds, &stage);
		fx_destroy(fx);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stage_supports_only_its_operations),
		cmocka_unit_test(banks_of_graphics_operations_are_fixed),
		cmocka_unit_test(a_stage_is_loaded_with_its_limits),
		cmocka_unit_test(later_pieces_have_the_state_that_was_checked),
		cmocka_unit_test(a_stage_that_can_never_fit_is_refused),
		cmocka_unit_test(a_stage_has_to_fit_with_a_full_task),
		cmocka_unit_test(bad_programs_are_refused_by_address),
		cmocka_unit_test(outputs_of_rays_need_rows_of_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
