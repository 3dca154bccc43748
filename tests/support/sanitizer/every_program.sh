#!/usr/bin/env bash
# every_program.sh BUILD: each program of a build under AddressSanitizer carries the options that the sanitizer needs on any machine (options.c).
set -u
build=$1
seen=0 bad=0
while IFS= read -r program; do
	symbols=$(nm "$program" 2>/dev/null) || continue
	case $symbols in
	*__asan_init*) ;;
	*) continue ;;
	esac
	seen=$((seen + 1))
	if ! grep -q ' T __asan_default_options$' <<<"$symbols"; then
		printf '%s: without __asan_default_options: link it with sycl_flags\n' "$program"
		bad=1
	fi
done < <(find "$build/bin" "$build/tests" -maxdepth 1 -type f -executable ! -name '*.so*')
printf '%d programs\n' "$seen"
[ "$seen" -gt 0 ] && [ "$bad" -eq 0 ]
