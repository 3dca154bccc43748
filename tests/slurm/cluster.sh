# A cluster of Slurm on this machine: real munged, MariaDB, slurmdbd, slurmctld and a slurmd and a sycld for each of
# three node names, all in one private folder. Sourced by run. Started by root, the controllers run as unprivileged users;
# slurmd and sycld as root, because jobs are of several users. Started by another user, all daemons and jobs are that user's.
# shellcheck shell=sh disable=SC2034,SC2154
nodes=${NODES:-n1 n2 n3}
group_node=

is_root() { [ "$(id -u)" = 0 ]; }
# Prints who runs what this user should run.
name_of() { if is_root; then echo "$1"; else id -un; fi; }
give() { ! is_root || chown -R "$@"; } # USER PATH...

# Prints where control groups of version 2 are mounted, and in which group the clusters' are made: for root the topmost one, else
# that of this process.
find_group_mount() { awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts; }
find_group_base() { is_root || sed -n 's/^0:://p' /proc/self/cgroup | sed 's|^/$||'; }

# True if a group can be made there and entered.
groups_can_be_made() { # FOLDER
	mkdir "$1/sycld-slurm-test-$$" 2>/dev/null || return 1
	sh -c "echo 0 >$1/sycld-slurm-test-$$/cgroup.procs" 2>/dev/null
	could=$?
	wait_for 5 rmdir "$1/sycld-slurm-test-$$"
	return $could
}

# Prints what is missing here, in one sentence; nothing: nothing.
cluster_lacks() {
	for program in munged slurmctld slurmd slurmdbd sbatch srun sacct sacctmgr mariadbd mariadb-install-db setpriv; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || {
			echo "$program is missing: the packages slurm-wlm, slurmdbd, munge and mariadb-server have what is needed"
			return
		}
	done
	[ -n "$(find_group_mount)" ] || { echo "no control groups of version 2 are mounted"; return; }
	in_group=$(find_group_mount)$(find_group_base)
	groups_can_be_made "$in_group" || {
		echo "no control group can be made in $in_group; for others than root there must be one of their own, which systemd-run --user --scope -p Delegate=yes makes"
		return
	}
	[ -e "$build/lib/sycld_spank.so" ] || echo "sycld_spank.so was not built: the package libslurm-dev was missing"
}

# Starts a program in the background as a user, in a session of its own. The file run/NAME has its number while it should
# run, also if a part of the checks that runs beside others has started it.
start_as() { # USER NAME COMMAND...
	user=$1 name=$2
	shift 2
	if is_root; then set -- setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups "$@"; fi
	setsid "$@" >>"$folder/log/$name" 2>&1 </dev/null &
	echo $! >"$folder/run/$name"
}
pid_of() { cat "$folder/run/$1"; }

# Ends a program that should run, by a signal, and waits for its end.
end_program() { # NAME SIGNAL
	ended=$(pid_of "$1")
	rm -f "$folder/run/$1"
	kill "-$2" "$ended" 2>/dev/null
	wait_for 30 process_is_gone "$ended"
}
process_is_gone() { case $(cut -d ' ' -f 3 "/proc/$1/stat" 2>/dev/null) in '' | Z) ;; *) false ;; esac }

# Prints which daemon has ended that should run, and what it said last.
ended_daemon() {
	for file in "$folder"/run/*; do
		name=${file##*/}
		process=$(cat "$file" 2>/dev/null)
		if [ -z "$process" ] || ! process_is_gone "$process"; then continue; fi
		[ "$(cat "$file" 2>/dev/null)" = "$process" ] || continue # ended by a check, or started again, meanwhile
		echo "$name has ended; its last lines:"
		grep -v '^$' "$folder/log/$name" | tail -n 5
		return
	done
}

# Waits until a command succeeds, SECONDS at most. On a loaded machine each look takes long, so looks become rarer.
wait_for() { # SECONDS COMMAND...
	until_s=$(($(date +%s) + $1)) pause=0.05
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$until_s" ] || return 1
		sleep $pause
		case $pause in 0.05) pause=0.1 ;; 0.1) pause=0.2 ;; *) pause=0.3 ;; esac
	done
}

