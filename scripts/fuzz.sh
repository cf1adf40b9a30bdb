#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fuzz.sh: build the fuzz targets with libFuzzer, and run each for a
# limited time, one after the other. Findings and corpora are kept in
# out/fuzz/TARGET: corpus/, crash-*, log. See tests/fuzz/README.md.
#
#	TARGETS="mmio bus stream cost frame transfer rays canary switch firmware program tables fwgdb"
#	FUZZ_SECONDS=120

set -euo pipefail
. "$(dirname "$0")/lib.sh"

targets=${TARGETS:-mmio bus stream cost frame transfer rays canary switch firmware program tables fwgdb}
seconds=${FUZZ_SECONDS:-120}

dir=$BUILD/fuzz

build() {
	local products=(userspace/libpumice/pumice_fw.bin) target

	for target in $targets; do
		products+=("tests/fuzz/fuzz_$target-libfuzzer")
	done
	if [ ! -e "$dir/build.ninja" ]; then
		rm -rf "$dir"
		CC=clang meson setup -Db_sanitize=address,undefined -Db_lundef=false \
			-Dc_args=-fsanitize=fuzzer-no-link "$dir" "$top"
	fi
	ninja -C "$dir" -j"$JOBS" "${products[@]}"
}

with_lock "$BUILD/fuzz.lock" step fuzz "building the fuzz targets" build

export PUMICE_FIRMWARE=$dir/userspace/libpumice/pumice_fw.bin
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
failed=0
for target in $targets; do
	found=$OUT/fuzz/$target
	mkdir -p "$found/corpus"
	echo "  … $target for $seconds s, log: $found/log"
	if nice "$dir/tests/fuzz/fuzz_$target-libfuzzer" -max_total_time="$seconds" \
		-timeout=60 -len_control=0 -max_len=2048 -print_final_stats=1 -artifact_prefix="$found/" \
		"$found/corpus" "$top/tests/fuzz/corpus/$target" >"$found/log" 2>&1; then
		grep -E 'number_of_executed_units' "$found/log"
	else
		failed=1
		echo "FAILED $target"
		tail -30 "$found/log"
	fi
done
[ $failed -eq 0 ]
