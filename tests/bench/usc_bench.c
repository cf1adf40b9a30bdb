// SPDX-License-Identifier: MIT
/*
 * Matrix product on one USC: the tiled matmul of document 002, hand
 * compiled, run by one thread directly on the USC, without PDS and firmware.
 *
 *	usc_bench [N [LEVEL]]	N a multiple of 8, default 512; LEVEL a name, default all
 *
 * Prints GFLOP/s (a multiplication and an addition per inner step, as two
 * instructions and as one) for every vector level of this host, and checks the
 * product against the CPU.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec.h"
#include "fixture.h"

static const char *const names[GPU_LEVELS] = { "base", "avx2", "avx512" };

#define TILE 8u
#define FLIGHT 16u	/* work-groups at a time */

/* Shared registers: the pairs are base addresses. */
enum { S_A = 0, S_B = 2, S_C = 4, S_STEP_B = 6, S_TILES = 7, S_COUNT = 8 };
/*
 * Attribute registers: byte offsets of the instance in A, B, C; of its tile row, column, element.
 */
enum { V_A, V_B, V_C, V_ROW, V_COL, V_SELF, V_COUNT };
/* Temporaries. */
enum { T_SUM, T_A, T_B, T_MUL, T_LEFT, T_ADDR_A, T_ADDR_B, T_COUNT };

#define LOCAL_B (TILE * TILE * 4)	/* the tile of B follows that of A */
#define LOCAL_BYTES (2 * LOCAL_B)

struct writer {
	u32 code[256 * PUMICE_USC_WORDS];
	u32 n;
};

static void put(struct writer *w, struct pumice_usc_insn insn)
{
	usc_put(w->code, w->n++, insn);
}

static void put_inner(struct writer *w, bool fused)
{
	for (u32 k = 0; k < TILE; k++) {
		put(w, INSN(LOCAL_LOAD32, .dst = R(T_A), .mask = ALWAYS, .src0 = V(V_ROW),
			    .disp = (u16)(k * 4)));
		put(w, INSN(LOCAL_LOAD32, .dst = R(T_B), .mask = ALWAYS, .src0 = V(V_COL),
			    .disp = (u16)(LOCAL_B + k * TILE * 4)));
		if (fused) {
			put(w, INSN(FMA, .type = F32, .dst = R(T_SUM), .src0 = R(T_A),
				    .src1 = R(T_B), .src2 = R(T_SUM)));
			continue;
		}
		put(w, INSN(MUL, .type = F32, .dst = R(T_MUL), .src0 = R(T_A), .src1 = R(T_B)));
		put(w, INSN(ADD, .type = F32, .dst = R(T_SUM), .src0 = R(T_SUM), .src1 = R(T_MUL)));
	}
}

static void put_matmul(struct writer *w, bool fused)
{
	u32 loop;

	put(w, INSN(MOV, .dst = R(T_ADDR_A), .mask = ALWAYS, .src0 = V(V_A)));
	put(w, INSN(MOV, .dst = R(T_ADDR_B), .mask = ALWAYS, .src0 = V(V_B)));
	put(w, INSN(MOV, .form = SCALAR_FORM, .dst = R_ELEM(T_LEFT), .src0 = SH(S_TILES)));
	loop = w->n;
	put(w, INSN(GLOBAL_LOAD32, .sig0 = 0, .dst = R(T_A), .mask = ALWAYS, .src2 = SH(S_A),
		    .src0 = R(T_ADDR_A)));
	put(w, INSN(GLOBAL_LOAD32, .sig0 = 1, .dst = R(T_B), .mask = ALWAYS, .src2 = SH(S_B),
		    .src0 = R(T_ADDR_B)));
	put(w, INSN(ADD, .dst = R(T_ADDR_A), .src0 = R(T_ADDR_A), .src1 = IMM, .imm = TILE * 4));
	put(w, INSN(ADD, .dst = R(T_ADDR_B), .src0 = R(T_ADDR_B), .src1 = SH(S_STEP_B)));
	put(w, INSN(SIG_WAITALL2, .dst = R_ELEM(T_MUL), .sig0 = 0, .sig1 = 1));
	put(w, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = V(V_SELF), .src1 = R(T_A)));
	put(w, INSN(LOCAL_STORE32, .mask = ALWAYS, .src0 = V(V_SELF), .disp = LOCAL_B,
		    .src1 = R(T_B)));
	put(w, INSN(BARRIER));
	put_inner(w, fused);
	put(w, INSN(BARRIER));
	put(w, INSN(SUB, .form = SCALAR_FORM, .dst = R_ELEM(T_LEFT), .src0 = R_ELEM(T_LEFT),
		    .src1 = IMM, .imm = 1));
	put(w, INSN(BRNZ, .target = loop, .src0 = R_ELEM(T_LEFT)));
	put(w, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(S_C), .src0 = V(V_C),
		    .src1 = R(T_SUM)));
	put(w, INSN(END));
}

static void set_pair(u32 *shared, u64 addr)
{
	shared[0] = (u32)addr;
	shared[1] = (u32)(addr >> 32);
}

