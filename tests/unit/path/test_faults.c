// SPDX-License-Identifier: MIT
/* Invalid jobs: each faults with its reason only; the context's next job runs. */
#include "path.h"

#include "store.pasm.h"

#define PAGE	4096ull

/* Run @stream, which must fault as given; the context continues. */
static void assert_faults(struct path *p, uint64_t stream, uint32_t fault, uint32_t unit,
			  struct pumice_context_state *state)
{
	struct pumice_context_state before;

	assert_int_equal(pumice_context_get_state(p->context, &before), 0);
	assert_int_equal(pumice_context_run(p->context, stream, LONG, state), -EIO);
	print_message("  %s\n", pumice_device_error(p->dev));
	assert_non_null(strstr(pumice_device_error(p->dev), pumice_fault_name(fault)));
	if (fault == PUMICE_FAULT_USC_OPCODE || fault == PUMICE_FAULT_USC_RESERVED)
		assert_non_null(strstr(pumice_device_error(p->dev), "older than the assembler"));
	assert_int_equal(state->fault, fault);
	assert_int_equal(state->unit, unit);
	assert_int_equal(state->flags, PUMICE_CONTEXT_FAULTED);
	assert_int_equal(state->jobs_faulted, before.jobs_faulted + 1);
	assert_int_equal(state->jobs_done, before.jobs_done + 1);
	path_assert_works(p, p->context);
}

/* The same for the builder's stream. */
static void assert_built_faults(struct path *p, uint32_t fault, uint32_t unit,
				struct pumice_context_state *state)
{
	uint64_t va;

	assert_int_equal(pumice_stream_end(p->stream, &va), 0);
	/* path_assert_works() builds a new stream. */
	pumice_stream_reset(p->stream);
	assert_faults(p, va, fault, unit, state);
}

static void check_streams(struct path *p)
{
	const uint32_t unknown = 0xf0000000;
	const uint32_t bare_launch[PUMICE_CDM_LAUNCH_WORDS] = {
		PUMICE_CDM_TYPE_LAUNCH << 28, 1, 1, 1,
	};
	/* One page of the second GiB: adjacent addresses lack an entry of each level. */
	const struct pumice_bind map = { .bo = p->out, .va = 1ull << 30, .size = PAGE };
	struct pumice_context_state s;

	assert_int_equal(pumice_vm_bind(p->vm, &map, 1, NULL), 0);
	assert_faults(p, map.va + PAGE, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_CDM, &s);
	assert_faults(p, map.va + (2 << 20), PUMICE_FAULT_MMU_PD_INVALID, PUMICE_UNIT_CDM, &s);
	assert_faults(p, 0x1000, PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_CDM, &s);
	assert_int_equal(s.fault_va, 0x1000);
	assert_int_equal(s.access, PUMICE_ACCESS_READ);
	assert_faults(p, 1ull << 40, PUMICE_FAULT_MMU_ADDRESS, PUMICE_UNIT_FW, &s);
	assert_int_equal(pumice_stream_emit(p->stream, &unknown, 1), 0);
	assert_built_faults(p, PUMICE_FAULT_CDM_COMMAND, PUMICE_UNIT_CDM, &s);
	assert_int_equal(pumice_stream_emit(p->stream, bare_launch, PUMICE_CDM_LAUNCH_WORDS), 0);
	assert_built_faults(p, PUMICE_FAULT_CDM_STATE, PUMICE_UNIT_CDM, &s);
}

static void bad_streams_fault_and_the_next_job_runs(void **state)
{
	(void)state;
	path_each(check_streams);
}

/* A sub-list that calls itself. */
static void check_recursion(struct path *p)
{
	struct pumice_context_state s;
	const struct pumice_cdm_call call = { .addr = pumice_stream_va(p->stream) };
	uint32_t words[PUMICE_CDM_CALL_WORDS];

	pumice_cdm_call_pack(words, &call);
	assert_int_equal(pumice_stream_emit(p->stream, words, PUMICE_CDM_CALL_WORDS), 0);
	assert_built_faults(p, PUMICE_FAULT_CDM_DEPTH, PUMICE_UNIT_CDM, &s);
}

