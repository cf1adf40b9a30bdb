// SPDX-License-Identifier: MIT
/*
 * Output of pumice-info for devices that report their sizes, and for older ones that do not: a size
 * that is not reported is not shown as one. The functions are those of the tool, in this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int tool_main(int argc, char **argv);
#define main tool_main
#include "../../../userspace/tools/info.c"
#undef main

#include <cmocka.h>

static const struct pumice_device_limits reported = {
	.waves_per_usc = 24, .tasks_per_usc = 48, .batch = 96,
	.preset = PUMICE_PRESET_SGX543MP4,
	.cache_bytes = {
		[PUMICE_CACHE_SLC] = 64 << 10, [PUMICE_CACHE_DATA_L1] = 2048,
		[PUMICE_CACHE_DATA_L2] = 4096, [PUMICE_CACHE_TEXTURE_L1] = 8192,
		[PUMICE_CACHE_TEXTURE_L2] = 16384,
	},
	.vpm_bytes = 77 << 10, .idx_fifo = 33, .chunk_fifo = 2, .tile_fifo = 5, .tsp_vertices = 64,
	.tcus_per_spu = 3,
};

/* Return what the tool prints; to be freed. */
static char *output(const struct pumice_device_limits *limits)
{
	const struct pumice_device_info info = { .backend = "test", .va_end = 1, .cores = 4 };
	FILE *terminal = stdout;
	char *text = NULL;
	size_t bytes;

	stdout = open_memstream(&text, &bytes);
	assert_non_null(stdout);
	print_info(&info, limits);
	fclose(stdout);
	stdout = terminal;
	return text;
}

static void sizes_of_caches_are_shown_in_order(void **state)
{
	char *text = output(&reported);

	(void)state;
	assert_non_null(strstr(text, "\ncaches              SLC 64 KiB; data 2048 and 4096, "
				     "textures 8192 and 16384 bytes; not used in mode fast\n"));
	free(text);
}

static void caches_that_are_not_reported_are_not_shown(void **state)
{
	struct pumice_device_limits limits = reported;
	char *text;

	(void)state;
	memset(limits.cache_bytes, 0, sizeof(limits.cache_bytes));
	text = output(&limits);
	assert_null(strstr(text, "caches"));
	assert_non_null(strstr(text, "\ntasks of a USC      48; 24 waves; 96 vertices"));
	free(text);
}

static void units_are_shown_if_they_are_reported(void **state)
{
	struct pumice_device_limits limits = reported;
	char *text = output(&limits);

	(void)state;
	assert_non_null(strstr(text, "\nvertices of a core  VPM 77 KiB; IDX FIFO of 33 primitives; "
				     "64 in the cache of the TSP\n"
				     "FIFOs of a core     chunks of draws: 2; tiles: 5\n"
				     "texture interfaces  3 of each SPU, one for each USC\n"));
	free(text);
	limits.vpm_bytes = limits.idx_fifo = limits.chunk_fifo = limits.tile_fifo = 0;
	limits.tsp_vertices = 0;
	text = output(&limits);
	assert_null(strstr(text, "VPM"));
	assert_null(strstr(text, "FIFO"));
	assert_null(strstr(text, "texture interfaces"));
	assert_non_null(strstr(text, "\ncaches  "));
	free(text);
}

static void a_shape_that_is_not_reported_is_not_shown(void **state)
{
	struct pumice_device_limits limits = reported;
	char *text = output(&limits);

	(void)state;
	assert_non_null(strstr(text, "\npreset              sgx543mp4\n"));
	free(text);
	limits.waves_per_usc = 0;
	limits.preset = 0;
	text = output(&limits);
	assert_null(strstr(text, "preset"));
	assert_null(strstr(text, "tasks of a USC"));
	assert_non_null(strstr(text, "\ncaches  "));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_of_caches_are_shown_in_order),
		cmocka_unit_test(caches_that_are_not_reported_are_not_shown),
		cmocka_unit_test(units_are_shown_if_they_are_reported),
		cmocka_unit_test(a_shape_that_is_not_reported_is_not_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
