// SPDX-License-Identifier: MIT
/* The firmware's host for fuzz targets: see host.h. */
#include "host.h"

#include "enc.h"
#include "oracle.h"

#define POLL_NS		200000u
#define MAX_POLLS	5000u

#define JOB_PDS		4u	/* instructions of the job's PDS program */
#define JOB_OUT		512u	/* word of its code page that it stores to */
#define JOB_VALUE	0x600dca11u

void host_run(struct fixture *r, unsigned int polls)
{
	if (r->threads)
		fx_steps(r, 1);
	else
		while (polls-- && pumice_gpu_poll(r->gpu, POLL_NS) != UINT64_MAX)
			;
}

bool host_wait(struct fixture *r, const u32 *word, u32 not)
{
	unsigned int i;

	/* Threads may be slow: only the test's time limit applies. */
	for (i = 0; (r->threads || i < MAX_POLLS) && __atomic_load_n(word, __ATOMIC_ACQUIRE) == not;
	     i++)
		host_run(r, 1);
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) != not;
}

u32 host_call(struct fixture *r, const struct fwif_kccb_cmd *cmd)
{
	u32 entry = fx_put(r, cmd);

	fx_kick(r);
	FUZZ_CHECK(host_wait(r, &r->kccb_status[entry], FWIF_STATUS_PENDING),
		   "no reply to command %u; firmware state %u, error %u", cmd->type,
		   r->boot->state, r->boot->error);
	return r->kccb_status[entry];
}

u32 host_call_context(struct fixture *r, u32 type, const struct fx_context *c)
{
	const struct fwif_kccb_cmd cmd = { .type = type, .context = c->addr };

	return host_call(r, &cmd);
}

const struct fwif_job_result *host_end_job(struct fixture *r, struct fx_context *c, u32 seqno,
					   unsigned int polls, void (*each)(struct fixture *r))
{
	const struct fwif_job_result *result = fx_result(c, seqno);

	while (polls-- && !*(volatile u32 *)c->object) {
		host_run(r, 1);
		if (each)
			each(r);
	}
	if (!*c->object) {
		FUZZ_CHECK(host_call_context(r, FWIF_KCCB_CONTEXT_KILL, c) == FWIF_STATUS_OK,
			   "the job cannot be killed");
		FUZZ_CHECK(host_wait(r, c->object, 0), "the killed job's update is missing");
	}
	FUZZ_CHECK(result->seqno == seqno, "no result");
	FUZZ_CHECK(pumice_fault_valid(result->fault) && pumice_unit_valid(result->unit) &&
		   pumice_access_valid(result->access), "fault %u, unit %u, access %u",
		   result->fault, result->unit, result->access);
	return result;
}

/* One instance that stores JOB_VALUE. */
static void write_job(struct fx_vm *vm)
{
	const u64 out = FX_CODE_VA + JOB_OUT * 4;
	const struct pumice_pds_insn pds[JOB_PDS] = {
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 0, .imm = (u32)out },
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 1, .imm = (u32)(out >> 32) },
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = FX_CODE_VA + JOB_PDS * 16, .insns = 3 },
		{ .opcode = PUMICE_PDS_OP_END },
	};
	const struct pumice_cdm_state state = {
		.pds_addr = FX_CODE_VA, .pds_insns = JOB_PDS, .shared = 2, .temps = 2,
		.size_x = 1, .size_y = 1, .size_z = 1,
	};
	const struct pumice_cdm_launch launch = { .groups_x = 1, .groups_y = 1, .groups_z = 1 };
	u32 *usc = vm->code + JOB_PDS * PUMICE_PDS_WORDS, *at = vm->stream, i;

	for (i = 0; i < JOB_PDS; i++)
		pumice_pds_pack(vm->code + i * PUMICE_PDS_WORDS, &pds[i]);
	usc_put(usc, 0, INSN(MOV, .dst = R(0), .mask = ALWAYS, .src0 = IMM, .imm = JOB_VALUE));
	usc_put(usc, 1, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(1),
			     .src1 = R(0)));
	usc_put(usc, 2, INSN(END));
	pumice_cdm_state_pack(at, &state);
	at += PUMICE_CDM_STATE_WORDS;
	pumice_cdm_launch_pack(at, &launch);
	at += PUMICE_CDM_LAUNCH_WORDS;
	*at = PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
	vm->code[JOB_OUT] = 0;
}

void host_check_job(struct fixture *r)
{
	struct fx_context c;
	struct fx_vm vm;
	u32 entry;

	fx_vm(r, &vm);
	write_job(&vm);
	fx_context(r, &vm, 2, &c);
	fx_compute(&c, FX_STREAM_VA, 7);
	fx_update(&c, c.object_addr, 1);
	entry = fx_put_kick(r, &c);
	fx_kick(r);
	FUZZ_CHECK(host_wait(r, &r->kccb_status[entry], FWIF_STATUS_PENDING) &&
		   r->kccb_status[entry] == FWIF_STATUS_OK, "the valid job is refused");
	FUZZ_CHECK(host_wait(r, c.object, 0), "the valid job does not end");
	FUZZ_CHECK(fx_result(&c, 7)->fault == PUMICE_FAULT_NONE, "the valid job: fault %u",
		   fx_result(&c, 7)->fault);
	FUZZ_CHECK(vm.code[JOB_OUT] == JOB_VALUE, "the valid job stored 0x%x", vm.code[JOB_OUT]);
	FUZZ_CHECK(host_call_context(r, FWIF_KCCB_CONTEXT_RELEASE, &c) == FWIF_STATUS_OK,
		   "the valid job's context is not released");
	oracle_check_idle();
}

void host_check_recovery(struct pumice_gpu *gpu, unsigned int threads)
{
	/* The fixture uses this GPU's clock; its own GPU is idle. */
	struct fixture *r = fx_create_threads(threads);
	struct pumice_gpu *spare = r->gpu;

	pumice_gpu_mmio_write(gpu, 0, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY, 4);
	FUZZ_CHECK(!pumice_gpu_mmio_read(gpu, 0, PUMICE_SYS_STATUS, 4), "the reset hangs");
	r->gpu = gpu;
	FUZZ_CHECK(!pumice_gpu_set_memory(r->gpu, testmem_region(r->tm), 1), "no memory");
	FUZZ_CHECK(fx_boot(r) == FWIF_STATE_READY, "the firmware does not boot");
	host_check_job(r);
	pumice_gpu_set_memory(r->gpu, NULL, 0);
	r->gpu = spare;
	fx_destroy(r);
}
