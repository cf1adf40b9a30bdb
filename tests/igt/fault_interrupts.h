/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Cases of pumice_faults about interrupts that get lost, are spurious, or come late. */
#ifndef FAULT_INTERRUPTS_H
#define FAULT_INTERRUPTS_H

/** fault_interrupt_subtests - run them. */
void fault_interrupt_subtests(void);

#endif
