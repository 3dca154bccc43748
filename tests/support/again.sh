#!/usr/bin/env bash
# again.sh FOLDER: what failed in this build's last run, once more and alone: 0 where all of it passes then. A crash, a hang and what a
# sanitizer reports are failures at once. What passes so is flaky: FOLDER/flaky names it, PROGRAM::SUITE::TEST, or PROGRAM where that is all
# there is to say.
set -u
folder=$1
support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
rm -f "$folder/flaky"
if grep -qE 'Sanitizer|runtime error:|Crashing: [1-9]|\*\*\*(Timeout|Exception|Not Run)|Subprocess (aborted|killed)' "$folder/ctest.log"; then
	exit 1
fi
# Before the second run writes over what the first one said. JUnit's word on a program is no more than what its own tests say.
files=()
for file in "$folder"/tests/*.tap "$folder/junit.xml"; do
	[ -e "$file" ] && files+=("$file")
done
failed=$(awk -v suites=1 -f "$support/results.awk" "${files[@]}" |
	awk '$1 == "fail" { name[++n] = $2; if (split($2, part, "::") > 1) single[part[1]] = 1 }
		END { for (i = 1; i <= n; i++) if (!(name[i] in single)) print name[i] }')
ctest --test-dir "$folder" --rerun-failed -j 1 --output-on-failure --no-tests=error >"$folder/again.log" 2>&1 </dev/null || exit 1
printf '%s\n' "$failed" >"$folder/flaky"
