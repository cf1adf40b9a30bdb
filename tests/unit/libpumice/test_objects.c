// SPDX-License-Identifier: MIT
/* Arguments of the library's calls: refused ones, and their messages. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice.h"
#include "pumice/pumice_gfx.h"
#include "perf.h"
#include "presets.h"
#include "pumice_formats.h"
#include "pumice_names.h"
#include "pumice_regs.h"

static struct pumice_device *dev;
static struct pumice_vm *vm;

#define ASSERT_FAILS(call, err, words) \
	do { \
		assert_int_equal(call, -(err)); \
		print_message("%s\n", pumice_device_error(dev)); \
		assert_non_null(strstr(pumice_device_error(dev), words)); \
	} while (0)

static int open_device(void **state)
{
	(void)state;
	return pumice_device_open("inproc:cores=1,threads=0,ram=64", &dev, NULL, 0) ||
	       pumice_vm_create(dev, &vm);
}

static int close_device(void **state)
{
	(void)state;
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}

/* Opening the device fails with an errno, and with a message that has these words. */
static void assert_not_opened(const char *name, int err, const char *words)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_device *d;

	assert_int_equal(pumice_device_open(name, &d, error, sizeof(error)), -err);
	print_message("%s\n", error);
	assert_non_null(strstr(error, words));
}

