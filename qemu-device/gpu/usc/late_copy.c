// SPDX-License-Identifier: MIT
/*
 * Words of the common store, of local memory and of slot registers that arrive late: of copies by
 * a work-group, of bursts, and of loads to slot registers. See late.c.
 *
 * A copy to memory reads its source and writes memory when it is complete, so that a program that
 * overwrites the source before stores the new words. Addresses are checked at issue, and again
 * when the words are stored: a fault then is one of the copy, in the wave that has waited.
 *
 * They are ranges of words, which several waves can have: of a work-group copy each wave of the
 * group has one, of a load to a slot register each wave that executes it together with the others,
 * since each has to wait; the data arrive for all with the first.
 *
 * Limits: accesses of other waves before the wave has waited are not checked, as document 003 has
 * no check of hazards between instances. If a wave has more than LATE_RANGES ranges under way, the
 * oldest one arrives at once; its signal is kept for each of its words, so that their use before
 * the wait is reported as that of others.
 */
#include "late_state.h"

#include <stdlib.h>

#include "minmax.h"

/* ------------------------------------------------------------------- arrival */

/* Store the words of a copy to memory. Other threads may access them after this. */
static void store_copy(struct exec *x, const struct late_range *range)
{
	if (!usc_copy_store(x, late_store_of(x, range->store) + range->first, range->va,
			    range->words))
		exec_mmu_fault(x, &x->program->insn[range->pc]);
	atomic_thread_fence(memory_order_seq_cst);
}

/*
 * The words of a range arrive, for all waves that have it. After a fault none do: it stops the
 * group, and is the one that is reported.
 */
static void range_arrives(struct exec *x, const struct late_range *range)
{
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];
	const u32 *data = x->usc->late->data[range->store];
	u32 *store = late_store_of(x, range->store);

	if (range->arrived || x->exit == USC_EXIT_FAULT)
		return;
	if (range->copied)
		store_copy(x, range);
	for (u32 n = range->first; !range->copied && n < range->first + range->words; n++)
		store[n] = data[n];
	for (u32 w = 0; w < run->waves; w++) {
		struct late_wave *wave = &x->usc->late->wave[run->wave[w]];

		for (u32 n = 0; n < wave->ranges; n++) {
			if (wave->range[n].copy == range->copy &&
			    wave->range[n].first == range->first &&
			    wave->range[n].store == range->store)
				wave->range[n].arrived = true;
		}
	}
}

static void remove_range(struct late_wave *wave, u32 n)
{
	wave->ranges--;
	memmove(&wave->range[n], &wave->range[n + 1], (wave->ranges - n) * sizeof(wave->range[0]));
}

/* Keep the signal of a range that leaves the list. Without memory its words are not reported. */
static void keep_dropped(struct exec *x, struct late_wave *wave, const struct late_range *range)
{
	const struct usc_late *late = x->usc->late;
	const u16 signal = (u16)(1u << range->signal);
	struct late_word *word;

	if (!late_poisons(x))
		return;
	if (!wave->word)
		wave->word = calloc(late->first_word[LATE_STORES], sizeof(*wave->word));
	if (!wave->word)
		return;
	word = wave->word + late->first_word[range->store] + range->first;
	for (u32 n = 0; n < range->words; n++)
		*(range->copied ? &word[n].copies : &word[n].loads) |= signal;
	wave->dropped |= signal;
}

void late_forget_dropped(struct usc_late *late, struct late_wave *wave, u32 signals)
{
	if (!(wave->dropped & signals))
		return;
	for (u32 n = 0; n < late->first_word[LATE_STORES]; n++) {
		wave->word[n].loads &= (u16)~signals;
		wave->word[n].copies &= (u16)~signals;
	}
	wave->dropped &= ~signals;
}

void late_ranges_arrive(struct exec *x, u32 signals, u64 clock)
{
	struct late_wave *wave = late_wave_of(x);
	u32 n = 0;

	late_forget_dropped(x->usc->late, wave, signals);
	while (n < wave->ranges) {
		const struct late_range range = wave->range[n];

		if ((signals >> range.signal & 1) || range.when <= clock) {
			range_arrives(x, &range);
			remove_range(wave, n);
		} else {
			n++;
		}
	}
}

