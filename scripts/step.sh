#!/bin/bash
# SPDX-License-Identifier: MIT
#
# step.sh NAME TITLE COMMAND…: run a step of the Makefile
# with progress and a log, one at a time in a work tree.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

with_lock "$BUILD/$1.lock" step "$@"
