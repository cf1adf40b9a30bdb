// SPDX-License-Identifier: MIT
/*
 * pumice_shader.h: each sequence against the CPU's own arithmetic, on values at
 * the edges, all pairs of them, and random ones; and pumice_program_assemble().
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pumice/pumice.h"
#include "pumice/pumice_shader.h"

#define GROUP	64u
#define COUNT	(1024u * GROUP)	/* pairs of inputs of one run */

/* In every kernel a[i] is r0, b[i] is r1, the result r2. */
#define KERNEL(body) \
	PUMICE_LINE(.group 64) \
	PUMICE_LINE(.uniforms sh0, 6) \
	PUMICE_LINE(.input v0, global_x) \
	PUMICE_LOAD32(r0, sh0, v0, [one], r20, r21[0]) \
	PUMICE_LOAD32(r1, sh2, v0, [one], r20, r21[0]) \
	body \
	PUMICE_STORE32(sh4, v0, [one], r2, r20) \
	PUMICE_LINE(end)

static struct pumice_device *dev;
static struct pumice_vm *vm;
static struct pumice_context *context;
static struct pumice_bo *bo;
static uint64_t va;
static uint32_t *a, *b, *out;

static int open_device(void **state)
{
	void *cpu;

	(void)state;
	if (pumice_device_open("inproc:cores=2,threads=2,ram=64", &dev, NULL, 0) ||
	    pumice_vm_create(dev, &vm) ||
	    pumice_context_create(vm, PUMICE_PRIORITY_NORMAL, &context) ||
	    pumice_bo_create(dev, 3 * COUNT * 4, vm, &bo) || pumice_bo_map(bo, &cpu) ||
	    /* In a heap of large pages, which these sizes are multiples of. */
	    pumice_vm_place(vm, bo, PUMICE_BIND_NOEXEC | PUMICE_PLACE_LARGE, &va))
		return 1;
	a = cpu;
	b = a + COUNT;
	out = b + COUNT;
	return 0;
}

static int close_device(void **state)
{
	(void)state;
	pumice_context_destroy(context);
	pumice_vm_remove(vm, va);
	pumice_bo_destroy(bo);
	pumice_vm_destroy(vm);
	pumice_device_close(dev);
	return 0;
}

static uint64_t rng = 88172645463325252u;

static uint32_t random32(void)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return (uint32_t)(rng >> 20);
}

/* All pairs of edges, then random numbers, every other one small. */
static void fill(const uint32_t *edges, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < COUNT; i++) {
		a[i] = i < count * count ? edges[i / count] : random32();
		b[i] = i < count * count ? edges[i % count] :
		       random32() >> (i % 2 ? random32() % 32 : 0);
	}
}

static const uint32_t integers[] = {
	0, 1, 2, 3, 5, 7, 10, 31, 32, 33, 100, 255, 256, 641, 65535, 65536, 65537, 0x7ffffffe,
	0x7fffffff, 0x80000000, 0x80000001, 0xaaaaaaab, 0xfffffffe, 0xffffffff,
};

static const uint32_t floats[] = {
	0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x40000000, 0x40400000, 0x40e00000,
	0x3eaaaaab, 0x7f7fffff, 0xff7fffff, 0x00800000, 0x00ffffff, 0x00000001, 0x807fffff,
	0x7f800000, 0xff800000, 0x7fc00000, 0x7e800000, 0x7f000001, 0x34000000, 0x42c80000,
	0xc2aeac50, 0x3f7fffff, 0x3f800001,
};

#define FILL(edges) fill(edges, sizeof(edges) / sizeof(edges[0]))

/* Run a kernel over all pairs. */
static void run(const char *text)
{
	const uint32_t uniforms[] = {
		PUMICE_WORDS_VA(va), PUMICE_WORDS_VA(va + COUNT * 4),
		PUMICE_WORDS_VA(va + COUNT * 8),
	};
	struct pumice_dispatch d = {
		.groups = { COUNT / GROUP, 1, 1 },
		.uniforms = uniforms, .uniform_words = PUMICE_UNIFORM_WORDS(uniforms),
	};
	struct pumice_program *program;
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
	char error[PUMICE_ERROR_BYTES];
	uint64_t start;

	if (pumice_program_assemble("test", text, &program, error, sizeof(error)))
		fail_msg("%s in\n%s", error, text);
	assert_int_equal(pumice_kernel_create(vm, program, &kernel), 0);
	assert_int_equal(pumice_stream_create(vm, 65536, &stream), 0);
	d.kernel = kernel;
	assert_int_equal(pumice_stream_dispatch(stream, &d), 0);
	assert_int_equal(pumice_stream_end(stream, &start), 0);
	if (pumice_context_run(context, start, PUMICE_FOREVER, NULL))
		fail_msg("%s", pumice_device_error(dev));
	pumice_stream_destroy(stream);
	pumice_kernel_destroy(kernel);
	pumice_program_destroy(program);
}

