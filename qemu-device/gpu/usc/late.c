// SPDX-License-Identifier: MIT
/*
 * Data of loads, texture reads, ray queries and bursts that arrive when their signal is done.
 *
 * Source: document 002, "Global memory"; hw/isa.xml: before the signal is done the destination of
 * an access is neither read nor written.
 *
 * Instructions are executed as usual, one at a time; then the data are moved from the destination
 * to a copy of the store, and arrive later:
 *
 *   USC_LATE_DATA    when the access is complete by the wave's clock; until then the destination
 *                    has its previous contents. Nothing is reported.
 *   USC_LATE_POISON  when the wave has waited for the signal: by sig_wait or sig_waitall, by
 *                    sig_waitany whose result has its bit, by sig_done that returned 1, by
 *                    mem_fence, or by its end. Until then the destination is
 *                    PUMICE_USC_POISON, and an instruction of the wave that reads or writes it
 *                    faults. A signal that is done by the clock is not sufficient, so that a
 *                    program's result does not depend on timing.
 *
 * Registers of the unified store, internal and index registers are known by row, pixel outputs by a
 * row for each sample: of the samples that were live when the load was issued. Shared registers,
 * local memory and slot registers are ranges of words, which several waves can have: of a
 * work-group copy each wave of the group has one, of a load to a slot register each wave that
 * executes it together with the others, since each has to wait; the data arrive for all with the
 * first.
 *
 * Limits: stores are executed at issue. Accesses of other waves to shared registers, slot registers
 * and local memory before the wave has waited are not checked, as document 003 has no check of
 * hazards between instances.
 * If a wave has more than LATE_RANGES ranges under way, the oldest one arrives at once.
 */
#include "late.h"

#include <stdlib.h>

#include "minmax.h"
#include "pumice_formats.h"
#include "step.h"

#define LATE_RANGES 16u
#define ROW_BYTES (USC_ROW_WORDS * 4u)
#define OUTPUT_ROWS (PUMICE_USC_MAX_OUTPUTS * PUMICE_MAX_SAMPLES)	/* of a wave */
#define SLOT_WORDS (PUMICE_USC_SLOTS * PUMICE_USC_OWN_REGS)

/* A register of a wave: a load that has not arrived. */
struct late_row {
	u64 when;		/* wave's clock at which it is complete */
	u32 lanes;
	u32 signal;		/* plus 1; 0: nothing is under way */
	u32 data[USC_ROW_WORDS];
};

enum late_store { LATE_COMMON, LATE_LOCAL, LATE_SLOTS, LATE_STORES };

/* Words of a store that a wave has to wait for. */
struct late_range {
	u64 when;
	u64 copy;		/* number of the copy, burst or load: equal in its waves */
	u32 first, words;
	u8 signal;
	u8 store;		/* enum late_store */
	bool arrived;		/* with the wait of another wave */
};

struct late_wave {
	u32 rows;		/* that are under way */
	u32 lanes;		/* that its last load of registers loads */
	bool outputs;		/* it has loaded pixel outputs */
	bool joined;		/* a load to a slot register that others still execute */
	u32 ranges;
	struct late_range range[LATE_RANGES];	/* oldest first */
};

struct usc_late {
	u64 copies;
	struct late_row *row;	/* as the unified store */
	struct late_row *own;	/* USC_OWN_ROWS for each wave */
	struct late_row *output;	/* OUTPUT_ROWS for each wave: by output, then sample */
	u32 *data[LATE_STORES];	/* of ranges, as the stores */
	struct late_wave wave[USC_WAVES];
};

struct usc_late *usc_late_create(const struct usc_config *config)
{
	struct usc_late *late = calloc(1, sizeof(*late));

