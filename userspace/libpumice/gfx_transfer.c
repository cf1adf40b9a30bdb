// SPDX-License-Identifier: MIT
/* Builder of transfer control streams (hw/formats.xml, stream tdm). */
#include "gfx.h"

int pumice_stream_copy(struct pumice_stream *s, const struct pumice_tdm_copy *copy)
{
	u32 words[PUMICE_TDM_COPY_WORDS];
	int err = copy ? stream_check_va(s, "copy: src", copy->src, 1) :
			 fail_null(stream_vm(s)->dev, "copy", "copy");

	if (!err)
		err = stream_check_va(s, "copy: dst", copy->dst, 1);
	if (err)
		return err;
	pumice_tdm_copy_pack(words, copy);
	return pumice_stream_emit(s, words, PUMICE_TDM_COPY_WORDS);
}

int pumice_stream_fill(struct pumice_stream *s, const struct pumice_tdm_fill *fill)
{
	u32 words[PUMICE_TDM_FILL_WORDS];
	int err = fill ? stream_check_va(s, "fill: dst", fill->dst, 1) :
			 fail_null(stream_vm(s)->dev, "fill", "fill");

	if (err)
		return err;
	pumice_tdm_fill_pack(words, fill);
	return pumice_stream_emit(s, words, PUMICE_TDM_FILL_WORDS);
}

int transfer_put_texture(struct pumice_stream *s, const struct pumice_image *image, u64 *va)
{
	struct pumice_texture texture;
	void *cpu;
	int err;

	if (!image)
		return fail_null(stream_vm(s)->dev, "transfer", "image");
	err = pumice_stream_data(s, PUMICE_TEXTURE_WORDS * 4, 32, &cpu, va);

	if (err)
		return err;
	pumice_image_texture(image, &texture);
	pumice_texture_pack(cpu, &texture);
	return 0;
}

int pumice_stream_blit(struct pumice_stream *s, const struct pumice_image *src,
		       const struct pumice_image *dst, const struct pumice_tdm_blit *desc)
{
	struct pumice_tdm_blit blit;
	u32 words[PUMICE_TDM_BLIT_WORDS];
	int err;

	if (!desc)
		return fail_null(stream_vm(s)->dev, "blit", "blit");
	blit = *desc;
	err = transfer_put_texture(s, src, &blit.src);
	if (!err)
		err = transfer_put_texture(s, dst, &blit.dst);
	pumice_tdm_blit_pack(words, &blit);
	return err ? err : pumice_stream_emit(s, words, PUMICE_TDM_BLIT_WORDS);
}

int pumice_stream_scale(struct pumice_stream *s, const struct pumice_image *src,
			const struct pumice_image *dst, const struct pumice_tdm_scale *desc)
{
	struct pumice_tdm_scale scale;
	u32 words[PUMICE_TDM_SCALE_WORDS];
	int err;

	if (!desc)
		return fail_null(stream_vm(s)->dev, "scale", "scale");
	scale = *desc;
	err = transfer_put_texture(s, src, &scale.src);
	if (!err)
		err = transfer_put_texture(s, dst, &scale.dst);
	pumice_tdm_scale_pack(words, &scale);
	return err ? err : pumice_stream_emit(s, words, PUMICE_TDM_SCALE_WORDS);
}

int pumice_stream_clear(struct pumice_stream *s, const struct pumice_image *dst,
			const struct pumice_tdm_clear *desc)
{
	struct pumice_tdm_clear clear;
	u32 words[PUMICE_TDM_CLEAR_WORDS];
	int err;

	if (!desc)
		return fail_null(stream_vm(s)->dev, "clear", "clear");
	clear = *desc;
	err = transfer_put_texture(s, dst, &clear.dst);
	pumice_tdm_clear_pack(words, &clear);
	return err ? err : pumice_stream_emit(s, words, PUMICE_TDM_CLEAR_WORDS);
}

int pumice_stream_mipmaps(struct pumice_stream *s, const struct pumice_image *image)
{
	struct pumice_tdm_downscale down = { 0 };
	u32 words[PUMICE_TDM_DOWNSCALE_WORDS], level;
	int err = transfer_put_texture(s, image, &down.surface);

	for (level = 0; !err && level + 1 < image->surface.levels; level++) {
		down.src_level = (u8)level;
		pumice_tdm_downscale_pack(words, &down);
		err = pumice_stream_emit(s, words, PUMICE_TDM_DOWNSCALE_WORDS);
	}
	return err;
}

int pumice_stream_tdm_link(struct pumice_stream *s, uint64_t va)
{
	const struct pumice_tdm_link link = { .addr = va };
	u32 words[PUMICE_TDM_LINK_WORDS];
	int err = stream_check_va(s, "link", va, 4);

	pumice_tdm_link_pack(words, &link);
	return err ? err : pumice_stream_emit(s, words, PUMICE_TDM_LINK_WORDS);
}

int pumice_stream_tdm_flush(struct pumice_stream *s, uint32_t flags)
{
	struct pumice_tdm_flush flush;
	u32 words[PUMICE_TDM_FLUSH_WORDS];
	int err = stream_check_flush(s, flags, 0);

	STREAM_SET_FLUSH(flush, flags);
	pumice_tdm_flush_pack(words, &flush);
	return err ? err : pumice_stream_emit(s, words, PUMICE_TDM_FLUSH_WORDS);
}

int pumice_stream_tdm_end(struct pumice_stream *s, uint64_t *va)
{
	const struct pumice_tdm_halt halt = { 0 };
	u32 words[PUMICE_TDM_HALT_WORDS];
	int err;

	pumice_tdm_halt_pack(words, &halt);
	err = pumice_stream_emit(s, words, PUMICE_TDM_HALT_WORDS);
	if (!err && va)
		*va = stream_start(s);
	return err;
}
