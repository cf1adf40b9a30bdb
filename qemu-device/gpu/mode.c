// SPDX-License-Identifier: MIT
/* Modes of the GPU. See mode.h. */
#include "mode.h"

#include <errno.h>
#include <string.h>

#include "coherence.h"
#include "gpu.h"
#include "number.h"
#include "preset.h"
#include "pumice_format_table.h"
#include "pumice_names.h"
#include "strict/cores.h"
#include "strict/lines.h"
#include "strict/tables.h"
#include "strict/targets.h"

#define REQUEST_BYTES (1u << 16)	/* the most of one request to the hierarchy */

bool mode_find(const char *name, enum pumice_mode *mode)
{
	u32 n;

	*mode = PUMICE_MODE_FAST;
	if (!name)
		return true;
	for (n = 0; n < PUMICE_MODE_COUNT; n++) {
		if (strcmp(name, pumice_mode_str(n)))
			continue;
		*mode = (enum pumice_mode)n;
		return true;
	}
	return false;
}

bool mode_is_available(struct pumice_gpu *gpu)
{
	u32 m;

	for (m = 0; m < GPU_MASTERS; m++)
		if (master_status(&gpu->master[m])->busy)
			return false;
	return !cdm_status(gpu->cdm)->busy;
}

/* Return the client of a request, or PUMICE_MEM_CLIENT_COUNT. No unit walks tables. */
static u32 client_of(const struct mmu_request *r)
{
	if (r->unit == PUMICE_UNIT_NONE)
		return r->access == PUMICE_ACCESS_WRITE ? PUMICE_MEM_CLIENT_MMU_TABLE_WRITE :
							  PUMICE_MEM_CLIENT_MMU_TABLE;
	return pumice_client_find(r->unit, r->access, r->kind);
}

/* struct mmu: a request of a unit. */
static void request(void *opaque, const struct mmu_request *r)
{
	struct pumice_gpu *gpu = opaque;
	const u32 client = client_of(r);
	const bool direct = client < PUMICE_MEM_CLIENT_COUNT &&
			    pumice_client_table[client].path == PUMICE_MEM_PATH_DIRECT;
	struct mem_request out = {
		.client = (enum pumice_mem_client)client,
		.place = direct ? r->place : r->usc,
		.ctx = r->unit == PUMICE_UNIT_NONE ? MEM_CTX_BUS : r->ctx,
		.addr = r->addr,
		.write = r->access == PUMICE_ACCESS_WRITE,
		.atomic = client == PUMICE_MEM_CLIENT_USC_ATOMIC,
		/* The host changes tables of context 0, and has no operations on caches. */
		.bypass = r->coherent || (r->unit == PUMICE_UNIT_NONE && !r->ctx),
	};
	u64 left;

	for (left = r->use ? 0 : r->bytes; left; left -= out.bytes, out.addr += out.bytes) {
		out.bytes = (u32)min_u64(left, REQUEST_BYTES);
		if (!hierarchy_request(gpu->hierarchy, &out))
			return;
	}
	if (!r->window)
		coherence_request(gpu, r, client);
}

static enum hierarchy_scope reach_of(enum pumice_mem_scope scope)
{
	static const enum hierarchy_scope reach[PUMICE_MEM_SCOPE_COUNT] = {
		[PUMICE_MEM_SCOPE_SYSTEM] = HIERARCHY_SYSTEM,
		[PUMICE_MEM_SCOPE_GPU] = HIERARCHY_GPU,
		[PUMICE_MEM_SCOPE_CORE] = HIERARCHY_CORE,
		[PUMICE_MEM_SCOPE_GROUP] = HIERARCHY_GROUP,
	};

	return reach[scope];
}

/* struct mmu: an operation on caches. One of all USCs is on those of each of them. */
static void cache_op(void *opaque, const struct mmu_cache_op *op)
{
	struct pumice_gpu *gpu = opaque;
	const enum hierarchy_scope scope = reach_of(op->scope);
	const struct cache_range range = {
		.ctx = op->ctx == MMU_ALL_CONTEXTS ? CACHE_ANY_CTX :
		       op->ctx == MMU_TABLES	   ? MEM_CTX_BUS :
						     op->ctx,
		.first = op->first, .last = op->last,
	};
	const bool each = op->usc == MMU_ALL_USCS && scope < HIERARCHY_GPU;
	u32 usc = op->usc == MMU_ALL_USCS ? 0 : op->usc;
	const u32 end = each ? gpu->config.cores * gpu->config.uscs_per_core : usc + 1;

	/* Commands have waited for the work of their own job, and for no other. */
	if (op->master == PUMICE_UNIT_CDM)
		race_job_orders(gpu->strict.race);
	else if (op->master == PUMICE_UNIT_PDM)
		targets_flush(gpu->strict.targets, op->ctx);
	if (op->kind == MMU_CACHE_NONE)
		return;
	coherence_operate(gpu, op);
	for (; usc < end; usc++) {
		switch (op->kind) {
		case MMU_CACHE_FENCE:
			hierarchy_fence(gpu->hierarchy, usc, scope, range.ctx);
			break;
		case MMU_CACHE_CLEAN:
			hierarchy_clean(gpu->hierarchy, usc, scope, &range);
			break;
		case MMU_CACHE_INVALIDATE:
			hierarchy_flush(gpu->hierarchy, usc, scope, &range);
			break;
		case MMU_CACHE_DROP:
			hierarchy_invalidate(gpu->hierarchy, usc, scope, &range);
			break;
		case MMU_CACHE_NONE:
			break;
		}
	}
}

