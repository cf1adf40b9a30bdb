// SPDX-License-Identifier: MIT
/* A fake USC. See fake_usc.h. */
#include "fake_usc.h"

#include <stdlib.h>
#include <string.h>

#include "cmocka_all.h"

static _Atomic u64 start_count;	/* threads of cores start groups at the same time */

/* All bytes of FAKE_NONE are equal, as are those of FAKE_POISON: memset() is fast in any build. */
static void fill16(u16 *array, u32 count)
{
	memset(array, FAKE_NONE & 0xff, count * sizeof(*array));
}

static void poison(u32 *words, u32 count)
{
	memset(words, FAKE_POISON & 0xff, count * sizeof(*words));
}

struct usc *usc_create(const struct usc_config *config)
{
	struct usc *usc = calloc(1, sizeof(*usc));

	assert_non_null(usc);
	usc->config = *config;
	usc->rows = config->unified_bytes / (USC_ROW_WORDS * 4);
	usc->words = config->common_bytes / 4;
	usc->local_words = config->local_bytes / 4;
	usc->unified = malloc(config->unified_bytes);
	usc->common = malloc(config->common_bytes);
	usc->row_owner = calloc(usc->rows, sizeof(u16));
	usc->word_owner = calloc(usc->words, sizeof(u16));
	usc->local_owner = calloc(usc->local_words, sizeof(u16));
	usc_reset(usc);
	return usc;
}

void usc_destroy(struct usc *usc)
{
	free(usc->unified);
	free(usc->common);
	free(usc->row_owner);
	free(usc->word_owner);
	free(usc->local_owner);
	free(usc);
}

void usc_reset(struct usc *usc)
{
	unsigned int i;

	poison(usc->unified, usc->rows * USC_ROW_WORDS);
	poison(usc->common, usc->words);
	fill16(usc->row_owner, usc->rows);
	fill16(usc->word_owner, usc->words);
	fill16(usc->local_owner, usc->local_words);
	fill16(usc->slot_owner, PUMICE_USC_SLOTS);
	for (i = 0; i < PUMICE_USC_TASKS; i++)
		atomic_store(&usc->group[i].state, USC_GROUP_FREE);
	usc->running = 0;
	usc->aborted = false;
	usc->aborted_groups = 0;
}

struct usc_task *usc_task(struct usc *usc, unsigned int slot)
{
	assert_in_range(slot, 0, PUMICE_USC_SLOTS - 1);
	assert_int_equal(usc->slot_owner[slot], FAKE_NONE);
	return &usc->task[slot];
}

struct usc_group *usc_group(struct usc *usc, unsigned int group)
{
	assert_in_range(group, 0, PUMICE_USC_TASKS - 1);
	assert_false(fake_usc_running(usc, group));
	return &usc->group[group];
}

u32 *usc_outputs_unified(struct usc *usc, u32 row)
{
	return usc->unified + row * USC_ROW_WORDS;
}

u32 *usc_outputs_common(struct usc *usc, u32 word)
{
	return usc->common + word;
}

u32 *usc_shared(struct usc *usc, const struct usc_task *task)
{
	assert_in_range(task->cs_word + task->shared, 0, usc->words);
	return usc->common + task->cs_word;
}

u32 *usc_coeffs(struct usc *usc, const struct usc_task *task)
{
	assert_in_range(task->cs_word + task->shared + task->coeffs, 0, usc->words);
	return usc->common + task->cs_word + task->shared;
}

u32 *usc_coeffs_alt(struct usc *usc, const struct usc_task *task)
{
	const u32 before = task->cs_word + task->shared + task->coeffs;

	assert_in_range(before + task->coeffs_alt, 0, usc->words);
	return usc->common + before;
}

u32 *usc_attr(struct usc *usc, const struct usc_task *task, unsigned int wave, unsigned int reg)
{
	u32 row = task->us_row + wave * (task->temps + task->attrs) + task->temps + reg;

	assert_in_range(wave, 0, task->waves - 1);
	assert_in_range(reg, 0, task->attrs - 1);
	assert_in_range(row, 0, usc->rows - 1);
	return usc->unified + row * USC_ROW_WORDS;
}

/* Change the owner of count units; each must have the old one. */
static void hand_over(u16 *owner, u32 size, u32 start, u32 count, unsigned int from,
		      unsigned int to)
{
	u32 i;

	if (!count)
		return;
	assert_true(start < size && count <= size - start);
	for (i = start; i < start + count; i++) {
		assert_int_equal(owner[i], from);
		owner[i] = (u16)to;
	}
}

