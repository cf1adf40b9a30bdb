// SPDX-License-Identifier: MIT
/* Findings of mode strict: storage and description. See strict.h. */
#include "strict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cores.h"
#include "faults.h"
#include "lines.h"
#include "pumice_formats.h"
#include "pumice_names.h"
#include "race.h"
#include "tables.h"
#include "targets.h"

void strict_init(struct strict *strict, const struct mmu *mmu, strict_notify_fn *notify,
		 void *opaque)
{
	memset(strict, 0, sizeof(*strict));
	strict->mmu = mmu;
	strict->notify = notify;
	strict->opaque = opaque;
	pthread_mutex_init(&strict->lock, NULL);
	places_init(&strict->places);
}

void strict_destroy(struct strict *strict)
{
	race_destroy(strict->race);
	lines_destroy(strict->lines);
	cores_destroy(strict->cores);
	tables_destroy(strict->tables);
	targets_destroy(strict->targets);
	places_destroy(&strict->places);
	pthread_mutex_destroy(&strict->lock);
}

void strict_clear(struct strict *strict)
{
	pthread_mutex_lock(&strict->lock);
	strict->count = 0;
	memset(strict->count_of, 0, sizeof(strict->count_of));
	strict->lost = 0;
	strict->clears++;
	pthread_mutex_unlock(&strict->lock);
}

/*
 * Return the end of a buffer in a finding, if it is not of an instruction: an error of a unit is
 * another one for each buffer.
 */
static u64 end_of(const struct strict_finding *f)
{
	return f->kind == PUMICE_FINDING_PAST_END && !f->code ? f->buffer.end : 0;
}

/*
 * Return whether two findings are the same error: of the same instructions, at any address; of
 * pages, of the same list and scenes; of the same object of the firmware's interface.
 */
static bool is_same(const struct strict_finding *a, const struct strict_finding *b)
{
	return a->kind == b->kind && a->os == b->os && a->ctx == b->ctx && a->code == b->code &&
	       a->pc == b->pc && a->unit == b->unit && end_of(a) == end_of(b) &&
	       a->page.list == b->page.list && a->page.scene == b->page.scene &&
	       a->page.other.scene == b->page.other.scene &&
	       a->object.addr == b->object.addr && a->table.va == b->table.va &&
	       a->target.code == b->target.code && a->target.pc == b->target.pc &&
	       a->target.unit == b->target.unit && a->target.same_job == b->target.same_job &&
	       a->target.master == b->target.master &&
	       a->other.known == b->other.known && a->other.pc == b->other.pc &&
	       a->other.code == b->other.code && a->other.write == b->other.write;
}

/* Return the number of virtual GPUs, which share the room for findings. */
static u32 oses(const struct mmu *mmu)
{
	return mmu && mmu->oses ? mmu->oses : 1;
}

/*
 * Return the virtual GPU whose program, or whose object of the firmware, an error is of. Registers
 * of the firmware name it: a number that does not exist has no room, and becomes 0.
 */
static u8 os_of(const struct mmu *mmu, const struct strict_finding *f)
{
	u64 os = 0;

	if (f->object.known)
		os = f->os;
	else if (mmu && f->ctx)
		os = PUMICE_FIELD_GET(PUMICE_MMU_CTX__OS, atomic_load(&mmu->ctx[f->ctx]));
	else if (mmu)
		os = mmu_part(mmu, f->code);
	return os < oses(mmu) ? (u8)os : 0;
}

/* Return whether an error exists only because the memory of the virtual GPU is disabled. */
static bool is_of_disabled(const struct mmu *mmu, const struct strict_finding *f)
{
	return f->os &&
	       (f->kind == PUMICE_FINDING_UNMAPPED ||
		f->kind == PUMICE_FINDING_STALE_TRANSLATION) &&
	       !(atomic_load(&mmu->part[f->os]) & PUMICE_OS_CATALOGUE__ENABLE__MASK);
}

