#!/bin/sh
# endpoint_secure.sh PROGRAM: a program that runs with other rights than its user's ignores SYCLD_ENDPOINT. PROGRAM opens the default
# endpoint and prints the library's sentence if that fails. 77: no such file can be made here.
set -u
program=$1
folder=$(mktemp -d /tmp/sycl-secure.XXXXXX) || exit 1
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
export SYCLD_ENDPOINT=nonsense HOME=/nowhere XDG_RUNTIME_DIR=/nowhere

"$program" 2>"$folder/plain" && { echo "the endpoint was ignored"; exit 1; }
grep -q SYCLD_ENDPOINT "$folder/plain" || { echo "the sentence does not name SYCLD_ENDPOINT:"; cat "$folder/plain"; exit 1; }

# For root the file gets another owner and the set-user-id bit. For others it gets another of their
# groups and the set-group-id bit.
cp "$program" "$folder/secure" || exit 1
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 "$folder/secure" && chmod 4755 "$folder/secure" || exit 1
else
	group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
	if [ -z "$group" ] || ! chgrp "$group" "$folder/secure" || ! chmod 2755 "$folder/secure"; then
		echo "skipped: this user has one group only"
		exit 77
	fi
fi
# On a file system without set-user-id the file runs with the user's own rights.
if findmnt -no OPTIONS -T "$folder" 2>/dev/null | grep -qw nosuid; then
	echo "skipped: $folder is on a file system without set-user-id"
	exit 77
fi
"$folder/secure" >"$folder/out" 2>&1
status=$?
if grep -q 'loading shared libraries' "$folder/out"; then
	echo "skipped: the other user cannot read the library"
	exit 77
fi
if [ "$status" -eq 0 ] || ! grep -q service "$folder/out" || grep -q SYCLD_ENDPOINT "$folder/out"; then
	cat "$folder/out"
	exit 1
fi
