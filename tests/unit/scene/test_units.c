// SPDX-License-Identifier: MIT
/*
 * The event trace of a frame: each unit's events, counted.
 *
 * Triangles cover the whole target, so that every count follows from sizes: tiles from the
 * target, chunks and their primitives from the option split, spans from quads of 2x2 pixels,
 * tasks from spans and vertices. Each begin has one end, on the same unit and slot, before
 * the next begin.
 */
#include <errno.h>
#include <stdlib.h>

#include "fwif.h"
#include "inproc/inproc.h"
#include "scene.h"

#define WIDTH	72u	/* the last column of tiles is half outside */
#define HEIGHT	48u
#define TILES_X	5u
#define TILES	(TILES_X * 3)
#define MACROS	9u	/* macro tiles of 2x1 tiles */
#define QUADS	(WIDTH / 2 * (HEIGHT / 2))
/* Tasks of 32 spans: two of a whole tile, one of half a tile. */
#define SPAN_TASKS ((2 * (TILES_X - 1) + 1) * 3)
/* The background program runs for all quads of each tile. */
#define BACKGROUND_SPANS (TILES * 64)
#define BACKGROUND_TASKS (TILES * 2)
#define MAX_CHUNKS 256u
#define SPLIT	4u
#define ENTRIES	(1u << 16)
#define USCS	4u	/* of two cores */
#define FILL_WORDS (8u << 20)

static struct pumice_event_record *records;
static uint32_t count;

/* ---------------------------------------------------------------------- frame */

static void put_triangles(struct fixture *fx, uint32_t triangles)
{
	static const float corner[3][4] = { { -1, -1, 0.5f, 1 }, { 3, -1, 0.5f, 1 },
					    { -1, 3, 0.5f, 1 } };
	float *at = fx->vertices.cpu;
	uint32_t i;

	for (i = 0; i < triangles * 3; i++)
		memcpy(at + i * 4, corner[i % 3], sizeof(corner[0]));
}

static void (*change)(struct fixture *fx);	/* NULL, or changes the triangles of draws */

/* Let a GPU without threads run. */
static void wait_some(struct fixture *fx)
{
	struct pumice_wait wait = { 0 };

	fx_check(fx, "sync", pumice_sync_create(fx->dev, 0, &wait.sync));
	assert_int_equal(pumice_sync_wait(&wait, 1, PUMICE_WAIT_SUBMIT, SECOND / 1000), -ETIME);
	pumice_sync_destroy(wait.sync);
}

/* The programs of a draw. */
struct shaders {
	const char *vertex, *fragment;
};

static const struct shaders plain = {
	.vertex = "uvsw vo0, v0\nuvsw vo1, v1\nuvsw vo2, v2\nuvsw vo3, v3\nend\n",
	.fragment = "end\n",
};

static void put_geometry(struct fixture *fx, uint32_t triangles, struct pumice_kernel *vertex,
			 struct pumice_kernel *fragment, uint64_t *va)
{
	struct pumice_texture texture;
	struct pumice_sampler sampler;
	const struct pumice_input sampled = {
		.kind = PUMICE_INPUT_TEXTURE, .reg = 16, .texture = &texture, .sampler = &sampler,
	};
	const struct pumice_input in = {
		.kind = PUMICE_INPUT_ATTRIBUTE, .stride = 16, .elements = triangles * 3,
		.va = fx->vertices.va, .format = PUMICE_ATTR_KIND_F32, .count = 4,
	};
	const struct pumice_vdm_draw draw = {
		.topology = PUMICE_TOPOLOGY_TRIANGLES, .count = triangles * 3, .instances = 1,
	};
	struct pumice_stage_desc stage = { .kernel = vertex, .inputs = &in, .input_count = 1 };
	struct pumice_draw_state state;

