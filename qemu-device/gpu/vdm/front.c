// SPDX-License-Identifier: MIT
/*
 * Vertex data master, front of a core: assembly of pieces, and their vertex tasks.
 *
 * Source: document 004, "VDM" and "PDS"; document 001, "Binning Pass", for the coordinate program
 * and the vertex pipe memory.
 *
 * Each task gets rows of the VPM for its outputs when it gets room on a USC, and waits if there are
 * none. Pieces are so small that two of them fit with the positions of their coordinate programs
 * (pds_piece_limits()): those before the last one need nothing of it and free their rows, so a task
 * waits for a finite time.
 *
 * Registers that a program does not write read as 0: outputs are zeroed before.
 */
#include <string.h>

#include "../number.h"
#include "state.h"

static void count(_Atomic u64 *counter, u64 n)
{
	atomic_store_explicit(counter,
			      atomic_load_explicit(counter, memory_order_relaxed) + n,
			      memory_order_relaxed);
}

/* ------------------------------------------------------------ assembly */

/*
 * Begin the assembly of a piece. Returns whether outputs of the piece before can be copied: with
 * several cores only within a chunk, as which lanes shade a vertex must not depend on the order in
 * which cores process chunks.
 */
static bool begin_piece(struct vdm_core *core)
{
	const struct vdm_chunk *chunk = &core->chunk;
	struct vdm_reuse *reuse = &core->reuse;
	const bool follows = reuse->valid && reuse->part == chunk->part &&
			     (reuse->sequence == chunk->sequence || core->vdm->cores == 1);

	reuse->valid = false;
	reuse->part = chunk->part;
	reuse->sequence = chunk->sequence;
	core->keep = follows;
	vdm_entries_release(core);
	return follows;
}

/* No task of the piece's next program is started. */
static void clear_tasks(struct vdm_entry *entry)
{
	entry->next = entry->tasks = entry->ended = entry->ready = entry->copy_waves = 0;
	entry->copied = entry->final = true;
	entry->open = false;
}

static void clear_piece(struct vdm_piece *piece)
{
	piece->prims = piece->vertices = piece->first = piece->shade = 0;
}

/* Return whether the chunk has a coordinate program that culls primitives. */
static bool culls(const struct vdm_core *core)
{
	const struct vdm_shared *shared = core->chunk.shared;

	return shared->coordinate.code && !shared->record.state.deferred;
}

/* Return whether pieces of a draw may have vertices of the piece before. */
static bool shares_vertices(const struct vdm_draw *draw)
{
	return draw->indexed || vdm_topology_step(draw->topology) <
				vdm_topology_vertices(draw->topology);
}

/* Keep the piece before until its outputs are copied. */
static void begin_copies(struct vdm_core *core, struct vdm_entry *entry, u32 positions)
{
	core->keep = core->reuse.copies || positions;
	vdm_entries_release(core);
	entry->copied = !core->reuse.copies;
	core->positions.copied = !positions;
}

/* The primitives of the piece are final. */
static enum vdm_step begin_vertices(struct vdm_core *core, struct vdm_entry *entry)
{
	vdm_reuse_arrange(&core->reuse, &entry->piece);
	clear_tasks(entry);
	entry->most = entry->piece.vertices;
	begin_copies(core, entry, 0);
	core->phase = VDM_CORE_QUEUE;
	return VDM_STEP_ON;
}

/* The primitives of the piece become final one by one, in core->positions. */
static enum vdm_step begin_coordinates(struct vdm_core *core, struct vdm_entry *entry)
{
	clear_tasks(entry);
	clear_tasks(&core->positions);
	core->positions.task_vertices = entry->task_vertices;
	vdm_cull_begin(core, entry);
	begin_copies(core, entry, core->position_reuse.copies);
	core->queued++;
	core->phase = VDM_CORE_COPY_POSITIONS;
	return VDM_STEP_ON;
}

/*
 * There are no primitives: continue with the next piece, unless
 * the end of the chunk is to be queued.
 */
static enum vdm_step skip_piece(struct vdm_core *core, struct vdm_entry *entry)
{
	if (entry->last) {
		clear_piece(&entry->piece);
		return begin_vertices(core, entry);
	}
	core->keep = false;
	core->skipped = entry->assembled;
	core->phase = VDM_CORE_ASSEMBLE;
	return VDM_STEP_ON;
}

