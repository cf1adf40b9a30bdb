/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pumice GPU: a character device for GDB, which debugs the GPU's firmware.
 *
 *   -chardev socket,id=fwgdb,path=fw.sock,server=on,wait=off
 *   -device pumice,fw-gdb=fwgdb
 *
 * Bytes go through QEMU's main loop, under the big lock. They are handled within
 * microseconds; the firmware processor halts and steps in the GPU's own threads,
 * and a bottom half sends what GDB waits for. With threads=0 the GPU runs in the
 * main loop, too, between the two.
 *
 * Limits: while the machine is stopped, so is the GPU: registers and memory of a
 * halted processor can be looked at, but it does not step or halt.
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"

#include "pumice.h"

#define PUMICE_GDB_BYTES 4096   /* taken from the character device at a time */

/* A GDB that does not read its replies must not block the machine. */
static void pumice_gdb_send(void *opaque, const char *data, size_t bytes)
{
    PumiceState *s = opaque;
    int done = qemu_chr_fe_write(&s->gdb_chr, (const uint8_t *)data, bytes);

    if (done != (int)bytes) {
        qemu_chr_fe_disconnect(&s->gdb_chr);
    }
}

static void pumice_gdb_halted(void *opaque)
{
    PumiceState *s = opaque;

    qemu_bh_schedule(s->gdb_bh);
}

static const struct pumice_gpu_gdb_ops pumice_gdb_ops = {
    .send = pumice_gdb_send,
    .halted = pumice_gdb_halted,
};

static void pumice_gdb_bh(void *opaque)
{
    PumiceState *s = opaque;

    pumice_gpu_gdb_poll(s->gdb);
}

static int pumice_gdb_can_read(void *opaque)
{
    return PUMICE_GDB_BYTES;
}

static void pumice_gdb_read(void *opaque, const uint8_t *data, int bytes)
{
    PumiceState *s = opaque;

    pumice_gpu_gdb_input(s->gdb, data, bytes);
}

static void pumice_gdb_event(void *opaque, QEMUChrEvent event)
{
    PumiceState *s = opaque;

    if (event == CHR_EVENT_OPENED) {
        pumice_gpu_gdb_connect(s->gdb);
    } else if (event == CHR_EVENT_CLOSED) {
        pumice_gpu_gdb_disconnect(s->gdb);
    }
}

bool pumice_gdb_init(PumiceState *s, Error **errp)
{
    if (!qemu_chr_fe_backend_connected(&s->gdb_chr)) {
        return true;
    }
    s->gdb = pumice_gpu_gdb_create(s->gpu, &pumice_gdb_ops, s);
    if (!s->gdb) {
        error_setg(errp, "pumice: out of memory");
        return false;
    }
    s->gdb_bh = qemu_bh_new(pumice_gdb_bh, s);
    qemu_chr_fe_set_handlers(&s->gdb_chr, pumice_gdb_can_read, pumice_gdb_read,
                             pumice_gdb_event, NULL, s, NULL, true);
    return true;
}

void pumice_gdb_exit(PumiceState *s)
{
    if (!s->gdb) {
        return;
    }
    qemu_chr_fe_set_handlers(&s->gdb_chr, NULL, NULL, NULL, NULL, NULL, NULL,
                             false);
    pumice_gpu_gdb_disconnect(s->gdb);
    qemu_bh_delete(s->gdb_bh);
    pumice_gpu_gdb_destroy(s->gdb);
    s->gdb = NULL;
}
