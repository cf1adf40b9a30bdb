# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# Shared by all scripts: paths, messages, steps with progress and logs, locks.
# Sourced, not executed.
#
# Environment: PUMICE_CACHE (default ${XDG_CACHE_HOME:-~/.cache}/pumice) stores
# large results, shared by all work trees; BUILD and OUT (default build and out
# in the work tree) hold this tree's own; JOBS is the number of compile jobs.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
: "${PUMICE_CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/pumice}"
: "${BUILD:=$top/build}"
: "${OUT:=$top/out}"
: "${JOBS:=$(nproc)}"
export PUMICE_CACHE BUILD OUT JOBS
export LC_ALL=C.UTF-8
# A make started in here logs its commands, even if the make that
# started this script is silent (-s), and has its own number of jobs.
unset MAKEFLAGS MFLAGS
mkdir -p "$PUMICE_CACHE" "$OUT/logs"

# project_version: print the version of the project and the library.
project_version() {
	sed -n "s/^  version: '\(.*\)',/\1/p" "$top/meson.build"
}

# die WHAT [WHAT-TO-DO]: print one line for the failure, one for the remedy.
die() {
	echo "error: $1" >&2
	[ $# -lt 2 ] || echo "       $2" >&2
	exit 1
}

# say TEXT: print a line of progress.
say() {
	echo "pumice: $*" >&2
}

# progress LOG [TOTAL]: print the progress of the command that writes LOG,
# in short. Ninja has its own counter. Of Kbuild's lines ("  CC     
# file.o") those that build something are counted, of about TOTAL, the
# expected number of such lines. For other commands the last line is shown.
progress() {
	tail -c 2000 "$1" | tr '\r' '\n' | awk -v total="${2:-0}" -v made="$(grep -cE "$kbuild_line" "$1")" '
		NF { last = $0 }
		match($0, /^\[[0-9]+\/[0-9]+\] /) {
			count = substr($0, 2, RLENGTH - 3)
			sub("/", " of ", count)
			last_of_ninja = $0
		}
		END {
			if (count) {
				last = last_of_ninja
				sub(/^\[[^]]*\] /, "", last)
			} else if (made) {
				count = made (total > made ? " of about " total : "") " objects"
			}
			gsub(/[[:space:]]+/, " ", last)
			sub(/^ /, "", last)
			if (length(last) > 70)
				last = substr(last, 1, 69) "…"
			print count (count && last ? ", " : "") last
		}'
}
kbuild_line='^  (CC|AS|LD|AR|HOSTCC|HOSTLD|GEN|OBJCOPY|FWCC|FWAS|FWLD)\b'

# sign_of_life TITLE LOG PID: print a line every 20 seconds (STEP_INTERVAL)
# until ended by SIGTERM, or until the process PID has exited. Its sleep is
# ended with it, so that nothing keeps a lock or a pipe open.
sign_of_life() {
	local start=$SECONDS nap how_far

	trap 'kill "$nap"; exit 0' TERM
	while true; do
		sleep "${STEP_INTERVAL:-20}" &
		nap=$!
		wait "$nap"
		kill -0 "$3" 2>/dev/null || exit 0
		how_far=$(progress "$2" "${STEP_TOTAL:-0}")
		echo "  … $1: $((SECONDS - start)) s${how_far:+: $how_far}" >&2
	done
}

# step NAME TITLE COMMAND…: run COMMAND with its output in
# out/logs/NAME.log. The title is printed at the start and again, with the
# duration in seconds, at the end; in between a line of progress every 20
# seconds: see progress(). STEP_TOTAL= is the expected number of Kbuild's
# lines. A failure prints the end of the log, its name and how to continue.
step() {
	local title=$2 log=$OUT/logs/$1.log
	local start=$SECONDS status=0 pid beat

	shift 2
	echo "  … $title" >&2
	"$@" >"$log" 2>&1 &
	pid=$!
	sign_of_life "$title" "$log" "$pid" &
	beat=$!
	wait "$pid" || status=$?
	kill "$beat" 2>/dev/null || true
	wait "$beat" 2>/dev/null || true
	if [ "$status" -ne 0 ]; then
		tail -n 25 "$log" | sed 's/^/    | /' >&2
		die "$title failed (status $status)" \
			"the whole log is $log; run the same command again to continue from here"
	fi
	echo "  ✓ $title ($((SECONDS - start)) s)" >&2
}

