/* SPDX-License-Identifier: MIT */
/* Firmware CCB and host interrupt: news for the host. */
#ifndef FW_FWCCB_H
#define FW_FWCCB_H

#include "boot.h"

void fwccb_init(const struct fw_ring *ring);

/**
 * fwccb_send - send a message. Interrupts off.
 *
 * Return: false when the ring is full: the message is dropped and counted.
 */
bool fwccb_send(const struct fwif_fwccb_msg *msg);

/**
 * fwccb_silence - a fault on request: messages are lost until the next boot, and
 * fwccb_send() reports them as sent. Interrupts off.
 */
void fwccb_silence(void);

/** host_want_irq - the host is to look at its queues: the next host_notify() interrupts it. */
void host_want_irq(void);

/** host_notify - raise the host's interrupt, once for all that was wanted. Any task. */
void host_notify(void);

#endif
