// SPDX-License-Identifier: MIT
/*
 * Traces for Perfetto: the track of each record, and its text.
 *
 * Records come from a ring that the GPU writes, or from another process: values are checked
 * before they select a track.
 */
#include <inttypes.h>
#include <string.h>

#include "fwif.h"
#include "fwlog.h"
#include "perfetto_internal.h"
#include "pumice_formats.h"
#include "pumice_names.h"

/* Tracks of a core: the VDM, the TA, and for each tile in flight its units. */
enum { CORE_CHUNKS, CORE_TA, CORE_TILES };
#define TILE_UNITS	4u
#define SLOTS		((PF_TRACKS - CORE_TILES) / TILE_UNITS)

/* Tracks of the data masters: jobs of each, then these. */
enum { JOBS_LAUNCHES = PF_MASTERS, JOBS_TRANSFERS, JOBS_RAYS };

/* ------------------------------------------------------------------- firmware */

enum topic { TOPIC_SCHEDULING, TOPIC_DEPENDENCIES, TOPIC_PAGES, TOPIC_CONTEXTS, TOPIC_ERRORS };

static const char *const topic_name[] = {
	[TOPIC_SCHEDULING] = "scheduling", [TOPIC_DEPENDENCIES] = "dependencies",
	[TOPIC_PAGES] = "parameter memory", [TOPIC_CONTEXTS] = "contexts and MMU",
	[TOPIC_ERRORS] = "boot and errors",
};

static enum topic topic_of(uint32_t event)
{
	switch (event) {
	case FWIF_LOG_JOB_START:
	case FWIF_LOG_JOB_RESUME:
	case FWIF_LOG_JOB_DONE:
	case FWIF_LOG_JOB_SWITCH:
	case FWIF_LOG_FLIP:
	case FWIF_LOG_CONTEXT_BOOST:
	case FWIF_LOG_CONTEXT_PRIORITY:
	case FWIF_LOG_PREEMPT_SLICE:
	case FWIF_LOG_PREEMPT_PRIORITY:
		return TOPIC_SCHEDULING;
	case FWIF_LOG_JOB_WAIT:
		return TOPIC_DEPENDENCIES;
	case FWIF_LOG_PARTIAL:
	case FWIF_LOG_PARTIAL_REQUEST:
	case FWIF_LOG_PAGES_STALL:
	case FWIF_LOG_PAGES_WAIT:
	case FWIF_LOG_PAGES_RESUME:
	case FWIF_LOG_FREE_LIST_GROW:
	case FWIF_LOG_FREE_LIST_GROWN:
		return TOPIC_PAGES;
	case FWIF_LOG_CONTEXT_NEW:
	case FWIF_LOG_CONTEXT_RELEASED:
	case FWIF_LOG_CONTEXT_KILL:
	case FWIF_LOG_MMU_BIND:
	case FWIF_LOG_MMU_INVALIDATE:
		return TOPIC_CONTEXTS;
	default:
		return TOPIC_ERRORS;
	}
}

#define EVENT_NAME(name, level, format)	#name,
#define EVENT_FORMAT(name, level, format) format,
static const char *const event_name[] = { FWIF_LOG_EVENTS(EVENT_NAME) };
static const char *const event_format[] = { FWIF_LOG_EVENTS(EVENT_FORMAT) };

/* "JOB_START" becomes "job start". */
static void put_event_name(char *to, size_t bytes, const char *name)
{
	size_t i;

	for (i = 0; i + 1 < bytes && name[i]; i++)
		to[i] = name[i] == '_' ? ' ' : (char)(name[i] | 0x20);
	to[i] = '\0';
}

static void firmware(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	const uint32_t args[3] = { (uint32_t)e->arg0, (uint32_t)(e->arg0 >> 32),
				   (uint32_t)e->arg1 };
	const uint32_t event = (uint32_t)(e->arg1 >> 32) & 0xff;
	const uint32_t *context = NULL;
	char name[32], text[128];
	enum topic topic;

	if (event >= FWIF_LOG_EVENT_COUNT)
		return;
	topic = topic_of(event);
	put_event_name(name, sizeof(name), event_name[event]);
	pumice_log_text(text, sizeof(text), event, args);
	if (!strncmp(event_format[event], "context %u", strlen("context %u")))
		context = args;
	pf_name(p, PF_FIRMWARE, "firmware", topic, topic_name[topic]);
	pf_point(p, PF_FIRMWARE, topic, ns, name,
		 &(struct pf_args){ .detail = text, .context = context });
}

/* ----------------------------------------------------------------------- jobs */

_Static_assert(PF_MASTERS == PUMICE_TRACE_MASTER_COUNT, "a track for each data master");

