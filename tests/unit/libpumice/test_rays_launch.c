// SPDX-License-Identifier: MIT
/*
 * Launches of rays: each ray runs the program of its result once, with results of a test of all
 * triangles in f64; launches end, fault and stop as requested; mistakes and malformed streams are
 * refused.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <pumice/pumice_rays.h>
#include "pumice_isa_enums.h"
#include "pumice_regs.h"
#include "rays.h"
#include "rays_programs.h"

#define TRIANGLES	200u
#define RAYS		100000u
#define TIMEOUT_NS	120000000000ull
#define MISS		0x4d495353u	/* the word that the miss program stores */
#define WORDS		8u	/* of a result */
#define COUNT_WORD	7u

struct fixture {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *compute, *context;
	struct pumice_stream *stream;
	struct pumice_rays *rays;
	struct pumice_ray_structure *structure;
	struct pumice_buffer vertices, ray, result;
	struct pumice_kernel *hit, *miss, *grid, *back, *wild, *forever;
	uint32_t random;
};

static struct pumice_kernel *assemble(struct fixture *fx, const char *name, const char *text)
{
	struct pumice_kernel *kernel = NULL;

	if (pumice_kernel_assemble(fx->vm, name, text, &kernel))
		fail_msg("%s", pumice_device_error(fx->dev));
	return kernel;
}

static void open_fixture(struct fixture *fx, const char *device)
{
	char error[512] = "";

	memset(fx, 0, sizeof(*fx));
	fx->random = 4711;
	if (pumice_device_open(device, &fx->dev, error, sizeof(error)))
		fail_msg("%s", error);
	assert_int_equal(pumice_vm_create(fx->dev, &fx->vm), 0);
	assert_int_equal(pumice_context_create(fx->vm, PUMICE_PRIORITY_NORMAL, &fx->compute), 0);
	assert_int_equal(pumice_context_create_type(fx->vm, PUMICE_CONTEXT_RAYS,
						    PUMICE_PRIORITY_NORMAL, &fx->context), 0);
	assert_int_equal(pumice_stream_create(fx->vm, 2 * PUMICE_RAYS_STREAM_BYTES, &fx->stream),
			 0);
	assert_int_equal(pumice_rays_create(fx->vm, &fx->rays), 0);
	assert_int_equal(pumice_ray_structure_create(fx->rays, TRIANGLES, &fx->structure), 0);
	assert_int_equal(pumice_buffer_create(fx->vm, TRIANGLES * 36, &fx->vertices), 0);
	assert_int_equal(pumice_buffer_create(fx->vm, RAYS * sizeof(struct ref_ray), &fx->ray), 0);
	assert_int_equal(pumice_buffer_create(fx->vm, RAYS * WORDS * 4, &fx->result), 0);
	fx->hit = assemble(fx, "hit", hit_text);
	fx->miss = assemble(fx, "miss", miss_text);
	fx->grid = assemble(fx, "grid", grid_text);
	fx->back = assemble(fx, "back", back_text);
	fx->wild = assemble(fx, "wild", wild_text);
	fx->forever = assemble(fx, "forever", forever_text);
}

static void close_fixture(struct fixture *fx)
{
	pumice_kernel_destroy(fx->forever);
	pumice_kernel_destroy(fx->wild);
	pumice_kernel_destroy(fx->back);
	pumice_kernel_destroy(fx->grid);
	pumice_kernel_destroy(fx->miss);
	pumice_kernel_destroy(fx->hit);
	pumice_buffer_destroy(&fx->result);
	pumice_buffer_destroy(&fx->ray);
	pumice_buffer_destroy(&fx->vertices);
	pumice_ray_structure_destroy(fx->structure);
	pumice_rays_destroy(fx->rays);
	pumice_stream_destroy(fx->stream);
	pumice_context_destroy(fx->context);
	pumice_context_destroy(fx->compute);
	pumice_vm_destroy(fx->vm);
	pumice_device_close(fx->dev);
}

static float between(struct fixture *fx, float low, float high)
{
	fx->random = fx->random * 1664525u + 1013904223u;
	return low + (high - low) * ((float)(fx->random >> 8) * 0x1p-24f);
}

/* Build the structure of the first triangles. */
static void build(struct fixture *fx, uint32_t triangles)
{
	struct pumice_ray_mesh mesh;
	uint64_t va;

	pumice_ray_mesh_init(&mesh, fx->vertices.va, triangles);
	assert_int_equal(pumice_stream_rays_mesh(fx->stream, fx->structure, &mesh, 0), 0);
	assert_int_equal(pumice_stream_end(fx->stream, &va), 0);
	assert_int_equal(pumice_context_run(fx->compute, va, TIMEOUT_NS, NULL), 0);
	pumice_stream_reset(fx->stream);
}

