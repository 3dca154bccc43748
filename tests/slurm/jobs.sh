# Jobs in the cluster of cluster.sh, and what must come of them. Sourced by run.
# shellcheck shell=sh disable=SC2034,SC2154
worker=$folder/bin/slurm_worker

expect() { # WHAT COMMAND...
	what=$1
	shift
	"$@" && return 0
	echo "$what" >>"$folder/failures"
	echo "FAILED: $what"
	return 1
}

# Waits until a command succeeds while a job runs. A job that has ended before is a failure, which its output explains.
until_job() { # JOB COMMAND...
	until_true has_ended_or "$@"
	waits_for=$1
	shift
	"$@" >/dev/null 2>&1 || {
		expect "job $waits_for has $*, but it was $(state_of "$waits_for")" false
		tail -n 3 "$folder/output/$waits_for.out"
	}
}
has_ended_or() {
	ends=$1
	shift
	"$@" || has_ended "$ends"
}

# Waits for the end of a job, and expects that its program has found its results right.
until_verified() { # JOB TIMES
	until_true has_ended "$1"
	expect "job $1 is verified" [ "$(grep -c '[;]* *verified' "$folder/output/$1.out")" = "${2:-1}" ] || tail -n 3 "$folder/output/$1.out"
}

ctl() { # NODE WORDS...
	node=$1
	shift
	"$folder/bin/syclctl" --runtime-dir "$folder/$node/sycld" "$@"
}

as_user() { # USER COMMAND...
	user=$1
	shift
	if is_root; then set -- setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups "$@"; fi
	(cd "$folder/output" && LD_LIBRARY_PATH="$folder/lib" "$@")
}

# Submits a script as a user; prints the job's number. The output is in output/NUMBER.out.
submit() { # USER SCRIPT OPTION...
	user=$1 text=$2
	shift 2
	printf '#!/bin/sh\n%s\n' "$text" | as_user "$user" sbatch --parsable -o "$folder/output/%j.out" "$@"
}

state_of() { scontrol -o show job "$1" 2>/dev/null | sed -n 's/.* JobState=\([A-Z]*\).*/\1/p'; }
is_in_state() { [ "$(state_of "$1")" = "$2" ]; }
has_ended() { case $(state_of "$1") in COMPLETED | FAILED | CANCELLED | NODE_FAIL | TIMEOUT | OUT_OF_MEMORY | DEADLINE | BOOT_FAIL) ;; *) false ;; esac }
output_has() { grep -q "$2" "$folder/output/$1.out"; }
node_of() { scontrol -o show job "$1" | sed -n 's/.* NodeList=\([^ ]*\).*/\1/p'; }

number_of() { # NAME: from JSON on standard input, the sum
	sed -n "s/^ *\"$1\": \([0-9]*\),*\$/\1/p" | awk '{sum += $1} END {printf "%.0f", sum}'
}
# Prints a figure of a job at a node's service; nothing: the job is not known there.
job_value() { # NODE JOB NAME
	ctl "$1" jobs --json | awk -F '[":, ]+' -v job="$2" -v name="$3" '
		$2 == "job" {is_it = $3 == job}
		is_it && $2 == name {print $3; exit}'
}
job_is_known() { [ -n "$(job_value "$1" "$2" job)" ]; }
job_has_sessions() { [ "$(job_value "$1" "$2" sessions)" -gt 0 ]; }
is_suspended() { [ "$(job_value "$1" "$2" suspended)" = "$3" ]; }
# The session of the only job on that node.
is_paused() { ctl "$1" sessions --json | grep -q '"state": "paused"'; }
is_not_paused() { ! is_paused "$1"; }

