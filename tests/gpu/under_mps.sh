#!/usr/bin/env bash
# under_mps.sh BUILD_FOLDER tests the service as a client of MPS: its engine uses MPS's server and reports that, and three programs' results
# are right. Status 77: MPS is not installed here.
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
