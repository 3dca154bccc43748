#!/bin/sh
# Checks rows.awk with invented rows and results: rows_gpu.sh TESTS-FOLDER
set -u
tests=$(cd "$1" && pwd) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
bad=0

cat >"$folder/rows.txt" <<'TXT'
A1 | 001 | C | on the processor
A5 | 000 | G | passed on a GPU
A6 | 000 | G | passed without one only
A7 | 000 | 2G | nothing at all
A9 | 000 | G | no test has its id
F3 | 000 | G | failed on a GPU
H8 | design | N/G | passed on a GPU, which it does not need
TXT
cat >"$folder/results" <<'TXT'
pass unit::suite::A1_works
pass unit::suite::A6_works
TXT
cat >"$folder/tests" <<'TXT'
A1 suite::A1_works
A5 suite::A5_works
A6 suite::A6_works
A7 suite::A7_works
F3 suite::F3_fails
H8 suite::H8_works
TXT
cut -d ' ' -f 2 "$folder/tests" >"$folder/sources"
printf '%s\n' 'aaaaaaaaaaaa 3' 'bbbbbbbbbbbb 0' 'cccccccccccc 1' 'dddddddddddd -' 'eeeeeeeeeeee ?' >"$folder/history"

# line SUITE TEST RESULT COMMIT HOUR: a line of a run at that hour.
line() {
	printf '%s\t%s\t%s\t%s\t2026-01-02T%s:00Z\t1 x GPU\t1.0\n' "$@"
}

# expect ID START GPUS [TABLE]: the row's state must begin with START. The text of the row follows
# it.
expect() {
	id=$1 start=$2 gpus=$3
	shift 3
	got=$(awk -v gpus="$gpus" -v document=/dev/null -v tests="$folder/tests" -v sources="$folder/sources" -v history="$folder/history" \
		-f "$tests/support/rows.awk" "$folder/rows.txt" "$folder/results" "$@" | sed -n "s/^$id  *//p")
	case $got in
	"$start"*) ;;
	*)
		echo "$id: '$got' instead of '$start'"
		bad=1
		;;
	esac
}

run=$folder/run.tsv
{
	line gpu suite::A5_works pass aaaaaaaaaaaa 12
	line gpu suite::F3_fails fail aaaaaaaaaaaa 12
	line gpu suite::H8_works pass aaaaaaaaaaaa 12
} >"$run"
expect A1 'pass (1 test)' 0 "$run"
expect A5 'pass on a GPU (1 test, commit aaaaaaaaaaaa, 3 commits old)' 0 "$run"
expect A5 'out of reach here: needs a GPU' 0
expect A6 'out of reach here: needs a GPU, 1 test without' 0 "$run"
expect A6 'pass (1 test)' 1
expect A7 'out of reach here: needs two GPUs' 0 "$run"
expect A9 'no test yet' 0 "$run"
expect F3 'FAIL on a GPU (gpu::suite::F3_fails, commit aaaaaaaaaaaa, 3 commits old)' 0 "$run"
expect H8 'pass on a GPU (1 test, commit aaaaaaaaaaaa, 3 commits old)' 0 "$run"
expect H8 'no result' 0

# The latest result of a test counts, in whichever order they come, and each is shown with its own
# commit. A skip is no result.
{
	line gpu suite::F3_fails pass bbbbbbbbbbbb 13
	cat "$run"
	line gpu suite::F3_fails pass cccccccccccc 11
	line gpu suite::A5_works skip bbbbbbbbbbbb 14
	line gpu_two suite::A5_works pass cccccccccccc 13
} >"$folder/younger.tsv"
expect F3 'pass on a GPU (1 test, commit bbbbbbbbbbbb, 0 commits old)' 0 "$folder/younger.tsv"
expect A5 'pass on a GPU (1 test, commit cccccccccccc, 1 commit old; 1 test, commit aaaaaaaaaaaa, 3 commits old)' 0 "$folder/younger.tsv"

# A suite on two GPUs shows a row for two GPUs. A pass on another driver of that machine shows none.
{
	line gpu_one suite::A7_works pass aaaaaaaaaaaa 12
	line gpu_one_nvidia suite::A6_works pass aaaaaaaaaaaa 12
} >"$folder/two.tsv"
expect A7 'out of reach here: needs two GPUs' 0 "$folder/two.tsv"
expect A6 'out of reach here: needs a GPU, 1 test without' 0 "$folder/two.tsv"
sed -i 's/^gpu_one	/gpu_one_together	/' "$folder/two.tsv"
expect A7 'pass on a GPU (1 test, commit aaaaaaaaaaaa, 3 commits old)' 0 "$folder/two.tsv"

