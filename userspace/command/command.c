// SPDX-License-Identifier: MIT
/* Command lines of the tools and demos: options and --help. */
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_OPTIONS	32u
#define FIRST_LONG	256	/* results of getopt_long(): a letter, or this plus an index */
#define HELP_COLUMN	26	/* of the descriptions */

/* Options that all programs have. */
enum { COMMON_HELP, COMMON_VERSION, COMMON_COUNT };

static const struct command_option common[COMMON_COUNT] = {
	[COMMON_HELP] = { .letter = 'h', .name = "help", .help = "print this text" },
	[COMMON_VERSION] = { .letter = 'V', .name = "version",
			     .help = "print the versions of the program and of its interfaces" },
};

_Noreturn void command_refuse(const struct command *c, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", c->name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (see %s --help)\n", c->name);
	exit(COMMAND_REFUSED);
}

_Noreturn void command_refuse_missing(const struct command *c, int count)
{
	const char *word = c->words;

	for (int i = 0; i < count; i++) {
		word += strcspn(word, " ");
		word += strspn(word, " ");
	}
	command_refuse(c, "%.*s is missing; usage: %s [OPTION]… %s", (int)strcspn(word, " "), word,
		       c->name, c->words);
}

static bool is_end(const struct command_option *o)
{
	return !o->letter && !o->name;
}

/* Return option number @index: the program's own, then the common ones; NULL after the last. */
static const struct command_option *option_at(const struct command *c, unsigned int index)
{
	unsigned int own = 0;

	while (c->options && !is_end(&c->options[own]))
		own++;
	if (index < own)
		return &c->options[index];
	return index - own < COMMON_COUNT ? &common[index - own] : NULL;
}

/* Format the forms of all options, separated by commas. */
static const char *accepted(const struct command *c)
{
	static char text[1024];
	const struct command_option *o;
	size_t at = 0;

	for (unsigned int i = 0; (o = option_at(c, i)) && at < sizeof(text); i++) {
		const char *comma = i ? ", " : "";

		if (o->letter && o->name)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s-%c, --%s", comma,
					       o->letter, o->name);
		else if (o->letter)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s-%c", comma,
					       o->letter);
		else
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s--%s", comma,
					       o->name);
	}
	return text;
}

/* Print the options' forms, then their descriptions in a column. */
static void print_option(const struct command_option *o)
{
	const char *help = o->help;
	int width;

	width = o->letter ? printf("  -%c", o->letter) : printf("    ");
	if (o->name)
		width += printf("%s--%s", o->letter ? ", " : "  ", o->name);
	if (o->value)
		width += printf(" %s", o->value);
	if (width >= HELP_COLUMN - 1) {
		putchar('\n');
		width = 0;
	}
	while (*help) {
		const size_t length = strcspn(help, "\n");

		printf("%*s%.*s\n", HELP_COLUMN - width, "", (int)length, help);
		width = 0;
		help += length + (help[length] == '\n');
	}
}

static void print_help(const struct command *c)
{
	const struct command_option *o;

	printf("usage: %s [OPTION]…%s%s\n%s\n", c->name, c->words ? " " : "",
	       c->words ? c->words : "", c->purpose);
	for (unsigned int i = 0; (o = option_at(c, i)); i++)
		print_option(o);
	if (c->notes)
		printf("\n%s", c->notes);
}

/* The name of the program, for the last message. */
static const char *program;

/* At the end of the program: output that is lost is an error. */
static void flush_output(void)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return;
	fprintf(stderr, "%s: standard output: %s\n", program,
		errno ? strerror(errno) : "not all of it was written");
	_exit(1);
}

/* Return the option as it was written, for messages. */
static const char *form(const struct command_option *o, int result)
{
	static char text[64];

	if (result < FIRST_LONG)
		snprintf(text, sizeof(text), "-%c", o->letter);
	else
		snprintf(text, sizeof(text), "--%s", o->name);
	return text;
}

static double number(const struct command *c, const struct command_option *o, const char *text,
		     int result)
{
	char *rest;
	double value;

	errno = 0;
	value = o->number ? (double)strtoul(text, &rest, 0) : strtod(text, &rest);
	if (!*text || *rest || *text == '-' || errno || !(value >= o->min && value <= o->max))
		command_refuse(c, "%s %s: %s is a%s number from %.10g to %.10g", form(o, result),
			       text, o->value, o->number ? " whole" : "", o->min, o->max);
	return value;
}

