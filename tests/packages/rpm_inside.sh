#!/bin/bash
# Runs in the copy of the root folder that rpm.sh makes: install, use, upgrade, remove. Nothing may be left.
set -eu

fail() {
	echo "packages: $*" >&2
	exit 1
}

# Folders above those of the packages belong to packages that are not here.
files() {
	find /etc /usr /var/cache/sycld /run -xdev \
		\( -path /usr/share/man/index.db -o -path /etc/ld.so.cache -o -name '*.pyc' -o -path /usr/lib/sysimage \) -prune -o ! -type d -print 2>/dev/null |
		grep -v '^/etc/\(group\|gshadow\|passwd\|shadow\|subuid\|subgid\)-\?$' | sort
}

# what COMMAND...: prints the output if it fails.
what() {
	"$@" >/tmp/log 2>&1 || fail "$* failed: $(cat /tmp/log)"
}

rm -rf /var/cache/sycld
mkdir -p /run/lock
files >/tmp/before

# refuses WORD COMMAND...: it must fail and name the package.
refuses() {
	local word=$1
	shift
	! "$@" >/tmp/log 2>&1 || fail "$* was possible"
	grep -q "$word" /tmp/log || fail "$* failed for another reason: $(cat /tmp/log)"
}

# verify LINES [OPTION]: rpm compares each file with its package, and looks for what the packages require; LINES is what differs.
verify() {
	rpm --verify ${2+"$2"} "${packages[@]}" >/tmp/log 2>&1 || true
	[ "$(cat /tmp/log)" = "$1" ] || fail "rpm --verify reports: $(cat /tmp/log)"
}

packages=(sycld sycld-exporter sycld-opencl sycld-doc libsyclclient libsyclclient-devel)
what rpm --install /packages/needs/RPMS/noarch/*.rpm
refuses libsyclclient rpm --install /packages/one/sycld-[0-9]*.rpm
refuses libsyclclient rpm --install /packages/one/libsyclclient-devel-*.rpm
what rpm --install /packages/one/*.rpm
verify ''
! grep -q 'scriptlet failed' /tmp/log || fail "a scriptlet failed: $(cat /tmp/log)"
getent group sycld sycld-observers >/dev/null || fail "the installation made no group"
[ -e /etc/systemd/system/sockets.target.wants/sycld.socket ] || fail "the socket is not enabled"
[ -d /etc/sycld/sycld.conf.d ] || fail "there is no folder for files of the configuration"
[ "$(stat -c %a /run/sycld)" = 755 ] || fail "the folder of the sockets does not exist, or has another mode"
grep -q '^ExecStart=/usr/sbin/sycld' /usr/lib/systemd/system/sycld.service || fail "the unit names another program"
work=$(mktemp -d)
(cd /packages/BUILD/sycld-* && LD_LIBRARY_PATH=/usr/lib64 PKG_CONFIG_PATH=/usr/lib64/pkgconfig AUTOPKGTEST_TMP=$work debian/tests/saxpy) ||
	fail "the installed library and service do not work"

# A service keeps files for the next one. They go with the packages.
LD_LIBRARY_PATH=/usr/lib64 sycld >/tmp/log 2>&1 &
service=$!
LD_LIBRARY_PATH=/usr/lib64 timeout 60 sh -c 'until syclctl status >/dev/null 2>&1; do sleep 0.1; done' ||
	fail "the installed service does not answer: $(cat /tmp/log)"
kill "$service"
wait "$service" || fail "the installed service failed: $(cat /tmp/log)"
[ -e /run/sycld/engines ] || fail "the installed service has kept nothing for the next one"

echo '[supervisor]' >>/etc/sycld/sycld.conf
# They require what no rpm provides, since the build of the later release was short (rpm.sh).
what rpm --upgrade --nodeps /packages/RPMS/*/*.rpm
! grep -q 'scriptlet failed' /tmp/log || fail "a scriptlet failed: $(cat /tmp/log)"
tail -n 1 /etc/sycld/sycld.conf | grep -qx '\[supervisor\]' || fail "the upgrade has overwritten the configuration"
[ "$(rpm --query --queryformat '%{RELEASE}' sycld)" = 2 ] || fail "the upgrade left the older release"
[ -e /etc/systemd/system/sockets.target.wants/sycld.socket ] || fail "the upgrade has disabled the socket"

verify 'S.5....T.  c /etc/sycld/sycld.conf' --nodeps
refuses libsyclclient rpm --erase libsyclclient
what rpm --erase "${packages[@]}"
! grep -q 'scriptlet failed' /tmp/log || fail "a scriptlet failed: $(cat /tmp/log)"
grep -qx '\[supervisor\]' /etc/sycld/sycld.conf.rpmsave || fail "the removal deleted a changed configuration"
rm /etc/sycld/sycld.conf.rpmsave
files | diff /tmp/before - >/tmp/left || fail "the packages left or removed these files: $(head -n 20 /tmp/left)"
echo "installed, used, upgraded and removed; nothing is left"
