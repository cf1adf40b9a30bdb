// SPDX-License-Identifier: MIT
/*
 * Our side of a contest. See gpu.h.
 *
 * A run does the same as a program that launches a kernel once: it builds a control
 * stream, submits it, sleeps until the fence signals and reads the job's result.
 */
#include "gpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

#define STREAM_BYTES	4096
#define TIMEOUT_NS	(60 * 1000000000ull)
#define CORES		4u
#define WATCHED		2u	/* jobs of a gpu_watch() */

static void check(const struct gpu *gpu, const char *what, int ret)
{
	if (ret)
		bench_fail("%s: %s", what, pumice_device_error(gpu->dev));
}

static void open_device(struct gpu *gpu, unsigned int threads, unsigned int cores,
			const char *mode)
{
	char error[PUMICE_ERROR_BYTES], name[80];

	snprintf(name, sizeof(name), "inproc:cores=%u,threads=%u,ram=1024,mode=%s", cores, threads,
		 mode);
	if (pumice_device_open(name, &gpu->dev, error, sizeof(error)))
		bench_fail("%s: %s", name, error);
	check(gpu, "VM", pumice_vm_create(gpu->dev, &gpu->vm));
	check(gpu, "context", pumice_context_create(gpu->vm, PUMICE_PRIORITY_NORMAL,
						    &gpu->context));
	check(gpu, "stream", pumice_stream_create(gpu->vm, STREAM_BYTES, &gpu->stream));
}

void gpu_open(struct gpu *gpu, unsigned int threads)
{
	gpu_open_mode(gpu, threads, "fast");
}

void gpu_open_mode(struct gpu *gpu, unsigned int threads, const char *mode)
{
	open_device(gpu, threads, CORES, mode);
}

void gpu_open_cores(struct gpu *gpu, unsigned int threads, unsigned int cores)
{
	open_device(gpu, threads, cores, "fast");
}

void gpu_close(struct gpu *gpu)
{
	pumice_stream_destroy(gpu->stream);
	pumice_context_destroy(gpu->context);
	pumice_vm_destroy(gpu->vm);
	pumice_device_close(gpu->dev);
}

void gpu_buffer(struct gpu *gpu, uint64_t bytes, struct pumice_buffer *buffer)
{
	check(gpu, "buffer", pumice_buffer_create(gpu->vm, bytes, buffer));
}

static void make_kernel(struct gpu *gpu, struct gpu_work *work)
{
	*work = (struct gpu_work){
		.gpu = gpu, .program = work->program, .groups = { 1, 1, 1 },
	};
	check(gpu, "kernel", pumice_kernel_create(gpu->vm, work->program, &work->kernel));
}

void gpu_work(struct gpu *gpu, const unsigned char *program, size_t bytes, struct gpu_work *work)
{
	char error[PUMICE_ERROR_BYTES];

	if (pumice_program_parse(program, bytes, &work->program, error, sizeof(error)))
		bench_fail("program: %s", error);
	make_kernel(gpu, work);
}

void gpu_work_text(struct gpu *gpu, const char *text, struct gpu_work *work)
{
	char error[PUMICE_ERROR_BYTES];

	if (pumice_program_assemble("text", text, &work->program, error, sizeof(error)))
		bench_fail("program: %s", error);
	make_kernel(gpu, work);
}

void gpu_work_free(struct gpu_work *work)
{
	pumice_kernel_destroy(work->kernel);
	pumice_program_destroy(work->program);
}

uint64_t gpu_build(const struct gpu_work *works, unsigned int count, struct pumice_stream *stream)
{
	const struct gpu *gpu = works->gpu;
	uint64_t va;

	pumice_stream_reset(stream);
	for (const struct gpu_work *work = works; work < works + count; work++) {
		const struct pumice_dispatch dispatch = {
			.kernel = work->kernel,
			.groups = { work->groups[0], work->groups[1], work->groups[2] },
			.uniforms = work->uniforms,
			.uniform_words = work->words,
		};

		check(gpu, "dispatch", pumice_stream_dispatch(stream, &dispatch));
	}
	check(gpu, "stream", pumice_stream_end(stream, &va));
	return va;
}

void gpu_run(struct gpu_work *work)
{
	struct gpu *gpu = work->gpu;

	check(gpu, "job", pumice_context_run(gpu->context, gpu_build(work, 1, gpu->stream),
					     TIMEOUT_NS, NULL));
}

static void check_no_fault(const struct gpu *gpu, struct pumice_context *context)
{
	struct pumice_context_state state;

	check(gpu, "state", pumice_context_get_state(context, &state));
	if (state.jobs_faulted)
		bench_fail("a job faulted");
}

void gpu_watch(struct gpu *gpu, const struct pumice_gfx_job *jobs, unsigned int count,
	       void (*look)(void *data), void *data)
{
	struct pumice_job_sync done = { .signal = true };
	struct pumice_gfx_job own[WATCHED];
	struct pumice_wait wait;
	int err;

	if (count > WATCHED)
		bench_fail("more than %u jobs", WATCHED);
	memcpy(own, jobs, count * sizeof(*own));
	check(gpu, "sync", pumice_sync_create(gpu->dev, 0, &done.sync));
	own[count - 1].syncs = &done;
	own[count - 1].sync_count = 1;
	check(gpu, "submit", pumice_submit_gfx(gpu->dev, own, count, NULL));
	wait = (struct pumice_wait){ .sync = done.sync };
	do {
		look(data);
		err = pumice_sync_wait(&wait, 1, 0, 0);
	} while (err == -ETIME);
	check(gpu, "wait", err);
	check_no_fault(gpu, own[0].context);
	pumice_sync_destroy(done.sync);
}

void gpu_add_word(struct gpu_work *work, uint32_t word)
{
	work->uniforms[work->words++] = word;
}

void gpu_add_address(struct gpu_work *work, const struct pumice_buffer *buffer)
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
