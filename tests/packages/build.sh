# shellcheck shell=bash
# The Debian packages of the last commit, as it is when this file is read: a commit while packages are built must not change them. Sourced
# by packages.sh and by guest.sh of tests/systemd, which set `top` and `folder`.
# shellcheck disable=SC2154
built_commit=$(git -C "$top" rev-parse HEAD)
# build_packages NAME: builds from a clean copy of that commit, always in a folder of the same name, because its path must not matter.
build_packages() {
	rm -rf "${folder:?}/$1"
	mkdir -p "$folder/$1"
	git -C "$top" archive --prefix=sycld/ "$built_commit" | tar -x -C "$folder/$1"
	(cd "$folder/$1/sycld" && dpkg-buildpackage -us -uc -b >"$folder/$1.log" 2>&1) || {
		tail -n 30 "$folder/$1.log"
		exit 1
	}
}

# Builds the same packages with a later version.
make_newer() {
	local package content
	rm -rf "$folder/newer"
	mkdir -p "$folder/newer"
	for package in sycld sycld-exporter sycld-opencl-icd libsyclclient0 libsyclclient-dev python3-sycld sycld-doc; do
		content=$folder/newer/$package
		dpkg-deb -R "$folder"/one/${package}_[0-9]*.deb "$content"
		sed -i "s/^Version: .*/&+later/; s/(= \([0-9.]*\))/(= \1+later)/" "$content/DEBIAN/control"
		dpkg-deb --root-owner-group -b "$content" "$folder/newer/$package.deb" >/dev/null
	done
}
