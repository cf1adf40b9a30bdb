// SPDX-License-Identifier: MIT
/*
 * In-process backend: boot of the firmware and the kernel CCB (hw/fwif.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fwlog.h"
#include "inproc.h"

/* Addresses of MMU context 0 for buffers; from the start of a part if there are several. */
#define ROOM_START	0x100000ull
#define ROOM_END	0x80000000ull

/* Time-out for the firmware, ns; there is none for firmware that is being debugged. */
/* Parts of error texts; the driver has the first one, too. */
#define NOT_BOOTED	"firmware did not boot: "
#define REOPEN		"; close the device and open it again"

#define BOOT_TIMEOUT	10000000000ull
#define CALL_TIMEOUT	10000000000ull

static void reg_write(struct inproc_device *d, u32 offset, u64 value, u32 size)
{
	pumice_gpu_mmio_write(d->gpu, 0, offset, value, size);
}

/* Write a register that each virtual GPU has. */
static void os_write(struct inproc_device *d, u32 offset, u64 value, u32 size)
{
	pumice_gpu_mmio_write(d->gpu, d->os, offset, value, size);
}

static u64 catalogue_reg(const struct inproc_device *d)
{
	return d->fw_space.tables.catalogue | PUMICE_MMU_CTX__ENABLE__MASK;
}

/* The host programs context 0, or its part of it, itself. */
static void invalidate_context0(struct inproc_device *d)
{
	if (d->os) {
		os_write(d, PUMICE_OS_CATALOGUE, catalogue_reg(d), 8);
		return;
	}
	reg_write(d, PUMICE_MMU_INVAL,
		  PUMICE_FIELD_PREP(PUMICE_MMU_INVAL__OP, PUMICE_MMU_INVAL_CONTEXT), 4);
}

int fw_buffer_create(struct inproc_device *d, u64 bytes, struct fw_buffer *buffer)
{
	struct mapping m = { .flags = PUMICE_BIND_NOEXEC };
	struct space_change change = { 0 };
	int err;

	bytes = round_up(bytes, PAGE_BYTES);
	err = ram_alloc(d, bytes, PAGE_BYTES, &m.bus);
	if (err)
		return err;
	err = extents_alloc(&d->fw_room, bytes, PAGE_BYTES, &m.at.va);
	if (!err) {
		m.at.size = bytes;
		err = space_change(d, &d->fw_space, m.at.va, bytes, &m, &change);
		if (err)
			extents_free(&d->fw_room, m.at.va, bytes);
	}
	if (!err && change.replaced)
		invalidate_context0(d);
	space_release(d, &change);
	if (err) {
		ram_free(d, m.bus, bytes);
		return -ENOMEM;
	}
	*buffer = (struct fw_buffer){ (u32)m.at.va, m.bus, bytes, ram_cpu(d, m.bus) };
	return 0;
}

void fw_buffer_destroy(struct inproc_device *d, struct fw_buffer *buffer)
{
	struct space_change change = { 0 };

	if (!buffer->addr)
		return;
	/* If the tables cannot be allocated, the buffer remains mapped and its memory in use. */
	if (!space_change(d, &d->fw_space, buffer->addr, buffer->bytes, NULL, &change)) {
		invalidate_context0(d);
		extents_free(&d->fw_room, buffer->addr, buffer->bytes);
		ram_free(d, buffer->bus, buffer->bytes);
	}
	space_release(d, &change);
	buffer->addr = 0;
}

u32 fw_addr(const struct inproc_device *d, const void *p)
{
	return d->fw_buffer.addr + (u32)((const u8 *)p - (const u8 *)d->fw_buffer.cpu);
}

