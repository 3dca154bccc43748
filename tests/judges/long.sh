#!/bin/bash
# long.sh BUILD OUT: all judges, whole, and one table of their tests, OUT/judges.md. Folders of other projects' builds are not in this tree:
# SYCLD_CTS (a build of OpenCL-CTS), SYCLD_CLBLAST (a build of CLBlast), SYCLD_DPCTL (a virtual environment with dpctl), SYCLD_LOADERS (folders
# with a libOpenCL.so.1, with colons between). README.md says how they are made. What is missing is left out and named. Exit status 1: a test
# passes on the plain driver only, for no known reason.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
build=$1 out=$2 worst=0

run() {
	local status=0
	rm -f "$out/$1.tsv" "$out/$1.said"
	mkdir -p "$out"
	"$here/$1.sh" "$build" "$out" "${@:2}" 2>&1 | tee "$out/$1.said"
	status=${PIPESTATUS[0]}
	[ "$status" = 0 ] || [ "$status" = 77 ] || worst=1
}

# run_in NAME FOLDER VARIABLE
run_in() {
	if [ -n "$2" ]; then
		run "$1" "$2"
	else
		rm -f "$out/$1.tsv"
		echo "skipped: $1, because $3 names no folder" | tee "$out/$1.said"
	fi
}

IFS=: read -r -a loaders <<<"${SYCLD_LOADERS-}"
run clinfo
run clpeak
run pyopencl "$out"
[ ! -d "$out/pyopencl" ] || loaders+=("$out")
run loaders "${loaders[@]}"
run hashcat
run translate
run fresh
run_in clblast "${SYCLD_CLBLAST-}" SYCLD_CLBLAST
run_in cts "${SYCLD_CTS-}" SYCLD_CTS
run_in dpctl "${SYCLD_DPCTL-}" SYCLD_DPCTL
run_in together "${SYCLD_DPCTL-}" SYCLD_DPCTL
"$here/table.sh" "$out" >"$out/judges.md"
exit "$worst"
