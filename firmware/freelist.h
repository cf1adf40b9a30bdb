/* SPDX-License-Identifier: MIT */
/*
 * Free lists of the parameter buffer: asking the host for more pages. Lists are
 * named by their fw address. Called with interrupts off.
 */
#ifndef FW_FREELIST_H
#define FW_FREELIST_H

#include "pumice_types.h"

/** freelist_valid - whether a free list may lie there, and memory does. */
bool freelist_valid(u32 list);

/**
 * freelist_ask - have the host let a list grow.
 *
 * Return: false where there is nothing to wait for: it is no list, it has all the
 * pages that it may have, or the firmware CCB is full. True also if the host was
 * asked before and has not answered.
 */
bool freelist_ask(u32 list);

/**
 * freelist_answered - the host's answer.
 * @list: freelist_valid()
 * @pages: of the list from now on
 *
 * Return: whether the list has grown.
 */
bool freelist_answered(u32 list, u32 pages);

/**
 * freelist_forget - wait for no answer about a list any more; the next freelist_ask() asks
 * the host again.
 * @list: or 0
 */
void freelist_forget(u32 list);

/** freelist_forget_scene - the same for the lists of a scene at an address in the window. */
void freelist_forget_scene(u32 address);

/** freelist_low - interrupt task: a list fell below its threshold. */
void freelist_low(void);

/** freelist_freed - pages that were ever freed, of any list. */
u64 freelist_freed(void);

#endif
