// SPDX-License-Identifier: MIT
/*
 * Firmware control. See fwctl.h.
 *
 * The host's writes only store requests; the processor itself is accessed in fwctl_step(), by
 * one thread at a time, or through functions that any thread may call (the interrupt line,
 * halt, window flush).
 */
#include "fwctl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../fwcpu/fwcpu.h"
#include "../mem/mem.h"
#include "../number.h"
#include "debug.h"

/* Limits of one step: instructions, and slow operations or pieces of commands. */
#define STEP_INSNS	(4u * FWCTL_SLICE_INSNS)
#define STEP_SLOW	1024u

#define REG_A0		10
#define REG_A1		11

struct fwctl {
	/* Configuration. */
	struct mmu *mmu;
	const struct mem_map *mem;
	const struct fwctl_ops *ops;
	void *opaque;

	/* Registers; device lock. */
	struct fwctl_boot boot;
	bool run;

	/* Interrupt controller with its line; a leaf lock, as events come from any thread. */
	pthread_mutex_t ic_lock;
	u32 ic_pending, ic_enable;

	/* Request stored by RUN, with the boot registers at that time; device lock. */
	bool boot_wanted;
	struct fwctl_boot latched;
	bool booting;	/* the boot ROM copies the image and the request is not cancelled */

	/* State; device lock. */
	enum pumice_fw_state state;
	enum pumice_fw_boot_error boot_error;
	u32 mcause;
	_Atomic u32 failure;	/* enum fwctl_failure, a request to the step */

	/* Written by the step, read by any thread. */
	_Atomic u32 pc;
	_Atomic u64 instret;
	_Atomic u64 timer;

	/* The processor and fields that only its step accesses. */
	struct fwcpu cpu;
	struct mmu_tlb tlb;
	u8 *ram;

	struct fwctl_debug debug;
};

static u64 window_va(u32 addr)
{
	return addr - PUMICE_FW_WINDOW_BASE;
}

/* Translate an access to the window: to all of its page if bytes is 0. NULL: an access fault. */
static uint8_t *window_at(struct fwctl *fw, uint32_t addr, bool write, uint32_t bytes)
{
	struct gpu_fault fault = { 0 };

	return mmu_translate(fw->mmu, &fw->tlb, 0, window_va(addr), bytes,
			     write ? PUMICE_ACCESS_WRITE : PUMICE_ACCESS_READ, PUMICE_UNIT_FW,
			     &fault);
}

/*
 * struct fwcpu_bus: return the page of context 0 at an address of the window. None in detailed
 * modes, in which each access is a request to the memory hierarchy.
 */
static uint8_t *window_ptr(void *opaque, uint32_t addr, bool write, uint32_t *run_len)
{
	struct fwctl *fw = opaque;

	if (mmu_is_detailed(fw->mmu))
		return NULL;
	*run_len = FWCPU_WINDOW_PAGE;
	return window_at(fw, addr, write, 0);
}

/* Access the window in a detailed mode. In fast mode window_ptr() has refused it: a fault. */
static bool window_load(struct fwctl *fw, uint32_t addr, unsigned int size, uint32_t *val)
{
	uint8_t *host = mmu_is_detailed(fw->mmu) ? window_at(fw, addr, false, size) : NULL;

	if (host)
		*val = fwcpu_host_load(host, size);
	return host;
}

static bool window_store(struct fwctl *fw, uint32_t addr, unsigned int size, uint32_t val)
{
	uint8_t *host = mmu_is_detailed(fw->mmu) ? window_at(fw, addr, true, size) : NULL;

	if (host)
		fwcpu_host_store(host, size, val);
	return host;
}

/* struct fwcpu_bus: the firmware's bus, and what window_ptr() refused. */
static bool bus_load(void *opaque, uint32_t addr, unsigned int size, uint32_t *val)
{
	struct fwctl *fw = opaque;

	if (addr >= PUMICE_FW_WINDOW_BASE)
		return window_load(fw, addr, size, val);
	return fw->ops->bus_load(fw->opaque, addr - PUMICE_FW_BUS_BASE, size, val);
}