/* Change the owner of a task's resources. */
static void move_task(struct usc *usc, unsigned int number, u32 index, unsigned int from,
		      unsigned int to)
{
	const unsigned int slot = usc->group[number].slot[index];
	const struct usc_task *task = &usc->task[slot];

	hand_over(usc->slot_owner, PUMICE_USC_SLOTS, slot, 1, from, to);
	assert_int_equal(task->group, number);
	assert_int_equal(task->index, index);
	hand_over(usc->row_owner, usc->rows, task->us_row,
		  (u32)task->waves * (task->temps + task->attrs), from, to);
	hand_over(usc->word_owner, usc->words, task->cs_word,
		  (u32)task->shared + task->coeffs + task->coeffs_alt, from, to);
}

/* Change the owner of the group's resources. */
static void move_group(struct usc *usc, unsigned int number, unsigned int from, unsigned int to)
{
	struct usc_group *group = &usc->group[number];
	u32 i;

	for (i = 0; i < group->tasks; i++)
		if (!(usc->ended[number] >> i & 1))
			move_task(usc, number, i, from, to);
	assert_int_equal(group->local_byte % 4, 0);
	hand_over(usc->local_owner, usc->local_words, group->local_byte / 4,
		  (group->local_bytes + 3) / 4, from, to);
}

bool usc_group_start(struct usc *usc, unsigned int number)
{
	struct usc_group *group = &usc->group[number];
	u32 waves = 0, i;

	assert_false(fake_usc_running(usc, number));
	assert_in_range(group->tasks, 0, PUMICE_GROUP_TASKS);	/* 0: it is cancelled */
	assert_non_null(group->program);
	assert_true(group->program->refs > 0);
	usc->ended[number] = 0;
	move_group(usc, number, FAKE_NONE, number);
	for (i = 0; i < group->tasks; i++)
		waves += usc->task[group->slot[i]].waves;
	assert_int_equal(group->waves, waves);
	atomic_store(&group->state, USC_GROUP_RUNNING);
	usc->start_order[number] = ++start_count;
	usc->started++;
	return !usc->running++;
}

u64 usc_tag_reads(const struct usc *usc, enum pumice_wave_master master)
{
	return usc->tag_reads[master];
}

void usc_abort(struct usc *usc)
{
	usc->aborted = true;
}

void usc_abort_groups(struct usc *usc, u64 groups)
{
	usc->aborted = true;
	usc->aborted_groups |= groups;
}

static void poison_task(struct usc *usc, const struct usc_task *task)
{
	poison(usc->unified + task->us_row * USC_ROW_WORDS,
	       (u32)task->waves * (task->temps + task->attrs) * USC_ROW_WORDS);
	poison(usc->common + task->cs_word,
	       (u32)task->shared + task->coeffs + task->coeffs_alt);
}

/* Poison the group's resources, to detect words that the next owner does not write. */
static void poison_group(struct usc *usc, unsigned int number)
{
	const struct usc_group *group = &usc->group[number];
	u32 i;

	for (i = 0; i < group->tasks; i++)
		if (!(usc->ended[number] >> i & 1))
			poison_task(usc, &usc->task[group->slot[i]]);
}

void fake_usc_finish_task(struct usc *usc, unsigned int group, unsigned int task)
{
	assert_true(fake_usc_running(usc, group));
	poison_task(usc, &usc->task[usc->group[group].slot[task]]);
	move_task(usc, group, task, group, FAKE_NONE);
	usc->ended[group] |= (u8)(1u << task);
	usc->config.ops->task_done(usc->config.opaque, usc->config.number, group, task);
}

void fake_usc_finish_groups(struct usc *usc, u64 groups)
{
	u64 left;

	for (left = groups; left; left &= left - 1) {
		const unsigned int group = (unsigned int)__builtin_ctzll(left);

		assert_true(fake_usc_running(usc, group));
		assert_true(usc->group[group].program->refs > 0);
		poison_group(usc, group);
		move_group(usc, group, group, FAKE_NONE);
		usc->running--;
		atomic_store(&usc->group[group].state, USC_GROUP_FREE);
	}
	usc->config.ops->groups_done(usc->config.opaque, usc->config.number, groups);
}

void fake_usc_finish(struct usc *usc, unsigned int group)
{
	fake_usc_finish_groups(usc, 1ull << group);
}