void late_copies_precede(struct exec *x, u64 first, u64 last)
{
	const struct late_wave *wave = late_wave_of(x);

	for (u32 n = 0; n < wave->ranges; n++) {
		const struct late_range range = wave->range[n];

		if (range.copied && first < range.va + range.words * 4u && range.va <= last)
			range_arrives(x, &range);
	}
}

/* -------------------------------------------------------------------- checks */

/* Report the use of a word of a store that a range has. */
static bool report_word(struct exec *x, const struct usc_insn *i, const struct late_range *range,
			u32 at, bool write)
{
	if (range->store == LATE_LOCAL)
		return late_report(x, i, &(struct pumice_usc_late){
					    .place = at * 4 - late_group_of(x)->local_byte,
					    .sig = range->signal,
					    .local = true,
					    .write = write,
				    });
	if (range->store == LATE_SLOTS)
		return late_report_register(x, i, PUMICE_USC_BANK_SL, at - late_first_slot_word(x),
					    range->signal, write);
	return late_report_register(x, i, PUMICE_USC_BANK_SH, at - x->wave->shared, range->signal,
				    write);
}

/* Check words of a store whose ranges have left the list. */
static bool check_dropped(struct exec *x, const struct usc_insn *i, enum late_store store,
			  u32 first, u32 words, bool write)
{
	const struct late_wave *wave = late_wave_of(x);
	const u32 *begin = &x->usc->late->first_word[store];
	const u32 end = min_u32(first + words, begin[1] - begin[0]);

	for (u32 n = first; wave->dropped && n < end; n++) {
		const struct late_word *word = &wave->word[begin[0] + n];
		const u32 signals = word->loads | (write ? word->copies : 0u);
		const struct late_range range = {
			.store = (u8)store, .signal = (u8)(signals ? __builtin_ctz(signals) : 0),
		};

		if (signals)
			return report_word(x, i, &range, n, write);
	}
	return true;
}

/* Check words of a store: those that are copied to memory may be read. */
static bool check_range(struct exec *x, const struct usc_insn *i, enum late_store store, u32 first,
			u32 words, bool write)
{
	const struct late_wave *wave = late_wave_of(x);

	for (u32 n = 0; n < wave->ranges; n++) {
		const struct late_range *range = &wave->range[n];

		if (range->store == store && first < range->first + range->words &&
		    range->first < first + words && (write || !range->copied))
			return report_word(x, i, range, max_u32(first, range->first), write);
	}
	return check_dropped(x, i, store, first, words, write);
}

/* Return whether an instruction copies to or from shared registers. */
static bool copies_shared(const struct usc_insn *i)
{
	return i->loads == USC_LOADS_SHARED || i->op == PUMICE_USC_OP_GROUP_STORE_SHARED;
}

bool late_is_index(const struct usc_insn *i, enum usc_place place)
{
	return i->base[place] == USC_BASE_OWN && !(i->lookups >> place & 1) &&
	       (i->op == PUMICE_USC_OP_UVSW ? place == USC_DST : copies_shared(i));
}

/* Return the first word of shared registers of a copy or burst, or false: out of range. */
static bool shared_range(const struct exec *x, const struct usc_insn *i, enum usc_place place,
			 u32 *first)
{
	const struct usc_lookup *l;
	u32 index;

	if (!late_is_index(i, place)) {
		*first = x->wave->shared + i->offset[place] / 4;
		return true;
	}
	l = exec_lookup(x, i, place);
	index = *exec_operand(x, i, place);
	*first = x->wave->shared + l->offset / 4 + (index << l->dim);
	return index <= l->last;
}

/* Check words of the common store that indices select. */
static bool check_indexed_words(struct exec *x, const struct usc_insn *i,
				const struct usc_lookup *l, bool write)
{
	const u32 *index = (const u32 *)(const void *)(x->base[USC_BASE_OWN] + l->index);
	u32 lanes = l->kind == USC_LOOKUP_WORD ? 1 : x->valid;

	for (; lanes; lanes &= lanes - 1) {
		u32 at = index[__builtin_ctz(lanes)];
		u32 word = x->wave->shared + l->offset / 4 + (at << l->dim);

		if (at <= l->last && !check_range(x, i, LATE_COMMON, word, l->count, write))
			return false;
	}
	return true;
}

