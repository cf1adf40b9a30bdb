// SPDX-License-Identifier: MIT
/*
 * Runs a fuzz target without libFuzzer: every input of the corpus, then a fixed
 * number of inputs from a generator with a fixed seed, so that each run is
 * the same. It does not use coverage: libFuzzer searches, this detects regressions.
 *
 *	fuzz_X [-runs=N] [-seed=N] [-max_len=BYTES] CORPUS-FOLDER
 *	fuzz_X FILE…		these inputs only
 *
 * Reports in TAP. The input that ends the program is printed to stderr, in
 * hexadecimal, for `xxd -r -p >FILE`.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define MAX_FILES	256u
#define INPUT_BYTES	65536u

struct input {
	char *name;
	u8 *data;
	size_t size;
};

static struct {
	unsigned long runs, seed, max_len;
	struct input corpus[MAX_FILES];
	unsigned int files;
	u64 random;
} driver = { .runs = 1000, .seed = 1, .max_len = 512 };

/* The current input. */
static const u8 *current;
static size_t current_size;

/* From a death callback or a signal handler: nothing but write(). */
static void show_input(void)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * 256 + 1];
	size_t at, n;

	if (!current)
		return;
	n = (size_t)write(STDERR_FILENO, "input:\n", 7);
	for (at = 0; at < current_size; at += 256) {
		for (n = 0; n < 256 && at + n < current_size; n++) {
			text[2 * n] = digits[current[at + n] >> 4];
			text[2 * n + 1] = digits[current[at + n] & 15];
		}
		text[2 * n] = '\n';
		if (write(STDERR_FILENO, text, 2 * n + 1) < 0)
			return;
	}
}

static void on_signal(int number)
{
	show_input();
	signal(number, SIG_DFL);
	raise(number);
}

/* Of the sanitizers' run time, where it is linked. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void watch_for_death(void)
{
	signal(SIGABRT, on_signal);
	/* The time limit of the tests. */
	signal(SIGTERM, on_signal);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(show_input);
		return;
	}
	signal(SIGSEGV, on_signal);
	signal(SIGBUS, on_signal);
	signal(SIGFPE, on_signal);
	signal(SIGILL, on_signal);
}

static void die(const char *what, const char *name)
{
	fprintf(stderr, "fuzz: %s: %s\n", name, what);
	exit(2);
}

static void read_input(const char *name)
{
	struct input *in = &driver.corpus[driver.files];
	FILE *f = fopen(name, "rb");

	if (driver.files++ == MAX_FILES)
		die("too many inputs", name);
	in->name = strdup(name);
	in->data = malloc(INPUT_BYTES);
	if (!f || !in->name || !in->data)
		die("cannot be read", name);
	in->size = fread(in->data, 1, INPUT_BYTES, f);
	fclose(f);
}

static int by_name(const void *a, const void *b)
{
	const struct input *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void read_folder(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char name[4096];

	if (!dir)
		die("cannot be read", folder);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", folder, entry->d_name);
		read_input(name);
	}
	closedir(dir);
	qsort(driver.corpus, driver.files, sizeof(driver.corpus[0]), by_name);
}

static void run(const u8 *data, size_t size)
{
	/* A block of exactly its size, so that ASan detects an overrun. */
	u8 *copy = malloc(size ? size : 1);

	if (!copy)
		die("out of memory", "input");
	memcpy(copy, data, size);
	current = copy;
	current_size = size;
	LLVMFuzzerTestOneInput(copy, size);
	current = NULL;
	free(copy);
}

/* xorshift64* */
static u32 random32(void)
{
	driver.random ^= driver.random >> 12;
	driver.random ^= driver.random << 25;
	driver.random ^= driver.random >> 27;
	return (u32)(driver.random * 0x2545f4914f6cdd1dull >> 32);
}

static size_t random_bytes(u8 *to)
{
	size_t size = random32() % (driver.max_len + 1), i;

	for (i = 0; i < size; i++)
		to[i] = (u8)random32();
	return size;
}

/* Make an input: the start of one of the corpus, the end of another, some bytes changed. */
static size_t mutated_bytes(u8 *to)
{
	const struct input *a = &driver.corpus[random32() % driver.files];
	const struct input *b = &driver.corpus[random32() % driver.files];
	size_t cut = a->size ? random32() % (a->size + 1) : 0;
	size_t from = b->size ? random32() % (b->size + 1) : 0;
	size_t size, changes;

	if (random32() % 2)
		b = a, from = cut;
	cut = cut < driver.max_len ? cut : driver.max_len;
	memcpy(to, a->data, cut);
	size = cut + (b->size - from);
	size = size < driver.max_len ? size : driver.max_len;
	memcpy(to + cut, b->data + from, size - cut);
	for (changes = random32() % 8; size && changes--;) {
		u8 *at = &to[random32() % size];

		*at = random32() % 2 ? (u8)random32() : *at ^ (u8)(1u << random32() % 8);
	}
	return size;
}

static void run_random(void)
{
	u8 *data = malloc(driver.max_len + 1);
	unsigned long i;

	if (!data)
		die("out of memory", "input");
	driver.random = driver.seed * 0x9e3779b97f4a7c15ull | 1;
	for (i = 0; i < driver.runs; i++)
		run(data, driver.files && i % 2 ? mutated_bytes(data) : random_bytes(data));
	free(data);
}

static bool option(const char *arg, const char *name, unsigned long *value)
{
	size_t n = strlen(name);

	if (strncmp(arg, name, n))
		return false;
	*value = strtoul(arg + n, NULL, 0);
	return true;
}

/* Parse the arguments. Returns whether a folder was named, which enables random inputs. */
static bool take_arguments(int argc, char **argv)
{
	bool folder = false;
	struct stat st;
	int i;

	for (i = 1; i < argc; i++) {
		if (option(argv[i], "-runs=", &driver.runs) ||
		    option(argv[i], "-seed=", &driver.seed) ||
		    option(argv[i], "-max_len=", &driver.max_len))
			continue;
		if (stat(argv[i], &st))
			die("no such file or folder", argv[i]);
		if (S_ISDIR(st.st_mode)) {
			read_folder(argv[i]);
			folder = true;
		} else {
			read_input(argv[i]);
		}
	}
	if (!driver.files)
		die("no corpus", argv[0]);
	return folder;
}

int main(int argc, char **argv)
{
	bool random = take_arguments(argc, argv);
	unsigned int i;

	watch_for_death();
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..%u\n", driver.files + random + 1);
	for (i = 0; i < driver.files; i++) {
		const char *slash = strrchr(driver.corpus[i].name, '/');

		run(driver.corpus[i].data, driver.corpus[i].size);
		printf("ok %u - input %s\n", i + 1, slash ? slash + 1 : driver.corpus[i].name);
	}
	if (random) {
		run_random();
		printf("ok %u - %lu inputs from seed %lu\n", ++i, driver.runs, driver.seed);
	}
	/* A name for tests/mutations: an input that fails ends the program before. */
	printf("ok %u - all_inputs_pass\n", i + 1);
	for (i = 0; i < driver.files; i++) {
		free(driver.corpus[i].name);
		free(driver.corpus[i].data);
	}
	return 0;
}
