#!/bin/bash
# SPDX-License-Identifier: MIT
#
# check.sh PART… [-- PART…]: run the parts (lint, unit, tsan, builds, guest, docs, debug,
# pairs, igt, kernels, mutations, qemu, deb, distros, presets, strict) one after the other; those after "--"
# in parallel with the others, if there are two processors, with their output last. Each part
# ends with 'N passed, N failed'; with several parts so does the total, on the last line.
# A part that cannot be built counts as one failure.

set -uo pipefail
. "$(dirname "$0")/lib.sh"

results=$OUT/results
# As in the Makefile, which sets it for its targets.
: "${PUMICE_QEMU:=$BUILD/qemu${QEMU_VERSION:+-$QEMU_VERSION}/qemu-system-x86_64}"
export PUMICE_QEMU

# Targets that the parts of both streams of make check need.
COMMON="$BUILD/.packages-check firmware native qemu module $BUILD/kernel/.fast
	$BUILD/guest/stock.cpio $BUILD/guest/fast.cpio $BUILD/guest/debug.cpio
	$BUILD/guest/programs.cpio $BUILD/guest/igt.cpio"

# add_times TIME LOG: the time of a part, and of those steps in its output that took a second or more.
add_times() {
	local steps

	mapfile -t steps < <(sed -n 's/^ *✓ \(.*\) (\([1-9][0-9]* s\))$/  \2: \1/p' "$2")
	times+=("$1" "${steps[@]}")
}

# part NAME TITLE MAKE-TARGETS COMMAND…: build, run,
# and write a result even if there is nothing to run.
part() {
	local name=$1 title=$2 targets=$3 start=$SECONDS status=0 log=$OUT/logs/part-$1.log

	shift 3
	echo "== $title"
	rm -f "$results/$name.json"
	# Python delays output to a pipe otherwise.
	# shellcheck disable=SC2086
	(make -s -C "$top" $targets && PYTHONUNBUFFERED=1 "$@") 2>&1 | tee "$log" || status=1
	if [ ! -s "$results/$name.json" ]; then
		python3 "$top/scripts/results.py" "$name" "$title"
	fi
	echo "== $title: $((SECONDS - start)) s"
	add_times "$((SECONDS - start)) s: $title" "$log"
	parts+=("$results/$name.json")
	[ $status -eq 0 ] || failed=1
}

igt_part() {
	part "igt-$1${2:+-strict}" "IGT on the $1 kernel${2:+ in mode strict}" \
		"$BUILD/guest/$1.cpio $BUILD/guest/igt.cpio $BUILD/guest/programs.cpio qemu" \
		"$top/scripts/igt.py" run "$1" ${2:+"$2"} "$BUILD/guest/$1.cpio" \
		"$BUILD/guest/programs.cpio" "$BUILD/guest/igt.cpio"
}

guest_part() {
	part guest "tests through ioctls, in a guest" \
		"qemu $BUILD/guest/stock.cpio $BUILD/guest/fast.cpio
		$BUILD/guest/programs.cpio" \
		"$top/scripts/guest-tests.py" "$BUILD/guest"
}

# The debug kernel: its listed tests, or with
# DEBUG_TESTS=all every guest test, and IGT.
debug_part() {
	part guest-debug "tests on the debug kernel, ${DEBUG_TESTS:-quick}" \
		"qemu $BUILD/guest/debug.cpio $BUILD/guest/stock.cpio $BUILD/guest/programs.cpio" \
		"$top/scripts/guest-tests.py" "$BUILD/guest" \
		--debug "--${DEBUG_TESTS:-quick}"
	if [ "${DEBUG_TESTS:-quick}" = all ]; then
		igt_part debug
	fi
}

# Every ioctl concurrently with every other, on the debug kernel.
pairs_part() {
	part guest-pairs "pairs of ioctls on the debug kernel" \
		"qemu $BUILD/guest/debug.cpio $BUILD/guest/programs.cpio" \
		"$top/scripts/guest-tests.py" "$BUILD/guest" --pairs
}

# Tests of results under each preset of the GPU, in process and in guests, or the quick ones: those
# in one guest. PRESET_TESTS=all runs all.
presets_part() {
	part presets "results under each preset, ${PRESET_TESTS:-quick}" "firmware native" \
		"$top/scripts/unit.py" presets "${PRESET_TESTS:-quick}"
	part guest-presets "results with presets in guests, ${PRESET_TESTS:-quick}" \
		"qemu $BUILD/guest/stock.cpio $BUILD/guest/programs.cpio" \
		"$top/scripts/guest-tests.py" "$BUILD/guest" --presets "--${PRESET_TESTS:-quick}"
}

