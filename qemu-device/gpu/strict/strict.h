/* SPDX-License-Identifier: MIT */
/*
 * Findings of mode strict: errors of drivers and programs that the GPU has detected.
 *
 * Source: the project's decision; no document describes it. Documentation/strict.rst lists the
 * kinds. Blocks detect errors and report them here; this file stores and describes them.
 *
 * Limits: STRICT_FINDINGS different findings are kept, an equal share of them for each active
 * virtual GPU; those after them are counted as lost. An error that is detected again, by the same
 * instruction of the same program of that virtual GPU, is counted in the first finding. A virtual
 * GPU other than 0 whose memory is disabled has no finding of an unmapped address: all its programs
 * fault then.
 */
#ifndef PUMICE_GPU_STRICT_H
#define PUMICE_GPU_STRICT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "../fault.h"
#include "../mmu/mmu.h"
#include "places.h"
#include "pumice_regs.h"
#include "pumice_types.h"

struct cores;
struct lines;
struct race;
struct tables;
struct targets;

#define STRICT_FINDINGS 256u

/* Bytes of a finding as text, its end included. */
#define STRICT_TEXT_BYTES 768u

/* The instruction that another wave has executed, or waits at. */
struct strict_other {
	bool known;
	bool write;	/* it writes, of a race */
	bool lane_known;
	u8 wave;	/* number in the work-group */
	u8 lane;
	u32 pc;
	/* Of another work-group, perhaps of another job. */
	bool job_known, same_job;
	u8 master;	/* enum pumice_wave_master */
	u16 usc;	/* over all cores */
	u64 code;	/* GPU virtual address of its program */
	u64 tag;	/* of its job: TAG of the data master */
};

/* A table whose memory has another use. */
struct strict_table {
	bool known;
	bool directory;	/* or a page table */
	u64 va;		/* the first address that it translates */
};

/* An access to a target by the job of a data master. */
struct strict_target {
	bool known;
	bool same_job;
	u8 master;	/* unit of the data master */
	u64 tag;	/* of its job; 0: not known */
	u8 unit;
	u32 pc;		/* of the unit's instruction, if code is not 0 */
	u64 code;
};

/* The job whose program is in error. */
struct strict_job {
	u64 tag;	/* of its data master: context, and number from bit 32; 0: not known */
	u8 master;	/* enum pumice_wave_master */
};

/* The buffer of the address, as far as the host has described it. */
struct strict_buffer {
	char label[PLACES_LABEL_BYTES];	/* or empty */
	bool unmapped;	/* its mapping was removed, by operation unmapped_by */
	bool freed;	/* after that, or before */
	u64 unmapped_by;
	u64 unmapped_at;	/* clock of the GPU */
	u32 process;	/* that removed it, as the host numbers them; 0: not known */
	u64 end;	/* of past-end and unmapped: address of the first byte after it; or 0 */
};

/* State of a page of a free list, for one who is not its owner. FREE is that of a new list. */
enum strict_page_state {
	STRICT_PAGE_FREE,
	STRICT_PAGE_OWNED,	/* by a macro tile of a scene */
	STRICT_PAGE_SPARE,	/* a DPM has it for a scene */
	STRICT_PAGE_UNKNOWN,
};

#define STRICT_NO_MACRO_TILE	0xffu	/* of the scene, but not for one macro tile */
#define STRICT_SPARE		0xfeu	/* for a DPM */

/* A page of a free list: its owner, or if it is free the one that freed it. */
struct strict_page_other {
	u8 state;		/* enum strict_page_state */
	u8 macro_tile;
	u32 list, page;
	u64 scene;		/* 0: none */
};

/* A page of a free list, and who uses it. */
struct strict_page {
	bool known;
	u8 macro_tile;		/* or STRICT_NO_MACRO_TILE, STRICT_SPARE */
	u32 list;		/* address in context 0 */
	u32 page;
	u64 scene;		/* address in context 0; 0: none */
	struct strict_page_other other;
};

