#!/bin/bash
# The script that boot.sh runs under the systemd that it boots. The last line is "all of it".
set -eu
user=65534 patience=60 main=0 engine=0
work=/run/sycld-test
mkdir "$work"
cd "$work"

# shellcheck source=tests/systemd/clients.sh
. /usr/local/lib/sycld-test-clients

# tenant KEY: prints a value of the status about the only tenant's engine.
tenant() {
	syclctl status --json | tr -d ' \n' | sed -n "s/.*\"tenants\":\[{[^]]*\"$1\":\([0-9]*\).*/\1/p"
}

engine_is_there() {
	local now
	now=$(tenant engine_pid)
	[ -n "$now" ] && [ "$now" != 0 ] && engine=$now
}

# next_main: waits until another process is the service's main process and is ready.
next_main() {
	local now
	now=$(property MainPID)
	[ "$now" != 0 ] && [ "$now" != "$main" ] && [ "$(property ActiveState)" = active ] && main=$now
}

# engine_finds PROCESS: in the engine's view of the machine, with its user's rights.
engine_finds() {
	nsenter --target "$engine" --mount setpriv --reuid "$user" --regid "$user" --clear-groups --bounding-set=-all test -e "/proc/$1"
}

# in_service COMMAND...: with the service's view of files, as root.
in_service() {
	nsenter --target "$main" --mount "$@" 2>>files.log
}

has_group() {
	grep -q "^0::$(property ControlGroup)/uid-$user/engine-$engine\$" "/proc/$engine/cgroup"
}

# The service makes users' groups in its own group, and can change no other one.
control_groups() {
	local tree=/sys/fs/cgroup own
	own=$tree$(property ControlGroup)
	has_group || fail "an engine has no control group"
	in_service mkdir "$own/uid-0" || fail "the service cannot make a control group in its own"
	in_service rmdir "$own/uid-0"
	! in_service mkdir "$tree/sycld-test" || fail "the service can make control groups beside its own"
	! in_service sh -c "echo 1 >$tree/system.slice/cgroup.freeze" || fail "the service can change other control groups"
	echo "ok: only its own control group is writable"
}

# moved NAME LINE: the client NAME works with a service in another slice, whose drop-in has that further line.
moved() {
	systemctl stop sycld.service
	mkdir -p /run/systemd/system/sycld.service.d
	printf '[Service]\nSlice=moved.slice\n%s\n' "$2" >/run/systemd/system/sycld.service.d/slice.conf
	systemctl daemon-reload
	client "$1"
	works "$1"
	await engine_is_there
}

# The unit names the service's group. In another slice that name is wrong, and a drop-in must have the right one.
other_slices() {
	moved unnamed ""
	! has_group || fail "a group that the unit does not name is writable"
	ends unnamed
	moved named "ReadWritePaths=/sys/fs/cgroup/moved.slice/sycld.service"
	has_group || fail "a drop-in cannot name the group"
	ends named
	systemctl stop sycld.service
	rm /run/systemd/system/sycld.service.d/slice.conf
	systemctl daemon-reload
	echo "ok: in another slice"
}

is_back() {
	[ "$(tenant engine_pid)" = "$engine" ] && [ "$(tenant sessions)" = 1 ]
}

engine_is_gone() {
	[ ! -e "/proc/$engine" ]
}

# is_empty: no process that the service has started is left.
is_empty() {
	[ -z "$(cat /sys/fs/cgroup/system.slice/sycld.service/cgroup.procs 2>/dev/null)" ]
}

# goes_on WHAT: the same engine and its session exist and work, and others can connect.
goes_on() {
	await is_back
	works first
	client "after_$1"
	works "after_$1"
	ends "after_$1"
	# These are more starts in ten seconds than systemd allows by default.
	systemctl reset-failed sycld.service
	echo "ok: $1"
}

