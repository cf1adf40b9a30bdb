// SPDX-License-Identifier: MIT
/*
 * One work-group for the USC and for the reference model. See both.h.
 */
#include "both.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "exec.h"
#include "rays.h"

#define NOISE_WORDS (BOTH_GROUP_BYTES / 2)

/* Initial contents of memory: a part of this. */
static u32 noise[NOISE_WORDS];

void both_begin(void)
{
	for (u32 n = 0; n < NOISE_WORDS; n++)
		noise[n] = gen_word(&(struct gen_rng){ n });
}

/* The same registers for both sides. */
static void fill_registers(struct gen_rng *rng, struct fixture *fx, unsigned int number,
			   struct ref_group *ref, u64 memory_va)
{
	const struct usc_group *group = usc_group(fx->usc, number);
	u32 wave = 0;

	for (u32 t = 0; t < group->tasks; t++) {
		const struct usc_task *task = usc_task(fx->usc, group->slot[t]);
		u32 *shared = usc_shared(fx->usc, task);

		for (u32 n = 0; n < ref->shared_words; n++)
			shared[n] = gen_word(rng);
		shared[GEN_SH_MEMORY] = (u32)memory_va;
		shared[GEN_SH_MEMORY + 1] = (u32)(memory_va >> 32);
		memcpy(ref->shared[t], shared, ref->shared_words * 4);
		for (u32 n = 0; n < task->coeffs; n++)
			ref->coeff[t][n] = usc_coeffs(fx->usc, task)[n] = gen_word(rng);
		for (u32 n = 0; n < task->coeffs_alt; n++)
			ref->coeff_alt[t][n] = usc_coeffs_alt(fx->usc, task)[n] = gen_word(rng);
		for (u32 w = 0; w < task->waves; w++, wave++) {
			for (u32 r = 0; r < ref->attrs; r++) {
				u32 *row = usc_attr(fx->usc, task, w, r);

				for (u32 l = 0; l < PUMICE_LANES; l++)
					row[l] = gen_word(rng);
				memcpy(ref->wave[wave].reg[ref->temps + r], row, 128);
			}
		}
	}
}

void both_set_up(struct gen_rng *rng, struct fixture *fx, unsigned int number,
		 const struct gen_program *prog, struct fx_group *shape,
		 struct usc_program *program, struct ref_group *ref)
{
	u64 va = FX_DATA + (u64)number * BOTH_GROUP_BYTES;
	struct tree tree;
	u32 instance = 0;

	shape->limits = prog->limits;
	fx_fill(fx, number, shape, program);
	ref->waves = 0;
	memset(ref->local, 0, sizeof(ref->local));
	memset(ref->slot_reg, 0, sizeof(ref->slot_reg));
	ref->code = prog->code;
	ref->insns = prog->insns;
	ref->temps = prog->limits.temps;
	ref->attrs = prog->limits.attrs;
	ref->shared_words = prog->limits.shared;
	ref->coeffs = prog->limits.coeffs;
	ref->coeffs_alt = prog->limits.coeffs_alt;
	ref->tasks = shape->tasks;
	ref->slot_regs = prog->limits.slot_regs;
	ref->gfx = NULL;
	ref->late = (enum ref_late)fx->late;
	ref->dc_fetches = 0;
	ref->stores = 0;
	ref->local_bytes = shape->local_bytes;
	ref->first_wave = shape->first_wave;
	ref->core = FX_CORE;
	ref->usc = FX_IN_CORE;
	for (u32 t = 0; t < shape->tasks; t++) {
		ref_add_task(ref, t, shape->instances[t], usc_group(fx->usc, number)->slot[t],
			     instance);
		instance += shape->instances[t];
	}
	ref->memory_va = va;
	ref->memory_bytes = GEN_READ_BYTES + ref->waves * GEN_WAVE_BYTES;
	ref->memory = malloc(ref->memory_bytes);
	assert_non_null(ref->memory);
	memcpy(ref->memory, &noise[gen_below(rng, NOISE_WORDS / 2)], ref->memory_bytes);
	assert_true(GEN_TREE_BYTE + tree_bytes(RAYS_SQUARES * 2) <= GEN_READ_BYTES);
	rays_build(&tree, ref->memory + GEN_TREE_BYTE, va + GEN_TREE_BYTE, RAYS_SQUARES);
	memcpy(fx->data + number * BOTH_GROUP_BYTES, ref->memory, ref->memory_bytes);
	fill_registers(rng, fx, number, ref, va);
}

bool both_same(const char *what, u32 number, u32 index, const void *got, const void *want,
	       size_t bytes)
{
	const u32 *g = got, *w = want;

	for (size_t n = 0; n < bytes / 4; n++) {
		if (g[n] != w[n]) {
			print_error("group %u: %s %u word %zu is %#x, must be %#x\n", number, what,
				    index, n, g[n], w[n]);
			return false;
		}
	}
	return true;
}

/* Registers of one wave: from the unified store, and its own. */
static bool same_wave(struct fixture *fx, unsigned int number, u32 index,
		      const struct usc_group *group,
		      const struct usc_task *task, u32 in_task, const struct ref_group *ref)
{
	const u32 *regs = fx->usc->unified + usc_wave_regs(task, in_task);
	u32 slot = (u32)(task - fx->usc->task);
	const u32 *own = fx->usc->own + (slot * USC_MAX_WAVES + in_task) * USC_OWN_WORDS;
	const struct ref_wave *w = &ref->wave[index];

	return both_same("registers of wave", number, index, regs, w->reg,
			 (size_t)(ref->temps + ref->attrs) * 128) &&
	       (!group->program->own ||
		(both_same("internal registers of wave", number, index, own, w->internal,
			   sizeof(w->internal)) &&
		 both_same("index registers of wave", number, index,
			   own + USC_OWN_INDEX * USC_ROW_WORDS, w->idx, sizeof(w->idx))));
}

/* Registers, local and global memory. */
bool both_same_state(struct fixture *fx, unsigned int number, const struct ref_group *ref)
{
	const struct usc_group *group = usc_group(fx->usc, number);
	bool ok = both_same("global memory", number, 0, fx->data + number * BOTH_GROUP_BYTES,
			    ref->memory,
		       ref->memory_bytes);
	u32 wave = 0;

	for (u32 t = 0; t < group->tasks; t++) {
		const struct usc_task *task = usc_task(fx->usc, group->slot[t]);

		ok = ok && both_same("shared registers of task", number, t,
				usc_shared(fx->usc, task), ref->shared[t], ref->shared_words * 4) &&
		     both_same("coefficient registers of task", number, t,
			       usc_coeffs(fx->usc, task), ref->coeff[t], task->coeffs * 4u) &&
		     both_same("alternate coefficient registers of task", number, t,
			       usc_coeffs_alt(fx->usc, task), ref->coeff_alt[t],
			       task->coeffs_alt * 4u) &&
		     both_same("slot registers of task", number, t,
			       fx->usc->slot_reg[group->slot[t]], ref->slot_reg[t],
			       sizeof(ref->slot_reg[t]));
		for (u32 w = 0; w < task->waves; w++, wave++)
			ok = ok && same_wave(fx, number, wave, group, task, w, ref);
	}
	return ok && both_same("local memory", number, 0, fx->usc->local + group->local_byte,
			       ref->local,
			  ref->local_bytes);
}
