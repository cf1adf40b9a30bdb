// SPDX-License-Identifier: MIT
/*
 * Triangles through ioctls, and their use of the parameter buffer: lists that grow,
 * partial renders, lack of pages. The picture is the same in all cases.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cgroup.h"
#include "harness.h"
#include "perf.h"
#include "pumice_regs.h"
#include "render.h"
#include "system.h"

#define PIXELS		(RENDER_SIZE * RENDER_SIZE)
#define TARGET		FX_FREE
#define SPILL		(FX_FREE + 16 * MIB)
#define VERTICES	(FX_FREE + 32 * MIB)
#define SPILL_BYTES	(4 * (u64)PIXELS * 32)	/* more than a tile of four outputs needs */
#define TRIANGLES	6000u
#define VERTEX_BYTES	(256 * (u64)PAGE)

_Static_assert(3 * TRIANGLES * sizeof(struct vertex) <= VERTEX_BYTES, "room for vertices");

/** struct draw_fixture - a target, and memory for vertices */
struct draw_fixture {
	struct render r;
	struct mem target, vertices, spill;
	u64 record;
	u32 perfmon;	/* monitor of geometry jobs, or 0 */
};

static struct draw_fixture open_draw_fixture(void)
{
	struct draw_fixture g = { .r = render_open() };

	g.target = need_mem(g.r.fx.fd, g.r.fx.vm, TARGET, PIXELS * 4);
	g.vertices = need_mem(g.r.fx.fd, g.r.fx.vm, VERTICES, VERTEX_BYTES);
	g.spill = need_mem(g.r.fx.fd, g.r.fx.vm, SPILL, 2 * SPILL_BYTES);
	g.record = render_store_record(&g.r, TARGET);
	return g;
}

/* Create it after all objects of the previous case were freed. */
static struct draw_fixture draw_fixture(void)
{
	need_nothing_left();
	return open_draw_fixture();
}

/* Create another data set with a free list of its own, with DRM_PUMICE_FREE_LIST_*. */
static void use_list_with(struct draw_fixture *g, u32 flags, u32 pages, u32 max, u32 grow,
			  bool spill)
{
	struct drm_pumice_hwrt_create args;

	CHECK_OK(gpu_hwrt_destroy(g->r.fx.fd, g->r.hwrt));
	CHECK_OK(gpu_free_list_destroy(g->r.fx.fd, g->r.list));
	g->r.list = need_free_list(g->r.fx.fd, (struct drm_pumice_free_list_create){
		.flags = flags, .vm = g->r.fx.vm, .initial_pages = pages, .max_pages = max,
		.grow_pages = grow, .threshold = grow ? 30 : 0,
	});
	args = render_hwrt_args(g->r.fx.vm, g->r.list);
	args.spill = spill ? SPILL : 0;
	args.spill_bytes = spill ? SPILL_BYTES : 0;
	g->r.hwrt = need_hwrt(g->r.fx.fd, args);
}

static void use_list(struct draw_fixture *g, u32 pages, u32 max, u32 grow, bool spill)
{
	use_list_with(g, 0, pages, max, grow, spill);
}

static float number(u32 *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (float)(*seed >> 8) / (1u << 24);
}

/* Triangles of a few pixels all over the target; each has a colour of its own. */
static void fill_vertices(struct draw_fixture *g)
{
	struct vertex *v = (struct vertex *)g->vertices.cpu;
	u32 seed = 1, i, k;

	for (i = 0; i < TRIANGLES; i++) {
		float x = number(&seed) * 2 - 1, y = number(&seed) * 2 - 1;
		float colour[3] = { number(&seed), number(&seed), number(&seed) };

		for (k = 0; k < 3; k++, v++) {
			*v = (struct vertex){
				.x = x + number(&seed) * 0.3f, .y = y + number(&seed) * 0.3f,
				.z = 0.5f, .w = 1,
			};
			memcpy(v->colour, colour, sizeof(colour));
		}
	}
}

