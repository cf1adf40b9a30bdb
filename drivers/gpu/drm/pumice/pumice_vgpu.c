// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Connection of a virtual GPU other than number 0 to the firmware.
 *
 * Sources: registers.xml, unit OS; fwif.h, "Virtual GPUs".
 *
 * The driver of number 0 loads and boots the firmware, resets the GPU, and defines page sizes,
 * shares, policy, event trace and mode; none of this is accessible here. Here the end of the
 * connection is the counterpart of a reset of the GPU, and the next connection that of the boot.
 *
 * The part's memory is disabled before the connection is ended. So the firmware, which kills all
 * contexts then, cannot complete their jobs in memory: these are in the state that a reset of the
 * GPU would leave, and jobs that had not begun are submitted again (pumice_replay.c).
 *
 * A reset of the GPU by the driver of number 0 ends the connection without an interrupt. It is
 * noticed from OS_CTRL where the driver waits for the firmware, at the latest half a second after
 * the submission of a job; see pumice_irq_recheck().
 */
#include <linux/iopoll.h>
#include <linux/string.h>

#include "fwlog.h"
#include "pumice_fw.h"
#include "pumice_fw_mem.h"
#include "pumice_vgpu.h"

#define POLL_US		50
/* Time for the firmware while there are no jobs to rescue: at probe and at removal, ms. */
#define SHORT_WAIT_MS	1000
/* Minor version of the register map since which unit SYS is on all pages. */
#define SYS_SINCE	11

/**
 * pumice_vgpu_init - initialize; must precede all other functions of this file
 * @pdev: device
 *
 * Context: Any.
 */
void pumice_vgpu_init(struct pumice_device *pdev)
{
	spin_lock_init(&pdev->vgpu.lock);
}

/**
 * pumice_vgpu_identify - check that the function is a virtual GPU that this driver supports
 * @pdev: device with the registers of unit SYS
 *
 * Context: Any.
 *
 * Return: 0, with the number of the virtual GPU; or -ENODEV, which has been logged.
 */
int pumice_vgpu_identify(struct pumice_device *pdev)
{
	u32 info = pumice_read(pdev, PUMICE_OS_INFO);

	pdev->os = PUMICE_FIELD_GET(PUMICE_OS_INFO__NUMBER, info);
	pdev->oses = PUMICE_FIELD_GET(PUMICE_OS_INFO__OSES, info);
	if (PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version) < SYS_SINCE || !pdev->os ||
	    pdev->os >= pdev->oses || pdev->oses > PUMICE_OS_COUNT)
		return dev_err_probe(pdev->drm.dev, -ENODEV,
				     "not a virtual GPU: number %u of %u, register map %u.%u\n",
				     pdev->os, pdev->oses,
				     PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MAJOR, pdev->version),
				     PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version));
	return 0;
}

/* Return the maximum time of a wait for the firmware, ms. */
static u32 vgpu_wait_ms(struct pumice_device *pdev)
{
	if (!pdev->vgpu.was_connected || drm_dev_is_unplugged(&pdev->drm))
		return min(pumice_fw_timeout_ms, SHORT_WAIT_MS);
	return pumice_fw_timeout_ms;
}

/* Log that the firmware was late; at probe only as the reason for which that is deferred. */
static void vgpu_warn(struct pumice_device *pdev, const char *what, u32 wait_ms)
{
	struct device *dev = pdev->drm.dev;

	if (pdev->vgpu.was_connected)
		dev_warn(dev, "firmware %s, after %u ms\n", what, wait_ms);
	else
		dev_err_probe(dev, -EPROBE_DEFER, "firmware %s, after %u ms\n", what, wait_ms);
}

/* Enable or disable all memory of this virtual GPU; a write invalidates its TLB entries. */
static void vgpu_enable_memory(struct pumice_device *pdev, bool enable)
{
	const u64 addr = pumice_mmu_catalogue(pdev->fw_mem.mmu) & PUMICE_OS_CATALOGUE__ADDR__MASK;

	spin_lock(&pdev->vgpu.lock);
	pdev->vgpu.enabled = enable;
	pumice_write64(pdev, PUMICE_OS_CATALOGUE,
		       enable ? addr | PUMICE_OS_CATALOGUE__ENABLE__MASK : 0);
	spin_unlock(&pdev->vgpu.lock);
}

/**
 * pumice_vgpu_invalidate - invalidate the TLB entries of this virtual GPU's part of context 0
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Without effect while the memory is disabled: enabling it invalidates them.
 *
 * Context: Does not sleep. Acquires vgpu.lock.
 */