	put_triangles(fx, triangles);
	if (change)
		change(fx);
	pumice_draw_state_init(&state, WIDTH, HEIGHT);
	fx_check(fx, "vertices", pumice_stream_stage(fx->stream, &stage, state.vdm.vertex));
	pumice_image_texture(fx->texture, &texture);
	pumice_sampler_init(&sampler);
	stage = (struct pumice_stage_desc){
		.kernel = fragment, .inputs = &sampled, .input_count = 1,
	};
	fx_check(fx, "fragments", pumice_stream_stage(fx->stream, &stage, state.tsp.fragment));
	fx_check(fx, "state", pumice_stream_draw_state(fx->stream, &state, NULL));
	fx_check(fx, "draw", pumice_stream_draw(fx->stream, &draw));
	fx_check(fx, "end", pumice_stream_vdm_end(fx->stream, va));
}

/* Draw and wait; with @busy wait until it returns false, and kill the context. */
static void draw(struct fixture *fx, uint32_t triangles, const struct shaders *shaders,
		 bool (*busy)(struct fixture *fx))
{
	struct pumice_kernel *vertex = fx_kernel(fx, shaders->vertex);
	struct pumice_kernel *fragment = fx_kernel(fx, shaders->fragment);
	const struct pumice_hwrt_desc set = {
		.width = WIDTH, .height = HEIGHT, .samples = 1, .spill_outputs = 4,
		.tile_size = PUMICE_TILE_SIZE_16X16, .local = fx->list,
	};
	struct pumice_frame frame = { .perfmon = pumice_perfmon_id(fx->perfmon) };
	struct pumice_render_desc render;
	struct pumice_image_desc desc;
	struct pumice_image *image;

	pumice_stream_reset(fx->stream);
	pumice_image_desc_init(&desc, PUMICE_FORMAT_RGBA8_UNORM, WIDTH, HEIGHT);
	fx_check(fx, "image", pumice_image_create(fx->vm, &desc, &image));
	pumice_render_desc_init(&render, image);
	put_geometry(fx, triangles, vertex, fragment, &frame.geometry);
	fx_check(fx, "set", pumice_hwrt_create(fx->vm, &set, &frame.hwrt));
	fx_check(fx, "render", pumice_stream_render(fx->stream, &render, &frame.render));
	if (busy) {
		assert_int_equal(pumice_render(fx->context, &frame, SECOND / 1000, NULL), -ETIME);
		while (busy(fx))
			wait_some(fx);
		fx_check(fx, "kill", pumice_context_kill(fx->context));
	} else {
		fx_check(fx, "frame", pumice_render(fx->context, &frame, LONG, NULL));
	}
	pumice_hwrt_destroy(frame.hwrt);
	pumice_image_destroy(image);
	pumice_kernel_destroy(vertex);
	pumice_kernel_destroy(fragment);
}

/* ---------------------------------------------------------------------- trace */

static struct pumice_trace *trace_begin(struct fixture *fx)
{
	struct pumice_trace *trace;

	records = calloc(ENTRIES, sizeof(*records));
	fx_check(fx, "trace", pumice_trace_open(fx->dev, PUMICE_EVENTS_ALL, ENTRIES, &trace));
	return trace;
}

static void trace_end(struct fixture *fx, struct pumice_trace *trace)
{
	uint64_t lost;

	fx_check(fx, "read", pumice_trace_read(trace, records, ENTRIES, &count, &lost));
	assert_int_equal(lost, 0);
	assert_true(count < ENTRIES);
	pumice_trace_close(trace);
}

/* Events of a kind and phase, and the sum of their arg1. */
static uint32_t events(uint32_t kind, uint32_t phase, uint64_t *sum)
{
	uint32_t i, n = 0;

	if (sum)
		*sum = 0;
	for (i = 0; i < count; i++) {
		if (records[i].kind != kind || records[i].phase != phase)
			continue;
		n++;
		if (sum)
			*sum += records[i].arg1;
	}
	return n;
}

/* The same, of those with this arg0. */
static uint32_t events_of(uint32_t kind, uint32_t phase, uint64_t arg0, uint64_t *sum)
{
	uint32_t i, n = 0;

	*sum = 0;
	for (i = 0; i < count; i++) {
		if (records[i].kind != kind || records[i].phase != phase ||
		    records[i].arg0 != arg0)
			continue;
		n++;
		*sum += records[i].arg1;
	}
	return n;
}

