// SPDX-License-Identifier: MIT
/*
 * Arbitrary firmware: instructions that store to and load from every register of the
 * firmware's bus and the window, start, stop and resume all data masters on existing
 * jobs, grow and release free lists and scenes, and instructions of arbitrary words.
 * It runs in slices, between which the host reads registers, parks the GPU, stops and
 * restarts the processor and damages data in memory.
 *
 * Rules: those of oracle.h, for any firmware; it may trap. Then,
 * after SYS_RESET, the real firmware boots on the same GPU and runs a job.
 */
#include <string.h>

#include "../unit/fwcpu/rvasm.h"
#undef SH	/* a store there, a register in enc.h */
#include "frame.h"
#include "oracle.h"
#include "pumice_reg_table.h"

#define IMAGE_WORDS	4096u
#define OP_WORDS	64u	/* at most, of one operation */
#define MAX_OPS		48u
/* More free lists than the PM stores, each with the maximum number of free pages. */
#define LISTS		40u
#define LIST_PAGES	262144u
#define LIST_BYTES	(PUMICE_FREE_LIST_WORDS * 4u)
#define LIST_VA		0x2000000u	/* in context 0; the tables of links follow */
#define LINKS_VA	0x3000000u
#define CTX_FRAME	1u
#define CTX_COMPUTE	2u

enum { ZERO, RA, SP, GP, TP, T0, T1, T2, S0, S1, T6 = 31 };

struct bus {
	struct fixture *r;
	struct frame frame;
	struct fx_vm compute;
	u32 save;
	u64 image;	/* bus address */
	u32 *words, *at;
};

static void emit_li(struct bus *b, unsigned int reg, u32 value)
{
	*b->at++ = LUI(reg, (value + 0x800) >> 12);
	*b->at++ = ADDI(reg, reg, (s32)(value << 20) >> 20);
}

static void emit_store(struct bus *b, u32 offset, u32 value)
{
	emit_li(b, T0, PUMICE_FW_BUS_BASE + offset);
	emit_li(b, T1, value);
	*b->at++ = SW(T1, 0, T0);
}

static void emit_store64(struct bus *b, u32 offset, u64 value)
{
	emit_store(b, offset, (u32)value);
	emit_store(b, offset + 4, (u32)(value >> 32));
}

static u32 list_at(struct fuzz *f)
{
	return LIST_VA + fuzz_below(f, LISTS) * LIST_BYTES;
}

/* Return a value that is valid in some register, or a random one. */
static u64 value(struct bus *b, struct fuzz *f)
{
	switch (fuzz_below(f, 12)) {
	case 0:
		return FRAME_VA(fuzz_below(f, FRAME_VM_PAGES)) + fuzz_u8(f) * 16u;
	case 1:
		return FRAME_RECORD_VA(fuzz_below(f, FRAME_RECORDS));
	case 2:
		return b->frame.scene_addr;
	case 3:
		return list_at(f);
	case 4:
		return b->frame.vm.catalogue | PUMICE_MMU_CTX__ENABLE__MASK;
	case 5:
		return testmem_ctx_reg(b->r->tm, 0);
	case 6:
		return b->save;
	case 7:
		return UINT64_MAX;
	default:
		return fuzz_number(f);
	}
}

/* Return a register of the firmware's bus, all with equal probability. */
static u32 select_address(struct fuzz *f)
{
	const struct pumice_reg_info *reg;

	do
		reg = &pumice_reg_table[fuzz_below(f, PUMICE_REG_TABLE_SIZE)];
	while (!(reg->bus & PUMICE_REG_BUS_FW) && fuzz_more(f));
	return reg->offset + fuzz_below(f, reg->count) * reg->stride +
	       (reg->bits == 64 && fuzz_below(f, 2) ? 4 : 0);
}

static void op_store(struct bus *b, struct fuzz *f)
{
	emit_store(b, select_address(f), (u32)value(b, f));
}

static void op_load(struct bus *b, struct fuzz *f)
{
	emit_li(b, T0, PUMICE_FW_BUS_BASE + select_address(f));
	*b->at++ = LW(T2, 0, T0);
}

/* Store the loaded value to another register. */
static void op_copy(struct bus *b, struct fuzz *f)
{
	op_load(b, f);
	emit_li(b, T0, PUMICE_FW_BUS_BASE + select_address(f));
	*b->at++ = SW(T2, 0, T0);
}

