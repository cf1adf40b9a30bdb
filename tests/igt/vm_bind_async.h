/* SPDX-License-Identifier: MIT */
/* Cases of pumice_vm_bind with binds that wait and signal. */
#ifndef VM_BIND_ASYNC_H
#define VM_BIND_ASYNC_H

#include "igt_pumice.h"

#define VM_BIND_ASYNC_CASES 13

extern const struct igt_pumice_case vm_bind_async_cases[VM_BIND_ASYNC_CASES];

#endif
