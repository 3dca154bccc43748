#!/bin/bash
# exporter.sh BUILD PICTURES: sycld-exporter with a real Prometheus and a real browser. Exit 77: a program is missing.
set -eu
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
mkdir -p "$2"
pictures=$(cd "$2" && pwd)
token=0123456789abcdef0123456789abcdef
name='<img src=x>' # a program's name, which must not become markup

for program in promtool prometheus chromium node; do
	command -v "$program" >/dev/null || {
		echo "skipped: $program is not installed" >&2
		exit 77
	}
done

work=$(mktemp -d)
started=()
clean() {
	local process
	for process in "${started[@]}"; do
		kill "$process" 2>/dev/null || true
	done
	wait
	rm -rf "$work"
}
trap clean EXIT

fail() {
	echo "exporter: $*" >&2
	tail -n 20 "$work"/*.log >&2
	exit 1
}

# wait_for WHAT COMMAND...: waits until the command succeeds, for at most a minute.
wait_for() {
	local what=$1 end=$((SECONDS + 60))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "waited a minute for $what"
		read -r -t 0.3 <>"$work/pause" || true
	done
}

# get PATH [HEADER]: prints the body.
get() {
	exec 3<>"/dev/tcp/127.0.0.1/$port"
	printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n%s\r\n' "$1" "$token" "${2-}" >&3
	sed '1,/^\r$/d' <&3
	exec 3>&-
}

mkfifo "$work/pause" "$work/input"
printf '%s\n' "$token" >"$work/token"
chmod 0600 "$work/token"
mkdir -m 0755 "$work/run"
printf '[shares]\ndefault = 10-100\n' >"$work/sycld.conf"

"$build/bin/sycld" --runtime-dir "$work/run" --cache-dir "$work/cache" --config "$work/sycld.conf" 2>"$work/sycld.log" &
started+=($!)
wait_for service test -S "$work/run/session.sock"

cp "$build/tests/exporter_worker" "$work/$name"
SYCLD_ENDPOINT=unix:$work/run/session.sock LD_LIBRARY_PATH=$build/lib "$work/$name" <>"$work/input" >"$work/worker.log" 2>&1 &
started+=($!)
wait_for session grep -sq ready "$work/worker.log"

"$build/bin/sycld-exporter" --runtime-dir "$work/run" --listen 127.0.0.1:0 --token-file "$work/token" >"$work/port" 2>"$work/exporter.log" &
started+=($!)
wait_for port grep -q '^port' "$work/port"
port=$(sed -n 's/^port //p' "$work/port")

# ------------------------------------------ metrics ------------------------------------------

has_used() {
	get /metrics >"$work/metrics"
	grep -q '^sycld_device_time_seconds_total{.*} [^0]' "$work/metrics"
}
wait_for 'use of a device' has_used
promtool check metrics <"$work/metrics" || fail "promtool rejects the metrics"
get /metrics $'Accept: application/openmetrics-text\r\n' | tail -n 1 | grep -qx '# EOF' || fail "the answer in OpenMetrics format does not end with # EOF"
promtool check rules "$top/docs/monitoring/alerts.yml" || fail "promtool rejects the alert rules"

# This is the example itself, with the paths of this test.
sed "s|/etc/prometheus/sycld-token|$work/token|; s|127.0.0.1:9477|127.0.0.1:$port|; s|/etc/prometheus/sycld-alerts.yml|$top/docs/monitoring/alerts.yml|
	s|15s|1s|" "$top/docs/monitoring/prometheus.yml" >"$work/prometheus.yml"
promtool check config "$work/prometheus.yml" || fail "promtool rejects the configuration"
free=$((20000 + RANDOM % 20000))
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address="127.0.0.1:$free" 2>"$work/prometheus.log" &
started+=($!)

# query EXPRESSION: prints the value, once there is one.
query() {
	promtool query instant "http://127.0.0.1:$free" "$1" >"$work/answer" 2>/dev/null && grep -q '=>' "$work/answer"
}
wait_for 'scrape by Prometheus' query 'sycld_up == 1'
wait_for 'open session in Prometheus' query 'sycld_user_sessions{state="open"} == 1'
wait_for 'rate of device time in Prometheus' query 'rate(sycld_device_time_seconds_total[10s]) > 0'
cat "$work/answer"
wait_for 'waits of the last minute in Prometheus' query 'sycld_user_recent_commands > 0 and sycld_user_recent_wait_p99_seconds > 0'
wait_for 'scrape that sees all' query 'sycld_exporter_sees_all == 1'

# -------------------------------------------- page --------------------------------------------

# browser WIDTH HEIGHT OPTION...
browser() {
	local width=$1 height=$2
	shift 2
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --no-first-run \
		--user-data-dir="$work/browser" --window-size="$width,$height" --virtual-time-budget=9000 "$@" \
		"http://127.0.0.1:$port/#token=$token" 2>"$work/browser.log"
}

# groups PAGE: prints the number of complete command groups on the page.
groups() {
	sed -n 's/.*data-label="groups"><span class="piece">\([0-9.]*\( k\)\{0,1\}\).*/\1/p' "$1"
}

