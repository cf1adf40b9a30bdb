// SPDX-License-Identifier: MIT
/*
 * The whole way from memory to memory: c[i] = a[i] + b[i] on the GPU.
 *
 *     ./vector-add [DEVICE]
 */
#include <stdio.h>

#include "gpu.h"

#define COUNT	100000u
#define GROUP	64u

/* Uniforms: a, b, c (addresses), number of elements. */
static const char shader[] =
	PUMICE_LINE(.group 64)
	PUMICE_LINE(.uniforms sh0, 7)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LINE(lt.u32 r0, v0, sh6)			/* a mask: inside of the arrays */
	PUMICE_LOAD32(r1, sh0, v0, [r0], r3, r4[0])
	PUMICE_LOAD32(r2, sh2, v0, [r0], r3, r4[0])
	PUMICE_LINE(add.f32 r1, r1, r2)
	PUMICE_STORE32(sh4, v0, [r0], r1, r3)
	PUMICE_LINE(end);

int main(int argc, char **argv)
{
	const uint64_t bytes = COUNT * sizeof(float);
	float *a, *b, *c;
	struct gpu gpu;
	uint64_t start;

	/* One piece of memory for all three arrays, seen by both sides. */
	gpu_open_compute(&gpu, argc, argv, shader, 3 * bytes);
	a = gpu.cpu;
	b = a + COUNT;
	c = b + COUNT;
	for (unsigned int i = 0; i < COUNT; i++) {
		a[i] = (float)i;
		b[i] = (float)i * 0.5f;
	}

	const uint32_t uniforms[] = {
		PUMICE_WORDS_VA(gpu.va), PUMICE_WORDS_VA(gpu.va + bytes),
		PUMICE_WORDS_VA(gpu.va + 2 * bytes), COUNT,
	};
	const struct pumice_dispatch dispatch = {
		.kernel = gpu.kernel,
		.groups = { (COUNT + GROUP - 1) / GROUP, 1, 1 },
		.uniforms = uniforms,
		.uniform_words = PUMICE_UNIFORM_WORDS(uniforms),
	};
	gpu_check(&gpu, pumice_stream_dispatch(gpu.stream, &dispatch), "dispatch");
	gpu_check(&gpu, pumice_stream_end(gpu.stream, &start), "end");
	gpu_check(&gpu, pumice_context_run(gpu.context, start, PUMICE_FOREVER, NULL), "run");

	for (unsigned int i = 0; i < COUNT; i++)
		if (c[i] != a[i] + b[i]) {
			fprintf(stderr, "c[%u] is %g\n", i, c[i]);
			return 1;
		}
	printf("%u sums are right\n", COUNT);
	gpu_close(&gpu);
	return 0;
}
