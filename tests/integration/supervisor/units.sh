#!/bin/sh
# units.sh UNITS SOURCE PROGRAM checks that the unit files are valid and no less strict than before. UNITS: the folder of the generated
# units. SOURCE: the folder of the others. PROGRAM: an executable in the place of sycld.
set -eu
units=$1 source=$2 program=$3

command -v systemd-analyze >/dev/null || {
	echo "skipped: no systemd-analyze" >&2
	exit 77
}

# The limit of systemd's exposure level, in tenths: 0 is none, 100 is a service without any
# restriction.
threshold=15

exporter_threshold=12

# Prints names of system calls, one a line. Sets inside of sets are replaced by their members.
expand_sets() {
	sed 's/^ *//; s/ *#.*//' | while read -r word; do
		case $word in
		@*) systemd-analyze syscall-filter "$word" | tail -n +2 | expand_sets ;;
		?*) printf '%s\n' "$word" ;;
		esac
	done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for kind in system user; do
	mkdir "$work/$kind"
done
# The units can be checked even if the program is not installed.
sed "s|^\(Exec[A-Za-z]*\)=[^ ]*/sycld|\1=$program|" "$units/sycld.service" >"$work/system/sycld.service"
sed "s|^\(Exec[A-Za-z]*\)=[^ ]*/sycld|\1=$program|" "$units/user/sycld.service" >"$work/user/sycld.service"
sed "s|^ExecStart=[^ ]*|ExecStart=$program|" "$units/sycld-exporter.service" >"$work/system/sycld-exporter.service"
cp "$source/sycld.socket" "$work/system/"
cp "$source/user/sycld.socket" "$work/user/"

for kind in system user; do
	export XDG_RUNTIME_DIR="$work"
	if ! systemd-analyze verify --man=no "--$kind" "$work/$kind"/sycld* \
		>"$work/said" 2>&1 || grep -q "$work" "$work/said"; then
		echo "the $kind units are wrong:" >&2
		cat "$work/said" >&2
		exit 1
	fi
done

# A minimal system may lack any other program: Debian's kill is in a package of its own.
others=$(sed -n 's/^Exec[A-Za-z]*=[-+!@:]*\([^ ]*\).*/\1/p' "$work"/*/sycld*.service | grep -vxF -e /bin/sh -e "$program" || true)
[ -z "$others" ] || {
	echo "the units need programs that a minimal system does not have: $others" >&2
	exit 1
}

# Calls that the programs need. Not all of them are in systemd's own sets. An engine that cannot filter its user's calls ends.
allowed=$(sed -n 's/^SystemCallFilter=//p' "$work/system/sycld.service")
for call in seccomp clone execve prctl setresuid memfd_create; do
	for word in $allowed; do
		case $word in
		@*) systemd-analyze syscall-filter "$word" ;;
		*) echo "$word" ;;
		esac
	done | expand_sets | grep -qx "$call" || {
		echo "sycld.service does not allow the system call $call" >&2
		exit 1
	}
done

systemd-analyze security --offline=true --threshold=$threshold "$work/system/sycld.service" >"$work/said" 2>&1 || {
	echo "sycld.service is more exposed than $threshold tenths:" >&2
	cat "$work/said" >&2
	exit 1
}
tail -n 1 "$work/said"
systemd-analyze security --offline=true --threshold=$exporter_threshold "$work/system/sycld-exporter.service" >"$work/said" 2>&1 || {
	echo "sycld-exporter.service is more exposed than $exporter_threshold tenths:" >&2
	cat "$work/said" >&2
	exit 1
}
tail -n 1 "$work/said"
