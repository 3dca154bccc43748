#!/bin/sh
# baseline.sh [--incompatible] [BUILD-FOLDER] renews the baseline of the ABI from a build. Without --incompatible it does so only if nothing
# in the baseline was removed or changed. README.md says when to use it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
incompatible=0
if [ "${1-}" = --incompatible ]; then
	incompatible=1
	shift
fi
build=${1:-$top/build}
library=$build/lib/libsyclclient.so
[ -e "$library" ] || {
	echo "no $library: build first, or name the build folder"
	exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readelf -SW "$library" | grep -q '\.debug_info' || {
	echo "$library has no debug information"
	exit 2
}
"$here/describe.sh" "$library" "$top/include" "$build/include" "$work"
if [ -e "$here/libsyclclient.abi" ] && [ "$incompatible" -eq 0 ]; then
	grep -v '^SYCL_VERSION_' "$here/constants.txt" | LC_ALL=C comm -23 - "$work/constants.txt" >"$work/gone"
	if ! abidiff --no-added-syms "$here/libsyclclient.abi" "$work/libsyclclient.abi" || [ -s "$work/gone" ]; then
		cat "$work/gone"
		echo "not renewed: programs that were built before would break (--incompatible renews it nevertheless)"
		exit 1
	fi
fi
cp "$work/libsyclclient.abi" "$work/constants.txt" "$here/"
echo "renewed: $here/libsyclclient.abi, $here/constants.txt"