static void fill_boot(struct inproc_device *d)
{
	struct fw_shared *fw = d->fw;

	fw->kccb_ring.count = KCCB_COUNT;
	fw->fwccb_ring.count = FWCCB_COUNT;
	fw->log_ring.count = LOG_COUNT;
	fw->boot = (struct fwif_boot){
		.magic = FWIF_BOOT_MAGIC,
		.version = FWIF_VERSION,
		.kccb_ring = fw_addr(d, &fw->kccb_ring),
		.kccb = fw_addr(d, fw->kccb),
		.kccb_status = fw_addr(d, fw->kccb_status),
		.fwccb_ring = fw_addr(d, &fw->fwccb_ring),
		.fwccb = fw_addr(d, fw->fwccb),
		.log_ring = fw_addr(d, &fw->log_ring),
		.log = fw_addr(d, fw->log),
		.log_level = FWIF_LOG_INFO,
		.slice_us = d->slice_us,
		.split_prims = d->split_prims,
		.pds_shares = d->pds_shares,
		.dms_policy = d->dms_policy,
		.os_hold_us = d->hold_us,
	};
}

/* Set up the heaps' page sizes, context 0, and interrupts. */
static void program_gpu(struct inproc_device *d)
{
	tables_program_ranges(d);
	reg_write(d, PUMICE_MMU_CTX(0), catalogue_reg(d), 8);
	reg_write(d, PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_ENABLE__FW__MASK |
		  PUMICE_OS_IRQ_ENABLE__LOCKUP__MASK, 4);
}

static u32 boot_state(struct inproc_device *d)
{
	return __atomic_load_n(&d->fw->boot.state, __ATOMIC_ACQUIRE);
}

/* Return a name of fwlog.h, or a text in place of a missing one. */
static const char *known(const char *name)
{
	return name ? name : "unknown";
}

/* The processor could not start the firmware, or stopped. */
static int fail_stopped(struct inproc_device *d, u32 status, char *error, size_t error_bytes)
{
	const u32 state = PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE, status);
	const u32 boot_error = PUMICE_FIELD_GET(PUMICE_FW_STATUS__BOOT_ERROR, status);

	return fail_text(error, error_bytes, ENODEV,
			 NOT_BOOTED "processor %s, boot error %s, mcause %#x at %#x",
			 pumice_fw_state_str(state), pumice_fw_boot_error_str(boot_error),
			 (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_FW_CAUSE, 4),
			 (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_FW_PC, 4));
}

/* Wait until the firmware has reported the result of its boot. */
static int wait_for_boot(struct inproc_device *d, char *error, size_t error_bytes)
{
	const u64 deadline = now_ns() + BOOT_TIMEOUT;
	u32 status;
	u64 seen;

	for (;;) {
		seen = event_count(d);
		status = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_FW_STATUS, 4);
		if (boot_state(d) == FWIF_STATE_READY)
			return 0;
		if (boot_state(d) != FWIF_STATE_OFF)
			return fail_text(error, error_bytes, ENODEV, NOT_BOOTED "%s; install that of this library, "
					 "or name its file in PUMICE_FIRMWARE",
					 known(pumice_fwif_error_name(d->fw->boot.error)));
		if (PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE, status) > PUMICE_FW_STATE_RUNNING)
			return fail_stopped(d, status, error, error_bytes);
		if (event_wait(d, seen, deadline))
			return fail_text(error, error_bytes, ENODEV,
					 NOT_BOOTED "it does not reply within %llu s",
					 (unsigned long long)(BOOT_TIMEOUT / 1000000000u));
	}
}

static int boot_image(struct inproc_device *d, const struct fwif_image_header *header,
		      const void *payload, char *error, size_t error_bytes)
{
	u64 bytes = round_up(header->payload_bytes, PAGE_BYTES), bus;
	int err = ram_alloc(d, bytes, PAGE_BYTES, &bus);

	if (err)
		return fail_text(error, error_bytes, ENOMEM, "firmware: out of memory");
	memcpy(ram_cpu(d, bus), payload, header->payload_bytes);
	reg_write(d, PUMICE_FW_IMAGE_ADDR, bus, 8);
	reg_write(d, PUMICE_FW_IMAGE_SIZE, header->payload_bytes, 4);
	reg_write(d, PUMICE_FW_ENTRY, header->entry, 4);
	reg_write(d, PUMICE_FW_BOOT_ARG, d->fw_buffer.addr, 8);
	reg_write(d, PUMICE_FW_CTRL, PUMICE_FW_CTRL__RUN__MASK, 4);
	err = wait_for_boot(d, error, error_bytes);
	ram_free(d, bus, bytes);
	return err;
}

