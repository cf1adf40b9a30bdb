// SPDX-License-Identifier: MIT
/*
 * Stores of pixel outputs: under each preset and with either store, the same pictures to the bit;
 * the occupied bytes are those of the tiles in flight. Also with partial renders, and with compute
 * jobs whose work-groups need most of the store.
 */
#include <errno.h>
#include <stdio.h>

#include "inproc/inproc.h"
#include "perf.h"
#include "pumice_names.h"
#include "scene.h"

#define SCENES	30u

static struct picture first[SCENES], now;
static struct scene scene;
static uint32_t scenes = SCENES;	/* that are drawn */

static void assert_same(const struct picture *a, const struct picture *b)
{
	const size_t samples = (size_t)scene.width * scene.height * scene.samples;

	assert_memory_equal(a->colour, b->colour, samples * sizeof(a->colour[0]));
	assert_memory_equal(a->id, b->id, samples * sizeof(a->id[0]));
	assert_memory_equal(a->depth, b->depth, samples * sizeof(a->depth[0]));
	assert_memory_equal(a->stencil, b->stencil, samples);
	assert_memory_equal(a->mask, b->mask, samples * sizeof(a->mask[0]));
	assert_memory_equal(a->visible, b->visible, sizeof(a->visible));
	assert_memory_equal(a->packed, b->packed, sizeof(a->packed));
}

static uint64_t reg(struct fixture *fx, uint32_t offset, uint32_t bytes)
{
	return pumice_gpu_mmio_read(inproc_device(fx->dev)->gpu, 0, offset, bytes);
}

/* Number of times that tiles began to wait for outputs. */
static uint64_t output_waits(struct fixture *fx)
{
	return reg(fx, PUMICE_PERF_COUNTER(PUMICE_PERF_PDM_OUTPUT_WAITS), 8);
}

static void reset_peak(struct fixture *fx)
{
	pumice_gpu_mmio_write(inproc_device(fx->dev)->gpu, 0, PUMICE_PDS_PEAK_OUTPUTS, 0, 4);
}

/* Bytes of the outputs of two tiles of a core, or of the only one. */
static uint32_t bytes_in_flight(const struct scene *s)
{
	static const uint32_t size[3][2] = {
		[PUMICE_TILE_SIZE_32X32] = { 32, 32 }, [PUMICE_TILE_SIZE_16X16] = { 16, 16 },
		[PUMICE_TILE_SIZE_32X16] = { 32, 16 },
	};
	const uint32_t w = size[s->tile_size][0], h = size[s->tile_size][1];
	const uint32_t tiles = ((s->width + w - 1) / w) * ((s->height + h - 1) / h);

	return (tiles > 1 ? 2 : 1) * w * h * s->samples * SCENE_OUTPUTS * 4;
}

/* ------------------------------------------------------------ compute jobs */

/*
 * Each work-group needs 128,000 bytes of the common store: with room for one tile, and for tasks,
 * it runs only while there is no tile.
 */
#define GROUP	1024u	/* instances */

static const char group_text[] =
	".group 1024, 1, 1\n.shared 4000\n"
	"mov.u32 r0, 0\n"
	"loop: add.u32 r0, r0, 1\n"
	"lt.u32 r1, r0, 20\n"
	"br_any loop, [r1]\n"
	"end\n";

struct compute {
	struct pumice_context *context;
	struct pumice_stream *stream;
	struct pumice_kernel *kernel;
	struct pumice_job_sync signal;
	uint64_t start;
	bool fits;	/* else the library refuses the work-groups, and jobs are empty */
};

static void compute_open(struct fixture *fx, struct compute *c)
{
	struct pumice_dispatch dispatch;
	struct pumice_device_info info;

	fx_check(fx, "info", pumice_device_info(fx->dev, &info));
	*c = (struct compute){ .signal.signal = true,
			       .fits = info.max_group_instances >= GROUP };
	fx_check(fx, "context", pumice_context_create(fx->vm, PUMICE_PRIORITY_NORMAL, &c->context));
	fx_check(fx, "stream", pumice_stream_create(fx->vm, 65536, &c->stream));
	c->kernel = fx_kernel(fx, group_text);
	pumice_dispatch_init(&dispatch, c->kernel);
	dispatch.groups[0] = 40;
	assert_int_equal(pumice_stream_dispatch(c->stream, &dispatch), c->fits ? 0 : -EINVAL);
	fx_check(fx, "end", pumice_stream_end(c->stream, &c->start));
}

