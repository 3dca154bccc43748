#!/bin/bash
# Runs in the copy of the root folder that packages.sh makes: install, use, upgrade, purge. Nothing may be left.
set -eu

fail() {
	echo "packages: $*" >&2
	exit 1
}

# Lists what packages could leave behind, without caches of other programs and dpkg's own files.
files() {
	find /etc /lib/systemd /usr /var/cache/sycld /var/lib/systemd /run -xdev \
		\( -path /usr/share/man/index.db -o -path /etc/ld.so.cache -o -name '*.pyc' \) -prune -o -print 2>/dev/null |
		grep -v '^/etc/\(group\|gshadow\|passwd\|shadow\|subuid\|subgid\)-\?$' | sort
}

# Files of a manual installation on this machine do not belong to the packages.
rm -rf /var/cache/sycld
for package in /packages/one/*.deb; do
	dpkg -c "$package" | sed -n 's/^-.* \.\(\/.*\)/\1/p'
done | while read -r file; do
	[ ! -e "$file" ] || dpkg -S "$file" >/dev/null 2>&1 || rm -f "$file"
done
rm -rf /usr/libexec/sycld
mkdir -p /run/lock
files >/tmp/before

dpkg -i /packages/one/sycld_*.deb /packages/one/sycld-exporter_*.deb /packages/one/sycld-opencl-icd_*.deb \
	/packages/one/libsyclclient0_*.deb /packages/one/libsyclclient-dev_*.deb /packages/one/python3-sycld_*.deb /packages/one/sycld-doc_*.deb >/tmp/log 2>&1 || fail "the installation failed: $(cat /tmp/log)"
getent group sycld sycld-observers >/dev/null || fail "the installation made no group"
[ -e /etc/systemd/system/sockets.target.wants/sycld.socket ] || fail "the socket is not enabled"
[ -d /etc/sycld/sycld.conf.d ] || fail "there is no folder for files of the configuration"
[ -e /etc/systemd/system/multi-user.target.wants/sycld-exporter.service ] || fail "the exporter is not enabled"
[ "$(stat -c %a /run/sycld)" = 755 ] || fail "the folder of the sockets does not exist, or has another mode"
for page in syclctl.1 sycld.conf.5 sycld-overview.7 sycld.8 sycld-exporter.8 libsyclcl.7 sycl_queue_submit.3; do
	man -w "${page##*.}" "${page%.*}" >/dev/null || fail "there is no manual page $page"
done
work=$(mktemp -d)
(cd /packages/one/sycld && AUTOPKGTEST_TMP=$work debian/tests/saxpy) || {
	tail -n 20 "$work"/sycld/*.log "$work"/.local/state/sycld/* /root/.local/state/sycld/* 2>/dev/null
	fail "the installed library and service do not work"
}

# Slurm loads the plug-in of the package, which brings options of its own.
if ls /packages/one/sycld-slurm_*.deb >/dev/null 2>&1 && command -v srun >/dev/null; then
	dpkg -i /packages/one/sycld-slurm_*.deb >/tmp/log 2>&1 || fail "the plug-in for Slurm cannot be installed: $(cat /tmp/log)"
	printf 'ClusterName=x\nSlurmctldHost=localhost\nPlugStackConfig=%s\nNodeName=localhost\n' "$work/plugstack.conf" >"$work/slurm.conf"
	echo "required $(dpkg -L sycld-slurm | grep 'sycld_spank[.]so$')" >"$work/plugstack.conf"
	SLURM_CONF=$work/slurm.conf srun --help >/tmp/log 2>&1 || true
	grep -q -e --sycl-memory /tmp/log || fail "Slurm does not load the plug-in: $(cat /tmp/log)"
	for program in epilog health; do [ -x /usr/libexec/sycld/slurm/sycld-$program ] || fail "there is no sycld-$program"; done
	dpkg -P sycld-slurm >/tmp/log 2>&1 || fail "the plug-in for Slurm cannot be purged: $(cat /tmp/log)"
else
	echo "not tried: the package for Slurm, because it was not built or srun is missing"
fi

# The driver is there for the whole machine, so the engine's loader finds it, too. It must not start a service there.
work=$(mktemp -d)
services=$(pgrep -c -x sycld) || true
XDG_RUNTIME_DIR=$work HOME=$work clinfo -l >/tmp/log 2>&1 || fail "clinfo failed: $(cat /tmp/log)"
grep -q 'Platform #[0-9]: sycld: Portable Computing Language' /tmp/log || fail "OpenCL's loader shows no device of the service: $(cat /tmp/log)"
[ "$(pgrep -c -x sycld)" = $((services + 1)) ] || fail "more than one service was started: $(pgrep -a sycld)"
pkill -x sycld

# The Python package finds the library and a service, which its session starts, where they are installed.
(cd "$work" && XDG_RUNTIME_DIR=$work HOME=$work /usr/bin/python3 /packages/one/sycld/debian/tests/python) >/tmp/log 2>&1 || fail "the Python package fails: $(cat /tmp/log)"
pkill -x sycld

# A service keeps files for the next one. They go with the packages.
sycld >/tmp/log 2>&1 &
service=$!
timeout 60 sh -c 'until syclctl status >/dev/null 2>&1; do sleep 0.1; done' || fail "the installed service does not answer: $(cat /tmp/log)"
kill "$service"
wait "$service" || fail "the installed service failed: $(cat /tmp/log)"
[ -e /run/sycld/engines ] || fail "the installed service has kept nothing for the next one"

# As if a systemd ran: the upgrade must restart the service, which keeps the sessions, and must not stop anything of it.
mkdir -p /run/systemd/system
for program in deb-systemd-invoke systemctl; do
	printf '#!/bin/sh\necho "$@" >>/tmp/asked\n' >"/usr/local/sbin/$program"
	chmod +x "/usr/local/sbin/$program"
done
echo '[supervisor]' >>/etc/sycld/sycld.conf
dpkg -i /packages/newer/*.deb >/tmp/log 2>&1 || fail "the upgrade failed: $(cat /tmp/log)"
rm -r /usr/local/sbin/deb-systemd-invoke /usr/local/sbin/systemctl /run/systemd
! grep 'stop.*sycld' /tmp/asked || fail "the upgrade stops what it should restart"
grep -q 'try-restart sycld.service' /tmp/asked || fail "the upgrade does not restart the service: $(cat /tmp/asked)"
tail -n 1 /etc/sycld/sycld.conf | grep -qx '\[supervisor\]' || fail "the upgrade has overwritten the configuration"
dpkg -s sycld | grep -q '^Version: .*+later$' || fail "the upgrade left the older version"

dpkg -r sycld-exporter sycld-opencl-icd sycld >/tmp/log 2>&1 || fail "the removal failed: $(cat /tmp/log)"
[ -e /etc/sycld/sycld.conf ] || fail "the removal deleted the configuration"
dpkg -P sycld-exporter sycld-opencl-icd sycld sycld-doc python3-sycld libsyclclient-dev libsyclclient0 >/tmp/log 2>&1 || fail "the purge failed: $(cat /tmp/log)"
files | diff /tmp/before - >/tmp/left || fail "the packages left or removed these files: $(head -n 20 /tmp/left)"
echo "installed, used, upgraded and purged; nothing is left"
