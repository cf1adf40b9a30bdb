// SPDX-License-Identifier: MIT
/* Fixture of the tests of the PDS. See fixture.h. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "../../../qemu-device/gpu/pds/state.h"
#include "pumice_names.h"

void fx_lock(void *opaque)
{
	struct fixture *fx = opaque;

	assert_false(fx->locked);
	fx->locked = true;
	fx->locks++;
}

void fx_unlock(void *opaque)
{
	struct fixture *fx = opaque;

	assert_true(fx->locked);
	fx->locked = false;
}

static void fx_wake_usc(void *opaque, unsigned int usc)
{
	struct fixture *fx = opaque;

	assert_in_range(usc, 0, fx->uscs - 1);
	fx->wakes[usc]++;
}

static u64 fx_now(void *opaque)
{
	return ((struct fixture *)opaque)->clock;
}

static void fx_ended(void *opaque)
{
	struct fixture *fx = opaque;
	void (*meanwhile)(struct fixture *fx) = fx->at_end;

	assert_false(fx->locked);
	fx->ends++;
	if (!meanwhile)
		return;
	fx->at_end = NULL;
	meanwhile(fx);
}

static void fx_fault(void *opaque, const struct gpu_fault *fault)
{
	struct fixture *fx = opaque;

	assert_true(fx->locked);
	fx->faults++;
	fx->fault = *fault;
}

static void fx_room(void *opaque, unsigned int core)
{
	(void)core;
	((struct fixture *)opaque)->room++;
}

static const struct pds_ops fx_ops = {
	.ended = fx_ended,
	.fault = fx_fault,
	.room = fx_room,
};

static void make_memory(struct fixture *fx)
{
	fx->tm = testmem_create(4u << 20);
	testmem_bind(fx->tm, &fx->mmu);
	testtrace_open(&fx->trace, fx->tm, &fx->mmu);
	testmem_map(fx->tm, FX_CTX, FX_PDS, FX_PDS_BYTES, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	testmem_map(fx->tm, FX_CTX, FX_CODE, FX_CODE_BYTES, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	fx->data = testmem_map(fx->tm, FX_CTX, FX_DATA, FX_DATA_BYTES, PUMICE_PAGE_SIZE_4K,
			       TESTMEM_RO | TESTMEM_NX);
}

struct fixture *fx_create_for(unsigned int uscs, const struct fx_stores *stores,
			      const struct pds_ops *ops, void *opaque)
{
	static const struct fx_stores usual = { .unified_bytes = FX_UNIFIED,
						.common_bytes = FX_COMMON,
						.local_bytes = FX_LOCAL };
	const struct fx_stores *s = stores ? stores : &usual;
	struct fixture *fx = calloc(1, sizeof(*fx));
	/* More than the default cores have. */
	const bool large = uscs > PUMICE_MAX_CORES * FX_USCS_PER_CORE;
	const u32 slots = s->slots ? s->slots : PUMICE_USC_SLOTS;
	const unsigned int per_core = large ? PUMICE_MAX_USCS_PER_CORE : FX_USCS_PER_CORE;
	struct pds_config config = {
		.uscs = uscs,
		.usc = fx->usc,
		.unified_bytes = s->unified_bytes,
		.common_bytes = s->common_bytes,
		.local_bytes = s->local_bytes,
		.mmu = &fx->mmu,
		.programs = &fx->cache,
		.uscs_per_core = per_core,
		.tasks = s->tasks ? s->tasks : slots,
		.slots = slots,
		.waves = USC_WAVES,
		.batch = s->batch ? s->batch : PUMICE_TASK_INSTANCES,
		.vpm_bytes = s->vpm_bytes ? s->vpm_bytes : FX_VPM,
		.outputs = s->outputs ? s->outputs : PUMICE_OUTPUT_STORE_COMMON,
		.lock = fx_lock,
		.unlock = fx_unlock,
		.wake_usc = fx_wake_usc,
		.now = fx_now,
		.opaque = fx,
		.trace = &fx->trace.trace,
		.ops = ops,
		.ops_opaque = opaque ? opaque : fx,
	};
	unsigned int i;

	fx->cache.locked = &fx->locked;
	make_memory(fx);
	fx->uscs = uscs;
	fx->cores = (uscs + per_core - 1) / per_core;
	fx->pds = pds_create(&config);
	assert_non_null(fx->pds);
	for (i = 0; i < uscs; i++) {
		const struct usc_config usc_config = {
			.number = i,
			.core = i / per_core,
			.unified_bytes = s->unified_bytes,
			.common_bytes = s->common_bytes,
			.local_bytes = s->local_bytes,
			.mmu = &fx->mmu,
			.ops = &pds_usc_ops,
			.opaque = fx->pds,
		};

		fx->usc[i] = usc_create(&usc_config);
	}
	return fx;
}

