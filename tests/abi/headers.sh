#!/bin/sh
# Each public header compiles alone, and twice, as strict C99 and as C++17: headers.sh INCLUDE-FOLDER FOLDER-OF-MADE-HEADERS
set -u
include=$1
made=$2
failed=0
tried=0
for header in "$include"/*.h "$include"/syclclient/*.h "$made"/syclclient/*.h; do
	name=${header#"$include"/}
	name=${name#"$made"/}
	tried=$((tried + 1))
	source="#include <$name>
#include <$name>
extern int nothing;"
	warnings='-Wall -Wextra -Wconversion -Wshadow -Wundef -Werror -fsyntax-only'
	# shellcheck disable=SC2086  # a list of options
	printf '%s\n' "$source" | gcc -std=c99 -pedantic-errors $warnings -Wstrict-prototypes -I"$include" -I"$made" -x c - || failed=1
	# shellcheck disable=SC2086
	printf '%s\n' "$source" | g++ -std=c++17 -pedantic-errors $warnings -Wold-style-cast -I"$include" -I"$made" -x c++ - || failed=1
done
echo "$tried headers"
[ "$tried" -ge 5 ] && [ "$failed" -eq 0 ]
