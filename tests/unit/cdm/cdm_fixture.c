// SPDX-License-Identifier: MIT
/* Fixture for tests of the CDM. See cdm_fixture.h. */
#include "cdm_fixture.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pumice_names.h"

static void cdmfx_ended(void *opaque, enum dm_end end)
{
	struct cdm_fixture *fx = opaque;

	assert_int_equal(fx->pds.running, 0);
	assert_false(fx->pds.in_launch);
	assert_false(cdm_status(fx->cdm)->busy);
	fx->ended++;
	fx->end = end;
	if (fx->restarts) {
		fx->restarts--;
		assert_true(cdm_start(fx->cdm, &fx->job));
	}
}

static void cdmfx_wake(void *opaque)
{
	struct cdm_fixture *fx = opaque;

	fx->wakes++;
	fx->woken = true;
}

static void cdmfx_wake_source(void *opaque, unsigned int core)
{
	struct cdm_fixture *fx = opaque;

	assert_in_range(core, 0, fx->cores - 1);
	fx->wakes++;
	fx->sources |= 1u << core;
}

static void cdmfx_lock(void *opaque)
{
	struct cdm_fixture *fx = opaque;

	assert_false(fx->locked);
	fx->locked = true;
	fx->locks++;
}

static void cdmfx_unlock(void *opaque)
{
	struct cdm_fixture *fx = opaque;

	assert_true(fx->locked);
	fx->locked = false;
}

static u64 cdmfx_now(void *opaque)
{
	return ((struct cdm_fixture *)opaque)->clock;
}

static const struct cdm_ops cdmfx_ops = {
	.ended = cdmfx_ended,
	.wake = cdmfx_wake,
	.wake_source = cdmfx_wake_source,
	.lock = cdmfx_lock,
	.unlock = cdmfx_unlock,
	.now = cdmfx_now,
};

struct cdm_fixture *cdmfx_create(void)
{
	return cdmfx_create_for(1);
}

struct cdm_fixture *cdmfx_create_for(unsigned int cores)
{
	struct cdm_fixture *fx = calloc(1, sizeof(*fx));
	const struct cdm_config config = {
		.cores = cores, .mmu = &fx->mmu, .ops = &cdmfx_ops, .opaque = fx,
	};

