// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Sections of a dump; hw/dumpfile.h specifies them.
 *
 * Sections without space are dropped and counted; nonexistent objects have no section.
 */
#include <linux/highmem.h>
#include <linux/utsname.h>

#include <drm/drm_gem_shmem_helper.h>

#include "pumice_dump.h"
#include "pumice_fw.h"
#include "pumice_gem.h"
#include "pumice_isa_enums.h"
#include "pumice_kernel_range.h"
#include "pumice_mmu.h"
#include "pumice_vm.h"

/* Maximum number of waves to read, with five registers each. */
#define MAX_WAVES	1024u
#define INFO_BYTES	512

/* Maximum bytes of user memory, by role. */
#define STREAM_BYTES	4096
#define RENDER_BYTES	256
#define FAULT_BYTES	128	/* before the address, and as many from it on */
#define CODE_INSNS	32	/* before the instruction, and as many from it on */
#define INSN_BYTES	(PUMICE_USC_WORDS * sizeof(u32))

/**
 * pumice_dump_section - append a section
 * @w: file
 * @type: enum pumice_dump_type
 * @addr: see the type
 * @count: elements
 * @bytes: of data
 *
 * Return: zeroed space for the data, or NULL. The buffer was zeroed when it was allocated.
 */
void *pumice_dump_section(struct pumice_dump_writer *w, u32 type, u64 addr, u32 count,
			  size_t bytes)
{
	const size_t all = sizeof(struct pumice_dump_section) + ALIGN(bytes, PUMICE_DUMP_ALIGN);
	struct pumice_dump_section *section = w->data + w->used;

	if (all > w->size - w->used) {
		w->dropped++;
		return NULL;
	}
	section->type = type;
	section->bytes = bytes;
	section->addr = addr;
	section->count = count;
	w->used += all;
	w->sections++;
	return section + 1;
}

/**
 * pumice_dump_put - append a section with its data
 * @w: file
 * @type: enum pumice_dump_type
 * @addr: see the type
 * @count: elements
 * @data: data, copied
 * @bytes: of @data
 *
 * A section without space is counted as dropped.
 *
 * Context: Any. The caller owns the dump, see &struct pumice_dump.
 */
void pumice_dump_put(struct pumice_dump_writer *w, u32 type, u64 addr, u32 count,
		     const void *data, size_t bytes)
{
	void *to = pumice_dump_section(w, type, addr, count, bytes);

	if (to)
		memcpy(to, data, bytes);
}

/* Return the header of the section with this data. */
static struct pumice_dump_section *dump_write_header_of(void *data)
{
	return (struct pumice_dump_section *)data - 1;
}

/* Append a section of firmware state; with @late, the firmware has continued since. */
static void dump_write_fw_section(struct pumice_dump_writer *w, u32 type, u64 addr, u32 count,
				  const void *data, size_t bytes, bool late)
{
	void *to = pumice_dump_section(w, type, addr, count, bytes);

	if (!to)
		return;
	memcpy(to, data, bytes);
	dump_write_header_of(to)->late = late;
}

/* Release the unused end of the last section. */
static void dump_write_trim(struct pumice_dump_writer *w, void *data, u32 count, size_t bytes)
{
	dump_write_header_of(data)->count = count;
	dump_write_header_of(data)->bytes = bytes;
	w->used = data + ALIGN(bytes, PUMICE_DUMP_ALIGN) - w->data;
}

/**
 * pumice_dump_write_info - append text with versions, times and the number of resets
 * @pdev: device
 * @w: file
 *
 * Context: Does not sleep. The caller owns the dump, see &struct pumice_dump.
 */
