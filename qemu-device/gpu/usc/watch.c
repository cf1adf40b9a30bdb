// SPDX-License-Identifier: MIT
/*
 * Mode strict: races between waves of a work-group in local memory, and those that strict/race.c
 * detects in memory; and lanes of an instruction that write one shared register.
 *
 * Source: document 002, "Control flow": the barrier orders accesses of different waves. Two
 * accesses of different waves to one byte are a race if one of them writes, not both are atomic,
 * and neither happens before the other. Waves are ordered by barriers, by instructions that waves
 * execute together (work-group copies, writes of slot registers), and by mem_fence and operations
 * on caches: a fence is after all earlier fences of its work-group.
 *
 * The order is kept as vector clocks: clock[w][v] is the last access of wave v that is before the
 * next one of wave w, counted in synchronizations of v. For each byte the last write is stored, and
 * two reads.
 *
 * Clocks never restart: those of a work-group begin after all that exist. So accesses of earlier
 * work-groups to the same local memory are recognised, and clocks of these order nothing.
 *
 * Limits: after 2^32 - 1 synchronizations of a USC work-groups are not watched any longer, and
 * local memory for which there is no host memory is not watched.
 * Two lanes of one instruction do not race, because the highest lane takes precedence
 * (hw/isa.xml). Of more than two unordered reads the last two are kept. Fences order all accesses
 * in the order in which they were executed, whichever variable connects them, so a race that they
 * hide by chance is not found. Work-group copies have no history in local memory: a missing wait
 * for one is reported as late data. Not for rays: their waves have no local memory.
 */
#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "../number.h"
#include "../strict/race.h"
#include "finding.h"
#include "minmax.h"
#include "step.h"

#define WATCH_READS 2u	/* of a byte that are kept */

/* Local memory whose accesses are allocated together; a power of two. */
#define WATCH_PAGE_SHIFT 10u
#define WATCH_PAGE_BYTES (1u << WATCH_PAGE_SHIFT)

/* An access of a wave; clock 0: there is none. */
struct watch_access {
	u32 clock;	/* of its wave */
	u16 pc;
	u8 wave;	/* number in the group */
	u8 lane : 5;
	bool atomic : 1;
};

_Static_assert(sizeof(struct watch_access) == 8, "no padding");
_Static_assert(USC_GROUP_WAVES <= 256 && PUMICE_LANES == 32, "numbers of waves and lanes");

struct watch_byte {
	struct watch_access write;
	struct watch_access read[WATCH_READS];
};

struct watch_group {
	u32 waves;
	u32 local_byte, local_bytes;	/* its local memory */
	u32 first;	/* clocks from here on are of this group */
	u32 clock[USC_GROUP_WAVES][USC_GROUP_WAVES];
	u32 fence[USC_GROUP_WAVES];	/* accesses before the fences so far */
	u32 number;	/* of struct race; 0: it has not accessed memory yet */
	struct race_acquired acquired[USC_GROUP_WAVES];
	u32 end[USC_GROUP_WAVES];	/* instruction at which a wave has ended */
};

_Static_assert(USC_GROUP_WAVES == RACE_WAVES, "waves of a work-group");

struct usc_watch {
	struct watch_group group[PUMICE_USC_TASKS];
	u32 last;	/* the highest clock of any wave */
	u32 pages;
	struct watch_byte *page[];	/* of local memory; NULL: no access yet */
};

struct usc_watch *usc_watch_create(u32 local_bytes)
{
	const u32 pages = (local_bytes + WATCH_PAGE_BYTES - 1) >> WATCH_PAGE_SHIFT;
	struct usc_watch *watch = calloc(1, sizeof(*watch) + pages * sizeof(watch->page[0]));

	if (watch)
		watch->pages = pages;
	return watch;
}

void usc_watch_destroy(struct usc_watch *watch)
{
	for (u32 n = 0; watch && n < watch->pages; n++)
		free(watch->page[n]);
	free(watch);
}

void usc_watch_group_begin(struct usc_watch *watch, unsigned int group, u32 waves, u32 local_byte,
			   u32 local_bytes)
{
	struct watch_group *g = &watch->group[group];

	watch->last += watch->last != UINT32_MAX;
	g->waves = waves;
	g->local_byte = local_byte;
	g->local_bytes = local_bytes;
	g->first = watch->last;
	g->number = 0;
	memset(g->acquired, 0, sizeof(g->acquired));
	for (u32 w = 0; w < waves; w++)
		g->clock[w][w] = g->first;
}

