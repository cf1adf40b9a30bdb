// SPDX-License-Identifier: MIT
/* VM_BIND as seen by jobs: mappings, holes, permissions, page sizes, many VMs. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"
#include "harness.h"
#include "pumice_formats.h"
#include "pumice_names.h"
#include "pumice_regs.h"
#include "system.h"

#define VA FX_FREE

/* Check that the words that a job stores to @va are at @cpu. */
static void check_store(struct fixture *fx, u64 va, const u32 *cpu)
{
	u32 value = (u32)(va >> 12) + (u32)fx->used;
	int status = fx_run(fx, fx_store_stream(fx, va, value));

	if (status != 1)
		test_fail(__FILE__, __LINE__, "store to 0x%llx: fence status %d, fault %s",
			  (unsigned long long)va, status,
			  pumice_fault_str(need_state(fx->fd, fx->context).fault));
	fx_check_words(cpu, value);
}

/* Check that a job faults; returns the context's state. */
static struct drm_pumice_context_get_state check_faults(struct fixture *fx, u64 stream)
{
	CHECK(fx_run(fx, stream) < 0);
	return need_state(fx->fd, fx->context);
}

/* Check that a job's store to @va faults because nothing is mapped there. */
static void check_hole(struct fixture *fx, u64 va)
{
	struct drm_pumice_context_get_state state =
		check_faults(fx, fx_store_stream(fx, va, 0));

	if (!fault_is_unmapped(state.fault))
		test_fail(__FILE__, __LINE__, "fault %s", pumice_fault_str(state.fault));
	CHECK_EQUAL(state.fault_va & ~(u64)(PAGE - 1), va & ~(u64)(PAGE - 1));
	CHECK_EQUAL(state.access, PUMICE_ACCESS_WRITE);
	CHECK_EQUAL(state.unit, PUMICE_UNIT_USC_DATA);
}

static void job_writes_through_a_mapping(void)
{
	struct fixture fx = fx_open();

	check_store(&fx, fx.data.va, fx.data.cpu);
}

static void map_starts_at_the_bo_offset(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, 4 * PAGE);
	u32 *cpu = need_cpu(fx.fd, handle, 4 * PAGE);

	need_map(fx.fd, fx.vm, handle, 2 * PAGE, VA, PAGE, 0);
	check_store(&fx, VA, cpu + 2 * PAGE / 4);
	CHECK_EQUAL(cpu[1], 0);
}

static void one_bo_may_be_mapped_at_two_addresses(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE);
	u32 *cpu = need_cpu(fx.fd, handle, PAGE);

	need_map(fx.fd, fx.vm, handle, 0, VA, PAGE, 0);
	need_map(fx.fd, fx.vm, handle, 0, VA + GIB, PAGE, 0);
	check_store(&fx, VA, cpu);
	check_store(&fx, VA + GIB, cpu);
}

static void unmapped_address_faults(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);

	check_store(&fx, VA, mem.cpu);
	need_unmap(fx.fd, fx.vm, VA, PAGE);
	check_hole(&fx, VA);
	fx_check_works(&fx);
}

static void unmapped_memory_can_be_mapped_again(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);

	need_unmap(fx.fd, fx.vm, VA, PAGE);
	check_hole(&fx, VA);
	need_map(fx.fd, fx.vm, mem.handle, 0, VA, PAGE, 0);
	check_store(&fx, VA, mem.cpu);
}

static void partial_unmap_leaves_the_rest(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, 4 * PAGE);

	need_unmap(fx.fd, fx.vm, VA + PAGE, PAGE);
	check_store(&fx, VA, mem.cpu);
	check_hole(&fx, VA + PAGE);
	check_store(&fx, VA + 2 * PAGE, mem.cpu + 2 * PAGE / 4);
	check_store(&fx, VA + 3 * PAGE, mem.cpu + 3 * PAGE / 4);
}

/*
 * Each page of an unmapped range was used just before, so that a TLB holds it: none of these
 * entries may remain. The pages are control streams, which one unit reads for all jobs; pages
 * of 4 KiB each, so that nothing outside of the range changes.
 */
static void unmap_of_pages_in_use_leaves_none_in_a_tlb(void)
{
	enum { PAGES = 8 };
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, (PAGES + 1) * PAGE), page;
	u32 *cpu = need_cpu(fx.fd, handle, (PAGES + 1) * PAGE);

	for (page = 0; page <= PAGES; page++)
		pumice_cdm_halt_pack(cpu + page * PAGE / 4, &(struct pumice_cdm_halt){ 0 });
	need_map(fx.fd, fx.vm, handle, PAGE, VA, PAGES * PAGE, 0);
	for (page = 0; page < PAGES; page++)
		CHECK_EQUAL(fx_run(&fx, VA + page * PAGE), 1);
	need_unmap(fx.fd, fx.vm, VA + PAGE, (PAGES - 2) * PAGE);
	for (page = PAGES - 2; page; page--) {
		struct drm_pumice_context_get_state state = check_faults(&fx, VA + page * PAGE);

		CHECK(fault_is_unmapped(state.fault));
		CHECK_EQUAL(state.unit, PUMICE_UNIT_CDM);
		CHECK_EQUAL(state.fault_va, VA + page * PAGE);
	}
	CHECK_EQUAL(fx_run(&fx, VA), 1);
	CHECK_EQUAL(fx_run(&fx, VA + (PAGES - 1) * PAGE), 1);
}

