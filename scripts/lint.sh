#!/bin/bash
# SPDX-License-Identifier: MIT
#
# lint.sh [all | part | CHECK…]: every static check, or those that are named. Runs all of them even
# after a failure; each has its log in out/logs/lint-CHECK.log. "all" and "part" print TAP, for unit.py:
# those of `make lint`, and of `make check`, without "commits", and without the checks that other parts
# of that make ("builds" and "docs").
#
# Findings differ between versions of codespell, Coccinelle, Cppcheck, pyflakes, shellcheck and
# clang-format. They run in the root of Debian 13 in which the native parts are compiled, too
# (build-root.sh), so they have one version on every machine. sparse runs with the compiler of the
# kernel; it has one version in all releases that the project supports. checkpatch and the
# semantic patches are those of the kernel's source.

set -uo pipefail
. "$(dirname "$0")/lib.sh"

kernel=$BUILD/kernel/fast
cd "$top" || exit 1

# with_tools CHECK: run a check that needs tools of Debian 13. The first one creates their root, before its
# own redirections, so that progress and errors are in its log. Without a network that may last for
# minutes: after a failure the others do not repeat it.
with_tools() {
	[ ! -e "$no_tools" ] ||
		die "the root with the tools is missing" "an earlier check has reported the reason"
	tools=$("$top/scripts/build-root.sh" native trixie </dev/null) || {
		touch "$no_tools"
		die "the root with the tools is missing" "see $OUT/logs/build-root-*.log"
	}
	"$@"
}

# inside COMMAND…: run a tool of Debian 13 in the tree.
inside() {
	"$top/scripts/build-root.sh" run "$tools" env -C "$top" JOBS="$JOBS" "$@"
}

# files REGEXP: the files of the tree whose name matches, NUL-terminated.
files() {
	python3 -B -c 'import re, sys; sys.path.insert(0, "scripts"); import sources
for name in sources.files("."): re.search(sys.argv[1], name) and print(name, end="\0")' "$1"
}

kernel_style() {
	# Kernel style, at the line length that the project allows. Some checks are
	# excluded, since they report errors falsely here: constants in static_assert()
	# compare in either order, list macros do not use each of their columns, loops
	# over lists evaluate their arguments more than once, and trace events are laid
	# out as the kernel's own, which are not like other code.
	local wrong=CONSTANT_COMPARISON,MACRO_ARG_UNUSED,MACRO_ARG_REUSE
	local events=drivers/gpu/drm/pumice/pumice_events.h

	find drivers uapi -name '*.[ch]' ! -path $events -print0 |
		checkpatch "$wrong" &&
		printf '%s\0' $events | checkpatch "$wrong,OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT"
}

# checkpatch IGNORED-TYPES: run it on the files of standard input, NUL-terminated names.
checkpatch() {
	xargs -0 -n 20 -P "$JOBS" "$kernel/scripts/checkpatch.pl" --no-tree --strict --terse \
		--show-types --max-line-length=100 --no-summary --ignore "$1" -f
}

kernel_module() {
	# Warnings of W=1 and sparse are errors here. The pattern also finds sparse's
	# own "error:". W=1 reports members that are initialised twice; the one place where that is
	# intended excepts itself, which sparse does not support.
	local log=$OUT/logs/lint-module-build.log status=0

	find "$BUILD/module/lint" -name '*.o' -delete 2>/dev/null
	MODULE_WORK=$BUILD/module/lint MODULE_ROOT=$(kernel_root) "$top/scripts/build-module.sh" "$kernel" \
		"$BUILD/module/lint.ko" W=1 C=2 CHECK="sparse -D__CHECK_ENDIAN__ -Wno-override-init" || status=1
	cp "$OUT/logs/module-lint.log" "$log"
	! grep -E 'warning:|error:' "$log" && return $status
}

shell_scripts() {
	files '^(scripts|packaging)/[^/]*\.(ba)?sh$|^\.ci/run$' |
		inside xargs -0 shellcheck -x -P "$top/scripts" -s bash &&
		files '^tests/.*\.sh$' | inside xargs -0 shellcheck -x &&
		inside shellcheck -s sh packaging/pumice-qemu.in &&
		inside shellcheck -s dash -e SC3043 scripts/guest/init
}

python_scripts() {
	inside pyflakes3 scripts hw tests Documentation
}

layout() {
	files '\.[ch]$' | inside xargs -0 python3 -B scripts/lint_format.py
}

spelling() {
	files '' | inside xargs -0 codespell
}

