/* SPDX-License-Identifier: MIT */
/* Interrupt tasks (document 000, "Firmware Processor"). */
#ifndef FW_IRQ_H
#define FW_IRQ_H

/** irq_init - enable the interrupts of all events that have a task. */
void irq_init(void);

/** irq_listen - enable the event of a virtual GPU, which its kick disabled. Interrupts off. */
void irq_listen(u32 os);

/** irq_handle - run the tasks of all pending events. Interrupts off. */
void irq_handle(void);

#endif