/* Check the slot register at a byte offset. */
static bool check_slot(struct exec *x, const struct usc_insn *i, u32 offset, bool write)
{
	return check_range(x, i, LATE_SLOTS, late_first_slot_word(x) + offset / 4, 1, write);
}

bool late_check_words(struct exec *x, const struct usc_insn *i, enum usc_place place, bool write)
{
	const struct usc_lookup *l = exec_lookup(x, i, place);

	if (i->base[place] == USC_BASE_SHARED)
		return check_range(x, i, LATE_COMMON, x->wave->shared + i->offset[place] / 4,
				   i->registers[place], write);
	if (i->base[place] == USC_BASE_SLOT)
		return check_slot(x, i, i->offset[place], write);
	if (!(i->lookups >> place & 1))
		return true;
	if (l->kind == USC_LOOKUP_SLOT)
		return check_slot(x, i, l->offset, write);
	if (l->kind == USC_LOOKUP_OUTPUT || l->kind == USC_LOOKUP_UNIFORM ||
	    l->kind == USC_LOOKUP_SCALED)
		return true;
	if (!late_check_index(x, i, l->index))
		return false;
	if (l->base != USC_BASE_SHARED ||
	    (l->kind != USC_LOOKUP_WORD && l->kind != USC_LOOKUP_LANES))
		return true;
	return check_indexed_words(x, i, l, write);
}

bool late_loads_slot(const struct usc_insn *i)
{
	return i->loads == USC_LOADS_REGISTERS && i->writes_slot;
}

bool late_has_joined(const struct exec *x, const struct usc_insn *i)
{
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];

	return late_loads_slot(i) && late_task_of(x)->waves > 1 && run->executed &&
	       (run->together >> x->wave->in_group & 1);
}

bool late_check_local(struct exec *x, const struct usc_insn *i)
{
	u32 row[USC_ROW_WORDS], lanes;
	const u32 *offsets;
	struct usc_access a;

	if (!(late_wave_of(x)->ranges || late_wave_of(x)->dropped) || !usc_access_of(i, &a) ||
	    !a.local)
		return true;
	offsets = usc_access_offsets(x, i, row);
	for (lanes = usc_active_lanes(x, i); lanes; lanes &= lanes - 1) {
		u64 at = (u64)offsets[__builtin_ctz(lanes)] + i->value;
		u32 first;

		if (at + a.bytes > x->local_bytes)
			continue;	/* a fault when it is executed */
		first = (late_group_of(x)->local_byte + (u32)at) / 4;
		if (!check_range(x, i, LATE_LOCAL, first, (a.bytes + 3) / 4, a.store)) {
			exec_fault_lane(x, lanes);
			return false;
		}
	}
	return true;
}

/* Return the byte offset in local memory of a work-group copy, or false: out of range. */
static bool local_offset(const struct exec *x, const struct usc_insn *i, u32 *at)
{
	const struct usc_lookup *l;
	u32 index;

	if (!(i->lookups >> USC_SRC0 & 1)) {
		*at = *exec_operand(x, i, USC_SRC0);
		return true;
	}
	/* Its scratch row is filled when the instruction runs. */
	l = exec_lookup(x, i, USC_SRC0);
	index = *(const u32 *)(const void *)(x->base[USC_BASE_OWN] + l->index);
	if (index > l->last)
		return false;
	*at = *(const u32 *)(const void *)(x->base[l->base] + l->offset +
					   ((size_t)index << (l->shift + l->dim)));
	return true;
}

/* Return the words of the common store or local memory that a copy or burst accesses. */
static bool copy_range(const struct exec *x, const struct usc_insn *i, u32 *first)
{
	u32 at;

	if (copies_shared(i))
		return shared_range(x, i, i->loads == USC_LOADS_SHARED ? USC_DST : USC_SRC0, first);
	if (!local_offset(x, i, &at))
		return false;
	*first = (late_group_of(x)->local_byte + at) / 4;
	return at % 4 == 0 && (u64)at + i->words * 4u <= x->local_bytes;
}

