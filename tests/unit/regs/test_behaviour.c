// SPDX-License-Identifier: MIT
/*
 * Behaviour of single registers: pages of virtual GPUs, interrupt lines, the clock,
 * contexts, reset; and that no sequence of accesses breaks the device.
 */
#include "job.h"

#include <stdlib.h>
#include <time.h>

#include "../../../qemu-device/gpu/regs/regs.h"

#define HOST	PUMICE_REG_BUS_HOST
#define FW	PUMICE_REG_BUS_FW

static u32 fw_read(struct fixture *fx, u32 offset)
{
	return (u32)regs_read(fx->gpu, FW, 0, offset, 4);
}

static void fw_write(struct fixture *fx, u32 offset, u32 value)
{
	regs_write(fx->gpu, FW, 0, offset, value, 4);
}

static u32 os_read(struct fixture *fx, unsigned int os, u32 offset)
{
	return (u32)pumice_gpu_mmio_read(fx->gpu, os, offset, 4);
}

static void os_write(struct fixture *fx, unsigned int os, u32 offset, u32 value)
{
	pumice_gpu_mmio_write(fx->gpu, os, offset, value, 4);
}

/* Sizes that the source documents give; hw/presets.h explains them. */
static void presets_have_the_sizes_of_the_documents(void **state)
{
	enum { COMMON = PUMICE_OUTPUT_STORE_COMMON, PARTITION = PUMICE_OUTPUT_STORE_PARTITION };
	static const struct {
		const char *name;
		u32 cores, uscs, slots, tasks, waves, batch, group, unified, common, local, outputs;
		u32 slot_registers;
	} rows[] = {
		{ "default", 4, 2, 48, 64, 192, 128, 1024, 512, 576, 64, COMMON, 4 },
		{ "volcanic", 4, 4, 48, 64, 192, 128, 1024, 512, 576, 32, COMMON, 4 },
		{ "waves", 16, 2, 2, 4, 2, 64, 64, 12, 576, 64, COMMON, 4 },
		{ "sgx543mp4", 4, 4, 48, 64, 192, 128, 1024, 1024, 64, 64, PARTITION, 4 },
		{ "videocore4", 1, 4, 48, 64, 192, 16, 1024, 512, 576, 64, COMMON, 4 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .preset = rows[i].name });
		u32 config = (u32)fx_read(fx, PUMICE_SYS_CONFIG);
		u32 stores = (u32)fx_read(fx, PUMICE_SYS_STORES);
		u32 registers = (u32)fx_read(fx, PUMICE_SYS_REGISTERS);
		u32 shape = (u32)fx_read(fx, PUMICE_SYS_SHAPE);

		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__PRESET, shape), i);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__CORES, config), rows[i].cores);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__USCS, config), rows[i].uscs);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__SLOTS, config), rows[i].slots);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__TASKS, registers),
				 rows[i].tasks);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__WAVES, shape), rows[i].waves);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__BATCH, shape), rows[i].batch);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__GROUP, shape), rows[i].group);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_STORES__UNIFIED_KIB, stores),
				 rows[i].unified);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_STORES__LOCAL_KIB, stores),
				 rows[i].local);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_STORES__COMMON_KIB, stores),
				 rows[i].common);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__OUTPUTS, registers),
				 rows[i].outputs);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__SLOT, registers),
				 rows[i].slot_registers);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__INTERNAL, registers),
				 PUMICE_USC_OWN_REGS - rows[i].slot_registers);
		fx_destroy(fx);
	}
}

/* Compare the register with the sizes of these options. */
static void assert_units(const struct fx_options *o, const struct fx_options *want)
{
	struct fixture *fx = fx_create(o);
	u64 units = fx_read(fx, PUMICE_SYS_UNITS);

	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_UNITS__VPM_KIB, units), want->vpm_kib);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_UNITS__IDX_FIFO, units), want->idx_fifo);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_UNITS__CHUNK_FIFO, units), want->chunk_fifo);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TILE_FIFO, units), want->tile_fifo);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TSP_VERTICES, units),
			 want->tsp_vertices);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_UNITS__TCUS, units),
			 PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__USCS, fx_read(fx, PUMICE_SYS_CONFIG)));
	fx_destroy(fx);
}

