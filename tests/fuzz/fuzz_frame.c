// SPDX-License-Identifier: MIT
/*
 * A frame with arbitrary streams and programs, most fields valid: vertex control stream, draw
 * state, objects, programs, render record, render control list and textures from the input; and the
 * parameter buffer - region headers, blocks, tile streams, free list, scene - corrupted while the
 * jobs run and between them. Through the real firmware, with few pages or many.
 *
 * Rules: both jobs succeed, end with a fault of the enumeration and a unit, or can
 * be killed; contexts and scene are released; then the next job, of another context,
 * works.
 */
#include <string.h>

#include "frame.h"

#define PATIENCE	200u	/* polls of a job before it is killed */
#define SUBLIST		512u	/* where a sub-list starts, words */
#define STREAM_ROOM	400u	/* words of a stream */

static u64 address(struct fuzz *f)
{
	switch (fuzz_below(f, 16)) {
	case 0:
		return fuzz_number(f);
	case 1:
		return FRAME_VA(fuzz_below(f, FRAME_VM_PAGES)) + (fuzz_u16(f) & 4095);
	case 2:
		return FRAME_VA(FRAME_DATA) + fuzz_u16(f) % 4096;
	default:
		return FRAME_VA(FRAME_DATA) + FRAME_INDICES_AT;
	}
}

static u32 topology(struct fuzz *f)
{
	return fuzz_mutate(f, fuzz_below(f, PUMICE_TOPOLOGY_COUNT)) & 7;
}

static u32 put_draw(struct fuzz *f, u32 *at)
{
	const struct pumice_vdm_draw draw = {
		.topology = topology(f), .after = fuzz_below(f, 2),
		.count = fuzz_mutate(f, fuzz_u8(f)),
		.first = fuzz_mutate(f, 0), .instances = fuzz_mutate(f, 1),
		.base_instance = fuzz_mutate(f, 0),
	};

	pumice_vdm_draw_pack(at, &draw);
	return PUMICE_VDM_DRAW_WORDS;
}

static u32 put_indexed(struct fuzz *f, u32 *at)
{
	const struct pumice_vdm_draw_indexed draw = {
		.topology = topology(f), .index_size = fuzz_mutate(f, PUMICE_INDEX_SIZE_U16) & 3,
		.restart = fuzz_below(f, 2), .indices = address(f),
		.index_count = fuzz_mutate(f, 64), .count = fuzz_mutate(f, fuzz_u8(f)),
		.first = fuzz_mutate(f, 0), .base_vertex = (s32)fuzz_mutate(f, 0),
		.instances = fuzz_mutate(f, 1), .base_instance = fuzz_mutate(f, 0),
	};

	pumice_vdm_draw_indexed_pack(at, &draw);
	return PUMICE_VDM_DRAW_INDEXED_WORDS;
}

static u32 put_indirect(struct fuzz *f, u32 *at)
{
	const u64 words = fuzz_below(f, 4) ? FRAME_VA(FRAME_DATA) + FRAME_INDIRECT_AT : address(f);
	const struct pumice_vdm_draw_indirect draw = {
		.topology = topology(f), .after = fuzz_below(f, 2), .addr = words,
	};
	const struct pumice_vdm_draw_indexed_indirect indexed = {
		.topology = topology(f), .index_size = PUMICE_INDEX_SIZE_U16,
		.restart = fuzz_below(f, 2), .indices = address(f),
		.index_count = fuzz_mutate(f, 64), .addr = words,
	};

	if (fuzz_below(f, 2)) {
		pumice_vdm_draw_indirect_pack(at, &draw);
		return PUMICE_VDM_DRAW_INDIRECT_WORDS;
	}
	pumice_vdm_draw_indexed_indirect_pack(at, &indexed);
	return PUMICE_VDM_DRAW_INDEXED_INDIRECT_WORDS;
}