static void unmap_may_span_mappings_and_holes(void)
{
	struct fixture fx = fx_open();
	struct mem a = need_mem(fx.fd, fx.vm, VA, 4 * PAGE);
	struct mem b = need_mem(fx.fd, fx.vm, VA + 8 * PAGE, 4 * PAGE);

	need_unmap(fx.fd, fx.vm, VA + 2 * PAGE, 8 * PAGE);
	check_store(&fx, VA + PAGE, a.cpu + PAGE / 4);
	check_hole(&fx, VA + 2 * PAGE);
	check_hole(&fx, VA + 8 * PAGE);
	check_store(&fx, VA + 10 * PAGE, b.cpu + 2 * PAGE / 4);
}

/* Each page has its own mapping, in a block whose best page size changes with each unmap. */
static void unmap_takes_many_mappings_of_one_block(void)
{
	enum { BLOCK = 2 << 20 };
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, BLOCK);
	u32 *cpu = need_cpu(fx.fd, handle, BLOCK);
	u64 at;

	for (at = 0; at < BLOCK; at += PAGE)
		need_map(fx.fd, fx.vm, handle, at, VA + at, PAGE, 0);
	need_unmap(fx.fd, fx.vm, VA + PAGE, BLOCK - 4 * PAGE);
	check_store(&fx, VA, cpu);
	check_store(&fx, VA + BLOCK - PAGE, cpu + (BLOCK - PAGE) / 4);
	check_hole(&fx, VA + PAGE);
	check_hole(&fx, VA + BLOCK - 4 * PAGE);
	need_unmap(fx.fd, fx.vm, VA, BLOCK);
	check_hole(&fx, VA);
}

static void map_replaces_earlier_mappings(void)
{
	struct fixture fx = fx_open();
	struct mem old = need_mem(fx.fd, fx.vm, VA, 4 * PAGE);
	struct mem new;

	check_store(&fx, VA + PAGE, old.cpu + PAGE / 4);
	old.cpu[PAGE / 4] = 4711;
	new = need_mem(fx.fd, fx.vm, VA + PAGE, 2 * PAGE);
	check_store(&fx, VA + PAGE, new.cpu);
	CHECK_EQUAL(old.cpu[PAGE / 4], 4711);
	check_store(&fx, VA, old.cpu);
	check_store(&fx, VA + 3 * PAGE, old.cpu + 3 * PAGE / 4);
}

static void operations_of_one_call_act_in_order(void)
{
	struct fixture fx = fx_open();
	u32 a = need_bo(fx.fd, PAGE), b = need_bo(fx.fd, PAGE);
	u32 *cpu = need_cpu(fx.fd, b, PAGE);
	struct drm_pumice_bind_op ops[] = {
		bind_map(a, 0, VA, PAGE, 0), bind_unmap(VA, PAGE), bind_map(a, 0, VA, PAGE, 0),
		bind_map(b, 0, VA, PAGE, 0),
	};

	CHECK_OK(gpu_bind(fx.fd, fx.vm, ops, 4, NULL));
	check_store(&fx, VA, cpu);
}

#define MAPS	8u

/* Pages of a buffer one after the other, and back, between those of another one. */
static void check_map_alternating(struct fixture *fx, const u32 *handle, u32 *const *cpu, u64 va,
				  bool async)
{
	static const u32 buffer[MAPS] = { 0, 0, 1, 1, 0, 1, 0, 1 };
	static const u32 page[MAPS] = { 3, 1, 2, 3, 0, 0, 2, 1 };
	const struct drm_pumice_sync signal = {
		.flags = DRM_PUMICE_SYNC_SIGNAL, .handle = fx->sync,
	};
	struct drm_pumice_bind_op ops[MAPS];
	u32 i;

	for (i = 0; i < MAPS; i++)
		ops[i] = bind_map(handle[buffer[i]], page[i] * PAGE, va + i * PAGE, PAGE, 0);
	if (async) {
		CHECK_OK(gpu_bind_async(fx->fd, fx->vm, ops, MAPS, &signal, 1));
		need_wait(fx->fd, fx->sync, 0);
	} else {
		CHECK_OK(gpu_bind(fx->fd, fx->vm, ops, MAPS, NULL));
	}
	for (i = 0; i < MAPS; i++)
		check_store(fx, va + i * PAGE, cpu[buffer[i]] + page[i] * PAGE / 4);
}

