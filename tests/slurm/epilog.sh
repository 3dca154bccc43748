#!/bin/sh
# tests/slurm/epilog.sh: the epilogs of two jobs on the same many nodes, which have long names, run at once. Each job's
# comment must have the sums over all nodes, and what others had written must stay. Commands of Slurm are imitated, so this
# runs without it. The imitated database takes no more than MariaDB's type TEXT.
root=$(cd "$(dirname "$0")/../.." && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/sycld-epilog-XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP
nodes=${NODES:-24}
failures=0
mkdir "$folder/bin" "$folder/extra" "$folder/comment" "$folder/lock"
# AWK: the awk that epilogs use.
[ -z "${AWK:-}" ] || ln -s "$AWK" "$folder/bin/awk"

awk -v count="$nodes" 'BEGIN {for (i = 1; i <= count; i++) printf "node-%d-%s\n", i, "of-a-cluster-whose-nodes-have-names-of-sixty-bytes"}' >"$folder/names"

imitate() { # PROGRAM, with its script on standard input
	{
		printf '#!/bin/sh\nfolder=%s\n' "$folder"
		cat
	} >"$folder/bin/$1"
	chmod 755 "$folder/bin/$1"
}

# The node with number N has used N ms. A job's name and comment look like fields of `scontrol show job`, and its list of nodes
# lacks those whose epilog has ended.
imitate syclctl <<'END'
number=${SLURMD_NODENAME#node-}
number=${number%%-*}
cat <<ROWS
{
  "accounts": [
    {
      "job": $SLURM_JOB_ID,
      "commands": 2,
      "commands_failed": 1,
      "device_ns": ${number}000000,
      "delay_p50_ns": ${number}000,
      "delay_p99_ns": ${number}000000,
      "memory_peak_bytes": ${number}00,
      "bytes_to_device": 4096,
      "bytes_to_host": 0,
      "spilled_bytes": 0
    }
  ]
}
ROWS
END

imitate scontrol <<'END'
case $* in
'show hostnames '*) cat "$folder/names" ;;
'-o show job '*) echo "JobId=$4 JobName=test NodeList=node-x StartTime=2020-01-01T00:00:00 ReqNodeList=(null) NodeList=node-late NumNodes=2 TRES=cpu=1,gres/sycl=25 TresPerNode=gres:sycl:25 Comment=x NodeList=node-x StartTime=2099-01-01T00:00:00" ;;
'-o show node all')
	while read -r name; do echo "NodeName=$name State=IDLE $(cat "$folder/extra/$name" 2>/dev/null)"; done <"$folder/names"
	;;
'-o show node '*) echo "NodeName=$4 State=IDLE $(cat "$folder/extra/$4" 2>/dev/null)" ;;
'update nodename='*)
	name=${2#nodename=}
	printf 'Extra=%s' "${3#extra=}" >"$folder/extra/$name.$$"
	mv "$folder/extra/$name.$$" "$folder/extra/$name"
	;;
*) exit 1 ;;
esac
END

# Job 11 is the first task of an array of that number.
imitate sacct <<'END'
while [ $# -gt 0 ]; do
	[ "$1" = -j ] && job=$2
	[ "$1" = -o ] && columns=$2
	shift
done
case $columns in
*NodeList*)
	[ "$job" != 11 ] || { name=11_1 && echo '11_2|12|node-x|2020-01-01T00:00:00'; }
	echo "${name:-$job}|$job|all|2020-01-01T00:00:00"
	;;
*) cat "$folder/comment/$job" ;;
esac
END

