// SPDX-License-Identifier: MIT
/*
 * PDM: the walk through the render control list.
 *
 * Source: document 001, "Binning Pass"; hw/render.xml, stream "pdm". See list.h.
 *
 * Words are read in aligned blocks of 256 bytes, so that no page is read but those that
 * contain commands, and each once, unless the list branches. The list always ends: a tile is
 * rendered once at most, and there are PDM_MAX_IDLE commands at most between two stores.
 */
#include <string.h>

#include "../record.h"
#include "state.h"

#define STREAM_ALIGN	16u

static void lock(struct pdm *pdm)
{
	pdm->config.ops->lock(pdm->config.opaque);
}

static void unlock(struct pdm *pdm)
{
	pdm->config.ops->unlock(pdm->config.opaque);
}

static u64 now(const struct pdm *pdm)
{
	return pdm->config.ops->now(pdm->config.opaque);
}

static void wake_all(struct pdm *pdm)
{
	unsigned int i;

	for (i = 0; i < pdm->config.cores; i++)
		pdm->config.ops->wake(pdm->config.opaque, i);
}

/* ------------------------------------------------------------ reading */

/* Return the word at pc and advance. */
static bool read_word(struct pdm *pdm, u32 *word, struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;
	const u64 at = list->pc / sizeof(list->window) * sizeof(list->window);

	if (!list->window_valid || list->window_at != at) {
		list->window_valid = false;
		*fault = (struct gpu_fault){ .ctx = (u8)pdm->job.ctx };
		if (!mmu_read(pdm->config.mmu, &list->tlb, pdm->job.ctx, at, list->window,
			      sizeof(list->window), PUMICE_ACCESS_READ,
			      MMU_WINDOW(PUMICE_UNIT_PDM), fault))
			return false;
		list->window_valid = true;
		list->window_at = at;
	}
	mmu_use(pdm->config.mmu, &list->tlb, pdm->job.ctx, list->pc, sizeof(*word),
		PUMICE_UNIT_PDM);
	*word = list->window[(list->pc - at) / sizeof(u32)];
	list->pc += sizeof(u32);
	return true;
}

/* Fetch and check the next command. */
static bool fetch(struct pdm *pdm, struct pdm_command *cmd, struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;
	u32 words[PUMICE_PDM_CMD_MAX_WORDS] = { 0 }, count, i;
	enum pumice_fault why;

	list->command_pc = list->pc;
	if (!read_word(pdm, &words[0], fault))
		return false;
	count = (u32)pumice_pdm_cmd_words(words[0]);
	for (i = 1; i < count; i++)
		if (!read_word(pdm, &words[i], fault))
			return false;
	why = pdm_command_decode(words, cmd);
	if (why == PUMICE_FAULT_NONE)
		return true;
	*fault = dm_fault(PUMICE_UNIT_PDM, why, pdm->job.ctx, list->command_pc);
	return false;
}

/* ------------------------------------------------------------ the generated list */

enum generated { STEP_TILE, STEP_BRANCH, STEP_STORE, STEPS };

/* Advance to the next tile of the target, row by row in its macro tile; false at the end. */
static bool next_tile(const struct pdm *pdm, struct pdm_list *list)
{
	const struct pm_scene *s = &pdm->scene;

	while (list->at_macro < PM_MACRO_TILES) {
		const u32 left = list->at_macro % PUMICE_MACRO_TILES_X * s->macro_w;
		const u32 top = list->at_macro / PUMICE_MACRO_TILES_X * s->macro_h;

		if (left + list->at_x < s->tiles_x && list->at_x < s->macro_w &&
		    top + list->at_y < s->tiles_y && list->at_y < s->macro_h)
			return true;
		list->at_x = 0;
		if (++list->at_y >= s->macro_h) {
			list->at_y = 0;
			list->at_macro++;
		}
	}
	return false;
}

/* Generate the next command of a list that renders all tiles. */
static void generate(const struct pdm *pdm, struct pdm_list *list, struct pdm_command *cmd)
{
	const struct pm_scene *s = &pdm->scene;

	*cmd = (struct pdm_command){ .type = PUMICE_PDM_TYPE_END };
	if (!next_tile(pdm, list))
		return;
	switch ((enum generated)list->at_step) {
	case STEP_TILE:
		cmd->type = PUMICE_PDM_TYPE_TILE;
		cmd->x = (u16)(list->at_macro % PUMICE_MACRO_TILES_X * s->macro_w + list->at_x);
		cmd->y = (u16)(list->at_macro / PUMICE_MACRO_TILES_X * s->macro_h + list->at_y);
		break;
	case STEP_BRANCH:
		cmd->type = PUMICE_PDM_TYPE_BRANCH;
		break;
	default:
		cmd->type = PUMICE_PDM_TYPE_STORE;
		list->at_x++;
		break;
	}
	list->at_step = (list->at_step + 1) % STEPS;
}

/* ------------------------------------------------------------ execution */

/* Result of a command. */
enum outcome {
	DONE,
	FULL,		/* the FIFOs of all cores are full */
	HELD,		/* waits for tiles; the command is executed again */
	SWEPT,		/* has operated on caches: the piece ends */
	FAULTED,	/* *fault is set */
};

