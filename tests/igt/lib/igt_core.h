/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Subtests, fixtures, assertions, children and log messages, as IGT offers them.
 *
 * The blocks are loops that run at most once. Whatever ends a block early
 * (a failure, a skip, igt_success()) jumps back to where the block began, where
 * the loop then ends.
 *
 * Names that begin with igt_layer_ are private to this layer.
 */
#ifndef IGT_CORE_H
#define IGT_CORE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifndef IGT_LOG_DOMAIN
#define IGT_LOG_DOMAIN NULL
#endif

/* Exit statuses of a test program. */
#define IGT_EXIT_SUCCESS	0
#define IGT_EXIT_SKIP		77	/* everything that was requested was skipped */
#define IGT_EXIT_INVALID	79	/* wrong option, or no such subtest */
#define IGT_EXIT_FAILURE	98	/* a subtest failed */
#define IGT_EXIT_ABORT		112	/* the machine is not fit for any further test */

/* Purpose of a program: for --help-description and --describe. */
#define IGT_TEST_DESCRIPTION(text) const char *igt_layer_description = text
extern const char *igt_layer_description __attribute__((weak));

/* ------------------------------------------------------------------ blocks */

/* Target of the jump by which the current block ends early. */
extern sigjmp_buf igt_layer_mark;