void pumice_dump_write_info(struct pumice_device *pdev, struct pumice_dump_writer *w)
{
	char *text = pumice_dump_section(w, PUMICE_DUMP_INFO, 0, 0, INFO_BYTES);
	struct timespec64 boot, real;
	int used;

	if (!text)
		return;
	ktime_get_boottime_ts64(&boot);
	ktime_get_real_ts64(&real);
	used = scnprintf(text, INFO_BYTES,
			 "kernel: %s\ndriver: %s %u.%u\ndevice: %s\nregister map: %u.%u\n"
			 "firmware: %s\nfirmware interface: %u.%u\ntime: %lld.%09ld\n"
			 "boot time: %lld.%09ld\nresets: %u\n",
			 init_utsname()->release, pdev->drm.driver->name, pdev->drm.driver->major,
			 pdev->drm.driver->minor, dev_name(pdev->drm.dev),
			 PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MAJOR, pdev->version),
			 PUMICE_FIELD_GET(PUMICE_SYS_VERSION__MINOR, pdev->version),
			 pdev->fw.header.build_id, FWIF_VERSION_MAJOR, FWIF_VERSION_MINOR,
			 real.tv_sec, real.tv_nsec, boot.tv_sec, boot.tv_nsec,
			 READ_ONCE(pdev->reset.count));
	dump_write_trim(w, text, 0, used);
}

/* A register that the host reads, or an array of them. */
struct reg_range {
	u32 offset;
	u16 bits;
	u16 count;
	u16 stride;
};

#define REG32(name)	{ PUMICE_##name, 32, 1, 0 }
#define REG64(name)	{ PUMICE_##name, 64, 1, 0 }
#define REGS(name, bits) \
	{ PUMICE_##name(0), bits, PUMICE_##name##_COUNT, PUMICE_##name##_STRIDE }

static const struct reg_range ranges[] = {
	REG32(OS_IRQ_STATUS), REG32(OS_IRQ_ENABLE),
	REG32(SYS_ID), REG32(SYS_VERSION), REG32(SYS_CONFIG), REG32(SYS_STORES),
	REG64(SYS_CLOCK), REG32(SYS_CLOCK_HZ), REG32(SYS_STATUS), REG32(SYS_REGISTERS),
	REG64(FW_IMAGE_ADDR), REG32(FW_IMAGE_SIZE), REG32(FW_ENTRY), REG64(FW_BOOT_ARG),
	REG32(FW_CTRL), REG32(FW_STATUS), REG32(FW_PC), REG32(FW_CAUSE), REG64(FW_INSTRET),
	REGS(MMU_CTX, 64), REGS(MMU_RANGE_START, 64), REGS(MMU_RANGE_END, 64),
	REG64(MMU_INVAL_START), REG64(MMU_INVAL_END), REG32(MMU_FAULT_COUNT),
	REG32(DBG_CDM_STATUS), REG32(DBG_TASKS), REG64(DBG_CDM_GROUPS), REG32(DBG_VDM_STATUS),
	REG32(DBG_PDM_STATUS), REG32(DBG_TDM_STATUS), REGS(DBG_JOB_STREAM, 64),
	REGS(DBG_JOB_TAG, 64), REGS(DBG_JOB_CTX, 32),
	REG32(DBG_RDM_STATUS), REG64(DBG_RDM_STREAM), REG64(DBG_RDM_TAG), REG32(DBG_RDM_CTX),
	REG32(PDS_CTRL), REG32(PDS_CDM_TASKS), REG32(PDS_CDM_UNIFIED), REG32(PDS_CDM_COMMON),
	REG32(PDS_CDM_LOCAL), REG32(PDS_TASKS), REG32(PDS_WAVES), REG32(PDS_PEAK_TASKS),
	REG32(PDS_HELD), REG32(PDS_VDM_TASKS), REG32(PDS_VDM_UNIFIED), REG32(PDS_VDM_COMMON),
	REG32(PDS_PDM_TASKS), REG32(PDS_PDM_UNIFIED), REG32(PDS_PDM_COMMON),
	REG32(PDS_RDM_TASKS), REG32(PDS_RDM_UNIFIED), REG32(PDS_RDM_COMMON),
	REG32(PERF_CTRL), REGS(PERF_COUNTER, 64),
	REG64(TRACE_BASE), REG32(TRACE_ENTRIES), REG32(TRACE_CTRL), REG64(TRACE_WRITTEN),
};

static u32 dump_write_count_registers(void)
{
	u32 i, count = 0;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		count += ranges[i].count;
	return count;
}

static void dump_write_registers(struct pumice_device *pdev, struct pumice_dump_writer *w,
				 bool late)
{
	const u32 count = dump_write_count_registers();
	struct pumice_dump_register *reg =
		pumice_dump_section(w, PUMICE_DUMP_REGISTERS, 0, count, count * sizeof(*reg));
	u32 i, n;

	if (!reg)
		return;
	dump_write_header_of(reg)->late = late;
	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		for (n = 0; n < ranges[i].count; n++, reg++) {
			reg->offset = ranges[i].offset + n * ranges[i].stride;
			reg->bits = ranges[i].bits;
			reg->value = reg->bits == 64 ? pumice_read64(pdev, reg->offset) :
						       pumice_read(pdev, reg->offset);
		}
	}
}