static void operations_of_one_call_may_map_several_buffers(void)
{
	struct fixture fx = fx_open();
	u32 handle[2], i;
	u32 *cpu[2];

	for (i = 0; i < 2; i++) {
		handle[i] = need_bo(fx.fd, 4 * PAGE);
		cpu[i] = need_cpu(fx.fd, handle[i], 4 * PAGE);
	}
	check_map_alternating(&fx, handle, cpu, VA, false);
	check_map_alternating(&fx, handle, cpu, VA + MIB, true);
}

static void operations_before_a_failed_one_took_effect(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE);
	u32 *cpu = need_cpu(fx.fd, handle, PAGE);
	struct drm_pumice_bind_op ops[] = {
		bind_map(handle, 0, VA, PAGE, 0), bind_map(handle, 0, VA + PAGE, PAGE + 1, 0),
		bind_map(handle, 0, VA + 2 * PAGE, PAGE, 0),
	};
	u32 failed;

	CHECK_ERROR(gpu_bind(fx.fd, fx.vm, ops, 3, &failed), EINVAL);
	CHECK_EQUAL(failed, 1);
	check_store(&fx, VA, cpu);
	check_hole(&fx, VA + 2 * PAGE);
}

static void read_only_memory_can_be_read(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE), i;
	u32 *cpu = need_cpu(fx.fd, handle, PAGE);

	need_map(fx.fd, fx.vm, handle, 0, VA, PAGE, DRM_PUMICE_BIND_READONLY);
	for (i = 0; i < 32; i++)
		cpu[i] = 100 + i;
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, VA, 0)), 1);
	fx_check_words(fx.data.cpu, 100);
}

static void read_only_memory_refuses_stores(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state;
	u32 handle = need_bo(fx.fd, PAGE);
	u32 *cpu = need_cpu(fx.fd, handle, PAGE);

	need_map(fx.fd, fx.vm, handle, 0, VA, PAGE, DRM_PUMICE_BIND_READONLY);
	state = check_faults(&fx, fx_store_stream(&fx, VA, 7));
	CHECK_EQUAL(state.fault, PUMICE_FAULT_MMU_READ_ONLY);
	CHECK_EQUAL(state.unit, PUMICE_UNIT_USC_DATA);
	CHECK_EQUAL(state.access, PUMICE_ACCESS_WRITE);
	CHECK_EQUAL(state.fault_va & ~(u64)(PAGE - 1), VA);
	CHECK_EQUAL(cpu[0], 0);
	fx_check_works(&fx);
}

static void no_exec_memory_refuses_programs(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state;
	u64 stream = fx_store_stream(&fx, fx.data.va, 1);

	need_map(fx.fd, fx.vm, fx.code.handle, 0, FX_CODE, FX_CODE_BYTES,
		 DRM_PUMICE_BIND_NOEXEC);
	state = check_faults(&fx, stream);
	CHECK_EQUAL(state.fault, PUMICE_FAULT_MMU_NO_EXEC);
	CHECK_EQUAL(state.access, PUMICE_ACCESS_EXEC);
	CHECK_EQUAL(fx.data.cpu[0], 0);
}

static void no_exec_memory_can_be_read_and_written(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE);
	u32 *cpu = need_cpu(fx.fd, handle, PAGE);

	need_map(fx.fd, fx.vm, handle, 0, VA, PAGE, DRM_PUMICE_BIND_NOEXEC);
	check_store(&fx, VA, cpu);
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, VA, 0)), 1);
	CHECK_EQUAL(fx.data.cpu[3], cpu[3]);
}

/* Store to the start, the end and the middle of every 64 KiB of a mapping. */
static void check_spread(struct fixture *fx, u64 va, const u32 *cpu, u64 size)
{
	u64 at;

	for (at = 0; at < size; at += 256 * 1024)
		check_store(fx, va + at, cpu + at / 4);
	check_store(fx, va + size - 128, cpu + (size - 128) / 4);
}

static void large_mapping_works_everywhere(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, 4 * MIB);

	check_spread(&fx, VA, mem.cpu, 4 * MIB);
}

static void hole_in_a_large_mapping_is_one_page(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, 4 * MIB);
	u64 hole = VA + MIB + 5 * PAGE;

	check_store(&fx, hole, mem.cpu + (hole - VA) / 4);
	need_unmap(fx.fd, fx.vm, hole, PAGE);
	check_hole(&fx, hole);
	check_store(&fx, hole - PAGE, mem.cpu + (hole - PAGE - VA) / 4);
	check_store(&fx, hole + PAGE, mem.cpu + (hole + PAGE - VA) / 4);
	check_spread(&fx, VA, mem.cpu, 4 * MIB);
}

