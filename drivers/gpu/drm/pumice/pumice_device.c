// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * One GPU: identification, initialization, removal.
 *
 * Source: registers.xml, unit SYS.
 */
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>

#include <drm/drm_managed.h>

#include "pumice_ccb.h"
#include "pumice_context.h"
#include "pumice_device.h"
#include "pumice_flip.h"
#include "pumice_fw.h"
#include "pumice_fw_mem.h"
#include "pumice_gem_mount.h"
#include "pumice_gem.h"
#include "pumice_hierarchy.h"
#include "pumice_irq.h"
#include "pumice_kernel_range.h"
#include "pumice_places.h"
#include "pumice_queue.h"
#include "pumice_reset.h"
#include "pumice_stats.h"
#include "pumice_vgpu.h"
#include "pumice_vm.h"

#define BAR		0
#define DMA_BITS	48
#define HALT_US		1000000
#define POLL_US		10

/**
 * pumice_device_halt - reset the GPU: it runs nothing and has no state afterwards
 * @pdev: device
 *
 * The connection of a virtual GPU other than 0 to the firmware is ended instead, with the same
 * effect on its jobs and memory.
 *
 * Context: May sleep: polls the device.
 *
 * Return: 0; or -ETIMEDOUT, which has been logged, if the reset does not complete in 1 s, or the
 * connection does not end in time. The GPU cannot access memory then.
 */
int pumice_device_halt(struct pumice_device *pdev)
{
	u32 status;
	int ret;

	pumice_stats_keep(pdev);
	if (pdev->os)
		return pumice_vgpu_disconnect(pdev);
	pumice_hierarchy_keep(pdev);
	pumice_write(pdev, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY);
	ret = read_poll_timeout(pumice_read, status,
				!(status & PUMICE_SYS_STATUS__RESETTING__MASK), POLL_US, HALT_US,
				false, pdev, PUMICE_SYS_STATUS);
	if (ret) {
		dev_err(pdev->drm.dev,
			"GPU did not complete its reset in %u ms; it can no longer access memory\n",
			HALT_US / 1000);
		pci_clear_master(to_pci_dev(pdev->drm.dev));
	}
	return ret;
}

static int pumice_device_map_registers(struct pumice_device *pdev)
{
	struct pci_dev *pci = to_pci_dev(pdev->drm.dev);
	struct device *dev = pdev->drm.dev;
	resource_size_t size = pci_resource_len(pci, BAR);
	int ret;

	if (size < PUMICE_OS_PAGE_SIZE || !(pci_resource_flags(pci, BAR) & IORESOURCE_MEM))
		return dev_err_probe(dev, -ENODEV,
				     "BAR%d has %pa bytes, required are %#x of memory\n", BAR,
				     &size, PUMICE_OS_PAGE_SIZE);
	ret = pcim_enable_device(pci);
	if (ret)
		return dev_err_probe(dev, ret, "PCI device cannot be enabled\n");
	pdev->regs = pcim_iomap(pci, BAR, PUMICE_OS_PAGE_SIZE);
	if (!pdev->regs)
		return dev_err_probe(dev, -ENOMEM, "BAR%d cannot be mapped\n", BAR);
	ret = dma_set_mask_and_coherent(dev, DMA_BIT_MASK(DMA_BITS));
	if (ret)
		return dev_err_probe(dev, ret, "%d-bit DMA is not possible\n", DMA_BITS);
	dma_set_max_seg_size(dev, UINT_MAX);
	return 0;
}

/* Number 0 is the PCI device with the GPU, any other one a function of its own. */
static int pumice_device_identify_os(struct pumice_device *pdev)
{
	if (to_pci_dev(pdev->drm.dev)->device == PUMICE_PCI_DEVICE_VGPU)
		return pumice_vgpu_identify(pdev);
	pdev->oses = PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__OSES, pdev->config);
	return 0;
}

