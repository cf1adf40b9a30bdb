// SPDX-License-Identifier: MIT
/* Transfer contexts: jobs compared with the CPU, faults, order, ends. */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "pumice_regs.h"
#include "render.h"
#include "system.h"

#define AREA_BYTES	(16 * 1024u)	/* of the rig's data, twice */

/** struct ground - a rig whose data a transfer context moves */
struct ground {
	struct rig rig;
	u32 compute;	/* context of the rig as it was */
};

static struct ground ground(void)
{
	struct ground g = { .rig = rig_open() };

	g.compute = g.rig.context;
	g.rig.context = need_context_of(g.rig.fd, g.rig.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	return g;
}

static void fill_pattern(struct ground *g)
{
	u8 *bytes = (u8 *)g->rig.data.cpu;
	u32 i;

	for (i = 0; i < 2 * AREA_BYTES; i++)
		bytes[i] = (u8)(i * 7 + (i >> 8));
}

static void copies_are_as_of_the_cpu(void)
{
	static const struct {
		u32 to, from, bytes;
	} copies[] = {
		{ AREA_BYTES, 0, AREA_BYTES }, { AREA_BYTES + 1, 3, 5000 },
		{ AREA_BYTES + 4093, 1, 4097 }, { 100, 0, 8000 }, { 0, 100, 8000 },
		{ 7, 7, 100 }, { AREA_BYTES, 5, 1 }, { AREA_BYTES, 5, 0 },
	};
	struct ground g = ground();
	static u8 want[2 * AREA_BYTES];
	u32 i;

	for (i = 0; i < sizeof(copies) / sizeof(copies[0]); i++) {
		fill_pattern(&g);
		memcpy(want, g.rig.data.cpu, sizeof(want));
		memmove(want + copies[i].to, want + copies[i].from, copies[i].bytes);
		CHECK_EQUAL(rig_run(&g.rig, transfer_copy_stream(&g.rig,
			g.rig.data.va + copies[i].to, g.rig.data.va + copies[i].from,
			copies[i].bytes)), 1);
		CHECK(!memcmp(want, g.rig.data.cpu, sizeof(want)));
	}
}

static void fills_are_as_of_the_cpu(void)
{
	struct ground g = ground();
	u32 i;

	fill_pattern(&g);
	CHECK_EQUAL(rig_run(&g.rig, transfer_fill_stream(&g.rig, g.rig.data.va + 4, 0x12345678,
							 2000)), 1);
	CHECK_EQUAL(g.rig.data.cpu[0], 0x150e0700);
	for (i = 1; i <= 2000; i++)
		CHECK_EQUAL(g.rig.data.cpu[i], 0x12345678);
	CHECK(g.rig.data.cpu[2001] != 0x12345678);
}

static void statistics_tell_of_transfers(void)
{
	struct ground g = ground();
	struct drm_pumice_query_stats before = need_stats(g.rig.fd), after;

	CHECK_EQUAL(rig_run(&g.rig, transfer_fill_stream(&g.rig, g.rig.data.va, 1, 64)), 1);
	after = need_stats(g.rig.fd);
	CHECK(after.transfer_busy > before.transfer_busy);
	CHECK_EQUAL(after.compute_busy, before.compute_busy);
	CHECK_EQUAL(after.geometry_busy, before.geometry_busy);
	CHECK_EQUAL(after.fragment_busy, before.fragment_busy);
	need_flr();
	CHECK_EQUAL(need_stats(g.rig.fd).transfer_busy, after.transfer_busy);
}

static void jobs_of_a_context_run_in_order(void)
{
	struct ground g = ground();
	u32 i;

	for (i = 0; i < 100; i++)
		rig_submit(&g.rig, transfer_fill_stream(&g.rig, g.rig.data.va, i, 64));
	CHECK_EQUAL(rig_wait(&g.rig), 1);
	CHECK_EQUAL(g.rig.data.cpu[0], 99);
	CHECK_EQUAL(g.rig.data.cpu[63], 99);
	CHECK_EQUAL(need_state(g.rig.fd, g.rig.context).jobs_done, 100);
}

/* Compute writes, transfer copies, compute changes the copy. */
static void transfers_and_compute_wait_for_each_other(void)
{
	struct ground g = ground();
	u32 first = need_sync(g.rig.fd), second = need_sync(g.rig.fd);
	struct drm_pumice_sync syncs[] = {
		then_signal(first, 0), wait_for(first, 0), then_signal(second, 0),
		wait_for(second, 0), then_signal(g.rig.sync, 0),
	};
	u64 va = g.rig.data.va;
	const struct drm_pumice_job jobs[] = {
		{ .context = g.compute, .stream = rig_store_stream(&g.rig, va, 500),
		  .syncs = ARRAY_OF(syncs, 1) },
		{ .context = g.rig.context,
		  .stream = transfer_copy_stream(&g.rig, va + 1024, va, 128),
		  .syncs = ARRAY_OF(syncs + 1, 2) },
		{ .context = g.compute, .stream = rig_copy_stream(&g.rig, va + 2048, va + 1024, 1),
		  .syncs = ARRAY_OF(syncs + 3, 2) },
	};

	CHECK_OK(gpu_submit(g.rig.fd, jobs, 3, NULL));
	CHECK_EQUAL(rig_wait(&g.rig), 1);
	rig_check_words(g.rig.data.cpu + 512, 501);
}

static void faults_are_told_and_the_context_goes_on(void)
{
	struct ground g = ground();
	struct drm_pumice_context_get_state state;
	const u32 nonsense[] = { 0xffffffff, 0, 0, 0 };

	CHECK_EQUAL(rig_run(&g.rig, RIG_FREE), -EIO);
	state = need_state(g.rig.fd, g.rig.context);
	CHECK_EQUAL(state.fault_va, RIG_FREE);
	CHECK(state.state & DRM_PUMICE_CONTEXT_FAULTED);
	CHECK_EQUAL(rig_run(&g.rig, transfer_fill_stream(&g.rig, RIG_FREE + PAGE, 1, 1)), -EIO);
	CHECK_EQUAL(need_state(g.rig.fd, g.rig.context).fault_va, RIG_FREE + PAGE);
	CHECK_EQUAL(rig_run(&g.rig, transfer_copy_stream(&g.rig, g.rig.data.va, RIG_FREE, 4)),
		    -EIO);
	CHECK_EQUAL(rig_run(&g.rig, rig_place(&g.rig, nonsense, 4)), -EIO);
	CHECK_EQUAL(rig_run(&g.rig, transfer_fill_stream(&g.rig, g.rig.data.va, 3, 1)), 1);
	CHECK_EQUAL(g.rig.data.cpu[0], 3);
}

static void read_only_memory_is_not_written(void)
{
	struct ground g = ground();

	need_map(g.rig.fd, g.rig.vm, g.rig.data.handle, 0, RIG_FREE, PAGE,
		 DRM_PUMICE_BIND_READONLY);
	g.rig.data.cpu[0] = 77;
	CHECK_EQUAL(rig_run(&g.rig, transfer_fill_stream(&g.rig, RIG_FREE, 1, 1)), -EIO);
	CHECK_EQUAL(g.rig.data.cpu[0], 77);
	CHECK_EQUAL(rig_run(&g.rig, transfer_copy_stream(&g.rig, g.rig.data.va + 64, RIG_FREE,
							 4)), 1);
	CHECK_EQUAL(g.rig.data.cpu[16], 77);
}

static void parameter_buffers_are_out_of_reach(void)
{
	struct ground g = ground();
	u64 end = need_info(g.rig.fd).va_end, at;

	need_free_list(g.rig.fd, render_list_args(g.rig.vm));
	for (at = end; at < end + 4 * MIB; at += MIB) {
		CHECK_EQUAL(rig_run(&g.rig, transfer_fill_stream(&g.rig, at, 1, 1)), -EIO);
		CHECK_EQUAL(rig_run(&g.rig, transfer_copy_stream(&g.rig, g.rig.data.va, at, 4)),
			    -EIO);
	}
}

static void endless_transfer_costs_its_context(void)
{
	long usual = module_parameter("job_timeout_ms");
	struct ground g, other = ground();
	int status;

	CHECK_OK(set_module_parameter("job_timeout_ms", 500));
	g = ground();
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	status = rig_run(&g.rig, transfer_loop_stream(&g.rig));
	CHECK_EQUAL(status, -ETIMEDOUT);
	CHECK(need_state(g.rig.fd, g.rig.context).state & DRM_PUMICE_CONTEXT_GUILTY);
	CHECK_EQUAL(rig_run(&other.rig, transfer_fill_stream(&other.rig, other.rig.data.va, 9, 1)),
		    1);
	CHECK_EQUAL(other.rig.data.cpu[0], 9);
}

static void context_destroyed_while_busy_ends_its_jobs(void)
{
	struct ground g = ground();
	u32 i;

	for (i = 0; i < 20; i++)
		rig_submit(&g.rig, transfer_fill_stream(&g.rig, g.rig.data.va, i,
							RIG_DATA_BYTES / 4));
	CHECK_OK(gpu_context_destroy(g.rig.fd, g.rig.context));
	CHECK(rig_wait(&g.rig) != 0);
	g.rig.context = need_context_of(g.rig.fd, g.rig.vm, DRM_PUMICE_CONTEXT_TRANSFER);
	CHECK_EQUAL(rig_run(&g.rig, transfer_fill_stream(&g.rig, g.rig.data.va, 5, 1)), 1);
	CHECK_EQUAL(g.rig.data.cpu[0], 5);
}

static void transfers_go_on_beside_compute(void)
{
	struct ground g = ground();
	struct rig compute = g.rig;

	compute.context = g.compute;
	compute.sync = need_sync(g.rig.fd);
	rig_block(&compute);
	g.rig.used = compute.used;
	CHECK_EQUAL(rig_run(&g.rig, transfer_fill_stream(&g.rig, g.rig.data.va, 6, 1)), 1);
	CHECK_EQUAL(g.rig.data.cpu[0], 6);
	CHECK(sync_is_pending(g.rig.fd, compute.sync, 0));
}

static const struct test_case cases[] = {
	TEST_CASE(copies_are_as_of_the_cpu),
	TEST_CASE(fills_are_as_of_the_cpu),
	TEST_CASE(statistics_tell_of_transfers),
	TEST_CASE(jobs_of_a_context_run_in_order),
	TEST_CASE(transfers_and_compute_wait_for_each_other),
	TEST_CASE(faults_are_told_and_the_context_goes_on),
	TEST_CASE(read_only_memory_is_not_written),
	TEST_CASE(parameter_buffers_are_out_of_reach),
	TEST_CASE(endless_transfer_costs_its_context),
	TEST_CASE(context_destroyed_while_busy_ends_its_jobs),
	TEST_CASE(transfers_go_on_beside_compute),
};

TEST_MAIN(cases)