static bool assemble_piece(struct vdm_core *core, struct vdm_entry *entry, struct vdm_piece *piece,
			   struct gpu_fault *fault)
{
	struct vdm *vdm = core->vdm;
	const struct vdm_chunk *chunk = &core->chunk;
	const struct pds_piece_limits room =
		pds_piece_limits(vdm->config.pds, vdm_binned_stage(chunk->shared)->vo_words +
				 vdm_record_kept_positions(&chunk->shared->record));
	const struct vdm_piece_limits limits = {
		.prims = min_u32(VDM_PIECE_PRIMS, core->idx.depth),
		.vertices = min_u32(VDM_PIECE_VERTICES, room.vertices),
	};
	struct vdm_reader reader = {
		.mmu = vdm->config.mmu, .tlb = &core->tlb, .ctx = vdm->job.ctx,
	};
	const bool follows = begin_piece(core);

	entry->task_vertices = room.task;
	if (!vdm_assemble(&reader, &chunk->draw, chunk->shared->record.state.provoking_last,
			  &limits,
			  &core->place, chunk->end, follows, &core->cache, piece, fault))
		return false;
	count(&core->indices, reader.read);
	return true;
}

/* Begin a task without instances: a piece that has neither primitives nor vertices. */
static enum vdm_step begin_task(struct vdm_core *core, struct vdm_entry *entry)
{
	begin_piece(core);
	clear_piece(&entry->piece);
	entry->assembled = 0;
	entry->last = true;
	entry->task_vertices = 0;
	clear_tasks(entry);
	core->phase = VDM_CORE_TASK;
	return VDM_STEP_ON;
}

/* Assemble the next piece of the chunk. */
static enum vdm_step assemble(struct vdm_core *core)
{
	struct vdm_entry *entry = vdm_entry(core, core->front);
	struct vdm_piece *piece = &entry->piece;
	struct gpu_fault fault = { 0 };

	if (core->front - core->first == VDM_PIECES)
		return VDM_STEP_WAIT;
	entry->chunk = core->chunk;
	entry->vpm = core->vpm;
	entry->binned = 0;
	if (core->chunk.task)
		return begin_task(core, entry);
	if (culls(core))
		piece = &core->positions.piece;
	if (!assemble_piece(core, entry, piece, &fault))
		return vdm_core_fault(core->vdm, &fault);
	entry->assembled = core->skipped;
	entry->last = core->place.at == core->chunk.end;
	core->skipped = 0;
	if (!piece->prims)
		return skip_piece(core, entry);
	if (culls(core))
		return begin_coordinates(core, entry);
	entry->assembled += piece->prims;
	return begin_vertices(core, entry);
}

/* ------------------------------------------------------------ tasks */

/* Note that rows from a position on belong to the front's piece. */
static void use_rows(struct vdm_core *core, u64 at, u32 rows)
{
	core->vpm = vdm_entry(core, core->front)->vpm = at + rows;
}

/* Claim room for a task of this number of vertices. */
static enum vdm_step claim(struct vdm_core *core, const struct pds_stage *stage, u32 vertices)
{
	struct vdm *vdm = core->vdm;
	struct gpu_fault fault = { 0 };

	switch (pds_task_claim(vdm->config.pds, PDS_DM_VDM, core->number, stage, vertices, 1,
			       &core->room, &fault)) {
	case PDS_STARTED:
		core->filling = true;
		core->fill_pc = 0;
		return VDM_STEP_ON;
	case PDS_WAIT:
		return VDM_STEP_WAIT;
	default:
		return vdm_core_fault(vdm, &fault);
	}
}

/* Set the outputs of the waves of the task that is started next, and zero them. */
static void set_outputs(struct vdm_entry *entry, u32 *vo, u32 vo_words, u32 waves)
{
	u32 first = (entry->piece.first + entry->next) / PUMICE_LANES, n;

	if (entry->next % PUMICE_LANES == 0)	/* else it is joined to the task before */
		for (n = 0; n < waves; n++)
			entry->vo[first + n] = vo + n * vo_words * PUMICE_LANES;
	memset(vo, 0, (size_t)waves * vo_words * PUMICE_LANES * sizeof(u32));
}

