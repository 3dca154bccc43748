#!/bin/sh
# apt_install.sh WORD...: apt-get install, as root, with these options and packages. No daemon of theirs starts, neither now nor when the
# machine starts: tests start their own. Whoever wants one for the machine enables it.
export DEBIAN_FRONTEND=noninteractive
policy=/usr/sbin/policy-rc.d mark='by apt_install.sh of sycld'

# Names of services that start with the machine.
enabled() {
	find /etc/systemd/system/multi-user.target.wants -name '*.service' -printf '%f\n' 2>/dev/null
}

# Two that run at once take turns. Debian's scripts ask the policy; one of the machine's own stays as it is.
exec 9>/run/sycld-apt-install.lock && flock 9 || exit 1
if [ ! -e "$policy" ] || grep -qF "$mark" "$policy"; then
	trap 'rm -f "$policy"' EXIT
	trap 'exit 1' INT TERM HUP
	printf '#!/bin/sh\n# %s: it removes this\nexit 101\n' "$mark" >"$policy" && chmod 755 "$policy" || exit 1
fi
before=$(enabled)
apt-get install -y -q --no-install-recommends -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 "$@" 9>&-
status=$?
enabled | grep -vxF "$before" | xargs -r systemctl disable --quiet 9>&-
exit "$status"
