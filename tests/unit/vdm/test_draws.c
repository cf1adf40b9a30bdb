// SPDX-License-Identifier: MIT
/*
 * Primitives of draws: every topology, index size, restart, count and split, against an
 * expander without chunks, which cuts the list of vertices into runs and lists each run's
 * primitives as specified.
 */
#include "vdm_fixture.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PLACES 4096u

struct draw {
	u32 topology, size;
	bool indexed, restart;
	u32 count, first, index_count, instances, base_instance;
	s32 base_vertex;
};

static struct vdmfx_list expected;

static void expect(u32 kind, u32 instance, u32 a, u32 b, u32 c)
{
	struct vdmfx_prim *p = &expected.prim[expected.count++];

	*p = (struct vdmfx_prim){
		.kind = (u8)kind, .vertex = { a, b, c },
		.instance = { instance, instance, instance },
	};
	if (kind != PUMICE_PRIM_KIND_TRIANGLE)
		p->vertex[2] = p->instance[2] = 0;
	if (kind == PUMICE_PRIM_KIND_POINT)
		p->vertex[1] = p->instance[1] = 0;
}

/* The primitives of one run of n vertices. */
static void expand_run(u32 topology, bool last, u32 instance, const u32 *v, u32 n)
{
	u32 i;

	switch (topology) {
	case PUMICE_TOPOLOGY_POINTS:
		for (i = 0; i < n; i++)
			expect(PUMICE_PRIM_KIND_POINT, instance, v[i], 0, 0);
		return;
	case PUMICE_TOPOLOGY_LINES:
		for (i = 0; i < n / 2; i++)
			expect(PUMICE_PRIM_KIND_LINE, instance, v[2 * i], v[2 * i + 1], 0);
		return;
	case PUMICE_TOPOLOGY_LINE_STRIP:
		for (i = 0; i + 1 < n; i++)
			expect(PUMICE_PRIM_KIND_LINE, instance, v[i], v[i + 1], 0);
		return;
	case PUMICE_TOPOLOGY_TRIANGLES:
		for (i = 0; i < n / 3; i++)
			expect(PUMICE_PRIM_KIND_TRIANGLE, instance, v[3 * i], v[3 * i + 1],
			       v[3 * i + 2]);
		return;
	case PUMICE_TOPOLOGY_TRIANGLE_STRIP:
		for (i = 0; i + 2 < n; i++) {
			if (i % 2 == 0)
				expect(PUMICE_PRIM_KIND_TRIANGLE, instance, v[i],
				       v[i + 1], v[i + 2]);
			else if (last)
				expect(PUMICE_PRIM_KIND_TRIANGLE, instance, v[i + 1],
				       v[i], v[i + 2]);
			else
				expect(PUMICE_PRIM_KIND_TRIANGLE, instance, v[i],
				       v[i + 2], v[i + 1]);
		}
		return;
	default:
		for (i = 1; i + 1 < n; i++)
			expect(PUMICE_PRIM_KIND_TRIANGLE, instance, v[0], v[i], v[i + 1]);
	}
}

/* An index of the buffer, or 0 beyond it. */
static u32 index_at(const struct vdm_fixture *fx, const struct draw *d, u64 place)
{
	u32 value = 0;

	if (place >= d->index_count)
		return 0;
	memcpy(&value, fx->base->data + (VDMFX_INDICES - FX_DATA) + (place << d->size),
	       1u << d->size);
	return value;
}

static void expand(const struct vdm_fixture *fx, const struct draw *d, bool last)
{
	const u32 ones = d->size == 0 ? 0xff : d->size == 1 ? 0xffff : 0xffffffff;
	u32 *v = malloc((d->count + 1) * sizeof(*v)), instance, i, n;

	for (instance = 0; instance < d->instances; instance++) {
		for (i = n = 0; i < d->count; i++) {
			u32 index = d->indexed ? index_at(fx, d, (u64)d->first + i) : d->first + i;

			if (d->restart && index == ones) {
				expand_run(d->topology, last, d->base_instance + instance, v, n);
				n = 0;
			} else {
				v[n++] = index + (d->indexed ? (u32)d->base_vertex : 0);
			}
		}
		expand_run(d->topology, last, d->base_instance + instance, v, n);
	}
	free(v);
}

