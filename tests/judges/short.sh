#!/bin/bash
# short.sh BUILD OUT: what `./check.sh` runs of the judges, in a minute: the loaders, clinfo, a part of clpeak and of pyopencl's tests. The limit
# is far longer than a test takes, so that no slow machine fails it. What is built is kept in OUT. Exit status 77: one of them could not run,
# and none failed.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
build=$1 out=$2 worst=0
export JUDGE_LIMIT=600 JUDGE_CACHE=$out/cache

# run NAME ARGUMENT...
run() {
	local status=0
	"$here/$1.sh" "$build" "$out" "${@:2}" || status=$?
	case $status in
	0) ;;
	77) [ "$worst" = 1 ] || worst=77 ;;
	*) worst=1 ;;
	esac
}

run clinfo
run clpeak kernel-latency
run pyopencl "$out" test_wrapper
if [ -d "$out/pyopencl" ]; then
	run loaders "$out"
else
	run loaders
fi
exit "$worst"
