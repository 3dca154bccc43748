#!/bin/sh
# layers.sh [--write-exceptions] PROJECT [BUILD] checks which folder may include and link to which others. The rules are in
# PROJECT/tests/abi/layers.txt. It prints each include and each linked symbol that they do not allow, and the circles of files that are too
# large. With a build folder it reads the objects there; without one it checks only includes. layers_exceptions.txt beside the rules lists
# known violations, 'FILE INCLUDE' or 'FILE SYMBOL' a line. One that does not occur any more is an error, too.
# --write-exceptions makes that list from a complete build, and lowers the limits of circles that have shrunk.
set -u
export LC_ALL=C
write=0
if [ "${1-}" = --write-exceptions ]; then
	write=1
	shift
fi
awk_program=$(cd "$(dirname "$0")" && pwd)/layers.awk
build=${2:+$(cd "$2" && pwd)}
cd "$1" || exit 1
rules=tests/abi/layers.txt exceptions=tests/abi/layers_exceptions.txt
folders=''
for folder in include shared daemon client; do
	[ ! -d "$folder" ] || folders="$folders $folder"
done

# Prints one line for each file, include and symbol; the first word says which it is.
facts() {
	# shellcheck disable=SC2086  # words
	find $folders -name '*.[ch]' | sed 's/^/file /'
	# shellcheck disable=SC2086
	grep -rHn --include='*.[ch]' '^[[:blank:]]*#[[:blank:]]*include[[:blank:]]*[<"]' $folders |
		sed 's/^\([^:]*\):\([0-9]*\):[^<"]*\([<"]\)\([^>"]*\).*/include \1 \2 \3 \4/'
	[ -n "$build" ] || return
	# shellcheck disable=SC2086
	(cd "$build" && find $folders -name '*.c.o' -exec nm -A -g {} + 2>/dev/null) |
		sed -nE "s|^(.*/)?CMakeFiles/[^/]*\.dir/([^:]*\.c)\.o:[0-9a-f ]*([A-Za-z]) ([^ ]*)\$|symbol \1\2 \3 \4|p"
}

# lower_limits FOUND: a circle that has shrunk may not grow again.
lower_limits() {
	lowered=$(printf '%s\n' "$1" | awk '
		NR == FNR {
			if ($1 == "circle")
				size[$2] = $3
			next
		}
		$1 == "circle" && size[$2] > 0 && size[$2] < $3 { $3 = size[$2] }
		{ print }' - "$rules") && printf '%s\n' "$lowered" >"$rules"
}

if [ "$write" = 1 ]; then
	[ -n "$build" ] || exit 1
	found=$(facts | awk -v rules="$rules" -v exceptions=/dev/null -v symbols=1 -v write=1 -f "$awk_program")
	printf '%s\n' "$found" | sed -n 's/^exception //p' | sort -u >"$exceptions"
	lower_limits "$found"
	wc -l "$exceptions"
	exit 0
fi
facts | awk -v rules="$rules" -v exceptions="$exceptions" -v symbols="${build:+1}" -f "$awk_program"
