// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Faults of the MMU: each access that must fault does, and is reported as the CPU
 * predicts it: reason, unit, kind of access, address, instruction.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "igt_pumice.h"
#include "pages.h"
#include "pumice_formats.h"
#include "pumice_names.h"
#include "fixture.h"

IGT_TEST_DESCRIPTION("Accesses that the MMU must refuse: reports and effects.");

#define VA FX_FREE
#define WORDS 32u	/* words that a store or copy accesses */

/* Instruction that accesses memory in shader_store() and shader_copy(). */
#define STORE_PC 2
#define LOAD_PC 1

/** struct prediction - expected report of a fault by the context */
struct prediction {
	u32 fault;	/* enum pumice_fault; PT_INVALID: of any level */
	u32 unit;
	u32 access;
	u64 va;
	u32 pc;		/* for accesses of the USC */
};

static bool same_fault(u32 got, u32 want)
{
	return want == PUMICE_FAULT_MMU_PT_INVALID ? fault_is_unmapped(got) : got == want;
}

static void check_report(const struct drm_pumice_context_get_state *state,
			 const struct prediction *want)
{
	igt_assert_f(same_fault(state->fault, want->fault), "fault %s, should be %s\n",
		     pumice_fault_str(state->fault), pumice_fault_str(want->fault));
	igt_assert_f(state->unit == want->unit, "unit %s, should be %s\n",
		     pumice_unit_str(state->unit), pumice_unit_str(want->unit));
	igt_assert_eq_u32(state->access, want->access);
	igt_assert_eq_u64(state->fault_va, want->va);
	if (want->unit == PUMICE_UNIT_USC_DATA)
		igt_assert_eq_u32(state->pc, want->pc);
}

/* A job must fault as predicted, and the next job of its context must work. */
static void check_faults(struct fixture *fx, u64 stream, const struct prediction *want)
{
	struct drm_pumice_context_get_state state;

	igt_assert_eq(fx_run(fx, stream), -EIO);
	state = need_state(fx->fd, fx->context);
	check_report(&state, want);
	fx_check_works(fx);
}

static struct prediction unmapped_store(u64 va)
{
	return (struct prediction){
		.fault = PUMICE_FAULT_MMU_PT_INVALID, .unit = PUMICE_UNIT_USC_DATA,
		.access = PUMICE_ACCESS_WRITE, .va = va, .pc = STORE_PC,
	};
}

static void check_store_faults(struct fixture *fx, u64 va, u64 fault_va)
{
	const struct prediction want = unmapped_store(fault_va);

	check_faults(fx, fx_store_stream(fx, va, 7), &want);
}

static void check_store(struct fixture *fx, u64 va, const u32 *cpu)
{
	u32 value = 0x1000 + (u32)fx->used;

	igt_assert_eq(fx_run(fx, fx_store_stream(fx, va, value)), 1);
	fx_check_words(cpu, value);
}

/* --------------------------------------------------------- one of each kind */

static void read_unmapped(void)
{
	struct fixture fx = fx_open();
	const struct prediction want = {
		.fault = PUMICE_FAULT_MMU_PT_INVALID, .unit = PUMICE_UNIT_USC_DATA,
		.access = PUMICE_ACCESS_READ, .va = VA + 64, .pc = LOAD_PC,
	};

	check_faults(&fx, fx_copy_stream(&fx, fx.data.va, VA + 64, 0), &want);
}

static void write_unmapped(void)
{
	struct fixture fx = fx_open();

	check_store_faults(&fx, VA + 64, VA + 64);
}

static void exec_unmapped(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_store();
	const struct launch launch = { .shader = &shader, .code = VA + 32 };
	const struct prediction want = {
		.fault = PUMICE_FAULT_MMU_PT_INVALID, .unit = PUMICE_UNIT_USC_CODE,
		.access = PUMICE_ACCESS_EXEC, .va = VA + 32,
	};

	check_faults(&fx, fx_stream(&fx, &launch), &want);
}

static void stream_unmapped(void)
{
	struct fixture fx = fx_open();
	const struct prediction want = {
		.fault = PUMICE_FAULT_MMU_PT_INVALID, .unit = PUMICE_UNIT_CDM,
		.access = PUMICE_ACCESS_READ, .va = VA + 16,
	};

	check_faults(&fx, VA + 16, &want);
}

