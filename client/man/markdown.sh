#!/bin/sh
# Makes a page of section 7 from a page in Markdown: markdown.sh PAGE OUT VERSION ABOUT
# OUT's name is the page's.
set -eu
here=$(dirname "$0")
if [ -n "${SOURCE_DATE_EPOCH-}" ]; then
	date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
else
	date=$(date -u +%Y-%m-%d)
fi
awk -v out="$2" -v name="$(basename "$2" .7)" -v version="$3" -v about="$4" -v date="$date" \
	-f "$here/roff.awk" -f "$here/markdown.awk" "$1"
