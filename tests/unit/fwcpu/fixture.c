// SPDX-License-Identifier: MIT
/*
 * Fixture of a firmware processor; see fixture.h.
 */
#include "fixture.h"

static uint32_t get(const uint8_t *p, unsigned int size)
{
	uint32_t val = 0;

	for (unsigned int i = 0; i < size; i++)
		val |= (uint32_t)p[i] << (8 * i);
	return val;
}

static void put(uint8_t *p, unsigned int size, uint32_t val)
{
	for (unsigned int i = 0; i < size; i++)
		p[i] = (uint8_t)(val >> (8 * i));
}

/* Return the window page that contains @addr, or FX_PAGES. */
static uint32_t page_of(uint32_t addr)
{
	uint32_t page;

	if (addr < FX_WINDOW_BASE)
		return FX_PAGES;
	page = (addr - FX_WINDOW_BASE) / FX_PAGE_SIZE;
	return page < FX_PAGES ? page : FX_PAGES;
}

static bool is_register(uint32_t addr, unsigned int size)
{
	return addr >= FX_MMIO_BASE && addr - FX_MMIO_BASE < FX_MMIO_SIZE && size == 4;
}

bool fx_load(void *opaque, uint32_t addr, unsigned int size, uint32_t *val)
{
	struct fixture *w = opaque;
	uint32_t page = page_of(addr);

	w->bus_accesses++;
	if (is_register(addr, size)) {
		*val = w->mmio[(addr - FX_MMIO_BASE) / 4];
		return true;
	}
	if (page == FX_PAGES)
		return false;
	*val = get(&w->pages[page][addr % FX_PAGE_SIZE], size);
	return true;
}

static void store_register(struct fixture *w, uint32_t reg, uint32_t val)
{
	w->mmio[reg] = val;
	if (reg == FX_REG_IRQ)
		w->set_irq(w->target, val & 1);
	else if (reg == FX_REG_TIMER)
		w->set_timer(w->target, val);
}

bool fx_store(void *opaque, uint32_t addr, unsigned int size, uint32_t val)
{
	struct fixture *w = opaque;
	uint32_t page = page_of(addr);

	w->bus_accesses++;
	if (is_register(addr, size)) {
		store_register(w, (addr - FX_MMIO_BASE) / 4, val);
		return true;
	}
	if (page == FX_PAGES || page == FX_PAGE_READ_ONLY)
		return false;
	put(&w->pages[page][addr % FX_PAGE_SIZE], size, val);
	return true;
}

uint8_t *fx_window_ptr(void *opaque, uint32_t addr, bool write, uint32_t *run_len)
{
	struct fixture *w = opaque;
	uint32_t page = page_of(addr);

	if (w->no_direct || page == FX_PAGES || page == FX_PAGE_BUS ||
	    (write && page == FX_PAGE_READ_ONLY))
		return 0;
	w->handed_out++;
	*run_len = w->short_run ? w->short_run : FX_PAGE_SIZE;
	return w->pages[page];
}
