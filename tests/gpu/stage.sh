#!/usr/bin/env bash
# Makes a folder with everything that run.sh needs on a machine with a GPU: programs, tests, their libraries, scripts. It builds here, so
# that nothing is built on that machine, which may have another distribution.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
# shellcheck source=tests/support/common.sh
. "$top/tests/support/common.sh"

# A larger folder takes long to copy from machine to machine.
most_mib=60

usage() {
	cat <<TXT
Usage: tests/gpu/stage.sh DIR [BUILD]
  DIR    the folder to make; an older one is replaced
  BUILD  the build folder to take programs from, which is built first (default build/check-gpu)
TXT
}

# Libraries are found beside the programs. That includes libraries of libraries, which DT_RUNPATH would not do, and processes that were
# started without LD_LIBRARY_PATH.
configure_options=(-DSYCLD_TESTS=ON -DSYCLD_CUDA=ON -DCMAKE_BUILD_TYPE=Release
	-DCMAKE_C_FLAGS_RELEASE='-O2 -g1 -D_FORTIFY_SOURCE=2'
	-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON "-DCMAKE_INSTALL_RPATH=\$ORIGIN/../lib"
	"-DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags" "-DCMAKE_SHARED_LINKER_FLAGS=-Wl,--disable-new-dtags")

# Returns 0 for libraries that are not copied, because the machine's own are used. A process can have only one C library and its family. A
# vendor's driver may need newer compiler libraries than those here. The toolkit's mathematical libraries have six hundred MiB.
is_the_machines_own() {
	case $1 in
	ld-linux* | libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | libresolv.so* | libutil.so* | libnss_* | \
		libmvec.so* | libstdc++.so* | libgcc_s.so* | libcuda.so* | libnvidia-* | libcublas*.so* | libcufft*.so*) return 0 ;;
	esac
	return 1
}

# libraries_of FILE...: prints "NAME PATH" of every shared library outside of the folder that these files need, directly or not.
libraries_of() {
	local name path
	ldd "$@" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => \(\/[^ ]*\) (.*/\1 \2/p' | sort -u |
		while read -r name path; do
			is_the_machines_own "$name" || case $path in "$stage"/*) ;; *) printf '%s %s\n' "$name" "$path" ;; esac
		done
}

# Copies programs, not objects, caches or results.
copy_programs() {
	local file
	for file in "$build"/bin/* "$build"/tests/*; do
		case $file in
		*.sh | */sycld-exporter | *_fake | *_cpu | *_double | */replay_* | */race_* | */unit_* | */wire_* | */session_* | */supervisor_*) continue ;;
		esac
		if [ ! -f "$file" ] || [ ! -x "$file" ]; then
			continue
		fi
		cp -p "$file" "$stage/build/${file#"$build"/}" || return 1
	done
	# TR10 is measured on the double of the driver.
	if [ -f "$build/tests/fake_cuda/libcuda.so.1" ]; then
		mkdir -p "$stage/build/tests/fake_cuda" && cp -p "$build/tests/fake_cuda/libcuda.so.1" "$stage/build/tests/fake_cuda/" || return 1
	fi
	# Tests keep their compiled kernels in folders that the build made.
	(cd "$build/tests" && find . -type d -name '*cache*' -exec mkdir -p "$stage/build/tests/{}" \;) || return 1
	find "$build/lib" \( -name '*.so' -o -name '*.so.*' \) -exec cp -P -p {} "$stage/build/lib/" \;
}

