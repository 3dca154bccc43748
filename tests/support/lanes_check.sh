#!/usr/bin/env bash
# Checks lanes.sh on two small builds. It must find the programs of a lane, and a test that no lane has run. What was done before is not
# repeated.
set -u
# shellcheck source=tests/support/lanes.sh
. "$(dirname "${BASH_SOURCE[0]}")/lanes.sh"
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
bad=0

# test_of BUILD NAME PROGRAM LABELS: registers a test as CMake does.
test_of() {
	mkdir -p "$folder/$1/tests/part"
	printf 'add_test([=[%s]=] "%s" "--jobs=2" "--tap=%s")\n' "$2" "$3" "$2.tap" >>"$folder/$1/tests/part/CTestTestfile.cmake"
	printf 'set_tests_properties([=[%s]=] PROPERTIES  ENVIRONMENT "A=b;C=d" LABELS "%s" TIMEOUT "60")\n' "$2" "$4" >>"$folder/$1/tests/part/CTestTestfile.cmake"
}

# ran BUILD NAME...: writes the results of a last run.
ran() {
	local build=$1
	shift
	printf '\t<testcase name="%s" classname="a" time="1" status="run">\n' "$@" >"$folder/$build/junit.xml"
}

# equal WHAT FOUND WANTED
equal() {
	[ "$2" = "$3" ] && return
	printf '%s: found "%s", wanted "%s"\n' "$1" "$2" "$3"
	bad=1
}

test_of one first "$folder/one/tests/first" 'unit;plain'
test_of one first_again "$folder/one/tests/first" 'unit;again;plain'
test_of one script /bin/true 'abi;plain'
test_of one second "$folder/one/tests/second" 'unit;address;plainer'
test_of two second "$folder/two/tests/second" 'unit;address'
test_of two third "$folder/two/tests/third" 'race'
equal 'programs of plain' "$(lane_targets "$folder/one" plain | grep -v /all | tr '\n' ' ')" 'first '
equal 'programs of address' "$(lane_targets "$folder/two" address | grep -v /all | tr '\n' ' ')" 'second '
equal 'programs of two labels' "$(lane_targets "$folder/one" 'plain|address' | grep -v /all | tr '\n' ' ')" 'first second '
equal 'targets of races' "$(lane_targets "$folder/two" race | tr '\n' ' ')" 'third '

ran one first first_again script
ran two second third
equal 'all have run' "$(every_test_ran "$folder/one" "$folder/two"; echo $?)" 0
ran two second
equal 'one has not' "$(every_test_ran "$folder/one" "$folder/two" | tail -n 1)" third
every_test_ran "$folder/one" "$folder/two" >"$folder/said" && equal 'its status' 0 1
rm "$folder/two/junit.xml"
equal 'a lane has not' "$(every_test_ran "$folder/one" "$folder/two" | tail -n 2 | tr '\n' ' ')" 'second third '

# Lines that were done before are left out, unless they failed.
printf '%s\n' a 'b c' e >"$folder/lines"
fails_for() {
	# shellcheck disable=SC2016  # the inner shell's own
	each_once "$folder/clean" 1 sh -c 'echo "$1" >>'"$folder/done"'; [ "$1" != "$0" ]' "$1" <"$folder/lines"
}
fails_for 'b c' && equal 'the status of what fails' 0 1
equal 'what was done' "$(sort "$folder/done" | tr '\n' '|')" 'a|b c|e|'
rm "$folder/done"
fails_for 'b c' && equal 'its status, once more' 0 1
equal 'what is done again' "$(cat "$folder/done")" 'b c'
equal 'a line that failed before succeeds' "$(fails_for nothing; echo $?)" 0
rm "$folder/done"
equal 'nothing is left' "$(fails_for nothing; echo $?; cat "$folder/done" 2>/dev/null)" 0

# If one of several lines fails, all lines of its command are done again.
fails_for_two() {
	# shellcheck disable=SC2016  # the inner shell's own
	jobs=1 each_once "$folder/twos" 2 sh -c 'echo "$@" >>'"$folder/done"'; [ "$1" != "$0" ]' "$1" <"$folder/lines"
}
fails_for_two a && equal 'the status of two' 0 1
equal 'what was done by twos' "$(tr '\n' '|' <"$folder/done")" 'a b c|e|'
rm "$folder/done"
equal 'lines that failed before succeed' "$(fails_for_two nothing; echo $?)" 0
equal 'what is done again by twos' "$(cat "$folder/done")" 'a b c'
exit "$bad"
