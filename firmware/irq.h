/* SPDX-License-Identifier: MIT */
/* Interrupt tasks (document 000, "Firmware Processor"). */
#ifndef FW_IRQ_H
#define FW_IRQ_H

/** irq_init - let the events that have a task raise interrupts. */
void irq_init(void);

/** irq_handle - carry out the tasks of the events that are pending. Interrupts off. */
void irq_handle(void);

#endif
