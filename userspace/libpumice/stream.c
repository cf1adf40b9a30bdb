// SPDX-License-Identifier: MIT
/*
 * Builder of control streams (hw/formats.xml, stream cdm).
 *
 * One BO contains all of it: commands grow from its start, PDS programs, uniform
 * blocks and other data from its end. The stream is full when they meet.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "program_header.h"
#include "pumice/pumice_tasks.h"
#include "pumice_names.h"
#include "pumice_regs.h"
#include "stream.h"

#define PDS_ALIGN	16u
#define UNIFORM_ALIGN	64u

static int place_stream(struct pumice_stream *s, u64 bytes)
{
	void *cpu;
	int err;

	/* Data begin at the end of its pages. Too many bytes are refused as they are. */
	if (bytes <= UINT64_MAX - PAGE_BYTES)
		bytes = round_up(bytes, PAGE_BYTES);
	err = pumice_bo_create(s->vm->dev, bytes, s->vm, &s->bo);
	if (err)
		return err;
	bo_name_internal(s->bo, "a stream");
	err = pumice_bo_map(s->bo, &cpu);
	if (err)
		return err;
	s->cpu = cpu;
	pumice_stream_reset(s);
	return vm_place_object(s->vm, s->bo, PUMICE_BIND_READONLY, &s->va);
}

int pumice_stream_create(struct pumice_vm *vm, uint64_t bytes, struct pumice_stream **stream)
{
	struct pumice_stream *s;
	int err;

	if (!bytes)
		return fail(vm->dev, EINVAL, "stream: bytes is 0; set it to 1 or more");
	s = calloc(1, sizeof(*s));
	if (s)
		s->merge = calloc(1, sizeof(*s->merge));
	if (!s || !s->merge) {
		free(s);
		return fail(vm->dev, ENOMEM, "stream: out of memory");
	}
	s->vm = vm;
	err = place_stream(s, bytes);
	if (err)
		pumice_stream_destroy(s);
	else
		*stream = s;
	return err;
}

void pumice_stream_destroy(struct pumice_stream *s)
{
	if (!s)
		return;
	if (s->va)
		pumice_vm_remove(s->vm, s->va);
	pumice_bo_destroy(s->bo);
	free(s->merge);
	free(s);
}

void pumice_stream_reset(struct pumice_stream *s)
{
	s->commands = 0;
	s->data = pumice_bo_size(s->bo);
	s->has_flush = s->has_rays = false;
	stream_forget_state(s);
	stream_forget_data(s);
}

struct pumice_vm *stream_vm(const struct pumice_stream *s)
{
	return s->vm;
}

u64 stream_start(const struct pumice_stream *s)
{
	return s->va;
}

uint64_t pumice_stream_va(const struct pumice_stream *s)
{
	stream_forget_state(s);
	return s->va + s->commands;
}

static int full(struct pumice_stream *s, u64 bytes)
{
	return fail(s->vm->dev, ENOSPC, "stream: no room for %llu bytes, %llu are left; create a larger one",
		    (unsigned long long)bytes, (unsigned long long)(s->data - s->commands));
}

int pumice_stream_emit(struct pumice_stream *s, const uint32_t *words, uint32_t count)
{
	u64 bytes = (u64)count * 4;

	if (count && !words)
		return fail_null(s->vm->dev, "stream", "words");
	if (bytes > s->data - s->commands)
		return full(s, bytes);
	memcpy(s->cpu + s->commands, words, bytes);
	s->commands += bytes;
	stream_forget_state(s);
	return 0;
}

int pumice_stream_data(struct pumice_stream *s, uint64_t bytes, uint64_t align, void **cpu,
		       uint64_t *va)
{
	u64 at;

	if (!bytes)
		return fail(s->vm->dev, EINVAL, "stream: bytes is 0; set it to 1 or more");
	if (!power_of_two(align) || align > PAGE_BYTES)
		return fail(s->vm->dev, EINVAL,
			    "stream: align %llu is not a power of two from 1 to %llu",
			    (unsigned long long)align, PAGE_BYTES);
	if (bytes > s->data)
		return full(s, bytes);
	at = (s->data - bytes) & ~(align - 1);
	if (at < s->commands)
		return full(s, bytes);
	s->data = at;
	*cpu = s->cpu + at;
	*va = s->va + at;
	return 0;
}

/* Copy the uniform block; if there is none the address is 0 and no relocation uses it. */
static int put_uniforms(struct pumice_stream *s, const struct pumice_dispatch *d, u64 *va)
{
	void *cpu;
	int err;

	*va = 0;
	if (!d->uniform_words)
		return 0;
	err = pumice_stream_data(s, (u64)d->uniform_words * 4, UNIFORM_ALIGN, &cpu, va);
	if (!err)
		memcpy(cpu, d->uniforms, (size_t)d->uniform_words * 4);
	return err;
}