/* Start the filled task of this number of vertices. */
static void start_task(struct vdm_core *core, struct vdm_entry *entry, u32 vo_words, u32 vertices)
{
	const u32 waves = div_up(vertices, PUMICE_LANES);
	struct vdm *vdm = core->vdm;
	struct pds *pds = vdm->config.pds;
	struct usc_gfx *gfx = &entry->gfx[entry->tasks];

	*gfx = (struct usc_gfx){
		.stage = USC_STAGE_VERTEX, .sample = USC_PIXEL_RATE,
		.opaque = &entry->done[entry->tasks],
		.vo = pds_vpm_row(pds, core->number, core->room.vpm), .vo_words = vo_words,
		.uniforms = core->chunk.shared->record.state.uniforms,
		.uniform_words = core->chunk.shared->record.state.uniform_words,
	};
	set_outputs(entry, gfx->vo, vo_words, waves);
	use_rows(core, core->room.vpm, waves * vo_words);
	atomic_store(&entry->done[entry->tasks], false);
	core->filling = false;
	entry->tasks++;
	entry->next += vertices;
	count(&core->vertices, vertices);
	atomic_fetch_add(&core->outstanding, 1);
	pds_task_start(pds, PDS_DM_VDM, &core->room, gfx);
	if (atomic_load(&vdm->stopping)) {	/* it may have started after the abort */
		vdm->config.ops->lock(vdm->config.opaque);
		pds_dm_abort(pds, PDS_DM_VDM);
		vdm->config.ops->unlock(vdm->config.opaque);
	}
}

/* Do a piece of filling a task for the next vertices; start it when it is filled. */
static enum vdm_step fill_task(struct vdm_core *core, struct vdm_entry *entry,
			       const struct pds_stage *stage)
{
	struct vdm *vdm = core->vdm;
	const struct pds_vertices in = {
		.vertex = entry->piece.vertex + entry->next, .instance = core->chunk.instance,
		.base_instance = core->chunk.draw.base_instance,
		.count = min_u32(entry->piece.shade - entry->next, entry->task_vertices),
	};
	struct gpu_fault fault = { 0 };

	if (!core->filling) {
		const enum vdm_step result = claim(core, stage, in.count);

		if (!core->filling)
			return result;
	}
	if (!pds_fill_vertices(vdm->config.pds, &core->room, stage, &in, &core->tlb, &core->fill_pc,
			       &fault))
		return vdm_core_fault(vdm, &fault);
	if (core->fill_pc == stage->program.insns)
		start_task(core, entry, stage->vo_words, in.count);
	return VDM_STEP_ON;
}

/* Run a task without instances; when it has ended, so has its piece. */
static enum vdm_step task(struct vdm_core *core, struct vdm_entry *entry)
{
	if (!entry->tasks)
		return fill_task(core, entry, vdm_binned_stage(core->chunk.shared));
	vdm_entry_update(entry);
	return vdm_entry_shaded(entry) ? begin_vertices(core, entry) : VDM_STEP_WAIT;
}

/* ------------------------------------------------------------ vertex program */

static enum vdm_step queue(struct vdm_core *core, struct vdm_entry *entry)
{
	const struct dm_config *config = &core->vdm->config;

	if (!fifo_push(&core->idx, entry->piece.prims, config->ops->now(config->opaque)))
		return VDM_STEP_WAIT;
	core->queued++;
	core->phase = entry->copied ? VDM_CORE_VERTEX : VDM_CORE_COPY;
	return VDM_STEP_ON;
}

/* The piece needs no more of the front. */
static enum vdm_step end_piece(struct vdm_core *core, struct vdm_entry *entry)
{
	const bool shares = shares_vertices(&core->chunk.draw);

	core->reuse.valid = shares;
	core->front++;
	core->keep = shares && (!entry->last || core->vdm->cores == 1);
	core->phase = entry->last ? VDM_CORE_IDLE : VDM_CORE_ASSEMBLE;
	return VDM_STEP_ON;
}

/* Claim rows for the next wave of copies. ON: it has them. */
static enum vdm_step claim_wave(struct vdm_core *core, struct vdm_entry *to, u32 rows)
{
	struct pds *pds = core->vdm->config.pds;
	u64 at;

	if (pds_vpm_claim(pds, core->number, rows, core->vdm->job.ctx, &at) != PDS_STARTED)
		return VDM_STEP_WAIT;
	use_rows(core, at, rows);
	to->vo[to->copy_waves++] = pds_vpm_row(pds, core->number, at);
	return VDM_STEP_ON;
}