/* No document gives these sizes: those of the presets are the project's. */
static void units_have_the_sizes_of_presets_and_properties(void **state)
{
	static const char *const names[] = { "default", "volcanic", "waves", "sgx543mp4",
					     "videocore4" };
	static const struct fx_options preset = { .vpm_kib = 512, .idx_fifo = 1024, .chunk_fifo = 1,
						  .tile_fifo = 4, .tsp_vertices = 128 };
	static const struct fx_options rows[] = {
		{ .vpm_kib = 1, .idx_fifo = 1, .chunk_fifo = 1, .tile_fifo = 1, .tsp_vertices = 4 },
		{ .vpm_kib = 4096, .idx_fifo = 4096, .chunk_fifo = 4, .tile_fifo = 64,
		  .tsp_vertices = 1024 },
		{ .vpm_kib = 77, .idx_fifo = 1000, .chunk_fifo = 3, .tile_fifo = 5,
		  .tsp_vertices = 16 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_units(&(struct fx_options){ .preset = names[i] }, &preset);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_units(&rows[i], &rows[i]);
}

/* Document 004, "SLC", "DCU" and "TCU"; the others have as many lines, 4 times as long. */
static void caches_have_the_sizes_of_document_004(void **state)
{
	static const struct {
		const char *name;
		u32 slc_kib, line;
	} rows[] = {
		{ "default", 4 * 64, 128 }, { "volcanic", 4 * 64, 128 }, { "waves", 16 * 64, 128 },
		{ "sgx543mp4", 4 * 64, 32 }, { "videocore4", 64, 128 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .preset = rows[i].name });
		u32 caches = (u32)fx_read(fx, PUMICE_SYS_CACHES), line = rows[i].line;

		assert_int_equal(1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__SLC, caches),
				 rows[i].slc_kib << 10);
		assert_int_equal(1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__DATA_L1, caches),
				 16 * line);
		assert_int_equal(1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__DATA_L2, caches),
				 32 * line);
		assert_int_equal(1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__TEXTURE_L1, caches),
				 16 * line);
		assert_int_equal(1u << PUMICE_FIELD_GET(PUMICE_SYS_CACHES__TEXTURE_L2, caches),
				 256 * line);
		fx_destroy(fx);
	}
}

/* A property overrides one size of its preset. */
static void a_property_overrides_its_size_only(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .preset = "waves", .slots = 5,
							     .batch = 32 });
	u32 config = (u32)fx_read(fx, PUMICE_SYS_CONFIG);
	u32 shape = (u32)fx_read(fx, PUMICE_SYS_SHAPE);
	u32 registers = (u32)fx_read(fx, PUMICE_SYS_REGISTERS);

	(void)state;
	/* At least as many tasks as slots, unless the property is set. */
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_REGISTERS__TASKS, registers), 5);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__CORES, config), 16);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__SLOTS, config), 5);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__WAVES, shape), 2);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__BATCH, shape), 32);
	fx_destroy(fx);
}

/* A work-group has at most as many instances as one USC has waves and slots for. */
static void the_largest_work_group_is_that_of_a_usc(void **state)
{
	static const struct {
		unsigned int slots, waves;
		u32 group;
	} rows[] = { { 48, 192, 1024 }, { 1, 192, 128 }, { 3, 192, 384 }, { 48, 5, 160 } };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct fixture *fx = fx_create(&(struct fx_options){ .slots = rows[i].slots,
								     .waves = rows[i].waves });
		u32 shape = (u32)fx_read(fx, PUMICE_SYS_SHAPE);

		assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_SHAPE__GROUP, shape), rows[i].group);
		fx_destroy(fx);
	}
}

static void configuration_registers_contain_the_configuration(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 7, .uscs_per_core = 3,
							     .oses = 3 });
	u32 config = (u32)fx_read(fx, PUMICE_SYS_CONFIG);
	u32 stores = (u32)fx_read(fx, PUMICE_SYS_STORES);

	(void)state;
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__CORES, config), 7);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__USCS, config), 3);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__SLOTS, config), PUMICE_USC_SLOTS);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__OSES, config), 3);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_STORES__UNIFIED_KIB, stores), 512);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_STORES__COMMON_KIB, stores), 576);
	assert_int_equal(PUMICE_FIELD_GET(PUMICE_SYS_STORES__LOCAL_KIB, stores), 64);
	fx_destroy(fx);
}

