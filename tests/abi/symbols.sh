#!/bin/sh
# The library exports what symbols.txt lists, each with a version node, and nothing else: symbols.sh LIBRARY SYMBOLS
set -u
actual=$(nm -D --defined-only "$1" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort) || exit 1
plain=$(printf '%s\n' "$actual" | sed 's/@.*//')
if ! printf '%s\n' "$plain" | diff -u "$2" -; then
	echo "The exported symbols are not those of symbols.txt. A new one needs a line there, a doc comment and a test."
	exit 1
fi
if printf '%s\n' "$actual" | grep -v '@@SYCLCLIENT_'; then
	echo "These symbols have no version node."
	exit 1
fi
soname=$(readelf -d "$1" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = libsyclclient.so.0 ] || {
	echo "soname is '$soname'"
	exit 1
}
echo "$(printf '%s\n' "$plain" | wc -l) symbols"
