// SPDX-License-Identifier: MIT
/*
 * Vertices that are shaded once: random draws of every topology against a model which counts, in a
 * window of two pieces, the vertices of the primitives. It has neither a cache nor copies.
 *
 * The window begins anew in each draw and instance, and with several cores in each chunk. A piece
 * has the primitives that are complete at its positions: those of up to 512 primitives of a list.
 */
#include "vdm_fixture.h"

#include <string.h>

#define PIECE_PRIMS	512u
#define VALUES		4096u	/* indices are below this, or multiples of 2^SPREAD of those */
#define SPREAD		20u
#define ROUNDS		40u
#define EQUAL_HASHES	200u
#define HASH_INVERSE	244002641u	/* multiples of it have equal hashes in the VDM's cache */

struct draw {
	u32 topology, size;
	bool indexed, restart;
	u32 count, first, instances;
};

/* A vertex program, a coordinate program that culls, a coordinate program of deferred vertices. */
enum mode { MODE_VERTEX, MODE_CULL, MODE_DEFERRED, MODES };

struct model {
	enum mode mode;
	u32 split;
	bool one_core;
	u32 piece;			/* number of the current one */
	/* By index: number of the last piece that has them. */
	u32 output[2 * VALUES], position[2 * VALUES];
	u32 shaded[2];			/* as vdm_fixture.shaded */
	u32 prims;
	struct vdmfx_prim prim[VDMFX_PRIMS];
};

static struct model model;
static u32 values[VDMFX_INDEX_BYTES];	/* by position: an index, or VALUES for a restart */

/* Return the value of an index: some of 32 bits differ in their highest bits only. */
static u32 index_of(const struct draw *d, u32 value)
{
	return d->size == PUMICE_INDEX_SIZE_U32 && value % 2 ? value << SPREAD : value;
}

/* Indices near a place that moves, as those of meshes, or anywhere; some are restarts. */
static void put_indices(struct vdm_fixture *fx, const struct draw *d)
{
	const u32 most = d->size == PUMICE_INDEX_SIZE_U8 ? 255 : VALUES;
	const u32 spread = 1 + vdmfx_random(fx, vdmfx_random(fx, 2) ? 60 : most);
	const u32 pace = 1 + vdmfx_random(fx, 8);
	u32 i;

	for (i = 0; i < d->first + d->count; i++) {
		const u32 value = (i / pace + vdmfx_random(fx, spread)) % most;
		const bool restart = d->restart && vdmfx_random(fx, 50) == 0;
		const u32 index = restart ? UINT32_MAX : index_of(d, value);

		values[i] = restart ? VALUES : value;
		memcpy(fx->base->data + (VDMFX_INDICES - FX_DATA) + (i << d->size), &index,
		       1u << d->size);
	}
}

/* Of two thirds of the places all are multiples of 3: the fixture culls their primitives. */
static void put_culled_indices(struct vdm_fixture *fx, const struct draw *d)
{
	u32 i;

	for (i = 0; i < d->first + d->count; i++) {
		const u32 near = i / 2 + vdmfx_random(fx, 24);
		const u16 index = (u16)(i / 1000 % 3 ? near / 3 * 3 : near);

		values[i] = index;
		memcpy(fx->base->data + (VDMFX_INDICES - FX_DATA) + 2 * i, &index, sizeof(index));
	}
}

/*
 * List the vertices of the primitive that is complete at a position: their positions, or none. A
 * run began at position run. The last vertex is the provoking one.
 */
static u32 complete(u32 topology, u32 run, u32 at, u32 out[3])
{
	const u32 k = at - run;

	out[0] = out[1] = out[2] = at;
	switch (topology) {
	case PUMICE_TOPOLOGY_POINTS:
		return 1;
	case PUMICE_TOPOLOGY_LINES:
	case PUMICE_TOPOLOGY_LINE_STRIP:
		out[0] = at - 1;
		return k && (k % 2 || topology == PUMICE_TOPOLOGY_LINE_STRIP) ? 2 : 0;
	case PUMICE_TOPOLOGY_TRIANGLES:
		out[0] = at - 2;
		out[1] = at - 1;
		return k % 3 == 2 ? 3 : 0;
	case PUMICE_TOPOLOGY_TRIANGLE_STRIP:
		out[0] = k % 2 ? at - 1 : at - 2;
		out[1] = k % 2 ? at - 2 : at - 1;
		return k >= 2 ? 3 : 0;
	default:
		out[0] = run;
		out[1] = at - 1;
		return k >= 2 ? 3 : 0;
	}
}

