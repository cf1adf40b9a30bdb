// SPDX-License-Identifier: MIT
/* Transfer contexts: results compared with the CPU's, faults, order, termination. */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "pumice_regs.h"
#include "render.h"
#include "system.h"

#define AREA_BYTES	(16 * 1024u)	/* of the fixture's data, twice */

/** struct transfer_fixture - a fixture whose data is copied by a transfer context */
struct transfer_fixture {
	struct fixture fx;
	u32 compute;	/* original context of the fixture */
};

static struct transfer_fixture transfer_fixture(void)
{
	struct transfer_fixture g = { .fx = fx_open() };

	g.compute = g.fx.context;
	g.fx.context = need_context_of(g.fx.fd, g.fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	return g;
}

static void fill_pattern(struct transfer_fixture *g)
{
	u8 *bytes = (u8 *)g->fx.data.cpu;
	u32 i;

	for (i = 0; i < 2 * AREA_BYTES; i++)
		bytes[i] = (u8)(i * 7 + (i >> 8));
}

static void copies_equal_those_of_the_cpu(void)
{
	static const struct {
		u32 to, from, bytes;
	} copies[] = {
		{ AREA_BYTES, 0, AREA_BYTES }, { AREA_BYTES + 1, 3, 5000 },
		{ AREA_BYTES + 4093, 1, 4097 }, { 100, 0, 8000 }, { 0, 100, 8000 },
		{ 7, 7, 100 }, { AREA_BYTES, 5, 1 }, { AREA_BYTES, 5, 0 },
	};
	struct transfer_fixture g = transfer_fixture();
	static u8 want[2 * AREA_BYTES];
	u32 i;

	for (i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		fill_pattern(&g);
		memcpy(want, g.fx.data.cpu, sizeof(want));
		memmove(want + copies[i].to, want + copies[i].from, copies[i].bytes);
		CHECK_EQUAL(fx_run(&g.fx, transfer_copy_stream(&g.fx,
			g.fx.data.va + copies[i].to, g.fx.data.va + copies[i].from,
			copies[i].bytes)), 1);
		CHECK(!memcmp(want, g.fx.data.cpu, sizeof(want)));
	}
}

static void fills_equal_those_of_the_cpu(void)
{
	struct transfer_fixture g = transfer_fixture();
	u32 i;

	fill_pattern(&g);
	CHECK_EQUAL(fx_run(&g.fx, transfer_fill_stream(&g.fx, g.fx.data.va + 4, 0x12345678,
						       2000)), 1);
	CHECK_EQUAL(g.fx.data.cpu[0], 0x150e0700);
	for (i = 1; i <= 2000; i++)
		CHECK_EQUAL(g.fx.data.cpu[i], 0x12345678);
	CHECK(g.fx.data.cpu[2001] != 0x12345678);
}

/* An image of RGBA8 at an offset of the fixture's data. */
static struct pumice_texture image_at(const struct transfer_fixture *g, u32 offset, u32 width,
				      u32 height)
{
	return (struct pumice_texture){
		.addr = g->fx.data.va + offset, .format = PUMICE_FORMAT_RGBA8_UNORM,
		.layout = PUMICE_LAYOUT_LINEAR, .dim = PUMICE_TEXTURE_DIM_2D, .levels = 1,
		.width = (u16)(width - 1), .height = (u16)(height - 1),
		.swizzle_g = PUMICE_SWIZZLE_G, .swizzle_b = PUMICE_SWIZZLE_B,
		.swizzle_a = PUMICE_SWIZZLE_A,
	};
}

/* The texels of one axis that texel n is made of, by filter; returns the weight of the second. */
static double taps_of(enum pumice_tdm_filter filter, u32 from, u32 to, u32 n, u32 *first,
		      u32 *second)
{
	double centre = (n + 0.5) * from / to, weight = centre - 0.5;

	*first = *second = (u32)centre;
	if (filter == PUMICE_TDM_FILTER_NEAREST)
		return 0;
	*first = weight > 0 ? (u32)weight : 0;
	*second = weight > 0 && *first + 1 < from ? *first + 1 : *first;
	/* Boxes of two: their middle is between both. */
	return *second > *first ? weight - *first : 0;
}

static void check_scaled(const struct transfer_fixture *g, const struct pumice_tdm_scale *s)
{
	const u8 *from = (const u8 *)g->fx.data.cpu, *to = from + AREA_BYTES;
	u32 x[2], y[2], i, n;

	for (i = 0; i < s->dst_width * s->dst_height * 4u; i++) {
		u32 column = i / 4 % s->dst_width, row = i / 4 / s->dst_width;
		double u, v, want = 0;

		u = taps_of(s->filter, s->src_width, s->dst_width,
			    s->flip_x ? s->dst_width - 1 - column : column, &x[0], &x[1]);
		v = taps_of(s->filter, s->src_height, s->dst_height, row, &y[0], &y[1]);
		for (n = 0; n < 4; n++)
			want += (n % 2 ? u : 1 - u) * (n / 2 ? v : 1 - v) *
				from[(y[n / 2] * s->src_width + x[n % 2]) * 4 + i % 4];
		if (to[i] < want - 0.51 || to[i] > want + 0.51)
			test_fail(__FILE__, __LINE__, "%ux%u to %ux%u: byte %u is %u",
				  s->src_width, s->src_height, s->dst_width, s->dst_height, i,
				  to[i]);
	}
	for (; i < AREA_BYTES; i++)
		CHECK_EQUAL(to[i], 0x5a);
}

static void scaling_copies_equal_those_of_the_cpu(void)
{
	static const struct pumice_tdm_scale scales[] = {
		{ .src_width = 32, .src_height = 24, .dst_width = 50, .dst_height = 60,
		  .filter = PUMICE_TDM_FILTER_LINEAR },
		{ .src_width = 57, .src_height = 64, .dst_width = 40, .dst_height = 7,
		  .filter = PUMICE_TDM_FILTER_LINEAR, .flip_x = true },
		{ .src_width = 33, .src_height = 9, .dst_width = 64, .dst_height = 5,
		  .filter = PUMICE_TDM_FILTER_NEAREST, .flip_x = true },
		{ .src_width = 64, .src_height = 62, .dst_width = 32, .dst_height = 31,
		  .filter = PUMICE_TDM_FILTER_BOX },
	};
	struct transfer_fixture g = transfer_fixture();
	struct pumice_tdm_scale bad = scales[0];
	struct pumice_texture src, dst;
	u32 i;

	for (i = 0; i < sizeof(scales) / sizeof(scales[0]); i++) {
		src = image_at(&g, 0, scales[i].src_width, scales[i].src_height);
		dst = image_at(&g, AREA_BYTES, scales[i].dst_width, scales[i].dst_height);
		fill_pattern(&g);
		memset((u8 *)g.fx.data.cpu + AREA_BYTES, 0x5a, AREA_BYTES);
		CHECK_EQUAL(fx_run(&g.fx, transfer_scale_stream(&g.fx, &src, &dst, scales[i])), 1);
		check_scaled(&g, &scales[i]);
	}
	bad.filter = PUMICE_TDM_FILTER_BOX;
	bad.src_width = bad.dst_width = bad.src_height = 20;
	CHECK_EQUAL(fx_run(&g.fx, transfer_scale_stream(&g.fx, &src, &dst, bad)), -EIO);
	CHECK_EQUAL(need_state(g.fx.fd, g.fx.context).fault, PUMICE_FAULT_TDM_RECT);
	bad.dst_width = 32;
	bad.dst_height = 31;
	CHECK_EQUAL(fx_run(&g.fx, transfer_scale_stream(&g.fx, &src, &dst, bad)), -EIO);
	CHECK_EQUAL(need_state(g.fx.fd, g.fx.context).fault, PUMICE_FAULT_TDM_FILTER);
	CHECK_EQUAL(fx_run(&g.fx, transfer_scale_stream(&g.fx, &src, &dst, scales[3])), 1);
}

static void statistics_count_transfers(void)
{
	struct transfer_fixture g = transfer_fixture();
	struct drm_pumice_query_stats before = need_stats(g.fx.fd), after;

	CHECK_EQUAL(fx_run(&g.fx, transfer_fill_stream(&g.fx, g.fx.data.va, 1, 64)), 1);
	after = need_stats(g.fx.fd);
	CHECK(after.transfer_busy > before.transfer_busy);
	CHECK_EQUAL(after.compute_busy, before.compute_busy);
	CHECK_EQUAL(after.geometry_busy, before.geometry_busy);
	CHECK_EQUAL(after.fragment_busy, before.fragment_busy);
	need_flr();
	CHECK_EQUAL(need_stats(g.fx.fd).transfer_busy, after.transfer_busy);
}

static void jobs_of_a_context_run_in_order(void)
{
	struct transfer_fixture g = transfer_fixture();
	u32 i;

	for (i = 0; i < 100; i++)
		fx_submit(&g.fx, transfer_fill_stream(&g.fx, g.fx.data.va, i, 64));
	CHECK_EQUAL(fx_wait(&g.fx), 1);
	CHECK_EQUAL(g.fx.data.cpu[0], 99);
	CHECK_EQUAL(g.fx.data.cpu[63], 99);
	CHECK_EQUAL(need_state(g.fx.fd, g.fx.context).jobs_done, 100);
}

/* Compute writes, transfer copies, compute changes the copy. */
static void transfers_and_compute_wait_for_each_other(void)
{
	struct transfer_fixture g = transfer_fixture();
	u32 first = need_sync(g.fx.fd), second = need_sync(g.fx.fd);
	struct drm_pumice_sync syncs[] = {
		then_signal(first, 0), wait_for(first, 0), then_signal(second, 0),
		wait_for(second, 0), then_signal(g.fx.sync, 0),
	};
	u64 va = g.fx.data.va;
	const struct drm_pumice_job jobs[] = {
		{ .context = g.compute, .stream = fx_store_stream(&g.fx, va, 500),
		  .syncs = ARRAY_OF(syncs, 1) },
		{ .context = g.fx.context,
		  .stream = transfer_copy_stream(&g.fx, va + 1024, va, 128),
		  .syncs = ARRAY_OF(syncs + 1, 2) },
		{ .context = g.compute, .stream = fx_copy_stream(&g.fx, va + 2048, va + 1024, 1),
		  .syncs = ARRAY_OF(syncs + 3, 2) },
	};

	CHECK_OK(gpu_submit(g.fx.fd, jobs, 3, NULL));
	CHECK_EQUAL(fx_wait(&g.fx), 1);
	fx_check_words(g.fx.data.cpu + 512, 501);
}

static void faults_are_reported_and_the_context_continues(void)
{
	struct transfer_fixture g = transfer_fixture();
	struct drm_pumice_context_get_state state;
	const u32 nonsense[] = { 0xffffffff, 0, 0, 0 };

	CHECK_EQUAL(fx_run(&g.fx, FX_FREE), -EIO);
	state = need_state(g.fx.fd, g.fx.context);
	CHECK_EQUAL(state.fault_va, FX_FREE);
	CHECK(state.state & DRM_PUMICE_CONTEXT_FAULTED);
	CHECK_EQUAL(fx_run(&g.fx, transfer_fill_stream(&g.fx, FX_FREE + PAGE, 1, 1)), -EIO);
	CHECK_EQUAL(need_state(g.fx.fd, g.fx.context).fault_va, FX_FREE + PAGE);
	CHECK_EQUAL(fx_run(&g.fx, transfer_copy_stream(&g.fx, g.fx.data.va, FX_FREE, 4)),
		    -EIO);
	CHECK_EQUAL(fx_run(&g.fx, fx_place(&g.fx, nonsense, 4)), -EIO);
	CHECK_EQUAL(fx_run(&g.fx, transfer_fill_stream(&g.fx, g.fx.data.va, 3, 1)), 1);
	CHECK_EQUAL(g.fx.data.cpu[0], 3);
}

static void read_only_memory_is_not_written(void)
{
	struct transfer_fixture g = transfer_fixture();

	need_map(g.fx.fd, g.fx.vm, g.fx.data.handle, 0, FX_FREE, PAGE,
		 DRM_PUMICE_BIND_READONLY);
	g.fx.data.cpu[0] = 77;
	CHECK_EQUAL(fx_run(&g.fx, transfer_fill_stream(&g.fx, FX_FREE, 1, 1)), -EIO);
	CHECK_EQUAL(g.fx.data.cpu[0], 77);
	CHECK_EQUAL(fx_run(&g.fx, transfer_copy_stream(&g.fx, g.fx.data.va + 64, FX_FREE,
						       4)), 1);
	CHECK_EQUAL(g.fx.data.cpu[16], 77);
}

static void parameter_buffers_are_out_of_reach(void)
{
	struct transfer_fixture g = transfer_fixture();
	u64 end = need_kernel_va(g.fx.fd), at;

	need_free_list(g.fx.fd, render_list_args(g.fx.vm));
	for (at = end; at < end + 4 * MIB; at += MIB) {
		CHECK_EQUAL(fx_run(&g.fx, transfer_fill_stream(&g.fx, at, 1, 1)), -EIO);
		CHECK_EQUAL(fx_run(&g.fx, transfer_copy_stream(&g.fx, g.fx.data.va, at, 4)),
			    -EIO);
	}
}

static void endless_transfer_costs_its_context(void)
{
	long usual = module_parameter("job_timeout_ms");
	struct transfer_fixture g, other = transfer_fixture();
	int status;

	CHECK_OK(set_module_parameter("job_timeout_ms", 500));
	g = transfer_fixture();
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	status = fx_run(&g.fx, transfer_loop_stream(&g.fx));
	CHECK_EQUAL(status, -ETIMEDOUT);
	CHECK(need_state(g.fx.fd, g.fx.context).state & DRM_PUMICE_CONTEXT_GUILTY);
	CHECK_EQUAL(fx_run(&other.fx, transfer_fill_stream(&other.fx, other.fx.data.va, 9, 1)),
		    1);
	CHECK_EQUAL(other.fx.data.cpu[0], 9);
}

static void context_destroyed_while_busy_ends_its_jobs(void)
{
	struct transfer_fixture g = transfer_fixture();
	u32 i;

	for (i = 0; i < 20; i++)
		fx_submit(&g.fx, transfer_fill_stream(&g.fx, g.fx.data.va, i,
						      FX_DATA_BYTES / 4));
	CHECK_OK(gpu_context_destroy(g.fx.fd, g.fx.context));
	CHECK(fx_wait(&g.fx) != 0);
	g.fx.context = need_context_of(g.fx.fd, g.fx.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	CHECK_EQUAL(fx_run(&g.fx, transfer_fill_stream(&g.fx, g.fx.data.va, 5, 1)), 1);
	CHECK_EQUAL(g.fx.data.cpu[0], 5);
}

static void transfers_run_in_parallel_with_compute(void)
{
	struct transfer_fixture g = transfer_fixture();
	struct fixture compute = g.fx;

	compute.context = g.compute;
	compute.sync = need_sync(g.fx.fd);
	fx_block(&compute);
	g.fx.used = compute.used;
	CHECK_EQUAL(fx_run(&g.fx, transfer_fill_stream(&g.fx, g.fx.data.va, 6, 1)), 1);
	CHECK_EQUAL(g.fx.data.cpu[0], 6);
	CHECK(sync_is_pending(g.fx.fd, compute.sync, 0));
}

static const struct test_case cases[] = {
	TEST_CASE(copies_equal_those_of_the_cpu),
	TEST_CASE(fills_equal_those_of_the_cpu),
	TEST_CASE(scaling_copies_equal_those_of_the_cpu),
	TEST_CASE(statistics_count_transfers),
	TEST_CASE(jobs_of_a_context_run_in_order),
	TEST_CASE(transfers_and_compute_wait_for_each_other),
	TEST_CASE(faults_are_reported_and_the_context_continues),
	TEST_CASE(read_only_memory_is_not_written),
	TEST_CASE(parameter_buffers_are_out_of_reach),
	TEST_CASE(endless_transfer_costs_its_context),
	TEST_CASE(context_destroyed_while_busy_ends_its_jobs),
	TEST_CASE(transfers_run_in_parallel_with_compute),
};

TEST_MAIN(cases)
