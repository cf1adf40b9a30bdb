/* SPDX-License-Identifier: MIT */
/* Set-up and clean-up of every example: a device with memory, and programs. */
#ifndef EXAMPLE_GPU_H
#define EXAMPLE_GPU_H

#include <pumice/pumice.h>
#include <pumice/pumice_shader.h>

struct gpu {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_buffer memory;
	void *cpu;		/* where the CPU sees it */
	uint64_t va;		/* where the GPU sees it */
	/* From gpu_open_compute(), else NULL: */
	struct pumice_context *context;
	struct pumice_kernel *kernel;
	struct pumice_stream *stream;
};

/*
 * Open the device that the command line names, else one in this process, with some
 * memory for input and output. Ends the program when that fails.
 */
void gpu_open(struct gpu *gpu, int argc, char **argv, uint64_t bytes);

/* The same with all objects that a compute shader needs. */
void gpu_open_compute(struct gpu *gpu, int argc, char **argv, const char *shader, uint64_t bytes);

/* Create a shader that is ready to run. Mistakes in it that the library warns of are printed. */
struct pumice_kernel *gpu_kernel(struct gpu *gpu, const char *shader);

void gpu_close(struct gpu *gpu);

/* End the program when a call of the library has failed. */
void gpu_check(struct gpu *gpu, int err, const char *what);

#endif
