// SPDX-License-Identifier: MIT
/* Claims of documents 000 and 004 about the memory hierarchy, by the counts of requests. */
#include "../support/cmocka_all.h"

#include "../../../qemu-device/gpu/hierarchy/hierarchy.h"
#include "../../../qemu-device/gpu/preset.h"
#include "pumice_format_table.h"
#include "pumice_names.h"

#define CTX	3u
#define BASE	0x100000ull

static struct hierarchy *h;
static struct hierarchy_config config;

static void create(enum pumice_preset preset)
{
	struct pumice_gpu_config gpu = { 0 };
	const char *error;

	preset_apply(preset, &gpu);
	assert_null(preset_check(&gpu));
	config = preset_hierarchy(&gpu);
	h = hierarchy_create(&config, &error);
	assert_non_null(h);
}

static int create_mcu(void **state)
{
	(void)state;
	create(PUMICE_PRESET_VOLCANIC);
	return 0;
}

static int create_dcu(void **state)
{
	(void)state;
	create(PUMICE_PRESET_SGX543MP4);
	return 0;
}

static int destroy(void **state)
{
	(void)state;
	hierarchy_destroy(h);
	return 0;
}

static void request(enum pumice_mem_client client, u32 place, u64 addr, u32 bytes)
{
	const struct mem_request r = {
		.client = client, .place = place, .ctx = CTX, .addr = addr, .bytes = bytes,
		.write = pumice_client_table[client].access == PUMICE_ACCESS_WRITE,
		.atomic = client == PUMICE_MEM_CLIENT_USC_ATOMIC,
	};

	assert_true(hierarchy_request(h, &r));
}

static struct hierarchy_client of_client(enum pumice_mem_client client)
{
	struct hierarchy_client out;

	hierarchy_client_counters(h, client, &out);
	return out;
}

static struct hierarchy_level of_level(enum pumice_cache cache)
{
	struct hierarchy_level out;

	hierarchy_level_counters(h, cache, &out);
	return out;
}

static bool held(enum pumice_cache cache, u32 usc, u32 client, u64 addr)
{
	return hierarchy_holds(h, cache, usc, client, CTX, addr);
}

/* Document 000, "System Memory Access". */
static void sixteen_threads_in_a_line_are_one_access_of_memory(void **state)
{
	struct hierarchy_client load;
	u32 i;

	(void)state;
	for (i = 0; i < 16; i++)
		request(PUMICE_MEM_CLIENT_USC_LOAD, 5, BASE + 8 * i, 8);
	load = of_client(PUMICE_MEM_CLIENT_USC_LOAD);
	assert_int_equal(load.requests, 16);
	assert_int_equal(load.bytes, 128);
	assert_int_equal(load.first.hits, 15);
	assert_int_equal(load.first.misses, 1);
	assert_int_equal(load.second.misses, 1);
	assert_int_equal(load.slc.misses, 1);
	assert_int_equal(load.slc.read_bytes, 128);
}

/* A matrix of words, by rows or by columns; returns the bytes from memory. */
static u64 read_matrix(bool columns)
{
	const u32 size = 256;
	u32 i;

	hierarchy_reset(h);
	for (i = 0; i < size * size; i++) {
		u32 index = columns ? i % size * size + i / size : i;

		request(PUMICE_MEM_CLIENT_USC_LOAD, 0, BASE + 4 * index, 4);
	}
	return of_client(PUMICE_MEM_CLIENT_USC_LOAD).second.requests;
}

static void row_order_beats_column_order(void **state)
{
	u64 rows = read_matrix(false), columns = read_matrix(true);

	(void)state;
	print_message("lines read: by rows %llu, by columns %llu\n", (unsigned long long)rows,
		      (unsigned long long)columns);
	assert_int_equal(rows, 256 * 256 * 4 / config.line_bytes);
	assert_int_equal(columns, 256 * 256);
}

/*
 * A write of a core, and a read of the masters for the same line, by BIFs of their own: the write
 * is the miss, in either order of the BIFs.
 */
