# shellcheck shell=bash
# Clients that work on order, and what waits for them. Sourced by inside.sh and guest_inside.sh, which set `user`, `patience` and `work`,
# the folder that they are in.
# shellcheck disable=SC2154
fail() {
	echo "FAILED: $*"
	systemctl --no-pager status sycld.service sycld.socket || true
	tail -n 20 "$work"/*.log || true
	if [ -f /run/log ]; then tail -n 20 /run/log; else journalctl --no-pager --unit sycld.service --lines 40; fi || true
	exit 1
}

# await COMMAND...: waits until it succeeds.
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

# said NAME LINE COUNT: the client has printed that line at least that often. One that has failed prints nothing more.
said() {
	! grep -h '^FAIL' "$1.log" || fail "the client $1 has failed"
	[ "$(grep -c "^$2" "$1.log")" -ge "$3" ]
}

# with_own_files COMMAND...: replaces this process. A client that had another one's input open would keep that one from its end.
with_own_files() {
	local file
	for file in "/proc/$BASHPID/fd/"*; do
		file=${file##*/}
		[ "$file" -le 2 ] || eval "exec $file>&-"
	done
	exec "$@"
}

# client NAME [UID]: starts a client that works on order, as that user.
client() {
	mkfifo "$1.in"
	: >"$1.log" # it is looked at before the client has been started
	with_own_files sycld-test-worker steps --uid "${2-$user}" --count 20 <"$1.in" >"$1.log" 2>&1 &
	eval "exec {fd_$1}>$1.in"
	await said "$1" ready 1
}

# tell NAME: orders another piece of checked work and does not wait for it.
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

# ends NAME: all its results were right.
ends() {
	local -n fd=fd_$1
	exec {fd}>&-
	await said "$1" ok 1
}
