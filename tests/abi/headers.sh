#!/bin/sh
# headers.sh INCLUDE-FOLDER FOLDER-OF-MADE-HEADERS [FOLDER-OF-CUDA'S] compiles each public header alone, and twice, as strict C99 and as
# C++17. Without the last folder, cuda.h is left out.
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

# Uses the short forms of a launch, which are macros, in a program of both languages.
# shellcheck disable=SC2016  # no variables
launches='#include <syclclient/launch.h>
#include <syclclient/usm.h>
sycl_result launches(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer, void *pointer);
sycl_result launches(sycl_queue queue, sycl_kernel kernel, sycl_buffer buffer, void *pointer)
{
	float a = 2;
	sycl_event done = NULL;
	sycl_range range = sycl_range1(64), local = sycl_range1(8);
	sycl_result result = SYCL_LAUNCH(queue, kernel, range, &done, SYCL_READ(buffer), SYCL_WRITE(buffer));
	if (!result)
		result = SYCL_LAUNCH(queue, kernel, range, NULL, SYCL_READ_WRITE(buffer), SYCL_VALUE(a), sycl_launch_usm(pointer));
	if (!result)
		result = SYCL_LAUNCH_ND(queue, kernel, range, local, NULL, sycl_launch_local(64));
	return result;
}'
# shellcheck disable=SC2086
printf '%s\n' "$launches" | gcc -std=c99 -pedantic-errors $warnings -Wstrict-prototypes "-I$include" "-I$made" -x c - || failed=1
# shellcheck disable=SC2086
printf '%s\n' "$launches" | g++ -std=c++17 -pedantic-errors $warnings -Wold-style-cast "-I$include" "-I$made" -x c++ - || failed=1
echo "$tried headers"
[ "$tried" -ge 5 ] && [ "$failed" -eq 0 ]
