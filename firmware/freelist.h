/* SPDX-License-Identifier: MIT */
/*
 * Free lists of the parameter buffer: requesting more pages from the host. Lists
 * are identified by their fw address. Called with interrupts off.
 */
#ifndef FW_FREELIST_H
#define FW_FREELIST_H

#include "pumice_types.h"

/** freelist_valid - return whether an address is valid for a free list and is mapped. */
bool freelist_valid(u32 list);

/**
 * freelist_request - request the host to grow a list.
 *
 * Return: false if no reply can be expected: the address is not a list, the list has
 * its maximum of pages, or the firmware CCB is full. True also if a request for
 * the list is open already.
 */
bool freelist_request(u32 list);

/**
 * freelist_handle_reply - process the host's reply to a request.
 * @list: freelist_valid()
 * @pages: number of pages of the list from now on
 *
 * Return: whether the list has grown.
 */
bool freelist_handle_reply(u32 list, u32 pages);

/**
 * freelist_cancel - cancel the open request of a list, so that the next freelist_request()
 * sends another one.
 * @list: fw address, or anything else: ignored
 */
void freelist_cancel(u32 list);

/** freelist_forget - cancel the requests for all lists in a range of fw addresses. */
void freelist_forget(u32 first, u32 bytes);

/** freelist_cancel_scene - cancel the requests for the lists of a scene. @address: in the window */
void freelist_cancel_scene(u32 address);

/** freelist_low - interrupt task: a list fell below its threshold. */
void freelist_low(void);

/** freelist_count_freed - count the pages freed since the last call for a virtual GPU. */
void freelist_count_freed(u32 os);

/** freelist_freed - number of pages that were counted for a virtual GPU. */
u64 freelist_freed(u32 os);

#endif
