/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pumice GPU: differences between QEMU versions, all in one place.
 *
 * Written against QEMU 10.0. Features are detected from QEMU's headers, not
 * from its version: by __has_include() here, and in pumice_config.h, which
 * meson.build writes.
 */
#ifndef HW_PUMICE_COMPAT_H
#define HW_PUMICE_COMPAT_H

#include "system/runstate.h"

#include "pumice_config.h"

/* 10.1 moved exec/memory.h and related headers to system/. */
#if __has_include("system/memory.h")
#include "system/memory.h"
#else
#include "exec/memory.h"
#endif

/* 11.0 moved hw/qdev-properties.h to hw/core/. */
#if __has_include("hw/core/qdev-properties.h")
#include "hw/core/qdev-properties.h"
#else
#include "hw/qdev-properties.h"
#endif

/* 11.0 moved this one, too. */
#if __has_include("hw/core/qdev-properties-system.h")
#include "hw/core/qdev-properties-system.h"
#else
#include "hw/qdev-properties-system.h"
#endif
#include "chardev/char-fe.h"

/* 10.2 renamed the front end's structure. */
#ifdef PUMICE_HAVE_CHAR_FRONTEND
#define CharBackend CharFrontend
#endif

/* 10.1 made the data of class_init constant. */
#ifdef PUMICE_HAVE_CONST_CLASS_DATA
#define PUMICE_CLASS_DATA const void
#else
#define PUMICE_CLASS_DATA void
#endif

/*
 * Call @cb(@opaque, running, state) when the machine starts or stops. 10.2
 * added a second callback, which may fail.
 */
static inline VMChangeStateEntry *
pumice_add_vm_change_state_handler(DeviceState *dev, VMChangeStateHandler *cb,
                                   void *opaque)
{
#ifdef PUMICE_HAVE_VM_STATE_RESULT
    return qdev_add_vm_change_state_handler(dev, cb, NULL, opaque);
#else
    return qdev_add_vm_change_state_handler(dev, cb, opaque);
#endif
}

#endif