# compile_commands FILE: how each source of GPU core, library and tools is compiled, once.
compile_commands() {
	python3 - "$BUILD/native/compile_commands.json" "$1" <<-'END'
		import json, os, sys
		folders = tuple(os.path.realpath(name) + "/" for name in ("qemu-device", "userspace"))
		with open(sys.argv[1], encoding="utf-8") as stream:
		    commands = {os.path.realpath(os.path.join(entry["directory"], entry["file"])): entry
		                for entry in json.load(stream)}
		with open(sys.argv[2], "w", encoding="utf-8") as stream:
		    json.dump([entry for name, entry in sorted(commands.items())
		               if name.startswith(folders)], stream)
	END
}

gpu_and_library() {
	# Findings of its own defects are in the list, too. The result of each file is in our cache, by the
	# content of the file and its headers, for all trees: a run without it takes minutes. A finding
	# from the cache has the path in the tree that was checked first.
	local cache=$PUMICE_CACHE/cppcheck commands=$BUILD/cppcheck.json

	compile_commands "$commands" &&
		with_lock "$PUMICE_CACHE/cppcheck.lock" inside cppcheck --project="$commands" -j"$JOBS" \
			--quiet --inline-suppr --enable=warning,performance,portability --template=gcc \
			--error-exitcode=1 --suppressions-list=scripts/cppcheck.txt \
			--cppcheck-build-dir="$cache"
}

semantic_patches() {
	# Those of the kernel, on the driver, except those with a script in OCaml, which need its
	# compiler.
	local log=$BUILD/coccinelle.log

	{ grep -rLZE --include='*.cocci' '^@.*\bocaml\b' "$(realpath "$kernel")/scripts/coccinelle" ||
		true; } | inside xargs -0 -n 1 -P "$JOBS" spatch --very-quiet --no-show-diff -D report \
			--no-includes --dir drivers/gpu/drm/pumice --cocci-file >"$log" 2>&1 &&
		! grep '^drivers/' "$log"
}

generated_twice() {
	# The generator's output depends only on hw/.
	local again=$BUILD/lint-gen

	rm -rf "$again"
	python3 hw/gen.py --out "$again" && diff -r -x .done "$BUILD/gen" "$again"
}

no_warnings() {
	make -s check-builds
}

documentation() {
	make docs
}

mkdir -p "$BUILD"
# Of this run only.
no_tools=$BUILD/lint-no-tools.$$
rm -f "$no_tools"
trap 'rm -f "$no_tools"' EXIT
tap=
if [ "${1:-}" = all ] || [ "${1:-}" = part ]; then
	tap=$1
	shift
fi
only=" $* "
passed=0
failed=0
check() {
	local word="not ok"

	[[ $only = "  " || $only == *" $1 "* ]] || return 0
	if (step "lint-$1" "$2" "${@:3}"); then
		passed=$((passed + 1))
		word=ok
	else
		failed=$((failed + 1))
	fi
	[ -z "$tap" ] || echo "$word $((passed + failed)) - $2"
}

# Not in the part: the message of a published commit cannot be corrected.
[ "$tap" = part ] || check commits "messages of commits" "$top/scripts/lint_commits.py"
check language "words and citations of all lines" "$top/scripts/lint_language.py" --all
check names "names of the module's static functions" "$top/scripts/lint_names.py"
check kernel-doc "comments of the module's functions" "$top/scripts/lint_kernel_doc.py"
check includes "parts that include each other" "$top/scripts/lint_includes.py"
check files "licence and length of every file, lines of C" "$top/scripts/lint-files.py"
check python "Python scripts (pyflakes)" with_tools python_scripts
check generated "the generator gives the same twice" generated_twice
check format "layout (clang-format)" with_tools layout
check spelling "spelling (codespell)" with_tools spelling
check shell "shell scripts (shellcheck)" with_tools shell_scripts
check checkpatch "kernel style (checkpatch)" kernel_style
check module "the module under W=1 and sparse" kernel_module
check coccinelle "the driver (the kernel's semantic patches)" with_tools semantic_patches
check cppcheck "GPU core, library and tools (cppcheck)" with_tools gpu_and_library
if [ "$tap" != part ]; then
	check builds "no warnings of GCC and clang" no_warnings
	check docs "documentation without warnings" documentation
fi
if [ -n "$tap" ]; then
	echo "1..$((passed + failed))"
	exit $((failed > 0))
fi
[ $((passed + failed)) -gt 0 ] || die "no check $*" "see the names at the end of lint.sh"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