static void requests_of_a_line_are_performed_in_order(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 40; i++) {
		u64 line = BASE + i * 4096;
		u32 others;

		request(PUMICE_MEM_CLIENT_PM_WRITE, i % 2, line, 4);
		for (others = 0; others < i % 12; others++)
			request(PUMICE_MEM_CLIENT_PM_WRITE, i % 2, 64 * BASE + i * 8192 +
				others * 128, 4);
		request(PUMICE_MEM_CLIENT_IPF_READ, !(i % 2), line, 4);
	}
	assert_int_equal(of_client(PUMICE_MEM_CLIENT_IPF_READ).slc.hits, 40);
	assert_int_equal(of_client(PUMICE_MEM_CLIENT_IPF_READ).slc.misses, 0);
}

/* Return the offset of a texel of 4 bytes in an image of 256 rows and columns. */
static u32 texel_offset(u32 x, u32 y, bool twiddled)
{
	u32 offset = 0, bit;

	if (!twiddled)
		return 4 * (256 * y + x);
	for (bit = 0; bit < 8; bit++)
		offset |= (x >> bit & 1) << (2 * bit + 1) | (y >> bit & 1) << (2 * bit);
	return 4 * offset;
}

/*
 * Read an image that covers the screen, in tiles of 32 x 32 pixels, upright or turned by 90
 * degrees; return the lines that the first caches read.
 */
static u64 read_texture(bool twiddled, bool turned)
{
	u32 i;

	hierarchy_reset(h);
	for (i = 0; i < 256 * 256; i++) {
		u32 tile = i / 1024, x = tile % 8 * 32 + i % 32, y = tile / 8 * 32 + i / 32 % 32;

		request(PUMICE_MEM_CLIENT_TEXTURE, 0,
			BASE + texel_offset(turned ? y : x, turned ? x : y, twiddled), 4);
	}
	return of_client(PUMICE_MEM_CLIENT_TEXTURE).second.requests;
}

/* A linear image is read well along its rows only; a twiddled one in both directions together. */
static void twiddled_textures_beat_linear_ones(void **state)
{
	u64 linear = read_texture(false, true), twiddled = read_texture(true, true);

	(void)state;
	print_message("lines read: linear %llu, twiddled %llu\n", (unsigned long long)linear,
		      (unsigned long long)twiddled);
	assert_true(2 * twiddled <= linear);
	assert_true(twiddled + read_texture(true, false) < linear + read_texture(false, false));
}

/* Requests of a bank: those of 2^12 lines at each stride, within an eighth of an equal share. */
static void banks_have_equal_shares_at_any_stride(void **state)
{
	const u32 lines = 1u << 12;
	u32 stride, i;

	(void)state;
	for (stride = 1; stride <= 64; stride = stride < 8 ? stride + 1 : 2 * stride) {
		const u32 share = lines / config.slc_banks;

		hierarchy_reset(h);
		for (i = 0; i < lines; i++)
			request(PUMICE_MEM_CLIENT_PB_READ, 0,
				BASE + (u64)i * stride * config.line_bytes, 4);
		for (i = 0; i < config.slc_banks; i++) {
			struct slc_bank bank;

			hierarchy_bank_counters(h, i, &bank);
			assert_in_range(bank.requests, share - share / 8, share + share / 8);
		}
	}
}

/* The SLC delivers to all cores what the first one has read from memory. */
static void the_slc_reduces_bytes_from_memory(void **state)
{
	const u32 bytes = config.slc_bytes / 4;
	struct hierarchy_client read;
	u32 usc;

	(void)state;
	for (usc = 0; usc < config.cores * config.uscs; usc++)
		request(PUMICE_MEM_CLIENT_TEXTURE, usc, BASE, bytes);
	read = of_client(PUMICE_MEM_CLIENT_TEXTURE);
	assert_int_equal(read.bytes, (u64)bytes * config.cores * config.uscs);
	assert_int_equal(read.slc.read_bytes, bytes);
}

