// SPDX-License-Identifier: MIT
/* Render control lists of the tests, at FX_CONTROL. */
#include <string.h>

#include "fixture.h"

static void emit(struct fixture *fx, const u32 *words, u32 count)
{
	const u64 at = fx->control_at - FX_CONTROL;

	assert_true(at + count * 4 <= FX_BYTES);
	memcpy(fx->control + at, words, count * 4);
	fx->control_at += count * 4;
}

void control_begin(struct fixture *fx, u64 va)
{
	const struct pumice_pdm_mode mode = { .addr = FX_RENDER };
	u32 words[PUMICE_PDM_MODE_WORDS];

	fx->job_stream = fx->control_at = va;
	pumice_pdm_mode_pack(words, &mode);
	emit(fx, words, PUMICE_PDM_MODE_WORDS);
}

void control_word(struct fixture *fx, u32 word)
{
	emit(fx, &word, 1);
}

void control_tile(struct fixture *fx, u32 x, u32 y)
{
	const struct pumice_pdm_tile tile = { .x = (u16)x, .y = (u16)y };
	u32 words[PUMICE_PDM_TILE_WORDS];

	pumice_pdm_tile_pack(words, &tile);
	emit(fx, words, PUMICE_PDM_TILE_WORDS);
}

void control_branch(struct fixture *fx)
{
	const struct pumice_pdm_branch branch = { 0 };
	u32 words[PUMICE_PDM_BRANCH_WORDS];

	pumice_pdm_branch_pack(words, &branch);
	emit(fx, words, PUMICE_PDM_BRANCH_WORDS);
}

void control_store(struct fixture *fx, bool end)
{
	const struct pumice_pdm_store store = { .end = end };
	u32 words[PUMICE_PDM_STORE_WORDS];

	pumice_pdm_store_pack(words, &store);
	emit(fx, words, PUMICE_PDM_STORE_WORDS);
}

void control_store_program(struct fixture *fx, const struct pumice_stage *stage, bool end)
{
	struct pumice_pdm_store_program store = { .end = end };
	u32 words[PUMICE_PDM_STORE_PROGRAM_WORDS];

	if (stage)
		pumice_stage_pack(store.program, stage);
	pumice_pdm_store_program_pack(words, &store);
	emit(fx, words, PUMICE_PDM_STORE_PROGRAM_WORDS);
}

void control_call(struct fixture *fx, u64 va)
{
	const struct pumice_pdm_call call = { .addr = va };
	u32 words[PUMICE_PDM_CALL_WORDS];

	pumice_pdm_call_pack(words, &call);
	emit(fx, words, PUMICE_PDM_CALL_WORDS);
}

void control_return(struct fixture *fx)
{
	const struct pumice_pdm_return ret = { 0 };
	u32 words[PUMICE_PDM_RETURN_WORDS];

	pumice_pdm_return_pack(words, &ret);
	emit(fx, words, PUMICE_PDM_RETURN_WORDS);
}

void control_link(struct fixture *fx, u64 va)
{
	const struct pumice_pdm_link link = { .addr = va };
	u32 words[PUMICE_PDM_LINK_WORDS];

	pumice_pdm_link_pack(words, &link);
	emit(fx, words, PUMICE_PDM_LINK_WORDS);
}

void control_end(struct fixture *fx)
{
	const struct pumice_pdm_end end = { 0 };
	u32 words[PUMICE_PDM_END_WORDS];

	pumice_pdm_end_pack(words, &end);
	emit(fx, words, PUMICE_PDM_END_WORDS);
}