void pumice_vgpu_invalidate(struct pumice_device *pdev)
{
	const u64 addr = pumice_mmu_catalogue(pdev->fw_mem.mmu) & PUMICE_OS_CATALOGUE__ADDR__MASK;

	spin_lock(&pdev->vgpu.lock);
	if (pdev->vgpu.enabled)
		pumice_write64(pdev, PUMICE_OS_CATALOGUE, addr | PUMICE_OS_CATALOGUE__ENABLE__MASK);
	spin_unlock(&pdev->vgpu.lock);
}

/**
 * pumice_vgpu_is_lost - check whether the connection was ended by others
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * Context: Any.
 *
 * Return: true if @pdev is a virtual GPU other than 0 that believes to be connected, and the GPU
 * was reset or removed.
 */
bool pumice_vgpu_is_lost(struct pumice_device *pdev)
{
	u32 ctrl;

	if (!pdev->os || !READ_ONCE(pdev->fw.ready))
		return false;
	ctrl = pumice_read(pdev, PUMICE_OS_CTRL);
	return ctrl == U32_MAX || !(ctrl & PUMICE_OS_CTRL__CONNECT__MASK);
}

/* Order suspend and resume: consumers sleep before their supplier, and wake after it. */
static void vgpu_link(struct pumice_device *pdev, struct device *gpu)
{
	if (!device_link_add(pdev->drm.dev, gpu, DL_FLAG_STATELESS))
		drm_dbg(&pdev->drm, "sleeps in any order with %s\n", dev_name(gpu));
}

/**
 * pumice_vgpu_link - let the system suspend this function before number 0, and resume it after
 * @pdev: device
 * @add: add the order, or remove it
 *
 * Number 0 may be in another guest. No register has the device of number 0: all GPUs of this guest
 * are suppliers, which for others is an order without an effect.
 *
 * Context: May sleep.
 */
void pumice_vgpu_link(struct pumice_device *pdev, bool add)
{
	struct pci_dev *gpu = NULL;

	while (pdev->os && (gpu = pci_get_device(PUMICE_PCI_VENDOR, PUMICE_PCI_DEVICE, gpu)))
		if (add)
			vgpu_link(pdev, &gpu->dev);
		else
			device_link_remove(pdev->drm.dev, &gpu->dev);
}

/* Return true if the firmware uses no memory of this virtual GPU. */
static bool vgpu_is_disconnected(struct pumice_device *pdev)
{
	u32 ctrl = pumice_read(pdev, PUMICE_OS_CTRL);

	/* All ones: the GPU was removed. */
	return ctrl == U32_MAX || !(ctrl & PUMICE_OS_CTRL__CONNECTED__MASK);
}

/**
 * pumice_vgpu_disconnect - end the connection: the GPU runs nothing of this virtual GPU afterwards
 * @pdev: device
 *
 * Context: May sleep: polls the device.
 *
 * Does not wait for firmware that has not replied at probe: it may not be booted.
 *
 * Return: 0; or -ETIMEDOUT, which has been logged, if the firmware does not end the connection in
 * time. The GPU cannot access memory then.
 */
int pumice_vgpu_disconnect(struct pumice_device *pdev)
{
	const u32 wait_ms = vgpu_wait_ms(pdev);
	bool ended;
	int ret;

	vgpu_enable_memory(pdev, false);
	pumice_write(pdev, PUMICE_OS_CTRL, 0);
	if (pdev->vgpu.unanswered) {
		pci_clear_master(to_pci_dev(pdev->drm.dev));
		return 0;
	}
	ret = read_poll_timeout(vgpu_is_disconnected, ended, ended, POLL_US,
				(u64)wait_ms * USEC_PER_MSEC, false, pdev);
	if (ret) {
		vgpu_warn(pdev, "did not end a connection; it can no longer access memory",
			  wait_ms);
		pci_clear_master(to_pci_dev(pdev->drm.dev));
	}
	return ret;
}

/* Return true if a request was discarded by a reset, or cut: CTRL was written after that only. */
static bool vgpu_request_is_lost(struct pumice_device *pdev, u32 ctrl)
{
	return !(ctrl & PUMICE_OS_CTRL__CONNECT__MASK) ||
	       !(pumice_read64(pdev, PUMICE_OS_CATALOGUE) & PUMICE_OS_CATALOGUE__ENABLE__MASK);
}