/* Set up one work-group of the grid, as the PDS does. */
static void start_group(struct fixture *fx, unsigned int number, const struct fx_group *group,
			struct usc_program *program, u32 n, u32 gx, u32 gy)
{
	struct usc_task *task;
	u32 *sh;

	fx_fill(fx, number, group, program);
	task = usc_task(fx->usc, usc_group(fx->usc, number)->slot[0]);
	sh = usc_shared(fx->usc, task);
	set_pair(&sh[S_A], FX_DATA);
	set_pair(&sh[S_B], FX_DATA + (u64)n * n * 4);
	set_pair(&sh[S_C], FX_DATA + (u64)n * n * 8);
	sh[S_STEP_B] = TILE * n * 4;
	sh[S_TILES] = n / TILE;
	for (u32 i = 0; i < TILE * TILE; i++) {
		u32 lx = i % TILE, ly = i / TILE, x = gx * TILE + lx, y = gy * TILE + ly;
		const u32 value[V_COUNT] = {
			[V_A] = (y * n + lx) * 4,
			[V_B] = (ly * n + x) * 4,
			[V_C] = (y * n + x) * 4,
			[V_ROW] = ly * TILE * 4,
			[V_COL] = lx * 4,
			[V_SELF] = i * 4,
		};

		for (u32 r = 0; r < V_COUNT; r++)
			usc_attr(fx->usc, task, i / PUMICE_LANES, r)[i % PUMICE_LANES] = value[r];
	}
	usc_group_start(fx->usc, number);
}

/* Time that this thread ran: without other load on the host. */
static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Run the whole grid; return seconds. */
static double run_matmul(struct fixture *fx, struct usc_program *program, u32 n)
{
	const struct fx_group group = {
		.tasks = 1,
		.instances = { TILE * TILE },
		.limits = { .temps = T_COUNT, .attrs = V_COUNT, .shared = S_COUNT },
		.local_bytes = LOCAL_BYTES,
	};
	u32 groups = (n / TILE) * (n / TILE), started = 0;
	double begin = seconds();

	while (started < groups) {
		fx_clear(fx);
		for (u32 g = 0; g < FLIGHT && started < groups; g++, started++)
			start_group(fx, g, &group, program, n, started % (n / TILE),
				    started / (n / TILE));
		fx_run(fx, 1u << 20);
	}
	return seconds() - begin;
}

/* The same order of operations as the program's: sums must agree to the bit. */
static bool check(const float *a, const float *b, const float *c, u32 n, bool fused)
{
	for (u32 i = 0; i < 64; i++) {
		u32 x = i * 37 % n, y = i * 101 % n;
		volatile float sum = 0;

		for (u32 k = 0; k < n; k++) {
			volatile float product = a[y * n + k] * b[k * n + x];

			sum = fused ? fmaf(a[y * n + k], b[k * n + x], sum) : sum + product;
		}
		if (sum != c[y * n + x])
			return false;
	}
	return true;
}

/* Measure and check one variant at one level. */
static void measure(struct fixture *fx, u32 n, enum gpu_level level, bool fused)
{
	const struct usc_program_limits limits = {
		.temps = T_COUNT, .attrs = V_COUNT, .shared = S_COUNT,
	};
	const float *m = (const float *)(const void *)fx->data;
	struct writer w = { .n = 0 };
	struct usc_program *program;
	double best = 1e9;

	put_matmul(&w, fused);
	usc_level_choose(level);
	usc_program_cache_destroy(fx->cache);
	fx->cache = usc_program_cache_create();
	program = fx_program(fx, w.code, w.n, &limits);
	for (int run = 0; run < 3; run++) {
		double t = run_matmul(fx, program, n);

		best = t < best ? t : best;
	}
	printf("matmul N=%u level=%s %s: %.1f ms, %.2f GFLOP/s, %s\n", n, names[level],
	       fused ? "fma" : "mul+add", best * 1e3, 2.0 * n * n * n / best * 1e-9,
	       check(m, m + n * n, m + 2 * n * n, n, fused) ? "product correct" :
							      "WRONG PRODUCT");
	fx_put(fx, program);
}

int main(int argc, char **argv)
{
	u32 n = argc > 1 ? (u32)strtoul(argv[1], NULL, 0) : 512;
	struct fixture *fx;
	float *m;

	if (n % TILE || !n || n > 2048) {
		fprintf(stderr, "usc_bench: N must be a multiple of %u up to 2048\n", TILE);
		return 1;
	}
	fx = fx_create(((u64)n * n * 12 + 4095) & ~4095ull);
	m = (float *)(void *)fx->data;
	for (u32 i = 0; i < 2 * n * n; i++)
		m[i] = (float)((i * 2654435761u >> 20) % 1000) / 500.0f - 1.0f;
	for (enum gpu_level level = GPU_LEVEL_BASE; level < GPU_LEVELS; level++) {
		if (!gpu_level_usable(level) || (argc > 2 && strcmp(argv[2], names[level])))
			continue;
		measure(fx, n, level, false);
		measure(fx, n, level, true);
	}
	fx_destroy(fx);
	return 0;
}
