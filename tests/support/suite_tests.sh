#!/bin/sh
# suite_tests.sh BUILD finds the tests of each suite in the sources. It prints "SUITE TEST" for each test of each program of ctest, and of
# other programs. TEST is suite::name, as Criterion prints it. Nothing is built or run, so a program that cannot be built has tests, too.
set -u
build=$1
programs=$build/tests/programs.txt
[ -s "$programs" ] || exit 0

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

cut -d ' ' -f 2- "$programs" | sort -u | "$(dirname "$0")/test_names.sh" >"$folder/tests"

# Prints "SUITE PROGRAM [FILTER]" for each program that ctest runs.
find "$build/tests" -name CTestTestfile.cmake -exec cat {} + |
	sed -nE 's/^add_test\(\[=\[([^]]*)\]=\] "([^"]*)"(.*)\)$/\1 \2 \3/p' |
	awk '{
		sub(/.*\//, "", $2)
		filter = ""
		for (i = 3; i <= NF; i++) {
			gsub(/"/, "", $i)
			if ($i ~ /^--filter=/)
				filter = substr($i, 10)
			else if ($i == "--filter") {
				filter = $(i + 1)
				gsub(/"/, "", filter)
			}
		}
		print $1, $2, filter
	}' >"$folder/suites"

awk -v tests="$folder/tests" -v suites="$folder/suites" '
	function fits(test, filter) {
		if (filter == "")
			return 1
		gsub(/\*/, ".*", filter)
		sub(/::/, "/", test)
		return test ~ ("^" filter "$")
	}
	function print_tests(suite, program, filter,    i) {
		for (i = 1; i <= count[program]; i++)
			if (fits(test[program, i], filter))
				print suite, test[program, i]
	}
	BEGIN {
		while ((getline line <tests) > 0) {
			split(line, part, " ")
			of[part[1]] = of[part[1]] " " part[2]
		}
	}
	{
		n = split(of[$2], names, " ")
		for (i = 1; i <= n; i++)
			test[$1, ++count[$1]] = names[i]
	}
	END {
		while ((getline line <suites) > 0) {
			split(line, part, " ")
			is_suite[part[1]] = 1
			print_tests(part[1], part[2], part[3])
		}
		for (program in count)
			if (!(program in is_suite))
				print_tests(program, program, "")
	}' "$programs" | sort
