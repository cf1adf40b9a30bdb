// SPDX-License-Identifier: MIT
/* Fake data masters: see fake.h. */
#include "fake.h"

#include <string.h>

#include "fixture.h"
#include "pdm/pdm.h"
#include "pm/pm.h"
#include "ptla/ptla.h"
#include "rdm/rdm.h"
#include "regs/regs.h"
#include "vdm/vdm.h"

struct fake fake[FAKES];
u32 fake_version;
struct fake_pm fake_pm;

static struct ptla_flip flips[PUMICE_TDM_FLIPS];
static u32 flip_count;

/* The linker replaces the device's own function by these. */
u64 __real_regs_read(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os, u32 offset,
		     unsigned int size);
u64 __wrap_regs_read(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os, u32 offset,
		     unsigned int size);
u64 __wrap_regs_read(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os, u32 offset,
		     unsigned int size)
{
	if (bus == PUMICE_REG_BUS_FW && offset == PUMICE_SYS_VERSION && fake_version)
		return fake_version;
	return __real_regs_read(gpu, bus, os, offset, size);
}

static void make(unsigned int number, const struct dm_ops *ops, void *opaque)
{
	fake[number] = (struct fake){ .ops = ops, .opaque = opaque };
}

static bool start(unsigned int number, const struct dm_job *job)
{
	struct fake *f = &fake[number];

	if (f->status.busy) {
		f->refused++;
		return false;
	}
	f->job = *job;
	f->status = (struct dm_status){
		.busy = true, .time_start = f->ops->now(f->opaque),
	};
	f->starts++;
	return true;
}

/* Aborts complete at once: the event is raised during the register access. */
static void finish(unsigned int number, enum dm_end end)
{
	struct fake *f = &fake[number];

	if (end != DM_MEMORY) {
		f->status.busy = false;
		f->status.time_end = f->ops->now(f->opaque);
	}
	f->ops->ended(f->opaque, end);
}

static void stop(unsigned int number)
{
	if (!fake[number].status.busy)
		return;
	fake[number].aborts++;
	finish(number, DM_ABORTED);
}

void fake_end(unsigned int number, enum dm_end end)
{
	struct fake *f = &fake[number];

	f->ops->lock(f->opaque);
	finish(number, end);
	f->ops->unlock(f->opaque);
}

void fake_fault(unsigned int number, u8 why, u64 addr)
{
	fake[number].status.fault = (struct gpu_fault){
		.fault = why, .unit = PUMICE_UNIT_IPF, .access = PUMICE_ACCESS_WRITE,
		.ctx = (u8)fake[number].job.ctx, .usc = 1, .pc = 7, .addr = addr,
	};
	fake_end(number, DM_FAULT);
}

void fake_low(u32 list)
{
	fake_pm.low_list = list;
	fake_pm.low(fake_pm.opaque);
}

struct vdm *vdm_create(const struct dm_config *config)
{
	make(FAKE_VDM, config->ops, config->opaque);
	return (struct vdm *)&fake[FAKE_VDM];
}

void vdm_destroy(struct vdm *vdm)
{
	(void)vdm;
}

void vdm_reset(struct vdm *vdm)
{
	(void)vdm;
}

bool vdm_start(struct vdm *vdm, const struct dm_job *job)
{
	(void)vdm;
	return start(FAKE_VDM, job);
}

void vdm_abort(struct vdm *vdm)
{
	(void)vdm;
	stop(FAKE_VDM);
}

void vdm_resume(struct vdm *vdm)
{
	(void)vdm;
	fake[FAKE_VDM].resumes++;
}

void vdm_flush(struct vdm *vdm)
{
	(void)vdm;
	fake[FAKE_VDM].flushes++;
}

const struct dm_status *vdm_status(const struct vdm *vdm)
{
	(void)vdm;
	return &fake[FAKE_VDM].status;
}

void vdm_counters_add(const struct vdm *vdm, u64 *value)
{
	(void)vdm;
	(void)value;
}

bool vdm_core_step(struct vdm *vdm, unsigned int core, const _Atomic bool *stop_step)
{
	(void)vdm;
	(void)core;
	(void)stop_step;
	return false;
}

struct pdm *pdm_create(const struct dm_config *config)
{
	make(FAKE_PDM, config->ops, config->opaque);
	return (struct pdm *)&fake[FAKE_PDM];
}

void pdm_destroy(struct pdm *pdm)
{
	(void)pdm;
}

void pdm_reset(struct pdm *pdm)
{
	(void)pdm;
}

void pdm_trace_begin(struct pdm *pdm)
{
	(void)pdm;
}

bool pdm_start(struct pdm *pdm, const struct dm_job *job)
{
	(void)pdm;
	return start(FAKE_PDM, job);
}

void pdm_abort(struct pdm *pdm)
{
	(void)pdm;
	stop(FAKE_PDM);
}

const struct dm_status *pdm_status(const struct pdm *pdm)
{
	(void)pdm;
	return &fake[FAKE_PDM].status;
}

void pdm_counters_add(const struct pdm *pdm, u64 *value)
{
	(void)pdm;
	(void)value;
}

bool pdm_core_step(struct pdm *pdm, unsigned int core, const _Atomic bool *stop_step)
{
	(void)pdm;
	(void)core;
	(void)stop_step;
	return false;
}

