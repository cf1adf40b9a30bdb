// SPDX-License-Identifier: MIT
/*
 * Data of loads, stores, texture reads, ray queries, bursts and copies that arrive when their
 * signal is done.
 *
 * Source: document 002, "Global memory"; hw/isa.xml: before the signal is done the destination of
 * an access is neither read nor written, nor is the source of a work-group copy to memory written,
 * nor are words that a store writes loaded.
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
 * local memory and slot registers are ranges of words: late_copy.c.
 *
 * Stores of registers write memory when they are complete: late_store.c.
 */
#include "late_state.h"
#include "rows.h"

#include <stdlib.h>

struct usc_late *usc_late_create(const struct usc_config *config)
{
	struct usc_late *late = calloc(1, sizeof(*late));

	if (!late)
		return NULL;
	late->row = calloc(config->unified_bytes / LATE_ROW_BYTES + 1, sizeof(*late->row));
	late->own = calloc(USC_WAVES * USC_OWN_ROWS, sizeof(*late->own));
	late->output = calloc(USC_WAVES * LATE_OUTPUT_ROWS, sizeof(*late->output));
	late->data[LATE_COMMON] = calloc(1, config->common_bytes);
	late->data[LATE_LOCAL] = calloc(1, config->local_bytes);
	late->data[LATE_SLOTS] = calloc(LATE_SLOT_WORDS, sizeof(u32));
	late->first_word[LATE_LOCAL] = config->common_bytes / 4;
	late->first_word[LATE_SLOTS] = late->first_word[LATE_LOCAL] + config->local_bytes / 4;
	late->first_word[LATE_STORES] = late->first_word[LATE_SLOTS] + LATE_SLOT_WORDS;
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
	for (u32 n = 0; n < USC_WAVES; n++)
		late_stores_drop(late, n);
	free(late->row);
	free(late->own);
	free(late->output);
	for (u32 n = 0; n < LATE_STORES; n++)
		free(late->data[n]);
	for (u32 n = 0; n < USC_WAVES; n++)
		free(late->wave[n].word);
	free(late);
}

void usc_late_wave_drop(struct usc_late *late, u32 wave)
{
	late_stores_drop(late, wave);
}

void usc_late_wave_begin(struct usc_late *late, u32 wave, u32 row, u32 rows)
{
	for (u32 n = 0; n < rows; n++)
		late->row[row + n].signal = 0;
	for (u32 n = 0; n < USC_OWN_ROWS; n++)
		late->own[wave * USC_OWN_ROWS + n].signal = 0;
	for (u32 n = 0; late->wave[wave].outputs && n < LATE_OUTPUT_ROWS; n++)
		late->output[wave * LATE_OUTPUT_ROWS + n].signal = 0;
	late->wave[wave].outputs = false;
	late->wave[wave].joined = false;
	late->wave[wave].rows = 0;
	late->wave[wave].ranges = 0;
	late_forget_dropped(late, &late->wave[wave], UINT32_MAX);
	late->wave[wave].meetings = 0;
}

/* ------------------------------------------------------------------- registers */

static struct late_row *late_row(const struct exec *x, struct usc_row p)
{
	u32 row = p.offset / LATE_ROW_BYTES;

	if (p.base == USC_BASE_REG)
		return &x->usc->late->row[x->wave->regs / USC_ROW_WORDS + row];
	if (p.base == USC_BASE_OUTPUTS)
		return &x->usc->late->output[late_wave_index(x) * LATE_OUTPUT_ROWS + row];
	return &x->usc->late->own[late_wave_index(x) * USC_OWN_ROWS + row];
}

static u32 *word_of(const struct exec *x, struct usc_row p, u32 lane)
{
	const u32 row = p.offset / LATE_ROW_BYTES;

	if (p.base == USC_BASE_OUTPUTS)
		return exec_output_word(x, row / PUMICE_MAX_SAMPLES, lane,
					row % PUMICE_MAX_SAMPLES);
	return (u32 *)(void *)(x->base[p.base] + p.offset) + lane;
}

/* ------------------------------------------------------------------- arrival */

static void row_arrives(const struct exec *x, struct usc_row p)
{
	struct late_row *row = late_row(x, p);

	for (u32 lanes = row->lanes; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes);

		*word_of(x, p, lane) = row->data[lane];
	}
	row->signal = 0;
	late_wave_of(x)->rows--;
}

