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
		eval "kill -9 \$sycld_$1"
		start_sycld "$1"
		echo "killed sycld of $1"
		;;
	1)
		eval "kill -9 \$slurmd_$1"
		start_slurmd "$1"
		echo "killed slurmd of $1"
		;;
	2)
		victim=$(squeue -h -t RUNNING -o %A | shuf -n 1)
		[ -z "$victim" ] || { scancel "$victim" && killed="$killed $victim " && echo "killed job $victim"; }
		;;
	esac
}

no_jobs_in_queue() { [ -z "$(squeue -h)" ]; }

random_jobs() {
	seed=$$ killed=' ' submitted=
	count=0
	while [ $count -lt "$jobs_wanted" ]; do
		count=$((count + 1))
		# shellcheck disable=SC2086
		set -- $users
		shift "$(chance 4)"
		# shellcheck disable=SC2086
		case $(chance 3) in 0) part=10 ;; 1) part=25 ;; *) part=50 ;; esac
		submitted="$submitted $(submit "$1" "sleep $(chance 4) | $worker 0 && $worker $(($(chance 20) + 1))" --gres=sycl:$part --requeue)"
		[ "$(chance 5)" != 0 ] || kill_something
	done
	tries=0
	until no_jobs_in_queue || [ $tries -ge 40 ]; do
		until_true no_jobs_in_queue 2>/dev/null
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
			tail -n 3 "$folder/work/$job.out"
		fi
	done
	echo "$verified of $jobs_wanted jobs are verified, $(echo "$killed" | wc -w) were killed"
}
