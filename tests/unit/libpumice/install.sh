#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.sh BUILD EXAMPLES FIRMWARE FLAGS VERSION: test the library as installed for
# users. Installs into a folder, builds the examples there with the flags of
# pkg-config only, runs them on a GPU in the process, and checks the other installed
# files. tests/install compiles the headers and compares the results of the examples.

# Functions are called by check; names of functions have no blanks.
# shellcheck disable=SC2317,SC2013

build=$1 examples=$2 flags=$4 version=$5
export PUMICE_FIRMWARE="$3"
# shellcheck source-path=SCRIPTDIR source=../support/tap.sh
. "$(dirname "$0")/../support/tap.sh"

# List symbols that the library exports without a version, or outside its map.
no_strangers() {
	nm -D --defined-only --with-symbol-versions "$library" | awk '
		$3 !~ /^pumice_[a-z0-9_]*@@LIBPUMICE_0\.[1-5]$/ && $3 !~ /^LIBPUMICE_0\.[1-5]/ {
			print; bad = 1
		}
		END { exit bad }'
}

has_symbol() {
	nm -D --defined-only --with-symbol-versions "$library" | grep -q " $1@@$2\$"
}

# Every function of the headers is exported, and has its page.
all_functions() {
	for function in $(grep -ohE '^[a-z][a-z0-9_ *]*[ *]pumice_[a-z0-9_]+\(' \
		"$prefix/include/pumice/pumice.h" "$prefix/include/pumice/pumice_capture.h" \
		"$prefix/include/pumice/pumice_debug.h" "$prefix/include/pumice/pumice_fault.h" \
		"$prefix/include/pumice/pumice_gfx.h" \
		"$prefix/include/pumice/pumice_perf.h" | grep -oE 'pumice_[a-z0-9_]+\('); do
		function=${function%(}
		if ! has_symbol "$function" "LIBPUMICE_0.[1-5]"; then
			echo "$function is not exported"
			return 1
		fi
		if [ ! -f "$prefix/share/man/man3/$function.3" ]; then
			echo "$function has no page"
			return 1
		fi
	done
}

# Tools that have a page of section 1 are installed with it.
tool_pages() {
	for tool in pumice-dump pumice-frame pumice-run pumice-top pumice-trace; do
		if [ ! -x "$prefix/bin/$tool" ] || [ ! -f "$prefix/share/man/man1/$tool.1" ]; then
			echo "$tool or its page is missing"
			return 1
		fi
	done
}

# in_room PROGRAM: run it in a folder where it may write files.
in_room() {
	(cd "$room" && "./$1")
}

# The compiler and make use their defaults, for any environment.
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR

check install_goes_into_a_folder meson install -C "$build" --no-rebuild --destdir "$room/root"
prefix=$room/root/usr/local
config=$(find "$prefix" -name pumice.pc | head -n 1)
library=$(find "$prefix" -name 'libpumice.so' | head -n 1)
export PKG_CONFIG_PATH="${config%/*}" LD_LIBRARY_PATH="${library%/*}"

check pkg_config_finds_the_library pkg-config --exact-version="$version" pumice
check every_symbol_has_a_version no_strangers
check old_symbols_keep_their_version has_symbol pumice_submit LIBPUMICE_0.1
check new_symbols_have_a_version_of_their_own has_symbol pumice_vm_bind_async LIBPUMICE_0.2
check every_function_is_exported_and_has_a_page all_functions
check tools_have_pages tool_pages
check the_firmware_is_installed test -s "$prefix/share/pumice/pumice_fw.bin"
cp -r "$examples" "$room/examples"
check examples_build_against_the_installed_library make -C "$room/examples" clean all \
	CFLAGS="-O2 -Wall -Wextra -Werror $flags"
for example in vector-add collatz timeline triangle torus; do
	check "the_example_${example}_runs" in_room "examples/$example"
done
check the_installed_tool_runs "$prefix/bin/pumice-run" --native --list-perf
tap_end
