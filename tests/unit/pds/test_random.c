// SPDX-License-Identifier: MIT
/*
 * Random valid PDS programs of every data master against a scalar model: all registers of all
 * instances, and those of lanes that have none. Every operation, bank, source, format, mode and
 * number of components occurs.
 */
#include <string.h>

#include "random.h"

#define ROUNDS	400u	/* of each stage */

static struct random_case c;
static struct random_registers want;
static struct random_coverage coverage;

static bool is_nan(u32 word)
{
	return (word & 0x7fffffff) > 0x7f800000;
}

static void print_program(void)
{
	u32 i;

	for (i = 0; i < c.count; i++) {
		const struct pumice_pds_insn *n = &c.insn[i];

		print_message("%u: op %u bank %u reg %u source %u count %u addr 0x%llx stride %u "
			      "kind %u comps %u elements %u divisor %u attribute %u varying %u "
			      "mode %u dim %u\n", i, n->opcode, n->bank, n->reg, n->source,
			      n->count, (unsigned long long)n->addr, n->stride, n->kind, n->comps,
			      n->elements, n->divisor, n->attribute, n->varying, n->mode, n->dim);
	}
}

static void compare(const char *bank, u32 task, u32 instance, u32 reg, u32 got, u32 expected)
{
	if (got == expected || (is_nan(got) && is_nan(expected)))
		return;
	print_program();
	fail_msg("stage %u task %u instance %u %s%u: 0x%x, not 0x%x", c.stage, task, instance, bank,
		 reg, got, expected);
}

/* Compare all registers of a group; instances of a task that are not there read 0. */
static void compare_all(struct usc *usc, unsigned int group)
{
	u32 first, left, n, reg, task;

	for (first = 0, task = 0; first < c.instances; first += RANDOM_TASK, task++) {
		left = c.instances - first < RANDOM_TASK ? c.instances - first : RANDOM_TASK;
		for (n = 0; n < (left + PUMICE_LANES - 1) / PUMICE_LANES * PUMICE_LANES; n++)
			for (reg = 0; reg < RANDOM_ATTRS; reg++)
				compare("v", task, n, reg,
					fake_usc_attr_lane(usc, group, task, n / PUMICE_LANES,
							   n % PUMICE_LANES, reg),
					want.v[task][n][reg]);
		for (reg = 0; reg < RANDOM_SHARED; reg++)
			compare("sh", task, 0, reg, fake_usc_shared(usc, group, first, reg),
				want.sh[task][reg]);
		for (reg = 0; reg < c.prims * RANDOM_COEFFS; reg++)
			compare("cf", task, 0, reg, fake_usc_coeff(usc, group, first, reg),
				want.cf[task][reg]);
		for (reg = 0; reg < c.prims * RANDOM_ALT; reg++)
			compare("cfa", task, 0, reg, fake_usc_coeff_alt(usc, group, first, reg),
				want.cfa[task][reg]);
	}
}

/* ------------------------------------------------------------------ compute */

static void run_compute(struct fixture *fx)
{
	struct pds_launch launch = fx_launch(c.size[0], c.size[1], c.size[2]);

	launch.state.shared = RANDOM_SHARED;
	launch.state.attrs = RANDOM_ATTRS;
	launch.state.coeffs = RANDOM_COEFFS;
	launch.state.coeffs_alt = RANDOM_ALT;
	launch.grid.groups_x = c.groups[0];
	launch.grid.groups_y = c.groups[1];
	launch.grid.groups_z = c.groups[2];
	fx_program(fx, &launch, c.insn, c.count);
	assert_true(fx_begin(fx, &launch));
	assert_int_equal(fx_group(fx, c.id[0], c.id[1], c.id[2], 0), PDS_STARTED);
	compare_all(fx->usc[0], 0);
	fx_finish_all(fx);
	fx_end(fx);
}

/* ------------------------------------------------------------------ other data masters */

static enum pds_dm master_of(u32 stage)
{
	switch (stage) {
	case USC_STAGE_VERTEX:
		return PDS_DM_VDM;
	case USC_STAGE_FRAGMENT:
	case USC_STAGE_TILE:
		return PDS_DM_PDM;
	default:
		return PDS_DM_RDM;
	}
}