/* The window, the bus, or private memory, at any place and size. */
static void op_access(struct bus *b, struct fuzz *f)
{
	const u32 base[] = { PUMICE_FW_WINDOW_BASE, PUMICE_FW_BUS_BASE, 0 };

	emit_li(b, T0, base[fuzz_below(f, 3)] + (u32)value(b, f));
	switch (fuzz_below(f, 4)) {
	case 0:
		*b->at++ = SB(T2, 0, T0);
		break;
	case 1:
		*b->at++ = LB(T2, 0, T0);
		break;
	case 2:
		*b->at++ = SW(T2, 0, T0);
		break;
	default:
		*b->at++ = LW(T2, 0, T0);
		break;
	}
}

/* Write a data master's registers, usually for an existing job, and a command. */
static void op_master(struct bus *b, struct fuzz *f)
{
	static const u32 base[] = {
		PUMICE_CDM_UNIT_BASE, PUMICE_VDM_UNIT_BASE, PUMICE_PDM_UNIT_BASE,
		PUMICE_TDM_UNIT_BASE,
	};
	static const u32 command[] = { 1, 1, 1, 2, 4, 8, 16, 17 };
	const u32 n = fuzz_below(f, 4), unit = base[n] - PUMICE_CDM_UNIT_BASE;
	u64 stream = n == 2 ? FRAME_RECORD_VA(FRAME_RENDER) : FX_STREAM_VA;

	if (fuzz_below(f, 16) == 1)
		stream = value(b, f);
	emit_store64(b, unit + PUMICE_CDM_STREAM_BASE, stream);
	emit_store(b, unit + PUMICE_CDM_MMU_CTX,
		   fuzz_mutate(f, n ? CTX_FRAME : CTX_COMPUTE));
	if (n == 0)
		emit_store64(b, PUMICE_CDM_SAVE_BASE, fuzz_mutate(f, b->save));
	if (n == 1 || n == 2)
		emit_store64(b, base[n] - PUMICE_VDM_UNIT_BASE + PUMICE_VDM_SCENE_BASE,
			     fuzz_mutate(f, b->frame.scene_addr));
	emit_store(b, unit + PUMICE_CDM_CTRL, command[fuzz_below(f, 8)]);
}

static void op_grow(struct bus *b, struct fuzz *f)
{
	emit_store64(b, PUMICE_PM_LIST, fuzz_mutate(f, list_at(f)));
	emit_store(b, PUMICE_PM_GROW, fuzz_mutate(f, LIST_PAGES));
}

static void op_release(struct bus *b, struct fuzz *f)
{
	emit_store64(b, PUMICE_PM_RELEASE, fuzz_mutate(f, b->frame.scene_addr));
}

static void op_word(struct bus *b, struct fuzz *f)
{
	*b->at++ = fuzz_u32(f);
}

/* A word of a valid form: the opcodes of RV32IM with any operands. */
static void op_insn(struct bus *b, struct fuzz *f)
{
	static const u8 opcode[] = { 0x13, 0x33, 0x03, 0x23, 0x63, 0x37, 0x17, 0x73, 0x0f };

	*b->at++ = (fuzz_u32(f) & ~0x7fu) | opcode[fuzz_below(f, sizeof(opcode))];
}

static void op_sleep(struct bus *b, struct fuzz *f)
{
	(void)f;
	*b->at++ = WFI;
}

/*
 * The program: traps skip an instruction, then the input's instructions in an endless loop. The
 * trap handler's own registers are T6 and mscratch.
 */
static void write_firmware(struct bus *b, struct fuzz *f)
{
	static void (*const op[])(struct bus *b, struct fuzz *f) = {
		op_store, op_store, op_store, op_load, op_copy, op_access, op_master, op_master,
		op_master, op_grow, op_grow, op_release, op_word, op_insn, op_insn, op_sleep,
	};
	const u32 handler[] = {
		CSRRS(T6, MEPC, ZERO), ADDI(T6, T6, 4), CSRRW(ZERO, MEPC, T6), MRET,
	};
	const u32 start = 8;	/* word of the image */
	u32 n = 1 + fuzz_below(f, MAX_OPS);

	b->at = b->words;
	*b->at++ = JAL(0, start * 4);
	memcpy(b->at, handler, sizeof(handler));
	b->at = b->words + start;
	*b->at++ = ADDI(T0, ZERO, 4);
	*b->at++ = CSRRW(ZERO, MTVEC, T0);
	while (n-- && b->at + OP_WORDS < b->words + IMAGE_WORDS)
		op[fuzz_below(f, sizeof(op) / sizeof(*op))](b, f);
	*b->at = JAL(0, (s32)((b->words + start) - b->at) * 4);
}

