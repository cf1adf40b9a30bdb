/* SPDX-License-Identifier: MIT */
/* The log ring: see struct fwif_log_entry. */
#ifndef FW_LOG_H
#define FW_LOG_H

#include "boot.h"

/** log_init - set the ring of the selected virtual GPU; NULL: none, entries are dropped. */
void log_init(const struct fw_ring *ring);

/** log_event - write an entry, unless the host's log level excludes it; and trace it. Any task. */
void log_event(enum fwif_log_event event, u32 arg0, u32 arg1, u32 arg2);

#endif
