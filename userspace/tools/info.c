// SPDX-License-Identifier: MIT
/*
 * pumice-info: shows the GPU, its capabilities, and its firmware.
 */
#include <inttypes.h>
#include <stdio.h>

#include <pumice/pumice.h>

#include "command.h"
#include "pumice_names.h"

static void print_sizes(uint64_t sizes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };

	for (unsigned int bit = 0; bit < 40; bit++)
		if (sizes >> bit & 1)
			printf(" %u %s", 1u << bit % 10, units[bit / 10]);
	putchar('\n');
}

/* Print the sizes that a device reports from register map 2.4 on. */
static void print_shape(const struct pumice_device_limits *limits)
{
	if (!limits->waves_per_usc)
		return;
	printf("preset              %s\n", pumice_preset_str(limits->preset));
	printf("tasks of a USC      %u; %u waves; %u vertices or fragments in a task\n",
	       limits->tasks_per_usc, limits->waves_per_usc, limits->batch);
}

/* Print the caches that a device reports from register map 2.6 on. */
static void print_caches(const struct pumice_device_limits *limits)
{
	const uint32_t *bytes = limits->cache_bytes;

	if (!bytes[PUMICE_CACHE_SLC])
		return;
	printf("caches              SLC %u KiB; data %u and %u, textures %u and %u bytes; not used in "
	       "mode fast\n",
	       bytes[PUMICE_CACHE_SLC] >> 10, bytes[PUMICE_CACHE_DATA_L1],
	       bytes[PUMICE_CACHE_DATA_L2], bytes[PUMICE_CACHE_TEXTURE_L1],
	       bytes[PUMICE_CACHE_TEXTURE_L2]);
}

/* Print the sizes that a device reports from register map 2.7 on. */
static void print_units(const struct pumice_device_limits *limits)
{
	if (!limits->vpm_bytes)
		return;
	printf("vertices of a core  VPM %u KiB; IDX FIFO of %u primitives; %u in the cache of the TSP\n",
	       limits->vpm_bytes >> 10, limits->idx_fifo, limits->tsp_vertices);
	printf("FIFOs of a core     chunks of draws: %u; tiles: %u\n", limits->chunk_fifo,
	       limits->tile_fifo);
	printf("texture interfaces  %u of each SPU, one for each USC\n", limits->tcus_per_spu);
}

static void print_heaps(const struct pumice_device_limits *limits)
{
	const struct pumice_heap *heap = limits->heaps;

	for (uint32_t i = 0; i < limits->heap_count; i++, heap++)
		printf("%-19s 0x%010" PRIx64 " to 0x%010" PRIx64 ": pages of %" PRIu64 " KiB\n",
		       i ? "" : "heaps", heap->start, heap->start + heap->size - 1,
		       heap->page_bytes >> 10);
}

static void print_info(const struct pumice_device_info *info,
		       const struct pumice_device_limits *limits)
{
	static const char *const priorities[] = { "low", "normal", "high" };

	printf("backend             %s\n", info->backend);
	printf("register map        %u.%u\n", info->version >> 16, info->version & 0xffff);
	printf("firmware            %s (interface %u.%u)\n", info->fw_build_id,
	       info->fw_version >> 16, info->fw_version & 0xffff);
	printf("cores               %u, each of %u USCs with %u task slots\n", info->cores,
	       info->uscs_per_core, info->slots_per_usc);
	print_shape(limits);
	printf("stores of a USC     unified %u KiB, common %u KiB, local memory %u KiB\n",
	       info->unified_bytes >> 10, info->common_bytes >> 10, info->local_bytes >> 10);
	printf("pixel outputs       %s\n", pumice_output_store_str(limits->pixel_outputs));
	print_caches(limits);
	print_units(limits);
	printf("work-group          at most %u instances\n", info->max_group_instances);
	printf("virtual addresses   0x%010" PRIx64 " to 0x%010" PRIx64 "\n", info->va_start,
	       info->va_end - 1);
	print_heaps(limits);
	printf("page sizes         ");
	print_sizes(info->page_sizes);
	printf("priorities         ");
	for (unsigned int i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++)
		if (info->priorities >> i & 1)
			printf(" %s", priorities[i]);
	printf("\nGPU clock           %" PRIu64 " Hz\n", info->clock_hz);
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	const struct command_option options[] = { COMMAND_DEVICE(&device), { 0 } };
	const struct command command = {
		.name = "pumice-info",
		.purpose = "Describes a Pumice GPU.\n",
		.options = options,
		.versions = COMMAND_VERSION_GPU,
	};
	struct pumice_device_limits limits;
	struct pumice_device_info info;
	struct pumice_device *dev;
	uint64_t ticks;
	int ret;

	command_line(&command, argc, argv);
	dev = command_device_open(command.name, device);
	ret = pumice_device_info(dev, &info);
	if (!ret)
		ret = pumice_device_limits(dev, &limits, sizeof(limits));
	if (!ret)
		ret = pumice_device_timestamp(dev, &ticks, NULL);
	if (!ret) {
		print_info(&info, &limits);
		printf("GPU time            %.6f s\n", (double)ticks / (double)info.clock_hz);
	} else {
		fprintf(stderr, "pumice-info: %s\n", pumice_device_error(dev));
	}
	pumice_device_close(dev);
	return ret != 0;
}
