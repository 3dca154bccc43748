#!/bin/sh
# Makes the pages of section 3 from the headers: pages.sh FOLDER VERSION MAP HEADER...
# FOLDER is emptied first, so that a call that is gone leaves no page behind.
set -eu
here=$(dirname "$0")
out=$1
version=$2
shift 2
rm -rf "$out"
mkdir -p "$out"
# The same sources give the same pages, where whoever builds says when.
if [ -n "${SOURCE_DATE_EPOCH-}" ]; then
	date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
else
	date=$(date -u +%Y-%m-%d)
fi
awk -v out="$out" -v version="$version" -v date="$date" \
	-f "$here/headers.awk" -f "$here/comment.awk" -f "$here/roff.awk" -f "$here/pages.awk" "$@"