/* Count a finding in the first one of the same error; returns false if it is new. Lock held. */
static bool count_again(struct strict *strict, const struct strict_finding *finding)
{
	u32 n;

	for (n = 0; n < strict->count; n++) {
		struct strict_finding *f = &strict->finding[n];

		if (!is_same(f, finding))
			continue;
		f->times += f->times != UINT32_MAX;
		return true;
	}
	return false;
}

/* Store a finding; returns whether it is new. Lock held. */
static bool store(struct strict *strict, const struct strict_finding *finding)
{
	struct strict_finding *f;

	if (count_again(strict, finding))
		return false;
	if (strict->count_of[finding->os] == STRICT_FINDINGS / oses(strict->mmu)) {
		strict->lost++;
		return false;
	}
	strict->count_of[finding->os]++;
	f = &strict->finding[strict->count++];
	*f = *finding;
	f->times = 1;
	return true;
}

void strict_report(struct strict *strict, const struct strict_finding *finding)
{
	struct strict_finding first = *finding;
	char text[STRICT_TEXT_BYTES];
	bool is_new;

	first.times = 1;
	first.os = os_of(strict->mmu, finding);
	if (is_of_disabled(strict->mmu, &first))
		return;
	pthread_mutex_lock(&strict->lock);
	is_new = !count_again(strict, &first);
	pthread_mutex_unlock(&strict->lock);
	if (!is_new)
		return;
	if (strict->complete)
		strict->complete(strict->opaque, &first);
	pthread_mutex_lock(&strict->lock);
	is_new = store(strict, &first);
	pthread_mutex_unlock(&strict->lock);
	if (!is_new || !strict->notify)
		return;
	strict_describe(&first, text);
	strict->notify(strict->opaque, text);
}

bool strict_get(struct strict *strict, u32 number, struct strict_finding *finding)
{
	bool found;

	pthread_mutex_lock(&strict->lock);
	found = number < strict->count;
	if (found)
		*finding = strict->finding[number];
	pthread_mutex_unlock(&strict->lock);
	return found;
}

bool strict_get_of(struct strict *strict, u32 os, u32 number, struct strict_finding *finding)
{
	bool found = false;
	u32 n;

	pthread_mutex_lock(&strict->lock);
	for (n = 0; n < strict->count && !found; n++)
		found = strict->finding[n].os == os && !number--;
	if (found)
		*finding = strict->finding[n - 1];
	pthread_mutex_unlock(&strict->lock);
	return found;
}

u32 strict_clears(struct strict *strict)
{
	u32 clears;

	pthread_mutex_lock(&strict->lock);
	clears = strict->clears;
	pthread_mutex_unlock(&strict->lock);
	return clears;
}

u32 strict_count(struct strict *strict)
{
	u32 count;

	pthread_mutex_lock(&strict->lock);
	count = strict->count;
	pthread_mutex_unlock(&strict->lock);
	return count;
}

u64 strict_lost(struct strict *strict)
{
	u64 lost;

	pthread_mutex_lock(&strict->lock);
	lost = strict->lost;
	pthread_mutex_unlock(&strict->lock);
	return lost;
}

/* Return the kind of a fault that a program's error causes, or PUMICE_FINDING_NONE. */
static enum pumice_finding kind_of_fault(const struct gpu_fault *fault)
{
	switch (fault->fault) {
	case PUMICE_FAULT_USC_LATE:
		return PUMICE_FINDING_LATE_DATA;
	case PUMICE_FAULT_USC_BARRIER:
		return PUMICE_FINDING_DIVERGENT_BARRIER;
	case PUMICE_FAULT_USC_LOCAL_BOUNDS:
		return PUMICE_FINDING_LOCAL_BOUNDS;
	case PUMICE_FAULT_MMU_READ_ONLY:
		return PUMICE_FINDING_READ_ONLY_STORE;
	case PUMICE_FAULT_MMU_PAGE_SIZE:
		return PUMICE_FINDING_PAGE_SIZE;
	case PUMICE_FAULT_MMU_PC_INVALID:
	case PUMICE_FAULT_MMU_PD_INVALID:
	case PUMICE_FAULT_MMU_PT_INVALID:
		return PUMICE_FINDING_UNMAPPED;
	default:
		return PUMICE_FINDING_NONE;
	}
}

