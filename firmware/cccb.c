// SPDX-License-Identifier: MIT
/*
 * Client CCB.
 *
 * A command is copied once, validated, and executed from the copy. An invalid
 * command breaks its own context only: the start of the command that follows a
 * malformed one is unknown, so all remaining commands are dropped.
 */
#include "boot.h"
#include "bus.h"
#include "caches.h"
#include "cccb.h"
#include "counters.h"
#include "dm.h"
#include "fwccb.h"
#include "log.h"
#include "mmu.h"
#include "pumice_formats.h"
#include "strict.h"
#include "ufo.h"
#include "window.h"

/* Commands of one context before other contexts are served. */
#define BATCH	16u

/*
 * The largest command except PAD, which is not copied whole. Job commands start
 * with the same fields (stream, seqno, perf), laid out as in fwif_cccb_compute.
 */
struct command {
	union {
		struct fwif_cccb_header header;
		struct fwif_cccb_wait wait;
		struct fwif_cccb_compute compute;
		struct fwif_cccb_present present;
		struct fwif_cccb_render render;
		struct fwif_cccb_update update;
	};
	u32 caches;	/* FWIF_CACHES_* of its header's type, which is without */
};

_Static_assert(__builtin_offsetof(struct fwif_cccb_render, perf) ==
	       __builtin_offsetof(struct fwif_cccb_compute, perf), "jobs begin alike");
_Static_assert(__builtin_offsetof(struct fwif_cccb_present, perf) ==
	       __builtin_offsetof(struct fwif_cccb_compute, perf), "jobs begin alike");

/* Return the exact size of a command, or 0 for PAD and unknown types. */
static u32 command_bytes(u32 type)
{
	switch (type) {
	case FWIF_CCCB_WAIT:
		return sizeof(struct fwif_cccb_wait);
	case FWIF_CCCB_COMPUTE:
	case FWIF_CCCB_TRANSFER:
	case FWIF_CCCB_RAYS:
		return sizeof(struct fwif_cccb_compute);
	case FWIF_CCCB_PRESENT:
		return sizeof(struct fwif_cccb_present);
	case FWIF_CCCB_GEOMETRY:
	case FWIF_CCCB_FRAGMENT:
		return sizeof(struct fwif_cccb_render);
	case FWIF_CCCB_UPDATE:
		return sizeof(struct fwif_cccb_update);
	default:
		return 0;
	}
}

/* Split the word of the type. Return false if it has flags that are unknown, or not of a job. */
static bool split_type(struct command *cmd)
{
	cmd->caches = cmd->header.type & ~FWIF_CCCB_TYPE;
	cmd->header.type &= FWIF_CCCB_TYPE;
	switch (cmd->header.type) {
	case FWIF_CCCB_PAD:
	case FWIF_CCCB_WAIT:
	case FWIF_CCCB_UPDATE:
		return !cmd->caches;
	default:
		if (cmd->caches & ~FWIF_CACHES_ALL)
			return false;
		/* Buffers of an older host are coherent, too, and it has no flags. */
		if (boot_host_minor() < FWIF_CACHES_SINCE)
			cmd->caches = FWIF_CACHES_ALL;
		return true;
	}
}

/* Copy and validate the command at c->read; cmd->header.type is set even on failure. */
static bool fetch(struct context *c, struct command *cmd)
{
	u32 addr = c->cccb + c->read;
	u32 queued = (c->write - c->read) & c->cccb_mask;
	u32 bytes;

	cmd->header.type = 0;
	if (!window_read(addr, &cmd->header, sizeof(cmd->header) / 4))
		return false;
	bytes = cmd->header.bytes;
	if (!split_type(cmd))
		return false;
	if (bytes < sizeof(cmd->header) || bytes % 8 || bytes > queued ||
	    bytes > c->cccb_mask + 1 - c->read)
		return false;
	if (cmd->header.type == FWIF_CCCB_PAD)
		return true;
	return bytes == command_bytes(cmd->header.type) &&
	       window_read(addr + sizeof(cmd->header), &cmd->header + 1,
			   (bytes - sizeof(cmd->header)) / 4);
}

