// SPDX-License-Identifier: MIT
/*
 * pumice-strict: runs a command with a GPU in its process in mode strict, or as root with that of
 * the kernel driver, which is in that mode, and prints the findings: errors of programs and of the
 * driver that the GPU has detected.
 *
 * The library of the command writes them to a file that PUMICE_FINDINGS names, a JSON object in
 * each line (Documentation/strict.rst), and a line for each GPU that the command opens. A command
 * whose GPUs were not all in mode strict, or that has opened none, is not one without errors.
 *
 * A signal that ends the tool as a rule, such as that of Ctrl-C, is for the command: when that has
 * ended its findings are printed, and if it was by this signal then the tool ends by it, too.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"

#define NAME		"pumice-strict"
#define LINE_BYTES	4096
#define VALUE_BYTES	512
#define EXIT_UNCHECKED	1
#define EXIT_FINDINGS	3
#define EXIT_NOT_RUN	127	/* as of a shell */

/* Copy a string's characters up to its closing quote. */
static void get_string(const char *at, char *value)
{
	size_t used = 0;

	for (; *at && *at != '"' && used + 1 < VALUE_BYTES; at++) {
		if (*at == '\\' && at[1])
			at++;
		value[used++] = *at;
	}
	value[used] = '\0';
}

/* Get the value of a member of an object, without quotes; returns false if it has none. */
static bool get(const char *object, const char *key, char *value)
{
	const char *at = strstr(object, key);

	value[0] = '\0';
	if (!at)
		return false;
	at += strlen(key);
	if (*at == '"')
		get_string(at + 1, value);
	else
		snprintf(value, VALUE_BYTES, "%.*s", (int)strcspn(at, ",}"), at);
	return true;
}

/* Print " WORD VALUE" of a member that the object has. */
static void print_member(const char *object, const char *key, const char *word)
{
	char value[VALUE_BYTES];

	if (get(object, key, value))
		printf("%s%s", word, value);
}

/* Print the job of a finding, and the removal of the mapping. Context here is that of the queue. */
static void print_history(const char *line)
{
	char value[VALUE_BYTES];

	print_member(line, "\"job\":", "\n   in  job ");
	print_member(line, "\"job_context\":", " of queue ");
	print_member(line, "\"master\":", ", data master ");
	print_member(line, "\"unmapped_by\":", "\n   unmapped by operation ");
	print_member(line, "\"process\":", " of process ");
	if (get(line, "\"freed\":", value) && !strcmp(value, "true"))
		printf(", the buffer is freed");
	print_member(line, "\"unmapped_at\":", "\n   removed at GPU clock ");
}

/* Print the page of a free list and who uses it, or the other side of it. */
static void print_page(const char *object)
{
	print_member(object, "\"page\":", "page ");
	print_member(object, "\"list\":", " of the free list at ");
	print_member(object, "\"scene\":", ", scene at ");
	print_member(object, "\"macro_tile\":", ", macro tile ");
}

