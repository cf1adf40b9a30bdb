#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Run apt for one Debian suite, separate from the machine's own apt.
#
#   debian-suite.sh SUITE update             fetch the lists (at most once a day)
#   debian-suite.sh SUITE version PACKAGE    print the newest version
#   debian-suite.sh SUITE sources PACKAGE    print the versions of its source
#   debian-suite.sh SUITE depends PACKAGE    print the names it depends on
#   debian-suite.sh SUITE download DIR PKG…  put the .deb files into DIR
#   debian-suite.sh SUITE closure DIR PKG…   the same for all they depend on too
#   debian-suite.sh SUITE source DIR PKG     unpack a source package into DIR
#   debian-suite.sh SUITE uri                print the mirror
#
# Sources, lists and state are in the project's cache folder, so /etc/apt
# and the machine's package state are never modified. The mirror is that
# of the machine's own sources; DEBIAN_MIRROR= replaces it.
#
# Limits: main archive and component main only; amd64 only.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

suite=$1
verb=$2
shift 2

root=$PUMICE_CACHE/apt/$suite
options=(-o "Dir::State=$root/state" -o "Dir::Cache=$root/cache"
	-o "Dir::Etc::SourceList=$root/debian.sources"
	-o "Dir::Etc::SourceParts=/dev/null" -o "Dir::Etc::Preferences=/dev/null"
	-o "Dir::Etc::PreferencesParts=/dev/null"
	-o "Dir::State::Status=$root/status" -o "APT::Architecture=amd64"
	-o "APT::Sandbox::User=root" -o "Acquire::Check-Valid-Until=false"
	-o "Acquire::Languages=none" -o "Acquire::Retries=3" -o "Debug::NoLocking=1")

# Print the archive that the machine's own sources use for Debian itself (not for
# security or other vendors), without the trailing slash.
mirror() {
	local uri=${DEBIAN_MIRROR:-}

	if [ -z "$uri" ]; then
		# shellcheck disable=SC2016
		uri=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' |
			sed -n 's,^\([a-z+]*://.*/debian\)/ main$,\1,p' | head -n 1)
	fi
	[ -n "$uri" ] || die "no Debian archive in this machine's apt sources" \
		"say which one to use: make DEBIAN_MIRROR=http://…/debian"
	echo "${uri%/}"
}

write_sources() {
	mkdir -p "$root/state/lists/partial" "$root/cache/archives/partial"
	: >>"$root/status"
	cat >"$root/debian.sources.$$" <<-END
		Types: deb deb-src
		URIs: $(mirror)
		Suites: $suite
		Components: main
		Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
	END
	mv "$root/debian.sources.$$" "$root/debian.sources"
}

update() {
	local stamp=$root/updated

	if [ -z "$(find "$stamp" -mmin -1440 2>/dev/null)" ]; then
		write_sources
		apt-get "${options[@]}" -q update ||
			die "the lists of Debian $suite cannot be fetched" \
				"check the network and the archive in your apt sources"
		touch "$stamp"
	fi
}

mkdir -p "$root"
exec 8>"$root/lock"
flock 8

case $verb in
update)
	update
	;;
uri)
	mirror
	;;
version)
	apt-cache "${options[@]}" show "$1" | sed -n 's/^Version: //p' | head -n 1
	;;
sources)
	apt-cache "${options[@]}" showsrc "$1" 2>/dev/null | sed -n 's/^Version: //p'
	;;
depends)
	apt-cache "${options[@]}" depends --important "$1" |
		sed -n 's/^ *Depends: //p'
	;;
download)
	mkdir -p "$1"
	cd "$1"
	shift
	apt-get "${options[@]}" -q download "$@"
	;;
closure)
	mkdir -p "$1/partial"
	dir=$1
	shift
	# With an empty status file every package counts as not installed.
	apt-get "${options[@]}" -q -y --no-install-recommends --download-only \
		-o "Dir::Cache::Archives=$dir" install "$@"
	;;
source)
	mkdir -p "$1"
	cd "$1"
	shift
	apt-get "${options[@]}" -q --only-source source "$@"
	;;
*)
	die "debian-suite.sh: unknown verb $verb"
	;;
esac
