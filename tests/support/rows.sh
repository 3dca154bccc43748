#!/bin/sh
# rows.sh FOLDER GPUS prints the table of requirement rows (rows.awk). FOLDER is the project's; the results are those of its build folders'
# last runs.
set -u
top=$1 gpus=$2
support=$(cd "$(dirname "$0")" && pwd) || exit 1
logs=$top/build/logs
mkdir -p "$logs" || exit 1

# results_of BUILD: prints "RESULT NAME" for each test. If a program failed and none of its tests did, it was killed or failed as a whole:
# all its tests failed. A test that passed when run again is no pass. BUILD/flaky has it by program, or as PROGRAM::SUITE::TEST.
results_of() {
	set -- "$1" "$1"/tests/*.tap "$1/junit.xml"
	build=$1
	shift
	for file; do
		shift
		[ ! -e "$file" ] || set -- "$@" "$file"
	done
	[ $# -gt 0 ] || return 0
	awk -v suites=1 -f "$support/results.awk" "$@" >"$logs/results.build"
	"$support/suite_tests.sh" "$build" >"$logs/suite-tests"
	again=$build/flaky
	[ -e "$again" ] || again=/dev/null
	awk -v has="$logs/suite-tests" -v again="$again" '
		function all_of(suite, result,    i) {
			for (i = 1; i <= count[suite]; i++)
				print result, suite "::" test[suite, i]
		}
		BEGIN {
			while ((getline line <has) > 0) {
				split(line, part, " ")
				test[part[1], ++count[part[1]]] = part[2]
			}
			while ((getline line <again) > 0) {
				suite = line
				sub(/::.*/, "", suite)
				is_flaky[suite] = 1
				if (suite == line && suite in count)
					all_of(suite, "flaky")
				else if (line != "")
					print "flaky", line
			}
		}
		{ print }
		$1 == "fail" {
			suite = $2
			sub(/::.*/, "", suite)
			if (suite == $2)
				failed[suite] = 1
			else
				by_test[suite] = 1
		}
		END {
			for (suite in failed)
				if (!(suite in by_test) && !(suite in is_flaky))
					all_of(suite, "killed")
		}' "$logs/results.build"
}

for build in "$top/build" "$top"/build/check-*; do
	[ ! -d "$build" ] || results_of "$build"
done >"$logs/results"
if [ ! -s "$logs/results" ]; then
	echo 'no results yet: run ./check.sh first' >&2
	exit 1
fi
# Prints the commit of the results if it is not the last one.
last=$(git -C "$top" rev-parse --short=12 HEAD 2>/dev/null)
for build in "$top/build" "$top"/build/check-*; do
	[ -e "$build/tests.commit" ] || continue
	commit=$(cat "$build/tests.commit")
	[ "$commit" = "$last" ] || printf '%s: results of commit %s\n' "${build#"$top"/}" \
		"$(echo "$commit" | "$support/history.sh" "$top" | sed 's/ -$/, not in the history/; s/ ?$//; s/ \([0-9]*\)$/, \1 commits old/')"
done
find "$top/tests" -name '*.c' | "$support/test_names.sh" | cut -d ' ' -f 2 >"$logs/test-names"
grep -v '^#' "$top/tests/gpu/results.tsv" | cut -f 4 | "$support/history.sh" "$top" >"$logs/history"
awk -v gpus="$gpus" -v document="$top/include/README.md" -v tests="$top/tests/conformance/row_tests.txt" -v sources="$logs/test-names" \
	-v history="$logs/history" -f "$support/rows.awk" "$top/tests/conformance/rows.txt" "$logs/results" "$top/tests/gpu/results.tsv"