/* Rows of one base whose signal is in a set, or that are complete at a clock. */
static void rows_arrive(const struct exec *x, enum usc_base base, u32 rows, u32 signals, u64 clock)
{
	struct usc_row p = { base, 0 };

	for (u32 n = 0; n < rows && late_wave_of(x)->rows; n++, p.offset += LATE_ROW_BYTES) {
		const struct late_row *row = late_row(x, p);

		if (row->signal && ((signals >> (row->signal - 1) & 1) || row->when <= clock))
			row_arrives(x, p);
	}
}

/* Make loads arrive whose signals the wave has waited for, or that are complete at a clock. */
static void arrive(struct exec *x, u32 signals, u64 clock)
{
	const struct usc_task *task = late_task_of(x);
	const struct late_wave *wave = late_wave_of(x);

	if (wave->rows) {
		rows_arrive(x, USC_BASE_REG, (u32)task->temps + task->attrs, signals, clock);
		rows_arrive(x, USC_BASE_OWN, USC_OWN_ROWS, signals, clock);
		if (wave->outputs)
			rows_arrive(x, USC_BASE_OUTPUTS, LATE_OUTPUT_ROWS, signals, clock);
	}
	late_ranges_arrive(x, signals, clock);
	late_stores_arrive(x, signals, clock);
}

/* ------------------------------------------------------------------- reports */

bool late_report(struct exec *x, const struct usc_insn *i, const struct pumice_usc_late *what)
{
	u32 word;

	pumice_usc_late_pack(&word, what);
	exec_fault(x, i, PUMICE_FAULT_USC_LATE);
	x->fault.addr = word;
	x->fault.access = what->write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ;
	return false;
}

bool late_report_register(struct exec *x, const struct usc_insn *i, u32 bank, u32 number,
			  u32 signal, bool write)
{
	const struct pumice_usc_operand reg = { .bank = (u8)bank, .num = (u16)number };
	struct pumice_usc_late what = { .sig = (u8)signal, .write = write };

	pumice_usc_operand_pack(&what.place, &reg);
	return late_report(x, i, &what);
}

static bool report_row(struct exec *x, const struct usc_insn *i, struct usc_row p, bool write)
{
	u32 bank, number;

	usc_row_register(x, p, &bank, &number);
	return late_report_register(x, i, bank, number, late_row(x, p)->signal - 1, write);
}

static bool check_read(struct exec *x, const struct usc_insn *i, struct usc_row p, u32 lanes)
{
	(void)lanes;
	return !late_row(x, p)->signal || report_row(x, i, p, false);
}

static bool check_write(struct exec *x, const struct usc_insn *i, struct usc_row p, u32 lanes)
{
	(void)lanes;
	return !late_row(x, p)->signal || report_row(x, i, p, true);
}

bool late_check_index(struct exec *x, const struct usc_insn *i, u32 offset)
{
	return check_read(x, i, (struct usc_row){ USC_BASE_OWN, offset }, 0);
}

static bool check_mask(struct exec *x, const struct usc_insn *i, u32 which)
{
	const struct usc_mask *mask = exec_mask(x, i, which);

	for (u32 n = 0; n < 2; n++) {
		if (mask->base[n] == USC_BASE_REG &&
		    !check_read(x, i, (struct usc_row){ USC_BASE_REG, mask->offset[n] }, 0))
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
		if (!late_check_words(x, i, place, false) ||
		    !usc_each_register(x, i, place, x->valid, check_read))
			return false;
	}
	return true;
}

/* Check the destination: an index that selects it is read. */
static bool check_destination(struct exec *x, const struct usc_insn *i)
{
	if (late_has_joined(x, i))
		return true;
	if (late_is_index(i, USC_DST))
		return usc_each_register(x, i, USC_DST, x->valid, check_read);
	return late_check_words(x, i, USC_DST, true) &&
	       usc_each_register(x, i, USC_DST, x->valid, check_write);
}

/* Operation pbe reads all outputs of the tile, though its only operand is the state. */
static bool check_emitted(struct exec *x, const struct usc_insn *i)
{
	struct usc_row p = { USC_BASE_OUTPUTS, 0 };

	if (i->op != PUMICE_USC_OP_PBE || !late_wave_of(x)->outputs)
		return true;
	for (u32 n = 0; n < LATE_OUTPUT_ROWS; n++, p.offset += LATE_ROW_BYTES) {
		if (!check_read(x, i, p, 0))
			return false;
	}
	return true;
}

static bool check(struct exec *x, const struct usc_insn *i)
{
	const struct late_wave *wave = late_wave_of(x);

	if (!wave->rows && !wave->ranges && !wave->dropped)
		return true;
	return check_sources(x, i) && check_destination(x, i) && late_check_local(x, i) &&
	       late_check_copy(x, i) && check_emitted(x, i);
}

