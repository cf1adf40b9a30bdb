// SPDX-License-Identifier: MIT
/*
 * Table of contexts.
 *
 * Contexts are looked up by the fw address of their structure, in a small hash
 * table. The fields that the host wrote are copied and validated once, when the
 * context is created; only the copy is used afterwards.
 */
#include "boot.h"
#include "context.h"
#include "log.h"
#include "os.h"
#include "pumice_formats.h"
#include "window.h"

#define BUCKETS		64u
/* Words of struct fwif_context that the host writes. */
#define HOST_WORDS	(__builtin_offsetof(struct fwif_context, cccb_read) / 4)

static struct context table[FWIF_MAX_CONTEXTS + (PUMICE_OS_COUNT - 1) * FWIF_MAX_OS_CONTEXTS];
static struct context_list free_list[PUMICE_OS_COUNT];
static u16 bucket[BUCKETS];

/* Return the section of a virtual GPU, so that none can use up the contexts of another. */
static struct context *first_of(u32 os)
{
	return os ? &table[FWIF_MAX_CONTEXTS + (os - 1) * FWIF_MAX_OS_CONTEXTS] : table;
}

static struct context *end_of(u32 os)
{
	return first_of(os) + (os ? FWIF_MAX_OS_CONTEXTS : FWIF_MAX_CONTEXTS);
}

void context_init(void)
{
	struct context *c;
	u32 i;

	for (i = 0; i < BUCKETS && !os_number; i++)
		bucket[i] = CONTEXT_NONE;
	free_list[os_number] = (struct context_list)CONTEXT_LIST_EMPTY;
	for (c = first_of(os_number); c < end_of(os_number); c++)
		context_list_push(&free_list[os_number], c);
}

void context_visit_working(void (*visit)(struct context *c))
{
	struct context *c;

	for (c = first_of(os_number); c < end_of(os_number); c++)
		if (c->place > PLACE_IDLE)
			visit(c);
}

bool context_any_work(u32 os)
{
	const struct context *c;

	for (c = first_of(os); c < end_of(os); c++)
		if (c->place > PLACE_IDLE)
			return true;
	return false;
}

bool context_any_ready(u32 os, u32 dm)
{
	const struct context *c;

	for (c = first_of(os); c < end_of(os); c++)
		if (c->place == PLACE_READY && c->dm == dm)
			return true;
	return false;
}

void context_release_all(void)
{
	struct context *c;

	for (c = first_of(os_number); c < end_of(os_number); c++)
		if (c->place == PLACE_IDLE)
			context_release(c);
}

u32 context_number(const struct context *c)
{
	return (u32)(c - table);
}

struct context *context_at(u32 number)
{
	return &table[number];
}

static u16 *bucket_of(u32 addr)
{
	return &bucket[addr / sizeof(struct fwif_context) % BUCKETS];
}

struct context *context_find(u32 addr)
{
	u16 i;

	for (i = *bucket_of(addr); i != CONTEXT_NONE; i = table[i].hash_next)
		if (table[i].addr == addr)
			return &table[i];
	return NULL;
}

static bool power_of_two(u32 v)
{
	return v && !(v & (v - 1));
}

/* Return whether the device, which may be older than this firmware, has a data master. */
static bool has_dm(u32 dm)
{
	return dm < FWIF_DM_COUNT &&
	       (dm != FWIF_DM_RDM || boot_device_minor() >= FWIF_RDM_SINCE_MAP);
}

/* Validate the host's part of a context. */
static bool host_part_valid(const struct fwif_context *f)
{
	u32 i;

	for (i = 0; i < sizeof(f->reserved) / sizeof(f->reserved[0]); i++)
		if (f->reserved[i])
			return false;
	return f->magic == FWIF_CONTEXT_MAGIC && has_dm(f->dm) &&
	       f->priority < FWIF_PRIORITIES && f->catalogue &&
	       !(f->catalogue & ~PUMICE_MMU_CTX__CATALOGUE__MASK) &&
	       power_of_two(f->cccb_bytes) && f->cccb_bytes >= FWIF_CCCB_MIN &&
	       f->cccb_bytes <= FWIF_CCCB_MAX && window_valid(f->cccb, f->cccb_bytes, 8) &&
	       power_of_two(f->result_count) && f->result_count <= FWIF_RING_MAX &&
	       window_valid(f->results, f->result_count * sizeof(struct fwif_job_result), 8) &&
	       (!f->save || window_valid(f->save, PUMICE_CDM_SAVE_WORDS * 4, 8)) &&
	       (!f->stuck || window_valid(f->stuck, sizeof(struct fwif_stuck), 8)) &&
	       (!f->flips || (f->dm == FWIF_DM_TDM &&
			      window_valid(f->flips, sizeof(struct fwif_flips), 8)));
}

