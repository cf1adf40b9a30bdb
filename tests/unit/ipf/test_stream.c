// SPDX-License-Identifier: MIT
/*
 * The one stream that the master IPF passes to a core for each tile, against a plain sort by chunk
 * numbers. Lists, chunks and blocks are written by the test, without the TA: chunks of the VDM of
 * random sizes on random cores.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../qemu-device/gpu/ipf/master.h"
#include "../support/number.h"
#include "pb_fixture.h"
#include "pumice_format_table.h"

#define PAGES		800u
#define TILES_X		5u
#define TILES_Y		3u
#define TILES		(TILES_X * TILES_Y)
#define ENTRIES		512u	/* of a tile */
#define CHUNKS		96u	/* of the VDM */
#define CHUNK_BLOCKS	6u	/* of a chunk, at most */
#define TILE_ENTRIES	7u	/* of a tile_chunk */
#define TILE_CHUNK	64u	/* bytes */
#define BLOCK_BYTES	((PUMICE_PRIM_BLOCK_WORDS + PUMICE_BLOCK_PRIMS + \
			  3 * PUMICE_PRIM_VERTEX_WORDS) * 4u)

struct entry {
	u32 block, mask, sequence;
};

struct list {
	struct entry entry[ENTRIES];
	u32 count;
};

static u64 seed = NUMBER_SEED;
static struct pb_fixture *pb;
static struct pm_scene scene;
static u32 used_bytes;			/* of the parameter buffer */
static struct list list[PUMICE_MAX_CORES][TILES];	/* as cores write them */
static struct list expected[TILES];	/* sorted */
static u32 *first[PUMICE_MAX_CORES][TILES];	/* tile_chunk of each list */
static struct ipf_master master;
static struct ipf_job job;

/* ------------------------------------------------------------ writing a scene */

/* Return a pb_ref to bytes that do not cross a page, and their host address. */
static u32 reserve(u32 bytes, u32 align, u32 **host)
{
	used_bytes = (used_bytes + align - 1) / align * align;
	if (used_bytes / PUMICE_PM_PAGE_SIZE != (used_bytes + bytes - 1) / PUMICE_PM_PAGE_SIZE)
		used_bytes = (used_bytes / PUMICE_PM_PAGE_SIZE + 1) * PUMICE_PM_PAGE_SIZE;
	assert_true(used_bytes + bytes <= PAGES * PUMICE_PM_PAGE_SIZE);
	*host = (u32 *)(void *)(pb->pages[0] + used_bytes);
	used_bytes += bytes;
	return (used_bytes - bytes) / 16;
}

static u32 write_block(u32 sequence, u32 prims)
{
	const struct pumice_prim_block header = {
		.prims = (u8)prims, .vertices = 3, .kind = PUMICE_PRIM_KIND_TRIANGLE,
		.sequence = sequence, .isp_state = PBFX_STATE, .tsp_state = PBFX_STATE,
	};
	const struct pumice_prim_index index = { .v1 = 1, .v2 = 2 };
	u32 *words, i;
	const u32 ref = reserve(BLOCK_BYTES, 16, &words);

	memset(words, 0, BLOCK_BYTES);
	pumice_prim_block_pack(words, &header);
	for (i = 0; i < prims; i++)
		pumice_prim_index_pack(words + PUMICE_PRIM_BLOCK_WORDS + i, &index);
	return ref;
}

/* A chunk of the VDM: blocks of one core, each in some of the tiles. */
static void write_chunk(u32 core, u32 sequence)
{
	u32 blocks = 1 + number_random(&seed, CHUNK_BLOCKS), t;

	while (blocks--) {
		const u32 prims = 1 + number_random(&seed, PUMICE_BLOCK_PRIMS);
		const u32 ref = write_block(sequence, prims);

		for (t = 0; t < TILES; t++) {
			const u64 masks = (1ull << prims) - 1;
			const u32 mask = 1 + number_random(&seed, (u32)masks);
			struct list *l = &list[core][t];

			/* The last tile has no primitives. */
			if (t == TILES - 1 || number_random(&seed, 3))
				continue;
			assert_true(l->count < ENTRIES);
			l->entry[l->count++] = (struct entry){ ref, mask, sequence };
		}
	}
}

