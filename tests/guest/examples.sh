#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The programs of examples/, as examples/README.md starts them: with the shared library,
# through the kernel's driver.

# shellcheck source-path=SCRIPTDIR source=../unit/support/tap.sh
. "$(dirname "$0")/tap.sh"
cd /pumice/examples || exit 1

# prints NAME LINE: the example exits with status 0 and its first line is this one.
prints() {
	"./$1" drm >"/tmp/$1.out" 2>&1
	status=$?
	sed 's/^/# /' "/tmp/$1.out" >&2
	[ $status -eq 0 ] && [ "$(head -n 1 "/tmp/$1.out")" = "$2" ]
	report "${1}_runs_through_the_driver" $?
}

for example in vector-add collatz timeline triangle torus; do
	LD_TRACE_LOADED_OBJECTS=1 "./$example" | grep -q 'libpumice\.so\.0 => /lib/'
	report "${example}_uses_the_shared_library" $?
done
prints vector-add "100000 sums are right"
prints collatz "77031 takes 350 steps"
prints timeline "8 rounds kept their order"

# The GPU in the process runs the same firmware: pictures are the same to the bit.
for example in triangle torus; do
	"./$example" drm /tmp/drm.ppm && "./$example" inproc /tmp/inproc.ppm &&
		cmp /tmp/drm.ppm /tmp/inproc.ppm
	report "${example}_is_the_same_picture_as_in_process" $?
done
# The examples of manual pages that need a GPU with a driver: tests/install/test_programs.py compares
# them with the pages.
example() {
	"$@" >"/tmp/example.out" 2>&1
	status=$?
	sed 's/^/# /' /tmp/example.out >&2
	[ $status -eq 0 ]
	report "the_example_of_${1}_works" $?
}

cd /tmp || exit 1
example pumice-info -d drm
# The driver reports what the device has: sizes that no other test compares through the library.
units='/^vertices of a core/p; /^FIFOs of a core/p; /^texture interfaces/p'
[ "$(pumice-info -d drm | sed -n "$units")" = "$(pumice-info -d inproc | sed -n "$units")" ] &&
	[ "$(pumice-info -d drm | sed -n "$units" | wc -l)" -eq 3 ]
report the_driver_reports_the_units_of_the_device $?
example pumice-shares
# shares NAME VALUES: the driver's file has these values now, in the order of its lines.
for shares_file in /sys/kernel/debug/dri/*/pds_shares; do :; done
shares() {
	[ "$(sed 's/^[a-z]*: //; s/,.*//' "$shares_file" | tr '\n' ';')" = "$2" ]
	report "$1" $?
}
defaults='128/256 (default);128/256 (default);192/256 (default);128/256 (default);graphics;'
shares the_driver_begins_with_default_shares "$defaults"
example pumice-shares cdm=64 pdm=none
shares pumice_shares_sets_the_shares_of_the_driver '64/256;128/256 (default);none;128/256 (default);graphics;'
example pumice-shares policy=cdm-vdm-pdm
shares pumice_shares_sets_the_policy_of_the_driver '64/256;128/256 (default);none;128/256 (default);cdm-vdm-pdm;'
example pumice-shares cdm=default vdm=default pdm=default rdm=default policy=graphics
shares pumice_shares_restores_the_defaults_of_the_driver "$defaults"
example pumice-demo-triangle -d drm
example pumice-top -b -n 2 -i 0.1 -d drm
example pumice-trace -d drm -o matmul.json pumice-demo-matmul -d drm -n 64
tap_end
