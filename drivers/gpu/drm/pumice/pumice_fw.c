// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The firmware: its file and its boot.
 *
 * Source: document 000, "Firmware Processor"; fwif.h.
 *
 * The file is checked here once and its payload kept in memory that the device
 * can read, so that a reset can boot it again without the file.
 */
#include <linux/crc32.h>
#include <linux/dma-mapping.h>
#include <linux/firmware.h>
#include <linux/iopoll.h>
#include <linux/module.h>

#include "fwlog.h"
#include "pumice_ccb.h"
#include "pumice_free_list.h"
#include "pumice_fw.h"
#include "pumice_fw_mem.h"
#include "pumice_heap.h"
#include "pumice_hwrt.h"
#include "pumice_mmu.h"
#include "pumice_names.h"
#include "pumice_vgpu.h"

#define FW_FILE		"pumice/pumice_fw.bin"
/* Remedy for a missing or unsuitable file. */
#define FW_INSTALL	"install the firmware built with this driver in /lib/firmware"
#define FW_UNUSABLE	"firmware %s: %s (interface %u.%u, driver %u.%u); " FW_INSTALL "\n"
#define POLL_US		50

MODULE_FIRMWARE(FW_FILE);

/* Return the description of an error in a firmware file, or NULL. */
static const char *fw_file_error(const struct firmware *file, const struct fwif_image_header *h)
{
	if (h->magic != FWIF_IMAGE_MAGIC)
		return "not a Pumice firmware";
	if (h->version >> 16 != FWIF_VERSION_MAJOR)
		return "another interface version";
	if (h->file_bytes != file->size)
		return "size differs from that in its header";
	if (!h->payload_bytes || h->payload_bytes % 4 ||
	    h->payload_bytes > PUMICE_FW_RAM_SIZE ||
	    h->payload_bytes != file->size - sizeof(*h))
		return "invalid payload size";
	if (h->entry % 2 || h->entry >= h->payload_bytes)
		return "entry point outside of the payload";
	if (h->reserved[0] || h->reserved[1])
		return "reserved header fields are not zero";
	if (strnlen(h->build_id, sizeof(h->build_id)) == sizeof(h->build_id))
		return "build id is not terminated";
	if (~crc32_le(~0, file->data + sizeof(*h), h->payload_bytes) != h->crc32)
		return "checksum is wrong";
	return NULL;
}

static int fw_check_file(struct pumice_device *pdev, const struct firmware *file)
{
	struct fwif_image_header *header = &pdev->fw.header;
	const char *error;

	if (file->size <= sizeof(*header))
		return dev_err_probe(pdev->drm.dev, -EINVAL,
				     "firmware %s: too short; " FW_INSTALL "\n", FW_FILE);
	memcpy(header, file->data, sizeof(*header));
	error = fw_file_error(file, header);
	if (error)
		return dev_err_probe(pdev->drm.dev, -EINVAL, FW_UNUSABLE, FW_FILE, error,
				     header->version >> 16, header->version & 0xffff,
				     FWIF_VERSION_MAJOR, FWIF_VERSION_MINOR);
	return 0;
}

static int fw_copy_payload(struct pumice_device *pdev, const struct firmware *file)
{
	struct pumice_fw *fw = &pdev->fw;

	fw->image = dma_alloc_coherent(pdev->drm.dev, fw->header.payload_bytes, &fw->image_dma,
				       GFP_KERNEL);
	if (!fw->image)
		return -ENOMEM;
	memcpy(fw->image, file->data + sizeof(fw->header), fw->header.payload_bytes);
	return 0;
}

static int fw_load_file(struct pumice_device *pdev)
{
	const struct firmware *file;
	int ret;

	ret = request_firmware(&file, FW_FILE, pdev->drm.dev);
	if (ret)
		return dev_err_probe(pdev->drm.dev, ret,
				     "firmware %s cannot be loaded; " FW_INSTALL "\n", FW_FILE);
	ret = fw_check_file(pdev, file);
	if (!ret)
		ret = fw_copy_payload(pdev, file);
	release_firmware(file);
	return ret;
}

/**
 * pumice_fw_load - read and check the firmware file, and allocate the shared memory
 * @pdev: device
 *
 * Virtual GPUs other than 0 have no file: they connect to the firmware that number 0 booted.
 *
 * Context: May sleep.
 *
 * Return: 0; -EINVAL if the file is invalid or of another interface version, or an error of
 * request_firmware(), which have been logged; or -ENOMEM.
 */
