#!/bin/bash
# rpm.sh FOLDER builds the packages of systemd/rpm/sycld.spec from the last commit, into FOLDER, and checks them with rpmlint. Install, use,
# upgrade and removal on a copy of this machine's root folder must leave nothing. What they require must be here as a library or a program,
# or be a name of the list below; a package of this test provides it to rpm. No other distribution is here, so nothing shows that its packages
# have these names. Exit status 77: it cannot run here; the reason is printed.
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

# Names of packages of Fedora and RHEL that ours may require by name. Check a new one there.
named='systemd util-linux rtld(GNU_HASH)'

# requires PACKAGE...: prints what the packages require and none of them provides, one a line.
requires() {
	rpm --query --package --requires "$@" 2>/dev/null | sed 's/ *$//' | grep -v '^rpmlib(' | sort -u >"$folder/requires"
	rpm --query --package --provides "$@" 2>/dev/null | sed 's/ *$//' | sort -u | comm -23 "$folder/requires" -
}

# is_met REQUIREMENT: returns 0 if it is a file or a library that is here, or one of the names.
is_met() {
	case $1 in
	/*) [ -e "$1" ] ;;
	lib*.so* | ld-linux*.so*) ldconfig -p | grep -q "^[[:space:]]*${1%%(*} " ;;
	*) [[ " $named " = *" $1 "* ]] ;;
	esac
}

# make_needs PACKAGE...: builds a package that provides what these require.
make_needs() {
	local need
	{
		printf 'Name: sycld-test-needs\nVersion: 1\nRelease: 1\nSummary: What is here already\nLicense: Apache-2.0\n'
		printf 'BuildArch: noarch\nAutoReqProv: no\n'
		while read -r need; do
			is_met "$need" || {
				echo "the packages require what is not here, and is in no list of rpm.sh: $need" >&2
				exit 1
			}
			printf 'Provides: %s\n' "$need"
		done < <(requires "$@")
		printf '%%description\nFor a test.\n%%files\n'
	} >"$folder/needs.spec"
	rpmbuild -bb --define "_topdir $folder/needs" "$folder/needs.spec" >"$folder/needs.log" 2>&1 || {
		tail -n 30 "$folder/needs.log"
		exit 1
	}
	echo "required of other packages: $(sed -n 's/^Provides: //p' "$folder/needs.spec" | paste -sd ' ')"
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
make_needs "$folder"/RPMS/*/*.rpm
# The same files in packages of a later release.
mkdir "$folder/one"
mv "$folder"/RPMS/*/*.rpm "$folder/one/"
sed -i 's/^\(Release: *\)1/\12/' "$folder/sycld.spec"
build two.log -bb --short-circuit
may_install
apart enter