static void each_active_page_has_its_own_doorbell_and_line(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .oses = PUMICE_OS_COUNT });
	unsigned int os, i;

	(void)state;
	for (os = 0; os < PUMICE_OS_COUNT; os++) {
		os_write(fx, os, PUMICE_OS_SCHEDULE, 0);
		assert_int_equal(fw_read(fx, PUMICE_IC_PENDING), 0);
		os_write(fx, os, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
		assert_int_equal(fw_read(fx, PUMICE_IC_PENDING), 1u << os);
		fw_write(fx, PUMICE_IC_CLEAR, ~(1u << os));
		assert_int_equal(fw_read(fx, PUMICE_IC_PENDING), 1u << os);
		fw_write(fx, PUMICE_IC_CLEAR, 1u << os);
		assert_int_equal(fw_read(fx, PUMICE_IC_PENDING), 0);

		os_write(fx, os, PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_ENABLE__FW__MASK);
		fw_write(fx, PUMICE_IC_HOST_IRQ, 1u << os);
		for (i = 0; i < PUMICE_OS_COUNT; i++) {
			assert_int_equal(fx->irqs[i], i <= os);
			assert_int_equal(os_read(fx, i, PUMICE_OS_IRQ_STATUS), i <= os);
		}
	}
	fx_destroy(fx);
}

static void each_active_page_connects_by_itself(void **state)
{
	const u32 connect = PUMICE_OS_CTRL__CONNECT__MASK;
	const u32 connected = PUMICE_OS_CTRL__CONNECTED__MASK;
	const u64 catalogue = PUMICE_OS_CATALOGUE__ENABLE__MASK | 0x4000;
	struct fixture *fx = fx_create(&(struct fx_options){ .oses = 3 });
	u32 os, info;

	(void)state;
	for (os = 0; os < 3; os++) {
		info = (u32)os_read(fx, os, PUMICE_OS_INFO);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_OS_INFO__NUMBER, info), os);
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_OS_INFO__OSES, info), 3);
	}
	os_write(fx, 1, PUMICE_OS_BOOT_ARG, 0x10001000);
	os_write(fx, 1, PUMICE_OS_CTRL, connect);
	assert_int_equal(fw_read(fx, PUMICE_IC_PENDING), 1u << 1);
	/* The argument is that of the time of the connection. */
	os_write(fx, 1, PUMICE_OS_BOOT_ARG, 0);
	os_write(fx, 1, PUMICE_OS_CTRL, connect);
	assert_int_equal(fw_read(fx, PUMICE_IC_OS_CTRL(1)), 0x101);
	assert_int_equal(fw_read(fx, PUMICE_IC_OS_BOOT_ARG(1)), 0x10001000);
	os_write(fx, 1, PUMICE_OS_CTRL, 0);
	assert_int_equal(fw_read(fx, PUMICE_IC_OS_CTRL(1)), 0x100);
	os_write(fx, 1, PUMICE_OS_CTRL, connect);
	assert_int_equal(fw_read(fx, PUMICE_IC_OS_CTRL(1)), 0x201);
	assert_int_equal(fw_read(fx, PUMICE_IC_OS_CTRL(2)), 0);
	/* Connected until the firmware reports the end, which it cannot of a newer connection. */
	fw_write(fx, PUMICE_IC_OS_CTRL(1), 0);
	assert_int_equal(os_read(fx, 1, PUMICE_OS_CTRL), connect | connected);
	os_write(fx, 1, PUMICE_OS_CTRL, 0);
	assert_int_equal(os_read(fx, 1, PUMICE_OS_CTRL), connected);
	fw_write(fx, PUMICE_IC_OS_CTRL(1), 0);
	assert_int_equal(os_read(fx, 1, PUMICE_OS_CTRL), 0);
	pumice_gpu_mmio_write(fx->gpu, 2, PUMICE_OS_CATALOGUE, catalogue, 8);
	assert_int_equal(pumice_gpu_mmio_read(fx->gpu, 2, PUMICE_OS_CATALOGUE, 8), catalogue);
	assert_int_equal(pumice_gpu_mmio_read(fx->gpu, 1, PUMICE_OS_CATALOGUE, 8), 0);
	assert_int_equal(pumice_gpu_mmio_read(fx->gpu, 0, PUMICE_OS_CATALOGUE, 8),
			 pumice_gpu_mmio_read(fx->gpu, 0, PUMICE_MMU_CTX(0), 8));
	fx_destroy(fx);
}

