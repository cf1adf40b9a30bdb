/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * The one header that IGT tests include.
 *
 * This folder replaces IGT's library, so that our tests run without
 * IGT's source; inside an IGT tree its own header of this name takes its place.
 * Names, command line, output and exit statuses are IGT's; the code is ours.
 *
 * Limits: subtests, groups, fixtures, children and logging; no displays, no
 * dynamic subtests, no device filters.
 */
#ifndef IGT_H
#define IGT_H

#include "drmtest.h"
#include "igt_core.h"

#endif
