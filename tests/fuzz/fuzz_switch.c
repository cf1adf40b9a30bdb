// SPDX-License-Identifier: MIT
/*
 * Jobs switched out, resumed, aborted at any moment, with arbitrary saved states,
 * limits and settings of the event ring. The registers are written as the firmware's
 * bus writes them.
 *
 * Rules: a job that is aborted ends; a stream of valid commands whose saved state
 * is unmodified runs each work-group once, however often it was switched out;
 * and finally a valid job runs on the same GPU.
 */
#include <string.h>

#include "../../qemu-device/gpu/regs/regs.h"
#include "enc.h"
#include "fuzz.h"
#include "testmem.h"

#define CTX		3u
#define STREAM		0x100000ull
#define STREAM_BYTES	4096u
#define CODE		0x110000ull	/* PDS program, followed by the shader */
#define PDS_INSNS	5u
#define USC		(CODE + PDS_INSNS * 16)
#define DATA		0x200000ull
#define DATA_WORDS	8192u
#define SAVE		0x10000ull	/* in context 0 */
#define RING		0x20000ull
#define RING_BYTES	4096u
#define GROUP		32u
#define POLLS		20000u		/* more than any job of this test needs */

struct switch_fixture {
	struct pumice_gpu *gpu;
	struct testmem *tm;
	u32 *stream, *data, *save, *ring;
	u64 clock;
	u32 groups;	/* that the stream launches, if it is valid */
	bool good;	/* only valid data was written */
};

static void raise_irq(void *opaque, unsigned int os)
{
	(void)opaque;
	FUZZ_CHECK(os == 0, "interrupt of virtual GPU %u", os);
}

static uint64_t now(void *opaque)
{
	return ((struct switch_fixture *)opaque)->clock += 100;
}

static void kick(void *opaque)
{
	(void)opaque;
}

static const struct pumice_gpu_ops ops = { .raise_irq = raise_irq, .now = now, .kick = kick };

static void reg(struct switch_fixture *w, u32 offset, u64 value)
{
	u32 index;

	regs_write(w->gpu, PUMICE_REG_BUS_FW, 0, offset, value,
		   pumice_reg_find(offset, &index)->bits / 8);
}

static u32 events(struct switch_fixture *w)
{
	u32 pending = (u32)regs_read(w->gpu, PUMICE_REG_BUS_FW, 0, PUMICE_IC_PENDING, 4);

	reg(w, PUMICE_IC_CLEAR, pending);
	return pending;
}

/*
 * Operate on all lines of the job, and of its saved state in context 0, as the firmware does. Mode
 * fast has none.
 */
static void operate(struct switch_fixture *w, u32 op)
{
	op |= PUMICE_FIELD_PREP(PUMICE_SLC_OP__SCOPE, PUMICE_MEM_SCOPE_SYSTEM);
	reg(w, PUMICE_SLC_OP, op | PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, CTX));
	reg(w, PUMICE_SLC_OP, op | PUMICE_FIELD_PREP(PUMICE_SLC_OP__CTX, 0));
}

static bool busy(struct switch_fixture *w)
{
	return regs_read(w->gpu, PUMICE_REG_BUS_FW, 0, PUMICE_CDM_STATUS, 4) &
	       PUMICE_CDM_STATUS__BUSY__MASK;
}

static void run(struct switch_fixture *w, u32 polls)
{
	while (polls-- && busy(w))
		pumice_gpu_poll(w->gpu, 0);
}

/* data[global id]++ */
static void write_programs(u32 *at)
{
	const struct pumice_pds_insn pds[PDS_INSNS] = {
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 0, .imm = (u32)DATA },
		{ .opcode = PUMICE_PDS_OP_LDI, .reg = 1, .imm = (u32)(DATA >> 32) },
		{ .opcode = PUMICE_PDS_OP_MOV, .bank = PUMICE_PDS_BANK_V,
		  .source = PUMICE_PDS_SOURCE_GLOBAL_X },
		{ .opcode = PUMICE_PDS_OP_TASK, .addr = USC, .insns = 6 },
		{ .opcode = PUMICE_PDS_OP_END },
	};
	u32 *usc = at + PDS_INSNS * PUMICE_PDS_WORDS, i;

	for (i = 0; i < PDS_INSNS; i++)
		pumice_pds_pack(at + i * PUMICE_PDS_WORDS, &pds[i]);
	usc_put(usc, 0, INSN(SHL, .type = U32, .dst = R(0), .src0 = V(0), .src1 = IMM, .imm = 2));
	usc_put(usc, 1, INSN(GLOBAL_LOAD32, .dst = R(1), .mask = ALWAYS, .src2 = SH(0),
			     .src0 = R(0)));
	usc_put(usc, 2, INSN(SIG_WAIT, .dst = R_ELEM(2)));
	usc_put(usc, 3, INSN(ADD, .type = U32, .dst = R(1), .src0 = R(1), .src1 = IMM, .imm = 1));
	usc_put(usc, 4, INSN(GLOBAL_STORE32, .mask = ALWAYS, .src2 = SH(0), .src0 = R(0),
			     .src1 = R(1)));
	usc_put(usc, 5, INSN(END));
}