static int put_pds(struct pumice_stream *s, const struct pumice_kernel *k, u64 uniforms, u64 *va)
{
	void *cpu;
	int err = pumice_stream_data(s, (u64)k->program->header.pds_insns * 16, PDS_ALIGN, &cpu,
				     va);

	if (!err)
		program_link(k->program, k->code_va, uniforms, cpu);
	return err;
}

static void pack_state(const struct pumice_program_header *h, u64 pds, u32 *words)
{
	const struct pumice_cdm_state state = {
		.pds_addr = pds,
		.pds_insns = h->pds_insns,
		.shared = h->shared,
		.coeffs = h->coeffs,
		.coeffs_alt = (u16)pumice_program_coeffs_alt(h),
		.attrs = h->attrs,
		.temps = h->temps,
		.local_bytes = h->local_bytes,
		.size_x = h->size_x,
		.size_y = h->size_y,
		.size_z = h->size_z,
	};

	pumice_cdm_state_pack(words, &state);
}

static void pack_launch(const struct pumice_dispatch *d, bool after, u32 *words)
{
	const struct pumice_cdm_launch launch = {
		.after = after,
		.groups_x = d->groups[0],
		.groups_y = d->groups[1],
		.groups_z = d->groups[2],
		.base_x = d->base[0],
		.base_y = d->base[1],
		.base_z = d->base[2],
	};

	pumice_cdm_launch_pack(words, &launch);
}

static int check_dispatch(struct pumice_stream *s, const struct pumice_dispatch *d)
{
	const struct pumice_program_header *h;
	u32 stage, instances;

	if (!d->kernel)
		return fail(s->vm->dev, EINVAL, "dispatch: no kernel is set");
	if (d->kernel->vm != s->vm)
		return fail(s->vm->dev, EINVAL,
			    "dispatch: the kernel belongs to another vm; create it in the stream's");
	h = &d->kernel->program->header;
	stage = pumice_program_stage_of(h);
	if (stage != PUMICE_PROGRAM_STAGE_COMPUTE)
		return fail(s->vm->dev, EINVAL,
			    "dispatch: the kernel is a program of stage %s; dispatch one of .stage compute",
			    pumice_program_stage_str(stage));
	instances = (u32)h->size_x * h->size_y * h->size_z;
	if (instances > s->vm->dev->info.max_group_instances)
		return fail(s->vm->dev, EINVAL,
			    "dispatch: the kernel has work-groups of %u instances, but this GPU's have at most %u; declare fewer: .group X, Y, Z",
			    instances, s->vm->dev->info.max_group_instances);
	if (h->local_bytes > s->vm->dev->info.local_bytes)
		return fail(s->vm->dev, EINVAL,
			    "dispatch: the kernel takes %u bytes of local memory, but a USC has %u; declare less: .local BYTES",
			    (u32)h->local_bytes, s->vm->dev->info.local_bytes);
	if (d->uniform_words != h->uniform_words)
		return fail(s->vm->dev, EINVAL,
			    "dispatch: uniform_words is %u, but the kernel takes %u",
			    d->uniform_words, h->uniform_words);
	if (d->uniform_words && !d->uniforms)
		return fail(s->vm->dev, EINVAL,
			    "dispatch: uniforms is NULL; set it to the kernel's %u words",
			    h->uniform_words);
	return 0;
}

/*
 * In programs built before 0.5 allow_empty is padding, or, with pointers of 32 bits, not part of
 * the structure: stream_dispatch_former() does not read it.
 */
_Static_assert(sizeof(void *) != 8 || sizeof(struct pumice_dispatch) == 48,
	       "size of pumice_dispatch since 0.1");

/* Return whether the CDM would refuse a grid: an id exceeds 32 bits, or the number of groups 64. */
static bool grid_overflows(const struct pumice_dispatch *d)
{
	u64 groups = 1;
	u32 end;
	int i;

	for (i = 0; i < 3; i++)
		if (__builtin_add_overflow(d->base[i], d->groups[i], &end) ||
		    __builtin_mul_overflow(groups, (u64)d->groups[i], &groups))
			return true;
	return false;
}