static enum outcome refuse(const struct pdm *pdm, enum pumice_fault why, struct gpu_fault *fault)
{
	*fault = dm_fault(PUMICE_UNIT_PDM, why, pdm->job.ctx, pdm->list.command_pc);
	return FAULTED;
}

static enum outcome run_tile(struct pdm *pdm, const struct pdm_command *cmd,
			     struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;

	if (list->open)
		return refuse(pdm, PUMICE_FAULT_PDM_TILE_OPEN, fault);
	if (cmd->x >= pdm->scene.tiles_x || cmd->y >= pdm->scene.tiles_y)
		return refuse(pdm, PUMICE_FAULT_PDM_TILE, fault);
	if (list->seen[cmd->y][cmd->x])
		return refuse(pdm, PUMICE_FAULT_PDM_TILE_TWICE, fault);
	list->seen[cmd->y][cmd->x] = true;
	list->open = true;
	list->next = (struct ipf_work){ .x = cmd->x, .y = cmd->y };
	return DONE;
}

static enum outcome run_branch(struct pdm *pdm, struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;

	if (!list->open)
		return refuse(pdm, PUMICE_FAULT_PDM_NO_TILE, fault);
	if (list->next.branch)
		return refuse(pdm, PUMICE_FAULT_PDM_TILE_TWICE, fault);
	list->next.branch = true;
	return DONE;
}

/* The frame ends: no more tiles follow. */
static enum outcome run_end(struct pdm *pdm, struct gpu_fault *fault)
{
	if (pdm->list.open)
		return refuse(pdm, PUMICE_FAULT_PDM_TILE_OPEN, fault);
	lock(pdm);
	pdm->list.ended = true;
	unlock(pdm);
	return DONE;
}

/* Pass the tile to the master IPF, which has room for it. */
static enum outcome run_store(struct pdm *pdm, const struct pdm_command *cmd,
			      struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;
	struct pumice_stage stage;
	bool full;

	if (!list->open)
		return refuse(pdm, PUMICE_FAULT_PDM_NO_TILE, fault);
	list->next.own_store = cmd->type == PUMICE_PDM_TYPE_STORE_PROGRAM;
	if (list->next.own_store) {
		memcpy(list->next.store, cmd->program, sizeof(list->next.store));
		if (pumice_stage_unpack(list->next.store, &stage) != PUMICE_UNPACK_OK)
			return refuse(pdm, PUMICE_FAULT_PDM_RESERVED, fault);
	}
	list->open = false;
	list->appended = true;
	list->idle = 0;
	lock(pdm);
	full = !ipf_master_add(&list->master, &list->next, now(pdm));
	if (full && !cmd->end)
		ipf_master_wait(&list->master);
	unlock(pdm);
	if (cmd->end)
		return run_end(pdm, fault);
	return full ? FULL : DONE;
}

static enum outcome run_call(struct pdm *pdm, const struct pdm_command *cmd,
			     struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;

	if (list->depth == PUMICE_PDM_MAX_DEPTH)
		return refuse(pdm, PUMICE_FAULT_PDM_DEPTH, fault);
	list->return_pc[list->depth++] = list->pc;
	list->pc = cmd->addr;
	return DONE;
}

static enum outcome run_return(struct pdm *pdm, struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;

	if (!list->depth)
		return refuse(pdm, PUMICE_FAULT_PDM_RETURN, fault);
	list->pc = list->return_pc[--list->depth];
	return DONE;
}

/* Return whether tiles are not stored yet. @walkers: in pdm->active, none of a tile. Lock held. */
static bool has_tiles(const struct pdm *pdm, u32 walkers)
{
	return ipf_master_all(&pdm->list.master) || pdm->active != walkers;
}

/* Return whether a flush has to wait; it is fetched again then. */
static bool hold(struct pdm *pdm)
{
	struct pdm_list *list = &pdm->list;

	if (list->open)
		return false;	/* refused */
	lock(pdm);
	list->held = has_tiles(pdm, 1);
	unlock(pdm);
	if (!list->held)
		return false;
	list->pc = list->command_pc;
	list->idle--;
	return true;
}

static enum outcome run_flush(struct pdm *pdm, const struct pdm_command *cmd,
			      struct gpu_fault *fault)
{
	if (pdm->list.open)
		return refuse(pdm, PUMICE_FAULT_PDM_TILE_OPEN, fault);
	return dm_flush(pdm->config.mmu, PUMICE_UNIT_PDM, pdm->job.ctx, &cmd->flush) ? SWEPT : DONE;
}

