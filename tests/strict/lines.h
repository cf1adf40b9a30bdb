/* SPDX-License-Identifier: MIT */
/* Comparison and output of a seeded error, common to programs of the zoo. See lines.c. */
#ifndef PUMICE_TESTS_STRICT_LINES_H
#define PUMICE_TESTS_STRICT_LINES_H

#include <stdbool.h>

/* Return whether words are in a finding; prints them otherwise. */
bool strict_has(const char *finding, const char *words);
/* Return whether a finding has a kind; prints it otherwise. */
bool strict_is(const char *finding, const char *kind);
/*
 * Print the line of a seeded error, after its finding. right: the finding of the right variant, or
 * NULL if it has none. Returns whether the error passes.
 */
bool strict_line(const char *name, const char *right, bool found, const char *finding);

#endif