static void open_refuses_names_it_does_not_understand(void **state)
{
	static const struct {
		const char *name;
		int err;
		const char *words;
	} cases[] = {
		{ "vulkan", EINVAL, "no device is named 'vulkan'; accepted: drm, drm:NODE, inproc, "
		  "inproc:KEY=VALUE,…, pid:PID (pumice-top, pumice-trace)" },
		{ "inprocess", EINVAL, "no device is named" },
		{ "inproc:cores", EINVAL, "invalid option 'cores'" },
		{ "inproc:cores=", EINVAL, "invalid option" },
		{ "inproc:cores=-1", EINVAL, "invalid option" },
		{ "inproc:cores=4x", EINVAL, "invalid option 'cores=4x'; the value is a whole number" },
		{ "inproc:cores=4:threads=2", EINVAL, "write a comma between two keys" },
		{ "inproc:cores=99999999999", EINVAL, "invalid option" },
		{ "inproc:speed=1", EINVAL, "invalid option 'speed=1'" },
		{ "inproc:cors=4,threads=1", EINVAL,
		  "invalid option 'cors=4'; accepted: key=number,… of cores, uscs, slots, tasks, waves, batch, "
		  "threads, ram, unified-store-kib, common-store-kib, local-memory-kib, "
		  "slot-registers, vpm-kib, idx-fifo, chunk-fifo, tile-fifo, tsp-vertices, slc-kib, data-l1-bytes, "
		  "data-l2-bytes, texture-l1-bytes, texture-l2-bytes, slice-us, split, cdm-share, vdm-share, pdm-share, rdm-share, "
		  "job-timeout-ms, virtual-gpus, hold-us, attach; preset=NAME; late=early, data or poison; "
		  "mode=fast, counted or strict; "
		  "pixel-outputs=common or partition; dms-policy=NAME; fw-gdb=PATH" },
		{ "inproc:cores=17", EINVAL, "cores=17: cores must be 1 to 16" },
		{ "inproc:cores=0", EINVAL, "cores=0: cores must be 1 to 16" },
		{ "inproc:uscs=0", EINVAL, "uscs must be 1 to 4" },
		{ "inproc:slots=0", EINVAL, "slots must be 1 to 48" },
		{ "inproc:tasks=0", EINVAL, "tasks must be at least as many as slots" },
		{ "inproc:tasks=47", EINVAL, "tasks must be at least as many as slots, and at most 64" },
		{ "inproc:slots=8,tasks=65", EINVAL, "and at most 64" },
		{ "inproc:waves=0", EINVAL, "waves must be 1 to 192" },
		{ "inproc:batch=0", EINVAL, "batch must be 16, 32, 64, 96 or 128" },
		{ "inproc:unified-store-kib=0", EINVAL, "unified store must be 1 to 4095 KiB" },
		{ "inproc:common-store-kib=0", EINVAL, "common store must be 1 to 1023 KiB" },
		{ "inproc:local-memory-kib=0", EINVAL, "local memory must be 1 to 1023 KiB" },
		{ "inproc:preset=volcano", EINVAL,
		  "the preset must be default, volcanic, waves, sgx543mp4 or videocore4" },
		{ "inproc:preset=", EINVAL, "invalid option" },
		{ "inproc:preset=a-name-of-many-letters", EINVAL, "invalid option" },
		{ "inproc:pixel-outputs=store", EINVAL, "pixel-outputs must be common or partition" },
		{ "inproc:pixel-outputs=", EINVAL, "invalid option" },
		{ "inproc:pixel-outputs=common-or-partition", EINVAL, "invalid option" },
		{ "inproc:late=soon", EINVAL, "late must be early, data or poison" },
		{ "inproc:mode=slow", EINVAL, "mode must be fast, counted or strict" },
		{ "inproc:late=", EINVAL, "invalid option" },
		{ "inproc:late=poisonous", EINVAL, "invalid option" },
		{ "inproc:uscs=5", EINVAL, "uscs must be 1 to 4" },
		{ "inproc:waves=2", EINVAL, "a task of batch instances" },
		{ "inproc:batch=48", EINVAL, "batch must be 16, 32, 64, 96 or 128" },
		{ "inproc:vpm-kib=4097", EINVAL, "the vertex pipe memory must be 1 to 4096 KiB" },
		{ "inproc:idx-fifo=4097", EINVAL, "1 to 4096 primitives" },
		{ "inproc:chunk-fifo=5", EINVAL, "1 to 4 chunks" },
		{ "inproc:tile-fifo=65", EINVAL, "1 to 64" },
		{ "inproc:tsp-vertices=2048", EINVAL, "4 to 1024" },
		{ "inproc:tsp-vertices=2", EINVAL, "4 to 1024" },
		{ "inproc:tsp-vertices=96", EINVAL, "a power of two" },
		{ "inproc:slc-kib=8", EINVAL, "16 to 65536 KiB, a power of two" },
		{ "inproc:data-l2-bytes=0", EINVAL, "256 to 1048576 bytes, a power of two" },
		{ "inproc:texture-l2-bytes=2097152", EINVAL, "256 to 1048576 bytes" },
		{ "inproc:ram=0", EINVAL, "ram=0 is not 1 to 65536 MiB" },
		{ "inproc:ram=1000000", EINVAL, "ram=1000000 is not" },
		{ "inproc:slot-registers=9", EINVAL, "slot-registers=9 is not 0 to 8" },
		{ "inproc:slice-us=99", EINVAL, "slice-us=99 is not" },
		{ "inproc:slice-us=1000001", EINVAL, "slice-us=1000001 is not" },
		{ "inproc:cdm-share=256", EINVAL, "cdm-share=256 is not 0 to 255" },
		{ "inproc:vdm-share=1,pdm-share=4294967295", EINVAL, "pdm-share=4294967295 is not" },
		{ "inproc:rdm-share=256", EINVAL, "rdm-share=256 is not 0 to 255" },
		{ "inproc:local-memory-kib=x", EINVAL, "invalid option" },
		{ "drm:/dev/null", ENODEV, "/dev/null" },
		{ "drm:/missing", ENOENT, "/missing" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_not_opened(cases[i].name, cases[i].err, cases[i].words);
}

static void open_refuses_policies_that_have_no_name(void **state)
{
	static const struct {
		const char *name, *words;
	} cases[] = {
		{ "inproc:dms-policy=cdm", "dms-policy=cdm is not graphics, round-robin, or an order "
					   "such as cdm-vdm-pdm" },
		{ "inproc:dms-policy=unknown", "dms-policy=unknown is not graphics" },
		{ "inproc:dms-policy=0", "dms-policy=0 is not graphics" },
		{ "inproc:dms-policy=", "invalid option" },
		{ "inproc:dms-policy=cdm-vdm-pdm-rdm-tdm", "invalid option" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_not_opened(cases[i].name, EINVAL, cases[i].words);
}

static void open_reads_the_name_from_the_environment(void **state)
{
	struct pumice_device_info info;
	struct pumice_device *d;

	(void)state;
	setenv("PUMICE_DEVICE", "inproc:cores=2,threads=1,ram=16", 1);
	assert_int_equal(pumice_device_open(NULL, &d, NULL, 0), 0);
	unsetenv("PUMICE_DEVICE");
	pumice_device_info(d, &info);
	assert_int_equal(info.cores, 2);
	assert_string_equal(info.backend, "inproc");
	assert_true(strlen(info.fw_build_id) > 0);
	pumice_device_close(d);
}

/* Give a variable its value from before again. */
static void restore_variable(const char *name, char *kept)
{
	if (kept)
		setenv(name, kept, 1);
	else
		unsetenv(name);
	free(kept);
}

/* Tests run with values of their own: they are set again. */
static void open_reads_words_from_the_environment_unless_a_key_sets_them(void **state)
{
	static const struct {
		const char *variable, *bad, *message, *device;
	} cases[] = {
		{ "PUMICE_LATE", "never",
		  "PUMICE_LATE=never: late must be early, data or poison; correct or unset this "
		  "variable of the environment", "inproc:ram=16,late=data" },
		{ "PUMICE_MODE", "slow",
		  "PUMICE_MODE=slow: mode must be fast, counted or strict; correct or unset this "
		  "variable of the environment", "inproc:ram=16,mode=counted" },
		{ "PUMICE_PRESET", "volcano",
		  "PUMICE_PRESET=volcano: the preset must be default, volcanic, waves, sgx543mp4 or "
		  "videocore4; correct or unset this variable of the environment",
		  "inproc:ram=16,preset=waves" },
	};
	char error[PUMICE_ERROR_BYTES];
	struct pumice_device *d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *given = getenv(cases[i].variable);
		char *kept = given ? strdup(given) : NULL;

		setenv(cases[i].variable, cases[i].bad, 1);
		assert_int_equal(pumice_device_open("inproc:ram=16", &d, error, sizeof(error)),
				 -EINVAL);
		assert_string_equal(error, cases[i].message);
		assert_int_equal(pumice_device_open(cases[i].device, &d, NULL, 0), 0);
		pumice_device_close(d);
		setenv(cases[i].variable, "", 1);
		assert_int_equal(pumice_device_open("inproc:ram=16", &d, NULL, 0), 0);
		pumice_device_close(d);
		restore_variable(cases[i].variable, kept);
	}
}

static void read_sizes(const char *name, struct pumice_device_info *info,
		       struct pumice_device_limits *limits)
{
	struct pumice_device *d;

	assert_int_equal(pumice_device_open(name, &d, NULL, 0), 0);
	assert_int_equal(pumice_device_info(d, info), 0);
	assert_int_equal(pumice_device_limits(d, limits, sizeof(*limits)), 0);
	pumice_device_close(d);
}

/* The sizes of a preset, in the units of hw/presets.h. */
struct sizes {
	u32 cores, uscs, slots, tasks, waves, batch, unified_kib, common_kib, local_kib,
	    slot_registers, vpm_kib, idx, chunks, tiles;
	const char *outputs;
	u32 tsp;
};

#define SIZES_OF(preset, cores, uscs, slots, tasks, waves, batch, unified, common, local, \
		 slot_registers, vpm, idx, chunks, tiles, outputs, tsp) \
	[PUMICE_PRESET_##preset] = { cores, uscs, slots, tasks, waves, batch, unified, common, \
				     local, slot_registers, vpm, idx, chunks, tiles, #outputs, \
				     tsp },

static void check_sizes(const struct pumice_device_info *info,
			const struct pumice_device_limits *limits, const struct sizes *want)
{
	const u32 lanes = want->waves * PUMICE_LANES;

	assert_int_equal(info->cores, want->cores);
	assert_int_equal(info->uscs_per_core, want->uscs);
	assert_int_equal(info->slots_per_usc, want->slots);
	assert_int_equal(info->unified_bytes, want->unified_kib << 10);
	assert_int_equal(info->common_bytes, want->common_kib << 10);
	assert_int_equal(info->local_bytes, want->local_kib << 10);
	assert_int_equal(info->max_group_instances,
			 lanes < PUMICE_GROUP_INSTANCES ? lanes : PUMICE_GROUP_INSTANCES);
	assert_int_equal(limits->slot_registers, want->slot_registers);
	assert_int_equal(limits->internal_registers, PUMICE_USC_OWN_REGS - want->slot_registers);
	assert_int_equal(limits->waves_per_usc, want->waves);
	assert_int_equal(limits->batch, want->batch);
	assert_int_equal(limits->tasks_per_usc, want->tasks);
	assert_string_equal(pumice_output_store_str(limits->pixel_outputs), want->outputs);
	assert_int_equal(limits->vpm_bytes, want->vpm_kib << 10);
	assert_int_equal(limits->idx_fifo, want->idx);
	assert_int_equal(limits->chunk_fifo, want->chunks);
	assert_int_equal(limits->tile_fifo, want->tiles);
	assert_int_equal(limits->tsp_vertices, want->tsp);
	assert_int_equal(limits->tcus_per_spu, want->uscs);
}

#define CACHES_OF(preset, slc, ...) [PUMICE_PRESET_##preset] = { (slc) << 10, __VA_ARGS__ },

static void preset_sets_every_size(void **state)
{
	static const struct sizes presets[] = { PUMICE_PRESETS(SIZES_OF) };
	static const u32 caches[][PUMICE_CACHE_COUNT] = { PUMICE_PRESET_CACHES(CACHES_OF) };
	struct pumice_device_limits limits;
	struct pumice_device_info info;
	char name[64];
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
		snprintf(name, sizeof(name), "inproc:ram=16,preset=%s", pumice_preset_str(i));
		read_sizes(name, &info, &limits);
		assert_int_equal(limits.preset, i);
		check_sizes(&info, &limits, &presets[i]);
		assert_memory_equal(limits.cache_bytes, caches[i], sizeof(caches[i]));
	}
}

/* The variable selects all sizes; a key overrides one of them. */
static void preset_of_the_environment_selects_the_sizes(void **state)
{
	const char *given = getenv("PUMICE_PRESET");
	char *kept = given ? strdup(given) : NULL;
	struct pumice_device_limits named_limits, limits;
	struct pumice_device_info named, info;

	(void)state;
	read_sizes("inproc:ram=16,preset=waves,uscs=3", &named, &named_limits);
	setenv("PUMICE_PRESET", "waves", 1);
	read_sizes("inproc:ram=16,uscs=3", &info, &limits);
	restore_variable("PUMICE_PRESET", kept);
	assert_int_equal(limits.preset, PUMICE_PRESET_WAVES);
	assert_int_equal(info.cores, 16);
	assert_int_equal(info.uscs_per_core, 3);
	assert_memory_equal(&limits, &named_limits, sizeof(limits));
}

static void open_refuses_a_missing_or_corrupt_firmware(void **state)
{
	const char *good = getenv("PUMICE_FIRMWARE");
	char *kept = good ? strdup(good) : NULL, error[PUMICE_ERROR_BYTES];
	struct pumice_device *d;

	(void)state;
	setenv("PUMICE_FIRMWARE", "/missing.bin", 1);
	assert_int_equal(pumice_device_open("inproc", &d, error, sizeof(error)), -ENOENT);
	assert_non_null(strstr(error, "/missing.bin"));
	setenv("PUMICE_FIRMWARE", "/dev/zero", 1);
	assert_int_equal(pumice_device_open("inproc", &d, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "not a firmware file"));
	setenv("PUMICE_FIRMWARE", "/dev/null", 1);
	assert_int_equal(pumice_device_open("inproc", &d, error, sizeof(error)), -EINVAL);
	assert_non_null(strstr(error, "truncated file"));
	restore_variable("PUMICE_FIRMWARE", kept);
}

/* Flags: unknown ones, and both together. */
static void flags_of_memory_are_checked(void **state)
{
	struct pumice_bo *bo;
	u32 flags;

	(void)state;
	for (flags = 4; flags; flags <<= 1)
		ASSERT_FAILS(pumice_bo_create_flags(dev, 4096, NULL, flags, &bo), EINVAL,
			     "unknown flags");
	ASSERT_FAILS(pumice_bo_create_flags(dev, 4096, NULL, PUMICE_BO_COHERENT |
					    PUMICE_BO_WRITE_COMBINED, &bo), EINVAL, "exclude each other");
	for (flags = 0; flags < 3; flags++) {
		assert_int_equal(pumice_bo_create_flags(dev, 4096, NULL, flags, &bo), 0);
		pumice_bo_destroy(bo);
	}
}

static void bo_is_zeroed_and_rounded_to_pages(void **state)
{
	struct pumice_bo *bo;
	uint64_t *cpu;
	void *p;
	int round, i;

	(void)state;
	ASSERT_FAILS(pumice_bo_create(dev, 0, NULL, &bo), EINVAL, "size is 0");
	ASSERT_FAILS(pumice_bo_create(dev, UINT64_MAX, NULL, &bo), ENOMEM, "size");
	ASSERT_FAILS(pumice_bo_create(dev, 1ull << 40, NULL, &bo), ENOMEM, "GPU memory");
	for (round = 0; round < 2; round++) {
		assert_int_equal(pumice_bo_create(dev, 5000, NULL, &bo), 0);
		assert_int_equal(pumice_bo_size(bo), 8192);
		assert_int_equal(pumice_bo_map(bo, &p), 0);
		cpu = p;
		for (i = 0; i < 1024; i++)
			assert_int_equal(cpu[i], 0);
		memset(p, 0xff, 8192);
		pumice_bo_destroy(bo);
	}
}

static void bind_refuses_bad_operations_and_returns_how_many_took_effect(void **state)
{
	struct pumice_bo *bo;
	uint32_t done;
	size_t i;

	(void)state;
	assert_int_equal(pumice_bo_create(dev, 65536, NULL, &bo), 0);
	const struct {
		struct pumice_bind op;
		const char *words;
	} cases[] = {
		{ { bo, 0, 0x1000001, 4096, 0 }, "0x1000001 is not a multiple of a page" },
		{ { bo, 0, 0x1000000, 100, 0 }, "size 0x64 is not one or more pages" },
		{ { bo, 0, 0x1000000, 0, 0 }, "size 0 is not one or more pages" },
		{ { bo, 100, 0x1000000, 4096, 0 }, "bo_offset 0x64 is not a multiple of a page" },
		{ { bo, 65536, 0x1000000, 4096, 0 }, "is not within the bo" },
		{ { bo, 4096, 0x1000000, 65536, 0 }, "is not within the bo" },
		{ { bo, 0, 0x1000000, UINT64_MAX - 4095, 0 }, "is not within the bo" },
		{ { bo, 0, 0, 4096, 0 }, "is not within 0x200000 to 0xdfffffffff" },
		{ { bo, 0, (1ull << 40) - 4096, 8192, 0 }, "is not within 0x200000 to 0xdfffffffff" },
		{ { bo, 0, 1ull << 40, 4096, 0 }, "is not within 0x200000 to 0xdfffffffff" },
		{ { bo, 0, 0x1000000, 4096, 4 }, "UNMAP_ALL takes no bo" },
		{ { NULL, 0, 0x1000000, 4096, 1 }, "flags 0x1 need a bo" },
		{ { NULL, 4096, 0x1000000, 4096, 0 }, "bo_offset 0x1000 without a bo" },
		{ { NULL, 0, 0x1000000, UINT64_MAX - 4095, 0 }, "is not within 0x200000 to 0xdfffffffff" },
	};
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pumice_bind ops[2] = {
			{ .bo = bo, .va = 0x1000000, .size = 4096 }, cases[i].op,
		};

		ASSERT_FAILS(pumice_vm_bind(vm, ops, 2, &done), EINVAL, cases[i].words);
		assert_int_equal(done, 1);
	}
	ASSERT_FAILS(pumice_vm_bind(vm, NULL, 4097, &done), E2BIG, "4097");
	assert_int_equal(pumice_vm_bind(vm, NULL, 0, &done), 0);
	pumice_bo_destroy(bo);
}

