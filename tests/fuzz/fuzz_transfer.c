// SPDX-License-Identifier: MIT
/*
 * A transfer job with an arbitrary control stream and surfaces from the input,
 * most fields valid, through the real firmware.
 *
 * Rules: the job succeeds, ends with a fault of the enumeration and a unit, or
 * can be killed after PATIENCE polls; memory that no command addresses is unchanged; then
 * the next job, of another context, works.
 */
#include <string.h>

#include "frame.h"

#define PATIENCE	200u
#define SURFACES	4u	/* in records of the state page */
#define COMMANDS	8u
#define PRESENTS	2u	/* that the job announces */

/* Return an address, usually in the target's or the depth buffer's pages. */
static u64 memory(struct fuzz *f)
{
	switch (fuzz_below(f, 16)) {
	case 0:
		return fuzz_number(f);
	case 1:
		return FRAME_VA(fuzz_below(f, FRAME_VM_PAGES)) + fuzz_u16(f) % 4096;
	default:
		return FRAME_VA(FRAME_TARGET + fuzz_below(f, 8)) + fuzz_u8(f) * 16u;
	}
}

static void put_surface(struct fuzz *f, struct frame *frame, u32 number)
{
	const u32 dim = fuzz_mutate(f, fuzz_below(f, 4) ? PUMICE_TEXTURE_DIM_2D :
						fuzz_below(f, PUMICE_TEXTURE_DIM_COUNT)) & 7;
	const struct pumice_texture t = {
		.addr = memory(f), .format = (u8)fuzz_mutate(f, fuzz_below(f, PUMICE_FORMAT_COUNT)),
		.layout = fuzz_mutate(f, fuzz_below(f, PUMICE_LAYOUT_COUNT)) & 3, .dim = (u8)dim,
		.levels = fuzz_mutate(f, 1 + fuzz_below(f, 4)) & 15,
		.width = (u16)fuzz_mutate(f, fuzz_below(f, 48)),
		.height = (u16)fuzz_mutate(f, fuzz_below(f, 48)),
		.depth = (u16)fuzz_mutate(f, fuzz_below(f, 8) ? 0 : fuzz_below(f, 12)),
		.stride = fuzz_mutate(f, 0), .swizzle_g = PUMICE_SWIZZLE_G,
		.swizzle_b = PUMICE_SWIZZLE_B, .swizzle_a = PUMICE_SWIZZLE_A,
	};

	pumice_texture_pack(frame_record(frame, number), &t);
}

static u64 surface(struct fuzz *f)
{
	return fuzz_below(f, 16) ? FRAME_RECORD_VA(fuzz_below(f, SURFACES)) : memory(f);
}

static u32 put_bytes(struct fuzz *f, u32 *at)
{
	const struct pumice_tdm_copy copy = {
		.src = memory(f), .dst = memory(f), .bytes = fuzz_mutate(f, fuzz_u16(f) % 9000),
	};
	const struct pumice_tdm_fill fill = {
		.dst = memory(f), .words = fuzz_mutate(f, fuzz_u16(f) % 3000),
		.value = (u32)fuzz_number(f),
	};

	if (fuzz_below(f, 2)) {
		pumice_tdm_copy_pack(at, &copy);
		return PUMICE_TDM_COPY_WORDS;
	}
	pumice_tdm_fill_pack(at, &fill);
	return PUMICE_TDM_FILL_WORDS;
}

static u32 put_blit(struct fuzz *f, u32 *at)
{
	const struct pumice_tdm_blit blit = {
		.src = surface(f), .dst = surface(f), .src_level = fuzz_mutate(f, 0) & 15,
		.dst_level = fuzz_mutate(f, 0) & 15, .dither = fuzz_below(f, 2),
		.src_x = fuzz_mutate(f, fuzz_below(f, 16)) & 8191,
		.src_y = fuzz_mutate(f, fuzz_below(f, 16)) & 8191,
		.dst_x = fuzz_mutate(f, fuzz_below(f, 16)) & 8191,
		.dst_y = fuzz_mutate(f, fuzz_below(f, 16)) & 8191,
		.width = fuzz_mutate(f, fuzz_below(f, 32)) & 16383,
		.height = fuzz_mutate(f, fuzz_below(f, 32)) & 16383,
		.src_layer = fuzz_mutate(f, 0) & 4095, .dst_layer = fuzz_mutate(f, 0) & 4095,
	};

	pumice_tdm_blit_pack(at, &blit);
	return PUMICE_TDM_BLIT_WORDS;
}

static u16 coordinate(struct fuzz *f, u32 below)
{
	return fuzz_mutate(f, fuzz_below(f, below)) & 8191;
}

/* Rectangles that mostly fit; of each filter, with the sizes that it needs. */
static u32 put_scale(struct fuzz *f, u32 *at)
{
	struct pumice_tdm_scale s = { .src = surface(f), .dst = surface(f) };

	s.filter = (enum pumice_tdm_filter)fuzz_below(f, 4);
	s.flip_x = fuzz_below(f, 2);
	s.flip_y = fuzz_below(f, 2);
	s.dither = fuzz_below(f, 2);
	s.dst_width = fuzz_mutate(f, 1 + fuzz_below(f, 24)) & 16383;
	s.dst_height = fuzz_mutate(f, 1 + fuzz_below(f, 24)) & 16383;
	s.src_width = fuzz_mutate(f, 1 + fuzz_below(f, 40)) & 16383;
	s.src_height = fuzz_mutate(f, 1 + fuzz_below(f, 40)) & 16383;
	if (s.filter == PUMICE_TDM_FILTER_BOX && fuzz_below(f, 8)) {
		s.src_width = s.dst_width;
		s.src_height = (s.dst_height * 2) & 16383;
	}
	s.src_x = coordinate(f, 8);
	s.src_y = coordinate(f, 8);
	s.dst_x = coordinate(f, 16);
	s.dst_y = coordinate(f, 16);
	s.src_level = fuzz_mutate(f, 0) & 15;
	s.dst_level = fuzz_mutate(f, 0) & 15;
	s.src_layer = fuzz_mutate(f, 0) & 4095;
	s.dst_layer = fuzz_mutate(f, 0) & 4095;
	pumice_tdm_scale_pack(at, &s);
	return PUMICE_TDM_SCALE_WORDS;
}