/* A driver of another virtual GPU has no page 0. */
static void every_active_page_shows_the_identity_and_the_clock(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .oses = 3 });
	u32 os, mode;

	(void)state;
	for (os = 0; os < 3; os++) {
		assert_int_equal(os_read(fx, os, PUMICE_SYS_ID), PUMICE_SYS_ID__RESET);
		assert_int_equal(os_read(fx, os, PUMICE_SYS_CONFIG),
				 os_read(fx, 0, PUMICE_SYS_CONFIG));
		assert_true(pumice_gpu_mmio_read(fx->gpu, os, PUMICE_SYS_CLOCK, 8) > 0);
	}
	/* It changes none of it, and reads nothing else. */
	mode = (u32)os_read(fx, 0, PUMICE_SYS_MODE);
	os_write(fx, 1, PUMICE_SYS_MODE, PUMICE_MODE_COUNTED);
	assert_int_equal(os_read(fx, 0, PUMICE_SYS_MODE), mode);
	os_write(fx, 0, PUMICE_FW_ENTRY, 4);
	os_write(fx, 1, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	assert_int_equal(os_read(fx, 0, PUMICE_FW_ENTRY), 4);
	assert_int_equal(os_read(fx, 1, PUMICE_FW_ENTRY), 0);
	assert_int_equal(os_read(fx, 3, PUMICE_SYS_ID), 0);
	fx_destroy(fx);
}

static void pages_that_are_not_active_do_nothing(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .oses = 2 });
	unsigned int os;

	(void)state;
	for (os = 2; os < PUMICE_OS_COUNT; os++) {
		os_write(fx, os, PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_ENABLE__FW__MASK);
		os_write(fx, os, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
		assert_int_equal(os_read(fx, os, PUMICE_OS_IRQ_ENABLE), 0);
	}
	assert_int_equal(fw_read(fx, PUMICE_IC_PENDING), 0);
	fw_write(fx, PUMICE_IC_HOST_IRQ, 0xff);
	for (os = 2; os < PUMICE_OS_COUNT; os++) {
		assert_int_equal(os_read(fx, os, PUMICE_OS_IRQ_STATUS), 0);
		assert_int_equal(fx->irqs[os], 0);
	}
	fx_destroy(fx);
}

static void a_line_rises_when_a_cause_becomes_pending_and_enabled(void **state)
{
	struct fixture *fx = fx_create(NULL);
	const u32 fw = PUMICE_OS_IRQ_STATUS__FW__MASK;

	(void)state;
	/* Pending but not enabled: no interrupt; enabling raises it at once. */
	fw_write(fx, PUMICE_IC_HOST_IRQ, 1);
	assert_int_equal(fx->irqs[0], 0);
	assert_int_equal(fx_read(fx, PUMICE_OS_IRQ_STATUS), fw);
	fx_write(fx, PUMICE_OS_IRQ_ENABLE, fw);
	assert_int_equal(fx->irqs[0], 1);
	/* Still pending: one interrupt is enough. */
	fw_write(fx, PUMICE_IC_HOST_IRQ, 1);
	fx_write(fx, PUMICE_OS_IRQ_ENABLE, fw);
	assert_int_equal(fx->irqs[0], 1);
	/* Masked and unmasked while pending: again. */
	fx_write(fx, PUMICE_OS_IRQ_ENABLE, 0);
	fx_write(fx, PUMICE_OS_IRQ_ENABLE, fw);
	assert_int_equal(fx->irqs[0], 2);
	/* Cleared, then set again. */
	fx_write(fx, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_STATUS__LOCKUP__MASK);
	assert_int_equal(fx_read(fx, PUMICE_OS_IRQ_STATUS), fw);
	fx_write(fx, PUMICE_OS_IRQ_CLEAR, fw);
	assert_int_equal(fx_read(fx, PUMICE_OS_IRQ_STATUS), 0);
	fw_write(fx, PUMICE_IC_HOST_IRQ, 1);
	assert_int_equal(fx->irqs[0], 3);
	fx_destroy(fx);
}

