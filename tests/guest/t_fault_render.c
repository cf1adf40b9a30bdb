// SPDX-License-Identifier: MIT
/*
 * Faults of render jobs that user space can cause: every structure of a frame is
 * damaged once. The job that reads it faults and reports why, its pair ends, and the
 * same context draws the next frame.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "fault.h"
#include "harness.h"
#include "pumice_formats.h"
#include "render.h"
#include "system.h"

#define TARGET		FX_FREE
#define VERTICES	(FX_FREE + MIB)
#define UNMAPPED_VA	(FX_FREE + 64 * MIB)
#define GREEN		0xff00ff00u
#define IMPATIENT_MS	300	/* time limit of a job */
#define ANY		0u	/* any fault */
#define UNMAPPED	((u32)PUMICE_FAULT_MMU_PT_INVALID)	/* at any level */

/** struct frame - a frame of one triangle that covers the target, and its addresses */
struct frame {
	struct render *r;
	u64 stream, state, isp, tsp, record;
};

/** struct damage - damage of one part */
struct damage {
	const char *what;
	void (*make)(struct frame *f);
	u32 job;	/* job that reads it: 1 geometry, 2 fragments */
	u32 fault;	/* enum pumice_fault, UNMAPPED, or ANY */
};

/* Return the words of the code memory at an address. */
static u32 *words_at(const struct frame *f, u64 va)
{
	return f->r->fx.code.cpu + (va - f->r->fx.code.va) / 4;
}

static struct frame make_frame(struct render *r)
{
	struct frame f = { .r = r };
	struct pumice_vdm_state_cmd command;
	struct pumice_vdm_state state;

	f.stream = render_draw_stream(r, VERTICES, 3);
	f.record = render_store_record(r, TARGET);
	pumice_vdm_state_cmd_unpack(words_at(&f, f.stream), &command);
	f.state = command.addr;
	pumice_vdm_state_unpack(words_at(&f, f.state), &state);
	f.isp = state.isp_state;
	f.tsp = state.tsp_state;
	return f;
}

/* Return the first PDS instruction, and the USC program, of a stage. */
static u32 *pds_of(const struct frame *f, const u32 *stage_words)
{
	struct pumice_stage stage;

	pumice_stage_unpack(stage_words, &stage);
	return words_at(f, stage.pds_addr);
}

static u32 *usc_of(const struct frame *f, const u32 *stage_words)
{
	struct pumice_pds_insn insn = { 0 };
	u32 *pds = pds_of(f, stage_words);

	while (insn.opcode != PUMICE_PDS_OP_TASK) {
		pumice_pds_unpack(pds, &insn);
		pds += PUMICE_PDS_WORDS;
	}
	return words_at(f, insn.addr);
}

/* Change fields of a structure in memory. */
#define CHANGE(f, va, type, ...) \
	do { \
		struct pumice_##type it; \
		pumice_##type##_unpack(words_at(f, va), &it); \
		__VA_ARGS__; \
		pumice_##type##_pack(words_at(f, va), &it); \
	} while (0)

static void unknown_command(struct frame *f)
{
	words_at(f, f->stream)[0] = 0xf0000000;
}

static void reserved_bit(struct frame *f)
{
	words_at(f, f->stream)[0] |= 1;
}

static void sub_list_that_calls_itself(struct frame *f)
{
	pumice_vdm_call_pack(words_at(f, f->stream), &(struct pumice_vdm_call){
		.addr = f->stream,
	});
}

static void return_without_call(struct frame *f)
{
	pumice_vdm_return_pack(words_at(f, f->stream), &(struct pumice_vdm_return){ 0 });
}

static void draw_without_state(struct frame *f)
{
	f->stream += PUMICE_VDM_STATE_CMD_WORDS * 4;
}

static void unmapped_stream(struct frame *f)
{
	f->stream = UNMAPPED_VA;
}

static void unmapped_state(struct frame *f)
{
	CHANGE(f, f->stream, vdm_state_cmd, it.addr = UNMAPPED_VA);
}

static void too_many_varyings(struct frame *f)
{
	CHANGE(f, f->state, vdm_state, it.varyings = PUMICE_MAX_VARYINGS + 1);
}

static void points_of_no_size(struct frame *f)
{
	CHANGE(f, f->state, vdm_state, it.point_width = NAN);
}

static void no_vertex_program(struct frame *f)
{
	CHANGE(f, f->state, vdm_state, memset(it.vertex, 0, sizeof(it.vertex)));
}

static void unmapped_vertex_pds(struct frame *f)
{
	/* The stage is the state's first field. */
	CHANGE(f, f->state, stage, it.pds_addr = UNMAPPED_VA);
}