static void build_random(struct fixture *fx)
{
	float *v = fx->vertices.cpu;

	for (uint32_t n = 0; n < TRIANGLES; n++, v += 9) {
		float at[3] = { between(fx, -9, 9), between(fx, -9, 9), between(fx, -9, 9) };

		for (uint32_t k = 0; k < 9; k++)
			v[k] = at[k % 3] + between(fx, -2, 2);
	}
	build(fx, TRIANGLES);
}

/* Squares of side 1/2 about each column and row whose sum is even, at z = 8. */
#define GRID	10u
static void build_grid(struct fixture *fx)
{
	static const float corner[6][2] = { { -1, -1 }, { 1, -1 }, { 1, 1 }, { -1, -1 }, { 1, 1 },
					    { -1, 1 } };
	float *v = fx->vertices.cpu;

	for (uint32_t n = 0; n < GRID * GRID; n++) {
		if ((n % GRID + n / GRID) % 2)
			continue;
		for (uint32_t k = 0; k < 6; k++) {
			*v++ = (float)(n % GRID) + corner[k][0] / 4;
			*v++ = (float)(n / GRID) + corner[k][1] / 4;
			*v++ = 8;
		}
	}
	build(fx, GRID * GRID);
}

/* Stages of the programs above, with their inputs. */
struct stages {
	struct pumice_input hit_in[8], miss_in[4], grid_in[2], back_in[6];
	struct pumice_stage_desc hit, miss, grid, back;
};

static struct pumice_input source(uint32_t reg, uint32_t value)
{
	return pumice_input_source(reg, value);
}

static void set_stages(struct fixture *fx, struct stages *s)
{
	static const uint32_t hit[] = {
		PUMICE_PDS_SOURCE_RAY_T, PUMICE_PDS_SOURCE_RAY_U, PUMICE_PDS_SOURCE_RAY_V,
		PUMICE_PDS_SOURCE_RAY_INSTANCE, PUMICE_PDS_SOURCE_RAY_PRIMITIVE,
		PUMICE_PDS_SOURCE_RAY_KIND, PUMICE_PDS_SOURCE_RAY_INDEX,
	};

	for (uint32_t n = 0; n < 7; n++)
		s->hit_in[n] = source(n, hit[n]);
	s->hit_in[7] = pumice_input_uniforms(0, &fx->result.va, 2);
	s->miss_in[0] = source(0, PUMICE_PDS_SOURCE_RAY_MAX);
	s->miss_in[1] = source(1, PUMICE_PDS_SOURCE_RAY_KIND);
	s->miss_in[2] = source(2, PUMICE_PDS_SOURCE_RAY_INDEX);
	s->miss_in[3] = pumice_input_uniforms(0, &fx->result.va, 2);
	s->grid_in[0] = source(0, PUMICE_PDS_SOURCE_RAY_X);
	s->grid_in[1] = source(1, PUMICE_PDS_SOURCE_RAY_Y);
	s->back_in[0] = source(0, PUMICE_PDS_SOURCE_RAY_T);
	s->back_in[1] = source(1, PUMICE_PDS_SOURCE_RAY_INDEX);
	s->back_in[2] = source(2, PUMICE_PDS_SOURCE_RAY_ORIGIN_X);
	s->back_in[3] = source(3, PUMICE_PDS_SOURCE_RAY_ORIGIN_Y);
	s->back_in[4] = pumice_input_uniforms(0, &fx->ray.va, 2);
	s->hit = (struct pumice_stage_desc){ fx->hit, s->hit_in, 8 };
	s->miss = (struct pumice_stage_desc){ fx->miss, s->miss_in, 4 };
	s->grid = (struct pumice_stage_desc){ fx->grid, s->grid_in, 2 };
	s->back = (struct pumice_stage_desc){ fx->back, s->back_in, 5 };
}

/* A launch of rays of the buffer with the programs of hits and misses. */
static struct pumice_ray_launch launch_of(const struct fixture *fx, const struct stages *s,
					  uint32_t width, uint32_t height)
{
	struct pumice_ray_launch launch;

	pumice_ray_launch_init(&launch, pumice_ray_structure_va(fx->structure), width, height);
	launch.rays = fx->ray.va;
	launch.hit = &s->hit;
	launch.miss = &s->miss;
	return launch;
}

/* A launch of rays that the program of the grid generates. */
static struct pumice_ray_launch grid_launch(const struct fixture *fx, const struct stages *s,
					    uint32_t width, uint32_t height)
{
	struct pumice_ray_launch launch = launch_of(fx, s, width, height);

	launch.rays = 0;
	launch.generate = &s->grid;
	return launch;
}

/* Open a device with the programs, and the structure that the rays of the grid hit. */
static void open_grid(struct fixture *fx, const char *device, struct stages *s)
{
	open_fixture(fx, device);
	set_stages(fx, s);
	build_grid(fx);
}

