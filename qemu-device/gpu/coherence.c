// SPDX-License-Identifier: MIT
/*
 * Mode strict: coherence of caches and TLBs with memory. See coherence.h.
 *
 * Source: the project's decision; Documentation/strict.rst, "Translations" and "Caches".
 */
#include "coherence.h"

#include "gpu.h"
#include "pumice_format_table.h"
#include "strict/lines.h"

/*
 * Return the unit of an access, and its instruction: of accesses by USCs, which are in the thread
 * of that USC.
 */
static struct lines_writer place_of(const struct pumice_gpu *gpu, enum pumice_unit unit, u32 usc)
{
	struct lines_writer place = { .unit = (u8)unit };

	if (unit == PUMICE_UNIT_USC_DATA && usc < gpu->uscs)
		usc_get_place(gpu->usc[usc], &place);
	return place;
}

static struct strict_finding finding_of(enum pumice_finding kind, const struct lines_writer *place,
					unsigned int ctx, u64 va)
{
	return (struct strict_finding){
		.kind = (u8)kind,
		.unit = place->unit,
		.ctx = (u8)ctx,
		.addr = va,
		.lane_known = place->lane_known,
		.slot = place->slot,
		.wave = place->wave,
		.lane = place->lane,
		.usc = place->usc,
		.pc = place->pc,
		.code = place->code,
	};
}

/* Report an access of a unit. */
static void report_access(struct pumice_gpu *gpu, enum pumice_finding kind, enum pumice_unit unit,
			  u32 usc, enum pumice_access access, unsigned int ctx, u64 va)
{
	const struct lines_writer place = place_of(gpu, unit, usc);
	struct strict_finding finding = finding_of(kind, &place, ctx, va);

	finding.access = (u8)access;
	strict_report(&gpu->strict, &finding);
}

void coherence_stale(void *opaque, const struct mmu_stale *use)
{
	report_access(opaque, PUMICE_FINDING_STALE_TRANSLATION, use->unit, use->usc, use->access,
		      use->ctx, use->addr);
}

/* Report a load. That of an atomic operation, whose request is a write, is a read. */
static void report_stale(struct pumice_gpu *gpu, const struct mmu_request *r, u64 at)
{
	const enum pumice_access access =
		r->access == PUMICE_ACCESS_WRITE ? PUMICE_ACCESS_READ : r->access;

	report_access(gpu, PUMICE_FINDING_STALE_READ, r->unit, r->usc, access, r->ctx, at);
}

static bool bypasses(const struct mmu_request *r, u32 client)
{
	return r->coherent || pumice_client_table[client].slc == PUMICE_MEM_SLC_BYPASS;
}

void coherence_request(struct pumice_gpu *gpu, const struct mmu_request *r, u32 client)
{
	struct lines *lines = gpu->strict.lines;
	const bool bypass = bypasses(r, client);
	struct lines_writer place;
	u64 at;

	/* Walks of the MMU are by bus address; their entries are compared by those of the TLBs. */
	if (!lines || r->unit == PUMICE_UNIT_NONE)
		return;
	if (r->access != PUMICE_ACCESS_WRITE) {
		if (!bypass && lines_read(lines, r->ctx, r->addr, r->bytes, &at))
			report_stale(gpu, r, at);
		return;
	}
	if (bypass) {
		lines_bypass(lines, r->ctx, r->addr, r->bytes);
		return;
	}
	if (client == PUMICE_MEM_CLIENT_USC_ATOMIC &&
	    lines_is_stale(lines, r->ctx, r->addr, r->bytes, &at))
		report_stale(gpu, r, at);
	place = place_of(gpu, r->unit, r->usc);
	lines_write(lines, r->ctx, r->addr, r->bytes, &place);
}

bool coherence_held(void *opaque, const struct mmu_request *read, const u8 *grain, u8 *to)
{
	struct pumice_gpu *gpu = opaque;
	const u32 client = pumice_client_find(read->unit, read->access, read->kind);

	return client < PUMICE_MEM_CLIENT_COUNT && !bypasses(read, client) &&
	       lines_held(gpu->strict.lines, read->ctx, read->addr & ~(u64)(LINES_GRAIN - 1),
			  grain, to);
}

void coherence_tables_change(struct pumice_gpu *gpu, unsigned int ctx)
{
	lines_show(gpu->strict.lines, ctx);
}

