// SPDX-License-Identifier: MIT
/*
 * Stores of registers to memory that arrive late, of all widths and programs. See late.c.
 *
 * Source: document 002, "Global memory"; hw/isa.xml, global_store32: addresses and values are read
 * at issue, and the store is complete when its signal is done.
 *
 * At issue the addresses are checked, in the order of lanes, and the words are copied to a record.
 * They are stored when the access is complete by the wave's clock, in the order of issue, or before
 * the wave ends, or passes a fence. Addresses are translated again then: a fault is one of the
 * store, of its wave and lane. A wave that waits for others at a barrier has no clock: its words
 * are stored after LATE_QUANTA quanta of waves of the USC, so that a wave that polls them proceeds.
 *
 * If late data are poisoned, a record remains until the wave has waited for the signal, and an
 * instruction that loads its bytes is reported: of the same wave; of a wave of the group if both
 * have passed a barrier or a work-group copy after the store, since a barrier makes visible only
 * accesses that are complete; of a work-group copy. Other waves see the previous words or the new
 * ones, as on hardware: no order exists between them and the store.
 *
 * Limits: texture reads, ray queries, dynamic constants and the uniform stream are not checked. A
 * wave has up to LATE_STORES_OF_WAVE records: with one more the oldest ends. Of a group that
 * faults or is stopped, stores that are not complete are dropped.
 */
#include "late_state.h"

#include "faults.h"
#include "minmax.h"

#include <stdlib.h>

#define LATE_STORES_OF_WAVE 64u
#define LATE_QUANTA 64u
#define LATE_COMPARED 8192u	/* lanes that take the time of a slow instruction */
#define GRAIN (1u << MMU_GRAIN_SHIFT)

/* A store that is under way, or that its wave has not waited for. */
struct late_store_record {
	struct late_store_record *next;	/* of the wave, in the order of issue */
	u64 when;		/* wave's clock at which it is complete */
	u64 quantum;		/* usc_late.quanta at issue */
	u64 first, last;	/* bytes that all lanes are within */
	u64 va[PUMICE_LANES];
	u32 lanes;
	u32 bytes;		/* of each lane */
	u32 pc;
	u32 meetings;		/* late_wave.meetings at issue */
	u8 signal;
	bool arrived;		/* in memory */
	u32 data[];		/* rows, as the registers */
};

/* A grain whose address on the host is known; host NULL: none. */
struct window {
	u64 number;
	u8 *host;
};

/* --------------------------------------------------------------------- lists */

/* Remove the record after one, or the first if that is NULL. */
static void remove_after(struct usc_late *late, struct late_wave *wave,
			 struct late_store_record *before)
{
	struct late_store_record **link = before ? &before->next : &wave->stores, *s = *link;

	if (wave->pending == s)
		wave->pending = s->next;
	if (wave->last == s)
		wave->last = before;
	*link = s->next;
	wave->store_count--;
	late->stores--;
	free(s);
}

void late_stores_drop(struct usc_late *late, u32 wave)
{
	while (late->wave[wave].stores)
		remove_after(late, &late->wave[wave], NULL);
}

static void append(struct usc_late *late, struct late_wave *wave, struct late_store_record *s)
{
	if (wave->last)
		wave->last->next = s;
	else
		wave->stores = s;
	wave->last = s;
	if (!wave->pending)
		wave->pending = s;
	wave->store_count++;
	late->stores++;
}

/* ------------------------------------------------------------------- arrival */

/* Return the host's address of a byte that is stored, or NULL with x->fault set. */
static u8 *translate(struct exec *x, struct window *w, u64 va)
{
	if (!w->host || va >> MMU_GRAIN_SHIFT != w->number) {
		w->number = va >> MMU_GRAIN_SHIFT;
		w->host = exec_host(x, va, true);
		if (!w->host)
			return NULL;
		w->host -= va % GRAIN;
	}
	return w->host + va % GRAIN;
}

/* Store a lane's words, or the part of one. Returns false with x->fault set on a fault. */
static bool store_lane(struct exec *x, const struct late_store_record *s, u32 lane,
		       struct window *w)
{
	const u32 part = min_u32(s->bytes, 4);

	for (u32 n = 0; n * part < s->bytes; n++) {
		const u32 value = s->data[n * USC_ROW_WORDS + lane];
		void *host = translate(x, w, s->va[lane] + n * part);

		if (!host)
			return false;
		if (part == 1)
			__atomic_store_n((u8 *)host, (u8)value, __ATOMIC_RELAXED);
		else if (part == 2)
			__atomic_store_n((u16 *)host, (u16)value, __ATOMIC_RELAXED);
		else
			__atomic_store_n((u32 *)host, value, __ATOMIC_RELAXED);
	}
	return true;
}

