// SPDX-License-Identifier: MIT
/*
 * A whole GPU in this process. See fixture.h.
 */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../qemu-device/gpu/gpu.h"
#include "../../../qemu-device/gpu/host_clock.h"
#include "../fwcpu/rvasm.h"
#include "pumice_reg_table.h"

/* Words of the proxy's mailbox. */
enum { OP, OFFSET, VALUE, RESULT, MAILBOX_WORDS };
enum { OP_READ, OP_WRITE, OP_WAIT };

/* Host services. */

static void raise_irq(void *opaque, unsigned int os)
{
	struct fixture *fx = opaque;

	pthread_mutex_lock(&fx->lock);
	fx->irqs[os]++;
	pthread_cond_broadcast(&fx->change);
	pthread_mutex_unlock(&fx->lock);
}

static uint64_t now(void *opaque)
{
	struct fixture *fx = opaque;

	return fx->manual_clock ? atomic_load(&fx->clock) : host_ns();
}

static void kick(void *opaque)
{
	struct fixture *fx = opaque;

	pthread_mutex_lock(&fx->lock);
	fx->kicks++;
	pthread_mutex_unlock(&fx->lock);
}

static void log_line(void *opaque, enum pumice_log_level level, const char *text)
{
	struct fixture *fx = opaque;

	if (level != PUMICE_LOG_GUEST_ERROR)
		return;
	pthread_mutex_lock(&fx->lock);
	strncpy(fx->log, text, sizeof(fx->log) - 1);
	pthread_mutex_unlock(&fx->lock);
}

/* Starts and ends of jobs; accesses of registers are too many. */
static void trace(void *opaque, enum pumice_trace_event event, uint64_t a, uint64_t b, uint64_t c)
{
	struct fixture *fx = opaque;

	if (event < PUMICE_TRACE_CDM_START || event > PUMICE_TRACE_TDM_END)
		return;
	pthread_mutex_lock(&fx->lock);
	if (fx->traced_count < FX_TRACED)
		fx->traced[fx->traced_count++] = (struct fx_traced){ event, a, b, c };
	pthread_mutex_unlock(&fx->lock);
}

static const struct pumice_gpu_ops ops = {
	.raise_irq = raise_irq,
	.now = now,
	.kick = kick,
	.log = log_line,
	.trace = trace,
};

/* Creation and destruction. */

void fx_setup_mmu(struct fixture *fx)
{
	fx_write(fx, PUMICE_MMU_CTX(0), testmem_ctx_reg(fx->tm, 0));
	fx_write(fx, PUMICE_MMU_RANGE_START(0),
		 PUMICE_FIELD_PREP(PUMICE_MMU_RANGE_START__SIZE, PUMICE_PAGE_SIZE_2M));
	fx_write(fx, PUMICE_MMU_RANGE_END(0),
		 PUMICE_MMU_RANGE_END__ENABLE__MASK | PUMICE_MMU_RANGE_END__ADDR__MASK);
}

struct fixture *fx_create(const struct fx_options *options)
{
	static const struct fx_options defaults = { .cores = 1 };
	const struct fx_options *o = options ? options : &defaults;
	const struct pumice_gpu_config config = { .preset = o->preset,
						  .cores = o->cores || o->preset ?
							   o->cores : 1,
						  .uscs_per_core = o->uscs_per_core,
						  .slots = o->slots,
						  .tasks = o->tasks,
						  .waves = o->waves,
						  .batch = o->batch,
						  .threads = o->threads,
						  .oses = o->oses,
						  .unified_kib = o->unified_kib,
						  .common_kib = o->common_kib,
						  .local_kib = o->local_kib,
						  .slot_registers = o->slot_registers,
						  .vpm_kib = o->vpm_kib,
						  .idx_fifo = o->idx_fifo,
						  .chunk_fifo = o->chunk_fifo,
						  .tile_fifo = o->tile_fifo,
						  .tsp_vertices = o->tsp_vertices,
						  .fault_injection = o->fault_injection };
	struct fixture *fx = calloc(1, sizeof(*fx));
	const char *why;

	assert_non_null(fx);
	fx->threads = o->threads;
	fx->manual_clock = o->manual_clock;
	pthread_mutex_init(&fx->lock, NULL);
	pthread_cond_init(&fx->change, NULL);
	fx->tm = testmem_create(TESTMEM_SIZE);
	fx->gpu = pumice_gpu_create(&config, &ops, fx, &why);
	if (!fx->gpu)
		fail_msg("cannot create the GPU: %s", why);
	assert_int_equal(pumice_gpu_set_memory(fx->gpu, testmem_region(fx->tm), 1), 0);
	fx_setup_mmu(fx);
	return fx;
}

