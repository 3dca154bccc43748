#!/bin/sh
# history.sh FOLDER prints the age of commits. It reads commits, one a line, and prints "COMMIT N" for each: N commits came after it. "COMMIT
# -": it is not in the history of what is checked out there. "COMMIT ?": there is no such history, as in a tarball or a shallow clone.
set -u
folder=$1

# If the folder lies in the tree of another project, that project's history does not count.
is_known() {
	top=$(git -C "$folder" rev-parse --show-toplevel 2>/dev/null) || return 1
	[ "$top" = "$(cd "$folder" && pwd -P)" ] &&
		[ "$(git -C "$folder" rev-parse --is-shallow-repository 2>/dev/null)" = false ]
}

known=no
! is_known || known=yes
sort -u | while read -r commit rest; do
	: "$rest"
	if [ "$known" = no ]; then
		age='?'
	elif git -C "$folder" merge-base --is-ancestor "$commit" HEAD 2>/dev/null; then
		age=$(git -C "$folder" rev-list --count "$commit..HEAD")
	else
		age=-
	fi
	printf '%s %s\n' "$commit" "$age"
done