/* A wave has synchronized: its later accesses have another clock. */
static void advance(struct usc_watch *watch, struct watch_group *g, u32 wave)
{
	u32 *clock = &g->clock[wave][wave];

	*clock += *clock != UINT32_MAX;
	watch->last = max_u32(watch->last, *clock);
}

void usc_watch_meet(struct usc_watch *watch, unsigned int group, u32 waves)
{
	struct watch_group *g = &watch->group[group];
	u32 all[USC_GROUP_WAVES] = { 0 }, left, v;
	struct race_acquired acquired = { 0 };

	for (left = waves; left; left &= left - 1) {
		const struct race_acquired *of = &g->acquired[__builtin_ctz(left)];

		acquired.core = max_u64(acquired.core, of->core);
		acquired.device = max_u64(acquired.device, of->device);
		for (v = 0; v < g->waves; v++)
			all[v] = max_u32(all[v], g->clock[__builtin_ctz(left)][v]);
	}
	for (left = waves; left; left &= left - 1) {
		const u32 w = (u32)__builtin_ctz(left);

		memcpy(g->clock[w], all, sizeof(all));
		g->acquired[w] = acquired;
		advance(watch, g, w);
	}
}

void usc_watch_fence(struct usc_watch *watch, unsigned int group, u32 wave)
{
	struct watch_group *g = &watch->group[group];

	for (u32 v = 0; v < g->waves; v++) {
		g->clock[wave][v] = max_u32(g->clock[wave][v], g->fence[v]);
		g->fence[v] = g->clock[wave][v];
	}
	advance(watch, g, wave);
}

/* Return whether an earlier access and one of a wave are not ordered. */
static bool is_unordered(const struct watch_group *g, const struct watch_access *before, u32 wave)
{
	return before->clock >= g->first && before->wave != wave &&
	       g->clock[wave][before->wave] < before->clock;
}

/* Return the access of another wave that races with one to this byte, or NULL. */
static const struct watch_access *find_race(const struct watch_group *g,
					    const struct watch_byte *byte,
					    const struct watch_access *a, bool write)
{
	if (is_unordered(g, &byte->write, a->wave) && !(byte->write.atomic && a->atomic))
		return &byte->write;
	for (u32 n = 0; write && n < WATCH_READS; n++) {
		if (is_unordered(g, &byte->read[n], a->wave))
			return &byte->read[n];
	}
	return NULL;
}

/* Store an access. Reads that are before a write are not needed any longer. */
static void remember(const struct watch_group *g, struct watch_byte *byte,
		     const struct watch_access *a, bool write)
{
	if (write) {
		*byte = (struct watch_byte){ .write = *a };
		return;
	}
	if (is_unordered(g, &byte->read[0], a->wave))
		byte->read[1] = byte->read[0];
	byte->read[0] = *a;
}

static void report(const struct exec *x, const struct watch_access *a, bool write, u32 at,
		   const struct watch_access *other, bool other_writes)
{
	struct strict_finding finding = usc_finding(x, PUMICE_FINDING_LOCAL_RACE, a->pc);

	finding.access = write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ;
	finding.lane_known = true;
	finding.lane = a->lane;
	finding.addr = at;
	finding.other = (struct strict_other){
		.known = true, .write = other_writes, .lane_known = true,
		.wave = other->wave, .lane = other->lane, .pc = other->pc,
	};
	strict_report(x->usc->strict, &finding);
}

/* Return a byte of the USC's local memory, or NULL. An allocation is charged to the step. */
static struct watch_byte *byte_of(struct exec *x, u32 at)
{
	struct watch_byte **page = &x->usc->watch->page[at >> WATCH_PAGE_SHIFT];

	if (!*page) {
		*page = calloc(WATCH_PAGE_BYTES, sizeof(**page));
		x->slow++;
	}
	return *page ? &(*page)[at % WATCH_PAGE_BYTES] : NULL;
}

/* One lane's access to bytes from at on, in the group's local memory. */
static void access_bytes(struct exec *x, const struct usc_access *of,
			 const struct watch_access *a, u32 at)
{
	const unsigned int group = x->usc->task[x->wave->slot].group;
	const struct watch_group *g = &x->usc->watch->group[group];
	bool reported = false;

	for (u32 n = 0; n < of->bytes && g->first != UINT32_MAX; n++) {
		struct watch_byte *byte = byte_of(x, g->local_byte + at + n);
		const struct watch_access *other;

		if (!byte)
			continue;
		other = find_race(g, byte, a, of->store);
		if (other && !reported)
			report(x, a, of->store, at + n, other, other == &byte->write);
		reported |= other != NULL;
		remember(g, byte, a, of->store);
	}
}

