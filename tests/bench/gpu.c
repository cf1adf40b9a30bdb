// SPDX-License-Identifier: MIT
/*
 * Our side of a contest. See gpu.h.
 *
 * A run does what a program does that launches a kernel once: it builds a control
 * stream, submits it, sleeps until the fence signals and looks how the job ended.
 */
#include "gpu.h"

#include <string.h>

#include "bench.h"

#define STREAM_BYTES	4096
#define TIMEOUT_NS	(60 * 1000000000ull)
#define CORES		4u

static void check(const struct gpu *gpu, const char *what, int ret)
{
	if (ret)
		bench_fail("%s: %s", what, pumice_device_error(gpu->dev));
}

void gpu_open(struct gpu *gpu, unsigned int threads)
{
	char error[PUMICE_ERROR_BYTES], name[64];

	snprintf(name, sizeof(name), "inproc:cores=%u,threads=%u,ram=1024", CORES, threads);
	if (pumice_device_open(name, &gpu->dev, error, sizeof(error)))
		bench_fail("%s: %s", name, error);
	check(gpu, "VM", pumice_vm_create(gpu->dev, &gpu->vm));
	check(gpu, "context", pumice_context_create(gpu->vm, PUMICE_PRIORITY_NORMAL,
						    &gpu->context));
	check(gpu, "stream", pumice_stream_create(gpu->vm, STREAM_BYTES, &gpu->stream));
}

void gpu_close(struct gpu *gpu)
{
	pumice_stream_destroy(gpu->stream);
	pumice_context_destroy(gpu->context);
	pumice_vm_destroy(gpu->vm);
	pumice_device_close(gpu->dev);
}

void gpu_buffer(struct gpu *gpu, uint64_t bytes, struct gpu_buffer *buffer)
{
	check(gpu, "buffer", pumice_bo_create(gpu->dev, bytes, gpu->vm, &buffer->bo));
	check(gpu, "buffer", pumice_bo_map(buffer->bo, &buffer->cpu));
	check(gpu, "buffer", pumice_vm_place(gpu->vm, buffer->bo, PUMICE_BIND_NOEXEC,
					     &buffer->va));
}

void gpu_buffer_free(struct gpu *gpu, struct gpu_buffer *buffer)
{
	check(gpu, "buffer", pumice_vm_remove(gpu->vm, buffer->va));
	pumice_bo_unmap(buffer->bo);
	pumice_bo_destroy(buffer->bo);
}

void gpu_work(struct gpu *gpu, const unsigned char *program, size_t bytes, struct gpu_work *work)
{
	char error[PUMICE_ERROR_BYTES];

	*work = (struct gpu_work){ .gpu = gpu, .groups = { 1, 1, 1 } };
	if (pumice_program_parse(program, bytes, &work->program, error, sizeof(error)))
		bench_fail("program: %s", error);
	check(gpu, "kernel", pumice_kernel_create(gpu->vm, work->program, &work->kernel));
}

void gpu_work_free(struct gpu_work *work)
{
	pumice_kernel_destroy(work->kernel);
	pumice_program_destroy(work->program);
}

void gpu_run(struct gpu_work *work)
{
	struct gpu *gpu = work->gpu;
	const struct pumice_dispatch dispatch = {
		.kernel = work->kernel,
		.groups = { work->groups[0], work->groups[1], work->groups[2] },
		.uniforms = work->uniforms,
		.uniform_words = work->words,
	};
	uint64_t va;

	pumice_stream_reset(gpu->stream);
	check(gpu, "dispatch", pumice_stream_dispatch(gpu->stream, &dispatch));
	check(gpu, "stream", pumice_stream_end(gpu->stream, &va));
	check(gpu, "job", pumice_context_run(gpu->context, va, TIMEOUT_NS, NULL));
}

void gpu_add_word(struct gpu_work *work, uint32_t word)
{
	work->uniforms[work->words++] = word;
}

void gpu_add_address(struct gpu_work *work, const struct gpu_buffer *buffer)
{
	gpu_add_word(work, (uint32_t)buffer->va);
	gpu_add_word(work, (uint32_t)(buffer->va >> 32));
}

void gpu_add_float(struct gpu_work *work, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	gpu_add_word(work, bits);
}