static void compute_start(struct fixture *fx, struct compute *c)
{
	const struct pumice_job job = {
		.context = c->context, .stream = c->start, .syncs = &c->signal, .sync_count = 1,
	};

	fx_check(fx, "sync", pumice_sync_create(fx->dev, 0, &c->signal.sync));
	fx_check(fx, "submit", pumice_submit(fx->dev, &job, 1, NULL));
}

static void compute_wait(struct fixture *fx, struct compute *c)
{
	const struct pumice_wait wait = { .sync = c->signal.sync };

	fx_check(fx, "wait", pumice_sync_wait(&wait, 1, 0, LONG));
	pumice_sync_destroy(c->signal.sync);
}

static void compute_close(struct compute *c)
{
	pumice_context_destroy(c->context);
	pumice_stream_destroy(c->stream);
	pumice_kernel_destroy(c->kernel);
}

/* ------------------------------------------------------------ scenes */

/*
 * Draw all scenes. @exact: the GPU has one core, and room for two tiles. Return: partial renders.
 */
static uint64_t draw_all(const char *options, uint32_t pages, uint32_t times, bool keep, bool exact)
{
	struct fixture fx;
	uint64_t partials;
	uint32_t i, d;

	print_message("%s, %u pages\n", options, pages);
	fx_open(&fx, options, pages);
	for (i = 0; i < scenes; i++) {
		scene_make(&scene, 2000000 + i);
		for (d = 0; d < scene.draws; d++)
			scene.draw[d].instances *= times;
		reset_peak(&fx);
		scene_draw_gpu(&fx, &scene, keep ? &first[i] : &now);
		if (!keep)
			assert_same(&first[i], &now);
		if (exact)
			assert_int_equal(reg(&fx, PUMICE_PDS_PEAK_OUTPUTS, 4),
					 bytes_in_flight(&scene));
	}
	assert_int_equal(reg(&fx, PUMICE_PDS_OUTPUTS, 4), 0);
	/* With threads it depends on the host whether tiles are in flight at the same time. */
	if (strstr(options, "uscs=1") && strstr(options, "threads=0"))
		assert_true(output_waits(&fx) > 0);
	else if (exact)
		assert_int_equal(output_waits(&fx), 0);
	partials = fx_partials(&fx);
	fx_close(&fx);
	return partials;
}

/* The preset waves has a unified store of 12 KiB, which holds no tile: with a larger one here. */
static void presets_and_stores_change_nothing(void **state)
{
	static const char *const presets[] = {
		"default", "volcanic", "waves", "sgx543mp4", "videocore4",
	};
	static const char *const stores[] = {
		"", ",pixel-outputs=common,common-store-kib=576",
		",pixel-outputs=partition,unified-store-kib=1024",
	};
	char options[128];
	uint32_t p, s;

	(void)state;
	scenes = SCENES / SCENE_SHARE;
	for (p = 0; p < 5; p++)
		for (s = 0; s < 3; s++) {
			snprintf(options, sizeof(options), "preset=%s,cores=1,threads=0%s",
				 presets[p], stores[s]);
			draw_all(options, 2048, 1, !p && !s, true);
			snprintf(options, sizeof(options), "preset=%s,cores=3,threads=2%s",
				 presets[p], stores[s]);
			draw_all(options, 2048, 1, false, false);
		}
	scenes = SCENES;
}

/* One tile fits at a time; its tasks have 64 and 256 KiB of the stores. */
static const char *const small[] = {
	",uscs=1,pixel-outputs=common,common-store-kib=144",
	",uscs=1,pixel-outputs=partition,unified-store-kib=336",
};

static void tiles_that_wait_change_nothing(void **state)
{
	char options[128];
	uint32_t s;

	(void)state;
	draw_all("cores=1,threads=0", 8192, 30, true, true);
	for (s = 0; s < 2; s++) {
		snprintf(options, sizeof(options), "cores=1,threads=0%s", small[s]);
		draw_all(options, 8192, 30, false, false);
		assert_true(draw_all(options, 20, 30, false, false) > 5);
		snprintf(options, sizeof(options), "cores=2,threads=2%s", small[s]);
		assert_true(draw_all(options, 60, 30, false, false) > 5);
	}
}