/* In ascending order of addresses and page sizes, without gaps. */
static void heaps_have_every_page_size_and_do_not_overlap(void **state)
{
	struct pumice_device_limits limits;
	struct pumice_device_info info;
	uint64_t next, sizes = 0;
	uint32_t i;

	(void)state;
	assert_int_equal(pumice_device_limits(dev, &limits, sizeof(limits)), 0);
	assert_int_equal(pumice_device_info(dev, &info), 0);
	assert_int_equal(limits.heap_count, 6);
	next = info.va_start;
	for (i = 0; i < limits.heap_count; i++) {
		assert_int_equal(limits.heaps[i].start, next);
		assert_int_equal(limits.heaps[i].size % limits.heaps[i].page_bytes, 0);
		assert_true(limits.heaps[i].page_bytes > sizes);
		next += limits.heaps[i].size;
		sizes |= limits.heaps[i].page_bytes;
	}
	assert_int_equal(sizes, info.page_sizes);
	assert_int_equal(limits.heaps[0].size, info.va_end - info.va_start);
}

static void operations_in_heaps_consist_of_whole_pages(void **state)
{
	struct pumice_device_limits limits;
	struct pumice_bo *bo;
	uint32_t i, k;

	(void)state;
	assert_int_equal(pumice_device_limits(dev, &limits, sizeof(limits)), 0);
	assert_int_equal(pumice_bo_create(dev, 4 << 20, NULL, &bo), 0);
	for (i = 1; i < limits.heap_count; i++) {
		const uint64_t va = limits.heaps[i].start, page = limits.heaps[i].page_bytes;
		const struct {
			struct pumice_bind op;
			const char *words;
		} cases[] = {
			{ { bo, 0, va, 4096, 0 }, "are not multiples of the heap's pages" },
			{ { bo, 0, va + 4096, page, 0 }, "are not multiples of the heap's pages" },
			{ { bo, 4096, va, page, 0 }, "are not multiples of the heap's pages" },
			{ { bo, 0, va - page, 2 * page, 0 }, "is in two heaps" },
			{ { NULL, 0, va, 4096, PUMICE_BIND_NULL }, "are not multiples" },
			{ { NULL, 0, va, 4096, 0 }, "are not multiples" },
			{ { bo, 0, va, page, PUMICE_PLACE_LARGE }, "unknown flags 0x10" },
		};
		const struct pumice_bind good = { .bo = bo, .va = va, .size = 2 * page };
		const struct pumice_bind part = { .va = va + page, .size = page };

		for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			ASSERT_FAILS(pumice_vm_bind(vm, &cases[k].op, 1, NULL), EINVAL,
				     cases[k].words);
		assert_int_equal(pumice_vm_bind(vm, &good, 1, NULL), 0);
		assert_int_equal(pumice_vm_bind(vm, &part, 1, NULL), 0);
	}
	pumice_bo_destroy(bo);
}