/* Create the memory that is shared with the firmware. */
static int create_shared(struct inproc_device *d)
{
	const u64 start = d->os * (u64)PUMICE_OS_PART_SIZE;
	const u64 end = d->oses > 1 ? start + PUMICE_OS_PART_SIZE : ROOM_END;

	if (extents_init(&d->fw_room, start + ROOM_START, end - start - ROOM_START) ||
	    space_init(d, &d->fw_space) ||
	    fw_buffer_create(d, sizeof(struct fw_shared), &d->fw_buffer))
		return -ENOMEM;
	d->fw = d->fw_buffer.cpu;
	fill_boot(d);
	return 0;
}

int fw_init(struct inproc_device *d, const char *path, char *error, size_t error_bytes)
{
	struct fwif_image_header header;
	void *payload;
	int err;

	err = image_load(path, &header, &payload, error, error_bytes);
	if (err)
		return err;
	if (create_shared(d)) {
		free(payload);
		return fail_text(error, error_bytes, ENOMEM, "firmware: out of memory");
	}
	program_gpu(d);
	err = boot_image(d, &header, payload, error, error_bytes);
	free(payload);
	return err;
}

void fw_fini(struct inproc_device *d)
{
	/* The GPU was destroyed, so the buffers are no longer accessed. */
	space_fini(d, &d->fw_space);
	extents_fini(&d->fw_room);
}

static bool firmware_runs(struct inproc_device *d)
{
	const u32 status = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_FW_STATUS, 4);

	return PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE, status) == PUMICE_FW_STATE_RUNNING &&
	       boot_state(d->first) == FWIF_STATE_READY;
}

/* Wait until the firmware has changed the state from @state. Return: 0 or -ETIME. */
static int wait_for_change(struct inproc_device *d, u32 state)
{
	const u64 deadline = d->first->debugged ? PUMICE_FOREVER : now_ns() + CALL_TIMEOUT;
	int err = 0;
	u64 seen;

	while (boot_state(d) == state && !err && firmware_runs(d)) {
		seen = event_count(d);
		/* A cause that is pending would not be raised again. */
		os_write(d, PUMICE_OS_IRQ_CLEAR, PUMICE_OS_IRQ_CLEAR__FW__MASK, 4);
		if (boot_state(d) == state)
			err = event_wait(d, seen, deadline);
	}
	return boot_state(d) == state ? -ETIME : 0;
}

int fw_connect(struct inproc_device *d, char *error, size_t error_bytes)
{
	if (create_shared(d))
		return fail_text(error, error_bytes, ENOMEM, "out of memory");
	os_write(d, PUMICE_OS_IRQ_ENABLE, PUMICE_OS_IRQ_ENABLE__FW__MASK, 4);
	os_write(d, PUMICE_OS_CATALOGUE, catalogue_reg(d), 8);
	os_write(d, PUMICE_OS_BOOT_ARG, d->fw_buffer.addr, 4);
	os_write(d, PUMICE_OS_CTRL, PUMICE_OS_CTRL__CONNECT__MASK, 4);
	if (wait_for_change(d, FWIF_STATE_OFF))
		return fail_text(error, error_bytes, ENODEV, "the firmware does not reply" REOPEN);
	if (boot_state(d) != FWIF_STATE_READY)
		return fail_text(error, error_bytes, ENODEV, "the firmware refused: %s",
				 known(pumice_fwif_error_name(d->fw->boot.error)));
	return 0;
}

void fw_disconnect(struct inproc_device *d)
{
	if (!d->fw)
		return;
	os_write(d, PUMICE_OS_CTRL, 0, 4);
	wait_for_change(d, FWIF_STATE_READY);
	os_write(d, PUMICE_OS_IRQ_ENABLE, 0, 4);
	os_write(d, PUMICE_OS_CATALOGUE, 0, 8);
}

const char *fw_stopped(struct inproc_device *d)
{
	u32 status;

	if (boot_state(d->first) == FWIF_STATE_FATAL)
		return "the firmware stopped";
	/* Number 0 has an interrupt for a lockup, and is never disconnected. */
	if (!d->os)
		return NULL;
	status = (u32)pumice_gpu_mmio_read(d->gpu, 0, PUMICE_FW_STATUS, 4);
	if (PUMICE_FIELD_GET(PUMICE_FW_STATUS__STATE, status) == PUMICE_FW_STATE_LOCKUP)
		return "the firmware locked up";
	if (boot_state(d) != FWIF_STATE_READY)
		return "the firmware has disconnected this virtual GPU";
	return NULL;
}

