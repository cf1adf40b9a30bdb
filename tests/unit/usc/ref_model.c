// SPDX-License-Identifier: MIT
/*
 * Reference model of the USC: movement, reductions, control flow. See ref_model.h.
 */
#include "ref_step.h"

#include <stdlib.h>
#include <string.h>

static void run_alu(struct ref_step *s)
{
	u32 a[PUMICE_LANES] = { 0 }, b[PUMICE_LANES] = { 0 }, c[PUMICE_LANES] = { 0 };
	u32 lanes = s->in.form == PUMICE_USC_FORM_SCALAR ? 1 : PUMICE_LANES;
	bool masked = ref_has(s, PUMICE_USC_FIELD_MASK);
	bool keep[PUMICE_LANES];

	ref_read_all(s, s->in.src0, a);
	if (ref_has(s, PUMICE_USC_FIELD_SRC1))
		ref_read_all(s, s->in.src1, b);
	if (ref_has(s, PUMICE_USC_FIELD_SRC2))
		ref_read_all(s, s->in.src2, c);
	for (u32 l = 0; l < lanes; l++)
		keep[l] = masked && !ref_mask(s, s->in.mask, l);
	for (u32 l = 0; l < lanes; l++) {
		if (!keep[l])
			ref_write(s, s->in.dst, l,
				  ref_alu3(s->in.opcode, s->in.type, a[l], b[l], c[l]));
	}
}

static void run_move(struct ref_step *s)
{
	u32 a[PUMICE_LANES], b[PUMICE_LANES] = { 0 }, out[PUMICE_LANES];

	ref_read_all(s, s->in.src0, a);
	if (s->in.opcode != PUMICE_USC_OP_FIRST_WHERE_TRUE)
		ref_read_all(s, s->in.src1, b);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		switch (s->in.opcode) {
		case PUMICE_USC_OP_SELECT:
			out[l] = ref_mask(s, s->in.mask, l) ? b[l] : a[l];
			break;
		case PUMICE_USC_OP_SHUFFLE:
			out[l] = a[b[l] % 32];
			break;
		case PUMICE_USC_OP_ROTATE:
			out[l] = a[(l + b[0] % 32) % 32];
			break;
		case PUMICE_USC_OP_BUTTERFLY:
			out[l] = a[(l ^ b[0]) % 32];
			break;
		default:	/* first_where_true */
			if (ref_valid(s->w, l) && ref_mask(s, s->in.mask, l)) {
				ref_write(s, s->in.dst, 0, a[l]);
				return;
			}
		}
	}
	if (s->in.opcode == PUMICE_USC_OP_FIRST_WHERE_TRUE)
		return;
	for (u32 l = 0; l < PUMICE_LANES; l++)
		ref_write(s, s->in.dst, l, out[l]);
}

/* Lanes 4n to 4n + 3 are upper left, upper right, lower left, lower right. */
static void run_derivative(struct ref_step *s)
{
	bool in_x = s->in.opcode == PUMICE_USC_OP_DDX;
	u32 a[PUMICE_LANES];

	ref_read_all(s, s->in.src0, a);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		const u32 *span = &a[l / 4 * 4];
		u32 row = l % 4 / 2 * 2, column = l % 2;
		u32 to = in_x ? span[row + 1] : span[column + 2];
		u32 from = in_x ? span[row] : span[column];

		ref_write(s, s->in.dst, l,
			  ref_alu(PUMICE_USC_OP_SUB, PUMICE_USC_TYPE_F32, to, from));
	}
}

static u32 identity(const struct ref_step *s)
{
	bool f32 = s->in.type == PUMICE_USC_TYPE_F32, i32 = s->in.type == PUMICE_USC_TYPE_I32;

	switch (s->in.func) {
	case PUMICE_USC_REDUCE_ADD:
		return f32 ? 0x80000000u : 0;
	case PUMICE_USC_REDUCE_MIN:
		return f32 ? 0x7fc00000u : i32 ? 0x7fffffffu : 0xffffffffu;
	case PUMICE_USC_REDUCE_MAX:
		return f32 ? 0x7fc00000u : i32 ? 0x80000000u : 0;
	case PUMICE_USC_REDUCE_AND:
		return 0xffffffffu;
	default:
		return 0;
	}
}

