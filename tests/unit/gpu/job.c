// SPDX-License-Identifier: MIT
/*
 * Compute jobs for tests of the whole GPU. See job.h.
 */
#include "job.h"

#include "../usc/enc.h"

#define PAGE 4096u
#define UNMAPPED 0x5000000000ull	/* base of JOB_WILD's stores */
#define FETCHED 512u			/* word after the PDS program that JOB_FETCH reads */

struct memory {
	u32 *stream, *pds, *code;
};

/* Return the host memory of the fixed addresses; the pages were mapped by job_map(). */
static struct memory memory_of(struct fixture *fx)
{
	struct pumice_mmu_pt_entry pt;
	struct memory m;

	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, JOB_CTX, JOB_STREAM), &pt);
	m.stream = testmem_host(fx->tm, pt.addr);
	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, JOB_CTX, JOB_PDS), &pt);
	m.pds = testmem_host(fx->tm, pt.addr);
	pumice_mmu_pt_entry_unpack64(*testmem_pt_entry(fx->tm, JOB_CTX, JOB_CODE), &pt);
	m.code = testmem_host(fx->tm, pt.addr);
	return m;
}

u32 *job_map(struct fixture *fx)
{
	testmem_map(fx->tm, JOB_CTX, JOB_STREAM, PAGE, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	testmem_map(fx->tm, JOB_CTX, JOB_PDS, PAGE, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	testmem_map(fx->tm, JOB_CTX, JOB_CODE, PAGE, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	return testmem_map(fx->tm, JOB_CTX, JOB_DATA, JOB_DATA_BYTES, PUMICE_PAGE_SIZE_2M,
			   TESTMEM_NX);
}

u32 job_number(u32 i)
{
	return i * 3 + 1;
}

/* V0 is the global instance; SH0, SH1 the base of the data. Returns the instructions. */
static u32 write_code(u32 *code, enum job_program program, const struct pumice_usc_insn *last)
{
	u32 n = 0;

	usc_put(code, n++,
		INSN(MUL, .type = U32, .dst = R(0), .src0 = V(0), .src1 = IMM, .imm = 3));
	usc_put(code, n++,
		INSN(ADD, .type = U32, .dst = R(0), .src0 = R(0), .src1 = IMM, .imm = 1));
	usc_put(code, n++,
		INSN(SHL, .type = U32, .dst = R(1), .src0 = V(0), .src1 = IMM, .imm = 2));
	if (program == JOB_ADD) {
		usc_put(code, n++, INSN(GLOBAL_LOAD32, .sig0 = 0, .mask = ALWAYS, .src2 = SH(0),
					.src0 = R(1), .dst = R(2)));
		usc_put(code, n++, INSN(GLOBAL_ATOMIC, .func = PUMICE_USC_ATOMIC_ADD, .sig0 = 0,
					.mask = ALWAYS, .src2 = SH(0), .src0 = R(1), .src1 = R(0),
					.dst = R(2)));
	}
	if (program == JOB_COUNT) {
		usc_put(code, n++, INSN(GLOBAL_LOAD32, .sig0 = 0, .mask = ALWAYS, .src2 = SH(0),
					.src0 = R(1), .dst = R(0)));
		usc_put(code, n++, INSN(SIG_WAIT, .dst = R_ELEM(2), .sig0 = 0));
		usc_put(code, n++, INSN(ADD, .type = U32, .dst = R(0), .src0 = R(0), .src1 = IMM,
					.imm = 1));
	}
	if (program == JOB_PLACE || program == JOB_FETCH) {
		usc_put(code, n++, INSN(SHL, .dst = R(0), .src0 = SR(CORE), .src1 = IMM, .imm = 8));
		usc_put(code, n++, INSN(ADD, .dst = R(0), .src0 = SR(USC), .src1 = R(0)));
	}
	if (program != JOB_FOREVER && program != JOB_ADD)
		usc_put(code, n++, INSN(GLOBAL_STORE32, .sig0 = 0, .mask = ALWAYS, .src2 = SH(0),
					.src0 = R(1), .src1 = R(0)));
	if (program == JOB_FOREVER || program == JOB_TOUCH)
		usc_put(code, n++, INSN(JUMP, .target = 2));
	if (last)
		usc_put(code, n++, *last);
	usc_put(code, n++, INSN(END));
	return n;
}

static void write_pds(u32 *pds, enum job_program program, u32 insns)
{
	u64 base = program == JOB_WILD ? UNMAPPED : JOB_DATA;
	struct pumice_pds_insn program_insns[] = {
		{ .opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH, .reg = 0,
		  .imm = (u32)base },
		{ .opcode = PUMICE_PDS_OP_LDI, .bank = PUMICE_PDS_BANK_SH, .reg = 1,
		  .imm = (u32)(base >> 32) },
		{ .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V, .reg = 0,
		  .source = PUMICE_PDS_SOURCE_GLOBAL_X },
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = JOB_CODE, .insns = insns },
		{ .opcode = PUMICE_PDS_OP_END },
	};
	unsigned int i;

	if (program == JOB_FETCH) {
		pds[FETCHED] = (u32)base;
		program_insns[0] = (struct pumice_pds_insn){
			.opcode = PUMICE_PDS_OP_DMA, .bank = PUMICE_PDS_BANK_SH, .reg = 0,
			.count = 1, .addr = JOB_PDS + FETCHED * sizeof(*pds),
		};
	}
	for (i = 0; i < 5; i++)
		pumice_pds_pack(pds + i * PUMICE_PDS_WORDS, &program_insns[i]);
}

void job_write_programs_with(struct fixture *fx, enum job_program program,
			     const struct pumice_usc_insn *last)
{
	struct memory m = memory_of(fx);

	write_pds(m.pds, program, write_code(m.code, program, last));
}

void job_write_programs(struct fixture *fx, enum job_program program)
{
	job_write_programs_with(fx, program, NULL);
}

u32 *job_stream(struct fixture *fx)
{
	return memory_of(fx).stream;
}

struct pumice_cdm_state job_state(u32 group)
{
	return (struct pumice_cdm_state){
		.pds_addr = JOB_PDS, .pds_insns = 5, .shared = 2, .attrs = 1, .temps = 3,
		.size_x = (u16)group, .size_y = 1, .size_z = 1,
	};
}

void job_control(struct fixture *fx, u32 ctrl)
{
	fx_fw_write64(fx, PUMICE_MMU_CTX(JOB_CTX), testmem_ctx_reg(fx->tm, JOB_CTX));
	fx_fw_write64(fx, PUMICE_CDM_STREAM_BASE, JOB_STREAM);
	fx_fw_write(fx, PUMICE_CDM_MMU_CTX, JOB_CTX);
	fx_fw_write(fx, PUMICE_CDM_CTRL, ctrl);
}

void job_start(struct fixture *fx, const struct job *job)
{
	const struct pumice_cdm_state state = job_state(job->group);
	const struct pumice_cdm_launch launch = { .groups_x = job->groups, .groups_y = 1,
						  .groups_z = 1 };
	u32 *at = job_stream(fx);

	job_write_programs(fx, job->program);
	pumice_cdm_state_pack(at, &state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &launch);
	at += PUMICE_CDM_LAUNCH_WORDS;
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
	job_control(fx, PUMICE_CDM_CTRL__START__MASK);
}

u32 job_run(struct fixture *fx, const struct job *job)
{
	job_start(fx, job);
	return fx_fw_wait(fx, JOB_EVENTS);
}

void job_assert_numbers(const u32 *data, const struct job *job)
{
	u32 i;

	for (i = 0; i < job->group * job->groups; i++)
		if (data[i] != job_number(i))
			fail_msg("data[%u] is %u, not %u", i, data[i], job_number(i));
	assert_int_equal(data[i], 0);
}
