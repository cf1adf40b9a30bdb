// SPDX-License-Identifier: MIT
/* Contexts, sync objects and address spaces together: order, many at once, changes of mappings. */
#include "path.h"
#include "pumice_formats.h"

#include <pthread.h>

#include "add.pasm.h"
#include "hold.pasm.h"
#include "store.pasm.h"

#define PAGE	4096ull

/* A job of add.pasm in a stream of its own. */
struct step {
	struct pumice_stream *stream;
	uint64_t va;
};

static void make_step(struct path *p, struct pumice_kernel *k, uint64_t from, uint64_t to,
		      uint32_t value, struct step *step)
{
	const uint32_t uniforms[5] = { VA_WORDS(from), VA_WORDS(to), value };
	const struct pumice_dispatch d = {
		.kernel = k, .groups = { 4, 1, 1 }, .uniforms = uniforms, .uniform_words = 5,
	};

	assert_int_equal(pumice_stream_create(p->vm, PAGE, &step->stream), 0);
	assert_int_equal(pumice_stream_dispatch(step->stream, &d), 0);
	assert_int_equal(pumice_stream_end(step->stream, &step->va), 0);
}

#define STEPS	30u

/* Each job adds 1 to the result of the previous one, in another context, through one timeline. */
static void check_chain(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, add_program, sizeof(add_program));
	struct pumice_job_sync syncs[STEPS][2];
	struct pumice_context *contexts[3];
	struct pumice_job jobs[STEPS];
	struct step steps[STEPS];
	struct pumice_wait wait;
	uint32_t i;

	assert_int_equal(pumice_sync_create(p->dev, 0, &wait.sync), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(pumice_context_create(p->vm, i, &contexts[i]), 0);
	for (i = 0; i < STEPS; i++) {
		make_step(p, k, p->out_va + i * 1024, p->out_va + (i + 1) * 1024, 1, &steps[i]);
		syncs[i][0] = (struct pumice_job_sync){ wait.sync, i + 1, true };
		syncs[i][1] = (struct pumice_job_sync){ wait.sync, i, false };
		jobs[i] = (struct pumice_job){
			.context = contexts[i % 3], .stream = steps[i].va, .syncs = syncs[i],
			.sync_count = i ? 2 : 1,
		};
	}
	assert_int_equal(pumice_submit(p->dev, jobs, STEPS, NULL), 0);
	wait.point = STEPS;
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, LONG), 0);
	for (i = 0; i < 256; i++)
		assert_int_equal(p->out_cpu[STEPS * 256 + i], STEPS);
	pumice_sync_destroy(wait.sync);
	for (i = 0; i < STEPS; i++)
		pumice_stream_destroy(steps[i].stream);
	for (i = 0; i < 3; i++)
		pumice_context_destroy(contexts[i]);
	pumice_kernel_destroy(k);
}

static void jobs_of_three_contexts_follow_a_timeline(void **state)
{
	(void)state;
	path_each(check_chain);
}

/* More jobs than fit into the rings of a context. */
static void check_many_jobs(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, add_program, sizeof(add_program));
	struct pumice_job_sync signal = { .signal = true };
	struct pumice_job job = { .context = p->context, .syncs = &signal, .sync_count = 1 };
	struct pumice_context_state s;
	struct pumice_wait wait;
	struct step step;
	uint32_t i;

	assert_int_equal(pumice_sync_create(p->dev, 0, &wait.sync), 0);
	signal.sync = wait.sync;
	make_step(p, k, p->out_va, p->out_va, 1, &step);
	job.stream = step.va;
	for (i = 1; i <= 1000; i++) {
		signal.point = i;
		assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	}
	wait.point = 1000;
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, LONG), 0);
	assert_int_equal(pumice_context_get_state(p->context, &s), 0);
	assert_int_equal(s.jobs_done, 1000);
	assert_int_equal(s.jobs_faulted, 0);
	for (i = 0; i < 256; i++)
		assert_int_equal(p->out_cpu[i], 1000);
	pumice_stream_destroy(step.stream);
	pumice_sync_destroy(wait.sync);
	pumice_kernel_destroy(k);
}

static void a_thousand_jobs_go_through_one_context_in_order(void **state)
{
	(void)state;
	path_each(check_many_jobs);
}