static uint32_t firmware_events(enum fwif_log_event event)
{
	uint32_t i, n = 0;

	for (i = 0; i < count; i++)
		n += records[i].kind == PUMICE_EVENT_FIRMWARE && records[i].arg1 >> 32 == event;
	return n;
}

/* Starts of jobs of a data master, with this flag. */
static uint32_t jobs(uint32_t dm, uint64_t flag)
{
	uint32_t i, n = 0;

	for (i = 0; i < count; i++)
		n += records[i].kind == PUMICE_EVENT_JOB_START && records[i].usc == dm &&
		     (records[i].arg1 & 1) == flag;
	return n;
}

static bool same_track(const struct pumice_event_record *a, const struct pumice_event_record *b)
{
	return a->kind == b->kind && a->usc == b->usc && a->slot == b->slot &&
	       (a->kind != PUMICE_EVENT_TASK || a->arg0 == b->arg0);
}

/* The next event on a track has to end what the given one begins. */
static void check_end(uint32_t begin)
{
	const struct pumice_event_record *a = &records[begin], *b;
	uint32_t i = begin + 1;

	while (i < count && !same_track(a, &records[i]))
		i++;
	assert_true(i < count);
	b = &records[i];
	assert_true(b->phase == PUMICE_PHASE_END || b->phase == PUMICE_PHASE_CANCEL);
	assert_int_equal(b->arg0, a->arg0);
	assert_int_equal(b->context, a->context);
	assert_int_equal(b->dm, a->dm);
	assert_true(b->time >= a->time);
}

static void check_pairs(void)
{
	uint32_t i, begins = 0, ends = 0;

	for (i = 0; i < count; i++) {
		begins += records[i].phase == PUMICE_PHASE_BEGIN;
		ends += records[i].phase == PUMICE_PHASE_END ||
			records[i].phase == PUMICE_PHASE_CANCEL;
		if (records[i].phase == PUMICE_PHASE_BEGIN)
			check_end(i);
	}
	assert_true(begins);
	assert_int_equal(begins, ends);
}

/* Each tile was rendered this number of times, on one of the cores. */
static void check_tiles(uint32_t times)
{
	uint32_t seen[TILES] = { 0 }, i;

	for (i = 0; i < count; i++) {
		const struct pumice_event_record *r = &records[i];
		const uint32_t x = (uint32_t)r->arg0, y = (uint32_t)(r->arg0 >> 32);

		if (r->kind != PUMICE_EVENT_TILE || r->phase != PUMICE_PHASE_BEGIN)
			continue;
		assert_true(x < TILES_X && y < TILES / TILES_X);
		assert_true(r->usc < 2 && r->slot < 2);
		assert_int_equal(r->dm, PUMICE_TRACE_MASTER_PDM);
		seen[y * TILES_X + x]++;
	}
	for (i = 0; i < TILES; i++)
		assert_int_equal(seen[i], times);
}

/* Contexts of jobs are those of the user's render context and its second one. */
static void check_contexts(struct fixture *fx)
{
	const struct inproc_context *first = (const struct inproc_context *)fx->context;
	uint32_t i;

	for (i = 0; i < count; i++) {
		const struct pumice_event_record *r = &records[i];

		if (r->kind == PUMICE_EVENT_CHUNK ||
		    (r->kind == PUMICE_EVENT_TASK && r->dm == PUMICE_TRACE_MASTER_VDM))
			assert_int_equal(r->context, first->base.id);
		if (r->kind == PUMICE_EVENT_TILE)
			assert_true(r->context == first->second->base.id ||
				    r->context == first->base.id);
	}
}

/* ---------------------------------------------------------------------- tests */