/* A stream whose last command is at the end of a page and is not a HALT. */
static void stream_past_its_pages(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	const struct shader shader = shader_store();
	const struct launch launch = {
		.shader = &shader,
		.params = { (u32)fx.data.va, (u32)(fx.data.va >> 32), 500 },
	};
	const struct prediction want = {
		.fault = PUMICE_FAULT_MMU_PT_INVALID, .unit = PUMICE_UNIT_CDM,
		.access = PUMICE_ACCESS_READ, .va = VA + PAGE,
	};
	u32 words[16], count = fx_launch_words(&fx, &launch, words);

	memcpy(mem.cpu + PAGE / 4 - count, words, count * sizeof(u32));
	check_faults(&fx, VA + PAGE - count * sizeof(u32), &want);
}

static void pds_program_unmapped(void)
{
	struct fixture fx = fx_open();
	const struct pumice_cdm_state state = {
		.pds_addr = VA + 32, .pds_insns = 2, .temps = 4, .size_x = 32, .size_y = 1,
		.size_z = 1,
	};
	const struct pumice_cdm_launch grid = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };
	const struct prediction want = {
		.fault = PUMICE_FAULT_MMU_PT_INVALID, .unit = PUMICE_UNIT_PDS,
		.access = PUMICE_ACCESS_EXEC, .va = VA + 32,
	};
	u32 words[16], count = PUMICE_CDM_STATE_WORDS;

	pumice_cdm_state_pack(words, &state);
	pumice_cdm_launch_pack(words + count, &grid);
	count += PUMICE_CDM_LAUNCH_WORDS;
	pumice_cdm_halt_pack(words + count, &(struct pumice_cdm_halt){ 0 });
	check_faults(&fx, fx_place(&fx, words, count + PUMICE_CDM_HALT_WORDS), &want);
}

static void write_read_only(void)
{
	struct fixture fx = fx_open();
	u32 handle = need_bo(fx.fd, PAGE), *cpu = need_cpu(fx.fd, handle, PAGE);
	struct prediction want = unmapped_store(VA + 128);

	want.fault = PUMICE_FAULT_MMU_READ_ONLY;
	cpu[32] = 4711;
	need_map(fx.fd, fx.vm, handle, 0, VA, PAGE, DRM_PUMICE_BIND_READONLY);
	check_faults(&fx, fx_store_stream(&fx, VA + 128, 7), &want);
	igt_assert_eq_u32(cpu[32], 4711);
}

static void exec_no_exec(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_store();
	const struct launch launch = { .shader = &shader, .code = VA };
	const struct prediction want = {
		.fault = PUMICE_FAULT_MMU_NO_EXEC, .unit = PUMICE_UNIT_USC_CODE,
		.access = PUMICE_ACCESS_EXEC, .va = VA,
	};
	u32 handle = need_bo(fx.fd, PAGE);

	memcpy(need_cpu(fx.fd, handle, PAGE), shader.words, sizeof(shader.words));
	need_map(fx.fd, fx.vm, handle, 0, VA, PAGE, DRM_PUMICE_BIND_NOEXEC);
	check_faults(&fx, fx_stream(&fx, &launch), &want);
}

static void address_beyond_space(void)
{
	static const u64 beyond[] = { 1ull << PUMICE_MMU_VA_BITS, 1ull << 63, UINT64_MAX - 3 };
	struct fixture fx = fx_open();
	u32 i;

	for (i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		igt_assert_eq(fx_run(&fx, fx_store_stream(&fx, beyond[i], 7)), -EIO);
		igt_assert_eq_u32(need_state(fx.fd, fx.context).fault, PUMICE_FAULT_MMU_ADDRESS);
		fx_check_works(&fx);
	}
}

static void address_zero(void)
{
	struct fixture fx = fx_open();

	check_store_faults(&fx, 0, 0);
}

/* ------------------------------------------------------------ which address */

static void range_partly_mapped(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);

	/* Half of the words are in the page, half after it. */
	check_store_faults(&fx, VA + PAGE - 64, VA + PAGE);
	check_store(&fx, VA + PAGE - 128, mem.cpu + (PAGE - 128) / 4);
}