static void dump_write_read_wave(struct pumice_device *pdev, u32 index,
				 struct pumice_dump_wave *wave)
{
	pumice_write(pdev, PUMICE_WAVE_SELECT, index);
	wave->pc = pumice_read(pdev, PUMICE_WAVE_PC);
	wave->lanes = pumice_read(pdev, PUMICE_WAVE_LANES);
	wave->where = pumice_read(pdev, PUMICE_WAVE_WHERE);
	wave->code = pumice_read64(pdev, PUMICE_WAVE_CODE);
}

/* Return true if the wave belongs to the job of the dump. */
static bool dump_write_is_of_job(struct pumice_device *pdev, const struct pumice_dump_wave *wave)
{
	static const u8 master[FWIF_DM_COUNT] = {
		[FWIF_DM_CDM] = PUMICE_WAVE_MASTER_CDM, [FWIF_DM_VDM] = PUMICE_WAVE_MASTER_VDM,
		[FWIF_DM_PDM] = PUMICE_WAVE_MASTER_PDM, [FWIF_DM_TDM] = PUMICE_WAVE_MASTER_COUNT,
		[FWIF_DM_RDM] = PUMICE_WAVE_MASTER_RDM,
	};
	const struct pumice_dump_reason *reason = &pdev->dump.reason;
	const u32 ctx = PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__CTX, wave->where);
	const u64 catalogue = pumice_read64(pdev, PUMICE_MMU_CTX(ctx)) &
			      PUMICE_MMU_CTX__CATALOGUE__MASK;

	return reason->context != FWIF_NO_CONTEXT && catalogue == reason->catalogue &&
	       PUMICE_FIELD_GET(PUMICE_WAVE_WHERE__MASTER, wave->where) == master[reason->dm];
}

/* Note the locations that the firmware would have captured, had it been able to. */
static void dump_write_note_places(struct pumice_device *pdev, const struct pumice_dump_wave *wave,
				   u32 count)
{
	struct fwif_stuck *stuck = &pdev->dump.stuck;
	u32 i;

	for (i = 0; i < count; i++) {
		if (!dump_write_is_of_job(pdev, &wave[i]))
			continue;
		stuck->waves++;
		pumice_dump_count_wave(stuck, &wave[i]);
	}
	if (!stuck->waves)
		return;
	stuck->sampled = stuck->waves;
	stuck->unit = PUMICE_UNIT_USC_CODE;
	stuck->busy = BIT(pdev->dump.reason.dm);
	stuck->seqno = pdev->dump.reason.seqno;
}

/* Append the waves. The section's address is their total number. */
static void dump_write_waves(struct pumice_device *pdev, struct pumice_dump_writer *w, bool late)
{
	struct pumice_dump_wave *wave;
	u32 i, all, count;

	pumice_write(pdev, PUMICE_WAVE_CTRL, PUMICE_WAVE_CTRL__WRITABLE);
	all = pumice_read(pdev, PUMICE_WAVE_COUNT);
	count = min(all, MAX_WAVES);
	wave = pumice_dump_section(w, PUMICE_DUMP_WAVES, all, count, count * sizeof(*wave));
	if (!wave)
		return;
	dump_write_header_of(wave)->late = late;
	for (i = 0; i < count; i++)
		dump_write_read_wave(pdev, i, &wave[i]);
	if (!late)
		dump_write_note_places(pdev, wave, count);
	pumice_write(pdev, PUMICE_WAVE_CTRL, 0);
}