/* Document 004, "SLC": four times its size is written or read by clients that bypass it. */
static void uncached_requests_evict_no_textures(void **state)
{
	static const enum pumice_mem_client uncached[] = {
		PUMICE_MEM_CLIENT_TE_WRITE, PUMICE_MEM_CLIENT_PB_WRITE,
		PUMICE_MEM_CLIENT_VDM_STREAM, PUMICE_MEM_CLIENT_CDM_STREAM,
		PUMICE_MEM_CLIENT_PBE_WRITE,
	};
	const u32 texels = config.slc_bytes / 2, chunk = 4096;
	u32 i, at;

	(void)state;
	request(PUMICE_MEM_CLIENT_TEXTURE, 0, BASE, texels);
	for (i = 0; i < sizeof(uncached) / sizeof(uncached[0]); i++) {
		for (at = 0; at < 4 * config.slc_bytes; at += chunk)
			request(uncached[i], 1, 16 * BASE + at, chunk);
		assert_int_equal(of_client(uncached[i]).slc.hits, 0);
		assert_int_equal(of_client(uncached[i]).slc.misses, 0);
	}
	for (at = 0; at < texels; at += config.line_bytes)
		assert_true(held(PUMICE_CACHE_SLC, 0, 0, BASE + at));
	assert_int_equal(of_level(PUMICE_CACHE_SLC).evictions, 0);
	/* Cached requests evict them. */
	for (at = 0; at < 4 * config.slc_bytes; at += chunk)
		request(PUMICE_MEM_CLIENT_PB_READ, 1, 16 * BASE + at, chunk);
	assert_true(of_level(PUMICE_CACHE_SLC).evictions > 0);
}

/* Its reads are cached, in the SLC only: the second core's are hits. */
static void the_parameter_buffer_is_read_once_from_memory(void **state)
{
	struct hierarchy_client read;

	(void)state;
	request(PUMICE_MEM_CLIENT_PB_READ, 1, BASE, 4096);
	request(PUMICE_MEM_CLIENT_PB_READ, 2, BASE, 4096);
	read = of_client(PUMICE_MEM_CLIENT_PB_READ);
	assert_int_equal(read.slc.read_bytes, 4096);
	assert_int_equal(read.slc.hits, 4096 / config.line_bytes);
	assert_int_equal(read.first.requests, 0);
}

static void clients_have_the_paths_of_their_rows(void **state)
{
	u32 client;

	(void)state;
	for (client = 0; client < PUMICE_MEM_CLIENT_COUNT; client++) {
		const struct pumice_client_info *info = &pumice_client_table[client];
		const bool data = info->path == PUMICE_MEM_PATH_DATA;
		const bool texture = info->path == PUMICE_MEM_PATH_TEXTURE;
		struct hierarchy_client count;

		hierarchy_reset(h);
		request(client, 1, BASE, 4);
		hierarchy_clean(h, 0, HIERARCHY_GPU, NULL);
		count = of_client(client);
		assert_int_equal(of_level(PUMICE_CACHE_DATA_L1).requests.requests, data);
		assert_int_equal(of_level(PUMICE_CACHE_TEXTURE_L1).requests.requests, texture);
		assert_int_equal(count.first.requests, data || texture);
		assert_int_equal(count.slc.bypasses != 0, info->slc == PUMICE_MEM_SLC_BYPASS);
		assert_int_equal(held(PUMICE_CACHE_SLC, 0, 0, BASE),
				 info->slc == PUMICE_MEM_SLC_CACHED);
	}
}

static void an_atomic_operation_is_performed_in_the_slc(void **state)
{
	(void)state;
	request(PUMICE_MEM_CLIENT_USC_LOAD, 0, BASE, 4);
	request(PUMICE_MEM_CLIENT_USC_ATOMIC, 0, BASE, 4);
	assert_false(held(PUMICE_CACHE_DATA_L1, 0, PUMICE_MEM_CLIENT_USC_LOAD, BASE));
	assert_false(held(PUMICE_CACHE_DATA_L2, 0, PUMICE_MEM_CLIENT_USC_LOAD, BASE));
	assert_true(held(PUMICE_CACHE_SLC, 0, 0, BASE));
	assert_int_equal(of_client(PUMICE_MEM_CLIENT_USC_ATOMIC).slc.hits, 1);
	assert_int_equal(of_level(PUMICE_CACHE_DATA_L1).requests.atomics, 1);
}

