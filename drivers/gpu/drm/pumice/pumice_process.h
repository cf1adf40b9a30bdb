/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Names of the processes that own objects, and escaping of user-space text, for debugfs and the
 * log.
 */
#ifndef PUMICE_PROCESS_H
#define PUMICE_PROCESS_H

#include <linux/sched.h>
#include <linux/types.h>

struct seq_file;

/* Size of pumice_process_text(): a name, four characters for each of its bytes, and an id. */
#define PUMICE_PROCESS_TEXT	(4 * TASK_COMM_LEN + sizeof(" (-2147483648)"))

/**
 * struct pumice_process - id and name of a process, copied: nothing of it is referenced
 */
struct pumice_process {
	/** @pid: id of the process, not of a thread */
	pid_t pid;
	/** @name: name of its first thread, by which other tools list it; any bytes, terminated */
	char name[TASK_COMM_LEN];
};

void pumice_process_note(struct pumice_process *process);
const char *pumice_process_text(const struct pumice_process *process, char *text);
void pumice_process_show(struct seq_file *m, const struct pumice_process *process);
void pumice_process_show_label(struct seq_file *m, const char *label);

#endif
