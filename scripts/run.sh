#!/bin/bash
# SPDX-License-Identifier: MIT
#
# make run: boot a guest, print the GPU's information, run the
# demos, copy the pictures to out/. Everything is already built.

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
demo() {
	echo "== pumice-demo-$1"
	"pumice-demo-$@"
}
demo matmul
demo mandelbrot -o /host/mandelbrot.png
demo reduction
demo scan
demo histogram -o /host/histogram.png
demo blur -o /host/blur.png
demo life -g 100 -o /host/life.gif
demo nbody -t 100 -o /host/nbody.gif
demo rays -o /host/rays.png
demo triangle -o /host/triangle.png
demo model -o /host/model.png
demo gears -o /host/gears.gif -p /host/gears.png
demo shadows -o /host/shadows.png
demo msaa -o /host/msaa.png
demo triangles -o /host/triangles.png
demo partial -o /host/partial.png
demo heatmap -o /host/heatmap.png
END

say "booting a guest with $CORES cores and $THREADS threads of GPU"
status=0
"$top/scripts/run-guest.py" $name --image "$BUILD/guest/stock.cpio" \
	--image "$BUILD/guest/programs.cpio" --job "$BUILD/guest/$name.job" \
	--device "pumice,cores=$CORES,threads=$THREADS" --timeout 240 --show || status=$?
[ $status -eq 0 ] || die "the demos failed (status $status)" \
	"their output is in $share/job.log, the kernel's in $share/dmesg"
for file in mandelbrot.png histogram.png blur.png life.gif nbody.gif rays.png triangle.png \
	model.png gears.gif gears.png shadows.png msaa.png triangles.png partial.png heatmap.png; do
	picture=$share/$file
	[ -e "$picture" ] || die "the demos left no $file" "see $share/job.log"
	cp "$picture" "$OUT/.new-$file"
	mv "$OUT/.new-$file" "$OUT/$file"
	say "picture: $OUT/$file"
done
say "guest and demos took $((SECONDS - start)) s"