/* Return the lanes that write words of the common store by their own indices. */
static u32 scatter_lanes(const struct exec *x, const struct usc_insn *i, u32 *index)
{
	const struct usc_lookup *l;

	if (!(i->lookups >> USC_DST & 1))
		return 0;
	l = exec_lookup(x, i, USC_DST);
	if (l->kind != USC_LOOKUP_LANES)
		return 0;
	memcpy(index, x->base[USC_BASE_OWN] + l->index, PUMICE_LANES * sizeof(*index));
	return i->masked && i->op != PUMICE_USC_OP_SELECT ? usc_active_lanes(x, i) : x->valid;
}

/* Describe the memory of a work-group copy, in the wave that executes it, or of a burst. */
static void copy_begin(const struct exec *x, const struct usc_insn *i, struct usc_watch_step *s)
{
	const bool group = pumice_usc_is_group_copy(i->op);

	s->bytes = 0;
	if (group ? !usc_copy_executes(x) : i->op != PUMICE_USC_OP_SHARED_LOAD)
		return;
	s->va = exec_base(x, i);
	s->bytes = i->words * 4u;
	s->store = i->loads == USC_LOADS_NONE;
}

void usc_watch_begin(const struct exec *x, const struct usc_insn *i, struct usc_watch_step *s)
{
	u32 row[USC_ROW_WORDS];

	copy_begin(x, i, s);
	s->scatter = scatter_lanes(x, i, s->index);
	s->lanes = 0;
	s->access = (struct usc_access){ 0 };
	if (!usc_access_of(i, &s->access) || !s->access.local)
		return;
	s->lanes = usc_active_lanes(x, i);
	memcpy(s->offset, usc_access_offsets(x, i, row), sizeof(s->offset));
}

/* Return whether the instruction orders accesses of its wave and of others. */
static bool is_fence(const struct usc_insn *i)
{
	return i->op == PUMICE_USC_OP_MEM_FENCE || i->op == PUMICE_USC_OP_CACHE_CLEAN ||
	       i->op == PUMICE_USC_OP_CACHE_INVALIDATE ||
	       i->op == PUMICE_USC_OP_CACHE_CLEAN_RANGE ||
	       i->op == PUMICE_USC_OP_CACHE_INVALIDATE_RANGE;
}

/* ------------------------------------------------------------------- memory */

/* Return the number of the wave's work-group in struct race. */
static u32 race_number(const struct exec *x, struct watch_group *g)
{
	const struct race_group group = {
		.master = (u8)usc_gfx_master(x->gfx), .ctx = x->ctx,
		.core = (u8)x->usc->config.core, .usc = (u16)x->usc->config.number,
		.code = x->code_addr,
	};

	if (!g->number)
		g->number = race_group_begin(x->usc->strict->race, &group);
	return g->number;
}

/* The wave has executed a fence of a scope beyond its work-group, after usc_watch_fence(). */
static void fence_memory(const struct exec *x, const struct usc_insn *i, struct watch_group *g)
{
	if (i->func != PUMICE_USC_SCOPE_GROUP && x->usc->strict->race)
		race_fence(x->usc->strict->race, race_number(x, g), g->fence,
			   i->func != PUMICE_USC_SCOPE_CORE, &g->acquired[x->wave->in_group]);
}

static void report_memory(const struct exec *x, const struct race_access *a, u64 va,
			  const struct race_other *other)
{
	struct strict_finding finding = usc_finding(x, PUMICE_FINDING_GLOBAL_RACE, a->pc);

	finding.access = a->write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ;
	finding.lane_known = true;
	finding.lane = a->lane;
	finding.addr = va;
	finding.other = (struct strict_other){
		.known = true, .write = other->write, .lane_known = true,
		.wave = other->wave, .lane = other->lane, .pc = other->pc,
		.job_known = true, .same_job = other->same_job,
		.master = other->group.master, .usc = other->group.usc,
		.code = other->group.code, .tag = other->tag,
	};
	strict_report(x->usc->strict, &finding);
}

/* The page of 4 KiB that was accessed last. */
struct watch_page {
	u64 number;
	const u8 *host;
};

/* Return the host's address of memory that was accessed; NULL: a null page. */
static const u8 *host_of(const struct exec *x, u64 va, bool write, struct watch_page *page)
{
	const u64 number = va >> MMU_GRAIN_SHIFT;
	const u64 at = va & ((1u << MMU_GRAIN_SHIFT) - 1);

	if (page->number != number) {
		page->number = number;
		page->host = mmu_probe(x->usc->config.mmu, x->ctx, va - at,
				       write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ);
		if (page->host == mmu_zeros)
			page->host = NULL;
	}
	return page->host ? page->host + at : NULL;
}