# Two services leave a group with a controller and a process in it, as a service that dies with limits of users does. One has the step of
# sycld.service after its end, and one does not.
dies_with_controllers() {
	cat >/usr/local/bin/sycld-test-dies <<-'SCRIPT'
		#!/bin/bash
		group=/sys/fs/cgroup$(sed -n s/^0:://p /proc/self/cgroup)
		mkdir -p "$group/service" "$group/uid-1"
		echo $$ >"$group/service/cgroup.procs"
		for controller in $(cat "$group/cgroup.controllers"); do
			echo "+$controller" >"$group/cgroup.subtree_control" || exit 3
		done
		sleep 1000 &
		echo $! >"$group/uid-1/cgroup.procs"
		echo started >>/run/sycld-test/dies.log
		systemd-notify --ready
		kill -SEGV $$
	SCRIPT
	chmod +x /usr/local/bin/sycld-test-dies
	cat >"/run/systemd/system/sycld-test-dies-$1.service" <<-UNIT
		[Service]
		Type=notify
		NotifyAccess=all
		ExecStart=/usr/local/bin/sycld-test-dies
		Restart=on-failure
		RestartSec=100ms
		StartLimitIntervalSec=0
		KillMode=process
		Delegate=yes
		$2
	UNIT
	: >dies.log
	systemctl daemon-reload
	systemctl start "sycld-test-dies-$1.service" || true
}

# The next service cannot start in such a group, and systemd reports it; after the step it can.
controllers_of_the_dead() {
	local step
	step=$(grep '^ExecStopPost=' /usr/local/lib/systemd/system/sycld.service)
	dies_with_controllers without ""
	await failed_for_its_group
	systemctl kill --kill-whom=all --signal=KILL sycld-test-dies-without.service
	systemctl stop sycld-test-dies-without.service
	dies_with_controllers with "$step"
	await has_started 3
	systemctl kill --kill-whom=all --signal=KILL sycld-test-dies-with.service
	systemctl stop sycld-test-dies-with.service
	echo "ok: a group that was left with $(cat /sys/fs/cgroup/system.slice/cgroup.subtree_control) takes the next service"
}

failed_for_its_group() {
	[ "$(systemctl show --property ExecMainStatus --value sycld-test-dies-without.service)" = 219 ]
}

has_started() {
	[ "$(grep -c '^started' dies.log)" -ge "$1" ]
}

# metrics_say LINE: checks what the exporter returns to a client with its token.
metrics_say() {
	local web
	exec {web}<>/dev/tcp/127.0.0.1/9477 || return 1
	printf 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n' "$token" >&"$web"
	cat <&"$web" >metrics.log
	exec {web}>&-
	grep -q "^$1" metrics.log
}

# Without a token it returns no user. With one it returns the session, because it is in the
# observers' group.
exporter() {
	token=0123456789abcdef0123456789abcdef
	systemctl start sycld-exporter.service || fail "the exporter does not start without a token"
	await test -S /run/sycld-exporter/web.sock
	mkdir -p /run/systemd/system/sycld-exporter.service.d /etc/sycld
	(umask 0077 && echo "$token" >/etc/sycld/exporter-token)
	# As the manual page says. Only root may read the file; systemd gives the exporter a copy.
	printf '[Service]\nLoadCredential=token:/etc/sycld/exporter-token\n' >/run/systemd/system/sycld-exporter.service.d/token.conf
	systemctl daemon-reload
	systemctl restart sycld-exporter.service || fail "the exporter does not start with a token"
	await metrics_say 'sycld_up 1'
	metrics_say 'sycld_exporter_sees_all 1' || fail "the token has no effect"
	metrics_say 'sycld_user_sessions{.*state="open"} 1' || fail "the exporter does not see the session"
	token=${token//0/1}
	! metrics_say sycld_user_sessions || fail "another token shows users"
	[ "$(stat -c %U /run/sycld-exporter/web.sock)" != root ] || fail "the exporter runs as root"
	systemd-analyze security --threshold=12 --no-pager sycld-exporter.service >security.log || fail "the exporter is more exposed than 1.2"
	systemctl stop sycld-exporter.service
	echo "ok: the exporter sees all, $(tail -n 1 security.log)"
}

# Processes that boot.sh does not need here leave the root group, so that it can pass on controllers.
echo booted
await grep -qx outside /run/said
read -r -a controllers </sys/fs/cgroup/cgroup.controllers || true
for controller in "${controllers[@]}"; do
	echo "+$controller" >/sys/fs/cgroup/cgroup.subtree_control && echo "+$controller" >/sys/fs/cgroup/system.slice/cgroup.subtree_control
done || true

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
engine_finds self || fail "an engine has no view of processes"
! engine_finds 1 || fail "an engine finds processes of other users"
syclctl sessions | grep -q sycld-test-work || fail "the service does not find the name of another user's program"
echo "ok: started by its socket"
control_groups
exporter

systemctl reload sycld.service
[ "$(property MainPID)" = "$main" ] || fail "a reload is no restart"
goes_on reload

systemctl restart sycld.service
next_main || fail "a restart has started none"
goes_on restart

# This happens during work, several times.
for ((i = 0; i < 3; i++)); do
	tell first
	systemctl restart sycld.service
done
next_main || fail "a restart has started none"
goes_on restarts

systemctl kill --kill-whom=main --signal=KILL sycld.service
await next_main
goes_on kill

# The watchdog detects that it does not answer.
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

# The kernel ends an engine for lack of memory. The service still works for others.
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

if [ -n "$(cat /sys/fs/cgroup/system.slice/cgroup.subtree_control)" ]; then
	controllers_of_the_dead
else
	echo "ok: no controller of version 2 here"
fi

await engine_is_there
systemctl stop sycld.service
[ ! -e "/proc/$engine" ] || fail "an engine outlives a stop"
await is_empty
client fourth
works fourth
ends fourth
echo "ok: stopped, and started by the next connection"
other_slices

systemd-analyze security --threshold=15 --no-pager sycld.service >security.log || fail "it is more exposed than 1.5"
tail -n 1 security.log
echo "all of it"
