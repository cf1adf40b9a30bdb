/* SPDX-License-Identifier: MIT */
/*
 * Fixture of a firmware processor: RAM, a few firmware-bus registers and a few
 * window pages. The processor and the reference have one each, so that all their
 * effects can be compared.
 */
#ifndef PUMICE_TEST_FWCPU_FIXTURE_H
#define PUMICE_TEST_FWCPU_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

/* The size of RAM is not a power of two, so that its end has no special alignment. */
#define FX_RAM_SIZE		0x3004u
#define FX_MMIO_BASE		0x10000000u
#define FX_MMIO_REGS		16u
#define FX_MMIO_SIZE		(4 * FX_MMIO_REGS)
#define FX_WINDOW_BASE	0x80000000u
#define FX_PAGE_SIZE		4096u

/* Registers with an effect; the others only store their value. Words only. */
enum fx_reg {
	FX_REG_IRQ,		/* bit 0 drives the external interrupt */
	FX_REG_TIMER,	/* mtimecmp, high half 0 */
};

/* Window pages, from FX_WINDOW_BASE on; past them nothing is mapped. */
enum fx_page {
	FX_PAGE_DIRECT,	/* accessible by host pointer */
	FX_PAGE_DIRECT2,
	FX_PAGE_READ_ONLY,	/* by host pointer for reading; stores fault */
	FX_PAGE_BUS,		/* without host pointer; served by load and store */
	FX_PAGES
};

struct fixture {
	uint8_t ram[FX_RAM_SIZE];
	uint32_t mmio[FX_MMIO_REGS];
	_Alignas(8) uint8_t pages[FX_PAGES][FX_PAGE_SIZE];

	/* Signals driven by the registers with an effect. */
	void *target;
	void (*set_irq)(void *target, bool level);
	void (*set_timer)(void *target, uint64_t mtimecmp);

	/* Settings of the test, and records for it. */
	bool no_direct;		/* give no host pointer at all */
	uint32_t short_run;	/* when not 0, the run length that is reported */
	unsigned int handed_out;
	unsigned int bus_accesses;
};

/* The functions of struct fwcpu_bus, @opaque being a struct fixture. */
bool fx_load(void *opaque, uint32_t addr, unsigned int size, uint32_t *val);
bool fx_store(void *opaque, uint32_t addr, unsigned int size, uint32_t val);
uint8_t *fx_window_ptr(void *opaque, uint32_t addr, bool write, uint32_t *run_len);

#endif