bool strict_of_fault(const struct gpu_fault *fault, u32 wave, struct strict_finding *finding)
{
	const enum pumice_finding kind = kind_of_fault(fault);

	*finding = (struct strict_finding){
		.kind = (u8)kind,
		.unit = fault->unit,
		.access = fault->access,
		.ctx = fault->ctx,
		.lane_known = fault->lane_known,
		.slot = fault->slot,
		.wave = (u8)wave,
		.lane = fault->lane,
		.usc = fault->usc,
		.pc = fault->pc,
		.code = fault->code,
		.addr = fault->addr,
	};
	return kind != PUMICE_FINDING_NONE;
}

/* A text of STRICT_TEXT_BYTES that is written piece by piece. */
struct text {
	char *out;
	size_t used;
};

static void __attribute__((format(printf, 2, 3))) put(struct text *t, const char *format, ...)
{
	const size_t room = STRICT_TEXT_BYTES - t->used;
	va_list args;
	int bytes;

	va_start(args, format);
	bytes = vsnprintf(t->out + t->used, room, format, args);
	va_end(args);
	if (bytes > 0)
		t->used += (size_t)bytes < room ? (size_t)bytes : room - 1;
}

/* Put the register of a use of late data: its bank's name and number. */
static void put_register(struct text *t, const struct pumice_usc_late *late)
{
	const u32 word = late->place;
	struct pumice_usc_operand place;

	pumice_usc_operand_unpack(&word, &place);
	put(t, ",\"register\":\"%s%u\"", pumice_usc_bank_str(place.bank), place.num);
}

/* Put the buffer of an address, as far as it is known. */
static void put_buffer(struct text *t, const struct strict_finding *f)
{
	const struct strict_buffer *b = &f->buffer;

	if (b->label[0])
		put(t, ",\"label\":\"%s\"", b->label);
	if (b->end)
		put(t, ",\"end\":\"0x%llx\"", (unsigned long long)b->end);
	if (b->unmapped)
		put(t, ",\"unmapped_by\":%llu,\"freed\":%s", (unsigned long long)b->unmapped_by,
		    b->freed ? "true" : "false");
	if (f->invalidation)
		put(t, ",\"invalidation\":%llu", (unsigned long long)f->invalidation);
	if (b->unmapped)
		put(t, ",\"unmapped_at\":%llu", (unsigned long long)b->unmapped_at);
	if (b->unmapped && b->process)
		put(t, ",\"process\":%u", b->process);
}

/* Put a job, in the numbers of its context. */
static void put_job(struct text *t, u8 master, u64 tag)
{
	put(t, ",\"master\":\"%s\",\"job_context\":%u,\"job\":%u",
	    pumice_wave_master_str(master), (u32)tag, (u32)(tag >> 32));
}

