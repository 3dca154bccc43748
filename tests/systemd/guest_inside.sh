#!/bin/bash
# The script that guest.sh runs in the virtual machine that it boots: packages, then control groups. The last line is "all of it".
# shellcheck disable=SC2034,SC2154  # clients.sh uses patience; users' names are declared at the end
set -eu
patience=1800 main=0
work=/run/sycld-test packages=/sycld-test
tree=/sys/fs/cgroup/system.slice/sycld.service
mkdir "$work"
cd "$work"

# shellcheck source=tests/systemd/clients.sh
. /usr/local/lib/sycld-test-clients

# What packages could leave behind, without caches of other programs and dpkg's own files.
files() {
	find /etc /lib/systemd /usr /var/cache/sycld /var/lib/systemd /var/lib/private /run/sycld /run/sycld-exporter -xdev \
		\( -path /usr/share/man/index.db -o -path /etc/ld.so.cache -o -path /var/lib/systemd/timers -o -name '*.pyc' \) -prune -o -print \
		2>/dev/null | grep -v '^/etc/\(group\|gshadow\|passwd\|shadow\|subuid\|subgid\)-\?$' | sort
}

# Numbers for the machine's slowest processor. With further LINES.
configure() {
	mkdir -p /etc/sycld/sycld.conf.d
	printf '%s\n' '[service]' 'engine_idle_seconds = 7200' 'engine_start_seconds = 1800' 'handshake_seconds = 1800' '[limits]' \
		'build_seconds = 1800' "$@" >/etc/sycld/sycld.conf.d/test.conf
	! systemctl is-active --quiet sycld.service || systemctl reload sycld.service || fail "it cannot be reloaded"
}

# engine_of UID: prints the pid of that user's engine, 0 if there is none. On a slow machine an answer may come too late for syclctl.
engine_of() {
	until syclctl status --json >status.json 2>status.log; do sleep 0.05; done
	tr -d ' \n' <status.json | grep -o "{\"uid\":$1,[^{}]*" | sed -n 's/.*"engine_pid":\([0-9]*\).*/\1/p' | head -n 1
}

# value FILE: of a control group of the service.
value() {
	cat "$tree/$1" 2>/dev/null
}

# happened FILE KEY: prints how often, in all groups of the service together. A user's own group goes with the last engine.
happened() {
	sed -n "s/^$2 //p" "$tree/$1"
}

# Without ps and pgrep, which a minimal Debian does not have.
user_has_no_process() {
	! stat -c %u /proc/[0-9]* 2>/dev/null | grep -qx "$1"
}

has_no_process_named() {
	! cat /proc/[0-9]*/comm 2>/dev/null | grep -xE "$1"
}

next_main() {
	local now
	now=$(property MainPID)
	[ "$now" != 0 ] && [ "$now" != "$main" ] && [ "$(property ActiveState)" = active ] && main=$now
}

# hostile NAME UID COMMAND COUNT: starts a kernel of native code and waits until it has taken what it gets.
hostile() {
	mkfifo "$1.in"
	: >"$1.log"
	with_own_files sycld-test-worker "$3" --uid "$2" --count "$4" <"$1.in" >"$1.log" 2>&1 &
	eval "exec {fd_$1}>$1.in"
	await grep -qE '^(took|result|FAIL|none)' "$1.log"
	! grep -E '^(FAIL|none)' "$1.log" || fail "$1 does not run"
}

# took NAME: prints how many.
took() {
	sed -n 's/^took \([0-9]*\) .*/\1/p' "$1.log"
}

leaves() {
	local -n fd=fd_$1
	exec {fd}>&-
}

