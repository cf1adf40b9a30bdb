// SPDX-License-Identifier: MIT
/* Scenes and jobs for tests on fake data masters: see scene.h. */
#include "scene.h"

void scene_make(struct fixture *r, bool spill, struct scene *s)
{
	struct pumice_scene scene = {
		.width = 64, .height = 64, .cores = 1, .regions = 0x100000,
		.spill = spill ? 0x200000 : 0, .spill_bytes = spill ? 64 : 0,
	};
	struct pumice_free_list list = {
		.base = 0x300000, .pages = 10, .head = PUMICE_PM_NO_PAGE, .free = 10,
		.max_pages = 40,
	};
	u32 i;

	for (i = 0; i < PUMICE_PM_LISTS; i++) {
		s->list[i] = fx_fw_alloc(r, PUMICE_FREE_LIST_WORDS * 4, &s->list_addr[i]);
		pumice_free_list_pack(s->list[i], &list);
	}
	s->words = fx_fw_alloc(r, SCENE_BYTES, &s->addr);
	scene.free_list0 = s->list_addr[0];
	scene.free_list1 = s->list_addr[1];
	pumice_scene_pack(s->words, &scene);
}

u32 list_pages(const struct scene *s, u32 list)
{
	struct pumice_free_list f;

	pumice_free_list_unpack(s->list[list], &f);
	return f.pages;
}

void list_set_max(struct scene *s, u32 list, u32 max)
{
	struct pumice_free_list f;

	pumice_free_list_unpack(s->list[list], &f);
	f.max_pages = max;
	pumice_free_list_pack(s->list[list], &f);
}

void put_geometry(struct fx_context *c, const struct scene *s, u32 seqno)
{
	const struct fwif_cccb_render cmd = {
		.header = { FWIF_CCCB_GEOMETRY, sizeof(cmd) },
		.stream = FX_STREAM_VA, .seqno = seqno, .scene = s->addr, .render = RENDER_VA,
	};

	fx_bytes(c, &cmd, sizeof(cmd));
}

void put_fragment(struct fx_context *c, const struct scene *s, u32 seqno)
{
	const struct fwif_cccb_render cmd = {
		.header = { FWIF_CCCB_FRAGMENT, sizeof(cmd) },
		.stream = FX_STREAM_VA, .seqno = seqno, .scene = s->addr,
	};

	fx_bytes(c, &cmd, sizeof(cmd));
}

void put_stream(struct fx_context *c, u32 type, u32 seqno)
{
	const struct fwif_cccb_compute cmd = {
		.header = { type, sizeof(cmd) },
		.stream = FX_STREAM_VA, .seqno = seqno,
	};

	fx_bytes(c, &cmd, sizeof(cmd));
}

void submit_job(struct fixture *r, struct fx_context *c, const struct scene *s, u32 seqno)
{
	switch (c->f->dm) {
	case FWIF_DM_VDM:
		put_geometry(c, s, seqno);
		break;
	case FWIF_DM_PDM:
		put_fragment(c, s, seqno);
		break;
	case FWIF_DM_TDM:
		put_stream(c, FWIF_CCCB_TRANSFER, seqno);
		break;
	case FWIF_DM_RDM:
		put_stream(c, FWIF_CCCB_RAYS, seqno);
		break;
	default:
		fx_compute(c, FX_STREAM_VA, seqno);
		break;
	}
	fx_update(c, c->object_addr, seqno);
	fx_submit(r, c);
}

void end_and_run(struct fixture *r, unsigned int number, enum dm_end end)
{
	fake_end(number, end);
	fx_run(r);
}

struct fwif_fwccb_msg next_message(struct fixture *r)
{
	u32 read = r->fwccb_ring->read;
	struct fwif_fwccb_msg msg = { .type = 0 };

	if (read == r->fwccb_ring->write)
		return msg;
	msg = r->fwccb[read];
	r->fwccb_ring->read = (read + 1) % FX_FWCCB;
	return msg;
}

void reply_grown(struct fixture *r, u32 list, u32 pages)
{
	const struct fwif_kccb_cmd cmd = {
		.type = FWIF_KCCB_FREE_LIST_GROWN, .object = list, .pages = pages,
	};

	assert_int_equal(fx_call(r, &cmd), FWIF_STATUS_OK);
}
