// SPDX-License-Identifier: MIT
/*
 * Latency of host accesses with the worst geometry: primitives over all tiles of the
 * largest target, and vertices of many attributes, for each of which all lanes read from different
 * pages of 4 KiB. Meanwhile a register is read, the GPU parked, and a page unmapped, which stops
 * every unit.
 *
 * The assertions are that the jobs complete, and their results; latencies are printed
 * only, since they depend on the machine. The amount of work per piece is counted by the
 * tests of the blocks: ta_pieces, pds_vertex, vdm_job.
 */
#include <errno.h>
#include <time.h>

#include "inproc/inproc.h"
#include "scene.h"

#define SIZE	PUMICE_MAX_RENDER_SIZE
#define TILES	((uint64_t)(SIZE / 16) * (SIZE / 16))
#define PRIMS	4u
#define VERTICES 1536u
#define READS	240u		/* attributes of a vertex */
#define BYTES	(4u << 20)	/* of their data */

static struct fixture fx;
static struct fx_buffer buffer;
static struct pumice_perfmon *monitor;	/* counts entries of tiles */

static int open_fixture(void **state)
{
	uint32_t counter;

	(void)state;
	/*
	 * A page has chunks for 63 tiles. No time-out: with sanitizers, on a busy machine, the jobs
	 * take longer than the usual one.
	 */
	fx_open(&fx, "cores=2,threads=2,job-timeout-ms=0", 3 * TILES / 63);
	fx_buffer(&fx, BYTES, &buffer);
	fx_check(&fx, "counter",
		 pumice_perf_counter_find(fx.dev, "TA_TILE_ENTRIES", &counter));
	fx_check(&fx, "monitor", pumice_perfmon_create(fx.dev, &counter, 1, &monitor));
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	pumice_perfmon_destroy(monitor);
	fx_buffer_free(&fx, &buffer);
	fx_close(&fx);
	return 0;
}

struct times {
	uint64_t worst, sum, count;
};

static uint64_t host_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static void add(struct times *times, uint64_t start)
{
	const uint64_t ns = host_ns() - start;

	times->worst = ns > times->worst ? ns : times->worst;
	times->sum += ns;
	times->count++;
}

static void print(const char *what, const struct times *t)
{
	if (t->count)
		print_message("%s: worst %.3f ms, mean %.4f ms of %llu\n", what,
			      (double)t->worst / 1e6, (double)t->sum / 1e6 / (double)t->count,
			      (unsigned long long)t->count);
}

/* Each of the host's accesses. */
static void disturb(struct times *reads, struct times *parks, struct times *unmaps)
{
	struct pumice_gpu *gpu = inproc_device(fx.dev)->gpu;
	struct fx_buffer page;
	uint64_t start;
	int err;

	start = host_ns();
	pumice_gpu_mmio_read(gpu, 0, PUMICE_OS_IRQ_STATUS, 4);
	add(reads, start);
	start = host_ns();
	pumice_gpu_park(gpu);
	add(parks, start);
	pumice_gpu_unpark(gpu);
	fx_buffer(&fx, 4096, &page);
	start = host_ns();
	err = pumice_vm_remove(fx.vm, page.va);
	add(unmaps, start);
	fx_check(&fx, "unmap", err);
	pumice_bo_destroy(page.bo);
}

/* Run a frame with accesses of the host until its end. */
static void run(const struct pumice_frame *frame)
{
	const uint64_t first = pumice_context_jobs(fx.context) + 1;
	struct times reads = { 0 }, parks = { 0 }, unmaps = { 0 };
	struct pumice_job_sync signal = { .signal = true };
	struct pumice_gfx_job jobs[2] = {
		{ .context = fx.context, .stream = frame->geometry, .type = PUMICE_JOB_GEOMETRY,
		  .hwrt = frame->hwrt, .perfmon = pumice_perfmon_id(monitor) },
		{ .context = fx.context, .stream = frame->render, .type = PUMICE_JOB_FRAGMENT,
		  .hwrt = frame->hwrt, .syncs = &signal, .sync_count = 1 },
	};
	struct pumice_job_result result;
	struct pumice_wait wait;
	uint64_t n;
	int err;

	fx_check(&fx, "sync", pumice_sync_create(fx.dev, 0, &signal.sync));
	fx_check(&fx, "submit", pumice_submit_gfx(fx.dev, jobs, 2, NULL));
	wait = (struct pumice_wait){ .sync = signal.sync };
	do {
		disturb(&reads, &parks, &unmaps);
		err = pumice_sync_wait(&wait, 1, 0, 0);
	} while (err == -ETIME);
	fx_check(&fx, "wait", err);
	for (n = first; n < first + 2; n++) {
		fx_check(&fx, "result", pumice_context_get_job_result(fx.context, n, &result,
								      sizeof(result)));
		assert_int_equal(result.error, 0);
	}
	pumice_sync_destroy(signal.sync);
	print("register read", &reads);
	print("parking", &parks);
	print("unmapping", &unmaps);
}

