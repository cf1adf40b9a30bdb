// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Driver of the Pumice virtual GPU: module, PCI, DRM tables.
 *
 * Sources: document 000, "Device Driver"; document 001, "CPU Scene Setup"; registers.xml, fwif.h,
 * pumice_drm.h.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>

#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_ioctl.h>

#include "pumice_blame.h"
#include "pumice_context.h"
#include "pumice_debugfs.h"
#include "pumice_device.h"
#include "pumice_fdinfo.h"
#include "pumice_flip.h"
#include "pumice_free_list.h"
#include "pumice_gem.h"
#include "pumice_hwrt.h"
#include "pumice_perfmon.h"
#include "pumice_pm.h"
#include "pumice_query.h"
#include "pumice_reset.h"
#include "pumice_result.h"
#include "pumice_shrinker.h"
#include "pumice_submit.h"
#include "pumice_vm.h"

unsigned int pumice_job_timeout_ms = 5000;
module_param_named(job_timeout_ms, pumice_job_timeout_ms, uint, 0644);
MODULE_PARM_DESC(job_timeout_ms,
		 "Time on the GPU after which a job is killed, ms (contexts created later; default 5000)");

unsigned int pumice_fw_timeout_ms = 5000;
module_param_named(fw_timeout_ms, pumice_fw_timeout_ms, uint, 0644);
MODULE_PARM_DESC(fw_timeout_ms,
		 "Time after which firmware that does not reply is reset, ms (default 5000)");

unsigned int pumice_slice_us;
module_param_named(slice_us, pumice_slice_us, uint, 0644);
MODULE_PARM_DESC(slice_us,
		 "Time slice of jobs that share the GPU, us, from the next created context on (default 0: the firmware's)");

unsigned int pumice_split_prims;
module_param_named(split_prims, pumice_split_prims, uint, 0644);
MODULE_PARM_DESC(split_prims,
		 "Primitives of a chunk of a draw, from the firmware's next boot on (default 0: the firmware's)");

/* Replies to requests for pages of free lists; jobs may wait for it. */
struct workqueue_struct *pumice_grow_wq;
/* Allocates pages for free lists with reclaim; no job may wait for it. */
struct workqueue_struct *pumice_refill_wq;
/* Frees objects whose last reference was put in atomic context. */
struct workqueue_struct *pumice_cleanup_wq;

static int pumice_drv_open(struct drm_device *drm, struct drm_file *file)
{
	struct pumice_file *pfile = kzalloc(sizeof(*pfile), GFP_KERNEL);

	if (!pfile)
		return -ENOMEM;
	pfile->pdev = to_pumice_device(drm);
	pfile->resets = READ_ONCE(pfile->pdev->reset.count);
	pfile->blame = pumice_blame_create();
	if (!pfile->blame)
		goto free_file;
	pfile->share = pumice_quota_open();
	if (!pfile->share)
		goto put_blame;
	xa_init_flags(&pfile->vms, XA_FLAGS_ALLOC1);
	xa_init_flags(&pfile->contexts, XA_FLAGS_ALLOC1);
	xa_init_flags(&pfile->perfmons, XA_FLAGS_ALLOC1);
	xa_init_flags(&pfile->free_lists, XA_FLAGS_ALLOC1);
	xa_init_flags(&pfile->hwrts, XA_FLAGS_ALLOC1);
	file->driver_priv = pfile;
	return 0;

put_blame:
	pumice_blame_put(pfile->blame);
free_file:
	kfree(pfile);
	return -ENOMEM;
}

static void pumice_drv_close(struct drm_device *drm, struct drm_file *file)
{
	struct pumice_file *pfile = file->driver_priv;
	struct pumice_freelist *list;
	struct pumice_perfmon *perfmon;
	struct pumice_context *ctx;
	struct pumice_hwrt *hwrt;
	struct pumice_vm *vm;
	unsigned long id;

	xa_for_each(&pfile->contexts, id, ctx)
		pumice_context_destroy(ctx);
	xa_destroy(&pfile->contexts);
	xa_for_each(&pfile->hwrts, id, hwrt)
		pumice_hwrt_put(hwrt);
	xa_destroy(&pfile->hwrts);
	xa_for_each(&pfile->free_lists, id, list)
		pumice_free_list_put(list);
	xa_destroy(&pfile->free_lists);
	xa_for_each(&pfile->vms, id, vm)
		pumice_vm_close(vm);
	xa_destroy(&pfile->vms);
	xa_for_each(&pfile->perfmons, id, perfmon)
		pumice_perfmon_put(perfmon);
	xa_destroy(&pfile->perfmons);
	pumice_quota_close(pfile->pdev, pfile->share);
	pumice_blame_put(pfile->blame);
	kfree(pfile);
}

