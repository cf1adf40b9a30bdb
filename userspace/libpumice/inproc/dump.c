// SPDX-License-Identifier: MIT
/*
 * In-process backend: dumps of the GPU and of a context's job, in the format of
 * hw/dumpfile.h, as written by the kernel driver.
 *
 * The job is the context's running one, else the last that failed. Waves, registers
 * and firmware state are current: for a failed job, later than its failure.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "dumpfile.h"
#include "inproc.h"
#include "pumice_isa_enums.h"
#include "pumice_reg_table.h"

#define STREAM_BYTES	4096u
#define FAULT_BYTES	128u	/* before the address, and as many after it */
#define CODE_INSNS	32u	/* before the instruction, and as many after it */
#define INSN_BYTES	(PUMICE_USC_WORDS * sizeof(u32))
#define FIRST_ROOM	(256u << 10)

/* The file under construction; data is NULL after an allocation failure. */
struct dump_file {
	u8 *data;
	size_t room, used;
	u32 sections;
	bool late;	/* the GPU has run on since the failure */
};

static bool make_room(struct dump_file *f, size_t bytes)
{
	u8 *grown;

	while (f->data && f->room - f->used < bytes) {
		grown = realloc(f->data, 2 * f->room);
		if (!grown)
			free(f->data);
		f->data = grown;
		f->room *= 2;
	}
	return f->data;
}

static void put_section(struct dump_file *f, const struct pumice_dump_section *head,
			const void *data)
{
	const size_t padded = round_up(head->bytes, PUMICE_DUMP_ALIGN);

	if (!make_room(f, sizeof(*head) + padded))
		return;
	memcpy(f->data + f->used, head, sizeof(*head));
	memset(f->data + f->used + sizeof(*head), 0, padded);
	memcpy(f->data + f->used + sizeof(*head), data, head->bytes);
	f->used += sizeof(*head) + padded;
	f->sections++;
}

static void put_elements(struct dump_file *f, u32 type, u64 addr, u32 count, const void *data,
			 size_t bytes)
{
	put_section(f, &(struct pumice_dump_section){
		.type = type, .addr = addr, .count = count, .bytes = bytes,
	}, data);
}

/* Add the current state of the GPU and its firmware. */
static void put_now(struct dump_file *f, u32 type, u64 addr, u32 count, const void *data,
		    size_t bytes)
{
	put_section(f, &(struct pumice_dump_section){
		.type = type, .addr = addr, .count = count, .bytes = bytes, .late = f->late,
	}, data);
}

static void put_info(struct inproc_device *d, struct dump_file *f)
{
	const struct pumice_device_info *info = &d->base.info;
	char text[256];
	int used = snprintf(text, sizeof(text),
			    "library: libpumice, in process, %u threads\nregister map: %u.%u\n"
			    "firmware: %s\nfirmware interface: %u.%u\n",
			    d->threads, info->version >> 16, info->version & 0xffff,
			    info->fw_build_id, info->fw_version >> 16, info->fw_version & 0xffff);

	put_elements(f, PUMICE_DUMP_INFO, 0, 0, text, (size_t)used);
}

static bool readable(const struct pumice_reg_info *reg)
{
	return reg->bus & PUMICE_REG_BUS_HOST &&
	       (reg->access == PUMICE_REG_RO || reg->access == PUMICE_REG_RW);
}

static void put_registers(struct inproc_device *d, struct dump_file *f)
{
	struct pumice_dump_register regs[1024] = { 0 };
	const u32 room = sizeof(regs) / sizeof(regs[0]);
	u32 i, n, count = 0;

	for (i = 0; i < PUMICE_REG_TABLE_SIZE; i++) {
		const struct pumice_reg_info *reg = &pumice_reg_table[i];

		for (n = 0; readable(reg) && n < reg->count && count < room; n++, count++) {
			regs[count].offset = reg->offset + n * reg->stride;
			regs[count].bits = reg->bits;
			regs[count].value = pumice_gpu_mmio_read(d->gpu, 0, regs[count].offset,
								 reg->bits / 8u);
		}
	}
	put_now(f, PUMICE_DUMP_REGISTERS, 0, count, regs, count * sizeof(regs[0]));
}

static u32 read_reg(struct inproc_device *d, u32 offset)
{
	return (u32)pumice_gpu_mmio_read(d->gpu, 0, offset, 4);
}

/* Get all waves in flight, to be freed; NULL if none. */
static struct pumice_dump_wave *read_waves(struct inproc_device *d, u32 *count)
{
	struct pumice_dump_wave *waves;
	u32 i;