static u32 write_list(const struct list *l, u32 **at)
{
	u32 *words, n, i, ref, *next;
	u32 from = 0;

	ref = reserve(TILE_CHUNK, TILE_CHUNK, at);
	for (words = *at;; words = next) {
		memset(words, 0, TILE_CHUNK);
		n = l->count - from < TILE_ENTRIES ? l->count - from : TILE_ENTRIES;
		for (i = 0; i < n; i++, from++) {
			words[2 * i] = l->entry[from].block;
			words[2 * i + 1] = l->entry[from].mask;
		}
		if (from == l->count)
			return ref;
		words[2 * TILE_ENTRIES] = reserve(TILE_CHUNK, TILE_CHUNK, &next);
	}
}

/* The reference: all entries, core by core, sorted by number; equal ones keep their order. */
static void sort_tile(u32 t)
{
	struct list *all = &expected[t];
	u32 core, i, at;

	all->count = 0;
	for (core = 0; core < scene.cores; core++)
		for (i = 0; i < list[core][t].count; i++) {
			const struct entry *e = &list[core][t].entry[i];

			assert_true(all->count < ENTRIES);
			for (at = all->count++;
			     at && all->entry[at - 1].sequence > e->sequence; at--)
				all->entry[at] = all->entry[at - 1];
			all->entry[at] = *e;
		}
}

/* Write a scene of cores; same: some cores have chunks of the same number. */
static void write_scene(u32 cores, bool same)
{
	u32 number, core, t;

	pbfx_list(pb, 0, PAGES, 0);
	scene = pbfx_load(pb, 0, &(struct pumice_scene){
		.width = TILES_X * 32, .height = TILES_Y * 32, .cores = (u8)cores });
	assert_int_equal(scene.tiles_x, TILES_X);
	assert_int_equal(scene.tiles_y, TILES_Y);
	used_bytes = TILE_CHUNK;	/* no reference is 0 */
	memset(list, 0, sizeof(list));
	for (number = 1; number <= CHUNKS; number++)
		write_chunk(number_random(&seed, cores), same ? 1 + number / 8 : number);
	for (core = 0; core < cores; core++)
		for (t = 0; t < TILES; t++) {
			const bool present = list[core][t].count;
			const struct pumice_region region = {
				.present = present,
				.stream = present ? write_list(&list[core][t], &first[core][t]) : 0,
			};

			pumice_region_pack(pb->regions + (core * TILES + t) * PUMICE_REGION_WORDS,
					   &region);
		}
	for (t = 0; t < TILES; t++)
		sort_tile(t);
	job = (struct ipf_job){ &scene, &pb->mmu, (u32)((1ull << cores) - 1), 0 };
}

static int open_fixture(void **state)
{
	(void)state;
	pb = pbfx_create(PAGES, 0);
	return 0;
}

static int close_fixture(void **state)
{
	(void)state;
	pbfx_destroy(pb);
	return 0;
}

/* ------------------------------------------------------------ receiving */

/* Begin a job, whose tiles are in the FIFOs of this many cores. */
static void begin(u32 cores)
{
	u32 t;

	ipf_master_init(&master, cores, IPF_MASTER_TILES);
	ipf_master_begin(&master, &job, 0);
	for (t = 0; t < TILES; t++)
		ipf_master_add(&master, &(struct ipf_work){ .x = (u16)(t % TILES_X),
							    .y = (u16)(t / TILES_X),
							    .branch = true }, 0);
}

/* A stream that a core receives. */
struct receiver {
	u32 core, stream;
	bool busy;
	u32 tile, at;
};

static bool take(struct receiver *r)
{
	struct ipf_work work;

	r->busy = ipf_master_take(&master, r->core, r->stream, &work, 0);
	r->tile = work.y * TILES_X + work.x;
	r->at = 0;
	return r->busy;
}

/* Receive an entry or the end. Return whether it is the next one of the reference. */
static bool receive_one(struct receiver *r)
{
	const struct list *all = &expected[r->tile];
	const struct entry *e = &all->entry[r->at];
	struct ipf_prims prims;
	struct gpu_fault fault;

	if (ipf_master_next(&master, r->core, r->stream, &prims, &fault) != IPF_PRIMS) {
		r->busy = false;
		return r->at == all->count;
	}
	return r->at++ < all->count && prims.block == e->block && prims.mask == e->mask &&
	       prims.header.sequence == e->sequence;
}

static void receive(struct receiver *r)
{
	assert_true(receive_one(r));
}

