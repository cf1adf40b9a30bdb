// SPDX-License-Identifier: MIT
/*
 * Reference model of the USC: signals, and data that arrive late. See ref_model.h.
 *
 * Written from hw/isa.xml and Documentation/execution.rst: a register has one load under way at
 * most; a later one makes the earlier one arrive.
 */
#include "ref_step.h"

#include <string.h>

static const struct pumice_isa_form *form_of(const struct ref_step *s)
{
	return &pumice_isa_find_opcode(&pumice_usc_isa, s->in.opcode)->form[s->in.form];
}

/* Return the load of a register of a wave, or NULL: the bank has none. */
static struct ref_load *load_of(const struct ref_group *g, const struct ref_wave *w, u32 bank,
				u32 number)
{
	struct ref_wave *wave = (struct ref_wave *)w;

	switch (bank) {
	case PUMICE_USC_BANK_R:
		return number < g->temps ? &wave->reg_load[number] : NULL;
	case PUMICE_USC_BANK_V:
		return number < g->attrs ? &wave->reg_load[g->temps + number] : NULL;
	case PUMICE_USC_BANK_IDX:
		return &wave->idx_load[number];
	case PUMICE_USC_BANK_SL:
		return &wave->slot_load[number];
	case PUMICE_USC_BANK_O:
		return &wave->output_load[number];
	default:
		return NULL;
	}
}

/* Return whether a wave has not waited for a copy or burst to a shared register. */
static bool shared_is_late(const struct ref_group *g, const struct ref_wave *w, u32 number,
			   u32 *signal)
{
	for (u32 n = 0; n < g->copies; n++) {
		const struct ref_copy *copy = &g->copy[n];

		if (copy->load && copy->shared && (copy->waves >> w->number_in_group & 1) &&
		    copy->first <= number && number < copy->first + copy->words) {
			*signal = copy->signal;
			return true;
		}
	}
	return false;
}

bool ref_is_late(const struct ref_group *g, const struct ref_wave *w, u32 bank, u32 number,
		 u32 *signal)
{
	const struct ref_load *load = load_of(g, w, bank, number);

	if (bank == PUMICE_USC_BANK_SH)
		return shared_is_late(g, w, number, signal);
	if (!load || !load->pending)
		return false;
	*signal = load->signal;
	return true;
}

static void arrive(struct ref_step *s, u32 bank, u32 number)
{
	struct ref_load *load = load_of(s->g, s->w, bank, number);
	const struct pumice_usc_operand o = { .bank = (u8)bank, .num = (u16)number };

	for (u32 l = 0; load->pending && l < PUMICE_LANES; l++) {
		if (!load->lane[l])
			continue;
		if (bank == PUMICE_USC_BANK_O)
			ref_set_samples(s, number, l, load->samples[l], load->value[l]);
		else
			*ref_word(s, &o, l) = load->value[l];
	}
	load->pending = false;
}

static void complete_copy(struct ref_group *g, u32 n)
{
	ref_complete_copy(g, &g->copy[n]);
	memmove(&g->copy[n], &g->copy[n + 1], (--g->copies - n) * sizeof(g->copy[0]));
}

/* A load precedes later ones of its words. */
static void complete_loads_of(struct ref_group *g, const struct ref_copy *later)
{
	const u32 size = later->shared ? 1 : 4;

	for (u32 n = g->copies; n-- > 0;) {
		const struct ref_copy *copy = &g->copy[n];

		if (copy->load && copy->shared == later->shared &&
		    (!copy->shared || copy->task == later->task) &&
		    copy->first < later->first + later->words * size &&
		    later->first < copy->first + copy->words * size)
			complete_copy(g, n);
	}
}

/* Of more than REF_MAX_COPIES that a wave waits for, the oldest one is complete. */
static void make_room(struct ref_group *g, u32 wave)
{
	u32 oldest = 0, count = 0;

	for (u32 n = g->copies; n-- > 0;) {
		if (!(g->copy[n].waves >> wave & 1))
			continue;
		oldest = n;
		count++;
	}
	if (count == REF_MAX_COPIES)
		complete_copy(g, oldest);
}

void ref_begin_copy(struct ref_step *s, const struct ref_copy *copy)
{
	struct ref_group *g = s->g;
	struct ref_copy *begun;

	if (g->late == REF_EARLY) {
		ref_complete_copy(g, copy);
		return;
	}
	if (copy->load)
		complete_loads_of(g, copy);
	else
		ref_complete_all_stores(g);
	make_room(g, s->w->number_in_group);
	begun = &g->copy[g->copies++];
	*begun = *copy;
	begun->signal = s->signal;
	for (u32 n = 0; n < g->waves; n++)
		begun->when[n] = g->wave[n].clock + 1 + REF_LATENCY;
}