static u32 combine(const struct ref_step *s, u32 a, u32 b)
{
	static const enum pumice_usc_op op[] = {
		[PUMICE_USC_REDUCE_ADD] = PUMICE_USC_OP_ADD,
		[PUMICE_USC_REDUCE_MIN] = PUMICE_USC_OP_MIN,
		[PUMICE_USC_REDUCE_MAX] = PUMICE_USC_OP_MAX,
		[PUMICE_USC_REDUCE_AND] = PUMICE_USC_OP_AND,
		[PUMICE_USC_REDUCE_OR] = PUMICE_USC_OP_OR,
		[PUMICE_USC_REDUCE_XOR] = PUMICE_USC_OP_XOR,
	};

	return ref_alu(op[s->in.func], s->in.type, a, b);
}

static void run_reduce(struct ref_step *s)
{
	u32 a[PUMICE_LANES], c[4];

	ref_read_all(s, s->in.src0, a);
	for (u32 chunk = 0; chunk < 4; chunk++) {
		u32 *v = &a[chunk * 8];
		bool any = false;

		for (u32 l = 0; l < 8; l++)
			any |= ref_valid(s->w, chunk * 8 + l);
		c[chunk] = any ? v[0] : identity(s);
		for (u32 l = 0; l < 8; l++)
			v[l] = ref_valid(s->w, chunk * 8 + l) ? v[l] : identity(s);
		if (s->in.opcode == PUMICE_USC_OP_REDUCE_PART)
			ref_write(s, s->in.dst, chunk * 8,
				  combine(s, combine(s, combine(s, v[0], v[1]),
						     combine(s, v[2], v[3])),
					  combine(s, combine(s, v[4], v[5]),
						  combine(s, v[6], v[7]))));
	}
	if (s->in.opcode == PUMICE_USC_OP_REDUCE_FINISH)
		ref_write(s, s->in.dst, 0,
			  combine(s, combine(s, c[0], c[1]), combine(s, c[2], c[3])));
}

/* Five steps add the values 1, 2, 4, 8 and 16 lanes lower. */
static void run_scan(struct ref_step *s)
{
	u32 a[PUMICE_LANES], before[PUMICE_LANES];

	ref_read_all(s, s->in.src0, a);
	for (u32 l = 0; l < PUMICE_LANES; l++)
		a[l] = ref_valid(s->w, l) ? a[l] : identity(s);
	for (u32 d = 1; d < PUMICE_LANES; d += d) {
		memcpy(before, a, sizeof(a));
		for (u32 l = d; l < PUMICE_LANES; l++)
			a[l] = combine(s, before[l - d], before[l]);
	}
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u32 out = a[l];

		if (s->in.opcode == PUMICE_USC_OP_SCAN_EXCL)
			out = l ? a[l - 1] : identity(s);
		ref_write(s, s->in.dst, l, out);
	}
}

static void run_ballot(struct ref_step *s)
{
	u32 votes = 0;

	for (u32 l = PUMICE_LANES; l--;)
		votes = votes * 2 + (ref_valid(s->w, l) && ref_mask(s, s->in.mask, l));
	ref_write(s, s->in.dst, 0, votes);
}

bool ref_fault(struct ref_step *s, enum pumice_fault why)
{
	s->g->fault = why;
	s->g->fault_pc = s->w->pc;
	return false;
}

static void run_branch(struct ref_step *s)
{
	bool all = true, any = false, taken = false;

	for (u32 l = 0; l < PUMICE_LANES; l++) {
		if (!ref_valid(s->w, l))
			continue;
		all &= ref_mask(s, s->in.mask, l);
		any |= ref_mask(s, s->in.mask, l);
	}
	switch (s->in.opcode) {
	case PUMICE_USC_OP_BRZ:
		taken = ref_read_scalar(s, s->in.src0) == 0;
		break;
	case PUMICE_USC_OP_BRNZ:
		taken = ref_read_scalar(s, s->in.src0) != 0;
		break;
	case PUMICE_USC_OP_BR_ALL:
		taken = all;
		break;
	case PUMICE_USC_OP_BR_ANY:
		taken = any;
		break;
	case PUMICE_USC_OP_JUMP:
		taken = true;
		break;
	}
	if (taken)
		s->next = s->in.target;
}

