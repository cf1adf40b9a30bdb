// SPDX-License-Identifier: MIT
/*
 * Loads and stores that are not entirely inside private RAM: the end of RAM, the firmware
 * bus, and the window onto GPU memory.
 *
 * The window uses a small direct-mapped TLB of host pointers, because the firmware reads its
 * command rings there. Accesses through it are single relaxed atomics: the driver and other
 * units work on the same memory. FENCE orders them (exec_system.h).
 *
 * Faults follow the privileged ISA, section 3.1.16: mtval is the address of the part of the
 * access that failed.
 */
#include "internal.h"

static bool fault(struct fwcpu *cpu, enum rv_cause cause, uint32_t tval)
{
	cpu->fault_cause = cause;
	cpu->fault_tval = tval;
	return false;
}

/* Refuse accesses that belong to neither the bus nor the window. */
static bool check_outside(struct fwcpu *cpu, uint32_t addr, unsigned int size,
			  enum rv_cause misaligned, enum rv_cause access)
{
	const struct fwcpu_config *cfg = &cpu->cfg;

	/* An access that begins in RAM and was not done there crosses its end. */
	if (addr < cfg->ram_size)
		return fault(cpu, access, cfg->ram_size);
	if (addr & (size - 1))
		return fault(cpu, misaligned, addr);
	if (addr < cfg->window_base && addr - cfg->mmio_base >= cfg->mmio_size)
		return fault(cpu, access, addr);
	return true;
}

void fwcpu_tlb_clear(struct fwcpu *cpu)
{
	memset(cpu->tlb, 0, sizeof(cpu->tlb));
}

/* Request the page at window address @page from the owner. */
static uint8_t *tlb_fill(struct fwcpu *cpu, struct fwcpu_tlb_entry *entry, uint32_t page,
			 bool write)
{
	const struct fwcpu_bus *bus = &cpu->cfg.bus;
	uint32_t run = 0;
	uint8_t *host;

	if (!bus->window_ptr)
		return NULL;
	cpu->slow++;
	host = bus->window_ptr(bus->opaque, page, write, &run);
	if (!host || run < FWCPU_WINDOW_PAGE || ((uintptr_t)host & 3))
		return NULL;

	entry->read_page = page;
	entry->write_page = write ? page : 0;
	entry->host = host;
	return host;
}

/* Return the host address of @addr in the window, NULL when the bus must be used. */
static uint8_t *window_host(struct fwcpu *cpu, uint32_t addr, bool write)
{
	uint32_t offset = addr & (FWCPU_WINDOW_PAGE - 1);
	uint32_t page = addr - offset;
	struct fwcpu_tlb_entry *entry = &cpu->tlb[addr / FWCPU_WINDOW_PAGE % FWCPU_TLB_ENTRIES];
	uint8_t *host;

	if (__atomic_load_n(&cpu->window_stale, __ATOMIC_RELAXED) &&
	    __atomic_exchange_n(&cpu->window_stale, 0, __ATOMIC_ACQUIRE))
		fwcpu_tlb_clear(cpu);

	if ((write ? entry->write_page : entry->read_page) == page)
		host = entry->host;
	else
		host = tlb_fill(cpu, entry, page, write);
	return host ? host + offset : NULL;
}

/*
 * The firmware's accesses to memory are ordered by its fence instruction, a fence of the
 * host's processor. ThreadSanitizer does not support standalone fences, so for it every
 * access is ordered.
 */
#ifdef __SANITIZE_THREAD__
#define ORDER_LOAD __ATOMIC_ACQUIRE
#define ORDER_STORE __ATOMIC_RELEASE
#else
#define ORDER_LOAD __ATOMIC_RELAXED
#define ORDER_STORE __ATOMIC_RELAXED
#endif

uint32_t fwcpu_host_load(const uint8_t *p, unsigned int size)
{
	switch (size) {
	case 1:
		return __atomic_load_n(p, ORDER_LOAD);
	case 2:
		return fwcpu_le16(__atomic_load_n((const uint16_t *)(const void *)p,
						  ORDER_LOAD));
	default:
		return fwcpu_le32(__atomic_load_n((const uint32_t *)(const void *)p,
						  ORDER_LOAD));
	}
}

void fwcpu_host_store(uint8_t *p, unsigned int size, uint32_t val)
{
	switch (size) {
	case 1:
		__atomic_store_n(p, (uint8_t)val, ORDER_STORE);
		break;
	case 2:
		__atomic_store_n((uint16_t *)(void *)p, fwcpu_le16((uint16_t)val),
				 ORDER_STORE);
		break;
	default:
		__atomic_store_n((uint32_t *)(void *)p, fwcpu_le32(val), ORDER_STORE);
		break;
	}
}

/* Limit the value to the width of the store. */
static uint32_t low_bytes(uint32_t val, unsigned int size)
{
	return val & (0xffffffffu >> (32 - 8 * size));
}

bool fwcpu_load_outside(struct fwcpu *cpu, uint32_t addr, unsigned int size, uint32_t *val)
{
	const struct fwcpu_bus *bus = &cpu->cfg.bus;
	const uint8_t *host = NULL;

	if (!check_outside(cpu, addr, size, RV_CAUSE_LOAD_MISALIGNED, RV_CAUSE_LOAD_ACCESS))
		return false;
	if (addr >= cpu->cfg.window_base)
		host = window_host(cpu, addr, false);
	if (host) {
		*val = fwcpu_host_load(host, size);
		return true;
	}

	*val = 0;
	cpu->slow++;
	if (!bus->load(bus->opaque, addr, size, val))
		return fault(cpu, RV_CAUSE_LOAD_ACCESS, addr);
	return true;
}

bool fwcpu_store_outside(struct fwcpu *cpu, uint32_t addr, unsigned int size, uint32_t val)
{
	const struct fwcpu_bus *bus = &cpu->cfg.bus;
	uint8_t *host = NULL;

	if (!check_outside(cpu, addr, size, RV_CAUSE_STORE_MISALIGNED, RV_CAUSE_STORE_ACCESS))
		return false;
	if (addr >= cpu->cfg.window_base)
		host = window_host(cpu, addr, true);
	if (host) {
		fwcpu_host_store(host, size, val);
		return true;
	}

	cpu->slow++;
	if (!bus->store(bus->opaque, addr, size, low_bytes(val, size)))
		return fault(cpu, RV_CAUSE_STORE_ACCESS, addr);
	return true;
}