# Prints what the services of nodes have counted: the sum; or, with LONGEST, the largest.
counted() { # JOB NAME HOW NODE...
	of_job=$1 named=$2 how=$3
	shift 3
	for at; do ctl "$at" accounts --json --by job --job "$of_job" | number_of "$named" && echo; done |
		awk -v how="$how" '{sum += $1; if ($1 > most) most = $1} END {printf "%.0f", how == "LONGEST" ? most : sum}'
}
comment_of() { sacct -n -X -P -j "$1" -o AdminComment | tail -n 1; }
# Prints a figure of a job's comment, behind HEAD.
in_comment() { comment_of "$1" | awk -v head="$2" -v name="$3=" 'at = index($0, head) {
	rest = substr($0, at + length(head))
	sub(/;.*/, "", rest)
	count = split(rest, words, " ")
	for (i = 1; i <= count; i++)
		if (index(words[i], name) == 1)
			print substr(words[i], length(name) + 1)
}'; }
is_near() { # COUNTED SCALE SHOWN: within one percent, or what a shown figure is rounded to
	awk -v counted="$1" -v scale="$2" -v shown="${3:--1}" 'BEGIN {
		difference = counted / scale - shown
		room = counted / scale / 100
		if (room < 0.05 && scale > 1)
			room = scale == 1e3 ? 0.05 : 1e-6
		exit !(difference <= room && -difference <= room)}'
}

# What sacct shows of a job equals what the services of its nodes have counted, within one percent.
use_is_in_sacct() { # JOB NODE...
	used=$1
	shift
	nanoseconds=$(counted "$used" device_ns SUM "$@")
	peak=$(counted "$used" memory_peak_bytes LONGEST "$@")
	[ "$nanoseconds" -gt 0 ] && [ "$peak" -gt 0 ] && [ "$(in_comment "$used" sycld: nodes)" = "$#/$#" ] &&
		is_near "$nanoseconds" 1e9 "$(in_comment "$used" sycld: device_s)" &&
		is_near "$(counted "$used" commands SUM "$@")" 1 "$(in_comment "$used" sycld: commands)" &&
		is_near "$(counted "$used" delay_p50_ns LONGEST "$@")" 1e3 "$(in_comment "$used" sycld: wait_p50_us)" &&
		is_near "$(counted "$used" delay_p99_ns LONGEST "$@")" 1e3 "$(in_comment "$used" sycld: wait_p99_us)" &&
		is_near "$peak" 1 "$(in_comment "$used" sycld: memory_peak_bytes)"
}
part_is_in_sacct() { # JOB NODE
	is_near "$(counted "$1" device_ns SUM "$2")" 1e9 "$(in_comment "$1" "sycld[$2]:" device_s)"
}
has_no_parts() { case $(comment_of "$1") in *'sycld['*) return 1 ;; esac }

# Users of every Debian system. If another user than root runs the test, all jobs are that user's.
users="daemon bin games mail"

# Prints where a node's services see the job's tasks.
group_of() { # NODE JOB
	if [ "$1" = "$group_node" ]; then
		echo "/.*${1}_slurmstepd.scope/job_$2"
	else
		echo "$groups-$1/job_$2"
	fi
}

# One job on one node, one whose comment has parts for its two nodes, and one with so many nodes that its comment has sums.
fractions() {
	first=$(submit daemon "$worker 20" --gres=sycl:25 -w n1 --sycl-memory=10M --sycl-class=latency)
	second=$(submit bin "$worker 20" --gres=sycl:50 -w n1)
	third=$(submit games "srun $worker 20" --gres=sycl:50 -N 2 -w n2,n3)
	fourth=$(submit mail "srun $worker 20" --gres=sycl:25 -N 3)
	until_verified "$first"
	until_verified "$second"
	until_verified "$third" 2
	until_verified "$fourth" 3
	expect "the tasks of a job are in its control group" grep -q "job $first of uid $(id -u "$(name_of daemon)")\( ($(name_of daemon))\)\? in $(group_of n1 "$first"): share 25-100 %, memory 10485760 bytes, latency, devices opencl:0" "$folder/log/sycld-n1"
	expect "also in one of Slurm's own" grep -q "job $third of uid $(id -u "$(name_of games)")\( ($(name_of games))\)\? in $(group_of n3 "$third"): share 50-100 %" "$folder/log/sycld-n3"
	until_true use_is_in_sacct "$first" n1
	until_true use_is_in_sacct "$second" n1
	until_true use_is_in_sacct "$third" n2 n3
	expect "the part of n2 is in sacct" part_is_in_sacct "$third" n2
	expect "the part of n3 is in sacct" part_is_in_sacct "$third" n3
	until_true use_is_in_sacct "$fourth" n1 n2 n3
	expect "of many nodes there are sums only" has_no_parts "$fourth"
	expect "sacct shows the fraction" [ "$(sacct -n -X -P -j "$first" -o AllocTRES | grep -c gres/sycl=25)" = 1 ]
}