/* Return whether the fixture's ta_cull() keeps a primitive. */
static bool is_kept(const u32 *vertex, u32 corners)
{
	const u32 second = vertex[corners > 1 ? 1 : 0], third = vertex[corners > 2 ? 2 : 0];

	return (vertex[0] * 5 + second + third) % 3;
}

/* A vertex of a primitive: is it in the window? */
static void use(u32 value, bool kept)
{
	const bool culls = model.mode == MODE_CULL;

	if (model.mode != MODE_VERTEX) {
		model.shaded[1] += model.position[value] + 1 < model.piece;
		model.position[value] = model.piece;
	}
	if (model.mode == MODE_DEFERRED)
		return;
	/* Outputs that exist are kept for culled primitives, too. */
	if (culls && !kept) {
		if (model.output[value] + 1 == model.piece)
			model.output[value] = model.piece;
		return;
	}
	model.shaded[0] += model.output[value] + 1 < model.piece;
	model.output[value] = model.piece;
}

static void add_prim(const struct draw *d, u32 instance, const u32 *at, u32 corners)
{
	struct vdmfx_prim *prim = &model.prim[model.prims];
	u32 value[3] = { 0 }, i;
	bool kept;

	*prim = (struct vdmfx_prim){ .kind = (u8)(corners == 3 ? PUMICE_PRIM_KIND_TRIANGLE :
						  corners == 2 ? PUMICE_PRIM_KIND_LINE :
								 PUMICE_PRIM_KIND_POINT) };
	for (i = 0; i < corners; i++) {
		value[i] = d->indexed ? values[d->first + at[i]] : at[i];
		prim->vertex[i] = d->indexed ? index_of(d, value[i]) : d->first + at[i];
		prim->instance[i] = instance;
	}
	kept = model.mode != MODE_CULL || is_kept(prim->vertex, corners);
	for (i = 0; i < corners; i++)
		use(value[i], kept);
	model.prims += kept;
}

/* Return the vertices of a list's primitive, or of those that follow one of a strip or fan. */
static u32 step_of(u32 topology)
{
	if (topology == PUMICE_TOPOLOGY_LINES)
		return 2;
	return topology == PUMICE_TOPOLOGY_TRIANGLES ? 3 : 1;
}

static u32 lead_of(u32 topology)
{
	switch (topology) {
	case PUMICE_TOPOLOGY_LINE_STRIP:
		return 1;
	case PUMICE_TOPOLOGY_TRIANGLE_STRIP:
	case PUMICE_TOPOLOGY_TRIANGLE_FAN:
		return 2;
	default:
		return 0;
	}
}

static u32 smaller(u32 a, u32 b)
{
	return a < b ? a : b;
}

static void model_instance(const struct draw *d, u32 instance)
{
	const u32 step = step_of(d->topology);
	const u32 count = d->restart ? d->count : d->count - d->count % step;
	u32 at = 0, run = 0, chunk, piece, v[3], n;

	model.piece++;
	while (at < count) {
		chunk = smaller(count, at + model.split * step + (at ? 0 : lead_of(d->topology)));
		model.piece += !model.one_core;
		while (at < chunk) {
			piece = smaller(chunk, at + PIECE_PRIMS * step);
			model.piece++;
			for (; at < piece; at++) {
				if (d->restart && values[d->first + at] == VALUES) {
					run = at + 1;
					continue;
				}
				n = complete(d->topology, run, at, v);
				if (n)
					add_prim(d, instance, v, n);
			}
		}
	}
}

static void put_stream(struct vdm_fixture *fx, const struct draw *d)
{
	u32 words[64], n = PUMICE_VDM_STATE_CMD_WORDS;

	pumice_vdm_state_cmd_pack(words, &(struct pumice_vdm_state_cmd){ .addr = VDMFX_STATE });
	if (d->indexed) {
		pumice_vdm_draw_indexed_pack(words + n, &(struct pumice_vdm_draw_indexed){
			.topology = (u8)d->topology, .index_size = (u8)d->size,
			.restart = d->restart, .indices = VDMFX_INDICES,
			.index_count = d->first + d->count, .count = d->count, .first = d->first,
			.instances = d->instances });
		n += PUMICE_VDM_DRAW_INDEXED_WORDS;
	} else {
		pumice_vdm_draw_pack(words + n, &(struct pumice_vdm_draw){
			.topology = (u8)d->topology, .count = d->count, .first = d->first,
			.instances = d->instances });
		n += PUMICE_VDM_DRAW_WORDS;
	}
	pumice_vdm_halt_pack(words + n, &(struct pumice_vdm_halt){ 0 });
	vdmfx_put(fx, VDMFX_STREAM, words, n + PUMICE_VDM_HALT_WORDS);
}

