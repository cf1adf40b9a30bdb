#!/bin/sh
# SPDX-License-Identifier: MIT
#
# pumice-trace on two processes that use the GPU at the same time: jobs carry the name and
# the id of the process of their context, although both have ended before the trace does.

number=0
failed=0
TRACE=/tmp/trace.json
# scripts/guest-tests.py checks this copy by the schema.
SHARED=/host/t_trace.trace.json

# report NAME STATUS: one line of TAP.
report() {
	number=$((number + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $number - $1"
	else
		echo "not ok $number - $1"
		failed=1
	fi
}

# slices TRACK NAME: begins of slices on a track with a name that matches.
slices() {
	grep -c "\"ph\":\"B\",\"pid\":$1,\"tid\":[0-9]*,\"name\":\"$2" "$TRACE"
}

cd /tmp || exit 1
cat >/tmp/both <<'END'
PUMICE_DEVICE=drm pumice-demo-matmul -n 64 >/tmp/matmul.out 2>&1 &
matmul=$!
PUMICE_DEVICE=drm pumice-demo-triangle -o /tmp/triangle.png >/tmp/triangle.out 2>&1 &
triangle=$!
wait $matmul || exit 1
wait $triangle || exit 1
echo "$matmul $triangle" >/tmp/pids
END
pumice-trace -d drm -o "$TRACE" sh /tmp/both
report "the_command_succeeds_under_trace" $?
cp "$TRACE" "$SHARED"
report "the_file_is_left_for_the_check_of_its_form" $?
read -r matmul triangle </tmp/pids

# Names are those of the kernel, of 15 characters.
[ "$(slices 3 "pumice-demo-mat ($matmul), context [0-9]*\"")" -gt 0 ]
report "compute_jobs_name_their_process" $?
[ "$(slices 3 "pumice-demo-tri ($triangle), context [0-9]*\"")" -ge 2 ]
report "geometry_and_fragment_jobs_name_their_process" $?
[ "$(slices 3 "context ")" -eq 0 ]
report "no_job_has_an_unknown_process" $?
grep -q "\"thread_name\",\"args\":{\"name\":\"pumice-demo-tri ($triangle), context" "$TRACE"
report "the_driver_has_a_track_for_the_context" $?
[ "$(slices '1[0-9]' "tile [0-9]*,[0-9]*")" -gt 0 ] && [ "$(slices '1[0-9]' "chunk 0")" -gt 0 ] &&
	[ "$(slices '1[0-9]' "PBE [0-9]*,[0-9]*")" -gt 0 ]
report "cores_have_chunks_tiles_and_stores" $?
grep -q "\"pid\":2,\"tid\":0,\"name\":\"job start\".*pumice-demo-mat ($matmul)" "$TRACE"
report "decisions_of_the_firmware_name_the_process" $?
begins=$(grep -c '"ph":"B"' "$TRACE")
ends=$(grep -c '"ph":"E"' "$TRACE")
echo "# $begins slices"
[ "$begins" -eq "$ends" ]
report "each_slice_ends" $?
[ ! -d /sys/kernel/tracing/instances/pumice-trace ]
report "the_instance_of_tracefs_is_removed" $?
echo "1..$number"
exit $failed