/* Receive all tiles of a job: entries of random streams of random cores. Return the tiles. */
static u32 receive_all(u32 cores)
{
	struct receiver r[PUMICE_MAX_CORES * IPF_MASTER_STREAMS];
	u32 i, tiles = 0, busy = 0;

	for (i = 0; i < cores * IPF_MASTER_STREAMS; i++)
		r[i] = (struct receiver){ .core = i / IPF_MASTER_STREAMS,
					  .stream = i % IPF_MASTER_STREAMS };
	while (ipf_master_all(&master) || busy) {
		struct receiver *one = &r[number_random(&seed, cores * IPF_MASTER_STREAMS)];

		if (!one->busy) {
			busy += take(one);
			continue;
		}
		receive(one);
		busy -= !one->busy;
		tiles += !one->busy;
	}
	return tiles;
}

/* ------------------------------------------------------------ tests */

static void a_tile_has_one_stream_in_the_order_of_chunks(void **state)
{
	u32 cores;

	(void)state;
	for (cores = 1; cores <= PUMICE_MAX_CORES; cores++) {
		write_scene(cores, false);
		begin(cores);
		assert_int_equal(receive_all(cores), TILES);
		/* Any number of cores may render a scene. */
		begin(1 + number_random(&seed, PUMICE_MAX_CORES));
		assert_int_equal(receive_all(master.cores), TILES);
	}
}

static void chunks_of_one_number_are_in_the_order_of_cores(void **state)
{
	u32 cores;

	(void)state;
	for (cores = 1; cores <= PUMICE_MAX_CORES; cores++) {
		write_scene(cores, true);
		begin(cores);
		assert_int_equal(receive_all(cores), TILES);
	}
}

/* A partial render: of each list only the chunks below the limit. */
static void a_limit_ends_the_one_stream(void **state)
{
	u32 limit, t, i;

	(void)state;
	for (limit = 1; limit <= CHUNKS + 1; limit++) {
		write_scene(5, false);
		job.limit = limit;
		for (t = 0; t < TILES; t++) {
			for (i = 0; i < expected[t].count &&
				    expected[t].entry[i].sequence < limit; i++)
				;
			expected[t].count = i;
		}
		begin(3);
		assert_int_equal(receive_all(3), TILES);
	}
}

/* Cores that have written nothing have no region headers. */
static void lists_of_unused_cores_are_not_read(void **state)
{
	const u32 cores = 6, unused = 1u << 2 | 1u << 5;
	u32 core, t;

	(void)state;
	write_scene(cores, false);
	job.used &= ~unused;
	for (core = 0; core < cores; core++)
		for (t = 0; t < TILES && (unused >> core & 1); t++) {
			pb->regions[(core * TILES + t) * PUMICE_REGION_WORDS] = ~0u;
			list[core][t].count = 0;
		}
	for (t = 0; t < TILES; t++)
		sort_tile(t);
	begin(4);
	assert_int_equal(receive_all(4), TILES);
}

/* A render control list without a branch for a tile: its stream is empty, nothing is read. */
static void a_tile_without_a_branch_has_no_entries(void **state)
{
	struct ipf_prims prims;
	struct gpu_fault fault;
	struct ipf_work work;
	u32 t;

	(void)state;
	write_scene(3, false);
	ipf_master_init(&master, 1, IPF_MASTER_TILES);
	ipf_master_begin(&master, &job, 0);
	for (t = 0; t < TILES; t++) {
		memset(pb->regions, 0xff, 3 * TILES * PUMICE_REGION_WORDS * 4);
		ipf_master_add(&master, &(struct ipf_work){ .x = (u16)(t % TILES_X),
							    .y = (u16)(t / TILES_X) }, 0);
		assert_true(ipf_master_take(&master, 0, t % IPF_MASTER_STREAMS, &work, 0));
		assert_int_equal(ipf_master_next(&master, 0, t % IPF_MASTER_STREAMS, &prims,
						 &fault), IPF_END);
	}
}

/* The job stops in the middle of tiles; streams of the next one begin at their first entries. */
static void a_job_switch_ends_streams_in_their_middle(void **state)
{
	u32 n, i;

	(void)state;
	for (n = 0; n < 40; n++) {
		const u32 cores = 1 + number_random(&seed, 4);
		struct receiver r = { .core = 0 };

		write_scene(cores, n % 2);
		begin(cores);
		for (r.stream = 0; r.stream < IPF_MASTER_STREAMS; r.stream++) {
			const u32 entries = number_random(&seed, 30);

			assert_true(take(&r));
			for (i = 0; i < entries && r.busy; i++)
				receive(&r);
		}
		/* Another scene, in the same memory, or the same one again. */
		if (n % 3)
			write_scene(1 + number_random(&seed, PUMICE_MAX_CORES), false);
		begin(cores);
		assert_int_equal(receive_all(cores), TILES);
	}
}

