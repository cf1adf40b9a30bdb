// SPDX-License-Identifier: MIT
/*
 * State changes between draws, merged (document 001, "CPU Scene Setup").
 *
 * A STATE whose record is set already is not added; one that follows another STATE, without a
 * draw between them, replaces it. Records, PDS programs and uniforms with the content of earlier
 * ones are not stored again but share their memory, so that equal states have equal addresses.
 *
 * The draw state is known only between draws of one stream without other commands. The call,
 * return or link of a stream, raw words, and taking the address of the next command end that.
 *
 * Limits: STREAM_SHARED blocks of data are remembered, one for each remainder of the hash.
 */
#include <errno.h>
#include <string.h>

#include "gfx.h"
#include "pumice_regs.h"
#include "stream.h"

/* Return the FNV-1a hash of words. */
static u64 hash_of(const u32 *words, u64 bytes)
{
	u64 hash = 0xcbf29ce484222325u, i;

	for (i = 0; i < bytes / 4; i++)
		hash = (hash ^ words[i]) * 0x100000001b3u;
	return hash ^ hash >> 32;
}

void stream_forget_data(const struct pumice_stream *s)
{
	memset(s->merge->shared, 0, sizeof(s->merge->shared));
}

int stream_share(struct pumice_stream *s, const u32 *words, u64 bytes, u64 align, u64 *va)
{
	const u64 hash = hash_of(words, bytes);
	struct stream_shared *known = &s->merge->shared[hash % STREAM_SHARED];
	void *cpu;
	int err;

	if (known->bytes == bytes && known->hash == hash && known->offset % align == 0 &&
	    !memcmp(s->cpu + known->offset, words, bytes)) {
		*va = s->va + known->offset;
		return 0;
	}
	err = pumice_stream_data(s, bytes, align, &cpu, va);
	if (err)
		return err;
	memcpy(cpu, words, bytes);
	*known = (struct stream_shared){ .hash = hash, .offset = *va - s->va, .bytes = bytes };
	return 0;
}

int pumice_stream_uniforms(struct pumice_stream *s, const uint32_t *words, uint32_t count,
			   uint64_t *va)
{
	if (!words || !va)
		return fail_null(s->vm->dev, "uniforms", words ? "va" : "words");
	if (!count || count > PUMICE_USC_MAX_UNIFORMS)
		return fail(s->vm->dev, EINVAL, "uniforms: count %u is not 1 to %u", count,
			    PUMICE_USC_MAX_UNIFORMS);
	return stream_share(s, words, (u64)count * 4, UNIFORMS_ALIGN, va);
}

int pumice_stream_state(struct pumice_stream *s, uint64_t va)
{
	const struct pumice_vdm_state_cmd cmd = { .addr = va };
	struct stream_state state = s->merge->state;
	u32 words[PUMICE_VDM_STATE_CMD_WORDS];
	int err = stream_check_va(s, "state", va, 16);

	if (err || (va && va == state.set))
		return err;
	if (state.last) {	/* no draw used the last one */
		s->commands -= sizeof(words);
		state = (struct stream_state){ .set = state.before };
		s->merge->state = state;
		if (va && va == state.set)
			return 0;
	}
	pumice_vdm_state_cmd_pack(words, &cmd);
	err = pumice_stream_emit(s, words, PUMICE_VDM_STATE_CMD_WORDS);
	if (!err)
		s->merge->state = (struct stream_state){
			.set = va, .before = state.set, .last = true,
		};
	return err;
}

int stream_emit_draw(struct pumice_stream *s, const u32 *words, u32 count)
{
	const u64 set = s->merge->state.set;
	int err = pumice_stream_emit(s, words, count);

	if (!err)
		s->merge->state.set = set;
	return err;
}
