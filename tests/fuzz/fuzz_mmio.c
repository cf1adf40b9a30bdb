// SPDX-License-Identifier: MIT
/*
 * An arbitrary driver: registers read and written in any order, size and
 * address, arbitrary firmware images, changes of the memory map, resets,
 * while the GPU runs in between.
 *
 * Rules: a poll does not do more than its budget allows, counted in firmware
 * instructions; and after SYS_RESET (in every eighth input or so) the real
 * firmware boots on this same GPU and runs a job.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/fwcpu/rvasm.h"
#include "host.h"
#include "pumice_reg_table.h"

#define MEM_BYTES	(1u << 20)
#define IMAGE_BYTES	4096u
#define POLL_NS		200000u	/* at most this at once; about one step */
/* More instructions than a step and the start of the next may run. */
#define POLL_INSNS	200000u

struct mmio {
	struct pumice_gpu *gpu;
	struct testmem *tm;
	u64 image;		/* bus address of the firmware image */
	u64 clock;
	unsigned int parks;
};

static void raise_irq(void *opaque, unsigned int os)
{
	(void)opaque;
	FUZZ_CHECK(os < PUMICE_OS_COUNT, "interrupt of virtual GPU %u", os);
}

static uint64_t now(void *opaque)
{
	return ((struct mmio *)opaque)->clock += 100;
}

static void kick(void *opaque)
{
	(void)opaque;
}

static void log_text(void *opaque, enum pumice_log_level level, const char *text)
{
	(void)opaque;
	(void)level;
	FUZZ_CHECK(strlen(text), "an empty line in the log");
}

static const struct pumice_gpu_ops ops = {
	.raise_irq = raise_irq, .now = now, .kick = kick, .log = log_text,
};

/* Return a value that is valid in some register, or a random one. */
static u64 value(struct mmio *m, struct fuzz *f)
{
	switch (fuzz_below(f, 8)) {
	case 0:
		return testmem_ctx_reg(m->tm, fuzz_below(f, 4));
	case 1:
		return m->image;
	case 2:
		return fuzz_below(f, IMAGE_BYTES + 4) & ~3u;
	case 3:
		return 1;
	case 4:
		return UINT64_MAX;
	default:
		return fuzz_number(f);
	}
}

/* Return a register, usually the whole of it and in page 0. */
static u32 select_offset(struct fuzz *f, unsigned int *os, unsigned int *size)
{
	const struct pumice_reg_info *reg;
	u8 odd = fuzz_u8(f);
	u32 offset;

	reg = &pumice_reg_table[fuzz_below(f, PUMICE_REG_TABLE_SIZE)];
	offset = reg->offset + fuzz_below(f, reg->count) * reg->stride;
	*size = reg->bits / 8;
	*os = odd % 8 == 0 ? fuzz_u8(f) : odd % 2;
	if (odd > 240)
		*size = 1u << fuzz_below(f, 4);
	if (odd % 16 == 2)
		offset += fuzz_below(f, 16);
	if (odd % 32 == 4)
		offset = fuzz_u32(f);
	return offset;
}

static void do_read(struct mmio *m, struct fuzz *f)
{
	unsigned int os, size;
	u32 offset = select_offset(f, &os, &size);
	u64 v = pumice_gpu_mmio_read(m->gpu, os, offset, size);

	FUZZ_CHECK(size == 8 || !(v >> (size * 8)), "%u bytes at 0x%x read 0x%llx", size, offset,
		   (unsigned long long)v);
}

static void do_write(struct mmio *m, struct fuzz *f)
{
	unsigned int os, size;
	u32 offset = select_offset(f, &os, &size);

	pumice_gpu_mmio_write(m->gpu, os, offset, value(m, f), size);
}

/* Write arbitrary bytes as firmware. */
static void write_bytes(struct mmio *m, struct fuzz *f)
{
	u8 bytes[64];
	size_t n = fuzz_bytes(f, bytes, fuzz_below(f, sizeof(bytes)));

	memcpy((u8 *)testmem_host(m->tm, m->image) + fuzz_below(f, IMAGE_BYTES - 64), bytes, n);
}

/*
 * Firmware that writes registers of its bus (the CDM's and the interrupt
 * controller's among them) or of the window, and then waits or repeats.
 */
static void write_stores(struct mmio *m, struct fuzz *f)
{
	u32 *at = testmem_host(m->tm, m->image), *start = at;
	u32 n = fuzz_below(f, 12);

	while (n--) {
		const struct pumice_reg_info *reg =
			&pumice_reg_table[fuzz_below(f, PUMICE_REG_TABLE_SIZE)];
		u32 addr = PUMICE_FW_BUS_BASE + reg->offset +
			   fuzz_below(f, reg->count) * reg->stride;
		u32 v = (u32)value(m, f);

		if (fuzz_below(f, 16) == 0)
			addr = fuzz_u32(f);
		*at++ = LUI(5, (addr + 0x800) >> 12);
		*at++ = LUI(6, (v + 0x800) >> 12);
		*at++ = ADDI(6, 6, (s32)(v << 20) >> 20);
		*at++ = fuzz_below(f, 4) ? SW(6, (s32)(addr << 20) >> 20, 5) :
					   LW(7, (s32)(addr << 20) >> 20, 5);
	}
	*at++ = WFI;
	*at = JAL(0, (s32)(start - at) * 4);
}

