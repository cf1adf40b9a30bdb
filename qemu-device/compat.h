/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pumice GPU: differences between QEMU versions, all in one place.
 *
 * Written against QEMU 10.0; the newer spellings are chosen by version or by
 * the headers that are there.
 */
#ifndef HW_PUMICE_COMPAT_H
#define HW_PUMICE_COMPAT_H

/* 10.1 moved exec/memory.h and kin to system/. */
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

/* 10.1 made the data of class_init constant. */
#if QEMU_VERSION_MAJOR > 10 || \
    (QEMU_VERSION_MAJOR == 10 && QEMU_VERSION_MINOR >= 1)
#define PUMICE_CLASS_DATA const void
#else
#define PUMICE_CLASS_DATA void
#endif

#endif
