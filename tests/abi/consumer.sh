#!/bin/sh
# consumer.sh BUILD-FOLDER SOURCE-FOLDER installs the build into a separate folder and uses it from
# outside: from C and from C++, through pkg-config and through find_package. It runs the programs
# with the engine in the process, and with a service that the library starts.
set -u
build=$1
source=$2
stage=$build/tests/stage
work=$build/tests/consumer
runtime=

fail() {
	echo "$*"
	exit 1
}

# Ends the service that was started for this test, if there is one.
stop_service() {
	[ -n "$runtime" ] || return 0
	pid=$("$bin/syclctl" --runtime-dir "$runtime/sycld" status --json 2>/dev/null | tr -d ' \n' |
		sed -n 's/.*"service":{[^}]*"pid":\([0-9]*\).*/\1/p')
	[ -z "$pid" ] || kill "$pid"
	rm -rf "$runtime"
}
trap stop_service EXIT

rm -rf "$stage" "$work"
mkdir -p "$work"
DESTDIR=$stage cmake --install "$build" >"$work/install.log" 2>&1 || fail "cmake --install: $(tail -n 5 "$work/install.log")"
pc=$(find "$stage" -name libsyclclient.pc)
[ -n "$pc" ] || fail "no libsyclclient.pc is installed"
lib=$(dirname "$(find "$stage" -name libsyclclient.so)")
bin=$(dirname "$(find "$stage" -path '*/bin/syclctl')")

# The .pc file has the paths of the final place.
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$stage"
options=$(pkg-config --cflags --libs libsyclclient) || fail "pkg-config does not find libsyclclient"
# shellcheck disable=SC2086  # a list of options
gcc -std=c99 -pedantic -Wall -Wextra -Werror "$source/consumer.c" -o "$work/c_pkgconfig" $options || fail "gcc, pkg-config"
# shellcheck disable=SC2086
g++ -std=c++17 -Wall -Wextra -Werror "$source/consumer.cpp" -o "$work/cpp_pkgconfig" $options || fail "g++, pkg-config"

prefix=${lib%/lib*}
if ! cmake -S "$source" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log" 2>&1 ||
	! cmake --build "$work/cmake" >>"$work/cmake.log" 2>&1; then
	fail "find_package: $(tail -n 20 "$work/cmake.log")"
fi

export LD_LIBRARY_PATH="$lib"
for program in "$work/c_pkgconfig" "$work/cpp_pkgconfig" "$work/cmake/consumer_c" "$work/cmake/consumer_cpp"; do
	"$program" embedded: || fail "$program embedded: ended with status $?"
done

# Without an endpoint the installed library must find the installed daemon by itself.
runtime=$(mktemp -d /tmp/sycld-consumer.XXXXXX) || exit 1
export XDG_RUNTIME_DIR="$runtime"
for program in "$work/c_pkgconfig" "$work/cmake/consumer_cpp"; do
	"$program" || fail "$program ended with status $?"
done
echo "the installed library works from outside"
