#!/bin/bash
# hashcat.sh BUILD OUT [MODE...]: `hashcat -b` of Debian's package, both ways, for each kind of hash (a number of hashcat's); without MODEs
# eight common ones.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
command -v hashcat >/dev/null || judge_skip "hashcat is not installed"

# speed MODE: hashcat runs and prints a speed. Each run has a folder of its own for what it builds.
speed() {
	local home
	home=$(mktemp -d) || return 1
	HOME=$home hashcat -b -m "$1" --force --potfile-disable --backend-ignore-cuda | tee "$home/said"
	grep -q '^Speed' "$home/said"
	set -- $? "$home"
	rm -rf "$2"
	return "$1"
}
export -f speed

judge_begin hashcat "$1" "$2"
shift 2
[ "$#" -gt 0 ] || set -- 0 100 900 1000 1400 1700 5600 6000
for mode in "$@"; do
	judge_both "mode_$mode" bash -c "speed $mode"
done
judge_end