/* An object of the firmware's interface. */
struct strict_object {
	bool known;
	u32 addr;	/* in context 0: of a slot of a CCB, or of an update object */
	u32 place;	/* number of the slot, or the value of the update */
	u32 value;	/* command in the slot, or the value that the object has */
};

struct strict_finding {
	u8 kind;	/* enum pumice_finding */
	u8 unit;	/* enum pumice_unit */
	u8 access;	/* enum pumice_access */
	u8 ctx;		/* MMU context */
	u8 os;		/* virtual GPU; strict_report() sets it, but of an object */
	bool lane_known;
	u8 slot, wave, lane;	/* wave: number in the work-group */
	u16 usc;	/* over all cores */
	u32 pc;		/* instruction index in the program */
	u32 times;	/* detected, at least 1 */
	u64 code;	/* GPU virtual address of the program */
	u64 addr;	/* GPU virtual address, byte offset in local memory, or usc_late */
	struct strict_other other;

	/* By struct strict, complete; of past-end the buffer is by its reporter. */
	struct strict_job job;
	struct strict_buffer buffer;
	u64 invalidation;	/* of the context: the last one of the address; 0: not known */
	/* One that is known is instead of the place in a program. */
	struct strict_page page;
	struct strict_object object;
	/* Of TABLE_REUSED and TARGET_READ, the other side. */
	struct strict_table table;
	struct strict_target target;
};

/*
 * Receives each new finding as text, from the thread that has detected it. Locks of a block may be
 * held: it does not call the GPU.
 */
typedef void strict_notify_fn(void *opaque, const char *text);

struct strict {
	struct race *race;	/* NULL in other modes; changes only while no unit runs */
	struct lines *lines;	/* the same */
	struct cores *cores;	/* the same */
	struct tables *tables;	/* the same */
	struct targets *targets;	/* the same */
	const struct mmu *mmu;	/* its contexts belong to virtual GPUs; or NULL: all to 0 */
	strict_notify_fn *notify;	/* or NULL */
	/*
	 * Complete a finding that is new, in the thread that has detected it; no lock is held. Set
	 * after strict_init() and before the first report; or NULL.
	 */
	void (*complete)(void *opaque, struct strict_finding *finding);
	void *opaque;
	struct places places;	/* by the host */

	/* Guards the rest; a leaf. */
	pthread_mutex_t lock;
	u32 count;
	u32 count_of[PUMICE_OS_COUNT];	/* by virtual GPU */
	u32 clears;	/* times that all were dropped */
	u64 lost;	/* different or repeated findings that had no room */
	struct strict_finding finding[STRICT_FINDINGS];
};

void strict_init(struct strict *strict, const struct mmu *mmu, strict_notify_fn *notify,
		 void *opaque);
void strict_destroy(struct strict *strict);
/* Drop all findings, but not the places. Any thread. */
void strict_clear(struct strict *strict);
/* Store a finding, without its members times, os and job. Any thread, without the device lock. */
void strict_report(struct strict *strict, const struct strict_finding *finding);
/*
 * Return the finding of a program's fault: its kind, or false for a fault that is none. wave:
 * number in the work-group.
 */
bool strict_of_fault(const struct gpu_fault *fault, u32 wave, struct strict_finding *finding);
/* Get a finding by its number, in the order of detection; false if there is none. Any thread. */
bool strict_get(struct strict *strict, u32 number, struct strict_finding *finding);
/* The same, of those of a virtual GPU. Any thread. */
bool strict_get_of(struct strict *strict, u32 os, u32 number, struct strict_finding *finding);
/* Return how often all findings were dropped. Any thread. */
u32 strict_clears(struct strict *strict);
/* Return the number of findings that are stored. Any thread. */
u32 strict_count(struct strict *strict);
/* Return the number of findings that had no room. Any thread. */
u64 strict_lost(struct strict *strict);
/* Describe a finding as a JSON object of one line; text has STRICT_TEXT_BYTES. */
void strict_describe(const struct strict_finding *finding, char *text);

#endif