/* A stream of these draws. */
static void put_draws(struct vdm_fixture *fx, const struct draw *d, u32 draws)
{
	u32 words[256], n = 0, i;

	pumice_vdm_state_cmd_pack(words, &(struct pumice_vdm_state_cmd){ .addr = VDMFX_STATE });
	n += PUMICE_VDM_STATE_CMD_WORDS;
	for (i = 0; i < draws; i++, d++) {
		if (d->indexed) {
			pumice_vdm_draw_indexed_pack(words + n, &(struct pumice_vdm_draw_indexed){
				.topology = (u8)d->topology, .index_size = (u8)d->size,
				.restart = d->restart, .indices = VDMFX_INDICES,
				.index_count = d->index_count, .count = d->count, .first = d->first,
				.base_vertex = d->base_vertex, .instances = d->instances,
				.base_instance = d->base_instance });
			n += PUMICE_VDM_DRAW_INDEXED_WORDS;
		} else {
			pumice_vdm_draw_pack(words + n, &(struct pumice_vdm_draw){
				.topology = (u8)d->topology, .count = d->count, .first = d->first,
				.instances = d->instances, .base_instance = d->base_instance });
			n += PUMICE_VDM_DRAW_WORDS;
		}
	}
	pumice_vdm_halt_pack(words + n, &(struct pumice_vdm_halt){ 0 });
	vdmfx_put(fx, VDMFX_STREAM, words, n + PUMICE_VDM_HALT_WORDS);
}

static void check(struct vdm_fixture *fx, const struct draw *d, u32 draws, bool last, u32 split)
{
	u32 i;

	expected.count = 0;
	for (i = 0; i < draws; i++)
		expand(fx, d + i, last);
	put_draws(fx, d, draws);
	assert_true(vdmfx_start(fx, split));
	vdmfx_run(fx);
	if (fx->ended[DM_DONE] != 1)
		fail_msg("fault %u at 0x%llx", vdmfx_fault(fx)->fault,
			 (unsigned long long)vdmfx_fault(fx)->addr);
	vdmfx_render(fx);
	assert_int_equal(fx->drawn.count, expected.count);
	assert_int_equal(vdm_status(fx->vdm)->done, expected.count);
	for (i = 0; i < expected.count; i++) {
		const struct vdmfx_prim *got = &fx->drawn.prim[i], *want = &expected.prim[i];

		if (got->kind != want->kind || memcmp(got->vertex, want->vertex, 12) ||
		    memcmp(got->instance, want->instance, 12))
			fail_msg("topology %u split %u primitive %u: %u %u %u, not %u %u %u",
				 d->topology, split, i, got->vertex[0], got->vertex[1],
				 got->vertex[2], want->vertex[0], want->vertex[1], want->vertex[2]);
	}
}

/* Random indices, a tenth of them restarts; of few values, so that vertices repeat. */
static void put_indices(struct vdm_fixture *fx, u32 size, bool restarts)
{
	u32 i;

	for (i = 0; i < VDMFX_INDEX_BYTES >> size; i++) {
		u32 value = vdmfx_random(fx, 60);

		if (restarts && vdmfx_random(fx, 10) == 0)
			value = UINT32_MAX;
		memcpy(fx->base->data + (VDMFX_INDICES - FX_DATA) + (i << size), &value,
		       1u << size);
	}
}

static const u32 splits[] = { 1, 2, 3, 5, 16, 100, 512, 700, 65535 };

static void every_topology_in_every_split(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(3);
	struct pumice_vdm_state record = vdmfx_state(false);
	u32 topology, split, last;

	(void)state;
	for (last = 0; last < 2; last++) {
		record.provoking_last = last;
		vdmfx_put_state(fx, &record);
		for (topology = 0; topology < PUMICE_TOPOLOGY_COUNT; topology++) {
			for (split = 0; split < sizeof(splits) / sizeof(splits[0]); split++) {
				const struct draw d = {
					.topology = topology, .count = 1800 + vdmfx_random(fx, 9),
					.first = UINT32_MAX - 700, .instances = 1,
				};

				check(fx, &d, 1, last, splits[split]);
			}
		}
	}
	vdmfx_destroy(fx);
}

static void every_index_size_with_and_without_restart(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(3);
	const struct pumice_vdm_state record = vdmfx_state(false);
	u32 topology, split, size, restart;

	(void)state;
	vdmfx_put_state(fx, &record);
	for (size = 0; size < PUMICE_INDEX_SIZE_COUNT; size++) {
		for (restart = 0; restart < 2; restart++) {
			/* Without restart all ones are an index like any other. */
			put_indices(fx, size, true);
			for (topology = 0; topology < PUMICE_TOPOLOGY_COUNT; topology++) {
				for (split = 0; split < sizeof(splits) / sizeof(splits[0]);
				     split++) {
					const struct draw d = {
						.topology = topology, .size = size, .indexed = true,
						.restart = restart,
						.count = 1700 + vdmfx_random(fx, 40),
						.first = vdmfx_random(fx, 100), .index_count = 4000,
						.base_vertex = -17, .instances = 1,
					};

					check(fx, &d, 1, true, splits[split]);
				}
			}
		}
	}
	vdmfx_destroy(fx);
}

