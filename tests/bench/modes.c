// SPDX-License-Identifier: MIT
/*
 * Rows: speed of the modes counted and strict against fast, in millions of lane instructions per
 * second on one thread of the host. The peer is our GPU in mode fast.
 *
 * Three programs: one without accesses to memory, one whose instructions are mostly accesses to
 * memory, and one that exchanges words by local memory, with barriers.
 */
#include <string.h>

#include <pumice/pumice_shader.h>

#include "bench.h"

#define GROUPS	64u
#define LANES	64u	/* instances of a group */
#define ROUNDS	64u	/* of the loops */
#define BYTES	(GROUPS * LANES * sizeof(uint32_t))

/*
 * Uniforms: address of a word for each instance, rounds. Each adds 8 to its word in each round; the
 * instructions of a round are counted in struct program, those outside of the loop are not.
 */
static const char arithmetic[] =
	PUMICE_LINE(.group 64)
	PUMICE_LINE(.uniforms sh0, 3)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LINE(mov r4[0], sh2)
	PUMICE_LINE(mov r1, [one], 0)
	PUMICE_LINE(loop:)
	PUMICE_LINE(add.u32 r1, r1, 1)
	PUMICE_LINE(add.u32 r1, r1, 1)
	PUMICE_LINE(add.u32 r1, r1, 1)
	PUMICE_LINE(add.u32 r1, r1, 1)
	PUMICE_LINE(add.u32 r1, r1, 1)
	PUMICE_LINE(add.u32 r1, r1, 1)
	PUMICE_LINE(add.u32 r1, r1, 1)
	PUMICE_LINE(add.u32 r1, r1, 1)
	PUMICE_LINE(sub.u32 r4[0], r4[0], 1)
	PUMICE_LINE(brnz loop, r4[0])
	PUMICE_STORE32(sh0, v0, [one], r1, r2)
	PUMICE_LINE(end);

static const char memory[] =
	PUMICE_LINE(.group 64)
	PUMICE_LINE(.uniforms sh0, 3)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LINE(mov r4[0], sh2)
	PUMICE_LINE(mov r1, [one], 0)
	PUMICE_LINE(shl.u32 r2, v0, 2)
	PUMICE_LINE(global_store32 sig0, [one], sh0 + r2, r1)
	PUMICE_LINE(sig_wait r3[0], sig0)
	PUMICE_LINE(loop:)
	PUMICE_LINE(global_load32 sig0, r1, [one], sh0 + r2)
	PUMICE_LINE(sig_wait r3[0], sig0)
	PUMICE_LINE(add.u32 r1, r1, 8)
	PUMICE_LINE(global_store32 sig1, [one], sh0 + r2, r1)
	PUMICE_LINE(sig_wait r3[0], sig1)
	PUMICE_LINE(sub.u32 r4[0], r4[0], 1)
	PUMICE_LINE(brnz loop, r4[0])
	PUMICE_LINE(end);

/* Each instance adds 8 to the word of its neighbour in the group. */
static const char local[] =
	PUMICE_LINE(.group 64)
	PUMICE_LINE(.local 256)
	PUMICE_LINE(.uniforms sh0, 3)
	PUMICE_LINE(.input v0, global_x)
	PUMICE_LINE(.input v1, local_x)
	PUMICE_LINE(mov r4[0], sh2)
	PUMICE_LINE(mov r1, [one], 0)
	PUMICE_LINE(shl.u32 r2, v1, 2)
	PUMICE_LINE(xor.u32 r3, r2, 4)
	PUMICE_LINE(loop:)
	PUMICE_LINE(local_store32 [one], r2, r1)
	PUMICE_LINE(barrier)
	PUMICE_LINE(local_load32 r1, [one], r3 + 0)
	PUMICE_LINE(add.u32 r1, r1, 8)
	PUMICE_LINE(barrier)
	PUMICE_LINE(sub.u32 r4[0], r4[0], 1)
	PUMICE_LINE(brnz loop, r4[0])
	PUMICE_STORE32(sh0, v0, [one], r1, r2)
	PUMICE_LINE(end);

static const struct program {
	const char *name, *text;
	unsigned int instructions;	/* of a round */
} programs[] = {
	{ "arithmetic", arithmetic, 10 },
	{ "memory", memory, 7 },
	{ "local memory", local, 7 },
};

/* A program on a GPU in a mode. */
struct side {
	struct gpu gpu;
	struct gpu_work work;
	struct pumice_buffer buffer;
};

static void run(void *data)
{
	gpu_run(&((struct side *)data)->work);
}

static void open_side(struct side *side, const char *mode, const struct program *program)
{
	const uint32_t *word;

	gpu_open_mode(&side->gpu, 0, mode);
	gpu_buffer(&side->gpu, BYTES, &side->buffer);
	gpu_work_text(&side->gpu, program->text, &side->work);
	gpu_add_address(&side->work, &side->buffer);
	gpu_add_word(&side->work, ROUNDS);
	side->work.groups[0] = GROUPS;
	run(side);
	word = side->buffer.cpu;
	for (unsigned int i = 0; i < GROUPS * LANES; i++)
		if (word[i] != 8 * ROUNDS)
			bench_fail("%s, mode %s: word %u is %u", program->name, mode, i, word[i]);
}

static void close_side(struct side *side)
{
	gpu_work_free(&side->work);
	pumice_buffer_destroy(&side->buffer);
	gpu_close(&side->gpu);
}

static void contest(struct bench *bench, const char *mode, const struct program *program)
{
	struct side ours, peer;
	char name[64];
	const struct bench_contest c = {
		.name = name,
		.unit = "M lane instructions/s",
		.peer_name = "mode fast",
		.figure = BENCH_RATE,
		.scale = (double)GROUPS * LANES * ROUNDS * program->instructions * 1e-6,
		.repeats = 1,
		.ours = run,
		.peer = run,
		.our_data = &ours,
		.peer_data = &peer,
	};

	snprintf(name, sizeof(name), "mode %s: %s", mode, program->name);
	if (bench->only && !strstr(name, bench->only))
		return;
	open_side(&ours, mode, program);
	open_side(&peer, "fast", program);
	bench_contest(bench, &c);
	close_side(&peer);
	close_side(&ours);
}

void bench_modes(struct bench *bench)
{
	for (unsigned int i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		contest(bench, "counted", &programs[i]);
		contest(bench, "strict", &programs[i]);
	}
}
