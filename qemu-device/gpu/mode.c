// SPDX-License-Identifier: MIT
/* Modes of the GPU. See mode.h. */
#include "mode.h"

#include <errno.h>
#include <string.h>

#include "gpu.h"
#include "pumice_names.h"

bool mode_find(const char *name, enum pumice_mode *mode)
{
	u32 n;

	*mode = PUMICE_MODE_FAST;
	if (!name)
		return true;
	for (n = 0; n < PUMICE_MODE_COUNT; n++) {
		if (strcmp(name, pumice_mode_str(n)))
			continue;
		*mode = (enum pumice_mode)n;
		return true;
	}
	return false;
}

bool mode_is_available(struct pumice_gpu *gpu)
{
	u32 m;

	for (m = 0; m < GPU_MASTERS; m++)
		if (master_status(&gpu->master[m])->busy)
			return false;
	return !cdm_status(gpu->cdm)->busy;
}

/* struct mmu: a request of a unit. */
static void request(void *opaque, const struct mmu_request *r)
{
	(void)opaque;
	(void)r;
}

/* As mode_set(), for a mode that exists; parked, device lock held. */
static int change(struct pumice_gpu *gpu, enum pumice_mode mode)
{
	if (!mode_is_available(gpu))
		return -EBUSY;
	if (mode == PUMICE_MODE_STRICT)
		return -EOPNOTSUPP;
	gpu->mode = mode;
	mmu_set_request(&gpu->mmu, mode == PUMICE_MODE_FAST ? NULL : request, gpu);
	gpu_tlb_drop(gpu, PUMICE_MMU_CONTEXTS);
	return 0;
}

int mode_set(struct pumice_gpu *gpu, u32 mode)
{
	int ret;

	pthread_mutex_lock(&gpu->control);
	workers_park(gpu->workers);
	gpu_lock(gpu);
	if (!pumice_mode_valid(mode))
		ret = -EINVAL;
	else
		ret = mode == gpu->mode ? 0 : change(gpu, (enum pumice_mode)mode);
	gpu->mode_refused = ret;
	gpu_unlock(gpu);
	workers_unpark(gpu->workers);
	pthread_mutex_unlock(&gpu->control);
	return ret;
}

int pumice_gpu_set_mode(struct pumice_gpu *gpu, const char *name)
{
	enum pumice_mode mode;

	return mode_find(name, &mode) ? mode_set(gpu, mode) : -EINVAL;
}

const char *pumice_gpu_mode(struct pumice_gpu *gpu)
{
	enum pumice_mode mode;

	gpu_lock(gpu);
	mode = gpu->mode;
	gpu_unlock(gpu);
	return pumice_mode_str(mode);
}