void fake_usc_fault(struct usc *usc, unsigned int group, enum pumice_fault reason)
{
	const struct gpu_fault fault = {
		.fault = (u8)reason, .unit = PUMICE_UNIT_USC_DATA, .ctx = usc->group[group].ctx,
		.usc = (u16)usc->config.number, .pc = 3, .addr = usc->group[group].code_addr + 48,
	};

	assert_true(fake_usc_running(usc, group));
	usc->config.ops->fault(usc->config.opaque, group, &fault);
}

bool fake_usc_running(const struct usc *usc, unsigned int group)
{
	return atomic_load(&usc->group[group].state) == USC_GROUP_RUNNING;
}

unsigned int fake_usc_oldest(const struct usc *usc)
{
	unsigned int oldest = FAKE_NONE, i;

	for (i = 0; i < PUMICE_USC_TASKS; i++) {
		if (fake_usc_running(usc, i) &&
		    (oldest == FAKE_NONE || usc->start_order[i] < usc->start_order[oldest]))
			oldest = i;
	}
	return oldest;
}

static struct usc_task *task_of(struct usc *usc, unsigned int group, u32 instance)
{
	assert_true(fake_usc_running(usc, group));
	return &usc->task[usc->group[group].slot[instance / PUMICE_TASK_INSTANCES]];
}

u32 fake_usc_shared(struct usc *usc, unsigned int group, u32 instance, u32 reg)
{
	return usc_shared(usc, task_of(usc, group, instance))[reg];
}

u32 fake_usc_coeff(struct usc *usc, unsigned int group, u32 instance, u32 reg)
{
	return usc_coeffs(usc, task_of(usc, group, instance))[reg];
}

u32 fake_usc_coeff_alt(struct usc *usc, unsigned int group, u32 instance, u32 reg)
{
	return usc_coeffs_alt(usc, task_of(usc, group, instance))[reg];
}

u32 fake_usc_attr(struct usc *usc, unsigned int group, u32 instance, u32 reg)
{
	u32 in_task = instance % PUMICE_TASK_INSTANCES;

	return usc_attr(usc, task_of(usc, group, instance), in_task / PUMICE_LANES,
			reg)[in_task % PUMICE_LANES];
}

u32 fake_usc_attr_lane(struct usc *usc, unsigned int group, u32 task, u32 wave, u32 lane, u32 reg)
{
	return usc_attr(usc, &usc->task[usc->group[group].slot[task]], wave, reg)[lane];
}

struct usc_load {
	u32 left;
};

enum usc_load_result usc_program_load(struct usc_program_cache *cache, struct mmu *mmu,
				      struct mmu_tlb *tlb, unsigned int ctx, u64 addr, u32 insns,
				      const struct usc_program_limits *limits,
				      struct usc_load **load, struct usc_program **out,
				      struct gpu_fault *fault)
{
	struct usc_program *program;
	u32 first[4];

	assert_false(cache->locked && *cache->locked);
	if (addr % 16 || !insns || insns > PUMICE_USC_MAX_INSNS) {
		*fault = (struct gpu_fault){
			.fault = PUMICE_FAULT_USC_PROGRAM, .unit = PUMICE_UNIT_USC_CODE,
			.ctx = (u8)ctx, .addr = addr,
		};
		return USC_LOAD_FAULT;
	}
	if (!mmu_read(mmu, tlb, ctx, addr, first, sizeof(first), PUMICE_ACCESS_EXEC,
		      PUMICE_UNIT_USC_CODE, fault))
		return USC_LOAD_FAULT;
	if (!*load) {
		*load = calloc(1, sizeof(**load));
		assert_non_null(*load);
		(*load)->left = cache->pieces;
		cache->loads++;
	}
	if ((*load)->left) {
		(*load)->left--;
		return cache->waits ? USC_LOAD_WAIT : USC_LOAD_MORE;
	}
	usc_load_drop(cache, *load);
	*load = NULL;
	program = calloc(1, sizeof(*program));
	assert_non_null(program);
	*program = (struct usc_program){
		.addr = addr, .insns = insns, .refs = 1, .limits = *limits,
	};
	cache->live++;
	cache->gets++;
	*out = program;
	return USC_LOAD_DONE;
}

void usc_load_drop(struct usc_program_cache *cache, struct usc_load *load)
{
	if (!load)
		return;
	cache->loads--;
	free(load);
}

void usc_program_put(struct usc_program_cache *cache, struct usc_program *program)
{
	assert_true(program->refs == 1);
	cache->live--;
	free(program);
}