static void add(struct fixture *fx, const struct pumice_ray_launch *launch)
{
	if (pumice_stream_rays_launch(fx->stream, launch))
		fail_msg("%s", pumice_device_error(fx->dev));
}

static int run_end(struct fixture *fx, struct pumice_context_state *state)
{
	uint64_t va;
	int err;

	assert_int_equal(pumice_stream_end(fx->stream, &va), 0);
	err = pumice_context_run(fx->context, va, TIMEOUT_NS, state);
	pumice_stream_reset(fx->stream);
	return err;
}

static void run(struct fixture *fx)
{
	if (run_end(fx, NULL))
		fail_msg("%s", pumice_device_error(fx->dev));
}

/* ------------------------------------------------------------ results */

static void random_rays(struct fixture *fx)
{
	struct ref_ray *ray = fx->ray.cpu;

	for (uint32_t n = 0; n < RAYS; n++) {
		ray[n] = (struct ref_ray){ .max = 1000 };
		for (uint32_t k = 0; k < 3; k++) {
			ray[n].origin[k] = between(fx, -12, 12);
			ray[n].direction[k] = between(fx, -9, 9) - ray[n].origin[k];
		}
	}
}

/* Compare the result of one ray; return whether it hit. */
static bool check_ray(const struct fixture *fx, uint32_t n, uint32_t *compared)
{
	const uint32_t *words = (const uint32_t *)fx->result.cpu + n * WORDS;
	struct ref_hit want;
	float value[3];

	if (words[COUNT_WORD] != 1)
		fail_msg("ray %u ran %u programs", n, words[COUNT_WORD]);
	ref_trace((const struct ref_ray *)fx->ray.cpu + n, fx->vertices.cpu, TRIANGLES, &want);
	memcpy(value, words, sizeof(value));
	if (want.margin < 1e-4)
		return false;
	++*compared;
	if (want.triangle == REF_MISS) {
		assert_int_equal(words[1], MISS);
		assert_true(value[0] == 1000);
		assert_int_equal(words[2], PUMICE_RT_HIT_NONE);
		return false;
	}
	assert_int_equal(words[4], want.triangle);
	assert_int_equal(words[3], UINT32_MAX);
	assert_int_equal(words[6], n);
	assert_int_equal(words[5], want.front ? PUMICE_RT_HIT_FRONT : PUMICE_RT_HIT_BACK);
	assert_true(fabs(value[0] - want.t) < 1e-3);
	assert_true(fabs(value[1] - want.u) < 1e-3 && fabs(value[2] - want.v) < 1e-3);
	return true;
}

static const char *const devices[] = {
	"inproc:cores=4,threads=0", "inproc:cores=2,threads=2", "inproc:cores=1,slots=2,threads=1",
	"inproc:batch=16,threads=0", "inproc:cores=1,vpm-kib=4,threads=2", /* a wave of rays */
};

static void every_ray_runs_the_program_of_its_result_once(void **state)
{
	(void)state;
	for (uint32_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
		uint32_t hits = 0, compared = 0;
		struct pumice_ray_launch launch;
		struct stages s;
		struct fixture fx;

		open_fixture(&fx, devices[d]);
		set_stages(&fx, &s);
		build_random(&fx);
		random_rays(&fx);
		launch = launch_of(&fx, &s, RAYS / 100, 100);
		add(&fx, &launch);
		run(&fx);
		for (uint32_t n = 0; n < RAYS; n += d ? 17 : 1)
			hits += check_ray(&fx, n, &compared);
		assert_true(d || (compared > RAYS * 9 / 10 && hits > RAYS / 8));
		close_fixture(&fx);
	}
}

/* Counters of a job: launched rays, hits, tasks, and triangles that the walker visited. */
struct counts {
	uint64_t rays, hits, tasks, triangles;
};

static struct counts run_counted(struct fixture *fx)
{
	static const char *const names[] = { "RDM_RAYS", "RDM_HITS", "RDM_TASKS", "RTU_LEAVES" };
	struct pumice_job_sync signal;
	struct pumice_perfmon *perfmon;
	struct pumice_sync *sync;
	struct pumice_wait wait;
	struct pumice_job job;
	struct counts counts;
	uint32_t numbers[4];
	uint64_t va;

	for (uint32_t n = 0; n < 4; n++)
		assert_int_equal(pumice_perf_counter_find(fx->dev, names[n], &numbers[n]), 0);
	assert_int_equal(pumice_perfmon_create(fx->dev, numbers, 4, &perfmon), 0);
	assert_int_equal(pumice_sync_create(fx->dev, 0, &sync), 0);
	assert_int_equal(pumice_stream_end(fx->stream, &va), 0);
	pumice_job_init(&job, fx->context, va);
	pumice_job_sync_init(&signal, sync, 0, true);
	pumice_wait_init(&wait, sync, 0);
	job.syncs = &signal;
	job.sync_count = 1;
	job.perfmon = pumice_perfmon_id(perfmon);
	assert_int_equal(pumice_submit(fx->dev, &job, 1, NULL), 0);
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, TIMEOUT_NS), 0);
	assert_int_equal(pumice_perfmon_read(perfmon, 0, (uint64_t *)&counts), 0);
	pumice_stream_reset(fx->stream);
	pumice_sync_destroy(sync);
	pumice_perfmon_destroy(perfmon);
	return counts;
}

