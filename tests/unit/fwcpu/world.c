// SPDX-License-Identifier: MIT
/*
 * Fixture of a firmware processor; see world.h.
 */
#include "world.h"

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

/* The window page that holds @addr, or WORLD_PAGES. */
static uint32_t page_of(uint32_t addr)
{
	uint32_t page;

	if (addr < WORLD_WINDOW_BASE)
		return WORLD_PAGES;
	page = (addr - WORLD_WINDOW_BASE) / WORLD_PAGE_SIZE;
	return page < WORLD_PAGES ? page : WORLD_PAGES;
}

static bool is_register(uint32_t addr, unsigned int size)
{
	return addr >= WORLD_MMIO_BASE && addr - WORLD_MMIO_BASE < WORLD_MMIO_SIZE && size == 4;
}

bool world_load(void *opaque, uint32_t addr, unsigned int size, uint32_t *val)
{
	struct world *w = opaque;
	uint32_t page = page_of(addr);

	w->bus_accesses++;
	if (is_register(addr, size)) {
		*val = w->mmio[(addr - WORLD_MMIO_BASE) / 4];
		return true;
	}
	if (page == WORLD_PAGES)
		return false;
	*val = get(&w->pages[page][addr % WORLD_PAGE_SIZE], size);
	return true;
}

static void store_register(struct world *w, uint32_t reg, uint32_t val)
{
	w->mmio[reg] = val;
	if (reg == WORLD_REG_IRQ)
		w->set_irq(w->target, val & 1);
	else if (reg == WORLD_REG_TIMER)
		w->set_timer(w->target, val);
}

bool world_store(void *opaque, uint32_t addr, unsigned int size, uint32_t val)
{
	struct world *w = opaque;
	uint32_t page = page_of(addr);

	w->bus_accesses++;
	if (is_register(addr, size)) {
		store_register(w, (addr - WORLD_MMIO_BASE) / 4, val);
		return true;
	}
	if (page == WORLD_PAGES || page == WORLD_PAGE_READ_ONLY)
		return false;
	put(&w->pages[page][addr % WORLD_PAGE_SIZE], size, val);
	return true;
}

uint8_t *world_window_ptr(void *opaque, uint32_t addr, bool write, uint32_t *run_len)
{
	struct world *w = opaque;
	uint32_t page = page_of(addr);

	if (w->no_direct || page == WORLD_PAGES || page == WORLD_PAGE_BUS ||
	    (write && page == WORLD_PAGE_READ_ONLY))
		return 0;
	w->handed_out++;
	*run_len = w->short_run ? w->short_run : WORLD_PAGE_SIZE;
	return w->pages[page];
}