/* Groups that are not set would launch nothing; uninitialised ones usually overflow. */
static int check_groups(struct pumice_stream *s, const struct pumice_dispatch *d)
{
	const u32 *groups;

	if (!d)
		return fail_null(s->vm->dev, "dispatch", "dispatch");
	groups = d->groups;
	if ((!groups[0] || !groups[1] || !groups[2]) && !(d->allow_empty & 1))
		return fail(s->vm->dev, EINVAL,
			    "dispatch: a grid of %u x %u x %u work-groups is empty; set all three to 1 or more",
			    groups[0], groups[1], groups[2]);
	if (grid_overflows(d))
		return fail(s->vm->dev, EINVAL,
			    "dispatch: a grid of %u x %u x %u work-groups from %u, %u, %u is too large: ids have 32 bits, their number 64; begin with pumice_dispatch_init(), or dispatch it in parts",
			    groups[0], groups[1], groups[2], d->base[0], d->base[1], d->base[2]);
	return 0;
}

/* Add STATE and the launch after it. @launch: @count words */
static int put_dispatch(struct pumice_stream *s, const struct pumice_dispatch *d,
			const u32 *launch, u32 count)
{
	u32 words[PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS];
	u64 data = s->data, uniforms, pds;
	int err = check_dispatch(s, d);

	if (!err)
		err = put_uniforms(s, d, &uniforms);
	if (!err)
		err = put_pds(s, d->kernel, uniforms, &pds);
	if (!err) {
		pack_state(&d->kernel->program->header, pds, words);
		memcpy(words + PUMICE_CDM_STATE_WORDS, launch, count * sizeof(*launch));
		err = pumice_stream_emit(s, words, PUMICE_CDM_STATE_WORDS + count);
	}
	if (err) {
		s->data = data;
		stream_forget_data(s);
	}
	return err;
}

int stream_dispatch_former(struct pumice_stream *s, const struct pumice_dispatch *d)
{
	u32 launch[PUMICE_CDM_LAUNCH_WORDS];

	pack_launch(d, false, launch);
	return put_dispatch(s, d, launch, PUMICE_CDM_LAUNCH_WORDS);
}

int stream_dispatch(struct pumice_stream *s, const struct pumice_dispatch *d)
{
	int err = check_groups(s, d);

	return err ? err : stream_dispatch_former(s, d);
}

int pumice_stream_dispatch_after(struct pumice_stream *s, const struct pumice_dispatch *d)
{
	u32 launch[PUMICE_CDM_LAUNCH_WORDS];
	int err = check_groups(s, d);

	if (err)
		return err;
	pack_launch(d, true, launch);
	return put_dispatch(s, d, launch, PUMICE_CDM_LAUNCH_WORDS);
}

int pumice_stream_task(struct pumice_stream *s)
{
	const struct pumice_cdm_task task = { 0 };
	u32 words[PUMICE_CDM_TASK_WORDS];

	pumice_cdm_task_pack(words, &task);
	return pumice_stream_emit(s, words, PUMICE_CDM_TASK_WORDS);
}

int stream_check_va(struct pumice_stream *s, const char *what, u64 va, u64 align)
{
	if (va >> PUMICE_MMU_VA_BITS)
		return fail(s->vm->dev, EINVAL,
			    "%s: %#llx is not a GPU address: pass pumice_buffer.va, not .cpu", what,
			    (unsigned long long)va);
	if (va % align)
		return fail(s->vm->dev, EINVAL, "%s: address %#llx is not a multiple of %llu", what,
			    (unsigned long long)va, (unsigned long long)align);
	return 0;
}

int pumice_stream_dispatch_indirect(struct pumice_stream *s, const struct pumice_dispatch *d,
				    uint64_t counts)
{
	struct pumice_cdm_launch_indirect launch;
	u32 words[PUMICE_CDM_LAUNCH_INDIRECT_WORDS];
	int err = stream_check_va(s, "indirect dispatch", counts, 4);

	if (!d)
		return fail_null(stream_vm(s)->dev, "indirect dispatch", "dispatch");
	launch = (struct pumice_cdm_launch_indirect){
		.addr = counts, .base_x = d->base[0], .base_y = d->base[1], .base_z = d->base[2],
	};
	pumice_cdm_launch_indirect_pack(words, &launch);
	return err ? err : put_dispatch(s, d, words, PUMICE_CDM_LAUNCH_INDIRECT_WORDS);
}

int pumice_stream_fence(struct pumice_stream *s)
{
	const struct pumice_cdm_fence fence = { 0 };
	u32 words[PUMICE_CDM_FENCE_WORDS];

	pumice_cdm_fence_pack(words, &fence);
	return pumice_stream_emit(s, words, PUMICE_CDM_FENCE_WORDS);
}

