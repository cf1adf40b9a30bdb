// SPDX-License-Identifier: MIT
/* Event trace: the ring and its writers. See trace.h. */
#include "trace.h"

#include <string.h>

#define RECORD_BYTES	(PUMICE_TRACE_RECORD_WORDS * (u32)sizeof(u32))
#define LAST_WORD	(PUMICE_TRACE_RECORD_WORDS - 1u)	/* contains the sequence */
#define MIN_LOG		1u
#define LOG_MASK	(RECORD_BYTES - 1ull)	/* address bits of the ring that contain its log2 */

/* Kinds of events before register map 2.3: those without EXTENDED. */
#define FIRST_EXTENDED	10u
#define EXTENDED	PUMICE_TRACE_CTRL__EXTENDED__MASK

_Static_assert(PUMICE_TRACE_KIND_CHUNK == FIRST_EXTENDED, "the first kind of register map 2.3");
_Static_assert(TRACE_MAX_LOG <= LOG_MASK, "address and size of a ring fit one word");
_Static_assert((1u << MMU_GRAIN_SHIFT) % RECORD_BYTES == 0, "a record is within one grain");

void trace_init(struct trace *trace, const struct trace_config *config)
{
	memset(trace, 0, sizeof(*trace));
	trace->config = *config;
}

void trace_reset(struct trace *trace)
{
	const struct trace_config config = trace->config;
	const u64 session = atomic_load(&trace->enabled) >> 32;

	trace_init(trace, &config);
	atomic_store(&trace->enabled, session << 32);
}

/* Return the value of trace->ring for these registers; 0 when they do not describe a ring. */
static u64 ring_of(const struct trace_regs *regs)
{
	u32 log = MIN_LOG;

	while (log < TRACE_MAX_LOG && 1u << log != regs->entries)
		log++;
	if (1u << log != regs->entries || regs->base % RECORD_BYTES)
		return 0;
	return regs->base | log;
}

bool trace_set_enable(struct trace *trace, u32 ctrl)
{
	bool was_on = trace->regs.ctrl & PUMICE_TRACE_CTRL__ENABLE__MASK;
	u64 session = atomic_load(&trace->enabled) >> 32;
	u64 ring;

	trace->regs.ctrl = ctrl;
	if (!(ctrl & PUMICE_TRACE_CTRL__ENABLE__MASK)) {
		atomic_store(&trace->enabled, session << 32);
		return was_on;
	}
	if (!was_on) {
		ring = ring_of(&trace->regs);
		atomic_store(&trace->next, 0);
		atomic_store(&trace->ring, ring);
		session = session == UINT32_MAX ? 1 : session + 1;
	}
	if (!(ctrl & EXTENDED))
		ctrl &= (1u << FIRST_EXTENDED) - 1;
	if (!atomic_load(&trace->ring))
		ctrl = 0;
	atomic_store(&trace->enabled, session << 32 | ctrl);
	return false;
}

u64 trace_written(const struct trace *trace)
{
	return atomic_load(&trace->next);
}

void trace_set_tag(struct trace *trace, enum trace_master dm, u64 tag)
{
	if (trace)
		atomic_store_explicit(&trace->tag[dm], tag, memory_order_relaxed);
}

u64 trace_tag(const struct trace *trace, enum trace_master dm)
{
	if (!trace || dm >= TRACE_MASTERS)
		return 0;
	return atomic_load_explicit(&trace->tag[dm], memory_order_relaxed);
}

u32 trace_context(const struct trace *trace, enum trace_master dm)
{
	return (u32)trace_tag(trace, dm);
}

/* Change a record to that of register map 2.2. */
static void reduce(const struct trace *trace, struct pumice_trace_record *r)
{
	r->phase = PUMICE_TRACE_PHASE_INSTANT;
	r->dm = 0;
	r->rdm = false;
	r->slot = 0;
	r->context = trace_context(trace, TRACE_CDM);
	if (r->kind == PUMICE_TRACE_KIND_JOB_START)
		r->arg1 &= 1;
}

static struct pumice_trace_record record_of(const struct trace *trace, u64 on,
					    const struct trace_item *item, u64 number)
{
	struct pumice_trace_record r = {
		.time = trace->config.now(trace->config.opaque),
		.kind = item->kind, .mmu_ctx = (u8)item->ctx, .usc = item->usc,
		.phase = item->phase, .dm = item->dm < TRACE_RDM ? item->dm : 0,
		.rdm = item->dm == TRACE_RDM,
		.slot = item->slot,
		.context = item->context ? *item->context :
					   trace_context(trace, (enum trace_master)item->dm),
		.arg0 = item->arg0, .arg1 = item->arg1, .sequence = (u16)(number + 1),
	};

	if (!(on & EXTENDED))
		reduce(trace, &r);
	return r;
}

/*
 * Write a record. While its body changes, its sequence is one that this entry never has: the
 * previous number, which belongs to the neighbouring entry.
 */
static void write_record(u32 *to, const u32 *words, u64 number)
{
	u32 word;

	__atomic_store_n(&to[LAST_WORD], (u32)(u16)number << 16, __ATOMIC_RELAXED);
	for (word = 0; word < LAST_WORD; word++)
		__atomic_store_n(&to[word], words[word], __ATOMIC_RELEASE);
	__atomic_store_n(&to[LAST_WORD], words[LAST_WORD], __ATOMIC_RELEASE);
}

void trace_write(struct trace *trace, u64 on, const struct trace_item *item)
{
	u64 ring = atomic_load(&trace->ring);
	u32 words[PUMICE_TRACE_RECORD_WORDS];
	struct pumice_trace_record record;
	_Atomic u32 *writing;
	u64 number, place;
	u32 flag;
	u8 *host;

	if (!ring)
		return;
	number = atomic_fetch_add(&trace->next, 1);
	place = number & ((1ull << (ring & LOG_MASK)) - 1);
	writing = &trace->writing[place % TRACE_FLAG_WORDS];
	flag = 1u << place / TRACE_FLAG_WORDS;
	if (atomic_fetch_or_explicit(writing, flag, memory_order_acquire) & flag)
		return;
	record = record_of(trace, on, item, number);
	host = mmu_probe(trace->config.mmu, 0, (ring & ~LOG_MASK) + place * RECORD_BYTES,
			 PUMICE_ACCESS_WRITE);
	if (host) {
		pumice_trace_record_pack(words, &record);
		write_record((u32 *)(void *)host, words, number);
	}
	atomic_fetch_and_explicit(writing, ~flag, memory_order_release);
}

trace_span trace_write_begin(struct trace *trace, u64 on, const struct trace_item *item)
{
	trace_write(trace, on, item);
	return (trace_span)(on >> 32);
}

void trace_write_end(struct trace *trace, trace_span span, const struct trace_item *item)
{
	const u64 on = atomic_load_explicit(&trace->enabled, memory_order_relaxed);

	/* Only records of version 2.3 have begins and ends. */
	if (on >> 32 == span && on & EXTENDED)
		trace_write(trace, on, item);
}
