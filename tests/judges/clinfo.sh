#!/bin/bash
# clinfo.sh BUILD OUT: Debian's clinfo, both ways: the list, the whole answer, and the answer for programs. A query that fails is a failure.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
command -v clinfo >/dev/null || judge_skip "clinfo is not installed"

# shows OPTION...: clinfo shows a device, and no query of it has failed.
shows() {
	local text
	text=$(clinfo "$@") || return 1
	printf '%s\n' "$text"
	! printf '%s\n' "$text" | grep -E '<[A-Za-z]*: error|CL_INVALID_|error -[0-9]' && printf '%s\n' "$text" | grep -qi device
}
export -f shows

judge_begin clinfo "$1" "$2"
judge_both list bash -c 'shows -l'
judge_both whole bash -c 'shows -a'
judge_both raw bash -c 'shows --raw'
judge_end
