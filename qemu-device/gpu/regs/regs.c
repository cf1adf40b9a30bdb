// SPDX-License-Identifier: MIT
/*
 * Register file: finds the register, applies the common rules, and calls its binding. See
 * regs.h.
 */
#include "regs.h"

#include "units.h"

static const struct reg_binding *binding_of(const struct pumice_reg_info *info)
{
	return &reg_bindings[info - pumice_reg_table];
}

static void lock(struct pumice_gpu *gpu, enum pumice_reg_bus bus)
{
	if (bus == PUMICE_REG_BUS_HOST)
		gpu_host_lock(gpu);
	else
		gpu_lock(gpu);
}

static void unlock(struct pumice_gpu *gpu, enum pumice_reg_bus bus)
{
	if (bus == PUMICE_REG_BUS_HOST)
		gpu_host_unlock(gpu);
	else
		gpu_unlock(gpu);
}

/* Return the error in the form of an access, or NULL. */
static const char *form_error(u32 offset, unsigned int size)
{
	if (size != 4 && size != 8)
		return "is neither 4 nor 8 bytes";
	if (offset % size)
		return "is misaligned";
	return NULL;
}

/*
 * Registers of unit INJ, except the one that reports this, exist only with the device's
 * property.
 */
static bool is_hidden(const struct pumice_gpu *gpu, const struct pumice_reg_info *info)
{
	return !gpu->config.fault_injection && info->offset > PUMICE_INJ_CAPS &&
	       info->offset - PUMICE_INJ_UNIT_BASE < PUMICE_INJ_UNIT_SIZE;
}

/* Return whether a register can be read, but not written, on pages other than 0. */
static bool is_read_on_all_pages(const struct pumice_reg_info *info)
{
	return info->offset - PUMICE_SYS_UNIT_BASE < PUMICE_SYS_UNIT_SIZE;
}

/* Return the reason why a register is not accessible, or NULL. */
static const char *access_error(const struct pumice_gpu *gpu, const struct reg_access *at,
				unsigned int size, bool write)
{
	if (!at->info || is_hidden(gpu, at->info))
		return "does not match a register";
	if (at->os >= gpu->config.oses)
		return "is to a virtual GPU that is not active";
	if (at->os && !at->info->per_os && (write || !is_read_on_all_pages(at->info)))
		return "is to a register of page 0 only";
	if (!(at->info->bus & at->bus))
		return "is from the wrong bus";
	if (size * 8 > at->info->bits)
		return "is wider than the register";
	return NULL;
}

/* Find the register; false, with a line in the log, when none is accessible. */
static bool find(struct pumice_gpu *gpu, struct reg_access *at, u32 offset, unsigned int size,
		 bool write)
{
	const char *why = form_error(offset, size);

	if (!why) {
		at->info = pumice_reg_find(offset, &at->index);
		why = access_error(gpu, at, size, write);
	}
	if (!why)
		return true;
	gpu_log(gpu, PUMICE_LOG_GUEST_ERROR, "register %s at 0x%x of page %u from the %s %s",
		write ? "write" : "read", offset, at->os, at->bus == PUMICE_REG_BUS_HOST ? "host" : "firmware", why);
	return false;
}

/* Return the distance of the accessed bytes from bit 0 of the register, in bits. */
static unsigned int half_shift(const struct reg_access *at, u32 offset)
{
	return (offset - at->info->offset - at->index * at->info->stride) * 8;
}

static u64 size_mask(unsigned int size)
{
	return UINT64_MAX >> (64 - 8 * size);
}

u64 regs_read(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os, u32 offset,
	      unsigned int size)
{
	struct reg_access at = { .os = os, .bus = bus };
	u64 value = 0;

	if (!find(gpu, &at, offset, size, false))
		return 0;
	if (binding_of(at.info)->read) {
		lock(gpu, bus);
		value = binding_of(at.info)->read(gpu, &at);
		if (at.info->offset == PUMICE_SYS_CLOCK && bus == PUMICE_REG_BUS_FW) {
			if (half_shift(&at, offset))
				value = (u64)gpu->clock_high << 32;
			else
				gpu->clock_high = (u32)(value >> 32);
		}
		unlock(gpu, bus);
	}
	value = value >> half_shift(&at, offset) & size_mask(size);
	if (bus == PUMICE_REG_BUS_HOST)
		gpu_trace(gpu, PUMICE_TRACE_MMIO_READ, offset, value, os | size << 8);
	return value;
}

/* Return the register's new value after a write of size bytes at offset. */
static u64 merge(struct pumice_gpu *gpu, const struct reg_access *at, u32 offset, u64 value,
		 unsigned int size)
{
	unsigned int shift = half_shift(at, offset);
	u64 mask = size_mask(size) << shift;
	u64 old = 0;

	if (at->info->access == PUMICE_REG_RW && size * 8 < at->info->bits)
		old = binding_of(at->info)->read(gpu, at);
	return ((old & ~mask) | (value << shift & mask)) & at->info->writable;
}

enum reg_after regs_write(struct pumice_gpu *gpu, enum pumice_reg_bus bus, unsigned int os,
			  u32 offset, u64 value, unsigned int size)
{
	struct reg_access at = { .os = os, .bus = bus };
	const unsigned int self = bus == PUMICE_REG_BUS_FW ? GPU_UNIT_FW : WORKERS_OUTSIDE;
	enum reg_after after;

	if (bus == PUMICE_REG_BUS_HOST)
		gpu_trace(gpu, PUMICE_TRACE_MMIO_WRITE, offset, value, os | size << 8);
	if (!find(gpu, &at, offset, size, true))
		return REG_DONE;
	if (!binding_of(at.info)->write) {
		gpu_log(gpu, PUMICE_LOG_GUEST_ERROR, "write to %s, which is read only",
			at.info->name);
		return REG_DONE;
	}
	lock(gpu, bus);
	after = binding_of(at.info)->write(gpu, &at, merge(gpu, &at, offset, value, size));
	unlock(gpu, bus);
	switch (after) {
	case REG_WAIT:
		workers_quiesce(gpu->workers, self);
		break;
	case REG_WAVES:
		gpu_snapshot_waves(gpu, reg_waves(gpu, &at), (u32)value & (u32)at.info->writable,
				   self);
		break;
	case REG_RESET:
		pumice_gpu_reset(gpu);
		break;
	case REG_MODE:
		mode_write(gpu, (u32)PUMICE_FIELD_GET(PUMICE_SYS_MODE__MODE, value));
		break;
	case REG_CACHES:
		reg_slc_perform(gpu, (u32)value);
		break;
	case REG_PLACE:
		reg_place_perform(gpu, os, value);
		break;
	case REG_DONE:
	case REG_AGAIN:
		break;
	}
	return after;
}
