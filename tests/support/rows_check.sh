#!/bin/sh
# rows.txt is sound, and every row that a test's name carries is one of its rows: rows_check.sh TESTS-FOLDER
set -u
rows=$1/conformance/rows.txt
bad=0

count=$(grep -cE '^[A-NR][0-9]+ \| [0-9a-z,]+ \| (doc|[NCPG2+/]+) \| .+' "$rows")
lines=$(grep -cE '^[^#]' "$rows")
unique=$(sed -n 's/^\([A-NR][0-9]*\) |.*/\1/p' "$rows" | sort -u | wc -l)
if [ "$count" -ne 273 ] || [ "$lines" -ne 273 ] || [ "$unique" -ne 273 ]; then
	echo "rows.txt: $lines lines, $count well-formed, $unique different ids; it should be 273 of each"
	bad=1
fi

# S1 to S17 are no rows: they say how a row is read where the specification contradicts itself.
carried=$(find "$1" -name '*.c' -exec sed -n 's/.*Test(\([a-z0-9_]*\), *\([A-Za-z0-9_]*\).*/\2/p' {} + |
	tr _ '\n' | grep -E '^[A-Z][0-9]+$' | grep -vE '^S([1-9]|1[0-7])$' | sort -u)
for id in $carried; do
	grep -q "^$id |" "$rows" || {
		echo "a test's name carries $id, which rows.txt does not have"
		bad=1
	}
done
[ -n "$carried" ] || {
	echo "no test's name carries a row"
	bad=1
}
echo "$(printf '%s\n' "$carried" | wc -l) rows are carried by tests"
exit "$bad"
