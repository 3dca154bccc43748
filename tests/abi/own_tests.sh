#!/bin/sh
# own_tests.sh BUILD-FOLDER NAME... installs the build into a separate folder, and runs there what autopkgtest runs with the Debian packages:
# these scripts of debian/tests. So they are known to work before packages are built.
set -u
build=$1
shift
stage=$build/tests/own-tests-stage
here=$(cd "$(dirname "$0")/../.." && pwd)
runtime=$(mktemp -d /tmp/sycld-own-tests.XXXXXX) || exit 1

fail() {
	echo "$*"
	exit 1
}

# Ends the services that the library has started for these tests. The demo has a folder of its own.
stop_services() {
	for folder in "$runtime"/sycld "$runtime"/*/sycld; do
		pid=$("$bin/syclctl" --runtime-dir "$folder" status --json 2>/dev/null | tr -d ' \n' |
			sed -n 's/.*"service":{[^}]*"pid":\([0-9]*\).*/\1/p')
		[ -z "$pid" ] || kill "$pid"
	done
	rm -rf "$runtime" "$stage"
}

rm -rf "$stage"
DESTDIR=$stage cmake --install "$build" >"$runtime/install.log" 2>&1 || fail "cmake --install: $(tail -n 5 "$runtime/install.log")"
pc=$(find "$stage" -name libsyclclient.pc)
lib=$(dirname "$(find "$stage" -name libsyclclient.so)")
bin=$(dirname "$(find "$stage" -path '*/bin/syclctl')")
trap stop_services EXIT
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$stage" LD_LIBRARY_PATH="$lib" PATH="$bin:$PATH" AUTOPKGTEST_TMP="$runtime"

cd "$here" || exit 1
for name; do
	"debian/tests/$name" || fail "debian/tests/$name ended with status $?"
done
