// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Files in debugfs: bos, contexts, findings, free_lists, fw_log, fw_log_level, gpu_trace,
 * hierarchy, inject, interrupt_ns, mode, pds_shares, state, vms.
 *
 * "state" also counts live objects, so that a test can detect leaks.
 */
#include <linux/debugfs.h>

#include <drm/drm_debugfs.h>
#include <drm/drm_gpuvm.h>

#include "fwlog.h"
#include "pumice_bench.h"
#include "pumice_context.h"
#include "pumice_debugfs.h"
#include "pumice_fault_log.h"
#include "pumice_free_list.h"
#include "pumice_fw.h"
#include "pumice_gem.h"
#include "pumice_gpu_trace.h"
#include "pumice_findings.h"
#include "pumice_hierarchy.h"
#include "pumice_inject.h"
#include "pumice_mmu.h"
#include "pumice_mode.h"
#include "pumice_names.h"
#include "pumice_pm.h"
#include "pumice_process.h"
#include "pumice_shares.h"
#include "pumice_vm.h"

#define LOG_MASK	(PUMICE_LOG_COUNT - 1)

static struct pumice_device *pumice_debugfs_seq_device(struct seq_file *m)
{
	struct drm_debugfs_entry *entry = m->private;

	return to_pumice_device(entry->dev);
}

/* Print one entry, unless the firmware overwrites it meanwhile. */
static void pumice_debugfs_print_log_entry(struct seq_file *m, const struct fwif_log_entry *shared,
					   u32 number)
{
	char text[PUMICE_LOG_TEXT];
	struct fwif_log_entry e;

	if (READ_ONCE(shared->sequence) != number + 1)
		return;
	dma_rmb(); /* the sequence is written last */
	pumice_copy_once(&e, shared, sizeof(e));
	dma_rmb(); /* and read it again after the entry */
	if (READ_ONCE(shared->sequence) != number + 1)
		return;
	pumice_log_text(text, sizeof(text), e.event, e.args);
	seq_printf(m, "[%6llu.%09llu] %-5s %s\n", e.time / NSEC_PER_SEC, e.time % NSEC_PER_SEC,
		   pumice_log_level_name(e.event) ?: "?", text);
}

static void pumice_debugfs_print_log(struct seq_file *m, const struct pumice_fw_shared *s)
{
	u32 end = READ_ONCE(s->log_ring.write);
	u32 i = end - min(end, PUMICE_LOG_COUNT);

	for (; i != end; i++)
		pumice_debugfs_print_log_entry(m, &s->log[i & LOG_MASK], i);
}

static int pumice_debugfs_show_fw_log(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = pumice_debugfs_seq_device(m);
	int idx;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return -ENODEV;
	pumice_debugfs_print_log(m, pdev->fw.shared);
	drm_dev_exit(idx);
	return 0;
}

/* Print the state of the data masters. Mirrors of their status registers have the same fields. */
static void pumice_debugfs_print_masters(struct seq_file *m, struct pumice_device *pdev)
{
	static const struct {
		const char *name;
		u32 status;
	} masters[] = {
		{ "cdm", PUMICE_DBG_CDM_STATUS }, { "vdm", PUMICE_DBG_VDM_STATUS },
		{ "pdm", PUMICE_DBG_PDM_STATUS }, { "tdm", PUMICE_DBG_TDM_STATUS },
		{ "rdm", PUMICE_DBG_RDM_STATUS },
	};
	u32 i, status;

	for (i = 0; i < ARRAY_SIZE(masters); i++) {
		status = pumice_read(pdev, masters[i].status);
		seq_printf(m, "%s: %s\n", masters[i].name,
			   status & PUMICE_DBG_CDM_STATUS__BUSY__MASK ? "busy" : "idle");
	}
}

static void pumice_debugfs_print_processor(struct seq_file *m, struct pumice_device *pdev)
{
	seq_printf(m, "processor: %s, pc 0x%x, %llu instructions\n",
		   pumice_fw_state_str(PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE,
							pumice_read(pdev, PUMICE_FW_STATUS))),
		   pumice_read(pdev, PUMICE_FW_PC), pumice_read64(pdev, PUMICE_FW_INSTRET));
}

/* Registers of the whole GPU are accessible to virtual GPU 0 only. */
static void pumice_debugfs_print_firmware(struct seq_file *m, struct pumice_device *pdev)
{
	const struct fwif_boot *boot = &pdev->fw.shared->boot;

	seq_printf(m, "firmware: %s, build %s\n", pdev->fw.ready ? "ready" : "down",
		   pdev->fw.header.build_id);
	if (pdev->oses > 1)
		seq_printf(m, "virtual gpu: %u of %u\n", pdev->os, pdev->oses);
	if (!pdev->os)
		pumice_debugfs_print_processor(m, pdev);
	seq_printf(m, "fw commands: %u\n", READ_ONCE(boot->commands));
	seq_printf(m, "fw jobs started: %u\n", READ_ONCE(boot->jobs_started));
	seq_printf(m, "fw jobs done: %u\n", READ_ONCE(boot->jobs_done));
	seq_printf(m, "fw jobs faulted: %u\n", READ_ONCE(boot->jobs_faulted));
	seq_printf(m, "fw jobs killed: %u\n", READ_ONCE(boot->jobs_killed));
	seq_printf(m, "fw heartbeat: %u\n", READ_ONCE(boot->heartbeat));
	seq_printf(m, "fw partial renders: %u\n", READ_ONCE(boot->partials));
	if (pdev->os)
		return;
	pumice_debugfs_print_masters(m, pdev);
	seq_printf(m, "tasks: %u\n", pumice_read(pdev, PUMICE_DBG_TASKS));
	seq_printf(m, "mmu faults: %u\n", pumice_read(pdev, PUMICE_MMU_FAULT_COUNT));
}