class_of_a_job() {
	job=$(submit daemon "unset SYCLD_CLASS; $worker 1; SYCLD_CLASS=latency $worker 1" --gres=sycl:10 -w n1 --sycl-class=best-effort)
	until_verified "$job" 2
	expect "a program cannot get a better class than its job" [ "$(grep -c 'verified, class [12]' "$folder/output/$job.out")" = 0 ]
	expect "but it gets that of its job" output_has "$job" 'verified, class 3'
}

# The worker has 64 KiB, which the CPU device uses in the host's memory.
memory_of_a_job() {
	job=$(submit daemon "$worker 1 2>&1" --gres=sycl:10 -w n1 --sycl-memory=32K)
	until_true has_ended "$job"
	expect "a job does not get more memory than its limit" output_has "$job" 'needs more memory on the device'
}

# A job whose program works until the file output/NAME exists. A check may run several times in one cluster.
new_name() { basename "$(mktemp -u "$folder/output/$1-XXXXXX")"; }
until_file() { echo "while [ ! -e $folder/output/$1 ]; do sleep 0.2; done | $worker 0"; }
tell() { : >"$folder/output/$1"; }

# Jobs that scontrol resumes are in a partition whose PreemptMode is SUSPEND: slurmctld 22.05 handles a job that it resumes as
# one that does not fit beside the jobs of a higher partition, wherever these run. Elsewhere the job would be requeued or killed.
suspension_on() { # NODE
	file=$(new_name suspension)
	job=$(submit daemon "$(until_file "$file")" --gres=sycl:25 -w "$1" -p patient)
	until_job "$job" job_has_sessions "$1" "$job"
	expect "job $job can be suspended" scontrol suspend "$job"
	until_job "$job" is_suspended "$1" "$job" true
	until_job "$job" is_paused "$1"
	expect "job $job can be resumed" scontrol resume "$job"
	until_job "$job" is_suspended "$1" "$job" false
	until_job "$job" is_not_paused "$1"
	tell "$file"
	until_verified "$job"
}
suspension() { suspension_on n1; }
suspension_in_slurms_group() { suspension_on n3; }
# A step of two tasks, of which one has ended, while a job of a higher partition runs. No script waits for the step, so no other
# one has a task to look at.
suspension_of_some_tasks() {
	file=$(new_name some)
	urgent=$(submit daemon "$(until_file "$file")" --gres=sycl:10 -w n1 -p urgent)
	until_job "$urgent" is_in_state "$urgent" RUNNING
	as_user bin srun -J "$file" -w n1 -n 2 --gres=sycl:25 -p patient sh -c "[ \$SLURM_PROCID = 0 ] || $(until_file "$file")" >"$folder/output/$file.out" 2>&1 </dev/null &
	until_true some_has_begun
	until_job "$job" job_has_sessions n1 "$job"
	expect "job $job can be suspended" scontrol suspend "$job"
	until_job "$job" is_suspended n1 "$job" true
	expect "job $job can be resumed" scontrol resume "$job"
	until_job "$job" is_suspended n1 "$job" false
	tell "$file"
	until_true has_ended "$job"
	wait $! # srun writes the result
	expect "its result is right" grep -q verified "$folder/output/$file.out"
	until_verified "$urgent"
}
some_has_begun() { job=$(squeue -h -n "$file" -t RUNNING -o %A) && [ -n "$job" ]; }

# Writes each order of a node's plug-in to NODE/orders, from now on.
log_orders() { # NODE
	cat >"$folder/bin/logged-$1" <<END
#!/bin/sh
echo "\$2 \$3" >>$folder/$1/orders
exec $folder/bin/syclctl "\$@"
END
	chmod 755 "$folder/bin/logged-$1"
	sed -i "s|/bin/syclctl|/bin/logged-$1|" "$folder/etc-$1/plugstack.conf"
}
orders_are() { [ "$(grep -cx "$3 $2" "$folder/$1/orders")" = "$4" ]; } # NODE JOB ORDER COUNT

