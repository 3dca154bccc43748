#!/usr/bin/env bash
# Shows sycld at work: three programs, each in its own process, share this machine's device through one service.
# Installs what is missing, builds into build/, starts a service of its own, stops it again. Exit 0: everything verified.
# With --built it takes programs that are there, as on a machine that builds nothing.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
# shellcheck source=tests/support/common.sh
. "$top/tests/support/common.sh"

programs='demo_mandelbrot demo_matmul demo_heat'
work='' service='' pids=()

usage() {
	cat <<TXT
Usage: ./demo.sh [--build-only | --built FOLDER]
  --build-only    install and build, run nothing
  --built FOLDER  install and build nothing: the programs are in FOLDER/bin; the picture goes to FOLDER
TXT
}

# gone PID SECONDS: wait until that child has ended.
gone() {
	local deadline=$((SECONDS + $2))
	while kill -0 "$1" 2>/dev/null; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

stop_everything() {
	trap '' INT TERM HUP
	local pid
	for pid in "${pids[@]}" $service; do
		kill -TERM "$pid" 2>/dev/null
	done
	for pid in "${pids[@]}" $service; do
		gone "$pid" 10 || kill -KILL "$pid" 2>/dev/null
	done
	wait 2>/dev/null
	[ -z "$work" ] || rm -rf "$work"
}

# Sockets have short names: a long TMPDIR would not do.
make_work_folder() {
	local base=${TMPDIR:-/tmp}
	[ "${#base}" -le 60 ] && [ -w "$base" ] || base=/tmp
	work=$(mktemp -d "$base/sycld-demo.XXXXXX") || fail "cannot make a folder in $base"
}

start_service() {
	"$bin/sycld" --user --runtime-dir "$work/run" >"$work/sycld.log" 2>&1 </dev/null &
	service=$!
	local deadline=$((SECONDS + 20))
	until "$bin/syclctl" --runtime-dir "$work/run" version >/dev/null 2>&1; do
		if ! kill -0 "$service" 2>/dev/null || [ "$SECONDS" -ge "$deadline" ]; then
			tail -n 20 "$work/sycld.log" >&2
			fail "the service did not start"
		fi
		sleep 0.05
	done
}

# Their lines arrive on descriptor 5, which ends when the last of them has.
start_programs() {
	local name
	mkfifo "$work/progress" || exit 1
	# Opened both ways first: opening one end alone would wait for the other.
	exec 3<>"$work/progress"
	exec 4>"$work/progress"
	exec 5<"$work/progress" 3>&-
	for name in $programs; do
		"$bin/$name" --endpoint "unix:$work/run/session.sock" --report "$work/$name.report" \
			--output "$built/mandelbrot.png" >&4 2>&1 </dev/null 4>&- 5<&- &
		pids+=($!)
	done
	exec 4>&-
}

# Shows the programs' lines as they come, until all have ended, and once, when all are under way, what the operator sees.
watch_programs() {
	local line name percent shown='' sum
	local -A done_of=()
	while IFS= read -r line <&5; do
		printf '  %s\n' "$line"
		name=${line%%:*} percent=${line#*: }
		percent=${percent%%%*}
		percent=${percent// /}
		case $percent in
		'' | *[!0-9]*) continue ;;
		esac
		done_of[$name]=$percent sum=0
		for percent in "${done_of[@]}"; do
			sum=$((sum + percent))
		done
		if [ -z "$shown" ] && [ "${#done_of[@]}" -eq 3 ] && [ "$sum" -ge 60 ]; then
			shown=yes
			printf '\n'
			"$bin/syclctl" --runtime-dir "$work/run" status
			printf '\n'
		fi
	done
	[ -n "$shown" ]
}

table() {
	local name
	for name in $programs; do
		[ -r "$work/$name.report" ] && cat "$work/$name.report"
		printf 'end=%s\n' "$name"
	done | awk -F= '
		function bytes(b) {
			if (b < 1024) return b " B"
			if (b < 1048576) return sprintf("%.1f KiB", b / 1024)
			return sprintf("%.1f MiB", b / 1048576)
		}
		BEGIN {
			format = "%-16s %-32s %14s %14s %12s  %s\n"
			printf format, "process", "device", "command groups", "time on device", "bytes moved", "verified"
		}
		$1 == "end" {
			if (!("verified" in v))
				v["verified"] = "no (it ended early)"
			printf format, $2, substr(v["device"], 1, 32), v["command_groups"], sprintf("%.0f ms", v["device_ns"] / 1e6),
				bytes(v["bytes_to_device"] + v["bytes_to_host"]), v["verified"]
			delete v
			next
		}
		{
			v[$1] = substr($0, length($1) + 2)
			if ($1 ~ /^bytes_/)
				moved += v[$1]
		}
		END {
			print "\nTime on device: of all command groups; an instant in which several of them ran counts once."
			if (moved == 0)
				print "0 B: the device works in the memory that program and service share; nothing had to be copied for it."
		}'
}

install_and_build() {
	prepare_folder
	install_packages build run || exit 1
	say "Building into build/ (a minute or more the first time; the compiler's words: build/build.log)"
	local options=()
	# The tests stay as they are where check.sh has configured them already.
	[ -e "$top/build/CMakeCache.txt" ] || options=(-DSYCLD_TESTS=OFF)
	build_into "$top/build" "sycld sycl-engine syclengine syclctl syclclient $programs" "${options[@]}" || exit 1
	sed -n 's/^-- \(Left out: .*\)/\1/p' "$top/build/configure.log"
}

main() {
	built=$top/build
	case $#,${1-} in
	0, | 1,--build-only) install_and_build ;;
	2,--built) built=$2 ;;
	1,--help | 1,-h)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
	[ "${1-}" != --build-only ] || exit 0
	bin=$built/bin

	trap stop_everything EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	make_work_folder
	start_service
	say "A service at $work/run, and three programs that share it:"
	start_programs
	watch_programs
	local watched=$? failed=0 pid
	for pid in "${pids[@]}"; do
		wait "$pid" || failed=1
	done
	pids=()
	printf '\n'
	table
	sed -n 's/^picture=/\nThe picture: /p' "$work/demo_mandelbrot.report" 2>/dev/null
	if [ "$failed" -ne 0 ] || [ "$watched" -ne 0 ]; then
		tail -n 20 "$work/sycld.log" >&2
		fail "not everything was verified"
	fi
}

main "$@"
