// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Fixture of tests through ioctls. See fixture.h. */
#include "fixture.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "check.h"
#include "pumice_formats.h"
#include "system.h"

#define ALIGN		16u	/* programs */
#define USUAL_SIZE	32u
#define WITNESSES	2u	/* jobs that run before a fence is checked */
#define RUNS		0x52554e53u	/* written by an endless job */

int fx_try(struct fixture *fx, int fd)
{
	int err;

	*fx = (struct fixture){ .fd = fd };
	err = gpu_vm_create(fd, &fx->vm);
	if (!err)
		err = gpu_context_create(fd, fx->vm, DRM_PUMICE_PRIORITY_NORMAL, &fx->context);
	if (!err)
		err = drmSyncobjCreate(fd, 0, &fx->sync) ? -errno : 0;
	if (!err)
		err = gpu_mem_create(fd, fx->vm, FX_CODE, FX_CODE_BYTES, &fx->code);
	if (!err)
		err = gpu_mem_create(fd, fx->vm, FX_DATA, FX_DATA_BYTES, &fx->data);
	return err;
}

struct fixture fx_on(int fd)
{
	struct fixture fx;

	CHECK_OK(fx_try(&fx, fd));
	return fx;
}

struct fixture fx_with(int fd, u32 priority, unsigned int timeout_ms)
{
	const long usual = module_parameter("job_timeout_ms");
	struct fixture fx = fx_on(fd);

	CHECK(usual >= 0);
	CHECK_OK(set_module_parameter("job_timeout_ms", timeout_ms));
	CHECK_OK(gpu_context_destroy(fd, fx.context));
	CHECK_OK(gpu_context_create(fd, fx.vm, priority, &fx.context));
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	return fx;
}

void fx_close(struct fixture *fx)
{
	if (fx->code.cpu)
		munmap(fx->code.cpu, fx->code.size);
	if (fx->data.cpu)
		munmap(fx->data.cpu, fx->data.size);
	close(fx->fd);
}

struct fixture fx_open(void)
{
	return fx_on(need_gpu());
}

u64 fx_data(const struct fixture *fx, u32 index)
{
	return fx->data.va + index * sizeof(u32);
}

u64 fx_place(struct fixture *fx, const u32 *words, u32 count)
{
	u64 at = (fx->used + ALIGN - 1) & ~(u64)(ALIGN - 1);
	u64 bytes = count * sizeof(u32);

	CHECK(at + bytes <= fx->code.size);
	memcpy((u8 *)fx->code.cpu + at, words, bytes);
	fx->used = at + bytes;
	return fx->code.va + at;
}

/* Write the PDS program of a launch: parameters, the instance's number, the task. */
static u64 place_pds(struct fixture *fx, const struct launch *launch, u32 *insns)
{
	u32 words[(LAUNCH_PARAMS + 3) * 4] = { 0 };
	u64 code = launch->code;
	u32 n = 0, i;

	if (!code)
		code = fx_place(fx, launch->shader->words, launch->shader->insns * 4);

	for (i = 0; i < LAUNCH_PARAMS; i++, n++)
		pumice_pds_pack(words + n * 4, &(struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH, .reg = (u16)i,
			.imm = launch->params[i],
		});
	pumice_pds_pack(words + n++ * 4, &(struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V, .reg = 0,
		.source = PUMICE_PDS_SOURCE_GLOBAL_X,
	});
	pumice_pds_pack(words + n++ * 4, &(struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_TASK, .addr = code, .insns = launch->shader->insns,
	});
	pumice_pds_pack(words + n++ * 4, &(struct pumice_pds_insn){
		.opcode = PUMICE_PDS_OP_END,
	});
	*insns = n;
	return fx_place(fx, words, n * 4);
}

u32 fx_launch_words(struct fixture *fx, const struct launch *launch, u32 *words)
{
	u32 pds_insns;
	u64 pds = place_pds(fx, launch, &pds_insns);
	const struct pumice_cdm_state state = {
		.pds_addr = pds, .pds_insns = (u16)pds_insns,
		.shared = (u16)(launch->shared ? launch->shared : LAUNCH_PARAMS),
		.attrs = 1, .temps = SHADER_TEMPS, .local_bytes = launch->local_bytes,
		.size_x = (u16)(launch->size ? launch->size : USUAL_SIZE), .size_y = 1, .size_z = 1,
	};
	const struct pumice_cdm_launch grid = {
		.groups_x = launch->groups ? launch->groups : 1, .groups_y = 1, .groups_z = 1,
	};

	pumice_cdm_state_pack(words, &state);
	pumice_cdm_launch_pack(words + PUMICE_CDM_STATE_WORDS, &grid);
	return PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS;
}

u64 fx_stream(struct fixture *fx, const struct launch *launch)
{
	u32 words[16];
	u32 count = fx_launch_words(fx, launch, words);

	pumice_cdm_halt_pack(words + count, &(struct pumice_cdm_halt){ 0 });
	return fx_place(fx, words, count + PUMICE_CDM_HALT_WORDS);
}

/* Write a sub-list of one launch and a fence. */
static u64 place_sub_list(struct fixture *fx, const struct launch *launch)
{
	u32 words[16];
	u32 count = fx_launch_words(fx, launch, words);

	pumice_cdm_fence_pack(words + count, &(struct pumice_cdm_fence){ 0 });
	count += PUMICE_CDM_FENCE_WORDS;
	pumice_cdm_return_pack(words + count, &(struct pumice_cdm_return){ 0 });
	return fx_place(fx, words, count + PUMICE_CDM_RETURN_WORDS);
}