int pumice_stream_link(struct pumice_stream *s, uint64_t va)
{
	const struct pumice_cdm_link link = { .addr = va };
	u32 words[PUMICE_CDM_LINK_WORDS];
	int err = stream_check_va(s, "link", va, 4);

	pumice_cdm_link_pack(words, &link);
	if (!err)
		err = pumice_stream_emit(s, words, PUMICE_CDM_LINK_WORDS);
	if (!err)
		s->has_flush = s->has_rays = false;
	return err;
}

#define FLUSH_SCOPES	(PUMICE_FLUSH_GPU | PUMICE_FLUSH_CORE | PUMICE_FLUSH_GROUP)
#define FLUSH_FLAGS	(PUMICE_FLUSH_DATA | PUMICE_FLUSH_CODE | PUMICE_FLUSH_CLEAN | \
			 PUMICE_FLUSH_INVALIDATE | FLUSH_SCOPES)

int stream_check_flush(struct pumice_stream *s, uint32_t flags, uint32_t former)
{
	const u32 version = s->vm->dev->info.version;

	if (flags & ~FLUSH_FLAGS)
		return fail(s->vm->dev, EINVAL,
			    "flush: unknown flags %#x; accepted: 0x1 (DATA), 0x2 (CODE), 0x4 (CLEAN), 0x8 (INVALIDATE), and 0x100 (GPU), 0x200 (CORE) or 0x300 (GROUP)",
			    flags & ~FLUSH_FLAGS);
	if (version < VERSION_CACHES && (!former || flags & ~former))
		return fail(s->vm->dev, EOPNOTSUPP,
			    "flush: %s register map 2.9; the device has %u.%u",
			    former ? "flags other than DATA and CODE need" :
				     "streams other than those of compute need",
			    version >> 16, version & 0xffff);
	return 0;
}

uint32_t stream_flush_scope(uint32_t flags)
{
	static const uint32_t scopes[] = {
		PUMICE_MEM_SCOPE_SYSTEM, PUMICE_MEM_SCOPE_GPU, PUMICE_MEM_SCOPE_CORE,
		PUMICE_MEM_SCOPE_GROUP,
	};

	return scopes[(flags & FLUSH_SCOPES) / PUMICE_FLUSH_GPU];
}

int pumice_stream_flush(struct pumice_stream *s, uint32_t flags)
{
	struct pumice_cdm_flush flush;
	u32 words[PUMICE_CDM_FLUSH_WORDS];
	int err = stream_check_flush(s, flags, s->has_rays ? 0 : PUMICE_FLUSH_DATA |
							     PUMICE_FLUSH_CODE);

	STREAM_SET_FLUSH(flush, flags);
	pumice_cdm_flush_pack(words, &flush);
	if (!err)
		err = pumice_stream_emit(s, words, PUMICE_CDM_FLUSH_WORDS);
	s->has_flush |= !err;
	return err;
}

int stream_check_rays(struct pumice_stream *s)
{
	return s->has_flush ? stream_check_flush(s, 0, 0) : 0;
}

void stream_has_rays(struct pumice_stream *s)
{
	s->has_rays = true;
}

int pumice_stream_timestamp(struct pumice_stream *s, uint64_t va, bool wait)
{
	const struct pumice_cdm_timestamp timestamp = { .wait = wait, .addr = va };
	u32 words[PUMICE_CDM_TIMESTAMP_WORDS];
	int err = stream_check_va(s, "timestamp", va, 8);

	pumice_cdm_timestamp_pack(words, &timestamp);
	return err ? err : pumice_stream_emit(s, words, PUMICE_CDM_TIMESTAMP_WORDS);
}

int pumice_stream_marker(struct pumice_stream *s, uint64_t va, uint32_t value, bool wait)
{
	const struct pumice_cdm_marker marker = { .wait = wait, .addr = va, .value = value };
	u32 words[PUMICE_CDM_MARKER_WORDS];
	int err = stream_check_va(s, "marker", va, 4);

	pumice_cdm_marker_pack(words, &marker);
	return err ? err : pumice_stream_emit(s, words, PUMICE_CDM_MARKER_WORDS);
}

int pumice_stream_end(struct pumice_stream *s, uint64_t *va)
{
	const struct pumice_cdm_halt halt = { 0 };
	u32 words[PUMICE_CDM_HALT_WORDS];
	int err;

	pumice_cdm_halt_pack(words, &halt);
	err = pumice_stream_emit(s, words, PUMICE_CDM_HALT_WORDS);
	if (err)
		return err;
	s->has_flush = s->has_rays = false;	/* another kind may follow */
	if (va)
		*va = s->va;
	return 0;
}