static void hole_between_mappings(void)
{
	struct fixture fx = fx_open();
	struct mem below = need_mem(fx.fd, fx.vm, VA, PAGE);
	struct mem above = need_mem(fx.fd, fx.vm, VA + 2 * PAGE, PAGE);

	above.cpu[0] = 4711;
	check_store_faults(&fx, VA + PAGE, VA + PAGE);
	check_store_faults(&fx, VA + 2 * PAGE - 128, VA + 2 * PAGE - 128);
	igt_assert_eq_u32(above.cpu[0], 4711);
	check_store(&fx, VA + PAGE - 128, below.cpu + (PAGE - 128) / 4);
	check_store(&fx, VA + 2 * PAGE, above.cpu);
}

/* Stores to four pages, the one at @bad unmapped: that instruction is reported. */
static void check_pc(struct fixture *fx, u32 bad)
{
	struct shader shader = { .insns = 0 };
	struct launch launch = { .shader = &shader };
	struct prediction want = unmapped_store(VA + bad * PAGE);
	u32 i;

	emit(&shader, (struct pumice_usc_insn){
		.opcode = PUMICE_USC_OP_SHL, .dst = reg_r(0), .src0 = reg_v(0),
		.src1 = immediate(), .imm = 2,
	});
	for (i = 0; i < 4; i++) {
		launch.params[2 * i] = (u32)VA + i * PAGE;
		emit(&shader, (struct pumice_usc_insn){
			.opcode = PUMICE_USC_OP_GLOBAL_STORE32, .mask = mask_all(),
			.src2 = reg_sh(2 * i), .src0 = reg_r(0), .src1 = reg_r(1),
		});
	}
	emit_end(&shader);
	want.pc = bad + 1;
	need_unmap(fx->fd, fx->vm, VA + bad * PAGE, PAGE);
	check_faults(fx, fx_stream(fx, &launch), &want);
}

static void faulting_instruction_reported(void)
{
	u32 bad;

	for (bad = 0; bad < 4; bad++) {
		struct fixture fx = fx_open();

		need_mem(fx.fd, fx.vm, VA, 4 * PAGE);
		check_pc(&fx, bad);
	}
}

static void restore_memory(int signal)
{
	(void)signal;
	use_large_memory(false);
}

/* A hole of one page of @bits bits between two that are mapped, in the heap of such pages. */
static void hole_of_page_size(u32 bits)
{
	struct fixture fx = fx_open();
	u64 size = 1ull << bits, va = need_heap(fx.fd, bits) + GIB, hole = va + size;
	u32 before = gpu_blocks(bits);
	struct mem mem = need_mem(fx.fd, fx.vm, va, 3 * size);
	const u32 *above = mem.cpu + 2 * size / 4;

	check_store(&fx, hole, mem.cpu + size / 4);
	need_unmap(fx.fd, fx.vm, hole, size);
	igt_assert_lt_u32(before, gpu_blocks(bits));
	mem.cpu[size / 4] = 4711;
	check_store_faults(&fx, hole, hole);
	check_store_faults(&fx, hole + size - 128, hole + size - 128);
	igt_assert_eq_u32(mem.cpu[size / 4], 4711);
	check_store(&fx, hole - 128, mem.cpu + (size - 128) / 4);
	check_store(&fx, hole + size, above);
}

static void hole_4k(void)
{
	hole_of_page_size(12);
}

static void hole_16k(void)
{
	hole_of_page_size(14);
}

static void hole_64k(void)
{
	hole_of_page_size(16);
}

static void hole_256k(void)
{
	hole_of_page_size(18);
}

static void hole_1m(void)
{
	hole_of_page_size(20);
}

static void hole_2m(void)
{
	hole_of_page_size(21);
}

/* ----------------------------------------------- translations that are cached */

static void unmap_after_job(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	u64 stream = fx_store_stream(&fx, VA, 7);
	const struct prediction want = unmapped_store(VA);
	u32 round;

	/* The same stream: only the translation has changed. */
	for (round = 0; round < 10; round++) {
		igt_assert_eq(fx_run(&fx, stream), 1);
		fx_check_words(mem.cpu, 7);
		need_unmap(fx.fd, fx.vm, VA, PAGE);
		memset(mem.cpu, 0, PAGE);
		check_faults(&fx, stream, &want);
		igt_assert_eq_u32(mem.cpu[1], 0);
		need_map(fx.fd, fx.vm, mem.handle, 0, VA, PAGE, 0);
	}
}