/* A bind waits for the first point, which is reached, while the job of the second one is held. */
static void check_reached_point(struct path *p)
{
	struct pumice_kernel *hold = path_kernel(p, hold_program, sizeof(hold_program));
	const uint32_t uniforms[5] = { VA_WORDS(p->out_va), VA_WORDS(p->out_va + 1024), 1 };
	struct pumice_job_sync syncs[2] = { { .point = 1 }, { .signal = true } };
	struct pumice_job_sync second = { .point = 2, .signal = true };
	struct pumice_job job = { .context = p->context, .syncs = &second, .sync_count = 1 };
	struct pumice_wait wait = { 0 };
	uint64_t point;

	assert_int_equal(pumice_sync_create(p->dev, 0, &second.sync), 0);
	assert_int_equal(pumice_sync_create(p->dev, 0, &wait.sync), 0);
	syncs[0].sync = second.sync;
	syncs[1].sync = wait.sync;
	assert_int_equal(pumice_sync_signal(second.sync, 1), 0);
	assert_int_equal(pumice_sync_query(second.sync, &point), 0);
	assert_int_equal(point, 1);
	p->out_cpu[0] = 0;
	path_dispatch(p, hold, 1, uniforms, 5);
	assert_int_equal(pumice_stream_end(p->stream, &job.stream), 0);
	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	assert_int_equal(pumice_vm_bind_async(p->vm, NULL, 0, syncs, 2), 0);
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, LONG), 0);
	assert_int_equal(pumice_sync_query(second.sync, &point), 0);
	assert_int_equal(point, 1);
	__atomic_store_n(p->out_cpu, 1, __ATOMIC_RELEASE);
	assert_int_equal(pumice_sync_wait(&(struct pumice_wait){ second.sync, 2 }, 1, 0, LONG), 0);
	pumice_sync_destroy(wait.sync);
	pumice_sync_destroy(second.sync);
	pumice_stream_reset(p->stream);
	pumice_kernel_destroy(hold);
}

static void a_wait_for_a_reached_point_is_not_one_for_later_points(void **state)
{
	(void)state;
	path_each(check_reached_point);
}

/* One context of each of more VMs than the MMU has contexts. */
static void check_many_vms(struct path *p)
{
	struct path q[40];
	uint32_t i, round;

	for (i = 0; i < 40; i++) {
		q[i] = *p;
		assert_int_equal(pumice_vm_create(p->dev, &q[i].vm), 0);
		assert_int_equal(pumice_context_create(q[i].vm, 1, &q[i].context), 0);
		assert_int_equal(pumice_stream_create(q[i].vm, PAGE, &q[i].stream), 0);
		assert_int_equal(pumice_vm_place(q[i].vm, p->out, 0, &q[i].out_va), 0);
	}
	for (round = 0; round < 2; round++)
		for (i = 0; i < 40; i++)
			path_assert_works(&q[i], q[i].context);
	for (i = 0; i < 40; i++) {
		pumice_stream_destroy(q[i].stream);
		pumice_context_destroy(q[i].context);
		pumice_vm_destroy(q[i].vm);
	}
}

static void more_vms_than_mmu_contexts_all_work(void **state)
{
	(void)state;
	path_one(2, 0, check_many_vms);
	path_one(2, 2, check_many_vms);
}

/* Store through pages that are remapped between jobs; @a and @b share addresses. */
static void check_remap(struct path *p)
{
	/* Aligned to a small page only. */
	const uint64_t va = 0x123456000, bytes = 5ull << 20;
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	struct pumice_bo *a, *b;
	struct pumice_bind map = { .va = va, .size = bytes };
	uint32_t *cpu_a, *cpu_b, i;
	void *cpu;

	assert_int_equal(pumice_bo_create(p->dev, bytes, NULL, &a), 0);
	assert_int_equal(pumice_bo_create(p->dev, bytes, NULL, &b), 0);
	assert_int_equal(pumice_bo_map(a, &cpu), 0);
	cpu_a = cpu;
	assert_int_equal(pumice_bo_map(b, &cpu), 0);
	cpu_b = cpu;
	map.bo = a;
	assert_int_equal(pumice_vm_bind(p->vm, &map, 1, NULL), 0);
	/* A page of b in the middle of a: 1 MiB in, from 4 pages into b. */
	map = (struct pumice_bind){ b, 4 * PAGE, va + (1 << 20), PAGE, 0 };
	for (i = 0; i < 2; i++) {
		const uint32_t uniforms[3] = { VA_WORDS(va + (1 << 20) - PAGE), 1 + i };

		path_dispatch(p, k, 48, uniforms, 3);	/* three pages */
		assert_int_equal(path_run(p, NULL), 0);
		assert_int_equal(pumice_vm_bind(p->vm, &map, 1, NULL), 0);
	}
	/* The first run wrote a only, the second one its middle page to b. */
	for (i = 0; i < 3072; i++) {
		uint32_t at = ((1 << 20) - PAGE) / 4 + i;

		assert_int_equal(cpu_a[at], i + (i / 1024 == 1 ? 1 : 2));
		if (i / 1024 == 1)
			assert_int_equal(cpu_b[4 * 1024 + i - 1024], i + 2);
	}
	pumice_bo_destroy(a);
	pumice_bo_destroy(b);
	/* Still bound, so still accessible. */
	path_assert_works(p, p->context);
	map = (struct pumice_bind){ NULL, 0, va, bytes, 0 };
	assert_int_equal(pumice_vm_bind(p->vm, &map, 1, NULL), 0);
	pumice_kernel_destroy(k);
}

