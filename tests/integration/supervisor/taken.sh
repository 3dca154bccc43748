#!/bin/bash
# taken.sh BIN: another user has made a user's folder below /tmp. The user has a service all the same, which the library and syclctl find.
# BIN: the folder of the programs.
set -u
bin=$1
uid=$((300000 + $$ % 100000)) service=''

skip() {
	echo "skipped: $1" >&2
	exit 77
}

[ "$(id -u)" = 0 ] || skip "only root may act as another user"
[ ! -e /run/sycld ] || skip "this machine has a service of its own"
command -v setpriv >/dev/null || skip "no setpriv"
setpriv --reuid "$uid" --regid "$uid" --clear-groups true 2>/dev/null || skip "no such user can be had here"
setpriv --reuid "$uid" --regid "$uid" --clear-groups test -x "$bin/sycld" || skip "other users cannot read the programs"

taken=/tmp/sycld-$uid home=$(mktemp -d) || exit 1
# shellcheck disable=SC2317  # the trap calls it
clean() {
	[ -z "$service" ] || { kill -KILL "$service" && wait "$service"; } 2>/dev/null
	rm -rf "$home" "$taken"
}
trap clean EXIT
mkdir "$taken" && chmod 777 "$taken" && chown "$uid" "$home" || exit 1

as_user() {
	setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i HOME="$home" PATH="$PATH" "$@"
}

# This is not in a function: the process that is ended later must be the service.
setpriv --reuid "$uid" --regid "$uid" --clear-groups env -i HOME="$home" PATH="$PATH" "$bin/sycld" --user >"$home.log" 2>&1 &
service=$!
until as_user "$bin/syclctl" version --json >"$home.answer" 2>&1; do
	kill -0 "$service" 2>/dev/null || {
		echo "the service does not run:"
		cat "$home.log"
		rm -f "$home.log" "$home.answer"
		exit 1
	}
done
rm -f "$home.log" "$home.answer"

failed=0
[ -S "$home/.local/state/sycld/session.sock" ] || {
	echo "the user's own folder has no socket"
	failed=1
}
as_user "$bin/saxpy" || failed=1
[ -z "$(ls -A "$taken")" ] || {
	echo "something was left in the folder that is not the user's: $(ls -A "$taken")"
	failed=1
}
# The other user removes the folder: the running service is still the same.
rmdir "$taken"
as_user "$bin/syclctl" version || failed=1
exit "$failed"