# The same with a long limit. If a daemon has ended, or the limit is over, no later check could succeed either: the test ends
# with the cause.
until_true() {
	pause=0.05 since=$(date +%s)
	until "$@" >/dev/null 2>&1; do
		cause=$(ended_daemon)
		[ -z "$cause" ] || give_up "while waiting for: $*: $cause"
		[ $(($(date +%s) - since)) -lt "${WAIT_S:-300}" ] || give_up "not within ${WAIT_S:-300} seconds: $*"
		sleep $pause
		case $pause in 0.05) pause=0.1 ;; 0.1) pause=0.2 ;; *) pause=0.3 ;; esac
	done
}

give_up() {
	echo "FAILED: $1"
	echo "$1" >>"$folder/failures"
	timeout 5 squeue -o '%i %P %u %T %R %N' 2>/dev/null | head -n 20
	timeout 5 sinfo -N -o '%N %T %E' 2>/dev/null | sort -u
	exit 1
}

# Prints a port on which, as on the next four, nothing listens.
free_port() {
	awk -v seed="$$$1" '
		FNR > 1 {split($2, address, ":"); used[address[2]] = 1}
		END {
			srand(seed)
			do {
				port = 20000 + int(rand() * 10000)
				taken = 0
				for (more = 0; more < 5; more++)
					taken += sprintf("%04X", port + more) in used
			} while (taken)
			print port
		}' /proc/net/tcp
}

write_configuration() {
	port=$(free_port 1) database_port=$(free_port 2) storage_port=$(free_port 3)
	cat >"$folder/etc/slurm.conf" <<END
ClusterName=sycl
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(name_of slurm)
SlurmdUser=$(name_of root)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/ctld/slurmctld.pid
SlurmdPidFile=$folder/%n/slurmd.pid
SlurmdSpoolDir=$folder/%n/spool
SlurmctldLogFile=$folder/ctld/slurmctld.log
SlurmdLogFile=$folder/%n/slurmd.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
GresTypes=sycl
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PlugStackConfig=$folder/etc/plugstack.conf
Epilog=$folder/etc/epilog
PrologFlags=Alloc
HealthCheckProgram=$folder/etc/health
HealthCheckInterval=2
HealthCheckNodeState=ANY
JobRequeue=1
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$storage_port
AccountingStoragePass=$folder/munge/socket
AccountingStorageTRES=gres/sycl
JobAcctGatherType=jobacct_gather/linux
TmpFS=$folder/%n/tmp
SlurmctldTimeout=30
SlurmdTimeout=200
MessageTimeout=60
KillWait=2
MinJobAge=3600
SchedulerParameters=bf_interval=1,sched_min_interval=100000
PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
SchedulerTimeSlice=600
DebugFlags=NO_CONF_HASH
$(n=0; for node in $nodes; do
	n=$((n + 1))
	echo "NodeName=$node NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + n)) CPUs=16 Sockets=16 CoresPerSocket=1 ThreadsPerCore=1 RealMemory=100 Gres=sycl:100"
done)
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8 PriorityTier=1 PreemptMode=REQUEUE
PartitionName=patient Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=FORCE:1 PriorityTier=1 PreemptMode=SUSPEND
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=FORCE:1 PriorityTier=2
SlurmdParameters=config_overrides
END
	printf 'Name=sycl Count=100 Flags=CountOnly\n' >"$folder/etc/gres.conf"
	cat >"$folder/etc/plugstack.conf" <<END
required $folder/lib/sycld_spank.so syclctl=$folder/bin/syclctl runtime_dir=$folder/%n/sycld state_dir=$folder/%n/jobs cgroup=$groups-%n devices=opencl:0 most=100 deadline_ms=30000
END
	printf 'CgroupMountpoint=/sys/fs/cgroup\n' >"$folder/etc/cgroup.conf"
	# Each node has its own service, and Slurm passes the node's name alone.
	for program in epilog health; do
		cat >"$folder/etc/$program" <<END
#!/bin/sh
export SYCLCTL="$folder/bin/syclctl --runtime-dir $folder/\$SLURMD_NODENAME/sycld" SLURM_CONF=$folder/etc/slurm.conf SYCLD_COMMENT_PARTS=2 SYCLD_LOCK=$folder/lock-\$SLURMD_NODENAME SYCLD_SECONDS=\$(cat $folder/etc-\$SLURMD_NODENAME/seconds) SYCLD_STATE_DIR=$folder/\$SLURMD_NODENAME/jobs SYCLD_STAMP=$folder/\$SLURMD_NODENAME/stamp
exec $folder/bin/sycld-$program
END
		chmod 755 "$folder/etc/$program"
	done
	cat >"$folder/etc/slurmdbd.conf" <<END
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$storage_port
SlurmUser=$(name_of slurm)
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$database_port
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
LogFile=$folder/dbd/slurmdbd.log
PidFile=$folder/dbd/slurmdbd.pid
END
	give slurm "$folder/etc/slurmdbd.conf"
	chmod 600 "$folder/etc/slurmdbd.conf"
}