static void the_firmware_reads_the_clock_in_halves_that_fit(void **state)
{
	struct fixture *fx = fx_create(&(struct fx_options){ .manual_clock = true });

	(void)state;
	atomic_store(&fx->clock, 0x1ffffffff);
	assert_int_equal(fw_read(fx, PUMICE_SYS_CLOCK), 0xffffffff);
	atomic_store(&fx->clock, 0x200000000);
	assert_int_equal(fw_read(fx, PUMICE_SYS_CLOCK + 4), 1);
	assert_int_equal(fw_read(fx, PUMICE_SYS_CLOCK), 0);
	assert_int_equal(fw_read(fx, PUMICE_SYS_CLOCK + 4), 2);
	assert_int_equal(fx_read(fx, PUMICE_SYS_CLOCK), 0x200000000);
	fx_destroy(fx);
}

static u64 monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_nsec;
}

static void the_clock_starts_at_creation_and_survives_reset(void **state)
{
	const u64 before = monotonic_ns();
	struct fixture *fx = fx_create(NULL);
	u64 clock = fx_read(fx, PUMICE_SYS_CLOCK);

	(void)state;
	/* The clock that it uses started long before. */
	assert_true(clock <= monotonic_ns() - before);
	fx_destroy(fx);
	fx = fx_create(&(struct fx_options){ .manual_clock = true });
	assert_int_equal(fx_read(fx, PUMICE_SYS_CLOCK), 0);
	atomic_store(&fx->clock, 12345);
	fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	assert_int_equal(fx_read(fx, PUMICE_SYS_CLOCK), 12345);
	fx_destroy(fx);
}

static void the_host_has_context_0_and_the_firmware_all(void **state)
{
	struct fixture *fx = fx_create(NULL);
	unsigned int ctx;

	(void)state;
	for (ctx = 1; ctx < PUMICE_MMU_CONTEXTS; ctx++) {
		fx_write(fx, PUMICE_MMU_CTX(ctx), 0x2001);
		assert_int_equal(fx_read(fx, PUMICE_MMU_CTX(ctx)), 0);
		fw_write(fx, PUMICE_MMU_CTX(ctx), 0x4001);
		assert_int_equal(fx_read(fx, PUMICE_MMU_CTX(ctx)), 0x4001);
	}
	fw_write(fx, PUMICE_MMU_CTX(0), 0x6001);
	assert_int_equal((u32)fx_read(fx, PUMICE_MMU_CTX(0)), 0x6001);
	fx_destroy(fx);
}

static void only_the_key_resets_and_only_from_the_host(void **state)
{
	struct fixture *fx = fx_create(NULL);

	(void)state;
	fx_write(fx, PUMICE_FW_ENTRY, 64);
	fw_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	assert_int_equal(fx_read(fx, PUMICE_FW_ENTRY), 64);
	fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY + 1);
	assert_int_equal(fx_read(fx, PUMICE_FW_ENTRY), 64);
	fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	assert_int_equal(fx_read(fx, PUMICE_FW_ENTRY), 0);
	assert_int_equal(fx_read(fx, PUMICE_SYS_STATUS), 0);
	fx_destroy(fx);
}

static void an_unknown_invalidation_is_logged_and_ignored(void **state)
{
	struct fixture *fx = fx_create(NULL);

	(void)state;
	fx_write(fx, PUMICE_MMU_INVAL,
		 PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_COUNT));
	assert_true(fx->log[0]);
	fx_destroy(fx);
}

/* Registers of one of the data masters VDM, PDM and TDM. */
static const struct master {
	u32 base;		/* of its unit */
	u32 done, fault, aborted;	/* events */
	u32 mirror;		/* of its status, for the host */
} masters[] = {
	{ PUMICE_VDM_UNIT_BASE, PUMICE_IC_PENDING__VDM_DONE__MASK,
	  PUMICE_IC_PENDING__VDM_FAULT__MASK, PUMICE_IC_PENDING__VDM_ABORTED__MASK,
	  PUMICE_DBG_VDM_STATUS },
	{ PUMICE_PDM_UNIT_BASE, PUMICE_IC_PENDING__PDM_DONE__MASK,
	  PUMICE_IC_PENDING__PDM_FAULT__MASK, PUMICE_IC_PENDING__PDM_ABORTED__MASK,
	  PUMICE_DBG_PDM_STATUS },
	{ PUMICE_TDM_UNIT_BASE, PUMICE_IC_PENDING__TDM_DONE__MASK,
	  PUMICE_IC_PENDING__TDM_FAULT__MASK, PUMICE_IC_PENDING__TDM_ABORTED__MASK,
	  PUMICE_DBG_TDM_STATUS },
};

