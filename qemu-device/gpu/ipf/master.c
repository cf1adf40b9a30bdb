// SPDX-License-Identifier: MIT
/* Master IPF. See master.h. */
#include "master.h"

#define LOW	4u	/* a FIFO is low if this part of it, or less, is in use */

void ipf_master_init(struct ipf_master *master, u32 cores, u32 depth)
{
	u32 i;

	master->cores = cores;
	master->next = 0;
	master->waits = false;
	for (i = 0; i < cores; i++) {
		fifo_init(&master->core[i].tiles, depth);
		master->core[i].first = 0;
	}
}

void ipf_master_share_tlb(struct ipf_master *master, u32 core, struct mmu_tlb *tlb)
{
	master->core[core].shared = tlb;
	mmu_tlb_set_far(&master->core[core].tlb, tlb->far, tlb->far_mask + 1);
}

void ipf_master_begin(struct ipf_master *master, const struct ipf_job *job, u64 now)
{
	u32 i;

	master->job = *job;
	master->next = 0;
	master->waits = false;
	for (i = 0; i < master->cores; i++) {
		struct ipf_queue *q = &master->core[i];

		fifo_pop(&q->tiles, q->tiles.level, now);
		q->first = 0;
	}
}

bool ipf_master_low(const struct ipf_master *master)
{
	u32 i;

	for (i = 0; i < master->cores; i++)
		if (master->core[i].tiles.level <= master->core[i].tiles.depth / LOW)
			return true;
	return false;
}

/* Return the core that receives the next tile. */
static u32 select_core(const struct ipf_master *master)
{
	u32 best = master->next, i;

	for (i = 1; i < master->cores; i++) {
		const u32 core = (master->next + i) % master->cores;

		if (ipf_master_tiles(master, core) < ipf_master_tiles(master, best))
			best = core;
	}
	return best;
}

bool ipf_master_add(struct ipf_master *master, const struct ipf_work *work, u64 now)
{
	const u32 core = select_core(master);
	struct ipf_queue *q = &master->core[core];

	if (master->waits)
		fifo_wait(&q->tiles);
	master->waits = false;
	q->work[(q->first + q->tiles.level) % IPF_MASTER_TILES] = *work;
	fifo_push(&q->tiles, 1, now);
	master->next = (core + 1) % master->cores;
	q = &master->core[select_core(master)];
	return q->tiles.level < q->tiles.depth;
}

void ipf_master_wait(struct ipf_master *master)
{
	master->waits = true;
}

bool ipf_master_take(struct ipf_master *master, u32 core, u32 stream, struct ipf_work *work,
		     u64 now)
{
	struct ipf_queue *q = &master->core[core];

	if (!q->tiles.level)
		return false;
	*work = q->work[q->first];
	q->first = (q->first + 1) % IPF_MASTER_TILES;
	fifo_pop(&q->tiles, 1, now);
	ipf_stream_begin(&q->stream[stream], work->y * master->job.scene->tiles_x + work->x,
			 work->branch);
	return true;
}

enum ipf_result ipf_master_next(struct ipf_master *master, u32 core, u32 stream,
				struct ipf_prims *prims, struct gpu_fault *fault)
{
	struct ipf_queue *q = &master->core[core];
	struct mmu_tlb *tlb = q->shared && !mmu_is_detailed(master->job.mmu) ? q->shared : &q->tlb;

	return ipf_stream_next(&q->stream[stream], &master->job, tlb, prims, fault);
}

u32 ipf_master_all(const struct ipf_master *master)
{
	u32 tiles = 0, i;

	for (i = 0; i < master->cores; i++)
		tiles += ipf_master_tiles(master, i);
	return tiles;
}

void ipf_master_counters(const struct ipf_master *master, u64 *waits, u64 *occupancy)
{
	u32 i;

	for (i = 0; i < master->cores; i++) {
		*waits += atomic_load(&master->core[i].tiles.waited);
		*occupancy += atomic_load(&master->core[i].tiles.occupancy);
	}
}
