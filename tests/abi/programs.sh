#!/bin/sh
# programs.sh BUILD-FOLDER FOLDER-OF-BUILT-PAGES checks that manual pages name no program that this project builds and does not install.
set -u
build=$1
pages=$2
installed=$(find "$build" -mindepth 1 -name check-\* -prune -o -name cmake_install.cmake -exec grep -h 'TYPE EXECUTABLE' {} + | sed 's/.*FILES "\([^"]*\)".*/\1/; s/.*\///' | LC_ALL=C sort -u)
failed=0 left_out=0
for program in sycld syclctl sycl-engine; do
	printf '%s\n' "$installed" | grep -qx "$program" || {
		echo "$program is not installed; is this a build folder: $build"
		failed=1
	}
done
# This includes programs that this build has not made yet.
programs=$(ninja -C "$build" -t targets all 2>/dev/null | sed -n 's/^bin\/\([^:/]*\): C_EXECUTABLE.*/\1/p')
for program in ${programs:-$(find "$build/bin" -type f -executable -exec basename {} \;)}; do
	if printf '%s\n' "$installed" | grep -qx -e "$program"; then
		continue
	fi
	left_out=$((left_out + 1))
	# In roff a hyphen has a backslash, and a font may begin just before a word.
	if sed 's/\\f[BIR]/ /g; s/\\//g' "$pages"/*.[1-8] "$pages"/man3/*.3 | grep -w -e "$program"; then
		echo "These name $program, which is not installed."
		failed=1
	fi
done
echo "$left_out programs are built and not installed"
[ "$left_out" -gt 0 ] && [ "$failed" -eq 0 ]
