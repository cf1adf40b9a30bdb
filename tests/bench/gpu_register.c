// SPDX-License-Identifier: MIT
/*
 * Registers of the GPU in this process, past the library, whose users have no
 * business with them.
 */
#include "gpu.h"

#include "inproc/inproc.h"

void gpu_register(struct gpu *gpu, uint32_t offset, uint32_t value)
{
	pumice_gpu_mmio_write(inproc_device(gpu->dev)->gpu, 0, offset, value, sizeof(value));
}