/* Put the place of a finding, in the terms of its kind. */
static void put_place(struct text *t, const struct strict_finding *f)
{
	const u32 word = (u32)f->addr;
	struct pumice_usc_late late;

	switch (f->kind) {
	case PUMICE_FINDING_LATE_DATA:
	case PUMICE_FINDING_UNINITIALISED:
	case PUMICE_FINDING_CLASH:
		if (pumice_late_is_memory(f->addr)) {
			put(t, ",\"va\":\"0x%llx\",\"signal\":%u",
			    (unsigned long long)pumice_late_memory_va(f->addr),
			    pumice_late_memory_signal(f->addr));
			put_buffer(t, f);
			break;
		}
		pumice_usc_late_unpack(&word, &late);
		if (late.local)
			put(t, ",\"local\":%u", late.place);
		else
			put_register(t, &late);
		if (f->kind == PUMICE_FINDING_LATE_DATA)
			put(t, ",\"signal\":%u", late.sig);
		break;
	case PUMICE_FINDING_LOCAL_RACE:
	case PUMICE_FINDING_LOCAL_BOUNDS:
		put(t, ",\"local\":%llu", (unsigned long long)f->addr);
		break;
	case PUMICE_FINDING_READ_ONLY_STORE:
	case PUMICE_FINDING_UNMAPPED:
	case PUMICE_FINDING_GLOBAL_RACE:
	case PUMICE_FINDING_PAST_END:
	case PUMICE_FINDING_PAGE_TWICE:
	case PUMICE_FINDING_PAGE_FREED_TWICE:
	case PUMICE_FINDING_PAGE_FREED_BY_OTHER:
	case PUMICE_FINDING_PAGE_AFTER_FREE:
	case PUMICE_FINDING_STALE_TRANSLATION:
	case PUMICE_FINDING_STALE_READ:
	case PUMICE_FINDING_STALE_CORE:
	case PUMICE_FINDING_UNFLUSHED_WRITE:
	case PUMICE_FINDING_TABLE_REUSED:
	case PUMICE_FINDING_TARGET_READ:
	case PUMICE_FINDING_PAGE_SIZE:
	case PUMICE_FINDING_EARLY_SIGNAL:
		put(t, ",\"va\":\"0x%llx\"", (unsigned long long)f->addr);
		put_buffer(t, f);
		break;
	default:
		break;
	}
}

/* Return the same for an access to a buffer that was unmapped. */
static const char *unmap_omission(const struct strict_buffer *buffer)
{
	return buffer->freed ?
		       "no wait for the job between its submission and the end of the buffer" :
		       "no wait for the job between its submission and the unmap operation";
}

/* Return the action of the driver or program without which the error exists. */
static const char *omission(const struct strict_finding *f)
{
	switch (f->kind) {
	case PUMICE_FINDING_LATE_DATA:
		return "no wait for the signal between the access and this instruction";
	case PUMICE_FINDING_LOCAL_RACE:
		return "no barrier between the other access and this one";
	case PUMICE_FINDING_DIVERGENT_BARRIER:
		return "no barrier in the path of the other waves: they have ended, or wait elsewhere";
	case PUMICE_FINDING_UNPAIRED_BARRIER:
		return "no common barrier: the waves wait at different instructions";
	case PUMICE_FINDING_READ_ONLY_STORE:
		return "no mapping of this page that permits stores";
	case PUMICE_FINDING_UNMAPPED:
		return f->buffer.unmapped ? unmap_omission(&f->buffer) :
					    "no mapping of this page when it is accessed";
	case PUMICE_FINDING_LOCAL_BOUNDS:
		return "no allocation of this byte of local memory by the launch";
	case PUMICE_FINDING_UNINITIALISED:
		return "no write of this register or byte before it is read";
	case PUMICE_FINDING_CLASH:
		return "no index or mask that gives each of the lanes a register of its own";
	case PUMICE_FINDING_GLOBAL_RACE:
		return f->other.same_job ?
			       "no barrier, fence or wait for launches between the other access and this one" :
			       "no dependency between the jobs, and no fence between the accesses";
	case PUMICE_FINDING_PAST_END:
		return "no byte of the buffer at this address: it ends before it, in the same page";
	case PUMICE_FINDING_PAGE_TWICE:
		return "no free by the other owner before the page, or its memory, is given again";
	case PUMICE_FINDING_PAGE_FREED_TWICE:
		return "no allocation of the page between the other free and this one";
	case PUMICE_FINDING_PAGE_FREED_BY_OTHER:
		return "no allocation of the page for the one that frees it";
	case PUMICE_FINDING_PAGE_AFTER_FREE:
		return "no allocation of the page for the scene before this access";
	case PUMICE_FINDING_INTERRUPT_DROPPED:
		return "no read of the data master's status between its event and this sleep";
	case PUMICE_FINDING_CCB_NOT_WRITTEN:
		return "no write of the slot that is visible before the write index, and the kick";
	case PUMICE_FINDING_CCB_OVERRUN:
		return "no wait of the host until the firmware has read the slot";
	case PUMICE_FINDING_STALE_TRANSLATION:
		return f->buffer.unmapped ?
			       "no invalidation of the MMU between the end of the mapping and this job" :
			       "no invalidation of the MMU between the change of its tables and this job";
	case PUMICE_FINDING_STALE_READ:
		return "no invalidation of the caches between the write of memory and this job";
	case PUMICE_FINDING_STALE_CORE:
		return "no invalidation of these caches between the store of another unit and the read";
	case PUMICE_FINDING_UNFLUSHED_WRITE:
		return "no clean of the caches between this write and the end of the job";
	case PUMICE_FINDING_EARLY_SIGNAL:
		return "no clean of the caches between this write and the update of the object of the job";
	case PUMICE_FINDING_PAGE_SIZE:
		return "no directory entry with the page size that is assigned to this address";
	case PUMICE_FINDING_TABLE_REUSED:
		return "no removal of the entry of the other table before its memory is used again";
	case PUMICE_FINDING_TARGET_READ:
		return f->target.same_job ?
			       "no FLUSH, or end of the job, between the store of the target and the read" :
			       "no dependency between the job that stores the target and the one that reads it";
	case PUMICE_FINDING_UPDATE_REUSED:
		return "no value, or no object, of its own for this update";
	default:
		return "";
	}
}