copy_libraries() {
	local name path
	libraries_of "$stage"/build/bin/* "$stage"/build/tests/* "$stage"/build/lib/*.so* | sort -u >"$stage/libraries"
	while read -r name path; do
		cp -L "$path" "$stage/build/lib/$name" && chmod u+w "$stage/build/lib/$name" || return 1
	done <"$stage/libraries"
	# NVRTC is loaded at run time, so no program is linked with it. The copy is for machines that have
	# none.
	path=$(ldconfig -p 2>/dev/null | sed -n 's/.*libOpenCL\.so\.1 .*x86-64.* => //p' | head -n 1)
	[ -z "$path" ] || cp -L "$path" "$stage/spare/libOpenCL.so.1"
}

# OpenCL C and SPIR-V are translated here, with the double of the driver: there is no clang on that machine. The service finds what it kept.
keep_translations() {
	if [ ! -x "$build/tests/opencl_driver" ] || [ ! -r /usr/lib/clc/nvptx64--nvidiacl.bc ]; then
		say "left out: OpenCL's programs for CUDA (no libclc)"
		return 0
	fi
	mkdir -p "$stage/opencl-cache" && XDG_CACHE_HOME=$stage/opencl-cache SYCLD_TEST_OPENCL=$build/tests/fake_cuda/libcuda.so.1 \
		"$build/tests/opencl_driver" --jobs=2 --filter '@(language|commands|svm)/*' >"$stage/opencl-log" 2>&1
}

strip_all() {
	find "$stage/build" -type f -exec sh -c '
		for file; do
			case $(head -c 4 "$file" | tr -d "\0") in *ELF*) strip --strip-debug "$file" ;; esac
		done' sh {} +
}

copy_texts() {
	cp "$top/tests/gpu/run.sh" "$stage/" || return 1
	cp "$top/demo.sh" "$stage/" || return 1
	mkdir -p "$stage/tests/support" "$stage/tests/gpu" || return 1
	cp "$top"/tests/support/common.sh "$top"/tests/support/*.awk "$stage/tests/support/" || return 1
	cp "$top"/tests/gpu/report.sh "$top"/tests/gpu/under_mps.sh "$top"/tests/gpu/*.awk "$stage/tests/gpu/" || return 1
	cp "$top/tests/gpu/confined.sh" "$build/systemd/sycld.service" "$stage/tests/gpu/" || return 1
	# That machine may have neither systemd nor a compiler. Without the list its service has no such filter, and run.sh says so.
	"$top/tests/gpu/confined/system_calls.sh" "$build/systemd/sycld.service" >"$stage/tests/gpu/system-calls" ||
		rm -f "$stage/tests/gpu/system-calls"
	# Lists the tests of each program, for reports about a program that is killed.
	"$top/tests/support/suite_tests.sh" "$build" >"$stage/suite-tests" || return 1
	# Programs contain paths of the build folder. run.sh makes a link there that leads to this folder.
	printf '%s\n' "$build" >"$stage/build-folder"
	commit >"$stage/commit"
}

# commit: prints the commit, and whether the tree had uncommitted changes.
commit() {
	local id
	id=$(git -C "$top" rev-parse --short=12 HEAD 2>/dev/null) || id=unknown
	! git -C "$top" status --porcelain 2>/dev/null | grep -qvE ' tests/gpu/(results|figures)\.tsv$' || id="$id with changes"
	printf '%s\n' "$id"
}

main() {
	case ${1-} in
	'' | -*)
		usage >&2
		exit 2
		;;
	esac
	prepare_folder
	build=${2-$top/build/check-gpu}
	build_into "$build" all "${configure_options[@]}" || exit 1
	build=$(cd "$build" && pwd) || exit 1
	local mib
	if ! { rm -rf "$1" && mkdir -p "$1"/build/{bin,tests,lib} "$1/spare"; }; then
		fail "cannot make $1"
	fi
	stage=$(cd "$1" && pwd) || exit 1
	if ! { copy_programs && copy_libraries && strip_all && copy_texts && keep_translations; }; then
		fail "cannot fill $1"
	fi
	mib=$(du -sm "$stage" | cut -f 1)
	[ "$mib" -le "$most_mib" ] || fail "$stage has $mib MiB, more than the limit of $most_mib MiB"
	say "$stage: $mib MiB, $(cat "$stage/commit")"
}

main "$@" </dev/null
