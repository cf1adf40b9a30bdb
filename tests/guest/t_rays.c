// SPDX-License-Identifier: MIT
/* Contexts of rays: results of launches, statistics, faults, order, time-outs, arguments. */
#include <errno.h>
#include <string.h>

#include "fixture.h"
#include "harness.h"
#include "parameters.h"
#include "pumice_formats.h"
#include "pumice_regs.h"
#include "system.h"

#define RAYS		200u
#define HIT_VALUE	0x10000u
#define MISS_VALUE	0x20000u
#define STRUCTURE_WORD	4096u	/* of the fixture's data: header, node, leaf */
#define RAYS_WORD	8192u
#define TRACED_WORD	1024u	/* results of the second launch */

/** struct rays_fixture - a fixture whose context is one of rays */
struct rays_fixture {
	struct fixture fx;
	u32 compute;	/* original context of the fixture */
};

/* One triangle, (0, 0), (8, 0), (0, 8) at z = 4, in one node. */
static void write_structure(struct fixture *fx)
{
	static const float corner[3][3] = { { 0, 0, 4 }, { 8, 0, 4 }, { 0, 8, 4 } };
	struct pumice_rt_header header = { .nodes = 1, .leaves = 1, .high = { 8, 8, 4 } };
	struct pumice_rt_child_ref child = { .kind = PUMICE_RT_CHILD_LEAF };
	struct pumice_rt_triangle triangle = { .primitive = 7 };
	struct pumice_rt_node node = { 0 };
	u32 *at = fx->data.cpu + STRUCTURE_WORD;

	header.low[2] = 4;
	header.node_addr = fx_data(fx, STRUCTURE_WORD + 32);
	header.leaf_addr = fx_data(fx, STRUCTURE_WORD + 64);
	node.high_x[0] = node.high_y[0] = 8;
	node.low_z[0] = node.high_z[0] = 4;
	pumice_rt_child_ref_pack(&node.child[0], &child);
	memcpy(triangle.v0, corner[0], sizeof(corner[0]));
	memcpy(triangle.v1, corner[1], sizeof(corner[1]));
	memcpy(triangle.v2, corner[2], sizeof(corner[2]));
	pumice_rt_header_pack(at, &header);
	pumice_rt_node_pack(at + 32, &node);
	pumice_rt_triangle_pack(at + 64, &triangle);
}

static bool hits(u32 ray)
{
	return ray % 3 == 0;
}

/* Every third ray hits the triangle, the others pass it. */
static void write_rays(struct fixture *fx)
{
	u32 i;

	for (i = 0; i < RAYS; i++) {
		const struct pumice_rdm_ray ray = {
			.origin = { hits(i) ? 1.5f : -1.5f, 2, 0 }, .direction = { 0, 0, 1 },
			.max = 100,
		};

		pumice_rdm_ray_pack(fx->data.cpu + RAYS_WORD + i * PUMICE_RDM_RAY_WORDS, &ray);
	}
}

static struct rays_fixture rays_fixture(void)
{
	struct rays_fixture g = { .fx = fx_open() };

	g.compute = g.fx.context;
	g.fx.context = need_context_of(g.fx.fd, g.fx.vm, DRM_PUMICE_CONTEXT_RAYS);
	write_structure(&g.fx);
	write_rays(&g.fx);
	return g;
}

/* A stage: v0 is the number of the ray, sh0 to sh2 an address and a value. */
static void place_stage(struct fixture *fx, const struct shader *shader, u64 va, u32 value,
			u32 words[4])
{
	const u64 code = fx_place(fx, shader->words, shader->insns * 4);
	const struct pumice_pds_insn insns[] = {
		{ .opcode = PUMICE_PDS_OP_LDI, .imm = (u32)va },
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 1, .imm = (u32)(va >> 32) },
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 2, .imm = value },
		{ .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V,
		  .source = PUMICE_PDS_SOURCE_RAY_INDEX },
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = code, .insns = shader->insns },
		{ .opcode = PUMICE_PDS_OP_END },
	};
	struct pumice_stage stage = {
		.pds_insns = sizeof(insns) / sizeof(insns[0]), .shared = 8, .attrs = 1,
		.temps = SHADER_TEMPS,
	};
	u32 pds[sizeof(insns) / sizeof(insns[0]) * 4], i;

	for (i = 0; i < stage.pds_insns; i++) {
		struct pumice_pds_insn insn = insns[i];

		if (insn.opcode == PUMICE_PDS_OP_LDI)
			insn.bank = PUMICE_PDS_BANK_SH;
		pumice_pds_pack(pds + i * 4, &insn);
	}
	stage.pds_addr = fx_place(fx, pds, stage.pds_insns * 4u);
	pumice_stage_pack(words, &stage);
}

