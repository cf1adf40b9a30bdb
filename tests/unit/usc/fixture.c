// SPDX-License-Identifier: MIT
/*
 * Fixture: one USC with memory and a program cache. See fixture.h.
 */
#include "fixture.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

#define UNIFIED_BYTES (512u << 10)
#define COMMON_BYTES (64u << 10)
#define LOCAL_BYTES (64u << 10)
#define FX_OVERHEAD (4u << 20)	/* code and translation tables */

/* Overwrite the registers of a task and its description, as its next owner may. */
static void overwrite(struct fixture *fx, unsigned int slot)
{
	struct usc_task *task = usc_task(fx->usc, slot);
	u32 wave;

	memset(usc_shared(fx->usc, task), 0x77, task->shared * sizeof(u32));
	for (wave = 0; wave < task->waves; wave++)
		memset(usc_attr(fx->usc, task, wave, 0) - task->temps * USC_ROW_WORDS, 0x77,
		       (task->temps + (size_t)task->attrs) * USC_ROW_WORDS * sizeof(u32));
	memset(task, 0x77, sizeof(*task));
}

static void task_done(void *opaque, unsigned int usc, unsigned int group, unsigned int task)
{
	struct fixture *fx = opaque;

	if (usc != FX_NUMBER)
		abort();
	if (fx->tasks_done < PUMICE_GROUP_TASKS)
		fx->task_done[fx->tasks_done] = (u8)task;
	fx->tasks_done++;
	if (fx->overwrite)
		overwrite(fx, usc_group(fx->usc, group)->slot[task]);
}

static void groups_done(void *opaque, unsigned int usc, u64 groups)
{
	struct fixture *fx = opaque;

	if (usc != FX_NUMBER)
		abort();
	fx->reports++;
	fx->left_at_report = fx->usc->left;
	for (; groups; groups &= groups - 1) {
		fx->done[__builtin_ctzll(groups)]++;
		if (fx->restarts)
			usc_group_start(fx->usc, (unsigned int)__builtin_ctzll(groups));
	}
	fx->restarts -= fx->restarts != 0;
}

static void group_fault(void *opaque, unsigned int group, const struct gpu_fault *fault)
{
	struct fixture *fx = opaque;

	(void)group;
	fx->faults++;
	fx->done_at_fault = 0;
	for (u32 n = 0; n < PUMICE_USC_SLOTS; n++)
		fx->done_at_fault |= (u64)(fx->done[n] != 0) << n;
	fx->fault = *fault;
}

static const struct usc_ops ops = {
	.task_done = task_done, .groups_done = groups_done, .fault = group_fault,
};

struct fixture *fx_create(u64 data_bytes)
{
	return fx_create_late(data_bytes, USC_LATE_EARLY);
}

struct fixture *fx_create_late(u64 data_bytes, enum usc_late_mode late)
{
	struct fixture *fx = calloc(1, sizeof(*fx));
	struct usc_config config = {
		.number = FX_NUMBER,
		.core = FX_CORE,
		.in_core = FX_IN_CORE,
		.unified_bytes = UNIFIED_BYTES,
		.common_bytes = COMMON_BYTES,
		.local_bytes = LOCAL_BYTES,
		.late = late,
		.ops = &ops,
		.opaque = fx,
	};

	if (!fx)
		abort();
	config.mmu = &fx->mmu;
	tf_init(&fx->tf);
	fx->tag = tag_create(&(struct tag_config){ .mmu = &fx->mmu, .tf = &fx->tf });
	config.tag = fx->tag;
	fx->mem = testmem_create(data_bytes + FX_OVERHEAD);
	testmem_bind(fx->mem, &fx->mmu);
	fx->code = testmem_map(fx->mem, FX_CTX, FX_CODE, FX_CODE_BYTES, PUMICE_PAGE_SIZE_4K, 0);
	fx->data = testmem_map(fx->mem, FX_CTX, FX_DATA, data_bytes, PUMICE_PAGE_SIZE_4K, 0);
	fx->data_bytes = data_bytes;
	fx->late = late;
	fx->cache = usc_program_cache_create();
	fx->usc = usc_create(&config);
	if (!fx->cache || !fx->usc || !fx->tag)
		abort();
	return fx;
}

void fx_destroy(struct fixture *fx)
{
	usc_destroy(fx->usc);
	tag_destroy(fx->tag);
	usc_program_cache_destroy(fx->cache);
	testmem_destroy(fx->mem);
	free(fx);
}

