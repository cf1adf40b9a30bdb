// SPDX-License-Identifier: MIT
/*
 * Tokens of a line of assembly.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define NUMBER_BYTES 64	/* longest supported number */

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

void token_line(struct assembler *as, const struct where *where)
{
	as->where = *where;
	as->at = where->text;
	token_next(as);
}

bool token_ends_line(const char *at)
{
	return *at == '\0' || *at == '\n' || *at == '\r' || *at == ';' || *at == '#' ||
	       (at[0] == '/' && at[1] == '/');
}

/* Count the characters of a number; its exponent may have a sign in a decimal float. */
static size_t number_length(const char *at)
{
	bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	size_t n = 0;

	while (is_name(at[n]) ||
	       (!hex && n && (at[n] == '+' || at[n] == '-') &&
		(at[n - 1] == 'e' || at[n - 1] == 'E')))
		n++;
	return n;
}

static void number_token(struct token *token)
{
	char text[NUMBER_BYTES];
	char *end;
	bool hex, real;
	float value;
	uint32_t bits;

	token->length = number_length(token->text);
	token->kind = TOKEN_BAD;
	if (token->length >= sizeof(text))
		return;
	memcpy(text, token->text, token->length);
	text[token->length] = '\0';
	hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	real = !hex && strpbrk(text, ".eE");
	errno = 0;
	if (!real) {
		token->value = strtoull(text, &end, hex ? 16 : 10);
		token->decimal = !hex;
		if (!*end && !errno)
			token->kind = TOKEN_INT;
		return;
	}
	value = strtof(text, &end);
	if (*end)
		return;
	memcpy(&bits, &value, sizeof(bits));
	token->value = bits;
	token->kind = TOKEN_FLOAT;
}

void token_next(struct assembler *as)
{
	struct token *token = &as->token;
	const char *at = as->at;

	while (*at == ' ' || *at == '\t')
		at++;
	*token = (struct token){ .text = at };
	if (token_ends_line(at)) {
		token->kind = TOKEN_END;
	} else if (isdigit((unsigned char)*at)) {
		number_token(token);
	} else if (is_name(*at)) {
		token->kind = TOKEN_NAME;
		while (is_name(at[token->length]))
			token->length++;
	} else {
		token->kind = strchr(",:[]&!+-*/%()<>|^~=", *at) ? TOKEN_PUNCT : TOKEN_BAD;
		token->value = (unsigned char)*at;
		token->length = 1;
	}
	as->at = at + token->length;
}

bool token_accept(struct assembler *as, char c)
{
	if (as->token.kind != TOKEN_PUNCT || as->token.value != (unsigned char)c)
		return false;
	token_next(as);
	return true;
}

bool token_expect(struct assembler *as, char c)
{
	if (token_accept(as, c))
		return true;
	return asm_error_form(as, "expected '%c'", c);
}

bool token_is(const struct token *token, const char *name)
{
	/* Most names of a table differ in the first letter, which needs no call. */
	return token->kind == TOKEN_NAME && *name == *token->text &&
	       !strncmp(name, token->text, token->length) && !name[token->length];
}

bool token_named_number(struct assembler *as, struct token *number)
{
	const struct symbol *symbol;

	if (token_is(number, "inf") || token_is(number, "nan")) {
		number->value = number->text[0] == 'i' ? 0x7f800000 : 0x7fc00000;
		number->kind = TOKEN_FLOAT;
		return true;
	}
	symbol = symbol_find(as, number);
	if (!symbol || symbol->kind != SYMBOL_EQU)
		return false;
	as->silent |= symbol->broken;
	number->value = symbol->value;
	number->kind = symbol->is_float ? TOKEN_FLOAT : TOKEN_INT;
	number->decimal = symbol->decimal;
	number->negative = symbol->negative;
	return true;
}

bool token_no_number(struct assembler *as)
{
	const struct token *token = &as->token;
	const int length = (int)token->length;
	const struct symbol *symbol;

	if (token->kind == TOKEN_BAD && isdigit((unsigned char)*token->text))
		return asm_error(as, NULL, "%.*s is not a number: numbers are such as 42, 0x2a and "
				 "1.5", length, token->text);
	if (token->kind != TOKEN_NAME)
		return asm_error(as, NULL, "expected a number, or the name of an .equ constant");
	symbol = symbol_find(as, token);
	if (symbol || symbol_reserved(token))
		return asm_error(as, NULL, "expected a number: %.*s is not an .equ constant",
				 length, token->text);
	return asm_error(as, NULL, "expected a number: %.*s is not defined; an .equ constant is "
			 "defined in a line before its use", length, token->text);
}

bool token_number(struct assembler *as, struct token *number)
{
	return expr_parse(as, number);
}

static bool check_count(struct assembler *as, const struct token *first,
			const struct token *number, const char *what, uint64_t max)
{
	if (number->kind == TOKEN_INT && number->value <= max)
		return true;
	return asm_error(as, first, "%s is a whole number from 0 to %llu", what,
			 (unsigned long long)max);
}

bool token_count(struct assembler *as, const char *what, uint64_t max, uint64_t *value)
{
	struct token first = as->token, number;

	if (!token_number(as, &number) || !check_count(as, &first, &number, what, max))
		return false;
	*value = number.value;
	return true;
}

bool token_small_count(struct assembler *as, const char *what, uint64_t max, uint64_t *value)
{
	struct token first = as->token, number;

	if (!expr_primary(as, &number) || !check_count(as, &first, &number, what, max))
		return false;
	*value = number.value;
	return true;
}
