/* SPDX-License-Identifier: MIT */
/* Kernel CCB: commands of the host's driver. */
#ifndef FW_KCCB_H
#define FW_KCCB_H

#include "boot.h"

void kccb_init(const struct fw_rings *rings);

/** kccb_silence - fault injection: read no command until the next boot. Interrupts off. */
void kccb_silence(void);

/** kccb_process_command - background task: execute the next command, if there is one. */
void kccb_process_command(void);

/** kccb_has_background_work - return whether a command can be processed now. Interrupts off. */
bool kccb_has_background_work(void);

#endif