/* A tile whose list is damaged is a fault, after or at any entry; others are not affected. */
static void a_damaged_list_is_a_fault_of_its_tile(void **state)
{
	u32 n, faults = 0;

	(void)state;
	for (n = 0; n < 60; n++) {
		const u32 cores = 2 + number_random(&seed, 6);
		const u32 core = number_random(&seed, cores), t = number_random(&seed, TILES - 1);
		const u32 i = number_random(&seed, TILE_ENTRIES);
		struct receiver r = { .core = 0 };
		enum ipf_result result = IPF_PRIMS;
		struct ipf_prims prims;
		struct gpu_fault fault;

		write_scene(cores, false);
		if (list[core][t].count <= i)
			continue;
		first[core][t][2 * i + 1] = 0;	/* no primitive */
		begin(1);
		while (take(&r)) {
			if (r.tile != t) {
				while (r.busy)
					receive(&r);
				continue;
			}
			while (result == IPF_PRIMS)
				result = ipf_master_next(&master, 0, 0, &prims, &fault);
			assert_int_equal(result, IPF_FAULT);
			assert_int_equal(fault.fault, PUMICE_FAULT_IPF_STREAM);
			assert_int_equal(fault.unit, PUMICE_UNIT_IPF);
			assert_int_equal(fault.ctx, PBFX_CTX);
			faults++;
		}
		assert_int_equal(result, IPF_FAULT);
	}
	assert_true(faults > 30);
}

/* ------------------------------------------------------------ requests */

static u64 bytes[PUMICE_MEM_CLIENT_COUNT];	/* of requests of clients */
static u32 place;				/* of the unit that reads */

static void count_request(void *opaque, const struct mmu_request *r)
{
	(void)opaque;
	if (r->unit == PUMICE_UNIT_NONE)
		return;
	assert_int_equal(r->place, place);
	bytes[pumice_client_find(r->unit, r->access, r->kind)] += r->bytes;
}

/* Region headers, entries with the headers of their blocks, and the end of each tile_chunk. */
static u64 bytes_of_lists(void)
{
	u64 sum = 0;
	u32 core, t;

	for (core = 0; core < scene.cores; core++)
		for (t = 0; t < TILES; t++) {
			const u32 n = list[core][t].count;

			sum += PUMICE_REGION_WORDS * 4 +
			       n * (PUMICE_TILE_ENTRY_WORDS + PUMICE_PRIM_BLOCK_WORDS) * 4ull +
			       (n + TILE_ENTRIES - 1) / TILE_ENTRIES * 8;
		}
	return sum;
}

/*
 * All reads of lists are requests of the master IPF, which is in no core, each word once; reads of
 * primitives are those of the core.
 */
static void lists_are_read_by_the_master_and_primitives_by_the_core(void **state)
{
	struct mmu_tlb *tlb = calloc(1, sizeof(*tlb));
	const struct entry *e = &expected[0].entry[0];
	struct pumice_prim_block header;
	struct gpu_fault fault;
	struct ipf_prim prim;

	(void)state;
	write_scene(7, false);
	memset(bytes, 0, sizeof(bytes));
	place = 0;
	mmu_set_request(&pb->mmu, count_request, NULL);
	begin(4);
	assert_int_equal(receive_all(4), TILES);
	assert_int_equal(bytes[PUMICE_MEM_CLIENT_IPF_READ], bytes_of_lists());
	assert_int_equal(bytes[PUMICE_MEM_CLIENT_IPF_PRIM], 0);
	tlb->place = place = 3;
	pumice_prim_block_unpack((u32 *)(void *)pbfx_host(pb, e->block), &header);
	assert_true(ipf_fetch(&scene, &pb->mmu, tlb, e->block, &header, 0, &prim, &fault));
	assert_int_equal(bytes[PUMICE_MEM_CLIENT_IPF_READ], bytes_of_lists());
	assert_int_equal(bytes[PUMICE_MEM_CLIENT_IPF_PRIM],
			 (PUMICE_PRIM_INDEX_WORDS + 3 * PUMICE_PRIM_VERTEX_WORDS) * 4);
	mmu_set_request(&pb->mmu, NULL, NULL);
	free(tlb);
}

/* ------------------------------------------------------------ threads */

static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;
static u32 tiles_received[PUMICE_MAX_CORES], wrong[PUMICE_MAX_CORES];