static const char *const master_name[PF_MASTERS] = {
	[PUMICE_TRACE_MASTER_CDM] = "compute (CDM)",
	[PUMICE_TRACE_MASTER_VDM] = "geometry (VDM)",
	[PUMICE_TRACE_MASTER_PDM] = "fragments (PDM)",
	[PUMICE_TRACE_MASTER_TDM] = "transfers (TDM)",
	[PUMICE_TRACE_MASTER_RDM] = "rays (RDM)",
};

static void job_start(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	const struct pf_owner *owner = pf_owner_at(p, e->context, ns);
	const char *suffix = "";
	char name[160], detail[48];

	p->job[e->usc] = (uint32_t)(e->arg1 >> 8);
	if (e->arg1 & 1)
		suffix = e->usc == PUMICE_TRACE_MASTER_PDM ? ", partial render" : ", resumed";
	if (owner)
		snprintf(name, sizeof(name), "%s (%" PRIu32 "), context %" PRIu32 "%s",
			 owner->name, owner->pid, e->context, suffix);
	else
		snprintf(name, sizeof(name), "context %" PRIu32 "%s", e->context, suffix);
	snprintf(detail, sizeof(detail), "stream 0x%" PRIx64, e->arg0);
	pf_name(p, PF_JOBS, "data masters", e->usc, master_name[e->usc]);
	pf_begin(p, PF_JOBS, e->usc, ns, name, &(struct pf_args){ .event = e, .detail = detail });
}

static void job_end(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	static const char *const ends[PUMICE_TRACE_END_COUNT] = {
		[PUMICE_TRACE_END_DONE] = "done", [PUMICE_TRACE_END_FAULT] = "fault",
		[PUMICE_TRACE_END_ABORTED] = "aborted",
		[PUMICE_TRACE_END_SWITCHED] = "switched out",
	};
	char detail[96];

	snprintf(detail, sizeof(detail), "%s%s%s", e->arg1 < PUMICE_TRACE_END_COUNT ? ends[e->arg1] : "?",
		 e->arg0 ? ": " : "", e->arg0 ? pumice_fault_name((uint32_t)e->arg0) : "");
	pf_end(p, PF_JOBS, e->usc, ns, &(struct pf_args){ .detail = detail });
	p->job[e->usc] = 0;
}

static void job(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	if (e->usc >= PF_MASTERS)
		return;
	if (e->kind == PUMICE_EVENT_JOB_START)
		job_start(p, e, ns);
	else
		job_end(p, e, ns);
}

static void launch(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	const bool rays = e->dm == PUMICE_TRACE_MASTER_RDM;
	const uint32_t track = rays ? JOBS_RAYS : JOBS_LAUNCHES;
	char detail[64];

	snprintf(detail, sizeof(detail), "command at 0x%" PRIx64, e->arg1);
	pf_name(p, PF_JOBS, "data masters", track, rays ? "launches (RDM)" : "launches (CDM)");
	pf_point(p, PF_JOBS, track, ns, "launch",
		 &(struct pf_args){ .event = e, .detail = detail, .key = rays ? "rays" : "groups",
				    .value = e->arg0 });
}

/* Begin or end a slice as the phase of the event says. */
static void slice(struct perfetto *p, uint32_t process, uint32_t track, uint64_t ns,
		  const char *name, const struct pf_args *args)
{
	const uint32_t phase = args->event->phase;
	struct pf_args end = *args;

	if (phase == PUMICE_PHASE_BEGIN)
		pf_begin(p, process, track, ns, name, args);
	end.event = NULL;
	end.detail = phase == PUMICE_PHASE_CANCEL ? "cancelled" : "complete";
	if (phase == PUMICE_PHASE_END || phase == PUMICE_PHASE_CANCEL)
		pf_end(p, process, track, ns, &end);
}

static void transfer(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	char detail[48];

	snprintf(detail, sizeof(detail), "command at 0x%" PRIx64, e->arg0);
	pf_name(p, PF_JOBS, "data masters", JOBS_TRANSFERS, "commands (PTLA)");
	slice(p, PF_JOBS, JOBS_TRANSFERS, ns, pumice_tdm_type_str((uint32_t)e->arg1),
	      &(struct pf_args){ .event = e, .detail = detail });
}

/* ---------------------------------------------------------------------- cores */

static void core_name(struct perfetto *p, uint32_t core, uint32_t track, const char *track_name)
{
	char name[16];

	snprintf(name, sizeof(name), "core %" PRIu32, core);
	pf_name(p, PF_CORE0 + core, name, track, track_name);
}

static void chunk(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	char name[32];

	core_name(p, e->usc, CORE_CHUNKS, "VDM chunks");
	snprintf(name, sizeof(name), "chunk %" PRIu64, e->arg0);
	slice(p, PF_CORE0 + e->usc, CORE_CHUNKS, ns, name,
	      &(struct pf_args){ .event = e, .key = "primitives", .value = e->arg1 });
}

