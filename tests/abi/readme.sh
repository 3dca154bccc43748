#!/bin/sh
# readme.sh PROJECT-FOLDER [--write] checks that the program in the README is the example that the build compiles and a test runs. --write
# copies the example there.
set -u
cd "$1" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
awk -v example=client/examples/saxpy.c '
	code && /^```$/ { code = 0 }
	!code { print }
	/^```c$/ {
		code = 1
		programs++
		while ((getline row <example) > 0)
			if (row !~ /clang-format (on|off)/) # the README leaves them out
				print row
	}
	END { exit programs != 1 }' README.md >"$work/readme" || {
	echo "README.md has not exactly one program in C."
	exit 1
}
case ${2-} in
--write) cat "$work/readme" >README.md ;;
*) diff -u README.md "$work/readme" ;;
esac
