// SPDX-License-Identifier: MIT
/* Traffic of compute programs: distance of threads, order of accesses, size of the data. */
#include "traffic.h"

#define STREAM_BYTES	65536u
#define GROUP		32u

/* Run a program in groups of 32 instances, and read the counts. */
static void run(struct gpu *gpu, const char *shader, uint32_t groups, const uint32_t *uniforms,
		uint32_t words, struct traffic *t)
{
	const struct pumice_dispatch dispatch = {
		.kernel = gpu->kernel = gpu_kernel(gpu, shader),
		.groups = { groups, 1, 1 },
		.uniforms = uniforms,
		.uniform_words = words,
	};
	uint64_t start;

	gpu_check(gpu, pumice_context_create(gpu->vm, PUMICE_PRIORITY_NORMAL, &gpu->context),
		  "context");
	gpu_check(gpu, pumice_stream_create(gpu->vm, STREAM_BYTES, &gpu->stream), "stream");
	gpu_check(gpu, pumice_stream_dispatch(gpu->stream, &dispatch), "dispatch");
	gpu_check(gpu, pumice_stream_end(gpu->stream, &start), "end");
	gpu_check(gpu, pumice_context_run(gpu->context, start, PUMICE_FOREVER, NULL), "run");
	traffic_read(gpu, t);
}

/* Uniforms: address, shift of the index. */
static const char stride_text[] =
	PUMICE_LINE(.group 32)
	PUMICE_LINE(.uniforms sh0, 3)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LINE(shl.u32 r0, v0, sh2)
	PUMICE_LOAD32(r1, sh0, r0, [one], r2, r3[0])
	PUMICE_LINE(end);

/* Each instance loads one word, 4 to 256 bytes from that of the next one. */
void traffic_stride(void)
{
	const uint32_t instances = 8192;
	uint32_t shift;

	for (shift = 0; shift <= 6; shift++) {
		struct traffic t;
		struct gpu gpu;

		traffic_open(&gpu, (uint64_t)instances * 4 << shift);

		const uint32_t uniforms[] = { PUMICE_WORDS_VA(gpu.va), shift };

		run(&gpu, stride_text, instances / GROUP, uniforms,
		    PUMICE_UNIFORM_WORDS(uniforms), &t);
		traffic_print("stride", "memory", 4u << shift,
			      (double)traffic_client(&t, "usc-load")->read_bytes / instances);
		traffic_print("stride", "requested", 4u << shift, 4);
		gpu_close(&gpu);
	}
}

/*
 * Uniforms: address, words from instance to instance, words from step to step, steps. Each
 * instance adds the words of its row or column.
 */
static const char order_text[] =
	PUMICE_LINE(.group 32)
	PUMICE_LINE(.uniforms sh0, 5)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LINE(mul.u32 r0, v0, sh2)
	PUMICE_LINE(mov r4[0], sh4)
	PUMICE_LINE(mov r5, [one], 0)
	PUMICE_LINE(loop:)
	PUMICE_LOAD32(r1, sh0, r0, [one], r2, r3[0])
	PUMICE_LINE(add.u32 r5, r5, r1)
	PUMICE_LINE(add.u32 r0, r0, sh3)
	PUMICE_LINE(sub.u32 r4[0], r4[0], 1)
	PUMICE_LINE(brnz loop, r4[0])
	PUMICE_LINE(end);

static double matrix_bytes(uint32_t n, uint32_t between, uint32_t step)
{
	struct traffic t;
	struct gpu gpu;

	traffic_open(&gpu, (uint64_t)n * n * 4);

	const uint32_t uniforms[] = { PUMICE_WORDS_VA(gpu.va), between, step, n };

	run(&gpu, order_text, n / GROUP, uniforms, PUMICE_UNIFORM_WORDS(uniforms), &t);
	gpu_close(&gpu);
	return (double)traffic_client(&t, "usc-load")->read_bytes / ((double)n * n);
}

/* A matrix, read by row and by column, as the instances of a step see it. */
void traffic_order(void)
{
	uint32_t n;

	for (n = 64; n <= 1024; n *= 2) {
		traffic_print("order", "along rows", n, matrix_bytes(n, 1, n));
		traffic_print("order", "along columns", n, matrix_bytes(n, n, 1));
	}
}

static double rate(uint64_t hits, uint64_t misses)
{
	return hits + misses ? 100.0 * (double)hits / (double)(hits + misses) : 0;
}

/* One group reads an array eight times: hits of each level as its size grows. */
void traffic_working_set(void)
{
	const uint32_t times = 8;
	uint32_t bytes;

	for (bytes = 512; bytes <= 1u << 20; bytes *= 2) {
		const struct pumice_hierarchy_client *load;
		struct traffic t;
		struct gpu gpu;

		traffic_open(&gpu, (uint64_t)bytes * times);

		/* The array is mapped once; the steps wrap. */
		const uint32_t uniforms[] = {
			PUMICE_WORDS_VA(gpu.va), GROUP, bytes / 4 - 1, times * bytes / 4 / GROUP,
		};
		static const char text[] =
			PUMICE_LINE(.group 32)
			PUMICE_LINE(.uniforms sh0, 5)
			PUMICE_LINE(.input v0, global_x)
			PUMICE_LINE(mov r0, [one], v0)
			PUMICE_LINE(mov r4[0], sh4)
			PUMICE_LINE(loop:)
			PUMICE_LOAD32(r1, sh0, r0, [one], r2, r3[0])
			PUMICE_LINE(add.u32 r0, r0, sh2)
			PUMICE_LINE(and.u32 r0, r0, sh3)
			PUMICE_LINE(sub.u32 r4[0], r4[0], 1)
			PUMICE_LINE(brnz loop, r4[0])
			PUMICE_LINE(end);

		run(&gpu, text, 1, uniforms, PUMICE_UNIFORM_WORDS(uniforms), &t);
		load = traffic_client(&t, "usc-load");
		traffic_print("working-set", "first level", bytes,
			      rate(load->first_hits, load->first_misses));
		traffic_print("working-set", "second level", bytes,
			      rate(load->second_hits, load->second_misses));
		traffic_print("working-set", "SLC", bytes, rate(load->slc_hits, load->slc_misses));
		traffic_print("working-set", "memory", bytes,
			      100.0 * (double)load->read_bytes / (double)load->bytes);
		gpu_close(&gpu);
	}
}
