// SPDX-License-Identifier: MIT
/*
 * The stated errors of reciprocal, roots, exponential, logarithm, sine and cosine.
 *
 * Each is run over every exponent with 4096 mantissas spread over it, over the
 * ends of each exponent, and where it is hardest: sine and cosine next to
 * multiples of pi / 2, the logarithm next to 1, the exponential around its
 * limits. The reference is the C library's long double; an error is measured in
 * units of the last place of the exact result, denormal ones included. Every
 * vector level must return the same bits.
 *
 * Limits: needs a long double of 64 bits of mantissa or more. Not all 2^32
 * inputs: those of one function would take minutes.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"
#include "gen.h"
#include "fixture.h"

#define MANTISSAS 4096u
#define MANTISSAS_BELOW_ZERO 64u	/* the functions are even, odd or NaN there */
#define HARD_POINTS 0x20000u
#define REGISTERS 60u
#define AT_ONCE (REGISTERS * PUMICE_TASK_INSTANCES)

typedef long double exact_fn(long double x);

struct function {
	const char *name;
	enum pumice_usc_op op;
	exact_fn *exact;
	double stated;	/* ulp */
};

static long double reciprocal(long double x)
{
	return 1 / x;
}

static long double root_reciprocal(long double x)
{
	return 1 / sqrtl(x);
}

static const struct function functions[] = {
	{ "rcp", PUMICE_USC_OP_RCP, reciprocal, 0.5 },
	{ "sqrt", PUMICE_USC_OP_SQRT, sqrtl, 0.5 },
	{ "rsqrt", PUMICE_USC_OP_RSQRT, root_reciprocal, 0.51 },
	{ "exp2", PUMICE_USC_OP_EXP2, exp2l, 0.51 },
	{ "log2", PUMICE_USC_OP_LOG2, log2l, 0.51 },
	{ "sin", PUMICE_USC_OP_SIN, sinl, 0.51 },
	{ "cos", PUMICE_USC_OP_COS, cosl, 0.51 },
};

#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/* Results of one function. */
struct outcome {
	double error;	/* the largest, ulp */
	u32 at;		/* its input */
	u32 inputs;
};

