// SPDX-License-Identifier: MIT
/*
 * pumice-strict: runs a command whose GPU is in its process in mode strict, and prints the
 * findings: errors of programs that the GPU has detected.
 *
 * The library of the command writes them to a file that PUMICE_FINDINGS names, a JSON object in
 * each line (Documentation/strict.rst).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

#define NAME		"pumice-strict"
#define LINE_BYTES	4096
#define VALUE_BYTES	512
#define EXIT_FINDINGS	3
#define EXIT_NOT_RUN	127	/* as of a shell */

/* Get the value of a member of an object, without quotes; returns false if it has none. */
static bool get(const char *object, const char *key, char *value)
{
	const char *at = strstr(object, key);
	size_t bytes;

	value[0] = '\0';
	if (!at)
		return false;
	at += strlen(key);
	bytes = *at == '"' ? strcspn(++at, "\"") : strcspn(at, ",}");
	snprintf(value, VALUE_BYTES, "%.*s", (int)bytes, at);
	return true;
}

/* Print " WORD VALUE" of a member that the object has. */
static void print_member(const char *object, const char *key, const char *word)
{
	char value[VALUE_BYTES];

	if (get(object, key, value))
		printf("%s%s", word, value);
}

/* Print the page of a free list and who uses it, or the other side of it. */
static void print_page(const char *object)
{
	print_member(object, "\"page\":", "page ");
	print_member(object, "\"list\":", " of the free list at ");
	print_member(object, "\"scene\":", ", scene at ");
	print_member(object, "\"macro_tile\":", ", macro tile ");
}

/* Print the place of a finding that is not of a program. other: the other side, or NULL. */
static void print_owners(const char *line, const char *other)
{
	char first[LINE_BYTES];

	/* Members that only the other side has are not those of the first. */
	snprintf(first, sizeof(first), "%.*s", (int)(other ? other - line : (long)strlen(line)),
		 line);
	printf("\n   at  ");
	print_page(first);
	print_member(first, "\"event\":", "event ");
	print_member(first, "\"object\":", "the object at ");
	print_member(first, "\"slot\":", ", slot ");
	print_member(first, "\"command\":", ", command ");
	print_member(first, "\"value\":", ", value ");
	print_member(first, "\"reached\":", ", which has ");
	print_member(first, "\"unit\":", ", unit ");
	print_member(first, "\"context\":", ", context ");
	if (!other)
		return;
	print_member(other, "\"state\":", "\n   other side: ");
	printf(" ");
	print_page(other);
}

/* Print the last members of a finding. */
static void print_end(const char *line)
{
	char value[VALUE_BYTES];

	print_member(line, "\"omitted\":", "\n   ");
	if (get(line, "\"times\":", value) && strcmp(value, "1"))
		printf("\n   detected %s times", value);
	printf("\n");
}

/* Print a finding. The other side is an object in it, after which its last members follow. */
static void print_finding(const char *line, unsigned int number)
{
	const char *other = strstr(line, "\"other\":{");
	char value[VALUE_BYTES];

	get(line, "\"finding\":", value);
	printf("%u. %s", number, value);
	print_member(line, "\"access\":", ", ");
	print_member(line, "\"register\":", " of ");
	print_member(line, "\"local\":", " of local memory, byte ");
	print_member(line, "\"va\":", " of address ");
	print_member(line, "\"signal\":", ", signal sig");
	if (!get(line, "\"program\":", value)) {
		print_owners(line, other);
		print_end(line);
		return;
	}
	printf("\n   at  ");
	print_member(line, "\"source\":", "");
	print_member(line, "\"instruction\":", " instruction ");
	print_member(line, "\"program\":", " of the program at ");
	print_member(line, "\"wave\":", ", wave ");
	if (get(line, "\"lane\":", value) && (!other || strstr(line, "\"lane\":") < other))
		printf(", lane %s", value);
	print_member(line, "\"usc\":", ", USC ");
	print_member(line, "\"context\":", ", context ");
	if (other) {
		print_member(other, "\"access\":", "\n   other side: ");
		print_member(other, "\"instruction\":", " at instruction ");
		print_member(other, "\"wave\":", ", wave ");
		print_member(other, "\"lane\":", ", lane ");
	}
	print_end(line);
}

/* Print all findings of a file; returns their number. */
static unsigned int print_findings(FILE *file, bool json)
{
	char line[LINE_BYTES];
	unsigned int count = 0;

	while (fgets(line, sizeof(line), file)) {
		count++;
		if (json)
			fputs(line, stdout);
		else
			print_finding(line, count);
	}
	if (!json)
		printf("%u finding%s\n", count, count == 1 ? "" : "s");
	return count;
}

/* Run the command with findings to a file; returns its exit status, or 128 plus its signal. */
static int run(char **words, const char *file)
{
	int status;
	pid_t pid;

	setenv("PUMICE_MODE", "strict", 1);
	setenv("PUMICE_FINDINGS", file, 1);
	setenv("PUMICE_DEVICE", "inproc:threads=0", 0);
	pid = fork();
	if (!pid) {
		execvp(words[0], words);
		fprintf(stderr, NAME ": %s: %s\n", words[0], strerror(errno));
		_exit(EXIT_NOT_RUN);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0) {
		fprintf(stderr, NAME ": %s\n", strerror(errno));
		return EXIT_NOT_RUN;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	bool json = false;
	const struct command_option options[] = {
		{ .letter = 'j', .name = "json", .help = "print findings as JSON, a line each",
		  .flag = &json },
		{ 0 },
	};
	const struct command command = {
		.name = NAME,
		.words = "COMMAND [ARGUMENT]…",
		.min_words = 1,
		.max_words = -1,
		.purpose = "Runs a command whose GPU is in its process in mode strict, and prints\n"
			   "the errors of programs that the GPU has detected.\n",
		.options = options,
		.notes = "The exit status is that of the command; 3 if it is 0 and there are\n"
			 "findings. PUMICE_DEVICE is inproc:threads=0 unless it is set.\n",
		.versions = COMMAND_VERSION_GPU,
	};
	const int first = command_line(&command, argc, argv);
	char path[] = "/tmp/pumice-strict-XXXXXX";
	const int fd = mkstemp(path);
	unsigned int count;
	FILE *file;
	int status;

	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		fprintf(stderr, NAME ": %s: %s\n", path, strerror(errno));
		return 1;
	}
	status = run(argv + first, path);
	count = print_findings(file, json);
	fclose(file);
	unlink(path);
	return status ? status : count ? EXIT_FINDINGS : 0;
}
