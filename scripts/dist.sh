#!/bin/bash
# SPDX-License-Identifier: MIT
#
# dist.sh: the release archive, out/pumice-VERSION.tar.xz: the committed tree, and the rendered
# documentation in Documentation/html/, so that it can be read without building. Needs git.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

version=$(project_version)
archive=$OUT/pumice-$version.tar

git -C "$top" rev-parse --quiet --verify HEAD >/dev/null 2>&1 ||
	die "$top is not a clone of the repository" "make dist archives a commit: run it in a clone"
git -C "$top" diff --quiet HEAD ||
	die "the tree has changes that are not committed" "commit them: the archive is the commit's"
git -C "$top" archive --format=tar --prefix="pumice-$version/" -o "$archive" HEAD
tar -C "$BUILD/docs" --append -f "$archive" --owner=0 --group=0 --exclude=.doctrees \
	--exclude=.buildinfo --transform "s,^\.,pumice-$version/Documentation/html," .
xz -T0 -f "$archive"
say "out/${archive##*/}.xz"
