/* SPDX-License-Identifier: MIT */
/*
 * Control characters in names of program files: the rule of formats.xml, program_lines.
 *
 * Terminals interpret bytes 1 to 31 and 127, U+0080 to U+009F in UTF-8, and, without UTF-8, bytes
 * 128 to 159. The last ones are refused where they are not a part of a valid character of UTF-8.
 */
#ifndef PUMICE_NAMETEXT_H
#define PUMICE_NAMETEXT_H

#include <stdbool.h>

static inline bool nametext_is_within(unsigned char byte, unsigned int first, unsigned int last)
{
	return byte >= first && byte <= last;
}

/*
 * Return the bytes of the character of UTF-8 at the start of a text, not empty; 1 if none is valid.
 */
static inline unsigned int nametext_bytes(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	const unsigned int more = nametext_is_within(*at, 0xc2, 0xdf) ? 1 :
				  nametext_is_within(*at, 0xe0, 0xef) ? 2 :
				  nametext_is_within(*at, 0xf0, 0xf4) ? 3 : 0;
	/*
	 * Of the second byte: no longer form than required, no surrogates, nothing above U+10FFFF.
	 */
	const unsigned int first = *at == 0xe0 ? 0xa0 : *at == 0xf0 ? 0x90 : 0x80;
	const unsigned int last = *at == 0xed ? 0x9f : *at == 0xf4 ? 0x8f : 0xbf;
	unsigned int i;

	if (more && !nametext_is_within(at[1], first, last))
		return 1;
	for (i = 2; i <= more; i++)
		if (!nametext_is_within(at[i], 0x80, 0xbf))
			return 1;
	return 1 + more;
}

/* Return whether the character at the start of a text, not empty, controls a terminal. */
static inline bool nametext_is_control(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	if (nametext_bytes(text) > 1)
		return *at == 0xc2 && at[1] < 0xa0;
	return *at < ' ' || nametext_is_within(*at, 0x7f, 0x9f);
}

#endif
