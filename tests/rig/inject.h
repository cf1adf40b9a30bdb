/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Faults that the GPU makes on request, by the driver's file in debugfs. */
#ifndef RIG_INJECT_H
#define RIG_INJECT_H

#include <stdbool.h>

#include "pumice_types.h"

/** can_inject - whether this GPU makes faults on request. */
bool can_inject(void);

/**
 * need_inject - ask for a fault
 * @text: as Documentation/faults.rst describes: "unit-hang,where=cdm"; "none" for no more
 */
void need_inject(const char *text);

/** inject - as need_inject(). Return: 0 or a negative errno. */
int inject(const char *text);

/** inject_hits - how often a kind has happened since the machine was started. */
u32 inject_hits(const char *kind);

/** inject_left - occasions left at which a kind will happen. */
u32 inject_left(const char *kind);

#endif