void fx_destroy(struct fixture *fx)
{
	if (fx->gpu->hierarchy)
		assert_int_equal(hierarchy_invalid(fx->gpu->hierarchy), 0);
	pumice_gpu_destroy(fx->gpu);
	testmem_destroy(fx->tm);
	pthread_cond_destroy(&fx->change);
	pthread_mutex_destroy(&fx->lock);
	free(fx);
}

/* Registers and waiting. */

static unsigned int reg_bytes(u32 offset)
{
	const struct pumice_reg_info *info = pumice_reg_find(offset, NULL);

	assert_non_null(info);
	return info->bits / 8;
}

u64 fx_read(struct fixture *fx, u32 offset)
{
	return pumice_gpu_mmio_read(fx->gpu, 0, offset, reg_bytes(offset));
}

void fx_write(struct fixture *fx, u32 offset, u64 value)
{
	pumice_gpu_mmio_write(fx->gpu, 0, offset, value, reg_bytes(offset));
}

void fx_poll(struct fixture *fx, u64 budget_ns)
{
	pumice_gpu_poll(fx->gpu, budget_ns);
}

u64 fx_drain(struct fixture *fx)
{
	u64 deadline = host_ns() + FX_PATIENCE * 1000000000ull, wait;

	do {
		wait = pumice_gpu_poll(fx->gpu, 1000000);
		if (host_ns() > deadline)
			fail_msg("the GPU does not become idle");
	} while (!wait);
	return wait;
}

/* Run the GPU, or sleep until its interrupt or a short time-out. */
static void let_run(struct fixture *fx)
{
	struct timespec until;

	if (!fx->threads) {
		pumice_gpu_poll(fx->gpu, 1000000);
		return;
	}
	pthread_mutex_lock(&fx->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_cond_timedwait(&fx->change, &fx->lock, &until);
	pthread_mutex_unlock(&fx->lock);
}

void fx_wait_reg(struct fixture *fx, u32 offset, u64 mask, u64 value)
{
	u64 deadline = host_ns() + FX_PATIENCE * 1000000000ull;

	while ((fx_read(fx, offset) & mask) != value) {
		let_run(fx);
		if (host_ns() > deadline)
			fail_msg("%s stays 0x%llx; log: %s", pumice_reg_find(offset, NULL)->name,
				 (unsigned long long)fx_read(fx, offset), fx->log);
	}
}

void fx_wait_word(struct fixture *fx, const u32 *word, u32 value)
{
	u64 deadline = host_ns() + FX_PATIENCE * 1000000000ull;

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
		let_run(fx);
		if (host_ns() > deadline)
			fail_msg("memory contains 0x%x, not 0x%x; log: %s", *word, value, fx->log);
	}
}

void fx_start(struct fixture *fx, const u32 *words, u32 count, u32 entry)
{
	u64 bus = testmem_alloc(fx->tm, count * 4, 16);

	memcpy(testmem_host(fx->tm, bus), words, count * 4);
	fx_write(fx, PUMICE_FW_IMAGE_ADDR, bus);
	fx_write(fx, PUMICE_FW_IMAGE_SIZE, count * 4);
	fx_write(fx, PUMICE_FW_ENTRY, entry);
	fx_write(fx, PUMICE_FW_CTRL, 0);
	fx_write(fx, PUMICE_FW_CTRL, PUMICE_FW_CTRL__RUN__MASK);
}

/*
 * The proxy. Serves one access for each HOST event, then raises the host's
 * interrupt:
 *
 *	s0 bus, s1 mailbox in the window, s2 interrupt controller
 */
enum { T0 = 5, T1 = 6, S0 = 8, S1 = 9, A0 = 10, A1 = 11, A2 = 12, A3 = 13, S2 = 18 };

#define IC(reg)		(PUMICE_IC_##reg - PUMICE_IC_UNIT_BASE)
#define MAIL(word)	((word) * 4)
#define BEQ(a, b, distance)	rv_b(0x00000063u, a, b, distance)
#define ADD(rd, a, b)		rv_r(0x00000033u, rd, a, b)
#define AND(rd, a, b)		rv_r(0x00007033u, rd, a, b)
#define ANDI(rd, rs1, imm)	rv_i(0x00007013u, rd, rs1, imm)

