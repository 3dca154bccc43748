#!/bin/sh
# tests/slurm/health.sh: what sycld-health makes of what the service says. Engines run their users' code, so an engine may say
# anything of a device: only what the engine of the script's own user says drains a node. And what it removes of jobs that Slurm
# no longer has. Commands of Slurm and of the service are imitated, so this runs without them.
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/sycld-health-XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP
failures=0
mkdir "$folder/bin"
# AWK: the awk that the script uses.
[ -z "${AWK:-}" ] || ln -s "$AWK" "$folder/bin/awk"

imitate() { # PROGRAM, with its script on standard input
	{
		printf '#!/bin/sh\nfolder=%s\n' "$folder"
		cat
	} >"$folder/bin/$1"
	chmod 755 "$folder/bin/$1"
}

imitate syclctl <<'END_OF_PROGRAM'
case $* in
status) echo "health: $(cat "$folder/health")" ;;
'devices --json') [ -e "$folder/devices" ] && cat "$folder/devices" ;;
'jobs --json') printf '      "job": %s,\n      "cgroup": "/sycld-test-none",\n' 91000007 91000008 91000010 91000012 ;;
'job end '*)
	echo "$3" >>"$folder/ended"
	for job in $(cat "$folder/again" 2>/dev/null); do [ "$job" = "$3" ] || touch -c "$folder/jobs/$job"; done
	;;
*) exit 1 ;;
esac
END_OF_PROGRAM

imitate scontrol <<'END_OF_PROGRAM'
case $* in
'-o show node '*) echo "NodeName=$4 State=IDLE $([ ! -s "$folder/reason" ] || echo "Reason=$(cat "$folder/reason") [root@2026-01-01T00:00:00]")" ;;
*' state=resume') : >"$folder/reason" ;;
*' state=drain reason='*) printf '%s' "${4#reason=}" >"$folder/reason" ;;
*) exit 1 ;;
esac
END_OF_PROGRAM

imitate squeue <<'END_OF_PROGRAM'
[ -e "$folder/queue" ] && cat "$folder/queue"
END_OF_PROGRAM

# INDEX AVAILABLE UID...: as syclctl prints what engines of these users say. A name may have any printable text.
devices() {
	echo '{' && echo '  "devices": ['
	while read -r index available uids; do
		printf '    {\n      "index": %s,\n      "name": "x \\"available\\": false, \\"uids\\": [ %s",\n      "available": %s,\n' \
			"$index" "$(id -u)" "$available"
		printf '      "uids": [\n'
		for uid in $uids; do printf '        %s,\n' "$uid"; done
		printf '      ],\n      "disputed": false,\n      "retired": false\n    },\n'
	done
	echo '  ],' && echo '  "devices_now": []' && echo '}'
}

expect_reason() { # WHAT REASON: of the node, once the script has run
	SYCLD_STATE_DIR=$folder/jobs SYCLD_STAMP=$folder/stamp SLURMD_NODENAME=n1 SLURM_BIN=$folder/bin sh "$root/client/slurm/sycld-health"
	[ "$(cat "$folder/reason")" = "$2" ] && return 0
	failures=$((failures + 1))
	echo "FAILED: $1: the reason is '$(cat "$folder/reason")'"
}

own=$(id -u)
other=$((own + 1000))
: >"$folder/reason"
: >"$folder/stamp"
echo 'healthy' >"$folder/health"
expect_reason "a healthy service drains no node" ''

echo 'device 0 is not available; engines differ about device 0' >"$folder/health"
printf '0 true %s %s\n0 false %s\n7 false %s\n' "$((other + 1))" "$own" "$other" "$other" | devices >"$folder/devices"
expect_reason "what a user's engine says of devices drains no node" ''
printf '0 false %s %s\n1 true %s\n' "$own" "$other" "$own" | devices >"$folder/devices"
expect_reason "a device that is ill drains the node" 'sycld: device 0 is not available'
rm "$folder/devices"
expect_reason "without an answer the node stays as it is" 'sycld: device 0 is not available'
printf '0 false %s\n' "$other" | devices >"$folder/devices"
expect_reason "without an engine of its own the node stays as it is" 'sycld: device 0 is not available'
echo 'healthy' >"$folder/health"
expect_reason "without engines the node stays as it is" 'sycld: device 0 is not available'
printf '0 true %s\n0 false %s\n' "$own" "$other" | devices >"$folder/devices"
expect_reason "a device that is well again brings the node back" ''
printf '0 false %s\n' "$own" | devices >"$folder/devices"
expect_reason "soon after a look at the devices nobody looks again" ''
rm "$folder/stamp"
expect_reason "an ill device drains the node although no engine says so" 'sycld: device 0 is not available'
printf '0 true %s\n' "$own" | devices >"$folder/devices"
expect_reason "it brings the node back in the same way" ''

echo 'the engine of x(1) does not answer; 2 sessions are paused; device memory is full: 1 session waits for it' >"$folder/health"
expect_reason "what concerns users drains no node" ''
echo 'no new session is accepted; device 0 is not available' >"$folder/health"
rm "$folder/devices"
expect_reason "a drained service drains the node" 'sycld: no new session is accepted'
echo 'the service is stopping' >"$folder/health"
expect_reason "another cause replaces that" 'sycld: the service is stopping'
printf 'the fan is loud' >"$folder/reason"
echo 'healthy' >"$folder/health"
expect_reason "another reason stays" 'the fan is loud'

expect_jobs() { # WHAT FILES, once the script has run: the jobs whose files stay
	expect_reason "$1" 'the fan is loud'
	left=$(find "$folder/jobs" -type f -printf '%f\n' | sort | paste -s -d ' ')
	[ "$left" = "$2" ] && return 0
	failures=$((failures + 1))
	echo "FAILED: $1: there are the files '$left'"
}

mkdir "$folder/jobs"
touch -d '2 minutes ago' "$folder/jobs/91000007" "$folder/jobs/91000008" "$folder/jobs/91000011"
touch "$folder/jobs/91000009"
expect_jobs "without Slurm's answer all jobs stay" '91000007 91000008 91000009 91000011'
echo 91000008 >"$folder/queue"
# Another user's process may have the name of a step. Only root can start one.
if [ "$own" = 0 ]; then
	setpriv --reuid 65534 --clear-groups bash -c 'exec -a "slurmstepd: [91000011.0]" tail -f /dev/null' &
	until pgrep -f '^slurmstepd: \[91000011\.' >/dev/null; do sleep 0.1; done
fi
expect_jobs "a job that Slurm has, and one that has just begun, stay" '91000008 91000009'
[ "$own" != 0 ] || kill $!
[ "$(cat "$folder/ended")" = 91000007 ] || { echo "FAILED: other jobs have ended: $(cat "$folder/ended")"; failures=1; }
# Each begins again while the other one is ended.
echo 91000010 91000012 >"$folder/again"
touch -d '2 minutes ago' "$folder/jobs/91000010" "$folder/jobs/91000012"
expect_reason "jobs that are lost drain no node" 'the fan is loud'
[ "$(find "$folder/jobs" -name '9100001[02]' | wc -l)" = 1 ] || { echo "FAILED: a job that had begun again has ended"; failures=1; }
[ "$failures" = 0 ] || exit 1
echo "nodes are drained for what is ill"