# The tasks of one step are killed while the job is suspended. Its other step stays so. Another job is suspended and resumed
# meanwhile, in which time the first step is looked at.
killed_step_on() { # NODE
	log_orders "$1"
	file=$(new_name killed)
	job=$(submit bin "srun sh -c 'echo \$\$ >$folder/output/pid-$file; exec $worker 1000000' & $(until_file "$file"); wait" --gres=sycl:25 -w "$1" -p patient)
	until_job "$job" job_has_two_sessions "$1"
	expect "job $job can be suspended" scontrol suspend "$job"
	until_job "$job" orders_are "$1" "$job" suspend 2 # of both steps
	until_job "$job" is_suspended "$1" "$job" true
	kill -KILL "$(cat "$folder/output/pid-$file")"
	other=$(submit daemon "$(until_file "other-$file")" --gres=sycl:25 -w "$1" -p patient)
	until_job "$other" job_has_sessions "$1" "$other"
	expect "job $other can be suspended" scontrol suspend "$other"
	until_job "$other" is_suspended "$1" "$other" true
	expect "job $other can be resumed" scontrol resume "$other"
	until_job "$other" is_suspended "$1" "$other" false
	expect "job $job stays suspended when the tasks of one step are killed" is_suspended "$1" "$job" true
	tell "other-$file"
	expect "job $job can be resumed" scontrol resume "$job"
	until_job "$job" is_suspended "$1" "$job" false
	tell "$file"
	until_verified "$job"
	until_verified "$other"
	sed -i "s|/bin/logged-$1|/bin/syclctl|" "$folder/etc-$1/plugstack.conf"
}
job_has_two_sessions() { [ "$(job_value "$1" "$job" sessions)" = 2 ]; }

# Here the killed step was the only one. The next step works.
killed_last_step_on() { # NODE
	file=$(new_name last)
	as_user bin salloc -J "$file" -w "$1" --gres=sycl:25 -p patient sh -c "srun sh -c 'echo \$\$ >$folder/output/pid-$file; exec $worker 1000000'
		while [ -d $folder/output ] && [ ! -e $folder/output/$file ]; do sleep 0.2; done; srun $worker 3" >"$folder/output/$file.out" 2>&1 </dev/null &
	until_true some_has_begun
	until_job "$job" job_has_sessions "$1" "$job"
	expect "job $job can be suspended" scontrol suspend "$job"
	until_job "$job" is_suspended "$1" "$job" true
	kill -KILL "$(cat "$folder/output/pid-$file")"
	until_job "$job" is_suspended "$1" "$job" false
	expect "job $job can be resumed" scontrol resume "$job"
	tell "$file"
	until_true has_ended "$job"
	wait $! # salloc writes the result
	expect "the next step's result is right" grep -q verified "$folder/output/$file.out"
}
killed_steps() { killed_step_on n1; killed_last_step_on n1; }
killed_steps_in_slurms_group() { killed_step_on n3; killed_last_step_on n3; }

# The first order to suspend the job fails.
suspension_is_reported_again() {
	failing=$(new_name again)
	cat >"$folder/bin/$failing" <<END
#!/bin/sh
if [ "\$2" = suspend ] && [ ! -e $folder/n2/$failing ]; then
	: >$folder/n2/$failing
	echo 'not now' >&2
	exit 1
fi
exec $folder/bin/syclctl "\$@"
END
	chmod 755 "$folder/bin/$failing"
	sed -i "s|/bin/syclctl|/bin/$failing|" "$folder/etc-n2/plugstack.conf"
	suspension_on n2
	sed -i "s|/bin/$failing|/bin/syclctl|" "$folder/etc-n2/plugstack.conf"
	expect "the first order has failed" [ -e "$folder/n2/$failing" ]
}

# Ranks on three nodes, each with its node's service; Slurm starts them by PMIx.
mpi() {
	[ -e "$build/bin/mpi_heat" ] || { echo "mpi_heat was not built: the package libopenmpi-dev was missing"; return; }
	job=$(submit games "for ranks in 1 2 3; do OMPI_MCA_mpi_yield_when_idle=1 srun --export=ALL,LD_PRELOAD=$folder/lib/slurm_mpi_memory.so --mpi=pmix -N \$ranks -n \$ranks $folder/bin/mpi_heat 64 64 20 2>&1; done" --gres=sycl:25 -N 3)
	until_verified "$job" 3
	# One rank has no messages, so these are those of two and three.
	expect "what neighbours exchange is in memory that the engine shares" [ "$(grep -c ': \([1-9][0-9]*\) of \1 messages in shared memory' "$folder/output/$job.out")" = 5 ]
}

