#!/bin/sh
# The program in the README is the example that the build compiles and a test runs: readme.sh PROJECT-FOLDER
set -u
cd "$1" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
awk '/^```c$/ { code = 1; next } /^```$/ { code = 0 } code' README.md >"$work/program.c"
[ -s "$work/program.c" ] && diff -u client/examples/saxpy.c "$work/program.c"