# MariaDB removes what earlier servers have left in its folder for temporary files, which must be no other server's.
start_database() {
	TMPDIR=$folder/db mariadb-install-db --no-defaults --datadir="$folder/db/data" --auth-root-authentication-method=normal --skip-test-db >"$folder/log/install-db" 2>&1 ||
		give_up "no database can be made: $(grep ERROR "$folder/log/install-db" | head -n 1)"
	give mysql "$folder/db"
	start_as mysql mariadb "$(PATH=$PATH:/usr/sbin command -v mariadbd)" --no-defaults --datadir="$folder/db/data" --socket="$folder/db/socket" \
		--tmpdir="$folder/db" --bind-address=127.0.0.1 --port="$database_port" --pid-file="$folder/db/pid" --innodb-buffer-pool-size=32M --innodb-lock-wait-timeout=900 --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0
	until_true mariadb --no-defaults -S "$folder/db/socket" -u root -e 'select 1'
	mariadb --no-defaults -S "$folder/db/socket" -u root -e "create database slurm; create user slurm@127.0.0.1 identified by 'slurm'; create user slurm@localhost identified by 'slurm'; grant all on slurm.* to slurm@127.0.0.1; grant all on slurm.* to slurm@localhost"
}

start_sycld() { # NODE [DRIVER OF CUDA]
	node=$1
	case $node in n3) outside=refuse ;; *) outside=allow ;; esac
	printf '[service]\nengine_idle_seconds = 5\nengines_at_stop = leave\noutside_jobs = %s\n[limits]\nbuild_seconds = 600\n' $outside >"$folder/$node/sycld.conf"
	[ $# = 1 ] || printf '[cuda]\nlibrary = %s\n' "$2" >>"$folder/$node/sycld.conf"
	# shellcheck disable=SC2046  # one word or none
	start_as root "sycld-$node" "$folder/bin/sycld" $(is_root || echo --user) --runtime-dir "$folder/$node/sycld" --config "$folder/$node/sycld.conf" --cache-dir "$folder/cache"
}

start_slurmd() { # NODE OPTION...
	node=$1
	shift
	if [ "$node" = "$group_node" ]; then
		# A mount namespace in which /sys/fs/cgroup is version 2 alone.
		# shellcheck disable=SC2016  # the inner shell's own
		start_as root "slurmd-$node" unshare --mount --propagation private sh -c 'umount -R /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup && exec "$@"' sh \
			env LD_PRELOAD="$folder/lib/slurm_only_v2.so" SLURMD_NODENAME="$node" slurmd -D -f "$folder/etc-$node/slurm.conf" -N "$node" "$@"
	else
		start_as root "slurmd-$node" env SLURMD_NODENAME="$node" slurmd -D -f "$folder/etc-$node/slurm.conf" -N "$node" "$@"
	fi
}

