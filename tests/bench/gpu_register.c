// SPDX-License-Identifier: MIT
/*
 * Registers of the GPU in this process, which the library does not make accessible to its
 * users.
 */
#include "gpu.h"

#include "inproc/inproc.h"

void gpu_register(struct gpu *gpu, uint32_t offset, uint32_t value)
{
	pumice_gpu_mmio_write(inproc_device(gpu->dev)->gpu, 0, offset, value, sizeof(value));
}

uint32_t gpu_register_read(struct gpu *gpu, uint32_t offset)
{
	return (uint32_t)pumice_gpu_mmio_read(inproc_device(gpu->dev)->gpu, 0, offset,
					      sizeof(uint32_t));
}