/* A stream of one launch whose hits run a shader; @va: of the results. */
static u64 launch_stream(struct fixture *fx, const struct shader *hit, u64 va, u64 rays)
{
	struct pumice_rdm_state state = { .structure = fx_data(fx, STRUCTURE_WORD) };
	const struct pumice_rdm_launch launch = { .width = RAYS / 4, .height = 4, .rays = rays };
	const struct shader store = shader_store();
	u32 words[PUMICE_RDM_STATE_WORDS + PUMICE_RDM_LAUNCH_WORDS + 1];

	place_stage(fx, hit, va, HIT_VALUE, state.hit);
	place_stage(fx, &store, va, MISS_VALUE, state.miss);
	pumice_rdm_state_pack(words, &state);
	pumice_rdm_launch_pack(words + PUMICE_RDM_STATE_WORDS, &launch);
	pumice_cdm_halt_pack(words + PUMICE_RDM_STATE_WORDS + PUMICE_RDM_LAUNCH_WORDS,
			     &(struct pumice_cdm_halt){ 0 });
	return fx_place(fx, words, sizeof(words) / sizeof(words[0]));
}

static u64 usual_stream(struct fixture *fx, u64 va)
{
	const struct shader store = shader_store();

	return launch_stream(fx, &store, va, fx_data(fx, RAYS_WORD));
}

static void check_results(const u32 *words)
{
	u32 i;

	for (i = 0; i < RAYS; i++)
		CHECK_EQUAL(words[i], (hits(i) ? HIT_VALUE : MISS_VALUE) + i);
	CHECK_EQUAL(words[RAYS], 0);
}

static void check_works(struct rays_fixture *g)
{
	memset(g->fx.data.cpu, 0, (RAYS + 1) * sizeof(u32));
	CHECK_EQUAL(fx_run(&g->fx, usual_stream(&g->fx, g->fx.data.va)), 1);
	check_results(g->fx.data.cpu);
}

static void hits_and_misses_run_their_programs(void)
{
	struct rays_fixture g = rays_fixture();
	struct drm_pumice_job_get_result result;

	check_works(&g);
	CHECK_OK(gpu_job_result(g.fx.fd, g.fx.context, 0, &result));
	CHECK(result.groups >= 2);	/* tasks */
}

static void statistics_count_rays(void)
{
	struct rays_fixture g = rays_fixture();
	struct drm_pumice_query_stats before = need_stats(g.fx.fd), after;

	check_works(&g);
	after = need_stats(g.fx.fd);
	CHECK(after.rays_busy > before.rays_busy);
	CHECK_EQUAL(after.compute_busy, before.compute_busy);
	CHECK_EQUAL(after.transfer_busy, before.transfer_busy);
	need_flr();
	CHECK_EQUAL(need_stats(g.fx.fd).rays_busy, after.rays_busy);
}

/* Rays read what compute wrote, and compute what rays wrote. */
static void rays_and_compute_wait_for_each_other(void)
{
	struct rays_fixture g = rays_fixture();
	u32 first = need_sync(g.fx.fd), second = need_sync(g.fx.fd);
	struct drm_pumice_sync syncs[] = {
		then_signal(first, 0), wait_for(first, 0), then_signal(second, 0),
		wait_for(second, 0), then_signal(g.fx.sync, 0),
	};
	const u64 va = g.fx.data.va, to = fx_data(&g.fx, TRACED_WORD);
	const u64 flag = fx_data(&g.fx, RAYS_WORD + 7);	/* greatest t of ray 0 */
	const struct shader one = shader_store_one();
	const struct drm_pumice_job jobs[] = {
		{ .context = g.compute, .stream = fx_stream(&g.fx, &(struct launch){
			.shader = &one, .params = { (u32)flag, (u32)(flag >> 32), 0 } }),
		  .syncs = ARRAY_OF(syncs, 1) },
		{ .context = g.fx.context, .stream = usual_stream(&g.fx, va),
		  .syncs = ARRAY_OF(syncs + 1, 2) },
		{ .context = g.compute, .stream = fx_copy_stream(&g.fx, to, va, 1),
		  .syncs = ARRAY_OF(syncs + 3, 2) },
	};

	CHECK_OK(gpu_submit(g.fx.fd, jobs, 3, NULL));
	CHECK_EQUAL(fx_wait(&g.fx), 1);
	CHECK_EQUAL(g.fx.data.cpu[TRACED_WORD], MISS_VALUE + 1);	/* ray 0 ends at once */
	CHECK_EQUAL(g.fx.data.cpu[TRACED_WORD + 3], HIT_VALUE + 4);
}