static void small_and_empty_draws_in_a_row(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(4);
	const struct pumice_vdm_state record = vdmfx_state(false);
	struct draw d[12];
	u32 round, i;

	(void)state;
	vdmfx_put_state(fx, &record);
	for (round = 0; round < 300; round++) {
		const u32 size = vdmfx_random(fx, 3);

		put_indices(fx, size, true);
		for (i = 0; i < 12; i++) {
			d[i] = (struct draw){
				.topology = vdmfx_random(fx, PUMICE_TOPOLOGY_COUNT), .size = size,
				.indexed = vdmfx_random(fx, 2), .count = vdmfx_random(fx, 14),
				.first = vdmfx_random(fx, 30), .index_count = vdmfx_random(fx, 50),
				.base_vertex = (s32)vdmfx_random(fx, 9) - 4,
				.instances = vdmfx_random(fx, 4),
				.base_instance = vdmfx_random(fx, 9),
			};
			d[i].restart = d[i].indexed && vdmfx_random(fx, 2);
		}
		check(fx, d, 12, true, 1 + vdmfx_random(fx, 6));
	}
	vdmfx_destroy(fx);
}

/* Nothing beyond index_count is read, mapped or not. */
static void indices_beyond_the_buffer_are_0(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	const struct pumice_vdm_state record = vdmfx_state(false);
	struct draw d = { .topology = PUMICE_TOPOLOGY_TRIANGLE_STRIP, .size = 1, .indexed = true,
			  .restart = true, .instances = 2, .count = 3000 };

	(void)state;
	vdmfx_put_state(fx, &record);
	put_indices(fx, 1, true);
	d.index_count = VDMFX_INDEX_BYTES / 2;
	d.first = d.index_count - 1500;
	check(fx, &d, 1, true, 64);
	d.first = UINT32_MAX - 10;
	check(fx, &d, 1, true, 64);
	d.index_count = 0;
	d.first = 0;
	check(fx, &d, 1, true, 64);
	vdmfx_destroy(fx);
}

static void instances_count_from_their_base(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(2);
	const struct pumice_vdm_state record = vdmfx_state(false);
	const struct draw d = { .topology = PUMICE_TOPOLOGY_TRIANGLE_FAN, .count = 9, .first = 4,
				.instances = 100, .base_instance = UINT32_MAX - 50 };

	(void)state;
	vdmfx_put_state(fx, &record);
	check(fx, &d, 1, true, 4);
	vdmfx_destroy(fx);
}

/* Outputs after the varyings change nothing else; the fixture checks that all begin at 0. */
static void a_vertex_program_has_up_to_256_outputs(void **state)
{
	static const u8 more[] = { 0, 1, 249 };
	const struct draw d = { .topology = PUMICE_TOPOLOGY_TRIANGLES, .count = 300,
				.instances = 2 };

	(void)state;
	for (u32 i = 0; i < sizeof(more); i++) {
		struct vdm_fixture *fx = vdmfx_create(2);
		struct pumice_vdm_state record = vdmfx_state(false);

		record.more_vo = more[i];
		vdmfx_put_state(fx, &record);
		fx->vo_words = 0;
		check(fx, &d, 1, true, 64);
		assert_int_equal(fx->vo_words, 7 + more[i]);
		vdmfx_destroy(fx);
	}
}

