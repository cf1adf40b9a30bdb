// SPDX-License-Identifier: MIT
/*
 * Textual descriptions of failed jobs: pumice_context_describe_job().
 *
 * The result comes from the device through the firmware, so its numbers are not
 * trusted: they are only printed, or looked up in this library's programs and buffers.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "advice.h"
#include "faults.h"
#include "heaps_internal.h"
#include "program.h"
#include "pumice_decode.h"
#include "pumice_names.h"
#include "pumice_regs.h"

#define INSN_BYTES	(PUMICE_USC_WORDS * 4u)
#define SHOWN		4u		/* instructions before and after the one that failed */
#define NEAR_BYTES	(64ull << 20)	/* a buffer further away is considered unrelated */
#define INTERNAL_NEAR	(64ull << 10)	/* the same for a buffer of the library */
#define LOCAL_WRAP	(64ull << 10)	/* largest negative offset in local memory */
#define WRAP_BYTES	(1ull << 32)	/* range of the offset of an address */

struct text {
	char *at;
	size_t left;	/* including the NUL */
	bool cut;	/* part of it did not fit */
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *t, const char *format, ...)
{
	va_list args;
	int wanted;

	va_start(args, format);
	wanted = vsnprintf(t->at, t->left, format, args);
	va_end(args);
	if (wanted < 0)
		return;
	if ((size_t)wanted >= t->left) {
		t->cut = true;
		wanted = t->left ? (int)t->left - 1 : 0;
	}
	t->at += wanted;
	t->left -= (size_t)wanted;
}

/* ------------------------------------------------------------------- buffers */

/* The used part of a range, and the distance of an address from it. */
struct near {
	const struct bound_range *range;
	u64 start, end;
	u64 distance;	/* 0: inside */
};

static struct near near_range(const struct bound_range *range, u64 va)
{
	struct near n = { .range = range };

	bound_used(range, &n.start, &n.end);
	n.distance = bound_distance(n.start, n.end, va);
	return n;
}

/* Return whether a unit reads mostly buffers of the library: streams, states and programs. */
static bool reads_internal(u32 unit)
{
	return unit == PUMICE_UNIT_CDM || unit == PUMICE_UNIT_VDM ||
	       unit == PUMICE_UNIT_PTLA || unit == PUMICE_UNIT_PDS ||
	       unit == PUMICE_UNIT_USC_CODE || unit == PUMICE_UNIT_RDM;
}

/*
 * Get the distance from which on a buffer is considered unrelated to an access of a unit: one of
 * the library is, beyond a page, unless the unit reads such buffers.
 */
static u64 near_limit(const struct pumice_bo *bo, u32 unit)
{
	if (!bo->internal)
		return NEAR_BYTES;
	return reads_internal(unit) ? INTERNAL_NEAR : PAGE_BYTES;
}

/* Find the buffer nearest to an address that a unit accessed. */
static bool find_near(struct pumice_vm *vm, u64 va, u32 unit, struct near *best)
{
	struct bound_range *r;

	best->range = NULL;
	for (r = bound_first(&vm->bound); r; r = bound_next(r)) {
		struct near n = near_range(r, va);

		if (!n.range->bo || n.distance > near_limit(n.range->bo, unit))
			continue;
		if (!best->range || n.distance < best->distance)
			*best = n;
	}
	return best->range;
}

/* Put a label in quotes; a remark after a comma, as in "x, argument 0", follows them. */
static void put_label(struct text *t, const char label[PUMICE_LABEL_BYTES], bool internal)
{
	const int bytes = (int)strnlen(label, PUMICE_LABEL_BYTES);
	const char *remark = memmem(label, (size_t)bytes, ", ", 2);
	const int name = remark ? (int)(remark - label) : bytes;

	if (internal)
		put(t, "%.*s of the library", bytes, label);
	else
		put(t, "'%.*s'%.*s", name, label, bytes - name, label + name);
}

static void put_name(struct text *t, const struct near *n)
{
	struct pumice_bo *bo = (struct pumice_bo *)n->range->bo;
	char label[PUMICE_LABEL_BYTES];

	pthread_mutex_lock(&bo->lock);
	memcpy(label, bo->label, sizeof(label));
	pthread_mutex_unlock(&bo->lock);
	if (label[0])
		put_label(t, label, bo->internal);
	else
		put(t, "the buffer of %" PRIu64 " bytes at %#" PRIx64, n->end - n->start, n->start);
}

