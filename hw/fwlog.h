/* SPDX-License-Identifier: (GPL-2.0 OR MIT) */
/*
 * Texts of the firmware's log, and names of the numbers of fwif.h, for driver, library and
 * tools. Faults have the names of registers.xml. The firmware itself stores numbers only.
 *
 * Limits: a text has at most PUMICE_LOG_TEXT bytes, the NUL included; longer ones end early.
 */
#ifndef PUMICE_FWLOG_H
#define PUMICE_FWLOG_H

#ifdef __KERNEL__
#include <linux/kernel.h>
#else
#include <stddef.h>
#include <stdio.h>
#endif

#include "fwif.h"
#include "pumice_names.h"

#define PUMICE_LOG_TEXT	160u

/* Look up a name in a table; NULL if the number has none. */
#define PUMICE_FWLOG_NAME_(names, n) \
	((n) < sizeof(names) / sizeof((names)[0]) ? (names)[n] : NULL)

/* Return the name of an enum fwif_dm, or NULL. */
static inline const char *pumice_fwif_dm_name(u32 dm)
{
	static const char * const names[] = {
		[FWIF_DM_CDM] = "compute", [FWIF_DM_VDM] = "geometry",
		[FWIF_DM_PDM] = "fragment", [FWIF_DM_TDM] = "transfer",
		[FWIF_DM_RDM] = "rays",
	};

	return PUMICE_FWLOG_NAME_(names, dm);
}

/* Return the name of a priority, or NULL. */
static inline const char *pumice_fwif_priority_name(u32 priority)
{
	static const char * const names[FWIF_PRIORITIES] = { "low", "normal", "high" };

	return PUMICE_FWLOG_NAME_(names, priority);
}

/* Return the text of an enum fwif_error, or NULL. */
static inline const char *pumice_fwif_error_name(u32 error)
{
	static const char * const names[] = {
		[FWIF_ERROR_NONE] = "none",
		[FWIF_ERROR_MAGIC] = "boot structure not recognised",
		[FWIF_ERROR_VERSION] = "another interface version",
		[FWIF_ERROR_RING] = "invalid size or address of a ring",
		[FWIF_ERROR_DEVICE] = "built for another register map",
		[FWIF_ERROR_TRAP] = "unexpected trap",
		[FWIF_ERROR_CLIENT_CCB] = "malformed client command",
	};

	return PUMICE_FWLOG_NAME_(names, error);
}

/* Return the name of an enum fwif_state, or NULL. */
static inline const char *pumice_fwif_state_name(u32 state)
{
	static const char * const names[] = {
		[FWIF_STATE_OFF] = "not booted",
		[FWIF_STATE_READY] = "ready",
		[FWIF_STATE_REFUSED] = "did not boot",
		[FWIF_STATE_FATAL] = "stopped by an error",
	};

	return PUMICE_FWLOG_NAME_(names, state);
}

/* Return the name of an enum fwif_context_state, or NULL. */
static inline const char *pumice_fwif_context_state_name(u32 state)
{
	static const char * const names[] = {
		[FWIF_CONTEXT_UNKNOWN] = "unknown",
		[FWIF_CONTEXT_OK] = "ok",
		[FWIF_CONTEXT_KILLED] = "killed",
		[FWIF_CONTEXT_BROKEN] = "broken",
	};

	return PUMICE_FWLOG_NAME_(names, state);
}

/* Return the name of an enum fwif_kccb_type, or NULL. */
static inline const char *pumice_fwif_kccb_name(u32 type)
{
	static const char * const names[] = {
		[FWIF_KCCB_PING] = "ping",
		[FWIF_KCCB_KICK] = "kick",
		[FWIF_KCCB_MMU_INVALIDATE] = "mmu-invalidate",
		[FWIF_KCCB_VM_RELEASE] = "vm-release",
		[FWIF_KCCB_CONTEXT_KILL] = "context-kill",
		[FWIF_KCCB_CONTEXT_RELEASE] = "context-release",
		[FWIF_KCCB_FREE_LIST_GROWN] = "free-list-grown",
		[FWIF_KCCB_SCENE_RELEASE] = "scene-release",
		[FWIF_KCCB_CONTEXT_PRIORITY] = "context-priority",
	};

	return PUMICE_FWLOG_NAME_(names, type);
}

/* Return the name of an enum fwif_status, or NULL. */
static inline const char *pumice_fwif_status_name(u32 status)
{
	static const char * const names[] = {
		[FWIF_STATUS_PENDING] = "pending",
		[FWIF_STATUS_OK] = "ok",
		[FWIF_STATUS_INVALID] = "invalid",
		[FWIF_STATUS_BUSY] = "busy",
		[FWIF_STATUS_NO_SPACE] = "no-space",
	};

	return PUMICE_FWLOG_NAME_(names, status);
}