static float value_of(uint32_t word)
{
	float value;

	memcpy(&value, &word, sizeof(value));
	return value;
}

/* Replace any NaN by the GPU's. */
static uint32_t word_of(float value)
{
	return isnan(value) ? 0x7fc00000 : PUMICE_WORD_F32(value);
}

static void udiv_and_its_remainder_equal_the_cpus(void **state)
{
	uint32_t i;

	(void)state;
	FILL(integers);
	run(KERNEL(PUMICE_UDIV(r2, r0, r1, r3)));
	for (i = 0; i < COUNT; i++)
		if (b[i] && out[i] != a[i] / b[i])
			fail_msg("%u / %u gave %u", a[i], b[i], out[i]);
	run(KERNEL(PUMICE_UDIVREM(r3, r2, r0, r1)));
	for (i = 0; i < COUNT; i++)
		if (b[i] && out[i] != a[i] % b[i])
			fail_msg("%u %% %u gave %u", a[i], b[i], out[i]);
}

static void sdiv_equals_the_cpus(void **state)
{
	uint32_t i;

	(void)state;
	FILL(integers);
	run(KERNEL(PUMICE_SDIV(r2, r0, r1, r3, r4, r5)));
	for (i = 0; i < COUNT; i++) {
		int64_t want = b[i] ? (int64_t)(int32_t)a[i] / (int32_t)b[i] : 0;

		if (b[i] && out[i] != (uint32_t)want)
			fail_msg("%d / %d gave %d", (int32_t)a[i], (int32_t)b[i], (int32_t)out[i]);
	}
}

static void wide_products_and_sums_equal_the_cpus(void **state)
{
	uint32_t i;

	(void)state;
	FILL(integers);
	/* High half of a * b + (a << 32 | b). */
	run(KERNEL(PUMICE_UMUL64(r2, r3, r0, r1) PUMICE_ADD64(r2, r3, r0, r1, r4)));
	for (i = 0; i < COUNT; i++) {
		uint64_t want = (uint64_t)a[i] * b[i] + ((uint64_t)a[i] << 32 | b[i]);

		assert_int_equal(out[i], (uint32_t)(want >> 32));
	}
}

static void fdiv_is_correctly_rounded_and_one_off_at_most_for_denormals(void **state)
{
	uint32_t i, denormals = 0;

	(void)state;
	FILL(floats);
	run(KERNEL(PUMICE_FDIV(r2, r0, r1, r3, r4, r5, r6)));
	for (i = 0; i < COUNT; i++) {
		uint32_t want = word_of(value_of(a[i]) / value_of(b[i]));
		uint32_t off = out[i] > want ? out[i] - want : want - out[i];
		bool denormal = fpclassify(value_of(want)) == FP_SUBNORMAL ||
				(want & 0x7fffffff) == 0x00800000;

		denormals += denormal;
		if (off > denormal)
			fail_msg("%a / %a gave %a", value_of(a[i]), value_of(b[i]),
				 value_of(out[i]));
	}
	assert_in_range(denormals, 10, COUNT / 2);
}

