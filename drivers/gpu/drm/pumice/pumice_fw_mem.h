/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory shared with the firmware: the address space of MMU context 0. */
#ifndef PUMICE_FW_MEM_H
#define PUMICE_FW_MEM_H

#include <linux/list.h>
#include <linux/types.h>

#include <drm/drm_mm.h>

#include "pumice_quota.h"

struct pumice_device;

/**
 * struct pumice_fw_obj - memory shared by driver and firmware
 */
struct pumice_fw_obj {
	/** @node: in pumice_fw_mem.objs */
	struct list_head node;
	/** @va: address range in MMU context 0 */
	struct drm_mm_node va;
	/** @cpu: the driver's mapping, initially zeroed; NULL after the device was removed */
	void *cpu;
	/** @dma: bus address */
	dma_addr_t dma;
	/** @size: bytes */
	size_t size;
	/** @addr: fw address */
	u32 addr;
	/** @charge: quota charge of the memory */
	struct pumice_charge charge;
	/** @abandoned: unreferenced, to be freed with the device; under fw_mem.lock */
	bool abandoned;
};

int pumice_fw_mem_init(struct pumice_device *pdev);
void pumice_fw_mem_close(struct pumice_device *pdev);
void pumice_fw_mem_fini(struct pumice_device *pdev);
void pumice_fw_mem_setup(struct pumice_device *pdev);

struct pumice_fw_obj *pumice_fw_obj_create(struct pumice_device *pdev, struct pumice_file *file,
					   size_t size);
void pumice_fw_obj_destroy(struct pumice_device *pdev, struct pumice_fw_obj *obj);

#endif