/* Store a record's words. Of lanes with the same address the highest is last. */
static void store_record(struct exec *x, const struct late_store_record *s)
{
	struct window w = { 0 };

	for (u32 lanes = s->lanes; lanes; lanes &= lanes - 1) {
		if (!store_lane(x, s, (u32)__builtin_ctz(lanes), &w)) {
			exec_mmu_fault(x, &x->program->insn[s->pc]);
			exec_fault_lane(x, lanes);
			return;
		}
		exec_stored(x, s->va[__builtin_ctz(lanes)], s->bytes);
	}
}

/* Store the first record of a wave that is not in memory. After a fault none is. */
static void next_arrives(struct exec *x, struct late_wave *wave)
{
	struct late_store_record *s = wave->pending;

	store_record(x, s);
	atomic_thread_fence(memory_order_seq_cst);
	wave->pending = s->next;
	s->arrived = true;
	if (!late_poisons(x) && x->exit != USC_EXIT_FAULT)
		remove_after(x->usc->late, wave, NULL);
}

/* The wave has waited for signals: remove their records, whose words are stored before. */
static void end_waited(struct exec *x, struct late_wave *wave, u32 signals)
{
	struct late_store_record *s = wave->stores, *before = NULL, *next;

	for (; s; s = next) {
		next = s->next;
		if (!(signals >> s->signal & 1)) {
			before = s;
			continue;
		}
		while (!s->arrived && x->exit != USC_EXIT_FAULT)
			next_arrives(x, wave);
		if (x->exit == USC_EXIT_FAULT)
			return;
		remove_after(x->usc->late, wave, before);
	}
}

void late_stores_arrive(struct exec *x, u32 signals, u64 clock)
{
	struct late_wave *wave = late_wave_of(x);

	while (wave->pending && (wave->pending->when <= clock || signals == UINT32_MAX) &&
	       x->exit != USC_EXIT_FAULT)
		next_arrives(x, wave);
	/* Without poison a signal that was waited for is done by the clock. */
	if (signals && late_poisons(x) && x->exit != USC_EXIT_FAULT)
		end_waited(x, wave, signals);
}

/* Store all words of waves of the group that were issued at least some quanta ago. */
static void waves_arrive(struct exec *x, u32 waves, u64 quanta)
{
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];
	struct usc_wave *own = x->wave;

	for (; waves && x->exit != USC_EXIT_FAULT; waves &= waves - 1) {
		const u32 index = run->wave[__builtin_ctz(waves)];
		const struct late_store_record *s = x->usc->late->wave[index].pending;

		if (!s || x->usc->late->quanta - s->quantum < quanta)
			continue;
		x->wave = &x->usc->wave[index];	/* a fault is reported as that of the wave */
		late_stores_arrive(x, 0, UINT64_MAX);
	}
	x->wave = own;
}

/* -------------------------------------------------------------------- checks */

/* Bytes that an instruction loads: of some lanes, or of a copy or burst for the group or task. */
struct loaded {
	u64 base;
	const u32 *offset;	/* of each lane; NULL: one range at base */
	u32 lanes, bytes;
	bool group;		/* all waves of the group are at the instruction */
};

static u64 loaded_va(const struct loaded *l, u32 lane)
{
	return l->base + (l->offset ? l->offset[lane] : 0);
}

/* Return whether bytes from va on are stored, and the first of these. */
static bool overlaps(struct usc_late *late, const struct late_store_record *s, u64 va, u32 bytes,
		     u64 *at)
{
	late->compared++;
	if (va > s->last || va + bytes <= s->first)
		return false;
	late->compared += (u32)__builtin_popcount(s->lanes);
	for (u32 lanes = s->lanes; lanes; lanes &= lanes - 1) {
		const u64 first = s->va[__builtin_ctz(lanes)];

		if (va < first + s->bytes && first < va + bytes) {
			*at = max_u64(va, first);
			return true;
		}
	}
	return false;
}

/* Report a load of bytes that a store writes later. Returns false. */
static bool report_memory(struct exec *x, const struct usc_insn *i,
			  const struct late_store_record *s, u64 va)
{
	exec_fault(x, i, PUMICE_FAULT_USC_LATE);
	x->fault.addr = pumice_late_memory(va, s->signal);
	x->fault.access = PUMICE_ACCESS_READ;
	return false;
}