#define IOCTL(name, function) \
	DRM_IOCTL_DEF_DRV(PUMICE_##name, pumice_ioctl_##function, DRM_RENDER_ALLOW)

static const struct drm_ioctl_desc ioctls[] = {
	IOCTL(DEV_QUERY, dev_query),
	IOCTL(BO_CREATE, bo_create),
	IOCTL(BO_MMAP_OFFSET, bo_mmap_offset),
	IOCTL(VM_CREATE, vm_create),
	IOCTL(VM_DESTROY, vm_destroy),
	IOCTL(VM_BIND, vm_bind),
	IOCTL(VM_GET_STATE, vm_get_state),
	IOCTL(CONTEXT_CREATE, context_create),
	IOCTL(CONTEXT_DESTROY, context_destroy),
	IOCTL(CONTEXT_GET_STATE, context_get_state),
	IOCTL(SUBMIT, submit),
	IOCTL(BO_SET_LABEL, bo_set_label),
	IOCTL(JOB_GET_RESULT, job_get_result),
	IOCTL(PERF_COUNTER_GET, perf_counter_get),
	IOCTL(PERFMON_CREATE, perfmon_create),
	IOCTL(PERFMON_DESTROY, perfmon_destroy),
	IOCTL(PERFMON_GET_VALUES, perfmon_get_values),
	IOCTL(FREE_LIST_CREATE, free_list_create),
	IOCTL(FREE_LIST_DESTROY, free_list_destroy),
	IOCTL(HWRT_CREATE, hwrt_create),
	IOCTL(HWRT_DESTROY, hwrt_destroy),
	IOCTL(BO_MADVISE, bo_madvise),
	IOCTL(CONTEXT_SET_PRIORITY, context_set_priority),
	IOCTL(FILE_GET_RESETS, file_get_resets),
	IOCTL(VM_GET_FAULTS, vm_get_faults),
};

__diag_push();
__diag_ignore_all("-Woverride-init", "all members of the DRM core, but another poll()");
static const struct file_operations fops = {
	.owner = THIS_MODULE,
	DRM_GEM_FOPS,
	.poll = pumice_flip_poll,
	.show_fdinfo = drm_show_fdinfo,
};

__diag_pop();

static const struct drm_driver driver = {
	.driver_features = DRIVER_GEM | PUMICE_DRIVER_GEM_GPUVA | DRIVER_RENDER | DRIVER_SYNCOBJ |
			   DRIVER_SYNCOBJ_TIMELINE,
	.name = "pumice",
	.desc = "Pumice virtual GPU",
	PUMICE_DRIVER_DATE("20261121")
	.major = DRM_PUMICE_VERSION_MAJOR,
	.minor = DRM_PUMICE_VERSION_MINOR,
	.fops = &fops,
	.open = pumice_drv_open,
	.postclose = pumice_drv_close,
	.show_fdinfo = pumice_fdinfo_show,
	.ioctls = ioctls,
	.num_ioctls = ARRAY_SIZE(ioctls),
	.gem_create_object = pumice_gem_create_object,
	.prime_handle_to_fd = pumice_gem_prime_export,
	.gem_prime_import = pumice_gem_prime_import,
	.gem_prime_import_sg_table = pumice_gem_import,
	.dumb_create = pumice_gem_dumb_create,
#ifdef CONFIG_DEBUG_FS
	.debugfs_init = pumice_debugfs_init,
#endif
};

static int pumice_drv_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct pumice_device *pdev;
	int ret;

	pdev = devm_drm_dev_alloc(&pci->dev, &driver, struct pumice_device, drm);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	pci_set_drvdata(pci, pdev);
	ret = pumice_device_init(pdev);
	if (ret)
		return ret;
	ret = drm_dev_register(&pdev->drm, 0);
	if (ret) {
		pumice_device_unplug(pdev);
		return dev_err_probe(&pci->dev, ret, "DRM device cannot be registered\n");
	}
	pumice_pm_init(pdev);
	if (pdev->oses > 1)
		drm_info(&pdev->drm, "virtual GPU %u of %u\n", pdev->os, pdev->oses);
	drm_info(&pdev->drm, "%u cores, firmware %s\n",
		 PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__CORES, pdev->config),
		 pdev->fw.header.build_id);
	return 0;
}