static void unmapped_attribute(struct frame *f)
{
	u32 *pds = pds_of(f, words_at(f, f->state));
	struct pumice_pds_insn insn;

	pumice_pds_unpack(pds, &insn);
	insn.addr = UNMAPPED_VA;
	pumice_pds_pack(pds, &insn);
}

static void all_ones_vertex_program(struct frame *f)
{
	memset(usc_of(f, words_at(f, f->state)), 0xff, 16);
}

static void vertex_program_that_is_an_end_of_tile(struct frame *f)
{
	const struct shader shader = shader_tile();

	memcpy(usc_of(f, words_at(f, f->state)), shader.words, 16);
}

static void topology_of_no_kind(struct frame *f)
{
	CHANGE(f, f->stream + PUMICE_VDM_STATE_CMD_WORDS * 4, vdm_draw, it.topology = 7);
}

static void unmapped_record(struct frame *f)
{
	f->record = UNMAPPED_VA;
}

static void no_outputs(struct frame *f)
{
	CHANGE(f, f->record, pdm_render, it.outputs = 0);
}

static void too_many_outputs(struct frame *f)
{
	CHANGE(f, f->record, pdm_render, it.outputs = 63);
}

static void all_ones_record(struct frame *f)
{
	memset(words_at(f, f->record), 0xff, PUMICE_PDM_RENDER_WORDS * 4);
}

static void unmapped_isp_state(struct frame *f)
{
	CHANGE(f, f->state, vdm_state, it.isp_state = UNMAPPED_VA);
}

static void unmapped_tsp_state(struct frame *f)
{
	CHANGE(f, f->state, vdm_state, it.tsp_state = UNMAPPED_VA);
}

static void all_ones_isp_state(struct frame *f)
{
	memset(words_at(f, f->isp), 0xff, PUMICE_ISP_STATE_WORDS * 4);
}

static void all_ones_tsp_state(struct frame *f)
{
	memset(words_at(f, f->tsp), 0xff, PUMICE_TSP_STATE_WORDS * 4);
}

static void all_ones_fragment_program(struct frame *f)
{
	memset(usc_of(f, words_at(f, f->tsp)), 0xff, 16);
}

static void fragment_program_for_vertices(struct frame *f)
{
	const struct shader shader = shader_vertex();

	memcpy(usc_of(f, words_at(f, f->tsp)), shader.words, 16);
}

static void all_ones_pbe_state(struct frame *f)
{
	struct pumice_pds_insn insn;
	struct pumice_pdm_render record;

	pumice_pdm_render_unpack(words_at(f, f->record), &record);
	pumice_pds_unpack(pds_of(f, record.end_of_tile), &insn);
	memset(words_at(f, insn.addr), 0xff, PUMICE_PBE_STATE_WORDS * 4);
}

static void unmapped_target(struct frame *f)
{
	f->record = render_store_record(f->r, UNMAPPED_VA);
}

static void unmapped_depth(struct frame *f)
{
	CHANGE(f, f->record, pdm_render, it.depth_store = true; it.depth_addr = UNMAPPED_VA;
	       it.depth_format = PUMICE_DEPTH_FORMAT_D32F; it.depth_stride = RENDER_SIZE * 4);
}

static void unmapped_mask(struct frame *f)
{
	CHANGE(f, f->record, pdm_render, it.mask_plane = it.mask_store = true;
	       it.mask_addr = UNMAPPED_VA; it.mask_stride = RENDER_SIZE / 8);
}

static void mask_rows_that_overlap(struct frame *f)
{
	CHANGE(f, f->record, pdm_render, it.mask_plane = it.mask_store = true;
	       it.mask_addr = TARGET; it.mask_stride = RENDER_SIZE / 8 - 1);
}

static void mask_stored_without_a_plane(struct frame *f)
{
	CHANGE(f, f->record, pdm_render, it.mask_store = true; it.mask_addr = TARGET;
	       it.mask_stride = RENDER_SIZE / 8);
}

static void mask_tested_without_a_plane(struct frame *f)
{
	CHANGE(f, f->isp, isp_state, it.mask_test = PUMICE_MASK_TEST_SET);
}

static void mask_changed_without_a_plane(struct frame *f)
{
	CHANGE(f, f->isp, isp_state, it.mask_op = PUMICE_MASK_OP_INVERT);
}

static void unknown_mask_test(struct frame *f)
{
	CHANGE(f, f->record, pdm_render, it.mask_plane = true);
	CHANGE(f, f->isp, isp_state, it.mask_test = PUMICE_MASK_TEST_COUNT);
}

