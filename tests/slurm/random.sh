# A hundred jobs of four users at random, while jobs, slurmd and sycld are killed. Sourced by run.
# shellcheck shell=sh disable=SC2154
jobs_wanted=${JOBS:-100}

# Prints a number from 0 to below $1.
chance() { awk -v seed="$seed$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')" -v most="$1" 'BEGIN {srand(seed); printf "%d", int(rand() * most)}'; }

kill_something() {
	# shellcheck disable=SC2086
	set -- $nodes
	shift "$(chance 3)"
	case $(chance 3) in
	0)
		kill -9 "$(pid_of "sycld-$1")"
		start_sycld "$1"
		echo "killed sycld of $1"
		;;
	1)
		kill -9 "$(pid_of "slurmd-$1")"
		start_slurmd "$1"
		echo "killed slurmd of $1"
		;;
	2)
		victim=$(squeue -h -t RUNNING -o %A | shuf -n 1)
		[ -z "$victim" ] || { scancel "$victim" && killed="$killed $victim " && echo "killed job $victim"; }
		;;
	esac
}

# Two jobs that always need the device get its time as their fractions say, within two points.
shares() {
	small=$(submit daemon "$worker 1000000" --gres=sycl:25 -w n1)
	large=$(submit bin "$worker 1000000" --gres=sycl:75 -w n1)
	until_true uses_the_device "$small"
	until_true uses_the_device "$large"
	sleep 5
	small_before=$(use_of "$small") large_before=$(use_of "$large")
	sleep 20
	part=$(awk -v small="$(($(use_of "$small") - small_before))" -v large="$(($(use_of "$large") - large_before))" 'BEGIN {printf "%.2f", 100 * small / (small + large)}')
	echo "a job with 25 hundredths beside one with 75 had $part % of the time"
	expect "a share is kept within two points" awk -v part="$part" 'BEGIN {exit !(part > 23 && part < 27)}'
	scancel "$small" "$large"
	until_true has_ended "$small"
	until_true has_ended "$large"
}
use_of() { ctl n1 accounts --json --by job --job "$1" | number_of device_ns; }
uses_the_device() { [ "$(use_of "$1")" -gt 0 ]; }

no_jobs_in_queue() { [ -z "$(squeue -h)" ]; }

random_jobs() {
	seed=$$ killed=' ' submitted=
	# Between the kill of a service and the start of the next one there is none.
	# shellcheck disable=SC2016  # the job's own
	again='again() { for try in 1 2 3 4 5 6 7 8 9; do "$@"; status=$?; [ $status = 75 ] || return $status; sleep 1; done; return 75; }'
	count=0
	while [ $count -lt "$jobs_wanted" ]; do
		count=$((count + 1))
		# shellcheck disable=SC2086
		set -- $users
		shift "$(chance 4)"
		# shellcheck disable=SC2086
		case $(chance 3) in 0) part=10 ;; 1) part=25 ;; *) part=50 ;; esac
		submitted="$submitted $(submit "$1" "$again; sleep $(chance 4) | again $worker 0 && again $worker $(($(chance 20) + 1))" --gres=sycl:$part --requeue)"
		[ "$(chance 5)" != 0 ] || kill_something
	done
	tries=0
	until wait_for 60 no_jobs_in_queue || [ $tries -ge 40 ]; do
		tries=$((tries + 1))
		# Requeued jobs are held back for two minutes.
		for job in $(squeue -h -t PENDING -o %A); do scontrol update jobid="$job" starttime=now; done
	done
	verified=0
	for job in $submitted; do
		case $killed in *" $job "*) continue ;; esac
		if output_has "$job" verified; then
			verified=$((verified + 1))
		else
			expect "job $job, which was $(state_of "$job"), is verified" false
			tail -n 3 "$folder/output/$job.out"
		fi
	done
	echo "$verified of $jobs_wanted jobs are verified, $(echo "$killed" | wc -w) were killed"
}
