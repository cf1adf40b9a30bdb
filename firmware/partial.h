/* SPDX-License-Identifier: MIT */
/*
 * Partial renders: what becomes of a geometry job that finds no pages. Called
 * with interrupts off.
 */
#ifndef FW_PARTIAL_H
#define FW_PARTIAL_H

#include "context.h"

/** partial_memory - interrupt task: the VDM's job stands still. @c: whose it is */
void partial_memory(struct context *c);

/** partial_grown - the host has answered about a list. */
void partial_grown(u32 list, bool grew);

/** partial_wants_pdm - the next fragment job must not be started: a partial render comes first. */
bool partial_wants_pdm(void);

/** partial_on_pdm - what the PDM renders is a partial render. */
bool partial_on_pdm(void);

/** partial_pdm_ended - interrupt task: the partial render stopped. */
void partial_pdm_ended(bool aborted);

/** partial_pdm_free - a fragment job has left the PDM. */
void partial_pdm_free(void);

/** partial_kill - stop the VDM's job, whatever it waits for. */
void partial_kill(void);

/**
 * partial_vdm_ended - the VDM's job is gone.
 * @r: its result; becomes the fault that the job was stopped for, if it was
 */
void partial_vdm_ended(struct fwif_job_result *r);

#endif