static bool bus_store(void *opaque, uint32_t addr, unsigned int size, uint32_t val)
{
	struct fwctl *fw = opaque;

	if (addr >= PUMICE_FW_WINDOW_BASE)
		return window_store(fw, addr, size, val);
	switch (fw->ops->bus_store(fw->opaque, addr - PUMICE_FW_BUS_BASE, size, val)) {
	case FWCTL_STORE_DONE:
		if (atomic_load_explicit(&fw->failure, memory_order_relaxed))
			fwcpu_slow(&fw->cpu, FWCPU_SLOW_MAX);
		return true;
	case FWCTL_STORE_LONG:
		fwcpu_slow(&fw->cpu, FWCPU_SLOW_MAX);
		return true;
	case FWCTL_STORE_AGAIN:
		fwcpu_slow(&fw->cpu, FWCPU_SLOW_MAX);
		fwcpu_retry(&fw->cpu);
		return true;
	case FWCTL_STORE_REFUSED:
		break;
	}
	return false;
}

struct fwctl *fwctl_create(const struct fwctl_config *config)
{
	struct fwctl *fw = calloc(1, sizeof(*fw));
	struct fwcpu_config cpu = {
		.ram_size = PUMICE_FW_RAM_SIZE,
		.mmio_base = PUMICE_FW_BUS_BASE,
		.mmio_size = PUMICE_OS_PAGE_SIZE,
		.window_base = PUMICE_FW_WINDOW_BASE,
		.bus = {
			.opaque = fw,
			.load = bus_load,
			.store = bus_store,
			.window_ptr = window_ptr,
		},
	};

	if (!fw)
		return NULL;
	pthread_mutex_init(&fw->ic_lock, NULL);
	fw->mmu = config->mmu;
	fw->mem = config->mem;
	fw->ops = config->ops;
	fw->opaque = config->opaque;
	fw->debug = (struct fwctl_debug){ .cpu = &fw->cpu, .mmu = config->mmu,
					  .ops = config->ops, .opaque = config->opaque };
	fw->ram = calloc(1, PUMICE_FW_RAM_SIZE);
	cpu.ram = fw->ram;
	if (!fw->ram || fwcpu_init(&fw->cpu, &cpu)) {
		fwctl_destroy(fw);
		return NULL;
	}
	fwctl_reset(fw);
	return fw;
}

void fwctl_destroy(struct fwctl *fw)
{
	if (!fw)
		return;
	fwcpu_destroy(&fw->cpu);
	pthread_mutex_destroy(&fw->ic_lock);
	free(fw->ram);
	free(fw);
}

/* Update the processor state that is visible in registers. */
static void publish(struct fwctl *fw)
{
	const struct fwcpu_arch *arch = &fw->cpu.arch;
	u32 pc = arch->state == FWCPU_STATE_LOCKUP ? arch->lockup_pc : arch->pc;

	atomic_store_explicit(&fw->pc, pc, memory_order_relaxed);
	atomic_store_explicit(&fw->instret, arch->minstret, memory_order_relaxed);
	atomic_store_explicit(&fw->timer, arch->mtimecmp, memory_order_relaxed);
}

void fwctl_reset(struct fwctl *fw)
{
	memset(&fw->boot, 0, sizeof(fw->boot));
	fw->run = false;
	fw->boot_wanted = fw->booting = false;
	fw->ic_pending = PUMICE_IC_PENDING__RESET;
	fw->ic_enable = PUMICE_IC_ENABLE__RESET;
	fw->state = PUMICE_FW_STATE_OFF;
	fw->boot_error = PUMICE_FW_BOOT_ERROR_NONE;
	fw->mcause = PUMICE_FW_CAUSE__RESET;
	atomic_store(&fw->failure, FWCTL_FAIL_NONE);
	fwcpu_set_irq(&fw->cpu, false);
	fwcpu_reset(&fw->cpu);
	fwctl_debug_reset(&fw->debug);
	publish(fw);
}

struct fwctl_debug *fwctl_debug(struct fwctl *fw)
{
	return &fw->debug;
}

struct fwctl_boot *fwctl_boot(struct fwctl *fw)
{
	return &fw->boot;
}

bool fwctl_run(const struct fwctl *fw)
{
	return fw->run;
}

bool fwctl_set_run(struct fwctl *fw, bool run)
{
	if (run == fw->run)
		return false;
	fw->run = run;
	fw->state = PUMICE_FW_STATE_OFF;
	fw->boot_error = PUMICE_FW_BOOT_ERROR_NONE;
	fw->boot_wanted = run;
	fw->booting = false;
	atomic_store(&fw->failure, FWCTL_FAIL_NONE);
	if (!run) {
		fwcpu_halt(&fw->cpu);
		return true;
	}
	fw->latched = fw->boot;
	fw->ops->wake(fw->opaque);
	return false;
}

