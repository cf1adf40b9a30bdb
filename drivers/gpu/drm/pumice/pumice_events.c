// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Trace events: instantiates the declarations of pumice_events.h. */
#include <linux/module.h>

#define CREATE_TRACE_POINTS
#include "pumice_events.h"
