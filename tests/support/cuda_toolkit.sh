#!/usr/bin/env bash
# cuda_toolkit.sh FOLDER [--fetch] prints CMake's options for the CUDA backend and its tests, one a line. It prints nothing if CMake finds a
# toolkit by itself. On a machine without one, headers and NVRTC come from the Python package index into FOLDER (versions and hashes:
# cuda_toolkit.txt). If something is not available, a line on stderr begins with "left out: ...". That is no failure: everything else is
# built and tested. With --fetch the packages are taken even if there is a toolkit.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
folder=${1:?a folder}
wanted=$here/cuda_toolkit.txt
log=$folder/log

left_out() {
	printf 'left out: the CUDA backend and its tests: %s\n' "$*" >&2
	exit 0
}

# Looks for a toolkit of CUDA 13 with NVRTC in the places that CMake searches.
installed() {
	local root version
	for root in "${CUDA_HOME-}" /usr/local/cuda; do
		if [ -z "$root" ] || [ ! -e "$root/include/cudaTypedefs.h" ]; then
			continue
		fi
		version=$(sed -n 's/^#define CUDA_VERSION  *\([0-9][0-9]*\)$/\1/p' "$root/include/cuda.h")
		[ "${version:-0}" -ge 13000 ] || continue
		if [ -e "$root/lib64/libnvrtc.so.13" ] || [ -e "$root/targets/x86_64-linux/lib/libnvrtc.so.13" ]; then
			return 0
		fi
	done
	return 1
}

# unpack FROM TO: takes the headers, the compiler and the libraries that it loads out of the
# packages.
unpack() {
	python3 - "$1" "$2" <<'PYTHON'
import pathlib, sys, zipfile

source, target = (pathlib.Path(path) for path in sys.argv[1:])
wanted = ("libnvrtc.so.13", "libnvrtc-builtins.so.13.0")
for package in source.glob("*.whl"):
    with zipfile.ZipFile(package) as archive:
        for name in archive.namelist():
            parts = pathlib.PurePosixPath(name).parts
            if name.endswith("/") or ".." in parts or len(parts) < 4:
                continue
            if parts[2] == "include" or (parts[2] == "lib" and parts[-1] in wanted):
                file = target.joinpath(*parts[2:])
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(archive.read(name))
PYTHON
}

fetch() {
	local new=$folder/new
	rm -rf "$new" "$folder/packages"
	mkdir -p "$new" "$folder/packages" || return 1
	timeout 600 python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
		--require-hashes --retries 2 --timeout 30 --dest "$folder/packages" --requirement "$wanted" >"$log" 2>&1 </dev/null ||
		return 1
	unpack "$folder/packages" "$new" >>"$log" 2>&1 || return 1
	for file in include/cuda.h include/cudaTypedefs.h lib/libnvrtc.so.13 lib/libnvrtc-builtins.so.13.0; do
		[ -s "$new/$file" ] || {
			printf '%s is not in the packages\n' "$file" >>"$log"
			return 1
		}
	done
	cp "$wanted" "$new/wanted" || return 1
	rm -rf "$folder/packages" "$folder/toolkit"
	mv "$new" "$folder/toolkit"
}

main() {
	if [ "${2-}" != --fetch ] && installed; then
		return 0
	fi
	mkdir -p "$folder" || left_out "cannot write to $folder"
	if ! cmp -s "$wanted" "$folder/toolkit/wanted"; then
		[ "$(uname -m)" = x86_64 ] || left_out "no CUDA toolkit here, and no package of it for $(uname -m)"
		python3 -m pip --version >/dev/null 2>&1 || left_out "no CUDA toolkit here, and no pip to fetch one"
		fetch || left_out "no CUDA toolkit here, and the Python package index gave none ($(tail -n 1 "$log" 2>/dev/null | cut -c 1-100))"
	fi
	printf '%s\n' "-DSYCLD_CUDA_INCLUDE=$folder/toolkit/include" "-DSYCLD_NVRTC=$folder/toolkit/lib/libnvrtc.so.13"
}

(
	flock 8 || exit 1
	main "$@"
) 8>"${folder%/}.lock"
