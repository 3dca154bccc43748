#!/bin/sh
# Each public header compiles alone, and twice, as strict C99 and as C++17:
# headers.sh INCLUDE-FOLDER FOLDER-OF-MADE-HEADERS [FOLDER-OF-CUDA'S]. Without the last, cuda.h is left out.
set -u
include=$1
made=$2
cuda=${3:-}
failed=0
tried=0
for header in "$include"/*.h "$include"/syclclient/*.h "$made"/syclclient/*.h; do
	name=${header#"$include"/}
	name=${name#"$made"/}
	folders="-I$include -I$made"
	if [ "$name" = syclclient/cuda.h ]; then
		[ -n "$cuda" ] || continue
		folders="$folders -isystem $cuda"
	fi
	tried=$((tried + 1))
	source="#include <$name>
#include <$name>
extern int nothing;"
	warnings='-Wall -Wextra -Wconversion -Wshadow -Wundef -Werror -fsyntax-only'
	# shellcheck disable=SC2086  # a list of options
	printf '%s\n' "$source" | gcc -std=c99 -pedantic-errors $warnings -Wstrict-prototypes $folders -x c - || failed=1
	# shellcheck disable=SC2086
	printf '%s\n' "$source" | g++ -std=c++17 -pedantic-errors $warnings -Wold-style-cast $folders -x c++ - || failed=1
done
echo "$tried headers"
[ "$tried" -ge 5 ] && [ "$failed" -eq 0 ]
