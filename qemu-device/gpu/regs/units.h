/* SPDX-License-Identifier: MIT */
/*
 * Functions of the registers, by unit of registers.xml, bound by table.c. Each is a thin step
 * from register bits to a block's own functions. All are called with the device lock held;
 * see struct reg_binding.
 */
#ifndef PUMICE_GPU_REGS_UNITS_H
#define PUMICE_GPU_REGS_UNITS_H

#include "../gpu.h"
#include "../number.h"
#include "regs.h"

#define REG_READ(name) u64 name(struct pumice_gpu *gpu, const struct reg_access *at)
#define REG_WRITE(name) \
	enum reg_after name(struct pumice_gpu *gpu, const struct reg_access *at, u64 value)

/* Return the reset value of a constant register. */
REG_READ(reg_constant);

/* os.c */
REG_WRITE(reg_os_schedule);
REG_READ(reg_os_irq_status);
REG_READ(reg_os_irq_enable);
REG_WRITE(reg_os_irq_enable_write);
REG_WRITE(reg_os_irq_clear);
REG_READ(reg_os_info);
REG_READ(reg_os_ctrl);
REG_WRITE(reg_os_ctrl_write);
REG_READ(reg_os_catalogue);
REG_WRITE(reg_os_catalogue_write);
REG_READ(reg_os_boot_arg);
REG_WRITE(reg_os_boot_arg_write);
REG_READ(reg_ic_os_ctrl);
REG_WRITE(reg_ic_os_ctrl_write);
REG_READ(reg_ic_os_boot_arg);

/* sys.c */
REG_READ(reg_sys_config);
REG_READ(reg_sys_stores);
REG_READ(reg_sys_clock);
REG_READ(reg_sys_status);
REG_WRITE(reg_sys_reset);
REG_READ(reg_sys_registers);
REG_READ(reg_sys_shape);
REG_READ(reg_sys_caches);
REG_READ(reg_sys_units);
REG_READ(reg_sys_mode);
REG_WRITE(reg_sys_mode_write);

/* fw.c: firmware processor and its interrupt controller */
REG_READ(reg_fw_image_addr);
REG_WRITE(reg_fw_image_addr_write);
REG_READ(reg_fw_image_size);
REG_WRITE(reg_fw_image_size_write);
REG_READ(reg_fw_entry);
REG_WRITE(reg_fw_entry_write);
REG_READ(reg_fw_boot_arg);
REG_WRITE(reg_fw_boot_arg_write);
REG_READ(reg_fw_ctrl);
REG_WRITE(reg_fw_ctrl_write);
REG_READ(reg_fw_status);
REG_READ(reg_fw_pc);
REG_READ(reg_fw_cause);
REG_READ(reg_fw_instret);
REG_READ(reg_ic_pending);
REG_READ(reg_ic_enable);
REG_WRITE(reg_ic_enable_write);
REG_WRITE(reg_ic_clear);
REG_WRITE(reg_ic_host_irq);
REG_READ(reg_ic_timecmp);
REG_WRITE(reg_ic_timecmp_write);

/* mmu.c */
REG_READ(reg_mmu_ctx);
REG_WRITE(reg_mmu_ctx_write);
REG_READ(reg_mmu_range_start);
REG_WRITE(reg_mmu_range_start_write);
REG_READ(reg_mmu_range_end);
REG_WRITE(reg_mmu_range_end_write);
REG_READ(reg_mmu_inval_start);
REG_WRITE(reg_mmu_inval_start_write);
REG_READ(reg_mmu_inval_end);
REG_WRITE(reg_mmu_inval_end_write);
REG_WRITE(reg_mmu_inval);
REG_READ(reg_mmu_fault_count);
REG_READ(reg_mmu_page_sizes);
REG_WRITE(reg_mmu_page_sizes_write);

/* cdm.c: compute data master and its mirror for the host */
REG_READ(reg_cdm_stream);
REG_WRITE(reg_cdm_stream_write);
REG_READ(reg_cdm_ctx);
REG_WRITE(reg_cdm_ctx_write);
REG_READ(reg_cdm_save);
REG_WRITE(reg_cdm_save_write);
REG_READ(reg_cdm_tag);
REG_WRITE(reg_cdm_tag_write);
REG_WRITE(reg_cdm_ctrl);
REG_READ(reg_cdm_status);
REG_READ(reg_cdm_fault_addr);
REG_READ(reg_cdm_fault_info);
REG_READ(reg_cdm_fault_code);
REG_READ(reg_cdm_fault_wave);
REG_READ(reg_cdm_fault_group);
REG_READ(reg_cdm_fault_group_z);
REG_READ(reg_cdm_time_start);
REG_READ(reg_cdm_time_end);
REG_READ(reg_cdm_groups);

/* pds.c; DBG's mirror too */
REG_READ(reg_pds_ctrl);
REG_WRITE(reg_pds_ctrl_write);
REG_READ(reg_pds_limit);
REG_WRITE(reg_pds_limit_write);
REG_READ(reg_pds_tasks);
REG_READ(reg_pds_waves);
REG_READ(reg_pds_peak);
REG_WRITE(reg_pds_peak_write);
REG_READ(reg_pds_held);
REG_READ(reg_pds_dms_policy);
REG_WRITE(reg_pds_dms_policy_write);
REG_READ(reg_pds_dms_waits);
REG_READ(reg_pds_starved);
REG_READ(reg_pds_oldest);
REG_READ(reg_pds_outputs);
REG_READ(reg_pds_peak_outputs);
REG_WRITE(reg_pds_peak_outputs_write);