static void jobs_use_the_mappings_bound_last(void **state)
{
	(void)state;
	path_each(check_remap);
}

/*
 * Streams, one on each of some pages, which one unit reads for all jobs: its TLB must not
 * keep pages that are unbound after they ran.
 */
static void check_unbind(struct path *p)
{
	enum { PAGES = 6 };
	struct pumice_bind map = { NULL, 0, 0x40000000, PAGES * PAGE, 0 };
	struct pumice_context_state state;
	struct pumice_bo *bo;
	uint32_t i;
	void *cpu;

	assert_int_equal(pumice_bo_create(p->dev, PAGES * PAGE, NULL, &bo), 0);
	assert_int_equal(pumice_bo_map(bo, &cpu), 0);
	for (i = 0; i < PAGES; i++)
		pumice_cdm_halt_pack((u32 *)cpu + i * PAGE / 4, &(struct pumice_cdm_halt){ 0 });
	map.bo = bo;
	assert_int_equal(pumice_vm_bind(p->vm, &map, 1, NULL), 0);
	for (i = 0; i < PAGES; i++)
		assert_int_equal(pumice_context_run(p->context, map.va + i * PAGE, LONG, &state),
				 0);
	assert_int_equal(pumice_vm_bind(p->vm, &(struct pumice_bind){
		NULL, 0, map.va + PAGE, (PAGES - 2) * PAGE, 0 }, 1, NULL), 0);
	for (i = 0; i < PAGES; i++) {
		const bool bound = !i || i == PAGES - 1;

		assert_int_equal(pumice_context_run(p->context, map.va + i * PAGE, LONG, &state),
				 bound ? 0 : -EIO);
	}
	pumice_bo_destroy(bo);
	assert_int_equal(pumice_vm_bind(p->vm, &(struct pumice_bind){
		NULL, 0, map.va, PAGES * PAGE, 0 }, 1, NULL), 0);
}

static void pages_that_are_unbound_are_in_no_tlb(void **state)
{
	(void)state;
	path_each(check_unbind);
}

/* Threads that each submit and wait in a context of their own. */
struct runner {
	struct path path;
	pthread_t thread;
	bool good;
};

static void *run_jobs(void *arg)
{
	struct runner *r = arg;
	struct pumice_context_state s;
	uint64_t va;
	int i;

	r->good = !pumice_stream_end(r->path.stream, &va);
	for (i = 0; i < 100 && r->good; i++)
		r->good = !pumice_context_run(r->path.context, va, LONG, &s) &&
			  s.jobs_done == (uint64_t)i + 1;
	return NULL;
}

static void check_threads(struct path *p)
{
	struct runner r[4];
	int i;

	for (i = 0; i < 4; i++) {
		r[i].path = *p;
		assert_int_equal(pumice_vm_create(p->dev, &r[i].path.vm), 0);
		assert_int_equal(pumice_context_create(r[i].path.vm, i % 3, &r[i].path.context), 0);
		assert_int_equal(pumice_stream_create(r[i].path.vm, PAGE, &r[i].path.stream), 0);
		assert_int_equal(pthread_create(&r[i].thread, NULL, run_jobs, &r[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(r[i].thread, NULL);
		assert_true(r[i].good);
		pumice_stream_destroy(r[i].path.stream);
		pumice_context_destroy(r[i].path.context);
		pumice_vm_destroy(r[i].path.vm);
	}
}

static void threads_of_the_caller_do_not_disturb_each_other(void **state)
{
	(void)state;
	path_each(check_threads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_of_three_contexts_follow_a_timeline),
		cmocka_unit_test(a_thousand_jobs_go_through_one_context_in_order),
		cmocka_unit_test(a_wait_for_a_reached_point_is_not_one_for_later_points),
		cmocka_unit_test(more_vms_than_mmu_contexts_all_work),
		cmocka_unit_test(jobs_use_the_mappings_bound_last),
		cmocka_unit_test(pages_that_are_unbound_are_in_no_tlb),
		cmocka_unit_test(threads_of_the_caller_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
