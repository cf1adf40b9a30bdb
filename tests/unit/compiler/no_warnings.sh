#!/bin/sh
# SPDX-License-Identifier: MIT
#
# no_warnings.sh PUMICE-AS TOP: no program of the tree has a warning, but for those whose mistake
# is intended.

as=$1 top=$2
# shellcheck source-path=SCRIPTDIR source=../support/tap.sh
. "$(dirname "$0")/../support/tap.sh"

# silent PROGRAM: it assembles without any output.
# shellcheck disable=SC2317 # check() calls it
silent() {
	"$as" -o "$folder/out.pbin" "$1" >"$folder/output" 2>&1
	silent_status=$?
	cat "$folder/output"
	[ "$silent_status" -eq 0 ] && [ ! -s "$folder/output" ]
}

for program in $(find "$top/userspace" "$top/tests" "$top/examples" -name '*.pasm' | sort); do
	case $program in
	*/stuck.pasm)
		check "${program##*/}_does_not_end" gives 0 "this loop never ends" "$as" \
			-o "$folder/out.pbin" "$program"
		;;
	*/demos/rays_bounce.pasm | */demos/rays_common.pasm | */demos/rays_eye.pasm)
		;; # parts that rays.pasm and rays_hit.pasm include
	*/libpumice/rays/common.pasm)
		;; # macros for the other programs there, which the library puts before them
	*/libpumice/rays/*)
		# The library defines drop_lines for the version of the device.
		{
			echo ".group 128, 1, 1"
			cat "${program%/*}/common.pasm"
			printf ".macro drop_lines\n\tcache_invalidate core\n.endm\n"
			cat "$program"
		} >"$folder/${program##*/}"
		check "${program##*/}_has_no_warning" silent "$folder/${program##*/}"
		;;
	*/path/atomics.pasm | */path/copies.pasm | */path/mix.pasm)
		# The including file defines the instances of a work-group.
		{
			echo ".equ GROUP, 64"
			cat "$program"
		} >"$folder/${program##*/}"
		check "${program##*/}_has_no_warning" silent "$folder/${program##*/}"
		;;
	*)
		check "${program##*/}_has_no_warning" silent "$program"
		;;
	esac
done
tap_end