/*
 * Data that a mode needs: those of mode strict have megabytes. They are allocated and freed while
 * no lock but the control lock is held, and only exchanged while the GPU is parked.
 */
struct parts {
	struct hierarchy *hierarchy;	/* NULL for mode fast */
	struct race *race;		/* this and the next four: NULL but for mode strict */
	struct lines *lines;
	struct cores *cores;
	struct tables *tables;
	struct targets *targets;
	struct usc_checks usc[GPU_MAX_USCS];
};

static bool create_strict(struct parts *parts, const struct pumice_gpu *gpu)
{
	parts->race = race_create();
	parts->lines = lines_create(&gpu->mmu);
	parts->cores = cores_create(gpu->config.cores, gpu->config.uscs_per_core);
	parts->tables = tables_create(&gpu->mmu);
	parts->targets = targets_create(GPU_PDM);
	return parts->race && parts->lines && parts->cores && parts->tables && parts->targets;
}

/* Create the parts of a mode; caches are empty. Returns false when out of memory. */
static bool create_parts(struct parts *parts, const struct pumice_gpu *gpu, enum pumice_mode mode)
{
	const struct hierarchy_config config = preset_hierarchy(&gpu->config);
	const char *error;
	u32 n;

	if (mode != PUMICE_MODE_FAST) {
		/* Sizes are those that preset_check() has accepted. */
		parts->hierarchy = hierarchy_create(&config, &error);
		if (!parts->hierarchy)
			return false;
	}
	if (mode == PUMICE_MODE_STRICT && !create_strict(parts, gpu))
		return false;
	for (n = 0; n < gpu->uscs; n++)
		if (!usc_checks_create(&parts->usc[n], gpu->usc[n], mode == PUMICE_MODE_STRICT))
			return false;
	return true;
}

static void destroy_parts(struct parts *parts, const struct pumice_gpu *gpu)
{
	u32 n;

	hierarchy_destroy(parts->hierarchy);
	race_destroy(parts->race);
	lines_destroy(parts->lines);
	cores_destroy(parts->cores);
	tables_destroy(parts->tables);
	targets_destroy(parts->targets);
	for (n = 0; n < gpu->uscs; n++)
		usc_checks_destroy(&parts->usc[n]);
}

#define EXCHANGE(a, b)			\
	do {				\
		void *const was = (a);	\
		(a) = (b);		\
		(b) = was;		\
	} while (0)

static void exchange_hierarchy(struct pumice_gpu *gpu, struct parts *parts)
{
	const bool on = parts->hierarchy;

	mmu_set_request(&gpu->mmu, on ? request : NULL, gpu);
	fwctl_window_flush(gpu->fw);	/* mmu_set_request() has dropped all other entries */
	mmu_set_cache_op(&gpu->mmu, on ? cache_op : NULL, gpu);
	if (gpu->hierarchy)
		hier_counts_save(&gpu->counts, gpu->hierarchy);
	EXCHANGE(gpu->hierarchy, parts->hierarchy);
}

/* Begin to detect errors, or end it. Findings are kept. */
static void exchange_strict(struct pumice_gpu *gpu, struct parts *parts)
{
	struct strict *strict = &gpu->strict;
	const bool on = parts->lines;
	u32 n;

	for (n = 0; n < PUMICE_MMU_CONTEXTS; n++)
		lines_show(strict->lines, n);
	EXCHANGE(strict->race, parts->race);
	EXCHANGE(strict->lines, parts->lines);
	EXCHANGE(strict->cores, parts->cores);
	EXCHANGE(strict->tables, parts->tables);
	EXCHANGE(strict->targets, parts->targets);
	for (n = 0; n < gpu->uscs; n++)
		usc_exchange_checks(gpu->usc[n], on ? strict : NULL, &parts->usc[n]);
	owner_set(&gpu->owner, on);
	dropped_set(&gpu->dropped, on);
	mmu_set_stale(&gpu->mmu, on ? coherence_stale : NULL, gpu);
	mmu_set_held(&gpu->mmu, on ? coherence_held : NULL, gpu);
	mmu_set_walked(&gpu->mmu, on ? coherence_walked : NULL, gpu);
}

