// SPDX-License-Identifier: MIT
/*
 * Arbitrary messages of the host to the real firmware: commands, contexts and client
 * command buffers from the input, most of their fields valid.
 *
 * Rules: every command is completed, with a known status; contexts can be killed
 * and released; the firmware stays READY, completes a PING, and runs a valid job.
 *
 * Left out: update objects, results and client CCBs located in the firmware's
 * own rings, which the interface leaves to the host to avoid.
 */
#include <string.h>

#include "host.h"

#define CONTEXTS	4u
#define VMS		3u

struct host {
	struct fixture *r;
	struct fx_vm vm[VMS];
	struct fx_context c[CONTEXTS];
	u32 objects;	/* fw address of words for updates, of which there are 256 */
	u32 shared_end;	/* fw address after rings and contexts */
};

/* Return an address for the firmware's writes: in the objects, or outside all structures. */
static u32 target(struct host *h, struct fuzz *f)
{
	u32 addr;

	if (fuzz_below(f, 8))
		return h->objects + fuzz_u8(f) * 4;
	addr = fuzz_below(f, 2) ? FX_FW_HOLE + fuzz_u16(f) : (u32)fuzz_number(f);
	/* Neither the fixture's structures, nor words that may be the head of an UPDATE. */
	if (addr < 4096 || (addr >= h->r->boot_addr && addr < h->shared_end))
		return 0;
	return addr;
}

static void put_wait(struct host *h, struct fuzz *f, struct fx_context *c)
{
	const struct fwif_cccb_wait cmd = {
		{ fuzz_mutate(f, FWIF_CCCB_WAIT), fuzz_mutate(f, sizeof(cmd)) },
		target(h, f), fuzz_mutate(f, 0),
	};

	fx_bytes(c, &cmd, sizeof(cmd));
}

static void put_update(struct host *h, struct fuzz *f, struct fx_context *c)
{
	const struct fwif_cccb_update cmd = {
		{ FWIF_CCCB_UPDATE, fuzz_mutate(f, sizeof(cmd)) }, target(h, f), fuzz_u8(f),
	};

	fx_bytes(c, &cmd, sizeof(cmd));
}

static void put_compute(struct host *h, struct fuzz *f, struct fx_context *c)
{
	const struct fwif_cccb_compute cmd = {
		{ fuzz_mutate(f, FWIF_CCCB_COMPUTE | FWIF_CACHES_ALL),
		  fuzz_mutate(f, sizeof(cmd)) },
		fuzz_below(f, 8) ? FX_STREAM_VA : fuzz_number(f) & ~4ull,
		fuzz_mutate(f, fuzz_u8(f)), fuzz_mutate(f, 0) ? 1 : 0,
	};

	(void)h;
	fx_bytes(c, &cmd, sizeof(cmd));
}

static void put_raw(struct host *h, struct fuzz *f, struct fx_context *c)
{
	u32 words[8] = { 0 };
	u32 n = fuzz_below(f, 5) * 2, i;

	(void)h;
	fuzz_bytes(f, words, n * 4);
	/* An UPDATE of an arbitrary address is left out: see above. */
	for (i = 0; i < n; i += 2)
		if (words[i] == FWIF_CCCB_UPDATE)
			words[i] = FWIF_CCCB_PAD;
	fx_bytes(c, words, n * 4);
}

static void client_command(struct host *h, struct fuzz *f)
{
	static void (*const put[])(struct host *h, struct fuzz *f, struct fx_context *c) = {
		put_wait, put_update, put_compute, put_compute, put_raw,
	};
	struct fx_context *c = &h->c[fuzz_below(f, CONTEXTS)];

	put[fuzz_below(f, sizeof(put) / sizeof(put[0]))](h, f, c);
}

/* The ring has room for another command, PING and the valid job's among them. */
static bool room(const struct host *h)
{
	u32 used = (h->r->kccb_ring->write - h->r->kccb_ring->read) % FX_KCCB;

	return used < FX_KCCB / 2;
}

static void kernel_command(struct host *h, struct fuzz *f)
{
	const struct fx_context *c = &h->c[fuzz_below(f, CONTEXTS)];
	struct fwif_kccb_cmd cmd = {
		.type = fuzz_mutate(f, fuzz_below(f, 8)),
		.context = fuzz_mutate(f, c->addr),
		.write = fuzz_mutate(f, c->write),
		.priority = fuzz_mutate(f, 0),
		.catalogue = h->vm[fuzz_below(f, VMS)].catalogue,
		.start = fuzz_below(f, 4) ? 0 : fuzz_number(f),
		.end = fuzz_below(f, 4) ? 4095 : fuzz_number(f),
	};

	if (fuzz_below(f, 8) == 0)
		cmd.catalogue = fuzz_number(f);
	if (fuzz_below(f, 32) == 0)
		cmd.reserved2[fuzz_below(f, 3) % 2] = fuzz_u8(f);
	if (!room(h))
		return;
	fx_put(h->r, &cmd);
	fx_kick(h->r);
}

static void kick(struct host *h, struct fuzz *f)
{
	if (!room(h))
		return;
	fx_put_kick(h->r, &h->c[fuzz_below(f, CONTEXTS)]);
	fx_kick(h->r);
}