static struct pds_stage_limits limits_of(u32 stage)
{
	return (struct pds_stage_limits){
		.stage = (u8)stage,
		.vo = stage == USC_STAGE_VERTEX ? 4 :
		      stage == USC_STAGE_RAYS ? PUMICE_RT_RAY_REGS : 0,
		.outputs = stage == USC_STAGE_FRAGMENT || stage == USC_STAGE_TILE ? 4 : 0,
		.varyings = RANDOM_VARYINGS, .attribute = c.table, .attributes = RANDOM_TABLE,
	};
}

/* Inputs of the tasks, in the form of the PDS. */
struct inputs {
	struct pds_vertices vertices;
	struct pds_rays rays;
	struct itr_prim prim[RANDOM_PRIMS];
	struct usc_gfx gfx;
	struct pds_fragments fragments;
	struct tag tag;
	struct half half;
};

static void put_inputs(struct inputs *in)
{
	u32 i;

	memset(in, 0, sizeof(*in));
	in->vertices = (struct pds_vertices){
		.vertex = c.vertex, .instance = c.instance, .base_instance = c.base_instance,
		.count = c.instances,
	};
	in->rays = (struct pds_rays){
		.index = c.index, .width = c.width, .count = c.instances, .ray = c.ray,
		.result = c.result,
	};
	for (i = 0; i < RANDOM_PRIMS; i++)
		in->prim[i] = (struct itr_prim){ .plane = c.plane[i], .front = i % 2 };
	in->gfx = (struct usc_gfx){
		.stage = (u8)c.stage, .sample = c.sample, .tile = &c.tile, .span = c.span,
		.spans = c.instances / 4, .coeffs = RANDOM_COEFFS,
	};
	in->fragments = (struct pds_fragments){
		.gfx = &in->gfx, .prim = in->prim, .prims = c.prims, .varyings = RANDOM_VARYINGS,
	};
	in->tag.rows = pumice_usc_texture_coords(c.dim);
	in->half.tag = in->half.titr.tag = &in->tag;
}

/* Do a piece of filling the task. */
static bool fill(struct fixture *fx, const struct pds_place *place, const struct pds_stage *stage,
		 struct inputs *in, u32 *pc)
{
	static struct mmu_tlb tlb;

	memset(&tlb, 0, sizeof(tlb));
	switch (master_of(c.stage)) {
	case PDS_DM_VDM:
		return pds_fill_vertices(fx->pds, place, stage, &in->vertices, &tlb, pc,
					 &fx->fault);
	case PDS_DM_PDM:
		return pds_fill_fragments(fx->pds, place, stage, &in->fragments, &in->half, &tlb,
					  pc, &fx->fault);
	default:
		return pds_fill_rays(fx->pds, place, stage, &in->rays, &tlb, pc, &fx->fault);
	}
}

static void run_task(struct fixture *fx)
{
	const struct pumice_stage registers = {
		.attrs = RANDOM_ATTRS, .temps = 1, .shared = RANDOM_SHARED,
		.coeffs = RANDOM_COEFFS, .coeffs_alt = RANDOM_ALT,
	};
	const struct pds_stage_limits limits = limits_of(c.stage);
	const enum pds_dm dm = master_of(c.stage);
	struct pds_stage stage;
	struct pds_place place;
	struct inputs in;
	u32 pc = 0;

	put_inputs(&in);
	if (!stage_load(fx, &registers, &limits, c.insn, c.count, &stage))
		fail_msg("stage %u refused: fault %u at %u", c.stage, fx->fault.fault,
			 fx->fault.pc);
	assert_int_equal(pds_task_claim(fx->pds, dm, 0, &stage, c.instances, c.prims, &place,
					&fx->fault), PDS_STARTED);
	while (pc < stage.program.insns)
		assert_true(fill(fx, &place, &stage, &in, &pc));
	pds_task_start(fx->pds, dm, &place, &in.gfx);
	compare_all(fx->usc[place.usc], place.group);
	fx_finish_all(fx);
	pds_stage_drop(fx->pds, &stage);
}

