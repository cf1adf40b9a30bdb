#!/bin/bash
# SPDX-License-Identifier: MIT
#
# igt-in-tree.sh IGT_SRC: put our IGT tests into an IGT source tree, as
# tests/pumice/, unchanged and with all that they include. Run it again to bring
# them up to date; then build IGT as usual. Of IGT's own files only
# tests/meson.build gets a line.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

# What is this layer's and not for IGT: IGT has its own.
ours_only='^(layer_sample|gputop_load)'

put_sources() {
	local to=$1 file

	for file in "$top"/tests/igt/*.[ch] "$top"/tests/rig/*.[ch]; do
		[[ $(basename "$file") =~ $ours_only ]] || cp "$file" "$to/"
	done
	cp "$top"/hw/perf.h "$top"/hw/decode/*.[ch] "$BUILD"/gen/*.[ch] "$to/"
	mkdir -p "$to/drm"
	cp "$top"/uapi/drm/*.h "$to/drm/"
}

# The programs and what each has beside its own file, as tests/igt/meson.build says.
programs() {
	sed -n "/^igt_programs = {/,/^}/p" "$top/tests/igt/meson.build" |
		sed 's/^igt_programs/pumice_progs/'
}

put_build() {
	local to=$1 own=$1/meson.build shared=() file

	for file in "$to"/igt_pumice.c "$top"/tests/rig/*.c "$to"/pumice_isa*.c \
		"$to"/pumice_*_table.c "$to"/pumice_decode*.c; do
		shared+=("$(printf "\t'%s'," "$(basename "$file")")")
	done
	cat >"$own" <<-END
		# SPDX-License-Identifier: MIT
		# Written by Pumice's scripts/igt-in-tree.sh.
		$(programs)

		pumice_lib = static_library('igt_pumice',
		$(printf '%s\n' "${shared[@]}")
			dependencies : test_deps,
		)

		foreach prog, others : pumice_progs
			test_executables += executable(prog, prog + '.c', others,
						       link_with : pumice_lib,
						       dependencies : test_deps,
						       install_dir : libexecdir,
						       install_rpath : libexecdir_rpathdir,
						       install : true)
			test_list += prog
		endforeach
	END
}

main() {
	local src=${1:-} to

	[ -n "$src" ] || die "no IGT source tree named" "make igt-in-tree IGT_SRC=DIR"
	[[ -e $src/lib/igt_core.h && -e $src/tests/meson.build ]] ||
		die "$src is no IGT source tree" "it has no lib/igt_core.h or tests/meson.build"
	to=$src/tests/pumice
	rm -rf "$to"
	mkdir -p "$to"
	put_sources "$to"
	put_build "$to"
	grep -qx "subdir('pumice')" "$src/tests/meson.build" ||
		echo "subdir('pumice')" >>"$src/tests/meson.build"
	echo "put $(programs | grep -c "^  'pumice_") programs into $to"
}

main "$@"