void fwctl_status(const struct fwctl *fw, struct fwctl_status *status)
{
	status->state = fw->state;
	status->boot_error = fw->boot_error;
	status->mcause = fw->mcause;
	status->pc = atomic_load_explicit(&fw->pc, memory_order_relaxed);
	status->instret = atomic_load_explicit(&fw->instret, memory_order_relaxed);
}

/*
 * Change pending and enabled events, and update the external interrupt line. The processor is
 * woken with the lock dropped.
 */
static void change_events(struct fwctl *fw, u32 clear, u32 set, const u32 *enable)
{
	bool level;

	pthread_mutex_lock(&fw->ic_lock);
	fw->ic_pending = (fw->ic_pending & ~clear) | set;
	if (enable)
		fw->ic_enable = *enable;
	level = fw->ic_pending & fw->ic_enable;
	fwcpu_set_irq(&fw->cpu, level);
	pthread_mutex_unlock(&fw->ic_lock);
	if (level)
		fw->ops->wake(fw->opaque);
}

void fwctl_raise(struct fwctl *fw, u32 events)
{
	change_events(fw, 0, events, NULL);
}

void fwctl_clear(struct fwctl *fw, u32 events)
{
	change_events(fw, events, 0, NULL);
}

u32 fwctl_pending(struct fwctl *fw)
{
	u32 pending;

	pthread_mutex_lock(&fw->ic_lock);
	pending = fw->ic_pending;
	pthread_mutex_unlock(&fw->ic_lock);
	return pending;
}

void fwctl_enable(struct fwctl *fw, u32 events)
{
	change_events(fw, 0, 0, &events);
}

u32 fwctl_enabled(const struct fwctl *fw)
{
	return fw->ic_enable;
}

void fwctl_set_timer(struct fwctl *fw, u64 ticks)
{
	fwcpu_set_timer(&fw->cpu, ticks);
	atomic_store_explicit(&fw->timer, ticks, memory_order_relaxed);
}

u64 fwctl_timer(const struct fwctl *fw)
{
	return atomic_load_explicit(&fw->timer, memory_order_relaxed);
}

void fwctl_window_flush(struct fwctl *fw)
{
	fwcpu_window_flush(&fw->cpu);
}

/* Boot ROM: check the request and copy the image into cleared private memory. */
static enum pumice_fw_boot_error load_image(struct fwctl *fw, const struct fwctl_boot *boot)
{
	if (!boot->image_size || boot->image_size > PUMICE_FW_RAM_SIZE || boot->image_size % 4)
		return PUMICE_FW_BOOT_ERROR_SIZE;
	if (boot->entry % 2 || boot->entry >= boot->image_size)
		return PUMICE_FW_BOOT_ERROR_ENTRY;
	if (boot->image_addr % 16)
		return PUMICE_FW_BOOT_ERROR_ADDR;
	memset(fw->ram, 0, PUMICE_FW_RAM_SIZE);
	if (!mem_map_read(fw->mem, boot->image_addr, fw->ram, boot->image_size))
		return PUMICE_FW_BOOT_ERROR_ADDR;
	return PUMICE_FW_BOOT_ERROR_NONE;
}

/*
 * Serve the request of RUN; device lock held, except while the decoded code of the previous
 * firmware is dropped and the image is copied, which is slow. Only the step accesses the
 * processor and private memory. The host may stop the processor or start it again meanwhile,
 * which cancels this request.
 */
static void boot_rom(struct fwctl *fw)
{
	const struct fwctl_boot latched = fw->latched, *boot = &latched;
	enum pumice_fw_boot_error error;

	fw->boot_wanted = false;
	fw->booting = fw->debug.booting = true;
	fw->mcause = PUMICE_FW_CAUSE__RESET;
	fw->ops->unlock(fw->opaque);
	fwcpu_reset(&fw->cpu);
	error = load_image(fw, boot);
	fw->ops->lock(fw->opaque);
	fw->debug.booting = false;
	if (!fw->booting)
		return;
	fw->booting = false;
	fw->boot_error = error;
	fw->state = PUMICE_FW_STATE_BOOT_FAILED;
	if (!fw->boot_error) {
		struct fwcpu_arch arch = fw->cpu.arch;

		arch.x[REG_A0] = (u32)boot->arg;
		arch.x[REG_A1] = (u32)(boot->arg >> 32);
		arch.pc = boot->entry;
		arch.state = FWCPU_STATE_RUNNING;
		fwcpu_restore(&fw->cpu, &arch);
		fw->state = PUMICE_FW_STATE_RUNNING;
	}
	publish(fw);
	fw->ops->booted(fw->opaque, boot->image_size, boot->entry, fw->boot_error);
}