int fw_lost(struct inproc_device *d)
{
	if (boot_state(d->first) == FWIF_STATE_FATAL)
		return fail(&d->base, ENODEV, "the GPU is lost: %s: %s" REOPEN, d->lost,
			    known(pumice_fwif_error_name(d->first->fw->boot.error)));
	return fail(&d->base, ENODEV, "the GPU is lost: %s" REOPEN, d->lost);
}

bool fw_has_room_for(struct inproc_device *d, u32 count)
{
	u32 read = __atomic_load_n(&d->fw->kccb_ring.read, __ATOMIC_ACQUIRE) % KCCB_COUNT;
	u32 used = (d->kccb_write + KCCB_COUNT - read) % KCCB_COUNT, i;

	for (i = 0; i < count; i++)
		if (d->kccb_held[(d->kccb_write + i) % KCCB_COUNT])
			return false;
	return used + count < KCCB_COUNT;
}

bool fw_has_room(struct inproc_device *d)
{
	return fw_has_room_for(d, 1);
}

u32 fw_send(struct inproc_device *d, const struct fwif_kccb_cmd *cmd)
{
	u32 entry = d->kccb_write;

	d->fw->kccb[entry] = *cmd;
	d->fw->kccb_status[entry] = FWIF_STATUS_PENDING;
	d->kccb_write = (entry + 1) % KCCB_COUNT;
	__atomic_store_n(&d->fw->kccb_ring.write, d->kccb_write, __ATOMIC_RELEASE);
	os_write(d, PUMICE_OS_SCHEDULE, PUMICE_OS_SCHEDULE__KICK__MASK, 4);
	return entry;
}

static int status_error(struct inproc_device *d, u32 status)
{
	switch (status) {
	case FWIF_STATUS_OK:
		return 0;
	case FWIF_STATUS_BUSY:
		return fail(&d->base, EBUSY, "the firmware still uses the object; wait for its jobs");
	case FWIF_STATUS_NO_SPACE:
		return fail(&d->base, ENOSPC, TOO_MANY_CONTEXTS);
	default:
		return fail(&d->base, EINVAL, "the firmware refused a command: %s",
			    known(pumice_fwif_status_name(status)));
	}
}

/* Advance a call: queue it when there is room, then read its reply. */
static u32 check_call(struct inproc_device *d, const struct fwif_kccb_cmd *cmd, s64 *entry)
{
	if (*entry < 0) {
		if (!fw_has_room(d))
			return FWIF_STATUS_PENDING;
		*entry = fw_send(d, cmd);
		d->kccb_held[*entry] = true;
	}
	return __atomic_load_n(&d->fw->kccb_status[*entry], __ATOMIC_ACQUIRE);
}

static u64 call_deadline(const struct inproc_device *d)
{
	return d->first->debugged ? PUMICE_FOREVER : now_ns() + CALL_TIMEOUT;
}

/*
 * The time-out of the reply begins when the command is queued. After it
 * the state is checked once more: on a busy machine the reply may have
 * arrived while this thread waited to be scheduled, or for the lock.
 */
int fw_call(struct inproc_device *d, const struct fwif_kccb_cmd *cmd)
{
	u64 deadline = call_deadline(d), seen;
	u32 status = FWIF_STATUS_PENDING;
	s64 entry = -1, before;
	bool late = false;

	while (!d->lost) {
		seen = event_count(d);
		event_process(d);
		before = entry;
		status = check_call(d, cmd, &entry);
		if (status != FWIF_STATUS_PENDING)
			break;
		if (late && entry == before) {
			event_lose(d, "the firmware does not respond");
			break;
		}
		if (entry != before)
			deadline = call_deadline(d);
		late = event_wait(d, seen, deadline) != 0;
	}
	if (entry >= 0)
		d->kccb_held[entry] = false;
	return d->lost ? fw_lost(d) : status_error(d, status);
}