static int ascending(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Unique vertices of the expected primitives. */
static u32 unique(void)
{
	static u32 all[3 * 4096];
	u32 n = 0, i, k, count = 0;

	for (i = 0; i < expected.count; i++) {
		const u32 corners = expected.prim[i].kind == PUMICE_PRIM_KIND_TRIANGLE ? 3 :
				    expected.prim[i].kind == PUMICE_PRIM_KIND_LINE ? 2 : 1;

		for (k = 0; k < corners; k++)
			all[n++] = expected.prim[i].vertex[k];
	}
	qsort(all, n, sizeof(*all), ascending);
	for (i = 0; i < n; i++)
		count += !i || all[i] != all[i - 1];
	return count;
}

static void each_unique_vertex_of_a_chunk_is_shaded_once(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(1);
	const struct pumice_vdm_state record = vdmfx_state(false);
	u64 value[PUMICE_PERF_NUMBER] = { 0 };
	u32 topology, indexed, all = 0;

	(void)state;
	vdmfx_put_state(fx, &record);
	for (indexed = 0; indexed < 2; indexed++) {
		put_indices(fx, 1, true);
		for (topology = 0; topology < PUMICE_TOPOLOGY_COUNT; topology++) {
			const struct draw d = {
				.topology = topology, .size = 1, .indexed = indexed,
				.restart = indexed,
				.count = 500, .index_count = 4000, .instances = 1,
			};

			fx->shaded[0] = 0;
			check(fx, &d, 1, true, 65535);
			assert_int_equal(fx->shaded[0], unique());
			all += fx->shaded[0];
		}
	}
	vdm_counters_add(fx->vdm, value);
	assert_int_equal(value[PUMICE_PERF_VDM_VERTICES], all);
	assert_true(value[PUMICE_PERF_VDM_INDICES] >= 6 * 500);
	vdmfx_destroy(fx);
}

/* Return whether the fixture's ta_cull() keeps a triangle. */
static bool is_kept(const u32 vertex[3])
{
	return (vertex[0] * 5 + vertex[1] + vertex[2]) % 3;
}

/* Expect only the kept ones of the expected primitives. */
static void expect_kept(void)
{
	u32 i, kept = 0;

	for (i = 0; i < expected.count; i++)
		if (is_kept(expected.prim[i].vertex))
			expected.prim[kept++] = expected.prim[i];
	expected.count = kept;
}

static void only_kept_primitives_are_shaded_after_a_coordinate_program(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(1);
	const struct pumice_vdm_state record = vdmfx_state(true);
	const struct draw d = { .topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true,
				.count = 501, .index_count = 4000, .instances = 1 };
	u32 positions, i;

	(void)state;
	vdmfx_put_state(fx, &record);
	put_indices(fx, 1, false);
	expected.count = 0;
	expand(fx, &d, true);
	positions = unique();
	expect_kept();
	put_draws(fx, &d, 1);
	assert_true(vdmfx_start(fx, 512));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_int_equal(fx->shaded[1], positions);
	assert_int_equal(fx->shaded[0], unique());
	vdmfx_render(fx);
	assert_int_equal(fx->drawn.count, expected.count);
	for (i = 0; i < expected.count; i++)
		assert_memory_equal(fx->drawn.prim[i].vertex, expected.prim[i].vertex, 12);
	vdmfx_destroy(fx);
}

/* ----------------------------------------------------- vertices of the previous piece */

#define PIECE_PRIMS	512u	/* at most */
#define COLUMNS		40u
#define GRID_INDICES	(VDMFX_INDEX_BYTES / 2 / 6 * 6)	/* of 16 bits; whole quads */

static void put_index(struct vdm_fixture *fx, u32 at, u32 index)
{
	const u16 value = (u16)index;

	memcpy(fx->base->data + (VDMFX_INDICES - FX_DATA) + 2 * at, &value, sizeof(value));
}

/* A grid of two triangles a quad, row by row: indices so close that none displaces another. */
static void put_grid(struct vdm_fixture *fx)
{
	u32 i, quad, corner;

	for (i = 0; i < GRID_INDICES; i += 6) {
		quad = i / 6;
		corner = quad / COLUMNS * (COLUMNS + 1) + quad % COLUMNS;
		put_index(fx, i, corner);
		put_index(fx, i + 1, corner + 1);
		put_index(fx, i + 2, corner + COLUMNS + 1);
		put_index(fx, i + 3, corner + COLUMNS + 1);
		put_index(fx, i + 4, corner + 1);
		put_index(fx, i + 5, corner + COLUMNS + 2);
	}
}

/*
 * Vertices to shade of the expected triangles, if a core keeps those of its last piece: chunks of
 * @split triangles and pieces of up to 512 begin anew in each of @parts draws and instances.
 */
static u32 unique_by_piece(u32 split, u32 parts, bool culls)
{
	static u32 used[1 << 16];	/* by vertex: the last piece with it */
	const u32 each = expected.count / parts;
	u32 piece = 1, count = 0, part, i, k;

	memset(used, 0, sizeof(used));
	for (part = 0; part < parts; part++) {
		piece += 2;
		for (i = 0; i < each; i++) {
			const u32 *vertex = expected.prim[part * each + i].vertex;

			piece += i && i % split % PIECE_PRIMS == 0;
			for (k = 0; k < 3; k++) {
				const bool found = used[vertex[k]] + 1 >= piece;
				const bool shades = !(culls && !is_kept(vertex));

				/* Outputs that exist are kept for culled triangles, too. */
				count += shades && !found;
				if (shades || found)
					used[vertex[k]] = piece;
			}
		}
	}
	return count;
}

static void vertices_of_the_previous_piece_are_not_shaded_again(void **state)
{
	static const u32 sizes[] = { 1, 30, 100, 512, 700 };
	struct vdm_fixture *fx = vdmfx_create(1);
	const struct pumice_vdm_state record = vdmfx_state(false);
	const struct draw grid = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true,
		.count = GRID_INDICES, .index_count = GRID_INDICES, .base_vertex = 3,
		.instances = 2,
	};
	const struct draw draws[] = { grid, grid };
	u32 i;

	(void)state;
	vdmfx_put_state(fx, &record);
	put_grid(fx);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fx->shaded[0] = 0;
		check(fx, draws, 2, true, sizes[i]);
		assert_int_equal(fx->shaded[0], unique_by_piece(sizes[i], 4, false));
	}
	vdmfx_destroy(fx);
}