void igt_layer_init(int argc, char **argv);
bool igt_layer_enter_fixture(void);
void igt_layer_leave_fixture(void);
bool igt_layer_enter_subtest(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** struct igt_layer_group - state that a group restores when it ends */
struct igt_layer_group {
	bool open;
	int verdict;
	unsigned int described;
};

struct igt_layer_group igt_layer_enter_group(void);
void igt_layer_leave_group(struct igt_layer_group *group);

#define IGT_LAYER_PASTE2(a, b) a##b
#define IGT_LAYER_PASTE(a, b) IGT_LAYER_PASTE2(a, b)
#define IGT_LAYER_NAME(name) IGT_LAYER_PASTE(igt_layer_##name##_, __LINE__)

/* The program: int igt_main() { fixtures and subtests } */
#define igt_main() \
	main(int argc, char **argv); \
	static void igt_layer_main(void); \
	int main(int argc, char **argv) \
	{ \
		igt_layer_init(argc, argv); \
		igt_layer_main(); \
		igt_exit(); \
	} \
	static void igt_layer_main(void)

/* Code that subtests share; left out when subtests are only listed. */
#define igt_fixture() \
	for (bool IGT_LAYER_NAME(once) = igt_layer_enter_fixture(); \
	     IGT_LAYER_NAME(once) && !sigsetjmp(igt_layer_mark, 1); \
	     IGT_LAYER_NAME(once) = false, igt_layer_leave_fixture())

/* A subtest whose name is made by a format. */
#define igt_subtest_f(...) \
	for (bool IGT_LAYER_NAME(once) = igt_layer_enter_subtest(__FILE__, __LINE__, __VA_ARGS__); \
	     IGT_LAYER_NAME(once) && !sigsetjmp(igt_layer_mark, 1); \
	     IGT_LAYER_NAME(once) = false, igt_success())

/* A subtest. */
#define igt_subtest(name) igt_subtest_f("%s", name)

/* Subtests with fixtures and a description of their own. */
#define igt_subtest_group() \
	for (struct igt_layer_group IGT_LAYER_NAME(group) = igt_layer_enter_group(); \
	     IGT_LAYER_NAME(group).open; igt_layer_leave_group(&IGT_LAYER_NAME(group)))

/** igt_describe - describe the rule that the following subtest or group checks. */
#define igt_describe(text) igt_describe_f("%s", text)
void igt_describe_f(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** igt_subtest_name - name of the subtest that runs, or NULL. */
const char *igt_subtest_name(void);

/** igt_only_list_subtests - return whether subtests are listed rather than run. */
bool igt_only_list_subtests(void);

/* ---------------------------------------------------------------- verdicts */

/** igt_success - end the subtest as passed. */
void igt_success(void);

/** igt_fail - the subtest, fixture or child ends as failed. */
void igt_fail(int exitcode) __attribute__((noreturn));

/** igt_skip - the subtest, or with a fixture all that follow, cannot run here. */
void igt_skip(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/** igt_exit - end the program with the status of its subtests. */
void igt_exit(void) __attribute__((noreturn));

void igt_layer_fail_assert(const char *domain, const char *file, int line, const char *function,
			   const char *assertion, const char *format, ...)
	__attribute__((noreturn, format(printf, 6, 7)));
void igt_layer_skip_check(const char *file, int line, const char *function, const char *check,
			  const char *format, ...)
	__attribute__((noreturn, format(printf, 5, 6)));
void igt_layer_abort(const char *domain, const char *file, int line, const char *function,
		     const char *expression, const char *format, ...)
	__attribute__((noreturn, format(printf, 6, 7)));

#define igt_assert(condition) \
	do { \
		if (!(condition)) \
			igt_layer_fail_assert(IGT_LOG_DOMAIN, __FILE__, __LINE__, __func__, \
					      #condition, NULL); \
	} while (0)

#define igt_assert_f(condition, ...) \
	do { \
		if (!(condition)) \
			igt_layer_fail_assert(IGT_LOG_DOMAIN, __FILE__, __LINE__, __func__, \
					      #condition, __VA_ARGS__); \
	} while (0)

#define igt_fail_on(condition) igt_assert(!(condition))
#define igt_fail_on_f(condition, ...) igt_assert_f(!(condition), __VA_ARGS__)

/* Compare two numbers as one type; both are reported if the comparison is false. */
#define IGT_LAYER_COMPARE(type, print, as, a, op, not_op, b) \
	do { \
		const type igt_layer_a = (type)(a), igt_layer_b = (type)(b); \
		if (!(igt_layer_a op igt_layer_b)) \
			igt_layer_fail_assert(IGT_LOG_DOMAIN, __FILE__, __LINE__, __func__, \
					      #a " " #op " " #b, \
					      "error: " print " " #not_op " " print "\n", \
					      (as)igt_layer_a, (as)igt_layer_b); \
	} while (0)

#define IGT_LAYER_INT(a, op, not_op, b) IGT_LAYER_COMPARE(int, "%d", int, a, op, not_op, b)
#define IGT_LAYER_U32(a, op, not_op, b) \
	IGT_LAYER_COMPARE(uint32_t, "%#x", unsigned int, a, op, not_op, b)
#define IGT_LAYER_S64(a, op, not_op, b) \
	IGT_LAYER_COMPARE(int64_t, "%lld", long long, a, op, not_op, b)
#define IGT_LAYER_U64(a, op, not_op, b) \
	IGT_LAYER_COMPARE(uint64_t, "%#llx", unsigned long long, a, op, not_op, b)

#define igt_assert_eq(a, b) IGT_LAYER_INT(a, ==, !=, b)
#define igt_assert_neq(a, b) IGT_LAYER_INT(a, !=, ==, b)
#define igt_assert_lt(a, b) IGT_LAYER_INT(a, <, >=, b)
#define igt_assert_lte(a, b) IGT_LAYER_INT(a, <=, >, b)
#define igt_assert_eq_u32(a, b) IGT_LAYER_U32(a, ==, !=, b)
#define igt_assert_neq_u32(a, b) IGT_LAYER_U32(a, !=, ==, b)
#define igt_assert_lt_u32(a, b) IGT_LAYER_U32(a, <, >=, b)
#define igt_assert_lte_u32(a, b) IGT_LAYER_U32(a, <=, >, b)
#define igt_assert_eq_s64(a, b) IGT_LAYER_S64(a, ==, !=, b)
#define igt_assert_lt_s64(a, b) IGT_LAYER_S64(a, <, >=, b)
#define igt_assert_lte_s64(a, b) IGT_LAYER_S64(a, <=, >, b)
#define igt_assert_eq_u64(a, b) IGT_LAYER_U64(a, ==, !=, b)
#define igt_assert_neq_u64(a, b) IGT_LAYER_U64(a, !=, ==, b)
#define igt_assert_lt_u64(a, b) IGT_LAYER_U64(a, <, >=, b)
#define igt_assert_lte_u64(a, b) IGT_LAYER_U64(a, <=, >, b)

#define igt_assert_fd(fd) igt_assert_f((fd) >= 0, "file descriptor " #fd " failed\n")

/* A condition without which the subtest cannot run here. */
#define igt_require(condition) \
	do { \
		if (!(condition)) \
			igt_layer_skip_check(__FILE__, __LINE__, __func__, #condition, NULL); \
	} while (0)

#define igt_require_f(condition, ...) \
	do { \
		if (!(condition)) \
			igt_layer_skip_check(__FILE__, __LINE__, __func__, #condition, \
					     __VA_ARGS__); \
	} while (0)

#define igt_skip_on(condition) igt_require(!(condition))
#define igt_skip_on_f(condition, ...) igt_require_f(!(condition), __VA_ARGS__)

/* A condition without which no test on this machine is reliable. */
#define igt_abort_on_f(condition, ...) \
	do { \
		if (condition) \
			igt_layer_abort(IGT_LOG_DOMAIN, __FILE__, __LINE__, __func__, \
					#condition, __VA_ARGS__); \
	} while (0)

/* ---------------------------------------------------------------- children */

bool igt_layer_fork(void);

/* A block that runs in @count processes of their own; @child is the number of each. */
#define igt_fork(child, count) \
	for (int child = 0; child < (count); child++) \
		for (; igt_layer_fork(); exit(0))

/** igt_waitchildren - wait for all children; a failed one fails the subtest. */
void igt_waitchildren(void);

/** igt_waitchildren_timeout - the same, and the subtest fails when the time is over. */
void igt_waitchildren_timeout(int seconds, const char *reason);

/** igt_kill_children - send a signal to all children. */
void igt_kill_children(int signal);

/** struct igt_helper_process - a process in parallel with the test; children may have some, too */
struct igt_helper_process {
	bool running;
	bool use_SIGKILL;	/* igt_stop_helper() sends SIGKILL rather than SIGTERM */
	pid_t pid;
	int id;			/* place in the list of helpers */
};

bool igt_layer_fork_helper(struct igt_helper_process *helper);

/* A block that runs in a process of its own; no more than four at a time. */
#define igt_fork_helper(helper) \
	for (; igt_layer_fork_helper(helper); exit(0))

/** igt_wait_helper - wait for a helper. Return: its status, as of waitpid(). */
int igt_wait_helper(struct igt_helper_process *helper);

/** igt_stop_helper - kill a helper, which must still be there, and wait for it. */
void igt_stop_helper(struct igt_helper_process *helper);

/* ----------------------------------------------------------------- cleanup */

typedef void (*igt_exit_handler_t)(int signal);

/**
 * igt_install_exit_handler - call a function when this process ends
 * @handler: gets the signal that ended the process, or 0; children do not inherit it
 *
 * The last that was installed comes first. A second time changes nothing.
 */
void igt_install_exit_handler(igt_exit_handler_t handler);

/* --------------------------------------------------------------------- log */

enum igt_log_level {
	IGT_LOG_DEBUG,		/* printed with --debug, or when a subtest fails */
	IGT_LOG_INFO,
	IGT_LOG_WARN,		/* the runner counts the subtest as one with warnings */
	IGT_LOG_CRITICAL,
	IGT_LOG_NONE,
};

void igt_log(const char *domain, enum igt_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void igt_vlog(const char *domain, enum igt_log_level level, const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

/**
 * igt_emit_ignore_dmesg_regex - announce messages of the kernel that this subtest expects
 * @regex: the runner ignores messages that match it from here on, until the next subtest
 *         starts; a second call replaces the first
 */
void igt_emit_ignore_dmesg_regex(const char *regex);

#define igt_debug(...) igt_log(IGT_LOG_DOMAIN, IGT_LOG_DEBUG, __VA_ARGS__)
#define igt_info(...) igt_log(IGT_LOG_DOMAIN, IGT_LOG_INFO, __VA_ARGS__)
#define igt_warn(...) igt_log(IGT_LOG_DOMAIN, IGT_LOG_WARN, __VA_ARGS__)
#define igt_critical(...) igt_log(IGT_LOG_DOMAIN, IGT_LOG_CRITICAL, __VA_ARGS__)

#endif
