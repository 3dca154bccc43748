#!/bin/bash
# boot.sh BUILD runs the package's units under a systemd that is PID 1. It has its own namespaces,
# over this machine's root folder, with a layer in memory above that. BUILD: a build with tests.
# Exit status 77: it cannot run here; the reason is printed.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "$1" && pwd)
systemd=/lib/systemd/systemd
patience=${SYCLD_BOOT_SECONDS:-300} # far longer than it takes: only an error reaches it

skip() {
	echo "skipped: $*" >&2
	exit 77
}

# Mounts are in a separate namespace.
prepare() {
	local layer=$1 root=$1/root file
	mount -t tmpfs -o mode=0755 tmpfs "$layer"
	mkdir "$layer/upper" "$layer/work" "$root"
	mount -t overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" overlay "$root" 2>/dev/null ||
		skip "no overlay of the root folder can be made here"
	[ -x "$root$systemd" ] || skip "/usr is a file system of its own"
	DESTDIR=$root cmake --install "$build" >"$layer/install.log"
	install "$build/tests/worker" "$root/usr/local/bin/sycld-test-worker"
	install "$here/inside.sh" "$root/usr/local/bin/sycld-test-boot"
	install -m 0644 "$here/clients.sh" "$root/usr/local/lib/sycld-test-clients"
	install -m 0644 "$here/boot.service" "$root/etc/systemd/system/sycld-test-boot.service"
	install -m 0644 "$here/boot.target" "$root/etc/systemd/system/sycld-test-boot.target"
	: >"$root/etc/fstab"
	mount -t proc proc "$root/proc"
	mount -t sysfs -o ro sysfs "$root/sys"
	mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup" 2>/dev/null || skip "cgroup2 cannot be mounted"
	mount -t tmpfs -o mode=0755 tmpfs "$root/run"
	mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
	mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
	for file in null zero full random urandom tty; do
		touch "$root/dev/$file"
		mount --bind "/dev/$file" "$root/dev/$file"
	done
	mkdir "$root/dev/pts" "$root/dev/shm" "$root/old"
	mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
	ln -s pts/ptmx "$root/dev/ptmx"
	ln -s /proc/self/fd "$root/dev/fd"
	touch "$root/run/said"
	mount --bind "$said" "$root/run/said"
}

# PID 1 of its namespace.
boot() {
	local root=$1/root
	prepare "$1"
	cd "$root"
	pivot_root . old
	umount -l old
	# A credential of a service is mounted in a namespace of its own and reaches the service only as mounts are shared. In a container,
	# which this is to systemd, systemd does not share them.
	mount --make-rshared /
	exec env -i container=other PATH="$PATH" "$systemd" --system --unit=sycld-test-boot.target --log-level=warning \
		>/run/log 2>&1 </dev/null
}

if [ "${2-}" = boot ]; then
	said=$4
	boot "$3"
fi

[ "$(id -u)" = 0 ] || skip "only root can boot a systemd"
[ -x "$systemd" ] || skip "no systemd"
[ -x "$build/tests/worker" ] || skip "$build has no tests"
unified=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$unified" ] || skip "no cgroup2 here"
group=$unified/sycld-boot.$$
mkdir "$group" 2>/dev/null || skip "no control group can be made in $unified"
layer=$(mktemp -d) said=$(mktemp) enabled=
# If nothing uses a controller of version 2, one is enabled, so that a group can have it.
read -r -a controllers <"$unified/cgroup.controllers" || true
[ -n "$(cat "$unified/cgroup.subtree_control")" ] || for controller in "${controllers[@]}"; do
	! echo "+$controller" >"$unified/cgroup.subtree_control" 2>/dev/null || enabled="$enabled $controller"
done
mkdir "$group.outside"
clean() {
	# Ends the remaining processes in it, at any depth.
	[ ! -e "$group/cgroup.kill" ] || echo 1 >"$group/cgroup.kill"
	until find "$group" -depth -type d -exec rmdir {} + 2>/dev/null || [ ! -e "$group" ]; do
		sleep 0.1
	done
	rmdir "$group.outside"
	for controller in $enabled; do
		echo "-$controller" >"$unified/cgroup.subtree_control"
	done
	rmdir "$layer"
	rm -f "$said"
}
trap clean EXIT

# The separate group is the root of all groups in this systemd. The process that starts it must not stay there: a group with processes gives
# no controller to the groups below it.
status=0
(
	echo "$BASHPID" >"$group/cgroup.procs"
	exec timeout -k 10 "$patience" unshare --mount --propagation private --pid --fork --kill-child --cgroup --uts --ipc --net \
		"${BASH_SOURCE[0]}" "$build" boot "$layer" "$said"
) &
starter=$!
until grep -qx "booted" "$said" || ! kill -0 "$starter" 2>/dev/null; do
	sleep 0.1
done
for process in "$starter" $(pgrep -P "$starter"); do
	echo "$process" >"$group.outside/cgroup.procs" 2>/dev/null || true
done
echo outside >>"$said"
wait "$starter" || status=$?
[ "$status" -ne 77 ] || exit 77
cat "$said"
# The exit status of PID 1 has no meaning.
grep -qx "all of it" "$said"
