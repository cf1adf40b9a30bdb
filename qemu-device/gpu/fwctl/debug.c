// SPDX-License-Identifier: MIT
/*
 * Firmware control: the actions of a debugger of the firmware. See debug.h.
 */
#include "debug.h"

#include <errno.h>
#include <string.h>

#include "../fwcpu/debug.h"
#include "../mmu/mmu.h"
#include "fwctl.h"

#define PAGE_BYTES	(1u << MMU_GRAIN_SHIFT)

/* Schedule the step that serves the request. */
static void request(struct fwctl_debug *d)
{
	atomic_store_explicit(&d->request, true, memory_order_relaxed);
	d->ops->wake(d->opaque);
}

static void halt(struct fwctl_debug *d, enum fwctl_halt why)
{
	d->step_wanted = d->pass_wanted = false;
	d->halt = why;
	d->halted(d->halted_opaque);
}

/* Return true if the current thread may access the processor. */
static bool accessible(const struct fwctl_debug *d)
{
	return d->halt != FWCTL_HALT_NONE && !d->booting;
}

void fwctl_debug_attach(struct fwctl_debug *d, void (*halted)(void *opaque), void *opaque)
{
	d->halted = halted;
	d->halted_opaque = opaque;
}

void fwctl_debug_detach(struct fwctl_debug *d)
{
	if (!d->halted)
		return;
	d->halted = NULL;
	d->halt = FWCTL_HALT_NONE;
	d->halt_wanted = d->step_wanted = d->pass_wanted = false;
	d->forget_wanted = true;
	request(d);
}

void fwctl_debug_halt(struct fwctl_debug *d)
{
	if (!d->halted || d->halt != FWCTL_HALT_NONE)
		return;
	d->halt_wanted = true;
	request(d);
}

void fwctl_debug_resume(struct fwctl_debug *d, bool step)
{
	if (d->halt == FWCTL_HALT_NONE)
		return;
	d->step_wanted = step;
	d->pass_wanted = !step;
	d->halt = FWCTL_HALT_NONE;
	request(d);
}

enum fwctl_halt fwctl_debug_halted(const struct fwctl_debug *d)
{
	return d->halt;
}

bool fwctl_debug_get(struct fwctl_debug *d, u32 number, u32 *value)
{
	if (!accessible(d))
		return false;
	if (number >= FWCTL_DEBUG_CSR0)
		return fwcpu_csr_peek(d->cpu, number - FWCTL_DEBUG_CSR0, value);
	if (number > FWCTL_DEBUG_PC)
		return false;
	*value = number == FWCTL_DEBUG_PC ? d->cpu->arch.pc : d->cpu->arch.x[number];
	return true;
}

bool fwctl_debug_set(struct fwctl_debug *d, u32 number, u32 value)
{
	if (!accessible(d))
		return false;
	if (number >= FWCTL_DEBUG_CSR0)
		return fwcpu_csr_poke(d->cpu, number - FWCTL_DEBUG_CSR0, value);
	if (number > FWCTL_DEBUG_PC)
		return false;
	if (number == FWCTL_DEBUG_PC)
		fwcpu_set_pc(d->cpu, value);
	else if (number)
		d->cpu->arch.x[number] = value;
	return true;
}

/* Return the host address of @addr, and set *run to the bytes from there on; NULL for no memory. */
static u8 *host_of(const struct fwctl_debug *d, u32 addr, enum pumice_access access, size_t *run)
{
	const struct fwcpu_config *cfg = &d->cpu->cfg;

	if (addr < cfg->ram_size) {
		*run = cfg->ram_size - addr;
		return cfg->ram + addr;
	}
	if (addr < cfg->window_base)
		return NULL;
	*run = PAGE_BYTES - addr % PAGE_BYTES;
	return mmu_probe(d->mmu, 0, addr - cfg->window_base, access);
}

/* Copy to @to or from @from, piece by piece. */
static size_t copy(struct fwctl_debug *d, u32 addr, void *to, const void *from, size_t bytes)
{
	size_t done = 0, run;

	if (bytes > (u64)UINT32_MAX + 1 - addr)
		bytes = (size_t)((u64)UINT32_MAX + 1 - addr);
	while (accessible(d) && done < bytes) {
		const u32 at = addr + (u32)done;
		u8 *host = host_of(d, at, to ? PUMICE_ACCESS_READ : PUMICE_ACCESS_WRITE, &run);

		if (!host)
			break;
		run = run < bytes - done ? run : bytes - done;
		if (to) {
			memcpy((u8 *)to + done, host, run);
		} else {
			memcpy(host, (const u8 *)from + done, run);
			fwcpu_code_changed(d->cpu, at, (u32)run);
		}
		done += run;
	}
	return done;
}

size_t fwctl_debug_read(struct fwctl_debug *d, u32 addr, void *to, size_t bytes)
{
	return copy(d, addr, to, NULL, bytes);
}

size_t fwctl_debug_write(struct fwctl_debug *d, u32 addr, const void *from, size_t bytes)
{
	return copy(d, addr, NULL, from, bytes);
}

int fwctl_debug_add_breakpoint(struct fwctl_debug *d, u32 addr)
{
	return accessible(d) ? fwcpu_add_breakpoint(d->cpu, addr) : -EBUSY;
}

int fwctl_debug_remove_breakpoint(struct fwctl_debug *d, u32 addr)
{
	return accessible(d) ? fwcpu_remove_breakpoint(d->cpu, addr) : -EBUSY;
}

/*
 * Execute one instruction with the lock dropped. A store of which a piece was done is executed
 * again by the next step of the unit, so the request stays then.
 */
static void execute(struct fwctl_debug *d)
{
	d->ops->unlock(d->opaque);
	fwcpu_step(d->cpu, d->ops->clock(d->opaque));
	d->ops->lock(d->opaque);
	if (d->cpu->retry) {
		request(d);
		return;
	}
	d->pass_wanted = false;
	/* Unless the debugger has disconnected in the meantime. */
	if (d->step_wanted && d->halted)
		halt(d, FWCTL_HALT_STEP);
	d->step_wanted = false;
}

bool fwctl_debug_serve(struct fwctl_debug *d, bool runs)
{
	atomic_store_explicit(&d->request, false, memory_order_relaxed);
	if (d->forget_wanted)
		fwcpu_remove_breakpoints(d->cpu);
	d->forget_wanted = false;
	if (d->halt_wanted && d->halt == FWCTL_HALT_NONE)
		halt(d, FWCTL_HALT_REQUEST);
	d->halt_wanted = false;
	if (d->step_wanted && !runs)
		halt(d, FWCTL_HALT_STEP);
	d->pass_wanted = d->pass_wanted && runs && fwcpu_has_breakpoint(d->cpu, d->cpu->arch.pc);
	if (d->step_wanted || d->pass_wanted)
		execute(d);
	return d->halt != FWCTL_HALT_NONE;
}

bool fwctl_debug_stopped(struct fwctl_debug *d, enum fwctl_halt why)
{
	if (d->halted)
		halt(d, why);
	return d->halt != FWCTL_HALT_NONE;
}

void fwctl_debug_reset(struct fwctl_debug *d)
{
	if (d->step_wanted)
		halt(d, FWCTL_HALT_STEP);
	d->pass_wanted = false;
	if (d->halted || d->forget_wanted)
		request(d);
}
