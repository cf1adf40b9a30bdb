/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/* Cases of pumice_vm_bind with binds that wait and signal. */
#ifndef VM_BIND_ASYNC_H
#define VM_BIND_ASYNC_H

/** vm_bind_async_subtests - run them. */
void vm_bind_async_subtests(void);

#endif