/* Two of four USCs, with a DCU; only their own with an MCU. */
static void uscs_share_the_first_caches_of_their_half(void **state)
{
	const bool dcu = config.style == PUMICE_CACHE_STYLE_DCU;
	u32 usc;

	(void)state;
	request(PUMICE_MEM_CLIENT_USC_LOAD, 0, BASE, 4);
	request(PUMICE_MEM_CLIENT_TEXTURE, 0, BASE, 4);
	for (usc = 0; usc < 8; usc++) {
		bool first = dcu ? usc < 2 : usc == 0;

		assert_int_equal(held(PUMICE_CACHE_DATA_L1, usc, PUMICE_MEM_CLIENT_USC_LOAD, BASE),
				 first);
		assert_int_equal(held(PUMICE_CACHE_TEXTURE_L1, usc, PUMICE_MEM_CLIENT_TEXTURE,
				      BASE), first);
		assert_int_equal(held(PUMICE_CACHE_DATA_L2, usc, PUMICE_MEM_CLIENT_USC_LOAD, BASE),
				 usc < 4);
		assert_int_equal(held(PUMICE_CACHE_TEXTURE_L2, usc, PUMICE_MEM_CLIENT_TEXTURE,
				      BASE), usc < 4);
	}
}

/* A store of USC 0 reaches the level after the scope of each fence. */
static void fences_write_as_far_as_their_scope(void **state)
{
	(void)state;
	request(PUMICE_MEM_CLIENT_USC_STORE, 0, BASE, config.line_bytes);
	assert_int_equal(hierarchy_fence(h, 0, HIERARCHY_CORE, CACHE_ANY_CTX).written_bytes, 0);
	assert_int_equal(of_level(PUMICE_CACHE_DATA_L2).requests.requests, 1);
	assert_false(held(PUMICE_CACHE_SLC, 0, 0, BASE));
	/* Another core's fence does not write it. */
	hierarchy_fence(h, 4, HIERARCHY_GPU, CACHE_ANY_CTX);
	assert_false(held(PUMICE_CACHE_SLC, 0, 0, BASE));
	assert_int_equal(hierarchy_fence(h, 0, HIERARCHY_GPU, CACHE_ANY_CTX).written_bytes,
			 config.line_bytes);
	assert_true(held(PUMICE_CACHE_SLC, 0, 0, BASE));
	assert_int_equal(of_level(PUMICE_CACHE_SLC).written_bytes, 0);
	hierarchy_fence(h, 0, HIERARCHY_SYSTEM, CACHE_ANY_CTX);
	assert_int_equal(of_level(PUMICE_CACHE_SLC).written_bytes, config.line_bytes);
	assert_int_equal(of_client(PUMICE_MEM_CLIENT_USC_STORE).slc.written_bytes,
			 config.line_bytes);
}

static void invalidations_drop_as_far_as_their_scope(void **state)
{
	enum hierarchy_scope scope;

	(void)state;
	for (scope = HIERARCHY_GROUP; scope <= HIERARCHY_SYSTEM; scope++) {
		u32 usc;

		hierarchy_reset(h);
		for (usc = 0; usc < 8; usc += 3)
			request(PUMICE_MEM_CLIENT_USC_LOAD, usc, BASE, 4);
		hierarchy_invalidate(h, 0, scope, NULL);
		assert_false(held(PUMICE_CACHE_DATA_L1, 0, PUMICE_MEM_CLIENT_USC_LOAD, BASE));
		assert_int_equal(held(PUMICE_CACHE_DATA_L1, 3, PUMICE_MEM_CLIENT_USC_LOAD, BASE),
				 scope < HIERARCHY_CORE);
		assert_int_equal(held(PUMICE_CACHE_DATA_L2, 0, 0, BASE), scope < HIERARCHY_CORE);
		assert_int_equal(held(PUMICE_CACHE_DATA_L2, 6, 0, BASE), scope < HIERARCHY_GPU);
		assert_int_equal(held(PUMICE_CACHE_SLC, 0, 0, BASE), scope < HIERARCHY_SYSTEM);
	}
}