/* Put the place of an address in a range or near it. */
static void put_position(struct text *t, u64 start, u64 end, u64 va)
{
	if (va < start)
		put(t, ", %" PRIu64 " byte%s before the start of ", start - va,
		    start - va == 1 ? "" : "s");
	else if (va < end)
		put(t, ", byte %" PRIu64 " of ", va - start);
	else if (va == end)
		put(t, ", at the first byte past the end of ");
	else
		put(t, ", %" PRIu64 " byte%s past the end of ", va - end, va - end == 1 ? "" : "s");
}

static void put_near(struct text *t, const struct near *n, u64 va)
{
	put_position(t, n->start, n->end, va);
	put_name(t, n);
}

/* Name the unbound buffer that an address was in, or near which it was. */
static void put_former(struct text *t, const struct bound_former *f, u64 va)
{
	put_position(t, f->va, f->va + f->size, va);
	if (f->label[0])
		put_label(t, f->label, f->internal);
	else
		put(t, "a buffer of %" PRIu64 " bytes", f->size);
	put(t, ", which was destroyed or unbound");
}

/*
 * Name the buffer at an address or near it. An offset is unsigned: one that was meant to be
 * negative is 4 GiB too far.
 * The lock of the VM keeps the buffers alive; it is never acquired with a buffer's lock held.
 * Return: false if there is none.
 */
static bool put_buffer(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	const struct bound_former *former;
	const u64 va = r->fault_va;
	bool found = true;
	struct near n;

	pthread_mutex_lock(&vm->lock);
	former = bound_find_former(&vm->bound, va);
	if (find_near(vm, va, r->unit, &n) && (!n.distance || !former)) {
		put_near(t, &n, va);
		if (!n.distance && n.range->flags & PUMICE_BIND_READONLY &&
		    pumice_fault_is_access(r->fault))
			put(t, ", which is read only");
	} else if (former) {
		put_former(t, former, va);
	} else if (va >= WRAP_BYTES && find_near(vm, va - WRAP_BYTES, r->unit, &n)) {
		put_near(t, &n, va - WRAP_BYTES);
		put(t, ", if the offset was meant to be negative");
	} else {
		put(t, ", not near any buffer");
		found = false;
	}
	pthread_mutex_unlock(&vm->lock);
	return found;
}

/* ------------------------------------------------------------------ programs */

/* Find the program at an address, or NULL. The caller holds its VM's lock. */
static const struct pumice_kernel *find_kernel(const struct pumice_vm *vm, u64 code)
{
	const struct pumice_kernel *k;

	for (k = vm->kernels; k; k = k->next)
		if (k->code_va == code)
			return k;
	return NULL;
}

/* Find the program that contains an address, or NULL. The caller holds its VM's lock. */
static const struct pumice_kernel *find_kernel_around(const struct pumice_vm *vm, u64 va)
{
	const struct pumice_kernel *k;

	for (k = vm->kernels; k; k = k->next)
		if (va >= k->code_va &&
		    va - k->code_va < (u64)k->program->header.usc_insns * INSN_BYTES)
			return k;
	return NULL;
}

static void put_source(struct text *t, const struct pumice_program *program, u32 insn,
		       const char *between)
{
	struct pumice_source_line line[PUMICE_SOURCE_DEPTH];
	u32 count = PUMICE_SOURCE_DEPTH, i;

	if (pumice_program_get_lines(program, insn, line, &count))
		return;
	for (i = 0; i < count; i++)
		put(t, "%s%s:%u", i ? " < " : between, line[i].file, line[i].line);
}

static void put_insn(struct text *t, const struct pumice_program *program, u32 insn)
{
	char line[PUMICE_DECODE_LINE];

	pumice_isa_text(&pumice_usc_isa, program->usc + (size_t)insn * PUMICE_USC_WORDS, line);
	put(t, "%s", line);
}