static u32 put_present(struct fuzz *f, u32 *at)
{
	const struct pumice_tdm_present p = {
		.src = surface(f), .dst = surface(f),
		.filter = (enum pumice_tdm_filter)fuzz_below(f, 4),
		.dst_width = 1 + (fuzz_u8(f) & 15), .dst_height = 1 + (fuzz_u8(f) & 15),
		.src_width = fuzz_mutate(f, 1 + fuzz_below(f, 24)) & 16383,
		.src_height = fuzz_mutate(f, 1 + fuzz_below(f, 24)) & 16383,
		.dst_x = coordinate(f, 16), .frame = (u32)fuzz_number(f),
	};

	pumice_tdm_present_pack(at, &p);
	return PUMICE_TDM_PRESENT_WORDS;
}

static u32 put_surface_command(struct fuzz *f, u32 *at)
{
	struct pumice_tdm_clear clear = {
		.dst = surface(f), .dst_level = fuzz_mutate(f, 0) & 15,
		.dst_x = fuzz_mutate(f, fuzz_below(f, 16)) & 8191,
		.dst_y = fuzz_mutate(f, fuzz_below(f, 16)) & 8191,
		.width = fuzz_mutate(f, 1 + fuzz_below(f, 32)) & 16383,
		.height = fuzz_mutate(f, 1 + fuzz_below(f, 32)) & 16383,
		.dst_layer = fuzz_mutate(f, 0) & 4095,
	};
	const struct pumice_tdm_downscale downscale = {
		.surface = surface(f), .src_level = fuzz_mutate(f, 0) & 15,
	};

	clear.value[0].u = (u32)fuzz_number(f);
	if (fuzz_below(f, 2)) {
		pumice_tdm_clear_pack(at, &clear);
		return PUMICE_TDM_CLEAR_WORDS;
	}
	pumice_tdm_downscale_pack(at, &downscale);
	return PUMICE_TDM_DOWNSCALE_WORDS;
}

static u32 put_command(struct fuzz *f, u32 *at)
{
	const struct pumice_tdm_link link = {
		.addr = fuzz_below(f, 4) ? FX_STREAM_VA + 4 * fuzz_u8(f) : memory(f),
	};

	switch (fuzz_below(f, 8)) {
	case 0:
	case 1:
		return put_bytes(f, at);
	case 2:
	case 3:
		return put_blit(f, at);
	case 4:
		return fuzz_below(f, 2) ? put_scale(f, at) : put_present(f, at);
	case 5:
	case 6:
		return put_surface_command(f, at);
	default:
		if (fuzz_below(f, 4) == 1) {
			pumice_tdm_link_pack(at, &link);
			return PUMICE_TDM_LINK_WORDS;
		}
		*at = (u32)fuzz_number(f);
		return 1;
	}
}

static void put_job(struct fx_context *c)
{
	const struct fwif_cccb_present cmd = {
		.header = { FWIF_CCCB_PRESENT | FWIF_CACHES_ALL, sizeof(cmd) },
		.stream = FX_STREAM_VA, .seqno = 1, .presents = PRESENTS,
	};

	fx_bytes(c, &cmd, sizeof(cmd));
	fx_update(c, c->object_addr, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct fixture *r = fx_booted();
	struct fx_context c;
	struct frame frame;
	struct fwif_flips *flips;
	u32 i, n, *at;

	memset(&frame, 0, sizeof(frame));
	frame_make(r, &frame, FRAME_PAGES);
	fx_context_of(r, &frame.vm, FWIF_DM_TDM, 1, &c);
	flips = fx_fw_alloc(r, sizeof(*flips), &c.f->flips);
	for (i = 0; i < SURFACES; i++)
		put_surface(&f, &frame, i);
	at = frame.vm.stream;
	for (n = fuzz_below(&f, COMMANDS); n; n--)
		at += put_command(&f, at);
	*at = (u32)PUMICE_TDM_TYPE_HALT << PUMICE_TDM_HALT__TYPE__SHIFT;
	put_job(&c);
	fx_put_kick(r, &c);
	fx_kick(r);
	if (fuzz_below(&f, 4) == 1) {
		fx_steps(r, fuzz_u8(&f));
		/* Except the PM's pages, which remain owned by the PM. */
		frame.vm.pt[fuzz_below(&f, FRAME_REGIONS)] ^= fuzz_below(&f, 16);
	}
	frame_finish(r, &c, PATIENCE);
	/* No transfer reaches the pages of the PM. */
	for (i = FRAME_REGIONS; i < FRAME_VM_PAGES; i++)
		for (n = 0; n < 4096; n++)
			FUZZ_CHECK(!frame.page[i][n], "a transfer wrote to the PM's page %u", i);
	FUZZ_CHECK(flips->write <= PRESENTS, "%u flips of %u presents", flips->write, PRESENTS);
	host_check_job(r);
	fx_destroy(r);
	return 0;
}
