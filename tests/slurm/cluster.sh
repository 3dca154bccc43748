# A cluster of Slurm on this machine: real munged, MariaDB, slurmdbd, slurmctld and a slurmd and a sycld for each of
# three node names, all in one private folder. Sourced by run. The controllers run as unprivileged users; slurmd and sycld
# as root, because jobs are of several users.
# shellcheck shell=sh disable=SC2034,SC2154
nodes=${NODES:-n1 n2 n3}

# Prints what is missing here, in one sentence; nothing: nothing.
cluster_lacks() {
	for program in munged slurmctld slurmd slurmdbd sbatch srun sacct sacctmgr mariadbd mariadb-install-db setpriv; do
		PATH=$PATH:/usr/sbin:/sbin command -v "$program" >/dev/null || {
			echo "$program is missing: the packages slurm-wlm, slurmdbd, munge and mariadb-server have what is needed"
			return
		}
	done
	[ "$(id -u)" = 0 ] || { echo "only root can run jobs of several users"; return; }
	group_mount=$(awk '$3 == "cgroup2" {print $2; exit}' /proc/self/mounts)
	[ -n "$group_mount" ] || { echo "no control groups of version 2 are mounted"; return; }
	mkdir "$group_mount/sycld-slurm-test" 2>/dev/null || { echo "no control group can be made in $group_mount"; return; }
	rmdir "$group_mount/sycld-slurm-test"
	[ -e "$build/lib/sycld_spank.so" ] || echo "sycld_spank.so was not built: the package libslurm-dev was missing"
}

# Starts a program in the background as a user, in a session of its own; its number is added to $pids.
start_as() {
	user=$1 log=$2
	shift 2
	setsid setpriv --reuid="$user" --regid="$(id -g "$user")" --init-groups "$@" >>"$folder/log/$log" 2>&1 </dev/null &
	pids="$pids $!"
	last=$!
}

# Waits until a command succeeds, a minute at most.
until_true() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ $tries -lt 600 ] || { echo "not within a minute: $*" >&2; return 1; }
		sleep 0.1
	done
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
SlurmUser=slurm
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
SlurmdTimeout=30
KillWait=2
MinJobAge=300
SchedulerParameters=bf_interval=1,sched_min_interval=100000
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
$(n=0; for node in $nodes; do
	n=$((n + 1))
	echo "NodeName=$node NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + n)) CPUs=16 Sockets=16 CoresPerSocket=1 ThreadsPerCore=1 RealMemory=100 Gres=sycl:100"
done)
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8 PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=FORCE:8 PriorityTier=2
SlurmdParameters=config_overrides
END
	printf 'Name=sycl Count=100 Flags=CountOnly\n' >"$folder/etc/gres.conf"
	cat >"$folder/etc/plugstack.conf" <<END
required $folder/lib/sycld_spank.so syclctl=$folder/bin/syclctl runtime_dir=$folder/%n/sycld state_dir=$folder/%n/jobs cgroup=$groups-%n devices=opencl:0 most=100
END
	printf 'CgroupMountpoint=/sys/fs/cgroup\n' >"$folder/etc/cgroup.conf"
	# Each node has its own service, and Slurm passes the node's name alone.
	for program in epilog health; do
		cat >"$folder/etc/$program" <<END
#!/bin/sh
export SYCLCTL="$folder/bin/syclctl --runtime-dir $folder/\$SLURMD_NODENAME/sycld" SLURM_CONF=$folder/etc/slurm.conf
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
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$database_port
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
LogFile=$folder/dbd/slurmdbd.log
PidFile=$folder/dbd/slurmdbd.pid
END
	chown slurm "$folder/etc/slurmdbd.conf"
	chmod 600 "$folder/etc/slurmdbd.conf"
}

start_database() {
	mariadb-install-db --no-defaults --datadir="$folder/db/data" --auth-root-authentication-method=normal --skip-test-db >"$folder/log/install-db" 2>&1
	chown -R mysql "$folder/db"
	start_as mysql mariadb "$(PATH=$PATH:/usr/sbin command -v mariadbd)" --no-defaults --datadir="$folder/db/data" --socket="$folder/db/socket" \
		--bind-address=127.0.0.1 --port="$database_port" --pid-file="$folder/db/pid" --innodb-buffer-pool-size=32M --innodb-lock-wait-timeout=900
	until_true mariadb --no-defaults -S "$folder/db/socket" -u root -e 'select 1' || return 1
	mariadb --no-defaults -S "$folder/db/socket" -u root -e "create database slurm; create user slurm@127.0.0.1 identified by 'slurm'; create user slurm@localhost identified by 'slurm'; grant all on slurm.* to slurm@127.0.0.1; grant all on slurm.* to slurm@localhost"
}