static void put_around(struct text *t, const struct pumice_program *program, u32 insn)
{
	const u32 count = program->header.usc_insns;
	const u32 first = insn > SHOWN ? insn - SHOWN : 0;
	u32 i;

	for (i = first; i < count && i - first <= insn - first + SHOWN; i++) {
		put(t, "  %s %5u  ", i == insn ? "=>" : "  ", i);
		put_insn(t, program, i);
		put_source(t, program, i, "    ; ");
		put(t, "\n");
	}
	if (insn == count)
		put(t, "  => %5u  (the program has no further instruction: end is missing)\n",
		    count);
}

/* --------------------------------------------------------------------- faults */

static void put_instance(struct text *t, const struct pumice_job_result *r,
			 const struct pumice_program *program)
{
	const struct pumice_program_header *h = program ? &program->header : NULL;
	const u32 row = h ? h->size_x : 0, slice = h ? (u32)h->size_x * h->size_y : 0;

	put(t, "lane %u, instance %u", r->lane, r->instance);
	if (r->known & PUMICE_FAULT_GROUP && slice)
		put(t, " (%u, %u, %u)", r->instance % row, r->instance % slice / row,
		    r->instance / slice);
}

static void put_wave(struct text *t, const struct pumice_job_result *r,
		     const struct pumice_program *program)
{
	const char *between = "  ";

	if (r->known & PUMICE_FAULT_LANE) {
		put(t, "%s", between);
		put_instance(t, r, program);
		between = ", ";
	}
	if (r->known & PUMICE_FAULT_GROUP) {
		put(t, "%swork-group (%u, %u, %u)", between, r->group[0], r->group[1], r->group[2]);
		between = ", ";
	}
	put(t, "%swave %u, slot %u, usc %u\n", between, r->wave, r->slot, r->usc);
}

static void put_place(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	const struct pumice_kernel *k;
	u32 count;

	pthread_mutex_lock(&vm->lock);
	k = find_kernel(vm, r->code);
	count = k ? k->program->header.usc_insns : 0;
	if (r->pc > count)
		k = NULL;
	put(t, "  instruction %u of the program at %#" PRIx64, r->pc, r->code);
	/* The fault that ends a program is after its last instruction. */
	if (k && count)
		put_source(t, k->program, r->pc < count ? r->pc : count - 1, ", ");
	put(t, "\n");
	if (r->known & PUMICE_FAULT_WAVE)
		put_wave(t, r, k ? k->program : NULL);
	if (k)
		put_around(t, k->program, r->pc);
	pthread_mutex_unlock(&vm->lock);
}

/* A program that was refused when it was loaded: no wave has run it. */
static void put_refused(struct text *t, struct pumice_vm *vm, u64 va)
{
	const struct pumice_kernel *k;
	u32 insn;

	pthread_mutex_lock(&vm->lock);
	k = find_kernel_around(vm, va);
	if (k) {
		insn = (u32)((va - k->code_va) / INSN_BYTES);
		put(t, "  instruction %u of the program at %#" PRIx64, insn, k->code_va);
		put_source(t, k->program, insn, ", ");
		put(t, ", which was not run\n");
		put_around(t, k->program, insn);
	}
	pthread_mutex_unlock(&vm->lock);
}

/* Explain a misaligned access, if the program is known. */
static void put_alignment(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	const struct pumice_kernel *k;
	struct pumice_usc_insn insn;

	pthread_mutex_lock(&vm->lock);
	k = find_kernel(vm, r->code);
	if (k && r->pc < k->program->header.usc_insns) {
		pumice_usc_unpack(k->program->usc + (size_t)r->pc * PUMICE_USC_WORDS, &insn);
		put(t, " %s", advice_alignment(insn.opcode));
	}
	pthread_mutex_unlock(&vm->lock);
}