static void saturate_mix_and_hypot_equal_the_cpus(void **state)
{
	uint32_t i;

	(void)state;
	FILL(floats);
	run(KERNEL(PUMICE_SATURATE(r2, r0)));
	for (i = 0; i < COUNT; i++)
		assert_int_equal(out[i], word_of(isnan(value_of(a[i])) ? 0.0f :
						 fminf(fmaxf(value_of(a[i]), 0.0f), 1.0f)));
	run(KERNEL(PUMICE_MIX(r2, r0, r1, r0)));
	for (i = 0; i < COUNT; i++)
		assert_int_equal(out[i], word_of(fmaf(value_of(b[i]) - value_of(a[i]),
						      value_of(a[i]), value_of(a[i]))));
	run(KERNEL(PUMICE_DOT3(r2, r0, r1, r1, r1, r1, r0)));
	for (i = 0; i < COUNT; i++) {
		const float x = value_of(a[i]), y = value_of(b[i]);

		assert_int_equal(out[i], word_of(fmaf(y, x, fmaf(y, y, x * y))));
	}
	run(KERNEL(PUMICE_TRANSFORM(r2, r0, r1, r1, r1, r1, r0, r0)));
	for (i = 0; i < COUNT; i++) {
		const float x = value_of(a[i]), y = value_of(b[i]);

		assert_int_equal(out[i], word_of(fmaf(y, x, fmaf(y, y, fmaf(x, y, x)))));
	}
	run(KERNEL(PUMICE_HYPOT(r2, r0, r1)));
	for (i = 0; i < COUNT; i++)
		assert_int_equal(out[i], word_of(sqrtf(fmaf(value_of(b[i]), value_of(b[i]),
							    value_of(a[i]) * value_of(a[i])))));
}

/* Distance from the exact value in units of the last place. */
static double ulps(float got, double want)
{
	float near = (float)want;

	return fabs(got - want) / (nextafterf(fabsf(near), INFINITY) - fabsf(near));
}

static void exp_and_log_keep_their_bounds(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < COUNT; i++)
		a[i] = b[i] = PUMICE_WORD_F32((float)(random32() / 4294967296.0 * 170 - 85));
	run(KERNEL(PUMICE_EXP(r2, r0)));
	for (i = 0; i < COUNT; i++) {
		double x = value_of(a[i]), want = exp(x);

		if (fabs(value_of(out[i]) - want) > want * (fabs(x) + 1) * 0x1p-23)
			fail_msg("exp(%a) gave %a", x, value_of(out[i]));
	}
	for (i = 0; i < COUNT; i++)
		a[i] = 0x00800000 + random32() % 0x7f000000;
	run(KERNEL(PUMICE_LOG(r2, r0)));
	for (i = 0; i < COUNT; i++)
		if (ulps(value_of(out[i]), log(value_of(a[i]))) > 2)
			fail_msg("log(%a) gave %a", value_of(a[i]), value_of(out[i]));
}

static void a_wave_reduces_to_one_value(void **state)
{
	uint32_t i, lane, sum, max;

	(void)state;
	FILL(integers);
	run(KERNEL(PUMICE_WAVE_REDUCE(add, u32, r4[0], r0, r3)
		   PUMICE_WAVE_REDUCE(max, u32, r5[0], r1, r3)
		   PUMICE_LINE(xor r4[0], r4[0], r5[0])
		   PUMICE_LINE(mov r2, [one], r4[0])));
	for (i = 0; i < COUNT; i += 32) {
		for (lane = sum = max = 0; lane < 32; lane++) {
			sum += a[i + lane];
			max = b[i + lane] > max ? b[i + lane] : max;
		}
		for (lane = 0; lane < 32; lane++)
			assert_int_equal(out[i + lane], sum ^ max);
	}
}

static void assembling_reports_the_first_error_with_its_position(void **state)
{
	struct pumice_program *program;
	char error[PUMICE_ERROR_BYTES];

	(void)state;
	assert_int_equal(pumice_program_assemble("text", "end\nfoo r1\nbar\n", &program, error,
						 sizeof(error)), -EINVAL);
	assert_string_equal(error, "text:2:1: error: no such operation; if it is a "
			    "macro, define it before: .macro foo\nfoo r1\n^~~");
	assert_int_equal(pumice_program_assemble("text", "", &program, NULL, 0), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(udiv_and_its_remainder_equal_the_cpus),
		cmocka_unit_test(sdiv_equals_the_cpus),
		cmocka_unit_test(wide_products_and_sums_equal_the_cpus),
		cmocka_unit_test(fdiv_is_correctly_rounded_and_one_off_at_most_for_denormals),
		cmocka_unit_test(saturate_mix_and_hypot_equal_the_cpus),
		cmocka_unit_test(exp_and_log_keep_their_bounds),
		cmocka_unit_test(a_wave_reduces_to_one_value),
		cmocka_unit_test(assembling_reports_the_first_error_with_its_position),
	};

	return cmocka_run_group_tests_name("libpumice-shader", tests, open_device, close_device);
}
