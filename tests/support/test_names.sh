#!/bin/sh
# test_names.sh finds the tests of sources without building them. It reads paths, one a line, and prints "PATH SUITE::TEST" for each test. A
# test's head may take more than one line.
# shellcheck disable=SC2016  # the fields are awk's
tr '\n' '\0' | xargs -0 -r awk '
	FNR == 1 { head = "" }
	/^(Parameterized)?Test\(/ { head = "" ; inside = 1 }
	inside {
		head = head " " $0
		fields = split(head, part, /[(),]/)
		first = part[1] ~ /Parameterized/ ? 3 : 2
		if (fields < first + 2 && head !~ /\)/)
			next
		gsub(/[ \t]/, "", part[first])
		gsub(/[ \t]/, "", part[first + 1])
		if (part[first] ~ /^[A-Za-z0-9_]+$/ && part[first + 1] ~ /^[A-Za-z0-9_]+$/)
			print FILENAME " " part[first] "::" part[first + 1]
		inside = 0
	}'
