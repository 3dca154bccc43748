#!/usr/bin/env bash
# confined.sh BUILD [UNIT [CALLS]] starts the service with the restrictions of its unit, as far as this container permits, and runs programs
# through it. It prints a line for each setting, what the kernel says about service and engine, the status, and what the device does while a
# kernel fills it. It needs no systemd. CALLS: the list of system_calls.sh. Status 0: the service runs, and all results are right.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
build=$(cd "${1:?the build folder}" && pwd) || exit 1
unit=${2-$here/sycld.service} calls=${3-$here/system-calls}
bin=$build/bin tests=$build/tests programs='demo_heat demo_matmul demo_mandelbrot' fill_seconds=${SYCLD_TEST_FILL_SECONDS:-5}
service='' run='' cache='' work='' pids=() bad=0

fail() {
	printf 'confined.sh: %s\n' "$*" >&2
	[ ! -s "$work/service.log" ] || tail -n 20 "$work/service.log" >&2
	exit 1
}

finish() {
	[ "${#pids[@]}" -eq 0 ] || kill "${pids[@]}" 2>/dev/null
	[ -z "$service" ] || kill -TERM "$service" 2>/dev/null
	[ -z "$service" ] || wait "$service" 2>/dev/null
	rm -rf "$run" "$cache" "$work"
}

# until_true SECONDS COMMAND...
until_true() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		kill -0 "$service" 2>/dev/null || return 1
		sleep 0.05
	done
}

# Another user than the service's, if this one is root and the other one finds the programs.
choose_user() {
	as_user=() kind=(--user)
	[ "$(id -u)" -eq 0 ] || return
	kind=()
	as_user=(setpriv --reuid 65534 --regid 65534 --clear-groups --)
	"${as_user[@]}" test -x "$bin/demo_heat" 2>/dev/null && return
	printf 'Programs run as root: another user cannot read %s.\n' "$bin"
	as_user=()
}

make_folders() {
	local base=/run store=/var/cache
	[ "$(id -u)" -eq 0 ] || base=/var/tmp store=/var/tmp
	work=$(mktemp -d /var/tmp/sycld-confined.XXXXXX) && chmod 1777 "$work" || exit 1
	run=$(mktemp -d "$base/sycld-confined.XXXXXX") && cache=$(mktemp -d "$store/sycld-confined.XXXXXX") || exit 1
}

ctl() {
	"${as_user[@]}" "$bin/syclctl" --runtime-dir "$run" "$@"
}

start_service() {
	if [ ! -s "$calls" ]; then
		calls=$work/system-calls
		"$here/confined/system_calls.sh" "$unit" >"$calls" 2>/dev/null || calls=/nonexistent
	fi
	"$tests/confined" --unit "$unit" --run "$run" --cache "$cache" --calls "$calls" --keep "$build" \
		"$bin/sycld" "${kind[@]}" --runtime-dir "$run" --cache-dir "$cache" >"$work/settings" 2>"$work/service.log" </dev/null &
	service=$!
	until_true 30 grep -q 'Type=notify' "$work/settings" || fail "the service did not start"
	cat "$work/settings"
}

start_programs() {
	local name
	for name in $programs; do
		"${as_user[@]}" "$bin/$name" --endpoint "unix:$run/session.sock" --report "$work/$name.report" \
			--output "$work/picture.png" >"$work/$name.log" 2>&1 </dev/null &
		pids+=($!)
	done
}

# wait_programs: counts those whose results are not right.
wait_programs() {
	local name pid
	for pid in "${pids[@]}"; do
		wait "$pid" || bad=$((bad + 1))
	done
	pids=()
	for name in $programs; do
		tail -n 1 "$work/$name.log"
		grep -qx 'verified=yes' "$work/$name.report" || bad=$((bad + 1))
	done
}

# kernel_says WHAT PID: prints lines of /proc about the process.
kernel_says() {
	printf '%s %s: %s\n' "$1" "$2" "$(sed -n 's/^\(Uid\|CapPrm\|CapBnd\|NoNewPrivs\|Seccomp\|Seccomp_filters\):\t/\1 /p' "/proc/$2/status" |
		tr '\t\n' ' ;')"
	printf '    score of the OOM killer %s; open files %s; locked memory %s\n' "$(cat "/proc/$2/oom_score_adj")" \
		"$(awk '/^Max open files/ { print $4 }' "/proc/$2/limits")" "$(awk '/^Max locked memory/ { print $4 }' "/proc/$2/limits")"
}

engine_pid() {
	ctl status --json | tr -d ' \n' | sed -n 's/.*"engine_pid":\([1-9][0-9]*\).*/\1/p'
}

has_engine() {
	[ -n "$(engine_pid)" ]
}

programs_run() {
	[ "$(cat "$work"/demo_*.log | grep -c ' %  ')" -ge 4 ]
}

# sample LABEL: prints a line for each device that has been used.
sample() {
	ctl devices --json | tr -d ' \n' | sed 's/.*"devices_now":\[//; s/\],"shares.*//; s/},{"index"/}\n{"index"/g' | awk -v label="$1" '
		function of(key) {
			return match($0, "\"" key "\":[-0-9.]+") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : ""
		}
		function shown(value, unit, by) {
			return value == "" ? "not known" : sprintf("%g%s", value / by, unit)
		}
		/"index"/ {
			match($0, /"backend":"[a-z]*"/)
			printf "%-8s %s:%s  busy %s, SM occupancy %s, clock %s of %s, power %s, temperature %s\n", label,
				substr($0, RSTART + 11, RLENGTH - 12), of("backend_index"), shown(of("busy_permille"), " %", 10),
				shown(of("sm_occupancy_permille"), " %", 10), shown(of("clock_mhz"), " MHz", 1),
				shown(of("clock_most_mhz"), " MHz", 1), shown(of("power_milliwatts"), " W", 1000),
				shown(of("temperature_celsius"), " C", 1)
		}' | tee -a "$work/samples"
}

fill_device() {
	local second
	sample before
	"${as_user[@]}" "$tests/fill_device" "unix:$run/session.sock" "$fill_seconds" >"$work/fill.log" 2>&1 </dev/null &
	pids=($!)
	until_true 60 grep -q begun "$work/fill.log" || fail "no kernel fills the device: $(tail -n 2 "$work/fill.log")"
	for ((second = 1; second <= fill_seconds; second++)); do
		sleep 1
		sample "$second s"
	done
	wait "${pids[0]}" || bad=$((bad + 1))
	pids=()
	tail -n 1 "$work/fill.log"
	grep -v '^before' "$work/samples" | grep -qE 'busy [1-9]' || {
		printf 'no sample shows a busy device\n'
		bad=$((bad + 1))
	}
}

[ -x "$tests/confined" ] && [ -x "$tests/fill_device" ] || exit 77
trap finish EXIT
choose_user
make_folders
printf '== settings of the unit\n'
start_service
printf '== programs\n'
start_programs
until_true 60 has_engine || fail "no engine was started: $(tail -n 2 "$work"/demo_*.log)"
until_true 60 programs_run || fail "no program has begun its work"
ctl status
kernel_says service "$(ctl status | sed -n 's/^sycld .* pid \([0-9]*\),.*/\1/p')"
kernel_says engine "$(engine_pid)"
wait_programs
printf '== a kernel that fills the device\n'
fill_device
kill -TERM "$service"
wait "$service" || bad=$((bad + 1))
service=''
grep 'WatchdogSec' "$work/settings"
printf '== %s\n' "$([ "$bad" -eq 0 ] && echo 'all results are right' || echo "$bad failures")"
[ "$bad" -eq 0 ]
