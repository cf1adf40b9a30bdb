// SPDX-License-Identifier: MIT
/*
 * The data masters: slices of jobs (document 000, "Compute Workload"; document
 * 004 for the others). Registers that several of them have are at the same
 * offsets. Only the CDM switches jobs out; jobs of the others run to completion
 * in one slice.
 *
 * The resources that a job has used are accumulated here, slice by slice, and
 * published to the host while the job runs: the host's time-outs count the time
 * on the data master only, without the time spent waiting for other jobs.
 */
#include "boot.h"
#include "bus.h"
#include "caches.h"
#include "dm.h"
#include "limits.h"
#include "log.h"
#include "mmu.h"
#include "counters.h"
#include "csr.h"
#include "strict.h"
#include "window.h"

/* The slice fields that the host reads: adjacent in struct fwif_context. */
struct host_view {
	u64 run_ticks;
	u64 slice_start;
	u64 job_ticks;
	u32 job_seqno;
	u32 slices;
	u64 stop_ticks;
	u64 stop_start;
	u32 renders_partial;
	u32 times_version;
};

#define VIEW_WORDS		(__builtin_offsetof(struct host_view, times_version) / 4)
#define HOST_VIEW_OFFSET	__builtin_offsetof(struct fwif_context, run_ticks)
_Static_assert(__builtin_offsetof(struct fwif_context, renders_partial) - HOST_VIEW_OFFSET ==
	       __builtin_offsetof(struct host_view, renders_partial), "struct host_view");
_Static_assert(__builtin_offsetof(struct fwif_context, times_version) - HOST_VIEW_OFFSET ==
	       __builtin_offsetof(struct host_view, times_version), "struct host_view");
_Static_assert(sizeof(struct fwif_context) - HOST_VIEW_OFFSET == sizeof(struct host_view),
	       "struct host_view");

static const u32 unit_base[FWIF_DM_COUNT] = {
	[FWIF_DM_CDM] = PUMICE_CDM_UNIT_BASE,
	[FWIF_DM_VDM] = PUMICE_VDM_UNIT_BASE,
	[FWIF_DM_PDM] = PUMICE_PDM_UNIT_BASE,
	[FWIF_DM_TDM] = PUMICE_TDM_UNIT_BASE,
	[FWIF_DM_RDM] = PUMICE_RDM_UNIT_BASE,
};

/* A register of a data master, by its name in the CDM or, for scenes, in the VDM. */
#define DM_REG(dm, name)	(unit_base[dm] + PUMICE_CDM_##name - PUMICE_CDM_UNIT_BASE)
#define DM_SCENE(dm)		(unit_base[dm] + PUMICE_VDM_SCENE_BASE - PUMICE_VDM_UNIT_BASE)

