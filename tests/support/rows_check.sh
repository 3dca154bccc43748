#!/bin/sh
# Usage: rows_check.sh TESTS-FOLDER [--write]. It checks rows.txt. Every id in a test's name must be one of its rows, and row_tests.txt must
# list the tests of each row as the sources have them. With --write it makes that list first, so a removed test shows as a change of the
# list.
set -u
write=no
if [ "${1-}" = --write ]; then
	write=yes
	shift
fi
tests=$1
rows=$tests/conformance/rows.txt list=$tests/conformance/row_tests.txt
bad=0
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

say() {
	echo "$1"
	bad=1
}

count=$(grep -cE '^[A-NR][0-9]+ \| [0-9a-z,]+ \| (doc|[NCPG2+/]+) \| .+' "$rows")
lines=$(grep -cE '^[^#]' "$rows")
unique=$(sed -n 's/^\([A-NR][0-9]*\) |.*/\1/p' "$rows" | sort -u | wc -l)
[ "$count $lines $unique" = '278 278 278' ] ||
	say "rows.txt: $lines lines, $count well-formed, $unique different ids; it should be 278 of each"

# Prints "ROW TEST", also for rows that are not in rows.txt. S1 to S17 are no rows: they define how a row is read where the specification
# contradicts itself.
find "$tests" -name '*.c' | "$(dirname "$0")/test_names.sh" | cut -d ' ' -f 2 | awk '{
	n = split($0, word, /_|::/)
	for (i = 1; i <= n; i++)
		if (word[i] ~ /^[A-Z][0-9]+$/ && word[i] !~ /^S([1-9]|1[0-7])$/ && !seen[word[i], $0]++)
			print word[i], $0
}' | LC_ALL=C sort -k 1.1,1.1 -k 1.2n,1 -k 2 >"$folder/carried"
cut -d ' ' -f 1 "$folder/carried" | sort -u >"$folder/ids"
while read -r id; do
	grep -q "^$id |" "$rows" || say "a test's name carries $id, which rows.txt does not have"
done <"$folder/ids"
[ -s "$folder/carried" ] || say "no test's name carries a row"

[ "$write" = no ] || cp "$folder/carried" "$list" || exit 1
sort "$folder/carried" >"$folder/there"
sort "$list" >"$folder/listed" || bad=1
for line in $(comm -13 "$folder/there" "$folder/listed" | tr ' ' ,); do
	say "row ${line%%,*} lists ${line#*,}, which no source has: was a test lost?"
done
for line in $(comm -23 "$folder/there" "$folder/listed" | tr ' ' ,); do
	say "row ${line%%,*} does not list ${line#*,}"
done
[ "$bad" -eq 0 ] || echo "if the sources are right: tests/support/rows_check.sh --write tests"
echo "$(wc -l <"$folder/ids") rows are carried by tests"
exit "$bad"