static bool execute(struct ref_step *s)
{
	bool done, ok;

	if (!ref_indices_lead_somewhere(s) || !ref_take_uniforms(s))
		return false;
	if (ref_is_memory(s->in.opcode))
		return ref_run_memory(s);
	ok = ref_run_gfx(s, &done);
	if (done)
		return ok;
	switch (s->in.opcode) {
	case PUMICE_USC_OP_SELECT:
	case PUMICE_USC_OP_FIRST_WHERE_TRUE:
	case PUMICE_USC_OP_SHUFFLE:
	case PUMICE_USC_OP_ROTATE:
	case PUMICE_USC_OP_BUTTERFLY:
		run_move(s);
		return true;
	case PUMICE_USC_OP_REDUCE_PART:
	case PUMICE_USC_OP_REDUCE_FINISH:
		run_reduce(s);
		return true;
	case PUMICE_USC_OP_SCAN:
	case PUMICE_USC_OP_SCAN_EXCL:
		run_scan(s);
		return true;
	case PUMICE_USC_OP_DDX:
	case PUMICE_USC_OP_DDY:
		run_derivative(s);
		return true;
	case PUMICE_USC_OP_BALLOT:
		run_ballot(s);
		return true;
	case PUMICE_USC_OP_BRZ:
	case PUMICE_USC_OP_BRNZ:
	case PUMICE_USC_OP_BR_ALL:
	case PUMICE_USC_OP_BR_ANY:
	case PUMICE_USC_OP_JUMP:
		run_branch(s);
		return true;
	case PUMICE_USC_OP_BARRIER:
		s->w->state = REF_WAITS;
		return true;
	case PUMICE_USC_OP_END:
		ref_wait(s, UINT32_MAX);
		s->w->state = REF_DONE;
		return true;
	case PUMICE_USC_OP_SIG_DONE1:
	case PUMICE_USC_OP_SIG_DONE2:
		ref_write(s, s->in.dst, 0, ref_signals_done(s));
		if (ref_signals_done(s))
			ref_wait(s, ref_signals(s));
		return true;
	case PUMICE_USC_OP_SIG_WAIT:
	case PUMICE_USC_OP_SIG_WAITALL2:
	case PUMICE_USC_OP_SIG_WAITALL3:
	case PUMICE_USC_OP_SIG_WAITALL4:
		ref_wait(s, ref_signals(s));
		ref_write(s, s->in.dst, 0, 1);
		return true;
	case PUMICE_USC_OP_SIG_WAITANY2:
	case PUMICE_USC_OP_SIG_WAITANY3:
	case PUMICE_USC_OP_SIG_WAITANY4:
		ref_write(s, s->in.dst, 0, ref_wait_any(s));
		return true;
	default:
		run_alu(s);
		return true;
	}
}

/* Run one instruction; false on a fault. */
static bool run_one(struct ref_step *s)
{
	if (!ref_late_begin(s) || !execute(s))
		return false;
	ref_late_end(s);
	return true;
}

static enum ref_end run_wave(struct ref_group *g, struct ref_wave *w, u32 max_steps)
{
	while (w->state == REF_RUNS) {
		struct ref_step s = { .g = g, .w = w, .next = w->pc + 1 };

		if (max_steps-- == 0)
			return REF_STUCK;
		if (w->pc >= g->insns) {
			ref_fault(&s, PUMICE_FAULT_USC_END);
			return REF_FAULT;
		}
		pumice_usc_unpack(&g->code[w->pc * PUMICE_USC_WORDS], &s.in);
		if (ref_writes_slot(&s)) {
			w->state = REF_MEETS;
			return REF_ENDED;
		}
		if (ref_is_copy(s.in.opcode)) {
			w->state = REF_COPIES;
			return REF_ENDED;
		}
		if (!run_one(&s))
			return REF_FAULT;
		w->pc = s.next;
	}
	return REF_ENDED;
}

/*
 * If waves of the task wait to write a slot register, let those at one instruction do so:
 * whichever comes first with a value keeps it. False on a fault.
 */