/* The rows of the piece before are not needed for the front's piece. */
static void end_copies(struct vdm_core *core)
{
	core->keep = false;
	vdm_entries_release(core);
}

/*
 * Copy positions that the piece before has. Its coordinate tasks have ended: the front has culled
 * all of its primitives.
 */
static enum vdm_step copy_positions(struct vdm_core *core, struct vdm_entry *entry)
{
	struct vdm_entry *positions = &core->positions;

	if (positions->copy_waves < div_up(core->position_reuse.copies, PUMICE_LANES))
		return claim_wave(core, positions, VDM_POSITION_WORDS);
	if (!positions->copied) {
		positions->copied = vdm_reuse_copy(&core->position_reuse, core->position_vo,
						   positions->vo, VDM_POSITION_WORDS);
		return VDM_STEP_ON;
	}
	if (entry->copied)
		end_copies(core);
	core->phase = entry->copied ? VDM_CORE_COORDINATE : VDM_CORE_COPY;
	return VDM_STEP_ON;
}

static enum vdm_step claim_copies(struct vdm_core *core, struct vdm_entry *entry)
{
	if (entry->copy_waves < div_up(core->reuse.copies, PUMICE_LANES))
		return claim_wave(core, entry, vdm_binned_stage(core->chunk.shared)->vo_words);
	core->phase = entry->final ? VDM_CORE_VERTEX : VDM_CORE_COORDINATE;
	return VDM_STEP_ON;
}

/*
 * Make some of the copies if the tasks of the piece before have ended; after the last one its rows
 * are not needed for this piece.
 */
static enum vdm_step copy(struct vdm_core *core, struct vdm_entry *entry)
{
	struct vdm_entry *before = vdm_entry(core, core->front - 1);

	vdm_entry_update(before);
	if (!vdm_entry_shaded(before))
		return VDM_STEP_WAIT;
	entry->copied = vdm_reuse_copy(&core->reuse, before->vo, entry->vo,
				       vdm_binned_stage(core->chunk.shared)->vo_words);
	if (entry->copied)
		end_copies(core);
	return VDM_STEP_ON;
}

/* Do what needs no room for a task. */
static enum vdm_step advance(struct vdm_core *core, struct vdm_entry *entry)
{
	if (!entry->final && vdm_cull(core, entry) == VDM_STEP_ON)
		return VDM_STEP_ON;
	return entry->copied ? VDM_STEP_WAIT : copy(core, entry);
}

static enum vdm_step coordinate(struct vdm_core *core, struct vdm_entry *entry)
{
	struct vdm_entry *positions = &core->positions;

	if (positions->next == positions->piece.shade) {
		core->phase = VDM_CORE_VERTEX;
		return VDM_STEP_ON;
	}
	if (fill_task(core, positions, &core->chunk.shared->coordinate) == VDM_STEP_ON)
		return VDM_STEP_ON;
	return advance(core, entry);
}

static enum vdm_step vertex(struct vdm_core *core, struct vdm_entry *entry)
{
	const u32 left = entry->piece.shade - entry->next;

	/* Only the last task may have fewer vertices than others. */
	if (left && (entry->final || left >= entry->task_vertices) &&
	    fill_task(core, entry, vdm_binned_stage(core->chunk.shared)) == VDM_STEP_ON)
		return VDM_STEP_ON;
	if (!left && entry->final && entry->copied)
		return end_piece(core, entry);
	return advance(core, entry);
}

enum vdm_step vdm_front(struct vdm_core *core)
{
	struct vdm_entry *entry = vdm_entry(core, core->front);

	switch (core->phase) {
	case VDM_CORE_IDLE:
		break;
	case VDM_CORE_ASSEMBLE:
		return assemble(core);
	case VDM_CORE_TASK:
		return task(core, entry);
	case VDM_CORE_QUEUE:
		return queue(core, entry);
	case VDM_CORE_COPY_POSITIONS:
		return copy_positions(core, entry);
	case VDM_CORE_COPY:
		return claim_copies(core, entry);
	case VDM_CORE_COORDINATE:
		return coordinate(core, entry);
	case VDM_CORE_VERTEX:
		return vertex(core, entry);
	}
	return VDM_STEP_WAIT;
}
