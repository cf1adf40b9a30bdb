/* SPDX-License-Identifier: MIT */
/* Kernel CCB: commands of the host's driver. */
#ifndef FW_KCCB_H
#define FW_KCCB_H

#include "boot.h"

void kccb_init(const struct fw_rings *rings);

/** kccb_silence - a fault on request: no command is read until the next boot. Interrupts off. */
void kccb_silence(void);

/** kccb_take_command - background task: carry out the next command, if there is one. */
void kccb_take_command(void);

/** kccb_has_background_work - a command could be taken at once. Interrupts off. */
bool kccb_has_background_work(void);

#endif