	virtual_run_lock(d);
	pumice_gpu_mmio_write(d->gpu, 0, PUMICE_WAVE_CTRL, PUMICE_WAVE_CTRL__WRITABLE, 4);
	*count = read_reg(d, PUMICE_WAVE_COUNT);
	waves = calloc(*count + 1, sizeof(*waves));
	for (i = 0; waves && i < *count; i++) {
		pumice_gpu_mmio_write(d->gpu, 0, PUMICE_WAVE_SELECT, i, 4);
		waves[i].pc = read_reg(d, PUMICE_WAVE_PC);
		waves[i].lanes = read_reg(d, PUMICE_WAVE_LANES);
		waves[i].where = read_reg(d, PUMICE_WAVE_WHERE);
		waves[i].code = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_WAVE_CODE, 8);
	}
	virtual_run_unlock(d);
	return waves;
}

/* ------------------------------------------------------------------- memory */

static const struct mapping *mapping_at(struct inproc_vm *vm, u64 va)
{
	const struct mapping *m = space_find(&vm->space, va);

	return m && va >= m->at.va ? m : NULL;
}

static size_t copy_memory(struct inproc_device *d, struct inproc_vm *vm, u64 va, u8 *to,
			  size_t bytes)
{
	const struct mapping *m;
	size_t done = 0;
	u64 part;

	while (done < bytes && (m = mapping_at(vm, va + done))) {
		part = range_end(&m->at) - (va + done);
		if (part > bytes - done)
			part = bytes - done;
		/* The bus address of a NULL mapping is not valid. */
		if (m->flags & PUMICE_BIND_NULL)
			memset(to + done, 0, part);
		else
			memcpy(to + done, ram_cpu(d, m->bus + (va + done - m->at.va)), part);
		done += part;
	}
	return done;
}

static void put_memory(struct inproc_device *d, struct inproc_vm *vm, struct dump_file *f,
		       u32 role, u64 va, size_t bytes)
{
	u8 copy[STREAM_BYTES];
	size_t had = copy_memory(d, vm, va, copy, bytes < sizeof(copy) ? bytes : sizeof(copy));

	if (had)
		put_section(f, &(struct pumice_dump_section){
			.type = PUMICE_DUMP_MEMORY, .role = role, .addr = va, .bytes = had,
		}, copy);
}

static void put_around(struct inproc_device *d, struct inproc_vm *vm, struct dump_file *f,
		       u64 va)
{
	u64 start = va > FAULT_BYTES ? va - FAULT_BYTES : 0;

	if (!mapping_at(vm, start))
		start = va & ~(PAGE_BYTES - 1);
	put_memory(d, vm, f, PUMICE_DUMP_ROLE_FAULT, start, (size_t)(va - start) + FAULT_BYTES);
}

static void put_code(struct inproc_device *d, struct inproc_vm *vm, struct dump_file *f,
		     u64 code, u32 pc)
{
	u32 first = pc > CODE_INSNS ? pc - CODE_INSNS : 0;

	put_memory(d, vm, f, PUMICE_DUMP_ROLE_CODE, code + (u64)first * INSN_BYTES,
		   (pc - first + CODE_INSNS) * INSN_BYTES);
}

static bool is_of_vm(struct inproc_device *d, struct inproc_vm *vm,
		     const struct pumice_dump_wave *wave)
{
	const u32 ctx = PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__CTX, wave->where);
	const u64 reg = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_MMU_CTX(ctx), 8);

	return (reg & PUMICE_MMU_CTX__CATALOGUE__MASK) == vm->space.tables.catalogue;
}

/* Add the places of waves of this address space, except those in @stuck. */
static void put_code_of_waves(struct inproc_device *d, struct inproc_vm *vm,
			      struct dump_file *f, const struct fwif_stuck *stuck,
			      const struct pumice_dump_wave *waves, u32 count)
{
	struct fwif_stuck all = *stuck;
	u32 i, known;

	if (all.places > FWIF_STUCK_PLACES)
		all.places = FWIF_STUCK_PLACES;
	known = all.places;
	for (i = 0; i < count; i++)
		if (is_of_vm(d, vm, &waves[i]))
			pumice_dump_count_wave(&all, &waves[i]);
	for (i = known; i < all.places; i++)
		put_code(d, vm, f, all.place[i].code, all.place[i].pc);
}

/* ---------------------------------------------------------------------- job */