static enum outcome run(struct pdm *pdm, const struct pdm_command *cmd, struct gpu_fault *fault)
{
	switch ((enum pumice_pdm_type)cmd->type) {
	case PUMICE_PDM_TYPE_TILE:
		return run_tile(pdm, cmd, fault);
	case PUMICE_PDM_TYPE_BRANCH:
		return run_branch(pdm, fault);
	case PUMICE_PDM_TYPE_STORE:
	case PUMICE_PDM_TYPE_STORE_PROGRAM:
		return run_store(pdm, cmd, fault);
	case PUMICE_PDM_TYPE_CALL:
		return run_call(pdm, cmd, fault);
	case PUMICE_PDM_TYPE_RETURN:
		return run_return(pdm, fault);
	case PUMICE_PDM_TYPE_LINK:
		pdm->list.pc = cmd->addr;
		return DONE;
	case PUMICE_PDM_TYPE_END:
		return run_end(pdm, fault);
	case PUMICE_PDM_TYPE_FLUSH:
		return run_flush(pdm, cmd, fault);
	case PUMICE_PDM_TYPE_MODE:
		break;
	}
	return refuse(pdm, PUMICE_FAULT_PDM_MODE, fault);
}

/* Execute the next command. */
static enum outcome step(struct pdm *pdm, struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;
	struct pdm_command cmd;

	if (list->idle++ == PUMICE_PDM_MAX_IDLE) {
		list->command_pc = list->pc;
		return refuse(pdm, PUMICE_FAULT_PDM_ENDLESS, fault);
	}
	if (list->generated)
		generate(pdm, list, &cmd);
	else if (!fetch(pdm, &cmd, fault))
		return FAULTED;
	if (cmd.type == PUMICE_PDM_TYPE_FLUSH && hold(pdm))
		return HELD;
	atomic_fetch_add_explicit(&list->commands, 1, memory_order_relaxed);
	return run(pdm, &cmd, fault);
}

/* ------------------------------------------------------------ interface */

bool pdm_list_open(struct pdm *pdm, u64 *record, struct gpu_fault *fault)
{
	struct pdm_list *list = &pdm->list;
	const struct gpu_record head = { pdm->config.mmu, &list->tlb, pdm->job.ctx,
					 pdm->job.stream, PUMICE_UNIT_ISP };
	struct pdm_command cmd;
	u32 word;

	list->pc = *record = pdm->job.stream;
	list->window_valid = false;
	list->depth = 0;
	list->idle = 0;
	list->open = false;
	list->at_macro = list->at_x = list->at_y = list->at_step = 0;
	memset(list->seen, 0, sizeof(list->seen[0]) * pdm->scene.tiles_y);
	list->generated = true;
	/* A misaligned record is refused when it is read. */
	if (pdm->job.stream % STREAM_ALIGN)
		return true;
	if (!gpu_record_read(&head, &word, 1, fault))
		return false;
	if (pumice_pdm_cmd_type(word) != PUMICE_PDM_TYPE_MODE)
		return true;
	list->generated = false;
	atomic_fetch_add_explicit(&list->commands, 1, memory_order_relaxed);
	if (!fetch(pdm, &cmd, fault))
		return false;
	/* Memory may have changed since: then the record is refused. */
	*record = cmd.addr;
	return true;
}

void pdm_list_begin(struct pdm *pdm)
{
	const struct ipf_job job = { .scene = &pdm->scene, .mmu = pdm->config.mmu,
				     .used = pdm->scene_state.used,
				     .limit = pdm->scene_state.limit };
	struct pdm_list *list = &pdm->list;

	ipf_master_begin(&list->master, &job, now(pdm));
	list->walking = list->ended = list->held = false;
}

bool pdm_list_claim_walk(struct pdm *pdm)
{
	struct pdm_list *list = &pdm->list;

	if (list->ended || list->walking || !ipf_master_low(&list->master) ||
	    (list->held && has_tiles(pdm, 0)))
		return false;
	list->held = false;
	list->walking = true;
	return true;
}

void pdm_list_walk(struct pdm *pdm)
{
	struct pdm_list *list = &pdm->list;
	enum outcome outcome = DONE;
	struct gpu_fault fault = { 0 };
	u32 n;

	list->appended = false;
	for (n = 0; n < PDM_LIST_PIECE && outcome == DONE && !list->ended; n++)
		outcome = step(pdm, &fault);
	if (outcome == FAULTED)
		pdm_fault(pdm, &fault);
	lock(pdm);
	list->walking = false;
	if (list->appended || list->ended || list->held)
		wake_all(pdm);
	unlock(pdm);
}

bool pdm_list_claim_tile(struct pdm_tile *tile)
{
	struct pdm *pdm = tile->pdm;

	return ipf_master_take(&pdm->list.master, tile->core->number, tile->slot, &tile->entry,
			       now(pdm));
}

bool pdm_list_core_done(const struct pdm *pdm, u32 core)
{
	return (pdm->list.ended || pdm->list.held) && !ipf_master_tiles(&pdm->list.master, core);
}

bool pdm_list_done(const struct pdm *pdm)
{
	return pdm->list.ended && !ipf_master_all(&pdm->list.master);
}

void pdm_list_reset(struct pdm *pdm)
{
	ipf_master_init(&pdm->list.master, pdm->config.cores, pdm->config.tile_fifo);
	pdm->list.walking = pdm->list.held = false;
	pdm->list.ended = true;
	atomic_store(&pdm->list.commands, 0);
}
