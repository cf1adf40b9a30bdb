/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Cases of pumice_faults about interrupts that are lost, spurious, or late. */
#ifndef FAULT_INTERRUPTS_H
#define FAULT_INTERRUPTS_H

/** fault_interrupt_subtests - run them. */
void fault_interrupt_subtests(void);

#endif