static int draw(struct draw_fixture *g, u32 data)
{
	struct drm_pumice_sync done = then_signal(g->r.fx.sync, 0);
	struct drm_pumice_job jobs[2];

	memset(g->target.cpu, 0, PIXELS * 4);
	render_pair(&g->r, data, jobs);
	jobs[0].stream = render_draw_stream(&g->r, VERTICES, 3 * TRIANGLES);
	jobs[0].perfmon = g->perfmon;
	jobs[1].stream = g->record;
	jobs[1].syncs = (struct drm_pumice_array)ARRAY_OF(&done, 1);
	CHECK_OK(gpu_submit(g->r.fx.fd, jobs, 2, NULL));
	return fx_wait(&g->r.fx);
}

/* Draw the picture with as many pages as it may need. */
static void draw_reference(struct draw_fixture *g, u32 *picture)
{
	fill_vertices(g);
	use_list(g, 4096, 4096, 0, false);
	CHECK_EQUAL(draw(g, 0), 1);
	memcpy(picture, g->target.cpu, PIXELS * 4);
}

/* Two triangles form a square; its edges are on pixel borders, so each pixel is known. */
static void square_is_drawn_to_the_pixel(void)
{
	static const float corner[6][2] = {
		{ -0.5f, -0.5f }, { 0.5f, -0.5f }, { -0.5f, 0.5f },
		{ 0.5f, -0.5f }, { 0.5f, 0.5f }, { -0.5f, 0.5f },
	};
	struct draw_fixture g = draw_fixture();
	struct vertex *v = (struct vertex *)g.vertices.cpu;
	u32 i, x, y;

	for (i = 0; i < 6; i++)
		v[i] = (struct vertex){
			.x = corner[i][0], .y = corner[i][1], .z = 0.5f, .w = 1,
			.colour = { 1, 0, 1, 0 },
		};
	memset(g.target.cpu, 0x11, PIXELS * 4);
	CHECK_EQUAL(render_run(&g.r, 0, render_draw_stream(&g.r, VERTICES, 6), g.record), 1);
	for (y = 0; y < RENDER_SIZE; y++)
		for (x = 0; x < RENDER_SIZE; x++)
			CHECK_EQUAL(g.target.cpu[y * RENDER_SIZE + x],
				    x >= 16 && x < 48 && y >= 16 && y < 48 ? 0xffff00ff : 0);
}

/* Only the data masters of a frame were busy, and a reset does not clear the statistics. */
static void statistics_count_a_frame(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();
	struct drm_pumice_query_stats before = need_stats(g.r.fx.fd), after;

	draw_reference(&g, picture);
	after = need_stats(g.r.fx.fd);
	CHECK(after.geometry_busy > before.geometry_busy);
	CHECK(after.fragment_busy > before.fragment_busy);
	CHECK_EQUAL(after.compute_busy, before.compute_busy);
	CHECK_EQUAL(after.transfer_busy, before.transfer_busy);
	CHECK_EQUAL(after.partial_renders, before.partial_renders);
	CHECK(after.time - before.time >= after.geometry_busy - before.geometry_busy);
	use_list(&g, 80, 80, 0, true);
	CHECK_EQUAL(draw(&g, 0), 1);
	before = need_stats(g.r.fx.fd);
	CHECK(before.partial_renders > after.partial_renders);
	need_flr();
	after = need_stats(g.r.fx.fd);
	CHECK_EQUAL(after.geometry_busy, before.geometry_busy);
	CHECK_EQUAL(after.fragment_busy, before.fragment_busy);
	CHECK_EQUAL(after.partial_renders, before.partial_renders);
	CHECK_EQUAL(draw(&g, 1), 1);
	CHECK(need_stats(g.r.fx.fd).partial_renders > after.partial_renders);
}

