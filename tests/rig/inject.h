/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Fault injection, by the driver's file in debugfs. */
#ifndef FX_INJECT_H
#define FX_INJECT_H

#include <stdbool.h>

#include "pumice_types.h"

/** can_inject - whether this GPU supports fault injection. */
bool can_inject(void);

/**
 * need_inject - request a fault
 * @text: as Documentation/faults.rst describes: "unit-hang,where=cdm"; "none" to cancel
 */
void need_inject(const char *text);

/** inject - as need_inject(). Return: 0 or a negative errno. */
int inject(const char *text);

/** inject_hits - number of faults of a kind since the machine was started. */
u32 inject_hits(const char *kind);

/** inject_left - number of faults of a kind that remain armed. */
u32 inject_left(const char *kind);

#endif
