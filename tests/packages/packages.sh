#!/bin/bash
# packages.sh FOLDER builds the Debian packages of the last commit twice, into FOLDER, and checks them. Both builds must have the same
# bytes, and lintian must report no error. autopkgtest runs their own test in a Debian that has nothing else. Install, use, upgrade and
# purge on a copy of this machine's root folder must leave nothing. Exit status 77: it cannot run here; the reason is printed.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..

# shellcheck source=tests/packages/root.sh
. "$here/root.sh"
# shellcheck source=tests/packages/build.sh
. "$here/build.sh"

# Both lists must have the same packages for a build, except those that every Debian has and those of packages that are made on request.
same_needs() {
	sed '/<pkg\.sycld\./d' "$top/debian/control" | sed -n '/^Build-Depends:/,/^$/s/^[A-Za-z-]*:* *\([a-z0-9.+-]*\).*/\1/p' |
		grep -v '^$\|^debhelper-compat$\|^dh-sequence-' | sort >"$folder/needs"
	sed -n 's/^build: //p' "$top/.ci/packages.txt" | grep -v '^gcc$\|^g++$\|^libc6-dev$' | sort | diff - "$folder/needs" || {
		echo "debian/control and .ci/packages.txt name other packages"
		exit 1
	}
}

same_bytes() {
	local package
	for package in "$folder"/one/*.deb; do
		cmp "$package" "$folder/two/${package##*/}" || exit 1
	done
	echo "both builds have the same bytes: $(cd "$folder/one" && echo *.deb)"
}

enter() {
	local layer=$1
	copy_root "$layer" /
	mkdir "$layer/root/packages"
	mount --bind "$folder" "$layer/root/packages"
	exec chroot "$layer/root" /usr/bin/env -i PATH="$PATH" HOME=/root DEBIAN_FRONTEND=noninteractive \
		bash /packages/one/sycld/tests/packages/inside.sh
}

# autopkgtest installs the packages and those that their test needs, and runs the test there.
# Its own limits of time, such as 100 s for a short command, are too short for a machine that does other things, too.
run_own_test() {
	local layer=$1
	copy_root "$layer" "$folder/fresh"
	exec autopkgtest --timeout-factor=10 --no-built-binaries "$folder"/one/{sycld_,sycld-opencl-icd_,libsyclclient0_,libsyclclient-dev_,python3-sycld_}*.deb "$folder/one/sycld/" \
		-- chroot "$layer/root"
}

# If the first word is a step, the script was started by itself; the third word is the folder for the layer.
case ${2-} in
enter)
	folder=$1
	enter "$3"
	;;
run_own_test)
	folder=$1
	run_own_test "$3"
	;;
esac

mkdir -p "$1"
folder=$(cd "$1" && pwd)
for program in dpkg-buildpackage dh lintian; do
	command -v "$program" >/dev/null || skip "$program is not installed"
done
same_needs
# Slurm's headers are needed for one package alone.
if dpkg-query -W libslurm-dev >/dev/null 2>&1; then
	export DEB_BUILD_PROFILES=pkg.sycld.slurm
else
	echo "not built: sycld-slurm, because libslurm-dev is not installed"
fi
build_packages one
build_packages two
same_bytes
lintian --fail-on error --allow-root "$folder"/one/sycld_*_amd64.changes
make_newer
may_install
status=0
if ! command -v autopkgtest >/dev/null || ! command -v debootstrap >/dev/null || ! make_fresh "$folder/fresh" ca-certificates; then
	echo "not run: autopkgtest, because it or a Debian to run it in is missing"
elif apart run_own_test >"$folder/autopkgtest.log" 2>&1; then
	tail -n 1 "$folder/autopkgtest.log"
else
	tail -n 60 "$folder/autopkgtest.log"
	status=1
fi
apart enter || status=$?
exit "$status"
