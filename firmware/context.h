/* SPDX-License-Identifier: MIT */
/*
 * Contexts (document 000, "Device Driver"): the table of contexts, in which each
 * virtual GPU has a section of its own, and lists of them.
 *
 * A context is on one list at most, which its place identifies. All functions
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
	PLACE_CHECK,	/* has commands to execute */
	PLACE_BLOCKED,	/* waits for an update object */
	PLACE_READY,	/* its job is prepared */
	PLACE_RUNNING,	/* its job is on the data master */
};

struct context {
	/* From struct fwif_context, validated. */
	u32 addr;		/* fw address of struct fwif_context */
	u32 id;
	u32 dm;			/* enum fwif_dm */
	u32 priority;
	u32 cccb;		/* fw address of the client CCB */
	u32 cccb_mask;		/* its bytes - 1 */
	u32 results;		/* fw address */
	u32 result_mask;	/* count - 1 */
	u32 stuck;		/* fw address of struct fwif_stuck, or 0 */
	u32 flips;		/* fw address of struct fwif_flips, or 0 */
	u32 save;		/* fw address for the state of a job, or 0: never switched out */
	u64 catalogue;		/* with its virtual GPU: os_vm() */

	/* Client CCB, offsets in bytes. */
	u32 read;
	u32 write;

	/* The prepared or running job. */
	u64 stream;
	u64 render;		/* geometry: pdm_render of a partial render */
	u32 before, before_value;	/* of partial renders: struct fwif_cccb_render */
	u32 scene;		/* fw address; 0 for compute and transfer */
	u32 partials;		/* partial renders so far */
	u32 seqno;		/* of the job, or of the last one */
	u32 job_bytes;		/* of its command */
	u32 perf;		/* fw address of struct fwif_perf, or 0 */
	u32 presents;		/* PRESENT commands that it may run */
	u32 caches;		/* FWIF_CACHES_* */
	bool started;		/* had a slice before: is resumed */
	u32 job_slices;
	u64 job_ticks;		/* GPU clock ticks on the data master */
	u64 stop_ticks;		/* of these and of the running slice: stalled on pages */
	u64 stop_start;		/* GPU clock of the present stall, or 0 */
	bool renders_partial;	/* see struct fwif_context */
	u64 starved;		/* ticks without room for its tasks, at the end of a slice, */
	u64 starved_groups;	/* and the work-groups that had ended then */
	u64 first_start;	/* GPU clock, if started */
	u64 ready_since;	/* GPU clock when it was appended to a list of ready contexts */

	/* Of all its jobs. */
	u64 run_ticks;
	u32 flips_write;	/* struct fwif_flips */
	u32 slices;
	u32 times_version;	/* of its times in struct fwif_context */

	u32 state;		/* enum fwif_context_state */
	u8 os;			/* virtual GPU */
	u8 place;		/* enum context_place */
	u8 mmu;			/* MMU context it was bound to last; a hint */
	u16 next;		/* on its list */
	u16 hash_next;		/* in its bucket of the address table */
};

/* A first-in-first-out list of contexts. */
struct context_list {
	u16 head;
	u16 tail;
};

#define CONTEXT_LIST_EMPTY { CONTEXT_NONE, CONTEXT_NONE }

/** context_init - set up the section of the selected virtual GPU: all its contexts are free. */
void context_init(void);

/** context_visit_working - visit all contexts of the selected virtual GPU that have work. */
void context_visit_working(void (*visit)(struct context *c));

/** context_any_work - return whether a context of a virtual GPU has unfinished commands. */
bool context_any_work(u32 os);

/** context_any_ready - return whether a virtual GPU has ready contexts on a data master. */
bool context_any_ready(u32 os, u32 dm);

/** context_release_all - release all contexts of the selected virtual GPU; none has work. */
void context_release_all(void);

/** context_find - look up the context at a fw address, which has one owner, or NULL. */
struct context *context_find(u32 addr);

/**
 * context_new - validate and register a context.
 * @addr: fw address of its struct fwif_context, valid for 8-byte alignment
 * @context: out
 *
 * Return: FWIF_STATUS_OK, _INVALID or _NO_SPACE.
 */
enum fwif_status context_new(u32 addr, struct context **context);

/** context_release - release an idle context. */
void context_release(struct context *c);

/** context_is_dead - return whether the context was killed or is broken: it runs no more jobs. */
static inline bool context_is_dead(const struct context *c)
{
	return c->state != FWIF_CONTEXT_OK;
}

/** context_has_work - return whether the context has unfinished commands. */
static inline bool context_has_work(const struct context *c)
{
	return c->place != PLACE_IDLE;
}

/** context_uses - return whether a context with work uses a VM. @catalogue: os_vm() */
bool context_uses(u64 catalogue);

/**
 * context_uses_scene - return whether a prepared or running job of the selected virtual GPU uses a
 * scene. @scene: fw address
 */
bool context_uses_scene(u32 scene);

/** context_set_state - set the state and publish it to the host. */
void context_set_state(struct context *c, enum fwif_context_state state);

/** context_publish_read - publish the read offset of the client CCB to the host. */
void context_publish_read(struct context *c);

/** context_number - index in the table; context_at() is the inverse. */
u32 context_number(const struct context *c);
struct context *context_at(u32 number);

static inline bool context_list_empty(const struct context_list *list)
{
	return list->head == CONTEXT_NONE;
}

void context_list_push(struct context_list *list, struct context *c);
struct context *context_list_pop(struct context_list *list);
/** context_list_insert - insert into a list of ready contexts, sorted by ready_since. */
void context_list_insert(struct context_list *list, struct context *c);
/** context_list_remove - remove a context, which must be on the list. */
void context_list_remove(struct context_list *list, struct context *c);
/** context_list_move - append all of @from to @to. @place: new place of the moved contexts */
void context_list_move(struct context_list *to, struct context_list *from, u8 place);

#endif
