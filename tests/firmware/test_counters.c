// SPDX-License-Identifier: MIT
/*
 * Performance counters of jobs: summed over jobs and slices, without those of other jobs. The
 * linker replaces the device's function that reads registers, to count the reads of counters of the
 * memory hierarchy, to return their values after a change of the mode, and to select the version of
 * the register map.
 */
#include "perf.h"
#include "fixture.h"
#include "regs/regs.h"

#define GROUPS	3000u
#define LOOPS	40u

static u32 version;		/* SYS_VERSION as the firmware reads it; 0: that of the device */
static u32 reads;		/* of the firmware: counters of the memory hierarchy */
/* HIER_TEXTURE_REQUESTS as the firmware reads it, at both ends of a slice; NULL: of the device */
static const u32 *texture_requests;

u64 __real_regs_read(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os, u32 offset,
		     unsigned int size);
u64 __wrap_regs_read(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os, u32 offset,
		     unsigned int size);
u64 __wrap_regs_read(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os, u32 offset,
		     unsigned int size)
{
	if (bus == PUMICE_REG_BUS_FW && offset == PUMICE_SYS_VERSION && version)
		return version;
	reads += bus == PUMICE_REG_BUS_FW &&
		 offset >= PUMICE_PERF_COUNTER(PUMICE_PERF_HIER_SLC_READ_BYTES) &&
		 offset < PUMICE_PERF_COUNTER(PUMICE_PERF_NUMBER);
	if (texture_requests && offset == PUMICE_PERF_COUNTER(PUMICE_PERF_HIER_TEXTURE_REQUESTS))
		return *texture_requests++;
	return __real_regs_read(gpu, bus, os, offset, size);
}

static struct fwif_perf *perf_block(struct fixture *r, u32 *addr)
{
	return fx_fw_alloc(r, sizeof(struct fwif_perf), addr);
}

/* Create a context whose stream launches 10 work-groups. */
static void create_context(struct fixture *r, struct fx_context *c)
{
	struct fx_vm vm;

	fx_vm(r, &vm);
	fx_vm_groups(&vm, 10, LOOPS, false);
	fx_context(r, &vm, 1, c);
}

static void counters_of_jobs_with_one_block_are_summed(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fwif_perf *perf;
	u32 addr;

	(void)state;
	create_context(r, &c);
	perf = perf_block(r, &addr);
	fx_compute_perf(&c, FX_STREAM_VA, 1, addr);
	fx_submit(r, &c);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], 10);
	assert_int_equal(perf->value[PUMICE_PERF_PDS_TASKS], 10);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_COMMANDS], 3);
	fx_compute(&c, FX_STREAM_VA, 2);
	fx_compute_perf(&c, FX_STREAM_VA, 3, addr);
	fx_submit(r, &c);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], 20);
	assert_true(perf->value[PUMICE_PERF_CDM_BUSY] >= fx_result(&c, 1)->run_ticks);
	fx_destroy(r);
}

static void slices_of_other_contexts_are_not_counted(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context a, b;
	struct fwif_perf *perf;
	struct fx_vm vm;
	u32 addr;

	(void)state;
	r->boot->slice_us = FWIF_SLICE_MIN_US;
	fx_vm(r, &vm);
	fx_vm_groups(&vm, GROUPS, LOOPS, false);
	fx_context(r, &vm, 1, &a);
	fx_context(r, &vm, 1, &b);
	perf = perf_block(r, &addr);
	fx_compute_perf(&a, FX_STREAM_VA, 1, addr);
	fx_compute(&b, FX_STREAM_VA, 1);
	fx_put_kick(r, &a);
	fx_put_kick(r, &b);
	fx_kick(r);
	fx_finish(r);
	assert_true(fx_result(&a, 1)->slices > 1);
	assert_int_equal(fx_result(&b, 1)->groups, GROUPS);
	assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], GROUPS);
	assert_int_equal(perf->value[PUMICE_PERF_USC_WAVES], GROUPS);
	/* add, lt and brnz in each iteration, and end. */
	assert_int_equal(perf->value[PUMICE_PERF_USC_ISSUED], GROUPS * (3 * LOOPS + 1));
	assert_int_equal(perf->value[PUMICE_PERF_USC_INSN_SCALAR], GROUPS * 2 * LOOPS);
	assert_int_equal(perf->value[PUMICE_PERF_USC_INSN_FLOW], GROUPS * (LOOPS + 1));
	fx_destroy(r);
}

static void details_are_counted_only_during_jobs_with_counters(void **state)
{
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct fx_vm vm;
	u32 addr;

	(void)state;
	fx_vm(r, &vm);
	fx_vm_groups(&vm, 10, LOOPS, false);
	fx_context(r, &vm, 1, &c);
	perf_block(r, &addr);
	fx_compute_perf(&c, FX_STREAM_VA, 1, addr);
	fx_submit(r, &c);
	assert_int_equal(fx_reg(r, PUMICE_PERF_CTRL) & PUMICE_PERF_CTRL__DETAIL__MASK, 0);
	fx_destroy(r);
}

