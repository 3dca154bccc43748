# Jobs in the cluster of cluster.sh, and what must come of them. Sourced by run.
# shellcheck shell=sh disable=SC2034,SC2154
worker=$folder/bin/slurm_worker

expect() { # WHAT COMMAND...
	what=$1
	shift
	"$@" && return 0
	failures=$((failures + 1))
	echo "FAILED: $what"
	return 1
}

ctl() { # NODE WORDS...
	node=$1
	shift
	"$folder/bin/syclctl" --runtime-dir "$folder/$node/sycld" "$@"
}

as_user() { # USER COMMAND...
	user=$1
	shift
	(cd "$folder/output" && LD_LIBRARY_PATH="$folder/lib" setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups "$@")
}

# Submits a script as a user; prints the job's number. The output is in output/NUMBER.out.
submit() { # USER SCRIPT OPTION...
	user=$1 text=$2
	shift 2
	printf '#!/bin/sh\n%s\n' "$text" | as_user "$user" sbatch --parsable -o "$folder/output/%j.out" "$@"
}

state_of() { scontrol -o show job "$1" 2>/dev/null | sed -n 's/.* JobState=\([A-Z]*\).*/\1/p'; }
is_in_state() { [ "$(state_of "$1")" = "$2" ]; }
has_ended() { case $(state_of "$1") in COMPLETED | FAILED | CANCELLED | NODE_FAIL | TIMEOUT) ;; *) false ;; esac }
output_has() { grep -q "$2" "$folder/output/$1.out"; }
node_of() { scontrol -o show job "$1" | sed -n 's/.* NodeList=\([^ ]*\).*/\1/p'; }

number_of() { # NAME: from JSON on standard input, the sum
	sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p" | awk '{sum += $1} END {printf "%.0f", sum}'
}
job_is_known() { [ "$(ctl "$1" jobs --json | number_of job)" != 0 ]; }
job_has_sessions() { [ "$(ctl "$1" jobs --json | number_of sessions)" -gt 0 ]; }
is_suspended() { ctl "$1" jobs --json | grep -q '"suspended": true'; }
is_not_suspended() { ctl "$1" jobs --json | grep -q '"suspended": false'; }
is_paused() { ctl "$1" sessions --json | grep -q '"state": "paused"'; }

# The use that sacct shows equals that of the service, within one percent.
use_is_in_sacct() { # JOB NODE
	ns=$(ctl "$2" accounts --json --by job --job "$1" | number_of device_ns)
	comment=$(sacct -n -X -P -j "$1" -o AdminComment | tail -n 1)
	seconds=$(printf '%s\n' "$comment" | sed -n "s/.*sycld\[$2\]: device_s=\([0-9.]*\).*/\1/p")
	awk -v ns="$ns" -v seconds="${seconds:--1}" 'BEGIN {difference = ns / 1e9 - seconds
		exit !(ns > 0 && difference <= ns / 1e11 && -difference <= ns / 1e11)}'
}

# Users of every Debian system.
users="daemon bin games mail"

fractions() {
	first=$(submit daemon "$worker 20" --gres=sycl:25 -w n1 --sycl-memory=10M --sycl-class=latency)
	second=$(submit bin "$worker 20" --gres=sycl:50 -w n1)
	third=$(submit games "srun $worker 20" --gres=sycl:100 -N 2 -w n2,n3)
	for job in $first $second $third; do
		until_true has_ended "$job"
		expect "job $job is verified" output_has "$job" verified
	done
	expect "job $third ran on two nodes" [ "$(grep -c verified "$folder/output/$third.out")" = 2 ]
	expect "the tasks of a job are in its control group" grep -q "job $first of uid $(id -u daemon)\( (daemon)\)\? in $groups-n1/job_$first: share 25-100 %, memory 10485760 bytes, latency, devices opencl:0" "$folder/log/sycld-n1"
	expect "the use of $first is in sacct" until_true use_is_in_sacct "$first" n1
	expect "the use of $second is in sacct" until_true use_is_in_sacct "$second" n1
	expect "the use of $third is in sacct, of n2" until_true use_is_in_sacct "$third" n2
	expect "the use of $third is in sacct, of n3" until_true use_is_in_sacct "$third" n3
	expect "sacct shows the fraction" [ "$(sacct -n -X -P -j "$first" -o AllocTRES | grep -c gres/sycl=25)" = 1 ]
}

class_of_a_job() {
	job=$(submit daemon "unset SYCLD_CLASS; $worker 1; SYCLD_CLASS=latency $worker 1" --gres=sycl:10 -w n1 --sycl-class=best-effort)
	until_true has_ended "$job"
	expect "a program cannot get a better class than its job" [ "$(grep -c 'verified, class [12]' "$folder/output/$job.out")" = 0 ]
	expect "but it gets that of its job" output_has "$job" 'verified, class 3'
}

suspension() {
	job=$(submit daemon "sleep 1000 | $worker 0" --gres=sycl:25 -w n1)
	until_true job_has_sessions n1
	scontrol suspend "$job"
	expect "a suspended job is suspended at the service" until_true is_suspended n1
	expect "and its session is paused" is_paused n1
	scontrol resume "$job"
	expect "a resumed job is resumed" until_true is_not_suspended n1
	scancel "$job"
	until_true has_ended "$job"
}

