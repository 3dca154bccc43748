#!/usr/bin/env bash
# text_check.sh checks that text.sh finds each fault that it looks for, each by itself.
# shellcheck disable=SC2317,SC2016  # functions called by name, backquotes in messages
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
jobs=2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/support/text.sh
. "$here/text.sh"
failed=0

# finds WHAT COMMAND...: the command must fail, and its output must contain WHAT.
finds() {
	local what=$1 output
	shift
	if output=$("$@") || ! grep -qF -e "$what" <<<"$output"; then
		printf 'not found: %s\n%s\n' "$what" "$output"
		failed=1
	fi
}

passes() {
	local output
	output=$("$@") || {
		printf 'wrongly found by %s:\n%s\n' "$*" "$output"
		failed=1
	}
}

subject() {
	printf 'abc123 %s\n' "$1" | bad_subjects
}

passes subject 'tests/abi: check the layers of every folder'
passes subject 'README, docs/api.md: bring the list up to date'
finds 'not `component: imperative`' subject 'Check the layers'
finds 'not `component: imperative`' subject 'tests: Check the layers'
finds 'not an imperative: added' subject 'tests: added a check'
finds 'not an imperative: checking' subject 'tests: checking layers'
finds 'a full stop' subject 'tests: check the layers.'
finds '73 characters' subject "tests: check $(printf '%060d' 0)"

# ids TEXT: checks the text in a header.
ids() {
	printf '%s\n' "$1" >"$work/header.h"
	(cd "$top" && requirement_ids "$work")
}
passes ids '/* In C11, C17 and C99, on an H100. */'
finds '(B22)' ids '/* Zero sizes run nothing (B22). */'
finds 'A1, A2' ids '/* See A1, A2. */'
finds '(C11)' ids '/* Memory orders (C11). */'

# names FUNCTION...: checks sources that have these static functions, one in each.
names() {
	local number=0 name
	mkdir -p "$work/names" && rm -f "$work/names"/*.c
	for name in "$@"; do
		number=$((number + 1))
		printf 'static int *%s(void)\n{\n}\n' "$name" >"$work/names/$number.c"
	done
	repeated_names "$work/names" 1
}
passes names one other
finds 'one:' names one other one

# format TEXT: checks the text as a source in a folder with the project's rules.
format() {
	cp "$top/.clang-format" "$work/" && printf '%s\n' "$1" >"$work/source.c"
	(cd "$work" && rm -f header.h && formatting)
}
if command -v clang-format >/dev/null; then
	passes format 'int one;'
	finds 'source.c:1' format 'int  one;'
fi
exit "$failed"