static struct pumice_vdm_state state_of(enum mode mode)
{
	struct pumice_vdm_state state = vdmfx_state(mode != MODE_VERTEX);

	if (mode == MODE_DEFERRED)
		state.deferred = true;
	return state;
}

static void compare(const struct vdm_fixture *fx, const struct draw *d)
{
	u32 i;

	assert_int_equal(fx->drawn.count, model.prims);
	for (i = 0; i < model.prims; i++) {
		const struct vdmfx_prim *got = &fx->drawn.prim[i], *want = &model.prim[i];

		if (got->kind != want->kind || memcmp(got->vertex, want->vertex, 12) ||
		    memcmp(got->instance, want->instance, 12))
			fail_msg("topology %u mode %u primitive %u: %u %u %u, not %u %u %u",
				 d->topology, model.mode, i, got->vertex[0], got->vertex[1],
				 got->vertex[2], want->vertex[0], want->vertex[1], want->vertex[2]);
	}
}

static void compare_counts(const struct vdm_fixture *fx, const struct draw *d)
{
	if (fx->shaded[0] != model.shaded[0] || fx->shaded[1] != model.shaded[1])
		fail_msg("topology %u mode %u split %u indexed %u: %u and %u shaded, not %u and %u",
			 d->topology, model.mode, model.split, d->indexed, fx->shaded[0],
			 fx->shaded[1], model.shaded[0], model.shaded[1]);
}

static void check(struct vdm_fixture *fx, const struct draw *d)
{
	u32 i;

	memset(model.output, 0, sizeof(model.output));
	memset(model.position, 0, sizeof(model.position));
	model.piece = 1;
	model.prims = model.shaded[0] = model.shaded[1] = 0;
	for (i = 0; i < d->instances; i++)
		model_instance(d, i);
	put_stream(fx, d);
	fx->shaded[0] = fx->shaded[1] = 0;
	assert_true(vdmfx_start(fx, model.split));
	vdmfx_run(fx);
	if (fx->ended[DM_DONE] != 1)
		fail_msg("fault %u", vdmfx_fault(fx)->fault);
	vdmfx_render(fx);
	compare(fx, d);
}

/* All topologies and kinds of programs with random sizes, on this number of cores. */
static void check_random(u32 cores, bool indexed)
{
	static const u32 splits[] = { 3, 60, 512, 700, PUMICE_SPLIT_PRIMS, 65535 };
	static const u8 batches[] = { 16, 32, 128 };
	u32 n;

	for (n = 0; n < ROUNDS * MODES; n++) {
		struct vdm_fixture *fx = vdmfx_create_batch(cores, batches[n % 3]);
		struct pumice_vdm_state state;
		struct draw d;

		fx->seed += n * 77 + cores;
		model.mode = (enum mode)(n / 3 % MODES);
		model.one_core = cores == 1;
		model.split = splits[vdmfx_random(fx, 6)];
		state = state_of(model.mode);
		vdmfx_put_state(fx, &state);
		for (d.topology = 0; d.topology < PUMICE_TOPOLOGY_COUNT; d.topology++) {
			d.indexed = indexed;
			d.size = vdmfx_random(fx, PUMICE_INDEX_SIZE_COUNT);
			d.restart = indexed && vdmfx_random(fx, 2);
			d.count = 3 + vdmfx_random(fx, vdmfx_random(fx, 2) ? 100 : VALUES - 3);
			d.first = vdmfx_random(fx, 100);
			d.instances = 1 + vdmfx_random(fx, 2);
			if (indexed)
				put_indices(fx, &d);
			check(fx, &d);
			compare_counts(fx, &d);
		}
		vdmfx_destroy(fx);
	}
}

static void indexed_vertices_of_two_pieces_are_shaded_once(void **state)
{
	(void)state;
	check_random(1, true);
}

static void strips_and_fans_without_indices_share_vertices_of_pieces(void **state)
{
	(void)state;
	check_random(1, false);
}

static void several_cores_share_vertices_within_chunks(void **state)
{
	(void)state;
	check_random(3, true);
	check_random(3, false);
}

