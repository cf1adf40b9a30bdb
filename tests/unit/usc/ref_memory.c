// SPDX-License-Identifier: MIT
/*
 * Reference model of the USC: memory. See ref_model.h.
 *
 * Lane by lane, word by word, through bytes.
 */
#include "gen.h"
#include "rays.h"
#include "ref_step.h"

#include <stdlib.h>
#include <string.h>

/* Elements that a load or store moves in each lane. */
struct ref_access {
	bool local, store;
	u32 bytes;	/* of one element: 1, 2 or 4 */
	u32 count;	/* elements */
	u32 align;
	u32 scale;	/* bytes of an address */
	enum pumice_fault misaligned;
};

static const char *name_of(u32 opcode)
{
	const struct pumice_isa_op_info *op = pumice_isa_find_opcode(&pumice_usc_isa, opcode);

	return op->name;
}

/* Derived from the operation's name: local_ or global_, load or store, and its bits. */
static bool plain_access(u32 opcode, struct ref_access *a)
{
	const char *name = name_of(opcode), *bits;

	*a = (struct ref_access){ .local = !strncmp(name, "local_", 6), .scale = 1 };
	name += a->local ? 6 : 7;
	if (!a->local && strncmp(name_of(opcode), "global_", 7))
		return false;
	a->store = !strncmp(name, "store", 5);
	if (!a->store && strncmp(name, "load", 4))
		return false;
	bits = name + (a->store ? 5 : 4);
	a->scale = a->local && bits[strlen(bits) - 1] == 'w' ? 4 : 1;
	a->bytes = (u32)strtoul(bits, NULL, 10) / 8;
	a->count = a->bytes > 4 ? a->bytes / 4 : 1;
	a->bytes /= a->count;
	a->align = a->bytes;
	a->misaligned = a->local ? PUMICE_FAULT_USC_LOCAL_ALIGN : PUMICE_FAULT_USC_GLOBAL_ALIGN;
	return true;
}

bool ref_is_copy(u32 opcode)
{
	return !strncmp(name_of(opcode), "group_", 6);
}

bool ref_is_memory(u32 opcode)
{
	struct ref_access a;

	if (ref_is_copy(opcode))
		return true;
	switch (opcode) {
	case PUMICE_USC_OP_LOCAL_ATOMIC:
	case PUMICE_USC_OP_LOCAL_ATOMICW:
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
	case PUMICE_USC_OP_BURST_LOAD:
	case PUMICE_USC_OP_BURST_STORE:
	case PUMICE_USC_OP_SHARED_LOAD:
	case PUMICE_USC_OP_RAY_QUERY:
	case PUMICE_USC_OP_DC_WINDOW:
	case PUMICE_USC_OP_MEM_FENCE:
	case PUMICE_USC_OP_CACHE_CLEAN:
	case PUMICE_USC_OP_CACHE_INVALIDATE:
	case PUMICE_USC_OP_CACHE_CLEAN_RANGE:
	case PUMICE_USC_OP_CACHE_INVALIDATE_RANGE:
		return true;
	default:
		return plain_access(opcode, &a);
	}
}

static u8 *local_at(struct ref_step *s, u64 addr, u32 bytes, u32 align)
{
	if (addr % align)
		return ref_fault(s, PUMICE_FAULT_USC_LOCAL_ALIGN), NULL;
	if (addr + bytes > s->g->local_bytes)
		return ref_fault(s, PUMICE_FAULT_USC_LOCAL_BOUNDS), NULL;
	return &s->g->local[addr];
}

static u8 *global_at(struct ref_step *s, u64 addr, u32 bytes)
{
	if (addr < s->g->memory_va || addr - s->g->memory_va + bytes > s->g->memory_bytes)
		return ref_fault(s, PUMICE_FAULT_MMU_PT_INVALID), NULL;
	return &s->g->memory[addr - s->g->memory_va];
}

static u64 base_address(const struct ref_step *s)
{
	struct pumice_usc_operand o;
	u64 low, high;

	pumice_usc_operand_unpack(&s->in.src2, &o);
	if (o.bank == PUMICE_USC_BANK_NONE)
		return 0;
	low = *ref_word(s, &o, 0);
	o.num++;
	high = *ref_word(s, &o, 0);
	return high << 32 | low;
}

