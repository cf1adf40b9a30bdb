/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Cases of pumice_vm_bind in which memory does not suffice. */
#ifndef VM_BIND_MEMORY_H
#define VM_BIND_MEMORY_H

/** vm_bind_memory_subtests - run them. */
void vm_bind_memory_subtests(void);

#endif