# A result of a commit outside of the history counts neither as a pass nor as a failure, and is
# named. A missing history is reported.
{
	line gpu suite::A5_works pass dddddddddddd 12
	line gpu suite::H8_works pass 'eeeeeeeeeeee with changes' 12
	line gpu suite::A6_works fail dddddddddddd 12
} >"$folder/strange.tsv"
expect A5 'out of reach here: needs a GPU, 1 test passed on one at commit dddddddddddd, which is not in the history' 0 "$folder/strange.tsv"
expect A6 'out of reach here: needs a GPU, 1 test without' 0 "$folder/strange.tsv"
expect H8 'pass on a GPU (1 test, commit eeeeeeeeeeee with changes, there is no history here to say how old)' 0 "$folder/strange.tsv"

# A suite that did not end fails every row of its tests, also of those that had passed.
{
	cat "$run"
	line gpu - killed bbbbbbbbbbbb 14
	line gpu suite::A5_works killed bbbbbbbbbbbb 14
	line gpu suite::H8_works killed bbbbbbbbbbbb 14
} >"$folder/killed.tsv"
expect A5 'FAIL on a GPU (gpu was killed or failed as a whole, commit bbbbbbbbbbbb, 0 commits old)' 0 "$folder/killed.tsv"
expect H8 'FAIL on a GPU (gpu was killed or failed as a whole, commit bbbbbbbbbbbb, 0 commits old)' 0 "$folder/killed.tsv"

# A test that the row lists and that is in no source; one that has no result; one that passed only when run again.
grep -v A1_works "$folder/sources" >"$folder/fewer" && mv "$folder/fewer" "$folder/sources"
expect A1 'FAIL (suite::A1_works is listed and is gone)' 0 "$run"
echo suite::A1_works >>"$folder/sources"
echo 'A1 suite::A1_late' >>"$folder/tests"
echo suite::A1_late >>"$folder/sources"
expect A1 'pass (1 test, 1 of its 2 tests has no result)' 0 "$run"
echo 'flaky unit::suite::A1_late' >>"$folder/results"
expect A1 'flaky (unit::suite::A1_late passed only when run again)' 0 "$run"
echo 'fail unit::suite::A1_late' >>"$folder/results"
expect A1 'FAIL (unit::suite::A1_late)' 0 "$run"

# merge TABLE FOLDER...: makes one table of several. Lines that exist already stay.
merge() {
	awk -F '\t' -v history="$folder/history" -f "$tests/gpu/merge.awk" "$@"
}

# same WHAT: compares the input with the expected file.
same() {
	sort >"$folder/got"
	sort "$folder/wanted" | diff - "$folder/got" || {
		echo "merge: $1"
		bad=1
	}
}

{
	line gpu suite::F3_fails fail bbbbbbbbbbbb 13
	line gpu suite::H8_works skip bbbbbbbbbbbb 13
	line gpu - fail bbbbbbbbbbbb 13
} >"$folder/failed.tsv"
{
	line gpu - fail bbbbbbbbbbbb 13
	line gpu suite::F3_fails fail bbbbbbbbbbbb 13
	line gpu suite::H8_works pass aaaaaaaaaaaa 12
	line gpu suite::H8_works skip bbbbbbbbbbbb 13
} >"$folder/wanted"
merge "$run" "$folder/failed.tsv" | same 'a younger run of the suite replaces all but what it skipped'
merge "$run" "$folder/failed.tsv" >"$folder/once.tsv"
merge "$folder/once.tsv" "$folder/failed.tsv" "$run" | same 'once more changes nothing'
expect F3 'FAIL on a GPU (gpu::suite::F3_fails, commit bbbbbbbbbbbb, 0 commits old)' 0 "$folder/once.tsv"
{
	cat "$run"
	line gpu - killed bbbbbbbbbbbb 14
	line gpu suite::A5_works killed bbbbbbbbbbbb 14
	line gpu suite::H8_works killed bbbbbbbbbbbb 14
} >"$folder/wanted"
merge "$run" "$folder/killed.tsv" | same 'a killed suite stands beside what had passed'
{
	cat "$run"
	line gpu suite::A5_works pass dddddddddddd 15
} >"$folder/wanted"
line gpu suite::A5_works pass dddddddddddd 15 | merge "$run" - | same 'what is not in the history replaces nothing'

# The committed tables are those that report.sh writes.
if grep -vnE '^#' "$tests/gpu/results.tsv" |
	grep -vE "$(printf '^[0-9]+:[^\t]+\t(-|[a-z0-9_]+::[A-Za-z0-9_]+)\t(pass|fail|skip|killed)\t[0-9a-f]{12}( with changes)?\t20[0-9T:-]+Z\t[^\t]+\t[0-9.]+$')"; then
	echo "results.tsv: lines that report.sh does not write"
	bad=1
fi
if grep -vnE '^#' "$tests/gpu/figures.tsv" | awk -F '\t' 'NF != 13 { print; bad = 1 } END { exit !bad }'; then
	echo "figures.tsv: lines that report.sh does not write"
	bad=1
fi
exit "$bad"