static void filled_hole_in_a_large_mapping_shows_the_new_memory(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, 4 * MIB), patch;
	u64 at = VA + 2 * MIB;

	check_store(&fx, at, mem.cpu + 2 * MIB / 4);
	mem.cpu[2 * MIB / 4] = 4711;
	patch = need_mem(fx.fd, fx.vm, at, PAGE);
	check_store(&fx, at, patch.cpu);
	CHECK_EQUAL(mem.cpu[2 * MIB / 4], 4711);
	check_store(&fx, at + PAGE, mem.cpu + (2 * MIB + PAGE) / 4);
	check_store(&fx, at - PAGE, mem.cpu + (2 * MIB - PAGE) / 4);
}

/* Memory of 2 MiB pages, which is contiguous for each heap. */
static void job_writes_through_pages_of_each_heap(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_heaps query = need_heaps(fx.fd);
	u32 handle = need_bo(fx.fd, 4 * MIB), i;
	u32 *cpu = need_cpu(fx.fd, handle, 4 * MIB);

	for (i = 1; i < query.count; i++) {
		u64 va = query.heaps[i].start, page = query.heaps[i].page_bytes;

		need_map(fx.fd, fx.vm, handle, 0, va, 4 * MIB, 0);
		check_spread(&fx, va, cpu, 4 * MIB);
		need_unmap(fx.fd, fx.vm, va + page, page);
		check_hole(&fx, va + page);
		check_store(&fx, va, cpu);
		need_map(fx.fd, fx.vm, handle, page, va + page, page, 0);
		check_store(&fx, va + page, cpu + page / 4);
	}
	fx_check_works(&fx);
}

/* Each refused operation changes nothing, and names itself. */
static void operations_in_heaps_consist_of_whole_pages(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_heaps query = need_heaps(fx.fd);
	u32 handle = need_bo(fx.fd, 4 * MIB), i, k, failed;

	for (i = 1; i < query.count; i++) {
		u64 va = query.heaps[i].start, page = query.heaps[i].page_bytes;
		const struct drm_pumice_bind_op bad[] = {
			{ .handle = handle, .va = va, .size = PAGE },
			{ .handle = handle, .va = va + PAGE, .size = page },
			{ .handle = handle, .va = va, .size = page, .bo_offset = PAGE },
			{ .handle = handle, .va = va - page, .size = 2 * page },
			{ .flags = DRM_PUMICE_BIND_NULL, .va = va, .size = PAGE },
			{ .type = DRM_PUMICE_BIND_UNMAP, .va = va, .size = PAGE },
		};

		for (k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			struct drm_pumice_bind_op ops[2] = {
				{ .handle = handle, .va = va, .size = page }, bad[k],
			};

			CHECK_ERROR(gpu_bind(fx.fd, fx.vm, ops, 2, &failed), EINVAL);
			CHECK_EQUAL(failed, 1);
		}
	}
	fx_check_works(&fx);
}

static void null_mapping_works_in_each_heap(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_heaps query = need_heaps(fx.fd);
	u32 i;

	for (i = 1; i < query.count; i++) {
		u64 va = query.heaps[i].start, page = query.heaps[i].page_bytes;

		need_map(fx.fd, fx.vm, 0, 0, va, 2 * page, DRM_PUMICE_BIND_NULL);
		if (fx_run(&fx, fx_store_stream(&fx, va + 2 * page - PAGE, 1)) != 1)
			test_fail(__FILE__, __LINE__, "heap %u: fault %s at 0x%llx", i,
				  pumice_fault_str(need_state(fx.fd, fx.context).fault),
				  (unsigned long long)need_state(fx.fd, fx.context).fault_va);
		check_hole(&fx, va + 2 * page);
	}
}

/* A reset clears the range registers; mappings from before it are still in use. */
static void heaps_keep_their_page_sizes_over_a_reset(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_query_heaps query = need_heaps(fx.fd);
	u32 i;

	for (i = 1; i < query.count; i++)
		need_map(fx.fd, fx.vm, 0, 0, query.heaps[i].start, query.heaps[i].page_bytes,
			 DRM_PUMICE_BIND_NULL);
	need_flr();
	for (i = 1; i < query.count; i++) {
		CHECK_EQUAL(fx_run(&fx, fx_store_stream(&fx, query.heaps[i].start + PAGE, 1)), 1);
		check_hole(&fx, query.heaps[i].start + query.heaps[i].page_bytes);
	}
}

static void large_mapping_at_odd_pages_works(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, 4 * MIB);
	u32 *cpu = need_cpu(fx.fd, handle, 4 * MIB);

	/* Offset and address are misaligned with each other, so no large page fits. */
	need_map(fx.fd, fx.vm, handle, PAGE, VA + 7 * PAGE, 3 * MIB, 0);
	check_spread(&fx, VA + 7 * PAGE, cpu + PAGE / 4, 3 * MIB);
	check_hole(&fx, VA + 6 * PAGE);
	check_hole(&fx, VA + 7 * PAGE + 3 * MIB);
}

