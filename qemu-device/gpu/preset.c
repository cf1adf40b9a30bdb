// SPDX-License-Identifier: MIT
/* Presets of the GPU's sizes, and their limits. */
#include "preset.h"

#include <string.h>

#include "ipf/master.h"
#include "number.h"
#include "presets.h"
#include "pumice_names.h"
#include "tsp/cache.h"
#include "usc/usc.h"

#define MAX_VPM_KIB	4096u
#define MAX_IDX_FIFO	4096u
#define MAX_CHUNK_FIFO	4u
#define MAX_TILE_FIFO	IPF_MASTER_TILES
#define MIN_TSP_VERTICES TSP_CACHE_WAYS
#define MAX_TSP_VERTICES 1024u
#define MIN_LINE	32u	/* bytes, of lines and of segments */
#define MAX_LINE	128u
#define MAX_SEGMENT	64u
#define MAX_WAYS	16u
#define USCS_OF_BANK	2u	/* with an MCU */

#define ROW(preset, cores_, uscs_, slots_, tasks_, waves_, batch_, unified_, common_, local_, \
	    regs_, vpm_, idx_, chunks_, tiles_, outputs_, tsp_) \
	[PUMICE_PRESET_##preset] = { \
		.cores = cores_, .uscs_per_core = uscs_, .slots = slots_, .tasks = tasks_, \
		.waves = waves_, .batch = batch_, .unified_kib = unified_, .common_kib = common_, \
		.local_kib = local_, .slot_registers = regs_, .vpm_kib = vpm_, .idx_fifo = idx_, \
		.chunk_fifo = chunks_, .tile_fifo = tiles_, .pixel_outputs = #outputs_, \
		.tsp_vertices = tsp_, \
	},

static const struct pumice_gpu_config presets[] = { PUMICE_PRESETS(ROW) };

#define CACHES(preset, slc_, data_l1_, data_l2_, texture_l1_, texture_l2_) \
	[PUMICE_PRESET_##preset] = { \
		.slc_kib = slc_, .data_l1_bytes = data_l1_, .data_l2_bytes = data_l2_, \
		.texture_l1_bytes = texture_l1_, .texture_l2_bytes = texture_l2_, \
	},

static const struct pumice_gpu_config caches[] = { PUMICE_PRESET_CACHES(CACHES) };

#define HIERARCHY(preset, style_, line_, segment_, data_ways_, texture_ways_, slc_ways_) \
	[PUMICE_PRESET_##preset] = { \
		.cache_style = PUMICE_CACHE_STYLE_##style_, .line_bytes = line_, \
		.segment_bytes = segment_, .data_ways = data_ways_, \
		.texture_ways = texture_ways_, .slc_ways = slc_ways_, \
	},

static const struct pumice_gpu_config hierarchies[] = { PUMICE_PRESET_HIERARCHY(HIERARCHY) };

_Static_assert(sizeof(hierarchies) == sizeof(presets), "every preset has a hierarchy");
_Static_assert(sizeof(caches) == sizeof(presets), "every preset has caches");

bool preset_find(const char *name, enum pumice_preset *preset)
{
	u32 n;

	*preset = PUMICE_PRESET_DEFAULT;
	if (!name)
		return true;
	for (n = 0; n < sizeof(presets) / sizeof(presets[0]); n++) {
		if (strcmp(name, pumice_preset_str(n)))
			continue;
		*preset = (enum pumice_preset)n;
		return true;
	}
	return false;
}

bool preset_find_outputs(const char *name, enum pumice_output_store *store)
{
	*store = !strcmp(name, "common") ? PUMICE_OUTPUT_STORE_COMMON :
					   PUMICE_OUTPUT_STORE_PARTITION;
	return !strcmp(name, pumice_output_store_str(*store));
}

static void default_to(unsigned int *size, unsigned int value)
{
	if (!*size)
		*size = value;
}

static void apply_caches(const struct pumice_gpu_config *from, struct pumice_gpu_config *config)
{
	default_to(&config->slc_kib, from->slc_kib);
	default_to(&config->data_l1_bytes, from->data_l1_bytes);
	default_to(&config->data_l2_bytes, from->data_l2_bytes);
	default_to(&config->texture_l1_bytes, from->texture_l1_bytes);
	default_to(&config->texture_l2_bytes, from->texture_l2_bytes);
}