struct ptla *ptla_create(struct mmu *mmu, const struct dm_ops *ops, void *opaque,
			 struct trace *trace)
{
	(void)mmu;
	(void)trace;
	flip_count = 0;
	make(FAKE_TDM, ops, opaque);
	return (struct ptla *)&fake[FAKE_TDM];
}

void ptla_destroy(struct ptla *ptla)
{
	(void)ptla;
}

void ptla_reset(struct ptla *ptla)
{
	(void)ptla;
}

bool ptla_start(struct ptla *ptla, const struct dm_job *job)
{
	(void)ptla;
	return start(FAKE_TDM, job);
}

void ptla_abort(struct ptla *ptla)
{
	(void)ptla;
	stop(FAKE_TDM);
}

const struct dm_status *ptla_status(const struct ptla *ptla)
{
	(void)ptla;
	return &fake[FAKE_TDM].status;
}

void fake_flip(u32 frame, u64 addr, u64 time)
{
	struct fake *f = &fake[FAKE_TDM];

	assert_true(flip_count < PUMICE_TDM_FLIPS);
	f->ops->lock(f->opaque);
	flips[flip_count++] = (struct ptla_flip){ .frame = frame, .addr = addr, .time = time };
	f->ops->flipped(f->opaque);
	f->ops->unlock(f->opaque);
}

u32 ptla_flips(const struct ptla *ptla)
{
	(void)ptla;
	return flip_count;
}

struct ptla_flip ptla_flip(const struct ptla *ptla)
{
	(void)ptla;
	return flip_count ? flips[0] : (struct ptla_flip){ 0 };
}

void ptla_flip_pop(struct ptla *ptla)
{
	(void)ptla;
	assert_true(flip_count > 0);
	memmove(&flips[0], &flips[1], --flip_count * sizeof(flips[0]));
}

void ptla_counters_add(const struct ptla *ptla, u64 *value)
{
	(void)ptla;
	(void)value;
}

bool ptla_step(struct ptla *ptla, unsigned int unit, const _Atomic bool *stop_step)
{
	(void)ptla;
	(void)unit;
	(void)stop_step;
	return false;
}

struct rdm *rdm_create(const struct dm_config *config)
{
	make(FAKE_RDM, config->ops, config->opaque);
	return (struct rdm *)&fake[FAKE_RDM];
}

void rdm_destroy(struct rdm *rdm)
{
	(void)rdm;
}

void rdm_reset(struct rdm *rdm)
{
	(void)rdm;
}

bool rdm_start(struct rdm *rdm, const struct dm_job *job)
{
	(void)rdm;
	return start(FAKE_RDM, job);
}

void rdm_abort(struct rdm *rdm)
{
	(void)rdm;
	stop(FAKE_RDM);
}

const struct dm_status *rdm_status(const struct rdm *rdm)
{
	(void)rdm;
	return &fake[FAKE_RDM].status;
}

void rdm_counters_add(const struct rdm *rdm, u64 *value)
{
	(void)rdm;
	(void)value;
}

bool rdm_step(struct rdm *rdm, const _Atomic bool *stop_step)
{
	(void)rdm;
	(void)stop_step;
	return false;
}

struct pm *pm_create(const struct pm_config *config)
{
	fake_pm = (struct fake_pm){
		.low = config->low, .opaque = config->opaque, .mmu = config->mmu,
	};
	return (struct pm *)&fake_pm;
}

void pm_destroy(struct pm *pm)
{
	(void)pm;
}

void pm_reset(struct pm *pm)
{
	(void)pm;
}

/* Grow a list as the PM does: never shrink it, never exceed its table. */
bool pm_grow(struct pm *pm, u64 list, u32 pages)
{
	static struct mmu_tlb tlb;
	struct pumice_free_list f;
	struct gpu_fault fault;
	u32 *words;

	(void)pm;
	/* Entries may be of the GPU of an earlier test, whose generations were the same. */
	mmu_tlb_reset(&tlb);
	fake_pm.grows++;
	fake_pm.grown_list = list;
	fake_pm.grown_pages = pages;
	words = (u32 *)(void *)mmu_translate(fake_pm.mmu, &tlb, 0, list, 1, PUMICE_ACCESS_WRITE,
					     PUMICE_UNIT_PM, &fault);
	if (!words || fake_pm.refuse)
		return true;
	pumice_free_list_unpack(words, &f);
	if (pages > f.pages && pages <= f.max_pages) {
		f.pages = pages;
		pumice_free_list_pack(words, &f);
	}
	return true;
}

bool pm_release(struct pm *pm, u64 scene)
{
	(void)pm;
	fake_pm.releases++;
	fake_pm.released = scene;
	return true;
}

u64 pm_low_list(const struct pm *pm)
{
	(void)pm;
	return fake_pm.low_list;
}

u64 pm_allocated(const struct pm *pm)
{
	(void)pm;
	return fake_pm.freed;
}

u64 pm_freed(const struct pm *pm)
{
	(void)pm;
	return fake_pm.freed;
}

u64 pm_from_spares(const struct pm *pm)
{
	(void)pm;
	return 0;
}

u64 pm_mapped(const struct pm *pm)
{
	(void)pm;
	return 0;
}