/* Return whether findings of a kind are of an access that is known to read, or to write. */
static bool has_access(u32 kind)
{
	switch (kind) {
	case PUMICE_FINDING_DIVERGENT_BARRIER:
	case PUMICE_FINDING_UNPAIRED_BARRIER:
	case PUMICE_FINDING_LOCAL_BOUNDS:
	case PUMICE_FINDING_PAGE_TWICE:
	case PUMICE_FINDING_PAGE_FREED_TWICE:
	case PUMICE_FINDING_PAGE_FREED_BY_OTHER:
	case PUMICE_FINDING_INTERRUPT_DROPPED:
	case PUMICE_FINDING_CCB_NOT_WRITTEN:
	case PUMICE_FINDING_CCB_OVERRUN:
	case PUMICE_FINDING_UPDATE_REUSED:
		return false;
	default:
		return true;
	}
}

/* Put a macro tile, unless it is none. */
static void put_macro_tile(struct text *t, u8 macro_tile)
{
	if (macro_tile == STRICT_SPARE)
		put(t, ",\"macro_tile\":\"spare\"");
	else if (macro_tile != STRICT_NO_MACRO_TILE)
		put(t, ",\"macro_tile\":%u", macro_tile);
}

/* Put a page of a free list, and one who uses it. */
static void put_user(struct text *t, u32 list, u32 page, u64 scene, u8 macro_tile)
{
	put(t, "\"list\":\"0x%x\",\"page\":%u", list, page);
	if (!scene)
		return;
	put(t, ",\"scene\":\"0x%llx\"", (unsigned long long)scene);
	put_macro_tile(t, macro_tile);
}

/* Put the users of a page, instead of a place in a program. */
static void put_page(struct text *t, const struct strict_page *p)
{
	static const char *const state[] = {
		[STRICT_PAGE_FREE] = "free", [STRICT_PAGE_OWNED] = "owned",
		[STRICT_PAGE_SPARE] = "spare", [STRICT_PAGE_UNKNOWN] = "unknown",
	};

	put(t, ",");
	put_user(t, p->list, p->page, p->scene, p->macro_tile);
	put(t, ",\"other\":{\"state\":\"%s\",", state[p->other.state]);
	put_user(t, p->other.list, p->other.page, p->other.scene, p->other.macro_tile);
	put(t, "}");
}

