#!/bin/sh
# The tests of sources, without building them: test_names.sh reads paths, one a line, and prints "PATH SUITE::TEST" for each test.
tr '\n' '\0' | xargs -0 -r grep -HsoE '^(Parameterized)?Test\([^)]*' |
	sed -nE -e 's/^([^:]*):Test\( *(\w+) *, *(\w+).*/\1 \2::\3/p' \
		-e 's/^([^:]*):ParameterizedTest\([^,]*, *(\w+) *, *(\w+).*/\1 \2::\3/p'
