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
 * struct pumice_fw_obj - a piece of memory that driver and firmware see
 */
struct pumice_fw_obj {
	/** @node: in pumice_fw_mem.objs */
	struct list_head node;
	/** @va: place in MMU context 0 */
	struct drm_mm_node va;
	/** @cpu: where the driver sees it, zeroed at first; NULL once the device is gone */
	void *cpu;
	/** @dma: bus address */
	dma_addr_t dma;
	/** @size: bytes */
	size_t size;
	/** @addr: fw address */
	u32 addr;
	/** @charge: whose memory it is */
	struct pumice_charge charge;
	/** @abandoned: nothing refers to it any more; goes with the device; under fw_mem.lock */
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