/* Dirty lines of every level are written before they are dropped. */
static void a_flush_loses_nothing(void **state)
{
	enum hierarchy_scope scope;
	struct level_swept swept;

	(void)state;
	for (scope = HIERARCHY_GROUP; scope <= HIERARCHY_SYSTEM; scope++) {
		hierarchy_reset(h);
		request(PUMICE_MEM_CLIENT_USC_STORE, 0, BASE, config.line_bytes);
		hierarchy_fence(h, 0, HIERARCHY_GPU, CACHE_ANY_CTX);
		request(PUMICE_MEM_CLIENT_USC_STORE, 0, BASE + config.line_bytes,
			config.line_bytes);
		swept = hierarchy_flush(h, 0, scope, NULL);
		assert_int_equal(swept.lost_bytes, 0);
		assert_int_equal(held(PUMICE_CACHE_DATA_L2, 0, 0, BASE), scope < HIERARCHY_CORE);
		assert_int_equal(of_level(PUMICE_CACHE_DATA_L2).written_bytes,
				 scope < HIERARCHY_CORE ? config.line_bytes :
							  2 * config.line_bytes);
		assert_int_equal(of_level(PUMICE_CACHE_SLC).written_bytes,
				 scope < HIERARCHY_SYSTEM ? 0 : 2 * config.line_bytes);
	}
}

/* Ranges and contexts select lines; other ones remain. */
static void operations_apply_to_their_range(void **state)
{
	const struct cache_range range = { CTX, BASE, BASE + config.line_bytes - 1 };
	const struct cache_range other = { CTX + 1, 0, ~0ull };

	(void)state;
	request(PUMICE_MEM_CLIENT_USC_LOAD, 0, BASE, 2 * config.line_bytes);
	assert_int_equal(hierarchy_invalidate(h, 0, HIERARCHY_SYSTEM, &other).lines, 0);
	assert_int_equal(hierarchy_invalidate(h, 0, HIERARCHY_SYSTEM, &range).lines, 3);
	assert_true(held(PUMICE_CACHE_SLC, 0, 0, BASE + config.line_bytes));
	request(PUMICE_MEM_CLIENT_USC_STORE, 0, BASE, config.line_bytes);
	hierarchy_clean(h, 0, HIERARCHY_GROUP, NULL);
	assert_int_equal(hierarchy_clean(h, 0, HIERARCHY_CORE, &other).lines, 0);
	assert_int_equal(hierarchy_clean(h, 0, HIERARCHY_CORE, &range).lines, 1);
}

static void every_preset_can_be_created(void **state)
{
	u32 preset;

	(void)state;
	for (preset = 0; preset < PUMICE_PRESET_COUNT; preset++) {
		create((enum pumice_preset)preset);
		assert_int_equal(config.line_bytes, preset == PUMICE_PRESET_SGX543MP4 ? 32 : 128);
		request(PUMICE_MEM_CLIENT_USC_LOAD, config.cores * config.uscs - 1, BASE, 4);
		request(PUMICE_MEM_CLIENT_PBE_WRITE, config.cores, BASE, 32);
		assert_int_equal(of_level(PUMICE_CACHE_SLC).requests.requests, 2);
		assert_int_equal(hierarchy_bifs(h), preset == PUMICE_PRESET_SGX543MP4 ? 5 :
				 config.cores * ((config.uscs + 1) / 2) + 1);
		hierarchy_destroy(h);
	}
	create(PUMICE_PRESET_SGX543MP4);
	assert_int_equal(config.slc_banks, 4);
	assert_int_equal(config.slc_bytes, 256 << 10);
	assert_int_equal(config.slc_ways, 16);
	assert_int_equal(config.texture_ways, 4);
	hierarchy_destroy(h);
}

