/* SPDX-License-Identifier: MIT */
/* The peer's side of a contest: OpenCL on this machine's processor, by PoCL. */
#ifndef PUMICE_BENCH_POCL_H
#define PUMICE_BENCH_POCL_H

#include <stddef.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* PoCL with the benchmark's kernels. */
struct pocl {
	cl_context context;
	cl_command_queue queue;
	cl_program program;
};

/* Memory shared by both sides, without copies. */
struct pocl_buffer {
	cl_mem mem;
	void *cpu;
};

/* A kernel, its arguments set, with the range of its runs. */
struct pocl_work {
	struct pocl *pocl;
	cl_kernel kernel;
	cl_uint args;		/* set so far */
	cl_uint dims;
	size_t global[2];
	size_t local[2];	/* 0: PoCL chooses */
};

/* All exit with a message if they fail. */
void pocl_open(struct pocl *pocl);
void pocl_close(struct pocl *pocl);
void pocl_buffer(struct pocl *pocl, size_t bytes, struct pocl_buffer *buffer);
void pocl_buffer_free(struct pocl *pocl, struct pocl_buffer *buffer);
void pocl_work(struct pocl *pocl, const char *kernel, struct pocl_work *work);
void pocl_work_free(struct pocl_work *work);

/* Set the next argument. */
void pocl_add(struct pocl_work *work, size_t bytes, const void *value);
void pocl_add_buffer(struct pocl_work *work, const struct pocl_buffer *buffer);

/* Enqueue the kernel and wait until it is done. */
void pocl_run(struct pocl_work *work);

#endif