# Each node has a configuration of its own, which a check may change.
write_node_configuration() {
	mkdir -p "$folder/etc-$1"
	cp "$folder/etc/gres.conf" "$folder/etc/cgroup.conf" "$folder/etc/plugstack.conf" "$folder/etc-$1/"
	echo 60 >"$folder/etc-$1/seconds" # for each command of epilog and health check
	: >"$folder/$1/stamp" # devices have been looked at
	sed "s|/etc/plugstack|/etc-$1/plugstack|" "$folder/etc/slurm.conf" >"$folder/etc-$1/slurm.conf"
	[ "$1" = "$group_node" ] || return 0
	# Jobs are in control groups of Slurm's plug-in cgroup/v2. It needs no controller, but a tree of its own, and it ends
	# where processes are in groups of version 1 too: slurm_only_v2.so hides these.
	sed -i -e 's|^ProctrackType=.*|ProctrackType=proctrack/cgroup|' -e 's|^TaskPlugin=.*|TaskPlugin=task/cgroup|' "$folder/etc-$1/slurm.conf"
	sed -i 's|cgroup=[^ ]*|cgroup=slurm|' "$folder/etc-$1/plugstack.conf"
	printf 'CgroupPlugin=cgroup/v2\nCgroupMountpoint=/sys/fs/cgroup\nIgnoreSystemd=yes\n' >"$folder/etc-$1/cgroup.conf"
	[ -d "$group_mount/system.slice" ] || { mkdir "$group_mount/system.slice" && made_slice=yes; }
}

slurmd_has_started() { grep -q 'slurmd.*started' "$folder/log/slurmd-$1"; }
slurmd_is_decided() { slurmd_has_started "$1" || process_is_gone "$(pid_of "slurmd-$1")"; }

# Prints the control group that Slurm gives to a node. Its name is the same in each test that runs.
scope_of() { find "$group_mount" -maxdepth 4 -type d -name "${1}_slurmstepd.scope" | head -n 1; }

# Only one test at a time may have that group, also among those in other root folders, and its end removes it. A process that
# ends with the test holds a group as a lock; without a process, it can be removed.
scope_lock() { echo "$group_mount/sycld-slurm-scope"; }
take_scope() {
	rmdir "$(scope_lock)" 2>/dev/null
	mkdir "$(scope_lock)" 2>/dev/null || return 1
	setpriv --pdeathsig KILL sleep 100000 &
	scope_holder=$!
	echo "$scope_holder" 2>/dev/null >"$(scope_lock)/cgroup.procs" && [ "$(wc -l <"$(scope_lock)/cgroup.procs")" = 1 ] && return
	kill "$scope_holder"
	return 1
}
give_scope_back() {
	[ -n "${scope_holder:-}" ] || return 0
	kill "$scope_holder" 2>/dev/null
	wait_for 5 rmdir "$(scope_lock)"
}

# Starts the node with Slurm's own control groups; where that is impossible, as the others.
start_group_node() {
	if ! is_root; then
		echo "skipped: Slurm's plug-in cgroup/v2: only root can give slurmd groups of version 2 alone"
		write_node_configuration "$1"
		start_slurmd "$1"
		return
	fi
	take_scope || scope_is_taken=yes
	scope=$(scope_of "$1")
	[ -z "$scope" ] || groups_are_removed "$scope"
	if [ -n "${scope_is_taken:-}" ] || [ -d "${scope:-/none}" ]; then
		echo "skipped: Slurm's plug-in cgroup/v2: another slurmd has its group"
		write_node_configuration "$1"
		start_slurmd "$1"
		return
	fi
	group_node=$1
	write_node_configuration "$1"
	start_slurmd "$1"
	wait_for 60 slurmd_is_decided "$1" && slurmd_has_started "$1" && return
	echo "skipped: Slurm's plug-in cgroup/v2 does not start here: $({ grep -a 'error\|fatal' "$folder/log/slurmd-$1" || tail -n 1 "$folder/log/slurmd-$1"; } | head -n 1)"
	group_node=
	write_node_configuration "$1"
	start_slurmd "$1"
}

