#!/bin/bash
# SPDX-License-Identifier: MIT
#
# fuzz.sh: build the fuzz targets with libFuzzer, and run each for a
# limited time, one after the other; those with a GPU in each of its modes.
# Findings and corpora are kept in out/fuzz/TARGET: corpus/, MODE-crash-*,
# MODE.log. See tests/fuzz/README.md.
#
#	TARGETS="mmio bus stream cost frame transfer rays canary switch firmware program tables fwgdb"
#	MODES="fast counted strict"
#	FUZZ_SECONDS=120

set -euo pipefail
. "$(dirname "$0")/lib.sh"

targets=${TARGETS:-mmio bus stream cost frame transfer rays canary switch firmware program tables fwgdb}
modes=${MODES:-fast counted strict}
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

# search TARGET MODE
search() {
	local found=$OUT/fuzz/$1
	local log=$found/$2.log

	mkdir -p "$found/corpus"
	echo "  … $1 in mode $2 for $seconds s, log: $log"
	if PUMICE_FUZZ_MODE=$2 nice "$dir/tests/fuzz/fuzz_$1-libfuzzer" -max_total_time="$seconds" \
		-timeout=60 -len_control=0 -max_len=2048 -print_final_stats=1 \
		-artifact_prefix="$found/$2-" \
		"$found/corpus" "$top/tests/fuzz/corpus/$1" >"$log" 2>&1; then
		grep -E 'number_of_executed_units' "$log"
	else
		failed=1
		echo "FAILED $1 in mode $2"
		tail -30 "$log"
	fi
}

for target in $targets; do
	case $target in
	program | tables | fwgdb)	# without a GPU
		search "$target" fast
		;;
	*)
		for mode in $modes; do
			search "$target" "$mode"
		done
		;;
	esac
done
[ $failed -eq 0 ]
