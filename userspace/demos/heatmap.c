// SPDX-License-Identifier: MIT
/*
 * Cost of tiles: a scene, and three maps of its tiles:
 * primitives in the list, pixels shaded, and the fraction of
 * covered pixels whose shading hidden-surface removal avoided.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crowd.h"

#define NAME	"pumice-demo-heatmap"
#define WIDTH	640u
#define HEIGHT	480u
#define TILE	16u
#define TILES_X	(WIDTH / TILE)
#define TILES_Y	(HEIGHT / TILE)
#define TILES	(TILES_X * TILES_Y)

/* Four panels: the picture above left. */
struct board {
	uint8_t rgb[HEIGHT * 2][WIDTH * 2][3];
};

/* Map v, 0 to 1, to a colour from black over violet and orange to light yellow. */
static void heat(float v, uint8_t rgb[3])
{
	static const uint8_t at[6][3] = {
		{ 4, 4, 20 }, { 66, 10, 104 }, { 147, 38, 103 }, { 221, 81, 58 },
		{ 252, 165, 10 }, { 252, 255, 164 },
	};
	const float s = fminf(fmaxf(v, 0), 1) * 5;
	const int i = s >= 5 ? 4 : (int)s;
	uint32_t c;

	for (c = 0; c < 3; c++)
		rgb[c] = (uint8_t)((float)at[i][c] +
				   (s - (float)i) * (float)(at[i + 1][c] - at[i][c]) + 0.5f);
}

static void put_map(struct board *board, uint32_t panel, const float *value, float most)
{
	const uint32_t x0 = panel % 2 * WIDTH, y0 = panel / 2 * HEIGHT;
	uint32_t x, y;

	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++)
			heat(value[y / TILE * TILES_X + x / TILE] / most,
			     board->rgb[y0 + y][x0 + x]);
}

static void put_picture(struct board *board, const uint8_t *rgb)
{
	uint32_t y;

	for (y = 0; y < HEIGHT; y++)
		memcpy(board->rgb[y], rgb + (size_t)y * WIDTH * 3, WIDTH * 3);
}

/* Draw the maps; false if the numbers are impossible. */
static bool put_maps(struct board *board, const uint32_t *words, struct draw *draw)
{
	static float primitives[TILES], shaded[TILES], saved[TILES];
	float most = 1, most_shaded = 1;
	uint64_t all_covered = 0, all_shaded = 0;
	bool good = true;
	uint32_t i;

	for (i = 0; i < TILES; i++) {
		struct pumice_tile_stats s;

		good = good && pumice_tile_stats_unpack(words + i * PUMICE_TILE_STATS_WORDS, &s) ==
			       PUMICE_UNPACK_OK;
		primitives[i] = sqrtf((float)s.primitives);
		shaded[i] = (float)s.shaded;
		saved[i] = s.covered ? 1 - (float)s.shaded / (float)s.covered : 0;
		most = fmaxf(most, primitives[i]);
		/* A covered pixel is shaded once, and once more for glass in front of it. */
		good = good && s.shaded <= s.covered && (!s.covered || s.shaded);
		most_shaded = fmaxf(most_shaded, shaded[i]);
		all_covered += s.covered;
		all_shaded += s.shaded;
	}
	put_map(board, 1, primitives, most);
	put_map(board, 2, shaded, most_shaded);
	put_map(board, 3, saved, 1);
	printf("%s: %llu pixels covered, %llu shaded: hidden-surface removal saved %.1f %%\n", NAME,
	       (unsigned long long)all_covered, (unsigned long long)all_shaded,
	       100 - 100 * (double)all_shaded / (double)all_covered);
	return good && all_covered == draw_counted(draw, DRAW_COVERED);
}

int main(int argc, char **argv)
{
	const struct draw_options options = {
		.width = WIDTH, .height = HEIGHT, .stats = true,
		.tile_size = PUMICE_TILE_SIZE_16X16,
	};
	const char *path = "heatmap.png", *device;
	static struct board board;
	struct crowd c;
	uint8_t *rgb;
	bool good;
	int status;

	device = draw_arguments(NAME,
				"Draws a scene and maps of the cost of its tiles.\n",
				argc, argv, &path);
	crowd_open(&c, NAME, device, &options);
	crowd_draw(&c);
	draw_report(&c.draw, "with counts");
	rgb = draw_pixels(&c.draw);
	put_picture(&board, rgb);
	free(rgb);
	good = put_maps(&board, c.draw.stats.cpu, &c.draw);
	status = demo_result(NAME, good, "the counts of all tiles");
	demo_write_picture(NAME, path, WIDTH * 2, HEIGHT * 2, &board.rgb[0][0][0]);
	crowd_close(&c);
	return status;
}