/* The heap of the largest pages of which the size is a multiple, with a page after it. */
static void place_large_uses_the_heap_that_fits_the_size(void **state)
{
	static const struct {
		uint64_t bytes;
		uint32_t heap;
	} cases[] = {
		{ 4096, 0 }, { 12288, 0 }, { 16384, 1 }, { 3 * 16384, 1 }, { 1 << 16, 2 },
		{ 1 << 18, 3 }, { 5 << 18, 3 }, { 1 << 20, 4 }, { 2 << 20, 5 }, { 4 << 20, 5 },
	};
	struct pumice_device_limits limits;
	struct pumice_bo *bo;
	uint64_t va, next;
	size_t i;

	(void)state;
	assert_int_equal(pumice_device_limits(dev, &limits, sizeof(limits)), 0);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct pumice_heap *heap = &limits.heaps[cases[i].heap];

		assert_int_equal(pumice_bo_create(dev, cases[i].bytes, NULL, &bo), 0);
		assert_int_equal(pumice_vm_place(vm, bo, PUMICE_PLACE_LARGE, &va), 0);
		assert_true(va >= heap->start && va - heap->start < heap->size);
		assert_int_equal(va % heap->page_bytes, 0);
		assert_int_equal(pumice_vm_place(vm, bo, PUMICE_PLACE_LARGE, &next), 0);
		assert_int_equal(next, va + cases[i].bytes + heap->page_bytes);
		assert_int_equal(pumice_vm_remove(vm, va), 0);
		assert_int_equal(pumice_vm_remove(vm, next), 0);
		assert_int_equal(pumice_vm_place(vm, bo, 0, &va), 0);
		assert_true(va < limits.heaps[1].start);
		assert_int_equal(pumice_vm_remove(vm, va), 0);
		pumice_bo_destroy(bo);
	}
}