static int pumice_device_identify(struct pumice_device *pdev)
{
	u32 id = pumice_read(pdev, PUMICE_SYS_ID);

	if (id == U32_MAX)
		return dev_err_probe(pdev->drm.dev, -ENODEV,
				     "registers do not respond: the GPU was removed\n");
	if (id != PUMICE_SYS_ID__RESET)
		return dev_err_probe(pdev->drm.dev, -ENODEV, "not a Pumice GPU: SYS_ID is 0x%08x\n",
				     id);
	pdev->version = pumice_read(pdev, PUMICE_SYS_VERSION);
	if (PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MAJOR, pdev->version) !=
	    PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MAJOR, PUMICE_SYS_VERSION__RESET))
		return dev_err_probe(pdev->drm.dev, -ENODEV,
				     "GPU has register map %u.%u, driver supports %u.x: use matching versions\n",
				     PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MAJOR, pdev->version),
				     PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version),
				     PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MAJOR,
						      PUMICE_SYS_VERSION__RESET));
	pdev->config = pumice_read(pdev, PUMICE_SYS_CONFIG);
	pdev->stores = pumice_read(pdev, PUMICE_SYS_STORES);
	pdev->registers = pumice_read(pdev, PUMICE_SYS_REGISTERS);
	pdev->shape = pumice_read(pdev, PUMICE_SYS_SHAPE);
	pdev->caches = pumice_read(pdev, PUMICE_SYS_CACHES);
	pdev->units = pumice_read64(pdev, PUMICE_SYS_UNITS);
	pdev->clock_hz = pumice_read(pdev, PUMICE_SYS_CLOCK_HZ);
	return pumice_device_identify_os(pdev);
}

/**
 * pumice_device_supports - check for minor versions that a feature needs
 * @pdev: device, with firmware
 * @map_minor: of the register map
 * @fw_minor: of the firmware interface
 *
 * Context: Any.
 *
 * Return: true if device and firmware are not older.
 */
bool pumice_device_supports(const struct pumice_device *pdev, u32 map_minor, u32 fw_minor)
{
	return PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version) >= map_minor &&
	       (pdev->fw.header.version & 0xffff) >= fw_minor;
}

/*
 * One worker runs the schedulers of all contexts, which all write to the same ring of the firmware.
 * With more, each item of work that is queued while another one runs wakes a thread, in a virtual
 * machine often on a halted processor, for less work than the wake-up. Their work waits for nothing
 * but space in that ring. Binds wait for the firmware's reply, so theirs may run at the same time.
 */