/* Put an object of the firmware's interface, instead of a place in a program. */
static void put_object(struct text *t, u32 kind, const struct strict_object *o)
{
	const bool is_update = kind == PUMICE_FINDING_UPDATE_REUSED;

	if (kind == PUMICE_FINDING_INTERRUPT_DROPPED) {
		put(t, ",\"event\":%u", o->place);
		return;
	}
	put(t, ",\"object\":\"0x%x\",\"%s\":%u,\"%s\":%u", o->addr,
	    is_update ? "value" : "slot", o->place, is_update ? "reached" : "command", o->value);
}

/* Put the other side of a finding. */
static void put_other(struct text *t, const struct strict_finding *f)
{
	const struct strict_other *o = &f->other;

	put(t, ",\"other\":{\"instruction\":%u,\"wave\":%u", o->pc, o->wave);
	if (has_access(f->kind))
		put(t, ",\"access\":\"%s\"",
		    pumice_access_str(o->write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ));
	if (o->lane_known)
		put(t, ",\"lane\":%u", o->lane);
	if (o->job_known) {
		put(t, ",\"program\":\"0x%llx\",\"usc\":%u", (unsigned long long)o->code, o->usc);
		put_job(t, o->master, o->tag);
		put(t, ",\"same_job\":%s", o->same_job ? "true" : "false");
	}
	put(t, "}");
}

/* Put the table that memory belongs to. */
static void put_table(struct text *t, const struct strict_table *table)
{
	put(t, ",\"other\":{\"table\":\"%s\",\"va\":\"0x%llx\"}",
	    table->directory ? "directory" : "page table", (unsigned long long)table->va);
}

/* Put the other access to a target. */
static void put_target(struct text *t, const struct strict_target *o)
{
	put(t, ",\"other\":{\"unit\":\"%s\"", pumice_unit_str(o->unit));
	if (o->code)
		put(t, ",\"program\":\"0x%llx\",\"instruction\":%u", (unsigned long long)o->code,
		    o->pc);
	put(t, ",\"master\":\"%s\"", pumice_unit_str(o->master));
	if (o->tag)
		put(t, ",\"job_context\":%u,\"job\":%u", (u32)o->tag, (u32)(o->tag >> 32));
	put(t, ",\"same_job\":%s}", o->same_job ? "true" : "false");
}

/* Put the place in a program, and the other side. */
static void put_program(struct text *t, const struct strict_finding *f)
{
	put(t, ",\"program\":\"0x%llx\",\"instruction\":%u", (unsigned long long)f->code, f->pc);
	put(t, ",\"usc\":%u,\"slot\":%u,\"wave\":%u", f->usc, f->slot, f->wave);
	if (f->lane_known)
		put(t, ",\"lane\":%u", f->lane);
	if (f->job.tag)
		put_job(t, f->job.master, f->job.tag);
	if (f->other.known)
		put_other(t, f);
}

void strict_describe(const struct strict_finding *f, char *text)
{
	struct text t = { .out = text };

	put(&t, "{\"finding\":\"%s\",\"unit\":\"%s\"", pumice_finding_str(f->kind),
	    pumice_unit_str(f->unit));
	if (has_access(f->kind))
		put(&t, ",\"access\":\"%s\"", pumice_access_str(f->access));
	put_place(&t, f);
	put(&t, ",\"virtual_gpu\":%u,\"context\":%u", f->os, f->ctx);
	if (f->page.known)
		put_page(&t, &f->page);
	else if (f->object.known)
		put_object(&t, f->kind, &f->object);
	else if (f->code)
		put_program(&t, f);
	else if (f->job.tag)
		put_job(&t, f->job.master, f->job.tag);
	if (f->table.known)
		put_table(&t, &f->table);
	else if (f->target.known)
		put_target(&t, &f->target);
	put(&t, ",\"omitted\":\"%s\",\"times\":%u}", omission(f), f->times);
}