static u32 put_branch(struct fuzz *f, u32 *at)
{
	const u64 to = fuzz_below(f, 8) ? FX_STREAM_VA + SUBLIST * 4 : address(f);
	const struct pumice_vdm_call call = { .addr = to };
	const struct pumice_vdm_link link = { .addr = to };

	if (fuzz_below(f, 4)) {
		pumice_vdm_call_pack(at, &call);
		return PUMICE_VDM_CALL_WORDS;
	}
	pumice_vdm_link_pack(at, &link);
	return PUMICE_VDM_LINK_WORDS;
}

static u32 put_state(struct fuzz *f, u32 *at)
{
	const struct pumice_vdm_state_cmd state = {
		.addr = fuzz_below(f, 8) ? FRAME_RECORD_VA(FRAME_VDM_STATE) : address(f),
	};

	pumice_vdm_state_cmd_pack(at, &state);
	return PUMICE_VDM_STATE_CMD_WORDS;
}

static u32 put_command(struct fuzz *f, u32 *at)
{
	switch (fuzz_below(f, 11)) {
	case 0:
		return put_state(f, at);
	case 1:
	case 2:
	case 3:
		return put_draw(f, at);
	case 4:
	case 5:
	case 6:
		return put_indexed(f, at);
	case 7:
		return put_indirect(f, at);
	case 8:
		return put_branch(f, at);
	case 9:
		pumice_vdm_task_pack(at, &(struct pumice_vdm_task){ 0 });
		return PUMICE_VDM_TASK_WORDS;
	default:
		*at = (u32)fuzz_number(f);
		return 1;
	}
}

/* After the valid STATE: arbitrary commands, then @last. */
static void put_stream(struct fuzz *f, u32 *at, enum pumice_vdm_type last)
{
	u32 n = fuzz_below(f, 8), used = 0;

	while (n-- && used < STREAM_ROOM)
		used += put_command(f, at + used);
	at[used] = (u32)last << PUMICE_VDM_HALT__TYPE__SHIFT;
}

/* Change some bits of the state page's records and of the programs. */
static void change_records(struct fuzz *f, struct frame *frame)
{
	u32 n = fuzz_below(f, 5), *word;

	while (n--) {
		word = frame_record(frame, fuzz_below(f, FRAME_RECORDS)) + fuzz_below(f, 32);
		if (fuzz_below(f, 2))
			*word ^= 1u << fuzz_below(f, 32);
		else
			*word = (u32)fuzz_number(f);
	}
	n = fuzz_below(f, 8) == 1 ? fuzz_below(f, 4) : 0;
	while (n--)
		frame->page[FRAME_CODE][fuzz_u16(f) % 1536] ^= (u8)(1u << fuzz_below(f, 8));
	if (fuzz_below(f, 4) == 1)
		fuzz_bytes(f, frame->page[FRAME_DATA] + fuzz_below(f, 8) * 16, 16);
}

/* Change words of the render control list, which is read last. */
static void change_list(struct fuzz *f, struct frame *frame)
{
	u32 n = fuzz_below(f, 6), *word;

	while (n--) {
		word = frame_record(frame, FRAME_LIST) + fuzz_below(f, 32);
		switch (fuzz_below(f, 3)) {
		case 0:
			*word ^= 1u << fuzz_below(f, 32);
			break;
		case 1:
			*word = fuzz_below(f, 16) | fuzz_below(f, 4) << 4 | fuzz_below(f, 4) << 16;
			break;
		default:
			*word = (u32)address(f);
			break;
		}
	}
}