array_and_steps() {
	array=$(submit bin "srun $worker 3; srun $worker 3" --gres=sycl:25 --array=1-3 -o "$folder/output/array-%a.out")
	until_true array_has_ended "$array"
	for task in 1 2 3; do
		expect "both steps of task $task are verified" [ "$(grep -c verified "$folder/output/array-$task.out")" = 2 ]
	done
}
array_has_ended() { [ -z "$(squeue -h -j "$1" 2>/dev/null)" ]; }

# Prints the script of a job that works without end when it begins first, and a little when it begins again.
at_first_endless() { echo "if [ -e $folder/output/$1 ]; then $worker 3; else : >$folder/output/$1; sleep 1000 | $worker 0; fi"; }

requeue() {
	job=$(submit games "$(at_first_endless "$(new_name requeue)")" --gres=sycl:25 -w n2 --requeue)
	until_job "$job" job_has_sessions n2 "$job"
	scontrol requeue "$job"
	until_begun_again "$job"
	until_verified "$job"
}
# Slurm holds a requeued job back for two minutes.
until_begun_again() {
	until_true is_in_state "$1" PENDING
	until_true begins_now "$1"
}
begins_now() { scontrol update jobid="$1" starttime=now; is_in_state "$1" RUNNING || has_ended "$1"; }

# A job of a higher partition takes the hundredths of one that may be requeued.
preemption_by_requeue() {
	job=$(submit games "$(at_first_endless "$(new_name preempted)")" --gres=sycl:100 -w n2 --requeue)
	until_job "$job" job_has_sessions n2 "$job"
	urgent=$(submit bin "$worker 3" --gres=sycl:100 -w n2 -p urgent)
	until_verified "$urgent"
	until_begun_again "$job"
	until_verified "$job"
}

# A job of a higher partition needs the processors of one that may be suspended. Slurm takes no generic resource from a
# suspended job, so both jobs together ask for no more than there is.
preemption_by_suspension() {
	file=$(new_name preempted)
	job=$(submit games "$(until_file "$file")" --gres=sycl:50 -w n2 -p patient -c 16)
	until_job "$job" job_has_sessions n2 "$job"
	urgent=$(submit bin "$(until_file "urgent-$file")" --gres=sycl:50 -w n2 -p urgent -c 16)
	until_job "$job" is_in_state "$job" SUSPENDED
	until_job "$job" is_suspended n2 "$job" true
	until_job "$job" is_paused n2
	until_job "$urgent" job_has_sessions n2 "$urgent"
	tell "urgent-$file"
	until_verified "$urgent"
	until_job "$job" is_suspended n2 "$job" false
	until_job "$job" is_not_paused n2
	tell "$file"
	until_verified "$job"
}

restart_of_a_service() {
	file=$(new_name restart)
	job=$(submit mail "$(until_file "$file"); $worker 2" --gres=sycl:25 -w n1 --sycl-class=best-effort)
	until_job "$job" job_has_sessions n1 "$job"
	end_program sycld-n1 KILL
	start_sycld n1
	until_job "$job" job_has_sessions n1 "$job"
	tell "$file"
	until_verified "$job" 2
	expect "the job has its class over a restart" [ "$(grep -c 'verified, class 3' "$folder/output/$job.out")" = 2 ]
}

# A node that is switched off runs no epilog. Slurm sees it as down after a while, here at once, and begins its jobs again.
restart_of_a_node() {
	job=$(submit games "$(at_first_endless "$(new_name node)")" --gres=sycl:25 -w n2 --requeue)
	until_job "$job" job_has_sessions n2 "$job"
	end_program slurmd-n2 KILL
	until_true no_script_runs n2 health # or it would see that there is no service, and drain the node for that
	pkill -KILL -P "$(pid_of sycld-n2)"
	end_program sycld-n2 KILL
	end_step_daemons n2 "$job"
	echo 1 >"$group_mount$groups-n2/job_$job/cgroup.kill"
	until_true rmdir "$group_mount$groups-n2/job_$job"
	scontrol update nodename=n2 state=DOWN reason="switched off"
	start_sycld n2
	until_true job_is_gone n2 "$job"
	start_slurmd n2 -b
	# Or its order to end the earlier job would end the one that begins again, or the latter's epilog would not run.
	until_true slurmctld_has_told_all
	until_true no_script_runs n2 epilog
	until_begun_again "$job"
	until_verified "$job"
}
# Another cluster on this machine may have a job of that number.
end_step_daemons() { # NODE JOB
	for process in $(pgrep -f "^slurmstepd: \\[$2\\."); do
		! grep -qz "^SLURM_CONF=$folder/etc-$1/" "/proc/$process/environ" || kill -KILL "$process"
	done
}
slurmctld_has_told_all() { [ "$(sdiag | grep -c '^Agent \(queue size\|count\): *0$')" = 2 ]; }
no_script_runs() { # NODE NAME
	for process in $(pgrep -f "$folder/(bin/sycld-|etc/)$2"); do
		! grep -qz "^SLURMD_NODENAME=$1\$" "/proc/$process/environ" 2>/dev/null || return 1
	done
}
job_is_gone() { ctl "$1" jobs --json >/dev/null && ! job_is_known "$1" "$2"; }

