// SPDX-License-Identifier: MIT
/*
 * Every register and what it does. The order is that of the generated table; the
 * tests compare the two.
 */
#include "units.h"

u64 reg_constant(struct pumice_gpu *gpu, const struct reg_access *at)
{
	(void)gpu;
	return at->info->reset;
}

const struct reg_binding reg_bindings[PUMICE_REG_TABLE_SIZE] = {
	/* offset, read, write */
	{ PUMICE_OS_SCHEDULE, NULL, reg_os_schedule },
	{ PUMICE_OS_IRQ_STATUS, reg_os_irq_status, NULL },
	{ PUMICE_OS_IRQ_ENABLE, reg_os_irq_enable, reg_os_irq_enable_write },
	{ PUMICE_OS_IRQ_CLEAR, NULL, reg_os_irq_clear },

	{ PUMICE_SYS_ID, reg_constant, NULL },
	{ PUMICE_SYS_VERSION, reg_constant, NULL },
	{ PUMICE_SYS_CONFIG, reg_sys_config, NULL },
	{ PUMICE_SYS_STORES, reg_sys_stores, NULL },
	{ PUMICE_SYS_CLOCK, reg_sys_clock, NULL },
	{ PUMICE_SYS_CLOCK_HZ, reg_constant, NULL },
	{ PUMICE_SYS_RESET, NULL, reg_sys_reset },
	{ PUMICE_SYS_STATUS, reg_sys_status, NULL },
	{ PUMICE_SYS_REGISTERS, reg_sys_registers, NULL },

	{ PUMICE_FW_IMAGE_ADDR, reg_fw_image_addr, reg_fw_image_addr_write },
	{ PUMICE_FW_IMAGE_SIZE, reg_fw_image_size, reg_fw_image_size_write },
	{ PUMICE_FW_ENTRY, reg_fw_entry, reg_fw_entry_write },
	{ PUMICE_FW_BOOT_ARG, reg_fw_boot_arg, reg_fw_boot_arg_write },
	{ PUMICE_FW_CTRL, reg_fw_ctrl, reg_fw_ctrl_write },
	{ PUMICE_FW_STATUS, reg_fw_status, NULL },
	{ PUMICE_FW_PC, reg_fw_pc, NULL },
	{ PUMICE_FW_CAUSE, reg_fw_cause, NULL },
	{ PUMICE_FW_INSTRET, reg_fw_instret, NULL },

	{ PUMICE_MMU_CTX(0), reg_mmu_ctx, reg_mmu_ctx_write },
	{ PUMICE_MMU_RANGE_START(0), reg_mmu_range_start, reg_mmu_range_start_write },
	{ PUMICE_MMU_RANGE_END(0), reg_mmu_range_end, reg_mmu_range_end_write },
	{ PUMICE_MMU_INVAL_START, reg_mmu_inval_start, reg_mmu_inval_start_write },
	{ PUMICE_MMU_INVAL_END, reg_mmu_inval_end, reg_mmu_inval_end_write },
	{ PUMICE_MMU_INVAL, NULL, reg_mmu_inval },
	{ PUMICE_MMU_FAULT_COUNT, reg_mmu_fault_count, NULL },

	{ PUMICE_IC_PENDING, reg_ic_pending, NULL },
	{ PUMICE_IC_ENABLE, reg_ic_enable, reg_ic_enable_write },
	{ PUMICE_IC_CLEAR, NULL, reg_ic_clear },
	{ PUMICE_IC_HOST_IRQ, NULL, reg_ic_host_irq },
	{ PUMICE_IC_TIMECMP, reg_ic_timecmp, reg_ic_timecmp_write },

	{ PUMICE_CDM_STREAM_BASE, reg_cdm_stream, reg_cdm_stream_write },
	{ PUMICE_CDM_MMU_CTX, reg_cdm_ctx, reg_cdm_ctx_write },
	{ PUMICE_CDM_CTRL, NULL, reg_cdm_ctrl },
	{ PUMICE_CDM_STATUS, reg_cdm_status, NULL },
	{ PUMICE_CDM_FAULT_ADDR, reg_cdm_fault_addr, NULL },
	{ PUMICE_CDM_FAULT_INFO, reg_cdm_fault_info, NULL },
	{ PUMICE_CDM_TIME_START, reg_cdm_time_start, NULL },
	{ PUMICE_CDM_TIME_END, reg_cdm_time_end, NULL },
	{ PUMICE_CDM_GROUPS, reg_cdm_groups, NULL },
	{ PUMICE_CDM_SAVE_BASE, reg_cdm_save, reg_cdm_save_write },
	{ PUMICE_CDM_TAG, reg_cdm_tag, reg_cdm_tag_write },

	{ PUMICE_DBG_CDM_STATUS, reg_cdm_status, NULL },
	{ PUMICE_DBG_TASKS, reg_pds_tasks, NULL },
	{ PUMICE_DBG_CDM_GROUPS, reg_cdm_groups, NULL },
	{ PUMICE_DBG_VDM_STATUS, reg_dbg_vdm_status, NULL },
	{ PUMICE_DBG_PDM_STATUS, reg_dbg_pdm_status, NULL },
	{ PUMICE_DBG_TDM_STATUS, reg_dbg_tdm_status, NULL },

	{ PUMICE_PDS_CTRL, reg_pds_ctrl, reg_pds_ctrl_write },
	{ PUMICE_PDS_CDM_TASKS, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_CDM_UNIFIED, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_CDM_COMMON, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_CDM_LOCAL, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_TASKS, reg_pds_tasks, NULL },
	{ PUMICE_PDS_WAVES, reg_pds_waves, NULL },
	{ PUMICE_PDS_PEAK_TASKS, reg_pds_peak, reg_pds_peak_write },
	{ PUMICE_PDS_HELD, reg_pds_held, NULL },
	{ PUMICE_PDS_VDM_TASKS, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_VDM_UNIFIED, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_VDM_COMMON, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_PDM_TASKS, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_PDM_UNIFIED, reg_pds_limit, reg_pds_limit_write },
	{ PUMICE_PDS_PDM_COMMON, reg_pds_limit, reg_pds_limit_write },

	{ PUMICE_PERF_CTRL, reg_perf_ctrl, reg_perf_ctrl_write },
	{ PUMICE_PERF_COUNTER(0), reg_perf_counter, NULL },

	{ PUMICE_TRACE_BASE, reg_trace_base, reg_trace_base_write },
	{ PUMICE_TRACE_ENTRIES, reg_trace_entries, reg_trace_entries_write },
	{ PUMICE_TRACE_CTRL, reg_trace_ctrl, reg_trace_ctrl_write },
	{ PUMICE_TRACE_WRITTEN, reg_trace_written, NULL },

	{ PUMICE_VDM_STREAM_BASE, reg_master_stream, reg_master_stream_write },
	{ PUMICE_VDM_MMU_CTX, reg_master_ctx, reg_master_ctx_write },
	{ PUMICE_VDM_CTRL, NULL, reg_vdm_ctrl },
	{ PUMICE_VDM_STATUS, reg_master_status, NULL },
	{ PUMICE_VDM_FAULT_ADDR, reg_master_fault_addr, NULL },
	{ PUMICE_VDM_FAULT_INFO, reg_master_fault_info, NULL },
	{ PUMICE_VDM_TIME_START, reg_master_time_start, NULL },
	{ PUMICE_VDM_TIME_END, reg_master_time_end, NULL },
	{ PUMICE_VDM_GROUPS, reg_master_groups, NULL },
	{ PUMICE_VDM_SCENE_BASE, reg_master_scene, reg_master_scene_write },
	{ PUMICE_VDM_TAG, reg_master_tag, reg_master_tag_write },
	{ PUMICE_VDM_SPLIT, reg_vdm_split, reg_vdm_split_write },

	{ PUMICE_PDM_STREAM_BASE, reg_master_stream, reg_master_stream_write },
	{ PUMICE_PDM_MMU_CTX, reg_master_ctx, reg_master_ctx_write },
	{ PUMICE_PDM_CTRL, NULL, reg_pdm_ctrl },
	{ PUMICE_PDM_STATUS, reg_master_status, NULL },
	{ PUMICE_PDM_FAULT_ADDR, reg_master_fault_addr, NULL },
	{ PUMICE_PDM_FAULT_INFO, reg_master_fault_info, NULL },
	{ PUMICE_PDM_TIME_START, reg_master_time_start, NULL },
	{ PUMICE_PDM_TIME_END, reg_master_time_end, NULL },
	{ PUMICE_PDM_GROUPS, reg_master_groups, NULL },
	{ PUMICE_PDM_SCENE_BASE, reg_master_scene, reg_master_scene_write },
	{ PUMICE_PDM_TAG, reg_master_tag, reg_master_tag_write },

	{ PUMICE_TDM_STREAM_BASE, reg_master_stream, reg_master_stream_write },
	{ PUMICE_TDM_MMU_CTX, reg_master_ctx, reg_master_ctx_write },
	{ PUMICE_TDM_CTRL, NULL, reg_tdm_ctrl },
	{ PUMICE_TDM_STATUS, reg_master_status, NULL },
	{ PUMICE_TDM_FAULT_ADDR, reg_master_fault_addr, NULL },
	{ PUMICE_TDM_FAULT_INFO, reg_master_fault_info, NULL },
	{ PUMICE_TDM_TIME_START, reg_master_time_start, NULL },
	{ PUMICE_TDM_TIME_END, reg_master_time_end, NULL },
	{ PUMICE_TDM_GROUPS, reg_master_groups, NULL },
	{ PUMICE_TDM_TAG, reg_master_tag, reg_master_tag_write },

	{ PUMICE_PM_LIST, reg_pm_list, reg_pm_list_write },
	{ PUMICE_PM_GROW, NULL, reg_pm_grow },
	{ PUMICE_PM_RELEASE, NULL, reg_pm_release },
	{ PUMICE_PM_LOW_LIST, reg_pm_low_list, NULL },
	{ PUMICE_PM_ALLOCATED, reg_pm_allocated, NULL },
	{ PUMICE_PM_FREED, reg_pm_freed, NULL },
};
