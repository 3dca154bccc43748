#!/bin/bash
# rpm.sh FOLDER builds the packages of systemd/rpm/sycld.spec from the last commit, into FOLDER, and checks them with rpmlint. Install, use,
# upgrade and removal on a copy of this machine's root folder must leave nothing. Names of packages that they need are those of another
# distribution, so nothing here shows that these exist. Exit status 77: it cannot run here; the reason is printed.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
spec=systemd/rpm/sycld.spec

# shellcheck source=tests/packages/root.sh
. "$here/root.sh"

# same_version: prints the version that the spec, the build and the Debian packages must have in common.
same_version() {
	local version
	version=$(sed -n 's/^Version: *//p' "$top/$spec")
	if ! grep -q "^project(sycld VERSION $version " "$top/CMakeLists.txt" || ! grep -q "^sycld ($version)" "$top/debian/changelog"; then
		echo "$spec has another version: $version" >&2
		exit 1
	fi
	echo "$version"
}

# build LOG OPTION...: rpmbuild in the folder.
build() {
	local log=$folder/$1
	shift
	rpmbuild --nodeps --noclean --buildroot "$folder/root" --define "_topdir $folder" "$@" "$folder/sycld.spec" >"$log" 2>&1 || {
		tail -n 30 "$log"
		exit 1
	}
}

enter() {
	local layer=$1
	copy_root "$layer" /
	mkdir "$layer/root/packages"
	mount --bind "$folder" "$layer/root/packages"
	exec chroot "$layer/root" /usr/bin/env -i PATH="$PATH" HOME=/root bash /packages/rpm_inside.sh
}

# The script was started by itself.
if [ "${2-}" = enter ]; then
	folder=$1
	enter "$3"
fi

for program in rpmbuild rpmlint; do
	command -v "$program" >/dev/null || skip "$program is not installed"
done
rm -rf "${1:?}"
mkdir -p "$1/SOURCES"
folder=$(cd "$1" && pwd)
version=$(same_version)
git -C "$top" archive --prefix="sycld-$version/" HEAD | gzip -n >"$folder/SOURCES/sycld-$version.tar.gz"
cp "$top/$spec" "$here/rpm_inside.sh" "$folder/"
build one.log -ba
rpmlint --rpmlintrc "$top/systemd/rpm/sycld.rpmlintrc" "$folder"/RPMS/*/*.rpm "$folder"/SRPMS/*.rpm >"$folder/rpmlint.log" 2>&1 || {
	grep ': E: ' "$folder/rpmlint.log"
	exit 1
}
tail -n 1 "$folder/rpmlint.log"
# The same files in packages of a later release.
mkdir "$folder/one"
mv "$folder"/RPMS/*/*.rpm "$folder/one/"
sed -i 's/^\(Release: *\)1/\12/' "$folder/sycld.spec"
build two.log -bb --short-circuit
may_install
apart enter