/* Register number n after the operand's. */
static u32 next_register(u32 raw, u32 n)
{
	struct pumice_usc_operand o;
	u32 out;

	pumice_usc_operand_unpack(&raw, &o);
	o.num += n;
	pumice_usc_operand_pack(&out, &o);
	return out;
}

static u32 extended(const struct ref_step *s, const u8 *at, u32 bytes)
{
	u32 value = 0;

	for (u32 n = 0; n < bytes; n++)
		value |= (u32)at[n] << n * 8;
	if (s->in.type == PUMICE_USC_TYPE_I32 && bytes < 4 && value >> (bytes * 8 - 1))
		value |= ~0u << bytes * 8;
	return value;
}

static void put_bytes(u8 *at, u32 value, u32 bytes)
{
	for (u32 n = 0; n < bytes; n++)
		at[n] = (u8)(value >> n * 8);
}

static void active_lanes(const struct ref_step *s, bool active[PUMICE_LANES])
{
	for (u32 l = 0; l < PUMICE_LANES; l++)
		active[l] = ref_valid(s->w, l) && ref_mask(s, s->in.mask, l);
}

static bool any_of(const bool active[PUMICE_LANES])
{
	bool any = false;

	for (u32 l = 0; l < PUMICE_LANES; l++)
		any |= active[l];
	return any;
}

static bool run_access(struct ref_step *s, const struct ref_access *a)
{
	u64 base = a->local ? 0 : base_address(s);
	u32 offset[PUMICE_LANES], value[PUMICE_USC_BURST_WORDS][PUMICE_LANES];
	bool active[PUMICE_LANES];

	active_lanes(s, active);
	ref_read_all(s, s->in.src0, offset);
	for (u32 n = 0; n < a->count && a->store; n++)
		ref_read_all(s, next_register(s->in.src1, n), value[n]);
	s->w->stores += a->store && !a->local && any_of(active);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u64 addr = base + (u64)a->scale * offset[l] + a->scale * s->in.disp;

		if (!active[l])
			continue;
		if (addr % a->align)
			return ref_fault(s, a->misaligned);
		for (u32 n = 0; n < a->count; n++, addr += a->bytes) {
			u8 *at = a->local ? local_at(s, addr, a->bytes, a->align) :
					    global_at(s, addr, a->bytes);

			if (!at)
				return false;
			if (a->store && a->local)
				put_bytes(at, value[n][l], a->bytes);
			else if (a->store)
				ref_put(s, addr, value[n][l], a->bytes);
			else if (!a->local && ref_is_stored(s->g, addr, a->bytes, NULL))
				return ref_fault(s, PUMICE_FAULT_USC_LATE);
			else
				ref_load(s, next_register(s->in.dst, n), l,
					 extended(s, at, a->bytes));
		}
	}
	return true;
}

static bool run_burst(struct ref_step *s)
{
	const struct ref_access a = {
		.store = s->in.opcode == PUMICE_USC_OP_BURST_STORE,
		.bytes = 4,
		.count = s->in.words,
		.align = 4,
		.scale = 1,
		.misaligned = PUMICE_FAULT_USC_BURST_ALIGN,
	};

	return run_access(s, &a);
}

static u32 atomic_result(const struct ref_step *s, u32 old, u32 value, u32 expected)
{
	static const enum pumice_usc_op op[] = {
		[PUMICE_USC_ATOMIC_ADD] = PUMICE_USC_OP_ADD,
		[PUMICE_USC_ATOMIC_MIN] = PUMICE_USC_OP_MIN,
		[PUMICE_USC_ATOMIC_MAX] = PUMICE_USC_OP_MAX,
		[PUMICE_USC_ATOMIC_AND] = PUMICE_USC_OP_AND,
		[PUMICE_USC_ATOMIC_OR] = PUMICE_USC_OP_OR,
		[PUMICE_USC_ATOMIC_XOR] = PUMICE_USC_OP_XOR,
	};

	if (s->in.func == PUMICE_USC_ATOMIC_XCHG)
		return value;
	if (s->in.func == PUMICE_USC_ATOMIC_CMPXCHG)
		return old == expected ? value : old;
	return ref_alu(op[s->in.func], s->in.type, old, value);
}

