// SPDX-License-Identifier: MIT
/*
 * GDB stub: the GPU as its target. See pumice_gpu_gdb.h.
 */
#include <stdlib.h>

#include "../fwctl/debug.h"
#include "../gpu.h"
#include "../pumice_gpu_gdb.h"
#include "../regs/regs.h"
#include "fwgdb.h"

_Static_assert((u32)FWGDB_REG_PC == FWCTL_DEBUG_PC && FWGDB_REG_CSR0 == FWCTL_DEBUG_CSR0,
	       "one numbering of registers");

struct pumice_gpu_gdb {
	struct pumice_gpu *gpu;
	struct fwctl_debug *debug;
	const struct pumice_gpu_gdb_ops *ops;
	void *opaque;
	struct fwgdb *protocol;
};

/* struct fwctl_debug, halted */
static void gdb_halted(void *opaque)
{
	struct pumice_gpu_gdb *gdb = opaque;

	gdb->ops->halted(gdb->opaque);
}

/* struct fwgdb_target */

static void gdb_attach(void *opaque)
{
	struct pumice_gpu_gdb *gdb = opaque;

	gpu_host_lock(gdb->gpu);
	fwctl_debug_attach(gdb->debug, gdb_halted, gdb);
	gpu_host_unlock(gdb->gpu);
}

static void gdb_detach(void *opaque)
{
	struct pumice_gpu_gdb *gdb = opaque;

	gpu_host_lock(gdb->gpu);
	fwctl_debug_detach(gdb->debug);
	gpu_host_unlock(gdb->gpu);
}

static void gdb_halt(void *opaque)
{
	struct pumice_gpu_gdb *gdb = opaque;

	gpu_host_lock(gdb->gpu);
	fwctl_debug_halt(gdb->debug);
	gpu_host_unlock(gdb->gpu);
}

static void gdb_resume(void *opaque, bool step)
{
	struct pumice_gpu_gdb *gdb = opaque;

	gpu_host_lock(gdb->gpu);
	fwctl_debug_resume(gdb->debug, step);
	gpu_host_unlock(gdb->gpu);
}

static enum fwgdb_stop gdb_stopped(void *opaque)
{
	static const enum fwgdb_stop stop[] = {
		[FWCTL_HALT_NONE] = FWGDB_RUNNING,
		[FWCTL_HALT_REQUEST] = FWGDB_STOP_REQUEST,
		[FWCTL_HALT_STEP] = FWGDB_STOP_STEP,
		[FWCTL_HALT_BREAKPOINT] = FWGDB_STOP_BREAKPOINT,
		[FWCTL_HALT_LOCKUP] = FWGDB_STOP_LOCKUP,
	};
	struct pumice_gpu_gdb *gdb = opaque;
	enum fwctl_halt halt;

	gpu_host_lock(gdb->gpu);
	halt = fwctl_debug_halted(gdb->debug);
	gpu_host_unlock(gdb->gpu);
	return stop[halt];
}

static bool gdb_get(void *opaque, u32 number, u32 *value)
{
	struct pumice_gpu_gdb *gdb = opaque;
	bool good;

	gpu_host_lock(gdb->gpu);
	good = fwctl_debug_get(gdb->debug, number, value);
	gpu_host_unlock(gdb->gpu);
	return good;
}

static bool gdb_set(void *opaque, u32 number, u32 value)
{
	struct pumice_gpu_gdb *gdb = opaque;
	bool good;

	gpu_host_lock(gdb->gpu);
	good = fwctl_debug_set(gdb->debug, number, value);
	gpu_host_unlock(gdb->gpu);
	return good;
}

static size_t gdb_read(void *opaque, u32 addr, void *to, size_t bytes)
{
	struct pumice_gpu_gdb *gdb = opaque;
	size_t done;

	gpu_host_lock(gdb->gpu);
	done = fwctl_debug_read(gdb->debug, addr, to, bytes);
	gpu_host_unlock(gdb->gpu);
	return done;
}

