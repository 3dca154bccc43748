#!/bin/sh
# options.sh PAGE PROGRAM [HELP-WORD] compares the options in a program's help with those in its manual page, in both directions.
set -u
page=$1
program=$2
help=${3:---help}
[ -s "$page" ] || { echo "$page is missing"; exit 1; }
lists=$(mktemp -d) || exit 1
trap 'rm -rf "$lists"' EXIT
"$program" "$help" >"$lists/help" || exit 1
grep -oE -e '--[a-z][a-z-]+' "$lists/help" | LC_ALL=C sort -u >"$lists/said"
# In roff a hyphen has a backslash. An option of the page is the first word of its entry, or follows another option.
sed 's/\\f[BIR]//g; s/\\//g' "$page" | sed -n '/^.SH OPTIONS/,/^.SH [^O]/p' | grep -E '^-' | grep -oE -e '--[a-z][a-z-]+' | LC_ALL=C sort -u >"$lists/written"
LC_ALL=C comm -23 "$lists/said" "$lists/written" | sed 's/$/: in the help, not in the page/' >"$lists/wrong"
LC_ALL=C comm -13 "$lists/said" "$lists/written" | sed 's/$/: in the page, not in the help/' >>"$lists/wrong"
cat "$lists/wrong"
echo "$(wc -l <"$lists/said") options"
[ -s "$lists/said" ] && [ ! -s "$lists/wrong" ]