/* Check the bytes of a load with those of one record. */
static bool check_record(struct exec *x, const struct usc_insn *i, const struct loaded *l,
			 const struct late_store_record *s)
{
	for (u32 lanes = l->lanes; lanes; lanes &= lanes - 1) {
		const u64 va = loaded_va(l, (u32)__builtin_ctz(lanes));
		u64 at;

		if (!overlaps(x->usc->late, s, va, l->bytes, &at))
			continue;
		report_memory(x, i, s, at);
		if (l->offset)
			exec_fault_lane(x, lanes);
		return false;
	}
	return true;
}

/*
 * The same with all records that it has to come after. A wave that has ended has none, and
 * another group may have its number.
 */
static bool check_records(struct exec *x, const struct usc_insn *i, const struct loaded *l)
{
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];
	const struct late_wave *own = late_wave_of(x);

	for (u32 w = 0; w < run->waves; w++) {
		const struct late_wave *wave = &x->usc->late->wave[run->wave[w]];

		if (run->ended >> w & 1)
			continue;
		for (const struct late_store_record *s = wave->stores; s; s = s->next) {
			if (wave != own && !l->group && own->meetings <= s->meetings)
				break;	/* nor has it met the wave after a later store */
			if (!check_record(x, i, l, s))
				return false;
		}
	}
	return true;
}

/*
 * The same. A load may take milliseconds, with all records of all waves of the group: the step is
 * charged, and the slice ends if its budget has to be compared.
 */
static bool check_loaded(struct exec *x, const struct usc_insn *i, const struct loaded *l)
{
	const u64 before = x->usc->late->compared / LATE_COMPARED;
	const bool right = check_records(x, i, l);
	const u64 charge = x->usc->late->compared / LATE_COMPARED - before;

	x->slow += (u32)charge;
	if (right && charge)
		exec_pause(x);
	return right;
}

/* ------------------------------------------------------- instructions that load */

static bool base_is_looked_up(const struct usc_insn *i)
{
	return i->lookups >> USC_SRC2 & 1;
}

static bool check_lanes(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s)
{
	struct usc_access a = { 0 };

	usc_access_of(i, &a);
	return check_loaded(x, i, &(struct loaded){
		.base = exec_base(x, i), .offset = s->offset, .lanes = s->active,
		.bytes = a.bytes,
	});
}

/* Check a copy or burst, which loads words if it has been executed by this wave. */
static bool check_copy(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s)
{
	return check_loaded(x, i, &(struct loaded){
		.base = base_is_looked_up(i) ? exec_base(x, i) : s->base, .lanes = 1,
		.bytes = i->words * 4u, .group = pumice_usc_is_group_copy(i->op),
	});
}

static bool is_copy(const struct usc_insn *i)
{
	return i->loads == USC_LOADS_SHARED || i->loads == USC_LOADS_LOCAL ||
	       pumice_usc_is_group_copy(i->op);
}

/* A quantum of a wave begins. */
static void quantum_begins(struct exec *x)
{
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];

	x->usc->late->quanta++;
	if (x->usc->late->stores)
		waves_arrive(x, run->barrier | run->copying | run->meeting, LATE_QUANTA);
}

bool late_stores_begin(struct exec *x, const struct usc_insn *i, struct usc_late_step *s)
{
	const struct usc_late *late = x->usc->late;
	u32 row[USC_ROW_WORDS];
	struct usc_access a;

	if (i == x->from && !x->done)
		quantum_begins(x);
	if (x->exit == USC_EXIT_FAULT)
		return false;
	if (is_copy(i) && !base_is_looked_up(i))
		s->base = exec_base(x, i);
	if (!usc_access_of(i, &a) || a.local)
		return true;
	s->stores = !a.load;
	if (s->stores || !late->stores || !late_poisons(x))
		return true;
	s->active = usc_active_lanes(x, i);
	memcpy(s->offset, usc_access_offsets(x, i, row), sizeof(s->offset));
	s->base_later = base_is_looked_up(i);
	return s->base_later || check_lanes(x, i, s);
}

bool late_stores_end(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s)
{
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];
	const bool loads = is_copy(i) && i->loads != USC_LOADS_NONE && s->words;

	if (late_poisons(x) && x->usc->late->stores &&
	    ((s->base_later && !check_lanes(x, i, s)) || (loads && !check_copy(x, i, s))))
		return false;
	/* A copy to memory follows the stores of all waves before it. */
	if (pumice_usc_is_group_copy(i->op) && i->loads == USC_LOADS_NONE && s->words)
		waves_arrive(x, (u32)((1ull << run->waves) - 1), 0);
	if (i->op == PUMICE_USC_OP_BARRIER || pumice_usc_is_group_copy(i->op))
		late_wave_of(x)->meetings++;
	return x->exit != USC_EXIT_FAULT;
}