static int pumice_debugfs_show_state(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = pumice_debugfs_seq_device(m);
	int idx;

	seq_printf(m, "bos: %d\n", atomic_read(&pdev->stats.bos));
	seq_printf(m, "vms: %d\n", atomic_read(&pdev->stats.vms));
	seq_printf(m, "contexts: %d\n", atomic_read(&pdev->stats.contexts));
	seq_printf(m, "destroyed contexts: %d\n", atomic_read(&pdev->stats.destroyed_contexts));
	seq_printf(m, "jobs: %d\n", atomic_read(&pdev->stats.jobs));
	seq_printf(m, "fences: %d\n", atomic_read(&pdev->stats.fences));
	seq_printf(m, "free lists: %d\n", atomic_read(&pdev->stats.free_lists));
	seq_printf(m, "data sets: %d\n", atomic_read(&pdev->stats.hwrts));
	seq_printf(m, "resets: %u\n", READ_ONCE(pdev->reset.count));
	seq_printf(m, "gpu_trace records lost: %llu\n", pumice_gpu_trace_lost(pdev));
	if (drm_dev_enter(&pdev->drm, &idx)) {
		if (pumice_pm_get_if_awake(pdev)) {
			pumice_debugfs_print_firmware(m, pdev);
			pumice_pm_put(pdev);
		} else {
			seq_puts(m, "firmware: asleep\n");
		}
		drm_dev_exit(idx);
	}
	return 0;
}

static void pumice_debugfs_print_queue_locked(struct seq_file *m, struct pumice_queue *q)
{
	const struct pumice_context *ctx = q->ctx;

	lockdep_assert_held(&ctx->lock);
	seq_printf(m, "context %u: %s, of ", q->id, pumice_fwif_dm_name(q->dm));
	pumice_process_show(m, &ctx->process);
	seq_printf(m, ", its context %u, priority %s, ", READ_ONCE(ctx->id),
		   pumice_fwif_priority_name(ctx->priority));
	seq_printf(m, "queued %d, in flight %zu, last job %u\n", atomic_read(&q->queued),
		   list_count_nodes(&q->in_flight), q->seqno);
}

static void pumice_debugfs_print_context(struct seq_file *m, struct pumice_context *ctx)
{
	struct pumice_queue *q;

	spin_lock(&ctx->lock);
	pumice_for_each_queue(q, ctx)
		pumice_debugfs_print_queue_locked(m, q);
	seq_printf(m, "  done %llu, failed %llu%s%s%s%s\n", ctx->status.done, ctx->status.failed,
		   ctx->state & DRM_PUMICE_CONTEXT_GUILTY ? ", guilty" : "",
		   ctx->state & DRM_PUMICE_CONTEXT_INNOCENT ? ", innocent" : "",
		   ctx->state & DRM_PUMICE_CONTEXT_FAULTED ? ", faulted" : "",
		   ctx->stopped ? ", stopped" : "");
	if (ctx->status.fault.fault)
		seq_printf(m, "  last fault: job %u, %s by %s, %s at 0x%llx\n",
			   ctx->status.fault.seqno, pumice_fault_str(ctx->status.fault.fault),
			   pumice_unit_str(ctx->status.fault.unit),
			   pumice_access_str(ctx->status.fault.access), ctx->status.fault.addr);
	spin_unlock(&ctx->lock);
}

static int pumice_debugfs_show_interrupt_ns(struct seq_file *m, void *data)
{
	return pumice_bench_show(m, pumice_debugfs_seq_device(m));
}

