// SPDX-License-Identifier: MIT
/* Registers of unit PDS: control of resources, and their current use. */
#include "../pds/gfx.h"
#include "units.h"

REG_READ(reg_pds_ctrl)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_PDS_CTRL__OUT_OF_ORDER,
				 pds_control(gpu->pds)->out_of_order);
}

REG_WRITE(reg_pds_ctrl_write)
{
	struct pds_control control = *pds_control(gpu->pds);

	(void)at;
	control.out_of_order = value & PUMICE_PDS_CTRL__OUT_OF_ORDER__MASK;
	pds_set_control(gpu->pds, &control);
	return REG_DONE;
}

/* Return the limit in a register. */
static u32 *limit(struct pds_control *control, const struct reg_access *at)
{
	switch (at->info->offset) {
	case PUMICE_PDS_CDM_TASKS:
		return &control->tasks;
	case PUMICE_PDS_CDM_UNIFIED:
		return &control->unified_bytes;
	case PUMICE_PDS_CDM_COMMON:
		return &control->common_bytes;
	case PUMICE_PDS_VDM_TASKS:
		return &control->vdm.tasks;
	case PUMICE_PDS_VDM_UNIFIED:
		return &control->vdm.unified_bytes;
	case PUMICE_PDS_VDM_COMMON:
		return &control->vdm.common_bytes;
	case PUMICE_PDS_PDM_TASKS:
		return &control->pdm.tasks;
	case PUMICE_PDS_PDM_UNIFIED:
		return &control->pdm.unified_bytes;
	case PUMICE_PDS_PDM_COMMON:
		return &control->pdm.common_bytes;
	case PUMICE_PDS_RDM_TASKS:
		return &control->rdm.tasks;
	case PUMICE_PDS_RDM_UNIFIED:
		return &control->rdm.unified_bytes;
	case PUMICE_PDS_RDM_COMMON:
		return &control->rdm.common_bytes;
	default:
		return &control->local_bytes;
	}
}

REG_READ(reg_pds_limit)
{
	struct pds_control control = *pds_control(gpu->pds);

	return *limit(&control, at);
}

REG_WRITE(reg_pds_limit_write)
{
	struct pds_control control = *pds_control(gpu->pds);

	*limit(&control, at) = (u32)value;
	pds_set_control(gpu->pds, &control);
	return REG_DONE;
}

static struct pds_load load_of(const struct pumice_gpu *gpu)
{
	struct pds_load load;

	pds_load(gpu->pds, &load);
	return load;
}

REG_READ(reg_pds_tasks)
{
	(void)at;
	return load_of(gpu).tasks;
}

REG_READ(reg_pds_waves)
{
	(void)at;
	return load_of(gpu).waves;
}

REG_READ(reg_pds_peak)
{
	(void)at;
	return load_of(gpu).peak_tasks;
}

REG_WRITE(reg_pds_peak_write)
{
	(void)at;
	(void)value;
	pds_reset_peak(gpu->pds);
	return REG_DONE;
}

REG_READ(reg_pds_held)
{
	(void)at;
	return load_of(gpu).held;
}

REG_READ(reg_pds_outputs)
{
	(void)at;
	return load_of(gpu).output_bytes;
}

REG_READ(reg_pds_peak_outputs)
{
	(void)at;
	return load_of(gpu).peak_output_bytes;
}

REG_WRITE(reg_pds_peak_outputs_write)
{
	(void)at;
	(void)value;
	pds_reset_peak_outputs(gpu->pds);
	return REG_DONE;
}

REG_READ(reg_pds_dms_policy)
{
	(void)at;
	return PUMICE_FIELD_PREP(PUMICE_PDS_DMS_POLICY__POLICY, pds_control(gpu->pds)->policy);
}

REG_WRITE(reg_pds_dms_policy_write)
{
	struct pds_control control = *pds_control(gpu->pds);

	(void)at;
	control.policy = (enum pumice_dms_policy)
		PUMICE_FIELD_GET(PUMICE_PDS_DMS_POLICY__POLICY, value);
	pds_set_control(gpu->pds, &control);
	return REG_DONE;
}

REG_READ(reg_pds_dms_waits)
{
	return (u32)pds_waits(gpu->pds, (enum pds_dm)at->index);
}

REG_READ(reg_pds_starved)
{
	return pds_starved_since(gpu->pds, (enum pds_dm)at->index);
}

REG_READ(reg_pds_oldest)
{
	return pds_oldest(gpu->pds, (enum pds_dm)(at->index / PDS_DM_COUNT),
			  (enum pds_dm)(at->index % PDS_DM_COUNT));
}