# Tests of results in mode strict, in process and in a guest, or the quick ones. STRICT_TESTS=all runs
# all, and IGT.
strict_part() {
	part strict "results in mode strict, ${STRICT_TESTS:-quick}" "firmware native" \
		"$top/scripts/unit.py" strict "${STRICT_TESTS:-quick}"
	part guest-strict "guests in mode strict, ${STRICT_TESTS:-quick}" \
		"qemu $BUILD/guest/stock.cpio $BUILD/guest/programs.cpio" \
		"$top/scripts/guest-tests.py" "$BUILD/guest" --strict "--${STRICT_TESTS:-quick}"
	[ "${STRICT_TESTS:-quick}" != all ] || igt_part fast --strict
}

# side_by_side PART NAME…: run a part for each name, in parallel; their
# targets are built first. Output is printed when all have ended.
side_by_side() {
	local run=$1 name log pids=()

	shift
	mkdir -p "$OUT/logs"
	for name in "$@"; do
		(
			failed=0
			"$run" "$name"
			exit $failed
		) >"$OUT/logs/$run-$name.log" 2>&1 &
		pids+=($!)
	done
	for name in "$@"; do
		log=$OUT/logs/$run-$name.log
		wait "${pids[0]}" || failed=1
		pids=("${pids[@]:1}")
		cat "$log"
		add_times "$(sed -n 's/^== \(.*\): \([0-9]* s\)$/\2: \1/p' "$log" | tail -1)" "$log"
		parts+=("$results/guest-$name.json")
	done
}

# A kernel of Debian's by its series, with the quick part of the guest tests or all.
# shellcheck disable=SC2317 # side_by_side calls it
kernel_part() {
	part "guest-$1" "guest tests on Debian's kernel $1, ${KERNEL_TESTS:-quick}" \
		"qemu $BUILD/guest/$1.cpio $BUILD/guest/programs.cpio" \
		"$top/scripts/guest-tests.py" "$BUILD/guest" \
		--as-stock "$1" "--${KERNEL_TESTS:-quick}"
}

run_part() {
	local series images more=

	case $1 in
	unit)
		# Tests that TESTS= selects run in build/native only.
		[ -n "${TESTS:-}" ] || more="asan qemu $BUILD/kernel/.stock"
		part unit "tests without a guest, ${UNIT_TESTS:-quick}" \
			"$BUILD/.packages-check firmware native $more" \
			"$top/scripts/unit.py" "${UNIT_TESTS:-quick}"
		;;
	lint)
		# LINT_CHECKS=all: also those of other parts, and the messages of commits.
		part lint "static checks" "gen native $BUILD/.packages-lint $BUILD/kernel/.fast" \
			"$top/scripts/unit.py" lint "${LINT_CHECKS:-part}"
		;;
	tsan)
		part tsan "tests of threads under ThreadSanitizer, ${TSAN_TESTS:-quick}" \
			"$BUILD/.packages-check firmware $BUILD/tsan/.done" \
			"$top/scripts/unit.py" tsan "${TSAN_TESTS:-quick}"
		;;
	builds)
		part builds "warnings as errors, by several compilers" "gen $BUILD/.packages-run" \
			"$top/scripts/check-builds.py"
		;;
	guest)
		guest_part
		;;
	docs)
		# DOCS_TESTS=all: each document that has commands.
		part docs "commands, links and pictures of the documentation, ${DOCS_TESTS:-quick}" \
			"$BUILD/.packages-check firmware native module qemu images docs" \
			env DOCS_TESTS="${DOCS_TESTS:-quick}" "$top/scripts/unit.py" docs
		;;
	debug)
		debug_part
		;;
	pairs)
		pairs_part
		;;
	kernels)
		# A failed build is reported again by the part that needs it. Quick: the last alone.
		read -ra series <<<"$KERNELS"
		[ "${KERNEL_TESTS:-quick}" = all ] || series=("${series[@]: -1}")
		images=("${series[@]/#/$BUILD/guest/}")
		make -s -C "$top" qemu "$BUILD/guest/programs.cpio" "${images[@]/%/.cpio}" || true
		side_by_side kernel_part "${series[@]}"
		;;
	qemu)
		part unit "tests of the PCI device" "qemu firmware native" \
			"$top/scripts/unit.py" tests/qemu
		guest_part
		;;
	deb)
		part deb "Debian packages" "$BUILD/.packages-run $BUILD/.packages-deb" \
			"$top/scripts/check-deb.py"
		;;
	distros)
		part distros "both commands of the README in fresh Debian roots" \
			"$BUILD/.packages-distros" "$top/scripts/check-distros.py"
		;;
	mutations)
		part mutations "seeded errors that tests must find, a handful" \
			"$BUILD/.packages-check qemu $BUILD/guest/programs.cpio $BUILD/guest/igt.cpio $BUILD/kernel/.fast" \
			"$top/scripts/mutations.py" --handful
		;;
	presets)
		presets_part
		;;
	strict)
		strict_part
		;;
	igt)
		# IGT_TESTS=all: also on Debian's kernel, which has no SW_SYNC.
		igt_part fast
		[ "${IGT_TESTS:-quick}" != all ] || igt_part stock
		;;
	esac
}