/* -------------------------------------------------------- loads, and their waits */

/* Before an instruction that may load a register: an earlier load of it arrives. */
static bool end_earlier_load(struct exec *x, const struct usc_insn *i, struct usc_row p, u32 lanes)
{
	(void)i, (void)lanes;
	if (late_row(x, p)->signal)
		row_arrives(x, p);
	return true;
}

/* Keep the contents of a register that is loaded. */
static bool keep_row(struct exec *x, const struct usc_insn *i, struct usc_row p, u32 lanes)
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
static bool load_row(struct exec *x, const struct usc_insn *i, struct usc_row p, u32 lanes)
{
	struct late_row *row = late_row(x, p);

	if (!lanes)
		return true;
	late_wave_of(x)->outputs |= p.base == USC_BASE_OUTPUTS;
	late_wave_of(x)->rows += !row->signal;
	row->signal = i->sig[0] + 1u;
	row->when = x->wave->done[i->sig[0]];
	row->lanes |= lanes;
	for (; lanes; lanes &= lanes - 1) {
		u32 lane = (u32)__builtin_ctz(lanes), *word = word_of(x, p, lane);
		u32 loaded = *word;

		*word = late_poisons(x) ? PUMICE_USC_POISON : row->data[lane];
		row->data[lane] = loaded;
	}
	return true;
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
	default:
		return 0;
	}
	return exec_signals(i);
}

/*
 * Return whether an instruction operates on memory, or ends the wave, after it has waited for all
 * accesses, and does so now: it does not yield.
 */
static bool all_are_waited_for(const struct exec *x, const struct usc_insn *i)
{
	switch (i->op) {
	case PUMICE_USC_OP_MEM_FENCE:
	case PUMICE_USC_OP_CACHE_CLEAN:
	case PUMICE_USC_OP_CACHE_INVALIDATE:
	case PUMICE_USC_OP_CACHE_CLEAN_RANGE:
	case PUMICE_USC_OP_CACHE_INVALIDATE_RANGE:
		return x->exclusive || exec_all_done(x) <= exec_clock(x, i);
	case PUMICE_USC_OP_END:
		return true;
	default:
		return false;
	}
}

/*
 * Determine the lanes that are loaded after earlier loads, which may be of its mask, have arrived.
 * A ray query that was interrupted has replaced registers, also those of its mask: it continues
 * with the data that was determined when it began.
 */
static void begin_load(struct exec *x, const struct usc_insn *i, struct usc_late_step *s)
{
	if (x->wave->ray_lanes) {
		s->lanes = late_wave_of(x)->lanes;
		return;
	}
	usc_each_register(x, i, USC_DST, i->masked ? x->valid : exec_texture_lanes(x),
			  end_earlier_load);
	s->lanes = i->masked ? usc_active_lanes(x, i) : exec_texture_lanes(x);
	late_wave_of(x)->lanes = s->lanes;
	if (s->lanes)
		usc_each_register(x, i, USC_DST, s->lanes, keep_row);
}

bool usc_late_begin(struct exec *x, const struct usc_insn *i, struct usc_late_step *s)
{
	*s = (struct usc_late_step){ 0 };
	if (!late_poisons(x))
		arrive(x, 0, exec_clock(x, i));
	else if (!check(x, i))
		return false;
	else
		late_stores_arrive(x, 0, exec_clock(x, i));
	/* An operation on caches comes after the stores of copies, so they are complete before. */
	if (all_are_waited_for(x, i))
		arrive(x, UINT32_MAX, 0);
	if (x->exit == USC_EXIT_FAULT || !late_stores_begin(x, i, s))
		return false;
	s->signals = signals_waited(x, i);
	if (i->loads == USC_LOADS_REGISTERS && !late_loads_slot(i))
		begin_load(x, i, s);
	else
		late_copy_begin(x, i, s);
	return true;
}

bool usc_late_end(struct exec *x, const struct usc_insn *i, const struct usc_late_step *s)
{
	if (!late_stores_end(x, i, s))
		return false;
	if (s->lanes)
		usc_each_register(x, i, USC_DST, s->lanes, load_row);
	else
		late_copy_end(x, i, s);
	/* Accesses are complete in the order in which they began, not in that of the waits. */
	if (s->signals)
		arrive(x, s->signals, late_poisons(x) ? 0 : exec_clock(x, i) + 1);
	return x->exit != USC_EXIT_FAULT;
}
