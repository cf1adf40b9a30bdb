// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Processes that own objects, and text of user space in debugfs and the kernel log.
 *
 * A process chooses its name and its labels. Printed as they are, they could contain lines that
 * look like those of other processes or of the driver, or control a terminal: so all bytes but
 * printable ASCII are escaped, and the backslash as well, by which the output is unambiguous.
 *
 * Limits: text in UTF-8 is escaped, too. Trace events store names as they are, as those of the
 * kernel do.
 */
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/string_helpers.h>

#include "pumice_process.h"

#define PROCESS_ESCAPE	(ESCAPE_ANY | ESCAPE_NAP | ESCAPE_APPEND)
#define PROCESS_ALSO	"\\"

/**
 * pumice_process_note - store the calling process
 * @process: out
 *
 * Threads have names of their own; this is that of the first one, whichever thread calls.
 *
 * Context: Process context: reads the calling task.
 */
void pumice_process_note(struct pumice_process *process)
{
	process->pid = task_tgid_nr(current);
	/* Not get_task_comm(), which takes a lock up to Linux 6.12. */
	strscpy_pad(process->name, current->group_leader->comm, sizeof(process->name));
}

/**
 * pumice_process_text - print a process as "NAME (PID)", escaped
 * @process: process
 * @text: out: at least PUMICE_PROCESS_TEXT bytes
 *
 * Context: Any.
 *
 * Return: @text.
 */
const char *pumice_process_text(const struct pumice_process *process, char *text)
{
	const size_t bytes = strnlen(process->name, sizeof(process->name));
	int used = string_escape_mem(process->name, bytes, text, PUMICE_PROCESS_TEXT,
				     PROCESS_ESCAPE, PROCESS_ALSO);

	snprintf(text + used, PUMICE_PROCESS_TEXT - used, " (%d)", process->pid);
	return text;
}

/**
 * pumice_process_show - print a process to a file of debugfs
 * @m: file
 * @process: process
 */
void pumice_process_show(struct seq_file *m, const struct pumice_process *process)
{
	char text[PUMICE_PROCESS_TEXT];

	seq_puts(m, pumice_process_text(process, text));
}

/**
 * pumice_process_show_label - print ": LABEL", escaped, to a file of debugfs
 * @m: file
 * @label: label that a process gave to an object; nothing is printed if it is NULL
 */
void pumice_process_show_label(struct seq_file *m, const char *label)
{
	if (!label)
		return;
	seq_puts(m, ": ");
	seq_escape_str(m, label, PROCESS_ESCAPE, PROCESS_ALSO);
}

#ifdef CONFIG_DRM_PUMICE_KUNIT_TEST
#include "tests/pumice_process_test.c"
#endif