# with_lock FILE COMMAND…: run COMMAND with an exclusive lock on FILE. Prints a
# line if it has to wait. Returns its status. The lock is released with the process, however it ends.
with_lock() {
	local file=$1 fd status

	shift
	mkdir -p "$(dirname "$file")"
	exec {fd}>"$file"
	if ! flock -n "$fd"; then
		say "waiting for another run that holds ${file##*/}"
		flock "$fd"
	fi
	"$@"
	status=$?
	exec {fd}>&-
	return "$status"
}

# digest FILE…: print a short name for the content of all
# these files and folders, independent of their location.
digest() {
	find "$@" -type f -print0 | sort -z | xargs -0 sha256sum |
		cut -d' ' -f1 | sha256sum | cut -c1-16
}

# as_root COMMAND…
as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

# own_mounts COMMAND…: continue as COMMAND in a separate mount namespace, of which no mount is visible
# outside; without root also in a user namespace, in which the user is root.
own_mounts() {
	local options=(--mount) refusal

	[ "$(id -u)" -eq 0 ] || options+=(--map-root-user)
	refusal=$(unshare "${options[@]}" true 2>&1) || {
		# In a chroot "/" may not be a mount, so that unshare cannot make it private.
		[[ $refusal == *"Invalid argument"* ]] &&
			options+=(--propagation unchanged "$top/scripts/private_mounts.py") &&
			refusal=$(unshare "${options[@]}" true 2>&1)
	} || die "a separate mount namespace is refused ($refusal)" \
		"a container needs --cap-add SYS_ADMIN --security-opt seccomp=unconfined, and with AppArmor --security-opt apparmor=unconfined; a chroot needs root and /proc"
	exec unshare "${options[@]}" "$@"
}

# package_section NAME: print the packages listed under [NAME] in packages.txt.
package_section() {
	awk -v wanted="[$1]" '/^\[/ { here = $1 == wanted; next }
		here && /^[a-z0-9]/ { print $1 }' "$top/scripts/packages.txt"
}

# Print the Debian release of this machine: bookworm, trixie, …
host_release() {
	# shellcheck disable=SC1091
	. /etc/os-release
	echo "${VERSION_CODENAME:-unknown}"
}

# Print the Debian suite whose 6.12 kernel packages match this machine.
kernel_suite() {
	case $(host_release) in
	bookworm) echo bookworm-backports ;;
	*) echo trixie ;;
	esac
}

# Print the root folder in which to build these kernels and modules
# for them; empty if they were built with this machine's own compiler.
kernel_root() {
	case $(host_release) in
	bookworm | trixie) ;;
	*) "$top/scripts/build-root.sh" native "$(kernel_suite)" ;;
	esac
}

# suite_lists SUITE: fetch the lists of a Debian suite, unless newer than a day.
suite_lists() {
	step "apt-$1" "fetching the package lists of Debian $1" \
		"$top/scripts/debian-suite.sh" "$1" update
}

# fixed_version NAME SUITE SOURCE-OR-PACKAGE: print the version of a Debian
# package used in this cache: the newest at the first request, the same
# later, so that a build needs no network. make clean-cache resets it.
fixed_version() {
	local file=$PUMICE_CACHE/versions/$1

	if [ ! -s "$file" ]; then
		mkdir -p "${file%/*}"
		suite_lists "$2"
		"$top/scripts/debian-suite.sh" "$2" version "$3" >"$file.$$"
		[ -s "$file.$$" ] || die "Debian $2 has no package $3"
		mv "$file.$$" "$file"
	fi
	cat "$file"
}