/* Each chunk was completed, with all of its primitives; returns how often all of them were. */
static uint32_t check_chunks(uint32_t triangles)
{
	const uint32_t chunks = (triangles + SPLIT - 1) / SPLIT;
	uint32_t done[MAX_CHUNKS] = { 0 }, i, n = 0;

	assert_true(chunks <= MAX_CHUNKS);
	for (i = 0; i < count; i++) {
		const struct pumice_event_record *r = &records[i];

		if (r->kind != PUMICE_EVENT_CHUNK || r->phase != PUMICE_PHASE_END)
			continue;
		assert_true(r->arg0 < chunks);
		assert_int_equal(r->arg1, r->arg0 == chunks - 1 && triangles % SPLIT ?
						  triangles % SPLIT : SPLIT);
		done[r->arg0]++;
		n++;
	}
	for (i = 0; i < chunks; i++)
		assert_true(done[i]);
	return n;
}

static void check_geometry(uint32_t triangles)
{
	uint64_t sum;

	assert_int_equal(jobs(PUMICE_TRACE_MASTER_VDM, 0), 1);
	assert_int_equal(check_chunks(triangles), (triangles + SPLIT - 1) / SPLIT);
	events_of(PUMICE_EVENT_TA, PUMICE_PHASE_END, PUMICE_TRACE_TA_BIN, &sum);
	assert_int_equal(sum, triangles);
	assert_true(events_of(PUMICE_EVENT_TA, PUMICE_PHASE_END, PUMICE_TRACE_TA_HEADERS, &sum));
}

/* Each page was allocated and freed in the trace. */
static void check_pages(void)
{
	uint32_t i, n;
	uint64_t sum = 0, ignored;

	for (i = 0; i < count; i++)
		if (records[i].kind == PUMICE_EVENT_PM && records[i].arg0 == PUMICE_TRACE_PM_FREE)
			sum += (uint32_t)records[i].arg1;
	n = events_of(PUMICE_EVENT_PM, PUMICE_PHASE_INSTANT, PUMICE_TRACE_PM_ALLOC, &ignored);
	assert_true(n);
	assert_int_equal(sum, n);
}

static void check_frame(struct fixture *fx, uint32_t triangles)
{
	uint64_t sum;

	check_pairs();
	check_contexts(fx);
	check_geometry(triangles);
	check_tiles(1);
	assert_int_equal(jobs(PUMICE_TRACE_MASTER_PDM, 0), 1);
	assert_int_equal(jobs(PUMICE_TRACE_MASTER_PDM, 1), 0);
	assert_int_equal(events(PUMICE_EVENT_CHUNK, PUMICE_PHASE_CANCEL, NULL), 0);
	/* Pixels for which the program ran: each one once. */
	assert_int_equal(events(PUMICE_EVENT_TILE, PUMICE_PHASE_END, &sum), TILES);
	assert_int_equal(sum, WIDTH * HEIGHT);
	assert_int_equal(events(PUMICE_EVENT_ISP, PUMICE_PHASE_END, &sum), TILES);
	assert_int_equal(sum, TILES * triangles);
	assert_int_equal(events_of(PUMICE_EVENT_SPANS, PUMICE_PHASE_END,
				   PUMICE_TRACE_PASS_OBJECTS, &sum), TILES);
	assert_int_equal(events_of(PUMICE_EVENT_SPANS, PUMICE_PHASE_BEGIN,
				   PUMICE_TRACE_PASS_OBJECTS, &sum), TILES);
	assert_int_equal(sum, QUADS);
	assert_int_equal(events_of(PUMICE_EVENT_SPANS, PUMICE_PHASE_BEGIN,
				   PUMICE_TRACE_PASS_BACKGROUND, &sum), TILES);
	assert_int_equal(sum, BACKGROUND_SPANS);
	assert_int_equal(events_of(PUMICE_EVENT_SPANS, PUMICE_PHASE_BEGIN,
				   PUMICE_TRACE_PASS_END_OF_TILE, &sum), TILES);
	assert_int_equal(sum, TILES);
	assert_int_equal(events(PUMICE_EVENT_PBE, PUMICE_PHASE_END, &sum), TILES);
	assert_int_equal(sum, 0);
	/* Vertices of a chunk, spans, background and end of each tile. */
	assert_int_equal(events(PUMICE_EVENT_TASK, PUMICE_PHASE_END, NULL),
			 (triangles + SPLIT - 1) / SPLIT + SPAN_TASKS + BACKGROUND_TASKS + TILES);
	assert_int_equal(events_of(PUMICE_EVENT_PM, PUMICE_PHASE_INSTANT, PUMICE_TRACE_PM_FREE,
				   &sum), MACROS);
	check_pages();
	assert_int_equal(firmware_events(FWIF_LOG_JOB_START), 2);
	assert_int_equal(firmware_events(FWIF_LOG_JOB_DONE), 2);
	assert_int_equal(firmware_events(FWIF_LOG_PARTIAL), 0);
}

