# shellcheck shell=bash
# Measures how much of the product's sources the tests run: `check.sh --long coverage`. Sourced by check.sh, whose functions `lane` and
# `tests` run the builds and tests.
# shellcheck disable=SC2154,SC2034
: "${top:?the project folder}"

# The labels of the tests that count: those that run the sources in many ways. Others (races, second runs) run the same lines again.
coverage_labels=${SYCLD_COVERAGE_LABELS:-unit|wire|fuzz|conformance|integration}

# Many threads, and processes that run at the same time, add to the counters. Nothing but the clock of unit_cuda_clock is optimised. It builds
# what those tests need, and no benchmark.
compile_coverage() {
	compile_lane build/check-coverage "$coverage_labels" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -g1 --coverage -fprofile-update=atomic"
}

# coverage_of FOLDER: makes a page with a line for each folder of sources, then a list of what no test runs. A source that no process has
# run has a .gcno file all the same.
coverage_of() {
	(cd "$1" && find . -name '*.gcno' -exec gcov --branch-probabilities --stdout --relative-only --source-prefix "$top" {} +) \
		2>"$logs/gcov.log" | awk -f "$top/tests/support/coverage.awk"
}

# most_not_run PAGE: prints the files with the most lines that no test runs. The page lists the functions, too.
most_not_run() {
	awk -F '|' '/^## / { inside = /most lines/ } inside && /^\| `/ { gsub(/[` ]/, ""); printf "  %s: %d of %d lines not run\n", $2, $3, $4 }' "$1"
}

coverage() {
	local folder=$top/build/check-coverage start=$SECONDS result=ok
	lane "build (gcc, coverage)" compile_coverage || return
	find "$folder" -name '*.gcda' -delete
	tests "tests for coverage" build/check-coverage -L "^($coverage_labels)\$" -LE '^again$'
	if coverage_of "$folder" >"$top/build/coverage.md"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1)) result=FAILED
	fi
	line '%-34s %-7s %4d s   %s\n' "coverage" "$result" $((SECONDS - start)) "$(tail -n 1 "$top/build/coverage.md"), build/coverage.md"
	most_not_run "$top/build/coverage.md"
}