int pumice_fw_load(struct pumice_device *pdev)
{
	struct pumice_fw *fw = &pdev->fw;
	int ret;

	if (!pdev->os) {
		ret = fw_load_file(pdev);
		if (ret)
			return ret;
	}
	fw->shared_obj = pumice_fw_obj_create(pdev, NULL, sizeof(*fw->shared));
	if (IS_ERR(fw->shared_obj)) {
		ret = PTR_ERR(fw->shared_obj);
		fw->shared_obj = NULL;
		pumice_fw_unload(pdev);
		return ret;
	}
	fw->shared = fw->shared_obj->cpu;
	return 0;
}

/**
 * pumice_fw_unload - free the firmware's memory
 * @pdev: stopped device
 *
 * Context: May sleep. Acquires fw_mem.lock.
 */
void pumice_fw_unload(struct pumice_device *pdev)
{
	struct pumice_fw *fw = &pdev->fw;

	if (fw->image)
		dma_free_coherent(pdev->drm.dev, fw->header.payload_bytes, fw->image,
				  fw->image_dma);
	fw->image = NULL;
	pumice_fw_obj_destroy(pdev, fw->shared_obj);
	fw->shared_obj = NULL;
	fw->shared = NULL;
}

static u32 fw_shared_addr(const struct pumice_fw *fw, const void *member)
{
	return fw->shared_obj->addr + (u32)(member - (void *)fw->shared);
}

static void fw_fill_boot_locked(struct pumice_fw *fw)
{
	struct pumice_fw_shared *s = fw->shared;

	lockdep_assert_held(&fw->settings_lock);
	s->boot = (struct fwif_boot) {
		.magic = FWIF_BOOT_MAGIC,
		.version = FWIF_VERSION,
		.kccb_ring = fw_shared_addr(fw, &s->kccb_ring),
		.kccb = fw_shared_addr(fw, s->kccb),
		.kccb_status = fw_shared_addr(fw, s->kccb_status),
		.fwccb_ring = fw_shared_addr(fw, &s->fwccb_ring),
		.fwccb = fw_shared_addr(fw, s->fwccb),
		.log_ring = fw_shared_addr(fw, &s->log_ring),
		.log = fw_shared_addr(fw, s->log),
		.log_level = READ_ONCE(fw->log_level),
		.slice_us = READ_ONCE(pumice_slice_us),
		.split_prims = READ_ONCE(pumice_split_prims),
		.pds_shares = READ_ONCE(fw->pds_shares),
		.dms_policy = READ_ONCE(fw->dms_policy),
		.state = FWIF_STATE_OFF,
		.active_context = FWIF_NO_CONTEXT,
	};
}

static void fw_fill_shared(struct pumice_fw *fw)
{
	struct pumice_fw_shared *s = fw->shared;

	memset(s, 0, sizeof(*s));
	s->kccb_ring.count = PUMICE_KCCB_COUNT;
	s->fwccb_ring.count = PUMICE_FWCCB_COUNT;
	s->log_ring.count = PUMICE_LOG_COUNT;
	mutex_lock(&fw->settings_lock);
	fw_fill_boot_locked(fw);
	mutex_unlock(&fw->settings_lock);
}

/**
 * pumice_fw_set_slice - apply the module parameter's time slice to the firmware
 * @pdev: device, between drm_dev_enter() and drm_dev_exit()
 *
 * The firmware reads it at each scheduling decision. Booting applies it in any case.
 *
 * Context: Process context. May sleep; acquires the lock of the settings.
 */
void pumice_fw_set_slice(struct pumice_device *pdev)
{
	mutex_lock(&pdev->fw.settings_lock);
	WRITE_ONCE(pdev->fw.shared->boot.slice_us, READ_ONCE(pumice_slice_us));
	mutex_unlock(&pdev->fw.settings_lock);
}

static void fw_start_processor(struct pumice_device *pdev)
{
	struct pumice_fw *fw = &pdev->fw;

	pumice_write64(pdev, PUMICE_FW_IMAGE_ADDR, fw->image_dma);
	pumice_write(pdev, PUMICE_FW_IMAGE_SIZE, fw->header.payload_bytes);
	pumice_write(pdev, PUMICE_FW_ENTRY, fw->header.entry);
	pumice_write64(pdev, PUMICE_FW_BOOT_ARG, fw_shared_addr(fw, &fw->shared->boot));
	dma_wmb(); /* write image and boot structure before the processor reads them */
	pumice_write(pdev, PUMICE_FW_CTRL, PUMICE_FW_CTRL__RUN__MASK);
}