static void unmapped_counters(struct frame *f)
{
	CHANGE(f, f->isp, isp_state, it.visibility = true; it.visibility_id = 9);
}

static const struct damage damages[] = {
	{ "unknown command", unknown_command, 1, PUMICE_FAULT_VDM_COMMAND },
	{ "reserved bit", reserved_bit, 1, PUMICE_FAULT_VDM_RESERVED },
	{ "sub-list that calls itself", sub_list_that_calls_itself, 1, PUMICE_FAULT_VDM_DEPTH },
	{ "return without call", return_without_call, 1, PUMICE_FAULT_VDM_RETURN },
	{ "draw without state", draw_without_state, 1, PUMICE_FAULT_VDM_STATE },
	{ "unmapped stream", unmapped_stream, 1, UNMAPPED },
	{ "unmapped state", unmapped_state, 1, UNMAPPED },
	{ "too many varyings", too_many_varyings, 1, PUMICE_FAULT_VDM_STATE },
	{ "points of no size", points_of_no_size, 1, PUMICE_FAULT_VDM_STATE },
	{ "no vertex program", no_vertex_program, 1, PUMICE_FAULT_VDM_STATE },
	{ "unmapped vertex PDS program", unmapped_vertex_pds, 1, UNMAPPED },
	{ "unmapped attribute", unmapped_attribute, 1, UNMAPPED },
	{ "vertex program with all bits set", all_ones_vertex_program, 1, ANY },
	{ "vertex program that is an end of tile", vertex_program_that_is_an_end_of_tile, 1,
	  PUMICE_FAULT_USC_STAGE },
	{ "topology of no kind", topology_of_no_kind, 1, ANY },
	{ "unmapped record", unmapped_record, 2, UNMAPPED },
	{ "no outputs", no_outputs, 2, PUMICE_FAULT_PDM_RENDER },
	{ "too many outputs", too_many_outputs, 2, PUMICE_FAULT_PDM_RENDER },
	/* It begins as a render control list does. */
	{ "record with all bits set", all_ones_record, 2, PUMICE_FAULT_PDM_ALIGN },
	{ "unmapped ISP state", unmapped_isp_state, 2, UNMAPPED },
	{ "unmapped TSP state", unmapped_tsp_state, 2, UNMAPPED },
	{ "ISP state with all bits set", all_ones_isp_state, 2, PUMICE_FAULT_ISP_STATE },
	{ "TSP state with all bits set", all_ones_tsp_state, 2, PUMICE_FAULT_TSP_STATE },
	{ "fragment program with all bits set", all_ones_fragment_program, 2, ANY },
	{ "fragment program for vertices", fragment_program_for_vertices, 2,
	  PUMICE_FAULT_USC_STAGE },
	{ "PBE state with all bits set", all_ones_pbe_state, 2, PUMICE_FAULT_PBE_STATE },
	{ "unmapped target", unmapped_target, 2, UNMAPPED },
	{ "unmapped depth", unmapped_depth, 2, UNMAPPED },
	{ "unmapped mask plane", unmapped_mask, 2, UNMAPPED },
	{ "mask rows that overlap", mask_rows_that_overlap, 2, PUMICE_FAULT_PDM_RENDER },
	{ "mask stored without a plane", mask_stored_without_a_plane, 2, PUMICE_FAULT_PDM_RENDER },
	{ "mask tested without a plane", mask_tested_without_a_plane, 2, PUMICE_FAULT_ISP_STATE },
	{ "mask changed without a plane", mask_changed_without_a_plane, 2,
	  PUMICE_FAULT_ISP_STATE },
	{ "unknown mask test", unknown_mask_test, 2, PUMICE_FAULT_ISP_STATE },
	{ "unmapped counters", unmapped_counters, 2, ANY },
};

/** struct damage_fixture - a render context and a triangle */
struct damage_fixture {
	struct render r;
	struct mem target, vertices;
};

static struct damage_fixture damage_fixture(void)
{
	struct damage_fixture g = { .r = render_open() };
	const struct vertex v = { .x = -1, .y = -1, .z = 0.5f, .w = 1, .colour = { 0, 1, 0, 0 } };
	struct vertex *to;

	g.target = need_mem(g.r.fx.fd, g.r.fx.vm, TARGET, RENDER_SIZE * RENDER_SIZE * 4);
	g.vertices = need_mem(g.r.fx.fd, g.r.fx.vm, VERTICES, PAGE);
	to = (struct vertex *)g.vertices.cpu;
	to[0] = to[1] = to[2] = v;
	to[1].x = 3;
	to[2].y = 3;
	return g;
}