struct fixture *fx_create(unsigned int uscs, const struct fx_stores *stores)
{
	return fx_create_for(uscs, stores, &fx_ops, NULL);
}

void fx_destroy(struct fixture *fx)
{
	unsigned int i;

	fx_finish_all(fx);
	fx_end(fx);
	assert_int_equal(pds_groups(fx->pds), 0);
	assert_int_equal(fx_load(fx).tasks, 0);
	assert_int_equal(fx_load(fx).waves, 0);
	assert_int_equal(fx_load(fx).held, 0);
	assert_int_equal(fx_load(fx).vpm_rows, 0);
	assert_int_equal(fx->cache.live, 0);
	pds_destroy(fx->pds);
	for (i = 0; i < fx->uscs; i++)
		usc_destroy(fx->usc[i]);
	testmem_destroy(fx->tm);
	free(fx);
}

struct pds_launch fx_launch(u16 x, u16 y, u16 z)
{
	return (struct pds_launch){
		.ctx = FX_CTX,
		.state = { .pds_addr = FX_PDS, .size_x = x, .size_y = y, .size_z = z },
		.grid = { .groups_x = 1, .groups_y = 1, .groups_z = 1 },
	};
}

void fx_program_words(struct fixture *fx, struct pds_launch *launch, const u32 *words, u16 count)
{
	struct mmu_tlb tlb = { 0 };
	struct gpu_fault fault;
	u32 i;

	assert_in_range(count * 16u, 0, FX_PDS_BYTES);
	for (i = 0; i < count; i++) {
		u8 *host = mmu_translate(&fx->mmu, &tlb, FX_CTX, FX_PDS + i * 16u, 1,
					 PUMICE_ACCESS_READ, PUMICE_UNIT_PDS, &fault);

		assert_non_null(host);
		memcpy(host, words + i * PUMICE_PDS_WORDS, 16);
	}
	launch->state.pds_addr = FX_PDS;
	launch->state.pds_insns = count;
	mmu_job_begins(&fx->mmu, FX_CTX);
}

void fx_program(struct fixture *fx, struct pds_launch *launch, const struct pumice_pds_insn *insns,
		u16 count)
{
	u32 words[PUMICE_PDS_MAX_INSNS * PUMICE_PDS_WORDS];
	u32 i;

	for (i = 0; i < count; i++)
		pumice_pds_pack(words + i * PUMICE_PDS_WORDS, &insns[i]);
	fx_program_words(fx, launch, words, count);
}

void fx_program_empty(struct fixture *fx, struct pds_launch *launch)
{
	const struct pumice_pds_insn insns[] = { TASK, END };

	fx_program(fx, launch, insns, 2);
}

bool fx_begin(struct fixture *fx, const struct pds_launch *launch)
{
	bool begun;

	memset(&fx->fault, 0xa5, sizeof(fx->fault));
	fx_lock(fx);
	begun = pds_launch_begin(fx->pds, launch, &fx->fault) == PDS_LOADED;
	fx_unlock(fx);
	fx->begun = begun;
	return begun;
}

