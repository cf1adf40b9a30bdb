/* SPDX-License-Identifier: MIT */
/* What every example needs first and last: a device, and a shader ready to run. */
#ifndef EXAMPLE_GPU_H
#define EXAMPLE_GPU_H

#include <pumice/pumice.h>
#include <pumice/pumice_shader.h>

struct gpu {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
	struct pumice_bo *bo;	/* memory for input and output */
	void *cpu;		/* where the CPU sees it */
	uint64_t va;		/* where the GPU sees it */
};

/*
 * Open the device that the command line names, else one in this process, and
 * make a kernel of a shader and some memory. Ends the program when that fails.
 */
void gpu_open(struct gpu *gpu, int argc, char **argv, const char *shader, uint64_t bytes);
void gpu_close(struct gpu *gpu);

/* End the program when a call of the library has failed. */
void gpu_check(struct gpu *gpu, int err, const char *what);

#endif
