/* SPDX-License-Identifier: MIT */
/*
 * Work that is compiled for this machine and for the firmware processor alike.
 */
#ifndef PUMICE_TEST_FWCPU_WORKLOAD_H
#define PUMICE_TEST_FWCPU_WORKLOAD_H

#include <stdint.h>

#define WORKLOADS	8u

/* The processor stores its results in the firmware-bus words from this one on. */
#define WORKLOAD_FIRST_REG	4u
/* Number of handled interrupts. */
#define WORKLOAD_IRQ_REG	(WORKLOAD_FIRST_REG + WORKLOADS)

/* Run workload @n < WORKLOADS; the result depends on every step of it. */
uint32_t workload(uint32_t n);

#endif