/* Explain an access of local memory that exceeds the allocation, if the program is known. */
static void put_local(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	const u64 offset = r->fault_va;
	const struct pumice_kernel *k;
	u32 size;

	pthread_mutex_lock(&vm->lock);
	k = find_kernel(vm, r->code);
	size = k ? k->program->header.local_bytes : 0;
	pthread_mutex_unlock(&vm->lock);
	if (k && !size)
		put(t, ", but the work-group has none: declare it: .local BYTES");
	else if (offset >= WRAP_BYTES)
		put(t, ", the sum of a negative register and a displacement: offsets are unsigned");
	else if (offset >= WRAP_BYTES - LOCAL_WRAP)
		put(t, ", %" PRId64 " if it was meant to be negative: offsets are unsigned",
		    (s64)(offset - WRAP_BYTES));
	else if (k && offset < size)
		put(t, ": the access crosses the end of its %" PRIu32 " bytes", size);
	else if (k && offset == size)
		put(t, ", the first byte past the end of its %" PRIu32 " bytes", size);
	else if (k)
		put(t, ", %" PRIu64 " bytes past the end of its %" PRIu32 " bytes", offset - size,
		    size);
}

/* Name memory that was loaded before the wait for the store that writes it. */
static void put_late_memory(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	struct pumice_job_result of = *r;

	of.fault_va = pumice_late_memory_va(r->fault_va);
	put(t, ": memory at %#" PRIx64, of.fault_va);
	put_buffer(t, vm, &of);
	put(t, " is loaded before a wait for sig%u, of the store that writes it",
	    pumice_late_memory_signal(r->fault_va));
}

/* Name the register, or the place in memory, that was used too early. */
static void put_late(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	const u32 word = (u32)r->fault_va;
	struct pumice_usc_operand reg;
	struct pumice_usc_late what;

	if (pumice_late_is_memory(r->fault_va)) {
		put_late_memory(t, vm, r);
		return;
	}
	if (pumice_usc_late_unpack(&word, &what) || pumice_usc_operand_unpack(&what.place, &reg))
		return;
	if (what.local)
		put(t, ": byte %u of local memory", what.place);
	else
		put(t, ": %s%u", pumice_usc_bank_str(reg.bank), reg.num);
	put(t, " is %s before a wait for sig%u, of the access that %s it",
	    what.write ? "written" : "read", what.sig, what.write ? "loads or copies" : "loads");
}

static void put_fault(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	const bool mmu = pumice_fault_is_mmu(r->fault);
	bool found = true;

	put(t, "job faulted: %s at %#" PRIx64 " in %s, pc %u", pumice_fault_name(r->fault),
	    r->fault_va, pumice_unit_name(r->unit), r->pc);
	if (pumice_fault_is_local(r->fault))
		put(t, ": offset %" PRIu64 " of local memory", r->fault_va);
	if (r->fault == PUMICE_FAULT_USC_LOCAL_BOUNDS)
		put_local(t, vm, r);
	if (pumice_fault_is_late(r->fault))
		put_late(t, vm, r);
	if (pumice_fault_is_access(r->fault)) {
		put(t, ": %s", pumice_access_name(r->access));
		found = put_buffer(t, vm, r);
	} else if (r->unit == PUMICE_UNIT_RTU) {
		put_buffer(t, vm, r);	/* of the acceleration structure */
	}
	if (mmu && *advice_access(r->fault, r->unit, found))
		put(t, "\n  %s", advice_access(r->fault, r->unit, found));
	if (!found && *advice_address(r->fault_va, heaps_end(vm->dev)))
		put(t, " %s", advice_address(r->fault_va, heaps_end(vm->dev)));
	if (!mmu && *pumice_fault_doc(r->fault))
		put(t, "\n  %s", pumice_fault_doc(r->fault));
	if (!mmu && (pumice_fault_is_access(r->fault) || r->fault == PUMICE_FAULT_USC_LOCAL_ALIGN))
		put_alignment(t, vm, r);
	if (*advice_fault(r->fault))
		put(t, " %s", advice_fault(r->fault));
	put(t, "\n");
	if (r->known & PUMICE_FAULT_PROGRAM)
		put_place(t, vm, r);
	else if (r->unit == PUMICE_UNIT_USC_CODE && !mmu)
		put_refused(t, vm, r->fault_va);
}

/* ------------------------------------------------------------------ time-outs */

static void put_waves(struct text *t, struct pumice_vm *vm, const struct pumice_stuck_place *place)
{
	const struct pumice_kernel *k = find_kernel(vm, place->code);

	put(t, "  %u at instruction %u%s of the program at %#" PRIx64, place->waves, place->pc,
	    place->barrier ? " (barrier)" : "", place->code);
	if (k && place->pc < k->program->header.usc_insns) {
		put_source(t, k->program, place->pc, ", ");
		put(t, ": ");
		put_insn(t, k->program, place->pc);
	}
	put(t, "\n");
}