PARTS="lint unit tsan builds guest docs debug pairs igt kernels mutations qemu deb distros presets strict"

# End if a word names no part, before hours are spent on the others.
check_names() {
	local name

	for name in "$@"; do
		[[ " $PARTS " == *" $name "* ]] || die "no part $name" "known: $PARTS"
	done
}

# End if the disk has less room than the folders of a whole check (SPACE, GiB) take beyond those that
# exist: a full disk fails parts by messages of compilers, half an hour later.
SPACE=16
check_space() {
	local free used

	used=$(du -s --block-size=1G "$BUILD" 2>/dev/null | cut -f 1)
	free=$(df --output=avail --block-size=1G "$OUT" | tail -1)
	[ $((free + ${used:-0})) -ge $SPACE ] ||
		die "a check takes $SPACE GiB in $BUILD, and $((free)) GiB are free" \
			"make room there, or set BUILD and OUT to folders elsewhere"
}

# Print the commit of the tree; "-dirty" if files of it are edited.
tree() {
	git -C "$top" describe --always --exclude '*' --dirty 2>/dev/null || echo unknown
}

# append_record FILE RUN: append the times of this run, and keep the last records.
RECORDS=60
# shellcheck disable=SC2317 # with_lock calls it
append_record() {
	local first

	{
		printf '%s %s\n' "$(date -u +%FT%TZ)" "$2"
		printf '  %s\n' "${times[@]}"
	} >>"$1" || return
	first=$(grep -n '^20' "$1" | tail -n "$RECORDS" | head -n 1)
	tail -n "+${first%%:*}" "$1" >"$1.new" && mv "$1.new" "$1"
}

# print_times RUN: print the parts' times, and append them to those of former checks in the cache,
# since a clone of CI does not last. All clones of a user share the file.
print_times() {
	local kept=$PUMICE_CACHE/check-times

	times+=("$SECONDS s: all parts")
	echo "== time"
	printf '%s\n' "${times[@]}" | grep -v '^ '
	(with_lock "$kept.lock" append_record "$kept" "$1") || say "the times cannot be stored in $kept"
}

# Run parts one after the other. Their times and results go to the arrays.
run_parts() {
	local name

	for name in "$@"; do
		run_part "$name"
	done
}

# in_background LOG PART…: run_parts() in a background process, which leaves the arrays in LOG.*.
in_background() {
	local log=$1

	shift
	rm -f "$log".*
	run_parts "$@" >"$log" 2>&1
	printf '%s\n' "${times[@]}" >"$log.times"
	printf '%s\n' "${parts[@]}" >"$log.parts"
	exit $failed
}

# Wait for in_background(), and show what it has printed.
join_background() {
	local log=$1 more

	wait "$2" || failed=1
	cat "$log"
	if [ ! -s "$log.parts" ]; then
		part background "the parts in the background" gen false
		return
	fi
	mapfile -t more <"$log.times"
	times+=("${more[@]}")
	mapfile -t more <"$log.parts"
	parts+=("${more[@]}")
}

main() {
	local first=() second=() log=$OUT/logs/check-background.log background=
	local run

	run="$(tree): $*"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		first+=("$1")
		shift
	done
	second=("${@:2}")
	check_names "${first[@]}" "${second[@]}"
	parts=()
	times=()
	failed=0
	if [ "$(nproc)" -lt 2 ]; then
		first+=("${second[@]}")
		second=()
	fi
	if [ ${#second[@]} -gt 0 ]; then
		check_space
		mkdir -p "$OUT/logs"
		echo "== building what parts have in common"
		# Once, before two make run; a failure is reported again by the part that needs it.
		# shellcheck disable=SC2086
		make -s -k -C "$top" $COMMON || true
		echo "== in the background, with output in $log: ${second[*]}"
		# A process group of its own: ended whole if this script is interrupted.
		set -m
		in_background "$log" "${second[@]}" </dev/null &
		background=$!
		set +m
		# shellcheck disable=SC2064
		trap "kill -- -$background 2>/dev/null || true" EXIT
		trap 'exit 130' INT TERM
	fi
	run_parts "${first[@]}"
	if [ -n "$background" ]; then
		join_background "$log" "$background"
		trap - EXIT
	fi
	if [ ${#parts[@]} -gt 1 ]; then
		print_times "$run"
		python3 "$top/scripts/total.py" "${parts[@]}" || failed=1
	fi
	exit $failed
}

main "$@"