static void map_after_fault(void)
{
	struct fixture fx = fx_open();
	u64 stream = fx_store_stream(&fx, VA, 9);
	const struct prediction want = unmapped_store(VA);
	struct mem mem;

	check_faults(&fx, stream, &want);
	mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	igt_assert_eq(fx_run(&fx, stream), 1);
	fx_check_words(mem.cpu, 9);
}

static void remap_read_only(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	u64 stream = fx_store_stream(&fx, VA, 7);
	struct prediction want = unmapped_store(VA);

	want.fault = PUMICE_FAULT_MMU_READ_ONLY;
	igt_assert_eq(fx_run(&fx, stream), 1);
	need_map(fx.fd, fx.vm, mem.handle, 0, VA, PAGE, DRM_PUMICE_BIND_READONLY);
	mem.cpu[0] = 4711;
	check_faults(&fx, stream, &want);
	igt_assert_eq_u32(mem.cpu[0], 4711);
	need_map(fx.fd, fx.vm, mem.handle, 0, VA, PAGE, 0);
	igt_assert_eq(fx_run(&fx, stream), 1);
	fx_check_words(mem.cpu, 7);
}

/* The decoded program is cached; the permission to execute it is not. */
static void remap_no_exec(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_end();
	const struct launch launch = { .shader = &shader, .code = VA };
	const struct prediction want = {
		.fault = PUMICE_FAULT_MMU_NO_EXEC, .unit = PUMICE_UNIT_USC_CODE,
		.access = PUMICE_ACCESS_EXEC, .va = VA,
	};
	struct mem mem = need_mem(fx.fd, fx.vm, VA, PAGE);
	u64 stream = fx_stream(&fx, &launch);

	memcpy(mem.cpu, shader.words, sizeof(shader.words));
	igt_assert_eq(fx_run(&fx, stream), 1);
	need_map(fx.fd, fx.vm, mem.handle, 0, VA, PAGE, DRM_PUMICE_BIND_NOEXEC);
	check_faults(&fx, stream, &want);
	need_map(fx.fd, fx.vm, mem.handle, 0, VA, PAGE, 0);
	igt_assert_eq(fx_run(&fx, stream), 1);
}

/* ---------------------------------------------------------- isolation of others */

static void other_vm_isolated(void)
{
	int fd = need_gpu();
	struct fixture owner = fx_on(fd), stranger = fx_on(fd);
	struct mem mem = need_mem(fd, owner.vm, VA, PAGE);

	check_store(&owner, VA, mem.cpu);
	mem.cpu[0] = 4711;
	check_store_faults(&stranger, VA, VA);
	igt_assert_eq_u32(mem.cpu[0], 4711);
	igt_assert_eq_u32(need_state(fd, owner.context).state, 0);
	check_store(&owner, VA, mem.cpu);
}

static void other_contexts_unaffected(void)
{
	int fd = need_gpu();
	struct fixture bad = fx_on(fd), good[4];
	u64 faults = fx_store_stream(&bad, VA, 7);
	u32 i, round;

	for (i = 0; i < 4; i++)
		good[i] = fx_on(fd);
	for (round = 0; round < 8; round++) {
		fx_submit(&bad, faults);
		for (i = 0; i < 4; i++)
			fx_submit(&good[i], fx_store_stream(&good[i], good[i].data.va,
							    100 * i + round));
		for (i = 0; i < 4; i++) {
			igt_assert_eq(fx_wait(&good[i]), 1);
			fx_check_words(good[i].data.cpu, 100 * i + round);
		}
		igt_assert_eq(fx_wait(&bad), -EIO);
	}
	for (i = 0; i < 4; i++)
		igt_assert_eq_u32(need_state(fd, good[i].context).state, 0);
	igt_assert_eq_u64(need_state(fd, bad.context).jobs_faulted, 8);
}

