#!/bin/bash
# table.sh OUT prints what the judges have found: their lines of counts, and each test that ends in another way through the service than on the
# plain driver. --all: each test.
out=$1 all=${2-}
cat "$out"/*.said 2>/dev/null | grep -E '^[a-z]+: [0-9]+ tests:|^skipped: ' | sed 's/^/* /'
printf '\n| judge | test | plain driver | through the service | why they differ |\n| --- | --- | --- | --- | --- |\n'
for file in "$out"/*.tsv; do
	[ ! -e "$file" ] || awk -F '\t' -v all="$all" -v judge="$(basename "$file" .tsv)" '
		all != "" || $2 != $3 { gsub(/\|/, "\\|"); printf "| %s | `%s` | %s | %s | %s |\n", judge, $1, $2, $3, $4 }' "$file"
done
