/* SPDX-License-Identifier: MIT */
/* Comparison and output of a seeded error, common to programs of the zoo. See lines.c. */
#ifndef PUMICE_TESTS_STRICT_LINES_H
#define PUMICE_TESTS_STRICT_LINES_H

#include <stdbool.h>

struct pumice_device;

#define FINDING_BYTES	4096u	/* of a finding */

/* Return whether words are in a finding; prints them otherwise. */
bool strict_has(const char *finding, const char *words);
/* Return whether a finding has a kind; prints it otherwise. */
bool strict_is(const char *finding, const char *kind);
/* Return whether a device has no finding; gets the first one, or the words of another error. */
bool strict_has_none(struct pumice_device *dev, char *finding);
/*
 * Print the line of a seeded error, after its finding. right: the finding of the right variant, or
 * NULL if it has none. Returns whether the error passes.
 */
bool strict_line(const char *name, const char *right, bool found, const char *finding);
/*
 * Run a variant of a seeded error, and get its first finding, of FINDING_BYTES. Returns whether
 * the right one has none, or the wrong one has the expected one.
 */
typedef bool strict_variant(const void *error, char *finding);
/* Run both variants of a seeded error, and print its line. Returns whether it passes. */
bool strict_check(const char *name, const void *error, strict_variant *right,
		  strict_variant *wrong);

#endif
