// SPDX-License-Identifier: MIT
/*
 * Virtual GPUs: selection and events. See os.h.
 *
 * The memory of a virtual GPU other than 0 can disappear at any time: its machine may be reset.
 * Accesses through pointers that fail are therefore skipped by the trap handler, which then calls
 * os_lose_memory().
 */
#include "bus.h"
#include "os.h"
#include "window.h"

u32 os_number;
volatile struct fwif_boot *fw_boot;

static volatile struct fwif_boot *boot_of[PUMICE_OS_COUNT];
static u32 count = 1;
/* Bit n: virtual GPU n. */
static u32 connected = 1, rang, changed, lost;

struct window_part window_part = { .first = 0, .bytes = PUMICE_FW_WINDOW_SIZE };

void os_init(u32 minor)
{
	boot_of[0] = fw_boot;
	if (minor < FWIF_OSES_SINCE_MAP)
		return;
	count = (u32)PUMICE_FIELD_GET(PUMICE_SYS_CONFIG__OSES, reg_read(PUMICE_SYS_CONFIG));
	if (count > 1)
		window_part.bytes = PUMICE_OS_PART_SIZE;
}

u32 os_count(void)
{
	return count;
}

void os_select(u32 os)
{
	if (os == os_number)
		return;
	os_number = os;
	fw_boot = boot_of[os];
	window_part.first = os * PUMICE_OS_PART_SIZE;
}

void os_select_owner(u32 addr)
{
	u32 os = count > 1 ? addr / PUMICE_OS_PART_SIZE : 0;

	if (os < count)
		os_select(os);
}

volatile struct fwif_boot *os_config(void)
{
	return boot_of[0];
}

bool os_connected(u32 os)
{
	return connected >> os & 1;
}

void os_set_connected(bool is)
{
	boot_of[os_number] = fw_boot;
	connected &= ~(1u << os_number);
	connected |= (u32)is << os_number;
}

void os_events(u32 mask)
{
	rang |= mask & ~1u;
	changed |= mask & ~1u;
}

bool os_rang(void)
{
	return !os_number || rang >> os_number & 1;
}

void os_clear_rang(void)
{
	rang &= ~(1u << os_number);
}

bool os_changed(u32 os)
{
	return changed >> os & 1;
}

void os_clear_changed(u32 os)
{
	changed &= ~(1u << os);
}

bool os_lose_memory(u32 addr)
{
	u32 os = (addr - PUMICE_FW_WINDOW_BASE) / PUMICE_OS_PART_SIZE;

	if (addr < PUMICE_FW_WINDOW_BASE || !os || os >= count)
		return false;
	lost |= 1u << os;
	return true;
}

bool os_lost(u32 os)
{
	return lost >> os & 1;
}

void os_clear_lost(u32 os)
{
	lost &= ~(1u << os);
}