/* The same register of any of them. */
#define MASTER_REG(m, name) ((m)->base + PUMICE_VDM_##name - PUMICE_VDM_UNIT_BASE)

static void a_data_master_reports_its_fault_to_firmware_and_host(void **state)
{
	struct fixture *fx = fx_create(NULL);
	const struct master *m;
	u32 status;

	(void)state;
	fx_boot_proxy(fx);
	for (m = masters; m < masters + 3; m++) {
		/* MMU context 9 is off, and there is no scene at 0x40000000. */
		fw_write(fx, MASTER_REG(m, MMU_CTX), 9);
		fw_write(fx, MASTER_REG(m, STREAM_BASE), 0x10000);
		if (m->base != PUMICE_TDM_UNIT_BASE)
			fw_write(fx, MASTER_REG(m, SCENE_BASE), 0x40000000);
		fx_fw_write(fx, MASTER_REG(m, CTRL), PUMICE_VDM_CTRL__START__MASK);
		assert_int_equal(fx_fw_wait(fx, m->done | m->fault | m->aborted), m->fault);
		status = fx_fw_read(fx, MASTER_REG(m, STATUS));
		assert_int_equal(PUMICE_FIELD_GET(PUMICE_VDM_STATUS__BUSY, status), 0);
		assert_int_not_equal(PUMICE_FIELD_GET(PUMICE_VDM_STATUS__FAULT, status), 0);
		assert_int_not_equal(PUMICE_FIELD_GET(PUMICE_VDM_STATUS__UNIT, status), 0);
		assert_int_equal(fx_read(fx, m->mirror), status);
		assert_int_equal(fx_fw_read64(fx, MASTER_REG(m, GROUPS)), 0);
		assert_true(fx_fw_read64(fx, MASTER_REG(m, TIME_END)) >=
			    fx_fw_read64(fx, MASTER_REG(m, TIME_START)));
		/* The others have had no job. */
		if (m < masters + 2)
			assert_int_equal(fx_read(fx, m[1].mirror), 0);
	}
	fx_destroy(fx);
}

static void abort_and_resume_of_an_idle_data_master_are_ignored(void **state)
{
	struct fixture *fx = fx_create(NULL);
	const struct master *m;

	(void)state;
	for (m = masters; m < masters + 3; m++)
		fw_write(fx, MASTER_REG(m, CTRL), PUMICE_VDM_CTRL__ABORT__MASK |
			 PUMICE_VDM_CTRL__RESUME__MASK | PUMICE_VDM_CTRL__FLUSH__MASK);
	fx_drain(fx);
	assert_int_equal(fw_read(fx, PUMICE_IC_PENDING), 0);
	fx_destroy(fx);
}

/* A free list at a fw address, and PM_GROW. */
static void the_pm_adds_pages_up_to_the_maximum_of_a_list(void **state)
{
	static const struct {
		u32 grow, pages;
	} cases[] = { { 12, 12 }, { 11, 12 }, { 12, 12 }, { 41, 12 }, { 0, 12 }, { 40, 40 } };
	struct pumice_free_list list = {
		.base = 0x100000, .pages = 10, .head = PUMICE_PM_NO_PAGE, .free = 10,
		.max_pages = 40, .links = 0x801000,
	};
	struct fixture *fx = fx_create(NULL);
	u32 *words = testmem_map(fx->tm, 0, 0x800000, 0x2000, PUMICE_PAGE_SIZE_4K, 0);
	unsigned int i;

	(void)state;
	pumice_free_list_pack(words, &list);
	fw_write(fx, PUMICE_PM_LIST, 0x800000);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fw_write(fx, PUMICE_PM_GROW, cases[i].grow);
		pumice_free_list_unpack(words, &list);
		assert_int_equal(list.pages, cases[i].pages);
		assert_int_equal(list.free, cases[i].pages);
	}
	/* Without a list there is no effect. */
	fw_write(fx, PUMICE_PM_LIST, 0x900000);
	fw_write(fx, PUMICE_PM_GROW, 20);
	fw_write(fx, PUMICE_PM_RELEASE, 0x900000);
	assert_int_equal(fw_read(fx, PUMICE_PM_ALLOCATED), 0);
	assert_int_equal(fw_read(fx, PUMICE_PM_FREED), 0);
	fx_destroy(fx);
}