static void apply(const struct command *c, const struct command_option *o, const char *text,
		  int result)
{
	if (o == &common[COMMON_HELP] || o == &common[COMMON_VERSION]) {
		if (o == &common[COMMON_HELP])
			print_help(c);
		else
			command_print_version(c);
		exit(0);
	}
	if (o->flag)
		*o->flag = true;
	else if (o->text)
		*o->text = text;
	else if (o->number)
		*o->number = (uint32_t)number(c, o, text, result);
	else if (o->real)
		*o->real = number(c, o, text, result);
	else
		o->parse(c, text, o->data);
}

/* getopt_long()'s descriptions of the options. */
struct tables {
	char letters[3 + 2 * MAX_OPTIONS];
	struct option names[MAX_OPTIONS + 1];
};

static void fill_tables(const struct command *c, struct tables *t)
{
	const struct command_option *o;
	unsigned int at = 0, count = 0;

	/* Options end at the first word of a list, which may be another command with options. */
	if (c->max_words < 0)
		t->letters[at++] = '+';
	t->letters[at++] = ':';
	for (unsigned int i = 0; (o = option_at(c, i)) && i < MAX_OPTIONS; i++) {
		if (o->letter) {
			t->letters[at++] = o->letter;
			if (o->value)
				t->letters[at++] = ':';
		}
		if (o->name)
			t->names[count++] = (struct option){
				o->name, o->value ? required_argument : no_argument, NULL,
				FIRST_LONG + (int)i,
			};
	}
}

static const struct command_option *find(const struct command *c, int result)
{
	const struct command_option *o;

	if (result >= FIRST_LONG)
		return option_at(c, (unsigned int)(result - FIRST_LONG));
	for (unsigned int i = 0; (o = option_at(c, i)); i++)
		if (o->letter == result)
			return o;
	return NULL;
}

/* Return the word with the option that getopt_long() has read. @at: optind before it did */
static const char *option_word(char **argv, int at)
{
	if (optind == at)
		return argv[at];
	return argv[optind - 1] == optarg ? argv[optind - 2] : argv[optind - 1];
}

/* Return whether a long name is not written out: getopt_long() accepts an unambiguous beginning. */
static bool is_abbreviated(const struct command_option *o, int result, const char *word)
{
	return result >= FIRST_LONG && strcspn(word, "=") < strlen("--") + strlen(o->name);
}

static _Noreturn void refuse_unknown(const struct command *c, const char *word)
{
	command_refuse(c, "there is no option '%s'; accepted: %s", word, accepted(c));
}

/* Report what getopt_long() does not accept. @word: the word that it is in */
static _Noreturn void refuse_option(const struct command *c, int result, const char *word)
{
	const struct command_option *o = optopt ? find(c, optopt) : NULL;

	if (o && is_abbreviated(o, optopt, word))
		refuse_unknown(c, word);
	if (o && result == ':')
		command_refuse(c, "option '%s' needs a value, %s", form(o, optopt), o->value);
	if (o && !o->value)
		command_refuse(c, "option '%s' has no value, but '%s' gives one", form(o, optopt),
			       word);
	if (optopt && optopt < FIRST_LONG)
		command_refuse(c, "there is no option '-%c'; accepted: %s", optopt, accepted(c));
	refuse_unknown(c, word);
}

static void check_words(const struct command *c, int count, char **words)
{
	if (count < c->min_words)
		command_refuse_missing(c, count);
	if (c->max_words < 0 || count <= c->max_words)
		return;
	if (!c->max_words)
		command_refuse(c, "unexpected word '%s'; accepted are only options: %s", words[0],
			       accepted(c));
	command_refuse(c, "unexpected word '%s'; usage: %s [OPTION]… %s", words[c->max_words],
		       c->name, c->words);
}

int command_line(const struct command *c, int argc, char **argv)
{
	struct tables tables = { .letters = "" };
	const struct command_option *o;
	const char *word;
	int result, at;

	if (!program)
		atexit(flush_output);
	program = c->name;
	fill_tables(c, &tables);
	opterr = 0;
	for (;;) {
		at = optind;
		result = getopt_long(argc, argv, tables.letters, tables.names, NULL);
		if (result == -1)
			break;
		word = option_word(argv, at);
		o = find(c, result);
		if (!o)
			refuse_option(c, result, word);
		if (is_abbreviated(o, result, word))
			refuse_unknown(c, word);
		apply(c, o, optarg, result);
	}
	check_words(c, argc - optind, argv + optind);
	return optind;
}