/* Return the name of an enum fwif_fwccb_type, or NULL. */
static inline const char *pumice_fwif_fwccb_name(u32 type)
{
	static const char * const names[] = {
		[FWIF_FWCCB_JOB_FAULT] = "job-fault",
		[FWIF_FWCCB_ERROR] = "error",
		[FWIF_FWCCB_FREE_LIST_GROW] = "free-list-grow",
	};

	return PUMICE_FWLOG_NAME_(names, type);
}

/* Return the name of an enum fwif_cccb_type, or NULL. */
static inline const char *pumice_fwif_cccb_name(u32 type)
{
	static const char * const names[] = {
		[FWIF_CCCB_PAD] = "pad",
		[FWIF_CCCB_WAIT] = "wait",
		[FWIF_CCCB_COMPUTE] = "compute",
		[FWIF_CCCB_UPDATE] = "update",
		[FWIF_CCCB_GEOMETRY] = "geometry",
		[FWIF_CCCB_FRAGMENT] = "fragment",
		[FWIF_CCCB_TRANSFER] = "transfer",
		[FWIF_CCCB_RAYS] = "rays",
		[FWIF_CCCB_PRESENT] = "present",
	};

	return PUMICE_FWLOG_NAME_(names, type);
}

/* Return the name of an exception of RISC-V's mcause, or NULL. */
static inline const char *pumice_mcause_name(u32 cause)
{
	static const char * const names[] = {
		"misaligned instruction address", "instruction access fault", "illegal instruction",
		"breakpoint", "misaligned load", "load access fault", "misaligned store",
		"store access fault",
	};

	return PUMICE_FWLOG_NAME_(names, cause);
}

/* Return the name of an argument, or NULL if it is printed as a number. */
static inline const char *pumice_log_arg_name(char conversion, u32 value)
{
	switch (conversion) {
	case 'F':
		return pumice_fault_valid(value) ? pumice_fault_str(value) : NULL;
	case 'P':
		return pumice_fwif_priority_name(value);
	case 'K':
		return pumice_fwif_kccb_name(value);
	case 'S':
		return pumice_fwif_status_name(value);
	case 'E':
		return pumice_fwif_error_name(value);
	case 'M':
		return pumice_fwif_fwccb_name(value);
	case 'C':
		return pumice_fwif_cccb_name(value);
	case 'T':
		return pumice_mcause_name(value);
	default:
		return NULL;
	}
}

/* Print one argument; the conversions are described at FWIF_LOG_EVENTS. Returns its length. */
static inline int pumice_log_print_arg(char *to, size_t bytes, char conversion, u32 value)
{
	const char *name = pumice_log_arg_name(conversion, value);

	if (name)
		return snprintf(to, bytes, "%s", name);
	if (conversion == 'x')
		return snprintf(to, bytes, "0x%x", value);
	if (conversion == 'A')
		return snprintf(to, bytes, "0x%llx", (unsigned long long)value << 12);
	return snprintf(to, bytes, "%u", value);
}

/* Return the name of an event's level, or NULL. */
static inline const char *pumice_log_level_name(u32 event)
{
#define PUMICE_LOG_LEVEL_(event, level, format) #level,
	static const char * const names[] = { FWIF_LOG_EVENTS(PUMICE_LOG_LEVEL_) };
#undef PUMICE_LOG_LEVEL_

	return PUMICE_FWLOG_NAME_(names, event);
}

/**
 * pumice_log_text - print an event of the firmware's log, decoded, without a newline
 * @to: buffer of at least PUMICE_LOG_TEXT bytes
 * @bytes: its size
 * @event: enum fwif_log_event, or any other number
 * @args: the three arguments of the entry
 *
 * A number without a name, which newer firmware may report, is printed as a number.
 */
static inline void pumice_log_text(char *to, size_t bytes, u32 event, const u32 *args)
{
#define PUMICE_LOG_FORMAT_(event, level, format) format,
	static const char * const formats[] = { FWIF_LOG_EVENTS(PUMICE_LOG_FORMAT_) };
#undef PUMICE_LOG_FORMAT_
	const char *format;
	size_t at = 0;
	u32 arg = 0;

	if (event >= FWIF_LOG_EVENT_COUNT) {
		snprintf(to, bytes, "unknown event %u: %u %u %u", event, args[0], args[1], args[2]);
		return;
	}
	for (format = formats[event]; *format && at + 1 < bytes; format++) {
		if (*format == '%' && format[1] && arg < 3)
			at += (size_t)pumice_log_print_arg(to + at, bytes - at, *++format,
							   args[arg++]);
		else
			to[at++] = *format;
	}
	to[at < bytes ? at : bytes - 1] = '\0';
}

#endif