imitate sacctmgr <<'END'
job=${5#job=}
text=${7#AdminComment=}
[ ${#text} -le 65535 ] || exit 1
echo "$job" >>"$folder/writes"
printf '%s\n' "$text" >"$folder/comment/$job.$$"
mv "$folder/comment/$job.$$" "$folder/comment/$job"
END

expect() { # WHAT COMMAND...
	what=$1
	shift
	"$@" && return 0
	failures=$((failures + 1))
	echo "FAILED: $what"
}
comment_has() { grep -qF -- "$2" "$folder/comment/$1"; }

# Each node has a script and a lock of its own.
run_epilogs() { # JOB: on all nodes, the first one first, because it must wait
	while read -r name; do
		cp "$root/client/slurm/sycld-epilog" "$folder/extra/$name.sh"
		SLURM_JOB_ID=$1 SLURMD_NODENAME=$name SLURM_BIN=$folder/bin SYCLD_LOCK=$folder/lock/$name SYCLD_SECONDS=100 sh "$folder/extra/$name.sh" &
	done <"$folder/names"
}

echo 'of the site' >"$folder/comment/7"
echo 'sycld: nodes=1/1 device_s=9' >"$folder/comment/8"
first=$(head -n 1 "$folder/names")
printf 'Extra=rack 4' >"$folder/extra/$first"
run_epilogs 7
run_epilogs 8
wait
seconds=$(awk -v nodes="$nodes" 'BEGIN {printf "%.6f", nodes * (nodes + 1) / 2 / 1000}')
for job in 7 8; do
	expect "the comment of job $job has the sums over all nodes" comment_has $job "sycld: nodes=$nodes/$nodes device_s=$seconds commands=$((2 * nodes)) failed=$nodes wait_p50_us=$nodes.0 wait_p99_us=${nodes}000.0 memory_peak_bytes=${nodes}00 to_device_bytes=$((4096 * nodes)) to_host_bytes=0 spilled_bytes=0"
	expect "of so many nodes it has no parts" sh -c "! grep -q 'sycld\[' $folder/comment/$job"
	expect "one node alone has written it" [ "$(grep -c "^$job\$" "$folder/writes")" = 1 ]
done
expect "what others had written there stays" comment_has 7 'of the site; sycld: '
expect "what an earlier run had written is replaced" [ "$(grep -c device_s=9 "$folder/comment/8")" = 0 ]
expect "what others had written into Extra stays" grep -q '^Extra=rack 4sycld{' "$folder/extra/$first"
# Fewer nodes: with parts.
head -n 2 "$folder/names" >"$folder/two"
mv "$folder/two" "$folder/names"
: >"$folder/comment/9"
run_epilogs 9
wait
expect "a comment of two nodes has their parts" comment_has 9 "; sycld[$first]: device_s=0.001000 commands=2 "
second=$(sed -n 2p "$folder/names")
expect "a user's lock on the script, which all users can read, holds no epilog up" [ "$(
	exec 8<"$folder/extra/$second.sh"
	flock 8
	SLURM_JOB_ID=12 SLURMD_NODENAME=$second SLURM_BIN=$folder/bin SYCLD_LOCK=$folder/lock/$second SYCLD_SECONDS=1000 timeout 60 sh "$folder/extra/$second.sh"
	grep -c '[{;]12 t=' "$folder/extra/$second"
)" = 1 ]
expect "no user can hold the epilogs' own lock" [ "$(stat -c %a "$folder/lock/$second")" = 600 ]
expect "a node that is down is told" [ "$(
	echo node-none >>"$folder/names"
	: >"$folder/comment/10"
	name=$first
	SLURM_JOB_ID=10 SLURMD_NODENAME=$name SLURM_BIN=$folder/bin SYCLD_LOCK=$folder/lock/$name SYCLD_SECONDS=2 sh "$folder/extra/$name.sh"
	grep -c 'sycld: nodes=1/3' "$folder/comment/10"
)" = 1 ]
head -n 1 "$folder/names" >"$folder/one"
mv "$folder/one" "$folder/names"
: >"$folder/comment/11_1"
run_epilogs 11
wait
expect "of an array, the comment is that of the task alone" [ "$(grep -c 'sycld: nodes=1/1' "$folder/comment/11_1")$(ls "$folder/comment/11" 2>/dev/null)" = 1 ]
[ "$failures" = 0 ] || { cat "$folder"/comment/*; exit 1; }
echo "epilogs on $nodes nodes have written all that was used"
