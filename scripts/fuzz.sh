#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fuzz.sh: build the fuzz targets with libFuzzer, and search with each for a
# while, one after the other. What they find and learn stays in out/fuzz/TARGET:
# corpus/, crash-*, log. See tests/fuzz/README.md.
#
#	TARGETS="mmio stream firmware program tables"   FUZZ_SECONDS=120

set -euo pipefail
. "$(dirname "$0")/lib.sh"

targets=${TARGETS:-mmio stream firmware program tables}
seconds=${FUZZ_SECONDS:-120}

CC=clang "$top/scripts/build-native.sh" fuzz -Db_sanitize=address,undefined \
	-Db_lundef=false -Dc_args=-fsanitize=fuzzer-no-link

export PUMICE_FIRMWARE=$BUILD/fuzz/userspace/libpumice/pumice_fw.bin
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
failed=0
for target in $targets; do
	dir=$OUT/fuzz/$target
	mkdir -p "$dir/corpus"
	echo "  … $target for $seconds s, log: $dir/log"
	if nice "$BUILD/fuzz/tests/fuzz/fuzz_$target-libfuzzer" -max_total_time="$seconds" \
		-timeout=60 -len_control=0 -max_len=2048 -print_final_stats=1 -artifact_prefix="$dir/" \
		"$dir/corpus" "$top/tests/fuzz/corpus/$target" >"$dir/log" 2>&1; then
		grep -E 'number_of_executed_units' "$dir/log"
	else
		failed=1
		echo "FAILED $target"
		tail -30 "$dir/log"
	fi
done
exit $failed