/*
 * A single core also copies between chunks, but outputs of an index belong to one draw and
 * instance.
 */
static void vertices_of_another_draw_or_instance_are_shaded_again(void **state)
{
	const struct draw triangles = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true,
		.count = 60, .index_count = 60, .instances = 3,
	};
	struct vdm_fixture *fx = vdmfx_create(1);
	const struct pumice_vdm_state record = vdmfx_state(false);
	struct draw draws[4] = { triangles, triangles, triangles, triangles };
	u32 parts = 0, i;

	(void)state;
	draws[1].base_vertex = 100;
	draws[2].base_instance = 7;
	vdmfx_put_state(fx, &record);
	put_grid(fx);
	for (i = 0; i < 4; i++)
		parts += draws[i].instances;
	check(fx, draws, 4, true, PUMICE_SPLIT_PRIMS);
	assert_int_equal(fx->shaded[0], unique_by_piece(PUMICE_SPLIT_PRIMS, parts, false));
	vdmfx_destroy(fx);
}

static void check_culled(struct vdm_fixture *fx, u32 split)
{
	const struct draw grid = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true,
		.count = GRID_INDICES, .index_count = GRID_INDICES, .instances = 1,
	};
	u32 i;

	expected.count = 0;
	expand(fx, &grid, true);
	put_draws(fx, &grid, 1);
	assert_true(vdmfx_start(fx, split));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	assert_int_equal(fx->shaded[0], unique_by_piece(split, 1, true));
	vdmfx_render(fx);
	expect_kept();
	assert_int_equal(fx->drawn.count, expected.count);
	for (i = 0; i < expected.count; i++)
		assert_memory_equal(fx->drawn.prim[i].vertex, expected.prim[i].vertex, 12);
}

/*
 * With several cores vertices are kept within a chunk only: the shaded vertices do not depend on
 * the order in which cores process chunks, which the fixture varies.
 */
static void several_cores_shade_the_same_in_every_order(void **state)
{
	static const u32 sizes[] = { 100, PUMICE_SPLIT_PRIMS, 65535 };
	const struct pumice_vdm_state record = vdmfx_state(false);
	struct draw grid = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true,
		.index_count = GRID_INDICES, .instances = 1,
	};
	u32 i, round;

	(void)state;
	/* A core has a next piece of the same chunk without a setting of the guest, too. */
	assert_true(PUMICE_SPLIT_PRIMS > PIECE_PRIMS);
	assert_int_equal(PUMICE_SPLIT_PRIMS, PUMICE_VDM_SPLIT__RESET);
	for (i = 0; i < 3; i++) {
		grid.count = GRID_INDICES;
		if (sizes[i] < GRID_INDICES / 3)
			grid.count -= GRID_INDICES % (3 * sizes[i]);
		for (round = 0; round < 8; round++) {
			struct vdm_fixture *fx = vdmfx_create(3);
			u32 parts;

			fx->seed += round;
			vdmfx_put_state(fx, &record);
			put_grid(fx);
			check(fx, &grid, 1, true, sizes[i]);
			/* As if each chunk were a draw. */
			parts = expected.count > sizes[i] ? expected.count / sizes[i] : 1;
			assert_int_equal(fx->shaded[0], unique_by_piece(sizes[i], parts, false));
			vdmfx_destroy(fx);
		}
	}
}

/* The fixture checks the size of tasks. */
static void tasks_of_each_size_shade_the_same(void **state)
{
	static const u8 sizes[] = { 16, 32, 64, 96, 128 };
	const struct pumice_vdm_state record = vdmfx_state(false);
	const struct draw grid = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true,
		.count = GRID_INDICES, .index_count = GRID_INDICES, .instances = 1,
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(sizes); i++) {
		struct vdm_fixture *fx = vdmfx_create_batch(1, sizes[i]);

		vdmfx_put_state(fx, &record);
		put_grid(fx);
		check(fx, &grid, 1, true, 300);
		assert_int_equal(fx->shaded[0], unique_by_piece(300, 1, false));
		vdmfx_destroy(fx);
	}
}

/* ------------------------------------------------------- vertex pipe memory, IDX FIFO */

static u64 counter(const struct vdm_fixture *fx, enum pumice_perf_counter number)
{
	u64 value[PUMICE_PERF_NUMBER] = { 0 };

	pds_counters_add(fx->base->pds, value);
	vdm_counters_add(fx->vdm, value);
	return value[number];
}