static void a_frame_has_exactly_the_events_of_its_size(void **state)
{
	static const char *const options[] = {
		"cores=1,threads=0,split=4", "cores=2,threads=0,split=4",
		"cores=2,threads=2,split=4",
	};
	struct fixture fx;
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct pumice_trace *trace;

		fx_open(&fx, options[i], 256);
		trace = trace_begin(&fx);
		draw(&fx, 10, &plain, NULL);
		trace_end(&fx, trace);
		check_frame(&fx, 10);
		free(records);
		fx_close(&fx);
	}
}

#define FULL	5u	/* triangles over the whole target */
#define CLIPPED	2u	/* the same, and a corner is before the near plane */
#define OUTSIDE	3u	/* triangles right of the target */
/*
 * Tiles of a clipped triangle: (-1, -1), (3, -1), (1/3, 5/3), (-1, 5/3), which is two triangles
 * from its first corner, and their edge is x = 3/4 y in pixels: one is in all tiles but one, the
 * other in 1, 2 and 3 tiles of the rows.
 */
#define CLIPPED_TILES (TILES - 1 + 1 + 2 + 3)

static void change_triangles(struct fixture *fx)
{
	float *at = fx->vertices.cpu;
	uint32_t i;

	for (i = FULL; i < FULL + CLIPPED; i++)
		at[i * 12 + 10] = -0.25f;
	for (i = (FULL + CLIPPED) * 3; i < (FULL + CLIPPED + OUTSIDE) * 3; i++)
		at[i * 4] += 4;
}

static const char *const frame_counters[] = {
	"TA_CULLED", "TA_CLIPPED", "PDM_PRIMITIVES", "PM_ALLOCATED", "PM_FREED", "PM_SPARES",
	"VDM_BUSY", "PDM_BUSY",
};

#define FRAME_COUNTERS (sizeof(frame_counters) / sizeof(frame_counters[0]))

/* Let the fixture's monitor count these instead of partial renders. */
static void count_frames(struct fixture *fx)
{
	uint32_t counter[FRAME_COUNTERS], i;

	pumice_perfmon_destroy(fx->perfmon);
	for (i = 0; i < FRAME_COUNTERS; i++)
		fx_check(fx, "counter",
			 pumice_perf_counter_find(fx->dev, frame_counters[i], &counter[i]));
	fx_check(fx, "monitor",
		 pumice_perfmon_create(fx->dev, counter, FRAME_COUNTERS, &fx->perfmon));
}

static void a_frame_counts_its_primitives_and_pages(void **state)
{
	uint64_t value[FRAME_COUNTERS], pages, ignored;
	struct pumice_trace *trace;
	struct fixture fx;

	(void)state;
	/* Of a list of this size a core has eight spare pages. */
	fx_open(&fx, "preset=default,cores=1,threads=0,split=4", 512);
	count_frames(&fx);
	trace = trace_begin(&fx);
	change = change_triangles;
	draw(&fx, FULL + CLIPPED + OUTSIDE, &plain, NULL);
	change = NULL;
	trace_end(&fx, trace);
	pages = events_of(PUMICE_EVENT_PM, PUMICE_PHASE_INSTANT, PUMICE_TRACE_PM_ALLOC, &ignored);
	fx_check(&fx, "counts", pumice_perfmon_read(fx.perfmon, 0, value));
	assert_int_equal(value[0], OUTSIDE);
	assert_int_equal(value[1], CLIPPED);
	assert_int_equal(value[2], TILES * FULL + CLIPPED_TILES * CLIPPED);
	assert_int_equal(value[3], pages);
	assert_int_equal(value[4], pages);
	/* The first of nine pages is allocated by the master. */
	assert_int_equal(value[5], pages - (pages + 8) / 9);
	assert_true(value[6] > 0 && value[7] > 0);
	free(records);
	fx_close(&fx);
}

