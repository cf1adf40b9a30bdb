// SPDX-License-Identifier: MIT
/* Fixture of the tests of the PDS. See rig.h. */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#include "pumice_names.h"

void rig_lock(void *opaque)
{
	struct rig *rig = opaque;

	assert_false(rig->locked);
	rig->locked = true;
	rig->locks++;
}

void rig_unlock(void *opaque)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	rig->locked = false;
}

static void rig_wake_usc(void *opaque, unsigned int usc)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	assert_in_range(usc, 0, rig->uscs - 1);
	rig->wakes[usc]++;
}

static u64 rig_now(void *opaque)
{
	return ((struct rig *)opaque)->clock;
}

static void rig_group_done(void *opaque)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	rig->done++;
}

static void rig_fault(void *opaque, const struct gpu_fault *fault)
{
	struct rig *rig = opaque;

	assert_true(rig->locked);
	rig->faults++;
	rig->fault = *fault;
}

static void rig_room(void *opaque)
{
	((struct rig *)opaque)->room++;
}

static const struct pds_ops rig_ops = {
	.group_done = rig_group_done,
	.fault = rig_fault,
	.room = rig_room,
};

static void make_memory(struct rig *rig)
{
	rig->tm = testmem_create(4u << 20);
	testmem_bind(rig->tm, &rig->mmu);
	testmem_map(rig->tm, RIG_CTX, RIG_PDS, RIG_PDS_BYTES, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	testmem_map(rig->tm, RIG_CTX, RIG_CODE, RIG_CODE_BYTES, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	rig->data = testmem_map(rig->tm, RIG_CTX, RIG_DATA, RIG_DATA_BYTES, PUMICE_PAGE_SIZE_4K,
				TESTMEM_RO | TESTMEM_NX);
}

struct rig *rig_create_for(unsigned int uscs, const struct rig_stores *stores,
			   const struct pds_ops *ops, void *opaque)
{
	static const struct rig_stores usual = { RIG_UNIFIED, RIG_COMMON, RIG_LOCAL };
	const struct rig_stores *s = stores ? stores : &usual;
	struct rig *rig = calloc(1, sizeof(*rig));
	struct pds_config config = {
		.uscs = uscs,
		.usc = rig->usc,
		.unified_bytes = s->unified_bytes,
		.common_bytes = s->common_bytes,
		.local_bytes = s->local_bytes,
		.mmu = &rig->mmu,
		.programs = &rig->cache,
		.lock = rig_lock,
		.unlock = rig_unlock,
		.wake_usc = rig_wake_usc,
		.now = rig_now,
		.opaque = rig,
		.ops = ops,
		.ops_opaque = opaque ? opaque : rig,
	};
	unsigned int i;

	rig->cache.locked = &rig->locked;
	make_memory(rig);
	rig->uscs = uscs;
	rig->pds = pds_create(&config);
	assert_non_null(rig->pds);
	for (i = 0; i < uscs; i++) {
		const struct usc_config usc_config = {
			.number = i,
			.core = i / PUMICE_USCS_PER_CORE,
			.unified_bytes = s->unified_bytes,
			.common_bytes = s->common_bytes,
			.local_bytes = s->local_bytes,
			.mmu = &rig->mmu,
			.ops = &pds_usc_ops,
			.opaque = rig->pds,
		};

		rig->usc[i] = usc_create(&usc_config);
	}
	return rig;
}

struct rig *rig_create(unsigned int uscs, const struct rig_stores *stores)
{
	return rig_create_for(uscs, stores, &rig_ops, NULL);
}

void rig_destroy(struct rig *rig)
{
	unsigned int i;

	rig_finish_all(rig);
	rig_end(rig);
	assert_int_equal(pds_groups(rig->pds), 0);
	assert_int_equal(rig_load(rig).tasks, 0);
	assert_int_equal(rig_load(rig).waves, 0);
	assert_int_equal(rig_load(rig).held, 0);
	assert_int_equal(rig->cache.live, 0);
	pds_destroy(rig->pds);
	for (i = 0; i < rig->uscs; i++)
		usc_destroy(rig->usc[i]);
	testmem_destroy(rig->tm);
	free(rig);
}

struct pds_launch rig_launch(u16 x, u16 y, u16 z)
{
	return (struct pds_launch){
		.ctx = RIG_CTX,
		.state = { .pds_addr = RIG_PDS, .size_x = x, .size_y = y, .size_z = z },
		.grid = { .groups_x = 1, .groups_y = 1, .groups_z = 1 },
	};
}

void rig_program_words(struct rig *rig, struct pds_launch *launch, const u32 *words, u16 count)
{
	struct mmu_tlb tlb = { 0 };
	struct gpu_fault fault;
	u32 i;

	assert_in_range(count * 16u, 0, RIG_PDS_BYTES);
	for (i = 0; i < count; i++) {
		u8 *host = mmu_translate(&rig->mmu, &tlb, RIG_CTX, RIG_PDS + i * 16u,
					 PUMICE_ACCESS_READ, PUMICE_UNIT_PDS, &fault);

		assert_non_null(host);
		memcpy(host, words + i * PUMICE_PDS_WORDS, 16);
	}
	launch->state.pds_addr = RIG_PDS;
	launch->state.pds_insns = count;
}

void rig_program(struct rig *rig, struct pds_launch *launch, const struct pumice_pds_insn *insns,
		 u16 count)
{
	u32 words[PUMICE_PDS_MAX_INSNS * PUMICE_PDS_WORDS];
	u32 i;

	for (i = 0; i < count; i++)
		pumice_pds_pack(words + i * PUMICE_PDS_WORDS, &insns[i]);
	rig_program_words(rig, launch, words, count);
}

void rig_program_empty(struct rig *rig, struct pds_launch *launch)
{
	const struct pumice_pds_insn insns[] = { TASK, END };

	rig_program(rig, launch, insns, 2);
}

bool rig_begin(struct rig *rig, const struct pds_launch *launch)
{
	bool begun;

	memset(&rig->fault, 0xa5, sizeof(rig->fault));
	rig_lock(rig);
	begun = pds_launch_begin(rig->pds, launch, &rig->fault) == PDS_LOADED;
	rig_unlock(rig);
	rig->begun = begun;
	return begun;
}

void rig_end(struct rig *rig)
{
	if (!rig->begun)
		return;
	rig->begun = false;
	rig_lock(rig);
	pds_launch_end(rig->pds);
	rig_unlock(rig);
}

enum pds_result rig_group(struct rig *rig, u32 x, u32 y, u32 z, u64 linear)
{
	enum pds_result result;

	do
		result = rig_group_piece(rig, x, y, z, linear);
	while (result == PDS_MORE);
	return result;
}

enum pds_result rig_group_piece(struct rig *rig, u32 x, u32 y, u32 z, u64 linear)
{
	const u32 id[3] = { x, y, z };
	enum pds_result result;

	memset(&rig->fault, 0xa5, sizeof(rig->fault));
	rig_lock(rig);
	pds_tick(rig->pds);
	result = pds_group(rig->pds, id, linear, &rig->fault);
	rig_unlock(rig);
	return result;
}

void rig_abort(struct rig *rig)
{
	rig_lock(rig);
	pds_abort(rig->pds);
	rig_unlock(rig);
}

void rig_control(struct rig *rig, struct pds_control control)
{
	rig_lock(rig);
	pds_set_control(rig->pds, &control);
	rig_unlock(rig);
}

struct pds_load rig_load(struct rig *rig)
{
	struct pds_load load;

	rig_lock(rig);
	pds_load(rig->pds, &load);
	rig_unlock(rig);
	return load;
}

u64 rig_counter(struct rig *rig, unsigned int counter)
{
	u64 value[PUMICE_PERF_COUNTER_COUNT] = { 0 };

	rig_lock(rig);
	pds_counters_add(rig->pds, value);
	rig_unlock(rig);
	return value[counter];
}

bool rig_finish_oldest(struct rig *rig)
{
	struct usc *oldest = NULL;
	unsigned int group = 0, i;

	for (i = 0; i < rig->uscs; i++) {
		unsigned int n = fake_usc_oldest(rig->usc[i]);

		if (n == FAKE_NOBODY)
			continue;
		if (!oldest || rig->usc[i]->start_order[n] < oldest->start_order[group]) {
			oldest = rig->usc[i];
			group = n;
		}
	}
	if (oldest)
		fake_usc_finish(oldest, group);
	return oldest != NULL;
}

void rig_finish_all(struct rig *rig)
{
	while (rig_finish_oldest(rig))
		;
}

void rig_expect_fault(const struct rig *rig, enum pumice_fault fault, enum pumice_unit unit,
		      u64 addr, u32 pc)
{
	assert_string_equal(pumice_fault_str(rig->fault.fault), pumice_fault_str(fault));
	assert_string_equal(pumice_unit_str(rig->fault.unit), pumice_unit_str(unit));
	assert_int_equal(rig->fault.addr, addr);
	assert_int_equal(rig->fault.pc, pc);
	assert_int_equal(rig->fault.ctx, RIG_CTX);
	assert_int_equal(rig->fault.usc, 0);
}