static void any_hit_visits_fewer_triangles(void **state)
{
	struct pumice_device_limits limits;
	struct counts closest_hit, any_hit;
	struct pumice_ray_launch launch;
	uint64_t hits = 0, fewest;
	struct stages s;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, devices[1]);
	set_stages(&fx, &s);
	build_random(&fx);
	random_rays(&fx);
	launch = launch_of(&fx, &s, RAYS, 1);
	add(&fx, &launch);
	closest_hit = run_counted(&fx);
	for (uint32_t n = 0; n < RAYS; n++)
		hits += ((const uint32_t *)fx.result.cpu)[n * WORDS + 1] != MISS;
	launch.flags = PUMICE_RAYS_ANY;
	add(&fx, &launch);
	any_hit = run_counted(&fx);
	/* Whole tasks but the last of each kind. */
	assert_int_equal(pumice_device_limits(fx.dev, &limits, sizeof(limits)), 0);
	fewest = (hits + limits.batch - 1) / limits.batch +
		 (RAYS - hits + limits.batch - 1) / limits.batch;
	assert_true(closest_hit.rays == RAYS && any_hit.rays == RAYS);
	assert_true(closest_hit.hits == hits && any_hit.hits == hits);
	assert_true(closest_hit.tasks == fewest && any_hit.tasks == fewest);
	assert_true(any_hit.triangles < closest_hit.triangles);
	close_fixture(&fx);
}

/* All triangles are in one place, and a ray visits each of them: a wave takes several pieces. */
static void long_queries_continue_where_they_were_interrupted(void **state)
{
	static const float corner[9] = { -1, -1, 5, 1, -1, 5, 0, 1, 5 };
	const uint32_t *words, count = 300;
	struct pumice_ray_launch launch;
	struct stages s;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, devices[1]);
	set_stages(&fx, &s);
	for (uint32_t n = 0; n < TRIANGLES; n++)
		memcpy((float *)fx.vertices.cpu + (size_t)n * 9, corner, sizeof(corner));
	build(&fx, TRIANGLES);
	for (uint32_t n = 0; n < count; n++)
		((struct ref_ray *)fx.ray.cpu)[n] = (struct ref_ray){
			.origin = { n % 7 ? 0 : 3 }, .direction = { 0, 0, 1 }, .max = 100,
		};
	launch = launch_of(&fx, &s, count, 1);
	add(&fx, &launch);
	run(&fx);
	words = fx.result.cpu;
	for (uint32_t n = 0; n < count; n++, words += WORDS) {
		const float five = 5;

		assert_int_equal(words[COUNT_WORD], 1);
		if (!(n % 7)) {
			assert_int_equal(words[1], MISS);
			continue;
		}
		assert_memory_equal(&words[0], &five, 4);
		assert_int_equal(words[4], 0);
	}
	close_fixture(&fx);
}

/* ------------------------------------------------------------ generated rays, fences */

/* Return whether there is a square at the place of a generated ray. */
static bool grid_hit(uint32_t x, uint32_t y)
{
	return x < GRID && y < GRID && (x + y) % 2 == 0;
}

static void a_program_generates_rays_by_column_and_row(void **state)
{
	static const uint32_t sizes[][2] = { { 1, 1 }, { 33, 3 }, { 13, 70 },
					     { 128, 1 }, { 7, 40 } };

	(void)state;
	for (uint32_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
		struct pumice_ray_launch launch;
		struct stages s;
		struct fixture fx;

		open_grid(&fx, devices[d], &s);
		for (uint32_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
			const uint32_t width = sizes[n][0], height = sizes[n][1];
			const uint32_t *words = fx.result.cpu;

			memset(fx.result.cpu, 0, RAYS * WORDS * 4);
			launch = grid_launch(&fx, &s, width, height);
			add(&fx, &launch);
			run(&fx);
			for (uint32_t k = 0; k < width * height; k++, words += WORDS) {
				const float eight = 8;

				assert_int_equal(words[COUNT_WORD], 1);
				if (grid_hit(k % width, k / width))
					assert_memory_equal(&words[0], &eight, 4);
				else
					assert_int_equal(words[1], MISS);
			}
			assert_int_equal(words[COUNT_WORD], 0);
		}
		close_fixture(&fx);
	}
}

/*
 * Rays of the second launch are stored by hits of the first; those of misses are never read back.
 */