static u32 *put_state(u32 *at, u32 local_bytes)
{
	const struct pumice_cdm_state state = {
		.pds_addr = CODE, .pds_insns = PDS_INSNS, .shared = 2, .attrs = 1, .temps = 3,
		.local_bytes = local_bytes, .size_x = GROUP, .size_y = 1, .size_z = 1,
	};

	pumice_cdm_state_pack(at, &state);
	return at + PUMICE_CDM_STATE_WORDS;
}

/* Launch some groups of distinct instances. */
static u32 *put_launch(struct switch_fixture *w, struct fuzz *f, u32 *at)
{
	const struct pumice_cdm_launch launch = {
		.after = fuzz_below(f, 4) == 0, .groups_x = fuzz_below(f, 12), .groups_y = 1,
		.groups_z = 1, .base_x = w->groups,
	};

	if ((w->groups + launch.groups_x) * GROUP > DATA_WORDS / 2)
		return at;
	w->groups += launch.groups_x;
	pumice_cdm_launch_pack(at, &launch);
	return at + PUMICE_CDM_LAUNCH_WORDS;
}

static u32 *put_command(struct switch_fixture *w, struct fuzz *f, u32 *at)
{
	const struct pumice_cdm_marker marker = {
		.addr = DATA + DATA_WORDS * 4 - 4, .value = 1, .wait = fuzz_below(f, 2),
	};
	const struct pumice_cdm_link link = {
		.addr = STREAM + (u64)(at - w->stream + PUMICE_CDM_LINK_WORDS) * 4,
	};

	switch (fuzz_below(f, 9)) {
	case 0:
		pumice_cdm_fence_pack(at, &(struct pumice_cdm_fence){ 0 });
		return at + PUMICE_CDM_FENCE_WORDS;
	case 1:
		pumice_cdm_flush_pack(at, &(struct pumice_cdm_flush){ .data = true });
		return at + PUMICE_CDM_FLUSH_WORDS;
	case 2:
		pumice_cdm_marker_pack(at, &marker);
		return at + PUMICE_CDM_MARKER_WORDS;
	case 3:
		pumice_cdm_link_pack(at, &link);
		return at + PUMICE_CDM_LINK_WORDS;
	case 4:
		return put_state(at, fuzz_below(f, 16) * 4096);
	case 5:
		pumice_cdm_task_pack(at, &(struct pumice_cdm_task){ 0 });
		return at + PUMICE_CDM_TASK_WORDS;
	default:
		return put_launch(w, f, at);
	}
}

/* Write valid commands, occasionally mixed with arbitrary words. */
static void write_stream(struct switch_fixture *w, struct fuzz *f)
{
	u32 n = fuzz_below(f, 24), *at = put_state(w->stream, 16384);

	memset(w->data, 0, DATA_WORDS * 4);
	w->groups = 0;
	w->good = true;
	while (n--) {
		at = put_command(w, f, at);
		if (fuzz_below(f, 64) == 1) {
			*at++ = (u32)fuzz_number(f);
			w->good = false;
		}
	}
	pumice_cdm_halt_pack(at, &(struct pumice_cdm_halt){ 0 });
}

static void expect_all_work(const struct switch_fixture *w)
{
	u32 i;

	for (i = 0; i < DATA_WORDS / 2; i++)
		FUZZ_CHECK(w->data[i] == (i < w->groups * GROUP), "instance %u of %u ran %u times",
			   i, w->groups * GROUP, w->data[i]);
}

/* Set limits, order and tracing, which change no result. */
static void set_observers(struct switch_fixture *w, struct fuzz *f)
{
	static const u32 pds[] = { PUMICE_PDS_CTRL, PUMICE_PDS_CDM_TASKS, PUMICE_PDS_CDM_UNIFIED,
				   PUMICE_PDS_CDM_COMMON, PUMICE_PDS_CDM_LOCAL,
				   PUMICE_PDS_PEAK_TASKS, PUMICE_PERF_CTRL };

	switch (fuzz_below(f, 3)) {
	case 0:
		reg(w, pds[fuzz_below(f, 7)], fuzz_number(f));
		break;
	case 1:
		reg(w, PUMICE_TRACE_CTRL, fuzz_mutate(f, UINT32_MAX));
		break;
	default:
		reg(w, PUMICE_TRACE_CTRL, 0);
		reg(w, PUMICE_TRACE_BASE, fuzz_below(f, 4) ? RING : fuzz_number(f));
		reg(w, PUMICE_TRACE_ENTRIES, fuzz_mutate(f, RING_BYTES / 32));
		reg(w, PUMICE_TRACE_CTRL, fuzz_below(f, 2) ? 0xffff : UINT32_MAX);
		break;
	}
}