# Slurm runs tasks although a plug-in has failed, unless this is told in its way.
refused_on() { # NODE
	job=$(submit bin "echo has run" --gres=sycl:1 -w "$1" --sycl-memory=99999T)
	until_true has_ended "$job"
	expect "a job that the service refuses fails on $1" is_in_state "$job" FAILED
	expect "it is told why" output_has "$job" 'a limit of memory is'
	expect "its program does not run" sh -c "! grep -q '^has run' '$folder/output/$job.out'"
	expect "no node is drained for it" no_reason "$1"
}
refused_in_slurms_group() { refused_on n3; }

# What an epilog that Slurm did not run has left goes by the health check. A job without a step stays.
lost_epilog() {
	file=$(new_name lost)
	as_user bin salloc -J "$file" -w n2 --gres=sycl:25 sh -c "while [ -d $folder/output ] && [ ! -e $folder/output/$file ]; do sleep 0.2; done; srun $worker 1" >"$folder/output/$file.out" 2>&1 </dev/null &
	until_true some_has_begun
	idle=$job
	until_true touch -c -d '2 minutes ago' "$folder/n2/jobs/$idle"
	job=$(submit daemon "$worker 1" --gres=sycl:10 -w n2)
	until_verified "$job"
	until_true no_group n2 "$job"
	mkdir "$group_mount$groups-n2/job_$job"
	expect "a job can be begun" ctl n2 job begin "$job" --uid "$(id -u "$(name_of daemon)")" --cgroup "$groups-n2/job_$job" --share 10-100 >/dev/null
	: >"$folder/n2/jobs/$job"
	touch -d '2 minutes ago' "$folder/n2/jobs/$job"
	until_true no_file n2 "$job"
	until_true job_is_gone n2 "$job"
	until_true no_group n2 "$job"
	expect "the file of a job that has no step stays" [ -s "$folder/n2/jobs/$idle" ]
	tell "$file"
	until_true has_ended "$idle"
	wait $! # salloc writes the result
	expect "its step works" grep -q verified "$folder/output/$file.out"
}
no_file() { [ ! -e "$folder/$1/jobs/$2" ]; }

# On n3 only jobs with devices may use them.
jobs_without_the_resource() {
	is_root || { echo "skipped: jobs without the resource: a service of one user always serves that user"; return; }
	endpoint=unix:$folder/n3/sycld/session.sock
	job=$(submit bin "SYCLD_ENDPOINT=$endpoint $worker 1 2>&1" -w n3)
	until_true has_ended "$job"
	expect "a job without the resource has no session" output_has "$job" 'is in no job with devices'
	job=$(submit bin "echo has run" -w n3 --sycl-class=latency)
	until_true has_ended "$job"
	expect "options alone are not enough" output_has "$job" 'sycl-memory and --sycl-class need --gres=sycl:N'
	expect "the job's program does not run" sh -c "! grep -q '^has run' '$folder/output/$job.out'"
	expect "root is served" sh -c "LD_LIBRARY_PATH=$folder/lib SYCLD_ENDPOINT=$endpoint $worker 1 | grep -q verified"
}

