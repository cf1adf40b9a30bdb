// SPDX-License-Identifier: MIT
/* Fixture for tests of the CDM. See cdm_fixture.h. */
#include "cdm_fixture.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pumice_names.h"

static void cdmfx_ended(void *opaque, enum dm_end end)
{
	struct cdm_fixture *b = opaque;

	assert_int_equal(b->pds.running, 0);
	assert_false(b->pds.in_launch);
	assert_false(cdm_status(b->cdm)->busy);
	b->ended++;
	b->end = end;
	if (b->restarts) {
		b->restarts--;
		assert_true(cdm_start(b->cdm, &b->job));
	}
}

static void cdmfx_wake(void *opaque)
{
	((struct cdm_fixture *)opaque)->wakes++;
}

static u64 cdmfx_now(void *opaque)
{
	return ((struct cdm_fixture *)opaque)->clock;
}

static const struct cdm_ops cdmfx_ops = {
	.ended = cdmfx_ended,
	.wake = cdmfx_wake,
	.now = cdmfx_now,
};

struct cdm_fixture *cdmfx_create(void)
{
	struct cdm_fixture *b = calloc(1, sizeof(*b));
	const struct cdm_config config = { .mmu = &b->mmu, .ops = &cdmfx_ops, .opaque = b };

	b->tm = testmem_create(1u << 20);
	testmem_bind(b->tm, &b->mmu);
	b->stream = testmem_map(b->tm, CDMFX_CTX, CDMFX_STREAM, CDMFX_BYTES, PUMICE_PAGE_SIZE_4K,
				TESTMEM_RO | TESTMEM_NX);
	b->at = CDMFX_STREAM;
	b->data = testmem_map(b->tm, CDMFX_CTX, CDMFX_DATA, CDMFX_DATA_BYTES,
			      PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	b->save = testmem_map(b->tm, 0, CDMFX_SAVE, CDMFX_SAVE_BYTES, PUMICE_PAGE_SIZE_4K,
			      TESTMEM_NX);
	b->clock = 1000;
	b->job = (struct cdm_job){ .ctx = CDMFX_CTX, .stream = CDMFX_STREAM, .save = CDMFX_SAVE };
	b->cdm = cdm_create(&config);
	assert_non_null(b->cdm);
	b->pds.room = UINT_MAX;
	b->pds.cost = 1;
	b->pds.ops = &cdm_pds_ops;
	b->pds.opaque = b->cdm;
	cdm_connect(b->cdm, &b->pds);
	return b;
}

void cdmfx_destroy(struct cdm_fixture *b)
{
	cdm_destroy(b->cdm);
	testmem_destroy(b->tm);
	free(b);
}

void put_words(struct cdm_fixture *b, const u32 *words, u32 count)
{
	assert_true(b->at >= CDMFX_STREAM && b->at + count * 4 <= CDMFX_END);
	memcpy(b->stream + (b->at - CDMFX_STREAM) / 4, words, count * 4);
	b->at += count * 4;
}

void put_state(struct cdm_fixture *b, u16 x, u16 y, u16 z)
{
	const struct pumice_cdm_state state = {
		.pds_addr = 0x5550, .pds_insns = 3, .shared = 7, .attrs = 8, .temps = 9,
		.local_bytes = 12, .size_x = x, .size_y = y, .size_z = z,
	};
	u32 words[PUMICE_CDM_STATE_WORDS];

	pumice_cdm_state_pack(words, &state);
	put_words(b, words, PUMICE_CDM_STATE_WORDS);
}

void put_launch_at(struct cdm_fixture *b, const struct pumice_cdm_launch *launch)
{
	u32 words[PUMICE_CDM_LAUNCH_WORDS];

	pumice_cdm_launch_pack(words, launch);
	put_words(b, words, PUMICE_CDM_LAUNCH_WORDS);
}

void put_launch(struct cdm_fixture *b, u32 x, u32 y, u32 z)
{
	put_launch_at(b, &(struct pumice_cdm_launch){
				 .groups_x = x, .groups_y = y, .groups_z = z });
}

void put_call(struct cdm_fixture *b, u64 addr)
{
	const struct pumice_cdm_call call = { .addr = addr };
	u32 words[PUMICE_CDM_CALL_WORDS];

	pumice_cdm_call_pack(words, &call);
	put_words(b, words, PUMICE_CDM_CALL_WORDS);
}

void put_return(struct cdm_fixture *b)
{
	const struct pumice_cdm_return ret = { 0 };
	u32 words[PUMICE_CDM_RETURN_WORDS];

	pumice_cdm_return_pack(words, &ret);
	put_words(b, words, PUMICE_CDM_RETURN_WORDS);
}

void put_fence(struct cdm_fixture *b)
{
	const struct pumice_cdm_fence fence = { 0 };
	u32 words[PUMICE_CDM_FENCE_WORDS];

	pumice_cdm_fence_pack(words, &fence);
	put_words(b, words, PUMICE_CDM_FENCE_WORDS);
}

void put_halt(struct cdm_fixture *b)
{
	const struct pumice_cdm_halt halt = { 0 };
	u32 words[PUMICE_CDM_HALT_WORDS];

	pumice_cdm_halt_pack(words, &halt);
	put_words(b, words, PUMICE_CDM_HALT_WORDS);
}

void put_indirect(struct cdm_fixture *b, u64 addr, u32 base_x, u32 base_y, u32 base_z)
{
	const struct pumice_cdm_launch_indirect indirect = {
		.addr = addr, .base_x = base_x, .base_y = base_y, .base_z = base_z,
	};
	u32 words[PUMICE_CDM_LAUNCH_INDIRECT_WORDS];

	pumice_cdm_launch_indirect_pack(words, &indirect);
	put_words(b, words, PUMICE_CDM_LAUNCH_INDIRECT_WORDS);
}

void put_link(struct cdm_fixture *b, u64 addr)
{
	const struct pumice_cdm_link link = { .addr = addr };
	u32 words[PUMICE_CDM_LINK_WORDS];

	pumice_cdm_link_pack(words, &link);
	put_words(b, words, PUMICE_CDM_LINK_WORDS);
}

void put_flush(struct cdm_fixture *b, bool data, bool code)
{
	const struct pumice_cdm_flush flush = { .data = data, .code = code };
	u32 words[PUMICE_CDM_FLUSH_WORDS];

	pumice_cdm_flush_pack(words, &flush);
	put_words(b, words, PUMICE_CDM_FLUSH_WORDS);
}

void put_timestamp(struct cdm_fixture *b, u64 addr, bool wait)
{
	const struct pumice_cdm_timestamp timestamp = { .addr = addr, .wait = wait };
	u32 words[PUMICE_CDM_TIMESTAMP_WORDS];

	pumice_cdm_timestamp_pack(words, &timestamp);
	put_words(b, words, PUMICE_CDM_TIMESTAMP_WORDS);
}

void put_marker(struct cdm_fixture *b, u64 addr, u32 value, bool wait)
{
	const struct pumice_cdm_marker marker = { .addr = addr, .value = value, .wait = wait };
	u32 words[PUMICE_CDM_MARKER_WORDS];

	pumice_cdm_marker_pack(words, &marker);
	put_words(b, words, PUMICE_CDM_MARKER_WORDS);
}

void cdmfx_start(struct cdm_fixture *b)
{
	unsigned int wakes = b->wakes;

	assert_true(cdm_start(b->cdm, &b->job));
	assert_true(b->wakes > wakes);
	assert_true(cdm_status(b->cdm)->busy);
}

void cdmfx_resume(struct cdm_fixture *b)
{
	unsigned int wakes = b->wakes;

	assert_true(cdm_resume(b->cdm, &b->job));
	assert_true(b->wakes > wakes);
	assert_true(cdm_status(b->cdm)->busy);
}

void cdmfx_walk(struct cdm_fixture *b)
{
	while (cdm_step(b->cdm, 3))
		;
}

void cdmfx_finish(struct cdm_fixture *b)
{
	unsigned int ended = b->ended;

	for (;;) {
		unsigned int wakes = b->wakes;

		cdmfx_walk(b);
		if (b->ended != ended)
			break;
		assert_true(b->pds.running > 0);
		/* The CDM is stepped on request only; the last group alone must request it. */
		while (b->wakes == wakes)
			fake_pds_finish(&b->pds);
	}
	assert_int_equal(b->ended, ended + 1);
}

void cdmfx_expect_fault(const struct cdm_fixture *b, enum pumice_fault fault, u64 addr)
{
	const struct gpu_fault *got = &cdm_status(b->cdm)->fault;

	assert_int_equal(b->ended, 1);
	assert_int_equal(b->end, DM_FAULT);
	assert_string_equal(pumice_fault_str(got->fault), pumice_fault_str(fault));
	assert_int_equal(got->unit, PUMICE_UNIT_CDM);
	assert_int_equal(got->access, PUMICE_ACCESS_READ);
	assert_int_equal(got->ctx, CDMFX_CTX);
	assert_int_equal(got->addr, addr);
	assert_int_equal(got->pc, 0);
	assert_int_equal(got->usc, 0);
}
