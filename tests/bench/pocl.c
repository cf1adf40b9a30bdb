// SPDX-License-Identifier: MIT
/*
 * The peer's side of a contest. See pocl.h.
 *
 * Limits: kernels are read from the source tree of the build.
 */
#include "pocl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bench.h"

#define MAX_SOURCE	65536u
#define HUGE_PAGE	((size_t)2 << 20)
#define POCL_PLATFORM	"Portable Computing Language"

static void check(const char *what, cl_int status)
{
	if (status != CL_SUCCESS)
		bench_fail("OpenCL: %s: error %d", what, status);
}

/* Return PoCL's platform; another vendor's would be another peer. */
static cl_platform_id find_platform(void)
{
	cl_platform_id platforms[16];
	cl_uint count = 0;
	char name[128];

	check("platforms", clGetPlatformIDs(16, platforms, &count));
	for (cl_uint i = 0; i < count && i < 16; i++) {
		if (!clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL) &&
		    !strcmp(name, POCL_PLATFORM))
			return platforms[i];
	}
	bench_fail("no PoCL here: install the packages of [bench] in scripts/packages.txt");
}

static void build(struct pocl *pocl, cl_device_id device)
{
	static char source[MAX_SOURCE];
	const char *text = source;
	FILE *file = fopen(BENCH_KERNELS, "r");
	size_t length;
	cl_int status;

	if (!file)
		bench_fail("%s: cannot be read", BENCH_KERNELS);
	length = fread(source, 1, sizeof(source) - 1, file);
	fclose(file);
	pocl->program = clCreateProgramWithSource(pocl->context, 1, &text, &length, &status);
	check("program", status);
	check("build", clBuildProgram(pocl->program, 1, &device, "", NULL, NULL));
}

void pocl_open(struct pocl *pocl)
{
	cl_platform_id platform = find_platform();
	cl_device_id device;
	cl_int status;

	check("device", clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL));
	pocl->context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
	check("context", status);
	pocl->queue = clCreateCommandQueue(pocl->context, device, 0, &status);
	check("queue", status);
	build(pocl, device);
}

void pocl_close(struct pocl *pocl)
{
	clReleaseProgram(pocl->program);
	clReleaseCommandQueue(pocl->queue);
	clReleaseContext(pocl->context);
}

void pocl_buffer(struct pocl *pocl, size_t bytes, struct pocl_buffer *buffer)
{
	cl_int status;

	buffer->cpu = aligned_alloc(HUGE_PAGE, (bytes + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	if (!buffer->cpu)
		bench_fail("out of memory");
	/* As on our side. */
	madvise(buffer->cpu, bytes, MADV_HUGEPAGE);
	memset(buffer->cpu, 0, bytes);
	buffer->mem = clCreateBuffer(pocl->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes,
				     buffer->cpu, &status);
	check("buffer", status);
}

void pocl_buffer_free(struct pocl *pocl, struct pocl_buffer *buffer)
{
	clFinish(pocl->queue);
	clReleaseMemObject(buffer->mem);
	free(buffer->cpu);
}

void pocl_work(struct pocl *pocl, const char *kernel, struct pocl_work *work)
{
	cl_int status;

	*work = (struct pocl_work){ .pocl = pocl };
	work->kernel = clCreateKernel(pocl->program, kernel, &status);
	check(kernel, status);
}

void pocl_work_free(struct pocl_work *work)
{
	clReleaseKernel(work->kernel);
}

void pocl_add(struct pocl_work *work, size_t bytes, const void *value)
{
	check("argument", clSetKernelArg(work->kernel, work->args++, bytes, value));
}

void pocl_add_buffer(struct pocl_work *work, const struct pocl_buffer *buffer)
{
	pocl_add(work, sizeof(buffer->mem), &buffer->mem);
}

void pocl_run(struct pocl_work *work)
{
	cl_command_queue queue = work->pocl->queue;
	const size_t *local = work->local[0] ? work->local : NULL;

	check("enqueue", clEnqueueNDRangeKernel(queue, work->kernel, work->dims, NULL, work->global,
						local, 0, NULL, NULL));
	check("finish", clFinish(queue));
}
