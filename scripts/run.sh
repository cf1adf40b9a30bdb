#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make run: boot a guest, look at the GPU, run the demos, bring the pictures to
# out/. Everything is built already.

set -euo pipefail
. "$(dirname "$0")/lib.sh"

name=run
share=$OUT/guest/$name
start=$SECONDS

mkdir -p "$BUILD/guest"
cat >"$BUILD/guest/$name.job" <<'END'
set -e
modprobe pumice
echo "== pumice-info"
pumice-info
echo "== pumice-demo-matmul"
pumice-demo-matmul
echo "== pumice-demo-mandelbrot"
pumice-demo-mandelbrot -o /host/mandelbrot.png
END

say "booting a guest with $CORES cores and $THREADS threads of GPU"
status=0
"$top/scripts/run-guest.py" $name --image "$BUILD/guest/stock.cpio" \
	--image "$BUILD/guest/programs.cpio" --job "$BUILD/guest/$name.job" \
	--device "pumice,cores=$CORES,threads=$THREADS" --timeout 120 --show || status=$?
[ $status -eq 0 ] || die "the demos failed (status $status)" \
	"their output is in $share/job.log, the kernel's in $share/dmesg"
for picture in "$share"/*.png; do
	[ -e "$picture" ] || die "the demos left no picture" "see $share/job.log"
	cp "$picture" "$OUT/.new.png"
	mv "$OUT/.new.png" "$OUT/${picture##*/}"
	say "picture: $OUT/${picture##*/}"
done
say "guest and demos took $((SECONDS - start)) s"