/* Select a mode; its parts become those of the mode before. Parked, device lock held. */
static void exchange(struct pumice_gpu *gpu, enum pumice_mode mode, struct parts *parts)
{
	exchange_strict(gpu, parts);
	exchange_hierarchy(gpu, parts);
	/* Other modes are not informed of changes of mappings. */
	if (mode != PUMICE_MODE_STRICT)
		places_clear(&gpu->strict.places);
	gpu->mode = mode;
}

/* As mode_set(), for another mode, which exists; control lock held. */
static int change(struct pumice_gpu *gpu, enum pumice_mode mode)
{
	struct parts parts = { 0 };
	bool available;
	int ret = 0;

	/* So that a busy GPU need not stop; a job may begin until it is parked. */
	gpu_lock(gpu);
	available = mode_is_available(gpu);
	gpu_unlock(gpu);
	if (!available)
		return -EBUSY;
	if (!create_parts(&parts, gpu, mode)) {
		ret = -ENOMEM;
	} else {
		workers_park(gpu->workers);
		gpu_lock(gpu);
		if (mode_is_available(gpu))
			exchange(gpu, mode, &parts);
		else
			ret = -EBUSY;
		gpu_unlock(gpu);
		workers_unpark(gpu->workers);
	}
	destroy_parts(&parts, gpu);
	return ret;
}

int mode_set(struct pumice_gpu *gpu, u32 mode)
{
	int ret = 0;

	pthread_mutex_lock(&gpu->control);
	if (!pumice_mode_valid(mode))
		ret = -EINVAL;
	else if (mode != gpu->mode)
		ret = change(gpu, (enum pumice_mode)mode);
	pthread_mutex_unlock(&gpu->control);
	return ret;
}

void mode_write(struct pumice_gpu *gpu, u32 mode)
{
	const int ret = mode_set(gpu, mode);

	gpu_lock(gpu);
	gpu->mode_refusal = ret == -EBUSY  ? PUMICE_MODE_REFUSAL_BUSY :
			    ret == -ENOMEM ? PUMICE_MODE_REFUSAL_MEMORY :
			    ret		   ? PUMICE_MODE_REFUSAL_UNKNOWN :
					     PUMICE_MODE_REFUSAL_NONE;
	gpu_unlock(gpu);
}

void mode_restore(struct pumice_gpu *gpu)
{
	enum pumice_mode mode;

	gpu_lock(gpu);
	mode = gpu->mode_of_host;
	gpu_unlock(gpu);
	mode_set(gpu, mode);
}

int pumice_gpu_set_mode(struct pumice_gpu *gpu, const char *name)
{
	enum pumice_mode mode, before;
	int ret;

	if (!mode_find(name, &mode))
		return -EINVAL;
	gpu_lock(gpu);
	before = gpu->mode;
	gpu_unlock(gpu);
	ret = mode_set(gpu, mode);
	if (ret)
		return ret;
	/* Not for SYS_MODE: the driver writes it after each reset, and drops them by FIND_COUNT. */
	if (mode == PUMICE_MODE_STRICT && before != mode)
		strict_clear(&gpu->strict);
	gpu_lock(gpu);
	gpu->mode_of_host = mode;
	gpu_unlock(gpu);
	return 0;
}

bool pumice_gpu_bus(struct pumice_gpu *gpu, unsigned int client, struct pumice_gpu_bus *bus)
{
	struct bif_client counts;

	if (client >= PUMICE_MEM_CLIENT_COUNT)
		return false;
	gpu_lock(gpu);
	counts = gpu->counts.bus[client];
	if (gpu->hierarchy)
		hierarchy_bus_counters(gpu->hierarchy, client, &counts);
	gpu_unlock(gpu);
	*bus = (struct pumice_gpu_bus){ .requests = counts.requests,
					.read_bytes = counts.read_bytes,
					.written_bytes = counts.written_bytes };
	return true;
}

bool pumice_gpu_finding(struct pumice_gpu *gpu, unsigned int number,
			char text[PUMICE_FINDING_BYTES])
{
	struct strict_finding finding;

	_Static_assert(PUMICE_FINDING_BYTES == STRICT_TEXT_BYTES, "size of a finding's text");
	if (!strict_get(&gpu->strict, number, &finding))
		return false;
	strict_describe(&finding, text);
	return true;
}

bool pumice_gpu_finding_of(struct pumice_gpu *gpu, unsigned int os, unsigned int number,
			   char text[PUMICE_FINDING_BYTES])
{
	struct strict_finding finding;

	if (!strict_get_of(&gpu->strict, os, number, &finding))
		return false;
	strict_describe(&finding, text);
	return true;
}

unsigned int pumice_gpu_findings_clears(struct pumice_gpu *gpu)
{
	return strict_clears(&gpu->strict);
}

uint64_t pumice_gpu_findings_lost(struct pumice_gpu *gpu)
{
	return strict_lost(&gpu->strict);
}

const char *pumice_gpu_mode(struct pumice_gpu *gpu)
{
	enum pumice_mode mode;

	gpu_lock(gpu);
	mode = gpu->mode;
	gpu_unlock(gpu);
	return pumice_mode_str(mode);
}
