// SPDX-License-Identifier: MIT
/*
 * The longest Collatz sequence below a hundred thousand: each instance follows one
 * number (halve it, or triple it and add one, until it is 1), each wave finds its
 * longest, and an atomic maximum in memory joins the waves. Performance counters
 * show what it took.
 *
 *     ./collatz [DEVICE]
 */
#include <stdio.h>
#include <stdlib.h>

#include "gpu.h"

#define COUNT	(1u << 17)	/* instances; those beyond the limit have nothing to do */
#define LIMIT	100000u
#define STEPS	20u		/* bit of the result at which the steps begin */
#define GROUP	64u

/*
 * Uniforms: result (address), limit. Numbers have 64 bits, r2 high and r1 low.
 * The result is steps * 2^20 + number, of which the greatest wins.
 */
static const char shader[] =
	PUMICE_LINE(.group 64)
	PUMICE_LINE(.uniforms sh0, 3)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LINE(mov r1, [one], v0)
	PUMICE_LINE(mov r2, [one], 0)
	PUMICE_LINE(mov r3, [one], 0)			/* steps */
	PUMICE_LINE(lt.u32 r0, v0, sh2)			/* r0: continues */
	PUMICE_LINE(gt.u32 r4, v0, 1)
	PUMICE_LINE(and r0, r0, r4)
	PUMICE_LINE(loop:)
	PUMICE_LINE(and r4, r1, 1)			/* odd */
	/* r6, r5 = 3 n + 1 */
	PUMICE_LINE(mulhi.u32 r6, r1, 3)
	PUMICE_LINE(mul.u32 r5, r1, 3)
	PUMICE_LINE(mad r6, r2, 3, r6)
	PUMICE_LINE(add.u32 r5, r5, 1)
	PUMICE_LINE(eq.u32 r7, r5, 0)
	PUMICE_LINE(add.u32 r6, r6, r7)
	/* r9, r8 = n / 2 */
	PUMICE_LINE(shl r8, r2, 31)
	PUMICE_LINE(shr.u32 r9, r1, 1)
	PUMICE_LINE(or r8, r8, r9)
	PUMICE_LINE(shr.u32 r9, r2, 1)
	PUMICE_LINE(mov r1, [r0 & r4], r5)
	PUMICE_LINE(mov r2, [r0 & r4], r6)
	PUMICE_LINE(mov r1, [r0 & !r4], r8)
	PUMICE_LINE(mov r2, [r0 & !r4], r9)
	PUMICE_LINE(add.u32 r3, r3, r0)
	PUMICE_LINE(eq.u32 r4, r1, 1)
	PUMICE_LINE(eq.u32 r5, r2, 0)
	PUMICE_LINE(and r4, r4, r5)
	PUMICE_LINE(xor r4, r4, 1)
	PUMICE_LINE(and r0, r0, r4)
	PUMICE_LINE(br_any loop, [r0])
	PUMICE_LINE(shl r3, r3, 20)
	PUMICE_LINE(or r3, r3, v0)
	PUMICE_WAVE_REDUCE(max, u32, r4[0], r3, r5)
	/* One lane of the wave adds it to the result. */
	PUMICE_LINE(mov r4, [one], r4[0])
	PUMICE_LINE(eq.u32 r0, sid, 0)
	PUMICE_LINE(mov r5, [one], 0)
	PUMICE_LINE(global_atomic.u32 max, sig0, r6, [r0], sh0 + r5, r4)
	PUMICE_LINE(end);

static const char *const counter_names[] = {
	"USC_WAVES", "USC_ISSUED", "USC_INSN_INTEGER", "USC_INSN_CROSS", "USC_INSN_ATOMIC",
};

#define COUNTERS (sizeof(counter_names) / sizeof(counter_names[0]))

/* Compute the same on the CPU. */
static uint32_t longest_on_cpu(void)
{
	uint32_t best = 0;

	for (uint32_t start = 0; start < LIMIT; start++) {
		uint32_t steps = 0;

		for (uint64_t n = start; n > 1; steps++)
			n = n % 2 ? 3 * n + 1 : n / 2;
		if ((steps << STEPS | start) > best)
			best = steps << STEPS | start;
	}
	return best;
}

static struct pumice_perfmon *make_monitor(struct gpu *gpu)
{
	struct pumice_perfmon *monitor;
	uint32_t counters[COUNTERS];

	for (size_t i = 0; i < COUNTERS; i++)
		gpu_check(gpu, pumice_perf_counter_find(gpu->dev, counter_names[i], &counters[i]),
			  "counter");
	gpu_check(gpu, pumice_perfmon_create(gpu->dev, counters, COUNTERS, &monitor), "monitor");
	return monitor;
}

/* Submit the stream with the monitor, and wait. */
static void run(struct gpu *gpu, uint64_t stream, struct pumice_perfmon *monitor)
{
	struct pumice_job_result result;
	struct pumice_sync *sync;

	gpu_check(gpu, pumice_sync_create(gpu->dev, 0, &sync), "sync");
	const struct pumice_job_sync signal = { .sync = sync, .signal = true };
	const struct pumice_job job = {
		.context = gpu->context, .stream = stream, .syncs = &signal, .sync_count = 1,
		.perfmon = pumice_perfmon_id(monitor),
	};
	const struct pumice_wait wait = { .sync = sync };

	gpu_check(gpu, pumice_submit(gpu->dev, &job, 1, NULL), "submit");
	gpu_check(gpu, pumice_sync_wait(&wait, 1, 0, PUMICE_FOREVER), "wait");
	gpu_check(gpu, pumice_context_get_job_result(gpu->context, 0, &result, sizeof(result)),
		  "result");
	if (result.error) {
		fprintf(stderr, "the job faulted: %s\n", pumice_fault_name(result.fault));
		exit(1);
	}
	pumice_sync_destroy(sync);
}

static void print_counters(struct gpu *gpu, struct pumice_perfmon *monitor)
{
	uint64_t values[COUNTERS];

	gpu_check(gpu, pumice_perfmon_read(monitor, 0, values), "counters");
	for (size_t i = 0; i < COUNTERS; i++)
		printf("%-16s %llu\n", counter_names[i], (unsigned long long)values[i]);
}

int main(int argc, char **argv)
{
	struct pumice_perfmon *monitor;
	uint32_t *found, wanted;
	struct gpu gpu;
	uint64_t start;

	gpu_open_compute(&gpu, argc, argv, shader, sizeof(*found));
	monitor = make_monitor(&gpu);

	const uint32_t uniforms[] = { PUMICE_WORDS_VA(gpu.va), LIMIT };
	const struct pumice_dispatch dispatch = {
		.kernel = gpu.kernel,
		.groups = { COUNT / GROUP, 1, 1 },
		.uniforms = uniforms,
		.uniform_words = PUMICE_UNIFORM_WORDS(uniforms),
	};
	gpu_check(&gpu, pumice_stream_dispatch(gpu.stream, &dispatch), "dispatch");
	gpu_check(&gpu, pumice_stream_end(gpu.stream, &start), "end");
	run(&gpu, start, monitor);

	found = gpu.cpu;
	wanted = longest_on_cpu();
	if (*found != wanted) {
		fprintf(stderr, "the GPU says %u, the CPU %u\n", *found, wanted);
		return 1;
	}
	printf("%u takes %u steps\n", *found & ((1u << STEPS) - 1),
	       *found >> STEPS);
	print_counters(&gpu, monitor);
	pumice_perfmon_destroy(monitor);
	gpu_close(&gpu);
	return 0;
}