static void pumice_drv_remove(struct pci_dev *pci)
{
	struct pumice_device *pdev = pci_get_drvdata(pci);

	pumice_pm_fini(pdev);
	pumice_device_unplug(pdev);
	cancel_work_sync(&pdev->reset.lost_work);
	cancel_work_sync(&pdev->reset.event_work);
	pumice_dump_stop(pdev);
}

static const struct pci_error_handlers pci_errors = {
	.reset_prepare = pumice_reset_pci_prepare,
	.reset_done = pumice_reset_pci_done,
};

static const struct pci_device_id pci_ids[] = {
	{ PCI_DEVICE(PUMICE_PCI_VENDOR, PUMICE_PCI_DEVICE) },
	{ PCI_DEVICE(PUMICE_PCI_VENDOR, PUMICE_PCI_DEVICE_VGPU) },
	{}
};
MODULE_DEVICE_TABLE(pci, pci_ids);

static struct pci_driver pci_driver = {
	.name = "pumice",
	.id_table = pci_ids,
	.probe = pumice_drv_probe,
	.remove = pumice_drv_remove,
	.shutdown = pumice_drv_remove,
	.err_handler = &pci_errors,
	.driver.pm = pm_ptr(&pumice_pm_ops),
};

static int __init pumice_drv_init(void)
{
	int ret = -ENOMEM;

	pumice_cleanup_wq = alloc_workqueue("pumice-cleanup", WQ_UNBOUND, 0);
	if (!pumice_cleanup_wq)
		return -ENOMEM;
	pumice_refill_wq = alloc_workqueue("pumice-refill", WQ_UNBOUND, 0);
	if (!pumice_refill_wq)
		goto destroy_cleanup;
	pumice_grow_wq = alloc_workqueue("pumice-grow", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!pumice_grow_wq)
		goto destroy_refill;
	ret = pci_register_driver(&pci_driver);
	if (ret)
		goto destroy_reply;
	pumice_perfmon_register_sysctl();
	return 0;

destroy_reply:
	destroy_workqueue(pumice_grow_wq);
destroy_refill:
	destroy_workqueue(pumice_refill_wq);
destroy_cleanup:
	destroy_workqueue(pumice_cleanup_wq);
	return ret;
}

/*
 * The last reference to the module may be that of a context whose last fence was freed
 * just now: the work item that dropped it, and the fence's release, which queued the work
 * item, may both be about to return. The former ends with its workqueue. The latter runs in
 * any context but never sleeps: it has returned when all tasks have scheduled voluntarily
 * once, and all processors have left preemption-disabled sections.
 */
static void pumice_drv_wait_for_fences(void)
{
	synchronize_rcu_tasks();
	synchronize_rcu();
}

static void __exit pumice_drv_exit(void)
{
	pumice_perfmon_unregister_sysctl();
	pci_unregister_driver(&pci_driver);
	pumice_drv_wait_for_fences();
	/* Each workqueue queues work on the following ones. */
	destroy_workqueue(pumice_grow_wq);
	destroy_workqueue(pumice_refill_wq);
	destroy_workqueue(pumice_cleanup_wq);
}

module_init(pumice_drv_init);
module_exit(pumice_drv_exit);

MODULE_DESCRIPTION("Pumice virtual GPU");
MODULE_AUTHOR("Pumice developers");
MODULE_LICENSE("Dual MIT/GPL");
/* dma_buf_unmap_attachment() */
PUMICE_IMPORT_NS(DMA_BUF);