static bool write_slot(struct ref_group *g, u32 task, bool *wrote)
{
	u32 kept[PUMICE_USC_OWN_REGS], pc = UINT32_MAX;
	bool has_value = false;

	for (u32 n = 0; n < g->waves; n++) {
		struct ref_wave *w = &g->wave[n];
		struct ref_step s = { .g = g, .w = w, .next = w->pc + 1 };
		bool mine;

		if (w->task != task || w->state != REF_MEETS || (pc != UINT32_MAX && w->pc != pc))
			continue;
		pc = w->pc;
		pumice_usc_unpack(&g->code[pc * PUMICE_USC_WORDS], &s.in);
		if (!ref_late_begin(&s))
			return false;
		memcpy(kept, g->slot_reg[task], sizeof(kept));	/* data that arrive now included */
		mine = !has_value && ref_has_slot_value(&s);
		has_value |= mine;
		if (!execute(&s))
			return false;
		if (!mine)
			memcpy(g->slot_reg[task], kept, sizeof(kept));
		ref_late_end(&s);
		w->pc = s.next;
		w->state = REF_RUNS;
		*wrote = true;
	}
	return true;
}

/* Execute the copy at which all waves are; else it is a barrier that some never reach. */
static enum ref_end copy_together(struct ref_group *g)
{
	struct ref_step s = { .g = g, .w = &g->wave[0] };

	for (u32 n = 0; n < g->waves; n++) {
		if (g->wave[n].state != REF_COPIES || g->wave[n].pc != s.w->pc) {
			g->fault = PUMICE_FAULT_USC_BARRIER;
			return REF_FAULT;
		}
	}
	pumice_usc_unpack(&g->code[s.w->pc * PUMICE_USC_WORDS], &s.in);
	if (!run_one(&s))
		return REF_FAULT;
	for (u32 n = 0; n < g->waves; n++) {
		s.w = &g->wave[n];
		if (n)	/* the lowest wave has executed it */
			ref_late_end(&s);
		s.w->pc++;
		s.w->state = REF_RUNS;
	}
	return REF_ENDED;
}

/* Run waves until each waits at a barrier or a copy, or has ended. */
static enum ref_end run_to_barrier(struct ref_group *g, u32 max_steps)
{
	bool wrote = true;

	while (wrote) {
		wrote = false;
		for (u32 n = 0; n < g->waves; n++) {
			enum ref_end end = run_wave(g, &g->wave[n], max_steps);

			if (end != REF_ENDED)
				return end;
		}
		for (u32 task = 0; task < PUMICE_GROUP_TASKS; task++) {
			if (!write_slot(g, task, &wrote))
				return REF_FAULT;
		}
	}
	return REF_ENDED;
}

enum ref_end ref_run(struct ref_group *g, u32 max_steps)
{
	g->copies = 0;
	for (;;) {
		enum ref_end end = run_to_barrier(g, max_steps);
		u32 waiting = 0, ended = 0, copying = 0;

		if (end != REF_ENDED)
			return end;
		for (u32 n = 0; n < g->waves; n++) {
			waiting += g->wave[n].state == REF_WAITS;
			ended += g->wave[n].state == REF_DONE;
			copying += g->wave[n].state == REF_COPIES;
		}
		if (copying) {
			end = copy_together(g);
			if (end != REF_ENDED)
				return end;
			continue;
		}
		if (!waiting)
			return REF_ENDED;
		if (ended) {
			g->fault = PUMICE_FAULT_USC_BARRIER;
			return REF_FAULT;
		}
		for (u32 n = 0; n < g->waves; n++)
			g->wave[n].state = REF_RUNS;
	}
}

void ref_add_task(struct ref_group *g, u32 task, u32 instances, u32 slot, u32 first_instance)
{
	for (u32 done = 0; done < instances; done += PUMICE_LANES) {
		struct ref_wave *w = &g->wave[g->waves];

		memset(w, 0, sizeof(*w));
		w->task = task;
		w->slot = slot;
		w->instances_of_task = instances;
		w->number_in_group = g->waves++;
		w->first_instance = first_instance + done;
		for (u32 l = 0; l < PUMICE_LANES && done + l < instances; l++)
			w->valid += 1u << l;
	}
}
