/* SPDX-License-Identifier: MIT */
/* cmocka and the headers that it requires before it. */
#ifndef PUMICE_TEST_CMOCKA_ALL_H
#define PUMICE_TEST_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
