// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * VM_BIND of objects without sufficient memory: pages are allocated when an object is
 * first bound. A memory cgroup is the limit, so that the test determines it and no
 * other process of the system runs out of memory.
 */
#include "vm_bind_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cgroup.h"
#include "igt_pumice.h"
#include "fixture.h"
#include "sync.h"
#include "system.h"

#define VA	FX_FREE
#define BIG	(32 * MIB)	/* object that does not fit */
#define ROOM	(8 * MIB)	/* remaining memory of the cgroup */
#define STOCK	(2 * MIB)	/* that processors may keep charged for a while */

/* Initial state of the cases. */
struct scene {
	struct fixture fx;
	struct fixture holder;	/* on the same file */
	struct cgroup cgroup;
	u32 big;		/* object of BIG bytes */
	struct counts counts;	/* before it was created */
	u64 charged;		/* before it was created, bytes */
};

/* A bind in the cgroup; this process is in it for the call only. With @sync it is queued. */
static int bind_limited(struct scene *s, const struct drm_pumice_bind_op *ops, u32 count,
			u32 *failed, const struct drm_pumice_sync *sync)
{
	int err;

	cgroup_enter(&s->cgroup);
	if (sync)
		err = gpu_bind_async(s->fx.fd, s->fx.vm, ops, count, sync, 1);
	else
		err = gpu_bind(s->fx.fd, s->fx.vm, ops, count, failed);
	cgroup_enter(NULL);
	return err;
}

static struct scene scene_open(void)
{
	struct drm_pumice_bind_op ops[2] = { [1] = bind_unmap(VA, PAGE) };
	struct drm_pumice_sync sync;
	struct scene s;

	need_nothing_left();
	s.fx = fx_open();
	s.holder = fx_on(s.fx.fd);
	s.cgroup = need_cgroup("vm_bind");
	ops[0] = bind_map(s.fx.data.handle, 0, VA, PAGE, 0);
	sync = then_signal(need_sync(s.fx.fd), 0);
	/* If this process lacks memory it is killed: all its pages must be present then. */
	igt_assert_eq(mlockall(MCL_CURRENT), 0);
	CHECK_OK(bind_limited(&s, ops, 2, NULL, NULL));
	CHECK_OK(bind_limited(&s, ops, 2, NULL, &sync));
	need_wait(s.fx.fd, sync.handle, 0);
	fx_check_works(&s.fx);
	s.counts = need_counts();
	s.charged = cgroup_charged(&s.cgroup);
	s.big = need_bo(s.fx.fd, BIG);
	cgroup_limit(&s.cgroup, s.charged + ROOM);
	return s;
}

static bool is_mapped(struct fixture *fx, u64 va)
{
	return fx_run(fx, fx_store_stream(fx, va, 1)) == 1;
}

static bool is_as_before(const struct scene *s)
{
	struct counts now = need_counts();

	return now.bos == s->counts.bos && now.vms == s->counts.vms && !now.jobs &&
	       cgroup_charged(&s->cgroup) <= s->charged + STOCK;
}

/* The VM works; pages, object and mappings of the failed bind are freed with its handle. */
static void check_nothing_left(struct scene *s)
{
	u64 deadline = now_ns() + WAIT_SECONDS * 1000000000ull;
	struct counts now;

	fx_check_works(&s->fx);
	CHECK_OK(gpu_bo_close(s->fx.fd, s->big));
	while (!is_as_before(s) && now_ns() < deadline)
		usleep(1000);
	now = need_counts();
	igt_assert_eq(now.bos, s->counts.bos);
	igt_assert_eq(now.vms, s->counts.vms);
	igt_assert_eq(now.jobs, 0);
	igt_assert_lte_u64(cgroup_charged(&s->cgroup), s->charged + STOCK);
	cgroup_remove(&s->cgroup);
}

/* The same bind, with sufficient memory. */
static void check_fits(struct scene *s)
{
	const struct drm_pumice_bind_op map = bind_map(s->big, 0, VA, BIG, 0);
	const u32 last = BIG - PAGE;
	u32 *cpu = need_cpu(s->fx.fd, s->big, BIG);

	cgroup_limit(&s->cgroup, s->charged + BIG + ROOM);
	CHECK_OK(bind_limited(s, &map, 1, NULL, NULL));
	igt_assert_eq(fx_run(&s->fx, fx_store_stream(&s->fx, VA + last, 500)), 1);
	fx_check_words(cpu + last / 4, 500);
	need_unmap(s->fx.fd, s->fx.vm, VA, BIG);
	igt_assert_eq(munmap(cpu, BIG), 0);
}

