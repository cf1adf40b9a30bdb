// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Trace events: what pumice_events.h declares is made here. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "pumice_events.h"
