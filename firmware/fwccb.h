/* SPDX-License-Identifier: MIT */
/* Firmware CCB and host interrupt: messages to the host of the selected virtual GPU. */
#ifndef FW_FWCCB_H
#define FW_FWCCB_H

#include "boot.h"

/** fwccb_init - set the ring of the selected virtual GPU; NULL: none, messages are dropped. */
void fwccb_init(const struct fw_ring *ring);

/**
 * fwccb_send - send a message. Interrupts off.
 *
 * Return: false when the ring is full: the message is dropped and counted.
 */
bool fwccb_send(const struct fwif_fwccb_msg *msg);

/**
 * fwccb_silence - fault injection: drop messages until the next boot, while
 * fwccb_send() reports success. Interrupts off.
 */
void fwccb_silence(void);

/** host_request_irq - the host has to read its queues: request an interrupt from host_notify(). */
void host_request_irq(void);

/** host_notify - raise the interrupts of all hosts with requests since the last call. Any task. */
void host_notify(void);

#endif