/* Print the place of a finding that is of pages or objects, and the other side, unless empty. */
static void print_owners(const char *line, const char *other)
{
	printf("\n   at  ");
	print_page(line);
	print_member(line, "\"event\":", "event ");
	print_member(line, "\"object\":", "the object at ");
	print_member(line, "\"slot\":", ", slot ");
	print_member(line, "\"command\":", ", command ");
	print_member(line, "\"value\":", ", value ");
	print_member(line, "\"reached\":", ", which has ");
	print_member(line, "\"unit\":", ", unit ");
	print_member(line, "\"context\":", ", context ");
	if (!*other)
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

/*
 * Print the other side of an access: a table, or another access. For a register without a value it
 * is the instruction where that has an effect.
 */
static void print_other(const char *line, const char *other)
{
	char value[VALUE_BYTES];

	get(line, "\"finding\":", value);
	printf("\n   %s:", strcmp(value, "uninitialised") ? "other side" : "effect");
	if (get(other, "\"table\":", value)) {
		printf(" %s", value);
		print_member(other, "\"va\":", " of the addresses from ");
		return;
	}
	print_member(other, "\"access\":", " ");
	printf(" at");
	print_member(other, "\"unit\":", " unit ");
	print_member(line, "\"other_source\":", " ");
	print_member(other, "\"instruction\":", " instruction ");
	print_member(other, "\"wave\":", ", wave ");
	print_member(other, "\"lane\":", ", lane ");
	print_member(other, "\"program\":", ", of the program at ");
	print_member(other, "\"usc\":", ", USC ");
	if (get(other, "\"same_job\":", value))
		printf(", of %s", strcmp(value, "true") ? "another job" : "the same job");
}

/* Print the place of an access that is of no instruction, and the other side, unless empty. */
static void print_access(const char *line, const char *other)
{
	print_member(line, "\"unit\":", "\n   at  unit ");
	print_member(line, "\"context\":", ", context ");
	print_history(line);
	if (*other)
		print_other(line, other);
}

/* Print the buffer that the address is in, or, of an address that was never mapped, after. */
static void print_buffer(const char *line, const char *finding)
{
	char value[VALUE_BYTES];
	const bool after = !strcmp(finding, "unmapped") && get(line, "\"end\":", value);

	if (get(line, "\"label\":", value))
		printf(", %sbuffer %s", after ? "after " : "", value);
	else if (after)
		printf(", after a buffer");
	print_member(line, "\"end\":", ", which ends at ");
}

/*
 * Copy a finding without the object of its other side, and that object, or an empty text. The
 * object has no objects in it.
 */
static void split(const char *finding, char *line, char *other)
{
	const char *const first = strstr(finding, "\"other\":{");
	const char *const end = first ? strchr(first, '}') : NULL;

	if (!end) {
		snprintf(line, LINE_BYTES, "%s", finding);
		other[0] = '\0';
		return;
	}
	snprintf(line, LINE_BYTES, "%.*s%s", (int)(first - finding), finding, end + 1);
	snprintf(other, LINE_BYTES, "%.*s", (int)(end + 1 - first), first);
}

static void print_finding(const char *finding, unsigned int number)
{
	char line[LINE_BYTES], other[LINE_BYTES];
	char value[VALUE_BYTES];

	split(finding, line, other);
	get(line, "\"finding\":", value);
	printf("%u. %s", number, value);
	print_member(line, "\"access\":", ", ");
	print_member(line, "\"register\":", " of ");
	print_member(line, "\"local\":", " of local memory, byte ");
	print_member(line, "\"va\":", " of address ");
	print_buffer(line, value);
	print_member(line, "\"signal\":", ", signal sig");
	if (!get(line, "\"program\":", value)) {
		if (get(line, "\"page\":", value) || get(line, "\"object\":", value) ||
		    get(line, "\"event\":", value))
			print_owners(line, other);
		else
			print_access(line, other);
		print_end(line);
		return;
	}
	printf("\n   at  ");
	print_member(line, "\"source\":", "");
	print_member(line, "\"instruction\":", " instruction ");
	print_member(line, "\"program\":", " of the program at ");
	print_member(line, "\"wave\":", ", wave ");
	print_member(line, "\"lane\":", ", lane ");
	print_member(line, "\"usc\":", ", USC ");
	if (get(line, "\"virtual_gpu\":", value) && strcmp(value, "0"))
		printf(", virtual GPU %s", value);
	print_member(line, "\"context\":", ", context ");
	print_history(line);
	if (*other)
		print_other(line, other);
	print_end(line);
}

/* The file's contents. */
struct results {
	unsigned int findings;
	unsigned long long lost;	/* detections of others, for which there was no room */
	unsigned int strict;		/* GPUs in mode strict */
	unsigned int others;		/* GPUs in another mode, or whose mode is unknown */
	char backend[VALUE_BYTES], mode[VALUE_BYTES];	/* of the last of these */
};

/* Count the GPU of a line; returns false if the line is of a finding. */
static bool count_gpu(const char *line, struct results *r)
{
	char backend[VALUE_BYTES], mode[VALUE_BYTES];

	if (!get(line, "{\"gpu\":", backend))
		return false;
	get(line, "\"mode\":", mode);
	if (!strcmp(mode, "strict")) {
		r->strict++;
		return true;
	}
	r->others++;
	memcpy(r->backend, backend, sizeof(backend));
	memcpy(r->mode, mode, sizeof(mode));
	return true;
}

/* Count the findings without room of a line, those since the last such line of its GPU. */
static bool count_lost(const char *line, struct results *r)
{
	char lost[VALUE_BYTES];

	if (!get(line, "{\"lost\":", lost))
		return false;
	r->lost += strtoull(lost, NULL, 10);
	return true;
}

/* Print the number of findings, and of those that are missing. */
static void print_count(const struct results *r)
{
	printf("%u finding%s", r->findings, r->findings == 1 ? "" : "s");
	if (r->lost)
		printf(", and no room for others, detected %llu time%s", r->lost,
		       r->lost == 1 ? "" : "s");
	printf("\n");
}

/* Print all findings of a file, and their number unless nothing can have been found. */
static void print_findings(FILE *file, bool json, struct results *r)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), file)) {
		if (count_gpu(line, r) || count_lost(line, r))
			continue;
		r->findings++;
		if (json)
			fputs(line, stdout);
		else
			print_finding(line, r->findings);
	}
	if (json && r->lost)
		printf("{\"lost\": %llu}\n", r->lost);
	else if (!json && r->strict)
		print_count(r);
}