static bool is_copy(const struct usc_insn *i)
{
	return pumice_usc_is_group_copy(i->op) || i->op == PUMICE_USC_OP_SHARED_LOAD;
}

/* Return whether the wave executes its copy, burst or load to a slot register now. */
static bool executes(const struct exec *x, const struct usc_insn *i)
{
	const struct usc_task *task = late_task_of(x);

	if (late_loads_slot(i))
		return task->waves < 2 ||
		       (x->usc->run[task->group].together >> x->wave->in_group & 1);
	return !pumice_usc_is_group_copy(i->op) || usc_copy_executes(x);
}

bool late_check_copy(struct exec *x, const struct usc_insn *i)
{
	u32 first;

	if (!is_copy(i) || !executes(x, i) || !copy_range(x, i, &first))
		return true;
	return check_range(x, i, copies_shared(i) ? LATE_COMMON : LATE_LOCAL, first, i->words,
			   i->loads != USC_LOADS_NONE);
}

u32 late_local_words(const struct exec *x, const struct usc_insn *i, u32 *first)
{
	if (!pumice_usc_is_group_copy(i->op) || copies_shared(i) || !executes(x, i) ||
	    !copy_range(x, i, first))
		return 0;
	return i->words;
}

/* --------------------------------------------------------------------- loads */

static enum late_store store_loaded(const struct usc_insn *i)
{
	if (late_loads_slot(i))
		return LATE_SLOTS;
	return i->loads == USC_LOADS_LOCAL ? LATE_LOCAL : LATE_COMMON;
}

static u32 words_loaded(const struct usc_insn *i)
{
	return late_loads_slot(i) ? 1 : i->words;
}

/* Call fn for the words of each task that a copy, burst or load to a slot register loads. */
static void each_loaded(struct exec *x, const struct usc_insn *i, u32 first,
			void (*fn)(struct exec *x, const struct usc_insn *i, u32 first, u32 slot))
{
	const struct usc_group *g = late_group_of(x);

	if (i->op != PUMICE_USC_OP_GROUP_LOAD_SHARED) {
		fn(x, i, first, x->wave->slot);
		return;
	}
	for (u32 t = 0; t < g->tasks; t++) {
		if (x->usc->task[g->slot[t]].instances)
			fn(x, i, first - x->wave->shared + x->usc->task[g->slot[t]].cs_word,
			   g->slot[t]);
	}
}

/* Keep the contents of words that are loaded; earlier loads of them arrive now. */
static void keep_range(struct exec *x, const struct usc_insn *i, u32 first, u32 slot)
{
	const enum late_store store = store_loaded(i);
	const u32 words = words_loaded(i);
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];

	(void)slot;
	for (u32 w = 0; w < run->waves; w++) {
		struct late_wave *wave = &x->usc->late->wave[run->wave[w]];

		for (u32 n = wave->ranges; n-- > 0;) {
			const struct late_range range = wave->range[n];

			if (range.store == store && range.first < first + words &&
			    first < range.first + range.words && !range.copied)
				range_arrives(x, &range);
		}
	}
	memcpy(x->usc->late->data[store] + first, late_store_of(x, store) + first, words * 4u);
}

static void add_range(struct exec *x, u32 index, const struct late_range *range)
{
	struct late_wave *wave = &x->usc->late->wave[index];

	if (wave->ranges == LATE_RANGES) {
		const struct late_range oldest = wave->range[0];

		range_arrives(x, &oldest);
		keep_dropped(x, wave, &oldest);
		remove_range(wave, 0);
	}
	wave->range[wave->ranges++] = *range;
}

/* Return whether a wave has to wait for a load or copy that x executes. @slot: of the words */
static bool has_to_wait(const struct exec *x, const struct usc_insn *i, u32 index, u32 slot)
{
	const struct usc_wave *wave = &x->usc->wave[index];

	if (wave == x->wave)
		return true;
	if (late_loads_slot(i))
		return wave->slot == slot && x->usc->task[slot].waves > 1 &&
		       (x->usc->late->wave[index].joined ||
			(x->usc->run[late_task_of(x)->group].together >> wave->in_group & 1));
	return pumice_usc_is_group_copy(i->op) &&
	       (i->loads != USC_LOADS_SHARED || wave->slot == slot);
}

