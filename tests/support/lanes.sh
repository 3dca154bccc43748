# shellcheck shell=bash
# Finds what the lanes of check.sh build, whether a test is in none of them, and what was done before them. ../lanes.cmake defines which
# test runs where. Sourced by check.sh.

# registered_tests FOLDER: prints "TEST PROGRAM LABEL;LABEL..." for each test of a configured build, from the files that CMake has written
# for ctest.
registered_tests() {
	find "$1/tests" -name CTestTestfile.cmake -exec cat {} + 2>/dev/null | awk '
		/^add_test\(/ {
			split($0, part, "\"")
			name = test($0)
			program[name] = part[2]
		}
		/^set_tests_properties\(/ && match($0, / LABELS "[^"]*"/) {
			labels[test($0)] = substr($0, RSTART + 9, RLENGTH - 10)
		}
		function test(line) {
			sub(/^[a-z_]*\((\[=\[)?/, "", line)
			sub(/[] ].*/, "", line)
			return line
		}
		END {
			for (name in program)
				print name, program[name], labels[name] == "" ? "-" : labels[name]
		}'
}

# lane_targets FOLDER LABEL: prints the programs of the tests with this label in a configured build; LABEL|LABEL are several. Except for
# races, which link all that they need, it adds the product and what tests share. With `plain` it adds programs that no test starts, and
# those that a test's script starts.
lane_targets() {
	[ "$2" = race ] || printf '%s\n' proto/all shared/all daemon/all client/all systemd/all tests/support/all
	[ "$2" != plain ] || printf '%s\n' tests/bench/all tests/gpu/all tests/slurm/all
	registered_tests "$1" | awk -v label="$2" -v folder="$1/" \
		'index($2, folder) == 1 && (";" $3 ";") ~ (";(" label ");") { sub(/.*\//, "", $2); print $2 }' | sort -u
}

# every_test_ran FOLDER...: fails and names the tests of these builds without a result of their last runs.
every_test_ran() {
	local folder missing
	missing=$(for folder; do registered_tests "$folder"; done | cut -d ' ' -f 1 | sort -u |
		comm -23 - <(for folder; do
			[ ! -e "$folder/junit.xml" ] || sed -n 's/.*<testcase name="\([^"]*\)".*/\1/p' "$folder/junit.xml"
		done | sort -u))
	[ -n "$missing" ] || return 0
	printf 'These tests are in no lane (tests/lanes.cmake):\n%s\n' "$missing"
	return 1
}

# each_once LIST BATCH COMMAND...: runs COMMAND with lines of the input as its last words. It takes BATCH lines at once and runs several
# commands at a time. Lines in the file LIST are left out, and those whose command succeeds are added to it. So a lane that was run before
# repeats only what failed.
each_once() {
	local list=$1 batch=$2
	shift 2
	touch "$list" || return 1
	# shellcheck disable=SC2016  # the inner shell's own
	grep -vxFf "$list" | xargs -r -d '\n' -n "$batch" -P "${jobs:-1}" \
		sh -c 'list=$1 words=$2; shift 2; "$@" && { shift "$words"; printf "%s\n" "$@" >>"$list"; }' sh "$list" "$#" "$@"
}
