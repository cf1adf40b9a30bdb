// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The interrupt of this virtual GPU: MSI-X vector 0 of its function, threaded.
 *
 * The hard handler clears pending causes before the thread reads memory, so messages
 * that arrive while it reads raise the interrupt again.
 */
#include <linux/dma-fence.h>
#include <linux/interrupt.h>

#include "fwlog.h"
#include "pumice_bench.h"
#include "pumice_ccb.h"
#include "pumice_device.h"
#include "pumice_fw.h"
#include "pumice_irq.h"
#include "pumice_queue.h"
#include "pumice_reset.h"
#include "pumice_vgpu.h"

#define CAUSES	(PUMICE_OS_IRQ_STATUS__FW__MASK | PUMICE_OS_IRQ_STATUS__LOCKUP__MASK)
/* Maximum delay of a job by a lost interrupt, jiffies. */
#define RECHECK	(HZ / 2)

/* Clear pending causes, for the thread to handle; false if none is pending. */
static bool pumice_irq_ack_causes(struct pumice_device *pdev, u32 causes)
{
	u32 status = pumice_read(pdev, PUMICE_OS_IRQ_STATUS);

	/* All ones: the device was removed from the bus. */
	if (status == U32_MAX || !(status & causes))
		return false;
	pumice_write(pdev, PUMICE_OS_IRQ_CLEAR, status & causes);
	if (status & causes & PUMICE_OS_IRQ_STATUS__LOCKUP__MASK)
		WRITE_ONCE(pdev->lockup, true);
	return true;
}

static irqreturn_t pumice_irq_hard_handler(int irq, void *data)
{
	struct pumice_device *pdev = data;

	if (!pumice_irq_ack_causes(pdev, CAUSES))
		return IRQ_NONE;
	pumice_bench_interrupt(pdev);
	return IRQ_WAKE_THREAD;
}

/**
 * pumice_irq_recheck - handle pending causes whose interrupt was lost
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(), awake
 *
 * The device raises its interrupt when a cause becomes pending: after a lost interrupt no
 * other would follow. For callers that wait for the firmware longer than usual. A virtual GPU
 * other than 0 also notices here that it has lost its connection.
 */
void pumice_irq_recheck(struct pumice_device *pdev)
{
	u32 enabled = pumice_read(pdev, PUMICE_OS_IRQ_ENABLE);

	if (pumice_vgpu_is_lost(pdev)) {
		pumice_reset_schedule(pdev);
		return;
	}
	if (enabled != U32_MAX && pumice_irq_ack_causes(pdev, enabled & CAUSES))
		irq_wake_thread(pdev->irq, pdev);
}

/*
 * Check periodically while the firmware has jobs, because the time-out of a job may be long.
 * Does not sleep, so that a reset may wait for its end.
 */
static void pumice_irq_timer(struct timer_list *timer)
{
	struct pumice_device *pdev = container_of(timer, struct pumice_device, recheck_timer);
	int idx;

	if (!atomic_read(&pdev->in_flight) || !drm_dev_enter(&pdev->drm, &idx))
		return;
	if (READ_ONCE(pdev->fw.ready))
		pumice_irq_recheck(pdev);
	mod_timer(timer, jiffies + RECHECK);
	drm_dev_exit(idx);
}

/**
 * pumice_irq_expect - note a job submitted to the firmware, whose end raises the interrupt
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 */
void pumice_irq_expect(struct pumice_device *pdev)
{
	if (atomic_inc_return(&pdev->in_flight) == 1)
		mod_timer(&pdev->recheck_timer, jiffies + RECHECK);
}

/**
 * pumice_irq_job_ended - note the end of a job for which pumice_irq_expect() was called
 * @pdev: device
 */
void pumice_irq_job_ended(struct pumice_device *pdev)
{
	atomic_dec(&pdev->in_flight);
}