	fx->tm = testmem_create(1u << 20);
	testmem_bind(fx->tm, &fx->mmu);
	fx->stream = testmem_map(fx->tm, CDMFX_CTX, CDMFX_STREAM, CDMFX_BYTES, PUMICE_PAGE_SIZE_4K,
				TESTMEM_RO | TESTMEM_NX);
	fx->at = CDMFX_STREAM;
	fx->data = testmem_map(fx->tm, CDMFX_CTX, CDMFX_DATA, CDMFX_DATA_BYTES,
			       PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	fx->save = testmem_map(fx->tm, 0, CDMFX_SAVE, CDMFX_SAVE_BYTES, PUMICE_PAGE_SIZE_4K,
			       TESTMEM_NX);
	fx->clock = 1000;
	fx->job = (struct cdm_job){ .ctx = CDMFX_CTX, .stream = CDMFX_STREAM, .save = CDMFX_SAVE };
	fx->cdm = cdm_create(&config);
	assert_non_null(fx->cdm);
	fx->cores = cores;
	fx->pds.room = UINT_MAX;
	fx->pds.cost = 1;
	fx->pds.batch = 1;
	fx->pds.ops = &cdm_pds_ops;
	fx->pds.opaque = fx->cdm;
	cdm_connect(fx->cdm, &fx->pds);
	return fx;
}

void cdmfx_destroy(struct cdm_fixture *fx)
{
	cdm_destroy(fx->cdm);
	testmem_destroy(fx->tm);
	free(fx);
}

void put_words(struct cdm_fixture *fx, const u32 *words, u32 count)
{
	assert_true(fx->at >= CDMFX_STREAM && fx->at + count * 4 <= CDMFX_END);
	memcpy(fx->stream + (fx->at - CDMFX_STREAM) / 4, words, count * 4);
	fx->at += count * 4;
}

void put_state(struct cdm_fixture *fx, u16 x, u16 y, u16 z)
{
	const struct pumice_cdm_state state = {
		.pds_addr = 0x5550, .pds_insns = 3, .shared = 7, .attrs = 8, .temps = 9,
		.local_bytes = 12, .size_x = x, .size_y = y, .size_z = z,
	};
	u32 words[PUMICE_CDM_STATE_WORDS];

	pumice_cdm_state_pack(words, &state);
	put_words(fx, words, PUMICE_CDM_STATE_WORDS);
}

void put_launch_at(struct cdm_fixture *fx, const struct pumice_cdm_launch *launch)
{
	u32 words[PUMICE_CDM_LAUNCH_WORDS];

	pumice_cdm_launch_pack(words, launch);
	put_words(fx, words, PUMICE_CDM_LAUNCH_WORDS);
}

void put_launch(struct cdm_fixture *fx, u32 x, u32 y, u32 z)
{
	put_launch_at(fx, &(struct pumice_cdm_launch){
				 .groups_x = x, .groups_y = y, .groups_z = z });
}

void put_call(struct cdm_fixture *fx, u64 addr)
{
	const struct pumice_cdm_call call = { .addr = addr };
	u32 words[PUMICE_CDM_CALL_WORDS];

	pumice_cdm_call_pack(words, &call);
	put_words(fx, words, PUMICE_CDM_CALL_WORDS);
}

void put_return(struct cdm_fixture *fx)
{
	const struct pumice_cdm_return ret = { 0 };
	u32 words[PUMICE_CDM_RETURN_WORDS];

	pumice_cdm_return_pack(words, &ret);
	put_words(fx, words, PUMICE_CDM_RETURN_WORDS);
}

void put_fence(struct cdm_fixture *fx)
{
	const struct pumice_cdm_fence fence = { 0 };
	u32 words[PUMICE_CDM_FENCE_WORDS];

	pumice_cdm_fence_pack(words, &fence);
	put_words(fx, words, PUMICE_CDM_FENCE_WORDS);
}

void put_task(struct cdm_fixture *fx)
{
	const struct pumice_cdm_task task = { 0 };
	u32 words[PUMICE_CDM_TASK_WORDS];

	pumice_cdm_task_pack(words, &task);
	put_words(fx, words, PUMICE_CDM_TASK_WORDS);
}

void put_halt(struct cdm_fixture *fx)
{
	const struct pumice_cdm_halt halt = { 0 };
	u32 words[PUMICE_CDM_HALT_WORDS];

	pumice_cdm_halt_pack(words, &halt);
	put_words(fx, words, PUMICE_CDM_HALT_WORDS);
}

void put_indirect(struct cdm_fixture *fx, u64 addr, u32 base_x, u32 base_y, u32 base_z)
{
	const struct pumice_cdm_launch_indirect indirect = {
		.addr = addr, .base_x = base_x, .base_y = base_y, .base_z = base_z,
	};
	u32 words[PUMICE_CDM_LAUNCH_INDIRECT_WORDS];

	pumice_cdm_launch_indirect_pack(words, &indirect);
	put_words(fx, words, PUMICE_CDM_LAUNCH_INDIRECT_WORDS);
}

void put_link(struct cdm_fixture *fx, u64 addr)
{
	const struct pumice_cdm_link link = { .addr = addr };
	u32 words[PUMICE_CDM_LINK_WORDS];

	pumice_cdm_link_pack(words, &link);
	put_words(fx, words, PUMICE_CDM_LINK_WORDS);
}

void put_flush(struct cdm_fixture *fx, bool data, bool code)
{
	const struct pumice_cdm_flush flush = { .data = data, .code = code };
	u32 words[PUMICE_CDM_FLUSH_WORDS];

	pumice_cdm_flush_pack(words, &flush);
	put_words(fx, words, PUMICE_CDM_FLUSH_WORDS);
}

void put_timestamp(struct cdm_fixture *fx, u64 addr, bool wait)
{
	const struct pumice_cdm_timestamp timestamp = { .addr = addr, .wait = wait };
	u32 words[PUMICE_CDM_TIMESTAMP_WORDS];

	pumice_cdm_timestamp_pack(words, &timestamp);
	put_words(fx, words, PUMICE_CDM_TIMESTAMP_WORDS);
}

void put_marker(struct cdm_fixture *fx, u64 addr, u32 value, bool wait)
{
	const struct pumice_cdm_marker marker = { .addr = addr, .value = value, .wait = wait };
	u32 words[PUMICE_CDM_MARKER_WORDS];

	pumice_cdm_marker_pack(words, &marker);
	put_words(fx, words, PUMICE_CDM_MARKER_WORDS);
}

void cdmfx_start(struct cdm_fixture *fx)
{
	unsigned int wakes = fx->wakes;

	assert_true(cdm_start(fx->cdm, &fx->job));
	assert_true(fx->wakes > wakes);
	assert_true(cdm_status(fx->cdm)->busy);
}

void cdmfx_resume(struct cdm_fixture *fx)
{
	unsigned int wakes = fx->wakes;

	assert_true(cdm_resume(fx->cdm, &fx->job));
	assert_true(fx->wakes > wakes);
	assert_true(cdm_status(fx->cdm)->busy);
}

bool cdmfx_source(struct cdm_fixture *fx, unsigned int core, unsigned int budget)
{
	const _Atomic bool stop = false;

	fx->sources &= ~(1u << core);
	if (cdm_source_step(fx->cdm, core, budget, &stop))
		fx->sources |= 1u << core;
	return fx->sources >> core & 1;
}

bool cdmfx_step(struct cdm_fixture *fx, unsigned int budget)
{
	u32 sources;

	fx->woken = false;
	fx->woken |= cdm_step(fx->cdm, budget);
	for (sources = fx->sources; sources; sources &= sources - 1)
		cdmfx_source(fx, (unsigned int)__builtin_ctz(sources), budget);
	return fx->woken || fx->sources;
}

void cdmfx_walk(struct cdm_fixture *fx)
{
	while (cdmfx_step(fx, 3))
		;
}

void cdmfx_finish(struct cdm_fixture *fx)
{
	unsigned int ended = fx->ended;

	for (;;) {
		unsigned int wakes = fx->wakes;

		cdmfx_walk(fx);
		if (fx->ended != ended)
			break;
		assert_true(fx->pds.running > 0);
		/* The CDM is stepped on request only; the last group alone must request it. */
		while (fx->wakes == wakes)
			fake_pds_finish(&fx->pds);
	}
	assert_int_equal(fx->ended, ended + 1);
}

void cdmfx_expect_fault(const struct cdm_fixture *fx, enum pumice_fault fault, u64 addr)
{
	const struct gpu_fault *got = &cdm_status(fx->cdm)->fault;

	assert_int_equal(fx->ended, 1);
	assert_int_equal(fx->end, DM_FAULT);
	assert_string_equal(pumice_fault_str(got->fault), pumice_fault_str(fault));
	assert_int_equal(got->unit, PUMICE_UNIT_CDM);
	assert_int_equal(got->access, PUMICE_ACCESS_READ);
	assert_int_equal(got->ctx, CDMFX_CTX);
	assert_int_equal(got->addr, addr);
	assert_int_equal(got->pc, 0);
	assert_int_equal(got->usc, 0);
}