static void va_alloc_returns_disjoint_aligned_ranges_and_frees_them(void **state)
{
	uint64_t a, b, c, again;

	(void)state;
	ASSERT_FAILS(pumice_vm_va_alloc(vm, 0, 0, &a), EINVAL, "size 0 is not 1 to");
	ASSERT_FAILS(pumice_vm_va_alloc(vm, 4096, 3000, &a), EINVAL, "align 0xbb8 is not 0 or a power");
	ASSERT_FAILS(pumice_vm_va_alloc(vm, 1ull << 39, 0, &a), ENOMEM, "no free addresses");
	assert_int_equal(pumice_vm_va_alloc(vm, 5000, 0, &a), 0);
	assert_int_equal(pumice_vm_va_alloc(vm, 3 << 20, 0, &b), 0);
	assert_int_equal(pumice_vm_va_alloc(vm, 4096, 1ull << 30, &c), 0);
	assert_int_equal(a % 4096, 0);
	assert_int_equal(b % (2 << 20), 0);
	assert_int_equal(c % (1ull << 30), 0);
	assert_true(a + 8192 <= b || b + (3 << 20) <= a);
	pumice_vm_va_free(vm, a);
	assert_int_equal(pumice_vm_va_alloc(vm, 8192, 0, &again), 0);
	assert_int_equal(again, a);
	pumice_vm_va_free(vm, again);
	pumice_vm_va_free(vm, b);
	pumice_vm_va_free(vm, c);
	ASSERT_FAILS(pumice_vm_remove(vm, b), EINVAL, "did not return address");
}

static void freed_va_ranges_are_merged(void **state)
{
	uint64_t a, b, both;

	(void)state;
	assert_int_equal(pumice_vm_va_alloc(vm, 8192, 4096, &a), 0);
	assert_int_equal(pumice_vm_va_alloc(vm, 8192, 4096, &b), 0);
	assert_int_equal(b, a + 8192);
	pumice_vm_va_free(vm, a);
	pumice_vm_va_free(vm, b);
	assert_int_equal(pumice_vm_va_alloc(vm, 16384, 4096, &both), 0);
	assert_int_equal(both, a);
	pumice_vm_va_free(vm, both);
}

static void submit_refuses_bad_jobs_and_returns_their_index(void **state)
{
	struct pumice_job jobs[65] = { 0 };
	struct pumice_context *context;
	struct pumice_sync *sync;
	struct pumice_job_sync wait = { 0 };
	uint32_t failed;

	(void)state;
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_sync_create(dev, 0, &sync), 0);
	wait.sync = sync;
	jobs[0].context = jobs[1].context = context;
	jobs[1].stream = 2;
	ASSERT_FAILS(pumice_submit(dev, jobs, 2, &failed), EINVAL, "job 1: stream 0x2");
	assert_int_equal(failed, 1);
	jobs[1].stream = 0;
	ASSERT_FAILS(pumice_submit(dev, jobs, 2, &failed), EINVAL, "job 0: stream is 0; set it to the "
		     "address of pumice_stream_end()");
	assert_int_equal(failed, 0);
	jobs[0].stream = jobs[1].stream = 4;
	jobs[1].syncs = &wait;
	jobs[1].sync_count = 1;
	ASSERT_FAILS(pumice_submit(dev, jobs, 2, &failed), EINVAL, "job 1: no job or bind signals");
	assert_int_equal(failed, 1);
	jobs[1].sync_count = 257;
	ASSERT_FAILS(pumice_submit(dev, jobs, 2, &failed), E2BIG, "257 syncs");
	ASSERT_FAILS(pumice_submit(dev, jobs, 65, &failed), E2BIG, "65 jobs");
	jobs[1].context = NULL;
	ASSERT_FAILS(pumice_submit(dev, jobs, 2, &failed), EINVAL, "job 1: context is NULL");
	assert_int_equal(pumice_submit(dev, NULL, 0, &failed), 0);
	pumice_sync_destroy(sync);
	pumice_context_destroy(context);
	ASSERT_FAILS(pumice_context_create(vm, 3, &context), EINVAL, "priority 3");
}