static void read_only_part_of_a_large_mapping_is_one_page(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, 2 * MIB);
	struct drm_pumice_context_get_state state;
	u64 at = MIB;

	need_map(fx.fd, fx.vm, mem.handle, at, VA + at, PAGE, DRM_PUMICE_BIND_READONLY);
	state = check_faults(&fx, fx_store_stream(&fx, VA + at, 1));
	CHECK_EQUAL(state.fault, PUMICE_FAULT_MMU_READ_ONLY);
	check_store(&fx, VA + at - PAGE, mem.cpu + (at - PAGE) / 4);
	check_store(&fx, VA + at + PAGE, mem.cpu + (at + PAGE) / 4);
}

/* A job stores to @va and one loads from there: the stores are dropped, the loads give 0. */
static void check_null(struct fixture *fx, u64 va)
{
	u32 i;

	CHECK_EQUAL(fx_run(fx, fx_store_stream(fx, va, 0x1234)), 1);
	memset(fx->data.cpu, 0xff, 128);
	CHECK_EQUAL(fx_run(fx, fx_copy_stream(fx, fx->data.va, va, 0)), 1);
	for (i = 0; i < 32; i++)
		CHECK_EQUAL(fx->data.cpu[i], 0);
}

static void need_null(const struct fixture *fx, u64 va, u64 size, u32 flags)
{
	need_map(fx->fd, fx->vm, 0, 0, va, size, DRM_PUMICE_BIND_NULL | flags);
}

static void null_mapping_reads_as_zero_and_drops_stores(void)
{
	struct fixture fx = fx_open();
	u64 size = 5 * MIB, at;

	/* Every page size, from 4 KiB at the start to 2 MiB in the middle. */
	need_null(&fx, VA + 7 * PAGE, size, 0);
	for (at = 0; at < size; at += 512 * 1024)
		check_null(&fx, VA + 7 * PAGE + at);
	check_null(&fx, VA + 7 * PAGE + size - 128);
	check_hole(&fx, VA + 6 * PAGE);
	check_hole(&fx, VA + 7 * PAGE + size);
}

static void check_large_null(struct fixture *fx, u64 va)
{
	check_null(fx, va);
	check_null(fx, va + 9 * GIB + 12345 * 8);
	check_null(fx, va + DRM_PUMICE_MAX_BO_SIZE - 128);
	check_hole(fx, va + DRM_PUMICE_MAX_BO_SIZE);
}

/* The largest that one operation may create, synchronous and queued. */
static void null_mapping_may_be_large(void)
{
	struct fixture fx = fx_open();
	const u64 late = VA + 2 * DRM_PUMICE_MAX_BO_SIZE;
	const struct drm_pumice_bind_op op =
		bind_map(0, 0, late, DRM_PUMICE_MAX_BO_SIZE, DRM_PUMICE_BIND_NULL);
	const struct drm_pumice_sync done = then_signal(need_sync(fx.fd), 0);

	need_null(&fx, VA, DRM_PUMICE_MAX_BO_SIZE, 0);
	check_large_null(&fx, VA);
	CHECK_OK(gpu_bind_async(fx.fd, fx.vm, &op, 1, &done, 1));
	need_wait(fx.fd, done.handle, 0);
	check_large_null(&fx, late);
}

static void parts_of_a_null_mapping_may_be_bound(void)
{
	struct fixture fx = fx_open();
	u64 part = VA + MIB + 5 * PAGE;
	struct mem mem;

	need_null(&fx, VA, 4 * MIB, 0);
	mem = need_mem(fx.fd, fx.vm, part, 2 * PAGE);
	check_store(&fx, part, mem.cpu);
	check_null(&fx, part - PAGE);
	check_null(&fx, part + 2 * PAGE);
	/* The part is unmapped again, and so is the adjacent page. */
	need_null(&fx, part, PAGE, 0);
	need_unmap(fx.fd, fx.vm, part - PAGE, PAGE);
	check_null(&fx, part);
	check_store(&fx, part + PAGE, mem.cpu + PAGE / 4);
	check_hole(&fx, part - PAGE);
	check_null(&fx, part - 2 * PAGE);
	check_null(&fx, VA + 3 * MIB);
}

static void null_mapping_keeps_its_permissions(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_context_get_state state;

	need_null(&fx, VA, PAGE, DRM_PUMICE_BIND_READONLY);
	state = check_faults(&fx, fx_store_stream(&fx, VA, 1));
	CHECK_EQUAL(state.fault, PUMICE_FAULT_MMU_READ_ONLY);
	CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, VA, 5)), 1);
	CHECK_EQUAL(fx.data.cpu[0], 5);
}

