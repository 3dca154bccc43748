#!/bin/sh
# calls_check.sh TESTS-FOLDER INCLUDE-FOLDER checks calls.tsv and that the public headers contain no ids of rows. Each row in calls.tsv must
# be in rows.txt, and each name must be declared in its header.
set -u
calls=$1/conformance/calls.tsv
rows=$1/conformance/rows.txt
include=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# Prints "HEADER NAME" for each word of a header's code, and "HEADER -" for the header itself.
for file in "$include"/syclclient/*.h "$include"/syclclient/*.h.in; do
	name=$(basename "$file" .in)
	echo "$name -"
	awk '{
		line = line " " $0
		gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
		if (line ~ /\/\*/)
			next # The comment goes on in the next line.
		print line
		line = ""
	}' "$file" | grep -oE '[A-Za-z_][A-Za-z0-9_]+' | sort -u | sed "s/^/$name /"
done >"$folder/declared"

awk -F '\t' -v rows="$rows" -v declared="$folder/declared" '
function complain(text) {
	print "calls.tsv:" FNR ": " text
	bad = 1
}
BEGIN {
	while ((getline line <rows) > 0)
		if (match(line, /^[A-Z][0-9]+ \|/))
			known[substr(line, 1, RLENGTH - 2)] = 1
	while ((getline line <declared) > 0)
		there[line] = 1
}
/^#/ { next }
NF != 3 { complain("not three columns"); next }
!($1 in known) { complain($1 " is not in rows.txt") }
!(($2 " " $3) in there) { complain($2 " does not declare " $3) }
seen[$0]++ { complain("twice: " $0) }
{ count++ }
END {
	print count " lines"
	exit bad || count < 200
}' "$calls" || exit 1

# The public headers carry no ids, because only the source tree has the list of rows.
sed -n 's/^\([A-Z][0-9]*\) |.*/[( ]\1[,:;.)]/p' "$rows" >"$folder/ids"
if grep -rnE -f "$folder/ids" "$include" --include='*.h' --include='*.h.in'; then
	echo "These lines carry ids of rows, which belong in calls.tsv."
	exit 1
fi
