#!/bin/bash
# SPDX-License-Identifier: MIT
#
# lint.sh [quick]: every static check. Runs all of them even after a failure; each has its
# log in out/logs/lint-*.log. With "quick" only those that take seconds and whose result
# does not depend on the version of a tool: `make check` runs these, as TAP.

set -uo pipefail
. "$(dirname "$0")/lib.sh"

kernel=$BUILD/kernel/fast
cd "$top" || exit 1

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
	xargs -0 -n 20 "$kernel/scripts/checkpatch.pl" --no-tree --strict --terse \
		--show-types --max-line-length=100 --no-summary --ignore "$1" -f
}

kernel_module() {
	# Warnings of W=1 and sparse are errors here. The pattern also finds sparse's
	# own "error:".
	local log=$OUT/logs/lint-module-build.log status=0

	find "$BUILD/module/lint" -name '*.o' -delete 2>/dev/null
	MODULE_WORK=$BUILD/module/lint "$top/scripts/build-module.sh" "$kernel" \
		"$BUILD/module/lint.ko" W=1 C=2 CHECK="sparse -D__CHECK_ENDIAN__" || status=1
	cp "$OUT/logs/module-lint.log" "$log"
	! grep -E 'warning:|error:' "$log" && return $status
}

shell_scripts() {
	shellcheck -x -P "$top/scripts" -s bash scripts/*.sh scripts/lib.sh .ci/run &&
		find tests -name '*.sh' -exec shellcheck -x {} + &&
		shellcheck -s dash -e SC3043 scripts/guest/init
}

python_scripts() {
	pyflakes3 scripts hw tests Documentation
}

spelling() {
	git ls-files -z | xargs -0 codespell
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
	# Findings of its own defects are in the list, too: Cppcheck 2.10 cannot expand the
	# list of counters, and does not analyse files that include perf.h to their end.
	compile_commands "$cppcheck/compile_commands.json" &&
		cppcheck --project="$cppcheck/compile_commands.json" -j"$JOBS" --quiet --inline-suppr \
			--enable=warning,performance,portability --template=gcc --error-exitcode=1 \
			--suppressions-list=scripts/cppcheck.txt --cppcheck-build-dir="$cppcheck"
}

semantic_patches() {
	# Those of the kernel, on the driver.
	local patch found=0

	while read -r patch; do
		! spatch --very-quiet --no-show-diff -D report --no-includes --cocci-file "$patch" \
			--dir drivers/gpu/drm/pumice 2>&1 | grep '^drivers/' || found=1
	done < <(find "$kernel/scripts/coccinelle" -name '*.cocci')
	return $found
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

cppcheck=$BUILD/cppcheck
mkdir -p "$cppcheck"
quick=$([ "${1:-}" = quick ] && echo yes || echo no)
passed=0
failed=0
check() {
	local word="not ok"

	if (step "lint-$1" "$2" "${@:3}"); then
		passed=$((passed + 1))
		word=ok
	else
		failed=$((failed + 1))
	fi
	[ "$quick" = no ] || echo "$word $((passed + failed)) - $2"
}

check language "words and citations of all lines" "$top/scripts/lint_language.py" --all
check names "names of the module's static functions" "$top/scripts/lint_names.py"
check includes "parts that include each other" "$top/scripts/lint_includes.py"
check files "licence and length of every file" "$top/scripts/lint-files.py"
check python "Python scripts (pyflakes)" python_scripts
check generated "the generator gives the same twice" generated_twice
if [ "$quick" = yes ]; then
	echo "1..$((passed + failed))"
	exit $((failed > 0))
fi
check format "layout of added lines (clang-format)" "$top/scripts/lint_format.py"
check spelling "spelling (codespell)" spelling
check checkpatch "kernel style (checkpatch)" kernel_style
check module "the module under W=1 and sparse" kernel_module
check shell "shell scripts (shellcheck)" shell_scripts
check cppcheck "GPU core, library and tools (cppcheck)" gpu_and_library
check coccinelle "the driver (the kernel's semantic patches)" semantic_patches
check builds "no warnings of GCC and clang" no_warnings
check docs "documentation without warnings" documentation
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
