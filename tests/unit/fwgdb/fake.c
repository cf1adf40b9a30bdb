// SPDX-License-Identifier: MIT
/* See fake.h. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fake_attach(void *opaque)
{
	struct fake *f = opaque;

	f->attached = true;
}

static void fake_detach(void *opaque)
{
	struct fake *f = opaque;

	f->attached = false;
	f->stop = FWGDB_RUNNING;
	f->breakpoint_count = 0;
	f->detaches++;
}

static void fake_request(void *opaque)
{
	struct fake *f = opaque;

	f->halt_wanted = true;
}

static void fake_resume(void *opaque, bool step)
{
	struct fake *f = opaque;

	f->stop = FWGDB_RUNNING;
	f->stepped = step;
	f->resumes++;
}

static enum fwgdb_stop fake_stopped(void *opaque)
{
	return ((struct fake *)opaque)->stop;
}

static u32 *fake_reg(struct fake *f, u32 number)
{
	if (f->stop == FWGDB_RUNNING)
		return NULL;
	if (number == FWGDB_REG_CSR0 + 0x340)
		return &f->mscratch;
	return number <= FWGDB_REG_PC ? &f->reg[number] : NULL;
}

static bool fake_get(void *opaque, u32 number, u32 *value)
{
	const u32 *reg = fake_reg(opaque, number);

	if (reg)
		*value = *reg;
	return reg;
}

static bool fake_set(void *opaque, u32 number, u32 value)
{
	u32 *reg = fake_reg(opaque, number);

	if (reg)
		*reg = value;
	return reg;
}

/* Return how many of @bytes at @addr exist. */
static size_t fake_run(u32 addr, size_t bytes)
{
	size_t left;

	if (addr - FAKE_MEMORY >= FAKE_BYTES)
		return 0;
	left = FAKE_MEMORY + FAKE_BYTES - addr;
	return bytes < left ? bytes : left;
}

static size_t fake_read(void *opaque, u32 addr, void *to, size_t bytes)
{
	struct fake *f = opaque;

	bytes = fake_run(addr, bytes);
	if (bytes)
		memcpy(to, f->memory + (addr - FAKE_MEMORY), bytes);
	return bytes;
}

static size_t fake_write(void *opaque, u32 addr, const void *from, size_t bytes)
{
	struct fake *f = opaque;

	bytes = fake_run(addr, bytes);
	if (bytes)
		memcpy(f->memory + (addr - FAKE_MEMORY), from, bytes);
	return bytes;
}

static bool fake_read_bus(void *opaque, u32 addr, u32 *value)
{
	(void)opaque;
	*value = 0x44332211;
	return addr == FAKE_BUS;
}

static bool fake_add(void *opaque, u32 addr)
{
	struct fake *f = opaque;

	if (f->breakpoint_count == sizeof(f->breakpoints) / sizeof(f->breakpoints[0]))
		return false;
	f->breakpoints[f->breakpoint_count++] = addr;
	return true;
}

static bool fake_remove(void *opaque, u32 addr)
{
	struct fake *f = opaque;

	if (!f->breakpoint_count || f->breakpoints[f->breakpoint_count - 1] != addr)
		return false;
	f->breakpoint_count--;
	return true;
}

static void fake_send(void *opaque, const char *data, size_t bytes)
{
	struct fake *f = opaque;

	if (bytes > FAKE_SENT - f->sent_bytes)
		bytes = FAKE_SENT - f->sent_bytes;
	memcpy(f->sent + f->sent_bytes, data, bytes);
	f->sent_bytes += bytes;
	f->sent[f->sent_bytes] = 0;
}

const struct fwgdb_target fake_target = {
	.attach = fake_attach,
	.detach = fake_detach,
	.halt = fake_request,
	.resume = fake_resume,
	.stopped = fake_stopped,
	.get = fake_get,
	.set = fake_set,
	.read = fake_read,
	.write = fake_write,
	.read_bus = fake_read_bus,
	.add_breakpoint = fake_add,
	.remove_breakpoint = fake_remove,
	.send = fake_send,
};

void fake_forget(struct fake *f)
{
	f->sent_bytes = 0;
	f->sent[0] = 0;
}

void fake_packet(struct fake *f, const char *contents)
{
	char tail[4];
	u8 sum = 0;
	const char *c;

	fake_forget(f);
	for (c = contents; *c; c++)
		sum += (u8)*c;
	snprintf(tail, sizeof(tail), "#%02x", sum);
	fwgdb_input(f->gdb, "$", 1);
	fwgdb_input(f->gdb, contents, strlen(contents));
	fwgdb_input(f->gdb, tail, 3);
}

void fake_halt(struct fake *f, enum fwgdb_stop why)
{
	f->stop = why;
	fwgdb_poll(f->gdb);
}

void fake_start(struct fake *f, bool acks)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	for (i = 0; i < FAKE_BYTES; i++)
		f->memory[i] = (u8)i;
	for (i = 0; i <= FWGDB_REG_PC; i++)
		f->reg[i] = 0x01010101 * i;
	f->stop = FWGDB_STOP_REQUEST;
	f->gdb = fwgdb_create(&fake_target, f);
	if (!f->gdb)
		abort();
	fwgdb_connect(f->gdb);
	if (!acks)
		fake_packet(f, "QStartNoAckMode");
	fake_forget(f);
}

void fake_end(struct fake *f)
{
	fwgdb_destroy(f->gdb);
}
