// SPDX-License-Identifier: MIT
/*
 * Operations on caches that a job of the library causes, by the count of the device: each job reads
 * memory anew and is seen there when it has ended, unless all memory of its VM is coherent.
 */
#include "../../../qemu-device/gpu/gpu.h"
#include "inproc/inproc.h"
#include "path.h"
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

/* Memory of a VM, mapped for the CPU, too. */
struct piece {
	struct pumice_bo *bo;
	uint64_t va;
	void *cpu;
};

static struct piece make_piece(struct path *p, struct pumice_vm *vm, uint32_t flags)
{
	struct piece piece;

	assert_int_equal(pumice_bo_create_flags(p->dev, 4096, NULL, flags, &piece.bo), 0);
	assert_int_equal(pumice_bo_map(piece.bo, &piece.cpu), 0);
	assert_int_equal(pumice_vm_place(vm, piece.bo, 0, &piece.va), 0);
	return piece;
}

static void free_piece(struct pumice_vm *vm, struct piece *piece)
{
	assert_int_equal(pumice_vm_remove(vm, piece->va), 0);
	pumice_bo_destroy(piece->bo);
}

/* Write-combined memory is cached for the GPU. */
static void check_kind_of_memory(struct path *p, uint32_t flags)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	struct pumice_gpu *gpu = inproc_device(p->dev)->gpu;
	struct piece out = make_piece(p, p->vm, flags);
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
	free_piece(p->vm, &out);
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
		cmocka_unit_test(coherent_memory_is_in_no_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