static void consume(struct context *c, u32 bytes)
{
	c->read = (c->read + bytes) & c->cccb_mask;
}

static enum cccb_progress break_context(struct context *c, u32 type)
{
	const struct fwif_fwccb_msg msg = {
		.type = FWIF_FWCCB_ERROR,
		.context_id = c->id,
		.code = FWIF_ERROR_CLIENT_CCB,
		.addr = c->read,
		.time = clock_now(),
	};

	log_event(FWIF_LOG_CONTEXT_BROKEN, c->id, c->read, type);
	c->read = c->write;
	context_set_state(c, FWIF_CONTEXT_BROKEN);
	fwccb_send(&msg);
	return CCCB_EMPTY;
}

/* Write a result. Return false if the context's results cannot be written. */
static bool write_result(struct context *c, const struct fwif_job_result *result)
{
	return window_write(c->results + (result->seqno & c->result_mask) * sizeof(*result),
			    result, sizeof(*result) / 4);
}

/* End a job that is not on the data master: not started, or switched out. */
static bool refuse_job(struct context *c, const struct fwif_cccb_compute *cmd, u8 fault)
{
	const u64 now = clock_now();
	const struct fwif_job_result result = {
		.seqno = cmd->seqno,
		.fault = fault,
		.unit = PUMICE_UNIT_FW,
		.addr = cmd->stream,
		.time_start = c->started ? c->first_start : now,
		.time_end = now,
		.run_ticks = c->job_ticks,
		.slices = c->job_slices,
		.partials = c->partials,
	};

	/* It has run in a former slice. If its MMU context was reassigned, that was flushed. */
	if (c->started && mmu_find(c))
		caches_end(c, mmu_find(c));
	dm_job_reset(c);
	if (fault == PUMICE_FAULT_KILLED)
		fw_boot->jobs_killed++;
	else
		fw_boot->jobs_faulted++;
	return write_result(c, &result);
}

/* Validate the fields of a render job that do not depend on the state of its context. */
static bool scene_valid(const struct command *cmd)
{
	const struct fwif_cccb_render *r = &cmd->render;
	u32 probe;

	switch (cmd->header.type) {
	case FWIF_CCCB_GEOMETRY:
		if (r->before && ufo_check(r->before, r->before_value) == UFO_BAD_ADDRESS)
			return false;
		break;
	case FWIF_CCCB_FRAGMENT:
		if (r->render || r->before || r->before_value)
			return false;
		break;
	default:
		return true;
	}
	return !r->reserved && window_valid(r->scene, SCENE_BYTES, 16) &&
	       window_read32(r->scene, &probe);
}

/* Type of the job commands of the context's data master. */
static u32 job_type(const struct context *c)
{
	static const u8 job[FWIF_DM_COUNT] = {
		[FWIF_DM_CDM] = FWIF_CCCB_COMPUTE,
		[FWIF_DM_VDM] = FWIF_CCCB_GEOMETRY,
		[FWIF_DM_PDM] = FWIF_CCCB_FRAGMENT,
		[FWIF_DM_TDM] = FWIF_CCCB_TRANSFER,
		[FWIF_DM_RDM] = FWIF_CCCB_RAYS,
	};

	return job[c->dm];
}

/* Return whether a job command is one of the context's data master, with fields that it allows. */
static bool job_valid(const struct context *c, const struct command *cmd)
{
	const struct fwif_cccb_present *p = &cmd->present;

	if (cmd->header.type == FWIF_CCCB_PRESENT)
		return c->flips && p->presents && p->presents <= PUMICE_TDM_MAX_PRESENTS &&
		       !p->reserved;
	return cmd->header.type == job_type(c) && scene_valid(cmd);
}

/*
 * Refuse a job before it starts. A fragment job relies on the operations of its geometry job, also
 * of one that is refused (hw/cccb.h). If the VM has no MMU context, binding it drops all lines.
 */
static bool refuse_start(struct context *c, const struct command *cmd, u8 fault)
{
	if (cmd->header.type == FWIF_CCCB_GEOMETRY && !c->started && mmu_find(c)) {
		c->caches = cmd->caches;
		c->scene = cmd->render.scene;
		caches_start(c, mmu_find(c));
	}
	return refuse_job(c, &cmd->compute, fault);
}