void ref_store_copies_of(struct ref_group *g, u64 addr, u32 bytes)
{
	for (u32 n = 0; n < g->copies;) {
		const struct ref_copy *copy = &g->copy[n];

		if (!copy->load && addr < copy->memory + copy->words * 4u &&
		    copy->memory < addr + bytes)
			complete_copy(g, n);
		else
			n++;
	}
}

/*
 * Make copies and bursts of the wave complete that have one of some signals, or are complete at a
 * clock.
 */
static void complete_copies(struct ref_step *s, u32 signals, u64 clock)
{
	const u32 wave = s->w->number_in_group;

	for (u32 n = 0; n < s->g->copies;) {
		const struct ref_copy *copy = &s->g->copy[n];

		if ((copy->waves >> wave & 1) &&
		    ((signals >> copy->signal & 1) || copy->when[wave] <= clock))
			complete_copy(s->g, n);
		else
			n++;
	}
}

/* Make the loads of a bank arrive that have one of some signals, or are complete at a clock. */
static void arrive_in(struct ref_step *s, u32 bank, u32 count, u32 signals, u64 clock)
{
	for (u32 n = 0; n < count; n++) {
		const struct ref_load *load = load_of(s->g, s->w, bank, n);

		if (load->pending && ((signals >> load->signal & 1) || load->when <= clock))
			arrive(s, bank, n);
	}
}

static void arrive_all(struct ref_step *s, u32 signals, u64 clock)
{
	arrive_in(s, PUMICE_USC_BANK_R, s->g->temps, signals, clock);
	arrive_in(s, PUMICE_USC_BANK_V, s->g->attrs, signals, clock);
	arrive_in(s, PUMICE_USC_BANK_IDX, PUMICE_USC_INDEX_REGS, signals, clock);
	arrive_in(s, PUMICE_USC_BANK_SL, PUMICE_USC_OWN_REGS, signals, clock);
	arrive_in(s, PUMICE_USC_BANK_O, PUMICE_USC_MAX_OUTPUTS, signals, clock);
	complete_copies(s, signals, clock);
	ref_complete_stores(s, signals, clock);
}

static bool mask_is_late(const struct ref_step *s, u32 raw)
{
	struct pumice_usc_mask m;
	u32 signal;

	pumice_usc_mask_unpack(&raw, &m);
	return (m.a >= 16 && ref_is_late(s->g, s->w, PUMICE_USC_BANK_R, m.a - 16u, &signal)) ||
	       (m.b >= 16 && ref_is_late(s->g, s->w, PUMICE_USC_BANK_R, m.b - 16u, &signal));
}

/* Return whether one of the registers that an operand selects, or its index, is late. */
static bool register_is_late(const struct ref_step *s, const struct pumice_isa_operand *operand,
			     u32 raw)
{
	const struct pumice_usc_operand o = ref_operand(s, raw);
	const bool one = o.elem || ref_is_one_value(operand->cls);
	u32 count = ref_count(s, operand), signal, number;

	if (o.bank == PUMICE_USC_BANK_M)
		return mask_is_late(s, o.num);
	if (o.idx && ref_is_late(s->g, s->w, PUMICE_USC_BANK_IDX, o.idx - 1u, &signal))
		return true;
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (one ? l > 0 : o.idx && !ref_valid(s->w, l))
			continue;
		if (!ref_select(s, raw, count, l, &number))
			continue;
		for (u32 n = 0; n < count; n++) {
			if (ref_is_late(s->g, s->w, o.bank, number + n, &signal))
				return true;
		}
	}
	return false;
}

static bool uses_late(const struct ref_step *s)
{
	const struct pumice_isa_form *form = form_of(s);
	const u32 *words = &s->g->code[s->w->pc * PUMICE_USC_WORDS];
	const u32 layout = pumice_isa_find_opcode(&pumice_usc_isa, s->in.opcode)->layout;

	for (u32 n = 0; n < form->nr_operands; n++) {
		const struct pumice_isa_operand *operand = &form->operands[n];
		const struct pumice_isa_class *class = &pumice_usc_isa.classes[operand->cls];
		u32 raw = (u32)pumice_isa_get(&pumice_usc_isa, layout, operand->field, words);

		if (operand->cls == PUMICE_USC_CLASS_MASK ? mask_is_late(s, raw) :
		    (class->full || class->elem) && raw && register_is_late(s, operand, raw))
			return true;
	}
	return false;
}

/* Determine whether the instruction accesses memory with a signal, and loads registers. */
static void find_signal(struct ref_step *s)
{
	const struct pumice_isa_form *form = form_of(s);

	s->signal = UINT32_MAX;
	for (u32 n = 0; n < form->nr_operands; n++) {
		if (form->operands[n].cls == PUMICE_USC_CLASS_ASYNC && s->in.async)
			s->signal = s->in.async - 1u;
		/* Signals of accesses are the first operand, or follow an atomic operator. */
		if (form->operands[n].cls == PUMICE_USC_CLASS_SIG && ref_is_memory(s->in.opcode))
			s->signal = s->in.sig0;
	}
	s->loads = s->signal != UINT32_MAX && ref_has(s, PUMICE_USC_FIELD_DST) &&
		   s->g->late != REF_EARLY;
}

