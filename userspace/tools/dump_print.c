// SPDX-License-Identifier: MIT
/* pumice-dump: output of each section except memory. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dump.h"
#include "fwlog.h"
#include "pumice_decode.h"
#include "pumice_names.h"
#include "pumice_regs.h"

/* A file may contain any number, also one without a name. */
static const char *name_text(const char *name)
{
	return name ? name : "unknown";
}

static const char *master_text(u32 dm)
{
	return name_text(pumice_fwif_dm_name(dm));
}

/* Print text of a file, with control characters replaced by '?'. */
static void print_text(const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes && text[i]; i++)
		putchar(isprint((unsigned char)text[i]) || text[i] == '\n' ? text[i] : '?');
}

static bool print_info(const struct dump *dump, bool all)
{
	const struct dump_part *part = dump_find(dump, PUMICE_DUMP_INFO);

	(void)all;
	if (part)
		print_text((const char *)part->data, part->head.bytes);
	if (dump->head.dropped)
		printf("sections dropped for lack of space: %u\n", dump->head.dropped);
	return part || dump->head.dropped;
}

/* Return the text after the name of GPU and firmware state. */
static const char *late_text(const struct dump_part *part)
{
	return part->head.late ? " (read later)" : "";
}

/* -------------------------------------------------------------------- reason */

/* Print for a killed job the unit that was busy with it, and the places of its waves. */
static void print_killed(const struct fwif_job_result *r)
{
	printf("fault: %s", pumice_fault_str(r->fault));
	if (r->unit)
		printf(" by %s", pumice_unit_str(r->unit));
	if (r->addr)
		printf(", at instruction 0x%010" PRIx64 ", usc %u pc %u", r->addr, r->usc, r->pc);
	printf("\n");
}

/* Return the units in which the data masters count progress. */
static const char *counted_text(u32 dm)
{
	static const char *const text[FWIF_DM_COUNT] = {
		[FWIF_DM_CDM] = "work-groups", [FWIF_DM_VDM] = "primitives",
		[FWIF_DM_PDM] = "tiles", [FWIF_DM_TDM] = "commands",
		[FWIF_DM_RDM] = "tasks",
	};

	return dm < FWIF_DM_COUNT ? text[dm] : "pieces of work";
}

static void print_result(const struct fwif_job_result *r, u32 dm)
{
	if (r->fault == PUMICE_FAULT_KILLED)
		print_killed(r);
	else if (r->fault)
		printf("fault: %s by %s, %s at 0x%010" PRIx64 ", usc %u pc %u, mmu context %u\n",
		       pumice_fault_str(r->fault), pumice_unit_str(r->unit),
		       pumice_access_str(r->access), r->addr, r->usc, r->pc, r->mmu_context);
	else
		printf("fault: none\n");
	printf("finished: %" PRIu64 " %s in %" PRIu64 " ticks, %u slices", r->groups,
	       counted_text(dm), r->run_ticks, r->slices);
	if (dm == FWIF_DM_VDM)
		printf(", %u partial renders", r->partials);
	printf("\n");
}

static void print_job(const struct pumice_dump_reason *r)
{
	printf("job: %" PRIu64 " of context %u, a %s job; the firmware's context %u, job %u\n",
	       r->job, r->uapi_context, master_text(r->dm), r->context, r->seqno);
	if (r->pid) {
		printf("process: ");
		print_text(r->process, sizeof(r->process));
		printf(" (%u)\n", r->pid);
	}
	printf("stream: 0x%010" PRIx64 "\npage catalogue: 0x%" PRIx64 "\n", r->stream,
	       r->catalogue);
}

static bool print_reason(const struct dump *dump, bool all)
{
	static const char *const kinds[] = {
		[PUMICE_DUMP_KIND_FAULT] = "fault",
		[PUMICE_DUMP_KIND_TIMEOUT] = "time-out",
		[PUMICE_DUMP_KIND_RESET] = "reset",
		[PUMICE_DUMP_KIND_USER] = "request",
	};
	struct pumice_dump_reason reason;
	struct fwif_job_result result;

	(void)all;
	if (!dump_one(dump, PUMICE_DUMP_REASON, &reason, sizeof(reason)))
		return false;
	printf("reason: %s: ", reason.kind && reason.kind < sizeof(kinds) / sizeof(kinds[0]) ?
				       kinds[reason.kind] : "unknown");
	print_text(reason.text, sizeof(reason.text));
	printf("\nGPU clock: %" PRIu64 "\n", reason.time);
	if (reason.context != FWIF_NO_CONTEXT)
		print_job(&reason);
	else
		printf("job: none\n");
	if (dump_one(dump, PUMICE_DUMP_RESULT, &result, sizeof(result)))
		print_result(&result, reason.dm);
	return true;
}