/* Draws that need the outputs of many vertices at a time, or few of many. */
static const struct draw varied[] = {
	{ .topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true, .count = 3000,
	  .index_count = GRID_INDICES, .instances = 2 },
	{ .topology = PUMICE_TOPOLOGY_TRIANGLE_STRIP, .count = 700, .first = 9, .instances = 1 },
	{ .topology = PUMICE_TOPOLOGY_TRIANGLE_FAN, .count = 500, .first = 7, .instances = 1 },
	{ .topology = PUMICE_TOPOLOGY_TRIANGLE_FAN, .size = 1, .indexed = true, .restart = true,
	  .count = 900, .index_count = GRID_INDICES, .instances = 1 },
	{ .topology = PUMICE_TOPOLOGY_LINES, .count = 801, .instances = 1 },
	{ .topology = PUMICE_TOPOLOGY_LINE_STRIP, .size = 1, .indexed = true, .count = 900,
	  .index_count = GRID_INDICES, .instances = 1 },
	{ .topology = PUMICE_TOPOLOGY_POINTS, .count = 500, .instances = 1 },
};

#define VARIED (sizeof(varied) / sizeof(varied[0]))

/*
 * Whatever the sizes, the same primitives, each with its vertices' outputs. Vertex tasks wait for a
 * small memory, pieces for a short FIFO, and neither waits forever.
 */
static void small_memories_and_fifos_change_nothing(void **state)
{
	static const u32 rows[] = { VDMFX_MIN_ROWS, 64, 151, 4096 };
	static const u32 depths[] = { 1, 50, 512, 4096 };
	static const u8 batches[] = { 16, 32, 128 };
	const struct pumice_vdm_state record = vdmfx_state(false);
	u32 r, d, n, cores;
	u64 waits[4] = { 0 };

	(void)state;
	for (n = 0; n < 3 * 4 * 4 * 2; n++) {
		struct vdm_fixture *fx;

		r = n / 2 % 4;
		d = n / 8 % 4;
		cores = 1 + n % 2;
		fx = vdmfx_create_sizes(cores, batches[n / 32], rows[r] * 128, depths[d]);
		fx->seed += n;
		vdmfx_put_state(fx, &record);
		put_grid(fx);
		check(fx, varied, VARIED, true, 600);
		waits[r] += counter(fx, PUMICE_PERF_VPM_WAITS);
		if (d != 2)
			assert_int_equal(counter(fx, PUMICE_PERF_VDM_IDX_WAITS) > 0, d < 2);
		assert_true(counter(fx, PUMICE_PERF_VDM_IDX_OCCUPANCY) > 0);
		assert_int_equal(fx_load(fx->base).vpm_rows, 0);
		vdmfx_destroy(fx);
	}
	for (r = 0; r < 4; r++)
		assert_int_equal(waits[r] > 0, r < 3);
}

/* A piece whose vertices the VPM can never hold is refused with its state. */
static void outputs_beyond_the_memory_are_a_fault(void **state)
{
	static const u32 rows[] = { VDMFX_MIN_ROWS, VDMFX_MIN_CULL_ROWS };
	const struct draw d = { .topology = PUMICE_TOPOLOGY_POINTS, .count = 5, .instances = 1 };
	u32 culls;

	(void)state;
	for (culls = 0; culls < 2; culls++) {
		const struct pumice_vdm_state record = vdmfx_state(culls);
		struct vdm_fixture *fx = vdmfx_create_sizes(1, 32, (rows[culls] - 1) * 128, 9);

		vdmfx_put_state(fx, &record);
		put_draws(fx, &d, 1);
		assert_true(vdmfx_start(fx, 10));
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_FAULT], 1);
		assert_int_equal(vdmfx_fault(fx)->fault, PUMICE_FAULT_PDS_RESOURCE);
		assert_int_equal(vdmfx_fault(fx)->unit, PUMICE_UNIT_PDS);
		vdmfx_destroy(fx);
		fx = vdmfx_create_sizes(1, 32, rows[culls] * 128, 9);
		vdmfx_put_state(fx, &record);
		put_draws(fx, &d, 1);
		assert_true(vdmfx_start(fx, 10));
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_DONE], 1);
		vdmfx_destroy(fx);
	}
}

/* Step the cores only, until none has work. */
static void step_cores(struct vdm_fixture *fx)
{
	const _Atomic bool stop = false;
	u32 i, idle = 0;

	for (i = 0; idle < fx->cores; i = (i + 1) % fx->cores) {
		if (!fx->awake[i]) {
			idle++;
			continue;
		}
		idle = 0;
		fx->awake[i] = vdm_core_step(fx->vdm, i, &stop);
	}
}

/*
 * The first task of a piece ends while the others run: the primitives that it has all vertices of
 * are binned, in order, and no others. The next piece is shaded meanwhile.
 */