static bool run_atomic(struct ref_step *s)
{
	bool words = s->in.opcode == PUMICE_USC_OP_LOCAL_ATOMICW, active[PUMICE_LANES];
	bool local = words || s->in.opcode == PUMICE_USC_OP_LOCAL_ATOMIC;
	u64 base = local ? 0 : base_address(s);
	u32 offset[PUMICE_LANES], value[PUMICE_LANES], expected[PUMICE_LANES] = { 0 };

	active_lanes(s, active);
	ref_read_all(s, s->in.src0, offset);
	ref_read_all(s, s->in.src1, value);
	if (s->in.func == PUMICE_USC_ATOMIC_CMPXCHG)
		ref_read_all(s, next_register(s->in.src1, 1), expected);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		u64 addr = base + ((u64)offset[l] + s->in.disp) * (words ? 4 : 1);
		u32 old;
		u8 *at;

		if (!active[l])
			continue;
		if (!local && addr % 4)
			return ref_fault(s, PUMICE_FAULT_USC_GLOBAL_ALIGN);
		at = local ? local_at(s, addr, 4, 4) : global_at(s, addr, 4);
		if (!at)
			return false;
		if (!local && ref_is_stored(s->g, addr, 4, NULL))
			return ref_fault(s, PUMICE_FAULT_USC_LATE);
		old = extended(s, at, 4);
		put_bytes(at, atomic_result(s, old, value[l], expected[l]), 4);
		ref_load(s, s->in.dst, l, old);
	}
	return true;
}

static u32 group_instances(const struct ref_group *g)
{
	u32 instances = 0;

	for (u32 w = 0; w < g->waves; w++) {
		for (u32 l = 0; l < PUMICE_LANES; l++)
			instances += ref_valid(&g->wave[w], l);
	}
	return instances;
}

void ref_complete_copy(struct ref_group *g, const struct ref_copy *copy)
{
	for (u32 n = 0; n < copy->words; n++) {
		void *here = copy->shared ? (void *)&g->shared[copy->task][copy->first + n] :
					    (void *)&g->local[copy->first + n * 4u];
		u8 *there = &g->memory[copy->memory + n * 4u - g->memory_va];

		if (copy->load)
			memcpy(here, &copy->value[n], 4);
		else
			memcpy(there, here, 4);
	}
}

/* Return the waves of a task, a bit each. */
static u32 waves_of_task(const struct ref_group *g, u32 task)
{
	u32 waves = 0;

	for (u32 w = 0; w < g->waves; w++)
		waves |= (u32)(g->wave[w].task == task) << w;
	return waves;
}

/* Begin to load the shared registers of each task, or of the wave's. */
static void load_shared(struct ref_step *s, struct ref_copy *copy)
{
	copy->load = true;
	if (s->in.opcode == PUMICE_USC_OP_SHARED_LOAD) {
		copy->waves = 1u << s->w->number_in_group;
		ref_begin_copy(s, copy);
		return;
	}
	for (u32 task = 0; task < s->g->tasks; task++) {
		copy->task = task;
		copy->waves = waves_of_task(s->g, task);
		if (copy->waves)
			ref_begin_copy(s, copy);
	}
}

/* Read the words that a copy or burst loads, or are stored; false on a fault. */
static bool read_words(struct ref_step *s, struct ref_copy *copy)
{
	for (u32 n = 0; n < copy->words; n++) {
		const u8 *there = global_at(s, copy->memory + n * 4u, 4);

		if (!there)
			return false;
		memcpy(&copy->value[n], there, 4);
	}
	return true;
}

static bool run_copy_shared(struct ref_step *s)
{
	bool store = s->in.opcode == PUMICE_USC_OP_GROUP_STORE_SHARED;
	u64 memory = base_address(s) + s->in.disp;
	struct ref_copy copy = { .shared = true, .task = s->w->task, .words = s->in.words,
				 .memory = memory, .waves = UINT32_MAX };

	if (s->in.opcode != PUMICE_USC_OP_SHARED_LOAD && group_instances(s->g) < 17)
		return ref_fault(s, PUMICE_FAULT_USC_BURST);
	if (memory % 4)
		return ref_fault(s, PUMICE_FAULT_USC_BURST_ALIGN);
	if (!read_words(s, &copy))
		return false;
	ref_select(s, store ? s->in.src0 : s->in.dst, s->in.words, 0, &copy.first);
	if (store)
		ref_begin_copy(s, &copy);
	else
		load_shared(s, &copy);
	return true;
}

