// SPDX-License-Identifier: MIT
/*
 * Constant expressions: numbers and .equ constants with the operators of C and their
 * precedence; | lowest, then ^, &, << and >>, + and -, * / and %, and the signs - and ~.
 *
 * Integers are computed with 64 bits; an overflow of those is an error, and
 * so is a result that does not fit 32 bits, signed or unsigned. Floats have
 * + - * / and -, each rounded to binary32. The two kinds cannot be mixed.
 *
 * A value is a token: its kind, and for an integer its 64-bit two's complement.
 */
#include <string.h>

#include "internal.h"

static float float_of(const struct token *value)
{
	uint32_t bits = (uint32_t)value->value;
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static void set_float(struct token *value, float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	value->value = bits;
}

static bool parse_level(struct assembler *as, unsigned int level, unsigned int parens,
			struct token *value);

static bool parse_parens(struct assembler *as, unsigned int parens, struct token *value)
{
	if (parens == ASM_MAX_PARENS)
		return asm_error(as, NULL, "more than %u nested parentheses",
				 ASM_MAX_PARENS);
	token_next(as);
	return parse_level(as, 0, parens + 1, value) && token_expect(as, ')');
}

static bool parse_number(struct assembler *as, struct token *value)
{
	*value = as->token;
	if (value->kind == TOKEN_NAME)
		token_named_number(as, value);
	if (value->kind != TOKEN_INT && value->kind != TOKEN_FLOAT)
		return token_no_number(as);
	if (value->kind == TOKEN_INT && value->value > UINT32_MAX)
		return asm_error(as, NULL, "the number does not fit in 32 bits");
	if (value->negative)
		value->value = (uint64_t)(int64_t)(int32_t)value->value;
	value->negative = false;
	token_next(as);
	return true;
}

static bool apply_sign(struct assembler *as, char sign, struct token *value)
{
	if (value->kind == TOKEN_FLOAT && sign == '~')
		return asm_error(as, value, "~ is for whole numbers");
	if (value->kind == TOKEN_FLOAT)
		value->value ^= 0x80000000;
	else
		value->value = sign == '-' ? -value->value : ~value->value;
	return true;
}

static bool parse_primary(struct assembler *as, unsigned int parens, struct token *value)
{
	char sign[ASM_MAX_PARENS];
	unsigned int signs = 0;
	bool ok;

	while (as->token.kind == TOKEN_PUNCT &&
	       (as->token.value == '-' || as->token.value == '~')) {
		if (signs == ASM_MAX_PARENS)
			return asm_error(as, NULL, "too many signs");
		sign[signs++] = (char)as->token.value;
		token_next(as);
	}
	if (as->token.kind == TOKEN_PUNCT && as->token.value == '(')
		ok = parse_parens(as, parens, value);
	else
		ok = parse_number(as, value);
	while (ok && signs)
		ok = apply_sign(as, sign[--signs], value);
	return ok;
}

/* Operators by ascending precedence; 'l' and 'r' are << and >>. */
static const char *const levels[] = { "|", "^", "&", "lr", "+-", "*/%" };

#define LEVELS (sizeof(levels) / sizeof(levels[0]))

/* Consume and return an operator of the level, or '\0'. */
static char accept_operator(struct assembler *as, unsigned int level)
{
	char op = as->token.kind == TOKEN_PUNCT ? (char)as->token.value : '\0';
	bool shift = op == '<' || op == '>';

	if (shift && *as->at != op)
		return '\0';
	if (shift)
		op = op == '<' ? 'l' : 'r';
	if (!op || !strchr(levels[level], op))
		return '\0';
	if (shift)
		token_next(as);
	token_next(as);
	return op;
}

static bool float_operation(struct assembler *as, const struct token *at, char op,
			    struct token *left, const struct token *right)
{
	const float a = float_of(left), b = float_of(right);

	switch (op) {
	case '+':
		set_float(left, a + b);
		return true;
	case '-':
		set_float(left, a - b);
		return true;
	case '*':
		set_float(left, a * b);
		return true;
	case '/':
		set_float(left, a / b);
		return true;
	default:
		return asm_error(as, at, "this operator is for whole numbers");
	}
}

/* Return false if the result is undefined, or exceeds 64 bits. */
static bool int_operation(char op, int64_t a, int64_t b, int64_t *out)
{
	switch (op) {
	case '|':
		*out = a | b;
		return true;
	case '^':
		*out = a ^ b;
		return true;
	case '&':
		*out = a & b;
		return true;
	case 'l':
		return b >= 0 && b < 32 && !__builtin_mul_overflow(a, 1ll << b, out);
	case 'r':
		*out = b >= 0 && b < 32 ? a >> b : 0;
		return b >= 0 && b < 32;
	case '+':
		return !__builtin_add_overflow(a, b, out);
	case '-':
		return !__builtin_sub_overflow(a, b, out);
	case '*':
		return !__builtin_mul_overflow(a, b, out);
	default:
		if (!b || (a == INT64_MIN && b == -1))
			return false;
		*out = op == '/' ? a / b : a % b;
		return true;
	}
}

static bool operation(struct assembler *as, const struct token *at, char op, struct token *left,
		      const struct token *right)
{
	int64_t result;

	/* A broken constant has no kind. */
	if (as->silent)
		return true;
	if (left->kind != right->kind)
		return asm_error(as, at, "a whole number and a float: write both as floats, such "
				 "as 2.0");
	if (left->kind == TOKEN_FLOAT)
		return float_operation(as, at, op, left, right);
	if (!int_operation(op, (int64_t)left->value, (int64_t)right->value, &result))
		return asm_error(as, at, (op == '/' || op == '%') && !right->value ?
				 "division by zero: the divisor must not be 0" :
				 op == 'l' || op == 'r' ?
				 "a shift is by 0 to 31 bits, and its result fits in 64 bits" :
				 "the result does not fit in 64 bits");
	left->value = (uint64_t)result;
	left->decimal |= right->decimal;
	return true;
}

static bool parse_level(struct assembler *as, unsigned int level, unsigned int parens,
			struct token *value)
{
	struct token right, at;
	char op;

	if (level == LEVELS)
		return parse_primary(as, parens, value);
	if (!parse_level(as, level + 1, parens, value))
		return false;
	for (;;) {
		at = as->token;
		op = accept_operator(as, level);
		if (!op)
			return true;
		if (!parse_level(as, level + 1, parens, &right) ||
		    !operation(as, &at, op, value, &right))
			return false;
	}
}

/* Convert to 32 bits. */
static bool finish(struct assembler *as, const struct token *first, struct token *value)
{
	const int64_t number = (int64_t)value->value;

	if (value->kind == TOKEN_FLOAT)
		return true;
	if (number < INT32_MIN || number > (int64_t)UINT32_MAX)
		return asm_error(as, first, "the number does not fit in 32 bits");
	value->negative = number < 0;
	value->value = (uint32_t)number;
	return true;
}

bool expr_parse(struct assembler *as, struct token *value)
{
	const struct token first = as->token;

	return parse_level(as, 0, 0, value) && finish(as, &first, value);
}

bool expr_primary(struct assembler *as, struct token *value)
{
	const struct token first = as->token;

	return parse_primary(as, 0, value) && finish(as, &first, value);
}
