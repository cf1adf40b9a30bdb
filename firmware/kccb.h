/* SPDX-License-Identifier: MIT */
/* Kernel CCB: commands of the host's driver, of the selected virtual GPU. */
#ifndef FW_KCCB_H
#define FW_KCCB_H

#include "boot.h"

/** kccb_init - set the ring of the selected virtual GPU; NULL: none. */
void kccb_init(const struct fw_rings *rings);

/** kccb_abandon - read no further commands, and complete none that is pending. Interrupts off. */
void kccb_abandon(void);

/** kccb_silence - fault injection: read no command until the next boot. Interrupts off. */
void kccb_silence(void);

/** kccb_process_command - background task: execute the next command, if there is one. */
void kccb_process_command(void);

/** kccb_has_background_work - return whether a command can be processed now. Interrupts off. */
bool kccb_has_background_work(void);

#endif