static void apply_hierarchy(const struct pumice_gpu_config *from, struct pumice_gpu_config *config)
{
	if (config->cache_style == PUMICE_CACHE_STYLE_PRESET)
		config->cache_style = from->cache_style;
	default_to(&config->line_bytes, from->line_bytes);
	default_to(&config->segment_bytes, from->segment_bytes);
	default_to(&config->data_ways, from->data_ways);
	default_to(&config->texture_ways, from->texture_ways);
	default_to(&config->slc_ways, from->slc_ways);
}

void preset_apply(enum pumice_preset preset, struct pumice_gpu_config *config)
{
	const struct pumice_gpu_config *from = &presets[preset];

	default_to(&config->cores, from->cores);
	default_to(&config->uscs_per_core, from->uscs_per_core);
	default_to(&config->slots, from->slots);
	default_to(&config->tasks, max_u32(from->tasks, config->slots));
	default_to(&config->waves, from->waves);
	default_to(&config->batch, from->batch);
	default_to(&config->unified_kib, from->unified_kib);
	default_to(&config->common_kib, from->common_kib);
	default_to(&config->local_kib, from->local_kib);
	default_to(&config->slot_registers, from->slot_registers);
	default_to(&config->vpm_kib, from->vpm_kib);
	default_to(&config->idx_fifo, from->idx_fifo);
	default_to(&config->chunk_fifo, from->chunk_fifo);
	default_to(&config->tile_fifo, from->tile_fifo);
	if (!config->pixel_outputs)
		config->pixel_outputs = from->pixel_outputs;
	default_to(&config->tsp_vertices, from->tsp_vertices);
	apply_caches(&caches[preset], config);
	apply_hierarchy(&hierarchies[preset], config);
}

/* Return whether a size is a power of two within limits. */
static bool is_size(unsigned int size, unsigned int min, unsigned int max)
{
	return size >= min && size <= max && !(size & (size - 1));
}

/* A task of the VDM or PDM has to fit on a USC. */
static const char *check_tasks(const struct pumice_gpu_config *c)
{
	if (c->slots > PUMICE_USC_SLOTS)
		return "slots must be 1 to 48";
	if (c->tasks < c->slots || c->tasks > PUMICE_USC_TASKS)
		return "tasks must be at least as many as slots, and at most 64";
	if (c->waves > USC_WAVES)
		return "waves must be 1 to 192";
	if (c->batch != PUMICE_LANES / 2 &&
	    (c->batch % PUMICE_LANES || c->batch > PUMICE_TASK_INSTANCES))
		return "batch must be 16, 32, 64, 96 or 128";
	if (div_up(c->batch, PUMICE_LANES) > c->waves)
		return "a task of batch instances has more waves than a USC";
	return NULL;
}

/* Check memories and FIFOs of vertices and primitives. */
static const char *check_vertices(const struct pumice_gpu_config *c)
{
	if (c->vpm_kib > MAX_VPM_KIB)
		return "the vertex pipe memory must be 1 to 4096 KiB";
	if (c->idx_fifo > MAX_IDX_FIFO)
		return "the IDX FIFO must have room for 1 to 4096 primitives";
	if (c->chunk_fifo > MAX_CHUNK_FIFO)
		return "the FIFO of a core must have room for 1 to 4 chunks";
	if (c->tile_fifo > MAX_TILE_FIFO)
		return "the FIFO of tiles of a core must have room for 1 to 64";
	if (!is_size(c->tsp_vertices, MIN_TSP_VERTICES, MAX_TSP_VERTICES))
		return "the cache of the TSP must have 4 to 1024 vertices, a power of two";
	return NULL;
}

static const char *check_caches(const struct pumice_gpu_config *c)
{
	const unsigned int bytes[] = { c->data_l1_bytes, c->data_l2_bytes, c->texture_l1_bytes,
				       c->texture_l2_bytes };
	unsigned int n;

	if (!is_size(c->slc_kib, PUMICE_MIN_SLC_KIB, PUMICE_MAX_SLC_KIB))
		return "the system level cache must have " PUMICE_LIMIT_TEXT(PUMICE_MIN_SLC_KIB)
		       " to " PUMICE_LIMIT_TEXT(PUMICE_MAX_SLC_KIB) " KiB, a power of two";
	for (n = 0; n < sizeof(bytes) / sizeof(bytes[0]); n++) {
		if (!is_size(bytes[n], PUMICE_MIN_CACHE_BYTES, PUMICE_MAX_CACHE_BYTES))
			return "caches of data and textures must have "
			       PUMICE_LIMIT_TEXT(PUMICE_MIN_CACHE_BYTES) " to "
			       PUMICE_LIMIT_TEXT(PUMICE_MAX_CACHE_BYTES) " bytes, a power of two";
	}
	return NULL;
}