/* Each page of a former 2 MiB page: a NULL mapping has them in any state of the memory. */
static void split_of_a_large_page_keeps_its_permissions(void)
{
	struct fixture fx = fx_open();
	const u64 hole = VA + MIB;
	const u64 rest[] = { VA, hole - PAGE, hole + PAGE, VA + 2 * MIB - PAGE };
	u32 i;

	need_null(&fx, VA, 2 * MIB, DRM_PUMICE_BIND_READONLY);
	need_unmap(fx.fd, fx.vm, hole, PAGE);
	check_hole(&fx, hole);
	for (i = 0; i < sizeof(rest) / sizeof(rest[0]); i++) {
		struct drm_pumice_context_get_state state =
			check_faults(&fx, fx_store_stream(&fx, rest[i], 1));

		CHECK_EQUAL(state.fault, PUMICE_FAULT_MMU_READ_ONLY);
		CHECK_EQUAL(state.fault_va, rest[i]);
		CHECK_EQUAL(fx_run(&fx, fx_copy_stream(&fx, fx.data.va, rest[i], 5)), 1);
		CHECK_EQUAL(fx.data.cpu[0], 5);
	}
}

/* Data that one VM stores to a NULL mapping is not visible in another VM. */
static void null_mappings_of_two_vms_are_separate(void)
{
	struct fixture a = fx_open(), b = fx_on(a.fd);
	u32 i;

	need_null(&a, VA, PAGE, 0);
	need_null(&b, VA, PAGE, 0);
	for (i = 0; i < 4; i++) {
		check_null(&a, VA);
		check_null(&b, VA);
	}
}

static void unmap_all_leaves_nothing(void)
{
	struct fixture fx = fx_open(), other = fx_on(fx.fd);
	const struct drm_pumice_bind_op all = { .type = DRM_PUMICE_BIND_UNMAP_ALL };
	struct mem mem = need_mem(fx.fd, fx.vm, VA, 4 * MIB);
	u64 last = need_info(fx.fd).va_end - PAGE;

	need_null(&fx, VA + GIB, 3 * MIB, 0);
	need_map(fx.fd, fx.vm, mem.handle, 0, last, PAGE, 0);
	check_store(&fx, last, mem.cpu);
	CHECK_OK(gpu_bind(fx.fd, fx.vm, &all, 1, NULL));
	CHECK_EQUAL(fdinfo_number(fx.fd, "pumice-page-tables"), 12);
	/* Code and data of the fixture were unmapped, too. */
	need_map(fx.fd, fx.vm, fx.code.handle, 0, FX_CODE, FX_CODE_BYTES, 0);
	check_hole(&fx, VA);
	check_hole(&fx, VA + GIB);
	check_hole(&fx, last);
	check_hole(&fx, fx.data.va);
	fx_check_works(&other);
}

/* Operations of a call take effect in order, this one included; queued ones as well. */
static void unmap_all_acts_in_order(void)
{
	struct fixture fx = fx_open();
	u32 bo = need_bo(fx.fd, PAGE);
	struct drm_pumice_sync done = then_signal(need_sync(fx.fd), 0);
	u32 *cpu = need_cpu(fx.fd, bo, PAGE);
	const struct drm_pumice_bind_op ops[] = {
		bind_map(bo, 0, VA, PAGE, 0),
		{ .type = DRM_PUMICE_BIND_UNMAP_ALL },
		bind_map(0, 0, VA + 2 * PAGE, PAGE, DRM_PUMICE_BIND_NULL),
		bind_map(bo, 0, VA + PAGE, PAGE, 0),
		bind_map(fx.code.handle, 0, FX_CODE, FX_CODE_BYTES, 0),
		bind_map(fx.data.handle, 0, FX_DATA, FX_DATA_BYTES, 0),
	};

	CHECK_OK(gpu_bind_async(fx.fd, fx.vm, ops, 6, &done, 1));
	need_wait(fx.fd, done.handle, 0);
	check_hole(&fx, VA);
	check_store(&fx, VA + PAGE, cpu);
	check_null(&fx, VA + 2 * PAGE);
}

static void mapping_may_cross_every_table_boundary(void)
{
	struct fixture fx = fx_open();
	u64 start = 2 * GIB - PAGE;
	struct mem mem = need_mem(fx.fd, fx.vm, start, 3 * MIB);

	check_store(&fx, start, mem.cpu);
	check_store(&fx, start + PAGE, mem.cpu + PAGE / 4);
	/* 32 words across the 1 GiB boundary. */
	check_store(&fx, start + PAGE - 64, mem.cpu + (PAGE - 64) / 4);
	/* And across a 2 MiB boundary. */
	check_store(&fx, 2 * GIB + 2 * MIB - 64, mem.cpu + (PAGE + 2 * MIB - 64) / 4);
}

static void last_page_of_the_space_works(void)
{
	struct fixture fx = fx_open();
	u64 va = need_info(fx.fd).va_end - PAGE;
	struct mem mem = need_mem(fx.fd, fx.vm, va, PAGE);

	check_store(&fx, va + PAGE - 128, mem.cpu + (PAGE - 128) / 4);
}

static void address_is_mapped_separately_in_each_vm(void)
{
	int fd = need_gpu();
	struct fixture a = fx_on(fd), b = fx_on(fd);

	CHECK_EQUAL(fx_run(&a, fx_store_stream(&a, a.data.va, 1000)), 1);
	CHECK_EQUAL(fx_run(&b, fx_store_stream(&b, b.data.va, 2000)), 1);
	fx_check_words(a.data.cpu, 1000);
	fx_check_words(b.data.cpu, 2000);
}