	if (!late)
		return NULL;
	late->row = calloc(config->unified_bytes / ROW_BYTES + 1, sizeof(*late->row));
	late->own = calloc(USC_WAVES * USC_OWN_ROWS, sizeof(*late->own));
	late->output = calloc(USC_WAVES * OUTPUT_ROWS, sizeof(*late->output));
	late->data[LATE_COMMON] = calloc(1, config->common_bytes);
	late->data[LATE_LOCAL] = calloc(1, config->local_bytes);
	late->data[LATE_SLOTS] = calloc(SLOT_WORDS, sizeof(u32));
	if (!late->row || !late->own || !late->output || !late->data[LATE_COMMON] ||
	    !late->data[LATE_LOCAL] || !late->data[LATE_SLOTS]) {
		usc_late_destroy(late);
		return NULL;
	}
	return late;
}

void usc_late_destroy(struct usc_late *late)
{
	if (!late)
		return;
	free(late->row);
	free(late->own);
	free(late->output);
	for (u32 n = 0; n < LATE_STORES; n++)
		free(late->data[n]);
	free(late);
}

void usc_late_wave_begin(struct usc_late *late, u32 wave, u32 row, u32 rows)
{
	for (u32 n = 0; n < rows; n++)
		late->row[row + n].signal = 0;
	for (u32 n = 0; n < USC_OWN_ROWS; n++)
		late->own[wave * USC_OWN_ROWS + n].signal = 0;
	for (u32 n = 0; late->wave[wave].outputs && n < OUTPUT_ROWS; n++)
		late->output[wave * OUTPUT_ROWS + n].signal = 0;
	late->wave[wave].outputs = false;
	late->wave[wave].joined = false;
	late->wave[wave].rows = 0;
	late->wave[wave].ranges = 0;
}

static u32 wave_index(const struct exec *x)
{
	return (u32)(x->wave - x->usc->wave);
}

static struct late_wave *wave_of(const struct exec *x)
{
	return &x->usc->late->wave[wave_index(x)];
}

static const struct usc_task *task_of(const struct exec *x)
{
	return &x->usc->task[x->wave->slot];
}

static const struct usc_group *group_of(const struct exec *x)
{
	return &x->usc->group[task_of(x)->group];
}

static bool poisons(const struct exec *x)
{
	return x->usc->config.late == USC_LATE_POISON;
}

static u32 *store_of(const struct exec *x, enum late_store store)
{
	switch (store) {
	case LATE_COMMON:
		return x->usc->common;
	case LATE_LOCAL:
		return (u32 *)(void *)x->usc->local;
	default:
		return x->usc->slot_reg[0];
	}
}

/* Return the first word of the wave's slot registers in their store. */
static u32 first_slot_word(const struct exec *x)
{
	return x->wave->slot * PUMICE_USC_OWN_REGS;
}

/* ------------------------------------------------------- registers of an operand */

/* A register: a row from one of three bases. */
struct place {
	/* USC_BASE_REG, USC_BASE_OWN or, of pixel outputs, BASE_OUTPUTS */
	enum usc_base base;
	u32 offset;		/* bytes */
};

/* The base of pixel outputs, whose words are in the tile: that of their operands. */
#define BASE_OUTPUTS USC_BASE_SCRATCH

/* Visit a register of which some lanes are used; false ends the visit. */
typedef bool visit_fn(struct exec *x, const struct usc_insn *i, struct place p, u32 lanes);

static bool is_row(u32 base)
{
	return base == USC_BASE_REG || base == USC_BASE_OWN;
}

static struct late_row *late_row(const struct exec *x, struct place p)
{
	u32 row = p.offset / ROW_BYTES;

	if (p.base == USC_BASE_REG)
		return &x->usc->late->row[x->wave->regs / USC_ROW_WORDS + row];
	if (p.base == BASE_OUTPUTS)
		return &x->usc->late->output[wave_index(x) * OUTPUT_ROWS + row];
	return &x->usc->late->own[wave_index(x) * USC_OWN_ROWS + row];
}

static u32 *word_of(const struct exec *x, struct place p, u32 lane)
{
	const u32 row = p.offset / ROW_BYTES;

	if (p.base == BASE_OUTPUTS)
		return exec_output_word(x, row / PUMICE_MAX_SAMPLES, lane,
					row % PUMICE_MAX_SAMPLES);
	return (u32 *)(void *)(x->base[p.base] + p.offset) + lane;
}

