#!/usr/bin/env bash
# system_calls.sh UNIT prints number and name of each system call that the unit permits, one a line. It needs systemd-analyze for the
# members of systemd's sets, and a compiler for the numbers. Status 77: one of them is not here.
set -u
unit=${1:?the unit}
command -v systemd-analyze >/dev/null && command -v "${CC:-cc}" >/dev/null || exit 77

# expand WORD...: prints names of calls. Sets inside of sets are replaced by their members.
expand() {
	local word
	for word; do
		case $word in
		@*)
			# shellcheck disable=SC2046  # they are words
			expand $(systemd-analyze syscall-filter "$word" | tail -n +2 | sed 's/#.*//')
			;;
		*) printf '%s\n' "$word" ;;
		esac
	done
}

# shellcheck disable=SC2046  # they are words
names=$(expand $(sed -n 's/^SystemCallFilter=//p' "$unit") | sort -u)
{
	printf '#include <sys/syscall.h>\n'
	for name in $names; do
		printf '#ifdef SYS_%s\nCALL SYS_%s _%s\n#endif\n' "$name" "$name" "$name"
	done
} | "${CC:-cc}" -E -P -xc - | sed -n 's/^CALL \([0-9]*\) _/\1 /p' | sort -n
