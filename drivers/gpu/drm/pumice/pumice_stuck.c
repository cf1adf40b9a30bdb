// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * State of a job that timed out: the unit that was busy with it, and the instructions
 * at which its waves were. The firmware captures this before it stops the job
 * (struct fwif_stuck of fwif.h); here it is checked, stored in the context, printed
 * to the kernel log and returned by JOB_GET_RESULT.
 *
 * A context made GUILTY by a job accepts no more jobs, so one copy is enough.
 */
#include <linux/seq_buf.h>

#include "pumice_context.h"
#include "pumice_fw.h"
#include "pumice_job.h"
#include "pumice_names.h"
#include "pumice_stuck.h"

#define LINE_BYTES	256

static_assert(DRM_PUMICE_STUCK_PLACES == FWIF_STUCK_PLACES);

/**
 * pumice_stuck_note_locked - store the state that the firmware captured of a job
 * @job: job that timed out; under its context's lock
 * @shared: memory that the firmware writes
 *
 * Counts are clamped. State of another job is ignored.
 */
void pumice_stuck_note_locked(struct pumice_job *job, const struct fwif_stuck *shared)
{
	struct pumice_context *ctx = job->ctx;
	struct pumice_stuck *stuck = &ctx->stuck;

	lockdep_assert_held(&ctx->lock);
	pumice_copy_once(&stuck->s, shared, sizeof(stuck->s));
	stuck->number = 0;
	if (stuck->s.seqno != job->seqno)
		return;
	stuck->s.places = min(stuck->s.places, FWIF_STUCK_PLACES);
	stuck->number = job->number;
}

/**
 * pumice_stuck_fault_place_locked - return the location of a fault
 * @job: job that faulted; under its context's lock
 * @shared: memory that the firmware writes
 * @place: out: the location; zero where it is unknown
 *
 * A location of another job, or without a program, is ignored.
 */
void pumice_stuck_fault_place_locked(const struct pumice_job *job, const struct fwif_stuck *shared,
				     struct pumice_fault_place *place)
{
	struct fwif_stuck s;

	lockdep_assert_held(&job->ctx->lock);
	memset(place, 0, sizeof(*place));
	pumice_copy_once(&s, shared, sizeof(s));
	if (s.seqno != job->seqno || !s.places)
		return;
	place->known = DRM_PUMICE_FAULT_PROGRAM;
	place->code = s.place[0].code;
	if (s.known & FWIF_KNOWN_WAVE) {
		place->known |= DRM_PUMICE_FAULT_WAVE;
		place->lanes = s.place[0].lanes;
		place->slot = s.place[0].slot;
		place->wave = s.place[0].wave;
	}
	if (s.known & FWIF_KNOWN_LANE) {
		place->known |= DRM_PUMICE_FAULT_LANE;
		place->lane = s.lane;
		place->instance = s.instance;
	}
	if (s.known & FWIF_KNOWN_GROUP) {
		place->known |= DRM_PUMICE_FAULT_GROUP;
		memcpy(place->group, s.group, sizeof(place->group));
	}
}

static void stuck_print_place(struct seq_buf *line, const struct fwif_place *p)
{
	seq_buf_printf(line, "; %u at pc %u%s of 0x%llx, first usc %u slot %u wave %u", p->waves,
		       p->pc, p->state == PUMICE_WAVE_STATE_BARRIER ? " (barrier)" : "", p->code,
		       p->usc, p->slot, p->wave);
}

/* Print the state; locations beyond the line's end are in the job's result. */
static void stuck_print_stuck(struct seq_buf *line, const struct fwif_stuck *s)
{
	size_t used;
	u32 i;

	seq_buf_printf(line, " in %s, %u %s in flight", pumice_unit_str(s->unit), s->waves,
		       s->waves == 1 ? "wave" : "waves");
	for (i = 0; i < s->places; i++) {
		used = seq_buf_used(line);
		stuck_print_place(line, &s->place[i]);
		if (seq_buf_has_overflowed(line)) {
			line->len = used;
			break;
		}
	}
}

/**
 * pumice_stuck_report - log one line about a job that timed out
 * @job: job; under reset.lock, after the firmware was requested to stop it
 */
void pumice_stuck_report(const struct pumice_job *job)
{
	struct pumice_context *ctx = job->ctx;
	char text[LINE_BYTES] = "";
	struct seq_buf line;

	seq_buf_init(&line, text, sizeof(text));
	spin_lock(&ctx->lock);
	if (ctx->stuck.number == job->number)
		stuck_print_stuck(&line, &ctx->stuck.s);
	spin_unlock(&ctx->lock);
	seq_buf_str(&line);
	drm_warn(&ctx->pdev->drm, "context %u job %u timed out%s\n", job->queue->id, job->seqno,
		 text);
}

/**
 * pumice_stuck_show - fill in the fields of JOB_GET_RESULT
 * @stuck: copy of the context's state
 * @args: result of a job, in which these fields are zero
 *
 * Writes nothing if the state is of another job.
 */
void pumice_stuck_show(const struct pumice_stuck *stuck, struct drm_pumice_job_get_result *args)
{
	const struct fwif_stuck *s = &stuck->s;
	u32 i;

	if (!stuck->number || stuck->number != args->job)
		return;
	args->waves = s->waves;
	args->waves_looked = s->sampled;
	args->place_count = s->places;
	for (i = 0; i < s->places; i++) {
		args->places[i].code = s->place[i].code;
		args->places[i].pc = s->place[i].pc;
		args->places[i].waves = s->place[i].waves;
		args->places[i].state = s->place[i].state;
		args->places[i].lanes = s->place[i].lanes;
		args->places[i].usc = s->place[i].usc;
		args->places[i].slot = s->place[i].slot;
		args->places[i].wave = s->place[i].wave;
	}
}
