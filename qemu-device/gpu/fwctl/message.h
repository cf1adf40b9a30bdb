/* SPDX-License-Identifier: MIT */
/* Damage to data that the firmware has written for the host; see message.c. */
#ifndef PUMICE_GPU_FWCTL_MESSAGE_H
#define PUMICE_GPU_FWCTL_MESSAGE_H

#include "../inject/inject.h"
#include "../mmu/mmu.h"

/*
 * The firmware raises the host's interrupt: an occasion for FW_MESSAGE. @boot: FW_BOOT_ARG,
 * the boot structure in context 0
 *
 * Called in the firmware's own step.
 */
void fwctl_inject_message(struct inject *in, const struct mmu *mmu, u64 boot);

#endif