/* Links that lead from page to page through the whole list. */
static void put_lists(struct bus *b)
{
	u32 *links = testmem_map(b->r->tm, 0, LINKS_VA, LIST_PAGES * 4, PUMICE_PAGE_SIZE_4K, 0);
	u32 *lists = testmem_map(b->r->tm, 0, LIST_VA, 4096, PUMICE_PAGE_SIZE_4K, 0), i;
	const struct pumice_free_list list = {
		.base = FRAME_VA(FRAME_BUFFER), .pages = LIST_PAGES, .fresh = LIST_PAGES,
		.free = LIST_PAGES, .max_pages = LIST_PAGES, .links = LINKS_VA,
	};

	for (i = 0; i < LIST_PAGES; i++)
		links[i] = i + 1 < LIST_PAGES ? i + 1 : PUMICE_PM_NO_PAGE;
	for (i = 0; i < LISTS; i++)
		pumice_free_list_pack(lists + i * PUMICE_FREE_LIST_WORDS, &list);
}

static void write_reg(struct bus *b, u32 offset, u64 v, unsigned int size)
{
	pumice_gpu_mmio_write(b->r->gpu, 0, offset, v, size);
}

static void boot(struct bus *b)
{
	struct fixture *r = b->r;

	write_reg(b, PUMICE_MMU_CTX(0), testmem_ctx_reg(r->tm, 0), 8);
	write_reg(b, PUMICE_MMU_CTX(CTX_FRAME),
		  b->frame.vm.catalogue | PUMICE_MMU_CTX__ENABLE__MASK, 8);
	write_reg(b, PUMICE_MMU_CTX(CTX_COMPUTE),
		  b->compute.catalogue | PUMICE_MMU_CTX__ENABLE__MASK, 8);
	write_reg(b, PUMICE_FW_IMAGE_ADDR, b->image, 8);
	write_reg(b, PUMICE_FW_IMAGE_SIZE, IMAGE_WORDS * 4, 4);
	write_reg(b, PUMICE_FW_ENTRY, 0, 4);
	write_reg(b, PUMICE_FW_CTRL, 0, 4);
	write_reg(b, PUMICE_FW_CTRL, PUMICE_FW_CTRL__RUN__MASK, 4);
}

static void create(struct bus *b, struct fuzz *f)
{
	b->r = fx_create();
	put_lists(b);
	frame_make(b->r, &b->frame, FRAME_PAGES);
	fx_vm(b->r, &b->compute);
	if (fuzz_below(f, 4))
		fx_vm_groups(&b->compute, 1 + fuzz_u8(f), fuzz_u16(f), false);
	else
		fx_vm_endless(&b->compute);
	fx_fw_alloc(b->r, PUMICE_CDM_SAVE_WORDS * 4, &b->save);
	b->image = testmem_alloc(b->r->tm, IMAGE_WORDS * 4, 4096);
	b->words = testmem_host(b->r->tm, b->image);
}

/* Host actions between two slices. */
static void host_does(struct bus *b, struct fuzz *f)
{
	const struct pumice_reg_info *reg = &pumice_reg_table[fuzz_below(f, PUMICE_REG_TABLE_SIZE)];
	struct fixture *r = b->r;

	switch (fuzz_below(f, 10)) {
	case 0:
		pumice_gpu_park(r->gpu);
		pumice_gpu_unpark(r->gpu);
		break;
	case 1:
		boot(b);
		break;
	case 2:
		pumice_gpu_reset(r->gpu);
		boot(b);
		break;
	case 3:
		pumice_gpu_set_memory(r->gpu, testmem_region(r->tm), 1);
		break;
	case 4:
		b->frame.page[fuzz_below(f, FRAME_VM_PAGES)][fuzz_u16(f) & 4095] ^=
			(u8)(1u << fuzz_below(f, 8));
		break;
	case 5:
		b->frame.scene[fuzz_below(f, PUMICE_SCENE_WORDS)] ^= 1u << fuzz_below(f, 32);
		break;
	default:
		if (reg->access != PUMICE_REG_WO)
			pumice_gpu_mmio_read(r->gpu, 0, reg->offset, reg->bits / 8);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz f = { data, size };
	struct bus b = { 0 };

	create(&b, &f);
	write_firmware(&b, &f);
	boot(&b);
	fx_steps(b.r, 32);
	while (fuzz_more(&f)) {
		host_does(&b, &f);
		fx_steps(b.r, fuzz_u8(&f));
	}
	host_check_recovery(b.r->gpu, 0);
	fx_destroy(b.r);
	return 0;
}
