// SPDX-License-Identifier: MIT
/*
 * Asynchronous binds: when they take effect, their order, and the effects of their failure
 * or the release of their VM on them and on jobs that wait for them.
 */
#include "path.h"

#include <pthread.h>

#include "pumice/pumice_capture.h"
#include "store.pasm.h"

#define AT	0x40000000ull	/* an address that is not used otherwise */

/* Additions to the fixture: memory to bind, and sync objects. */
struct binds {
	struct path *p;
	struct pumice_kernel *kernel;
	struct pumice_bo *bo;
	uint32_t *cpu;
	struct pumice_sync *a, *b;
};

static void binds_open(struct path *p, struct binds *t)
{
	void *cpu;

	*t = (struct binds){ .p = p };
	t->kernel = path_kernel(p, store_program, sizeof(store_program));
	assert_int_equal(pumice_bo_create(p->dev, 65536, NULL, &t->bo), 0);
	assert_int_equal(pumice_bo_map(t->bo, &cpu), 0);
	t->cpu = cpu;
	assert_int_equal(pumice_sync_create(p->dev, 0, &t->a), 0);
	assert_int_equal(pumice_sync_create(p->dev, 0, &t->b), 0);
}

static void binds_close(struct binds *t)
{
	pumice_kernel_destroy(t->kernel);
	pumice_bo_destroy(t->bo);
	pumice_sync_destroy(t->a);
	pumice_sync_destroy(t->b);
}

/* Submit a job that stores @value to one group's words at @va. Returns its error. */
static int submit_store(struct binds *t, struct pumice_stream *stream, uint64_t va, uint32_t value,
			const struct pumice_job_sync *syncs, uint32_t count)
{
	const uint32_t uniforms[3] = { VA_WORDS(va), value };
	const struct pumice_dispatch d = {
		.kernel = t->kernel, .groups = { 1, 1, 1 },
		.uniforms = uniforms, .uniform_words = 3,
	};
	struct pumice_job job = { .context = t->p->context, .syncs = syncs, .sync_count = count };

	job.stream = pumice_stream_va(stream);
	assert_int_equal(pumice_stream_dispatch(stream, &d), 0);
	assert_int_equal(pumice_stream_end(stream, NULL), 0);
	return pumice_submit(t->p->dev, &job, 1, NULL);
}

static void wait_for(struct pumice_sync *sync)
{
	const struct pumice_wait wait = { .sync = sync };

	assert_int_equal(pumice_sync_wait(&wait, 1, 0, LONG), 0);
}

static uint64_t faulted(struct path *p)
{
	struct pumice_context_state state;

	assert_int_equal(pumice_context_get_state(p->context, &state), 0);
	return state.jobs_faulted;
}