/* Visit the samples of a pixel output, each in the lanes whose pixels have it live. */
static bool each_sample(struct exec *x, const struct usc_insn *i, u32 number, u32 lanes,
			visit_fn *fn)
{
	struct place p = { BASE_OUTPUTS, number * PUMICE_MAX_SAMPLES * ROW_BYTES };

	for (u32 s = 0; s < x->gfx->tile->samples; s++, p.offset += ROW_BYTES) {
		if (!fn(x, i, p, exec_output_lanes(x, s, lanes)))
			return false;
	}
	return true;
}

/* Visit the pixel outputs that the lanes' indices select. */
static bool each_indexed_output(struct exec *x, const struct usc_insn *i,
				const struct usc_lookup *l, u32 lanes, visit_fn *fn)
{
	const u32 *index = (const u32 *)(const void *)(x->base[USC_BASE_OWN] + l->index);

	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		if (index[lane] <= l->last &&
		    !each_sample(x, i, l->offset + (index[lane] << l->dim), 1u << lane, fn))
			return false;
	}
	return true;
}

/* Visit the registers that the lanes' indices, or that of lane 0, select. */
static bool each_indexed(struct exec *x, const struct usc_insn *i, enum usc_place place, u32 lanes,
			 visit_fn *fn)
{
	const struct usc_lookup *l = exec_lookup(x, i, place);
	const u32 *index = (const u32 *)(const void *)(x->base[USC_BASE_OWN] + l->index);

	if (l->base != USC_BASE_REG)
		return true;
	if (l->kind == USC_LOOKUP_WORD)
		lanes = 1;
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);
		struct place p = { USC_BASE_REG, l->offset };

		if (index[lane] > l->last)
			continue;	/* a fault when it is executed */
		p.offset += index[lane] << (l->shift + l->dim);
		for (u32 n = 0; n < l->count; n++, p.offset += ROW_BYTES) {
			if (!fn(x, i, p, 1u << lane))
				return false;
		}
	}
	return true;
}