/* Return whether an access of the instruction may include a lane, whatever its mask is. */
static bool may_access(const struct ref_step *s, u32 lane)
{
	bool pixels = s->in.async && s->g->gfx && s->g->gfx->stage >= 2;
	bool any = ref_valid(s->w, lane);

	for (u32 n = lane / 4 * 4; pixels && n < lane / 4 * 4 + 4; n++)
		any |= ref_valid(s->w, n);	/* textures are read for whole spans */
	return any;
}

/*
 * Make loads of the registers that this instruction may load arrive, before it reads its operands
 * and its mask.
 */
static void arrive_before(struct ref_step *s)
{
	const struct pumice_isa_form *form = form_of(s);
	const struct pumice_usc_operand o = ref_operand(s, s->in.dst);
	u32 count = 0, number;

	for (u32 n = 0; n < form->nr_operands; n++) {
		if (form->operands[n].field == PUMICE_USC_FIELD_DST)
			count = ref_count(s, &form->operands[n]);
	}
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if ((o.idx && !may_access(s, l)) || !ref_select(s, s->in.dst, count, l, &number))
			continue;
		for (u32 n = number; n < number + count; n++) {
			if (load_of(s->g, s->w, o.bank, n))
				arrive(s, o.bank, n);
		}
	}
}

bool ref_late_begin(struct ref_step *s)
{
	find_signal(s);
	if (s->g->late == REF_DATA)
		arrive_all(s, 0, s->w->clock);
	if (s->g->late == REF_POISON && uses_late(s))
		return ref_fault(s, PUMICE_FAULT_USC_LATE);
	if (s->g->late == REF_POISON)
		ref_complete_stores(s, 0, s->w->clock);
	if (s->loads)
		arrive_before(s);
	return true;
}

void ref_load(struct ref_step *s, u32 raw, u32 lane, u32 value)
{
	struct pumice_usc_operand o = ref_operand(s, raw);
	struct ref_load *load = NULL;
	u32 number;

	if (s->loads && ref_select(s, raw, 1, lane, &number))
		load = load_of(s->g, s->w, o.bank, number);
	if (!load) {
		ref_write(s, raw, lane, value);
		return;
	}
	if ((o.bank == PUMICE_USC_BANK_SL && !ref_is_first_active(s, lane)) ||
	    (o.bank == PUMICE_USC_BANK_O && !ref_output_samples(s, lane)))
		return;
	if (!load->pending)
		memset(load, 0, sizeof(*load));
	load->pending = true;
	load->signal = s->signal;
	load->when = s->w->clock + 1 + REF_LATENCY;
	load->lane[lane] = true;
	load->value[lane] = value;
	load->samples[lane] = o.bank == PUMICE_USC_BANK_O ? ref_output_samples(s, lane) : 0;
}

void ref_late_end(struct ref_step *s)
{
	if (s->signal != UINT32_MAX)
		s->w->done[s->signal] = s->w->clock + 1 + REF_LATENCY;
	s->w->clock++;
}

u32 ref_signals(const struct ref_step *s)
{
	u32 signals = 1u << s->in.sig0;

	if (ref_has(s, PUMICE_USC_FIELD_SIG1))
		signals |= 1u << s->in.sig1;
	if (ref_has(s, PUMICE_USC_FIELD_SIG2))
		signals |= 1u << s->in.sig2;
	if (ref_has(s, PUMICE_USC_FIELD_SIG3))
		signals |= 1u << s->in.sig3;
	return signals;
}

bool ref_signals_done(const struct ref_step *s)
{
	bool done = true;

	for (u32 n = 0; n < PUMICE_USC_SIGNALS; n++)
		done &= !(ref_signals(s) >> n & 1) || s->w->done[n] <= s->w->clock;
	return done;
}

/* Return the clock after this instruction, by which accesses are complete; 0 where none is. */
static u64 after(const struct ref_step *s)
{
	return s->g->late == REF_DATA ? s->w->clock + 1 : 0;
}

void ref_wait(struct ref_step *s, u32 signals)
{
	bool ends = s->in.opcode == PUMICE_USC_OP_END;

	for (u32 n = 0; n < PUMICE_USC_SIGNALS && !ends; n++) {
		if ((signals >> n & 1) && s->w->done[n] > s->w->clock)
			s->w->clock = s->w->done[n];
	}
	arrive_all(s, signals, after(s));
}

u32 ref_wait_any(struct ref_step *s)
{
	u32 done = 0;

	for (;; s->w->clock++) {
		for (u32 n = 0; n < PUMICE_USC_SIGNALS; n++) {
			if ((ref_signals(s) >> n & 1) && s->w->done[n] <= s->w->clock)
				done |= 1u << n;
		}
		if (done)
			break;
	}
	arrive_all(s, done, after(s));
	return done;
}