/* Report a lockup unless the host has stopped or restarted the processor meanwhile. */
static void report_lockup(struct fwctl *fw)
{
	const struct fwcpu_arch *arch = &fw->cpu.arch;

	fw->ops->lock(fw->opaque);
	if (fw->state == PUMICE_FW_STATE_RUNNING) {
		fw->state = PUMICE_FW_STATE_LOCKUP;
		fw->mcause = arch->lockup_cause;
		fw->ops->lockup(fw->opaque, arch->lockup_pc, arch->lockup_cause);
		fwctl_debug_stopped(&fw->debug, FWCTL_HALT_LOCKUP);
	}
	fw->ops->unlock(fw->opaque);
}

void fwctl_fail(struct fwctl *fw, enum fwctl_failure how)
{
	atomic_store(&fw->failure, how);
	fw->ops->wake(fw->opaque);
}

/* Serve fwctl_fail(); true if the processor must not execute until it is booted again. */
static bool fail(struct fwctl *fw)
{
	u32 how = atomic_load_explicit(&fw->failure, memory_order_relaxed);

	if (how != FWCTL_FAIL_LOCKUP && how != FWCTL_FAIL_TRAP)
		return how == FWCTL_FAIL_SILENT;
	if (atomic_compare_exchange_strong(&fw->failure, &how, FWCTL_FAIL_NONE))
		fwcpu_fail(&fw->cpu, how == FWCTL_FAIL_LOCKUP);
	return false;
}

/* The processor came to a breakpoint. Returns whether it stays there. */
static bool halt_at_breakpoint(struct fwctl *fw)
{
	bool halted;

	fw->ops->lock(fw->opaque);
	halted = fwctl_debug_stopped(&fw->debug, FWCTL_HALT_BREAKPOINT);
	fw->ops->unlock(fw->opaque);
	return halted;
}

bool fwctl_step(struct fwctl *fw, const _Atomic bool *stop)
{
	u32 insns = STEP_INSNS, slow = STEP_SLOW;
	bool halted;

	fw->ops->lock(fw->opaque);
	if (fw->boot_wanted)
		boot_rom(fw);
	halted = fwctl_debug_serve(&fw->debug, fw->state == PUMICE_FW_STATE_RUNNING);
	publish(fw);
	fw->ops->unlock(fw->opaque);
	if (halted) {
		fw->ops->set_deadline(fw->opaque, FWCPU_NO_DEADLINE);
		return false;
	}

	while (insns && slow && !fwctl_debug_requested(&fw->debug)) {
		u32 budget = min_u32(insns, FWCTL_SLICE_INSNS);
		enum fwcpu_stop why;

		if (fail(fw)) {
			fw->ops->set_deadline(fw->opaque, FWCPU_NO_DEADLINE);
			return false;
		}
		why = fwcpu_run(&fw->cpu, budget, fw->ops->clock(fw->opaque));
		publish(fw);
		if (why == FWCPU_STOP_BUDGET) {
			insns -= min_u32(fw->cpu.executed, insns);
			slow -= min_u32(fw->cpu.slow, slow);
			if (atomic_load_explicit(stop, memory_order_relaxed))
				break;
			continue;
		}
		/* Without a debugger the breakpoints are removed, by the next step. */
		if (why == FWCPU_STOP_BREAK && !halt_at_breakpoint(fw))
			break;
		if (why == FWCPU_STOP_LOCKUP)
			report_lockup(fw);
		if (why == FWCPU_STOP_WFI && fw->ops->asleep)
			fw->ops->asleep(fw->opaque);
		/* No deadline unless it sleeps with its timer interrupt enabled. */
		fw->ops->set_deadline(fw->opaque, why == FWCPU_STOP_WFI ?
							  fwcpu_next_deadline(&fw->cpu) :
							  FWCPU_NO_DEADLINE);
		return false;
	}
	return true;
}