/* ---------------------------------------------------------------------- issue */

/* Return the fault of a store that is misaligned, and its alignment less 1. */
static enum pumice_fault alignment(const struct usc_insn *i, u32 bytes, u32 *bits)
{
	*bits = min_u32(bytes, 4) - 1;
	return i->op == PUMICE_USC_OP_BURST_STORE ? PUMICE_FAULT_USC_BURST_ALIGN :
						    PUMICE_FAULT_USC_GLOBAL_ALIGN;
}

/* Check the addresses of all lanes. Returns false with x->exit set: the lowest that faults. */
static bool check_addresses(struct exec *x, const struct usc_insn *i,
			    const struct late_store_record *s)
{
	struct window w = { 0 };
	u32 align;
	const enum pumice_fault fault = alignment(i, s->bytes, &align);

	for (u32 lanes = s->lanes; lanes; lanes &= lanes - 1) {
		const u64 va = s->va[__builtin_ctz(lanes)];

		if (va & align)
			exec_align_fault(x, i, fault, va, true);
		else if (!translate(x, &w, va) ||
			 (va % GRAIN + s->bytes > GRAIN &&
			  !translate(x, &w, (va | (GRAIN - 1)) + 1)))
			exec_mmu_fault(x, i);
		else
			continue;
		exec_fault_lane(x, lanes);
		return false;
	}
	return true;
}

/* Fill in a record whose bytes and lanes are set. */
static void fill_record(struct exec *x, const struct usc_insn *i, struct late_store_record *s)
{
	const u32 *offset = exec_operand(x, i, USC_SRC0);
	const u32 rows = (s->bytes + 3) / 4;
	const u64 base = exec_base(x, i);

	s->quantum = x->usc->late->quanta;
	s->pc = (u32)(i - x->program->insn);
	s->meetings = late_wave_of(x)->meetings;
	s->signal = i->sig[0];
	s->first = UINT64_MAX;
	for (u32 lanes = s->lanes; lanes; lanes &= lanes - 1) {
		const u32 lane = (u32)__builtin_ctz(lanes);
		const u64 va = base + offset[lane];

		s->va[lane] = va;
		s->first = min_u64(s->first, va);
		s->last = max_u64(s->last, va + s->bytes - 1);
	}
	memcpy(s->data, exec_operand(x, i, USC_SRC1), rows * sizeof(u32) * USC_ROW_WORDS);
}

/* Keep a checked store until it is complete. */
static void begin_store(struct exec *x, const struct usc_insn *i, struct late_store_record *s)
{
	struct late_wave *wave = late_wave_of(x);

	for (u32 lanes = s->lanes; lanes; lanes &= lanes - 1) {
		const u64 va = s->va[__builtin_ctz(lanes)];

		late_copies_precede(x, va, va + s->bytes - 1);
	}
	if (wave->store_count == LATE_STORES_OF_WAVE && x->exit != USC_EXIT_FAULT) {
		const bool arrived = wave->stores->arrived;

		if (!arrived)
			next_arrives(x, wave);
		if (late_poisons(x) && x->exit != USC_EXIT_FAULT)
			remove_after(x->usc->late, wave, NULL);
	}
	exec_signal(x, i);
	s->when = x->wave->done[i->sig[0]];
	append(x->usc->late, wave, s);
}

/* Without memory for a record: the store is complete at once, after the earlier ones. */
static const struct usc_insn *store_now(struct exec *x, const struct usc_insn *i)
{
	late_stores_arrive(x, 0, UINT64_MAX);
	if (x->exit == USC_EXIT_FAULT)
		return i;
	return (i->values || i->lookups ? i->then : i->run)(x, i);
}

const struct usc_insn *usc_late_store(struct exec *x, const struct usc_insn *i)
{
	struct late_store_record *s;
	struct usc_access a = { 0 };

	if ((i->values || i->lookups) && !usc_level()->sources(x, i))
		return i;
	usc_access_of(i, &a);
	s = calloc(1, sizeof(*s) + (a.bytes + 3) / 4 * sizeof(u32) * USC_ROW_WORDS);
	if (!s)
		return store_now(x, i);
	s->lanes = usc_active_lanes(x, i);
	s->bytes = a.bytes;
	fill_record(x, i, s);
	if (!s->lanes || !check_addresses(x, i, s)) {
		if (!s->lanes)
			exec_signal(x, i);
		free(s);
		return x->exit == USC_EXIT_FAULT ? i : i + 1;
	}
	begin_store(x, i, s);
	return x->exit == USC_EXIT_FAULT ? i : i + 1;
}