u64 fx_repeat_stream(struct fixture *fx, const struct launch *launch, u32 count)
{
	const u64 list = place_sub_list(fx, launch);
	u32 *words = calloc(count + 1, PUMICE_CDM_CALL_WORDS * sizeof(u32));
	u32 at = 0, i;
	u64 stream;

	CHECK(words);
	for (i = 0; i < count; i++, at += PUMICE_CDM_CALL_WORDS)
		pumice_cdm_call_pack(words + at, &(struct pumice_cdm_call){ .addr = list });
	pumice_cdm_halt_pack(words + at, &(struct pumice_cdm_halt){ 0 });
	stream = fx_place(fx, words, at + PUMICE_CDM_HALT_WORDS);
	free(words);
	return stream;
}

u64 fx_store_stream(struct fixture *fx, u64 va, u32 value)
{
	const struct shader shader = shader_store();
	const struct launch launch = {
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), value },
	};

	return fx_stream(fx, &launch);
}

u64 fx_copy_stream(struct fixture *fx, u64 to, u64 from, u32 add)
{
	const struct shader shader = shader_copy();
	const struct launch launch = {
		.shader = &shader,
		.params = { (u32)to, (u32)(to >> 32), (u32)from, (u32)(from >> 32), add },
	};

	return fx_stream(fx, &launch);
}

u64 fx_loop_stream(struct fixture *fx)
{
	const struct shader shader = shader_loop();
	u64 va = fx_data(fx, FX_RUNS_WORD);

	return fx_stream(fx, &(struct launch){
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), RUNS },
	});
}

u64 fx_empty_stream(struct fixture *fx)
{
	u32 word;

	pumice_cdm_halt_pack(&word, &(struct pumice_cdm_halt){ 0 });
	return fx_place(fx, &word, PUMICE_CDM_HALT_WORDS);
}

void fx_submit(struct fixture *fx, u64 stream)
{
	const struct drm_pumice_sync syncs[] = { then_signal(fx->sync, 0) };
	const struct drm_pumice_job job = {
		.context = fx->context, .stream = stream, .syncs = ARRAY_OF(syncs, 1),
	};

	CHECK_OK(gpu_submit(fx->fd, &job, 1, NULL));
}

int fx_try_points(struct fixture *fx, u64 stream, u32 timeline, u64 wait, u64 signal)
{
	struct drm_pumice_sync syncs[2];
	struct drm_pumice_job job = { .context = fx->context, .stream = stream };
	u32 count = 0;

	if (wait)
		syncs[count++] = wait_for(timeline, wait);
	if (signal)
		syncs[count++] = then_signal(timeline, signal);
	job.syncs = (struct drm_pumice_array)ARRAY_OF(syncs, count);
	return gpu_submit(fx->fd, &job, 1, NULL);
}

int fx_wait(struct fixture *fx)
{
	need_wait(fx->fd, fx->sync, 0);
	return sync_status(fx->fd, fx->sync, 0);
}

/* The same program each time, so that any number of them fit into the memory. */
int fx_wait_interrupting(struct fixture *fx, struct fixture *other)
{
	const u64 add = fx_copy_stream(other, other->data.va, other->data.va, 1);
	u32 jobs = 0, i;

	for (i = 0; i < USUAL_SIZE; i++)
		other->data.cpu[i] = i;
	do {
		CHECK_EQUAL(fx_run(other, add), 1);
		fx_check_words(other->data.cpu, ++jobs);
	} while (sync_is_pending(fx->fd, fx->sync, 0));
	return fx_wait(fx);
}

int fx_run(struct fixture *fx, u64 stream)
{
	fx_submit(fx, stream);
	return fx_wait(fx);
}

void fx_check_words(const u32 *cpu, u32 value)
{
	u32 i;

	for (i = 0; i < USUAL_SIZE; i++) {
		if (cpu[i] != value + i)
			test_fail(__FILE__, __LINE__, "word %u is 0x%x, should be 0x%x", i, cpu[i],
				  value + i);
	}
}

void fx_check_works(struct fixture *fx)
{
	u32 value = 0x5a5a0000u + (u32)fx->used;

	CHECK_EQUAL(fx_run(fx, fx_store_stream(fx, fx->data.va, value)), 1);
	fx_check_words(fx->data.cpu, value);
}

void fx_hang(struct fixture *fx)
{
	fx_submit(fx, fx_loop_stream(fx));
}

static void wait_until_runs(struct fixture *fx)
{
	volatile u32 *runs = &fx->data.cpu[FX_RUNS_WORD];
	u64 deadline = now_ns() + WAIT_SECONDS * 1000000000ull;

	while (*runs != RUNS && now_ns() < deadline)
		sched_yield();
	CHECK_EQUAL(*runs, RUNS);
}

void fx_block(struct fixture *fx)
{
	fx->data.cpu[FX_RUNS_WORD] = 0;
	fx_hang(fx);
	wait_until_runs(fx);
}

void fx_run_on(struct fixture *fx)
{
	const struct shader shader = shader_store_one();
	u64 va = fx_data(fx, FX_RUNS_WORD);

	fx->data.cpu[FX_RUNS_WORD] = 0;
	fx_submit(fx, fx_stream(fx, &(struct launch){
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), RUNS },
		.groups = UINT32_MAX, .size = 1,
	}));
	wait_until_runs(fx);
}

/* On a separate file, which frees everything. */
void fx_check_held(int fd, u32 sync, u64 point)
{
	struct fixture witness = fx_open();
	u32 i;

	for (i = 0; i < WITNESSES; i++)
		fx_check_works(&witness);
	fx_close(&witness);
	CHECK(sync_is_pending(fd, sync, point));
}