static bool run_copy(struct ref_step *s)
{
	u64 memory = base_address(s) + s->in.disp, local = ref_read_scalar(s, s->in.src0);
	struct ref_copy copy = {
		.load = s->in.opcode == PUMICE_USC_OP_GROUP_LOAD, .first = (u32)local,
		.words = s->in.words, .memory = memory, .waves = UINT32_MAX,
	};

	if (group_instances(s->g) < 17)
		return ref_fault(s, PUMICE_FAULT_USC_BURST);
	if (memory % 4)
		return ref_fault(s, PUMICE_FAULT_USC_BURST_ALIGN);
	if (local % 4)
		return ref_fault(s, PUMICE_FAULT_USC_LOCAL_ALIGN);
	if (local + s->in.words * 4u > s->g->local_bytes)
		return ref_fault(s, PUMICE_FAULT_USC_LOCAL_BOUNDS);
	if (!read_words(s, &copy))
		return false;
	ref_begin_copy(s, &copy);
	return true;
}

/* The rays and the structure are those of rays.h. */
static bool run_ray(struct ref_step *s)
{
	u32 ray[PUMICE_RT_RAY_REGS][PUMICE_LANES], result[PUMICE_RT_RESULT_REGS];
	bool active[PUMICE_LANES];

	if (base_address(s) + s->in.disp != s->g->memory_va + GEN_TREE_BYTE)
		return ref_fault(s, PUMICE_FAULT_RTU_HEADER);
	active_lanes(s, active);
	for (u32 n = 0; n < PUMICE_RT_RAY_REGS; n++)
		ref_read_all(s, next_register(s->in.src0, n), ray[n]);
	for (u32 l = 0; l < PUMICE_LANES; l++) {
		float numbers[PUMICE_RT_RAY_REGS];

		if (!active[l])
			continue;
		for (u32 n = 0; n < PUMICE_RT_RAY_REGS; n++)
			memcpy(&numbers[n], &ray[n][l], sizeof(numbers[n]));
		rays_model(numbers, result);
		for (u32 n = 0; n < PUMICE_RT_RESULT_REGS; n++)
			ref_load(s, next_register(s->in.dst, n), l, result[n]);
	}
	return true;
}

static void forget_windows(struct ref_wave *w)
{
	for (u32 n = 0; n < PUMICE_USC_INDEX_REGS; n++) {
		for (u32 l = 0; l < PUMICE_LANES; l++)
			w->dc[n][l].kept = false;
	}
}

static bool run_window(struct ref_step *s)
{
	u64 addr = base_address(s) + s->in.disp;

	if (addr % 4)
		return ref_fault(s, PUMICE_FAULT_USC_BURST_ALIGN);
	s->w->dc_base = addr;
	s->w->dc_words = s->in.words;
	forget_windows(s->w);
	return true;
}

bool ref_run_memory(struct ref_step *s)
{
	struct ref_access a;

	switch (s->in.opcode) {
	case PUMICE_USC_OP_LOCAL_ATOMIC:
	case PUMICE_USC_OP_LOCAL_ATOMICW:
	case PUMICE_USC_OP_GLOBAL_ATOMIC:
		return run_atomic(s);
	case PUMICE_USC_OP_BURST_LOAD:
	case PUMICE_USC_OP_BURST_STORE:
		return run_burst(s);
	case PUMICE_USC_OP_GROUP_LOAD:
	case PUMICE_USC_OP_GROUP_STORE:
		return run_copy(s);
	case PUMICE_USC_OP_GROUP_LOAD_SHARED:
	case PUMICE_USC_OP_GROUP_STORE_SHARED:
	case PUMICE_USC_OP_SHARED_LOAD:
		return run_copy_shared(s);
	case PUMICE_USC_OP_RAY_QUERY:
		return run_ray(s);
	case PUMICE_USC_OP_DC_WINDOW:
		return run_window(s);
	case PUMICE_USC_OP_MEM_FENCE:
	case PUMICE_USC_OP_CACHE_CLEAN:
	case PUMICE_USC_OP_CACHE_INVALIDATE:
	case PUMICE_USC_OP_CACHE_CLEAN_RANGE:
	case PUMICE_USC_OP_CACHE_INVALIDATE_RANGE:
		ref_wait(s, UINT32_MAX);
		forget_windows(s->w);
		return true;
	default:
		plain_access(s->in.opcode, &a);
		return run_access(s, &a);
	}
}