installed() {
	files >/tmp/before
	dpkg -i "$packages"/one/*.deb >dpkg.log 2>&1 || fail "the installation failed"
	getent group sycld sycld-observers >/dev/null || fail "the installation made no group"
	[ "$(systemctl is-active sycld.socket)" = active ] || fail "the socket does not listen"
	[ "$(property ActiveState)" = inactive ] || fail "it runs before anybody has come"
	[ "$(systemctl is-active sycld-exporter.service)" = active ] || fail "the exporter does not run"
	configure
	echo "ok: installed; the socket listens"
}

exporter_finds_service() {
	curl -s http://127.0.0.1:9477/metrics | grep -qx 'sycld_up 1'
}

# Several users at one time.
used() {
	client a "$alice"
	client b "$bob"
	works a
	works b
	main=$(property MainPID)
	engine_a=$(engine_of "$alice") engine_b=$(engine_of "$bob")
	[ "$engine_a" != "$engine_b" ] || fail "two users have one engine"
	systemctl --no-pager --lines 0 status sycld.service
	for name in sycld:15 sycld-exporter:12; do
		systemd-analyze security --threshold="${name#*:}" --no-pager "${name%:*}.service" >security.log || fail "${name%:*} is too exposed"
		tail -n 1 security.log
	done
	await exporter_finds_service
	setpriv --reuid "$alice" --regid "$alice" --clear-groups curl -s --unix-socket /run/sycld-exporter/web.sock http://localhost/metrics >metrics.log
	grep -q "^sycld_user_sessions{user=\"alice\".*state=\"open\"} 1" metrics.log || fail "the exporter does not show a user the user's session"
	! grep -q 'user="bob"' metrics.log || fail "the exporter shows a user another's session"
	echo "ok: two users, and the exporter"
}

# goes_on WHAT: both sessions continue in their engines.
goes_on() {
	works a
	works b
	await [ "$(engine_of "$alice") $(engine_of "$bob")" = "$engine_a $engine_b" ]
	systemctl reset-failed sycld.service
	echo "ok: $1"
}

# An upgrade restarts a service whose sessions are open and work.
renewed() {
	systemctl reload sycld.service || fail "it cannot be reloaded"
	[ "$(property MainPID)" = "$main" ] || fail "a reload is no restart"
	goes_on "reload"
	tell a
	systemctl restart sycld.service || fail "it cannot be restarted"
	next_main || fail "a restart has started none"
	goes_on "restart"
	tell a
	dpkg -i "$packages"/newer/*.deb >dpkg.log 2>&1 || fail "the upgrade failed"
	next_main || fail "the upgrade has not restarted the service"
	dpkg -s sycld | grep -q '^Version: .*+later$' || fail "the upgrade left the older version"
	goes_on "upgrade"
}

# By default: a quarter of the service's processes, three quarters of its memory.
limited() {
	local group=uid-$alice
	[ "$(value "$group/pids.max")" = $(($(value pids.max) / 4)) ] || fail "a user's processes: $(value "$group/pids.max")"
	[ $(($(value memory.max) - $(value "$group/memory.max"))) -ge $(($(value memory.max) / 4 - 8192)) ] || fail "a user's memory"
	[ "$(value "$group/memory.oom.group")" = 1 ] || fail "memory.oom.group is not set"
	[ "$(value "$group/cpu.weight")" = 100 ] || fail "users do not divide the processors"
	grep -qx "0::/system.slice/sycld.service/$group/engine-$engine_a" "/proc/$engine_a/cgroup" || fail "an engine has no group"
	echo "ok: $(value "$group/pids.max") processes, $(value "$group/memory.max") bytes for a user"
}

# The default filter permits threads. A user takes all that there are for this user; others' engines still start.
threads_bound() {
	hostile threads "$mallory" breed-threads 100000
	[ "$(value "uid-$mallory/pids.current")" = "$(value "uid-$mallory/pids.max")" ] || fail "the user has not reached the limit"
	value "uid-$mallory/pids.events" | grep -qx 'max [1-9][0-9]*' || fail "the kernel has refused nothing"
	client c "$carol"
	works c
	ends c
	await syclctl kill --uid "$mallory"
	await user_has_no_process_of_engine "$mallory"
	leaves threads
	goes_on "$(took threads) threads of one user"
}

user_has_no_process_of_engine() {
	[ "$(value "uid-$1/pids.current" || echo 0)" = 0 ]
}

# The kernel ends this user's engine with its build helper, and no other one.
memory_bound() {
	local before
	configure '[isolation]' 'memory_bytes = 600M' 'cpu_weight = 50' 'filter = basic'
	systemctl restart sycld.service || fail "it cannot be restarted"
	next_main || fail "a restart has started none"
	before=$(happened memory.events oom_group_kill)
	hostile eater "$mallory" eat 4000
	grep -q '^result' eater.log || fail "the kernel has let a user have more: $(took eater) MiB"
	[ "$(happened memory.events oom_group_kill)" = $((before + 1)) ] || fail "the group was not ended as one"
	await user_has_no_process_of_engine "$mallory"
	leaves eater
	[ "$(property MainPID)" = "$main" ] || fail "the service was started anew"
	goes_on "a user without memory: $(grep '^result' eater.log)"
}

# Processes, which the filter `basic` permits. Neither the order to kill nor a stop leaves one.
processes_end() {
	configure '[isolation]' 'memory_bytes = 2G' 'cpu_weight = 50' 'filter = basic'
	hostile children "$mallory" breed 200
	[ "$(took children)" = 200 ] || fail "there are $(took children) processes"
	[ "$(value "uid-$mallory/memory.max") $(value "uid-$mallory/cpu.weight")" = "$((2 << 30)) 50" ] || fail "the limits are not those of the configuration"
	await syclctl kill --uid "$mallory"
	await user_has_no_process_of_engine "$mallory"
	leaves children
	goes_on "200 processes of one user are killed with the engine"
	hostile more "$mallory" breed 200
	ends a
	ends b
	systemctl stop sycld.service
	! grep -q . "$tree"/cgroup.procs 2>/dev/null || fail "a stop leaves processes"
	[ ! -e "$tree/uid-$mallory" ] || [ "$(value "uid-$mallory/pids.current")" = 0 ] || fail "a stop leaves a user's processes"
	leaves more
	wait
	await user_has_no_process "$mallory"
	echo "ok: a stop leaves none of 200 processes"
}

# Ten users, with an engine for each connection. All are served. The engines' starts may take all processors, so
# that an answer about the service comes too late; it answers again afterwards.
crowds() {
	local count number longest=0 late=0 start
	count=$(sed -n 's/.*sycld-test=\([0-9]*\).*/\1/p' /proc/cmdline)
	configure '[isolation]' 'isolation = session' '[service]' "engines = $((count * 50))"
	for ((number = 0; number < 10; number++)); do
		mkfifo "crowd$number.in"
		: >"crowd$number.log"
		with_own_files sycld-test-worker storm --endpoint unix:/run/sycld/session.sock --uid $((4000 + number)) --count "$count" \
			<"crowd$number.in" >"crowd$number.log" 2>&1 &
		eval "exec {fd_crowd$number}>crowd$number.in"
	done
	for ((number = 0; number < 10; number++)); do
		await said "crowd$number" greeted 1
		local -n fd=fd_crowd$number
		echo go >&"$fd"
		exec {fd}>&-
	done
	until [ "$(cat crowd*.log | grep -c '^ok\|^FAIL')" = 10 ]; do
		start=$(date +%s%3N)
		syclctl status >status.log 2>&1 || late=$((late + 1))
		start=$(($(date +%s%3N) - start))
		[ "$start" -le "$longest" ] || longest=$start
	done
	! grep '^FAIL' crowd*.log || fail "not all of them are served"
	wait
	await syclctl status >status.log
	echo "ok: ten users with $count connections each; the status took at most $longest ms, and came too late $late times"
}

removed() {
	rm /etc/sycld/sycld.conf.d/test.conf
	rmdir /etc/sycld/sycld.conf.d 2>/dev/null || true
	dpkg -r sycld-exporter sycld >dpkg.log 2>&1 || fail "the removal failed"
	[ -e /etc/sycld/sycld.conf ] || fail "the removal deleted the configuration"
	has_no_process_named 'sycld|sycl-engine|sycld-exporter' || fail "the removal leaves processes"
	! systemctl list-units --all --no-legend 'sycld*' | grep -v 'not-found\|sycld-test' || fail "the removal leaves units"
	dpkg -P sycld-exporter sycld-opencl-icd sycld sycld-doc libsyclclient-dev libsyclclient0 >dpkg.log 2>&1 || fail "the purge failed"
	files | diff /tmp/before - >/tmp/left || fail "the packages left or removed these files: $(head -n 20 /tmp/left)"
	echo "ok: removed and purged; nothing is left"
}

for name in alice bob carol mallory; do
	useradd "$name"
	declare "$name=$(id -u "$name")"
done
installed
used
renewed
limited
threads_bound
memory_bound
processes_end
crowds
removed
echo "all of it"