static void boot(struct mmio *m, struct fuzz *f)
{
	pumice_gpu_mmio_write(m->gpu, 0, PUMICE_FW_IMAGE_ADDR, m->image, 8);
	pumice_gpu_mmio_write(m->gpu, 0, PUMICE_FW_IMAGE_SIZE, IMAGE_BYTES, 4);
	pumice_gpu_mmio_write(m->gpu, 0, PUMICE_FW_ENTRY, fuzz_mutate(f, 0), 4);
	pumice_gpu_mmio_write(m->gpu, 0, PUMICE_FW_CTRL, 0, 4);
	pumice_gpu_mmio_write(m->gpu, 0, PUMICE_FW_CTRL, 1, 4);
}

static u64 instructions(struct mmio *m)
{
	return pumice_gpu_mmio_read(m->gpu, 0, PUMICE_FW_INSTRET, 8);
}

static void poll(struct mmio *m, struct fuzz *f)
{
	u64 before = instructions(m), after;

	pumice_gpu_poll(m->gpu, fuzz_below(f, POLL_NS));
	after = instructions(m);
	/* Smaller than before: it was booted again. */
	FUZZ_CHECK(after < before || after - before <= POLL_INSNS,
		   "%llu instructions in one poll", (unsigned long long)(after - before));
}

/* Write bytes anywhere in memory: tables, streams, any other data. */
static void write_memory(struct mmio *m, struct fuzz *f)
{
	u8 bytes[16];
	size_t n = fuzz_bytes(f, bytes, sizeof(bytes));
	u32 at = fuzz_u16(f) % (MEM_BYTES / 64) * 64;

	memcpy(testmem_region(m->tm)->host + at, bytes, n);
}

static void change_map(struct mmio *m, struct fuzz *f)
{
	const struct pumice_mem_region *whole = testmem_region(m->tm);
	struct pumice_mem_region r[2] = { *whole, *whole };
	u64 cut = (u64)(fuzz_below(f, MEM_BYTES / 4096 - 1) + 1) * 4096;
	u32 count = 2;

	r[0].size = cut;
	r[1].addr += cut;
	r[1].host += cut;
	r[1].size -= cut;
	r[1].readonly = fuzz_below(f, 2);
	switch (fuzz_below(f, 6)) {
	case 0:
		count = 0;
		break;
	case 1:
		r[0].addr = 0 - r[0].size;
		break;
	case 2:
		r[fuzz_below(f, 2)].addr = fuzz_number(f);
		break;
	case 3:
		r[0] = *whole;
		count = 1;
		break;
	}
	pumice_gpu_set_memory(m->gpu, r, count);
}

static void do_reset(struct mmio *m, struct fuzz *f)
{
	if (fuzz_below(f, 2))
		pumice_gpu_reset(m->gpu);
	else
		pumice_gpu_mmio_write(m->gpu, 0, PUMICE_SYS_RESET, PUMICE_SYS_RESET_KEY, 4);
}

static void park(struct mmio *m, struct fuzz *f)
{
	(void)f;
	if (m->parks++ < 2) {
		pumice_gpu_park(m->gpu);
		return;
	}
	while (--m->parks)
		pumice_gpu_unpark(m->gpu);
}

static void create(struct mmio *m)
{
	const struct pumice_gpu_config config = { .cores = 1, .oses = 2 };
	const char *error;
	u32 ctx;

	m->tm = testmem_create(MEM_BYTES);
	m->image = testmem_alloc(m->tm, IMAGE_BYTES, 4096);
	for (ctx = 0; ctx < 4; ctx++)
		testmem_map(m->tm, ctx, 0x1000, 0x4000, PUMICE_PAGE_SIZE_4K, 0);
	m->gpu = pumice_gpu_create(&config, &ops, m, &error);
	FUZZ_CHECK(m->gpu, "%s", error);
	FUZZ_CHECK(!pumice_gpu_set_memory(m->gpu, testmem_region(m->tm), 1), "no memory");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const step[])(struct mmio *m, struct fuzz *f) = {
		do_read, do_write, do_write, do_write, write_bytes, write_stores, boot, boot,
		poll, poll, poll, write_memory, change_map, do_reset, park,
	};
	struct mmio m = { 0 };
	struct fuzz f = { data, size };
	bool recover = fuzz_below(&f, 8) == 0;

	create(&m);
	while (fuzz_more(&f))
		step[fuzz_below(&f, sizeof(step) / sizeof(step[0]))](&m, &f);
	while (m.parks) {
		pumice_gpu_unpark(m.gpu);
		m.parks--;
	}
	if (recover)
		host_check_recovery(m.gpu, 0);
	pumice_gpu_destroy(m.gpu);
	testmem_destroy(m.tm);
	return 0;
}