static void faults_are_reported_and_the_context_continues(void)
{
	static const u32 nonsense[] = { 0xffffffff, 0, 0, 0 };
	const struct shader store = shader_store();
	struct rays_fixture g = rays_fixture();
	struct drm_pumice_context_get_state state;

	CHECK_EQUAL(fx_run(&g.fx, FX_FREE), -EIO);
	state = need_state(g.fx.fd, g.fx.context);
	CHECK_EQUAL(state.fault_va, FX_FREE);
	CHECK(state.state & DRM_PUMICE_CONTEXT_FAULTED);
	CHECK_EQUAL(fx_run(&g.fx, fx_place(&g.fx, nonsense, 4)), -EIO);
	CHECK_EQUAL(need_state(g.fx.fd, g.fx.context).fault, PUMICE_FAULT_RDM_COMMAND);
	CHECK_EQUAL(fx_run(&g.fx, usual_stream(&g.fx, FX_FREE + PAGE)), -EIO);
	CHECK_EQUAL(fx_run(&g.fx, launch_stream(&g.fx, &store, g.fx.data.va, FX_FREE)), -EIO);
	state = need_state(g.fx.fd, g.fx.context);
	CHECK_EQUAL(state.fault_va, FX_FREE);
	CHECK_EQUAL(state.unit, PUMICE_UNIT_RDM);
	check_works(&g);
}

static void endless_program_costs_its_context(void)
{
	const struct shader spin = shader_spin();
	long usual = module_parameter("job_timeout_ms");
	struct rays_fixture g, other = rays_fixture();
	int status;

	CHECK_OK(set_module_parameter("job_timeout_ms", 500));
	g = rays_fixture();
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	status = fx_run(&g.fx, launch_stream(&g.fx, &spin, g.fx.data.va,
					     fx_data(&g.fx, RAYS_WORD)));
	CHECK_EQUAL(status, -ETIMEDOUT);
	CHECK(need_state(g.fx.fd, g.fx.context).state & DRM_PUMICE_CONTEXT_GUILTY);
	check_works(&other);
}

static void rays_run_in_parallel_with_compute(void)
{
	struct rays_fixture g = rays_fixture();
	struct fixture compute = g.fx;

	compute.context = g.compute;
	compute.sync = need_sync(g.fx.fd);
	fx_block(&compute);
	g.fx.used = compute.used;
	check_works(&g);
	CHECK(sync_is_pending(g.fx.fd, compute.sync, 0));
}

static void context_destroyed_while_busy_ends_its_jobs(void)
{
	struct rays_fixture g = rays_fixture();
	u32 i;

	for (i = 0; i < 20; i++)
		fx_submit(&g.fx, usual_stream(&g.fx, g.fx.data.va));
	CHECK_OK(gpu_context_destroy(g.fx.fd, g.fx.context));
	CHECK(fx_wait(&g.fx) != 0);
	g.fx.context = need_context_of(g.fx.fd, g.fx.vm, DRM_PUMICE_CONTEXT_RAYS);
	check_works(&g);
}

static void bad_arguments_are_refused(void)
{
	struct rays_fixture g = rays_fixture();
	struct drm_pumice_job job = { .context = g.fx.context, .stream = g.fx.code.va };
	u32 context, failed;

	CHECK_ERROR(gpu_context_create_of(g.fx.fd, g.fx.vm, DRM_PUMICE_CONTEXT_RAYS + 1, &context),
		    EINVAL);
	CHECK_ERROR(gpu_context_create_of(g.fx.fd, NO_HANDLE, DRM_PUMICE_CONTEXT_RAYS, &context),
		    ENOENT);
	job.type = DRM_PUMICE_JOB_GEOMETRY;
	CHECK_ERROR(gpu_submit(g.fx.fd, &job, 1, &failed), EINVAL);
	job.type = DRM_PUMICE_JOB_FRAGMENT + 1;
	CHECK_ERROR(gpu_submit(g.fx.fd, &job, 1, &failed), EINVAL);
	check_works(&g);
}

static const struct test_case cases[] = {
	TEST_CASE(hits_and_misses_run_their_programs),
	TEST_CASE(statistics_count_rays),
	TEST_CASE(rays_and_compute_wait_for_each_other),
	TEST_CASE(faults_are_reported_and_the_context_continues),
	TEST_CASE(endless_program_costs_its_context),
	TEST_CASE(rays_run_in_parallel_with_compute),
	TEST_CASE(context_destroyed_while_busy_ends_its_jobs),
	TEST_CASE(bad_arguments_are_refused),
};

TEST_MAIN(cases)