/* Poll for a word that a job in flight writes. */
static void need_word(const volatile u32 *word, u32 value)
{
	u64 deadline = now_ns() + WAIT_SECONDS * 1000000000ull;

	while (*word != value && now_ns() < deadline)
		sched_yield();
	CHECK_EQUAL(*word, value);
}

static void vm_can_be_changed_while_its_job_runs(void)
{
	struct fixture fx = fx_open();
	u32 other = need_context(fx.fd, fx.vm), i;
	struct mem mem;

	fx_block(&fx);
	for (i = 0; i < 20; i++) {
		mem = need_mem(fx.fd, fx.vm, VA, 4 * MIB);
		need_unmap(fx.fd, fx.vm, VA + MIB, PAGE);
		need_unmap(fx.fd, fx.vm, VA, 4 * MIB);
	}
	CHECK(sync_is_pending(fx.fd, fx.sync, 0));
	need_map(fx.fd, fx.vm, mem.handle, 0, VA, 4 * MIB, 0);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	fx.context = other;
	check_store(&fx, VA + MIB, mem.cpu + MIB / 4);
}

static void unmap_under_a_running_job_faults_it(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	const struct shader shader = shader_store_loop();
	const struct launch launch = {
		.shader = &shader, .params = { (u32)VA, (u32)(VA >> 32), 5 },
	};
	struct drm_pumice_context_get_state state;

	fx_submit(&fx, fx_stream(&fx, &launch));
	need_word(mem.cpu, 5);
	need_unmap(fx.fd, fx.vm, VA, PAGE);
	mem.cpu[0] = 6;
	CHECK_EQUAL(fx_wait(&fx), -EIO);
	state = need_state(fx.fd, fx.context);
	CHECK(fault_is_unmapped(state.fault));
	CHECK_EQUAL(state.fault_va, VA);
	CHECK_EQUAL(mem.cpu[0], 6);
	fx_check_works(&fx);
}

static void remap_under_a_running_job_moves_its_stores(void)
{
	struct fixture fx = fx_open();
	struct mem old = need_mem(fx.fd, fx.vm, VA, PAGE), new;
	const struct shader shader = shader_store_loop();
	const struct launch launch = {
		.shader = &shader, .params = { (u32)VA, (u32)(VA >> 32), 5 },
	};

	fx_submit(&fx, fx_stream(&fx, &launch));
	need_word(old.cpu, 5);
	new = need_mem(fx.fd, fx.vm, VA, PAGE);
	old.cpu[0] = 6;
	need_word(new.cpu, 5);
	CHECK_OK(gpu_context_destroy(fx.fd, fx.context));
	CHECK_EQUAL(fx_wait(&fx), -ECANCELED);
	CHECK_EQUAL(old.cpu[0], 6);
}

#define MANY 48u	/* more VMs than the MMU has contexts */

static void more_vms_than_mmu_contexts_work_alternately(void)
{
	int fd = need_gpu();
	struct fixture *fixtures = calloc(MANY, sizeof(*fixtures));
	u32 i, round;

	CHECK(fixtures);
	for (i = 0; i < MANY; i++)
		fixtures[i] = fx_on(fd);
	for (round = 0; round < 2; round++) {
		for (i = 0; i < MANY; i++)
			check_store(&fixtures[i], fixtures[i].data.va, fixtures[i].data.cpu);
	}
}

static void more_vms_than_mmu_contexts_work_together(void)
{
	int fd = need_gpu();
	struct fixture *fixtures = calloc(MANY, sizeof(*fixtures));
	u32 i;

	CHECK(fixtures);
	for (i = 0; i < MANY; i++)
		fixtures[i] = fx_on(fd);
	for (i = 0; i < MANY; i++)
		fx_submit(&fixtures[i],
			  fx_store_stream(&fixtures[i], fixtures[i].data.va, i * 1000));
	for (i = 0; i < MANY; i++)
		CHECK_EQUAL(fx_wait(&fixtures[i]), 1);
	for (i = 0; i < MANY; i++)
		fx_check_words(fixtures[i].data.cpu, i * 1000);
}

/* Fill a page, with all cores, and check each word. */
static void check_page(struct fixture *fx, u64 va, const u32 *cpu)
{
	const struct shader shader = shader_store();
	const u32 value = 0x1000 + (u32)fx->used;
	u32 i;

	CHECK_EQUAL(fx_run(fx, fx_stream(fx, &(struct launch){
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), value },
		.groups = PAGE / 4 / 32, .size = 32,
	})), 1);
	for (i = 0; i < PAGE / 4; i++)
		CHECK_EQUAL(cpu[i], value + i);
}

/*
 * Each MMU context is reassigned from one VM to another, which uses the addresses that the first
 * one used last: no other VM has used them in between, so that a TLB may still hold them.
 */