static void sync_binary_and_timeline_behave_as_syncobjs(void **state)
{
	struct pumice_sync *sync;
	struct pumice_wait wait = { 0 };
	uint64_t point;

	(void)state;
	ASSERT_FAILS(pumice_sync_create(dev, 2, &sync), EINVAL, "unknown flags");
	assert_int_equal(pumice_sync_create(dev, 0, &sync), 0);
	wait.sync = sync;
	ASSERT_FAILS(pumice_sync_wait(&wait, 1, 0, 0), EINVAL, "no job or bind signals");
	ASSERT_FAILS(pumice_sync_wait(&wait, 1, PUMICE_WAIT_SUBMIT, 0), ETIME, "timed out");
	assert_int_equal(pumice_sync_signal(sync, 0), 0);
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, 0), 0);
	assert_int_equal(pumice_sync_reset(sync), 0);
	ASSERT_FAILS(pumice_sync_wait(&wait, 1, 0, 0), EINVAL, "no job or bind signals");

	wait.point = 5;
	ASSERT_FAILS(pumice_sync_wait(&wait, 1, 0, 0), EINVAL, "no job or bind signals");
	assert_int_equal(pumice_sync_signal(sync, 3), 0);
	assert_int_equal(pumice_sync_query(sync, &point), 0);
	assert_int_equal(point, 3);
	ASSERT_FAILS(pumice_sync_wait(&wait, 1, 0, 0), EINVAL, "no job or bind signals");
	assert_int_equal(pumice_sync_signal(sync, 7), 0);
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, 0), 0);
	assert_int_equal(pumice_sync_signal(sync, 4), 0);
	assert_int_equal(pumice_sync_query(sync, &point), 0);
	assert_int_equal(point, 7);
	pumice_sync_destroy(sync);
	assert_int_equal(pumice_sync_create(dev, PUMICE_SYNC_SIGNALED, &sync), 0);
	wait = (struct pumice_wait){ sync, 0 };
	assert_int_equal(pumice_sync_wait(&wait, 1, 0, 0), 0);
	pumice_sync_destroy(sync);
}

static void limits_depend_on_the_options_and_the_requested_size(void **state)
{
	static const struct {
		const char *name;
		uint32_t slot, internal, outputs;
	} cases[] = {
		{ "inproc:cores=1,threads=0,ram=16", 4, 4, PUMICE_OUTPUT_STORE_COMMON },
		{ "inproc:cores=1,threads=0,ram=16,slot-registers=0,pixel-outputs=partition", 0, 8,
		  PUMICE_OUTPUT_STORE_PARTITION },
		{ "inproc:cores=1,threads=0,ram=16,slot-registers=8,slice-us=500,preset=sgx543mp4",
		  8, 0, PUMICE_OUTPUT_STORE_PARTITION },
		{ "inproc:threads=0,ram=16,preset=sgx543mp4,pixel-outputs=common", 4, 4,
		  PUMICE_OUTPUT_STORE_COMMON },
	};
	struct pumice_device_limits limits;
	struct pumice_device *d;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		assert_int_equal(pumice_device_open(cases[i].name, &d, NULL, 0), 0);
		assert_int_equal(pumice_device_limits(d, &limits, sizeof(limits)), 0);
		assert_int_equal(limits.pixel_outputs, cases[i].outputs);
		assert_int_equal(limits.slot_registers, cases[i].slot);
		assert_int_equal(limits.internal_registers, cases[i].internal);
		assert_int_equal(limits.perf_counters, PUMICE_PERF_NUMBER);
		limits.internal_registers = 77;
		assert_int_equal(pumice_device_limits(d, &limits, 4), 0);
		assert_int_equal(limits.internal_registers, 77);
		pumice_device_close(d);
	}
}

/* Open a device by name and compare its caches. */
static void assert_caches(const char *name, const uint32_t bytes[PUMICE_CACHE_COUNT])
{
	struct pumice_device_limits limits;
	struct pumice_device *d;

	assert_int_equal(pumice_device_open(name, &d, NULL, 0), 0);
	assert_int_equal(pumice_device_limits(d, &limits, sizeof(limits)), 0);
	for (uint32_t n = 0; n < PUMICE_CACHE_COUNT; n++)
		assert_int_equal(limits.cache_bytes[n], bytes[n]);
	pumice_device_close(d);
}

/* Those that the name does not have are of the preset. */
static void caches_have_the_sizes_given_by_the_name(void **state)
{
	static const uint32_t first[] = {
		[PUMICE_CACHE_SLC] = 1 << 20, [PUMICE_CACHE_DATA_L1] = 1024,
		[PUMICE_CACHE_DATA_L2] = 4096, [PUMICE_CACHE_TEXTURE_L1] = 2048,
		[PUMICE_CACHE_TEXTURE_L2] = 16384,
	};
	static const uint32_t second[] = {
		[PUMICE_CACHE_SLC] = 64 << 10, [PUMICE_CACHE_DATA_L1] = 2048,
		[PUMICE_CACHE_DATA_L2] = 512, [PUMICE_CACHE_TEXTURE_L1] = 1 << 20,
		[PUMICE_CACHE_TEXTURE_L2] = 32768,
	};

	(void)state;
	assert_caches("inproc:threads=0,ram=16,preset=videocore4,slc-kib=1024,"
		      "data-l1-bytes=1024,texture-l2-bytes=16384", first);
	assert_caches("inproc:threads=0,ram=16,preset=videocore4,"
		      "data-l2-bytes=512,texture-l1-bytes=1048576", second);
}