static void limits_of_data_masters_are_independent(void **state)
{
	static const u32 limits[] = {
		PUMICE_PDS_CDM_TASKS, PUMICE_PDS_CDM_UNIFIED, PUMICE_PDS_CDM_COMMON,
		PUMICE_PDS_CDM_LOCAL, PUMICE_PDS_VDM_TASKS, PUMICE_PDS_VDM_UNIFIED,
		PUMICE_PDS_VDM_COMMON, PUMICE_PDS_PDM_TASKS, PUMICE_PDS_PDM_UNIFIED,
		PUMICE_PDS_PDM_COMMON,
	};
	struct fixture *fx = fx_create(NULL);
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		fw_write(fx, limits[i], i + 1);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		assert_int_equal(fw_read(fx, limits[i]), i + 1);
	fx_destroy(fx);
}

static void the_policy_of_the_dms_is_read_back(void **state)
{
	struct fixture *fx = fx_create(NULL);
	u32 policy;

	(void)state;
	for (policy = 0; policy < 8; policy++) {
		fw_write(fx, PUMICE_PDS_DMS_POLICY, policy | ~7u);	/* reserved bits are
									 * ignored */
		assert_int_equal(fw_read(fx, PUMICE_PDS_DMS_POLICY), policy);
	}
	assert_int_equal(fw_read(fx, PUMICE_PDS_CTRL), 1);	/* the others remain */
	fw_write(fx, PUMICE_PDS_DMS_WAITS(1), 7);		/* read-only */
	assert_int_equal(fw_read(fx, PUMICE_PDS_DMS_WAITS(1)), 0);
	fx_destroy(fx);
}

/* By halves, as the firmware does. */
static void fw_write64(struct fixture *fx, u32 offset, u64 value)
{
	fw_write(fx, offset + 4, (u32)(value >> 32));
	fw_write(fx, offset, (u32)value);
}

static void the_host_reads_which_job_each_data_master_has(void **state)
{
	static const struct {
		u32 stream, tag, ctx;
	} masters[] = {
		{ PUMICE_CDM_STREAM_BASE, PUMICE_CDM_TAG, PUMICE_CDM_MMU_CTX },
		{ PUMICE_VDM_STREAM_BASE, PUMICE_VDM_TAG, PUMICE_VDM_MMU_CTX },
		{ PUMICE_PDM_STREAM_BASE, PUMICE_PDM_TAG, PUMICE_PDM_MMU_CTX },
		{ PUMICE_TDM_STREAM_BASE, PUMICE_TDM_TAG, PUMICE_TDM_MMU_CTX },
	};
	struct fixture *fx = fx_create(NULL);
	u32 n;

	(void)state;
	for (n = 0; n < 4; n++) {
		fw_write64(fx, masters[n].stream, 0x1200000000 + n * 0x1000);
		fw_write64(fx, masters[n].tag, 0x8877665544332200 + n);
		fw_write(fx, masters[n].ctx, n + 3);
	}
	for (n = 0; n < 4; n++) {
		assert_int_equal(fx_read(fx, PUMICE_DBG_JOB_STREAM(n)),
				 0x1200000000 + n * 0x1000);
		assert_int_equal(fx_read(fx, PUMICE_DBG_JOB_TAG(n)), 0x8877665544332200 + n);
		assert_int_equal(fx_read(fx, PUMICE_DBG_JOB_CTX(n)), n + 3);
	}
	fx_destroy(fx);
}

/* A guest thread with accesses of random offset, value and size. */
struct vandal {
	struct fixture *fx;
	unsigned int seed;
};