static void a_launch_after_a_fence_reads_rays_of_the_one_before(void **state)
{
	const uint32_t width = 300, height = GRID;

	(void)state;
	for (uint32_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
		const uint32_t *words;
		struct pumice_ray_launch launch;
		struct stages s;
		struct fixture fx;

		open_grid(&fx, devices[d], &s);
		launch = grid_launch(&fx, &s, width, height);
		launch.hit = &s.back;
		launch.miss = NULL;
		add(&fx, &launch);
		assert_int_equal(pumice_stream_fence(fx.stream), 0);
		launch = launch_of(&fx, &s, width, height);
		add(&fx, &launch);
		run(&fx);
		words = fx.result.cpu;
		/*
		 * The ray begins 0.5 after the square, so it hits nothing; its greatest t shows it.
		 */
		for (uint32_t n = 0; n < width * height; n++, words += WORDS) {
			const float max = grid_hit(n % width, n / width) ? 50 : 0;

			assert_int_equal(words[1], MISS);
			assert_memory_equal(&words[0], &max, 4);
		}
		close_fixture(&fx);
	}
}

static void any_hit_and_programs_that_there_are_not(void **state)
{
	struct pumice_ray_launch launch;
	const uint32_t *words;
	struct stages s;
	struct fixture fx;

	(void)state;
	open_grid(&fx, devices[1], &s);
	launch = grid_launch(&fx, &s, GRID, GRID);
	launch.flags = PUMICE_RAYS_ANY;
	launch.miss = NULL;
	add(&fx, &launch);
	launch.width = 0;	/* launches none */
	add(&fx, &launch);
	run(&fx);
	words = fx.result.cpu;
	for (uint32_t n = 0; n < GRID * GRID; n++)
		assert_int_equal(words[n * WORDS + COUNT_WORD], grid_hit(n % GRID, n / GRID));
	close_fixture(&fx);
}

/* Sub-lists, links, markers and time stamps are those of compute streams. */
static void control_commands_are_those_of_compute_streams(void **state)
{
	const uint32_t ret = PUMICE_RDM_TYPE_RETURN << 28;
	uint32_t words_of_call[PUMICE_CDM_CALL_WORDS];
	struct pumice_ray_launch launch;
	struct pumice_stream *list;
	uint64_t times[2], at;
	const uint32_t *words;
	struct stages s;
	struct fixture fx;

	(void)state;
	open_grid(&fx, devices[1], &s);
	assert_int_equal(pumice_stream_create(fx.vm, 1 << 16, &list), 0);
	launch = grid_launch(&fx, &s, GRID, GRID);
	at = pumice_stream_va(list);
	assert_int_equal(pumice_stream_rays_launch(list, &launch), 0);
	assert_int_equal(pumice_stream_emit(list, &ret, 1), 0);
	pumice_cdm_call_pack(words_of_call, &(struct pumice_cdm_call){ .addr = at });
	assert_int_equal(pumice_stream_timestamp(fx.stream, fx.ray.va, 0), 0);
	assert_int_equal(pumice_stream_emit(fx.stream, words_of_call, PUMICE_CDM_CALL_WORDS), 0);
	assert_int_equal(pumice_stream_emit(fx.stream, words_of_call, PUMICE_CDM_CALL_WORDS), 0);
	assert_int_equal(pumice_stream_timestamp(fx.stream, fx.ray.va + 8, 1), 0);
	assert_int_equal(pumice_stream_marker(fx.stream, fx.ray.va + 16, 77, 1), 0);
	run(&fx);
	words = fx.result.cpu;
	for (uint32_t n = 0; n < GRID * GRID; n++)
		assert_int_equal(words[n * WORDS + COUNT_WORD], 2);
	memcpy(times, fx.ray.cpu, sizeof(times));
	assert_true(times[0] && times[0] < times[1]);
	assert_int_equal(((const uint32_t *)fx.ray.cpu)[4], 77);
	pumice_stream_destroy(list);
	close_fixture(&fx);
}

/* ------------------------------------------------------------ faults and stops */

/* The context continues: a launch after a fault is complete. */
static void assert_works(struct fixture *fx, const struct stages *s)
{
	const uint32_t *words = fx->result.cpu;
	struct pumice_ray_launch launch = grid_launch(fx, s, GRID, GRID);

	memset(fx->result.cpu, 0, GRID * GRID * WORDS * 4);
	add(fx, &launch);
	run(fx);
	for (uint32_t n = 0; n < GRID * GRID; n++)
		assert_int_equal(words[n * WORDS + COUNT_WORD], 1);
}

static void assert_faults(struct fixture *fx, const struct stages *s, uint32_t fault,
			  uint32_t unit)
{
	struct pumice_context_state state;

	assert_int_equal(run_end(fx, &state), -EIO);
	print_message("  %s\n", pumice_device_error(fx->dev));
	assert_int_equal(state.fault, fault);
	assert_int_equal(state.unit, unit);
	if (unit == PUMICE_UNIT_RTU)
		assert_non_null(strstr(pumice_device_error(fx->dev), ", byte 0 of the buffer of "));
	assert_works(fx, s);
}

