/* SPDX-License-Identifier: MIT */
/* Our side of a contest: a GPU in this process, its buffers and kernels. */
#ifndef PUMICE_BENCH_GPU_H
#define PUMICE_BENCH_GPU_H

#include <pumice/pumice_gfx.h>

#include "pumice_regs.h"

/* A GPU with the objects of one stream of jobs. */
struct gpu {
	struct pumice_device *dev;
	struct pumice_vm *vm;
	struct pumice_context *context;
	struct pumice_stream *stream;
};

#define GPU_UNIFORMS 16

/* A kernel with the grid and the uniforms of its runs. */
struct gpu_work {
	struct gpu *gpu;
	struct pumice_program *program;
	struct pumice_kernel *kernel;
	uint32_t groups[3];
	uint32_t uniforms[GPU_UNIFORMS];
	uint32_t words;		/* of uniforms */
};

/* All exit with a message if they fail. */
void gpu_open(struct gpu *gpu, unsigned int threads);
/* The same with a number of cores instead of 4. */
void gpu_open_cores(struct gpu *gpu, unsigned int threads, unsigned int cores);
/* The same in a mode: fast, counted or strict. */
void gpu_open_mode(struct gpu *gpu, unsigned int threads, const char *mode);
void gpu_close(struct gpu *gpu);
void gpu_buffer(struct gpu *gpu, uint64_t bytes, struct pumice_buffer *buffer);
/* Set up kernel and gpu; the caller sets the rest. */
void gpu_work(struct gpu *gpu, const unsigned char *program, size_t bytes, struct gpu_work *work);
/* Create the same from assembly text. */
void gpu_work_text(struct gpu *gpu, const char *text, struct gpu_work *work);
void gpu_work_free(struct gpu_work *work);

/* Build the control stream, submit it, and wait until it is done. */
void gpu_run(struct gpu_work *work);

/* Build a control stream that launches each of the works; return its address. */
uint64_t gpu_build(const struct gpu_work *works, unsigned int count, struct pumice_stream *stream);
/* Submit jobs, without syncs, with calls of look() until the last is done. */
void gpu_watch(struct gpu *gpu, const struct pumice_gfx_job *jobs, unsigned int count,
	       void (*look)(void *data), void *data);

/* Write or read a register of the GPU, as the kernel driver could. */
void gpu_register(struct gpu *gpu, uint32_t offset, uint32_t value);
uint32_t gpu_register_read(struct gpu *gpu, uint32_t offset);

/* Add a word, an address, a float to the uniforms. */
void gpu_add_word(struct gpu_work *work, uint32_t word);
void gpu_add_address(struct gpu_work *work, const struct pumice_buffer *buffer);
void gpu_add_float(struct gpu_work *work, float value);

#endif