static void partial_renders_are_requested_rendered_and_counted(void **state)
{
	struct pumice_trace *trace;
	struct fixture fx;
	uint64_t partials, sum;

	(void)state;
	fx_open(&fx, "preset=default,cores=2,threads=0,split=4", 24);
	trace = trace_begin(&fx);
	draw(&fx, 1000, &plain, NULL);
	trace_end(&fx, trace);
	partials = fx_partials(&fx);
	assert_true(partials);
	check_pairs();
	check_contexts(&fx);
	check_pages();
	/* Chunks after the one that stalled are withdrawn, complete or not, and done again. */
	assert_true(check_chunks(1000) >= 1000 / SPLIT);
	assert_true(events(PUMICE_EVENT_CHUNK, PUMICE_PHASE_CANCEL, NULL) +
			    check_chunks(1000) > 1000 / SPLIT);
	check_tiles((uint32_t)partials + 1);
	assert_int_equal(jobs(PUMICE_TRACE_MASTER_PDM, 1), partials);
	assert_int_equal(jobs(PUMICE_TRACE_MASTER_PDM, 0), 1);
	assert_int_equal(events_of(PUMICE_EVENT_SPANS, PUMICE_PHASE_END,
				   PUMICE_TRACE_PASS_END_OF_TILE, &sum), TILES);
	assert_int_equal(events(PUMICE_EVENT_PBE, PUMICE_PHASE_END, NULL), TILES);
	assert_true(events_of(PUMICE_EVENT_PM, PUMICE_PHASE_INSTANT, PUMICE_TRACE_PM_EMPTY,
			      &sum) >= partials);
	assert_int_equal(firmware_events(FWIF_LOG_PARTIAL_REQUEST), partials);
	assert_int_equal(firmware_events(FWIF_LOG_PARTIAL), partials);
	assert_int_equal(firmware_events(FWIF_LOG_PAGES_RESUME), partials);
	assert_true(firmware_events(FWIF_LOG_PAGES_STALL) >= partials);
	free(records);
	fx_close(&fx);
}

/* Run a stream of transfers of its own context. */
static void run_transfers(struct fixture *fx, uint64_t *va)
{
	const struct pumice_tdm_fill fill = { .dst = fx->visible.va, .words = 16, .value = 7 };
	struct pumice_context *context;
	int i;

	pumice_stream_reset(fx->stream);
	for (i = 0; i < 3; i++)
		fx_check(fx, "fill", pumice_stream_fill(fx->stream, &fill));
	fx_check(fx, "end", pumice_stream_tdm_end(fx->stream, va));
	fx_check(fx, "context",
		 pumice_context_create_type(fx->vm, PUMICE_CONTEXT_TRANSFER,
					    PUMICE_PRIORITY_NORMAL, &context));
	fx_check(fx, "transfer", pumice_context_run(context, *va, LONG, NULL));
	pumice_context_destroy(context);
}

static void each_command_of_a_transfer_is_traced(void **state)
{
	struct pumice_trace *trace;
	struct fixture fx;
	uint64_t va, sum;
	uint32_t i, at = 0;

	(void)state;
	fx_open(&fx, "preset=default,cores=1,threads=0", 64);
	trace = trace_begin(&fx);
	run_transfers(&fx, &va);
	trace_end(&fx, trace);
	check_pairs();
	assert_int_equal(jobs(PUMICE_TRACE_MASTER_TDM, 0), 1);
	assert_int_equal(events(PUMICE_EVENT_TRANSFER, PUMICE_PHASE_END, &sum), 3);
	assert_int_equal(sum, 3 * PUMICE_TDM_TYPE_FILL);
	for (i = 0; i < count; i++) {
		if (records[i].kind != PUMICE_EVENT_TRANSFER ||
		    records[i].phase != PUMICE_PHASE_BEGIN)
			continue;
		assert_int_equal(records[i].arg0, va + at++ * PUMICE_TDM_FILL_WORDS * 4);
		assert_int_equal(records[i].dm, PUMICE_TRACE_MASTER_TDM);
	}
	assert_int_equal(firmware_events(FWIF_LOG_CONTEXT_NEW), 1);
	free(records);
	fx_close(&fx);
}

