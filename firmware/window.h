/* SPDX-License-Identifier: MIT */
/*
 * The window onto MMU context 0, which maps the host's structures.
 *
 * Addresses from the host are untrusted. They are checked once with window_valid()
 * when they are received, and accessed by the functions of window.S, which return
 * false instead of trapping if the address is not mapped, so that a bad address
 * fails its command only. Pointers are used for the boot structure and its rings
 * only, which are probed at boot.
 */
#ifndef FW_WINDOW_H
#define FW_WINDOW_H

#include "pumice_regs.h"
#include "pumice_types.h"

/* The addresses of the selected virtual GPU (os.h): all, if the device has one. */
extern struct window_part {
	u32 first, bytes;
} window_part;

/**
 * window_valid - return whether a fw address may hold an object of the selected virtual GPU.
 * @addr: fw address
 * @bytes: size of the object, not 0
 * @align: power of two
 */
static inline bool window_valid(u32 addr, u32 bytes, u32 align)
{
	const u32 at = addr - window_part.first;

	return addr && !(addr & (align - 1)) && at < window_part.bytes &&
	       bytes <= window_part.bytes - at;
}

/** window_ptr - return the processor address of a fw address that was probed at boot. */
static inline volatile void *window_ptr(u32 addr)
{
	return (volatile void *)(PUMICE_FW_WINDOW_BASE + addr);
}

/*
 * Accesses that may fail. All expect fw addresses that window_valid() accepted
 * with an alignment of 4; counts are in words, not 0. Return false if a word is not
 * mapped; the words before it have then been accessed.
 */
bool window_read32(u32 addr, u32 *value);
bool window_write32(u32 addr, u32 value);
bool window_read(u32 addr, void *to, u32 words);
bool window_write(u32 addr, const void *from, u32 words);

/* Bounds of the code in window.S, and the address where a trap in it continues. */
extern const char window_code_start[], window_code_end[], window_failed[];

#endif
