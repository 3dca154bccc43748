#!/bin/sh
# symbols.sh LIBRARY SYMBOLS HEADER-FOLDER... checks that the library exports the functions in symbols.txt, each with a version node, and no
# others. The public headers must declare the same functions.
set -u
library=$1
symbols=$2
shift 2
actual=$(nm -D --defined-only "$library" | awk '$2 != "A" { print $3 }' | LC_ALL=C sort) || exit 1
plain=$(printf '%s\n' "$actual" | sed 's/@.*//')
if ! printf '%s\n' "$plain" | diff -u "$symbols" -; then
	echo "The exported symbols are not those of symbols.txt. A new one needs a line there, a doc comment and a test."
	exit 1
fi
if printf '%s\n' "$actual" | grep -v '@@SYCLCLIENT_'; then
	echo "These symbols have no version node."
	exit 1
fi
soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = libsyclclient.so.0 ] || {
	echo "soname is '$soname'"
	exit 1
}
# A declaration without SYCL_API would not be compared with the .map. Functions that headers define are static.
plain_declarations() {
	find "$@" -type f \( -name '*.h' -o -name '*.h.in' \) -exec cat {} + | sed 's#//.*##; /^#/d' | tr '\n' ' ' |
		sed 's#/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/# #g' | sed 's,[;{}],\n,g' | grep -E '(^|[ *])sycl_[a-z0-9_]+ *\(' |
		grep -vE 'SYCL_API|static inline|typedef|\(\*|=|return|^ *\)'
}
if plain_declarations "$@"; then
	echo "These functions are declared without SYCL_API."
	exit 1
fi
# The functions that a header declares for programs. If one was missing in the .map, a program that
# calls it could not be linked.
declared=$(find "$@" -type f \( -name '*.h' -o -name '*.h.in' \) -exec cat {} + | tr '\n' ' ' | grep -oE 'SYCL_API [^;(]*[^a-z0-9_]sycl_[a-z0-9_]+ *\(' |
	sed 's/ *($//; s/.*[^a-z0-9_]//' | LC_ALL=C sort -u)
if ! printf '%s\n' "$declared" | diff -u "$symbols" -; then
	echo "The functions with SYCL_API in the public headers are not those of symbols.txt and libsyclclient.map."
	exit 1
fi
echo "$(printf '%s\n' "$plain" | wc -l) symbols"