static size_t gdb_write(void *opaque, u32 addr, const void *from, size_t bytes)
{
	struct pumice_gpu_gdb *gdb = opaque;
	size_t done;

	gpu_host_lock(gdb->gpu);
	done = fwctl_debug_write(gdb->debug, addr, from, bytes);
	gpu_host_unlock(gdb->gpu);
	return done;
}

/* The registers lock for themselves. */
static bool gdb_read_bus(void *opaque, u32 addr, u32 *value)
{
	struct pumice_gpu_gdb *gdb = opaque;
	u32 offset = addr - PUMICE_FW_BUS_BASE;

	if (offset >= PUMICE_OS_PAGE_SIZE || offset % sizeof(*value))
		return false;
	*value = (u32)regs_read(gdb->gpu, PUMICE_REG_BUS_FW, 0, offset, sizeof(*value));
	return true;
}

static bool gdb_add_breakpoint(void *opaque, u32 addr)
{
	struct pumice_gpu_gdb *gdb = opaque;
	int err;

	gpu_host_lock(gdb->gpu);
	err = fwctl_debug_add_breakpoint(gdb->debug, addr);
	gpu_host_unlock(gdb->gpu);
	return !err;
}

static bool gdb_remove_breakpoint(void *opaque, u32 addr)
{
	struct pumice_gpu_gdb *gdb = opaque;
	int err;

	gpu_host_lock(gdb->gpu);
	err = fwctl_debug_remove_breakpoint(gdb->debug, addr);
	gpu_host_unlock(gdb->gpu);
	return !err;
}

static void gdb_send(void *opaque, const char *data, size_t bytes)
{
	struct pumice_gpu_gdb *gdb = opaque;

	gdb->ops->send(gdb->opaque, data, bytes);
}

static const struct fwgdb_target gdb_target = {
	.attach = gdb_attach,
	.detach = gdb_detach,
	.halt = gdb_halt,
	.resume = gdb_resume,
	.stopped = gdb_stopped,
	.get = gdb_get,
	.set = gdb_set,
	.read = gdb_read,
	.write = gdb_write,
	.read_bus = gdb_read_bus,
	.add_breakpoint = gdb_add_breakpoint,
	.remove_breakpoint = gdb_remove_breakpoint,
	.send = gdb_send,
};

/* The host's view. */

struct pumice_gpu_gdb *pumice_gpu_gdb_create(struct pumice_gpu *gpu,
					     const struct pumice_gpu_gdb_ops *ops, void *opaque)
{
	struct pumice_gpu_gdb *gdb = calloc(1, sizeof(*gdb));

	if (!gdb)
		return NULL;
	gdb->gpu = gpu;
	gdb->debug = fwctl_debug(gpu->fw);
	gdb->ops = ops;
	gdb->opaque = opaque;
	gdb->protocol = fwgdb_create(&gdb_target, gdb);
	if (!gdb->protocol) {
		free(gdb);
		return NULL;
	}
	return gdb;
}

void pumice_gpu_gdb_destroy(struct pumice_gpu_gdb *gdb)
{
	if (!gdb)
		return;
	fwgdb_destroy(gdb->protocol);
	free(gdb);
}

void pumice_gpu_gdb_connect(struct pumice_gpu_gdb *gdb)
{
	fwgdb_connect(gdb->protocol);
}

void pumice_gpu_gdb_disconnect(struct pumice_gpu_gdb *gdb)
{
	fwgdb_disconnect(gdb->protocol);
}

void pumice_gpu_gdb_input(struct pumice_gpu_gdb *gdb, const void *data, size_t bytes)
{
	fwgdb_input(gdb->protocol, data, bytes);
}

void pumice_gpu_gdb_poll(struct pumice_gpu_gdb *gdb)
{
	fwgdb_poll(gdb->protocol);
}