# Ranks on three nodes, each with its node's service; Slurm starts them by PMIx.
mpi() {
	[ -e "$build/bin/mpi_heat" ] || { echo "mpi_heat was not built: the package libopenmpi-dev was missing"; return; }
	job=$(submit games "for ranks in 1 2 3; do OMPI_MCA_mpi_yield_when_idle=1 srun --mpi=pmix -N \$ranks -n \$ranks $folder/bin/mpi_heat 64 64 20 2>&1; done" --gres=sycl:25 -N 3)
	until_true has_ended "$job"
	expect "one, two and three ranks agree with the whole grid" [ "$(grep -c '; verified' "$folder/output/$job.out")" = 3 ]
}

array_and_steps() {
	array=$(submit bin "srun $worker 3; srun $worker 3" --gres=sycl:25 --array=1-3 -o "$folder/output/array-%a.out")
	for task in 1 2 3; do until_true grep -q -c verified "$folder/output/array-$task.out"; done
	until_true array_has_ended "$array"
	for task in 1 2 3; do
		expect "both steps of task $task are verified" [ "$(grep -c verified "$folder/output/array-$task.out")" = 2 ]
	done
}
array_has_ended() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }

requeue() {
	rm -f "$folder/output/again"
	job=$(submit games "if [ -e $folder/output/again ]; then $worker 3; else : >$folder/output/again; sleep 1000 | $worker 0; fi" --gres=sycl:25 -w n2 --requeue)
	until_true job_has_sessions n2
	scontrol requeue "$job"
	# Slurm holds a requeued job back for two minutes.
	until_true is_in_state "$job" PENDING
	until_true begins_now "$job"
	until_true has_ended "$job"
	expect "a requeued job is verified" output_has "$job" verified
}

begins_now() { scontrol update jobid="$1" starttime=now; is_in_state "$1" RUNNING || has_ended "$1"; }

restart_of_a_service() {
	job=$(submit mail "sleep 8 | $worker 0; $worker 2" --gres=sycl:25 -w n1 --sycl-class=best-effort)
	until_true job_has_sessions n1
	kill -9 "$sycld_n1"
	start_sycld n1
	expect "the next service knows the job" until_true job_has_sessions n1
	until_true has_ended "$job"
	expect "the job is verified over a restart" [ "$(grep -c 'verified, class 3' "$folder/output/$job.out")" = 2 ]
}

refusals() {
	expect "a wrong option is refused where it is written" sh -c "! srun --sycl-memory=much true 2>&1 | grep -q 'needs a number of bytes' && exit 1 || exit 0"
	expect "more than a node has is refused" sh -c "! srun --gres=sycl:500 true 2>/dev/null"
	job=$(submit daemon "$worker 1" --gres=sycl:25 -w n1)
	until_true has_ended "$job"
	touch "$folder/output/left"
	# A process that its job has left behind.
	job=$(submit daemon "setsid sh -c 'sleep 1000 & exec sleep 1000' >/dev/null 2>&1 </dev/null & sleep 1" --gres=sycl:25 -w n1)
	until_true has_ended "$job"
	expect "what a job has left behind is ended" until_true no_group n1 "$job"
}
no_group() { [ ! -e "$group_mount$groups-$1/job_$2" ]; }

reason_of() { sinfo -h -R -o '%E %N' | grep -q "$1.*$2"; }
no_reason() { ! sinfo -h -R -o '%N' | grep -q "$1"; }
health() {
	kill "$sycld_n3"
	wait "$sycld_n3" 2>/dev/null
	expect "a node without its service is drained, with the reason" until_true reason_of "sycld: no service" n3
	start_sycld n3
	expect "it comes back" until_true no_reason n3
	ctl n3 drain --all >/dev/null
	expect "a node whose service is drained is drained" until_true reason_of "sycld: no new session is accepted" n3
	ctl n3 resume --all >/dev/null
	expect "it comes back again" until_true no_reason n3
	until_true all_idle
}

dead_service() {
	job=$(submit bin "sleep 2" --gres=sycl:25 -w n2)
	until_true job_is_known n2
	kill -STOP "$sycld_n2"
	expect "a service that does not answer does not hold a job up" until_true has_ended "$job"
	expect "nor its node" until_true node_is_free n2
	kill -CONT "$sycld_n2"
	expect "the job is dropped, because its control group is gone" until_true no_jobs n2
	expect "the node comes back" until_true no_reason n2
}
node_is_free() { [ -z "$(squeue -h -w "$1")" ] && ! sinfo -h -n "$1" -o %T | grep -q completing; }
no_jobs() { [ "$(ctl "$1" jobs --json | number_of job)" = 0 ]; }

no_sessions() { [ "$(ctl "$1" sessions --json | number_of id)" = 0 ]; }
no_engines_of_jobs() { ! ctl "$1" status --json | grep -q '"state": "ready"' || ctl "$1" status --json | grep -q '"sessions": 0'; }
nothing_left() {
	scancel --state=PENDING,RUNNING,SUSPENDED 2>/dev/null
	for node in $nodes; do
		until_true node_is_free "$node"
		expect "no job is left at the service of $node" until_true no_jobs "$node"
		expect "no session is left on $node" until_true no_sessions "$node"
		expect "no file of jobs is left on $node" [ ! -e "$folder/$node/sycld/jobs" ]
		expect "no file of the plug-in is left on $node" [ -z "$(ls "$folder/$node/jobs" 2>/dev/null)" ]
		expect "no control group is left on $node" [ -z "$(find "$group_mount$groups-$node" -mindepth 1 -type d 2>/dev/null)" ]
	done
}