static void *vandal_main(void *arg)
{
	struct vandal *v = arg;
	unsigned int i;

	for (i = 0; i < 20000; i++) {
		const struct pumice_reg_info *info =
			&pumice_reg_table[rand_r(&v->seed) % PUMICE_REG_TABLE_SIZE];
		u32 offset = info->offset + (u32)rand_r(&v->seed) % info->count * info->stride;
		unsigned int os = rand_r(&v->seed) % 10 ? 0 : (unsigned int)rand_r(&v->seed) % 10;
		unsigned int size = rand_r(&v->seed) % 10 ? info->bits / 8 :
							    (unsigned int)rand_r(&v->seed) % 17;
		u64 value = rand_r(&v->seed) % 2 ? (u64)rand_r(&v->seed) << 33 ^
							   (u64)rand_r(&v->seed) :
				    (u64)rand_r(&v->seed) % 4;

		if (rand_r(&v->seed) % 10 == 0)
			offset += (u32)rand_r(&v->seed) % 16;
		if (rand_r(&v->seed) % 1000 == 0) {
			offset = PUMICE_SYS_RESET;
			value = PUMICE_SYS_RESET_KEY;
			size = 4;
		}
		if (rand_r(&v->seed) % 2)
			pumice_gpu_mmio_read(v->fx->gpu, os, offset, size);
		else
			pumice_gpu_mmio_write(v->fx->gpu, os, offset, value, size);
	}
	return NULL;
}

static void no_sequence_of_accesses_keeps_a_reset_gpu_from_working(void **state)
{
	const struct job number = { .program = JOB_NUMBER, .group = 64, .groups = 100 };
	struct fixture *fx = fx_create(&(struct fx_options){ .cores = 2, .threads = 2 });
	struct vandal vandal[2] = { { fx, 1 }, { fx, 2 } };
	u32 *data = job_map(fx);
	pthread_t thread[2];
	unsigned int i;

	(void)state;
	fx_boot_proxy(fx);
	job_start(fx, &(struct job){ .program = JOB_TOUCH, .group = 64, .groups = 100 });
	for (i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, vandal_main, &vandal[i]), 0);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);

	fx_write(fx, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	/* A reset keeps the mode; in mode strict the CPU would see no store that is not cleaned. */
	fx_write(fx, PUMICE_SYS_MODE, PUMICE_MODE_FAST);
	fx_setup_mmu(fx);
	fx_boot_proxy(fx);
	assert_int_equal(job_run(fx, &number), PUMICE_IC_PENDING__CDM_DONE__MASK);
	for (i = 0; i < 6400; i++)
		assert_int_equal(data[i], job_number(i));
	fx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configuration_registers_contain_the_configuration),
		cmocka_unit_test(presets_have_the_sizes_of_the_documents),
		cmocka_unit_test(units_have_the_sizes_of_presets_and_properties),
		cmocka_unit_test(caches_have_the_sizes_of_document_004),
		cmocka_unit_test(the_largest_work_group_is_that_of_a_usc),
		cmocka_unit_test(a_property_overrides_its_size_only),
		cmocka_unit_test(each_active_page_has_its_own_doorbell_and_line),
		cmocka_unit_test(each_active_page_connects_by_itself),
		cmocka_unit_test(every_active_page_shows_the_identity_and_the_clock),
		cmocka_unit_test(pages_that_are_not_active_do_nothing),
		cmocka_unit_test(a_line_rises_when_a_cause_becomes_pending_and_enabled),
		cmocka_unit_test(the_firmware_reads_the_clock_in_halves_that_fit),
		cmocka_unit_test(the_clock_starts_at_creation_and_survives_reset),
		cmocka_unit_test(the_host_has_context_0_and_the_firmware_all),
		cmocka_unit_test(only_the_key_resets_and_only_from_the_host),
		cmocka_unit_test(an_unknown_invalidation_is_logged_and_ignored),
		cmocka_unit_test(a_data_master_reports_its_fault_to_firmware_and_host),
		cmocka_unit_test(abort_and_resume_of_an_idle_data_master_are_ignored),
		cmocka_unit_test(the_pm_adds_pages_up_to_the_maximum_of_a_list),
		cmocka_unit_test(limits_of_data_masters_are_independent),
		cmocka_unit_test(the_policy_of_the_dms_is_read_back),
		cmocka_unit_test(the_host_reads_which_job_each_data_master_has),
		cmocka_unit_test(no_sequence_of_accesses_keeps_a_reset_gpu_from_working),
	};

	return cmocka_run_group_tests_name("register behaviour", tests, NULL, NULL);
}