/* --------------------------------------------------------------------- waves */

static void print_busy(u32 busy)
{
	printf("busy data masters:");
	for (u32 dm = 0; dm < FWIF_DM_COUNT; dm++)
		if (busy >> dm & 1)
			printf(" %s", master_text(dm));
	printf("%s\n", busy ? "" : " none");
}

/* For a fault the hardware reports the USC, but not the wave: @waves is 0. */
static void print_place(const struct dump *dump, const struct fwif_place *p, u32 waves)
{
	if (waves)
		printf("%u at pc %u%s of program 0x%010" PRIx64
		       ", first: usc %u slot %u wave %u lanes 0x%08x\n",
		       p->waves, p->pc, p->state == PUMICE_WAVE_STATE_BARRIER ? " (barrier)" : "",
		       p->code, p->usc, p->slot, p->wave, p->lanes);
	else
		printf("fault at pc %u of program 0x%010" PRIx64 ", usc %u\n", p->pc,
		       p->code, p->usc);
	dump_print_code(dump, p->code, p->pc);
}

/* Print lane and work-group of a fault, as far as the device reported them. */
static void print_lane(const struct fwif_stuck *s)
{
	if (!(s->known & FWIF_KNOWN_WAVE))
		return;
	printf("  slot %u wave %u lanes 0x%08x", s->place[0].slot, s->place[0].wave,
	       s->place[0].lanes);
	if (s->known & FWIF_KNOWN_LANE)
		printf(", lane %u, instance %u", s->lane, s->instance);
	if (s->known & FWIF_KNOWN_GROUP)
		printf(", work-group (%u, %u, %u)", s->group[0], s->group[1], s->group[2]);
	printf("\n");
}

/* Files from before version 1.5 have less. */
static bool find_stuck(const struct dump *dump, struct fwif_stuck *s)
{
	memset(s, 0, sizeof(*s));
	return dump_one(dump, PUMICE_DUMP_STUCK, s, sizeof(*s)) ||
	       dump_one(dump, PUMICE_DUMP_STUCK, s, FWIF_STUCK_BYTES_1_4);
}

static bool print_stuck(const struct dump *dump, bool all)
{
	struct fwif_stuck s;
	u32 others;

	(void)all;
	if (!find_stuck(dump, &s))
		return false;
	others = s.waves ? s.sampled : 0;
	printf("unit: %s\n", pumice_unit_str(s.unit));
	print_busy(s.busy);
	if (s.waves)
		printf("waves of the job: %u, of which %u were sampled\n", s.waves, s.sampled);
	for (u32 i = 0; i < s.places && i < FWIF_STUCK_PLACES; i++) {
		print_place(dump, &s.place[i], s.waves);
		others -= s.place[i].waves < others ? s.place[i].waves : others;
	}
	if (others)
		printf("%u at other instructions\n", others);
	if (!s.waves && s.places)
		print_lane(&s);
	return true;
}

static void print_wave(const struct dump *dump, const struct pumice_dump_wave *w)
{
	char text[PUMICE_DECODE_LINE] = "";

	dump_insn_text(dump, w->code, w->pc, text);
	printf("  usc %u slot %u wave %u: %s, %s, mmu context %u, lanes 0x%08x, "
	       "pc %u of 0x%010" PRIx64 "%s%s\n",
	       (u32)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__USC, w->where),
	       (u32)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__SLOT, w->where),
	       (u32)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__WAVE, w->where),
	       pumice_wave_master_str((u32)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__MASTER, w->where)),
	       pumice_wave_state_str((u32)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__STATE, w->where)),
	       (u32)PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__CTX, w->where), w->lanes, w->pc, w->code,
	       *text ? "  " : "", text);
}

static bool print_waves(const struct dump *dump, bool all)
{
	const struct dump_part *part = dump_find(dump, PUMICE_DUMP_WAVES);
	struct pumice_dump_wave wave;
	u32 count = dump_elements(part, sizeof(wave));

	(void)all;
	if (!part)
		return false;
	printf("waves in flight%s: %" PRIu64 "\n", late_text(part), part->head.addr);
	for (u32 i = 0; i < count; i++) {
		dump_element(part, i, &wave, sizeof(wave));
		print_wave(dump, &wave);
	}
	if (count < part->head.addr)
		printf("  (the others were not captured)\n");
	return true;
}