/* Record an access to bytes of memory, and report the first race of it. */
static void access_memory(const struct exec *x, const struct race_access *a, u64 first, u64 bytes,
			  struct watch_page *page)
{
	const u64 end = first + bytes;
	bool reported = false;
	u64 va, part;

	for (va = first; va < end; va += part) {
		const u8 *host = host_of(x, va, a->write, page);
		struct race_other other;

		part = min_u64(end - va, (1u << MMU_GRAIN_SHIFT) -
			       (va & ((1u << MMU_GRAIN_SHIFT) - 1)));
		if (!host || !race_access(x->usc->strict->race, a, host, (u32)part, &other))
			continue;
		if (!reported)
			report_memory(x, a, va, &other);
		reported = true;
	}
}

void usc_watch_memory(struct exec *x, const struct usc_insn *i, const struct usc_requests *r,
		      const struct usc_watch_step *s)
{
	const unsigned int group = x->usc->task[x->wave->slot].group;
	struct watch_group *g = &x->usc->watch->group[group];
	const u32 wave = x->wave->in_group;
	struct watch_page page = { .number = UINT64_MAX };
	struct race_access a = {
		.wave = (u8)wave,
		.write = r->store || (s->bytes && s->store),
		.atomic = r->atomic,
		.compares = r->atomic && i->func == PUMICE_USC_ATOMIC_CMPXCHG,
		.pc = (u32)(i - x->program->insn),
		.clock = g->clock[wave][wave],
		.before = g->clock[wave],
		.acquired = g->acquired[wave],
	};

	if (!(r->lanes || s->bytes) || g->first == UINT32_MAX || !x->usc->strict->race)
		return;
	a.group = race_number(x, g);
	for (u32 left = r->lanes; left; left &= left - 1) {
		a.lane = (u8)__builtin_ctz(left);
		access_memory(x, &a, r->va[a.lane], r->bytes, &page);
	}
	/* All waves have met before a copy: it precedes what they do after that. */
	if (pumice_usc_is_group_copy(i->op) && s->bytes && g->waves > 1)
		a.clock--;
	/* An indexed base is looked up when the instruction runs. */
	if (s->bytes)
		access_memory(x, &a, i->lookups >> USC_SRC2 & 1 ? exec_base(x, i) : s->va,
			      s->bytes, &page);
}

/* ------------------------------------------------------------------- shared registers */

/* Return the register of a word of the common store, as struct pumice_usc_late. */
static u32 place_of_word(const struct exec *x, u32 base, u32 word)
{
	const u32 shared = x->program->limits.shared;
	struct pumice_usc_operand reg = { .bank = PUMICE_USC_BANK_SH, .num = (u16)word };
	struct pumice_usc_late late = { 0 };
	u32 packed;

	if (base == USC_BASE_COEFFS_ALT) {
		reg.bank = PUMICE_USC_BANK_CFA;
	} else if (word >= shared) {
		reg.bank = PUMICE_USC_BANK_CF;
		reg.num = (u16)(word - shared);
	}
	pumice_usc_operand_pack(&late.place, &reg);
	pumice_usc_late_pack(&packed, &late);
	return packed;
}

static void report_clash(const struct exec *x, const struct usc_insn *i, u32 place, u32 lane,
			 u32 winner)
{
	const u32 pc = (u32)(i - x->program->insn);
	struct strict_finding finding = usc_finding(x, PUMICE_FINDING_CLASH, pc);

	finding.access = PUMICE_ACCESS_WRITE;
	finding.lane_known = true;
	finding.lane = (u8)lane;
	finding.addr = place;
	finding.other = (struct strict_other){
		.known = true, .write = true, .lane_known = true,
		.wave = x->wave->in_group, .lane = (u8)winner, .pc = pc,
	};
	strict_report(x->usc->strict, &finding);
}

/* Return the lanes, of some, whose register is that of a lane, and whose value is another one. */
static u32 clashing_lanes(const u32 *index, const u32 *row, u32 lane, u32 lanes)
{
	u32 found = 0;

	for (; lanes; lanes &= lanes - 1) {
		const u32 l = (u32)__builtin_ctz(lanes);

		if (index[l] == index[lane] && row[l] != row[lane])
			found |= 1u << l;
	}
	return found;
}

/*
 * Report lanes whose value is lost since a higher one has written the same register; the first of
 * them only. The results are still in the rows from which they were written.
 */
