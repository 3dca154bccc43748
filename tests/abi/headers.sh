#!/bin/sh
# Each public header compiles alone, and twice, as strict C99 and as C++17: headers.sh INCLUDE-FOLDER
set -u
include=$1
failed=0
tried=0
for header in "$include"/*.h "$include"/syclclient/*.h; do
	name=${header#"$include"/}
	tried=$((tried + 1))
	source="#include <$name>
#include <$name>
extern int nothing;"
	warnings='-Wall -Wextra -Wconversion -Wshadow -Wundef -Werror -fsyntax-only'
	# shellcheck disable=SC2086  # a list of options
	printf '%s\n' "$source" | gcc -std=c99 -pedantic-errors $warnings -Wstrict-prototypes -I"$include" -x c - || failed=1
	# shellcheck disable=SC2086
	printf '%s\n' "$source" | g++ -std=c++17 -pedantic-errors $warnings -Wold-style-cast -I"$include" -x c++ - || failed=1
done
echo "$tried headers"
[ "$tried" -ge 5 ] && [ "$failed" -eq 0 ]