/* The second of three: the first has taken effect, as with any other error. */
static void out_of_memory(void)
{
	struct scene s = scene_open();
	struct drm_pumice_bind_op ops[] = {
		bind_map(s.fx.data.handle, 0, VA + GIB, PAGE, 0),
		bind_map(s.big, 0, VA, BIG, 0),
		bind_map(s.fx.data.handle, 0, VA + 2 * GIB, PAGE, 0),
	};
	u32 failed = ~0u, i;

	for (i = 0; i < 3; i++) {
		/* Allocated pages stay with the object; other allocations need memory, too. */
		cgroup_limit(&s.cgroup, s.charged + (i + 1) * ROOM);
		igt_assert_eq(bind_limited(&s, ops, 3, &failed, NULL), -ENOMEM);
		igt_assert_eq_u32(failed, 1);
		igt_assert(is_mapped(&s.fx, VA + GIB));
		igt_assert(!is_mapped(&s.fx, VA));
		igt_assert(!is_mapped(&s.fx, VA + 2 * GIB));
		need_unmap(s.fx.fd, s.fx.vm, VA + GIB, PAGE);
	}
	check_nothing_left(&s);
}

/* If queued, it is refused by the call; binds queued before and after take effect. */
static void async_out_of_memory(void)
{
	struct scene s = scene_open();
	const struct drm_pumice_bind_op before = bind_map(s.fx.data.handle, 0, VA + GIB, PAGE, 0);
	const struct drm_pumice_bind_op after =
		bind_map(s.fx.data.handle, 0, VA + 2 * GIB, PAGE, 0);
	const struct drm_pumice_bind_op ops[] = {
		bind_map(s.fx.data.handle, 0, VA + 3 * GIB, PAGE, 0),
		bind_map(s.big, 0, VA, BIG, 0),
	};
	u32 first = need_sync(s.fx.fd), refused = need_sync(s.fx.fd), last = need_sync(s.fx.fd);
	struct drm_pumice_sync syncs[] = { wait_for(s.holder.sync, 0), then_signal(first, 0) };
	struct drm_pumice_sync signal = then_signal(refused, 0);

	fx_run_on(&s.holder);
	CHECK_OK(gpu_bind_async(s.fx.fd, s.fx.vm, &before, 1, syncs, 2));
	igt_assert_eq(bind_limited(&s, ops, 2, NULL, &signal), -ENOMEM);
	signal = then_signal(last, 0);
	CHECK_OK(gpu_bind_async(s.fx.fd, s.fx.vm, &after, 1, &signal, 1));
	igt_assert(sync_is_pending(s.fx.fd, first, 0));
	CHECK_OK(gpu_context_destroy(s.fx.fd, s.holder.context));
	need_wait(s.fx.fd, last, 0);
	igt_assert_eq(sync_status(s.fx.fd, first, 0), 1);
	igt_assert_eq(sync_status(s.fx.fd, last, 0), 1);
	/* No fence was attached to it. */
	igt_assert_eq(sync_wait(s.fx.fd, refused, 0, 0), -EINVAL);
	igt_assert(is_mapped(&s.fx, VA + GIB));
	igt_assert(is_mapped(&s.fx, VA + 2 * GIB));
	igt_assert(!is_mapped(&s.fx, VA + 3 * GIB));
	igt_assert(!is_mapped(&s.fx, VA));
	check_nothing_left(&s);
}

static void out_of_memory_and_again(void)
{
	struct scene s = scene_open();
	const struct drm_pumice_bind_op map = bind_map(s.big, 0, VA, BIG, 0);

	igt_assert_eq(bind_limited(&s, &map, 1, NULL, NULL), -ENOMEM);
	check_fits(&s);
	check_nothing_left(&s);
}

void vm_bind_memory_subtests(void)
{
	igt_subtest_group() {
		igt_fixture()
			igt_require_f(can_limit_memory(), "the kernel has no memory cgroups\n");

		igt_pumice_subtest("out-of-memory",
				   "a bind without memory fails and does not change the VM",
				   out_of_memory);
		igt_pumice_subtest("out-of-memory-and-again",
				   "a bind that failed for lack of memory succeeds once there is some",
				   out_of_memory_and_again);
		igt_pumice_subtest("async-out-of-memory",
				   "a queued bind without memory fails, others succeed",
				   async_out_of_memory);
	}
}