static void units_have_the_sizes_given_by_the_name(void **state)
{
	struct pumice_device_limits limits;
	struct pumice_device *d;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,uscs=3,threads=0,ram=16,vpm-kib=4096,"
					    "idx-fifo=4095,chunk-fifo=3,tile-fifo=64,"
					    "tsp-vertices=1024", &d, NULL, 0), 0);
	assert_int_equal(pumice_device_limits(d, &limits, sizeof(limits)), 0);
	assert_int_equal(limits.vpm_bytes, 4096 << 10);
	assert_int_equal(limits.idx_fifo, 4095);
	assert_int_equal(limits.chunk_fifo, 3);
	assert_int_equal(limits.tile_fifo, 64);
	assert_int_equal(limits.tsp_vertices, 1024);
	assert_int_equal(limits.tcus_per_spu, 3);
	pumice_device_close(d);
}

static void stores_have_the_sizes_given_by_the_name(void **state)
{
	struct pumice_device_info info;
	struct pumice_device *d;

	(void)state;
	assert_int_equal(pumice_device_open("inproc:cores=1,threads=0,ram=16,"
					    "unified-store-kib=256,common-store-kib=32,"
					    "local-memory-kib=16", &d, NULL, 0), 0);
	assert_int_equal(pumice_device_info(d, &info), 0);
	assert_int_equal(info.unified_bytes, 256 << 10);
	assert_int_equal(info.common_bytes, 32 << 10);
	assert_int_equal(info.local_bytes, 16 << 10);
	pumice_device_close(d);
}

static void a_label_is_kept_until_the_next_and_has_a_maximum_length(void **state)
{
	char text[PUMICE_LABEL_BYTES + 1];
	struct pumice_bo *bo;

	(void)state;
	memset(text, 'x', sizeof(text));
	text[PUMICE_LABEL_BYTES] = '\0';
	assert_int_equal(pumice_bo_create(dev, 4096, NULL, &bo), 0);
	assert_string_equal(pumice_bo_label(bo), "");
	ASSERT_FAILS(pumice_bo_set_label(bo, text), E2BIG, "65 bytes");
	text[PUMICE_LABEL_BYTES - 1] = '\0';
	assert_int_equal(pumice_bo_set_label(bo, text), 0);
	assert_string_equal(pumice_bo_label(bo), text);
	assert_int_equal(pumice_bo_set_label(bo, "b"), 0);
	assert_string_equal(pumice_bo_label(bo), "b");
	assert_int_equal(pumice_bo_set_label(bo, NULL), 0);
	assert_string_equal(pumice_bo_label(bo), "");
	pumice_bo_destroy(bo);
}

static void priority_of_a_context_can_be_changed_to_one_that_exists(void **state)
{
	static const enum pumice_context_type types[] = {
		PUMICE_CONTEXT_COMPUTE, PUMICE_CONTEXT_RENDER, PUMICE_CONTEXT_TRANSFER,
		PUMICE_CONTEXT_RAYS,
	};
	struct pumice_context *context;
	struct pumice_vm *vm;
	unsigned int i;

	(void)state;
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(pumice_context_create_type(vm, types[i], PUMICE_PRIORITY_LOW,
							    &context), 0);
		assert_int_equal(pumice_context_set_priority(context, PUMICE_PRIORITY_HIGH), 0);
		assert_int_equal(pumice_context_set_priority(context, PUMICE_PRIORITY_NORMAL), 0);
		ASSERT_FAILS(pumice_context_set_priority(context, (enum pumice_priority)3), EINVAL,
			     "unknown priority 3");
		pumice_context_destroy(context);
	}
	pumice_vm_destroy(vm);
}

static void killed_contexts_are_counted_as_guilty(void **state)
{
	struct pumice_device_resets before, after;
	struct pumice_context *context;
	struct pumice_vm *vm;

	(void)state;
	assert_int_equal(pumice_device_get_resets(dev, &before, sizeof(before)), 0);
	assert_int_equal(pumice_vm_create(dev, &vm), 0);
	assert_int_equal(pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context), 0);
	assert_int_equal(pumice_context_kill(context), 0);
	assert_int_equal(pumice_context_kill(context), 0);
	pumice_context_destroy(context);
	pumice_vm_destroy(vm);
	assert_int_equal(pumice_device_get_resets(dev, &after, sizeof(after)), 0);
	assert_int_equal(after.guilty, before.guilty + 1);
	assert_int_equal(after.innocent, before.innocent);
	assert_int_equal(after.resets, 0);
	assert_int_equal(after.flags | after.pad, 0);
}

static void memory_of_a_process_is_retained(void **state)
{
	struct pumice_bo *bo;
	bool retained = false;

	(void)state;
	assert_int_equal(pumice_bo_create(dev, 4096, NULL, &bo), 0);
	assert_int_equal(pumice_bo_madvise(bo, PUMICE_BO_DONTNEED, NULL), 0);
	assert_int_equal(pumice_bo_madvise(bo, PUMICE_BO_WILLNEED, &retained), 0);
	assert_true(retained);
	ASSERT_FAILS(pumice_bo_madvise(bo, 2, &retained), EINVAL, "unknown advice 2");
	pumice_bo_destroy(bo);
}

static void counters_have_descriptions(void **state)
{
	struct pumice_perf_info info;
	uint32_t i, found;

	(void)state;
	for (i = 0; i < PUMICE_PERF_NUMBER; i++) {
		assert_int_equal(pumice_perf_counter_get(dev, i, &info), 0);
		assert_true(info.name[0] && info.category[0]);
		assert_true(info.unit[0] && info.description[0]);
		assert_int_equal(pumice_perf_counter_find(dev, info.name, &found), 0);
		assert_int_equal(found, i);
	}
	assert_int_equal(pumice_perf_counter_find(dev, "usc_local_conflicts", &found), 0);
	assert_int_equal(found, PUMICE_PERF_USC_LOCAL_CONFLICTS);
	assert_int_equal(pumice_perf_counter_get(dev, found, &info), 0);
	assert_int_equal(info.flags, PUMICE_PERF_DETAILED | PUMICE_PERF_GLOBAL);
	ASSERT_FAILS(pumice_perf_counter_get(dev, i, &info), ENOENT, "unknown counter");
	ASSERT_FAILS(pumice_perf_counter_find(dev, "tea", &found), ENOENT, "'tea'");
}