# The build's folder may be closed to the users of jobs, and a build may go on meanwhile.
copy_programs() {
	cp "$build/lib/sycld_spank.so" "$build"/lib/libsyclclient.so.0* "$folder/lib/"
	cp "$build/bin/sycld" "$build/bin/sycl-engine" "$build/bin/syclctl" "$build/tests/slurm_worker" "$root/client/slurm/sycld-epilog" "$root/client/slurm/sycld-health" "$folder/bin/"
	cp "$build/tests/slurm_only_v2.so" "$folder/lib/"
	[ ! -e "$build/bin/mpi_heat" ] || cp "$build/bin/mpi_heat" "$folder/bin/"
	[ ! -e "$build/tests/slurm_mpi_memory.so" ] || cp "$build/tests/slurm_mpi_memory.so" "$folder/lib/"
	chmod -R a+rX "$folder/bin" "$folder/lib"
}

cluster_start() {
	PATH=$PATH:/usr/sbin:/sbin
	for part in etc log run munge db state ctld dbd cache output bin lib; do mkdir -p "$folder/$part"; done
	copy_programs
	for node in $nodes; do mkdir -p "$folder/$node/spool" "$folder/$node/sycld" "$folder/$node/tmp" && chmod 1777 "$folder/$node/tmp"; done
	chmod 755 "$folder" "$folder/etc" "$folder/cache"
	chmod 1777 "$folder/output"
	write_configuration
	start_database &
	database=$!
	export SLURM_CONF="$folder/etc/slurm.conf"
	head -c 1024 /dev/urandom >"$folder/munge/key"
	chmod 400 "$folder/munge/key"
	give munge "$folder/munge"
	chmod 711 "$folder/munge"
	start_as munge munge munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
		--pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
	give slurm "$folder/state" "$folder/ctld" "$folder/dbd"
	for node in $nodes; do start_sycld "$node"; done
	wait "$database" || return 1
	start_as slurm slurmdbd env SLURM_CONF="$folder/etc/slurm.conf" slurmdbd -D
	until_true sacctmgr -n list cluster
	sacctmgr -i add cluster sycl >"$folder/log/sacctmgr" 2>&1
	start_as slurm slurmctld slurmctld -D -f "$folder/etc/slurm.conf"
	until_true scontrol ping
	for node in $nodes; do last_node=$node; done
	for node in $nodes; do [ "$node" = "$last_node" ] || { write_node_configuration "$node" && start_slurmd "$node"; }; done
	start_group_node "$last_node"
	until_true all_idle
}

# shellcheck disable=SC2086  # one word for each node
all_idle() { [ "$(sinfo -h -N -p main -o %T | grep -c '^idle$')" = "$(set -- $nodes && echo $#)" ]; }

no_job_is_left() { [ -z "$(squeue -h -o %A)" ]; }
all_are_gone() {
	for process in $processes; do process_is_gone "$process" || return 1; done
}

# Removes the control groups of jobs below a group, innermost first.
remove_groups() {
	[ -d "$1" ] || return 0
	echo 1 >"$1/cgroup.kill" 2>/dev/null
	wait_for 10 groups_are_removed "$1" || echo "control groups are left in $1"
}
groups_are_removed() {
	find "$1" -depth -type d -exec rmdir {} + 2>/dev/null
	[ ! -d "$1" ]
}

cluster_stop() {
	# Epilogs that run later would wait for slurmctld.
	if [ -e "$folder/run/slurmctld" ] && timeout 5 scontrol ping >/dev/null 2>&1; then
		squeue -h -o %A | xargs -r scancel
		wait_for 20 no_job_is_left
	fi
	processes=$(cat "$folder"/run/* 2>/dev/null)
	for process in $processes; do kill "$process" 2>/dev/null; done
	# A slurmd that waits for its threads ends too.
	wait_for 5 all_are_gone
	for process in $processes; do kill -9 "$process" 2>/dev/null; done
	wait_for 5 all_are_gone
	for node in $nodes; do remove_groups "$group_mount$groups-$node"; done
	if [ -n "$group_node" ]; then
		scope=$(scope_of "$group_node")
		[ -z "$scope" ] || remove_groups "$scope"
	fi
	give_scope_back
	[ -z "${made_slice:-}" ] || rmdir "$group_mount/system.slice" 2>/dev/null
}