/* Add a range to the waves that have to wait for it. @slot: as has_to_wait() */
static void add_to_waves(struct exec *x, const struct usc_insn *i, struct late_range *range,
			 u32 slot)
{
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];

	for (u32 w = 0; w < run->waves; w++) {
		const struct usc_wave *wave = &x->usc->wave[run->wave[w]];

		if (wave == x->wave || x->usc->late->wave[run->wave[w]].joined)
			range->when = wave->done[i->sig[0]];
		else	/* it is at the same instruction, and passes it next */
			range->when = wave->clock + 1 + USC_GLOBAL_LATENCY;
		if (has_to_wait(x, i, run->wave[w], slot))
			add_range(x, run->wave[w], range);
	}
}

/*
 * Exchange loaded words and previous contents; the waves that have to wait for them have a range.
 */
static void load_range(struct exec *x, const struct usc_insn *i, u32 first, u32 slot)
{
	const enum late_store where = store_loaded(i);
	u32 *store = late_store_of(x, where), *data = x->usc->late->data[where];
	struct late_range range = {
		.copy = x->usc->late->copies, .first = first, .words = words_loaded(i),
		.signal = i->sig[0], .store = (u8)where,
	};

	for (u32 n = first; n < first + range.words; n++) {
		u32 loaded = store[n];

		store[n] = late_poisons(x) ? PUMICE_USC_POISON : data[n];
		data[n] = loaded;
	}
	add_to_waves(x, i, &range, slot);
}

/* Return whether an instruction is a work-group copy to memory. */
static bool copies_to_memory(const struct usc_insn *i)
{
	return pumice_usc_is_group_copy(i->op) && i->loads == USC_LOADS_NONE;
}

/* All waves of the group have to wait before they write the source, or access the destination. */
static void begin_store(struct exec *x, const struct usc_insn *i, u32 first)
{
	struct late_range range = {
		.copy = x->usc->late->copies, .va = exec_base(x, i),
		.pc = (u32)(i - x->program->insn), .first = first, .words = i->words,
		.copied = true, .signal = i->sig[0],
		.store = copies_shared(i) ? LATE_COMMON : LATE_LOCAL,
	};

	add_to_waves(x, i, &range, x->wave->slot);
}

/* Determine whether this wave's lanes load a slot register: of a task's waves, the first's do. */
static void begin_slot_load(struct exec *x, const struct usc_insn *i, struct usc_late_step *s)
{
	if (!executes(x, i) || late_has_joined(x, i) || !usc_active_lanes(x, i))
		return;
	s->words = 1;
	s->first = late_first_slot_word(x) + exec_lookup(x, i, USC_DST)->offset / 4;
	keep_range(x, i, s->first, x->wave->slot);
}

/* A wave has executed a load to a slot register; the last of its task may end the round. */
static void end_slot_load(struct exec *x)
{
	const struct usc_run *run = &x->usc->run[late_task_of(x)->group];

	late_wave_of(x)->joined = true;
	if (run->together & ~(1u << x->wave->in_group))
		return;
	for (u32 w = 0; w < run->waves; w++) {
		/* Another group may have the places of waves whose task has ended. */
		if (x->usc->wave[run->wave[w]].slot == x->wave->slot)
			x->usc->late->wave[run->wave[w]].joined = false;
	}
}

void late_copy_begin(struct exec *x, const struct usc_insn *i, struct usc_late_step *s)
{
	if (late_loads_slot(i)) {
		begin_slot_load(x, i, s);
	} else if ((i->loads != USC_LOADS_NONE || copies_to_memory(i)) && executes(x, i) &&
		   copy_range(x, i, &s->first)) {
		s->words = i->words;
		if (!copies_to_memory(i))
			each_loaded(x, i, s->first, keep_range);
	}
}

void late_copy_end(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s)
{
	if (s->words) {
		x->usc->late->copies++;
		if (copies_to_memory(i))
			begin_store(x, i, s->first);
		else
			each_loaded(x, i, s->first, load_range);
	}
	if (late_loads_slot(i))
		end_slot_load(x);
}
