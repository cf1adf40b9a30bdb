// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Fixture of tests through ioctls. See rig.h. */
#include "rig.h"

#include <errno.h>
#include <sched.h>
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

int rig_try(struct rig *rig, int fd)
{
	int err;

	*rig = (struct rig){ .fd = fd };
	err = gpu_vm_create(fd, &rig->vm);
	if (!err)
		err = gpu_context_create(fd, rig->vm, DRM_PUMICE_PRIORITY_NORMAL, &rig->context);
	if (!err)
		err = drmSyncobjCreate(fd, 0, &rig->sync) ? -errno : 0;
	if (!err)
		err = gpu_mem_create(fd, rig->vm, RIG_CODE, RIG_CODE_BYTES, &rig->code);
	if (!err)
		err = gpu_mem_create(fd, rig->vm, RIG_DATA, RIG_DATA_BYTES, &rig->data);
	return err;
}

struct rig rig_on(int fd)
{
	struct rig rig;

	CHECK_OK(rig_try(&rig, fd));
	return rig;
}

struct rig rig_with(int fd, u32 priority, unsigned int timeout_ms)
{
	const long usual = module_parameter("job_timeout_ms");
	struct rig rig = rig_on(fd);

	CHECK(usual >= 0);
	CHECK_OK(set_module_parameter("job_timeout_ms", timeout_ms));
	CHECK_OK(gpu_context_destroy(fd, rig.context));
	CHECK_OK(gpu_context_create(fd, rig.vm, priority, &rig.context));
	CHECK_OK(set_module_parameter("job_timeout_ms", usual));
	return rig;
}

void rig_close(struct rig *rig)
{
	if (rig->code.cpu)
		munmap(rig->code.cpu, rig->code.size);
	if (rig->data.cpu)
		munmap(rig->data.cpu, rig->data.size);
	close(rig->fd);
}

struct rig rig_open(void)
{
	return rig_on(need_gpu());
}

u64 rig_data(const struct rig *rig, u32 index)
{
	return rig->data.va + index * sizeof(u32);
}

u64 rig_place(struct rig *rig, const u32 *words, u32 count)
{
	u64 at = (rig->used + ALIGN - 1) & ~(u64)(ALIGN - 1);
	u64 bytes = count * sizeof(u32);

	CHECK(at + bytes <= rig->code.size);
	memcpy((u8 *)rig->code.cpu + at, words, bytes);
	rig->used = at + bytes;
	return rig->code.va + at;
}

/* Write the PDS program of a launch: parameters, the instance's number, the task. */
static u64 place_pds(struct rig *rig, const struct launch *launch, u32 *insns)
{
	u32 words[(LAUNCH_PARAMS + 3) * 4] = { 0 };
	u64 code = launch->code;
	u32 n = 0, i;

	if (!code)
		code = rig_place(rig, launch->shader->words, launch->shader->insns * 4);

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
	return rig_place(rig, words, n * 4);
}

u32 rig_launch_words(struct rig *rig, const struct launch *launch, u32 *words)
{
	u32 pds_insns;
	u64 pds = place_pds(rig, launch, &pds_insns);
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

u64 rig_stream(struct rig *rig, const struct launch *launch)
{
	u32 words[16];
	u32 count = rig_launch_words(rig, launch, words);

	pumice_cdm_halt_pack(words + count, &(struct pumice_cdm_halt){ 0 });
	return rig_place(rig, words, count + PUMICE_CDM_HALT_WORDS);
}

u64 rig_store_stream(struct rig *rig, u64 va, u32 value)
{
	const struct shader shader = shader_store();
	const struct launch launch = {
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), value },
	};

	return rig_stream(rig, &launch);
}

u64 rig_copy_stream(struct rig *rig, u64 to, u64 from, u32 add)
{
	const struct shader shader = shader_copy();
	const struct launch launch = {
		.shader = &shader,
		.params = { (u32)to, (u32)(to >> 32), (u32)from, (u32)(from >> 32), add },
	};

	return rig_stream(rig, &launch);
}