void fx_end(struct fixture *fx)
{
	if (!fx->begun)
		return;
	fx->begun = false;
	if (fx->filling)
		pds_groups_drop(fx->pds, fx->core);
	fx->filling = false;
	fx_lock(fx);
	pds_launch_end(fx->pds);
	fx_unlock(fx);
}

enum pds_result fx_group(struct fixture *fx, u32 x, u32 y, u32 z, u64 linear)
{
	enum pds_result result;

	do
		result = fx_group_piece(fx, x, y, z, linear);
	while (result == PDS_MORE);
	return result;
}

/* Claim room for a group on the core with the fewest waves that has some, round robin. */
static bool claim_group(struct fixture *fx)
{
	u32 tried = 0;
	unsigned int i, n, core;

	for (;;) {
		core = fx->cores;
		for (i = 0; i < fx->cores; i++) {
			n = (fx->next_core + i) % fx->cores;
			if (!(tried >> n & 1) &&
			    (core == fx->cores ||
			     pds_core_waves(fx->pds, n) < pds_core_waves(fx->pds, core)))
				core = n;
		}
		if (core == fx->cores)
			return false;
		if (pds_groups_claim(fx->pds, core, 1)) {
			fx->core = core;
			fx->next_core = (core + 1) % fx->cores;
			return true;
		}
		tried |= 1u << core;
	}
}

enum pds_result fx_group_piece(struct fixture *fx, u32 x, u32 y, u32 z, u64 linear)
{
	const u32 id[3] = { x, y, z };
	enum pds_result result;

	memset(&fx->fault, 0xa5, sizeof(fx->fault));
	if (!fx->filling && !claim_group(fx))
		return PDS_WAIT;
	fx->filling = true;
	result = pds_group_fill(fx->pds, fx->core, id, linear, &fx->fault);
	if (result == PDS_MORE)
		return result;
	fx->filling = false;
	pds_groups_start(fx->pds, fx->core);
	return result;
}

void fx_abort(struct fixture *fx)
{
	fx_lock(fx);
	pds_abort(fx->pds);
	fx_unlock(fx);
}

void fx_control(struct fixture *fx, struct pds_control control)
{
	fx_lock(fx);
	pds_set_control(fx->pds, &control);
	fx_unlock(fx);
}

struct pds_load fx_load(struct fixture *fx)
{
	struct pds_load load;

	fx_lock(fx);
	pds_load(fx->pds, &load);
	fx_unlock(fx);
	return load;
}

u64 fx_counter(struct fixture *fx, unsigned int counter)
{
	u64 value[PUMICE_PERF_COUNTER_COUNT] = { 0 };

	fx_lock(fx);
	pds_counters_add(fx->pds, value);
	fx_unlock(fx);
	return value[counter];
}

u64 fx_sequenced(const struct fixture *fx)
{
	return atomic_load(&fx->pds->sequenced);
}

bool fx_finish_oldest(struct fixture *fx)
{
	struct usc *oldest = NULL;
	unsigned int group = 0, i;

	for (i = 0; i < fx->uscs; i++) {
		unsigned int n = fake_usc_oldest(fx->usc[i]);

		if (n == FAKE_NONE)
			continue;
		if (!oldest || fx->usc[i]->start_order[n] < oldest->start_order[group]) {
			oldest = fx->usc[i];
			group = n;
		}
	}
	if (oldest)
		fake_usc_finish(oldest, group);
	return oldest != NULL;
}

void fx_finish_all(struct fixture *fx)
{
	while (fx_finish_oldest(fx))
		;
}

void fx_expect_fault(const struct fixture *fx, enum pumice_fault fault, enum pumice_unit unit,
		     u64 addr, u32 pc)
{
	assert_string_equal(pumice_fault_str(fx->fault.fault), pumice_fault_str(fault));
	assert_string_equal(pumice_unit_str(fx->fault.unit), pumice_unit_str(unit));
	assert_int_equal(fx->fault.addr, addr);
	assert_int_equal(fx->fault.pc, pc);
	assert_int_equal(fx->fault.ctx, FX_CTX);
	assert_int_equal(fx->fault.usc, 0);
}
