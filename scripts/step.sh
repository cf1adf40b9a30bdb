#!/bin/bash
# SPDX-License-Identifier: MIT
#
# step.sh NAME TITLE COMMAND…: a step of the Makefile with progress and a log.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

step "$@"
