// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Power management.
 *
 * A job keeps the GPU awake from SUBMIT until it is freed, as do accesses to
 * registers. Half a second after the last user the GPU is reset and sleeps: its
 * firmware loses the state of all contexts and VMs, and its TLBs are empty. So nothing
 * has to be sent to a sleeping GPU, and commands to it succeed without effect
 * (pumice_kccb_call()). Waking boots the firmware; it receives a context's state when
 * the context's next job is kicked, as after a GPU reset.
 *
 * While there are several virtual GPUs, the GPU does not sleep: a reset would end the jobs of the
 * others, whose activity the driver of number 0 cannot observe. A virtual GPU other than 0 has no
 * power management of its own; before system suspend it disconnects from the firmware.
 *
 * System suspend first waits for the jobs that the firmware has; a GPU that is busy
 * for longer than the time-out of a job makes the suspend fail.
 */
#include <linux/delay.h>
#include <linux/pm_runtime.h>

#include "pumice_context.h"
#include "pumice_places.h"
#include "pumice_pm.h"
#include "pumice_reset.h"
#include "pumice_vgpu.h"

#define AUTOSUSPEND_MS	500
#define POLL_MS		10

/**
 * pumice_pm_get - keep the GPU awake
 * @pdev: device
 *
 * May sleep and boot the firmware; must not be called under reset.lock.
 * Return: 0, and pumice_pm_put() must follow; or -EIO if the GPU does not wake up.
 */
int pumice_pm_get(struct pumice_device *pdev)
{
	return pm_runtime_resume_and_get(pdev->drm.dev) < 0 ? -EIO : 0;
}

/**
 * pumice_pm_get_if_awake - keep the GPU awake if it is awake
 * @pdev: device
 *
 * Return: true if it is awake; then pumice_pm_put() must follow.
 */
bool pumice_pm_get_if_awake(struct pumice_device *pdev)
{
	if (!IS_ENABLED(CONFIG_PM))
		return true;
	return pm_runtime_get_if_active(pdev->drm.dev) > 0;
}

/**
 * pumice_pm_put - release a use of pumice_pm_get(); does not sleep
 * @pdev: device
 */
void pumice_pm_put(struct pumice_device *pdev)
{
	pm_runtime_mark_last_busy(pdev->drm.dev);
	pm_runtime_put_autosuspend(pdev->drm.dev);
}

/**
 * pumice_pm_enter - begin a section in which registers are accessible
 * @pdev: device
 * @idx: out: for pumice_pm_leave()
 *
 * The GPU is awake, and pumice_device_unplug() waits for the end of the section.
 *
 * Context: May sleep and boot the firmware; must not be called under reset.lock.
 *
 * Return: 0, and pumice_pm_leave() must follow; -ENODEV if the device was unplugged; or -EIO if the
 * GPU does not wake up.
 */
int pumice_pm_enter(struct pumice_device *pdev, int *idx)
{
	int ret;

	if (!drm_dev_enter(&pdev->drm, idx))
		return -ENODEV;
	ret = pumice_pm_get(pdev);
	if (ret)
		drm_dev_exit(*idx);
	return ret;
}

/**
 * pumice_pm_leave - end a section of pumice_pm_enter(); does not sleep
 * @pdev: device
 * @idx: of pumice_pm_enter()
 */
void pumice_pm_leave(struct pumice_device *pdev, int idx)
{
	pumice_pm_put(pdev);
	drm_dev_exit(idx);
}

/**
 * pumice_pm_init - permit the GPU to sleep, if it has one virtual GPU, or order its sleep
 * @pdev: device, registered
 *
 * Context: May sleep.
 */
void pumice_pm_init(struct pumice_device *pdev)
{
	struct device *dev = pdev->drm.dev;

	pumice_vgpu_link(pdev, true);
	if (pdev->oses > 1)
		return;
	pm_runtime_set_autosuspend_delay(dev, AUTOSUSPEND_MS);
	pm_runtime_use_autosuspend(dev);
	pm_runtime_allow(dev);
	pumice_pm_put(pdev); /* the use that the PCI core acquired before probe() */
}

/**
 * pumice_pm_fini - undo pumice_pm_init(): wake the GPU and keep it awake
 * @pdev: device
 *
 * Context: May sleep: wakes the GPU.
 */
void pumice_pm_fini(struct pumice_device *pdev)
{
	struct device *dev = pdev->drm.dev;

	pumice_vgpu_link(pdev, false);
	if (pdev->oses > 1)
		return;
	pm_runtime_get_sync(dev);
	pm_runtime_forbid(dev);
	pm_runtime_dont_use_autosuspend(dev);
}

static int pumice_pm_runtime_suspend(struct device *dev)
{
	struct pumice_device *pdev = dev_get_drvdata(dev);
	int idx;

	if (drm_dev_enter(&pdev->drm, &idx)) {
		pumice_reset_sleep(pdev);
		drm_dev_exit(idx);
	}
	return 0;
}

static int pumice_pm_runtime_resume(struct device *dev)
{
	struct pumice_device *pdev = dev_get_drvdata(dev);
	int idx, ret;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return 0;
	ret = pumice_reset_wake(pdev);
	if (!ret)
		pumice_places_update(pdev);
	drm_dev_exit(idx);
	return ret;
}

/* Return true while the firmware has a job. */
static bool pumice_pm_busy(struct pumice_device *pdev)
{
	struct pumice_context *ctx;
	bool found = false;

	spin_lock(&pdev->reset.contexts_lock);
	list_for_each_entry(ctx, &pdev->reset.contexts, node)
		found |= !pumice_context_idle(ctx);
	spin_unlock(&pdev->reset.contexts_lock);
	return found;
}

/* Start no job until pumice_reset_continue(), and wait for those that the firmware has. */
static int pumice_pm_quiesce(struct pumice_device *pdev)
{
	unsigned long end = jiffies + 2 * msecs_to_jiffies(pumice_job_timeout_ms);

	pumice_reset_pause(pdev);
	while (pumice_pm_busy(pdev)) {
		if (time_after(jiffies, end))
			return -EBUSY;
		msleep(POLL_MS);
	}
	return 0;
}

static int pumice_pm_system_suspend(struct device *dev)
{
	struct pumice_device *pdev = dev_get_drvdata(dev);
	int idx, ret = 0;

	if (!drm_dev_enter(&pdev->drm, &idx))
		return 0;
	pumice_places_flush(pdev);
	if (!pm_runtime_suspended(dev))
		ret = pumice_pm_quiesce(pdev);
	if (!ret)
		ret = pm_runtime_force_suspend(dev);
	if (ret)
		pumice_reset_continue(pdev);
	drm_dev_exit(idx);
	return ret;
}

static int pumice_pm_system_resume(struct device *dev)
{
	struct pumice_device *pdev = dev_get_drvdata(dev);
	int ret;

	ret = pm_runtime_force_resume(dev);
	pumice_reset_continue(pdev);
	return ret;
}

const struct dev_pm_ops pumice_pm_ops = {
	SYSTEM_SLEEP_PM_OPS(pumice_pm_system_suspend, pumice_pm_system_resume)
	RUNTIME_PM_OPS(pumice_pm_runtime_suspend, pumice_pm_runtime_resume, NULL)
};
