#!/bin/sh
# layers_check.sh [COMPILER] checks that layers.sh finds each fault in a small project, each by
# itself.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
compiler=${1:-cc}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
project=$work/project
build=$work/build
lists=$project/tests/abi

# fresh: makes two rooms; the upper one uses the lower one.
fresh() {
	rm -rf "$project" "$build"
	mkdir -p "$lists" "$project/daemon/low" "$project/daemon/high"
	printf 'daemon/low: libc\ndaemon/high: daemon/low\ncircle daemon 1\n' >"$lists/layers.txt"
	: >"$lists/layers_exceptions.txt"
	printf 'void low(void);\n' >"$project/daemon/low/low.h"
	printf 'void high(void);\n' >"$project/daemon/high/high.h"
	printf '#include "low/low.h"\nvoid low(void) { }\n' >"$project/daemon/low/low.c"
	printf '#include "high/high.h"\n#include "low/low.h"\nvoid high(void) { low(); }\n' >"$project/daemon/high/high.c"
}

# put FILE LINE...
put() {
	file=$project/$1
	shift
	printf '%s\n' "$@" >"$file"
}

compile() {
	(cd "$project/daemon" && find . -name '*.c') | while read -r file; do
		object=$build/daemon/CMakeFiles/all.dir/$file.o
		mkdir -p "${object%/*}"
		"$compiler" -c -I"$project/daemon" -o "$object" "$project/daemon/$file" || exit 1
	done
}

# finds TEXT: a violation must be reported with this text.
finds() {
	compile
	if output=$("$here/layers.sh" "$project" "$build") || ! printf '%s\n' "$output" | grep -qF -e "$1"; then
		printf 'not found: %s\n%s\n' "$1" "$output"
		failed=1
	fi
}

# passes WHAT
passes() {
	compile
	output=$("$here/layers.sh" "$project" "$build") || {
		printf '%s is wrongly found:\n%s\n' "$1" "$output"
		failed=1
	}
}

fresh
passes 'an arrow down'

fresh
put daemon/low/low.c '#include "high/high.h"' 'void low(void);' 'void low(void) { }'
finds 'daemon/low/low.c:1: daemon/low may not include <high/high.h>'
printf 'daemon/low/low.c high/high.h\n' >"$lists/layers_exceptions.txt"
passes 'an exception'
fresh
printf 'daemon/low/low.c high/high.h\n' >"$lists/layers_exceptions.txt"
finds 'occurs no more: daemon/low/low.c high/high.h'

fresh
put daemon/low/other.c 'void high(void);' 'void other(void);' 'void other(void) { high(); }'
finds 'daemon/low/other.c: daemon/low may not use high() of daemon/high/high.c'
"$here/layers.sh" --write-exceptions "$project" "$build" >"$work/written"
passes 'a written exception'
put daemon/low/other.c 'void other(void);' 'void other(void) { }'
finds 'occurs no more: daemon/low/other.c high'

fresh
put daemon/high/other.c 'void high(void);' 'void other(void);' 'void other(void) { high(); }'
put daemon/high/high.c 'void other(void);' 'void high(void);' 'void high(void) { other(); }'
finds 'too large: daemon/high/'
sed -i 's/^circle.*/circle daemon 5/' "$lists/layers.txt"
passes 'a circle of two where five are allowed'
"$here/layers.sh" --write-exceptions "$project" "$build" >"$work/written"
grep -qx 'circle daemon 2' "$lists/layers.txt" || {
	printf 'the limit of circles was not lowered\n'
	failed=1
}

fresh
put daemon/low/low.c '#include <uv.h>' 'void low(void) { }'
"$here/layers.sh" "$project" >"$work/written" && failed=1
grep -qF 'daemon/low may not include <uv.h> (libuv)' "$work/written" || failed=1

fresh
mkdir "$project/daemon/new"
put daemon/new/new.h 'void new(void);'
finds 'daemon/new/new.h: its folder has no rule in layers.txt'
fresh
printf 'daemon/gone: libc\n' >>"$lists/layers.txt"
finds 'layers.txt: no file is in daemon/gone'
exit "$failed"