static struct pumice_trace *killed_trace;

/* Return whether no task of this data master, or no command, has begun so far. */
static bool is_waiting_for(struct fixture *fx, uint32_t kind, uint32_t dm)
{
	uint32_t more, i;
	uint64_t lost;

	fx_check(fx, "read", pumice_trace_read(killed_trace, records + count, ENTRIES - count,
					       &more, &lost));
	assert_int_equal(lost, 0);
	count += more;
	for (i = 0; i < count; i++)
		if (records[i].kind == kind && records[i].dm == dm)
			return false;
	return true;
}

static bool is_before_vertices(struct fixture *fx)
{
	return is_waiting_for(fx, PUMICE_EVENT_TASK, PUMICE_TRACE_MASTER_VDM);
}

static bool is_before_fragments(struct fixture *fx)
{
	return is_waiting_for(fx, PUMICE_EVENT_TASK, PUMICE_TRACE_MASTER_PDM);
}

/* The rest of the trace: all that was begun has ended, and all pages are free. */
static void check_killed(struct fixture *fx, uint32_t dm)
{
	uint32_t i, ends = 0;

	is_waiting_for(fx, 0, 0);
	pumice_trace_close(killed_trace);
	check_pairs();
	for (i = 0; i < count; i++)
		if (records[i].kind == PUMICE_EVENT_JOB_END && records[i].usc == dm) {
			assert_int_equal(records[i].arg1, PUMICE_TRACE_END_ABORTED);
			ends++;
		}
	assert_int_equal(ends, 1);
}

static void killed_vertices_end_as_cancelled(void **state)
{
	const struct shaders endless = { .vertex = "again:\njump again\n", .fragment = "end\n" };
	struct fixture fx;

	(void)state;
	fx_open(&fx, "preset=default,cores=2,threads=0,split=4", 256);
	killed_trace = trace_begin(&fx);
	count = 0;
	draw(&fx, 10, &endless, is_before_vertices);
	check_killed(&fx, PUMICE_TRACE_MASTER_VDM);
	assert_int_equal(events(PUMICE_EVENT_CHUNK, PUMICE_PHASE_END, NULL), 0);
	assert_int_equal(events(PUMICE_EVENT_TASK, PUMICE_PHASE_END, NULL), 0);
	assert_true(events(PUMICE_EVENT_TASK, PUMICE_PHASE_CANCEL, NULL));
	assert_int_equal(events(PUMICE_EVENT_CHUNK, PUMICE_PHASE_CANCEL, NULL),
			 events(PUMICE_EVENT_CHUNK, PUMICE_PHASE_BEGIN, NULL));
	free(records);
	fx_close(&fx);
}

static void killed_tiles_end_as_cancelled_and_their_pages_are_freed(void **state)
{
	const struct shaders endless = {
		.vertex = plain.vertex, .fragment = "again:\njump again\n",
	};
	struct fixture fx;
	uint32_t begun;

	(void)state;
	fx_open(&fx, "preset=default,cores=2,threads=0,split=4", 256);
	killed_trace = trace_begin(&fx);
	count = 0;
	draw(&fx, 10, &endless, is_before_fragments);
	check_killed(&fx, PUMICE_TRACE_MASTER_PDM);
	check_pages();
	assert_true(events(PUMICE_EVENT_TASK, PUMICE_PHASE_CANCEL, NULL));
	begun = events(PUMICE_EVENT_TILE, PUMICE_PHASE_BEGIN, NULL);
	assert_true(begun >= 2 && begun < TILES);
	assert_int_equal(events(PUMICE_EVENT_TILE, PUMICE_PHASE_CANCEL, NULL), begun);
	assert_true(events(PUMICE_EVENT_SPANS, PUMICE_PHASE_CANCEL, NULL));
	free(records);
	fx_close(&fx);
}

