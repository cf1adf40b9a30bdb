/* SPDX-License-Identifier: MIT */
/*
 * Numbers that are in two fields of a program file's header (formats.xml, program_header).
 */
#ifndef PUMICE_PROGRAM_HEADER_H
#define PUMICE_PROGRAM_HEADER_H

#include "pumice_formats.h"
#include "pumice_regs.h"

#define PUMICE_PROGRAM_VO (5u + PUMICE_MAX_VARYINGS)	/* position, size, varyings */

/* Get the number of vertex output registers. */
static inline u32 pumice_program_vo(const struct pumice_program_header *header)
{
	return (u32)header->vo + header->more_vo;
}

/* Set it, at most PUMICE_USC_MAX_VO. */
static inline void pumice_program_set_vo(struct pumice_program_header *header, u32 registers)
{
	header->vo = (u8)(registers < PUMICE_PROGRAM_VO ? registers : PUMICE_PROGRAM_VO);
	header->more_vo = (u8)(registers - header->vo);
}

#endif
