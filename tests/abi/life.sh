#!/bin/sh
# life.sh PROJECT-FOLDER checks the page that describes the life of a command group. Each row of its
# tables has a function and the file that defines it. It prints each that does not exist; exit
# status 0 if all exist. Fewer than 50 rows mean that a table was not parsed.
set -u
cd "$1" || exit 1
page=docs/life-of-a-command-group.md
# shellcheck disable=SC2016  # awk's dollars, and the page's quotes
awk -F'|' '
$2 ~ /^ `[a-z_0-9]+` $/ && $3 ~ /^ `[^`]*\/[^`]*` $/ {
	gsub(/[ `]/, "", $2)
	gsub(/[ `]/, "", $3)
	print $2, $3
}' "$page" | {
	rows=0
	missing=0
	while read -r function file; do
		rows=$((rows + 1))
		# A definition begins a line, and its line does not end with a semicolon.
		if ! { [ -f "$file" ] && awk -v name="$function" '
			$0 ~ "^[a-zA-Z_].*[^a-zA-Z_0-9]" name "\\(" || $0 ~ "^" name "\\(" {
				text = $0
				while (text !~ /[;{]/ && (getline line) > 0)
					text = text line
				if (text !~ /^[^{]*;/)
					found = 1
			}
			END { exit !found }' "$file"; }; then
			echo "$page: $function is not defined in $file"
			missing=$((missing + 1))
		fi
	done
	echo "$rows functions, $missing missing"
	[ "$rows" -ge 50 ] && [ "$missing" -eq 0 ]
}