/**
 * pumice_dump_write_gpu - append registers, active waves, the firmware's state and log
 * @pdev: device, between drm_dev_enter() and drm_dev_exit(), awake; under reset.lock
 * @w: file
 * @late: the GPU has continued since the dumped event
 */
void pumice_dump_write_gpu(struct pumice_device *pdev, struct pumice_dump_writer *w, bool late)
{
	const struct pumice_fw_shared *s = pdev->fw.shared;

	lockdep_assert_held(&pdev->reset.lock);
	dump_write_fw_section(w, PUMICE_DUMP_FW_BOOT, 0, 1, &s->boot, sizeof(s->boot), late);
	dump_write_fw_section(w, PUMICE_DUMP_FW_LOG, READ_ONCE(s->log_ring.write), PUMICE_LOG_COUNT,
			      s->log, sizeof(s->log), late);
	/* Registers of the whole GPU are accessible to virtual GPU 0 only. */
	if (pdev->os)
		return;
	dump_write_registers(pdev, w, late);
	dump_write_waves(pdev, w, late);
}

/*
 * Find the buffer mapped at an address, with a reference, and the offset in it; or NULL.
 * No reservation may be acquired under vm.lock: fences of binds wait for that lock.
 */
static struct drm_gem_object *dump_write_mapped_object(struct pumice_vm *vm, u64 addr, u64 *offset)
{
	struct drm_gem_object *obj = NULL;
	struct drm_gpuva *va;

	mutex_lock(&vm->lock);
	va = vm->released ? NULL : drm_gpuva_find_first(&vm->base, addr, 1);
	if (va && va->gem.obj) {
		obj = va->gem.obj;
		drm_gem_object_get(obj);
		*offset = va->gem.offset + (addr - va->va.addr);
	}
	mutex_unlock(&vm->lock);
	return obj;
}

/* Copy from one page of a buffer. Returns false if it is not accessible. */
static bool dump_write_copy_object(struct drm_gem_object *obj, u64 offset, void *to, size_t bytes)
{
	struct drm_gem_shmem_object *shmem;
	bool copied;
	void *from;

	/* Memory of another driver need not have pages. */
	if (obj->import_attach || offset >= obj->size)
		return false;
	shmem = to_drm_gem_shmem_obj(obj);
	dma_resv_lock(obj->resv, NULL);
	copied = shmem->pages;
	if (copied) {
		from = kmap_local_page(shmem->pages[offset >> PAGE_SHIFT]);
		memcpy(to, from + offset_in_page(offset), bytes);
		kunmap_local(from);
	}
	dma_resv_unlock(obj->resv);
	return copied;
}

/* Copy mapped memory from @addr on; returns the number of bytes copied. */
static size_t dump_write_copy_memory(struct pumice_vm *vm, u64 addr, void *to, size_t bytes)
{
	struct drm_gem_object *obj;
	size_t done, part;
	u64 offset;
	bool copied;

	for (done = 0; done < bytes; done += part) {
		part = min_t(size_t, bytes - done, PAGE_SIZE - offset_in_page(addr + done));
		obj = dump_write_mapped_object(vm, addr + done, &offset);
		if (!obj)
			break;
		copied = dump_write_copy_object(obj, offset, to + done, part);
		drm_gem_object_put(obj);
		if (!copied)
			break;
	}
	return done;
}

static void dump_write_bytes(struct pumice_dump *dump, u32 role, u64 addr, size_t bytes)
{
	struct pumice_dump_writer *w = &dump->w;
	const struct pumice_dump_writer before = *w;
	void *to;
	size_t copied;

	to = pumice_dump_section(w, PUMICE_DUMP_MEMORY, addr, 0, bytes);
	if (!to)
		return;
	dump_write_header_of(to)->role = role;
	copied = dump_write_copy_memory(dump->vm, addr, to, bytes);
	if (copied) {
		dump_write_trim(w, to, 0, copied);
	} else {
		memset(dump_write_header_of(to), 0, sizeof(struct pumice_dump_section));
		*w = before;
	}
}

