#!/usr/bin/env bash
# Checks again.sh on a folder of tests that fail the first time. A test that passes the second time is reported as flaky. One that fails
# again, or crashed, is not.
set -u
support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
bad=0

complain() {
	printf '%s\n' "$*"
	bad=1
}

# program NAME LINES: makes a test program whose second run passes. The first run prints LINES.
program() {
	{
		printf '#!/bin/sh\nif [ -e %s/seen-%s ]; then\n' "$folder" "$1"
		printf 'echo "ok - a::one" >%s/tests/%s.tap\nexit 0\nfi\n' "$folder" "$1"
		printf 'touch %s/seen-%s\n%s\nexit 1\n' "$folder" "$1" "$2"
	} >"$folder/$1"
	chmod +x "$folder/$1"
	printf 'add_test(%s "%s/%s")\n' "$1" "$folder" "$1" >>"$folder/CTestTestfile.cmake"
}

# run STATUS: does both runs and checks what again.sh prints.
run() {
	local status=0
	ctest --test-dir "$folder" --output-on-failure --output-junit "$folder/junit.xml" >"$folder/ctest.log" 2>&1
	"$support/again.sh" "$folder" || status=$?
	[ "$status" -eq "$1" ] || complain "again.sh left with $status, not $1"
}

mkdir -p "$folder/tests"
program single "printf 'ok - a::one\nnot ok - a::C4_two\nnot ok - b::three\n' >$folder/tests/single.tap"
program whole 'echo no tests of its own'
printf 'add_test(good true)\n' >>"$folder/CTestTestfile.cmake"
run 0
[ "$(LC_ALL=C sort "$folder/flaky" | tr '\n' ' ')" = 'single::a::C4_two single::b::three whole ' ] || complain "flaky has: $(cat "$folder/flaky")"

# The next run removes it from the list, even if the test fails again.
printf 'add_test(never false)\n' >>"$folder/CTestTestfile.cmake"
run 1
[ ! -e "$folder/flaky" ] || complain "what fails again is no reason to tell: $(cat "$folder/flaky")"

# A crash is not run again.
rm -f "$folder"/seen-* "$folder/CTestTestfile.cmake"
program crash 'echo "Tested: 3 | Passing: 2 | Failing: 1 | Crashing: 1 "'
run 1
[ ! -e "$folder/flaky" ] || complain "a crash is reported as flaky"
[ "$bad" -eq 0 ] && echo 'tests that pass only in a second run are reported'
