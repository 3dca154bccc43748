#!/bin/bash
# The script that boot.sh runs under the systemd that it boots. The last line is "all of it".
set -eu
user=65534 patience=60 main=0 engine=0
work=/run/sycld-test
mkdir "$work"
cd "$work"

fail() {
	echo "FAILED: $*"
	systemctl --no-pager status sycld.service sycld.socket || true
	tail -n 20 /run/log "$work"/*.log || true
	exit 1
}

# await COMMAND...: until it succeeds.
await() {
	local end=$((SECONDS + patience))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || fail "this does not come: $*"
		sleep 0.05
	done
}

property() {
	systemctl show --property "$1" --value sycld.service
}

# said NAME LINE COUNT: the client has said that line so often, at least.
said() {
	[ "$(grep -c "^$2" "$1.log")" -ge "$3" ]
}

# client NAME: a client that works on order, as a user without a name.
client() {
	mkfifo "$1.in"
	: >"$1.log" # it is looked at before the client has been started
	sycld-test-worker steps --uid "$user" --count 20 <"$1.in" >"$1.log" 2>&1 &
	eval "exec {fd_$1}>$1.in"
	await said "$1" ready 1
}

# tell NAME: orders another piece of checked work, done meanwhile.
tell() {
	local -n fd=fd_$1
	echo go >&"$fd"
}

# works NAME: orders another piece of work.
works() {
	local before
	before=$(grep -c '^done' "$1.log" || true)
	tell "$1"
	await said "$1" "done" $((before + 1))
}

# ends NAME: all that it did was right.
ends() {
	local -n fd=fd_$1
	exec {fd}>&-
	await said "$1" ok 1
}

# tenant KEY: what status says of the one tenant's engine.
tenant() {
	syclctl status --json | tr -d ' \n' | sed -n "s/.*\"tenants\":\[{[^]]*\"$1\":\([0-9]*\).*/\1/p"
}

engine_is_there() {
	local now
	now=$(tenant engine_pid)
	[ -n "$now" ] && [ "$now" != 0 ] && engine=$now
}

# next_main: another process is the service's now, and is ready.
next_main() {
	local now
	now=$(property MainPID)
	[ "$now" != 0 ] && [ "$now" != "$main" ] && [ "$(property ActiveState)" = active ] && main=$now
}

is_back() {
	[ "$(tenant engine_pid)" = "$engine" ] && [ "$(tenant sessions)" = 1 ]
}

engine_is_gone() {
	[ ! -e "/proc/$engine" ]
}

# is_empty: nothing that the service has started is there.
is_empty() {
	[ -z "$(cat /sys/fs/cgroup/system.slice/sycld.service/cgroup.procs 2>/dev/null)" ]
}

# goes_on WHAT: the same engine and its session are there, and work; others can come.
goes_on() {
	await is_back
	works first
	client "after_$1"
	works "after_$1"
	ends "after_$1"
	# More starts in ten seconds than systemd allows by itself.
	systemctl reset-failed sycld.service
	echo "ok: $1"
}

ldconfig
systemd-sysusers
systemd-tmpfiles --create sycld.conf
systemctl start sycld.socket
[ "$(property ActiveState)" = inactive ] || fail "it runs before anybody has come"

client first
main=$(property MainPID)
[ "$(property ActiveState)" = active ] || fail "a connection has not started it"
await engine_is_there
works first
echo "ok: started by its socket"

systemctl reload sycld.service
[ "$(property MainPID)" = "$main" ] || fail "a reload is no restart"
goes_on reload

systemctl restart sycld.service
next_main || fail "a restart has started none"
goes_on restart

# In the middle of work, again and again.
for ((i = 0; i < 3; i++)); do
	tell first
	systemctl restart sycld.service
done
next_main || fail "a restart has started none"
goes_on restarts

systemctl kill --kill-whom=main --signal=KILL sycld.service
await next_main
goes_on kill

# The watchdog finds that it does not answer.
kill -STOP "$main"
await next_main
goes_on watchdog

ends first
client second
systemctl kill --signal=KILL sycld.service
await next_main
[ ! -e "/proc/$engine" ] || fail "the engine was killed, too"
client third
works third
ends third
echo "ok: killed with its engines"

# The kernel ends an engine for want of memory: the service is the others', and goes on.
group=/sys/fs/cgroup$(property ControlGroup)
if [ -e "$group/memory.max" ]; then
	client starved
	works starved
	await engine_is_there
	main=$(property MainPID)
	systemctl set-property --runtime sycld.service MemoryMax=32M
	await engine_is_gone
	systemctl set-property --runtime sycld.service MemoryMax=infinity
	[ "$(property MainPID)" = "$main" ] || fail "an engine without memory took the service along"
	[ "$(property ActiveState)" = active ] || fail "the service ends with an engine that had no memory"
	client fed
	works fed
	ends fed
	[ "$(property MainPID)" = "$main" ] || fail "the service was started anew"
	systemctl reset-failed sycld.service
	echo "ok: an engine without memory"
else
	echo "ok: no control group for memory here"
fi

await engine_is_there
systemctl stop sycld.service
[ ! -e "/proc/$engine" ] || fail "an engine outlives a stop"
await is_empty
client fourth
works fourth
ends fourth
echo "ok: stopped, and started by the next connection"

systemd-analyze security --threshold=20 --no-pager sycld.service >security.log || fail "it is more exposed than 2.0"
tail -n 1 security.log
echo "all of it"
