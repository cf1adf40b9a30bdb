// SPDX-License-Identifier: MIT
/*
 * Client CCB.
 *
 * A command is copied once, checked, and carried out from the copy. What breaks
 * the rules breaks its own context only: where a command is malformed nobody
 * can tell where the next one starts, so all that is left goes unread.
 */
#include "boot.h"
#include "bus.h"
#include "cccb.h"
#include "dm.h"
#include "fwccb.h"
#include "log.h"
#include "ufo.h"
#include "window.h"

/* Commands of one context before others have a turn. */
#define BATCH	16u

/* The largest command but PAD, which is not copied whole. */
union command {
	struct fwif_cccb_header header;
	struct fwif_cccb_wait wait;
	struct fwif_cccb_compute compute;
	struct fwif_cccb_update update;
};

/* Exact size of a command, or 0 for PAD and what is unknown. */
static u32 command_bytes(u32 type)
{
	switch (type) {
	case FWIF_CCCB_WAIT:
		return sizeof(struct fwif_cccb_wait);
	case FWIF_CCCB_COMPUTE:
		return sizeof(struct fwif_cccb_compute);
	case FWIF_CCCB_UPDATE:
		return sizeof(struct fwif_cccb_update);
	default:
		return 0;
	}
}

/* Copy and check the command at c->read; its type is left in any case. */
static bool fetch(struct context *c, union command *cmd)
{
	u32 addr = c->cccb + c->read;
	u32 queued = (c->write - c->read) & c->cccb_mask;
	u32 bytes;

	cmd->header.type = 0;
	if (!window_read(addr, &cmd->header, sizeof(cmd->header) / 4))
		return false;
	bytes = cmd->header.bytes;
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

/* False where the results of the context cannot be written. */
static bool write_result(struct context *c, const struct fwif_job_result *result)
{
	return window_write(c->results + (result->seqno & c->result_mask) * sizeof(*result),
			    result, sizeof(*result) / 4);
}

/* End a job that is not on the data master: it never started, or was switched out. */
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
	};

	dm_job_gone(c);
	if (fault == PUMICE_FAULT_KILLED)
		fw_boot->jobs_killed++;
	else
		fw_boot->jobs_faulted++;
	return write_result(c, &result);
}

/* Prepare a job, or end it at once. False: malformed. */
static bool take_compute(struct context *c, const struct fwif_cccb_compute *cmd, bool *prepared)
{
	u32 probe;

	*prepared = false;
	if (cmd->perf && (!window_valid(cmd->perf, sizeof(struct fwif_perf), 8) ||
			  !window_read32(cmd->perf, &probe)))
		return false;
	if (context_is_dead(c))
		return refuse_job(c, cmd, PUMICE_FAULT_KILLED);
	if (cmd->stream >> PUMICE_MMU_VA_BITS)
		return refuse_job(c, cmd, PUMICE_FAULT_MMU_ADDRESS);
	c->stream = cmd->stream;
	c->seqno = cmd->seqno;
	c->job_bytes = cmd->header.bytes;
	c->perf = cmd->perf;
	*prepared = true;
	return true;
}

static bool take_update(const struct fwif_cccb_update *cmd)
{
	if (!ufo_update(cmd->object, cmd->value))
		return false;
	host_want_irq();
	return true;
}

/* False: malformed. */
static bool take_wait(struct context *c, const struct fwif_cccb_wait *cmd, bool *blocked)
{
	enum ufo_state ufo = ufo_check(cmd->object, cmd->value);

	*blocked = ufo == UFO_WAITING && !context_is_dead(c);
	if (*blocked)
		log_event(FWIF_LOG_JOB_WAIT, c->id, cmd->object, cmd->value);
	return ufo != UFO_BAD_ADDRESS;
}

/* Carry out one command that was fetched. False: malformed. */
static bool carry_out(struct context *c, const union command *cmd, enum cccb_progress *progress)
{
	bool stays = false, good = true;

	switch (cmd->header.type) {
	case FWIF_CCCB_WAIT:
		good = take_wait(c, &cmd->wait, &stays);
		*progress = CCCB_BLOCKED;
		break;
	case FWIF_CCCB_COMPUTE:
		good = take_compute(c, &cmd->compute, &stays);
		*progress = CCCB_JOB;
		break;
	case FWIF_CCCB_UPDATE:
		good = take_update(&cmd->update);
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
	union command cmd;
	u32 i;

	for (i = 0; i < BATCH && progress == CCCB_MORE; i++) {
		if (c->read == c->write)
			progress = CCCB_EMPTY;
		else if (!fetch(c, &cmd) || !carry_out(c, &cmd, &progress))
			progress = break_context(c, cmd.header.type);
	}
	if (c->read != before)
		context_publish_read(c);
	return progress;
}

void cccb_job_ended(struct context *c, const struct fwif_job_result *result)
{
	dm_job_gone(c);
	if (write_result(c, result)) {
		consume(c, c->job_bytes);
		context_publish_read(c);
	} else {
		break_context(c, FWIF_CCCB_COMPUTE);
	}
}