/* From the smallest to the largest SLC, on GPUs of every shape; small ones have too few lines. */
static void sizes_that_presets_accept_can_be_created(void **state)
{
	u32 preset, shape, kib, accepted = 0;

	(void)state;
	for (preset = 0; preset < PUMICE_PRESET_COUNT; preset++) {
		for (shape = 0; shape < 4; shape++) {
			for (kib = PUMICE_MIN_SLC_KIB; kib <= PUMICE_MAX_SLC_KIB; kib *= 2) {
				struct pumice_gpu_config gpu = {
					.cores = shape % 2 ? 16 : 1,
					.uscs_per_core = shape / 2 ? 4 : 1, .slc_kib = kib,
				};
				const char *error;

				preset_apply((enum pumice_preset)preset, &gpu);
				error = preset_check(&gpu);
				if (error && kib >= 2048)
					fail_msg("%u KiB, shape %u: %s", kib, shape, error);
				if (error)
					continue;
				config = preset_hierarchy(&gpu);
				h = hierarchy_create(&config, &error);
				if (!h)
					fail_msg("%u KiB, shape %u: %s", kib, shape, error);
				hierarchy_destroy(h);
				accepted++;
			}
		}
	}
	assert_true(accepted > PUMICE_PRESET_COUNT * 4 * 10);
}

static void invalid_requests_are_refused(void **state)
{
	const struct mem_request good = {
		.client = PUMICE_MEM_CLIENT_USC_LOAD, .ctx = CTX, .addr = BASE, .bytes = 4,
	};
	struct mem_request bad[9];
	u32 i;

	(void)state;
	for (i = 0; i < 9; i++)
		bad[i] = good;
	bad[0].client = (enum pumice_mem_client)PUMICE_MEM_CLIENT_COUNT;
	bad[1].place = config.cores * config.uscs;
	bad[2].ctx = MEM_CTX_BUS + 1;
	bad[3].bytes = 0;
	bad[4].addr = 1ull << 56;
	bad[5].addr = (1ull << 56) - 2;
	bad[6].client = PUMICE_MEM_CLIENT_INDEX;
	bad[6].place = config.cores + 1;
	bad[7].client = PUMICE_MEM_CLIENT_TEXTURE;
	bad[7].write = true;
	bad[8].client = PUMICE_MEM_CLIENT_TEXTURE;
	bad[8].atomic = true;
	for (i = 0; i < 9; i++) {
		assert_false(hierarchy_request(h, &bad[i]));
		assert_int_equal(hierarchy_invalid(h), i + 1);
	}
	assert_int_equal(of_client(PUMICE_MEM_CLIENT_USC_LOAD).requests, 0);
	assert_true(hierarchy_request(h, &good));
}

/* Assert that no cache that serves a USC has the line of a coherent request. */
static void assert_not_held(u32 usc, enum pumice_mem_client client, u64 addr)
{
	u32 cache;

	for (cache = 0; cache < PUMICE_CACHE_COUNT; cache++)
		assert_false(held((enum pumice_cache)cache, usc, client, addr));
}

