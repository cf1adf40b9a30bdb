// SPDX-License-Identifier: MIT
/*
 * Macros and repetitions: lines that are stored, and assembled again with names replaced.
 *
 * The arguments of a macro are text. \\@ is a number unique to each use, for labels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

const struct macro *macro_find(struct assembler *as, const struct token *name)
{
	for (size_t i = 0; i < as->macro_count; i++)
		if (as->macros[i].name.length == name->length &&
		    !memcmp(as->macros[i].name.text, name->text, name->length))
			return &as->macros[i];
	return NULL;
}

static bool is_operation(const struct token *name)
{
	for (size_t i = 0; i < pumice_usc_isa.nr_ops; i++)
		if (token_is(name, pumice_usc_isa.ops[i].name))
			return true;
	for (size_t i = 0; i < pumice_pds_isa.nr_ops; i++)
		if (token_is(name, pumice_pds_isa.ops[i].name))
			return true;
	return false;
}

/*
 * Read text up to a comma outside brackets, or the end of the
 * line, without surrounding blanks, as a token of kind NAME.
 */
static bool parse_argument(struct assembler *as, struct token *argument)
{
	const char *at = as->token.text, *begin = at;
	int depth = 0;

	while (!token_ends_line(at) && (depth > 0 || *at != ',')) {
		depth += *at == '[' || *at == '(';
		depth -= *at == ']' || *at == ')';
		at++;
	}
	as->at = at;
	while (at > begin && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	*argument = (struct token){ .kind = TOKEN_NAME, .text = begin,
				    .length = (size_t)(at - begin) };
	token_next(as);
	if (argument->length)
		return true;
	return asm_error(as, argument, "expected an argument");
}

static bool same(const struct token *a, const struct token *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static bool is_plain_name(const struct token *name)
{
	return name->kind == TOKEN_NAME && !memchr(name->text, '.', name->length);
}

/* Parse "a, b = 4": names, of which the last may have defaults. */
static bool parse_params(struct assembler *as, struct macro *m)
{
	while (as->token.kind != TOKEN_END) {
		if (m->params && !token_expect(as, ','))
			return false;
		if (!is_plain_name(&as->token))
			return asm_error(as, NULL, "expected the name of an argument");
		for (unsigned int i = 0; i < m->params; i++)
			if (same(&m->param[i], &as->token))
				return asm_error(as, NULL, "another argument has the same name");
		if (m->params == ASM_MAX_PARAMS)
			return asm_error(as, NULL, "a macro has at most %u arguments",
					 ASM_MAX_PARAMS);
		m->param[m->params] = as->token;
		token_next(as);
		if (token_accept(as, '=') && !parse_argument(as, &m->preset[m->params]))
			return false;
		if (m->params && m->preset[m->params - 1].kind && !m->preset[m->params].kind)
			return asm_error(as, &m->param[m->params],
					 "arguments after one with a preset need presets too");
		m->params++;
	}
	return true;
}

static bool parse_head(struct assembler *as, struct macro *m)
{
	const struct macro *first;

	m->name = as->token;
	m->place = as->where.place;
	if (!is_plain_name(&m->name))
		return asm_error(as, NULL, "expected the name of a macro");
	if (is_operation(&m->name))
		return asm_error(as, NULL, "%.*s is an operation", (int)m->name.length,
				 m->name.text);
	first = macro_find(as, &m->name);
	if (first)
		return asm_error(as, NULL, "%.*s is defined twice: first in line %u of %.200s; use "
				 "another name", (int)m->name.length, m->name.text,
				 first->place.line, as->files[first->place.file].path);
	token_next(as);
	return parse_params(as, m);
}

static bool add_macro(struct assembler *as, const struct macro *m)
{
	void *grown = realloc(as->macros, (as->macro_count + 1) * sizeof(*as->macros));

	if (!grown)
		return asm_no_memory(as);
	as->macros = grown;
	as->macros[as->macro_count++] = *m;
	return true;
}

bool macro_define(struct assembler *as)
{
	struct macro m = { 0 };
	bool good = parse_head(as, &m);

	/* The body is skipped even if the head is invalid. */
	if (!source_body(as, ".endm", &m.body) || !good || !add_macro(as, &m)) {
		free(m.body.line);
		return false;
	}
	return true;
}

static bool bind(struct assembler *as, const struct macro *m, struct binding *bindings)
{
	unsigned int given = 0;
	struct token value;

	while (as->token.kind != TOKEN_END) {
		if (given && !token_expect(as, ','))
			return false;
		if (given == m->params)
			return asm_error(as, NULL, "%.*s takes %u argument%s", (int)m->name.length,
					 m->name.text, m->params, m->params == 1 ? "" : "s");
		if (!parse_argument(as, &value))
			return false;
		bindings[given++] = (struct binding){ .value = value.text,
						      .value_length = value.length };
	}
	for (unsigned int i = 0; i < m->params; i++) {
		if (i >= given && !m->preset[i].kind)
			return asm_error(as, NULL, "%.*s needs its argument %.*s",
					 (int)m->name.length, m->name.text,
					 (int)m->param[i].length, m->param[i].text);
		if (i >= given)
			bindings[i] = (struct binding){ .value = m->preset[i].text,
							.value_length = m->preset[i].length };
		bindings[i].name = m->param[i].text;
		bindings[i].name_length = m->param[i].length;
	}
	return true;
}

bool macro_use(struct assembler *as, size_t index)
{
	/* The table may be reallocated during the use if it defines macros; its lines are not. */
	const struct macro m = as->macros[index];
	struct binding bindings[ASM_MAX_PARAMS];
	struct input input = {
		.body = &m.body, .bindings = bindings, .binding_count = m.params, .counted = true,
		.count = as->uses++, .use = { .use = PUMICE_PROGRAM_USE_MACRO },
	};

	token_next(as);
	if (!bind(as, &m, bindings))
		return false;
	input.use.parent = source_place(as);
	if (!input.use.parent)
		return false;
	source_run(as, &input);
	return true;
}

/* Parse ".repeat COUNT" or ".repeat COUNT, NAME" */
static bool repeat_head(struct assembler *as, uint64_t *count, struct token *name)
{
	if (!token_count(as, "a number of repetitions", ASM_MAX_REPEAT, count))
		return false;
	if (token_accept(as, ',')) {
		*name = as->token;
		if (!is_plain_name(name))
			return asm_error(as, NULL, "expected the name of the counter");
		token_next(as);
	}
	return as->token.kind == TOKEN_END ||
	       asm_error(as, NULL, "unexpected text at the end of the line");
}

static void repeat_once(struct assembler *as, const struct body *body, const struct token *name,
			uint32_t nth, uint32_t parent)
{
	char number[16];
	const struct binding binding = {
		.name = name->text, .name_length = name->length, .value = number,
		.value_length = (size_t)snprintf(number, sizeof(number), "%u", nth),
	};
	struct input input = {
		.body = body, .bindings = &binding, .binding_count = name->kind == TOKEN_NAME,
		.counted = true, .count = as->uses++,
		.use = { .use = PUMICE_PROGRAM_USE_REPEAT, .parent = parent, .nth = nth },
	};

	source_run(as, &input);
}

bool macro_repeat(struct assembler *as)
{
	struct body body = { 0 };
	struct token name = { 0 };
	uint64_t count = 0;
	bool good = repeat_head(as, &count, &name);
	uint32_t parent = good ? source_place(as) : 0;
	const unsigned int errors = as->errors;

	good = source_body(as, ".endr", &body) && good && parent;
	/* An error of one repetition would occur in all of them. */
	for (uint32_t i = 0; good && i < count && as->errors == errors && !as->no_memory &&
	     !as->stopped; i++)
		repeat_once(as, &body, &name, i, parent);
	free(body.line);
	return good;
}

void macro_free(struct assembler *as)
{
	for (size_t i = 0; i < as->macro_count; i++)
		free(as->macros[i].body.line);
	free(as->macros);
}