static void vertices_are_binned_as_tasks_emit_them(void **state)
{
	struct vdm_fixture *fx = vdmfx_create_batch(1, 32);
	const struct pumice_vdm_state record = vdmfx_state(false);
	const struct draw d = { .topology = PUMICE_TOPOLOGY_TRIANGLES, .count = 3 * 600,
				.instances = 1 };
	u32 tasks, i;

	(void)state;
	vdmfx_put_state(fx, &record);
	put_draws(fx, &d, 1);
	assert_true(vdmfx_start(fx, 600));
	step_cores(fx);
	tasks = fx_load(fx->base).tasks;
	assert_int_equal(tasks, (600 * 3 + 31) / 32);
	assert_int_equal(fx->list.count, 0);
	for (i = 1; i <= 6; i++) {
		assert_true(vdmfx_end_oldest(fx));
		step_cores(fx);
		assert_int_equal(fx->list.count, 32 * i / 3);
	}
	/* Not in order: task 7 has to wait for 6. */
	assert_true(vdmfx_end_newest(fx));
	step_cores(fx);
	assert_int_equal(fx->list.count, 64);
	vdmfx_run(fx);
	vdmfx_render(fx);
	assert_int_equal(fx->drawn.count, 600);
	for (i = 0; i < 600; i++)
		assert_int_equal(fx->drawn.prim[i].vertex[0], 3 * i);
	vdmfx_destroy(fx);
}

/*
 * Return how many of the expected triangles, in order, have all vertices when the first of tasks of
 * @size vertices have ended: each piece shades those that the one before has not, in the order in
 * which they are used.
 */
static u32 count_shaded(u32 split, u32 size, u32 ended)
{
	static struct {
		u32 piece, task;
	} used[1 << 16];
	u32 piece = 1, first = 0, shaded = 0, i, k;

	memset(used, 0, sizeof(used));
	for (i = 0; i < expected.count; i++) {
		if (i && i % split % PIECE_PRIMS == 0) {
			piece++;
			first += (shaded + size - 1) / size;
			shaded = 0;
		}
		for (k = 0; k < 3; k++) {
			const u32 v = expected.prim[i].vertex[k];

			if (used[v].piece + 1 < piece || !used[v].piece)
				used[v].task = first + shaded++ / size;
			used[v].piece = piece;
			if (used[v].task >= ended)
				return i;
		}
	}
	return i;
}

/*
 * Vertices that are copied from the piece before are there when its tasks have ended: the TA does
 * not wait for those that the piece shades.
 */
static void vertices_of_the_previous_piece_are_binned_as_tasks_emit_others(void **state)
{
	static const u8 sizes[] = { 32, 64 };
	const struct pumice_vdm_state record = vdmfx_state(false);
	const struct draw grid = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true,
		.count = 3 * 1000, .index_count = GRID_INDICES, .instances = 1,
	};
	u32 i, ended, last;

	(void)state;
	for (i = 0; i < sizeof(sizes); i++) {
		struct vdm_fixture *fx = vdmfx_create_batch(1, sizes[i]);

		vdmfx_put_state(fx, &record);
		put_grid(fx);
		put_draws(fx, &grid, 1);
		expected.count = 0;
		expand(fx, &grid, true);
		assert_true(vdmfx_start(fx, 1000));
		step_cores(fx);
		for (ended = 1, last = 0; vdmfx_end_oldest(fx); ended++) {
			step_cores(fx);
			assert_int_equal(fx->list.count, count_shaded(1000, sizes[i], ended));
			/* It never has to process a piece at once. */
			assert_in_range(fx->list.count - last, 0, 200);
			last = fx->list.count;
		}
		assert_int_equal(last, 1000);
		vdmfx_destroy(fx);
	}
}

/* A piece has its positions and its outputs, and all or a few vertices of the one before. */
static void small_memories_hold_positions_and_outputs(void **state)
{
	static const u32 rows[] = { VDMFX_MIN_CULL_ROWS, 96, 151, 201, 300, 4096 };
	static const u8 batches[] = { 16, 32, 128 };
	static const u32 vertices[] = { 192, 448, GRID_INDICES };
	const struct pumice_vdm_state record = vdmfx_state(true);
	const struct draw d = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .count = GRID_INDICES,
		.index_count = GRID_INDICES, .instances = 1, .indexed = true,
	};
	u32 n, i;

	(void)state;
	for (n = 0; n < 6 * 3 * 3; n++) {
		struct vdm_fixture *fx =
			vdmfx_create_sizes(1, batches[n % 3], rows[n / 9] * 128, 512);

		vdmfx_put_state(fx, &record);
		put_grid(fx);
		for (i = 0; i < GRID_INDICES; i++)
			put_index(fx, i, (i / 3 + i % 3) % vertices[n / 3 % 3]);
		expected.count = 0;
		expand(fx, &d, true);
		expect_kept();
		put_draws(fx, &d, 1);
		assert_true(vdmfx_start(fx, 1u << 20));
		vdmfx_run(fx);
		assert_int_equal(fx->ended[DM_DONE], 1);
		vdmfx_render(fx);
		assert_int_equal(fx->drawn.count, expected.count);
		vdmfx_destroy(fx);
	}
}

