// SPDX-License-Identifier: MIT
/* Devices of the examples: see gpu.h. */
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

void gpu_check(struct gpu *gpu, int err, const char *what)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s\n", what, pumice_device_error(gpu->dev));
	exit(1);
}

void gpu_open(struct gpu *gpu, int argc, char **argv, const char *shader, uint64_t bytes)
{
	char error[PUMICE_ERROR_BYTES];
	struct pumice_program *program;

	if (pumice_device_open(argc > 1 ? argv[1] : "inproc", &gpu->dev, error, sizeof(error)) ||
	    pumice_program_assemble("shader", shader, &program, error, sizeof(error))) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	gpu_check(gpu, pumice_vm_create(gpu->dev, &gpu->vm), "vm");
	gpu_check(gpu, pumice_context_create(gpu->vm, PUMICE_PRIORITY_NORMAL, &gpu->context),
		  "context");
	gpu_check(gpu, pumice_kernel_create(gpu->vm, program, &gpu->kernel), "kernel");
	pumice_program_destroy(program);
	gpu_check(gpu, pumice_stream_create(gpu->vm, 65536, &gpu->stream), "stream");
	gpu_check(gpu, pumice_bo_create(gpu->dev, bytes, NULL, &gpu->bo), "memory");
	gpu_check(gpu, pumice_bo_map(gpu->bo, &gpu->cpu), "map");
	gpu_check(gpu, pumice_vm_place(gpu->vm, gpu->bo, PUMICE_BIND_NOEXEC, &gpu->va), "place");
}

void gpu_close(struct gpu *gpu)
{
	pumice_stream_destroy(gpu->stream);
	pumice_kernel_destroy(gpu->kernel);
	pumice_context_destroy(gpu->context);
	pumice_vm_remove(gpu->vm, gpu->va);
	pumice_bo_destroy(gpu->bo);
	pumice_vm_destroy(gpu->vm);
	pumice_device_close(gpu->dev);
}