static void fill(struct context *c, u32 addr, const struct fwif_context *f)
{
	c->addr = addr;
	c->id = f->id;
	c->dm = f->dm;
	c->priority = f->priority;
	c->cccb = f->cccb;
	c->cccb_mask = f->cccb_bytes - 1;
	c->results = f->results;
	c->result_mask = f->result_count - 1;
	c->save = f->dm == FWIF_DM_CDM ? f->save : 0;
	c->stuck = f->stuck;
	c->flips = f->flips;
	c->flips_write = 0;
	c->catalogue = os_vm(f->catalogue);
	c->os = (u8)os_number;
	c->read = 0;
	c->write = 0;
	c->seqno = 0;
	c->scene = 0;
	c->presents = 0;
	c->partials = 0;
	c->started = false;
	c->job_slices = 0;
	c->job_ticks = 0;
	c->stop_ticks = 0;
	c->stop_start = 0;
	c->renders_partial = false;
	c->run_ticks = 0;
	c->slices = 0;
	c->times_version = 0;
	c->place = PLACE_IDLE;
	c->mmu = 0;
}

enum fwif_status context_new(u32 addr, struct context **context)
{
	struct fwif_context host;
	struct context *c;

	if (!window_read(addr, &host, HOST_WORDS) || !host_part_valid(&host))
		return FWIF_STATUS_INVALID;
	if (!window_write32(addr + __builtin_offsetof(struct fwif_context, cccb_read), 0) ||
	    !window_write32(addr + __builtin_offsetof(struct fwif_context, state),
			    FWIF_CONTEXT_OK))
		return FWIF_STATUS_INVALID;
	if (context_list_empty(&free_list[os_number]))
		return FWIF_STATUS_NO_SPACE;
	c = context_list_pop(&free_list[os_number]);
	fill(c, addr, &host);
	c->state = FWIF_CONTEXT_OK;
	c->hash_next = *bucket_of(addr);
	*bucket_of(addr) = (u16)context_number(c);
	log_event(FWIF_LOG_CONTEXT_NEW, c->id, c->priority, 0);
	*context = c;
	return FWIF_STATUS_OK;
}

void context_release(struct context *c)
{
	u16 *link = bucket_of(c->addr);

	while (*link != context_number(c))
		link = &table[*link].hash_next;
	*link = c->hash_next;
	log_event(FWIF_LOG_CONTEXT_RELEASED, c->id, 0, 0);
	c->place = PLACE_FREE;
	context_list_push(&free_list[os_number], c);
}

bool context_uses(u64 catalogue)
{
	const struct context *c;

	for (c = first_of(os_number); c < end_of(os_number); c++)
		if (c->place > PLACE_IDLE && c->catalogue == catalogue)
			return true;
	return false;
}

bool context_uses_scene(u32 scene)
{
	const struct context *c;

	for (c = first_of(os_number); c < end_of(os_number); c++)
		if (c->place >= PLACE_READY && c->scene == scene)
			return true;
	return false;
}

void context_set_state(struct context *c, enum fwif_context_state state)
{
	c->state = state;
	window_write32(c->addr + __builtin_offsetof(struct fwif_context, state), state);
}

void context_publish_read(struct context *c)
{
	window_write32(c->addr + __builtin_offsetof(struct fwif_context, cccb_read), c->read);
}

void context_list_push(struct context_list *list, struct context *c)
{
	u16 number = (u16)context_number(c);

	c->next = CONTEXT_NONE;
	if (list->head == CONTEXT_NONE)
		list->head = number;
	else
		table[list->tail].next = number;
	list->tail = number;
}

struct context *context_list_pop(struct context_list *list)
{
	struct context *c;

	if (list->head == CONTEXT_NONE)
		return NULL;
	c = &table[list->head];
	list->head = c->next;
	return c;
}

void context_list_insert(struct context_list *list, struct context *c)
{
	u16 number = (u16)context_number(c);
	u16 *link = &list->head;

	while (*link != CONTEXT_NONE && table[*link].ready_since <= c->ready_since)
		link = &table[*link].next;
	c->next = *link;
	*link = number;
	if (c->next == CONTEXT_NONE)
		list->tail = number;
}

void context_list_remove(struct context_list *list, struct context *c)
{
	u16 number = (u16)context_number(c);
	u16 *link = &list->head;
	u16 before = CONTEXT_NONE;

	while (*link != number) {
		before = *link;
		link = &table[*link].next;
	}
	*link = c->next;
	if (list->tail == number)
		list->tail = before;
}

void context_list_move(struct context_list *to, struct context_list *from, u8 place)
{
	u16 i;

	if (from->head == CONTEXT_NONE)
		return;
	for (i = from->head; i != CONTEXT_NONE; i = table[i].next)
		table[i].place = place;
	if (to->head == CONTEXT_NONE)
		to->head = from->head;
	else
		table[to->tail].next = from->head;
	to->tail = from->tail;
	from->head = CONTEXT_NONE;
}