static void perfmons_are_checked_and_limited(void **state)
{
	uint32_t counters[PUMICE_MAX_PERF_COUNTERS + 1] = { 0 };
	struct pumice_perfmon *pm[17];
	uint64_t values[2];
	int i;

	(void)state;
	ASSERT_FAILS(pumice_perfmon_create(dev, counters, 0, &pm[0]), EINVAL, "count is 0; name 1 to 32");
	ASSERT_FAILS(pumice_perfmon_create(dev, counters, 33, &pm[0]), E2BIG, "33 counters");
	counters[1] = PUMICE_PERF_NUMBER;
	ASSERT_FAILS(pumice_perfmon_create(dev, counters, 2, &pm[0]), EINVAL, "unknown counter");
	for (i = 0; i < 16; i++)
		assert_int_equal(pumice_perfmon_create(dev, counters, 1, &pm[i]), 0);
	ASSERT_FAILS(pumice_perfmon_create(dev, counters, 1, &pm[16]), ENOSPC, "all 16 monitors");
	ASSERT_FAILS(pumice_perfmon_read(pm[0], 2, values), EINVAL, "unknown flags");
	pumice_perfmon_destroy(pm[3]);
	assert_int_equal(pumice_perfmon_create(dev, counters, 1, &pm[3]), 0);
	for (i = 0; i < 16; i++)
		pumice_perfmon_destroy(pm[i]);
	pumice_perfmon_destroy(NULL);
}

static void a_trace_is_checked_and_there_is_one_only(void **state)
{
	struct pumice_trace *trace, *other;

	(void)state;
	ASSERT_FAILS(pumice_trace_open(dev, 0, 64, &trace), EINVAL, "kinds is 0");
	ASSERT_FAILS(pumice_trace_open(dev, 2, 100, &trace), EINVAL, "power of two");
	ASSERT_FAILS(pumice_trace_open(dev, 2, 1, &trace), EINVAL, "power of two");
	ASSERT_FAILS(pumice_trace_open(dev, 2, 2u << 20, &trace), EINVAL, "power of two");
	assert_int_equal(pumice_trace_open(dev, 2, 64, &trace), 0);
	ASSERT_FAILS(pumice_trace_open(dev, 2, 64, &other), EBUSY, "another trace");
	pumice_trace_close(trace);
	pumice_trace_close(NULL);
	assert_int_equal(pumice_trace_open(dev, 2, 64, &trace), 0);
	pumice_trace_close(trace);
	assert_string_equal(pumice_event_name(PUMICE_EVENT_JOB_END), "job-end");
}

static void names_are_those_of_the_contract(void **state)
{
	(void)state;
	assert_string_equal(pumice_fault_name(PUMICE_FAULT_MMU_PT_INVALID), "mmu-pt-invalid");
	assert_string_equal(pumice_fault_name(0), "none");
	assert_string_equal(pumice_fault_name(255), "unknown");
	assert_string_equal(pumice_unit_name(PUMICE_UNIT_USC_DATA), "usc-data");
	assert_string_equal(pumice_access_name(PUMICE_ACCESS_WRITE), "write");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_refuses_names_it_does_not_understand),
		cmocka_unit_test(open_refuses_policies_that_have_no_name),
		cmocka_unit_test(open_reads_the_name_from_the_environment),
		cmocka_unit_test(open_reads_words_from_the_environment_unless_a_key_sets_them),
		cmocka_unit_test(preset_sets_every_size),
		cmocka_unit_test(preset_of_the_environment_selects_the_sizes),
		cmocka_unit_test(open_refuses_a_missing_or_corrupt_firmware),
		cmocka_unit_test(flags_of_memory_are_checked),
		cmocka_unit_test(bo_is_zeroed_and_rounded_to_pages),
		cmocka_unit_test(bind_refuses_bad_operations_and_returns_how_many_took_effect),
		cmocka_unit_test(heaps_have_every_page_size_and_do_not_overlap),
		cmocka_unit_test(operations_in_heaps_consist_of_whole_pages),
		cmocka_unit_test(place_large_uses_the_heap_that_fits_the_size),
		cmocka_unit_test(va_alloc_returns_disjoint_aligned_ranges_and_frees_them),
		cmocka_unit_test(freed_va_ranges_are_merged),
		cmocka_unit_test(submit_refuses_bad_jobs_and_returns_their_index),
		cmocka_unit_test(sync_binary_and_timeline_behave_as_syncobjs),
		cmocka_unit_test(limits_depend_on_the_options_and_the_requested_size),
		cmocka_unit_test(caches_have_the_sizes_given_by_the_name),
		cmocka_unit_test(units_have_the_sizes_given_by_the_name),
		cmocka_unit_test(stores_have_the_sizes_given_by_the_name),
		cmocka_unit_test(a_label_is_kept_until_the_next_and_has_a_maximum_length),
		cmocka_unit_test(priority_of_a_context_can_be_changed_to_one_that_exists),
		cmocka_unit_test(killed_contexts_are_counted_as_guilty),
		cmocka_unit_test(memory_of_a_process_is_retained),
		cmocka_unit_test(counters_have_descriptions),
		cmocka_unit_test(perfmons_are_checked_and_limited),
		cmocka_unit_test(a_trace_is_checked_and_there_is_one_only),
		cmocka_unit_test(names_are_those_of_the_contract),
	};

	return cmocka_run_group_tests(tests, open_device, close_device);
}