#define SAME_AS_CDM(unit, name) \
	_Static_assert(PUMICE_##unit##_##name - PUMICE_##unit##_UNIT_BASE == \
		       PUMICE_CDM_##name - PUMICE_CDM_UNIT_BASE, #unit " " #name)
#define ALL_SAME_AS_CDM(unit) \
	SAME_AS_CDM(unit, STREAM_BASE); \
	SAME_AS_CDM(unit, MMU_CTX); \
	SAME_AS_CDM(unit, CTRL); \
	SAME_AS_CDM(unit, STATUS); \
	SAME_AS_CDM(unit, FAULT_ADDR); \
	SAME_AS_CDM(unit, FAULT_INFO); \
	SAME_AS_CDM(unit, FAULT_CODE); \
	SAME_AS_CDM(unit, FAULT_WAVE); \
	SAME_AS_CDM(unit, FAULT_GROUP); \
	SAME_AS_CDM(unit, FAULT_GROUP_Z); \
	SAME_AS_CDM(unit, TIME_START); \
	SAME_AS_CDM(unit, TIME_END); \
	SAME_AS_CDM(unit, GROUPS); \
	SAME_AS_CDM(unit, TAG); \
	_Static_assert(PUMICE_##unit##_CTRL__START__MASK == PUMICE_CDM_CTRL__START__MASK && \
		       PUMICE_##unit##_CTRL__ABORT__MASK == PUMICE_CDM_CTRL__ABORT__MASK, #unit)
ALL_SAME_AS_CDM(VDM);
ALL_SAME_AS_CDM(PDM);
ALL_SAME_AS_CDM(TDM);
ALL_SAME_AS_CDM(RDM);

static struct context *running[FWIF_DM_COUNT];	/* owner of the job of each, or NULL */

/* The running or last slice of each. */
static u64 slice_start[FWIF_DM_COUNT];
static u8 mmu_context[FWIF_DM_COUNT];

static void publish(struct context *c, u64 start)
{
	const struct host_view view = {
		.run_ticks = c->run_ticks,
		.slice_start = start,
		.job_ticks = c->job_ticks,
		.job_seqno = c->seqno,
		.slices = c->slices,
		.stop_ticks = c->stop_ticks,
		.stop_start = c->stop_start,
		.renders_partial = c->renders_partial,
	};
	const u32 version = c->addr + __builtin_offsetof(struct fwif_context, times_version);

	/* The processor can be stopped between any two words, of which the host reads pairs. */
	window_write32(version, c->times_version + 1);
	fence_writes();
	window_write(c->addr + HOST_VIEW_OFFSET, &view, VIEW_WORDS);
	fence_writes();
	c->times_version += 2;
	window_write32(version, c->times_version);
}

u64 dm_tag(const struct context *c)
{
	return PUMICE_FIELD_PREP(PUMICE_CDM_TAG__CONTEXT, (u64)c->id) |
	       PUMICE_FIELD_PREP(PUMICE_CDM_TAG__SEQNO, (u64)c->seqno);
}

/* Program the registers that all data masters have: stream, owner, MMU context. */
static void load_job(u32 dm, const struct context *c, u64 stream, u32 mmu)
{
	reg_write64(DM_REG(dm, STREAM_BASE), stream);
	reg_write64(DM_REG(dm, TAG), dm_tag(c));
	reg_write(DM_REG(dm, MMU_CTX), PUMICE_FIELD_PREP(PUMICE_CDM_MMU_CTX__ID, mmu));
}

/* Program the registers of one data master only. */
static void load_private(const struct context *c)
{
	u32 split = fw_boot->split_prims ? fw_boot->split_prims : PUMICE_SPLIT_PRIMS;

	switch (c->dm) {
	case FWIF_DM_CDM:
		reg_write64(PUMICE_CDM_SAVE_BASE, c->save);
		break;
	case FWIF_DM_VDM:
		if (split > PUMICE_FIELD_GET(PUMICE_VDM_SPLIT__PRIMS, ~0u))
			split = PUMICE_FIELD_GET(PUMICE_VDM_SPLIT__PRIMS, ~0u);
		reg_write(PUMICE_VDM_SPLIT, PUMICE_FIELD_PREP(PUMICE_VDM_SPLIT__PRIMS, split));
		reg_write64(DM_SCENE(c->dm), c->scene);
		break;
	case FWIF_DM_PDM:
		reg_write64(DM_SCENE(c->dm), c->scene);
		break;
	case FWIF_DM_TDM:
		/* Since 2.5; START clears it. */
		if (c->presents)
			reg_write(PUMICE_TDM_PRESENTS,
				  PUMICE_FIELD_PREP(PUMICE_TDM_PRESENTS__COUNT, c->presents));
		break;
	}
}

/* A geometry job that waits for a partial render counts: it continues after that. */
static void update_limits(void)
{
	u32 dm, masters = 0;

	for (dm = 0; dm < FWIF_DM_COUNT; dm++)
		masters |= (u32)(running[dm] != NULL) << dm;
	limits_update(masters);
}

struct context *dm_running(u32 dm)
{
	return running[dm];
}

void dm_start(struct context *c)
{
	u32 mmu = mmu_bind(c);

	running[c->dm] = c;
	mmu_context[c->dm] = (u8)mmu;
	load_job(c->dm, c, c->stream, mmu);
	load_private(c);
	update_limits();
	if (!c->started)
		caches_start(c, mmu);
	if (c->perf)
		counters_begin(c->dm);
	slice_start[c->dm] = clock_now();
	publish(c, slice_start[c->dm]);
	if (strict_is_on())
		strict_job_begins(c->ready_since);
	if (c->started) {
		log_event(FWIF_LOG_JOB_RESUME, c->id, c->seqno, mmu);
		reg_write(PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__RESUME__MASK);
	} else {
		fw_boot->jobs_started++;
		log_event(FWIF_LOG_JOB_START, c->id, c->seqno, mmu);
		reg_write(DM_REG(c->dm, CTRL), PUMICE_CDM_CTRL__START__MASK);
	}
	if (c->dm == FWIF_DM_CDM)
		fw_boot->active_context = c->id;
}

void dm_switch_out(void)
{
	reg_write(PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__SWITCH_OUT__MASK);
}

void dm_abort(u32 dm)
{
	reg_write(DM_REG(dm, CTRL), PUMICE_CDM_CTRL__ABORT__MASK);
}

bool dm_busy(u32 dm)
{
	return reg_read(DM_REG(dm, STATUS)) & PUMICE_CDM_STATUS__BUSY__MASK;
}

static void end_stop(struct context *c)
{
	if (c->stop_start)
		c->stop_ticks += clock_now() - c->stop_start;
	c->stop_start = 0;
	c->renders_partial = false;
}

void dm_stop(struct context *c, bool stopped, bool renders_partial)
{
	end_stop(c);
	c->stop_start = stopped ? clock_now() : 0;
	c->renders_partial = renders_partial;
	publish(c, slice_start[c->dm]);
}

void dm_slice_end(struct context *c)
{
	u64 start = reg_read64(DM_REG(c->dm, TIME_START));
	u64 ticks = reg_read64(DM_REG(c->dm, TIME_END)) - start;

	running[c->dm] = NULL;
	if (!c->started)
		c->first_start = start;
	c->started = true;
	c->run_ticks += ticks;
	c->job_ticks += ticks;
	c->job_slices++;
	c->slices++;
	end_stop(c);
	mmu_unbind(mmu_context[c->dm]);
	update_limits();
	if (c->dm == FWIF_DM_CDM)
		fw_boot->active_context = FWIF_NO_CONTEXT;
}

void dm_switched(struct context *c)
{
	publish(c, 0);
}

void dm_fault(u32 dm, struct fwif_job_result *r)
{
	u32 status = reg_read(DM_REG(dm, STATUS));
	u64 info = reg_read64(DM_REG(dm, FAULT_INFO));

	r->fault = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT, status);
	r->unit = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__UNIT, status);
	r->access = (u8)PUMICE_FIELD_GET(PUMICE_CDM_STATUS__ACCESS, status);
	r->mmu_context = (u8)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__CTX, info);
	r->addr = reg_read64(DM_REG(dm, FAULT_ADDR));
	r->pc = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__PC, info);
	r->usc = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_INFO__USC, info);
}