/* The unit of a core: only tiles are taken under the lock. */
static void *run_core(void *opaque)
{
	const u32 core = (u32)(uintptr_t)opaque;
	struct receiver r = { .core = core };
	bool any;

	for (;;) {
		pthread_mutex_lock(&device_lock);
		any = take(&r);
		pthread_mutex_unlock(&device_lock);
		if (!any)
			return NULL;
		while (r.busy)
			wrong[core] += !receive_one(&r);
		tiles_received[core]++;
		r.stream = (r.stream + 1) % IPF_MASTER_STREAMS;
	}
}

static void cores_receive_their_streams_in_parallel(void **state)
{
	pthread_t thread[4];
	u32 n, i, tiles;

	(void)state;
	for (n = 0; n < 10; n++) {
		write_scene(4, false);
		begin(4);
		memset(tiles_received, 0, sizeof(tiles_received));
		for (i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, run_core,
							(void *)(uintptr_t)i), 0);
		for (i = 0, tiles = 0; i < 4; i++) {
			assert_int_equal(pthread_join(thread[i], NULL), 0);
			assert_int_equal(wrong[i], 0);
			tiles += tiles_received[i];
		}
		assert_int_equal(tiles, TILES);
	}
}

#define LIMIT_S		20	/* of a tile, s */

static _Thread_local bool is_held;	/* the next request of this thread waits */
static sem_t inside, released, ended;

static void hold_request(void *opaque, const struct mmu_request *r)
{
	(void)opaque;
	(void)r;
	if (!is_held)
		return;
	is_held = false;
	sem_post(&inside);
	while (sem_wait(&released) && errno == EINTR)
		;
}

/* Receive a tile by the port of core 0, which is held at its first request, or of core 1. */
static void *receive_tile(void *opaque)
{
	struct receiver *r = opaque;

	is_held = !r->core;
	while (r->busy)
		wrong[r->core] += !receive_one(r);
	if (r->core)
		sem_post(&ended);
	return NULL;
}

static bool wait_for(sem_t *sem)
{
	struct timespec until;
	int err;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LIMIT_S;
	do
		err = sem_timedwait(sem, &until);
	while (err && errno == EINTR);
	return !err;
}

/* Ports have no lock in common: one receives all of a tile while another one is inside an entry. */
static void a_port_reads_while_another_one_is_inside_an_entry(void **state)
{
	struct receiver r[2] = { { .core = 0 }, { .core = 1 } };
	pthread_t thread[2];
	bool is_inside, has_ended;
	u32 i;

	(void)state;
	write_scene(4, false);
	begin(2);
	memset(wrong, 0, sizeof(wrong));
	sem_init(&inside, 0, 0);
	sem_init(&released, 0, 0);
	sem_init(&ended, 0, 0);
	mmu_set_request(&pb->mmu, hold_request, NULL);
	for (i = 0; i < 2; i++) {
		assert_true(take(&r[i]));
		assert_true(expected[r[i].tile].count > 10);
	}
	assert_int_equal(pthread_create(&thread[0], NULL, receive_tile, &r[0]), 0);
	is_inside = wait_for(&inside);
	assert_int_equal(pthread_create(&thread[1], NULL, receive_tile, &r[1]), 0);
	has_ended = wait_for(&ended);
	sem_post(&released);
	for (i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	mmu_set_request(&pb->mmu, NULL, NULL);
	assert_true(is_inside);
	assert_true(has_ended);
	for (i = 0; i < 2; i++) {
		assert_int_equal(wrong[i], 0);
		assert_false(r[i].busy);
	}
	sem_destroy(&inside);
	sem_destroy(&released);
	sem_destroy(&ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tile_has_one_stream_in_the_order_of_chunks),
		cmocka_unit_test(chunks_of_one_number_are_in_the_order_of_cores),
		cmocka_unit_test(a_limit_ends_the_one_stream),
		cmocka_unit_test(lists_of_unused_cores_are_not_read),
		cmocka_unit_test(a_tile_without_a_branch_has_no_entries),
		cmocka_unit_test(a_job_switch_ends_streams_in_their_middle),
		cmocka_unit_test(a_damaged_list_is_a_fault_of_its_tile),
		cmocka_unit_test(lists_are_read_by_the_master_and_primitives_by_the_core),
		cmocka_unit_test(cores_receive_their_streams_in_parallel),
		cmocka_unit_test(a_port_reads_while_another_one_is_inside_an_entry),
	};

	return cmocka_run_group_tests_name("ipf stream", tests, open_fixture, close_fixture);
}