static void pumice_irq_report_lockup(struct pumice_device *pdev)
{
	u32 status, cause;

	/* State and causes are those of number 0, whose driver resets the GPU. */
	if (pdev->os) {
		drm_err_ratelimited(&pdev->drm, "firmware processor stopped" PUMICE_SEE_DUMP);
		WRITE_ONCE(pdev->vgpu.stopped, true);
		pumice_reset_schedule(pdev);
		return;
	}
	status = pumice_read(pdev, PUMICE_FW_STATUS);
	if (PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE, status) != PUMICE_FW_STATE_LOCKUP) {
		drm_err_ratelimited(&pdev->drm,
				    "ignored a lockup interrupt: the firmware processor is running\n");
		return;
	}
	cause = pumice_read(pdev, PUMICE_FW_CAUSE);
	drm_err_ratelimited(&pdev->drm,
			    "firmware processor stopped: mcause 0x%x (%s) at 0x%x" PUMICE_SEE_DUMP,
			    cause, pumice_fw_name(pumice_mcause_name(cause)),
			    pumice_read(pdev, PUMICE_FW_PC));
	pumice_reset_schedule(pdev);
}

/* Check whether the firmware stopped itself because of an error that it cannot handle. */
static void pumice_irq_check_firmware(struct pumice_device *pdev)
{
	const struct fwif_boot *boot = &pdev->fw.shared->boot;

	if (READ_ONCE(boot->state) == FWIF_STATE_READY)
		return;
	drm_err_ratelimited(&pdev->drm, "firmware stopped: %s, 0x%x at 0x%x" PUMICE_SEE_DUMP,
			    pumice_fw_name(pumice_fwif_error_name(READ_ONCE(boot->error))),
			    READ_ONCE(boot->error_info), READ_ONCE(boot->error_pc));
	/* It is one firmware for all: number 0 resets the GPU and counts the failure. */
	if (pdev->os)
		WRITE_ONCE(pdev->vgpu.stopped, true);
	pumice_reset_schedule(pdev);
}

static irqreturn_t pumice_irq_thread_handler(int irq, void *data)
{
	struct pumice_device *pdev = data;
	bool cookie;
	int idx;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return IRQ_HANDLED;
	cookie = dma_fence_begin_signalling();
	if (READ_ONCE(pdev->fw.ready)) {
		if (xchg(&pdev->lockup, false))
			pumice_irq_report_lockup(pdev);
		pumice_irq_check_firmware(pdev);
		pumice_queue_process_all(pdev);
		pumice_kccb_collect(pdev);
		pumice_fwccb_drain(pdev);
	}
	dma_fence_end_signalling(cookie);
	drm_dev_exit(idx);
	return IRQ_HANDLED;
}

/**
 * pumice_irq_init - request the interrupt; it stays disabled in the device
 * @pdev: device
 *
 * Managed by the PCI device.
 *
 * Return: 0; or an error of pci_alloc_irq_vectors() or devm_request_threaded_irq(), which has
 * been logged.
 */
int pumice_irq_init(struct pumice_device *pdev)
{
	struct pci_dev *pci = to_pci_dev(pdev->drm.dev);
	int ret;

	timer_setup(&pdev->recheck_timer, pumice_irq_timer, 0);
	ret = pci_alloc_irq_vectors(pci, 1, 1, PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(pdev->drm.dev, ret,
				     "no MSI-X vector; the GPU has no other interrupt\n");
	pdev->irq = pci_irq_vector(pci, 0);
	ret = devm_request_threaded_irq(pdev->drm.dev, pdev->irq, pumice_irq_hard_handler,
					pumice_irq_thread_handler, IRQF_ONESHOT, "pumice", pdev);
	if (ret)
		return dev_err_probe(pdev->drm.dev, ret, "interrupt %d cannot be requested\n",
				     pdev->irq);
	return 0;
}

/**
 * pumice_irq_enable - let the device raise its interrupt
 * @pdev: device, firmware running
 */
void pumice_irq_enable(struct pumice_device *pdev)
{
	WRITE_ONCE(pdev->lockup, false);
	pumice_write(pdev, PUMICE_OS_IRQ_ENABLE, CAUSES);
	/* Jobs that survived a reset. */
	if (atomic_read(&pdev->in_flight))
		mod_timer(&pdev->recheck_timer, jiffies + RECHECK);
}

/**
 * pumice_irq_disable - stop the interrupt, and wait until its thread has ended
 * @pdev: device
 */
void pumice_irq_disable(struct pumice_device *pdev)
{
	pumice_write(pdev, PUMICE_OS_IRQ_ENABLE, 0);
	timer_delete_sync(&pdev->recheck_timer);
	synchronize_irq(pdev->irq);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_irq_test.c"
#endif