# On a busy machine the browser may end before the second answer.
has_drawn_again() {
	browser 1280 1400 --dump-dom >"$work/page1" && grep -q 'data-drawn="[2-9]' "$work/page1"
}
wait_for 'second drawing of the page' has_drawn_again
grep -q '&lt;img src=x&gt;' "$work/page1" || fail "the page does not show the session"
! grep -q '<img' "$work/page1" || fail "a name became markup"
grep -q 'class="health good"' "$work/page1" || fail "the page does not show the good state"
# As syclctl says it: a session is running, idle, limited or waiting, and not only open.
grep -qE 'class="chip [a-z]+">(running|idle|limited|waiting)' "$work/page1" || fail "the page does not show what the session does"
[ -n "$(groups "$work/page1")" ] || fail "the page shows no command groups"
has_moved() {
	browser 1280 1400 --dump-dom >"$work/page2" && [ "$(groups "$work/page2")" != "$(groups "$work/page1")" ]
}
wait_for 'change on the page' has_moved
! grep -i 'Content Security Policy' "$work/browser.log" || fail "the content security policy blocks a part of the page"

# Each part is there; it fits a telephone; keys suffice; it is dark where that is asked for; it needs no other server.
node "$top/tests/exporter/page.js" "http://127.0.0.1:$port/#token=$token" || fail "the page lacks something"

for width in 390 1280; do
	browser "$width" 1500 --screenshot="$pictures/light-$width.png" >/dev/null || fail "the browser wrote no screenshot"
	browser "$width" 1500 --blink-settings=preferredColorScheme=0 --force-dark-mode --screenshot="$pictures/dark-$width.png" >/dev/null || fail "the browser wrote no screenshot"
done
for picture in "$pictures"/{light,dark}-{390,1280}.png; do
	[ -s "$picture" ] || fail "the browser did not write $picture"
done
! cmp -s "$pictures/light-1280.png" "$pictures/dark-1280.png" || fail "the dark and the light screenshot are the same"
# The page shows an engine that dies, and the reason.
kill -KILL "$(get /status.json | sed -n 's/.*"engine_pid":\([0-9]*\).*/\1/p')"
has_fault() {
	browser 1280 1400 --dump-dom >"$work/page3" && grep -q 'class="faults"' "$work/page3"
}
wait_for 'fault on the page' has_fault
! grep -q 'unknown:0' "$work/page3" || fail "the page names a device that does not exist"
grep -q '#1 on opencl:0, ended' "$work/page3" || fail "the last minute does not show the ended session"
browser 1280 1500 --screenshot="$pictures/fault-1280.png" >/dev/null || fail "the browser wrote no screenshot"
echo "Prometheus and the browser show what they should; screenshots are in $pictures"