/* Prepare a job, or end it at once. Return false if the command is malformed. */
static bool prepare_job(struct context *c, const struct command *cmd, bool *prepared)
{
	const struct fwif_cccb_compute *job = &cmd->compute;
	const bool renders = job->header.bytes == sizeof(cmd->render);
	const u64 render = renders ? cmd->render.render : 0;
	u32 probe;

	*prepared = false;
	if (!job_valid(c, cmd))
		return false;
	if (job->perf && (!window_valid(job->perf, counters_bytes(), 8) ||
			  !window_read32(job->perf, &probe)))
		return false;
	if (context_is_dead(c))
		return refuse_start(c, cmd, PUMICE_FAULT_KILLED);
	if (job->stream >> PUMICE_MMU_VA_BITS || render >> PUMICE_MMU_VA_BITS)
		return refuse_start(c, cmd, PUMICE_FAULT_MMU_ADDRESS);
	c->stream = job->stream;
	c->render = render;
	c->scene = renders ? cmd->render.scene : 0;
	c->before = renders ? cmd->render.before : 0;
	c->before_value = renders ? cmd->render.before_value : 0;
	c->seqno = job->seqno;
	c->job_bytes = job->header.bytes;
	c->perf = job->perf;
	c->caches = cmd->caches;
	c->presents = job->header.type == FWIF_CCCB_PRESENT ? cmd->present.presents : 0;
	*prepared = true;
	return true;
}

static bool do_update(const struct context *c, const struct fwif_cccb_update *cmd)
{
	if (strict_is_on())
		strict_signal(dm_tag(c));
	if (!ufo_update(cmd->object, cmd->value))
		return false;
	if (CACHES_END_LATE)
		caches_end(c, mmu_find(c));
	host_request_irq();
	return true;
}

/* Evaluate a wait command. Return false if the command is malformed. */
static bool check_wait(struct context *c, const struct fwif_cccb_wait *cmd, bool *blocked)
{
	enum ufo_state ufo = ufo_check(cmd->object, cmd->value);

	*blocked = ufo == UFO_WAITING && !context_is_dead(c);
	if (*blocked)
		log_event(FWIF_LOG_JOB_WAIT, c->id, cmd->object, cmd->value);
	return ufo != UFO_BAD_ADDRESS;
}

/* Execute one fetched command. Return false if it is malformed. */
static bool execute(struct context *c, const struct command *cmd, enum cccb_progress *progress)
{
	bool stays = false, good = true;

	switch (cmd->header.type) {
	case FWIF_CCCB_WAIT:
		good = check_wait(c, &cmd->wait, &stays);
		*progress = CCCB_BLOCKED;
		break;
	case FWIF_CCCB_COMPUTE:
	case FWIF_CCCB_GEOMETRY:
	case FWIF_CCCB_FRAGMENT:
	case FWIF_CCCB_TRANSFER:
	case FWIF_CCCB_PRESENT:
	case FWIF_CCCB_RAYS:
		good = prepare_job(c, cmd, &stays);
		*progress = CCCB_JOB;
		break;
	case FWIF_CCCB_UPDATE:
		good = do_update(c, &cmd->update);
		break;
	}
	if (good && !stays) {
		consume(c, cmd->header.bytes);
		*progress = CCCB_MORE;
	}
	return good;
}

enum cccb_progress cccb_advance(struct context *c)
{
	enum cccb_progress progress = CCCB_MORE;
	u32 before = c->read;
	struct command cmd;
	u32 i;

	for (i = 0; i < BATCH && progress == CCCB_MORE; i++) {
		if (c->read == c->write)
			progress = CCCB_EMPTY;
		else if (!fetch(c, &cmd) || !execute(c, &cmd, &progress))
			progress = break_context(c, cmd.header.type);
	}
	if (c->read != before)
		context_publish_read(c);
	return progress;
}

void cccb_job_ended(struct context *c, const struct fwif_job_result *result)
{
	dm_job_reset(c);
	if (write_result(c, result)) {
		consume(c, c->job_bytes);
		context_publish_read(c);
	} else {
		break_context(c, job_type(c));
	}
}
