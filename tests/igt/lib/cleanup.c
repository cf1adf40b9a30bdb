// SPDX-License-Identifier: MIT
/* SPDX-FileCopyrightText: Copyright (C) 2026 The Pumice maintainers */
/*
 * Cleanup handlers of a process, called by exit() or by any signal that can be caught.
 * Limits: HANDLERS of them.
 */
#include <signal.h>

#include "layer.h"

#define HANDLERS	10u

static igt_exit_handler_t handlers[HANDLERS];
static unsigned int count;

void igt_layer_call_exit_handlers(int signal)
{
	while (count)
		handlers[--count](signal);
}

void igt_layer_forget_exit_handlers(void)
{
	count = 0;
}

static void at_exit(void)
{
	igt_layer_call_exit_handlers(0);
}

static void end_by_signal(int number)
{
	igt_layer_call_exit_handlers(number);
	signal(number, SIG_DFL);
	raise(number);
}

static void install_once(void)
{
	static const int deadly[] = { SIGINT, SIGHUP, SIGPIPE, SIGTERM, SIGQUIT, SIGABRT };
	static bool done;
	unsigned int i;

	if (done)
		return;
	done = true;
	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		signal(deadly[i], end_by_signal);
	igt_assert_eq(atexit(at_exit), 0);
}

void igt_install_exit_handler(igt_exit_handler_t handler)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (handlers[i] == handler)
			return;
	}
	igt_assert_f(count < HANDLERS, "no more than %u exit handlers\n", HANDLERS);
	handlers[count++] = handler;
	install_once();
}
