/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pumice GPU: QMP event PUMICE_FINDING for each finding of mode strict.
 *
 * Threads of the GPU detect errors; a bottom half emits the events in the main
 * loop, so that no thread of the GPU waits for a monitor.
 *
 * Limits: a guest can drop the findings and cause the same ones again, so there
 * are at most LOG_LIMIT_LINES events per second, and as many wait for the main
 * loop; the others are counted in the next event. Without a next event, property
 * findings alone has them.
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qemu/timer.h"
#include "qapi/qapi-events-pumice.h"
#include "qobject/qjson.h"
#include "qobject/qobject.h"

#include "pumice.h"

/* Any thread of the GPU, without the big lock. */
void pumice_event_finding(PumiceState *s, const char *text)
{
    PumiceEvents *e = &s->events;
    uint64_t now = qemu_clock_get_ns(QEMU_CLOCK_REALTIME);
    uint32_t dropped;

    qemu_mutex_lock(&e->lock);
    if (e->count < PUMICE_EVENTS && log_limit_allow(&e->limit, now, &dropped)) {
        e->waiting[e->count].text = g_strdup(text);
        e->waiting[e->count].suppressed = e->suppressed;
        e->suppressed = 0;
        e->count++;
    } else {
        e->suppressed += e->suppressed != UINT32_MAX;
    }
    qemu_mutex_unlock(&e->lock);
    qemu_bh_schedule(e->bh);
}

/* Take the oldest event; false if there is none. */
static bool pumice_event_take(PumiceEvents *e, PumiceEvent *event)
{
    bool taken;

    qemu_mutex_lock(&e->lock);
    taken = e->count;
    if (taken) {
        *event = e->waiting[0];
        e->count--;
        memmove(&e->waiting[0], &e->waiting[1], e->count * sizeof(*event));
    }
    qemu_mutex_unlock(&e->lock);
    return taken;
}

static void pumice_event_bh(void *opaque)
{
    PumiceState *s = opaque;
    g_autofree char *path = object_get_canonical_path(OBJECT(s));
    PumiceEvent event;

    while (pumice_event_take(&s->events, &event)) {
        QObject *finding = qobject_from_json(event.text, NULL);

        if (finding) {
            qapi_event_send_pumice_finding(DEVICE(s)->id, path, finding,
                                           event.suppressed);
        }
        qobject_unref(finding);
        g_free(event.text);
    }
}

void pumice_event_init(PumiceState *s)
{
    qemu_mutex_init(&s->events.lock);
    s->events.bh = qemu_bh_new(pumice_event_bh, s);
}

void pumice_event_exit(PumiceState *s)
{
    PumiceEvent event;

    while (pumice_event_take(&s->events, &event)) {
        g_free(event.text);
    }
    qemu_bh_delete(s->events.bh);
    qemu_mutex_destroy(&s->events.lock);
}