u64 rig_loop_stream(struct rig *rig)
{
	const struct shader shader = shader_loop();
	u64 va = rig_data(rig, RIG_RUNS_WORD);

	return rig_stream(rig, &(struct launch){
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), RUNS },
	});
}

u64 rig_empty_stream(struct rig *rig)
{
	u32 word;

	pumice_cdm_halt_pack(&word, &(struct pumice_cdm_halt){ 0 });
	return rig_place(rig, &word, PUMICE_CDM_HALT_WORDS);
}

void rig_submit(struct rig *rig, u64 stream)
{
	const struct drm_pumice_sync syncs[] = { then_signal(rig->sync, 0) };
	const struct drm_pumice_job job = {
		.context = rig->context, .stream = stream, .syncs = ARRAY_OF(syncs, 1),
	};

	CHECK_OK(gpu_submit(rig->fd, &job, 1, NULL));
}

int rig_try_points(struct rig *rig, u64 stream, u32 timeline, u64 wait, u64 signal)
{
	struct drm_pumice_sync syncs[2];
	struct drm_pumice_job job = { .context = rig->context, .stream = stream };
	u32 count = 0;

	if (wait)
		syncs[count++] = wait_for(timeline, wait);
	if (signal)
		syncs[count++] = then_signal(timeline, signal);
	job.syncs = (struct drm_pumice_array)ARRAY_OF(syncs, count);
	return gpu_submit(rig->fd, &job, 1, NULL);
}

int rig_wait(struct rig *rig)
{
	need_wait(rig->fd, rig->sync, 0);
	return sync_status(rig->fd, rig->sync, 0);
}

int rig_run(struct rig *rig, u64 stream)
{
	rig_submit(rig, stream);
	return rig_wait(rig);
}

void rig_check_words(const u32 *cpu, u32 value)
{
	u32 i;

	for (i = 0; i < USUAL_SIZE; i++) {
		if (cpu[i] != value + i)
			test_fail(__FILE__, __LINE__, "word %u is 0x%x, should be 0x%x", i, cpu[i],
				  value + i);
	}
}

void rig_check_works(struct rig *rig)
{
	u32 value = 0x5a5a0000u + (u32)rig->used;

	CHECK_EQUAL(rig_run(rig, rig_store_stream(rig, rig->data.va, value)), 1);
	rig_check_words(rig->data.cpu, value);
}

void rig_hang(struct rig *rig)
{
	rig_submit(rig, rig_loop_stream(rig));
}

static void wait_until_runs(struct rig *rig)
{
	volatile u32 *runs = &rig->data.cpu[RIG_RUNS_WORD];
	u64 deadline = now_ns() + WAIT_SECONDS * 1000000000ull;

	while (*runs != RUNS && now_ns() < deadline)
		sched_yield();
	CHECK_EQUAL(*runs, RUNS);
}

void rig_block(struct rig *rig)
{
	rig->data.cpu[RIG_RUNS_WORD] = 0;
	rig_hang(rig);
	wait_until_runs(rig);
}

void rig_run_on(struct rig *rig)
{
	const struct shader shader = shader_store_one();
	u64 va = rig_data(rig, RIG_RUNS_WORD);

	rig->data.cpu[RIG_RUNS_WORD] = 0;
	rig_submit(rig, rig_stream(rig, &(struct launch){
		.shader = &shader, .params = { (u32)va, (u32)(va >> 32), RUNS },
		.groups = UINT32_MAX, .size = 1,
	}));
	wait_until_runs(rig);
}

/* On a separate file, which frees everything. */
void rig_check_held(int fd, u32 sync, u64 point)
{
	struct rig witness = rig_open();
	u32 i;

	for (i = 0; i < WITNESSES; i++)
		rig_check_works(&witness);
	rig_close(&witness);
	CHECK(sync_is_pending(fd, sync, point));
}