/* Change a field that the host wrote into a context. */
static void change_context(struct host *h, struct fuzz *f)
{
	struct fwif_context *c = h->c[fuzz_below(f, CONTEXTS)].f;

	switch (fuzz_below(f, 8)) {
	case 0:
		c->priority = fuzz_mutate(f, fuzz_below(f, 3));
		break;
	case 1:
		c->catalogue = fuzz_below(f, 2) ? h->vm[fuzz_below(f, VMS)].catalogue :
						  fuzz_number(f);
		break;
	case 2:
		c->cccb = fuzz_below(f, 2) ? FX_FW_HOLE : fuzz_u8(f);
		break;
	case 3:
		c->cccb_bytes = (u32)fuzz_number(f) % (FX_CCCB + 1);
		break;
	case 4:
		c->results = fuzz_below(f, 2) ? FX_FW_HOLE : fuzz_u8(f);
		break;
	case 5:
		c->result_count = (u32)fuzz_number(f) % (FX_RESULTS + 1);
		break;
	case 6:
		c->dm = fuzz_mutate(f, 0);
		break;
	default:
		c->magic = fuzz_mutate(f, FWIF_CONTEXT_MAGIC);
		break;
	}
}

/* Write a stream: one that ends, faults, never ends, or is arbitrary. */
static void change_job(struct host *h, struct fuzz *f)
{
	struct fx_vm *vm = &h->vm[fuzz_below(f, VMS)];

	switch (fuzz_below(f, 4)) {
	case 0:
		fx_vm_faulty(vm);
		break;
	case 1:
		fx_vm_endless(vm);
		break;
	case 2:
		vm->stream[0] = PUMICE_CDM_TYPE_HALT << PUMICE_CDM_HALT__TYPE__SHIFT;
		break;
	default:
		vm->stream[fuzz_below(f, 16)] = (u32)fuzz_number(f);
		break;
	}
}

/* Run until all commands in the ring are completed. */
static void drain(struct fixture *r)
{
	const volatile u32 *read = &r->kccb_ring->read;
	unsigned int i;

	for (i = 0; i < 5000 && *read != r->kccb_ring->write; i++)
		host_run(r, 1);
	FUZZ_CHECK(*read == r->kccb_ring->write, "commands without a reply");
}

/* Change the host's part of the rings, and parts that only the firmware or no one may write. */
static void change_ring(struct host *h, struct fuzz *f)
{
	struct fixture *r = h->r;

	switch (fuzz_below(f, 4)) {
	case 0:
		/* Old entries run again. */
		r->kccb_ring->write = (u32)fuzz_number(f);
		fx_kick(r);
		host_run(r, fuzz_below(f, 8));
		r->kccb_ring->write %= FX_KCCB;
		drain(r);
		break;
	case 1:
		r->fwccb_ring->read = (u32)fuzz_number(f);
		break;
	case 2:
		r->fwccb_ring->count = r->kccb_ring->count = r->log_ring->count =
			(u32)fuzz_number(f);
		break;
	default:
		r->log_ring->write = (u32)fuzz_number(f);
		r->boot->log_level = (u32)fuzz_number(f);
		break;
	}
}

static void run(struct host *h, struct fuzz *f)
{
	host_run(h->r, fuzz_below(f, 8));
}

/* Kill every context that a queued command may wait for, so that all commands complete. */
static void check_replies(struct host *h)
{
	struct fixture *r = h->r;
	u32 i;

	drain(r);
	for (i = 0; i < CONTEXTS; i++)
		host_call_context(r, FWIF_KCCB_CONTEXT_KILL, &h->c[i]);
	for (i = 0; i < FX_KCCB; i++)
		FUZZ_CHECK(r->kccb_status[i] <= FWIF_STATUS_NO_SPACE, "status %u",
			   r->kccb_status[i]);
}

static void check_alive(struct host *h)
{
	const struct fwif_kccb_cmd ping = { .type = FWIF_KCCB_PING };
	u32 i;

	FUZZ_CHECK(host_call(h->r, &ping) == FWIF_STATUS_OK, "PING is refused");
	FUZZ_CHECK(h->r->boot->state == FWIF_STATE_READY, "state %u, error %u, info 0x%x",
		   h->r->boot->state, h->r->boot->error, h->r->boot->error_info);
	for (i = 0; i < CONTEXTS; i++)
		FUZZ_CHECK(host_call_context(h->r, FWIF_KCCB_CONTEXT_RELEASE, &h->c[i]) ==
			   FWIF_STATUS_OK, "a context that was killed is not released");
	host_check_job(h->r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const step[])(struct host *h, struct fuzz *f) = {
		client_command, client_command, kernel_command, kick, kick, change_context,
		change_job, change_ring, run,
	};
	struct host h = { .r = fx_booted() };
	struct fuzz f = { data, size };
	u32 i;

	for (i = 0; i < VMS; i++)
		fx_vm(h.r, &h.vm[i]);
	for (i = 0; i < CONTEXTS; i++)
		fx_context(h.r, &h.vm[i % VMS], i % 3, &h.c[i]);
	h.shared_end = h.r->fw_next;
	fx_fw_alloc(h.r, 0x10000, &i);
	fx_fw_alloc(h.r, 1024, &h.objects);
	while (fuzz_more(&f))
		step[fuzz_below(&f, sizeof(step) / sizeof(step[0]))](&h, &f);
	check_replies(&h);
	check_alive(&h);
	fx_destroy(h.r);
	return 0;
}