/* Report that programs were not checked; returns whether all of them were. */
static bool report_unchecked(const struct results *r)
{
	if (r->strict && !r->others)
		return true;
	if (!r->others)
		fprintf(stderr, NAME ": nothing was checked: the command has opened no GPU\n");
	else if (!strcmp(r->mode, "unknown"))
		fprintf(stderr, NAME ": not checked: the mode of the GPU cannot be read; for that of "
			"the kernel driver run as root, with debugfs at /sys/kernel/debug\n");
	else if (!strcmp(r->backend, "drm"))
		fprintf(stderr, NAME ": not checked: a GPU of the kernel driver in mode %s; as root, "
			"write strict to its file mode in debugfs first\n", r->mode);
	else
		fprintf(stderr, NAME ": not checked: a GPU in mode %s; remove the mode from the "
			"command and from PUMICE_DEVICE\n", r->mode);
	return false;
}

/* The signals that end a program as a rule, and may be sent while its command runs. */
static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

#define ENDS	(sizeof(ends) / sizeof(ends[0]))

static volatile sig_atomic_t received;	/* the last one of these, or 0 */
static volatile pid_t child;		/* the command, while it is a process; or 0 */

/*
 * Those of a terminal are sent to all processes of its foreground group. Others are passed on: that
 * a process has sent one to the whole group cannot be detected, so the command receives it twice.
 */
static void on_end(int number, siginfo_t *info, void *context)
{
	const int err = errno;	/* of the interrupted code */

	(void)context;
	received = number;
	if (info->si_code <= 0 && child > 0)
		kill(child, number);
	errno = err;
}

/* The actions that the tool had at its start. */
struct actions {
	struct sigaction ends[ENDS], child;
};

static void restore_actions(const struct actions *former)
{
	for (size_t n = 0; n < ENDS; n++)
		sigaction(ends[n], &former->ends[n], NULL);
	sigaction(SIGCHLD, &former->child, NULL);
}

/*
 * Receive the signals, except those that the caller ignores; get the former actions. If the caller
 * ignores the end of processes, the command would end without a status.
 */
static void set_actions(struct actions *former)
{
	const struct sigaction receive = { .sa_sigaction = on_end,
					   .sa_flags = SA_SIGINFO | SA_RESTART };
	const struct sigaction none = { .sa_handler = SIG_DFL };

	for (size_t n = 0; n < ENDS; n++) {
		sigaction(ends[n], NULL, &former->ends[n]);
		if (former->ends[n].sa_handler != SIG_IGN)
			sigaction(ends[n], &receive, NULL);
	}
	sigaction(SIGCHLD, &none, &former->child);
}

