/* SPDX-License-Identifier: MIT */
/*
 * The GPU core and a debugger of its firmware: GDB's remote serial protocol, transported by the
 * host. Complements pumice_gpu.h.
 *
 * All calls come from one thread at a time. pumice_gpu_gdb_input() and the others take the
 * device lock for some microseconds, as a register access does.
 */
#ifndef PUMICE_GPU_GDB_H
#define PUMICE_GPU_GDB_H

#include <stddef.h>

struct pumice_gpu;
struct pumice_gpu_gdb;

struct pumice_gpu_gdb_ops {
	/* Bytes for GDB. Must not block: if not all bytes are accepted, close the connection. */
	void (*send)(void *opaque, const char *data, size_t bytes);
	/*
	 * The processor has halted: call pumice_gpu_gdb_poll() soon. Any thread, with a lock of
	 * the GPU held; must not block or call back.
	 */
	void (*halted)(void *opaque);
};

/* The GPU must outlive it; one for each GPU. Return: NULL without memory. */
struct pumice_gpu_gdb *pumice_gpu_gdb_create(struct pumice_gpu *gpu,
					     const struct pumice_gpu_gdb_ops *ops, void *opaque);
void pumice_gpu_gdb_destroy(struct pumice_gpu_gdb *gdb);

/* A connection begins, ends: then there are no breakpoints and the firmware runs. */
void pumice_gpu_gdb_connect(struct pumice_gpu_gdb *gdb);
void pumice_gpu_gdb_disconnect(struct pumice_gpu_gdb *gdb);

void pumice_gpu_gdb_input(struct pumice_gpu_gdb *gdb, const void *data, size_t bytes);
void pumice_gpu_gdb_poll(struct pumice_gpu_gdb *gdb);

#endif
