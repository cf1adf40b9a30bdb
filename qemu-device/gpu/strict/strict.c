// SPDX-License-Identifier: MIT
/* Findings of mode strict: storage and description. See strict.h. */
#include "strict.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "faults.h"
#include "pumice_formats.h"
#include "pumice_names.h"

void strict_init(struct strict *strict, strict_notify_fn *notify, void *opaque)
{
	memset(strict, 0, sizeof(*strict));
	strict->notify = notify;
	strict->opaque = opaque;
	pthread_mutex_init(&strict->lock, NULL);
}

void strict_destroy(struct strict *strict)
{
	pthread_mutex_destroy(&strict->lock);
}

void strict_clear(struct strict *strict)
{
	pthread_mutex_lock(&strict->lock);
	strict->count = 0;
	strict->lost = 0;
	pthread_mutex_unlock(&strict->lock);
}

/* Return whether two findings are the same error: of the same instructions, at any address. */
static bool is_same(const struct strict_finding *a, const struct strict_finding *b)
{
	return a->kind == b->kind && a->ctx == b->ctx && a->code == b->code && a->pc == b->pc &&
	       a->other.known == b->other.known && a->other.pc == b->other.pc &&
	       a->other.write == b->other.write;
}

/* Store a finding; returns whether it is new. Lock held. */
static bool store(struct strict *strict, const struct strict_finding *finding)
{
	struct strict_finding *f;
	u32 n;

	for (n = 0; n < strict->count; n++) {
		f = &strict->finding[n];
		if (!is_same(f, finding))
			continue;
		f->times += f->times != UINT32_MAX;
		return false;
	}
	if (strict->count == STRICT_FINDINGS) {
		strict->lost++;
		return false;
	}
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
	pthread_mutex_lock(&strict->lock);
	is_new = store(strict, finding);
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

/* Put the place of a finding, in the terms of its kind. */
static void put_place(struct text *t, const struct strict_finding *f)
{
	const u32 word = (u32)f->addr;
	struct pumice_usc_late late;

	switch (f->kind) {
	case PUMICE_FINDING_LATE_DATA:
	case PUMICE_FINDING_UNINITIALISED:
		if (pumice_late_is_memory(f->addr)) {
			put(t, ",\"va\":\"0x%llx\",\"signal\":%u",
			    (unsigned long long)pumice_late_memory_va(f->addr),
			    pumice_late_memory_signal(f->addr));
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
		put(t, ",\"va\":\"0x%llx\"", (unsigned long long)f->addr);
		break;
	default:
		break;
	}
}

/* Return the action of the driver or program without which the error exists. */
static const char *omission(u32 kind)
{
	switch (kind) {
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
		return "no mapping of this page when it is accessed";
	case PUMICE_FINDING_LOCAL_BOUNDS:
		return "no allocation of this byte of local memory by the launch";
	case PUMICE_FINDING_UNINITIALISED:
		return "no write of this register or byte before it is read";
	default:
		return "";
	}
}

/* Return whether findings of a kind are of an access that is known to read, or to write. */
static bool has_access(u32 kind)
{
	return kind != PUMICE_FINDING_DIVERGENT_BARRIER &&
	       kind != PUMICE_FINDING_UNPAIRED_BARRIER && kind != PUMICE_FINDING_LOCAL_BOUNDS;
}

void strict_describe(const struct strict_finding *f, char *text)
{
	struct text t = { .out = text };

	put(&t, "{\"finding\":\"%s\",\"unit\":\"%s\"", pumice_finding_str(f->kind),
	    pumice_unit_str(f->unit));
	if (has_access(f->kind))
		put(&t, ",\"access\":\"%s\"", pumice_access_str(f->access));
	put_place(&t, f);
	put(&t, ",\"context\":%u,\"program\":\"0x%llx\",\"instruction\":%u", f->ctx,
	    (unsigned long long)f->code, f->pc);
	put(&t, ",\"usc\":%u,\"slot\":%u,\"wave\":%u", f->usc, f->slot, f->wave);
	if (f->lane_known)
		put(&t, ",\"lane\":%u", f->lane);
	if (f->other.known) {
		put(&t, ",\"other\":{\"instruction\":%u,\"wave\":%u", f->other.pc,
		    f->other.wave);
		if (has_access(f->kind))
			put(&t, ",\"access\":\"%s\"",
			    pumice_access_str(f->other.write ? PUMICE_ACCESS_WRITE :
							       PUMICE_ACCESS_READ));
		if (f->other.lane_known)
			put(&t, ",\"lane\":%u", f->other.lane);
		put(&t, "}");
	}
	put(&t, ",\"omitted\":\"%s\",\"times\":%u}", omission(f->kind), f->times);
}