/* Begin the command, with the actions and the mask of signals that the tool had. */
static void begin(char **words, const struct actions *former, const sigset_t *mask)
{
	restore_actions(former);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(words[0], words);
	fprintf(stderr, NAME ": %s: %s\n", words[0], strerror(errno));
	_exit(EXIT_NOT_RUN);
}

/*
 * Begin the command; returns its id, or -1, and the former actions. Signals are blocked until the
 * id is stored.
 */
static pid_t start(char **words, struct actions *former)
{
	sigset_t blocked, mask;
	pid_t pid;

	sigemptyset(&blocked);
	for (size_t n = 0; n < ENDS; n++)
		sigaddset(&blocked, ends[n]);
	sigprocmask(SIG_BLOCK, &blocked, &mask);
	set_actions(former);
	pid = fork();
	if (!pid)
		begin(words, former, &mask);
	child = pid;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return pid;
}

/* Run the command with findings to a file; returns its status as of waitpid(). */
static int run(char **words, const char *file)
{
	int status = EXIT_NOT_RUN << 8;	/* if it is lost */
	struct actions former;
	siginfo_t info;
	pid_t pid;

	setenv("PUMICE_MODE", "strict", 1);
	setenv("PUMICE_FINDINGS", file, 1);
	setenv("PUMICE_DEVICE", "inproc:threads=0", 0);
	pid = start(words, &former);
	if (pid < 0) {
		fprintf(stderr, NAME ": %s\n", strerror(errno));
		restore_actions(&former);
		return EXIT_NOT_RUN << 8;
	}
	/* Its id is that of no other process until waitpid(). */
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	child = 0;
	waitpid(pid, &status, 0);
	/* From here on they end the tool: it may wait for a reader of the findings. */
	restore_actions(&former);
	return status;
}

/*
 * Return the exit status of the command, or 128 plus its signal, which is reported. If the tool has
 * received that signal, it ends by it: a script of a shell ends then, too.
 */
static int status_of(int status, const char *word)
{
	const struct rlimit none = { 0 };
	const int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (!number)
		return WEXITSTATUS(status);
	if (number == received) {
		fflush(stdout);
		setrlimit(RLIMIT_CORE, &none);	/* a core is of interest of the command only */
		raise(number);
	}
	fprintf(stderr, NAME ": %s: ended by signal %d: %s\n", word, number, strsignal(number));
	return 128 + number;
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
		.purpose = "Runs a command with a GPU in its process in mode strict, or with that of the\n"
			   "kernel driver, and prints the errors that the GPU has detected.\n",
		.options = options,
		.notes = "The exit status is that of the command; 3 if it is 0 and there are\n"
			 "findings, 1 if a GPU was not in mode strict or none was opened.\n"
			 "PUMICE_DEVICE is inproc:threads=0 unless it is set. With drm the tool needs\n"
			 "root, and strict in the driver's file mode in debugfs.\n",
		.versions = COMMAND_VERSION_GPU,
	};
	const int first = command_line(&command, argc, argv);
	char path[] = "/tmp/pumice-strict-XXXXXX";
	const int fd = mkstemp(path);
	struct results results = { 0 };
	bool checked = true;
	FILE *file;
	int status;

	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file) {
		fprintf(stderr, NAME ": %s: %s\n", path, strerror(errno));
		return 1;
	}
	status = run(argv + first, path);
	unlink(path);	/* not left if a signal ends the tool */
	print_findings(file, json, &results);
	fclose(file);
	if (status != EXIT_NOT_RUN << 8)
		checked = report_unchecked(&results);
	status = status_of(status, argv[first]);
	if (status)
		return status;
	return results.findings ? EXIT_FINDINGS : checked ? 0 : EXIT_UNCHECKED;
}