static void faults_of_programs_and_buffers_stop_the_job(void **state)
{
	(void)state;
	for (uint32_t d = 0; d < 3; d++) {
		const uint64_t unmapped = 1ull << 38;
		const struct pumice_input in = pumice_input_uniforms(0, &unmapped, 2);
		struct pumice_stage_desc wild;
		struct pumice_ray_launch launch;
		struct pumice_bind bind;
		struct stages s;
		struct fixture fx;

		open_grid(&fx, devices[d], &s);
		launch = grid_launch(&fx, &s, 200, 200);
		wild = (struct pumice_stage_desc){ fx.wild, &in, 1 };
		launch.hit = &wild;
		add(&fx, &launch);
		assert_faults(&fx, &s, PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_USC_DATA);
		launch = launch_of(&fx, &s, 200, 200);
		launch.rays = unmapped;
		add(&fx, &launch);
		assert_faults(&fx, &s, PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_RDM);
		launch = launch_of(&fx, &s, 200, 2);
		launch.structure = fx.ray.va;	/* no structure */
		/* The flags of a mapping do not matter to a structure that is wrong. */
		pumice_bind_init(&bind, fx.ray.bo, fx.ray.va);
		bind.flags = PUMICE_BIND_READONLY;
		assert_int_equal(pumice_vm_bind(fx.vm, &bind, 1, NULL), 0);
		add(&fx, &launch);
		assert_faults(&fx, &s, PUMICE_FAULT_RTU_HEADER, PUMICE_UNIT_RTU);
		assert_null(strstr(pumice_device_error(fx.dev), "read only"));
		close_fixture(&fx);
	}
}

static void an_endless_program_is_killed(void **state)
{
	static const char *const limited[] = {
		"inproc:cores=2,threads=2,job-timeout-ms=200",
		"inproc:cores=1,slots=2,threads=0,job-timeout-ms=200",
	};

	(void)state;
	for (uint32_t d = 0; d < 2; d++) {
		struct pumice_context_state after;
		struct pumice_stage_desc forever;
		struct pumice_ray_launch launch;
		struct stages s;
		struct fixture fx;

		open_fixture(&fx, limited[d]);
		set_stages(&fx, &s);
		build_grid(&fx);
		launch = grid_launch(&fx, &s, 500, 20);
		forever = (struct pumice_stage_desc){ .kernel = fx.forever };
		launch.hit = &forever;
		add(&fx, &launch);
		assert_int_equal(run_end(&fx, &after), -EIO);
		assert_int_equal(after.fault, PUMICE_FAULT_KILLED);
		pumice_context_destroy(fx.context);
		assert_int_equal(pumice_context_create_type(fx.vm, PUMICE_CONTEXT_RAYS,
							    PUMICE_PRIORITY_NORMAL,
							    &fx.context), 0);
		assert_works(&fx, &s);
		close_fixture(&fx);
	}
}

/* ------------------------------------------------------------ malformed streams */

#define LAUNCH	PUMICE_RDM_STATE_WORDS	/* word of the LAUNCH after a STATE */

/* A change of the words of a STATE and a LAUNCH: xor to a word, and the fault. */
static const struct {
	uint32_t word, bits, fault;
} changes[] = {
	{ 0, 0xfu << 28, PUMICE_FAULT_RDM_COMMAND },		/* type 14 */
	{ 0, 1u << 5, PUMICE_FAULT_RDM_RESERVED },
	{ 2, 1u << 31, PUMICE_FAULT_RDM_RESERVED },		/* stages */
	{ 7, 1u << 30, PUMICE_FAULT_RDM_RESERVED },
	{ 12, 1u << 31, PUMICE_FAULT_RDM_RESERVED },
	{ 13, 1u << 5, PUMICE_FAULT_RDM_ALIGN },		/* structure */
	{ 14, 1u << 9, PUMICE_FAULT_RDM_RESERVED },
	{ 15, 1u << 4, PUMICE_FAULT_RDM_ALIGN },		/* uniforms */
	{ 16, 1u << 31, PUMICE_FAULT_RDM_RESERVED },
	{ 16, (PUMICE_USC_MAX_UNIFORMS + 1) << 8, PUMICE_FAULT_RDM_RESERVED },
	{ LAUNCH, 5u << 28, PUMICE_FAULT_RDM_COMMAND },		/* LAUNCH_INDIRECT of the CDM */
	{ LAUNCH, 1, PUMICE_FAULT_RDM_RESERVED },
	{ LAUNCH + 1, 1u << 31, PUMICE_FAULT_RDM_RAYS },
	{ LAUNCH + 3, 2, PUMICE_FAULT_RDM_ALIGN },
	{ LAUNCH + 3, 4, PUMICE_FAULT_RDM_STATE },		/* two sources of rays */
	{ LAUNCH + 4, 1u << 8, PUMICE_FAULT_RDM_RESERVED },
};

