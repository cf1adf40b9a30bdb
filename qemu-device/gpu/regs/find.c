// SPDX-License-Identifier: MIT
/* Registers of unit FIND: findings of mode strict. */
#include <string.h>

#include "units.h"

_Static_assert(sizeof(((struct pumice_gpu *)NULL)->find_text) ==
	       PUMICE_FIND_TEXT_COUNT * sizeof(u64), "words of FIND_TEXT");

REG_READ(reg_find_count)
{
	(void)at;
	return strict_count(&gpu->strict);
}

REG_WRITE(reg_find_clear)
{
	(void)value;
	if (at->bus == PUMICE_REG_BUS_HOST)
		strict_clear(&gpu->strict);
	return REG_DONE;
}

REG_READ(reg_find_select)
{
	(void)at;
	return gpu->find_select;
}

/* The text is copied, so that its words belong together while the GPU detects more errors. */
REG_WRITE(reg_find_select_write)
{
	struct strict_finding finding;

	(void)at;
	gpu->find_select = (u32)value;
	memset(gpu->find_text, 0, sizeof(gpu->find_text));
	if (strict_get(&gpu->strict, gpu->find_select, &finding))
		strict_describe(&finding, (char *)gpu->find_text);
	return REG_DONE;
}

REG_READ(reg_find_lost)
{
	(void)at;
	return strict_lost(&gpu->strict);
}

REG_READ(reg_find_text)
{
	const u8 *bytes = (const u8 *)&gpu->find_text[at->index];
	u64 word = 0;

	for (u32 n = 0; n < sizeof(word); n++)
		word |= (u64)bytes[n] << (8 * n);
	return word;
}

REG_READ(reg_find_fw_arg)
{
	return gpu->find_arg[at->index];
}

REG_WRITE(reg_find_fw_arg_write)
{
	gpu->find_arg[at->index] = (u32)value;
	return REG_DONE;
}

REG_READ(reg_find_fw_ready)
{
	(void)at;
	return gpu->find_ready;
}

REG_WRITE(reg_find_fw_ready_write)
{
	if (at->bus == PUMICE_REG_BUS_FW)
		gpu->find_ready = value;
	return REG_DONE;
}

REG_WRITE(reg_find_fw_signal)
{
	(void)value;
	if (at->bus == PUMICE_REG_BUS_FW)
		coherence_signalled(gpu, gpu->find_arg[0] | (u64)gpu->find_arg[1] << 32);
	return REG_DONE;
}

/* Return whether only the firmware can detect an error. */
static bool is_of_firmware(u32 kind)
{
	return kind == PUMICE_FINDING_CCB_NOT_WRITTEN || kind == PUMICE_FINDING_CCB_OVERRUN ||
	       kind == PUMICE_FINDING_UPDATE_REUSED;
}

REG_WRITE(reg_find_fw_report)
{
	const u32 kind = (u32)PUMICE_FIELD_GET(PUMICE_FIND_FW_REPORT__KIND, value);
	const struct strict_finding finding = {
		.kind = (u8)kind, .unit = PUMICE_UNIT_FW,
		.os = (u8)PUMICE_FIELD_GET(PUMICE_FIND_FW_REPORT__OS, value),
		.object = { .known = true, .addr = gpu->find_arg[0], .place = gpu->find_arg[1],
			    .value = gpu->find_arg[2] },
	};

	if (at->bus == PUMICE_REG_BUS_FW && is_of_firmware(kind) &&
	    gpu->mode == PUMICE_MODE_STRICT)
		strict_report(&gpu->strict, &finding);
	return REG_DONE;
}