void coherence_operate(struct pumice_gpu *gpu, const struct mmu_cache_op *op)
{
	struct lines *lines = gpu->strict.lines;

	if (!lines || op->scope != PUMICE_MEM_SCOPE_SYSTEM)
		return;
	if (op->kind == MMU_CACHE_FENCE)
		lines_clean(lines, op->ctx, 0, UINT64_MAX);
	else if (op->kind == MMU_CACHE_CLEAN)
		lines_clean(lines, op->ctx, op->first, op->last);
	else if (op->kind == MMU_CACHE_INVALIDATE)
		lines_drop(lines, op->ctx, op->first, op->last);
	else
		lines_discard(lines, op->ctx, op->first, op->last);
}

/* ------------------------------------------------------------------- jobs */

static bool is_busy(const struct pumice_gpu *gpu, u32 number)
{
	return number == COHERENCE_CDM ? cdm_status(gpu->cdm)->busy :
					 master_status(&gpu->master[number])->busy;
}

void coherence_job_begins(struct pumice_gpu *gpu, u32 number)
{
	struct coherence_job *job = &gpu->started[number];

	if (is_busy(gpu, number))
		return;
	job->ctx = number == COHERENCE_CDM ? gpu->cdm_job.ctx : gpu->master[number].job.ctx;
	job->tag = number == COHERENCE_CDM ? gpu->cdm_job.tag : gpu->master[number].job.tag;
	if (number == GPU_TDM)
		job->tag = 0;	/* it has no waves that a finding could name */
	mmu_job_begins(&gpu->mmu, job->ctx);
	lines_job_begin(gpu->strict.lines, job->ctx);
}

/* Return whether another data master runs a job of the context. Device lock held. */
static bool others_run(const struct pumice_gpu *gpu, u32 number)
{
	u32 n;

	for (n = 0; n < COHERENCE_MASTERS; n++)
		if (n != number && is_busy(gpu, n) &&
		    gpu->started[n].ctx == gpu->started[number].ctx)
			return true;
	return false;
}

void coherence_job_ends(struct pumice_gpu *gpu, u32 number)
{
	static const enum pumice_unit unit[COHERENCE_MASTERS] = {
		[GPU_VDM] = PUMICE_UNIT_VDM, [GPU_PDM] = PUMICE_UNIT_PDM,
		[GPU_TDM] = PUMICE_UNIT_PTLA, [GPU_RDM] = PUMICE_UNIT_RDM,
		[COHERENCE_CDM] = PUMICE_UNIT_CDM,
	};
	const struct coherence_job *job = &gpu->started[number];
	enum pumice_wave_master waves = number == COHERENCE_CDM ? PUMICE_WAVE_MASTER_CDM :
					master_waves(number);

	lines_job_end(gpu->strict.lines, job->ctx, unit[number], (u8)waves, job->tag,
		      !others_run(gpu, number));
}

void coherence_compute_switched(struct pumice_gpu *gpu)
{
	lines_job_switched(gpu->strict.lines, gpu->started[COHERENCE_CDM].ctx);
}

void coherence_job_handled(struct pumice_gpu *gpu, enum pumice_unit unit)
{
	lines_job_handled(gpu->strict.lines, unit);
}

/* Return the MMU contexts with a job that runs, as bits. Device lock held. */
static u32 busy_contexts(struct pumice_gpu *gpu)
{
	u32 busy = 0, n;

	for (n = 0; n < COHERENCE_MASTERS; n++)
		if (is_busy(gpu, n))
			busy |= 1u << gpu->started[n].ctx;
	return busy;
}

/* Get a byte of a job that has ended which is not in memory. */
static bool take_dirty(struct pumice_gpu *gpu, struct lines_dirty *dirty)
{
	bool found;

	gpu_lock(gpu);
	found = lines_take_dirty(gpu->strict.lines, busy_contexts(gpu), dirty);
	gpu_unlock(gpu);
	return found;
}

void coherence_asleep(struct pumice_gpu *gpu)
{
	struct strict_finding finding;
	struct lines_dirty dirty;

	if (!gpu->strict.lines)
		return;
	while (take_dirty(gpu, &dirty)) {
		finding = finding_of(PUMICE_FINDING_UNFLUSHED_WRITE, &dirty.writer, dirty.ctx,
				     dirty.va);
		finding.access = PUMICE_ACCESS_WRITE;
		finding.job.tag = dirty.tag;
		finding.job.master = dirty.master;
		strict_report(&gpu->strict, &finding);
	}
}
