// SPDX-License-Identifier: MIT
/*
 * Operations on caches that a job of the library causes, by the count of the device: each job reads
 * memory anew and is seen there when it has ended, unless all memory of its VM is coherent.
 */
#include "../../../qemu-device/gpu/gpu.h"
#include "inproc/inproc.h"
#include "path.h"
#include "pumice_formats.h"
#include "store.pasm.h"

static uint32_t operations(struct path *p)
{
	return inproc_device(p->dev)->gpu->slc_regs.count;
}

static void run(struct path *p, const struct pumice_kernel *k)
{
	const uint32_t uniforms[3] = { VA_WORDS(p->out_va), 1 };

	path_dispatch(p, k, 1, uniforms, 3);
	if (path_run(p, NULL))
		fail_msg("%s", pumice_device_error(p->dev));
}

/* One before its start, one after its end; the first job also binds an MMU context. */
static void check_job(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	uint32_t before;

	run(p, k);
	before = operations(p);
	run(p, k);
	assert_int_equal(operations(p), before + 2);
	pumice_kernel_destroy(k);
}

static void jobs_cause_an_operation_before_and_after(void **state)
{
	(void)state;
	path_one(1, 0, check_job);
	path_one(2, 2, check_job);
}

/* In a GiB each without translation tables. */
#define NULL_VA		0x100000000ull
#define FURTHER_VA	0x140000000ull

/* Memory of a VM, mapped for the CPU, too. */
struct piece {
	struct pumice_bo *bo;
	uint64_t va;
	void *cpu;
};

/* Create memory, and map it at va, or anywhere if that is 0. */
static struct piece make_piece(struct path *p, struct pumice_vm *vm, uint32_t flags, uint64_t va)
{
	struct pumice_bind bind = { .va = va, .size = 4096 };
	struct piece piece = { .va = va };

	assert_int_equal(pumice_bo_create_flags(p->dev, 4096, NULL, flags, &piece.bo), 0);
	assert_int_equal(pumice_bo_map(piece.bo, &piece.cpu), 0);
	bind.bo = piece.bo;
	if (va)
		assert_int_equal(pumice_vm_bind(vm, &bind, 1, NULL), 0);
	else
		assert_int_equal(pumice_vm_place(vm, piece.bo, 0, &piece.va), 0);
	return piece;
}

/* Run the stream at va; return the number of operations that it causes. */
static uint32_t operations_of(struct path *p, struct pumice_context *context, uint64_t va)
{
	const uint32_t before = operations(p);

	assert_int_equal(pumice_context_run(context, va, LONG, NULL), 0);
	return operations(p) - before;
}

/*
 * Not even for a mapping that is new: it causes them itself. A null mapping has lines, which a
 * later one in its place must not see.
 */