u64 dm_fault_code(u32 dm)
{
	return reg_read64(DM_REG(dm, FAULT_CODE));
}

void dm_fault_wave(u32 dm, struct fwif_stuck *s)
{
	u64 wave, group;

	/* Since 2.2. */
	if (boot_device_minor() < 2)
		return;
	wave = reg_read64(DM_REG(dm, FAULT_WAVE));
	group = reg_read64(DM_REG(dm, FAULT_GROUP));
	if (wave & PUMICE_CDM_FAULT_WAVE__WAVE_KNOWN__MASK)
		s->known |= FWIF_KNOWN_WAVE;
	if (wave & PUMICE_CDM_FAULT_WAVE__LANE_KNOWN__MASK)
		s->known |= FWIF_KNOWN_LANE;
	if (wave & PUMICE_CDM_FAULT_WAVE__GROUP_KNOWN__MASK)
		s->known |= FWIF_KNOWN_GROUP;
	s->lane = (u8)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_WAVE__LANE, wave);
	s->instance = (u16)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_WAVE__INSTANCE, wave);
	s->group[0] = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_GROUP__X, group);
	s->group[1] = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_GROUP__Y, group);
	s->group[2] = reg_read(DM_REG(dm, FAULT_GROUP_Z));
	s->place[0].lanes = (u32)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_WAVE__LANES, wave);
	s->place[0].slot = (u8)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_WAVE__SLOT, wave);
	s->place[0].wave = (u8)PUMICE_FIELD_GET(PUMICE_CDM_FAULT_WAVE__WAVE, wave);
}

void dm_result(const struct context *c, bool aborted, struct fwif_job_result *r)
{
	u32 status = reg_read(DM_REG(c->dm, STATUS));

	*r = (struct fwif_job_result){
		.seqno = c->seqno,
		.mmu_context = mmu_context[c->dm],
		.time_start = c->first_start,
		.time_end = reg_read64(DM_REG(c->dm, TIME_END)),
		.groups = reg_read64(DM_REG(c->dm, GROUPS)),
		.run_ticks = c->job_ticks,
		.slices = c->job_slices,
		.partials = c->partials,
	};
	if (aborted) {
		r->fault = PUMICE_FAULT_KILLED;
		r->unit = PUMICE_UNIT_FW;
	} else if (PUMICE_FIELD_GET(PUMICE_CDM_STATUS__FAULT, status)) {
		dm_fault(c->dm, r);
	}
}

void dm_job_reset(struct context *c)
{
	c->started = false;
	c->job_ticks = 0;
	c->stop_ticks = 0;
	c->job_slices = 0;
	c->partials = 0;
	publish(c, 0);
}

u64 dm_slice_start(u32 dm)
{
	return slice_start[dm];
}

u64 dm_groups(u32 dm)
{
	return reg_read64_moving(DM_REG(dm, GROUPS));
}

void dm_vdm_resume(void)
{
	reg_write(PUMICE_VDM_CTRL, PUMICE_VDM_CTRL__RESUME__MASK);
}

void dm_vdm_flush(void)
{
	reg_write(PUMICE_VDM_CTRL, PUMICE_VDM_CTRL__FLUSH__MASK);
}

void dm_partial_start(const struct context *c)
{
	caches_start_partial(c, mmu_context[FWIF_DM_VDM]);
	load_job(FWIF_DM_PDM, c, c->render, mmu_context[FWIF_DM_VDM]);
	reg_write64(PUMICE_PDM_SCENE_BASE, c->scene);
	reg_write(PUMICE_PDM_CTRL,
		  PUMICE_PDM_CTRL__START__MASK | PUMICE_PDM_CTRL__PARTIAL__MASK);
}