/* Return true if the processor cannot start the firmware, or stopped while running it. */
static bool fw_processor_stopped(u32 status)
{
	u32 state = PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE, status);

	return state == PUMICE_FW_STATE_BOOT_FAILED || state == PUMICE_FW_STATE_LOCKUP;
}

/* Return true when the boot has ended, with success or failure. */
static bool fw_boot_ended(struct pumice_device *pdev, u32 *status)
{
	*status = pumice_read(pdev, PUMICE_FW_STATUS);
	return READ_ONCE(pdev->fw.shared->boot.state) != FWIF_STATE_OFF ||
	       fw_processor_stopped(*status);
}

static int fw_report_stopped(struct pumice_device *pdev, u32 status)
{
	u32 state = PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE, status);
	u32 error = PUMICE_FIELD_GET(PUMICE_FW_STATUS__BOOT_ERROR, status);

	return dev_err_probe(pdev->drm.dev, -EIO,
			     "firmware did not boot: processor %s, boot error %s, mcause 0x%x at 0x%x\n",
			     pumice_fw_state_str(state), pumice_fw_boot_error_str(error),
			     pumice_read(pdev, PUMICE_FW_CAUSE), pumice_read(pdev, PUMICE_FW_PC));
}

static int fw_check_boot(struct pumice_device *pdev, u32 status)
{
	const struct fwif_boot *boot = &pdev->fw.shared->boot;
	struct device *dev = pdev->drm.dev;
	u32 state = READ_ONCE(boot->state);
	u32 version, error;

	if (fw_processor_stopped(status))
		return fw_report_stopped(pdev, status);
	dma_rmb(); /* the firmware writes the state last */
	if (state != FWIF_STATE_READY) {
		error = READ_ONCE(boot->error);
		return dev_err_probe(dev, -EIO, "firmware did not boot: %s\n",
				     pumice_fw_name(pumice_fwif_error_name(error)));
	}
	version = READ_ONCE(boot->fw_version);
	if (version >> 16 != FWIF_VERSION_MAJOR ||
	    strncmp(boot->build_id, pdev->fw.header.build_id, FWIF_BUILD_ID_BYTES))
		return dev_err_probe(dev, -EIO,
				     "firmware that booted (interface %u.%u) is not that of %s\n",
				     version >> 16, version & 0xffff, FW_FILE);
	return 0;
}

/* Boot the firmware in a GPU that was reset. */
static int fw_boot_processor(struct pumice_device *pdev)
{
	u32 status;
	bool ended;
	int ret;

	pumice_heap_setup(pdev);
	pumice_fw_mem_setup(pdev);
	fw_start_processor(pdev);
	ret = read_poll_timeout(fw_boot_ended, ended, ended, POLL_US,
				(u64)pumice_fw_timeout_ms * USEC_PER_MSEC, false, pdev, &status);
	if (ret)
		return dev_err_probe(pdev->drm.dev, ret,
				     "firmware did not boot in %u ms (pc 0x%x)\n",
				     pumice_fw_timeout_ms, pumice_read(pdev, PUMICE_FW_PC));
	return fw_check_boot(pdev, status);
}

/**
 * pumice_fw_boot - reset the GPU and boot the firmware
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(); under reset.lock
 *	or before the device is registered
 *
 * A virtual GPU other than 0 disconnects from the firmware and connects to it again.
 *
 * Return: 0; or an error that has been logged: -ETIMEDOUT if the GPU does not complete its reset,
 * or the firmware its boot or a connection, in time; -EIO if the firmware stops, reports an error,
 * or is not that of the file.
 */
int pumice_fw_boot(struct pumice_device *pdev)
{
	int ret;

	ret = pumice_device_halt(pdev);
	if (ret)
		return ret;
	pci_set_master(to_pci_dev(pdev->drm.dev));
	pumice_free_list_reset_all(pdev);
	pumice_hwrt_reset_all(pdev);
	fw_fill_shared(&pdev->fw);
	ret = pdev->os ? pumice_vgpu_connect(pdev) : fw_boot_processor(pdev);
	if (ret)
		return ret;
	pumice_kccb_open(pdev);
	pdev->fw.ready = true;
	return 0;
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_fw_test.c"
#endif
