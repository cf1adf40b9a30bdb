// SPDX-License-Identifier: MIT
/*
 * Mode strict: coherence of caches and TLBs with memory, and bounds of buffers. See coherence.h.
 *
 * Source: the project's decision; Documentation/strict.rst, "Translations" and "Caches".
 */
#include "coherence.h"

#include <string.h>

#include "gpu.h"
#include "pumice_format_table.h"
#include "strict/cores.h"
#include "strict/lines.h"
#include "strict/tables.h"
#include "strict/targets.h"

/*
 * Return the unit of an access, and its instruction: of accesses for programs, which are in the
 * thread of their USC. program: of other units than those of data.
 */
static struct lines_writer place_of(const struct pumice_gpu *gpu, enum pumice_unit unit, u32 usc,
				    bool program)
{
	struct lines_writer place = { .unit = (u8)unit };

	if ((unit == PUMICE_UNIT_USC_DATA || program) && usc < gpu->uscs)
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

static enum pumice_wave_master waves_of(u32 master)
{
	return master == COHERENCE_CDM ? PUMICE_WAVE_MASTER_CDM :
					 master_waves((enum gpu_master_number)master);
}

/*
 * Return the data master for whose jobs only a unit makes a request that is not for a program, or
 * COHERENCE_MASTERS: several, or none. The PDS works for all; the PDM shades deferred vertices.
 */
static u32 master_of(const struct mmu_request *r)
{
	switch (r->unit) {
	case PUMICE_UNIT_CDM:
		return COHERENCE_CDM;
	case PUMICE_UNIT_VDM:
	case PUMICE_UNIT_MTE:
	case PUMICE_UNIT_TE:
		return GPU_VDM;
	case PUMICE_UNIT_PDM:
	case PUMICE_UNIT_IPF:
	case PUMICE_UNIT_ISP:
	case PUMICE_UNIT_TSP:
	case PUMICE_UNIT_TAG:
	case PUMICE_UNIT_PBE:
		return GPU_PDM;
	case PUMICE_UNIT_PB:
		return r->access == PUMICE_ACCESS_WRITE ? GPU_VDM : GPU_PDM;
	case PUMICE_UNIT_PTLA:
		return GPU_TDM;
	case PUMICE_UNIT_RDM:
		return GPU_RDM;
	default:
		return COHERENCE_MASTERS;
	}
}

/* Return a finding of an access to a byte at va, by a request of its unit. */
static struct strict_finding access_of(const struct pumice_gpu *gpu, enum pumice_finding kind,
				       const struct mmu_request *r, u64 va)
{
	const struct lines_writer place = place_of(gpu, r->unit, r->usc, r->program);
	struct strict_finding finding = finding_of(kind, &place, r->ctx, va);
	const u32 master = place.code ? COHERENCE_MASTERS : master_of(r);

	finding.access = (u8)r->access;
	/* The job runs, so that these do not change. Of transfers the tag is 0. */
	if (master != COHERENCE_MASTERS) {
		finding.job.tag = gpu->started[master].tag;
		finding.job.master = (u8)waves_of(master);
	}
	return finding;
}

/* Report an access to a byte at va, by a request of its unit. */
static void report_access(struct pumice_gpu *gpu, enum pumice_finding kind,
			  const struct mmu_request *r, enum pumice_access access, u64 va)
{
	struct strict_finding finding = access_of(gpu, kind, r, va);

	finding.access = (u8)access;
	strict_report(&gpu->strict, &finding);
}

void coherence_stale(void *opaque, const struct mmu_stale *use)
{
	const struct mmu_request request = {
		.unit = use->unit, .access = use->access, .ctx = use->ctx, .usc = use->usc,
		.program = use->program,
	};

	report_access(opaque, PUMICE_FINDING_STALE_TRANSLATION, &request, use->access, use->addr);
}

void coherence_walked(void *opaque, const struct mmu_walked *walked)
{
	struct pumice_gpu *gpu = opaque;
	struct strict_finding finding;
	struct lines_writer place;
	struct tables_other other;

	if (!tables_walked(gpu->strict.tables, walked, &other))
		return;
	place = place_of(gpu, walked->unit, walked->usc, false);
	finding = finding_of(PUMICE_FINDING_TABLE_REUSED, &place, walked->ctx, walked->addr);
	finding.access = (u8)walked->access;
	finding.table = (struct strict_table){
		.known = true, .directory = other.directory, .va = other.va,
	};
	strict_report(&gpu->strict, &finding);
}

/* ------------------------------------------------------------------- targets */

static const enum pumice_unit units[COHERENCE_MASTERS] = {
	[GPU_VDM] = PUMICE_UNIT_VDM, [GPU_PDM] = PUMICE_UNIT_PDM,
	[GPU_TDM] = PUMICE_UNIT_PTLA, [GPU_RDM] = PUMICE_UNIT_RDM,
	[COHERENCE_CDM] = PUMICE_UNIT_CDM,
};

/*
 * Return the data master whose job reads a texture: for a program in the thread of its USC, for an
 * iterator of the PDM, or the transfer data master.
 */
static u32 reader_of(const struct pumice_gpu *gpu, const struct mmu_request *r,
		     const struct lines_writer *place)
{
	enum pumice_wave_master waves;
	u32 n;

	if (!place->code)
		return master_of(r);
	waves = usc_slot_master(gpu->usc[place->usc], place->slot);
	for (n = 0; n < GPU_MASTERS; n++)
		if (n != GPU_TDM && master_waves((enum gpu_master_number)n) == waves)
			return n;
	return COHERENCE_CDM;
}

static void report_target(struct pumice_gpu *gpu, const struct targets_access *access, bool write,
			  const struct targets_other *other)
{
	struct strict_finding finding = finding_of(PUMICE_FINDING_TARGET_READ, &access->place,
						   access->ctx, other->va);

	finding.access = write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ;
	finding.target = (struct strict_target){
		.known = true, .same_job = other->same_job, .master = (u8)units[other->master],
		.tag = other->tag, .unit = other->place.unit, .pc = other->place.pc,
		.code = other->place.code,
	};
	strict_report(&gpu->strict, &finding);
}

/* Return whether a read is of a texture, or of the source of a copy. */
static bool reads_texels(const struct mmu_request *r)
{
	return r->unit == PUMICE_UNIT_TAG || (r->unit == PUMICE_UNIT_PTLA && r->kind);
}

/* Compare accesses of textures and of the PBE. */
static void compare_targets(struct pumice_gpu *gpu, const struct mmu_request *r)
{
	const bool write = r->access == PUMICE_ACCESS_WRITE;
	struct targets_access access = { .ctx = r->ctx, .va = r->addr, .bytes = r->bytes,
					 .place = { .unit = (u8)r->unit } };
	struct targets_other other;

	if (write && r->unit == PUMICE_UNIT_PBE) {
		access.master = GPU_PDM;
		if (targets_store(gpu->strict.targets, &access, &other))
			report_target(gpu, &access, true, &other);
	} else if (!write && reads_texels(r)) {
		access.place = place_of(gpu, r->unit, r->usc, r->program);
		access.master = reader_of(gpu, r, &access.place);
		if (targets_read(gpu->strict.targets, &access, &other))
			report_target(gpu, &access, false, &other);
	}
}

/* ------------------------------------------------------------------- cores */

/* Compare an access with the bytes that caches of cores hold. */
static void compare_cores(struct pumice_gpu *gpu, const struct mmu_request *r, u32 client)
{
	const enum pumice_mem_path path = pumice_client_table[client].path;
	const bool atomic = client == PUMICE_MEM_CLIENT_USC_ATOMIC;
	const struct cores_access access = {
		.ctx = r->ctx, .va = r->addr, .bytes = r->bytes,
		.usc = path == PUMICE_MEM_PATH_DIRECT ? CORES_NO_USC : r->usc,
		.texture = path == PUMICE_MEM_PATH_TEXTURE,
		.atomic = atomic,
		.compares = atomic && r->usc < gpu->uscs && usc_compares(gpu->usc[r->usc]),
	};
	u64 at;

	if (r->coherent)
		return;
	if (r->access == PUMICE_ACCESS_WRITE)
		cores_write(gpu->strict.cores, &access);
	else if (path != PUMICE_MEM_PATH_DIRECT && cores_read(gpu->strict.cores, &access, &at))
		report_access(gpu, PUMICE_FINDING_STALE_CORE, r, r->access, at);
}

/* ------------------------------------------------------------------- buffers */

/*
 * Report an access beyond the end of a buffer, in its last page: the MMU maps whole pages, so it
 * reads or writes bytes that the buffer does not have, and no fault reports it.
 */
static void compare_ends(struct pumice_gpu *gpu, const struct mmu_request *r)
{
	struct places *places = &gpu->strict.places;
	struct strict_finding finding;
	struct places_end end;

	if (!places_have_ends(places) ||
	    !places_find_end(places, mmu_context_space(&gpu->mmu, r->ctx), r->addr, r->bytes, &end))
		return;
	finding = access_of(gpu, PUMICE_FINDING_PAST_END, r, r->addr);
	finding.buffer.end = end.end;
	memcpy(finding.buffer.label, end.label, sizeof(finding.buffer.label));
	strict_report(&gpu->strict, &finding);
}

/* ------------------------------------------------------------------- lines */

/* Report a load. That of an atomic operation, whose request is a write, is a read. */
static void report_stale(struct pumice_gpu *gpu, const struct mmu_request *r, u64 at)
{
	const enum pumice_access access =
		r->access == PUMICE_ACCESS_WRITE ? PUMICE_ACCESS_READ : r->access;

	report_access(gpu, PUMICE_FINDING_STALE_READ, r, access, at);
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
	compare_ends(gpu, r);
	compare_targets(gpu, r);
	compare_cores(gpu, r, client);
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
	place = place_of(gpu, r->unit, r->usc, r->program);
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

	cores_operate(gpu->strict.cores, op);
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

void coherence_reset(struct pumice_gpu *gpu)
{
	lines_reset(gpu->strict.lines);
	race_reset(gpu->strict.race);
	cores_reset(gpu->strict.cores);
	targets_reset(gpu->strict.targets);
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
	targets_job_begin(gpu->strict.targets, number, job->tag);
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
	const struct coherence_job *job = &gpu->started[number];

	targets_job_end(gpu->strict.targets, number);
	lines_job_end(gpu->strict.lines, job->ctx, units[number], (u8)waves_of(number), job->tag,
		      !others_run(gpu, number));
}

void coherence_compute_switched(struct pumice_gpu *gpu)
{
	targets_job_end(gpu->strict.targets, COHERENCE_CDM);
	lines_job_switched(gpu->strict.lines, gpu->started[COHERENCE_CDM].ctx);
}

void coherence_events_cleared(struct pumice_gpu *gpu, u32 events)
{
	u32 n;

	for (n = 0; gpu->strict.lines && n < COHERENCE_MASTERS; n++)
		if (events & dropped_ends(units[n]))
			lines_job_reported(gpu->strict.lines, units[n]);
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

void coherence_signalled(struct pumice_gpu *gpu, u64 tag)
{
	lines_job_signalled(gpu->strict.lines, busy_contexts(gpu), tag);
}

/* Get a byte of a job that has ended which is not in memory, or was not when that was signalled. */
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
		finding = finding_of(dirty.cleaned ? PUMICE_FINDING_EARLY_SIGNAL :
						     PUMICE_FINDING_UNFLUSHED_WRITE,
				     &dirty.writer, dirty.ctx, dirty.va);
		finding.access = PUMICE_ACCESS_WRITE;
		finding.job.tag = dirty.tag;
		finding.job.master = dirty.master;
		strict_report(&gpu->strict, &finding);
	}
}
