#!/bin/sh
# read.sh FOLDER BUILD... lets Perfetto's own trace processor (README.md), kept in FOLDER, read the timelines that the tests in the builds make.
# A test runs in the first build that has it. Exit status 1: it refuses one, or it does not refuse what it must refuse. 77: it cannot run
# here; the reason is printed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$1
shift
"$here/processor.sh" "$folder"
command -v node >/dev/null || {
	echo "skipped: there is no node to run Perfetto's trace processor"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# keep TEST BUILD...: runs the test, so that it keeps its timelines in $work.
keep() {
	test=$1
	shift
	for build; do
		[ -x "$build/tests/$test" ] || continue
		SYCLD_TIMELINES=$work "$build/tests/$test" >"$work/said" 2>&1 </dev/null || {
			cat "$work/said"
			exit 1
		}
		return 0
	done
	return 1
}

for test in unit_cli_timeline processes_trace; do
	keep "$test" "$@" || {
		echo "no build has $test"
		exit 1
	}
done
for test in processes_cuda_traced processes_spill_trace; do
	keep "$test" "$@" || echo "not built: $test"
done
node "$here/read.js" "$folder/processor" "$work"/*.json

# A reader that takes everything shows nothing.
echo '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a"},{"ph":"X","pid":1,"tid":1,"ts":5,"dur":10,"name":"b"}]}' \
	>"$work/overlap.wrong"
echo '{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"a"' >"$work/end.wrong"
for wrong in "$work"/*.wrong; do
	! node "$here/read.js" "$folder/processor" "$wrong" || {
		echo "not refused: $(cat "$wrong")"
		exit 1
	}
done