/* Pieces are numbered modulo 2^16. Vertex 0 is in all of them, and never the first one. */
static void vertices_of_76000_pieces_are_their_own(void **state)
{
	const struct draw d = { .topology = PUMICE_TOPOLOGY_TRIANGLES, .indexed = true,
				.size = PUMICE_INDEX_SIZE_U16, .count = 16380, .instances = 7 };
	struct vdm_fixture *fx = vdmfx_create(1);
	const struct pumice_vdm_state record = state_of(MODE_VERTEX);
	u32 i;

	(void)state;
	vdmfx_put_state(fx, &record);
	for (i = 0; i < d.count; i++) {
		const u16 index = (u16)(i % 3 == 2 ? 0 : i % 3 + 1 + i / 3);

		values[i] = index;
		memcpy(fx->base->data + (VDMFX_INDICES - FX_DATA) + 2 * i, &index, sizeof(index));
	}
	model.mode = MODE_VERTEX;
	model.one_core = true;
	model.split = 1;
	for (i = 0; i < 2; i++) {
		check(fx, &d);
		compare_counts(fx, &d);
	}
	vdmfx_destroy(fx);
}

/* Pieces are numbered modulo 2^16, and none of these follows another one. */
static void vertices_of_34000_instances_are_their_own(void **state)
{
	const struct draw d = { .topology = PUMICE_TOPOLOGY_TRIANGLES, .indexed = true,
				.size = PUMICE_INDEX_SIZE_U16, .count = 3, .instances = 34000 };
	static const u16 index[3] = { 1, 2, 0 };
	struct vdm_fixture *fx = vdmfx_create(1);
	const struct pumice_vdm_state record = state_of(MODE_VERTEX);
	u32 i;

	(void)state;
	vdmfx_put_state(fx, &record);
	memcpy(fx->base->data + (VDMFX_INDICES - FX_DATA), index, sizeof(index));
	for (i = 0; i < 3; i++)
		values[i] = index[i];
	model.mode = MODE_VERTEX;
	model.one_core = true;
	model.split = PUMICE_SPLIT_PRIMS;
	check(fx, &d);
	compare_counts(fx, &d);
	vdmfx_destroy(fx);
}

/*
 * Pieces of as few vertices as the VPM has room for. Of many the TA gets no primitive, so that only
 * positions are copied from them.
 */
static void small_memories_keep_positions_until_they_are_copied(void **state)
{
	static const u32 rows[] = { VDMFX_MIN_CULL_ROWS, 96, 151, 201 };
	const struct pumice_vdm_state record = state_of(MODE_CULL);
	u32 n;

	(void)state;
	for (n = 0; n < 4 * PUMICE_TOPOLOGY_COUNT; n++) {
		const struct draw d = { .topology = n / 4, .indexed = true, .count = 3500,
					.size = PUMICE_INDEX_SIZE_U16, .instances = 1 };
		struct vdm_fixture *fx = vdmfx_create_sizes(1, 32, rows[n % 4] * 128, 512);

		fx->seed += n;
		vdmfx_put_state(fx, &record);
		put_culled_indices(fx, &d);
		model.mode = MODE_CULL;
		model.split = 65535;
		check(fx, &d);
		vdmfx_destroy(fx);
	}
}

/* Each takes a bounded time: those that are looked for too long are shaded again. */
static void indices_with_equal_hashes_are_not_all_found(void **state)
{
	struct vdm_fixture *fx = vdmfx_create(1);
	const struct draw d = { .topology = PUMICE_TOPOLOGY_POINTS, .indexed = true,
				.size = PUMICE_INDEX_SIZE_U32, .count = 2 * EQUAL_HASHES,
				.instances = 1 };
	struct pumice_vdm_state vertex = state_of(MODE_VERTEX);
	u32 i, index[2 * EQUAL_HASHES];

	(void)state;
	for (i = 0; i < d.count; i++)
		index[i] = i % EQUAL_HASHES * HASH_INVERSE;
	memcpy(fx->base->data + (VDMFX_INDICES - FX_DATA), index, sizeof(index));
	vdmfx_put_state(fx, &vertex);
	put_stream(fx, &d);
	assert_true(vdmfx_start(fx, PUMICE_SPLIT_PRIMS));
	vdmfx_run(fx);
	assert_int_equal(fx->ended[DM_DONE], 1);
	vdmfx_render(fx);
	assert_int_equal(fx->drawn.count, d.count);
	for (i = 0; i < d.count; i++)
		assert_int_equal(fx->drawn.prim[i].vertex[0], index[i]);
	assert_in_range(fx->shaded[0], EQUAL_HASHES + 1, d.count);
	vdmfx_destroy(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indexed_vertices_of_two_pieces_are_shaded_once),
		cmocka_unit_test(indices_with_equal_hashes_are_not_all_found),
		cmocka_unit_test(strips_and_fans_without_indices_share_vertices_of_pieces),
		cmocka_unit_test(several_cores_share_vertices_within_chunks),
		cmocka_unit_test(vertices_of_76000_pieces_are_their_own),
		cmocka_unit_test(vertices_of_34000_instances_are_their_own),
		cmocka_unit_test(small_memories_keep_positions_until_they_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