static void ta(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	core_name(p, e->usc, CORE_TA, "TA");
	slice(p, PF_CORE0 + e->usc, CORE_TA, ns, pumice_trace_ta_str((uint32_t)e->arg0),
	      &(struct pf_args){ .event = e, .key = "primitives", .value = e->arg1 });
}

/* Add TILE, ISP, SPANS and PBE: a track for each tile in flight. */
static void tile(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	static const struct {
		uint32_t kind;
		const char *track, *key;
	} unit[TILE_UNITS] = {
		{ PUMICE_EVENT_TILE, "tile", "pixels" }, { PUMICE_EVENT_ISP, "ISP", "primitives" },
		{ PUMICE_EVENT_SPANS, "spans", "spans" }, { PUMICE_EVENT_PBE, "PBE", NULL },
	};
	char track_name[32], name[48];
	uint32_t n = 0, track;

	if (e->slot >= SLOTS)
		return;
	while (n < TILE_UNITS - 1 && unit[n].kind != e->kind)
		n++;
	track = CORE_TILES + e->slot * TILE_UNITS + n;
	snprintf(track_name, sizeof(track_name), "%s, slot %u", unit[n].track, e->slot);
	core_name(p, e->usc, track, track_name);
	if (e->kind == PUMICE_EVENT_SPANS)
		snprintf(name, sizeof(name), "%s", pumice_trace_pass_str((uint32_t)e->arg0));
	else
		snprintf(name, sizeof(name), "%s %" PRIu32 ",%" PRIu32, unit[n].track,
			 (uint32_t)e->arg0, (uint32_t)(e->arg0 >> 32));
	slice(p, PF_CORE0 + e->usc, track, ns, name,
	      &(struct pf_args){ .event = e, .key = unit[n].key, .value = e->arg1 });
}

static void pm(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	const bool of_job = e->arg0 == PUMICE_TRACE_PM_EMPTY || e->arg0 == PUMICE_TRACE_PM_FREE;
	const uint32_t pages = (uint32_t)e->arg1;
	struct pf_args args = { .event = of_job ? e : NULL, .key = "of", .value = e->arg1 };
	char detail[32];

	pf_name(p, PF_PM, "PM", 0, "PM");
	if (e->arg0 == PUMICE_TRACE_PM_ALLOC) {
		pf_counter(p, PF_PM, ns, "pages in use", ++p->pages);
		return;
	}
	if (e->arg0 == PUMICE_TRACE_PM_FREE) {
		/*
		 * Pages that were allocated before the trace began, or before a loss, are unknown.
		 */
		p->pages -= pages < p->pages ? pages : p->pages;
		pf_counter(p, PF_PM, ns, "pages in use", p->pages);
		snprintf(detail, sizeof(detail), "macro tile %u", (uint32_t)(e->arg1 >> 32));
		args = (struct pf_args){ .event = e, .detail = detail, .key = "pages",
					 .value = pages };
	}
	pf_point(p, PF_PM, 0, ns, pumice_trace_pm_str((uint32_t)e->arg0), &args);
}

/* ----------------------------------------------------------------------- USCs */

static void usc_name(struct perfetto *p, uint32_t usc, uint32_t lane)
{
	char name[16], track[32];

	snprintf(name, sizeof(name), "USC %" PRIu32, usc);
	snprintf(track, sizeof(track), "USC %" PRIu32 " / %" PRIu32, usc, lane);
	pf_name(p, PF_USC0 + usc, name, lane, track);
}

/* The first lane is free if the group is a new one; else it is the group's. */
static uint32_t find_lane(const struct pf_lane *lanes, bool taken, uint32_t kind, uint64_t number)
{
	uint32_t i;

	for (i = 0; i < PF_TRACKS; i++)
		if (lanes[i].taken == taken &&
		    (!taken || (lanes[i].kind == kind && lanes[i].number == number)))
			break;
	return i;
}

/* A work-group (PUMICE_EVENT_GROUP_START) or task (PUMICE_EVENT_TASK) begins or ends. */
static void usc_work(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns,
		     uint8_t kind, bool begins, const char *name)
{
	struct pf_lane *lanes = p->lane[e->usc];
	const uint32_t lane = find_lane(lanes, !begins, kind, e->arg0);

	if (lane == PF_TRACKS)
		return;
	usc_name(p, e->usc, lane);
	if (begins)
		pf_begin(p, PF_USC0 + e->usc, lane, ns, name,
			 &(struct pf_args){ .event = e, .key = "waves", .value = e->arg1 });
	else
		pf_end(p, PF_USC0 + e->usc, lane, ns, &(struct pf_args){
			.detail = e->phase == PUMICE_PHASE_CANCEL ? "cancelled" : NULL,
		});
	lanes[lane] = (struct pf_lane){ begins, kind, e->arg0 };
}

