// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Tests of names and labels as they are printed. Part of pumice_process.c. */
#include <kunit/test.h>

static const char *process_printed(const char *name, char *text)
{
	struct pumice_process process = { .pid = 42 };

	strscpy(process.name, name, sizeof(process.name));
	return pumice_process_text(&process, text);
}

static void printable_names_are_printed_as_they_are(struct kunit *test)
{
	char text[PUMICE_PROCESS_TEXT];

	KUNIT_EXPECT_STREQ(test, process_printed("Xorg: 1 'a' \"b\"", text),
			   "Xorg: 1 'a' \"b\" (42)");
	KUNIT_EXPECT_STREQ(test, process_printed("", text), " (42)");
}

static void control_characters_are_escaped(struct kunit *test)
{
	char text[PUMICE_PROCESS_TEXT];

	KUNIT_EXPECT_STREQ(test, process_printed("a\nb\tc\rd", text), "a\\nb\\tc\\rd (42)");
	KUNIT_EXPECT_STREQ(test, process_printed("\x1b[2J\x7f\x01", text),
			   "\\e[2J\\177\\001 (42)");
}

/* Otherwise an escaped newline and the two characters would be printed alike. */
static void backslash_is_escaped(struct kunit *test)
{
	char text[PUMICE_PROCESS_TEXT];

	KUNIT_EXPECT_STREQ(test, process_printed("a\\nb", text), "a\\\\nb (42)");
}

static void longest_name_fits(struct kunit *test)
{
	char text[PUMICE_PROCESS_TEXT];
	struct pumice_process process = { .pid = INT_MIN };

	memset(process.name, 0xff, sizeof(process.name));
	pumice_process_text(&process, text);
	KUNIT_EXPECT_EQ(test, strlen(text), sizeof(text) - 1);
	KUNIT_EXPECT_TRUE(test, strstr(text, "\\377 (-2147483648)"));
}

static void labels_are_escaped(struct kunit *test)
{
	char buffer[64] = "";
	struct seq_file m = { .buf = buffer, .size = sizeof(buffer) };

	pumice_process_show_label(&m, NULL);
	KUNIT_EXPECT_EQ(test, m.count, 0);
	pumice_process_show_label(&m, "a\n  0x0 \\");
	buffer[m.count] = '\0';
	KUNIT_EXPECT_STREQ(test, buffer, ": a\\n  0x0 \\\\");
}

static void noted_process_is_that_of_the_first_thread(struct kunit *test)
{
	struct pumice_process process;

	pumice_process_note(&process);
	KUNIT_EXPECT_EQ(test, process.pid, task_tgid_nr(current));
	KUNIT_EXPECT_STREQ(test, process.name, current->group_leader->comm);
}

static struct kunit_case process_cases[] = {
	KUNIT_CASE(printable_names_are_printed_as_they_are),
	KUNIT_CASE(control_characters_are_escaped),
	KUNIT_CASE(backslash_is_escaped),
	KUNIT_CASE(longest_name_fits),
	KUNIT_CASE(labels_are_escaped),
	KUNIT_CASE(noted_process_is_that_of_the_first_thread),
	{}
};

static struct kunit_suite process_suite = {
	.name = "pumice_process",
	.test_cases = process_cases,
};

kunit_test_suite(process_suite);