start_sycld() {
	node=$1
	printf '[service]\nengine_idle_seconds = 5\nengines_at_stop = leave\n' >"$folder/$node/sycld.conf"
	start_as root "sycld-$node" "$folder/bin/sycld" --runtime-dir "$folder/$node/sycld" --config "$folder/$node/sycld.conf" --cache-dir "$folder/cache"
	eval "sycld_$node=$last"
}

start_slurmd() {
	node=$1
	start_as root "slurmd-$node" env SLURMD_NODENAME="$node" slurmd -D -f "$folder/etc/slurm.conf" -N "$node"
	eval "slurmd_$node=$last"
}

# The build's folder may be closed to the users of jobs, and a build may go on meanwhile.
copy_programs() {
	cp "$build/lib/sycld_spank.so" "$build"/lib/libsyclclient.so.0* "$folder/lib/"
	cp "$build/bin/sycld" "$build/bin/sycl-engine" "$build/bin/syclctl" "$build/tests/slurm_worker" "$root/client/slurm/sycld-epilog" "$root/client/slurm/sycld-health" "$folder/bin/"
	[ ! -e "$build/bin/mpi_heat" ] || cp "$build/bin/mpi_heat" "$folder/bin/"
	chmod -R a+rX "$folder/bin" "$folder/lib"
}

cluster_start() {
	PATH=$PATH:/usr/sbin:/sbin
	for part in etc log munge db state ctld dbd cache output bin lib; do mkdir -p "$folder/$part"; done
	copy_programs
	for node in $nodes; do mkdir -p "$folder/$node/spool" "$folder/$node/sycld" "$folder/$node/tmp" && chmod 1777 "$folder/$node/tmp"; done
	chmod 755 "$folder" "$folder/etc" "$folder/cache"
	chmod 1777 "$folder/output"
	write_configuration
	export SLURM_CONF="$folder/etc/slurm.conf"
	head -c 1024 /dev/urandom >"$folder/munge/key"
	chmod 400 "$folder/munge/key"
	chown -R munge "$folder/munge"
	chmod 711 "$folder/munge"
	start_as munge munge munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge/socket" \
		--pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed"
	chown -R slurm "$folder/state" "$folder/ctld" "$folder/dbd"
	start_database || return 1
	start_as slurm slurmdbd env SLURM_CONF="$folder/etc/slurm.conf" slurmdbd -D
	until_true sacctmgr -n list cluster || return 1
	sacctmgr -i add cluster sycl >"$folder/log/sacctmgr" 2>&1
	start_as slurm slurmctld slurmctld -D -f "$folder/etc/slurm.conf"
	until_true scontrol ping || return 1
	for node in $nodes; do
		start_sycld "$node"
		start_slurmd "$node"
	done
	until_true all_idle
}

# shellcheck disable=SC2086  # one word for each node
all_idle() { [ "$(sinfo -h -N -p main -o %T | grep -c '^idle$')" = "$(set -- $nodes && echo $#)" ]; }

no_job_is_left() { [ -z "$(squeue -h -o %A)" ]; }
any_is_alive() {
	for pid in $pids; do
		kill -0 "$pid" 2>/dev/null && return 0
	done
	return 1
}

cluster_stop() {
	# Epilogs that run later would wait for slurmctld.
	if timeout 5 scontrol ping >/dev/null 2>&1; then
		squeue -h -o %A | xargs -r scancel
		until_true no_job_is_left
	fi
	for pid in $pids; do kill "$pid" 2>/dev/null; done
	tries=0
	# A slurmd that waits for its threads ends too.
	while [ $tries -lt 50 ] && any_is_alive; do
		tries=$((tries + 1))
		sleep 0.1
	done
	for pid in $pids; do kill -9 "$pid" 2>/dev/null; done
	for pid in $pids; do wait "$pid" 2>/dev/null; done
	for group in "$group_mount$groups"-*; do
		[ -d "$group" ] || continue
		for job in "$group"/*/; do
			[ -d "$job" ] || continue
			echo 1 >"$job/cgroup.kill"
			rmdir "$job" 2>/dev/null
		done
		rmdir "$group" 2>/dev/null
	done
}
