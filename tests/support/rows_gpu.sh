#!/bin/sh
# What rows.awk makes of a run on a GPU, with rows and results made up here: rows_gpu.sh TESTS-FOLDER
set -u
tests=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
bad=0

cat >"$folder/rows.txt" <<'TXT'
A1 | 001 | C | on the processor
A5 | 000 | G | passed on a GPU
A6 | 000 | G | passed without one only
A7 | 000 | 2G | nothing at all
F3 | 000 | G | failed on a GPU
H8 | design | N/G | passed on a GPU, which it does not need
TXT
cat >"$folder/results" <<'TXT'
pass unit::A1_works
pass unit::A6_works
TXT
cat >"$folder/last-run.md" <<'TXT'
# What a run on a GPU showed
pass gpu::A7_outside_of_the_results
| commit | 0123456789ab |
```results
pass gpu::suite::A5_works
fail gpu::suite::F3_fails
pass gpu::suite::H8_works
```
pass gpu::A7_behind_the_results
TXT
# Another page tells of the same test: the younger one counts, in whichever order they are read.
for hour in 11 13; do
	cat >"$folder/last-run-$hour.md" <<TXT
| date | 2026-01-02T$hour:00Z |
| commit | ba98765432$hour |
\`\`\`results
$([ "$hour" = 11 ] && echo fail || echo pass) gpu::suite::F3_fails
pass gpu::suite$hour::A5_too
\`\`\`
TXT
done
sed -i 's/^| commit | 0123/| date | 2026-01-02T12:00Z |\n&/' "$folder/last-run.md"

# expect ID START GPUS [PAGE ...]: so must the row's state begin.
expect() {
	id=$1 start=$2 gpus=$3
	shift 3
	got=$(awk -v gpus="$gpus" -v document=/dev/null -f "$tests/support/rows.awk" "$folder/rows.txt" "$folder/results" "$@" |
		sed -n "s/^$id  *//p")
	case $got in
	"$start"*) ;;
	*)
		echo "$id: '$got' instead of '$start'"
		bad=1
		;;
	esac
}

run=$folder/last-run.md
expect A1 'pass (1 test)' 0 "$run"
expect A5 'pass on a GPU (1 test, commit 0123456789ab)' 0 "$run"
expect A5 'out of reach here: needs a GPU' 0
expect A6 'out of reach here: needs a GPU, 1 test without' 0 "$run"
expect A6 'pass (1 test)' 1
expect A7 'out of reach here: needs two GPUs' 0 "$run"
expect F3 'FAIL on a GPU (gpu::suite::F3_fails, commit 0123456789ab)' 0 "$run"
expect H8 'pass on a GPU (1 test, commit 0123456789ab)' 0 "$run"
expect H8 'no test yet' 0

older=$folder/last-run-11.md younger=$folder/last-run-13.md
expect F3 'FAIL on a GPU (gpu::suite::F3_fails, commit 0123456789ab)' 0 "$older" "$run"
expect F3 'FAIL on a GPU (gpu::suite::F3_fails, commit 0123456789ab)' 0 "$run" "$older"
expect F3 'pass on a GPU (1 test, commit ba9876543213)' 0 "$run" "$younger"
expect F3 'pass on a GPU (1 test, commit ba9876543213)' 0 "$younger" "$run"
# Each is told at the commit of its own page.
expect A5 'pass on a GPU (1 test, commit ba9876543213; 1 test, commit 0123456789ab)' 0 "$younger" "$run"
expect A5 'pass on a GPU (1 test, commit ba9876543213; 1 test, commit 0123456789ab)' 0 "$run" "$younger"

# A row for two GPUs alone is shown by a suite on two, and none by what passed on another driver of that machine.
cat >"$folder/last-run-two.md" <<'TXT'
| date | 2026-01-02T12:30Z |
| commit | ba9876543212 |
```results
pass gpu_one::suite::A7_works
pass gpu_one_nvidia::suite::A6_works
```
TXT
two=$folder/last-run-two.md
expect A7 'out of reach here: needs two GPUs' 0 "$two"
expect A6 'out of reach here: needs a GPU, 1 test without' 0 "$two"
sed -i 's/^pass gpu_one::/pass gpu_one_together::/' "$two"
expect A7 'pass on a GPU (1 test, commit ba9876543212)' 0 "$two"

# Younger still: one suite was killed, and one did not run for lack of time. What they had shown before was at its own commit.
cat >"$folder/last-run-14.md" <<'TXT'
| date | 2026-01-02T14:00Z |
| commit | ba9876543214 with changes |
| suite | result | passed | failed | skipped | seconds | remark |
| gpu | FAILED | 0 | 1 | 0 | 60 | ended after 60 s suite::A5_works |
| gpu_late | not run | 0 | 0 | 0 | 0 | no time left |
```results
fail gpu
pass other::suite::A5_there
pass other::suite::F3_too
```
TXT
killed=$folder/last-run-14.md
for pages in "$run $killed" "$killed $run"; do
	# shellcheck disable=SC2086 # a list of paths without spaces
	expect A5 'pass on a GPU (1 test, commit ba9876543214 with changes; 1 test, commit 0123456789ab)' 0 $pages
	# shellcheck disable=SC2086
	expect H8 'pass on a GPU (1 test, commit 0123456789ab)' 0 $pages
	# A failure too is the page's that has it, though a younger one has a pass of the same row.
	# shellcheck disable=SC2086
	expect F3 'FAIL on a GPU (gpu::suite::F3_fails, commit 0123456789ab)' 0 $pages
done
expect F3 'pass on a GPU (1 test, commit ba9876543214 with changes; 1 test, commit ba9876543213)' 0 "$younger" "$killed" "$run"

# What was committed is what run.sh writes.
for run in "$tests"/gpu/last-run*.md; do
	[ -e "$run" ] || continue
	if ! grep -q '^| commit | [0-9a-f]\{12\}' "$run" || ! grep -q '^```results$' "$run"; then
		echo "$run: not as run.sh writes it"
		bad=1
	fi
done
exit "$bad"
