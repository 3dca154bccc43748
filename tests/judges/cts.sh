#!/bin/bash
# cts.sh BUILD OUT FOLDER [SUITE...]: OpenCL-CTS, both ways. FOLDER: a build of it, with test_conformance/SUITE/test_SUITE. Without SUITEs all
# that were built. Each test runs in a process of its own.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
folder=$(cd "${3:?BUILD OUT FOLDER}/test_conformance" 2>/dev/null && pwd) || judge_skip "$3 is no build of OpenCL-CTS"

# What a program lists in its help.
tests_of() {
	on plain "$1" --help 2>&1 </dev/null | awk '/^Test names:/ { in_list = 1; next } in_list && /^\t[A-Za-z0-9_]+$/ { print $1 }'
}

# one PROGRAM TEST: the device is the first of any type. A test that the device does not need to pass says that it was skipped.
one() {
	local said
	said=$("$1" "$2" CL_DEVICE_TYPE_ALL -w 2>&1) || {
		printf '%s\n' "$said"
		return 1
	}
	printf '%s\n' "$said"
	! printf '%s\n' "$said" | grep -qE "^($2 )?skipped|^$2 skipped" || return 77
}
export -f one

judge_begin cts "$1" "$2"
shift 3
if [ "$#" -eq 0 ]; then
	for program in "$folder"/*/test_*; do
		[ ! -x "$program" ] || [ -d "$program" ] || set -- "$@" "$(basename "$(dirname "$program")")"
	done
fi
for suite in "$@"; do
	program=$(find "$folder/$suite" -maxdepth 1 -name 'test_*' -type f -perm -u+x | head -n 1)
	for test in $(tests_of "$program"); do
		# shellcheck disable=SC2016  # the inner shell's
		judge_both "$suite/$test" bash -c 'one "$1" "$2"' one "$program" "$test"
	done
done
judge_end