static void assert_no_fault(struct fixture *fx, const struct compute *c)
{
	struct pumice_context_state context;

	fx_check(fx, "state", pumice_context_get_state(c->context, &context));
	assert_int_equal(context.fault, PUMICE_FAULT_NONE);
}

/* Draw frames, each next to a compute job; they are those of want, unless it is NULL. */
static void draw_and_compute(struct fixture *fx, struct compute *compute,
			     const struct picture *want)
{
	uint32_t i;

	for (i = 0; i < 8; i++) {
		scene_make(&scene, 2000000 + i);
		compute_start(fx, compute);
		scene_draw_gpu(fx, &scene, &now);
		if (want)
			assert_same(&want[i], &now);
		compute_wait(fx, compute);
	}
}

/* The policies of the DMS: a job of the CDM and frames complete whichever precedes. */
static void frames_and_large_groups_complete_side_by_side(void **state)
{
	struct compute compute;
	struct fixture fx;
	uint32_t policy, threads;
	uint64_t group_waits = 0, tile_waits = 0;
	char options[128];
	bool fits = false;

	(void)state;
	draw_all("cores=1,threads=0", 8192, 1, true, true);
	for (threads = 0; threads < 3; threads += 2)
		for (policy = 0; policy < PUMICE_DMS_POLICY_COUNT; policy++) {
			snprintf(options, sizeof(options), "cores=1,threads=%u,dms-policy=%s%s",
				 threads, pumice_dms_policy_str(policy), small[0]);
			fx_open(&fx, options, 2048);
			compute_open(&fx, &compute);
			draw_and_compute(&fx, &compute, first);
			group_waits += reg(&fx, PUMICE_PDS_DMS_WAITS(0), 4);
			tile_waits += output_waits(&fx);
			assert_no_fault(&fx, &compute);
			fits = compute.fits;
			compute_close(&compute);
			fx_close(&fx);
		}
	assert_true(!fits || (group_waits > 0 && tile_waits > 0));
}

/* Count the waits of the CDM, the VDM and the PDM in frames with compute jobs next to them. */
static void count_waits(const char *policy, uint64_t *waits)
{
	struct compute compute;
	struct fixture fx;
	char options[128];
	uint32_t i;

	snprintf(options, sizeof(options), "preset=default,cores=1,threads=0,dms-policy=%s%s",
		 policy, small[0]);
	fx_open(&fx, options, 2048);
	compute_open(&fx, &compute);
	draw_and_compute(&fx, &compute, NULL);
	for (i = 0; i < 3; i++)
		waits[i] = reg(&fx, PUMICE_PDS_DMS_WAITS(i), 4);
	compute_close(&compute);
	fx_close(&fx);
}

/*
 * The work-groups of the compute job wait for room under each policy: the tasks of a frame, which
 * would have room, wait for them if the CDM precedes their data master, and only then.
 */
static void the_policy_of_the_dms_selects_the_waiting_data_masters(void **state)
{
	static const struct {
		const char *policy;
		bool vdm_waits, pdm_waits;
	} cases[] = {
		{ "graphics", false, false }, { "round-robin", true, true },
		{ "cdm-vdm-pdm", true, true }, { "cdm-pdm-vdm", true, true },
		{ "vdm-cdm-pdm", false, true }, { "vdm-pdm-cdm", false, false },
		{ "pdm-cdm-vdm", true, false }, { "pdm-vdm-cdm", false, false },
	};
	uint64_t waits[3];
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		count_waits(cases[i].policy, waits);
		print_message("%s: waits %u, %u, %u\n", cases[i].policy, (unsigned int)waits[0],
			      (unsigned int)waits[1], (unsigned int)waits[2]);
		assert_true(waits[0] > 0);
		assert_int_equal(waits[1] > 0, cases[i].vdm_waits);
		assert_int_equal(waits[2] > 0, cases[i].pdm_waits);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(presets_and_stores_change_nothing),
		cmocka_unit_test(tiles_that_wait_change_nothing),
		cmocka_unit_test(frames_and_large_groups_complete_side_by_side),
		cmocka_unit_test(the_policy_of_the_dms_selects_the_waiting_data_masters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
