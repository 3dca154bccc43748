#!/usr/bin/env bash
# under_mps.sh BUILD_FOLDER tests the service as a client of MPS: its engine uses MPS's server and reports that, and three programs' results
# are right. Then, as root, two users whose engines share one server, and a third one without. Status 77: MPS is not installed here.
set -u
bin=${1:?the build folder}/bin
control=$(PATH=$PATH:/usr/bin:/usr/local/nvidia/bin command -v nvidia-cuda-mps-control) || exit 77
work=$(mktemp -d /tmp/sycld-mps.XXXXXX) && chmod 755 "$work" || exit 1
service=''

fail() {
	printf 'under_mps.sh: %s\n' "$*" >&2
	exit 1
}

finish() {
	[ -z "$service" ] || kill -TERM "$service" 2>/dev/null
	[ -z "$service" ] || wait "$service" 2>/dev/null
	printf 'quit -t 5\n' | timeout 20 "$control" >/dev/null 2>&1
	rm -rf "$work"
}

# until_true SECONDS COMMAND...
until_true() {
	local deadline=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

answers() {
	printf 'get_server_list\n' | "$control"
}

# Prints the servers that MPS has started, one for each user who is its client.
servers() {
	answers | grep -c '^[0-9][0-9]*$'
}

mkdir "$work/pipe" "$work/log" "$work/run" || exit 1
export CUDA_MPS_PIPE_DIRECTORY=$work/pipe CUDA_MPS_LOG_DIRECTORY=$work/log
trap finish EXIT
"$control" -f >"$work/said" 2>&1 </dev/null &
until_true 20 answers || fail "MPS did not start: $(tail -n 3 "$work/said")"
[ "$(servers)" -eq 0 ] || fail "MPS has a server before the first client"
"$bin/sycld" --user --runtime-dir "$work/run" >"$work/sycld.log" 2>&1 </dev/null &
service=$!
until_true 20 "$bin/syclctl" --runtime-dir "$work/run" version || fail "the service did not start: $(tail -n 5 "$work/sycld.log")"
pids=()
for name in demo_heat demo_matmul demo_mandelbrot; do
	"$bin/$name" --endpoint "unix:$work/run/session.sock" --report "$work/$name.report" --output "$work/picture.png" \
		>"$work/$name.log" 2>&1 </dev/null &
	pids+=($!)
done
until_true 60 test -s "$work/demo_heat.log" || fail "no program has begun its work"
[ "$(servers)" -ge 1 ] || fail "the engine did not use MPS"
"$bin/syclctl" --runtime-dir "$work/run" devices --json | tee "$work/devices"
grep -q 'MPS client' "$work/devices" || fail "syclctl does not show the device as one of MPS"
for pid in "${pids[@]}"; do
	wait "$pid" || fail "a program failed: $(tail -n 2 "$work"/demo_*.log)"
done
cat "$work"/*.report
[ "$(grep -c '^verified=yes' "$work"/*.report | grep -c ':1$')" -eq 3 ] || fail "not every result was verified"

# program USER: one that verifies its results, as that user. The others' files are not that user's.
program() {
	HOME=/tmp setpriv --reuid="$1" --regid="$1" --clear-groups "$bin/demo_heat" --endpoint "unix:$work/run/session.sock" --report "/tmp/sycld-mps.$1.$$" >"$work/user.$1.log" 2>&1 </dev/null
}

users_share() {
	local user pids=()
	kill -TERM "$service" && wait "$service"
	printf 'quit -t 5\n' | timeout 20 "$control" >/dev/null 2>&1
	"$control" -f -multiuser-server >"$work/said" 2>&1 </dev/null &
	until_true 20 answers || fail "MPS for several users did not start: $(tail -n 3 "$work/said")"
	printf '[isolation]\nmps_folder = %s\n[uid 65533]\nmps = yes\n[uid 65534]\nmps = yes\n' "$work/pipe" >"$work/sycld.conf"
	env -u CUDA_MPS_PIPE_DIRECTORY "$bin/sycld" --runtime-dir "$work/run" --config "$work/sycld.conf" --cache-dir "$work/cache" >"$work/sycld.log" 2>&1 </dev/null &
	service=$!
	until_true 20 "$bin/syclctl" --runtime-dir "$work/run" version || fail "the service for all users did not start: $(tail -n 5 "$work/sycld.log")"
	for user in 65533 65534 65532; do
		program "$user" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "a user's program failed: $(tail -n 2 "$work"/user.*.log)"
	done
	cat /tmp/sycld-mps.*."$$"
	rm -f /tmp/sycld-mps.*."$$"
	[ "$(servers)" -eq 1 ] || fail "two users have $(servers) servers"
	"$bin/syclctl" --runtime-dir "$work/run" status | tee "$work/status"
	grep -q 'by an MPS server: .*65533.*65534\|by an MPS server: .*65534.*65533' "$work/status" || fail "status does not tell who shares the server"
	! grep 'by an MPS server' "$work/status" | grep -q 65532 || fail "a user who is not named uses the server"
}

if [ "$(id -u)" = 0 ]; then
	users_share
else
	echo 'two users of one server: not tested, which needs root'
fi