static void start(struct switch_fixture *w, u64 save, u32 ctrl)
{
	reg(w, PUMICE_CDM_STREAM_BASE, STREAM);
	reg(w, PUMICE_CDM_MMU_CTX, CTX);
	reg(w, PUMICE_CDM_SAVE_BASE, save);
	operate(w, PUMICE_SLC_OP__CLEAN__MASK | PUMICE_SLC_OP__INVALIDATE__MASK);
	reg(w, PUMICE_CDM_CTRL, ctrl);
}

/* Change a word of the saved state. */
static void damage(struct switch_fixture *w, struct fuzz *f)
{
	u32 word = fuzz_below(f, PUMICE_CDM_SAVE_WORDS);

	if (fuzz_below(f, 2))
		w->save[word] ^= 1u << fuzz_below(f, 32);
	else
		w->save[word] = (u32)fuzz_number(f);
	w->good = false;
}

static void job(struct switch_fixture *w, struct fuzz *f)
{
	u64 save = fuzz_below(f, 32) == 1 ? fuzz_number(f) & PUMICE_CDM_SAVE_BASE__WRITABLE : SAVE;
	u32 switches = fuzz_below(f, 8), event = 0;

	write_stream(w, f);
	w->good &= save == SAVE;
	start(w, save, PUMICE_CDM_CTRL__START__MASK);
	while (switches--) {
		run(w, fuzz_below(f, 16));
		if (fuzz_below(f, 4) == 1)
			set_observers(w, f);
		reg(w, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__SWITCH_OUT__MASK);
		if (fuzz_below(f, 64) == 1) {
			reg(w, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
			w->good = false;
		}
		run(w, POLLS);
		/* A corrupted state may be an endless stream. */
		FUZZ_CHECK(!busy(w), "a switch does not end");
		event = events(w);
		if (event != PUMICE_IC_PENDING__CDM_SWITCHED__MASK)
			break;
		if (fuzz_below(f, 8) == 1)
			damage(w, f);
		start(w, save, PUMICE_CDM_CTRL__RESUME__MASK);
		event = 0;
	}
	run(w, w->good ? POLLS : POLLS / 10);
	if (busy(w)) {
		FUZZ_CHECK(!w->good, "a valid job does not end");
		reg(w, PUMICE_CDM_CTRL, PUMICE_CDM_CTRL__ABORT__MASK);
		run(w, POLLS);
		FUZZ_CHECK(!busy(w), "an abort does not end");
	}
	operate(w, PUMICE_SLC_OP__CLEAN__MASK);
	event |= events(w);
	FUZZ_CHECK(!w->good || event == PUMICE_IC_PENDING__CDM_DONE__MASK,
		   "events 0x%x of a valid job", event);
	if (w->good)
		expect_all_work(w);
	FUZZ_CHECK(!pumice_gpu_mmio_read(w->gpu, 0, PUMICE_PDS_TASKS, 4), "tasks are left");
}

static void create(struct switch_fixture *w)
{
	const struct pumice_gpu_config config = { .cores = 1 };
	const char *error;

	w->tm = testmem_create(1u << 20);
	w->stream = testmem_map(w->tm, CTX, STREAM, STREAM_BYTES, PUMICE_PAGE_SIZE_4K, TESTMEM_RO);
	write_programs(testmem_map(w->tm, CTX, CODE, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_RO));
	w->data = testmem_map(w->tm, CTX, DATA, DATA_WORDS * 4, PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	w->save = testmem_map(w->tm, 0, SAVE, 4096, PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	w->ring = testmem_map(w->tm, 0, RING, RING_BYTES, PUMICE_PAGE_SIZE_4K, TESTMEM_NX);
	w->gpu = pumice_gpu_create(&config, &ops, w, &error);
	FUZZ_CHECK(w->gpu, "%s", error);
	FUZZ_CHECK(!pumice_gpu_set_memory(w->gpu, testmem_region(w->tm), 1), "no memory");
	reg(w, PUMICE_MMU_CTX(0), testmem_ctx_reg(w->tm, 0));
	reg(w, PUMICE_MMU_CTX(CTX), testmem_ctx_reg(w->tm, CTX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct fuzz nothing = { data, 0 };
	struct switch_fixture w = { 0 };

	create(&w);
	do
		job(&w, &f);
	while (fuzz_more(&f));
	/* An empty input is a valid job without groups; launch some, too. */
	write_stream(&w, &nothing);
	pumice_cdm_launch_pack(put_state(w.stream, 0),
			       &(struct pumice_cdm_launch){ .groups_x = 3, .groups_y = 1,
							    .groups_z = 1 });
	pumice_cdm_halt_pack(w.stream + PUMICE_CDM_STATE_WORDS + PUMICE_CDM_LAUNCH_WORDS,
			     &(struct pumice_cdm_halt){ 0 });
	w.groups = 3;
	start(&w, SAVE, PUMICE_CDM_CTRL__START__MASK);
	run(&w, POLLS);
	FUZZ_CHECK(events(&w) == PUMICE_IC_PENDING__CDM_DONE__MASK, "the valid job does not end");
	operate(&w, PUMICE_SLC_OP__CLEAN__MASK);
	expect_all_work(&w);
	pumice_gpu_destroy(w.gpu);
	testmem_destroy(w.tm);
	return 0;
}
