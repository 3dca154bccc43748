#!/usr/bin/env bash
# again.sh FOLDER runs what failed in this build's last run once more, alone. It returns 0 if all of it passes then. A crash, a hang and a
# report of a sanitizer are failures at once. A test that passes in the second run is flaky. FOLDER/flaky lists it as PROGRAM::SUITE::TEST,
# or as PROGRAM if no test is named.
set -u
folder=$1
support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
rm -f "$folder/flaky"
if grep -qE 'Sanitizer|runtime error:|Crashing: [1-9]|\*\*\*(Timeout|Exception|Not Run)|Subprocess (aborted|killed)' "$folder/ctest.log"; then
	exit 1
fi
# This reads the results of the first run before the second one overwrites them. What JUnit reports of a Criterion program only repeats the
# results of its tests.
files=()
for file in "$folder"/tests/*.tap "$folder/junit.xml"; do
	[ -e "$file" ] && files+=("$file")
done
failed=$(awk -v suites=1 -f "$support/results.awk" "${files[@]}" |
	awk '$1 == "fail" { name[++n] = $2; if (split($2, part, "::") > 1) single[part[1]] = 1 }
		END { for (i = 1; i <= n; i++) if (!(name[i] in single)) print name[i] }')
ctest --test-dir "$folder" --rerun-failed -j 1 --output-on-failure --no-tests=error >"$folder/again.log" 2>&1 </dev/null || exit 1
printf '%s\n' "$failed" >"$folder/flaky"