static void find_clash(const struct exec *x, const struct usc_insn *i,
		       const struct usc_watch_step *s)
{
	const struct usc_lookup *l = exec_lookup(x, i, USC_DST);
	const u32 *row = exec_operand(x, i, USC_DST);

	for (u32 n = 0; n < l->count; n++, row += USC_ROW_WORDS) {
		for (u32 lane = PUMICE_LANES - 1; lane; lane--) {
			const u32 below = s->scatter & ((1u << lane) - 1);
			const u32 lost = s->scatter >> lane & 1 ?
						 clashing_lanes(s->index, row, lane, below) : 0;
			const u32 byte = l->offset + (s->index[lane] << (l->shift + l->dim)) +
					 (n << l->shift);

			if (!lost)
				continue;
			report_clash(x, i, place_of_word(x, l->base, byte / sizeof(u32)),
				     (u32)__builtin_ctz(lost), lane);
			return;
		}
	}
}

/* ------------------------------------------------------------------- local memory */

void usc_watch_end(struct exec *x, const struct usc_insn *i, const struct usc_watch_step *s)
{
	const unsigned int group = x->usc->task[x->wave->slot].group;
	struct watch_group *g = &x->usc->watch->group[group];
	const u32 wave = x->wave->in_group;
	struct watch_access a = {
		.clock = g->clock[wave][wave],
		.pc = (u16)(i - x->program->insn),
		.wave = (u8)wave,
		.atomic = s->access.load && s->access.store,
	};

	if (s->scatter)
		find_clash(x, i, s);
	if (is_fence(i)) {
		usc_watch_fence(x->usc->watch, group, wave);
		fence_memory(x, i, g);
	}
	for (u32 left = s->lanes; left; left &= left - 1) {
		const u32 lane = (u32)__builtin_ctz(left);
		const u64 at = (u64)s->offset[lane] + i->value;

		a.lane = lane & (PUMICE_LANES - 1);
		if (at + s->access.bytes <= g->local_bytes)
			access_bytes(x, &s->access, &a, (u32)at);
	}
}

/* ------------------------------------------------------------------- barriers */

void usc_watch_wave_end(struct usc_watch *watch, unsigned int group, u32 wave, u32 pc)
{
	watch->group[group].end[wave] = pc;
}

/*
 * Return the instruction that a wave waits at, or the last one of a wave that has ended: another
 * group may have its place.
 */
static u32 place_of(const struct usc *usc, unsigned int group, u32 wave)
{
	const struct usc_run *run = &usc->run[group];
	const u32 pc = usc->wave[run->wave[wave]].pc;

	if (run->ended >> wave & 1)
		return usc->watch->group[group].end[wave];
	return run->barrier >> wave & 1 ? pc - 1 : pc;
}

/* Find a wave that is not at the instruction of another one, or has ended; false: there is none. */
static bool find_other(const struct usc *usc, unsigned int group, u32 wave,
		       struct strict_other *other)
{
	const struct usc_run *run = &usc->run[group];

	for (u32 w = 0; w < run->waves; w++) {
		const u32 pc = place_of(usc, group, w);

		if (!(run->ended >> w & 1) && pc == place_of(usc, group, wave))
			continue;
		*other = (struct strict_other){ .known = true, .wave = (u8)w, .pc = pc };
		return true;
	}
	return false;
}

void usc_watch_fault(const struct usc *usc, unsigned int group, const struct gpu_fault *fault)
{
	const u32 wave = usc->wave[fault->slot * USC_MAX_WAVES + fault->wave].in_group;
	struct strict_finding finding;

	if (!fault->wave_known || !strict_of_fault(fault, wave, &finding))
		return;
	if (finding.kind == PUMICE_FINDING_DIVERGENT_BARRIER)
		find_other(usc, group, wave, &finding.other);
	strict_report(usc->strict, &finding);
}

void usc_watch_barrier(const struct usc *usc, unsigned int group)
{
	const struct usc_run *run = &usc->run[group];
	const struct usc_wave *wave = &usc->wave[run->wave[0]];
	struct strict_finding finding = {
		.kind = PUMICE_FINDING_UNPAIRED_BARRIER,
		.unit = PUMICE_UNIT_USC_CODE,
		.ctx = usc->group[group].ctx,
		.slot = wave->slot,
		.usc = (u16)usc->config.number,
		.pc = place_of(usc, group, 0),
		.code = usc->group[group].code_addr,
	};

	if (find_other(usc, group, 0, &finding.other))
		strict_report(usc->strict, &finding);
}