/* Generate the words of a launch. */
static void words_of(struct fixture *fx, const struct stages *s, uint32_t *words)
{
	struct pumice_rdm_state rdm = { .structure = pumice_ray_structure_va(fx->structure) };
	const struct pumice_rdm_launch launch = { .width = GRID, .height = GRID };

	assert_int_equal(pumice_stream_stage(fx->stream, &s->grid, rdm.generate), 0);
	assert_int_equal(pumice_stream_stage(fx->stream, &s->hit, rdm.hit), 0);
	assert_int_equal(pumice_stream_stage(fx->stream, &s->miss, rdm.miss), 0);
	pumice_rdm_state_pack(words, &rdm);
	pumice_rdm_launch_pack(words + LAUNCH, &launch);
}

static void malformed_words_are_refused_by_name(void **state)
{
	const uint32_t ret = PUMICE_RDM_TYPE_RETURN << 28;
	uint32_t words[LAUNCH + PUMICE_RDM_LAUNCH_WORDS];
	struct stages s;
	struct fixture fx;

	(void)state;
	open_grid(&fx, devices[0], &s);
	for (uint32_t n = 0; n < sizeof(changes) / sizeof(changes[0]); n++) {
		words_of(&fx, &s, words);
		words[changes[n].word] ^= changes[n].bits;
		assert_int_equal(pumice_stream_emit(fx.stream, words,
						    LAUNCH + PUMICE_RDM_LAUNCH_WORDS), 0);
		print_message("change %u:\n", n);
		assert_faults(&fx, &s, changes[n].fault, PUMICE_UNIT_RDM);
	}
	for (uint32_t n = 0; n < 2; n++) {	/* vertex outputs of hits and of misses */
		*(n ? &s.hit : &s.miss) = s.grid;
		words_of(&fx, &s, words);
		set_stages(&fx, &s);
		assert_int_equal(pumice_stream_emit(fx.stream, words,
						    LAUNCH + PUMICE_RDM_LAUNCH_WORDS), 0);
		assert_faults(&fx, &s, PUMICE_FAULT_USC_STAGE, PUMICE_UNIT_USC_CODE);
	}
	words_of(&fx, &s, words);
	assert_int_equal(pumice_stream_emit(fx.stream, words + LAUNCH, PUMICE_RDM_LAUNCH_WORDS), 0);
	assert_faults(&fx, &s, PUMICE_FAULT_RDM_STATE, PUMICE_UNIT_RDM);
	assert_int_equal(pumice_stream_emit(fx.stream, &ret, 1), 0);
	assert_faults(&fx, &s, PUMICE_FAULT_RDM_RETURN, PUMICE_UNIT_RDM);
	pumice_cdm_call_pack(words, &(struct pumice_cdm_call){
					    .addr = pumice_stream_va(fx.stream) });	/* itself */
	assert_int_equal(pumice_stream_emit(fx.stream, words, PUMICE_CDM_CALL_WORDS), 0);
	assert_faults(&fx, &s, PUMICE_FAULT_RDM_DEPTH, PUMICE_UNIT_RDM);
	close_fixture(&fx);
}

/*
 * Not those of the program before, which wrote all of them in the same rows, as there is one core:
 * rays without a greatest t miss.
 */
static void outputs_that_are_not_written_are_0(void **state)
{
	uint32_t words[LAUNCH + PUMICE_RDM_LAUNCH_WORDS];
	struct pumice_ray_launch launch;
	struct pumice_kernel *partial;
	const uint32_t *result;
	struct stages s;
	struct fixture fx;

	(void)state;
	open_grid(&fx, "inproc:cores=1,threads=0", &s);
	partial = assemble(&fx, "short", short_text);
	launch = grid_launch(&fx, &s, GRID, GRID);
	add(&fx, &launch);
	assert_int_equal(pumice_stream_fence(fx.stream), 0);
	s.grid.kernel = partial;
	words_of(&fx, &s, words);
	assert_int_equal(pumice_stream_emit(fx.stream, words, LAUNCH + PUMICE_RDM_LAUNCH_WORDS), 0);
	run(&fx);
	result = fx.result.cpu;
	for (uint32_t n = 0; n < GRID * GRID; n++, result += WORDS) {
		assert_int_equal(result[COUNT_WORD], 2);
		assert_int_equal(result[0], 0);
		assert_int_equal(result[1], MISS);
	}
	pumice_kernel_destroy(partial);
	close_fixture(&fx);
}