/* master.c: VDM, PDM, TDM, RDM, their mirrors, and PM */
REG_READ(reg_master_stream);
REG_WRITE(reg_master_stream_write);
REG_READ(reg_master_ctx);
REG_WRITE(reg_master_ctx_write);
REG_READ(reg_master_scene);
REG_WRITE(reg_master_scene_write);
REG_READ(reg_master_tag);
REG_WRITE(reg_master_tag_write);
REG_READ(reg_vdm_split);
REG_WRITE(reg_vdm_split_write);
REG_WRITE(reg_vdm_ctrl);
REG_WRITE(reg_pdm_ctrl);
REG_WRITE(reg_tdm_ctrl);
REG_READ(reg_tdm_presents);
REG_WRITE(reg_tdm_presents_write);
REG_READ(reg_tdm_flip_status);
REG_READ(reg_tdm_flip_frame);
REG_READ(reg_tdm_flip_addr);
REG_READ(reg_tdm_flip_time);
REG_WRITE(reg_tdm_flip_ctrl);
REG_READ(reg_master_status);
REG_READ(reg_dbg_vdm_status);
REG_READ(reg_dbg_pdm_status);
REG_READ(reg_dbg_tdm_status);
REG_READ(reg_dbg_rdm_status);
REG_READ(reg_dbg_rdm_stream);
REG_READ(reg_dbg_rdm_tag);
REG_READ(reg_dbg_rdm_ctx);
REG_READ(reg_dbg_job_stream);
REG_READ(reg_dbg_job_tag);
REG_READ(reg_dbg_job_ctx);
REG_READ(reg_master_fault_addr);
REG_READ(reg_master_fault_info);
REG_READ(reg_master_fault_code);
REG_READ(reg_master_fault_wave);
REG_READ(reg_master_fault_group);
REG_READ(reg_master_fault_group_z);
REG_READ(reg_master_time_start);
REG_READ(reg_master_time_end);
REG_READ(reg_master_groups);
REG_READ(reg_pm_list);
REG_WRITE(reg_pm_list_write);
REG_WRITE(reg_pm_grow);
REG_WRITE(reg_pm_release);
REG_READ(reg_pm_low_list);
REG_READ(reg_pm_allocated);
REG_READ(reg_pm_freed);

/* slc.c */
REG_READ(reg_slc_start);
REG_WRITE(reg_slc_start_write);
REG_READ(reg_slc_end);
REG_WRITE(reg_slc_end_write);
REG_WRITE(reg_slc_op);
REG_READ(reg_slc_count);
/* Perform an operation that reg_slc_op() has accepted; without the device lock. */
void reg_slc_perform(struct pumice_gpu *gpu, u32 value);

/* perf.c */
REG_READ(reg_perf_ctrl);
REG_WRITE(reg_perf_ctrl_write);
REG_READ(reg_perf_counter);

/* hier.c */
REG_READ(reg_hier_select);
REG_WRITE(reg_hier_select_write);
REG_READ(reg_hier_value);

/* find.c */
REG_READ(reg_find_count);
REG_WRITE(reg_find_clear);
REG_READ(reg_find_select);
REG_WRITE(reg_find_select_write);
REG_READ(reg_find_lost);
REG_READ(reg_find_text);
REG_READ(reg_find_fw_arg);
REG_WRITE(reg_find_fw_arg_write);
REG_READ(reg_find_fw_ready);
REG_WRITE(reg_find_fw_ready_write);
REG_WRITE(reg_find_fw_signal);
REG_WRITE(reg_find_fw_report);

/* place.c */
REG_READ(reg_find_place);
REG_WRITE(reg_find_place_write);
REG_READ(reg_find_place_drops);
REG_WRITE(reg_find_place_op);
/* Perform the operation of a write of FIND_PLACE_OP. Device lock not held. */
void reg_place_perform(struct pumice_gpu *gpu, unsigned int os, u64 value);

/* wave.c */
/* Return the snapshot of the bus that an access comes from. */
struct gpu_waves *reg_waves(struct pumice_gpu *gpu, const struct reg_access *at);
REG_WRITE(reg_wave_ctrl);
REG_READ(reg_wave_count);
REG_READ(reg_wave_select);
REG_WRITE(reg_wave_select_write);
REG_READ(reg_wave_pc);
REG_READ(reg_wave_lanes);
REG_READ(reg_wave_where);
REG_READ(reg_wave_code);

/* inject.c */
REG_READ(reg_inj_caps);
REG_READ(reg_inj_field);
REG_WRITE(reg_inj_field_write);
REG_WRITE(reg_inj_ctrl);
REG_READ(reg_inj_status);
REG_READ(reg_inj_left);
REG_READ(reg_inj_hits);

/* trace.c */
REG_READ(reg_trace_base);
REG_WRITE(reg_trace_base_write);
REG_READ(reg_trace_entries);
REG_WRITE(reg_trace_entries_write);
REG_READ(reg_trace_ctrl);
REG_WRITE(reg_trace_ctrl_write);
REG_READ(reg_trace_written);
REG_READ(reg_trace_fw_arg);
REG_WRITE(reg_trace_fw_arg_write);
REG_WRITE(reg_trace_fw_event);

#endif