u32 preset_slc_banks(const struct pumice_gpu_config *config)
{
	u32 need = config->cores, banks = 1;

	if (config->cache_style == PUMICE_CACHE_STYLE_MCU)
		need = config->cores * div_up(config->uscs_per_core, USCS_OF_BANK);
	while (banks < need)
		banks *= 2;
	return banks;
}

struct hierarchy_config preset_hierarchy(const struct pumice_gpu_config *c)
{
	return (struct hierarchy_config){
		.cores = c->cores, .uscs = c->uscs_per_core, .style = c->cache_style,
		.line_bytes = c->line_bytes, .segment_bytes = c->segment_bytes,
		.data_l1_bytes = c->data_l1_bytes, .data_l2_bytes = c->data_l2_bytes,
		.data_ways = c->data_ways, .texture_l1_bytes = c->texture_l1_bytes,
		.texture_l2_bytes = c->texture_l2_bytes, .texture_ways = c->texture_ways,
		.slc_bytes = c->slc_kib << 10, .slc_ways = c->slc_ways,
		.slc_banks = preset_slc_banks(c),
	};
}

static const char *check_ways(const struct pumice_gpu_config *c)
{
	const bool halves = c->cache_style == PUMICE_CACHE_STYLE_DCU;

	if (!is_size(c->data_ways, 1, MAX_WAYS) || !is_size(c->texture_ways, 1, MAX_WAYS) ||
	    !is_size(c->slc_ways, 1, MAX_WAYS))
		return "caches must have 1 to 16 ways, a power of two";
	if (halves && c->data_l1_bytes / c->line_bytes < c->data_ways)
		return "the first data cache has fewer lines than ways";
	if (c->data_l2_bytes / c->line_bytes < c->data_ways)
		return "the second data cache has fewer lines than ways";
	if (c->texture_l1_bytes / c->line_bytes < c->texture_ways)
		return "the first texture cache has fewer lines than ways";
	if (c->texture_l2_bytes / c->line_bytes < c->texture_ways)
		return "the second texture cache has fewer lines than ways";
	if ((c->slc_kib << 10) / preset_slc_banks(c) / c->line_bytes < c->slc_ways)
		return "a bank of the system level cache has fewer lines than ways";
	return NULL;
}

static const char *check_hierarchy(const struct pumice_gpu_config *c)
{
	struct hierarchy_config config;
	const char *why;

	if (c->cache_style > PUMICE_CACHE_STYLE_DCU)
		return "the caches of a core must be those of an MCU or of a DCU";
	if (!is_size(c->line_bytes, MIN_LINE, MAX_LINE))
		return "lines of caches must have 32 to 128 bytes, a power of two";
	if (!is_size(c->segment_bytes, MIN_LINE, MAX_SEGMENT) || c->segment_bytes > c->line_bytes)
		return "segments of lines must have 32 or 64 bytes, and be at most as long as a line";
	why = check_ways(c);
	if (why)
		return why;
	config = preset_hierarchy(c);
	return hierarchy_check(&config);
}

const char *preset_check(const struct pumice_gpu_config *c)
{
	const char *why;

	if (c->cores > PUMICE_MAX_CORES)
		return "cores must be 1 to 16";
	if (c->uscs_per_core > PUMICE_MAX_USCS_PER_CORE)
		return "uscs must be 1 to 4";
	if (c->unified_kib > PUMICE_FIELD_GET(PUMICE_SYS_STORES__UNIFIED_KIB, ~0u))
		return "the unified store must be 1 to 4095 KiB";
	if (c->common_kib > PUMICE_FIELD_GET(PUMICE_SYS_STORES__COMMON_KIB, ~0u))
		return "the common store must be 1 to 1023 KiB";
	if (c->local_kib > PUMICE_FIELD_GET(PUMICE_SYS_STORES__LOCAL_KIB, ~0u))
		return "local memory must be 1 to 1023 KiB";
	if (c->slot_registers > PUMICE_USC_OWN_REGS && c->slot_registers != PUMICE_NO_REGISTERS)
		return "slot registers must be 0 to 8";
	why = check_tasks(c);
	if (!why)
		why = check_vertices(c);
	if (!why)
		why = check_caches(c);
	return why ? why : check_hierarchy(c);
}