/* ----------------------------------------------------------------- registers */

/* Registers that are zero are omitted unless all are requested. */
static bool print_registers(const struct dump *dump, bool all)
{
	const struct dump_part *part = dump_find(dump, PUMICE_DUMP_REGISTERS);
	struct pumice_dump_register r;
	u32 count = dump_elements(part, sizeof(r));

	if (part)
		printf("registers%s:\n", late_text(part));
	for (u32 i = 0; i < count; i++) {
		dump_element(part, i, &r, sizeof(r));
		if (r.value || all)
			pumice_decode_reg(r.offset, r.bits == 64 ? 64 : 32, false, r.value,
					  dump_print_line, NULL);
	}
	return part;
}

/* ------------------------------------------------------------------ firmware */

static void print_boot(const struct fwif_boot *b, const char *late)
{
	printf("firmware%s: build ", late);
	print_text(b->build_id, sizeof(b->build_id));
	printf(", interface %u.%u, %s, error: %s (0x%x at 0x%x)\n", b->fw_version >> 16,
	       b->fw_version & 0xffff, name_text(pumice_fwif_state_name(b->state)),
	       name_text(pumice_fwif_error_name(b->error)), b->error_info, b->error_pc);
	printf("jobs: %u started, %u done, %u faulted, %u killed; %u commands, %u switches\n",
	       b->jobs_started, b->jobs_done, b->jobs_faulted, b->jobs_killed, b->commands,
	       b->switches);
	printf("heartbeat: %u; contexts with work: %u; on the CDM: ", b->heartbeat,
	       b->queued_contexts);
	if (b->active_context == FWIF_NO_CONTEXT)
		printf("none\n");
	else
		printf("context %u\n", b->active_context);
}

static void print_context(const struct fwif_context *c, const char *late)
{
	printf("context %u%s: %s, priority %s, state %s, read to %u, %u slices, running job %u since %"
	       PRIu64 "\n",
	       c->id, late, master_text(c->dm), name_text(pumice_fwif_priority_name(c->priority)),
	       name_text(pumice_fwif_context_state_name(c->state)), c->cccb_read, c->slices,
	       c->job_seqno, c->slice_start);
}

static bool print_firmware(const struct dump *dump, bool all)
{
	struct fwif_context context;
	struct fwif_boot boot;
	bool any = false;

	(void)all;
	if (dump_one(dump, PUMICE_DUMP_FW_BOOT, &boot, sizeof(boot))) {
		print_boot(&boot, late_text(dump_find(dump, PUMICE_DUMP_FW_BOOT)));
		any = true;
	}
	if (dump_one(dump, PUMICE_DUMP_CONTEXT, &context, sizeof(context))) {
		print_context(&context, late_text(dump_find(dump, PUMICE_DUMP_CONTEXT)));
		any = true;
	}
	return any;
}

static void print_log_entry(const struct fwif_log_entry *e)
{
	char text[PUMICE_LOG_TEXT];

	pumice_log_text(text, sizeof(text), e->event, e->args);
	printf("  [%6" PRIu64 ".%09" PRIu64 "] %s\n", e->time / 1000000000, e->time % 1000000000,
	       text);
}

/* Oldest first; entries that were being written are omitted. */
static bool print_log(const struct dump *dump, bool all)
{
	const struct dump_part *part = dump_find(dump, PUMICE_DUMP_FW_LOG);
	struct fwif_log_entry e;
	u32 count = dump_elements(part, sizeof(e)), end, n;

	(void)all;
	if (!count)
		return false;
	printf("firmware log%s:\n", late_text(part));
	end = (u32)part->head.addr;
	for (n = end - (end < count ? end : count); n != end; n++) {
		dump_element(part, n % count, &e, sizeof(e));
		if (e.sequence == n + 1)
			print_log_entry(&e);
	}
	return true;
}

const struct dump_view dump_views[DUMP_VIEWS] = {
	{ "info", print_info },
	{ "reason", print_reason },
	{ "places", print_stuck },
	{ "walk", dump_print_walk },
	{ "stream", dump_print_stream },
	{ "memory", dump_print_memory },
	{ "waves", print_waves },
	{ "registers", print_registers },
	{ "firmware", print_firmware },
	{ "log", print_log },
};