/*
 * While tasks of the coordinate program run, primitives that have positions are culled, vertex
 * tasks of the others start, and the TA bins them as those end.
 */
static void kept_primitives_are_binned_while_coordinate_tasks_run(void **state)
{
	const struct pumice_vdm_state record = vdmfx_state(true);
	u32 t, i, last;

	(void)state;
	for (t = 0; t < 3; t++) {
		/* Of the points that have positions, two of three are kept: whole tasks. */
		const struct draw d = {
			.topology = t ? PUMICE_TOPOLOGY_POINTS : PUMICE_TOPOLOGY_TRIANGLE_STRIP,
			.count = t == 1 ? 97 : 402, .instances = 1,
		};
		const u32 ends = t == 1 ? 3 : 6;
		struct vdm_fixture *fx = vdmfx_create_batch(1, 32);

		expected.count = 0;
		expand(fx, &d, true);
		expect_kept();
		vdmfx_put_state(fx, &record);
		put_draws(fx, &d, 1);
		assert_true(vdmfx_start(fx, 1000));
		step_cores(fx);
		/* Of the coordinate program only. */
		assert_int_equal(fx_load(fx->base).tasks, (d.count + 31) / 32);
		for (i = 0; i < ends; i++) {
			assert_true(vdmfx_end_oldest(fx));
			step_cores(fx);
		}
		last = t ? ends * 32 * 2 / 3 : count_shaded(1000, 32, 1);
		while (fx->list.count < last) {
			/* The newest tasks are those of the vertex program. */
			assert_int_equal(fx->shaded[1], ends * 32);
			assert_true(vdmfx_end_newest(fx));
			step_cores(fx);
		}
		/* The piece is one list of the TA nevertheless. */
		vdmfx_run(fx);
		assert_int_equal(fx->lists, 1);
		vdmfx_destroy(fx);
	}
}

/* Vertices that only culled primitives have used so far have no outputs. */
static void vertices_that_only_culled_primitives_use_are_not_copied(void **state)
{
	const struct pumice_vdm_state record = vdmfx_state(true);
	u32 split;

	(void)state;
	for (split = 1; split <= 1000; split *= 10) {
		struct vdm_fixture *fx = vdmfx_create(1);

		vdmfx_put_state(fx, &record);
		put_grid(fx);
		check_culled(fx, split);
		vdmfx_destroy(fx);
	}
}

/* Pieces of as many vertices as there can be, of which some are copied. */
static void outputs_of_the_largest_pieces_have_room(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(1);
	struct pumice_vdm_state record = vdmfx_state(false);
	const struct draw d = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .size = 1, .indexed = true,
		.count = GRID_INDICES, .index_count = GRID_INDICES, .instances = 1,
	};
	u32 i;

	(void)state;
	record.more_vo = 249;	/* as many outputs as there can be */
	vdmfx_put_state(fx, &record);
	for (i = 0; i < GRID_INDICES; i++)
		put_index(fx, i, i - i / (3 * PIECE_PRIMS) * 35);
	check(fx, &d, 1, true, PIECE_PRIMS);
	assert_true(fx->shaded[0] < GRID_INDICES);
	vdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_topology_in_every_split),
		cmocka_unit_test(every_index_size_with_and_without_restart),
		cmocka_unit_test(small_and_empty_draws_in_a_row),
		cmocka_unit_test(indices_beyond_the_buffer_are_0),
		cmocka_unit_test(a_vertex_program_has_up_to_256_outputs),
		cmocka_unit_test(instances_count_from_their_base),
		cmocka_unit_test(each_unique_vertex_of_a_chunk_is_shaded_once),
		cmocka_unit_test(only_kept_primitives_are_shaded_after_a_coordinate_program),
		cmocka_unit_test(vertices_of_the_previous_piece_are_not_shaded_again),
		cmocka_unit_test(vertices_of_another_draw_or_instance_are_shaded_again),
		cmocka_unit_test(several_cores_shade_the_same_in_every_order),
		cmocka_unit_test(tasks_of_each_size_shade_the_same),
		cmocka_unit_test(vertices_that_only_culled_primitives_use_are_not_copied),
		cmocka_unit_test(outputs_of_the_largest_pieces_have_room),
		cmocka_unit_test(small_memories_and_fifos_change_nothing),
		cmocka_unit_test(outputs_beyond_the_memory_are_a_fault),
		cmocka_unit_test(vertices_are_binned_as_tasks_emit_them),
		cmocka_unit_test(vertices_of_the_previous_piece_are_binned_as_tasks_emit_others),
		cmocka_unit_test(small_memories_hold_positions_and_outputs),
		cmocka_unit_test(kept_primitives_are_binned_while_coordinate_tasks_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
