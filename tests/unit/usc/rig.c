// SPDX-License-Identifier: MIT
/*
 * Fixture: one USC with memory and a program cache. See rig.h.
 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#define UNIFIED_BYTES (512u << 10)
#define COMMON_BYTES (64u << 10)
#define LOCAL_BYTES (64u << 10)
#define RIG_OVERHEAD (4u << 20)	/* code and translation tables */

static void group_done(void *opaque, unsigned int usc, unsigned int group)
{
	struct rig *rig = opaque;

	if (usc != RIG_NUMBER)
		abort();
	rig->done[group]++;
}

static void group_fault(void *opaque, unsigned int group, const struct gpu_fault *fault)
{
	struct rig *rig = opaque;

	(void)group;
	rig->faults++;
	rig->fault = *fault;
}

static const struct usc_ops ops = { .group_done = group_done, .fault = group_fault };

struct rig *rig_create(u64 data_bytes)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct usc_config config = {
		.number = RIG_NUMBER,
		.core = RIG_CORE,
		.unified_bytes = UNIFIED_BYTES,
		.common_bytes = COMMON_BYTES,
		.local_bytes = LOCAL_BYTES,
		.ops = &ops,
		.opaque = rig,
	};

	if (!rig)
		abort();
	config.mmu = &rig->mmu;
	rig->mem = testmem_create(data_bytes + RIG_OVERHEAD);
	testmem_bind(rig->mem, &rig->mmu);
	rig->code = testmem_map(rig->mem, RIG_CTX, RIG_CODE, RIG_CODE_BYTES, PUMICE_PAGE_SIZE_4K, 0);
	rig->data = testmem_map(rig->mem, RIG_CTX, RIG_DATA, data_bytes, PUMICE_PAGE_SIZE_4K, 0);
	rig->data_bytes = data_bytes;
	rig->cache = usc_program_cache_create();
	rig->usc = usc_create(&config);
	if (!rig->cache || !rig->usc)
		abort();
	return rig;
}

void rig_destroy(struct rig *rig)
{
	usc_destroy(rig->usc);
	usc_program_cache_destroy(rig->cache);
	testmem_destroy(rig->mem);
	free(rig);
}

int rig_setup(void **state)
{
	*state = rig_create(RIG_DATA_BYTES);
	return 0;
}

int rig_teardown(void **state)
{
	rig_destroy(*state);
	return 0;
}

struct usc_program *rig_program(struct rig *rig, const u32 *code, u32 insns,
				const struct usc_program_limits *limits)
{
	memcpy(rig->code, code, (size_t)insns * PUMICE_USC_WORDS * sizeof(u32));
	return usc_program_get(rig->cache, &rig->mmu, &rig->tlb, RIG_CTX, RIG_CODE, insns, limits,
			       &rig->fault);
}

void rig_put(struct rig *rig, struct usc_program *program)
{
	usc_program_put(rig->cache, program);
}

void rig_clear(struct rig *rig)
{
	usc_reset(rig->usc);
	memset(rig->done, 0, sizeof(rig->done));
	rig->faults = 0;
	rig->fault = (struct gpu_fault){ 0 };
	rig->next_slot = 0;
	rig->next_row = 0;
	rig->next_word = 0;
	rig->next_local = 0;
}

static void fill_task(struct rig *rig, unsigned int number, unsigned int index,
		      const struct rig_group *group)
{
	struct usc_task *task = usc_task(rig->usc, rig->next_slot);
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
		.us_row = rig->next_row,
		.cs_word = rig->next_word,
	};
	rig->next_slot++;
	rig->next_row += rows;
	rig->next_word += group->limits.shared + task->coeffs;
	if (rig->next_slot > PUMICE_USC_SLOTS || rig->next_word * 4 > COMMON_BYTES ||
	    rig->next_row * USC_ROW_WORDS * 4 > UNIFIED_BYTES)
		abort();
}

void rig_fill(struct rig *rig, unsigned int number, const struct rig_group *group,
	      struct usc_program *program)
{
	struct usc_group *g = usc_group(rig->usc, number);

	g->tasks = (u8)group->tasks;
	g->ctx = RIG_CTX;
	g->waves = 0;
	g->first_wave = group->first_wave;
	g->local_byte = rig->next_local;
	g->local_bytes = group->local_bytes;
	g->code_addr = RIG_CODE;
	g->program = program;
	g->gfx = group->gfx;
	rig->next_local += group->local_bytes;
	if (rig->next_local > LOCAL_BYTES)
		abort();
	for (u32 t = 0; t < group->tasks; t++) {
		g->slot[t] = (u8)rig->next_slot;
		fill_task(rig, number, t, group);
		g->waves += usc_task(rig->usc, g->slot[t])->waves;
	}
}

void rig_run(struct rig *rig, u32 budget)
{
	while (usc_step(rig->usc, budget, NULL))
		;
}

void rig_run_group(struct rig *rig, const struct rig_group *group, struct usc_program *program)
{
	rig_clear(rig);
	rig_fill(rig, 0, group, program);
	usc_group_start(rig->usc, 0);
	rig_run(rig, 1u << 20);
}