/* A program of compute has other sources, and one that generates rays has no results of them. */
static void inputs_of_other_programs_are_refused(void **state)
{
	static const struct {
		uint32_t source;
		bool generate;
	} wrong[] = {
		{ PUMICE_PDS_SOURCE_RAY_T, true }, { PUMICE_PDS_SOURCE_RAY_ORIGIN_X, true },
		{ PUMICE_PDS_SOURCE_LOCAL_X, false }, { PUMICE_PDS_SOURCE_VERTEX, true },
		{ PUMICE_PDS_SOURCE_FRAG_X, false },
	};
	struct stages s;
	struct fixture fx;

	(void)state;
	open_grid(&fx, devices[0], &s);
	for (uint32_t n = 0; n < sizeof(wrong) / sizeof(wrong[0]); n++) {
		struct pumice_ray_launch launch = grid_launch(&fx, &s, 4, 4);

		set_stages(&fx, &s);
		*(wrong[n].generate ? &s.grid_in[0] : &s.hit_in[0]) = source(0, wrong[n].source);
		add(&fx, &launch);
		set_stages(&fx, &s);
		assert_faults(&fx, &s, PUMICE_FAULT_PDS_STAGE, PUMICE_UNIT_PDS);
	}
	close_fixture(&fx);
}

static void mistakes_are_refused_before_the_launch(void **state)
{
	static const char compute_text[] = ".group 32, 1, 1\n\tend\n";
	static const char seven_text[] = ".stage rays\n\tuvsw\tvo6, v0\n\tend\n";
	static const char nine_text[] = ".stage rays\n\tuvsw\tvo8, v0\n\tend\n";
	struct pumice_kernel *compute, *seven, *nine;
	struct pumice_stage_desc other;
	struct pumice_ray_launch good, bad;
	struct stages s;
	struct fixture fx;

	(void)state;
	open_fixture(&fx, devices[0]);
	set_stages(&fx, &s);
	compute = assemble(&fx, "compute", compute_text);
	seven = assemble(&fx, "seven", seven_text);
	nine = assemble(&fx, "nine", nine_text);
	good = launch_of(&fx, &s, 4, 4);
	assert_int_equal(pumice_stream_rays_launch(fx.stream, &good), 0);
	assert_int_equal(pumice_stream_rays_launch(fx.stream, NULL), -EINVAL);
#define REFUSED(change, text) do { \
		bad = good; \
		change; \
		assert_int_equal(pumice_stream_rays_launch(fx.stream, &bad), -EINVAL); \
		assert_non_null(strstr(pumice_device_error(fx.dev), text)); \
	} while (0)
	REFUSED(bad.flags = 2, "unknown flags 0x2");
	REFUSED(bad.width = bad.height = 1u << 16, "2^32 rays or more");
	REFUSED(bad.rays = 0, "either generate or rays");
	REFUSED(bad.generate = &s.grid, "either generate or rays");
	REFUSED(bad.structure = 0, "structure is 0");
	REFUSED(bad.structure += 32, "not a multiple of 64");
	REFUSED(bad.rays += 2, "not a multiple of 4");
	REFUSED((bad.uniform_words = 1, bad.uniforms = fx.ray.va + 128), "not a multiple of 256");
	REFUSED(bad.uniform_words = 16385, "16385 is not 0 to 16384");
	REFUSED(bad.hit = &s.grid, "stage hit writes vo7; it has 0 outputs");
	other = (struct pumice_stage_desc){ .kernel = compute };
	REFUSED(bad.miss = &other, "stage miss is not a program of stage rays");
	REFUSED((bad.rays = 0, bad.generate = &other), "stage generate is not a program");
	other.kernel = seven;
	REFUSED((bad.rays = 0, bad.generate = &other), "stage generate writes no vo7");
	other.kernel = nine;
	REFUSED((bad.rays = 0, bad.generate = &other), "stage generate writes vo8; it has 8 outputs");
	pumice_kernel_destroy(nine);
	pumice_kernel_destroy(seven);
	pumice_kernel_destroy(compute);
	close_fixture(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_ray_runs_the_program_of_its_result_once),
		cmocka_unit_test(any_hit_visits_fewer_triangles),
		cmocka_unit_test(long_queries_continue_where_they_were_interrupted),
		cmocka_unit_test(a_program_generates_rays_by_column_and_row),
		cmocka_unit_test(a_launch_after_a_fence_reads_rays_of_the_one_before),
		cmocka_unit_test(any_hit_and_programs_that_there_are_not),
		cmocka_unit_test(control_commands_are_those_of_compute_streams),
		cmocka_unit_test(faults_of_programs_and_buffers_stop_the_job),
		cmocka_unit_test(an_endless_program_is_killed),
		cmocka_unit_test(malformed_words_are_refused_by_name),
		cmocka_unit_test(outputs_that_are_not_written_are_0),
		cmocka_unit_test(inputs_of_other_programs_are_refused),
		cmocka_unit_test(mistakes_are_refused_before_the_launch),
	};

	return cmocka_run_group_tests_name("rays_launch", tests, NULL, NULL);
}