static void put_places(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	u32 i, others = r->waves_looked;

	put(t, "%u wave%s in flight", r->waves, r->waves == 1 ? "" : "s");
	if (r->waves_looked < r->waves)
		put(t, ", of which %u were sampled", r->waves_looked);
	put(t, "\n");
	pthread_mutex_lock(&vm->lock);
	for (i = 0; i < r->place_count && i < PUMICE_STUCK_PLACES; i++) {
		put_waves(t, vm, &r->places[i]);
		others -= r->places[i].waves < others ? r->places[i].waves : others;
	}
	pthread_mutex_unlock(&vm->lock);
	if (others)
		put(t, "  %u at other instructions\n", others);
}

static void put_stuck(struct text *t, struct pumice_vm *vm, const struct pumice_job_result *r)
{
	put(t, "job %s: %s was busy with it, ",
	    r->error == -ETIMEDOUT ? "timed out" : "was killed", pumice_unit_name(r->unit));
	put_places(t, vm, r);
	if (r->error == -ETIMEDOUT)
		put(t, "  It ran longer than the device permits: key job-timeout-ms in process, "
		    "parameter job_timeout_ms of the driver (0: no limit); hold-us or os_hold_us if "
		    "another virtual GPU waits. Divide the job, or raise the limit.\n");
}

/* The end of an error text that does not hold all. */
static const char cut_note[] = "  (truncated: pumice_context_describe_job() returns all of it)";

/* Remove the incomplete last line of a text that did not fit, if there are others. */
static void cut_at_line(char *text)
{
	char *end = strrchr(text, '\n');

	if (end)
		end[1] = '\0';
}

/* Describe a failed job. @cut: out: whether some of it did not fit */
static int describe(struct pumice_context *context, u64 job, char *text, size_t bytes, bool *cut)
{
	struct text t = { text, bytes, false };
	struct pumice_job_result r = { 0 };
	int err;

	if (bytes)
		*text = '\0';
	*cut = false;
	err = pumice_context_get_job_result(context, job, &r, sizeof(r));
	if (err || !r.error)
		return err;
	if (r.fault == PUMICE_FAULT_KILLED)
		put_stuck(&t, context->vm, &r);
	else
		put_fault(&t, context->vm, &r);
	*cut = t.cut;
	if (t.cut && bytes)
		cut_at_line(text);
	return 0;
}

int pumice_context_describe_job(struct pumice_context *context, uint64_t job, char *text,
				size_t bytes)
{
	bool cut;

	return describe(context, job, text, bytes, &cut);
}

/* Make a text the last part of an error text. @cut: it did not fit in the room left for it */
static void finish(char *text, bool cut)
{
	size_t length = strlen(text);

	if (cut)
		memcpy(text + length, cut_note, sizeof(cut_note));
	else if (length && text[length - 1] == '\n')
		text[length - 1] = '\0';
}

int describe_failure(struct pumice_context *context, u64 job, char *text, size_t bytes)
{
	bool cut;
	int err = describe(context, job, text, bytes - sizeof(cut_note), &cut);

	finish(text, cut);
	return err;
}

void describe_late(struct pumice_context *context, u64 timeout_ns, char *text, size_t bytes)
{
	const struct backend_ops *ops = context->dev->ops;
	struct text t = { text, bytes - sizeof(cut_note), false };
	struct pumice_job_result r = { 0 };

	put(&t, "wait: timed out after %.3f s: ", (double)timeout_ns / 1e9);
	if (!ops->job_running) {
		put(&t, "the job has not ended; when the kernel driver has ended it, "
			"pumice_context_describe_job() names its location");
	} else if (ops->job_running(context, &r)) {
		put(&t, "the job has not ended, and does not run now");
	} else {
		put(&t, "job %" PRIu64 " has not ended: %s is busy with it, ", r.job,
		    pumice_unit_name(r.unit));
		put_places(&t, context->vm, &r);
	}
	if (t.cut)
		cut_at_line(text);
	finish(text, t.cut);
}
