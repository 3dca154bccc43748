#!/bin/bash
# packages.sh FOLDER: builds the Debian packages of the last commit twice, into FOLDER, and checks them: the same bytes both times, no
# error of lintian, and install, use, upgrade and purge on a copy of this machine's root folder, which leave nothing. Exit 77: it cannot
# run here, and why.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..

skip() {
	echo "skipped: $*" >&2
	exit 77
}

# The packages that a build needs: the same in both lists, but for what Debian takes for granted.
same_needs() {
	sed -n '/^Build-Depends:/,/^$/s/^[A-Za-z-]*:* *\([a-z0-9.+-]*\).*/\1/p' "$top/debian/control" |
		grep -v '^$\|^debhelper-compat$\|^dh-sequence-' | sort >"$folder/needs"
	sed -n 's/^build: //p' "$top/.ci/packages.txt" | grep -v '^gcc$\|^g++$\|^libc6-dev$' | sort | diff - "$folder/needs" || {
		echo "debian/control and .ci/packages.txt name other packages"
		exit 1
	}
}

# build NAME: from a clean copy of the last commit, all in a folder of the same name, as its path is not to matter.
build() {
	rm -rf "${folder:?}/$1"
	mkdir -p "$folder/$1"
	git -C "$top" archive --prefix=sycld/ HEAD | tar -x -C "$folder/$1"
	(cd "$folder/$1/sycld" && dpkg-buildpackage -us -uc -b >"$folder/$1.log" 2>&1) || {
		tail -n 30 "$folder/$1.log"
		exit 1
	}
}

same_bytes() {
	local package
	for package in "$folder"/one/*.deb; do
		cmp "$package" "$folder/two/${package##*/}" || exit 1
	done
	echo "built twice, the same bytes: $(cd "$folder/one" && echo *.deb)"
}

# The same packages as a later version.
make_newer() {
	local package content
	rm -rf "$folder/newer"
	mkdir -p "$folder/newer"
	for package in sycld sycld-exporter libsyclclient0 libsyclclient-dev sycld-doc; do
		content=$folder/newer/$package
		dpkg-deb -R "$folder"/one/${package}_[0-9]*.deb "$content"
		sed -i "s/^Version: .*/&+later/; s/(= \([0-9.]*\))/(= \1+later)/" "$content/DEBIAN/control"
		dpkg-deb --root-owner-group -b "$content" "$folder/newer/$package.deb" >/dev/null
	done
}

# A copy of the root folder: a layer in memory above it, in namespaces of its own.
enter() {
	local layer=$1
	mount -t tmpfs -o mode=0755 tmpfs "$layer"
	mkdir "$layer/upper" "$layer/work" "$layer/root"
	mount -t overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" overlay "$layer/root" 2>/dev/null ||
		skip "no overlay of the root folder can be made here"
	[ -x "$layer/root/usr/bin/dpkg" ] || skip "/usr is a file system of its own"
	mount -t proc proc "$layer/root/proc"
	mount --rbind /sys "$layer/root/sys"
	mount --rbind /dev "$layer/root/dev"
	mount -t tmpfs tmpfs "$layer/root/run"
	mkdir "$layer/root/packages"
	mount --bind "$folder" "$layer/root/packages"
	exec chroot "$layer/root" /usr/bin/env -i PATH="$PATH" HOME=/root DEBIAN_FRONTEND=noninteractive \
		bash /packages/one/sycld/tests/packages/inside.sh
}

if [ "${2-}" = enter ]; then
	folder=$1
	enter "$3"
fi

mkdir -p "$1"
folder=$(cd "$1" && pwd)
for program in dpkg-buildpackage dh lintian; do
	command -v "$program" >/dev/null || skip "$program is not here"
done
same_needs
build one
build two
same_bytes
lintian --fail-on error --allow-root "$folder"/one/sycld_*_amd64.changes
make_newer
[ "$(id -u)" = 0 ] || skip "only root can install packages"
unshare --mount --pid --fork --propagation private true 2>/dev/null || skip "no namespaces can be made here"
layer=$(mktemp -d)
status=0
unshare --mount --pid --fork --propagation private "$0" "$folder" enter "$layer" || status=$?
rmdir "$layer"
exit "$status"
