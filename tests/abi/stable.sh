#!/bin/sh
# stable.sh LIBRARY INCLUDE-FOLDER FOLDER-OF-MADE-HEADERS BASELINE-FOLDER WORK-FOLDER checks that a
# program that was built with the library of the baseline runs with this one. Exit status 1:
# something was removed or changed, or a release lacks its baseline. 77: the comparison is
# impossible; the reason is printed.
set -u
here=$(dirname "$0")
library=$1
include=$2
made=$3
baseline=$4
work=$5
failed=0

for tool in abidw abidiff; do
	command -v "$tool" >/dev/null || {
		echo "skipped: $tool is missing (abigail-tools)"
		exit 77
	}
done
if ! readelf -SW "$library" | grep -q '\.debug_info'; then
	echo "skipped: $library was built without debug information"
	exit 77
fi
"$here/describe.sh" "$library" "$include" "$made" "$work" || exit 1

# abidiff returns 4 both for an added function and for a changed structure, so additions are left out here. Added enumerators do not count
# either.
abidiff --no-added-syms "$baseline/libsyclclient.abi" "$work/libsyclclient.abi" >"$work/changes" 2>&1
status=$?
if [ "$status" -ne 0 ]; then
	cat "$work/changes"
	echo "abidiff gave $status: programs that were built before this change would break."
	failed=1
fi

versions='^SYCL_VERSION_'
grep -v "$versions" "$baseline/constants.txt" >"$work/constants.old"
grep -v "$versions" "$work/constants.txt" >"$work/constants.new"
if [ "$(LC_ALL=C comm -12 "$work/constants.old" "$work/constants.new" | wc -l)" -lt 100 ]; then
	echo "hardly any constants were found"
	failed=1
fi
LC_ALL=C comm -23 "$work/constants.old" "$work/constants.new" >"$work/constants.gone"
if [ -s "$work/constants.gone" ]; then
	echo "These constants had other values, or are gone:"
	cat "$work/constants.gone"
	failed=1
fi

# Additions are allowed until the version is raised: a release has its own baseline.
abidiff "$baseline/libsyclclient.abi" "$work/libsyclclient.abi" 2>/dev/null | grep '^ *\[A\]' >"$work/new"
LC_ALL=C comm -13 "$work/constants.old" "$work/constants.new" >>"$work/new"
if [ -s "$work/new" ]; then
	echo "New since the baseline:"
	cat "$work/new"
fi
if [ "$(grep "$versions" "$baseline/constants.txt")" != "$(grep "$versions" "$work/constants.txt")" ]; then
	echo "The version was raised: renew the baseline with tests/abi/baseline.sh"
	failed=1
fi
[ "$failed" -eq 0 ] && echo "stable: $(wc -l <"$work/constants.old") constants, $(grep -c '<elf-symbol ' "$baseline/libsyclclient.abi") calls"
exit "$failed"
