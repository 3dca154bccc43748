#!/bin/sh
# read.sh BUILD READER lets Perfetto's own importer (README.md) read the timelines that the tests in BUILD make. Exit status 1: it refuses one.
set -eu
build=$1 reader=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for test in unit_cli_timeline processes_trace processes_cuda_traced; do
	[ ! -x "$build/tests/$test" ] || SYCLD_TIMELINES=$work "$build/tests/$test" >"$work/said" 2>&1 </dev/null || {
		cat "$work/said" >&2
		exit 1
	}
done
count=0
for file in "$work"/*.json; do
	[ -e "$file" ] || break
	said=$("$reader" "$file" 2>&1) || {
		echo "refused: $(basename "$file"): $said" >&2
		exit 1
	}
	echo "$(basename "$file"): $said"
	count=$((count + 1))
done
[ "$count" -gt 0 ] || {
	echo "the tests have kept no timeline" >&2
	exit 1
}
echo "$count timelines, without an error"