static void list_grows_and_the_picture_stays(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();

	draw_reference(&g, picture);
	CHECK_EQUAL(need_free_lists_grown(), 0);
	use_list(&g, 32, 4096, 32, false);
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	CHECK(need_free_lists_grown() > 0);
	/* It keeps the pages that it got. */
	CHECK_EQUAL(draw(&g, 1), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
}

static void list_grows_by_one_page_at_a_time(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();

	draw_reference(&g, picture);
	use_list(&g, 32, 4096, 1, true);
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	CHECK(need_free_lists_grown() > 0);
}

/* Return those of the last pair: the geometry job has all of them, the fragment job none. */
static u32 need_partials(const struct draw_fixture *g)
{
	struct drm_pumice_job_get_result result;
	u64 last;

	CHECK_OK(gpu_job_result(g->r.fx.fd, g->r.context, 0, &result));
	CHECK_EQUAL(result.partial_renders | result.pad, 0);
	last = result.job;
	CHECK_OK(gpu_job_result(g->r.fx.fd, g->r.context, last - 1, &result));
	CHECK_EQUAL(result.pad, 0);
	return result.partial_renders;
}

static void partial_renders_change_nothing(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();
	const u32 counter = PUMICE_PERF_PM_PARTIALS;
	u64 partials, before;
	u32 i;

	draw_reference(&g, picture);
	CHECK_EQUAL(need_partials(&g), 0);
	use_list(&g, 80, 80, 0, true);
	CHECK_OK(gpu_perfmon_create(g.r.fx.fd, &counter, 1, &g.perfmon));
	for (i = 0; i < 6; i++) {
		before = need_stats(g.r.fx.fd).partial_renders;
		CHECK_EQUAL(draw(&g, i % 2), 1);
		CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
		CHECK_OK(gpu_perfmon_values(g.r.fx.fd, g.perfmon, DRM_PUMICE_PERFMON_RESET,
					    &partials));
		CHECK(partials > 0);
		CHECK_EQUAL(need_partials(&g), partials);
		CHECK_EQUAL(need_stats(g.r.fx.fd).partial_renders - before, partials);
	}
}

/* Lists that the GPU maps: large enough, growing, of a maximum; and after a reset. */
static void page_tables_of_the_gpu_change_nothing(void)
{
	static const struct {
		u32 pages, max, grow;
	} lists[] = { { 700, 700, 0 }, { 32, 4096, 16 }, { 32, 4096, 1 }, { 80, 80, 0 } };
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();
	const u32 counter = PUMICE_PERF_PM_MAPPED;
	u64 mapped;
	u32 i, round;

	draw_reference(&g, picture);
	CHECK_OK(gpu_perfmon_create(g.r.fx.fd, &counter, 1, &g.perfmon));
	for (i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		use_list_with(&g, DRM_PUMICE_FREE_LIST_GPU_TABLES, lists[i].pages, lists[i].max,
			      lists[i].grow, true);
		for (round = 0; round < 3; round++) {
			CHECK_EQUAL(draw(&g, round % 2), 1);
			CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
			CHECK_OK(gpu_perfmon_values(g.r.fx.fd, g.perfmon,
						    DRM_PUMICE_PERFMON_RESET, &mapped));
			CHECK(mapped > 0);
		}
		need_flr();
		CHECK_EQUAL(draw(&g, 0), 1);
		CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	}
}

/* The result does not depend on the distribution of draws to cores. */
static void pieces_of_any_size_give_the_same_picture(void)
{
	static const long sizes[] = { 1, 7, 64, 100000 };
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();
	u32 i;

	draw_reference(&g, picture);
	for (i = 0; i < 4; i++) {
		CHECK_OK(set_module_parameter("split_prims", sizes[i]));
		need_flr();
		CHECK_EQUAL(draw(&g, i % 2), 1);
		CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	}
	CHECK_OK(set_module_parameter("split_prims", 0));
	need_flr();
}

static void gpu_reset_in_the_middle_loses_no_pages(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();
	u64 stream;
	u32 round;

	draw_reference(&g, picture);
	use_list(&g, 64, 256, 32, true);
	stream = render_draw_stream(&g.r, VERTICES, 3 * TRIANGLES);
	for (round = 0; round < 5; round++) {
		u32 i, lost = g.r.context;

		g.r.context = need_context_of(g.r.fx.fd, g.r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
		CHECK_OK(gpu_context_destroy(g.r.fx.fd, lost));
		for (i = 0; i < 4 + round; i++)
			render_submit(&g.r, i % 2, stream, g.record);
		need_flr();
		lost = g.r.context;
		g.r.context = need_context_of(g.r.fx.fd, g.r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
		CHECK_OK(gpu_context_destroy(g.r.fx.fd, lost));
		CHECK_EQUAL(draw(&g, round % 2), 1);
		CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	}
}

/* Return the pages that drawing the reference used. */
static u32 need_pages_taken(void)
{
	struct list_pages now = need_list_pages();

	CHECK_EQUAL(now.free, now.pages);
	CHECK(now.min_free < now.pages);
	return (u32)(now.pages - now.min_free);
}

/* Let a scene hold its pages: its geometry job has ended, its fragment job never does. */
static void hold_pages(struct draw_fixture *g)
{
	struct drm_pumice_sync done = then_signal(g->r.fx.sync, 0);
	struct drm_pumice_job jobs[2];

	render_pair(&g->r, 0, jobs);
	jobs[0].stream = render_loop_stream(&g->r, VERTICES, 3 * TRIANGLES);
	jobs[0].syncs = (struct drm_pumice_array)ARRAY_OF(&done, 1);
	jobs[1].stream = g->record;
	CHECK_OK(gpu_submit(g->r.fx.fd, jobs, 2, NULL));
	CHECK_EQUAL(fx_wait(&g->r.fx), 1);
}

/* Pages for one scene and a half, no spill memory: a job that lacks pages faults. */
static void gpu_reset_frees_the_pages_of_scenes_that_it_ended(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();
	u32 taken, pages;

	draw_reference(&g, picture);
	taken = need_pages_taken();
	pages = taken + taken / 2;
	use_list(&g, pages, pages, 0, false);
	need_left((struct counts){ .bos = need_counts().bos, .vms = 1, .contexts = 2,
				   .fences = need_counts().fences, .free_lists = 1, .hwrts = 1 });
	hold_pages(&g);
	CHECK((u32)need_list_pages().free <= pages - taken / 2);
	need_flr();
	CHECK_EQUAL(need_list_pages().free, (int)pages);
	g.r.context = need_context_of(g.r.fx.fd, g.r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
	CHECK_EQUAL(draw(&g, 1), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
}

static void list_that_has_grown_to_its_end_is_rendered_in_parts(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();

	draw_reference(&g, picture);
	use_list(&g, 64, 96, 16, true);
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	CHECK_EQUAL(need_free_lists_grown(), 2);
}

/*
 * Create a list that is charged to a cgroup without this process in it: other charges of
 * the cgroup from now on can only be those of the list.
 */
static void use_list_of(struct draw_fixture *g, const struct cgroup *owner, u32 pages, u32 max,
			u32 grow)
{
	cgroup_enter(owner);
	use_list(g, pages, max, grow, true);
	cgroup_enter(NULL);
}

/* Pages by which a list grows while a job runs are charged to the creator of the list. */
static void growth_is_charged_to_the_creator_of_the_list(void)
{
	const u64 step = 4 * MIB;
	const u32 grow = step / PAGE;
	static u32 picture[PIXELS];
	struct cgroup owner = need_cgroup("owner");
	struct draw_fixture g = draw_fixture();
	u64 before, deadline;

	draw_reference(&g, picture);
	use_list_of(&g, &owner, 32, 4096, grow);
	before = cgroup_charged(&owner);
	CHECK(before >= step);
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	CHECK(need_free_lists_grown() > 0);
	/* The pages for the next request are allocated after the reply. */
	deadline = now_ns() + 30 * 1000000000ull;
	while (cgroup_charged(&owner) < before + step * 9 / 10 && now_ns() < deadline)
		usleep(2000);
	test_note("charged %llu KiB, then %llu KiB", (unsigned long long)before >> 10,
		  (unsigned long long)cgroup_charged(&owner) >> 10);
	CHECK(cgroup_charged(&owner) >= before + step * 9 / 10);
	CHECK_OK(gpu_hwrt_destroy(g.r.fx.fd, g.r.hwrt));
	CHECK_OK(gpu_free_list_destroy(g.r.fx.fd, g.r.list));
	need_left((struct counts){ .bos = need_counts().bos, .vms = 1, .contexts = 2,
				   .fences = need_counts().fences });
	CHECK(cgroup_charged(&owner) < before);
	cgroup_remove(&owner);
}

/* No job waits for unavailable memory: the job continues with the existing pages. */
static void list_whose_owner_has_no_memory_left_is_rendered_in_parts(void)
{
	static u32 picture[PIXELS];
	struct cgroup owner = need_cgroup("owner");
	struct draw_fixture g = draw_fixture();
	u32 i;

	draw_reference(&g, picture);
	use_list_of(&g, &owner, 80, 4096, 16);
	cgroup_limit(&owner, 0);
	for (i = 0; i < 4; i++) {
		CHECK_EQUAL(draw(&g, i % 2), 1);
		CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
		CHECK(need_partials(&g) > 0);
	}
	/* By the pages that were prepared. */
	CHECK_EQUAL(need_free_lists_grown(), 1);
	/* And it grows again as soon as the limit permits. */
	cgroup_limit(&owner, 256 * MIB);
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK_EQUAL(draw(&g, 1), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	CHECK(need_free_lists_grown() > 1);
}

static void pages_that_lack_without_spill_are_a_fault(void)
{
	struct drm_pumice_job_get_result result;
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();

	draw_reference(&g, picture);
	use_list(&g, 32, 32, 0, false);
	CHECK_EQUAL(draw(&g, 0), -EIO);
	CHECK_OK(gpu_job_result(g.r.fx.fd, g.r.context, 3, &result));
	CHECK_EQUAL(result.error, -EIO);
	CHECK_EQUAL(result.fault, PUMICE_FAULT_PM_MEMORY);
	/* The pages are free again. */
	render_check_works(&g.r);
	use_list(&g, 4096, 4096, 0, false);
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
}

static void both_scenes_share_a_list(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();
	u64 stream;
	u32 i;

	draw_reference(&g, picture);
	use_list(&g, 128, 128, 0, true);
	stream = render_draw_stream(&g.r, VERTICES, 3 * TRIANGLES);
	for (i = 0; i < 10; i++)
		render_submit(&g.r, i % 2, stream, g.record);
	CHECK_EQUAL(fx_wait(&g.r.fx), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	CHECK_EQUAL(need_state(g.r.fx.fd, g.r.context).jobs_faulted, 0);
}

static void draw_and_check(u32 rounds)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = open_draw_fixture();
	u32 i;

	draw_reference(&g, picture);
	for (i = 0; i < rounds; i++) {
		use_list(&g, 32 + 16 * i, 4096, i % 2 ? 16 : 200, true);
		CHECK_EQUAL(draw(&g, i % 2), 1);
		CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	}
}

static void processes_do_not_disturb_each_other(void)
{
	pid_t pids[3];
	u32 i;

	for (i = 0; i < 3; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			draw_and_check(4);
			_exit(0);
		}
	}
	for (i = 0; i < 3; i++) {
		int status;

		CHECK(waitpid(pids[i], &status, 0) == pids[i]);
		CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	}
}

static void contexts_can_be_destroyed_during_their_frames(void)
{
	struct draw_fixture g = draw_fixture();
	u32 i, contexts[8];
	u64 stream;

	fill_vertices(&g);
	use_list(&g, 80, 400, 8, true);
	for (i = 0; i < 8; i++) {
		contexts[i] = need_context_of(g.r.fx.fd, g.r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
		g.r.context = contexts[i];
		stream = render_draw_stream(&g.r, VERTICES, 3 * TRIANGLES);
		render_submit(&g.r, 0, stream, g.record);
		render_submit(&g.r, 1, stream, g.record);
		CHECK_OK(gpu_context_destroy(g.r.fx.fd, contexts[i]));
	}
	g.r.context = need_context_of(g.r.fx.fd, g.r.fx.vm, DRM_PUMICE_CONTEXT_RENDER);
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK_EQUAL(draw(&g, 1), 1);
}

/* Use another render context, with this time-out. */
static void use_context(struct render *r, unsigned int timeout_ms)
{
	const long usual = module_parameter("job_timeout_ms");

	CHECK(usual >= 0);
	CHECK_OK(gpu_context_destroy(r->fx.fd, r->context));
	CHECK_OK(set_module_parameter("job_timeout_ms", timeout_ms));
	r->context = need_context_of(r->fx.fd, r->fx.vm, DRM_PUMICE_CONTEXT_RENDER);
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
}

static struct render render_with(unsigned int timeout_ms)
{
	struct render r = render_open();

	use_context(&r, timeout_ms);
	return r;
}

/* Its waves are those of fragment programs. */
static void time_out_in_a_fragment_program_names_it(void)
{
	struct drm_pumice_job_get_result result = { 0 };
	struct render r = render_with(500);
	u32 i, sampled = 0;

	render_hang_in_fragment(&r);
	CHECK_EQUAL(fx_wait(&r.fx), -ETIMEDOUT);
	CHECK_OK(gpu_job_result(r.fx.fd, r.context, 2, &result));
	CHECK_EQUAL(result.unit, PUMICE_UNIT_USC_CODE);
	CHECK(result.waves > 0);
	CHECK(result.place_count > 0);
	for (i = 0; i < result.place_count; i++) {
		CHECK_EQUAL(result.places[i].code, result.places[0].code);
		sampled += result.places[i].waves;
	}
	CHECK_EQUAL(sampled, result.waves_looked);
}

/* Out of pages, it waits for longer than the time-out, until the other job is stopped. */
static void job_that_waits_for_pages_ends(void)
{
	static u32 picture[PIXELS];
	struct draw_fixture g = draw_fixture();
	struct render hanging = render_with(15000);

	draw_reference(&g, picture);
	use_list(&g, 80, 80, 0, true);
	use_context(&g.r, 5000);
	render_hang_in_fragment(&hanging);
	CHECK_EQUAL(draw(&g, 0), 1);
	CHECK(!memcmp(g.target.cpu, picture, sizeof(picture)));
	CHECK(need_partials(&g) > 0);
	CHECK_EQUAL(need_state(g.r.fx.fd, g.r.context).state, 0);
	CHECK_EQUAL(fx_wait(&hanging.fx), -ETIMEDOUT);
	CHECK_EQUAL(need_state(hanging.fx.fd, hanging.context).state, DRM_PUMICE_CONTEXT_GUILTY);
}

/*
 * The first two jobs keep the PDM until the geometry job that is out of pages gets none by
 * their end and is queued for a partial render, which precedes the third job. The third job
 * has a shorter time-out than the partial render.
 */
static void job_that_waits_for_a_hanging_partial_render_ends(void)
{
	struct draw_fixture g = draw_fixture();
	struct render first = render_with(6000), second = render_with(3000);
	struct render third = render_with(4000);

	fill_vertices(&g);
	use_list(&g, 40, 40, 0, true);
	use_context(&g.r, 16000);
	render_hang_in_fragment(&first);
	render_hang_in_fragment(&second);
	render_submit_past_geometry(&third, third.geometry, third.fragment);
	render_submit(&g.r, 0, render_loop_stream(&g.r, VERTICES, 3 * TRIANGLES), g.r.fragment);
	CHECK_EQUAL(fx_wait(&first.fx), -ETIMEDOUT);
	CHECK_EQUAL(fx_wait(&second.fx), -ETIMEDOUT);
	CHECK_EQUAL(fx_wait(&third.fx), 1);
	CHECK_EQUAL(need_state(third.fx.fd, third.context).state, 0);
	CHECK_EQUAL(fx_wait(&g.r.fx), -ECANCELED);
	CHECK_EQUAL(need_state(g.r.fx.fd, g.r.context).state, DRM_PUMICE_CONTEXT_GUILTY);
}

static const struct test_case cases[] = {
	TEST_CASE(square_is_drawn_to_the_pixel),
	TEST_CASE(statistics_count_a_frame),
	TEST_CASE(list_grows_and_the_picture_stays),
	TEST_CASE(list_grows_by_one_page_at_a_time),
	TEST_CASE(partial_renders_change_nothing),
	TEST_CASE(page_tables_of_the_gpu_change_nothing),
	TEST_CASE(pieces_of_any_size_give_the_same_picture),
	TEST_CASE(gpu_reset_in_the_middle_loses_no_pages),
	TEST_CASE(gpu_reset_frees_the_pages_of_scenes_that_it_ended),
	TEST_CASE(list_that_has_grown_to_its_end_is_rendered_in_parts),
	TEST_CASE(growth_is_charged_to_the_creator_of_the_list),
	TEST_CASE(list_whose_owner_has_no_memory_left_is_rendered_in_parts),
	TEST_CASE(pages_that_lack_without_spill_are_a_fault),
	TEST_CASE(both_scenes_share_a_list),
	TEST_CASE(processes_do_not_disturb_each_other),
	TEST_CASE(contexts_can_be_destroyed_during_their_frames),
	TEST_CASE(time_out_in_a_fragment_program_names_it),
	TEST_CASE(job_that_waits_for_pages_ends),
	TEST_CASE(job_that_waits_for_a_hanging_partial_render_ends),
};

TEST_MAIN(cases)