refusals() {
	refused_on n1
	job=$(submit bin "$worker 1" --gres=sycl:90,sycl:10 -w n1)
	until_verified "$job"
	expect "a job has no more than Slurm has allocated" grep -q "job $job of .*: share 10-100 %" "$folder/log/sycld-n1"
	expect "a wrong option is refused where it is written" sh -c "! srun --sycl-memory=much true 2>&1 | grep -q 'needs a number of bytes' && exit 1 || exit 0"
	expect "more than a node has is refused" sh -c "! srun --gres=sycl:500 true 2>/dev/null"
	# A process that its job has left behind.
	job=$(submit daemon "setsid sh -c 'sleep 1000 & exec sleep 1000' >/dev/null 2>&1 </dev/null & sleep 0.2" --gres=sycl:25 -w n1)
	until_true has_ended "$job"
	until_true no_group n1 "$job"
}
no_group() { [ ! -e "$group_mount$groups-$1/job_$2" ]; }

reason_of() { sinfo -h -R -o '%E %N' | grep -q "$1.*$2"; }
no_reason() { reasons=$(sinfo -h -R -o '%N') && case $reasons in *"$1"*) false ;; esac; }
health() {
	end_program sycld-n3 TERM
	until_true reason_of "sycld: no service" n3
	start_sycld n3
	until_true no_reason n3
	until_true ctl n3 drain --all
	until_true reason_of "sycld: no new session is accepted" n3
	ctl n3 resume --all >/dev/null
	until_true no_reason n3
}

# The double of CUDA's driver has a device whose compute mode is prohibited, and then one that can be used.
health_of_a_device() {
	[ -e "$build/tests/fake_cuda/libcuda.so.1" ] || { echo "skipped: a device that is ill: the double of CUDA's driver was not built"; return; }
	mkdir "$folder/n3/driver"
	cp "$build"/tests/fake_cuda/lib*.so* "$folder/n3/driver/"
	chmod -R a+rX "$folder/n3"
	echo 'attribute 20 2' >"$folder/n3/driver/fake_cuda.conf"
	end_program sycld-n3 TERM
	start_sycld n3 "$folder/n3/driver/libcuda.so.1"
	rm -f "$folder/n3/stamp" # no program runs there, so the next health check looks at the devices
	until_true reason_of "sycld: device 0 is not available" n3
	: >"$folder/n3/driver/fake_cuda.conf"
	until_true no_reason n3
	end_program sycld-n3 TERM
	start_sycld n3
	until_true ctl n3 status
}

# A service that does not answer holds up neither a job nor its node.
dead_service() {
	file=$(new_name dead)
	job=$(submit bin "while [ ! -e $folder/output/$file ]; do sleep 0.2; done" --gres=sycl:25 -w n2)
	until_job "$job" job_is_known n2 "$job"
	sed -i 's/deadline_ms=[0-9]*/deadline_ms=1000/' "$folder/etc-n2/plugstack.conf"
	echo 1 >"$folder/etc-n2/seconds"
	kill -STOP "$(pid_of sycld-n2)"
	tell "$file"
	until_true has_ended "$job"
	until_true node_is_free n2
	kill -CONT "$(pid_of sycld-n2)"
	echo 60 >"$folder/etc-n2/seconds"
	# The job is dropped, because its control group is gone.
	until_true no_jobs n2
	until_true no_reason n2
}
node_is_free() { [ -z "$(squeue -h -w "$1")" ] && ! sinfo -h -n "$1" -o %T | grep -q completing; }
no_jobs() { [ "$(ctl "$1" jobs --json | number_of job)" = 0 ]; }

no_sessions() { [ "$(ctl "$1" sessions --json | number_of id)" = 0 ]; }
has_no_group_of_jobs() { [ -z "$(find "$group_mount" -type d -path "*/$1_slurmstepd.scope/job_*" 2>/dev/null)" ]; }
no_files_of_jobs() { [ -z "$(ls "$folder/$1/jobs" 2>/dev/null)" ]; }
no_groups_of_jobs() { [ -z "$(find "$group_mount$groups-$1" -mindepth 1 -type d 2>/dev/null)" ]; }
nothing_left() {
	scancel --state=PENDING,RUNNING,SUSPENDED 2>/dev/null
	for node in $nodes; do
		until_true node_is_free "$node"
		until_true no_jobs "$node"
		until_true no_sessions "$node"
		expect "no file of jobs is left on $node" [ ! -e "$folder/$node/sycld/jobs" ]
		until_true no_files_of_jobs "$node"
		until_true no_groups_of_jobs "$node"
		[ "$node" != "$group_node" ] || until_true has_no_group_of_jobs "$node"
	done
}