static void recursive_sub_list_faults_and_the_next_job_runs(void **state)
{
	(void)state;
	path_each(check_recursion);
}

/* A kernel of one USC instruction, as words. */
static struct pumice_kernel *one_instruction(struct path *p, const u32 *insn)
{
	struct progfile file;
	u32 words[256];

	progfile_init(&file);
	memcpy(file.usc, insn, 16);
	file.usc_insns = 1;
	progfile_start(&file);
	return path_kernel(p, words, progfile_write(&file, words, sizeof(words)));
}

static void check_instructions(struct path *p)
{
	const struct pumice_usc_insn branch = { .opcode = PUMICE_USC_OP_JUMP, .target = 77 };
	const struct pumice_usc_insn add = {
		.opcode = PUMICE_USC_OP_ADD,
		.dst = PUMICE_USC_BANK_R, .src0 = PUMICE_USC_BANK_R, .src1 = PUMICE_USC_BANK_R,
	};
	static const u32 illegal[4] = { 0xee, 0, 0, 0 };
	/* END has no operands: a newer assembler may give it one. */
	static const u32 operand[4] = { PUMICE_USC_OP_END, 0, 0, 1 };
	const struct {
		const u32 *words;
		const struct pumice_usc_insn *insn;
		u32 fault;
	} cases[] = {
		{ illegal, NULL, PUMICE_FAULT_USC_OPCODE },
		{ operand, NULL, PUMICE_FAULT_USC_RESERVED },
		{ NULL, &branch, PUMICE_FAULT_USC_BRANCH },
		{ NULL, &add, PUMICE_FAULT_USC_END },
	};
	struct pumice_context_state s;
	struct pumice_kernel *k;
	u32 words[4];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].insn)
			pumice_usc_pack(words, cases[i].insn);
		else
			memcpy(words, cases[i].words, sizeof(words));
		k = one_instruction(p, words);
		path_dispatch(p, k, 50, NULL, 0);
		assert_built_faults(p, cases[i].fault, PUMICE_UNIT_USC_CODE, &s);
		pumice_kernel_destroy(k);
	}
}

static void illegal_instructions_and_branches_fault_and_the_next_job_runs(void **state)
{
	(void)state;
	path_each(check_instructions);
}

/* Work-groups of store.pasm, and the bytes that they write. */
#define STORE_GROUPS	20u
#define STORE_BYTES	(STORE_GROUPS * 64 * 4)

/* store.pasm to a given address. */
static void dispatch_store(struct path *p, struct pumice_kernel *k, uint64_t va)
{
	const uint32_t uniforms[3] = { VA_WORDS(va), 1 };

	path_dispatch(p, k, STORE_GROUPS, uniforms, 3);
}

static void check_memory(struct path *p)
{
	struct pumice_kernel *k = path_kernel(p, store_program, sizeof(store_program));
	struct pumice_context_state s;
	struct pumice_bo *bo;
	uint64_t va;

	assert_int_equal(pumice_bo_create(p->dev, 4 * PAGE, NULL, &bo), 0);
	assert_int_equal(pumice_vm_place(p->vm, bo, PUMICE_BIND_READONLY, &va), 0);
	dispatch_store(p, k, va);
	assert_built_faults(p, PUMICE_FAULT_MMU_READ_ONLY, PUMICE_UNIT_USC_DATA, &s);
	assert_int_equal(s.access, PUMICE_ACCESS_WRITE);
	assert_true(s.fault_va >= va && s.fault_va < va + 4 * PAGE);
	dispatch_store(p, k, p->out_va + 2);
	assert_built_faults(p, PUMICE_FAULT_USC_GLOBAL_ALIGN, PUMICE_UNIT_USC_DATA, &s);
	assert_int_equal(s.access, PUMICE_ACCESS_WRITE);
	/* Any of the work-groups may be the first. */
	assert_int_equal(s.fault_va % 4, 2);
	assert_true(s.fault_va >= p->out_va && s.fault_va < p->out_va + STORE_BYTES);
	dispatch_store(p, k, 0x5000000000);
	assert_built_faults(p, PUMICE_FAULT_MMU_PC_INVALID, PUMICE_UNIT_USC_DATA, &s);
	assert_int_equal(pumice_vm_remove(p->vm, va), 0);
	dispatch_store(p, k, va);
	assert_built_faults(p, PUMICE_FAULT_MMU_PT_INVALID, PUMICE_UNIT_USC_DATA, &s);
	pumice_bo_destroy(bo);
	pumice_kernel_destroy(k);
}