static void check_stage(u32 stage)
{
	struct fixture *fx = fx_create(stage == USC_STAGE_COMPUTE ? 1 : FX_USCS_PER_CORE, NULL);
	struct stage_owner owner;
	u32 seed = 4711 + stage, round;

	c.data = fx->data;
	if (stage != USC_STAGE_COMPUTE)
		stage_own(fx, master_of(stage), &owner);
	for (round = 0; round < ROUNDS; round++) {
		random_make(&c, stage, &seed, &coverage);
		random_model(&c, &want);
		if (stage == USC_STAGE_COMPUTE)
			run_compute(fx);
		else
			run_task(fx);
	}
	fx_destroy(fx);
}

static void programs_of_compute_tasks_agree_with_the_model(void **state)
{
	(void)state;
	check_stage(USC_STAGE_COMPUTE);
}

static void programs_of_vertex_tasks_agree_with_the_model(void **state)
{
	(void)state;
	check_stage(USC_STAGE_VERTEX);
}

static void programs_of_fragment_tasks_agree_with_the_model(void **state)
{
	(void)state;
	check_stage(USC_STAGE_FRAGMENT);
	check_stage(USC_STAGE_TILE);
}

static void programs_of_ray_tasks_agree_with_the_model(void **state)
{
	(void)state;
	check_stage(USC_STAGE_RAYS);
	check_stage(USC_STAGE_HIT);
}

/* ------------------------------------------------------------------ coverage */

/* Return whether programs of any stage had an operation that writes a bank. */
static bool had(u32 op, u32 bank)
{
	u32 stage;

	for (stage = 0; stage < RANDOM_STAGES; stage++)
		if (coverage.op[stage][op][bank])
			return true;
	return false;
}

static void check_values(void)
{
	u32 n, comps;

	for (n = 0; n < 256; n++) {
		if (pumice_pds_source_valid(n) && !coverage.source[n][PUMICE_PDS_BANK_V])
			fail_msg("source %u is in no program", n);
		for (comps = 1; comps <= 4; comps++) {
			if (pumice_attr_kind_valid(n))
				assert_true(coverage.attribute[0][n][comps] &&
					    coverage.attribute[1][n][comps]);
			if (pumice_usc_iterate_valid(n))
				assert_true(coverage.iterate[n][comps]);
		}
	}
	for (comps = 1; comps <= 4; comps++)
		assert_true(coverage.coeff[comps]);
	for (n = 0; n < 2; n++)
		assert_true(coverage.divisor[n] && coverage.elements[n] && coverage.plane[n]);
	for (n = 0; n < 3; n++)
		assert_true(coverage.stride[n]);
}

/* After the others: each operation of hw/isa.xml, with all of its banks and operands. */
static void every_operation_and_operand_occurs(void **state)
{
	u32 n, bank, mode;

	(void)state;
	for (n = 0; n < PUMICE_PDS_OPS; n++) {
		const u32 op = pumice_pds_ops[n].opcode;

		for (bank = 0; bank < 4 && !had(op, bank); bank++)
			;
		if (bank == 4)
			fail_msg("operation 0x%x is in no program", op);
	}
	for (bank = 0; bank < 4; bank++)
		assert_true(had(PUMICE_PDS_OP_LDI, bank) && had(PUMICE_PDS_OP_MOV, bank) &&
			    had(PUMICE_PDS_OP_DMA, bank));
	assert_true(had(PUMICE_PDS_OP_COEFF, PUMICE_PDS_BANK_CF) &&
		    had(PUMICE_PDS_OP_COEFF, PUMICE_PDS_BANK_CFA));
	for (n = 0; n <= PUMICE_PDS_SOURCE_TASK; n++)
		for (bank = 0; bank < 4; bank++)
			assert_true(coverage.source[n][bank]);
	for (mode = 0; mode < 256; mode++)
		for (n = 0; n < 256; n++)
			if (pumice_usc_iterate_valid(mode) && pumice_texture_dim_valid(n) &&
			    pumice_usc_texture_coords(n))
				assert_true(coverage.texture[mode][n]);
	check_values();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_of_compute_tasks_agree_with_the_model),
		cmocka_unit_test(programs_of_vertex_tasks_agree_with_the_model),
		cmocka_unit_test(programs_of_fragment_tasks_agree_with_the_model),
		cmocka_unit_test(programs_of_ray_tasks_agree_with_the_model),
		cmocka_unit_test(every_operation_and_operand_occurs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
