#!/bin/bash
# fresh.sh BUILD OUT [PART...]: the pages docs/sycl-programs.md and docs/python.md on a machine that has nothing yet. A Debian with nothing else
# (debootstrap makes it once, in OUT/fresh) gets a clone of the last commit, builds and installs the packages, and runs the pages' commands as
# they stand there. Parts, all without one:
#   sycl         dpnp: the sum that the page says, on the service, and syclctl shows it; also where PoCL is. The download is 1.6 GB.
#   compiled     a program of DPC++ in C++
#   python       dpnp and PyTorch on one buffer; the notebook
#   adaptivecpp  AdaptiveCpp is built, and its program run. SYCLD_GIT: a folder with OWNER/NAME of the four repositories, if the network has them
#                not
# SYCLD_PACKAGES: a folder with the packages, built of this commit. They are taken instead of being built.
# Exit status 77: it cannot run here.
#
# fresh.sh --inside [PART...]: the same on this machine, which is changed by it; from the folder of the project, as root.
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

passed() {
	echo "fresh: $1 after $((SECONDS - started)) s"
	count=$((count + 1))
}

part_sycl() {
	page_run "$(page_block "$page" "From nothing to a program")" | tee /tmp/said
	grep -qx 45 /tmp/said || fail "the program did not print 45"
	[ "$(commands_of_accounts)" -gt 0 ] || fail "the accounts have no commands of the program"
	shows_itself || fail "syclctl does not show the program's session"
	# The same beside PoCL, on which kernels of SYCL cannot be built.
	dpkg -s pocl-opencl-icd >/dev/null 2>&1 || apt-get install -q pocl-opencl-icd
	syclctl devices
	/opt/sycl/bin/python3 -c "import dpnp; print(dpnp.arange(10).sum())" | grep -qx 45 || fail "the program fails where PoCL is installed, too"
}

part_compiled() {
	page_block "$page" "A compiled program" 1 cpp >compiled.cpp
	page_run "$(page_block "$page" "A compiled program")" | tee /tmp/said
	printf 'sycld: Intel(R) OpenCL\ny[999] = 1999\n' | cmp - /tmp/said || fail "the compiled program has said something else"
}

part_python() {
	local page=$top/docs/python.md
	page_run "$(page_block "$page" Install)"
	page_run "$(page_block "$page" "Beside dpnp and PyTorch")" | tee /tmp/said
	grep -q '^computed on: sycld: ' /tmp/said || fail "dpnp has not computed on the service"
	grep -qx '1000 numbers doubled by another program, all as they should be' /tmp/said || fail "PyTorch did not double the numbers"
	page_run "$(page_block "$page" "A notebook")"
}

part_adaptivecpp() {
	local before
	if [ -n "${SYCLD_GIT-}" ]; then
		git config --global url."file://$SYCLD_GIT/".insteadOf https://github.com/
		git config --global submodule.external/CMock.update none # for tests of OpenCL's headers
	fi
	page_run "$(page_block "$page" AdaptiveCpp)"
	page_block "$page" AdaptiveCpp 1 cpp >saxpy.cpp
	before=$(commands_of_accounts)
	page_run "$(page_block "$page" AdaptiveCpp 2)" | tee /tmp/said
	grep -qx 'y\[999\] = 1999, sum = 1e+06' /tmp/said || fail "the program of AdaptiveCpp has another result"
	[ "$(commands_of_accounts)" -gt "$before" ] || fail "the program of AdaptiveCpp has not run on the service"
}

inside() {
	local started=$SECONDS count=0 part
	export DEBIAN_FRONTEND=noninteractive
	echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/99fresh
	apt-get update -q
	if [ -n "${SYCLD_PACKAGES-}" ]; then
		cp "$SYCLD_PACKAGES"/*.deb ..
	else
		# The block ends with an installation of everything; the pages have their own.
		page_run "$(page_block "$top/docs/operations.md" Install 2 | sed '/^dpkg-buildpackage/q')"
		passed "the packages were built"
	fi
	[ $# -gt 0 ] || set -- sycl compiled python adaptivecpp
	for part in "$@"; do
		case $part in
		sycl) part_sycl ;;
		compiled) part_compiled ;;
		python) part_python ;;
		adaptivecpp) part_adaptivecpp ;;
		*) fail "there is no part $part" ;;
		esac
		passed "part $part has ended"
	done
	echo "fresh: $count passed, 0 failed, after $((SECONDS - started)) s"
}

# bring FOLDER PLACE: shows the folder there, if one is given.
bring() {
	[ -n "$1" ] || return 0
	mkdir "$2"
	mount --bind "$1" "$2"
}

# The copy is on the disk: what is installed there has several GB.
enter() {
	local root=$folder/run
	cp -a "$folder/fresh" "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /sys "$root/sys"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/run"
	git clone -q "$top" "$root/root/project"
	bring "${SYCLD_GIT-}" "$root/root/git"
	bring "${SYCLD_PACKAGES-}" "$root/root/packages"
	exec chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		PIP_CERT=/etc/ssl/certs/ca-certificates.crt ${SYCLD_GIT:+SYCLD_GIT=/root/git} ${SYCLD_PACKAGES:+SYCLD_PACKAGES=/root/packages} bash -c "cd /root/project && tests/judges/fresh.sh --inside ${parts-}"
}

if [ "$1" = --inside ]; then
	inside "${@:2}"
	exit
fi
if [ "${2-}" = enter ]; then
	folder=$1
	enter
fi
mkdir -p "$2/fresh"
folder=$(cd "$2/fresh" && pwd)
export parts=${*:3}
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
may_install
make_fresh "$folder/fresh" git,ca-certificates,sudo || skip "debootstrap made no Debian"
rm -rf --one-file-system "$folder/run"
status=0
apart enter || status=$?
rm -rf --one-file-system "$folder/run"
exit "$status"
