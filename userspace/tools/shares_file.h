/* SPDX-License-Identifier: MIT */
/* The driver's file of shares and policy, of pumice-shares: pds_shares in debugfs. */
#ifndef PUMICE_TOOLS_SHARES_FILE_H
#define PUMICE_TOOLS_SHARES_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "command.h"

/* Exit by command_refuse() if a word is not a NAME=VALUE; the driver checks the value. */
void shares_check(const struct command *c, char **words);
/*
 * Write all words at once: the driver applies all or none. Exit by command_refuse() if it does not
 * accept one. False, after a message, if the file cannot be written.
 */
bool shares_set(const struct command *c, const char *path, char **words);
/* Print the file to out. False, after a message, if it cannot be read. */
bool shares_show(const struct command *c, const char *path, FILE *out);

#endif
