/* SPDX-License-Identifier: MIT */
/* Connections of virtual GPUs other than 0: see os.h. */
#ifndef FW_CONNECT_H
#define FW_CONNECT_H

#include "pumice_types.h"

/** connect_process - background task: connect and disconnect virtual GPUs. */
void connect_process(void);

/** connect_has_background_work - return whether there is something to do. Interrupts off. */
bool connect_has_background_work(void);

#endif