static void check_coherent_jobs(struct path *p)
{
	const struct pumice_bind null = {
		.va = NULL_VA, .size = 4096, .flags = PUMICE_BIND_NULL,
	};
	struct pumice_context *context;
	struct piece stream, further;
	struct pumice_vm *vm;
	uint32_t before;

	assert_int_equal(pumice_vm_create(p->dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	stream = make_piece(p, vm, PUMICE_BO_COHERENT, 0);
	pumice_cdm_halt_pack(stream.cpu, &(struct pumice_cdm_halt){ 0 });
	operations_of(p, context, stream.va);
	assert_int_equal(operations_of(p, context, stream.va), 0);
	before = operations(p);
	further = make_piece(p, vm, PUMICE_BO_COHERENT, FURTHER_VA);
	assert_int_not_equal(operations(p), before);
	pumice_cdm_halt_pack(further.cpu, &(struct pumice_cdm_halt){ 0 });
	assert_int_equal(operations_of(p, context, further.va), 0);
	assert_int_equal(pumice_vm_bind(vm, &null, 1, NULL), 0);
	assert_int_equal(operations_of(p, context, stream.va), 2);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_bo_destroy(further.bo);
	pumice_bo_destroy(stream.bo);
}

static void jobs_of_coherent_memory_cause_no_operations(void **state)
{
	(void)state;
	path_one(1, 0, check_coherent_jobs);
	path_one(2, 2, check_coherent_jobs);
}

/* A job, and what it waits for and signals. */
struct queued {
	struct pumice_job job;
	struct pumice_job_sync syncs[2];
};

/* @wait: or NULL */
static void submit(struct path *p, struct queued *q, struct pumice_context *context, uint64_t va,
		   struct pumice_sync *wait, struct pumice_sync *signal)
{
	*q = (struct queued){
		.job = { .context = context, .stream = va, .sync_count = wait ? 2 : 1 },
		.syncs = {
			{ .sync = signal, .signal = true },
			{ .sync = wait },
		},
	};
	q->job.syncs = q->syncs;
	assert_int_equal(pumice_submit(p->dev, &q->job, 1, NULL), 0);
}

static void await_sync(struct pumice_sync *sync)
{
	const struct pumice_wait wait = { .sync = sync };

	assert_int_equal(pumice_sync_wait(&wait, 1, 0, now_ns() + LONG), 0);
}

/* Execute a bind that unmaps: the first one runs the GPU, to create what all need. */
static void prepare_binds(struct pumice_vm *vm, const struct pumice_bind *unmap,
			  struct pumice_sync *sync)
{
	const struct pumice_job_sync signal = { .sync = sync, .signal = true };

	assert_int_equal(pumice_vm_bind_async(vm, unmap, 1, &signal, 1), 0);
	await_sync(sync);
}

/*
 * Run a job that waits for a bind, which waits for a job of another VM with two operations; return
 * the operations until its end. @cached: while these wait, a null mapping makes the VM cached.
 */
static uint32_t operations_of_waiting_job(struct path *p, bool cached)
{
	const struct pumice_bind null = {
		.va = NULL_VA, .size = 4096, .flags = PUMICE_BIND_NULL,
	};
	struct pumice_bind bind = { .va = FURTHER_VA, .size = 4096 };
	struct pumice_context *context;
	struct piece first, stream, own;
	struct pumice_sync *sync[3];
	struct queued before, after;
	struct pumice_vm *vm;
	uint32_t start, i;

	assert_int_equal(pumice_vm_create(p->dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(pumice_sync_create(p->dev, 0, &sync[i]), 0);
	own = make_piece(p, p->vm, 0, 0);
	first = make_piece(p, vm, PUMICE_BO_COHERENT, 0);
	assert_int_equal(pumice_bo_create_flags(p->dev, 4096, NULL, PUMICE_BO_COHERENT,
						&stream.bo), 0);
	assert_int_equal(pumice_bo_map(stream.bo, &stream.cpu), 0);
	pumice_cdm_halt_pack(own.cpu, &(struct pumice_cdm_halt){ 0 });
	pumice_cdm_halt_pack(first.cpu, &(struct pumice_cdm_halt){ 0 });
	pumice_cdm_halt_pack(stream.cpu, &(struct pumice_cdm_halt){ 0 });
	operations_of(p, context, first.va);
	operations_of(p, p->context, own.va);
	prepare_binds(vm, &bind, sync[1]);

	start = operations(p);
	bind.bo = stream.bo;
	submit(p, &before, p->context, own.va, NULL, sync[0]);
	{
		const struct pumice_job_sync syncs[] = {
			{ .sync = sync[0] },
			{ .sync = sync[1], .signal = true },
		};

		assert_int_equal(pumice_vm_bind_async(vm, &bind, 1, syncs, 2), 0);
	}
	submit(p, &after, context, FURTHER_VA, sync[1], sync[2]);
	if (cached)
		assert_int_equal(pumice_vm_bind_async(vm, &null, 1, NULL, 0), 0);
	await_sync(sync[2]);
	start = operations(p) - start;

	for (i = 0; i < 3; i++)
		pumice_sync_destroy(sync[i]);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	pumice_bo_destroy(stream.bo);
	pumice_bo_destroy(first.bo);
	assert_int_equal(pumice_vm_remove(p->vm, own.va), 0);
	pumice_bo_destroy(own.bo);
	return start;
}

static void check_waiting_job(struct path *p)
{
	assert_in_range(operations_of_waiting_job(p, false), 3, 8);
	assert_in_range(operations_of_waiting_job(p, true), 3, 8);
}

/* That of the job, which has none itself, was written before the VM became cached. */
static void a_coherent_bind_invalidates_for_jobs_without_operations(void **state)
{
	(void)state;
	path_one(1, 0, check_waiting_job);
}

/* Write-combined memory is cached for the GPU. */
static void check_kind_of_memory(struct path *p, uint32_t flags)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	struct pumice_gpu *gpu = inproc_device(p->dev)->gpu;
	struct piece out = make_piece(p, p->vm, flags, 0);
	const uint32_t uniforms[3] = { VA_WORDS(out.va), 1 };
	struct hierarchy_client store;

	assert_int_equal(pumice_gpu_set_mode(gpu, "counted"), 0);
	path_dispatch(p, k, 1, uniforms, 3);
	assert_int_equal(path_run(p, NULL), 0);
	hierarchy_client_counters(gpu->hierarchy, PUMICE_MEM_CLIENT_USC_STORE, &store);
	assert_int_not_equal(store.requests, 0);
	if (flags & PUMICE_BO_COHERENT) {
		assert_int_equal(store.first.requests, 0);
		assert_int_equal(store.slc.bypasses, store.requests);
	} else {
		assert_int_equal(store.first.requests, store.requests);
		assert_int_equal(store.slc.bypasses, 0);
	}
	assert_int_equal(pumice_gpu_set_mode(gpu, "fast"), 0);
	assert_int_equal(pumice_vm_remove(p->vm, out.va), 0);
	pumice_bo_destroy(out.bo);
	pumice_kernel_destroy(k);
}

static void check_kinds_of_memory(struct path *p)
{
	check_kind_of_memory(p, PUMICE_BO_COHERENT);
	check_kind_of_memory(p, PUMICE_BO_WRITE_COMBINED);
	check_kind_of_memory(p, 0);
}

static void coherent_memory_is_in_no_cache(void **state)
{
	(void)state;
	path_one(1, 0, check_kinds_of_memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_cause_an_operation_before_and_after),
		cmocka_unit_test(jobs_of_coherent_memory_cause_no_operations),
		cmocka_unit_test(a_coherent_bind_invalidates_for_jobs_without_operations),
		cmocka_unit_test(coherent_memory_is_in_no_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
