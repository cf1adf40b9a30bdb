// SPDX-License-Identifier: MIT
/*
 * Free lists: requests for pages, one per list at a time.
 *
 * The parameter management (document 004, "Master DPM") allocates pages and
 * interrupts when few remain; the host decides how many a list may have. A request
 * for more is a message FREE_LIST_GROW in the firmware CCB; the reply is a command
 * FREE_LIST_GROWN in the kernel CCB.
 *
 * A request without a reply, because its message was lost or the list was released, must
 * not block later requests for that list: it is cancelled when the job that waits for it
 * is killed, and when a scene of the list is released.
 *
 * Limits: REQUESTS requests can be open at once; a further one replaces the oldest, whose
 * list may then be requested for twice, which is harmless. If two lists become low at the
 * same time, pages are requested for one only; for the other when it is empty.
 */
#include <stddef.h>

#include "bus.h"
#include "caches.h"
#include "freelist.h"
#include "fwccb.h"
#include "log.h"
#include "os.h"
#include "pumice_formats.h"
#include "window.h"

#define REQUESTS	16u

/* Lists whose request has no reply of the host yet; 0: none. */
static u32 open_request[REQUESTS];
static u32 next_request;

static u64 freed[PUMICE_OS_COUNT];
static u64 freed_counted;	/* PM_FREED up to which pages are counted there */

bool freelist_valid(u32 list)
{
	u32 probe;

	return window_valid(list, PUMICE_FREE_LIST_WORDS * 4, 4) && window_read32(list, &probe);
}

static bool read_list(u32 list, struct pumice_free_list *f)
{
	u32 words[PUMICE_FREE_LIST_WORDS];

	if (!window_valid(list, sizeof(words), 4) ||
	    !window_read(list, words, PUMICE_FREE_LIST_WORDS))
		return false;
	pumice_free_list_unpack(words, f);
	return true;
}

/* Return the open request of a list, or NULL. */
static u32 *find(u32 list)
{
	u32 i;

	for (i = 0; i < REQUESTS; i++)
		if (open_request[i] == list)
			return &open_request[i];
	return NULL;
}

bool freelist_request(u32 list)
{
	const struct fwif_fwccb_msg msg = {
		.type = FWIF_FWCCB_FREE_LIST_GROW,
		.context_id = FWIF_NO_CONTEXT,
		.code = list,
		.time = clock_now(),
	};
	struct pumice_free_list f;

	if (!list || !read_list(list, &f) || f.pages >= f.max_pages)
		return false;
	if (find(list))
		return true;
	if (!fwccb_send(&msg))
		return false;
	log_event(FWIF_LOG_FREE_LIST_GROW, list, f.pages, 0);
	open_request[next_request] = list;
	next_request = (next_request + 1) % REQUESTS;
	return true;
}

bool freelist_handle_reply(u32 list, u32 pages)
{
	u32 *request = find(list);
	struct pumice_free_list before, after;

	if (request)
		*request = 0;
	if (!read_list(list, &before))
		return false;
	/* The host has written the new entries of the list. */
	caches_flush_shared();
	reg_write64(PUMICE_PM_LIST, list);
	reg_write(PUMICE_PM_GROW, PUMICE_FIELD_PREP(PUMICE_PM_GROW__PAGES, pages));
	if (!read_list(list, &after))
		return false;
	log_event(FWIF_LOG_FREE_LIST_GROWN, list, after.pages, 0);
	return after.pages > before.pages;
}

void freelist_cancel(u32 list)
{
	u32 *request = window_valid(list, PUMICE_FREE_LIST_WORDS * 4, 4) ? find(list) : NULL;

	if (request)
		*request = 0;
}

void freelist_cancel_scene(u32 address)
{
	u32 words[PUMICE_SCENE_WORDS];
	struct pumice_scene scene;

	if (!window_read(address, words, PUMICE_SCENE_WORDS))
		return;
	pumice_scene_unpack(words, &scene);
	freelist_cancel(scene.free_list0);
	freelist_cancel(scene.free_list1);
}

void freelist_forget(u32 first, u32 bytes)
{
	u32 i;

	for (i = 0; i < REQUESTS; i++)
		if (open_request[i] - first < bytes)
			open_request[i] = 0;
}

void freelist_low(void)
{
	u32 list = (u32)reg_read64(PUMICE_PM_LOW_LIST);

	os_select_owner(list);
	freelist_request(list);
}

void freelist_count_freed(u32 os)
{
	u64 now = reg_read64_moving(PUMICE_PM_FREED);

	freed[os] += now - freed_counted;
	freed_counted = now;
}

u64 freelist_freed(u32 os)
{
	return freed[os];
}