static void reused_mmu_context_has_nothing_of_its_former_vm(void)
{
	const u32 contexts = PUMICE_MMU_CONTEXTS - 1;
	int fd = need_gpu();
	struct fixture *fixtures = calloc(2 * contexts, sizeof(*fixtures));
	struct mem *mems = calloc(2 * contexts, sizeof(*mems));
	u32 i;

	CHECK(fixtures && mems);
	for (i = 0; i < 2 * contexts; i++) {
		fixtures[i] = fx_on(fd);
		mems[i] = need_mem(fd, fixtures[i].vm, VA + i % contexts * PAGE, PAGE);
	}
	for (i = 0; i < 2 * contexts; i++)
		check_page(&fixtures[i], mems[i].va, mems[i].cpu);
}

static void context_keeps_its_destroyed_vm(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_bind_op op = bind_unmap(VA, PAGE);

	CHECK_OK(gpu_vm_destroy(fx.fd, fx.vm));
	CHECK_ERROR(gpu_bind(fx.fd, fx.vm, &op, 1, NULL), ENOENT);
	fx_check_works(&fx);
}

static void new_vm_sees_nothing_of_a_destroyed_one(void)
{
	int fd = need_gpu();
	u32 i;

	/* The same addresses, other memory, and tables made of pages freed just before. */
	for (i = 0; i < 8; i++) {
		struct fixture fx = fx_on(fd);
		struct mem mem;

		check_hole(&fx, VA);
		mem = need_mem(fd, fx.vm, VA, PAGE);
		check_store(&fx, VA, mem.cpu);
		munmap(mem.cpu, PAGE);
		CHECK_OK(gpu_context_destroy(fd, fx.context));
		CHECK_OK(gpu_vm_destroy(fd, fx.vm));
	}
}

static const struct test_case cases[] = {
	TEST_CASE(job_writes_through_a_mapping),
	TEST_CASE(map_starts_at_the_bo_offset),
	TEST_CASE(one_bo_may_be_mapped_at_two_addresses),
	TEST_CASE(unmapped_address_faults),
	TEST_CASE(unmapped_memory_can_be_mapped_again),
	TEST_CASE(partial_unmap_leaves_the_rest),
	TEST_CASE(unmap_of_pages_in_use_leaves_none_in_a_tlb),
	TEST_CASE(unmap_may_span_mappings_and_holes),
	TEST_CASE(unmap_takes_many_mappings_of_one_block),
	TEST_CASE(map_replaces_earlier_mappings),
	TEST_CASE(operations_of_one_call_act_in_order),
	TEST_CASE(operations_of_one_call_may_map_several_buffers),
	TEST_CASE(operations_before_a_failed_one_took_effect),
	TEST_CASE(read_only_memory_can_be_read),
	TEST_CASE(read_only_memory_refuses_stores),
	TEST_CASE(no_exec_memory_refuses_programs),
	TEST_CASE(no_exec_memory_can_be_read_and_written),
	TEST_CASE(large_mapping_works_everywhere),
	TEST_CASE(hole_in_a_large_mapping_is_one_page),
	TEST_CASE(filled_hole_in_a_large_mapping_shows_the_new_memory),
	TEST_CASE(large_mapping_at_odd_pages_works),
	TEST_CASE(job_writes_through_pages_of_each_heap),
	TEST_CASE(operations_in_heaps_consist_of_whole_pages),
	TEST_CASE(null_mapping_works_in_each_heap),
	TEST_CASE(heaps_keep_their_page_sizes_over_a_reset),
	TEST_CASE(read_only_part_of_a_large_mapping_is_one_page),
	TEST_CASE(null_mapping_reads_as_zero_and_drops_stores),
	TEST_CASE(null_mapping_may_be_large),
	TEST_CASE(parts_of_a_null_mapping_may_be_bound),
	TEST_CASE(null_mapping_keeps_its_permissions),
	TEST_CASE(split_of_a_large_page_keeps_its_permissions),
	TEST_CASE(null_mappings_of_two_vms_are_separate),
	TEST_CASE(unmap_all_leaves_nothing),
	TEST_CASE(unmap_all_acts_in_order),
	TEST_CASE(mapping_may_cross_every_table_boundary),
	TEST_CASE(last_page_of_the_space_works),
	TEST_CASE(address_is_mapped_separately_in_each_vm),
	TEST_CASE(vm_can_be_changed_while_its_job_runs),
	TEST_CASE(unmap_under_a_running_job_faults_it),
	TEST_CASE(remap_under_a_running_job_moves_its_stores),
	TEST_CASE(more_vms_than_mmu_contexts_work_alternately),
	TEST_CASE(more_vms_than_mmu_contexts_work_together),
	TEST_CASE(reused_mmu_context_has_nothing_of_its_former_vm),
	TEST_CASE(context_keeps_its_destroyed_vm),
	TEST_CASE(new_vm_sees_nothing_of_a_destroyed_one),
};

TEST_MAIN(cases)