/* Change one word of the tiling pipeline's structures in memory. */
static void damage(struct fuzz *f, struct frame *frame)
{
	const u32 chain_words = PUMICE_PM_LISTS * PUMICE_MACRO_TILES_X * PUMICE_MACRO_TILES_Y *
				PUMICE_SCENE_CHAIN_WORDS;
	u32 *word;

	switch (fuzz_below(f, 6)) {
	case 0:
		word = (u32 *)(void *)frame->page[FRAME_REGIONS] + fuzz_below(f, 16);
		break;
	case 1:
	case 2:
		/* Only the first pages are used. */
		word = (u32 *)(void *)frame->page[FRAME_BUFFER + fuzz_below(f, 5)] +
		       (fuzz_u16(f) & (fuzz_below(f, 2) ? 1023 : 63));
		break;
	case 3:
		word = frame->list + fuzz_below(f, PUMICE_FREE_LIST_WORDS);
		break;
	case 4:
		word = frame->links + fuzz_below(f, FRAME_PAGES);
		break;
	default:
		word = frame->scene + fuzz_below(f, PUMICE_SCENE_WORDS + chain_words);
		break;
	}
	if (fuzz_below(f, 2))
		*word ^= 1u << fuzz_below(f, 32);
	else
		*word = (u32)fuzz_number(f);
}

/* Change the access rights of a page of the VM; the TLBs may still hold the old ones. */
static void change_page(struct fuzz *f, struct frame *frame)
{
	frame->vm.pt[fuzz_below(f, FRAME_VM_PAGES)] ^= fuzz_below(f, 16);
}

/* Run the jobs and occasionally change something. */
static void disturb(struct fixture *r, struct fuzz *f, struct frame *frame)
{
	u32 n = fuzz_below(f, 6);

	while (n--) {
		fx_steps(r, fuzz_u8(f));
		if (fuzz_below(f, 16) == 1)
			change_page(f, frame);
		else
			damage(f, frame);
	}
}

static void release(struct fixture *r, struct frame *frame)
{
	const struct fwif_kccb_cmd scene = {
		.type = FWIF_KCCB_SCENE_RELEASE, .object = frame->scene_addr,
	};

	FUZZ_CHECK(host_call(r, &scene) == FWIF_STATUS_OK, "the scene is not released");
	FUZZ_CHECK(host_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &frame->geometry) ==
		   FWIF_STATUS_OK, "the geometry context is not released");
	FUZZ_CHECK(host_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &frame->fragment) ==
		   FWIF_STATUS_OK, "the fragment context is not released");
}

/* Check that an unmodified frame is drawn: every pixel has the texture's grey and its mask bit. */
static void check_picture(struct frame *frame)
{
	const float *pixel = (const float *)(void *)frame->page[FRAME_TARGET];
	const u8 *mask = frame->page[FRAME_DATA] + FRAME_MASK_AT;
	u32 i;

	FUZZ_CHECK(!fx_result(&frame->geometry, 1)->fault &&
		   !fx_result(&frame->fragment, 1)->fault, "a valid frame faults");
	for (i = 0; i < 1024; i++)
		FUZZ_CHECK(pixel[i] > 0.333f && pixel[i] < 0.334f, "pixel %u is %g", i,
			   (double)pixel[i]);
	for (i = 0; i < FRAME_SIZE * FRAME_SIZE / 8; i++)
		FUZZ_CHECK(mask[i] == 0xff, "byte %u of the mask plane is 0x%x", i, mask[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct fixture *r = fx_booted();
	struct frame frame;

	memset(&frame, 0, sizeof(frame));
	frame_make(r, &frame, !size || fuzz_below(&f, 4) ? FRAME_PAGES : 1 + fuzz_below(&f, 16));
	if (fuzz_below(&f, 8)) {
		put_stream(&f, frame.vm.stream + PUMICE_VDM_STATE_CMD_WORDS +
			   PUMICE_VDM_DRAW_WORDS, PUMICE_VDM_TYPE_HALT);
		put_stream(&f, frame.vm.stream + SUBLIST, PUMICE_VDM_TYPE_RETURN);
	}
	change_records(&f, &frame);
	frame_submit(r, &frame);
	disturb(r, &f, &frame);
	frame_finish(r, &frame.geometry, PATIENCE);
	disturb(r, &f, &frame);
	change_list(&f, &frame);
	frame_open(r, &frame);
	disturb(r, &f, &frame);
	frame_finish(r, &frame.fragment, PATIENCE);
	if (!size)
		check_picture(&frame);
	release(r, &frame);
	host_check_job(r);
	fx_destroy(r);
	return 0;
}