/* Job, bind that waits for it, job that waits for the bind: succeeds in this order only. */
static void order_of_jobs_and_binds(struct path *p)
{
	const struct pumice_bind map = { .va = AT, .size = 65536 };
	struct pumice_bind op = map;
	struct binds t;

	binds_open(p, &t);
	op.bo = t.bo;
	assert_int_equal(submit_store(&t, p->stream, p->out_va, 10, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	assert_int_equal(pumice_vm_bind_async(p->vm, &op, 1, (struct pumice_job_sync[]){
		{ .sync = t.a }, { .sync = t.b, .signal = true } }, 2), 0);
	assert_int_equal(submit_store(&t, p->stream, AT, 20, (struct pumice_job_sync[]){
		{ .sync = t.b }, { .sync = t.a, .signal = true } }, 2), 0);
	wait_for(t.a);
	assert_int_equal(faulted(p), 0);
	assert_int_equal(p->out_cpu[63], 73);
	assert_int_equal(t.cpu[63], 83);
	assert_int_equal(pumice_vm_bind(p->vm, &map, 1, NULL), 0);
	pumice_stream_reset(p->stream);
	binds_close(&t);
}

static void a_job_waits_for_a_bind_and_a_bind_for_a_job(void **state)
{
	(void)state;
	path_each(order_of_jobs_and_binds);
}

/* Unmapping all, between two maps of one call. */
static void all_goes(struct path *p)
{
	struct binds t;
	struct pumice_vm *vm;
	struct pumice_bind ops[3] = {
		{ .va = AT, .size = 4096 },
		{ .flags = PUMICE_BIND_UNMAP_ALL },
		{ .va = AT + (4ull << 30), .size = 4096 },
	};
	uint32_t word, i;

	binds_open(p, &t);
	ops[0].bo = ops[2].bo = t.bo;
	assert_int_equal(pumice_vm_create(p->dev, &vm), 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(pumice_vm_bind(vm, ops, 3, NULL), 0);
		assert_int_equal(pumice_vm_peek(vm, ops[0].va, &word, 4), -EFAULT);
		assert_int_equal(pumice_vm_peek(vm, ops[2].va, &word, 4), 0);
	}
	pumice_vm_destroy(vm);
	ops[1].va = AT;
	assert_int_equal(pumice_vm_bind(p->vm, &ops[1], 1, NULL), -EINVAL);
	ops[1] = (struct pumice_bind){ .bo = t.bo, .flags = PUMICE_BIND_UNMAP_ALL };
	assert_int_equal(pumice_vm_bind(p->vm, &ops[1], 1, NULL), -EINVAL);
	path_assert_works(p, p->context);
	binds_close(&t);
}

static void unmap_all_does_not_affect_later_mappings(void **state)
{
	(void)state;
	path_one(1, 0, all_goes);
}

/* A job before the signal sees the old state, with one thread and no other. */
static void bind_is_late(struct path *p)
{
	struct binds t;
	struct pumice_bind op = { .va = AT, .size = 4096 };

	binds_open(p, &t);
	op.bo = t.bo;
	assert_int_equal(submit_store(&t, p->stream, AT, 1, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	assert_int_equal(pumice_vm_bind_async(p->vm, &op, 1, (struct pumice_job_sync[]){
		{ .sync = t.a }, { .sync = t.b, .signal = true } }, 2), 0);
	wait_for(t.b);
	assert_int_equal(faulted(p), 1);
	assert_int_equal(submit_store(&t, p->stream, AT, 5, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	wait_for(t.a);
	assert_int_equal(faulted(p), 1);
	assert_int_equal(t.cpu[1], 6);
	binds_close(&t);
}

static void a_bind_has_no_effect_before_its_wait(void **state)
{
	(void)state;
	path_one(1, 0, bind_is_late);
}

/* A synchronous bind precedes a bind that waits for it. */
static void plain_bind_overtakes(struct path *p)
{
	struct pumice_bind late = { .va = AT, .size = 4096 };
	struct pumice_bind now = { .va = AT + 4096, .size = 4096 };
	struct binds t;

	binds_open(p, &t);
	late.bo = t.bo;
	now.bo = t.bo;
	assert_int_equal(pumice_vm_bind_async(p->vm, &late, 1, &(struct pumice_job_sync){
		.sync = t.a }, 1), -EINVAL);
	assert_int_equal(submit_store(&t, p->stream, p->out_va, 1, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	assert_int_equal(pumice_vm_bind_async(p->vm, &late, 1, &(struct pumice_job_sync){
		.sync = t.a }, 1), 0);
	assert_int_equal(pumice_vm_bind(p->vm, &now, 1, NULL), 0);
	assert_int_equal(submit_store(&t, p->stream, AT + 4096, 5, &(struct pumice_job_sync){
		.sync = t.b, .signal = true }, 1), 0);
	wait_for(t.b);
	assert_int_equal(faulted(p), 0);
	assert_int_equal(t.cpu[0], 5);
	binds_close(&t);
}

static void a_plain_bind_waits_for_no_asynchronous_one(void **state)
{
	(void)state;
	path_one(1, 0, plain_bind_overtakes);
	path_one(4, 2, plain_bind_overtakes);
}

static void later_bind_wins(struct path *p)
{
	struct pumice_bind ops[3] = { { .va = AT, .size = 4096 }, { .va = AT, .size = 4096 } };
	struct pumice_bo *other;
	struct binds t;
	void *cpu;

	binds_open(p, &t);
	assert_int_equal(pumice_bo_create(p->dev, 4096, NULL, &other), 0);
	assert_int_equal(pumice_bo_map(other, &cpu), 0);
	ops[0].bo = other;
	ops[1].bo = t.bo;
	ops[2] = (struct pumice_bind){ .va = AT + 4096, .size = 1 << 20 };
	assert_int_equal(submit_store(&t, p->stream, p->out_va, 1, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	assert_int_equal(pumice_vm_bind_async(p->vm, &ops[0], 1, &(struct pumice_job_sync){
		.sync = t.a }, 1), 0);
	/* Without waits, but after the previous one. */
	assert_int_equal(pumice_vm_bind_async(p->vm, &ops[1], 2, NULL, 0), 0);
	assert_int_equal(pumice_vm_bind_async(p->vm, NULL, 0, &(struct pumice_job_sync){
		.sync = t.b, .signal = true }, 1), 0);
	wait_for(t.b);
	assert_int_equal(submit_store(&t, p->stream, AT, 30, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	wait_for(t.a);
	assert_int_equal(t.cpu[0], 30);
	assert_int_equal(*(uint32_t *)cpu, 0);
	pumice_bo_destroy(other);
	binds_close(&t);
}

static void binds_of_a_vm_take_effect_in_order(void **state)
{
	(void)state;
	path_one(1, 0, later_bind_wins);
	path_one(4, 2, later_bind_wins);
}

static void memory_outlives(struct path *p)
{
	struct pumice_bind op = { .va = AT, .size = 4096 };
	const struct pumice_bind unmap = { .va = AT, .size = 4096 };
	struct pumice_bo *bo;
	struct binds t;

	binds_open(p, &t);
	assert_int_equal(pumice_bo_create(p->dev, 4096, NULL, &bo), 0);
	op.bo = bo;
	assert_int_equal(submit_store(&t, p->stream, p->out_va, 1, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	assert_int_equal(pumice_vm_bind_async(p->vm, &op, 1, (struct pumice_job_sync[]){
		{ .sync = t.a }, { .sync = t.b, .signal = true } }, 2), 0);
	pumice_bo_destroy(bo);
	assert_int_equal(submit_store(&t, p->stream, AT, 1, (struct pumice_job_sync[]){
		{ .sync = t.b }, { .sync = t.a, .signal = true } }, 2), 0);
	wait_for(t.a);
	assert_int_equal(faulted(p), 0);
	assert_int_equal(pumice_vm_bind(p->vm, &unmap, 1, NULL), 0);
	binds_close(&t);
}

static void a_bind_references_its_memory(void **state)
{
	(void)state;
	path_one(1, 0, memory_outlives);
}

static void bad_calls(struct path *p)
{
	struct pumice_bind ops[2] = { { .va = AT, .size = 4096 }, { .va = 1, .size = 4096 } };
	struct pumice_job_sync syncs[257] = { 0 };
	struct binds t;
	uint32_t flags;

	binds_open(p, &t);
	ops[0].bo = t.bo;
	syncs[0].sync = t.a;
	assert_int_equal(pumice_vm_bind_async(p->vm, ops, 2, NULL, 0), -EINVAL);
	assert_int_equal(pumice_vm_bind_async(p->vm, ops, 4097, NULL, 0), -E2BIG);
	assert_int_equal(pumice_vm_bind_async(p->vm, ops, 1, syncs, 257), -E2BIG);
	assert_int_equal(pumice_vm_bind_async(p->vm, ops, 1, syncs, 2), -EINVAL);
	assert_int_equal(pumice_vm_bind_async(p->vm, ops, 1, syncs, 1), -EINVAL);
	assert_non_null(strstr(pumice_device_error(p->dev), "no job or bind signals"));
	/* No part of it was executed. */
	assert_int_equal(submit_store(&t, p->stream, AT, 1, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	wait_for(t.a);
	assert_int_equal(faulted(p), 1);
	assert_int_equal(pumice_vm_get_state(p->vm, &flags), 0);
	assert_int_equal(flags, 0);
	binds_close(&t);
}

static void a_call_that_is_refused_queues_nothing(void **state)
{
	(void)state;
	path_one(1, 0, bad_calls);
}

/* Allocate all GPU memory, so that none is left for tables. */
static uint32_t take_all(struct pumice_device *dev, struct pumice_bo **bos, uint32_t max)
{
	uint32_t count = 0;
	uint64_t size;

	for (size = 1 << 20; size >= 4096; size /= 2)
		while (count < max && !pumice_bo_create(dev, size, NULL, &bos[count]))
			count++;
	return count;
}

static void late_failure(struct path *p)
{
	static struct pumice_bo *bos[2048];
	struct pumice_bind op = { .va = AT, .size = 4096 };
	uint32_t count, flags;
	struct binds t;

	binds_open(p, &t);
	op.bo = t.bo;
	/* The queue's own memory was allocated before. */
	assert_int_equal(pumice_vm_bind_async(p->vm, NULL, 0, NULL, 0), 0);
	count = take_all(p->dev, bos, 2048);
	assert_int_equal(pumice_vm_bind_async(p->vm, &op, 1, &(struct pumice_job_sync){
		.sync = t.a, .signal = true }, 1), 0);
	wait_for(t.a);
	assert_int_equal(pumice_vm_get_state(p->vm, &flags), 0);
	assert_int_equal(flags, PUMICE_VM_UNUSABLE);
	while (count)
		pumice_bo_destroy(bos[--count]);
	assert_int_equal(pumice_vm_bind_async(p->vm, &op, 1, NULL, 0), -EIO);
	assert_int_equal(pumice_vm_bind(p->vm, &op, 1, NULL), -EIO);
	assert_int_equal(submit_store(&t, p->stream, p->out_va, 1, NULL, 0), -EIO);
	assert_non_null(strstr(pumice_device_error(p->dev), "unusable"));
	binds_close(&t);
}

static void a_bind_that_fails_late_makes_the_vm_unusable_and_still_signals(void **state)
{
	struct path p = { .cores = 1 };

	(void)state;
	/* Nothing can be unbound at the end: the VM is released with its mappings. */
	path_open(&p);
	late_failure(&p);
	pumice_stream_destroy(p.stream);
	pumice_context_destroy(p.context);
	pumice_bo_destroy(p.out);
	pumice_vm_destroy(p.vm);
	pumice_device_close(p.dev);
}

/* A job of one VM waits for a bind of another, which waits for a job; then that VM is released. */
static void vm_goes(struct path *p)
{
	struct pumice_job_sync done = { .signal = true };
	struct pumice_job job = { .context = p->context, .syncs = &done, .sync_count = 1 };
	struct pumice_sync *before;
	struct pumice_vm *other;
	struct binds t;

	binds_open(p, &t);
	assert_int_equal(pumice_vm_create(p->dev, &other), 0);
	assert_int_equal(pumice_sync_create(p->dev, 0, &before), 0);
	done.sync = before;
	job.stream = pumice_stream_va(p->stream);
	assert_int_equal(pumice_stream_end(p->stream, NULL), 0);
	assert_int_equal(pumice_submit(p->dev, &job, 1, NULL), 0);
	assert_int_equal(pumice_vm_bind_async(other, NULL, 0, (struct pumice_job_sync[]){
		{ .sync = before }, { .sync = t.b, .signal = true } }, 2), 0);
	assert_int_equal(submit_store(&t, p->stream, p->out_va, 7, (struct pumice_job_sync[]){
		{ .sync = t.b }, { .sync = t.a, .signal = true } }, 2), 0);
	pumice_vm_destroy(other);
	wait_for(t.b);
	wait_for(t.a);
	assert_int_equal(p->out_cpu[2], 9);
	pumice_sync_destroy(before);
	binds_close(&t);
}

static void destroying_a_vm_ends_its_binds_and_releases_their_waiters(void **state)
{
	(void)state;
	path_one(1, 0, vm_goes);
	path_one(4, 2, vm_goes);
}

/* More than fit into a queue of the firmware. */
static void many_binds(struct path *p)
{
	struct pumice_wait wait = { 0 };
	struct binds t;
	uint64_t reached;
	uint32_t i;

	binds_open(p, &t);
	wait.sync = t.b;
	for (i = 1; i <= 3000; i++) {
		const struct pumice_bind op = {
			.bo = i % 2 ? t.bo : NULL, .va = AT + i % 7 * 65536, .size = 65536,
		};

		assert_int_equal(pumice_vm_bind_async(p->vm, &op, 1, &(struct pumice_job_sync){
			.sync = t.b, .point = i, .signal = true }, 1), 0);
	}
	wait.point = 3000;
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, LONG), 0);
	assert_int_equal(pumice_sync_query(t.b, &reached), 0);
	assert_int_equal(reached, 3000);
	binds_close(&t);
}

static void thousands_of_binds_are_queued_and_done(void **state)
{
	(void)state;
	path_one(1, 0, many_binds);
	path_one(2, 1, many_binds);
}

/* One thread's work: a VM of its own, whose mapping changes before each job. */
struct mover {
	struct path *p;
	pthread_t thread;
	unsigned int bad;
};

static void *move_and_store(void *data)
{
	struct mover *m = data;
	struct path own = { .dev = m->p->dev };
	uint32_t *cpu, round;
	struct pumice_program *program;
	struct pumice_stream *stream;
	struct pumice_sync *timeline;
	struct pumice_kernel *kernel;
	struct pumice_bo *bo;
	void *at;

	m->bad = pumice_vm_create(own.dev, &own.vm) ||
		 pumice_context_create(own.vm, PUMICE_PRIORITY_NORMAL, &own.context) ||
		 pumice_program_parse(store_program, sizeof(store_program), &program, NULL, 0) ||
		 pumice_kernel_create(own.vm, program, &kernel) ||
		 pumice_stream_create(own.vm, 65536, &stream) ||
		 pumice_sync_create(own.dev, 0, &timeline) ||
		 pumice_bo_create(own.dev, 2 * 4096, NULL, &bo) || pumice_bo_map(bo, &at);
	if (m->bad)
		return NULL;
	cpu = at;
	for (round = 0; round < 100; round++) {
		const struct pumice_bind op = {
			.bo = bo, .bo_offset = round % 2 * 4096, .va = AT, .size = 4096,
		};
		const struct pumice_job_sync syncs[] = {
			{ .sync = timeline, .point = 2 * round + 1 },
			{ .sync = timeline, .point = 2 * round + 2, .signal = true },
		};
		const struct pumice_wait wait = { .sync = timeline, .point = 2 * round + 2 };
		const uint32_t uniforms[3] = { VA_WORDS(AT), round };
		const struct pumice_dispatch d = {
			.kernel = kernel, .groups = { 1, 1, 1 }, .uniforms = uniforms,
			.uniform_words = 3,
		};
		struct pumice_job job = { .context = own.context, .syncs = syncs, .sync_count = 2 };

		pumice_stream_reset(stream);
		m->bad |= pumice_stream_dispatch(stream, &d) ||
			  pumice_stream_end(stream, &job.stream) ||
			  pumice_vm_bind_async(own.vm, &op, 1, &(struct pumice_job_sync){
				.sync = timeline, .point = 2 * round + 1, .signal = true }, 1) ||
			  pumice_submit(own.dev, &job, 1, NULL) ||
			  pumice_sync_wait(&wait, 1, 0, LONG);
		m->bad |= cpu[round % 2 * 1024 + 63] != round + 63;
	}
	pumice_context_destroy(own.context);
	pumice_sync_destroy(timeline);
	pumice_stream_destroy(stream);
	pumice_kernel_destroy(kernel);
	pumice_program_destroy(program);
	pumice_vm_destroy(own.vm);
	pumice_bo_destroy(bo);
	return NULL;
}

static void movers(struct path *p)
{
	struct mover movers[4];
	unsigned int i;

	for (i = 0; i < 4; i++) {
		movers[i] = (struct mover){ .p = p };
		assert_int_equal(pthread_create(&movers[i].thread, NULL, move_and_store,
						&movers[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(movers[i].thread, NULL);
		assert_int_equal(movers[i].bad, 0);
	}
}

static void threads_bind_and_submit_without_disturbing_each_other(void **state)
{
	(void)state;
	path_one(1, 0, movers);
	path_one(4, 2, movers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_waits_for_a_bind_and_a_bind_for_a_job),
		cmocka_unit_test(unmap_all_does_not_affect_later_mappings),
		cmocka_unit_test(a_bind_has_no_effect_before_its_wait),
		cmocka_unit_test(a_plain_bind_waits_for_no_asynchronous_one),
		cmocka_unit_test(binds_of_a_vm_take_effect_in_order),
		cmocka_unit_test(a_bind_references_its_memory),
		cmocka_unit_test(a_call_that_is_refused_queues_nothing),
		cmocka_unit_test(a_bind_that_fails_late_makes_the_vm_unusable_and_still_signals),
		cmocka_unit_test(destroying_a_vm_ends_its_binds_and_releases_their_waiters),
		cmocka_unit_test(threads_bind_and_submit_without_disturbing_each_other),
		cmocka_unit_test(thousands_of_binds_are_queued_and_done),
	};

	return cmocka_run_group_tests_name("path-binds", tests, NULL, NULL);
}