/* Append memory around an address, or from its page on if the bytes before are unmapped. */
static void dump_write_around(struct pumice_dump *dump, u32 role, u64 addr, size_t before,
			      size_t after)
{
	u64 start = addr - min_t(u64, before, addr);
	u64 page = addr & PAGE_MASK, offset;
	struct drm_gem_object *obj = dump_write_mapped_object(dump->vm, start, &offset);

	if (obj)
		drm_gem_object_put(obj);
	else
		start = max(start, page);
	dump_write_bytes(dump, role, start, addr - start + after);
}

/* Append the instructions around a location, none from before the program. */
static void dump_write_code(struct pumice_dump *dump, u64 code, u32 pc)
{
	u32 first = pc - min(pc, CODE_INSNS);

	dump_write_bytes(dump, PUMICE_DUMP_ROLE_CODE, code + (u64)first * INSN_BYTES,
			 (pc - first + CODE_INSNS) * INSN_BYTES);
}

static void dump_write_walk(struct pumice_dump *dump, u64 addr)
{
	const struct pumice_mmu_reader reader = {
		.read = pumice_kernel_range_table_locked, .vm = dump->vm,
	};
	struct pumice_mmu_step steps[PUMICE_MMU_LEVELS];
	struct pumice_dump_walk *walk;
	u32 i, count = 0;

	mutex_lock(&dump->vm->lock);
	if (!dump->vm->released)
		count = pumice_mmu_walk(dump->vm->mmu, addr, steps, &reader);
	mutex_unlock(&dump->vm->lock);
	if (!count)
		return;
	walk = pumice_dump_section(&dump->w, PUMICE_DUMP_WALK, addr, count, count * sizeof(*walk));
	for (i = 0; walk && i < count; i++)
		walk[i] = (struct pumice_dump_walk) {
			.table = steps[i].table,
			.entry = steps[i].entry,
			.level = i,
			.index = steps[i].index,
		};
}

/**
 * pumice_dump_write_memory - append the relevant memory of the job's address space
 * @dump: dump, with its VM
 *
 * The stream and, for the failed location: page tables, memory, instructions.
 */
void pumice_dump_write_memory(struct pumice_dump *dump)
{
	const struct fwif_job_result *r = &dump->result;
	u32 i, places = min(dump->stuck.places, FWIF_STUCK_PLACES);

	if (r->addr && !(r->addr >> PUMICE_MMU_VA_BITS)) {
		dump_write_walk(dump, r->addr);
		dump_write_around(dump, PUMICE_DUMP_ROLE_FAULT, r->addr, FAULT_BYTES, FAULT_BYTES);
	}
	for (i = 0; i < places; i++)
		dump_write_code(dump, dump->stuck.place[i].code, dump->stuck.place[i].pc);
	dump_write_bytes(dump, PUMICE_DUMP_ROLE_STREAM, dump->reason.stream, STREAM_BYTES);
	if (dump->render)
		dump_write_bytes(dump, PUMICE_DUMP_ROLE_RENDER, dump->render, RENDER_BYTES);
}

/**
 * pumice_dump_finish - write the header, once all sections are written
 * @w: file, whose first bytes are reserved for the header
 *
 * Context: Any. The caller owns the dump, see &struct pumice_dump.
 */
void pumice_dump_finish(struct pumice_dump_writer *w)
{
	*(struct pumice_dump_header *)w->data = (struct pumice_dump_header) {
		.magic = PUMICE_DUMP_MAGIC,
		.version = PUMICE_DUMP_VERSION,
		.header_bytes = sizeof(struct pumice_dump_header),
		.bytes = w->used,
		.sections = w->sections,
		.dropped = w->dropped,
	};
}
