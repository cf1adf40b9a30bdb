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

/* Get the number of coefficient registers in the alternate set. */
static inline u32 pumice_program_coeffs_alt(const struct pumice_program_header *header)
{
	return header->coeffs_alt | (u32)header->coeffs_alt_high << 8;
}

/* Set it, at most PUMICE_USC_MAX_COEFFS_ALT. */
static inline void pumice_program_set_coeffs_alt(struct pumice_program_header *header,
						 u32 registers)
{
	header->coeffs_alt = (u8)registers;
	header->coeffs_alt_high = (u8)(registers >> 8);
}

/* Get the data master that runs the program. */
static inline enum pumice_program_stage pumice_program_stage_of(
	const struct pumice_program_header *header)
{
	return header->rays ? PUMICE_PROGRAM_STAGE_RAYS :
			      (enum pumice_program_stage)header->stage;
}

/* Set it. */
static inline void pumice_program_set_stage(struct pumice_program_header *header,
					    enum pumice_program_stage stage)
{
	header->rays = stage == PUMICE_PROGRAM_STAGE_RAYS;
	header->stage = header->rays ? 0 : (u8)stage;
}

#endif
