# shellcheck shell=bash
# A copy of a root folder in which packages can be installed. Sourced by packages.sh and rpm.sh, which set `folder`, and which are started again
# in the namespaces of a step.
# shellcheck disable=SC2154
skip() {
	echo "skipped: $*" >&2
	exit 77
}

# copy_root LAYER ROOT: lays a writable layer in memory over the root folder ROOT, in separate namespaces.
copy_root() {
	local layer=$1
	mount -t tmpfs -o mode=0755 tmpfs "$layer"
	mkdir "$layer/upper" "$layer/work" "$layer/root"
	mount -t overlay -o "lowerdir=$2,upperdir=$layer/upper,workdir=$layer/work" overlay "$layer/root" 2>/dev/null ||
		skip "no overlay of the root folder can be made here"
	[ -x "$layer/root/usr/bin/dpkg" ] || skip "/usr is a file system of its own"
	mount -t proc proc "$layer/root/proc"
	mount --rbind /sys "$layer/root/sys"
	mount --rbind /dev "$layer/root/dev"
	mount -t tmpfs tmpfs "$layer/root/run"
}

# make_fresh ROOT PACKAGES: makes a minimal Debian with these packages there, unless there is one. It gets further packages in the same way as
# this machine.
make_fresh() {
	local root=$1 mirror release
	[ ! -e "$root/made" ] || return 0
	mirror=$(grep -shE '^(URIs:|deb) ' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list | head -n 1 | awk '{ print $2 }')
	release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	rm -rf "$root"
	debootstrap --variant=minbase --include="$2" "$release" "$root" "$mirror" >"$root.log" 2>&1 || {
		tail -n 3 "$root.log"
		return 1
	}
	cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
	cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
	cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt" 2>/dev/null || true
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
	: >"$root/made"
}

# apart STEP: runs the step in separate namespaces.
apart() {
	local layer status=0
	layer=$(mktemp -d)
	unshare --mount --pid --fork --propagation private "$0" "$folder" "$1" "$layer" || status=$?
	rmdir "$layer"
	return "$status"
}

may_install() {
	[ "$(id -u)" = 0 ] || skip "only root can install packages"
	unshare --mount --pid --fork --propagation private true 2>/dev/null || skip "this system does not allow new namespaces"
}
