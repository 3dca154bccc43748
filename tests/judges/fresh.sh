#!/bin/bash
# fresh.sh BUILD OUT: the page docs/sycl-programs.md on a machine that has nothing yet. A Debian with nothing else (debootstrap makes it once,
# in OUT/fresh) gets a clone of the last commit, builds and installs the packages, and runs the page's commands as they stand there. The program
# must print the sum that the page says, on the service, and syclctl must show it. The download is 1.6 GB. Exit status 77: it cannot run here.
#
# fresh.sh --inside: the same on this machine, which is changed by it; from the folder of the project, as root.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
page=$top/docs/sycl-programs.md
# shellcheck source=tests/judges/page.sh
. "$here/page.sh"
# shellcheck source=tests/packages/root.sh
. "$here/../packages/root.sh"

fail() {
	echo "fresh: $*" >&2
	exit 1
}

# While the page's program exists, syclctl must show its session, and the platform must be the service's.
shows_itself() {
	/opt/sycl/bin/python3 - <<'TXT'
import json, os, subprocess, dpnp
array = dpnp.arange(10)
name = array.sycl_device.sycl_platform.name
sessions = json.loads(subprocess.run(["syclctl", "--json", "sessions"], check=True, capture_output=True).stdout)["sessions"]
mine = [s for s in sessions if s["pid"] == os.getpid()]
print(name, mine and mine[0]["command_groups_completed"])
raise SystemExit(not (name.startswith("sycld: ") and len(mine) == 1 and mine[0]["command_groups_completed"] > 0))
TXT
}

# Prints how many commands of ended sessions the accounts have.
commands_of_accounts() {
	syclctl --json accounts | /opt/sycl/bin/python3 -c 'import json, sys; print(sum(row["commands"] for row in json.load(sys.stdin)["accounts"]))'
}

inside() {
	local started=$SECONDS
	export DEBIAN_FRONTEND=noninteractive
	echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/99fresh
	apt-get update -q
	# The block ends with an installation of everything; the page has its own.
	page_run "$(page_block "$top/docs/operations.md" Install 2 | sed '/^dpkg-buildpackage/q')"
	echo "fresh: the packages were built after $((SECONDS - started)) s"
	page_run "$(page_block "$page" "From nothing to a program")" | tee /tmp/said
	echo "fresh: the program had run after $((SECONDS - started)) s"
	grep -qx 45 /tmp/said || fail "the program did not print 45"
	[ "$(commands_of_accounts)" -gt 0 ] || fail "the accounts have no commands of the program"
	shows_itself || fail "syclctl does not show the program's session"
	# The same beside PoCL, on which kernels of SYCL cannot be built.
	dpkg -s pocl-opencl-icd >/dev/null 2>&1 || apt-get install -q pocl-opencl-icd
	syclctl devices
	/opt/sycl/bin/python3 -c "import dpnp; print(dpnp.arange(10).sum())" | grep -qx 45 || fail "the program fails where PoCL is installed, too"
	echo "fresh: 1 passed, 0 failed, after $((SECONDS - started)) s"
}

enter() {
	local layer=$1
	copy_root "$layer" "$folder/fresh"
	git clone -q "$top" "$layer/root/root/project"
	exec chroot "$layer/root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		PIP_CERT=/etc/ssl/certs/ca-certificates.crt bash -c 'cd /root/project && tests/judges/fresh.sh --inside'
}

if [ "$1" = --inside ]; then
	inside
	exit
fi
case ${2-} in
enter)
	folder=$1
	enter "$3"
	;;
esac
mkdir -p "$2/fresh"
folder=$(cd "$2/fresh" && pwd)
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
may_install
make_fresh "$folder/fresh" git,ca-certificates,sudo || skip "debootstrap made no Debian"
apart enter