static void start_proxy(struct fixture *fx)
{
	const u32 proxy[] = {
		/*  0 */ LUI(S0, PUMICE_FW_BUS_BASE >> 12),
		/*  1 */ LUI(S1, (PUMICE_FW_WINDOW_BASE + FX_MAILBOX) >> 12),
		/*  2 */ LUI(S2, (PUMICE_FW_BUS_BASE + PUMICE_IC_UNIT_BASE) >> 12),
		/*  3 */ LUI(T0, 1),
		/*  4 */ ADDI(T0, T0, -BIT_EXTERNAL),	/* 0x800 */
		/*  5 */ CSRRW(0, MIE, T0),
		/*  6 */ ADDI(T0, 0, PUMICE_IC_ENABLE__HOST__MASK),
		/*  7 */ SW(T0, IC(ENABLE), S2),
		/* wait for the host */
		/*  8 */ LW(T0, IC(PENDING), S2),
		/*  9 */ ANDI(T1, T0, PUMICE_IC_PENDING__HOST__MASK),
		/* 10 */ BNE(T1, 0, 3 * 4),	/* 13 */
		/* 11 */ WFI,
		/* 12 */ JAL(0, -4 * 4),	/* 8 */
		/* 13 */ SW(T1, IC(CLEAR), S2),
		/* 14 */ LW(A0, MAIL(OP), S1),
		/* 15 */ LW(A1, MAIL(OFFSET), S1),
		/* 16 */ LW(A2, MAIL(VALUE), S1),
		/* 17 */ ADD(A1, A1, S0),
		/* 18 */ ADDI(T0, 0, OP_WRITE),
		/* 19 */ BEQ(A0, T0, 5 * 4),	/* 24 */
		/* 20 */ BNE(A0, 0, 6 * 4),	/* 26 */
		/* read */
		/* 21 */ LW(A3, 0, A1),
		/* 22 */ SW(A3, MAIL(RESULT), S1),
		/* 23 */ JAL(0, 12 * 4),	/* 35 */
		/* write */
		/* 24 */ SW(A2, 0, A1),
		/* 25 */ JAL(0, 10 * 4),	/* 35 */
		/* wait for events */
		/* 26 */ SW(A2, IC(ENABLE), S2),
		/* 27 */ LW(T0, IC(PENDING), S2),
		/* 28 */ AND(T0, T0, A2),
		/* 29 */ BNE(T0, 0, 3 * 4),	/* 32 */
		/* 30 */ WFI,
		/* 31 */ JAL(0, -4 * 4),	/* 27 */
		/* 32 */ SW(T0, MAIL(RESULT), S1),
		/* 33 */ SW(T0, IC(CLEAR), S2),
		/* 34 */ NOP,
		/* done */
		/* 35 */ ADDI(T0, 0, PUMICE_IC_ENABLE__HOST__MASK),
		/* 36 */ SW(T0, IC(ENABLE), S2),
		/* 37 */ FENCE,
		/* 38 */ ADDI(T0, 0, 1),
		/* 39 */ SW(T0, IC(HOST_IRQ), S2),
		/* 40 */ JAL(0, -32 * 4),	/* 8 */
	};

	fx_start(fx, proxy, sizeof(proxy) / sizeof(*proxy), 0);
}

void fx_boot_proxy(struct fixture *fx)
{
	if (!fx->mailbox)
		fx->mailbox = testmem_map(fx->tm, 0, FX_MAILBOX, 4096, PUMICE_PAGE_SIZE_4K, 0);
	fx_write(fx, PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_ENABLE__FW__MASK);
	start_proxy(fx);
	fx_wait_reg(fx, PUMICE_FW_STATUS, PUMICE_FW_STATUS__STATE__MASK,
		    PUMICE_FIELD_PREP(PUMICE_FW_STATUS__STATE, PUMICE_FW_STATE_RUNNING));
}

static u32 mmio_request(struct fixture *fx, u32 op, u32 offset, u32 value)
{
	fx_write(fx, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__FW__MASK);
	fx->mailbox[OP] = op;
	fx->mailbox[OFFSET] = offset;
	fx->mailbox[VALUE] = value;
	atomic_thread_fence(memory_order_seq_cst);
	fx_write(fx, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK);
	fx_wait_reg(fx, PUMICE_OS_IRQ_STATUS, PUMICE_OS_IRQ_STATUS__FW__MASK,
		    PUMICE_OS_IRQ_STATUS__FW__MASK);
	atomic_thread_fence(memory_order_seq_cst);
	return fx->mailbox[RESULT];
}

u32 fx_fw_read(struct fixture *fx, u32 offset)
{
	return mmio_request(fx, OP_READ, offset, 0);
}

void fx_fw_write(struct fixture *fx, u32 offset, u32 value)
{
	mmio_request(fx, OP_WRITE, offset, value);
}

void fx_fw_write64(struct fixture *fx, u32 offset, u64 value)
{
	fx_fw_write(fx, offset + 4, (u32)(value >> 32));
	fx_fw_write(fx, offset, (u32)value);
}

u64 fx_fw_read64(struct fixture *fx, u32 offset)
{
	u64 low = fx_fw_read(fx, offset);

	return (u64)fx_fw_read(fx, offset + 4) << 32 | low;
}

u32 fx_fw_wait(struct fixture *fx, u32 events)
{
	return mmio_request(fx, OP_WAIT, 0, events);
}