/* The job of a dump. */
struct subject {
	struct inproc_context *c;	/* its queue */
	bool runs;
	struct fwif_job_result result;	/* seqno 0: none */
	struct fwif_stuck stuck;	/* seqno 0: unknown */
};

/* Capture for a running job the state that the firmware captures of a killed one. */
static void note_places(struct inproc_device *d, struct subject *s,
			const struct pumice_dump_wave *waves, u32 count)
{
	static const u8 master[FWIF_DM_COUNT] = {
		[FWIF_DM_CDM] = PUMICE_WAVE_MASTER_CDM, [FWIF_DM_VDM] = PUMICE_WAVE_MASTER_VDM,
		[FWIF_DM_PDM] = PUMICE_WAVE_MASTER_PDM, [FWIF_DM_TDM] = PUMICE_WAVE_MASTER_COUNT,
		[FWIF_DM_RDM] = PUMICE_WAVE_MASTER_RDM,
	};
	struct inproc_vm *vm = (struct inproc_vm *)s->c->base.vm;
	const u32 dm = s->c->shared->context.dm;
	u32 i;

	for (i = 0; i < count; i++) {
		if (PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__MASTER, waves[i].where) != master[dm] ||
		    !is_of_vm(d, vm, &waves[i]))
			continue;
		s->stuck.waves++;
		pumice_dump_count_wave(&s->stuck, &waves[i]);
	}
	if (!s->stuck.waves)
		return;
	s->stuck.sampled = s->stuck.waves;
	s->stuck.unit = PUMICE_UNIT_USC_CODE;
	s->stuck.busy = 1u << dm;
	s->stuck.seqno = s->c->shared->context.job_seqno;
}

static void find_subject(struct inproc_context *c, struct subject *s)
{
	*s = (struct subject){ .c = c };
	s->runs = __atomic_load_n(&c->shared->context.slice_start, __ATOMIC_ACQUIRE);
	if (!s->runs && c->second && c->second->shared->context.slice_start) {
		s->c = c->second;
		s->runs = true;
	}
	if (s->runs)
		return;
	/* Find the queue whose last job failed. */
	if (c->second && c->shared->stuck.seqno != c->timeline->done &&
	    c->second->shared->stuck.seqno == c->second->timeline->done)
		s->c = c->second;
	s->result = s->c->shared->results[s->c->timeline->done % RESULT_COUNT];
	s->stuck = s->c->shared->stuck;
	if (s->result.seqno != s->c->timeline->done)
		s->result.seqno = 0;
	if (s->stuck.seqno != s->c->timeline->done)
		s->stuck.seqno = 0;
}

struct inproc_context *dump_running(struct inproc_context *c, struct fwif_stuck *stuck)
{
	struct inproc_device *d = inproc_device(c->base.dev);
	struct pumice_dump_wave *waves;
	struct subject s;
	u32 count;

	find_subject(c, &s);
	if (!s.runs)
		return NULL;
	s.stuck = (struct fwif_stuck){ 0 };
	waves = read_waves(d, &count);
	if (waves)
		note_places(d, &s, waves, count);
	free(waves);
	*stuck = s.stuck;
	return s.c;
}

static u32 kind_of(const struct subject *s)
{
	if (s->runs || !s->result.seqno || !s->result.fault)
		return PUMICE_DUMP_KIND_USER;
	return s->result.fault == PUMICE_FAULT_KILLED ? PUMICE_DUMP_KIND_TIMEOUT :
							PUMICE_DUMP_KIND_FAULT;
}

static void put_reason(struct inproc_device *d, struct dump_file *f, const struct subject *s)
{
	static const char *const text[] = {
		[PUMICE_DUMP_KIND_FAULT] = "a job faulted",
		[PUMICE_DUMP_KIND_TIMEOUT] = "a job was killed",
		[PUMICE_DUMP_KIND_USER] = "requested by the program",
	};
	const struct inproc_context *user = s->c->first ? s->c->first : s->c;
	struct inproc_vm *vm = (struct inproc_vm *)s->c->base.vm;
	struct pumice_dump_reason r = {
		.kind = kind_of(s),
		.dm = s->c->shared->context.dm,
		.context = s->c->shared->context.id,
		.seqno = s->runs ? s->c->shared->context.job_seqno : s->c->timeline->done,
		.catalogue = vm->space.tables.catalogue,
		.time = pumice_gpu_mmio_read(d->gpu, 0, PUMICE_SYS_CLOCK, 8),
		.uapi_context = user->base.id,
		.pid = (u32)getpid(),
	};

	prctl(PR_GET_NAME, r.process);
	r.job = s->c->number[r.seqno % RESULT_COUNT];
	r.stream = s->c->stream[r.seqno % RESULT_COUNT];
	snprintf(r.text, sizeof(r.text), "%s", text[r.kind]);
	put_elements(f, PUMICE_DUMP_REASON, 0, 1, &r, sizeof(r));
	if (r.stream)
		put_memory(d, vm, f, PUMICE_DUMP_ROLE_STREAM, r.stream, STREAM_BYTES);
}

