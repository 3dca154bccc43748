#!/bin/sh
# Which folder may include and link to what: layers.sh [--write-exceptions] PROJECT [BUILD]
# The rules are in PROJECT/tests/abi/layers.txt. Prints each include and each linked symbol that they
# do not allow, and the circles of files that are too large. With a build folder its objects are read,
# without one only includes are. layers_exceptions.txt beside the rules lists what is not mended yet,
# 'FILE INCLUDE' or 'FILE SYMBOL' a line; one that occurs no more is an error, too.
# --write-exceptions makes that list from a whole build, and lowers the limits of circles that have shrunk.
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

# One line for each file, include and symbol: the word before says which.
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

# lower_limits FOUND: what a circle has come down to is what it may be from now on.
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
