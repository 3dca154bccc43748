#!/bin/bash
# guest.sh BUILD FOLDER installs the Debian packages of the last commit in a virtual machine, whose systemd is the real PID 1 of a kernel
# of its own, with all control groups. guest_inside.sh is what runs there. BUILD: a build with tests. FOLDER keeps the machine's Debian,
# which is made at the first run and needs the network then. Exit status 77: it cannot run here; the reason is printed.
# SYCLD_GUEST_ACCEL: kvm or tcg, which is slow. Without it, kvm where the processor has it.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$here/../..
patience=${SYCLD_GUEST_SECONDS:-7200} # far longer than it takes: only an error reaches it

# shellcheck source=tests/packages/root.sh
. "$top/tests/packages/root.sh"
# shellcheck source=tests/packages/build.sh
. "$top/tests/packages/build.sh"

# What the packages depend on, and what guest_inside.sh needs. The machine has no network.
needed() {
	local package
	for package in "$folder"/one/*.deb; do
		dpkg-deb -f "$package" Depends Recommends
	done | sed 's/^[A-Za-z]*: //; s/ *([^)]*)//g; s/ *|[^,]*//g' | tr ',' '\n' | tr -d ' ' | grep -v 'sycl\|^$'
	printf '%s\n' systemd-sysv udev dbus binutils curl
}

# The packages' needs are added even if the folder was made for earlier ones.
make_debian() {
	local mirror release debian=$folder/debian
	if [ ! -e "$debian/made" ]; then
		mirror=$(grep -shE '^(URIs:|deb) ' /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list | head -n 1 | awk '{ print $2 }')
		release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
		rm -rf "$debian"
		debootstrap --variant=minbase --include=ca-certificates "$release" "$debian" "$mirror" >"$folder/debian.log" 2>&1 || return 1
		cp -a /etc/apt/apt.conf.d/. "$debian/etc/apt/apt.conf.d/"
		# Nothing of it may start here.
		printf '#!/bin/sh\nexit 101\n' >"$debian/usr/sbin/policy-rc.d"
		chmod +x "$debian/usr/sbin/policy-rc.d"
		: >"$debian/made"
	fi
	needed | sort -u >"$folder/needed"
	[ ! -e "$debian/needed" ] || ! cmp -s "$folder/needed" "$debian/needed" || return 0
	# The kernel comes last: its first file system in memory is made of what is there.
	# shellcheck disable=SC2046  # several words
	{
		chroot "$debian" dpkg --configure -a && # of an earlier run that was interrupted
			chroot "$debian" apt-get update &&
			chroot "$debian" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(cat "$folder/needed") &&
			chroot "$debian" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends linux-image-cloud-amd64
	} >>"$folder/debian.log" 2>&1 || return 1
	rm -rf "$debian"/var/cache/apt/archives/*.deb
	cp "$folder/needed" "$debian/needed"
}

# The disk is as new for each run.
make_disk() {
	local debian=$folder/debian
	rm -rf "$debian/sycld-test"
	mkdir "$debian/sycld-test"
	cp -r "$folder/newer" "$debian/sycld-test/newer"
	mkdir "$debian/sycld-test/one"
	cp "$folder"/one/{sycld_,sycld-exporter_,sycld-opencl-icd_,libsyclclient0_,libsyclclient-dev_,sycld-doc_}*.deb "$debian/sycld-test/one/"
	rm -f "$debian/usr/sbin/policy-rc.d"
	install "$build/tests/worker" "$debian/usr/local/bin/sycld-test-worker"
	install "$here/guest_inside.sh" "$debian/usr/local/bin/sycld-test-boot"
	install -m 0644 "$here/clients.sh" "$debian/usr/local/lib/sycld-test-clients"
	printf '[Unit]\nAfter=multi-user.target\n[Service]\nType=oneshot\nTimeoutStartSec=infinity\nTasksMax=infinity\n%s\n%s\n' \
		"ExecStart=/bin/sh -c 'exec sycld-test-boot >/dev/virtio-ports/said 2>&1'" 'ExecStopPost=/bin/systemctl --no-block poweroff' \
		>"$debian/etc/systemd/system/sycld-test-boot.service"
	ln -sf ../sycld-test-boot.service "$debian/etc/systemd/system/multi-user.target.wants/sycld-test-boot.service"
	printf '/dev/vda / ext4 rw 0 1\n' >"$debian/etc/fstab"
	printf 'sycld-test\n' >"$debian/etc/hostname"
	rm -f "$folder/disk"
	mkfs.ext4 -q -F -d "$debian" "$folder/disk" 8G >/dev/null
}

accelerator() {
	if [ -n "${SYCLD_GUEST_ACCEL-}" ]; then
		echo "$SYCLD_GUEST_ACCEL"
	elif [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then
		echo kvm
	else
		echo tcg
	fi
}

boot() {
	local accel processor=max connections=3
	accel=$(accelerator)
	[ "$accel" = tcg ] || processor=host connections=30
	: >"$folder/said"
	tail -f -n +1 --pid $$ "$folder/said" &
	timeout "$patience" qemu-system-x86_64 -nographic -no-reboot -nodefaults -accel "$accel" -cpu "$processor" -smp 2 -m 6144 \
		-kernel "$folder/debian/vmlinuz" -initrd "$folder/debian/initrd.img" \
		-append "console=ttyS0 root=/dev/vda rw quiet mitigations=off sycld-test=$connections" -serial "file:$folder/console.log" \
		-drive "file=$folder/disk,format=raw,if=virtio,cache=unsafe" -device virtio-rng-pci -nic none \
		-device virtio-serial-pci -chardev "file,id=said,path=$folder/said" -device virtserialport,chardev=said,name=said \
		</dev/null >"$folder/qemu.log" 2>&1 || cat "$folder/qemu.log" "$folder/console.log"
}

[ "$(id -u)" = 0 ] || skip "only root can make a Debian"
for program in qemu-system-x86_64 debootstrap mkfs.ext4 dpkg-buildpackage dh; do
	command -v "$program" >/dev/null || skip "$program is not installed"
done
[ "$(uname -m)" = x86_64 ] || skip "the machine would have another kind of processor"
build=$(cd "$1" && pwd)
[ -x "$build/tests/worker" ] || skip "$build has no tests"
mkdir -p "$2"
folder=$(cd "$2" && pwd)
build_packages one
make_newer
make_debian || {
	tail -n 3 "$folder/debian.log" >&2
	skip "no Debian can be made here"
}
make_disk
boot
grep -qx "all of it" "$folder/said"
