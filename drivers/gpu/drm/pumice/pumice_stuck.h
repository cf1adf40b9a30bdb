/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* State of a job that timed out. */
#ifndef PUMICE_STUCK_H
#define PUMICE_STUCK_H

struct drm_pumice_job_get_result;
struct fwif_stuck;
struct pumice_fault_place;
struct pumice_job;
struct pumice_stuck;

void pumice_stuck_note_locked(struct pumice_job *job, const struct fwif_stuck *shared);
void pumice_stuck_fault_place_locked(const struct pumice_job *job, const struct fwif_stuck *shared,
				     struct pumice_fault_place *place);
void pumice_stuck_report(const struct pumice_job *job);
void pumice_stuck_show(const struct pumice_stuck *stuck, struct drm_pumice_job_get_result *args);

#endif
