#!/usr/bin/env bash
# every_program.sh BUILD checks that each program of a build under AddressSanitizer has the options that the sanitizer needs on any machine
# (options.c). The sanitizer's own library finds them among the symbols of the dynamic linker.
set -u
build=$1
find "$build/bin" "$build/tests" -maxdepth 1 -type f -executable ! -name '*.so*' -print0 |
	xargs -0 nm --dynamic --print-file-name 2>/dev/null | awk '
		{ file = $0; sub(/:.*/, "", file) }
		$NF ~ /^__asan_init/ { seen[file] }
		/ T __asan_default_options$/ { has[file] }
		END {
			for (file in seen) {
				programs++
				if (!(file in has)) {
					printf "%s: without __asan_default_options: link it with sycl_flags\n", file
					bad = 1
				}
			}
			printf "%d programs\n", programs
			exit bad || !programs
		}'