/* Draw vertices of these inputs to a square target with this number of pixels a side. */
static void draw(const struct pumice_input *inputs, uint32_t count, uint32_t vertices,
		 uint32_t instances, uint32_t size)
{
	static const char text[] =
		"uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n";
	const struct pumice_hwrt_desc target = {
		.width = size, .height = size, .samples = 1, .tile_size = PUMICE_TILE_SIZE_16X16,
		.local = fx.list,
	};
	const struct pumice_vdm_draw d = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .count = vertices, .instances = instances,
	};
	const struct pumice_render_desc render = {
		.pdm = { .outputs = 1, .clear_depth = 1 },
	};
	struct pumice_frame frame = { 0 };
	struct pumice_stage_desc stage = { .inputs = inputs, .input_count = count };
	struct pumice_kernel *vertex = fx_kernel(&fx, text), *fragment = fx_kernel(&fx, "end\n");
	struct pumice_draw_state state;

	pumice_stream_reset(fx.stream);
	pumice_draw_state_init(&state, size, size);
	stage.kernel = vertex;
	fx_check(&fx, "vertex stage", pumice_stream_stage(fx.stream, &stage, state.vdm.vertex));
	stage = (struct pumice_stage_desc){ .kernel = fragment };
	fx_check(&fx, "fragments", pumice_stream_stage(fx.stream, &stage, state.tsp.fragment));
	fx_check(&fx, "state", pumice_stream_draw_state(fx.stream, &state, NULL));
	fx_check(&fx, "draw", pumice_stream_draw(fx.stream, &d));
	fx_check(&fx, "end", pumice_stream_vdm_end(fx.stream, &frame.geometry));
	fx_check(&fx, "target", pumice_hwrt_create(fx.vm, &target, &frame.hwrt));
	fx_check(&fx, "render", pumice_stream_render(fx.stream, &render, &frame.render));
	run(&frame);
	pumice_hwrt_destroy(frame.hwrt);
	pumice_kernel_destroy(vertex);
	pumice_kernel_destroy(fragment);
}

/* A triangle over the whole target, repeatedly. */
static void put_triangles(float (*at)[4], uint32_t vertices)
{
	static const float corner[3][4] = { { -1, -1, 0.5f, 1 }, { 3, -1, 0.5f, 1 },
					    { -1, 3, 0.5f, 1 } };
	uint32_t i;

	for (i = 0; i < vertices; i++)
		memcpy(at[i], corner[i % 3], sizeof(*at));
}

static uint64_t entries(void)
{
	uint64_t value;

	fx_check(&fx, "monitor", pumice_perfmon_read(monitor, 0, &value));
	return value;
}

static void primitives_over_all_tiles_of_the_largest_target(void **state)
{
	const struct pumice_input in = {
		.kind = PUMICE_INPUT_ATTRIBUTE, .stride = 16, .elements = PRIMS * 3,
		.va = buffer.va, .format = PUMICE_ATTR_KIND_F32, .count = 4,
	};
	const uint64_t before = entries();

	(void)state;
	put_triangles(buffer.cpu, PRIMS * 3);
	draw(&in, 1, PRIMS * 3, 1, SIZE);
	/* All are in one block, so each core that had some has one entry a tile. */
	assert_true(entries() - before >= TILES);
	assert_int_equal((entries() - before) % TILES, 0);
}

static void vertices_whose_lanes_read_from_different_pages(void **state)
{
	struct pumice_input in[READS + 1];
	uint32_t i;

	(void)state;
	put_triangles(buffer.cpu, VERTICES);
	in[0] = (struct pumice_input){
		.kind = PUMICE_INPUT_ATTRIBUTE, .stride = 16, .elements = VERTICES,
		.va = buffer.va, .format = PUMICE_ATTR_KIND_F32, .count = 4,
	};
	/* Beyond the last element zeroes are read, so memory of fewer is enough. */
	for (i = 1; i <= READS; i++)
		in[i] = (struct pumice_input){
			.kind = PUMICE_INPUT_ATTRIBUTE, .stride = 4096 + 64,
			.elements = BYTES / (4096 + 64) - 1, .reg = 4 + i % 60 * 4,
			.va = buffer.va + i * 16, .format = PUMICE_ATTR_KIND_F32, .count = 4,
		};
	draw(in, READS + 1, VERTICES, 8, 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(primitives_over_all_tiles_of_the_largest_target),
		cmocka_unit_test(vertices_whose_lanes_read_from_different_pages),
	};

	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