static int pumice_device_create_workqueues(struct pumice_device *pdev)
{
	pdev->sched_wq = alloc_ordered_workqueue("pumice-sched", WQ_MEM_RECLAIM);
	if (!pdev->sched_wq)
		return -ENOMEM;
	pdev->bind_wq = alloc_workqueue("pumice-bind", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (pdev->bind_wq)
		return 0;
	destroy_workqueue(pdev->sched_wq);
	return -ENOMEM;
}

static void pumice_device_destroy_workqueues(struct pumice_device *pdev)
{
	destroy_workqueue(pdev->bind_wq);
	destroy_workqueue(pdev->sched_wq);
}

static void pumice_device_release_software(struct drm_device *drm, void *data)
{
	struct pumice_device *pdev = data;

	pumice_gem_mount_fini(pdev);
	pumice_shrinker_fini(pdev);
	pumice_device_destroy_workqueues(pdev);
	destroy_workqueue(pdev->reset.wq);
	pumice_fw_mem_fini(pdev);
	pumice_dump_fini(pdev);
	ida_destroy(&pdev->context_ids);
	pumice_quota_fini(pdev);
}

/* Initialize everything that lives as long as the drm_device. */
static int pumice_device_init_software(struct pumice_device *pdev)
{
	int ret;

	mutex_init(&pdev->unplug_lock);
	mutex_init(&pdev->vms_lock);
	mutex_init(&pdev->kernel_ranges_lock);
	spin_lock_init(&pdev->scenes_lock);
	mutex_init(&pdev->gpu_trace.lock);
	pumice_places_init(pdev);
	mutex_init(&pdev->fw.settings_lock);
	spin_lock_init(&pdev->bos_lock);
	INIT_LIST_HEAD(&pdev->bos);
	init_waitqueue_head(&pdev->bos_event);
	INIT_LIST_HEAD(&pdev->vms);
	INIT_LIST_HEAD(&pdev->kernel_ranges);
	INIT_LIST_HEAD(&pdev->free_lists);
	INIT_LIST_HEAD(&pdev->hwrts);
	ida_init(&pdev->context_ids);
	pumice_quota_init(pdev);
	pdev->fw.log_level = FWIF_LOG_INFO;
	pumice_vgpu_init(pdev);
	pumice_kccb_init(pdev);
	pumice_dump_init(pdev);
	pumice_fault_log_init(&pdev->fault_log);
	ret = pumice_device_create_workqueues(pdev);
	if (ret)
		goto free_dump;
	ret = pumice_reset_init(pdev);
	if (ret)
		goto free_workqueues;
	ret = pumice_fw_mem_init(pdev);
	if (ret)
		goto free_reset_wq;
	ret = pumice_shrinker_init(pdev);
	if (ret)
		goto free_fw_mem;
	pumice_gem_mount_init(pdev);
	return drmm_add_action_or_reset(&pdev->drm, pumice_device_release_software, pdev);

free_fw_mem:
	pumice_fw_mem_fini(pdev);
free_reset_wq:
	destroy_workqueue(pdev->reset.wq);
free_workqueues:
	pumice_device_destroy_workqueues(pdev);
free_dump:
	pumice_dump_fini(pdev);
	return ret;
}

/*
 * Start firmware and interrupt. On an error, the caller must call
 * pumice_device_release_hardware().
 */
static int pumice_device_init_hardware(struct pumice_device *pdev)
{
	int ret;

	ret = pumice_irq_init(pdev);
	if (ret)
		return ret;
	ret = pumice_fw_load(pdev);
	if (ret)
		return ret;
	ret = pumice_fw_boot(pdev);
	/* The core probes again when another driver was bound, as that of number 0. */
	if (ret == -ETIMEDOUT && pdev->os)
		return -EPROBE_DEFER;
	if (ret)
		return ret;
	pumice_irq_enable(pdev);
	pumice_places_update(pdev);
	return 0;
}

/* Stop the GPU, and release all memory that it could access. */
static void pumice_device_release_hardware(struct pumice_device *pdev)
{
	pdev->fw.ready = false;
	pumice_kccb_close(pdev);
	pumice_device_halt(pdev);
	if (pdev->irq)
		pumice_irq_disable(pdev);
	pumice_fw_unload(pdev);
	pumice_vm_release_all(pdev);
	pumice_kernel_range_release_all(pdev);
	pumice_gem_unmap_all(pdev);
	pumice_fw_mem_close(pdev);
}

/**
 * pumice_device_init - initialize a GPU
 * @pdev: device
 *
 * Context: May sleep.
 *
 * Return: 0, or an error that has been logged; everything is undone then, or will be
 * when the managed resources of the PCI device are released.
 */
int pumice_device_init(struct pumice_device *pdev)
{
	int ret;

	ret = pumice_device_map_registers(pdev);
	if (!ret)
		ret = pumice_device_identify(pdev);
	if (!ret)
		ret = pumice_device_init_software(pdev);
	if (ret)
		return ret;
	ret = pumice_device_init_hardware(pdev);
	if (ret)
		pumice_device_release_hardware(pdev);
	return ret;
}

static void pumice_device_end_all_jobs(struct pumice_device *pdev)
{
	struct pumice_context *ctx;

	mutex_lock(&pdev->reset.lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		pumice_queue_cancel(ctx, -ENODEV);
	mutex_unlock(&pdev->reset.lock);
}

/**
 * pumice_device_unplug - remove a GPU from its users
 * @pdev: device
 *
 * Jobs complete with -ENODEV; objects of open files lose their memory. Registers and
 * DMA memory are not accessed afterwards. May be called more than once.
 */
void pumice_device_unplug(struct pumice_device *pdev)
{
	mutex_lock(&pdev->unplug_lock);
	if (!pdev->unplugged) {
		pdev->unplugged = true;
		drm_dev_unplug(&pdev->drm);
		pumice_places_fini(pdev);
		pumice_reset_stop(pdev);
		pumice_device_halt(pdev);
		pumice_device_end_all_jobs(pdev);
		pumice_flip_wake_all(pdev);
		pumice_device_release_hardware(pdev);
	}
	mutex_unlock(&pdev->unplug_lock);
}

/**
 * pumice_device_wait_unplugged - if the GPU is being unplugged, wait until it has stopped
 * @pdev: device
 *
 * For callers whose drm_dev_enter() failed and that are about to free memory which
 * the GPU may use until then. Must not be called between drm_dev_enter() and
 * drm_dev_exit(), nor under a lock that unplugging acquires.
 */
void pumice_device_wait_unplugged(struct pumice_device *pdev)
{
	if (!drm_dev_is_unplugged(&pdev->drm))
		return;
	mutex_lock(&pdev->unplug_lock);
	mutex_unlock(&pdev->unplug_lock);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_device_test.c"
#endif
