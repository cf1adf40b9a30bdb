/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The interrupt of virtual GPU 0. */
#ifndef PUMICE_IRQ_H
#define PUMICE_IRQ_H

struct pumice_device;

int pumice_irq_init(struct pumice_device *pdev);
void pumice_irq_enable(struct pumice_device *pdev);
void pumice_irq_disable(struct pumice_device *pdev);
void pumice_irq_recheck(struct pumice_device *pdev);
void pumice_irq_expect(struct pumice_device *pdev);
void pumice_irq_job_ended(struct pumice_device *pdev);

#endif
