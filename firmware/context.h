/* SPDX-License-Identifier: MIT */
/*
 * Contexts (document 000, "Device Driver"): the table of those the firmware
 * knows, and lists of them.
 *
 * A context stands on one list at most, which its place tells. All functions
 * are called with interrupts off.
 */
#ifndef FW_CONTEXT_H
#define FW_CONTEXT_H

#include <stddef.h>

#include "fwif.h"

#define CONTEXT_NONE	0xffffu

enum context_place {
	PLACE_FREE,	/* not a context */
	PLACE_IDLE,	/* no work */
	PLACE_CHECK,	/* has commands to look at */
	PLACE_BLOCKED,	/* waits for an update object */
	PLACE_READY,	/* its job is prepared */
	PLACE_RUNNING,	/* its job is on the data master */
};

struct context {
	/* From struct fwif_context, checked. */
	u32 addr;		/* fw address of it */
	u32 id;
	u32 dm;			/* enum fwif_dm */
	u32 priority;
	u32 cccb;		/* fw address of the client CCB */
	u32 cccb_mask;		/* its bytes - 1 */
	u32 results;		/* fw address */
	u32 result_mask;	/* count - 1 */
	u32 stuck;		/* fw address of struct fwif_stuck, or 0 */
	u32 save;		/* fw address for a job that is switched out, or 0: it never is */
	u64 catalogue;

	/* Client CCB, offsets in bytes. */
	u32 read;
	u32 write;

	/* The job that is prepared or runs. */
	u64 stream;
	u64 render;		/* geometry: pdm_render of a partial render */
	u32 before, before_value;	/* of partial renders: struct fwif_cccb_render */
	u32 scene;		/* fw address; 0 for compute and transfer */
	u32 partials;		/* partial renders so far */
	u32 seqno;
	u32 job_bytes;		/* of its command */
	u32 perf;		/* fw address of struct fwif_perf, or 0 */
	bool started;		/* it has had a slice: it resumes */
	u32 job_slices;
	u64 job_ticks;		/* GPU clock ticks on the data master */
	u64 stop_ticks;		/* of these, or of the running slice, stopped for want of pages */
	u64 stop_start;		/* GPU clock of the present stop, or 0 */
	bool renders_partial;	/* see struct fwif_context */
	u64 first_start;	/* GPU clock, if started */
	u64 ready_since;	/* GPU clock when it came to a list of ready contexts */

	/* Of all its jobs. */
	u64 run_ticks;
	u32 slices;

	u32 state;		/* enum fwif_context_state */
	u8 place;		/* enum context_place */
	u8 mmu;			/* MMU context it had last; a hint */
	u16 next;		/* on its list */
	u16 hash_next;		/* in its bucket of the address table */
};

/* A first-in-first-out list of contexts. */
struct context_list {
	u16 head;
	u16 tail;
};

#define CONTEXT_LIST_EMPTY { CONTEXT_NONE, CONTEXT_NONE }

void context_init(void);

/** context_find - the context at a fw address, or NULL. */
struct context *context_find(u32 addr);

/**
 * context_new - learn of a context.
 * @addr: fw address of its struct fwif_context, valid for 8-byte alignment
 * @context: out
 *
 * Return: FWIF_STATUS_OK, _INVALID or _NO_SPACE.
 */
enum fwif_status context_new(u32 addr, struct context **context);

/** context_forget - drop an idle context. */
void context_forget(struct context *c);

/** context_is_dead - it runs nothing any more. */
static inline bool context_is_dead(const struct context *c)
{
	return c->state != FWIF_CONTEXT_OK;
}

/** context_has_work - it has commands that are not finished. */
static inline bool context_has_work(const struct context *c)
{
	return c->place != PLACE_IDLE;
}

/** context_uses - whether a context with work belongs to a VM. @catalogue: of the VM */
bool context_uses(u64 catalogue);

/** context_uses_scene - whether a prepared or running job has this scene. @scene: fw address */
bool context_uses_scene(u32 scene);

/** context_set_state - tell the host of a new state. */
void context_set_state(struct context *c, enum fwif_context_state state);

/** context_publish_read - tell the host which bytes of the client CCB are free. */
void context_publish_read(struct context *c);

/** context_number - its place in the table, and back. */
u32 context_number(const struct context *c);
struct context *context_at(u32 number);

bool context_list_empty(const struct context_list *list);
void context_list_push(struct context_list *list, struct context *c);
struct context *context_list_pop(struct context_list *list);
/** context_list_insert - add to a list of ready contexts, by the time since when they are. */
void context_list_insert(struct context_list *list, struct context *c);
/** context_list_remove - take out one from anywhere; it must be on the list. */
void context_list_remove(struct context_list *list, struct context *c);
/** context_list_move - append all of @from to @to. @place: what they get */
void context_list_move(struct context_list *to, struct context_list *from, u8 place);

#endif