static void a_killed_transfer_ends_as_cancelled(void **state)
{
	struct pumice_tdm_fill fill = { .value = 7, .words = FILL_WORDS };
	struct pumice_context *context;
	struct fx_buffer to;
	struct fixture fx;
	uint64_t va;

	(void)state;
	fx_open(&fx, "preset=default,cores=1,threads=0", 64);
	fx_buffer(&fx, FILL_WORDS * 4, &to);
	killed_trace = trace_begin(&fx);
	count = 0;
	pumice_stream_reset(fx.stream);
	fill.dst = to.va;
	fx_check(&fx, "fill", pumice_stream_fill(fx.stream, &fill));
	fx_check(&fx, "end", pumice_stream_tdm_end(fx.stream, &va));
	fx_check(&fx, "context",
		 pumice_context_create_type(fx.vm, PUMICE_CONTEXT_TRANSFER,
					    PUMICE_PRIORITY_NORMAL, &context));
	assert_int_equal(pumice_context_run(context, va, SECOND / 10000, NULL), -ETIME);
	while (is_waiting_for(&fx, PUMICE_EVENT_TRANSFER, PUMICE_TRACE_MASTER_TDM))
		wait_some(&fx);
	fx_check(&fx, "kill", pumice_context_kill(context));
	check_killed(&fx, PUMICE_TRACE_MASTER_TDM);
	assert_int_equal(events(PUMICE_EVENT_TRANSFER, PUMICE_PHASE_CANCEL, NULL), 1);
	assert_int_equal(events(PUMICE_EVENT_TRANSFER, PUMICE_PHASE_END, NULL), 0);
	free(records);
	pumice_context_destroy(context);
	fx_buffer_free(&fx, &to);
	fx_close(&fx);
}

static void texture_units_count_their_reads(void **state)
{
	/* A read for each visible span, of a wave of 32 pixels, by one program. */
	const struct shaders sampling = {
		.vertex = plain.vertex, .fragment = "sample.f32 r0, 2d, v0, sh16\nend\n",
	};
	uint64_t reads[USCS] = { 0 }, sum = 0;
	struct pumice_trace *trace;
	struct fixture fx;
	uint32_t i;

	(void)state;
	fx_open(&fx, "preset=default,cores=2,threads=0,split=4", 256);
	/* Reads from before the trace are not counted. */
	draw(&fx, 10, &sampling, NULL);
	trace = trace_begin(&fx);
	draw(&fx, 10, &plain, NULL);
	draw(&fx, 10, &sampling, NULL);
	trace_end(&fx, trace);
	for (i = 0; i < count; i++) {
		if (records[i].kind != PUMICE_EVENT_TAG)
			continue;
		assert_int_equal(records[i].arg1, 0);
		assert_int_equal(records[i].dm, PUMICE_TRACE_MASTER_PDM);
		assert_true(records[i].usc < USCS);
		assert_true(records[i].arg0 > reads[records[i].usc]);
		reads[records[i].usc] = records[i].arg0;
	}
	for (i = 0; i < USCS; i++)
		sum += reads[i];
	assert_int_equal(sum, WIDTH * HEIGHT / 32);
	free(records);
	fx_close(&fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_has_exactly_the_events_of_its_size),
		cmocka_unit_test(a_frame_counts_its_primitives_and_pages),
		cmocka_unit_test(partial_renders_are_requested_rendered_and_counted),
		cmocka_unit_test(each_command_of_a_transfer_is_traced),
		cmocka_unit_test(killed_vertices_end_as_cancelled),
		cmocka_unit_test(killed_tiles_end_as_cancelled_and_their_pages_are_freed),
		cmocka_unit_test(a_killed_transfer_ends_as_cancelled),
		cmocka_unit_test(texture_units_count_their_reads),
	};

	return cmocka_run_group_tests_name("scene units", tests, NULL, NULL);
}