static int pumice_debugfs_show_contexts(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = pumice_debugfs_seq_device(m);
	struct pumice_context *ctx;

	mutex_lock(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_debugfs_print_context(m, ctx);
	mutex_unlock(&pdev->reset.lock);
	pumice_fault_log_show(m, pdev);
	return 0;
}

static int pumice_debugfs_show_free_lists(struct seq_file *m, void *data)
{
	pumice_free_list_show(m, pumice_debugfs_seq_device(m));
	return 0;
}

static void pumice_debugfs_print_blocks(struct seq_file *m, const struct pumice_mmu *mmu)
{
	u32 blocks[PUMICE_PAGE_SIZE_COUNT], size;

	pumice_mmu_count_blocks(mmu, blocks);
	for (size = 0; size < PUMICE_PAGE_SIZE_COUNT; size++)
		if (blocks[size])
			seq_printf(m, "  blocks of %s pages: %u\n", pumice_page_size_str(size),
				   blocks[size]);
}

/* The VM's lock keeps the mapping, and so its reference to the buffer. */
static void pumice_debugfs_print_mapping(struct seq_file *m, struct pumice_device *pdev,
					 const struct drm_gpuva *va)
{
	seq_printf(m, "  0x%010llx to 0x%010llx: ", va->va.addr,
		   va->va.addr + va->va.range - 1);
	if (!va->gem.obj) {
		seq_puts(m, "no memory\n");
		return;
	}
	seq_printf(m, "buffer of %zu bytes from 0x%llx", va->gem.obj->size, va->gem.offset);
	spin_lock(&pdev->bos_lock);
	pumice_process_show_label(m, to_pumice_bo(va->gem.obj)->label);
	spin_unlock(&pdev->bos_lock);
	seq_putc(m, '\n');
}

static void pumice_debugfs_print_vm_locked(struct seq_file *m, struct pumice_vm *vm)
{
	struct drm_gpuva *va;

	lockdep_assert_held(&vm->lock);
	seq_puts(m, "vm of ");
	pumice_process_show(m, &vm->process);
	seq_printf(m, ", client %llu%s%s\n", vm->client,
		   vm->closed ? ", destroyed" : "", vm->unusable ? ", unusable" : "");
	drm_gpuvm_for_each_va(va, &vm->base)
		pumice_debugfs_print_mapping(m, vm->pdev, va);
	if (vm->mmu)
		pumice_debugfs_print_blocks(m, vm->mmu);
}

static int pumice_debugfs_show_vms(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = pumice_debugfs_seq_device(m);
	struct pumice_vm *vm;

	mutex_lock(&pdev->vms_lock);
	list_for_each_entry(vm, &pdev->vms, node) {
		mutex_lock(&vm->lock);
		pumice_debugfs_print_vm_locked(m, vm);
		mutex_unlock(&vm->lock);
	}
	mutex_unlock(&pdev->vms_lock);
	return 0;
}

static int pumice_debugfs_show_bos(struct seq_file *m, void *data)
{
	struct pumice_device *pdev = pumice_debugfs_seq_device(m);
	struct pumice_bo *bo;

	spin_lock(&pdev->bos_lock);
	list_for_each_entry(bo, &pdev->bos, node) {
		seq_printf(m, "%12zu bytes, %u references%s", bo->base.base.size,
			   kref_read(&bo->base.base.refcount), bo->root ? ", of one VM" : "");
		pumice_process_show_label(m, bo->label);
		seq_putc(m, '\n');
	}
	spin_unlock(&pdev->bos_lock);
	return 0;
}

static const struct drm_debugfs_info files[] = {
	{ "bos", pumice_debugfs_show_bos, 0, NULL },
	{ "contexts", pumice_debugfs_show_contexts, 0, NULL },
	{ "free_lists", pumice_debugfs_show_free_lists, 0, NULL },
	{ "fw_log", pumice_debugfs_show_fw_log, 0, NULL },
	{ "interrupt_ns", pumice_debugfs_show_interrupt_ns, 0, NULL },
	{ "state", pumice_debugfs_show_state, 0, NULL },
	{ "vms", pumice_debugfs_show_vms, 0, NULL },
};

static int pumice_debugfs_get_log_level(void *data, u64 *value)
{
	struct pumice_device *pdev = data;

	*value = READ_ONCE(pdev->fw.log_level);
	return 0;
}

/* Set the log level; it takes effect at once, and after each boot of the firmware. */
static int pumice_debugfs_set_log_level(void *data, u64 value)
{
	struct pumice_device *pdev = data;
	int idx;

	if (value > FWIF_LOG_DEBUG)
		return -EINVAL;
	if (!drm_dev_enter(&pdev->drm, &idx))
		return -ENODEV;
	mutex_lock(&pdev->fw.settings_lock);
	WRITE_ONCE(pdev->fw.log_level, value);
	WRITE_ONCE(pdev->fw.shared->boot.log_level, value);
	mutex_unlock(&pdev->fw.settings_lock);
	drm_dev_exit(idx);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(log_level_fops, pumice_debugfs_get_log_level, pumice_debugfs_set_log_level,
			 "%llu\n");

/**
 * pumice_debugfs_init - create the files
 * @minor: minor of the device
 *
 * Those of the whole GPU are for virtual GPU 0 only.
 */
void pumice_debugfs_init(struct drm_minor *minor)
{
	struct pumice_device *pdev = to_pumice_device(minor->dev);

	drm_debugfs_add_files(minor->dev, files, ARRAY_SIZE(files));
	debugfs_create_file_unsafe("fw_log_level", 0600, minor->debugfs_root,
				   pdev, &log_level_fops);
	if (pdev->os)
		return;
	pumice_gpu_trace_init(pdev, minor->debugfs_root);
	pumice_shares_init(pdev, minor->debugfs_root);
	pumice_inject_init(pdev, minor->debugfs_root);
	pumice_mode_init(pdev, minor->debugfs_root);
	pumice_hierarchy_init(pdev, minor->debugfs_root);
	pumice_findings_init(pdev, minor->debugfs_root);
}