static void check_draws(struct damage_fixture *g)
{
	struct frame f = make_frame(&g->r);
	u32 i;

	memset(g->target.cpu, 0, g->target.size);
	CHECK_EQUAL(render_run(&g->r, 0, f.stream, f.record), 1);
	for (i = 0; i < RENDER_SIZE * RENDER_SIZE; i++)
		CHECK_EQUAL(g->target.cpu[i], GREEN);
}

static void check_fault(struct damage_fixture *g, const struct damage *d, u64 first)
{
	struct drm_pumice_job_get_result result;

	CHECK_OK(gpu_job_result(g->r.fx.fd, g->r.context, first + d->job - 1, &result));
	if (result.error != -EIO || !result.fault ||
	    (d->fault == UNMAPPED ? !fault_is_unmapped(result.fault) :
	     d->fault != ANY && result.fault != d->fault))
		test_fail(__FILE__, __LINE__, "%s: error %d, fault %u, should be %u", d->what,
			  result.error, result.fault, d->fault);
	if (d->job == 1)
		return;
	CHECK_OK(gpu_job_result(g->r.fx.fd, g->r.context, first, &result));
	if (result.error)
		test_fail(__FILE__, __LINE__, "%s: the geometry job ended with %d, fault %u",
			  d->what, result.error, result.fault);
}

static void run_damages(u32 job)
{
	struct damage_fixture g = damage_fixture();
	u64 number = 1;
	u32 i;

	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct frame f;

		if (damages[i].job != job)
			continue;
		f = make_frame(&g.r);
		damages[i].make(&f);
		render_run(&g.r, 1, f.stream, f.record);
		check_fault(&g, &damages[i], number);
		check_draws(&g);
		number += 4;
	}
	fx_check_works(&g.r.fx);
}

static void damage_that_geometry_jobs_meet(void)
{
	run_damages(1);
}

static void damage_that_fragment_jobs_meet(void)
{
	run_damages(2);
}

/** struct reach - an address in a render record or draw that the fragment job accesses */
struct reach {
	const char *what;
	void (*make)(struct frame *f, u64 va);
	u32 unit, access;
};

static void depth_loaded(struct frame *f, u64 va)
{
	CHANGE(f, f->record, pdm_render, it.depth_load = true; it.depth_addr = va;
	       it.depth_format = PUMICE_DEPTH_FORMAT_D32F; it.depth_stride = RENDER_SIZE * 4);
}

static void depth_stored(struct frame *f, u64 va)
{
	CHANGE(f, f->record, pdm_render, it.depth_store = true; it.depth_addr = va;
	       it.depth_format = PUMICE_DEPTH_FORMAT_D32F; it.depth_stride = RENDER_SIZE * 4);
}

static void stencil_loaded(struct frame *f, u64 va)
{
	CHANGE(f, f->record, pdm_render, it.stencil_load = true; it.stencil_addr = va;
	       it.depth_format = PUMICE_DEPTH_FORMAT_D32F; it.stencil_stride = RENDER_SIZE);
}

static void stencil_stored(struct frame *f, u64 va)
{
	CHANGE(f, f->record, pdm_render, it.stencil_store = true; it.stencil_addr = va;
	       it.depth_format = PUMICE_DEPTH_FORMAT_D32F; it.stencil_stride = RENDER_SIZE);
}

static void mask_loaded(struct frame *f, u64 va)
{
	CHANGE(f, f->record, pdm_render, it.mask_plane = it.mask_load = true; it.mask_addr = va;
	       it.mask_stride = RENDER_SIZE / 8);
}

static void mask_stored(struct frame *f, u64 va)
{
	CHANGE(f, f->record, pdm_render, it.mask_plane = it.mask_store = true; it.mask_addr = va;
	       it.mask_stride = RENDER_SIZE / 8);
}

static void visibility_counted(struct frame *f, u64 va)
{
	CHANGE(f, f->record, pdm_render, it.visibility_addr = va; it.visibility_count = 1);
	CHANGE(f, f->isp, isp_state, it.visibility = true);
}

static void statistics_stored(struct frame *f, u64 va)
{
	CHANGE(f, f->record, pdm_render, it.stats_addr = va);
}

static void render_record_read(struct frame *f, u64 va)
{
	f->record = va;
}

static void isp_state_read(struct frame *f, u64 va)
{
	CHANGE(f, f->state, vdm_state, it.isp_state = va);
}

static void tsp_state_read(struct frame *f, u64 va)
{
	CHANGE(f, f->state, vdm_state, it.tsp_state = va);
}