static void vgpu_request(struct pumice_device *pdev)
{
	/* The firmware notices a change of CONNECT only. */
	pumice_write(pdev, PUMICE_OS_CTRL, 0);
	vgpu_enable_memory(pdev, true);
	pumice_write(pdev, PUMICE_OS_BOOT_ARG,
		     pdev->fw.shared_obj->addr + offsetof(struct pumice_fw_shared, boot));
	dma_wmb(); /* write the boot structure before the firmware reads it */
	pumice_write(pdev, PUMICE_OS_CTRL, PUMICE_OS_CTRL__CONNECT__MASK);
}

/*
 * Return true when the firmware has replied, or if it cannot: the GPU or this device was removed.
 * A request that a reset of the GPU discarded is repeated: number 0 resets it before each boot, and
 * more than once for a function-level reset.
 */
static bool vgpu_has_reply(struct pumice_device *pdev)
{
	u32 ctrl;

	if (READ_ONCE(pdev->fw.shared->boot.state) != FWIF_STATE_OFF)
		return true;
	ctrl = pumice_read(pdev, PUMICE_OS_CTRL);
	if (ctrl == U32_MAX || drm_dev_is_unplugged(&pdev->drm))
		return true;
	if (vgpu_request_is_lost(pdev, ctrl))
		vgpu_request(pdev);
	return false;
}

/*
 * Note version and build of the firmware, which number 0 loaded. Features that are in use, and jobs
 * that are submitted again, need the minor version of the first connection.
 */
static int vgpu_note_firmware(struct pumice_device *pdev)
{
	struct fwif_image_header *header = &pdev->fw.header;
	const struct fwif_boot *boot = &pdev->fw.shared->boot;
	const u32 version = READ_ONCE(boot->fw_version);

	if (version >> 16 != FWIF_VERSION_MAJOR)
		return dev_err_probe(pdev->drm.dev, -EIO,
				     "firmware has interface %u.%u, driver supports %u.x\n",
				     version >> 16, version & 0xffff, FWIF_VERSION_MAJOR);
	if (pdev->vgpu.was_connected && version < header->version)
		return dev_err_probe(pdev->drm.dev, -EIO,
				     "firmware has interface %u.%u, but had a newer one\n",
				     version >> 16, version & 0xffff);
	header->version = version;
	memcpy(header->build_id, boot->build_id, sizeof(header->build_id) - 1);
	header->build_id[sizeof(header->build_id) - 1] = '\0';
	return 0;
}

static int vgpu_check_reply(struct pumice_device *pdev)
{
	const struct fwif_boot *boot = &pdev->fw.shared->boot;
	struct device *dev = pdev->drm.dev;
	u32 state = READ_ONCE(boot->state);
	u32 error;

	dma_rmb(); /* the firmware writes the state last */
	if (state != FWIF_STATE_READY) {
		error = READ_ONCE(boot->error);
		return dev_err_probe(dev, -EIO, "firmware refused the connection: %s\n",
				     pumice_fw_name(pumice_fwif_error_name(error)));
	}
	return vgpu_note_firmware(pdev);
}

/**
 * pumice_vgpu_connect - connect to the firmware
 * @pdev: device, after pumice_vgpu_disconnect(), with a boot structure; between drm_dev_enter()
 *	and drm_dev_exit() under reset.lock, or before the device is registered
 *
 * Context: May sleep: polls the device.
 *
 * Return: 0; or an error that has been logged: -ETIMEDOUT if the firmware does not reply in time,
 * as long as it is not booted, -EIO if it refuses the connection, or -ENODEV if the GPU or this
 * device was removed.
 */
int pumice_vgpu_connect(struct pumice_device *pdev)
{
	const u32 wait_ms = vgpu_wait_ms(pdev);
	bool replied;
	int ret;

	vgpu_request(pdev);
	ret = read_poll_timeout(vgpu_has_reply, replied, replied, POLL_US,
				(u64)wait_ms * USEC_PER_MSEC, false, pdev);
	if (ret) {
		vgpu_warn(pdev, "did not reply: is the GPU bound to its driver?", wait_ms);
		pdev->vgpu.unanswered = !pdev->vgpu.was_connected;
		return ret;
	}
	if (READ_ONCE(pdev->fw.shared->boot.state) == FWIF_STATE_OFF)
		return dev_err_probe(pdev->drm.dev, -ENODEV, "the GPU was removed\n");
	ret = vgpu_check_reply(pdev);
	if (!ret) {
		pdev->vgpu.was_connected = true;
		WRITE_ONCE(pdev->vgpu.stopped, false);
	}
	return ret;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_vgpu_test.c"
#endif
