// SPDX-License-Identifier: MIT
/*
 * pumice-demo-life: the Game of Life on a torus, as an animation.
 *
 * The GPU counts 32 cells in parallel, bitwise; the CPU computes
 * the same cell by cell, and every generation is compared.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "animation.h"
#include "demo.h"
#include "life.pasm.h"

#define NAME	"pumice-demo-life"
#define WORDS	8u		/* of a row; cells are 32 times as many */
#define COLUMNS	(WORDS * 32)
#define ROWS	192u
#define SCALE	2u		/* pixels of a cell */
#define GROUP	8u

static bool cell(const uint32_t *field, uint32_t x, uint32_t y)
{
	return field[y * WORDS + x / 32] >> x % 32 & 1;
}

static void set_cell(uint32_t *field, uint32_t x, uint32_t y)
{
	field[y * WORDS + x / 32] |= 1u << x % 32;
}

/* Draw patterns from text: a glider gun, and a random field that takes long to settle. */
static void sow(uint32_t *field)
{
	static const char *const gun[] = {
		"........................O...........",
		"......................O.O...........",
		"............OO......OO............OO",
		"...........O...O....OO............OO",
		"OO........O.....O...OO..............",
		"OO........O...O.OO....O.O...........",
		"..........O.....O.......O...........",
		"...........O...O....................",
		"............OO......................",
	};
	uint32_t random = 2024;

	for (uint32_t y = 0; y < sizeof(gun) / sizeof(gun[0]); y++)
		for (uint32_t x = 0; gun[y][x]; x++)
			if (gun[y][x] == 'O')
				set_cell(field, 8 + x, 8 + y);
	for (uint32_t y = 100; y < 160; y++)
		for (uint32_t x = 140; x < 220; x++)
			if (demo_random_unit(&random) < 0.35f)
				set_cell(field, x, y);
}

/* Compute a generation cell by cell. */
static void play(const uint32_t *before, uint32_t *after)
{
	memset(after, 0, ROWS * WORDS * sizeof(*after));
	for (uint32_t y = 0; y < ROWS; y++) {
		for (uint32_t x = 0; x < COLUMNS; x++) {
			unsigned int n = 0;

			for (uint32_t i = 0; i < 9; i++)
				n += i != 4 && cell(before, (x + COLUMNS - 1 + i % 3) % COLUMNS,
						    (y + ROWS - 1 + i / 3) % ROWS);
			if (n == 3 || (n == 2 && cell(before, x, y)))
				set_cell(after, x, y);
		}
	}
}

static void show(struct animation *film, const uint32_t *field)
{
	static uint8_t values[ROWS * SCALE * COLUMNS * SCALE];

	for (uint32_t i = 0; i < sizeof(values); i++)
		values[i] = cell(field, i % (COLUMNS * SCALE) / SCALE,
				 i / (COLUMNS * SCALE) / SCALE) ? 255 : 16;
	if (!animation_frame(film, values, 5))
		demo_fail(NAME, "the animation cannot be written: %s", strerror(errno));
}

static void step(struct demo *demo, const struct pumice_buffer *before,
		 const struct pumice_buffer *after)
{
	const uint32_t groups[3] = { WORDS / GROUP, ROWS / GROUP, 1 };
	uint32_t uniforms[6];

	demo_address(uniforms, before->va);
	demo_address(uniforms + 2, after->va);
	uniforms[4] = WORDS;
	uniforms[5] = ROWS;
	demo_run(demo, groups, uniforms, 6);
}

/* Returns the generations that differ from the CPU's. */
static uint32_t run(struct demo *demo, struct pumice_buffer field[2], uint32_t generations,
		    struct animation *film)
{
	static uint32_t want[ROWS * WORDS];
	uint64_t device_ns = 0, wall_ns = 0;
	uint32_t wrong = 0;

	sow(field[0].cpu);
	for (uint32_t g = 0; g < generations; g++) {
		struct pumice_buffer *before = &field[g % 2], *after = &field[(g + 1) % 2];

		show(film, before->cpu);
		step(demo, before, after);
		device_ns += demo->device_ns;
		wall_ns += demo->wall_ns;
		play(before->cpu, want);
		wrong += memcmp(after->cpu, want, sizeof(want)) != 0;
	}
	demo->device_ns = device_ns;
	demo->wall_ns = wall_ns;
	return wrong;
}

int main(int argc, char **argv)
{
	static const uint8_t green[3] = { 120, 255, 140 };
	const char *device, *path = "life.gif";
	uint32_t generations = 200, wrong;
	struct pumice_buffer field[2];
	struct animation *film;
	struct demo demo;
	int status;
	const struct command_option own[] = {
		{ 'g', "generations", "N", "generations, 1 to 100000 (default 200)",
		  .number = &generations, .min = 1, .max = 100000 },
		COMMAND_OUTPUT(&path, "FILE.gif", "the animation (default life.gif)"),
		{ 0 }
	};

	device = demo_arguments(NAME,
				"Plays the Game of Life on 256x192 cells and checks each generation.\n",
				own, argc, argv);
	film = animation_open(path, COLUMNS * SCALE, ROWS * SCALE, green);
	if (!film)
		demo_fail(NAME, "%s: cannot be written: %s", path, strerror(errno));
	demo_open(&demo, NAME, device, life_program, sizeof(life_program));
	demo_buffer(&demo, ROWS * WORDS * sizeof(uint32_t), &field[0]);
	demo_buffer(&demo, ROWS * WORDS * sizeof(uint32_t), &field[1]);
	wrong = run(&demo, field, generations, film);
	demo_report(&demo);
	status = demo_result(NAME, !wrong, "%u of %u generations equal the CPU's",
			     generations - wrong, generations);
	demo_write_animation(NAME, path, film);
	pumice_buffer_destroy(&field[0]);
	pumice_buffer_destroy(&field[1]);
	demo_close(&demo);
	return status;
}
