#!/bin/sh
# documents.sh PROJECT-FOLDER checks each relative link of each page: the file must exist, and so must the heading that it names. No line
# may be longer than 100 columns outside of tables.
set -u
cd "$1" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
: >"$work/wrong"

# Files of a build or a stage are not checked.
find . \( -path './build*' -o -path ./.git -o -path ./tests/gpu/stage \) -type d -prune -o -name '*.md' -print |
	sed 's,^\./,,' | LC_ALL=C sort >"$work/pages"

# plain PAGE: prints it without the code between fences and between backticks, where a link does not
# count.
plain() {
	awk '/^ *```/ { code = !code; next } !code { gsub(/`[^`]*`/, "`"); print }' "$1"
}

# anchors PAGE: prints the names by which its headings are linked.
anchors() {
	awk '/^ *```/ { code = !code; next } !code && /^#+ / { sub(/^#+ +/, ""); print }' "$1" |
		tr '[:upper:]' '[:lower:]' | sed 's/[^[:alnum:] _-]//g; s/ /-/g'
}

# links PAGE: prints "file#anchor", one a line. A link may be broken over two lines.
links() {
	plain "$1" | tr '\n' ' ' | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' | grep -vE '^[a-z]+:'
}

while IFS= read -r page; do
	folder=$(dirname "$page")
	links "$page" >"$work/links"
	while IFS= read -r link; do
		echo "$link" >>"$work/all"
		file=${link%%#*}
		target=$page
		[ -z "$file" ] || target=$folder/$file
		[ -e "$target" ] || {
			echo "$page: $link leads nowhere" >>"$work/wrong"
			continue
		}
		case $link in
		*#*) anchors "$target" | grep -qxF -e "${link#*#}" || echo "$page: $link names no heading" >>"$work/wrong" ;;
		esac
	done <"$work/links"
	# Columns are characters: continuation bytes are not counted.
	LC_ALL=C sed 's/[\x80-\xBF]//g' "$page" | LC_ALL=C awk -v page="$page" '
		!/^ *\|/ && length($0) > 100 { printf "%s:%d: %d columns\n", page, NR, length($0) }' >>"$work/wrong"
done <"$work/pages"

cat "$work/wrong"
echo "$(wc -l <"$work/pages") pages, $(wc -l <"$work/all") links"
[ -s "$work/all" ] && [ ! -s "$work/wrong" ]