static void bad_memory_accesses_fault_with_their_address(void **state)
{
	(void)state;
	path_each(check_memory);
}

static void check_no_exec(struct path *p)
{
	struct pumice_cdm_state st = {
		.pds_addr = p->out_va, .pds_insns = 2, .size_x = 1, .size_y = 1, .size_z = 1,
	};
	const uint32_t launch[PUMICE_CDM_LAUNCH_WORDS] = { PUMICE_CDM_TYPE_LAUNCH << 28, 1, 1, 1 };
	uint32_t words[PUMICE_CDM_STATE_WORDS];
	struct pumice_context_state s;

	pumice_cdm_state_pack(words, &st);
	assert_int_equal(pumice_stream_emit(p->stream, words, PUMICE_CDM_STATE_WORDS), 0);
	assert_int_equal(pumice_stream_emit(p->stream, launch, PUMICE_CDM_LAUNCH_WORDS), 0);
	assert_built_faults(p, PUMICE_FAULT_MMU_NO_EXEC, PUMICE_UNIT_PDS, &s);
	assert_int_equal(s.fault_va, p->out_va);
}

static void programs_on_a_no_execute_page_fault(void **state)
{
	(void)state;
	path_each(check_no_exec);
}

/* An endless loop times out and is killed; another context continues. */
static void check_endless(struct path *p)
{
	const struct pumice_usc_insn jump = { .opcode = PUMICE_USC_OP_JUMP };
	struct pumice_context_state s;
	struct pumice_context *other;
	struct pumice_kernel *k;
	uint64_t va;
	u32 words[4];

	assert_int_equal(pumice_context_create(p->vm, PUMICE_PRIORITY_LOW, &other), 0);
	pumice_usc_pack(words, &jump);
	k = one_instruction(p, words);
	path_dispatch(p, k, 100, NULL, 0);
	assert_int_equal(pumice_stream_end(p->stream, &va), 0);
	assert_int_equal(pumice_context_run(p->context, va, SECOND / 50, &s), -ETIME);
	assert_int_equal(s.jobs_done, 0);
	assert_int_equal(pumice_context_kill(p->context), 0);
	assert_int_equal(pumice_context_get_state(p->context, &s), 0);
	assert_int_equal(s.jobs_done, 1);
	assert_int_equal(s.fault, PUMICE_FAULT_KILLED);
	assert_int_equal(s.flags, PUMICE_CONTEXT_GUILTY | PUMICE_CONTEXT_FAULTED);
	assert_int_equal(pumice_context_run(p->context, va, LONG, &s), -EIO);
	pumice_stream_reset(p->stream);
	path_assert_works(p, other);
	pumice_context_destroy(other);
	pumice_kernel_destroy(k);
}

static void endless_loop_is_killed_and_another_context_continues(void **state)
{
	(void)state;
	path_each(check_endless);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_streams_fault_and_the_next_job_runs),
		cmocka_unit_test(recursive_sub_list_faults_and_the_next_job_runs),
		cmocka_unit_test(illegal_instructions_and_branches_fault_and_the_next_job_runs),
		cmocka_unit_test(bad_memory_accesses_fault_with_their_address),
		cmocka_unit_test(programs_on_a_no_execute_page_fault),
		cmocka_unit_test(endless_loop_is_killed_and_another_context_continues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