static float float_of(u32 bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static u32 bits_of(float f)
{
	u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

/* Run the operation on AT_ONCE inputs. */
static void evaluate(struct fixture *fx, struct usc_program *program, const u32 *in, u32 *out)
{
	const struct fx_group group = {
		.tasks = 1, .instances = { PUMICE_TASK_INSTANCES },
		.limits = { .temps = REGISTERS, .attrs = REGISTERS },
	};
	const size_t row = PUMICE_LANES * sizeof(u32);
	const struct usc_task *task;

	fx_clear(fx);
	fx_fill(fx, 0, &group, program);
	task = usc_task(fx->usc, 0);
	for (u32 w = 0; w < USC_MAX_WAVES; w++) {
		for (u32 r = 0; r < REGISTERS; r++)
			memcpy(usc_attr(fx->usc, task, w, r),
			       in + (w * REGISTERS + r) * PUMICE_LANES, row);
	}
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1u << 20);
	assert_int_equal(fx->faults, 0);
	for (u32 w = 0; w < USC_MAX_WAVES; w++)
		memcpy(out + w * REGISTERS * PUMICE_LANES,
		       fx->usc->unified + usc_wave_regs(task, w), REGISTERS * row);
}

static struct usc_program *make_program(struct fixture *fx, enum pumice_usc_op op,
					enum gpu_level level)
{
	const struct usc_program_limits limits = { .temps = REGISTERS, .attrs = REGISTERS };
	u32 code[(REGISTERS + 1) * PUMICE_USC_WORDS];

	for (u32 r = 0; r < REGISTERS; r++) {
		struct pumice_usc_insn insn = {
			.opcode = op, .type = F32, .dst = R(r), .src0 = V(r),
		};

		usc_put(code, r, insn);
	}
	usc_put(code, REGISTERS, INSN(END));
	usc_level_choose(level);
	return fx_program(fx, code, REGISTERS + 1, &limits);
}

/* Distance of a result from the exact one; NaN where one of them is. */
static double error_of(u32 result, long double exact)
{
	long double value = float_of(result);
	int exponent;

	/* Values that would round to 2^128 are infinity, as in IEEE 754. */
	if (isinf(value) && fabsl(exact) >= 0x1.ffffffp127l && signbit(value) == signbit(exact))
		return 0;
	if (value == exact)
		return 0;
	frexpl(exact, &exponent);
	exponent = exponent < -125 ? -125 : exponent;
	return (double)ldexpl(fabsl(value - exact), 24 - exponent);
}

static void count_result(const struct function *f, u32 input, u32 result, struct outcome *o)
{
	long double exact = f->exact(float_of(input));
	double error;

	o->inputs++;
	if (isnan(exact)) {
		if (result != USC_F32_NAN)
			fail_msg("%s of %#x is %#x, must be NaN", f->name, input, result);
		return;
	}
	error = error_of(result, exact);
	if (!(error <= f->stated))
		fail_msg("%s of %#x is %#x: off by %g ulp, stated are %g", f->name, input, result,
			 error, f->stated);
	if (error > o->error) {
		o->error = error;
		o->at = input;
	}
}

/* A function with its programs at every level, and queued inputs. */
struct batch {
	/* By level, each with programs of its own; NULL if the host lacks it. */
	struct fixture *fx[GPU_LEVELS];
	struct usc_program *program[GPU_LEVELS];
	const struct function *function;
	struct outcome outcome;
	u32 count;
	u32 in[AT_ONCE], out[AT_ONCE], first[AT_ONCE];
};

static void flush(struct batch *b)
{
	bool have = false;

	for (enum gpu_level level = 0; level < GPU_LEVELS; level++) {
		if (!b->program[level])
			continue;
		evaluate(b->fx[level], b->program[level], b->in, b->out);
		if (have)
			assert_memory_equal(b->out, b->first, b->count * sizeof(u32));
		else
			memcpy(b->first, b->out, sizeof(b->first));
		have = true;
	}
	for (u32 n = 0; n < b->count; n++)
		count_result(b->function, b->in[n], b->out[n], &b->outcome);
	b->count = 0;
}

static void add(struct batch *b, u32 input)
{
	b->in[b->count++] = input;
	if (b->count == AT_ONCE)
		flush(b);
}

static void add_all_exponents(struct batch *b, struct gen_rng *rng)
{
	for (u32 top = 0; top < 512; top++) {
		u32 mantissas = top < 256 ? MANTISSAS : MANTISSAS_BELOW_ZERO, bits = top << 23;
		u32 step = (1u << 23) / mantissas;

		for (u32 n = 0; n < mantissas; n++)
			add(b, bits + n * step + gen_below(rng, step));
		for (u32 n = 0; n < 4; n++) {
			add(b, bits + n);
			add(b, bits + (1u << 23) - 1 - n);
		}
	}
}

static void add_hard_points(struct batch *b, struct gen_rng *rng)
{
	const long double quarter = acosl(0.0l);

	/* 16367173 * 2^72 is nearest to a multiple of pi / 2 of all floats. */
	add(b, bits_of(16367173.0f * 0x1p72f));
	for (u32 n = 0; n < HARD_POINTS; n++) {
		u32 turns = n < HARD_POINTS / 2 ? n : gen_random(rng) >> gen_below(rng, 16);

		add(b, bits_of((float)(quarter * turns)));
		add(b, 0x3f800000u - HARD_POINTS / 2 + n);	/* around 1 */
		add(b, bits_of((float)n / HARD_POINTS + 127));	/* largest results of exp2 */
		add(b, bits_of(-(float)n * 26 / HARD_POINTS - 125));	/* its denormal results */
		add(b, 0x49800000u - HARD_POINTS / 2 + n);	/* around 2^20 */
	}
}

static void measure(struct fixture **fx, const struct function *f, struct outcome *o)
{
	static struct batch b;
	struct gen_rng rng = { f->op };

	memset(&b, 0, sizeof(b));
	b.function = f;
	for (enum gpu_level level = 0; level < GPU_LEVELS; level++) {
		b.fx[level] = fx[level];
		if (fx[level])
			b.program[level] = make_program(fx[level], f->op, level);
		assert_int_equal(!b.program[level], !fx[level]);
	}
	add_all_exponents(&b, &rng);
	add_hard_points(&b, &rng);
	flush(&b);
	for (enum gpu_level level = 0; level < GPU_LEVELS; level++) {
		if (b.program[level])
			fx_put(fx[level], b.program[level]);
	}
	*o = b.outcome;
}

static void usc_transcendental_operations_are_within_their_stated_errors(void **state)
{
	struct outcome outcome[FUNCTIONS];
	struct fixture *fx[GPU_LEVELS] = { NULL };

	(void)state;
	if (LDBL_MANT_DIG < 64)
		skip();
	for (enum gpu_level level = 0; level < GPU_LEVELS; level++) {
		if (gpu_level_usable(level))
			fx[level] = fx_create(4096);
	}
	for (u32 n = 0; n < FUNCTIONS; n++)
		measure(fx, &functions[n], &outcome[n]);
	print_message("operation  inputs    largest error, ulp      stated  at\n");
	for (u32 n = 0; n < FUNCTIONS; n++)
		print_message("%-9s  %8u  %.15f       %.2f    %#010x (%.9g)\n", functions[n].name,
			      outcome[n].inputs, outcome[n].error, functions[n].stated,
			      outcome[n].at, (double)float_of(outcome[n].at));
	for (enum gpu_level level = 0; level < GPU_LEVELS; level++) {
		if (fx[level])
			fx_destroy(fx[level]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usc_transcendental_operations_are_within_their_stated_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