/* Of a coherent page: each request reads or writes memory, in whole segments, and no more. */
static void coherent_requests_leave_no_line_in_any_cache(void **state)
{
	static const struct {
		enum pumice_mem_client client;
		bool reads, writes;
	} kinds[] = {
		{ PUMICE_MEM_CLIENT_USC_LOAD, true, false },
		{ PUMICE_MEM_CLIENT_USC_STORE, false, true },
		{ PUMICE_MEM_CLIENT_USC_ATOMIC, true, true },
		{ PUMICE_MEM_CLIENT_USC_CODE, true, false },
		{ PUMICE_MEM_CLIENT_TEXTURE, true, false },
		{ PUMICE_MEM_CLIENT_IPF_PRIM, true, false },
	};
	const u32 segment = config.segment_bytes;
	const u32 lines = 4;
	struct mem_request r = { .ctx = CTX, .place = 3, .bypass = true };
	struct hierarchy_client count;
	u32 k, i;

	(void)state;
	for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		r.client = kinds[k].client;
		r.write = kinds[k].writes;
		r.atomic = kinds[k].reads && kinds[k].writes;
		r.bytes = config.line_bytes;
		for (i = 0; i < 2 * lines; i++) {
			r.addr = BASE + (u64)(i % lines) * config.line_bytes;
			assert_true(hierarchy_request(h, &r));
			hierarchy_drain(h);
			assert_not_held(3, r.client, r.addr);
		}
		r.bytes = 1;
		assert_true(hierarchy_request(h, &r));
		count = of_client(r.client);
		assert_int_equal(count.requests, 2 * lines + 1);
		assert_int_equal(count.first.requests + count.second.requests, 0);
		assert_int_equal(count.slc.requests, 2 * lines + 1);
		assert_int_equal(count.slc.bypasses, count.slc.requests);
		assert_int_equal(count.slc.read_bytes, kinds[k].reads ?
				 2 * lines * config.line_bytes + segment : 0);
		assert_int_equal(count.slc.written_bytes, kinds[k].writes ?
				 2 * lines * config.line_bytes + segment : 0);
	}
	/* Nothing to clean or drop. */
	assert_int_equal(hierarchy_flush(h, 0, HIERARCHY_SYSTEM, NULL).lines, 0);
}

static void invalid_sizes_are_refused_with_a_reason(void **state)
{
	struct hierarchy_config bad[11];
	const char *error;
	u32 i;

	(void)state;
	for (i = 0; i < 11; i++)
		bad[i] = config;
	bad[0].cores = 0;
	bad[1].cores = 17;
	bad[2].uscs = 5;
	bad[3].style = PUMICE_CACHE_STYLE_PRESET;
	bad[4].line_bytes = 256;
	bad[5].segment_bytes = 48;
	bad[6].data_l1_bytes = 1000;
	bad[7].data_l2_bytes = 256;
	bad[8].texture_l1_bytes = 256;
	bad[9].texture_ways = 3;
	bad[10].slc_banks = 3;
	for (i = 0; i < 11; i++) {
		assert_null(hierarchy_create(&bad[i], &error));
		assert_non_null(error);
	}
}

int main(void)
{
#define DCU(name) { #name "_dcu", name, create_dcu, destroy, NULL }
#define BOTH(name) cmocka_unit_test_setup_teardown(name, create_mcu, destroy), DCU(name)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sixteen_threads_in_a_line_are_one_access_of_memory,
						create_mcu, destroy),
		BOTH(row_order_beats_column_order),
		BOTH(requests_of_a_line_are_performed_in_order),
		BOTH(twiddled_textures_beat_linear_ones),
		BOTH(banks_have_equal_shares_at_any_stride),
		BOTH(the_slc_reduces_bytes_from_memory),
		BOTH(uncached_requests_evict_no_textures),
		BOTH(the_parameter_buffer_is_read_once_from_memory),
		BOTH(clients_have_the_paths_of_their_rows),
		BOTH(an_atomic_operation_is_performed_in_the_slc),
		BOTH(uscs_share_the_first_caches_of_their_half),
		BOTH(fences_write_as_far_as_their_scope),
		BOTH(invalidations_drop_as_far_as_their_scope),
		BOTH(a_flush_loses_nothing),
		BOTH(operations_apply_to_their_range),
		cmocka_unit_test(every_preset_can_be_created),
		cmocka_unit_test(sizes_that_presets_accept_can_be_created),
		BOTH(coherent_requests_leave_no_line_in_any_cache),
		BOTH(invalid_requests_are_refused),
		cmocka_unit_test_setup_teardown(invalid_sizes_are_refused_with_a_reason, create_mcu,
						destroy),
	};

	return cmocka_run_group_tests_name("claims", tests, NULL, NULL);
}