/* Visit the registers of an operand, where it has any. */
static bool each_register(struct exec *x, const struct usc_insn *i, enum usc_place place, u32 lanes,
			  visit_fn *fn)
{
	struct place p = { i->base[place], i->offset[place] };

	if (i->lookups >> place & 1) {
		const struct usc_lookup *l = exec_lookup(x, i, place);

		if (l->kind == USC_LOOKUP_ROWS || l->kind == USC_LOOKUP_WORD)
			return each_indexed(x, i, place, lanes, fn);
		if (l->kind == USC_LOOKUP_OUTPUT)
			return each_sample(x, i, l->offset, lanes, fn);
		if (l->kind == USC_LOOKUP_OUTPUTS)
			return each_indexed_output(x, i, l, lanes, fn);
		if (l->kind != USC_LOOKUP_SCALED)
			return true;
		p = (struct place){ l->base, l->offset };
	}
	for (u32 n = 0; is_row(p.base) && n < i->registers[place]; n++, p.offset += ROW_BYTES) {
		if (!fn(x, i, p, lanes))
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------- arrival */

static void row_arrives(const struct exec *x, struct place p)
{
	struct late_row *row = late_row(x, p);

	for (u32 lanes = row->lanes; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		*word_of(x, p, lane) = row->data[lane];
	}
	row->signal = 0;
	wave_of(x)->rows--;
}

/* Rows of one base whose signal is in a set, or that are complete at a clock. */
static void rows_arrive(const struct exec *x, enum usc_base base, u32 rows, u32 signals, u64 clock)
{
	struct place p = { base, 0 };

	for (u32 n = 0; n < rows && wave_of(x)->rows; n++, p.offset += ROW_BYTES) {
		const struct late_row *row = late_row(x, p);

		if (row->signal && ((signals >> (row->signal - 1) & 1) || row->when <= clock))
			row_arrives(x, p);
	}
}

/* The words of a range arrive, for all waves that have it. */
static void range_arrives(const struct exec *x, const struct late_range *range)
{
	const struct usc_run *run = &x->usc->run[task_of(x)->group];
	const u32 *data = x->usc->late->data[range->store];
	u32 *store = store_of(x, range->store);

	if (range->arrived)
		return;
	for (u32 n = range->first; n < range->first + range->words; n++)
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

/* Make loads arrive whose signals the wave has waited for, or that are complete at a clock. */
static void arrive(const struct exec *x, u32 signals, u64 clock)
{
	const struct usc_task *task = task_of(x);
	struct late_wave *wave = wave_of(x);

	if (wave->rows) {
		rows_arrive(x, USC_BASE_REG, (u32)task->temps + task->attrs, signals, clock);
		rows_arrive(x, USC_BASE_OWN, USC_OWN_ROWS, signals, clock);
		if (wave->outputs)
			rows_arrive(x, BASE_OUTPUTS, OUTPUT_ROWS, signals, clock);
	}
	for (u32 n = wave->ranges; n-- > 0;) {
		const struct late_range range = wave->range[n];

		if (!(signals >> range.signal & 1) && range.when > clock)
			continue;
		range_arrives(x, &range);
		remove_range(wave, n);
	}
}

/* ------------------------------------------------------------------- reports */

static bool report(struct exec *x, const struct usc_insn *i, const struct pumice_usc_late *what)
{
	u32 word;

	pumice_usc_late_pack(&word, what);
	exec_fault(x, i, PUMICE_FAULT_USC_LATE);
	x->fault.addr = word;
	x->fault.access = what->write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ;
	return false;
}

static bool report_register(struct exec *x, const struct usc_insn *i, u32 bank, u32 number,
			    u32 signal, bool write)
{
	const struct pumice_usc_operand reg = { .bank = (u8)bank, .num = (u16)number };
	struct pumice_usc_late what = { .sig = (u8)signal, .write = write };

	pumice_usc_operand_pack(&what.place, &reg);
	return report(x, i, &what);
}

static bool report_row(struct exec *x, const struct usc_insn *i, struct place p, bool write)
{
	const u32 row = p.offset / ROW_BYTES, temps = x->program->limits.temps;
	const u32 signal = late_row(x, p)->signal - 1;

	if (p.base == BASE_OUTPUTS)
		return report_register(x, i, PUMICE_USC_BANK_O, row / PUMICE_MAX_SAMPLES, signal,
				       write);
	if (p.base == USC_BASE_OWN)
		return row < USC_OWN_INDEX ?
		       report_register(x, i, PUMICE_USC_BANK_I, row, signal, write) :
		       report_register(x, i, PUMICE_USC_BANK_IDX, row - USC_OWN_INDEX,
				       signal, write);
	return row < temps ? report_register(x, i, PUMICE_USC_BANK_R, row, signal, write) :
			     report_register(x, i, PUMICE_USC_BANK_V, row - temps, signal, write);
}

static bool check_read(struct exec *x, const struct usc_insn *i, struct place p, u32 lanes)
{
	(void)lanes;
	return !late_row(x, p)->signal || report_row(x, i, p, false);
}

static bool check_write(struct exec *x, const struct usc_insn *i, struct place p, u32 lanes)
{
	(void)lanes;
	return !late_row(x, p)->signal || report_row(x, i, p, true);
}

/* Report the use of a word of a store that a range has. */
static bool report_word(struct exec *x, const struct usc_insn *i, const struct late_range *range,
			u32 at, bool write)
{
	if (range->store == LATE_LOCAL)
		return report(x, i, &(struct pumice_usc_late){
					    .place = at * 4 - group_of(x)->local_byte,
					    .sig = range->signal,
					    .local = true,
					    .write = write,
				    });
	if (range->store == LATE_SLOTS)
		return report_register(x, i, PUMICE_USC_BANK_SL, at - first_slot_word(x),
				       range->signal, write);
	return report_register(x, i, PUMICE_USC_BANK_SH, at - x->wave->shared, range->signal,
			       write);
}

/* Check words of a store. */
static bool check_range(struct exec *x, const struct usc_insn *i, enum late_store store, u32 first,
			u32 words, bool write)
{
	const struct late_wave *wave = wave_of(x);

	for (u32 n = 0; n < wave->ranges; n++) {
		const struct late_range *range = &wave->range[n];

		if (range->store == store && first < range->first + range->words &&
		    range->first < first + words)
			return report_word(x, i, range, max_u32(first, range->first), write);
	}
	return true;
}

/* Return whether an instruction copies to or from shared registers. */
static bool copies_shared(const struct usc_insn *i)
{
	return i->loads == USC_LOADS_SHARED || i->op == PUMICE_USC_OP_GROUP_STORE_SHARED;
}

/* Return whether an operand without a row in lookups is the index of another: of SH or VO. */
static bool is_index(const struct usc_insn *i, enum usc_place place)
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

	if (!is_index(i, place)) {
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

/* Check the index of an operand, and the words of the common store or slot that it names. */
static bool check_words(struct exec *x, const struct usc_insn *i, enum usc_place place, bool write)
{
	const struct usc_lookup *l = exec_lookup(x, i, place);

	if (i->base[place] == USC_BASE_SHARED)
		return check_range(x, i, LATE_COMMON, x->wave->shared + i->offset[place] / 4,
				   i->registers[place], write);
	if (i->base[place] == USC_BASE_SLOT)
		return check_range(x, i, LATE_SLOTS, first_slot_word(x) + i->offset[place] / 4, 1,
				   write);
	if (!(i->lookups >> place & 1))
		return true;
	if (l->kind == USC_LOOKUP_SLOT)
		return check_range(x, i, LATE_SLOTS, first_slot_word(x) + l->offset / 4, 1, write);
	if (l->kind == USC_LOOKUP_OUTPUT || l->kind == USC_LOOKUP_UNIFORM ||
	    l->kind == USC_LOOKUP_SCALED)
		return true;
	if (!check_read(x, i, (struct place){ USC_BASE_OWN, l->index }, 0))
		return false;
	if (l->base != USC_BASE_SHARED ||
	    (l->kind != USC_LOOKUP_WORD && l->kind != USC_LOOKUP_LANES))
		return true;
	return check_indexed_words(x, i, l, write);
}

static bool check_mask(struct exec *x, const struct usc_insn *i, u32 which)
{
	const struct usc_mask *mask = exec_mask(x, i, which);

	for (u32 n = 0; n < 2; n++) {
		if (mask->base[n] == USC_BASE_REG &&
		    !check_read(x, i, (struct place){ USC_BASE_REG, mask->offset[n] }, 0))
			return false;
	}
	return true;
}

static bool check_sources(struct exec *x, const struct usc_insn *i)
{
	if (i->masked && !check_mask(x, i, USC_MASK_OF_LANES))
		return false;
	for (enum usc_place place = USC_SRC0; place < USC_PLACES; place++) {
		if (i->values >> place & 1 && !check_mask(x, i, USC_MASK_OF(place)))
			return false;
		if (!check_words(x, i, place, false) ||
		    !each_register(x, i, place, x->valid, check_read))
			return false;
	}
	return true;
}

/* Return whether an instruction loads a slot register. */
static bool loads_slot(const struct usc_insn *i)
{
	return i->loads == USC_LOADS_REGISTERS && i->writes_slot;
}

/*
 * Return whether another wave has executed the load to a slot register that this one executes
 * together with it: then the register is under way for both.
 */
static bool has_joined(const struct exec *x, const struct usc_insn *i)
{
	const struct usc_run *run = &x->usc->run[task_of(x)->group];

	return loads_slot(i) && task_of(x)->waves > 1 && run->executed &&
	       (run->together >> x->wave->in_group & 1);
}

/* Check the destination: an index that selects it is read. */
static bool check_destination(struct exec *x, const struct usc_insn *i)
{
	if (has_joined(x, i))
		return true;
	if (is_index(i, USC_DST))
		return each_register(x, i, USC_DST, x->valid, check_read);
	return check_words(x, i, USC_DST, true) &&
	       each_register(x, i, USC_DST, x->valid, check_write);
}

/* Check the words of local memory that the active lanes access. */
static bool check_local(struct exec *x, const struct usc_insn *i)
{
	u32 row[USC_ROW_WORDS], lanes;
	const u32 *offsets;
	struct usc_access a;

	if (!wave_of(x)->ranges || !usc_access_of(i, &a) || !a.local)
		return true;
	offsets = usc_access_offsets(x, i, row);
	for (lanes = usc_active_lanes(x, i); lanes; lanes &= lanes - 1) {
		u64 at = (u64)offsets[__builtin_ctz(lanes)] + i->value;
		u32 first;

		if (at + a.bytes > x->local_bytes)
			continue;	/* a fault when it is executed */
		first = (group_of(x)->local_byte + (u32)at) / 4;
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
	*first = (group_of(x)->local_byte + at) / 4;
	return at % 4 == 0 && (u64)at + i->words * 4u <= x->local_bytes;
}

static bool is_copy(const struct usc_insn *i)
{
	return pumice_usc_is_group_copy(i->op) || i->op == PUMICE_USC_OP_SHARED_LOAD;
}

/* Return whether the wave executes its copy, burst or load to a slot register now. */
static bool executes(const struct exec *x, const struct usc_insn *i)
{
	const struct usc_task *task = task_of(x);

	if (loads_slot(i))
		return task->waves < 2 ||
		       (x->usc->run[task->group].together >> x->wave->in_group & 1);
	return !pumice_usc_is_group_copy(i->op) || usc_copy_executes(x);
}

static bool check_copy(struct exec *x, const struct usc_insn *i)
{
	u32 first;

	if (!is_copy(i) || !executes(x, i) || !copy_range(x, i, &first))
		return true;
	return check_range(x, i, copies_shared(i) ? LATE_COMMON : LATE_LOCAL, first, i->words,
			   i->loads != USC_LOADS_NONE);
}

/* Operation pbe reads all outputs of the tile, though its only operand is the state. */
static bool check_emitted(struct exec *x, const struct usc_insn *i)
{
	struct place p = { BASE_OUTPUTS, 0 };

	if (i->op != PUMICE_USC_OP_PBE || !wave_of(x)->outputs)
		return true;
	for (u32 n = 0; n < OUTPUT_ROWS; n++, p.offset += ROW_BYTES) {
		if (!check_read(x, i, p, 0))
			return false;
	}
	return true;
}

static bool check(struct exec *x, const struct usc_insn *i)
{
	const struct late_wave *wave = wave_of(x);

	if (!wave->rows && !wave->ranges)
		return true;
	return check_sources(x, i) && check_destination(x, i) && check_local(x, i) &&
	       check_copy(x, i) && check_emitted(x, i);
}

/* -------------------------------------------------------- loads, and their waits */

/* Before an instruction that may load a register: an earlier load of it arrives. */
static bool end_earlier_load(struct exec *x, const struct usc_insn *i, struct place p, u32 lanes)
{
	(void)i, (void)lanes;
	if (late_row(x, p)->signal)
		row_arrives(x, p);
	return true;
}

/* Keep the contents of a register that is loaded. */
static bool keep_row(struct exec *x, const struct usc_insn *i, struct place p, u32 lanes)
{
	struct late_row *row = late_row(x, p);

	(void)i;
	row->lanes = 0;
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		row->data[lane] = *word_of(x, p, lane);
	}
	return true;
}

/* Exchange loaded data and previous contents. */
static bool load_row(struct exec *x, const struct usc_insn *i, struct place p, u32 lanes)
{
	struct late_row *row = late_row(x, p);

	if (!lanes)
		return true;
	wave_of(x)->outputs |= p.base == BASE_OUTPUTS;
	wave_of(x)->rows += !row->signal;
	row->signal = i->sig[0] + 1u;
	row->when = x->wave->done[i->sig[0]];
	row->lanes |= lanes;
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes), *word = word_of(x, p, lane);
		u32 loaded = *word;

		*word = poisons(x) ? PUMICE_USC_POISON : row->data[lane];
		row->data[lane] = loaded;
	}
	return true;
}

static enum late_store store_loaded(const struct usc_insn *i)
{
	if (loads_slot(i))
		return LATE_SLOTS;
	return i->loads == USC_LOADS_LOCAL ? LATE_LOCAL : LATE_COMMON;
}

static u32 words_loaded(const struct usc_insn *i)
{
	return loads_slot(i) ? 1 : i->words;
}

/* Call fn for the words of each task that a copy, burst or load to a slot register loads. */
static void each_loaded(struct exec *x, const struct usc_insn *i, u32 first,
			void (*fn)(struct exec *x, const struct usc_insn *i, u32 first, u32 slot))
{
	const struct usc_group *g = group_of(x);

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
	const struct usc_run *run = &x->usc->run[task_of(x)->group];

	(void)slot;
	for (u32 w = 0; w < run->waves; w++) {
		struct late_wave *wave = &x->usc->late->wave[run->wave[w]];

		for (u32 n = wave->ranges; n-- > 0;) {
			const struct late_range range = wave->range[n];

			if (range.store == store && range.first < first + words &&
			    first < range.first + range.words)
				range_arrives(x, &range);
		}
	}
	memcpy(x->usc->late->data[store] + first, store_of(x, store) + first, words * 4u);
}

static void add_range(struct exec *x, u32 index, const struct late_range *range)
{
	struct late_wave *wave = &x->usc->late->wave[index];

	if (wave->ranges == LATE_RANGES) {
		const struct late_range oldest = wave->range[0];

		range_arrives(x, &oldest);
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
	if (loads_slot(i))
		return wave->slot == slot && x->usc->task[slot].waves > 1 &&
		       (x->usc->late->wave[index].joined ||
			(x->usc->run[task_of(x)->group].together >> wave->in_group & 1));
	return pumice_usc_is_group_copy(i->op) &&
	       (i->loads == USC_LOADS_LOCAL || wave->slot == slot);
}

/*
 * Exchange loaded words and previous contents; the waves that have to wait for them have a range.
 */
static void load_range(struct exec *x, const struct usc_insn *i, u32 first, u32 slot)
{
	const struct usc_run *run = &x->usc->run[task_of(x)->group];
	const enum late_store where = store_loaded(i);
	u32 *store = store_of(x, where), *data = x->usc->late->data[where];
	struct late_range range = {
		.copy = x->usc->late->copies, .first = first, .words = words_loaded(i),
		.signal = i->sig[0], .store = (u8)where,
	};

	for (u32 n = first; n < first + range.words; n++) {
		u32 loaded = store[n];

		store[n] = poisons(x) ? PUMICE_USC_POISON : data[n];
		data[n] = loaded;
	}
	for (u32 w = 0; w < run->waves; w++) {
		const struct usc_wave *wave = &x->usc->wave[run->wave[w]];

		if (wave == x->wave || x->usc->late->wave[run->wave[w]].joined)
			range.when = wave->done[i->sig[0]];
		else	/* it is at the same instruction, and passes it next */
			range.when = wave->clock + 1 + USC_GLOBAL_LATENCY;
		if (has_to_wait(x, i, run->wave[w], slot))
			add_range(x, run->wave[w], &range);
	}
}

/* Return the signals that an instruction has waited for when it is complete. */
static u32 signals_waited(const struct exec *x, const struct usc_insn *i)
{
	switch (i->op) {
	case PUMICE_USC_OP_SIG_DONE1:
	case PUMICE_USC_OP_SIG_DONE2:
		if (exec_signals_done(x, i) > exec_clock(x, i))
			return 0;
		break;
	case PUMICE_USC_OP_SIG_WAIT:
	case PUMICE_USC_OP_SIG_WAITALL2:
	case PUMICE_USC_OP_SIG_WAITALL3:
	case PUMICE_USC_OP_SIG_WAITALL4:
		break;
	case PUMICE_USC_OP_SIG_WAITANY2:
	case PUMICE_USC_OP_SIG_WAITANY3:
	case PUMICE_USC_OP_SIG_WAITANY4:
		return exec_any_done(x, i);
	case PUMICE_USC_OP_MEM_FENCE:
	case PUMICE_USC_OP_CACHE_CLEAN:
	case PUMICE_USC_OP_CACHE_INVALIDATE:
	case PUMICE_USC_OP_CACHE_CLEAN_RANGE:
	case PUMICE_USC_OP_CACHE_INVALIDATE_RANGE:
	case PUMICE_USC_OP_END:
		return UINT32_MAX;
	default:
		return 0;
	}
	return exec_signals(i);
}

/*
 * Determine the lanes that are loaded after earlier loads, which may be of its mask, have arrived.
 * A ray query that was interrupted has replaced registers, also those of its mask: it continues
 * with the data that was determined when it began.
 */
static void begin_load(struct exec *x, const struct usc_insn *i, struct usc_late_step *s)
{
	if (x->wave->ray_lanes) {
		s->lanes = wave_of(x)->lanes;
		return;
	}
	each_register(x, i, USC_DST, i->masked ? x->valid : exec_texture_lanes(x),
		      end_earlier_load);
	s->lanes = i->masked ? usc_active_lanes(x, i) : exec_texture_lanes(x);
	wave_of(x)->lanes = s->lanes;
	if (s->lanes)
		each_register(x, i, USC_DST, s->lanes, keep_row);
}

/* Determine whether this wave's lanes load a slot register: of a task's waves, the first's do. */
static void begin_slot_load(struct exec *x, const struct usc_insn *i, struct usc_late_step *s)
{
	if (!executes(x, i) || has_joined(x, i) || !usc_active_lanes(x, i))
		return;
	s->words = 1;
	s->first = first_slot_word(x) + exec_lookup(x, i, USC_DST)->offset / 4;
	keep_range(x, i, s->first, x->wave->slot);
}

/* A wave has executed a load to a slot register; the last of its task may end the round. */
static void end_slot_load(struct exec *x)
{
	const struct usc_run *run = &x->usc->run[task_of(x)->group];

	wave_of(x)->joined = true;
	if (run->together & ~(1u << x->wave->in_group))
		return;
	for (u32 w = 0; w < run->waves; w++) {
		/* Another group may have the places of waves whose task has ended. */
		if (x->usc->wave[run->wave[w]].slot == x->wave->slot)
			x->usc->late->wave[run->wave[w]].joined = false;
	}
}

bool usc_late_begin(struct exec *x, const struct usc_insn *i, struct usc_late_step *s)
{
	*s = (struct usc_late_step){ 0 };
	if (!poisons(x))
		arrive(x, 0, exec_clock(x, i));
	else if (!check(x, i))
		return false;
	s->signals = signals_waited(x, i);
	if (loads_slot(i)) {
		begin_slot_load(x, i, s);
	} else if (i->loads == USC_LOADS_REGISTERS) {
		begin_load(x, i, s);
	} else if (i->loads != USC_LOADS_NONE && executes(x, i) && copy_range(x, i, &s->first)) {
		s->words = i->words;
		each_loaded(x, i, s->first, keep_range);
	}
	return true;
}

void usc_late_end(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s)
{
	if (i->loads == USC_LOADS_REGISTERS && s->lanes) {
		each_register(x, i, USC_DST, s->lanes, load_row);
	} else if (s->words) {
		x->usc->late->copies++;
		each_loaded(x, i, s->first, load_range);
	}
	if (loads_slot(i))
		end_slot_load(x);
	if (s->signals)
		arrive(x, s->signals, 0);
}