int fx_setup(void **state)
{
	*state = fx_create(FX_DATA_BYTES);
	return 0;
}

int fx_teardown(void **state)
{
	fx_destroy(*state);
	return 0;
}

struct usc_program *fx_program(struct fixture *fx, const u32 *code, u32 insns,
			       const struct usc_program_limits *limits)
{
	memcpy(fx->code, code, (size_t)insns * PUMICE_USC_WORDS * sizeof(u32));
	mmu_drop_code(&fx->mmu, FX_CTX);
	return usc_program_get(fx->cache, &fx->mmu, &fx->tlb, FX_CTX, FX_CODE, insns, limits,
			       &fx->fault);
}

struct usc_program *fx_program_insns(struct fixture *fx, const struct pumice_usc_insn *insns,
				     u32 count, const struct usc_program_limits *limits)
{
	u32 *code = calloc(count, PUMICE_USC_WORDS * sizeof(u32));
	struct usc_program *program;

	if (!code)
		abort();
	for (u32 n = 0; n < count; n++)
		usc_put(code, n, insns[n]);
	program = fx_program(fx, code, count, limits);
	free(code);
	return program;
}

void fx_put(struct fixture *fx, struct usc_program *program)
{
	usc_program_put(fx->cache, program);
}

void fx_clear(struct fixture *fx)
{
	usc_reset(fx->usc);
	memset(fx->done, 0, sizeof(fx->done));
	fx->reports = 0;
	fx->faults = 0;
	fx->fault = (struct gpu_fault){ 0 };
	fx->next_slot = 0;
	fx->next_row = 0;
	fx->next_word = 0;
	fx->next_local = 0;
}

static void fill_task(struct fixture *fx, unsigned int number, unsigned int index,
		      const struct fx_group *group)
{
	struct usc_task *task = usc_task(fx->usc, fx->next_slot);
	u32 waves = (group->instances[index] + PUMICE_LANES - 1) / PUMICE_LANES;
	u32 rows = waves * (group->limits.temps + group->limits.attrs);

	*task = (struct usc_task){
		.group = (u8)number,
		.index = (u8)index,
		.waves = (u8)waves,
		.temps = (u8)group->limits.temps,
		.attrs = (u8)group->limits.attrs,
		.instances = (u16)group->instances[index],
		.shared = (u16)group->limits.shared,
		.coeffs = (u16)(group->limits.coeffs * (group->prims ? group->prims : 1)),
		.coeffs_alt = (u16)(group->limits.coeffs_alt * (group->prims ? group->prims : 1)),
		.us_row = fx->next_row,
		.cs_word = fx->next_word,
	};
	fx->next_slot++;
	fx->next_row += rows;
	fx->next_word += group->limits.shared + task->coeffs + task->coeffs_alt;
	if (fx->next_slot > PUMICE_USC_SLOTS || fx->next_word * 4 > COMMON_BYTES ||
	    fx->next_row * USC_ROW_WORDS * 4 > UNIFIED_BYTES)
		abort();
}

void fx_fill(struct fixture *fx, unsigned int number, const struct fx_group *group,
	     struct usc_program *program)
{
	struct usc_group *g = usc_group(fx->usc, number);

	g->tasks = (u8)group->tasks;
	g->ctx = FX_CTX;
	g->waves = 0;
	g->first_wave = group->first_wave;
	g->local_byte = fx->next_local;
	g->local_bytes = group->local_bytes;
	g->code_addr = FX_CODE;
	g->program = program;
	g->gfx = group->gfx;
	fx->next_local += group->local_bytes;
	if (fx->next_local > LOCAL_BYTES)
		abort();
	for (u32 t = 0; t < group->tasks; t++) {
		g->slot[t] = (u8)fx->next_slot;
		fill_task(fx, number, t, group);
		g->waves += usc_task(fx->usc, g->slot[t])->waves;
	}
}

void fx_set_base(struct fixture *fx, u32 slot, u64 base)
{
	u32 *shared = usc_shared(fx->usc, usc_task(fx->usc, slot));

	shared[0] = (u32)base;
	shared[1] = (u32)(base >> 32);
}

void fx_run(struct fixture *fx, u32 budget)
{
	while (usc_step(fx->usc, budget, NULL))
		;
}

void fx_run_group(struct fixture *fx, const struct fx_group *group, struct usc_program *program)
{
	fx_clear(fx);
	fx_fill(fx, 0, group, program);
	usc_group_start(fx->usc, 0);
	fx_run(fx, 1u << 20);
}