static void group(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	char name[32];

	snprintf(name, sizeof(name), "group %" PRIu64, e->arg0);
	usc_work(p, e, ns, PUMICE_EVENT_GROUP_START, e->kind == PUMICE_EVENT_GROUP_START, name);
}

static void task(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	usc_work(p, e, ns, PUMICE_EVENT_TASK, e->phase == PUMICE_PHASE_BEGIN,
		 e->dm == PUMICE_TRACE_MASTER_VDM ? "vertices" : "fragments");
}

static void tag(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	char name[48];

	usc_name(p, e->usc, 0);
	snprintf(name, sizeof(name), "TAG reads, %s%s", pumice_trace_master_str(e->dm),
		 e->arg1 ? ", iterators" : "");
	pf_counter(p, PF_USC0 + e->usc, ns, name, e->arg0);
}

static void stall(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	pf_name(p, PF_JOBS, "data masters", 0, master_name[0]);
	pf_counter(p, PF_JOBS, ns, "tasks when full", e->arg0);
}

/* ------------------------------------------------------------------------ MMU */

static void mmu(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	char name[64], detail[96];

	pf_name(p, PF_MMU, "MMU", 0, "faults and invalidations");
	if (e->kind == PUMICE_EVENT_MMU_WALK) {
		pf_counter(p, PF_MMU, ns, "table walks", ++p->walks);
		return;
	}
	if (e->kind == PUMICE_EVENT_MMU_FAULT) {
		snprintf(name, sizeof(name), "fault %s", pumice_fault_name(e->arg1 & 0xff));
		snprintf(detail, sizeof(detail), "0x%" PRIx64 " by %s, MMU context %u", e->arg0,
			 pumice_unit_name((uint32_t)(e->arg1 >> 8)), e->mmu_context);
	} else {
		snprintf(name, sizeof(name), "invalidation");
		snprintf(detail, sizeof(detail), "0x%" PRIx64 " to 0x%" PRIx64 ", MMU context %u",
			 e->arg0, e->arg1, e->mmu_context);
	}
	pf_point(p, PF_MMU, 0, ns, name, &(struct pf_args){ .detail = detail });
}

static void lost(struct perfetto *p, const struct pumice_event_record *e, uint64_t ns)
{
	pf_end_all(p, ns, e->arg0 ? "lost events" : "the GPU was closed");
	memset(p->job, 0, sizeof(p->job));
	p->pages = 0;
	if (!e->arg0)
		return;
	pf_name(p, PF_JOBS, "data masters", 0, master_name[0]);
	pf_point(p, PF_JOBS, 0, ns, "lost events",
		 &(struct pf_args){ .key = "events", .value = e->arg0 });
}

void pf_record(struct perfetto *p, const struct pumice_event_record *e)
{
	static const struct {
		void (*write)(struct perfetto *p, const struct pumice_event_record *e,
			      uint64_t ns);
		uint32_t units;		/* bound of its field usc; 0: none */
	} kinds[] = {
		[0] = { lost, 0 },
		[PUMICE_EVENT_JOB_START] = { job, PF_MASTERS },
		[PUMICE_EVENT_JOB_END] = { job, PF_MASTERS },
		[PUMICE_EVENT_LAUNCH] = { launch, 0 },
		[PUMICE_EVENT_GROUP_START] = { group, PF_USCS },
		[PUMICE_EVENT_GROUP_END] = { group, PF_USCS },
		[PUMICE_EVENT_MMU_FAULT] = { mmu, 0 },
		[PUMICE_EVENT_MMU_INVALIDATE] = { mmu, 0 },
		[PUMICE_EVENT_MMU_WALK] = { mmu, 0 },
		[PUMICE_EVENT_STALL] = { stall, 0 },
		[PUMICE_EVENT_CHUNK] = { chunk, PF_CORES },
		[PUMICE_EVENT_TA] = { ta, PF_CORES },
		[PUMICE_EVENT_PM] = { pm, 0 },
		[PUMICE_EVENT_TILE] = { tile, PF_CORES },
		[PUMICE_EVENT_ISP] = { tile, PF_CORES },
		[PUMICE_EVENT_SPANS] = { tile, PF_CORES },
		[PUMICE_EVENT_TASK] = { task, PF_USCS },
		[PUMICE_EVENT_TAG] = { tag, PF_USCS },
		[PUMICE_EVENT_PBE] = { tile, PF_CORES },
		[PUMICE_EVENT_TRANSFER] = { transfer, 0 },
		[PUMICE_EVENT_FIRMWARE] = { firmware, 0 },
	};

	if (e->kind >= sizeof(kinds) / sizeof(kinds[0]) ||
	    (kinds[e->kind].units && e->usc >= kinds[e->kind].units))
		return;
	kinds[e->kind].write(p, e, pf_ns(p, e->time));
}
