#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A fresh installation of a Debian release in a folder,
# to test the steps that the README gives to new users.
#
#   distro-root.sh make SUITE          install SUITE with make and nothing else; copy
#                                      this work tree to /root/pumice in it
#   distro-root.sh run SUITE TARGET    make TARGET there, as root
#
# Everything is in distros/SUITE of the cache: root/ is recreated each time, cache/
# is its ~/.cache/pumice, kept, so that a second run fetches and builds less;
# DISTRO_CLEAN=1 empties it first. It is not shared with this machine's, since that
# would hide a step that works on this machine only. Its apt uses the archive and
# the transport options of this machine's apt. A command has /proc, /dev/shm and a
# small /dev without KVM, in separate mount and process namespaces. Needs root.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

verb=$1
suite=$2
place=$PUMICE_CACHE/distros/$suite
root=$place/root

# Print this machine's apt options for access to the archive.
transport() {
	apt-config dump --empty=no | grep -E '^Acquire::(http|https|Check-|Retries|Proxy)' || true
	echo 'APT::Sandbox::User "root";'
}

install() {
	local mirror

	mirror=$("$top/scripts/debian-suite.sh" "$suite" uri)
	rm -rf "$root"
	mkdir -p "$place/cache"
	[ "${DISTRO_CLEAN:-0}" != 1 ] || find "$place/cache" -mindepth 1 -delete
	transport >"$place/apt.conf"
	mmdebstrap --mode=root --variant=apt --include=make,ca-certificates \
		--aptopt="$place/apt.conf" \
		--keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
		"$suite" "$root" "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
	cp /etc/resolv.conf "$root/etc/"
	mkdir -p "$root/root/.cache/pumice" "$root/root/pumice"
	git -C "$top" ls-files -z --cached --others --exclude-standard |
		tar -C "$top" -c --null --ignore-failed-read -T - 2>/dev/null |
		tar -C "$root/root/pumice" -x --no-same-owner
}

# Inside the namespaces.
enter() {
	local node

	mount -t proc proc "$root/proc"
	mount -t tmpfs tmpfs "$root/dev"
	for node in null zero full random urandom tty; do
		touch "$root/dev/$node"
		mount --bind "/dev/$node" "$root/dev/$node"
	done
	ln -s /proc/self/fd "$root/dev/fd"
	ln -s /proc/self/fd/0 "$root/dev/stdin"
	ln -s /proc/self/fd/1 "$root/dev/stdout"
	ln -s /proc/self/fd/2 "$root/dev/stderr"
	mkdir "$root/dev/shm" "$root/dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
	ln -s pts/ptmx "$root/dev/ptmx"
	mount --bind "$place/cache" "$root/root/.cache/pumice"
	exec /usr/sbin/chroot "$root" /usr/bin/env -i -C /root/pumice HOME=/root LANG=C.UTF-8 \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		"JOBS=$JOBS" make "$1"
}

[ "$(id -u)" -eq 0 ] || die "a fresh root of Debian needs root to make and enter"
case $verb in
make)
	step "distro-$suite" "installing Debian $suite" install
	;;
run)
	with_lock "$place/lock" step "distro-$suite-$3" "make $3 on Debian $suite" \
		unshare --mount --pid --fork --kill-child "$top/scripts/distro-root.sh" enter "$suite" "$3"
	;;
enter)
	enter "$3"
	;;
*)
	die "distro-root.sh: unknown verb $verb"
	;;
esac