static void put_fault(struct inproc_device *d, struct dump_file *f, const struct subject *s)
{
	struct inproc_vm *vm = (struct inproc_vm *)s->c->base.vm;
	struct pumice_dump_walk walk[3];
	u32 i, count;

	if (s->result.seqno)
		put_elements(f, PUMICE_DUMP_RESULT, 0, 1, &s->result, sizeof(s->result));
	if (s->stuck.seqno)
		put_elements(f, PUMICE_DUMP_STUCK, 0, 1, &s->stuck, sizeof(s->stuck));
	for (i = 0; s->stuck.seqno && i < s->stuck.places && i < FWIF_STUCK_PLACES; i++)
		put_code(d, vm, f, s->stuck.place[i].code, s->stuck.place[i].pc);
	if (!s->result.seqno || !s->result.addr || s->result.addr >> PUMICE_MMU_VA_BITS)
		return;
	count = tables_walk(d, &vm->space.tables, s->result.addr, walk);
	put_elements(f, PUMICE_DUMP_WALK, s->result.addr, count, walk, count * sizeof(walk[0]));
	put_around(d, vm, f, s->result.addr);
}

static void put_gpu(struct inproc_device *d, struct dump_file *f, const struct subject *s,
		    const struct pumice_dump_wave *waves, u32 count)
{
	const struct fw_shared *fw = d->fw;

	put_now(f, PUMICE_DUMP_FW_BOOT, 0, 1, &fw->boot, sizeof(fw->boot));
	put_now(f, PUMICE_DUMP_FW_LOG, fw->log_ring.write, LOG_COUNT, fw->log, sizeof(fw->log));
	put_now(f, PUMICE_DUMP_CONTEXT, 0, 1, &s->c->shared->context,
		sizeof(s->c->shared->context));
	put_registers(d, f);
	if (!waves)
		return;
	put_now(f, PUMICE_DUMP_WAVES, count, count, waves, count * sizeof(*waves));
	put_code_of_waves(d, (struct inproc_vm *)s->c->base.vm, f, &s->stuck, waves, count);
}

static int write_file(struct inproc_device *d, const struct dump_file *f, const char *path)
{
	FILE *out = fopen(path, "wb");
	int err = 0;

	if (!out)
		return fail(&d->base, errno, "dump: %s: %s", path, strerror(errno));
	if (fwrite(f->data, 1, f->used, out) != f->used)
		err = EIO;
	if (fclose(out) && !err)
		err = errno;
	return err ? fail(&d->base, err, "dump: %s: %s", path, strerror(err)) : 0;
}

static void put_header(struct dump_file *f)
{
	const struct pumice_dump_header head = {
		.magic = PUMICE_DUMP_MAGIC,
		.version = PUMICE_DUMP_VERSION,
		.header_bytes = sizeof(head),
		.bytes = f->used,
		.sections = f->sections,
	};

	memcpy(f->data, &head, sizeof(head));
}

int inproc_context_dump(struct pumice_context *base, const char *path)
{
	struct dump_file f = {
		.data = malloc(FIRST_ROOM), .room = FIRST_ROOM,
		.used = sizeof(struct pumice_dump_header),
	};
	struct inproc_device *d = inproc_device(base->dev);
	struct pumice_dump_wave *waves;
	struct subject s;
	u32 count;
	int err;

	pthread_mutex_lock(&d->lock);
	event_process(d);
	find_subject((struct inproc_context *)base, &s);
	f.late = kind_of(&s) != PUMICE_DUMP_KIND_USER;
	waves = read_waves(d, &count);
	if (waves && s.runs)
		note_places(d, &s, waves, count);
	put_info(d, &f);
	put_reason(d, &f, &s);
	put_fault(d, &f, &s);
	put_gpu(d, &f, &s, waves, count);
	pthread_mutex_unlock(&d->lock);
	free(waves);
	if (!f.data)
		return fail(base->dev, ENOMEM, "dump: out of memory");
	put_header(&f);
	err = write_file(d, &f, path);
	free(f.data);
	return err;
}
