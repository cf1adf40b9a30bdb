// SPDX-License-Identifier: MIT
/* Versions of a program and of the interfaces that it was built for. */
#include <stdio.h>

#include "command.h"
#include "dumpfile.h"
#include "fwif.h"
#include "pumice_drm.h"
#include "pumice_formats.h"
#include "pumice_regs.h"

void command_print_version(const struct command *c)
{
	printf("%s %s\n", c->name, PUMICE_VERSION);
	if (c->versions & COMMAND_VERSION_GPU)
		printf("uapi %d.%d\nfirmware interface %u.%u\n", DRM_PUMICE_VERSION_MAJOR,
		       DRM_PUMICE_VERSION_MINOR, FWIF_VERSION_MAJOR, FWIF_VERSION_MINOR);
	if (c->versions & (COMMAND_VERSION_GPU | COMMAND_VERSION_REGISTERS))
		printf("register map %u.%u\n", PUMICE_SYS_VERSION__RESET >> 16,
		       PUMICE_SYS_VERSION__RESET & 0xffff);
	if (c->versions & COMMAND_VERSION_PROGRAM)
		printf("program file %u\n", PUMICE_PROGRAM_HEADER__VERSION__VALUE);
	if (c->versions & COMMAND_VERSION_DUMP)
		printf("dump file %u\n", PUMICE_DUMP_VERSION);
	if (c->versions & COMMAND_VERSION_CAPTURE)
		printf("capture file %u\n", PUMICE_CAPTURE_FILE__VERSION__VALUE);
}