static const struct reach reaches[] = {
	{ "depth loaded", depth_loaded, PUMICE_UNIT_ISP, PUMICE_ACCESS_READ },
	{ "depth stored", depth_stored, PUMICE_UNIT_ISP, PUMICE_ACCESS_WRITE },
	{ "stencil loaded", stencil_loaded, PUMICE_UNIT_ISP, PUMICE_ACCESS_READ },
	{ "stencil stored", stencil_stored, PUMICE_UNIT_ISP, PUMICE_ACCESS_WRITE },
	{ "mask loaded", mask_loaded, PUMICE_UNIT_ISP, PUMICE_ACCESS_READ },
	{ "mask stored", mask_stored, PUMICE_UNIT_ISP, PUMICE_ACCESS_WRITE },
	{ "visibility counted", visibility_counted, PUMICE_UNIT_ISP, PUMICE_ACCESS_WRITE },
	{ "statistics stored", statistics_stored, PUMICE_UNIT_ISP, PUMICE_ACCESS_WRITE },
	{ "render record read", render_record_read, PUMICE_UNIT_ISP, PUMICE_ACCESS_READ },
	{ "ISP state read", isp_state_read, PUMICE_UNIT_ISP, PUMICE_ACCESS_READ },
	{ "TSP state read", tsp_state_read, PUMICE_UNIT_TSP, PUMICE_ACCESS_READ },
};

/*
 * The kernel maps the parameter buffer above the last address that a user may map;
 * the free list comes first there. Only the GPU can read its pages: tests/unit/pdm checks
 * that they are not modified.
 */
static void user_addresses_reach_no_page_of_the_parameter_management(void)
{
	struct damage_fixture g = damage_fixture();
	const u64 pages = need_kernel_va(g.r.fx.fd);
	/* For a picture's depths: the tile of any core may fault first. */
	const u64 bytes = RENDER_SIZE * RENDER_SIZE * sizeof(float);
	struct drm_pumice_job_get_result result;
	u64 number = 1;
	u32 i;

	for (i = 0; i < sizeof(reaches) / sizeof(reaches[0]); i++, number += 4) {
		const struct reach *reach = &reaches[i];
		struct frame f = make_frame(&g.r);

		reach->make(&f, pages);
		render_run(&g.r, 1, f.stream, f.record);
		CHECK_OK(gpu_job_result(g.r.fx.fd, g.r.context, number + 1, &result));
		if (result.error != -EIO || result.fault != PUMICE_FAULT_MMU_PM_OWNED ||
		    result.unit != reach->unit || result.access != reach->access ||
		    result.fault_va - pages >= bytes)
			test_fail(__FILE__, __LINE__,
				  "%s: error %d, fault %u, unit %u, access %u at 0x%llx",
				  reach->what, result.error, result.fault, result.unit,
				  result.access, (unsigned long long)result.fault_va);
		check_draws(&g);
	}
	fx_check_works(&g.r.fx);
}

/* A context whose last job was killed accepts no more jobs: create another one. */
static void renew_context(struct damage_fixture *g)
{
	if (!(need_state(g->r.fx.fd, g->r.context).state & DRM_PUMICE_CONTEXT_GUILTY))
		return;
	CHECK_OK(gpu_context_destroy(g->r.fx.fd, g->r.context));
	g->r.context = need_context_of(g->r.fx.fd, g->r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
}

/* Change every word of every structure once, before a job and while it runs. */
static void words_that_change_under_the_gpu(void)
{
	long usual = module_parameter("job_timeout_ms");
	struct damage_fixture g;
	struct frame f;
	u32 words, i, seed = 7;

	CHECK_OK(set_module_parameter("job_timeout_ms", IMPATIENT_MS));
	g = damage_fixture();
	f = make_frame(&g.r);
	words = (u32)(g.r.fx.used / 4);
	for (i = 0; i < words; i++) {
		u32 *word = g.r.fx.code.cpu + i, keep = *word;

		seed = seed * 1664525u + 1013904223u;
		*word = seed;
		render_submit(&g.r, i % 2, f.stream, f.record);
		*word = ~seed;
		fx_wait(&g.r.fx);
		*word = keep;
		renew_context(&g);
	}
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	check_draws(&g);
	fx_check_works(&g.r.fx);
}

static const struct test_case cases[] = {
	TEST_CASE(damage_that_geometry_jobs_meet),
	TEST_CASE(damage_that_fragment_jobs_meet),
	TEST_CASE(user_addresses_reach_no_page_of_the_parameter_management),
	TEST_CASE(words_that_change_under_the_gpu),
};

TEST_MAIN(cases)