static void second_context_of_vm_unaffected(void)
{
	struct fixture fx = fx_open(), second = fx;

	second.context = need_context(fx.fd, fx.vm);
	check_store_faults(&fx, VA, VA);
	fx_check_works(&second);
	igt_assert_eq_u32(need_state(fx.fd, second.context).state, 0);
	igt_assert_eq_u32(need_state(fx.fd, fx.context).state, DRM_PUMICE_CONTEXT_FAULTED);
}

static void many_faults_one_report(void)
{
	struct fixture fx = fx_open();
	const struct shader shader = shader_store();
	const struct launch launch = {
		.shader = &shader, .params = { (u32)VA, (u32)(VA >> 32) }, .groups = 300,
		.size = 256,
	};

	igt_assert_eq(fx_run(&fx, fx_stream(&fx, &launch)), -EIO);
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_done, 1);
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_faulted, 1);
	fx_check_works(&fx);
}

static void good_and_bad_alternate(void)
{
	struct fixture fx = fx_open();
	u32 syncs[20], i;

	for (i = 0; i < 20; i++) {
		fx.sync = syncs[i] = need_sync(fx.fd);
		fx_submit(&fx, fx_store_stream(&fx, i % 3 ? fx_data(&fx, i * WORDS) : VA, i));
	}
	for (i = 0; i < 20; i++) {
		need_wait(fx.fd, syncs[i], 0);
		igt_assert_eq(sync_status(fx.fd, syncs[i], 0), i % 3 ? 1 : -EIO);
		if (i % 3)
			fx_check_words(fx.data.cpu + i * WORDS, i);
	}
	igt_assert_eq_u64(need_state(fx.fd, fx.context).jobs_faulted, 7);
}

static void result_of_each_job(void)
{
	struct fixture fx = fx_open();
	struct drm_pumice_job_get_result result;
	u32 i;

	for (i = 0; i < 8; i++)
		fx_run(&fx, fx_store_stream(&fx, i % 2 ? VA + i * PAGE : fx.data.va, i));
	for (i = 0; i < 8; i++) {
		CHECK_OK(gpu_job_result(fx.fd, fx.context, i + 1, &result));
		igt_assert_eq(result.error, i % 2 ? -EIO : 0);
		igt_assert_eq_u64(result.fault_va, i % 2 ? VA + i * PAGE : 0);
		igt_assert_eq(fault_is_unmapped(result.fault), i % 2);
		igt_assert_eq_u32(result.unit, i % 2 ? PUMICE_UNIT_USC_DATA : PUMICE_UNIT_NONE);
		igt_assert_eq_u32(result.pc, i % 2 ? STORE_PC : 0);
	}
}

/* ------------------------------------------------------- against a model */

#define MODEL_PAGES 64u
#define MODEL_STEPS 200u

enum model_page { MODEL_HOLE, MODEL_READ_ONLY, MODEL_WRITABLE };