static void invalid_counter_address_breaks_its_context_only(void **state)
{
	static const u32 bad[] = { 4, FX_FW_HOLE, 0x80000000, PUMICE_FW_WINDOW_SIZE - 64 };
	struct fx_context c, good;
	struct fx_vm vm;
	struct fixture *r = fx_with_context(&vm, &good);
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fx_context(r, &vm, 1, &c);
		fx_compute_perf(&c, FX_STREAM_VA, 1, bad[i]);
		fx_submit(r, &c);
		assert_int_equal(c.f->state, FWIF_CONTEXT_BROKEN);
	}
	fx_compute(&good, FX_STREAM_VA, 1);
	fx_update(&good, good.object_addr, 1);
	fx_submit(r, &good);
	assert_int_equal(*good.object, 1);
	fx_destroy(r);
}

/* Their structures are followed by unmapped addresses. */
static void older_drivers_have_room_for_fewer_counters(void **state)
{
	static const struct {
		u32 minor, bytes;
	} drivers[] = {
		{ 7, FWIF_PERF_BYTES_1_7 }, { 8, FWIF_PERF_BYTES_1_13 },
		{ 13, FWIF_PERF_BYTES_1_13 }, { 14, sizeof(struct fwif_perf) },
	};
	struct fwif_perf *perf;
	struct fx_context c;
	u32 addr, i;

	(void)state;
	for (i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		struct fixture *r = fx_create();

		assert_int_equal(pumice_gpu_set_mode(r->gpu, "counted"), 0);
		r->boot->version = FWIF_VERSION_MAJOR << 16 | drivers[i].minor;
		assert_int_equal(fx_boot(r), FWIF_STATE_READY);
		create_context(r, &c);
		perf = fx_fw_alloc_last(r, drivers[i].bytes, &addr);
		fx_compute_perf(&c, FX_STREAM_VA, 1, addr);
		fx_submit(r, &c);
		assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], 10);
		if (drivers[i].minor >= 14)
			assert_true(perf->value[PUMICE_PERF_HIER_CDM_STREAM_REQUESTS] > 0);
		fx_destroy(r);
	}
}

/* A read takes the lock of the hierarchy: none where the counters cannot change. */
static void counters_of_the_hierarchy_are_read_where_they_count(void **state)
{
	static const struct {
		u32 minor;
		const char *mode;
		bool counts;
	} devices[] = {
		{ FWIF_PERF_HIER_SINCE_MAP, "counted", true },
		{ FWIF_PERF_HIER_SINCE_MAP, "strict", true },
		{ FWIF_PERF_HIER_SINCE_MAP, "fast", false },
		{ FWIF_PERF_HIER_SINCE_MAP - 1, "counted", false },
	};
	struct fwif_perf *perf;
	struct fx_context c;
	u32 addr, i;

	(void)state;
	for (i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		struct fixture *r = fx_create();

		version = (PUMICE_SYS_VERSION__RESET & ~PUMICE_SYS_VERSION__MINOR__MASK) |
			  devices[i].minor;
		reads = 0;
		assert_int_equal(pumice_gpu_set_mode(r->gpu, devices[i].mode), 0);
		assert_int_equal(fx_boot(r), FWIF_STATE_READY);
		create_context(r, &c);
		perf = perf_block(r, &addr);
		fx_compute_perf(&c, FX_STREAM_VA, 1, addr);
		fx_submit(r, &c);
		assert_int_equal(perf->value[PUMICE_PERF_CDM_GROUPS], 10);
		assert_int_equal(reads > 0, devices[i].counts);
		assert_int_equal(perf->value[PUMICE_PERF_HIER_CDM_STREAM_REQUESTS] > 0,
				 devices[i].counts);
		fx_destroy(r);
	}
	version = 0;
}

/* The mode may change after the job has ended, before the firmware reads the counters. */
static void counters_that_begin_again_are_counted_from_0(void **state)
{
	static const u32 read[] = { 100, 7 };
	struct fixture *r = fx_create();
	struct fwif_perf *perf;
	struct fx_context c;
	u32 addr;

	(void)state;
	assert_int_equal(pumice_gpu_set_mode(r->gpu, "counted"), 0);
	assert_int_equal(fx_boot(r), FWIF_STATE_READY);
	create_context(r, &c);
	perf = perf_block(r, &addr);
	fx_compute_perf(&c, FX_STREAM_VA, 1, addr);
	texture_requests = read;
	fx_submit(r, &c);
	assert_ptr_equal(texture_requests, read + 2);
	assert_int_equal(perf->value[PUMICE_PERF_HIER_TEXTURE_REQUESTS], 7);
	texture_requests = NULL;
	fx_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_jobs_with_one_block_are_summed),
		cmocka_unit_test(slices_of_other_contexts_are_not_counted),
		cmocka_unit_test(details_are_counted_only_during_jobs_with_counters),
		cmocka_unit_test(invalid_counter_address_breaks_its_context_only),
		cmocka_unit_test(older_drivers_have_room_for_fewer_counters),
		cmocka_unit_test(counters_of_the_hierarchy_are_read_where_they_count),
		cmocka_unit_test(counters_that_begin_again_are_counted_from_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