static u32 next_random(u32 *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static void change_page(struct fixture *fx, struct mem *mem, u32 page, enum model_page to)
{
	u64 at = (u64)page * PAGE;

	if (to == MODEL_HOLE)
		need_unmap(fx->fd, fx->vm, VA + at, PAGE);
	else
		need_map(fx->fd, fx->vm, mem->handle, at, VA + at, PAGE,
			 to == MODEL_READ_ONLY ? DRM_PUMICE_BIND_READONLY : 0);
}

static void agree_with_model(void)
{
	struct fixture fx = fx_open();
	struct mem mem = need_mem(fx.fd, fx.vm, VA, MODEL_PAGES * PAGE);
	enum model_page pages[MODEL_PAGES];
	u32 seed = 1, step, i;

	for (i = 0; i < MODEL_PAGES; i++)
		pages[i] = MODEL_WRITABLE;
	for (step = 0; step < MODEL_STEPS; step++) {
		u32 page = next_random(&seed) % MODEL_PAGES;
		u32 word = next_random(&seed) % (PAGE / 4 - WORDS) & ~3u;
		u64 va = VA + (u64)page * PAGE + word * 4;
		struct prediction want = unmapped_store(va);

		i = next_random(&seed) % MODEL_PAGES;
		pages[i] = (enum model_page)(next_random(&seed) % 3);
		change_page(&fx, &mem, i, pages[i]);
		if (pages[page] == MODEL_READ_ONLY)
			want.fault = PUMICE_FAULT_MMU_READ_ONLY;
		if (pages[page] == MODEL_WRITABLE)
			check_store(&fx, va, mem.cpu + page * PAGE / 4 + word);
		else
			check_faults(&fx, fx_store_stream(&fx, va, step), &want);
	}
}

int igt_main()
{
	igt_fixture() {
		igt_pumice_require(IGT_PUMICE_PATIENT);
		igt_install_exit_handler(restore_memory);
		CHECK_OK(use_large_memory(true));
	}

	igt_pumice_subtest("read-unmapped", "a load from an unmapped address faults as predicted",
			   read_unmapped);
	igt_pumice_subtest("write-unmapped", "a store to an unmapped address faults as predicted",
			   write_unmapped);
	igt_pumice_subtest("exec-unmapped", "a program at an unmapped address faults as predicted",
			   exec_unmapped);
	igt_pumice_subtest("stream-unmapped",
			   "a control stream at an unmapped address faults as predicted",
			   stream_unmapped);
	igt_pumice_subtest("stream-past-its-pages",
			   "a stream that runs past its memory faults at the end of its pages",
			   stream_past_its_pages);
	igt_pumice_subtest("pds-program-unmapped",
			   "a PDS program at an unmapped address faults as predicted",
			   pds_program_unmapped);
	igt_pumice_subtest("write-read-only",
			   "a store to read-only memory faults and changes nothing",
			   write_read_only);
	igt_pumice_subtest("exec-no-exec", "a program in no-execute memory does not run",
			   exec_no_exec);
	igt_pumice_subtest("address-beyond-space", "addresses beyond 1 TiB do not wrap",
			   address_beyond_space);
	igt_pumice_subtest("address-zero", "nothing is mapped at address 0", address_zero);
	igt_pumice_subtest("range-partly-mapped",
			   "the reported address is the first that is not mapped",
			   range_partly_mapped);
	igt_pumice_subtest("hole-between-mappings", "a hole faults, its neighbours do not",
			   hole_between_mappings);
	igt_pumice_subtest("faulting-instruction-reported",
			   "of several stores the one that faults is reported",
			   faulting_instruction_reported);
	igt_pumice_subtest("hole-4k", "a hole of one 4 KiB page is exact", hole_4k);
	igt_pumice_subtest("hole-16k", "a hole of one 16 KiB page is exact", hole_16k);
	igt_pumice_subtest("hole-64k", "a hole of one 64 KiB page is exact", hole_64k);
	igt_pumice_subtest("hole-256k", "a hole of one 256 KiB page is exact", hole_256k);
	igt_pumice_subtest("hole-1m", "a hole of one 1 MiB page is exact", hole_1m);
	igt_pumice_subtest("hole-2m", "a hole of one 2 MiB page is exact", hole_2m);
	igt_pumice_subtest("unmap-after-job", "no translation outlives its mapping",
			   unmap_after_job);
	igt_pumice_subtest("map-after-fault", "a fault is not cached", map_after_fault);
	igt_pumice_subtest("remap-read-only", "permission to write does not outlive its mapping",
			   remap_read_only);
	igt_pumice_subtest("remap-no-exec", "permission to execute does not outlive its mapping",
			   remap_no_exec);
	igt_pumice_subtest("other-vm-isolated", "memory of one VM is a hole in another",
			   other_vm_isolated);
	igt_pumice_subtest("other-contexts-unaffected",
			   "jobs parallel to a faulting one complete with correct results",
			   other_contexts_unaffected);
	igt_pumice_subtest("second-context-of-vm-unaffected",
			   "a fault affects its context, not other contexts of the VM",
			   second_context_of_vm_unaffected);
	igt_pumice_subtest("many-faults-one-report",
			   "a job whose instances all fault reports one fault",
			   many_faults_one_report);
	igt_pumice_subtest("good-and-bad-alternate", "each fence carries the result of its own job",
			   good_and_bad_alternate);
	igt_pumice_subtest("result-of-each-job", "the fault of each job can be queried later",
			   result_of_each_job);
	igt_pumice_subtest("agree-with-model",
			   "random accesses to pages that change agree with a model",
			   agree_with_model);
}
