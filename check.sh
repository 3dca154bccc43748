#!/usr/bin/env bash
# Builds and tests everything, with every compiler and sanitizer. Nothing outside build/ is written but missing packages.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
# shellcheck source=tests/support/common.sh
. "$top/tests/support/common.sh"
# shellcheck source=tests/support/lanes.sh
. "$top/tests/support/lanes.sh"
# shellcheck source=tests/support/long.sh
. "$top/tests/support/long.sh"
# shellcheck source=tests/support/machines.sh
. "$top/tests/support/machines.sh"
# shellcheck source=tests/support/coverage.sh
. "$top/tests/support/coverage.sh"
# shellcheck source=tests/support/text.sh
. "$top/tests/support/text.sh"

passed=0 failed=0 skipped=0 flaky=0 as=() started=$SECONDS
jobs=$(nproc)
built=$top/build # the folder whose configuration says what was left out

usage() {
	cat <<TXT
Usage: ./check.sh [--fast | --rows | --build-only | --long [PART...]]
  (nothing)     every lane
  --fast        while you work: a build of what these need: unit and wire tests, fuzz replay, checks of sources; the sum of the rows
  --rows        the table of requirement rows, from the last run's results and, for a GPU's, tests/gpu/results.tsv
  --build-only  install and build what the tests need, run nothing
  --long        races of 1e8 messages, rows at their full length, real processes ten times over, five minutes of fuzzing for each target,
                each test in the lane that leaves it out, what the tests do not run, static analysis of all paths, half an hour of everything at once,
                the units under a systemd that boots, Prometheus and a browser, a cluster of Slurm, Debian packages, also in a virtual machine, other machines as far as this one can act like them
Packages are installed, and none of their daemons starts. Those for Slurm may be missing: then its tests are skipped.
Without a CUDA toolkit of version 13, headers and compiler are fetched into build/cuda-toolkit; tests/gpu/README.md: tests on a GPU.
The last line says how many passed and failed; before it stands what could not be built here.
TXT
}

# line FORMAT VALUE...: what a lane has come to, also for the page of long runs.
line() {
	# shellcheck disable=SC2059  # the callers' own
	printf "$@" | tee -a "$logs/lanes"
}

# A lane says what it waits for: when it begins and, if it takes long, once a minute. waits NAME COMMAND...: the command prints that.
reporter=
waits() {
	local name=$1
	shift
	printf '%-34s waits for %s\n' "$name" "$("$@")"
	set -m
	(while sleep 60; do printf '%-34s waits for %s\n' "$name" "$("$@")"; done) &
	reporter=$!
	set +m
}

end_waits() {
	[ -n "$reporter" ] || return
	kill -- "-$reporter" 2>/dev/null
	wait "$reporter" 2>/dev/null
	reporter=
}

# What COMMAND... of a lane waits for: a build for its latest step.
awaited() {
	case $1 in
	compile | compile_lane | compile_asan | compile_tsan | compile_coverage | fuzzers | build_into)
		printf 'the compiler%s' "$(cd "$top/build" && find . -maxdepth 2 -name build.log -newer logs/lane -exec tail -n 1 {} \; |
			sed -n 's/^\(\[[0-9/]*\]\) \(.*\)/ at \1 \2/p' | tail -n 1)"
		;;
	text) printf 'shellcheck, codespell, clang-format and the history' ;;
	tidy) printf 'clang-tidy on each source' ;;
	clang_warnings) printf 'clang on each source' ;;
	fuzz) printf 'the fuzzers' ;;
	*) printf '%s' "$1" ;;
	esac
}

# running_tests FOLDER: those that have begun and not ended, by ctest's log.
running_tests() {
	[ -e "$1/ctest.log" ] || {
		printf 'tests'
		return
	}
	awk '/^ +Start +[0-9]+: / { runs[$3] = 1; if (begun[$3]++ == 0) all++ }
		/^ *[0-9]+\/[0-9]+ Test +#/ { sub(/.*#[0-9]+: */, ""); delete runs[$1]; ended++ }
		END {
			for (test in runs)
				text = text " " test
			printf "%s", text == "" ? "tests" : substr(text, 2)
			if (ended > 0)
				printf " (%d have ended)", ended
		}' "$1/ctest.log"
}

# lane NAME COMMAND...: one step; it counts as one check, its tests as theirs.
lane() {
	local name=$1 start=$SECONDS result=ok
	shift
	: >"$logs/lane"
	waits "$name" awaited "$@"
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1)) result=FAILED
	fi
	end_waits
	line '%-34s %-7s %4d s\n' "$name" "$result" $((SECONDS - start))
	[ "$result" = ok ]
}

# compile FOLDER OPTION...: a build of everything in its own folder.
compile() {
	local folder=$1
	shift
	build_into "$top/$folder" all -DSYCLD_TESTS=ON "${cuda[@]}" "$@"
}

# compile_lane FOLDER LABEL OPTION...: a build of what the tests of a lane need, in its own folder.
compile_lane() {
	local folder=$1 label=$2
	shift 2
	build_into "$top/$folder" "lane:$label" -DSYCLD_TESTS=ON "${cuda[@]}" "$@"
}

# Headers and compiler for the CUDA backend, where the machine has none. Its tests run over a double of the driver.
cuda=()
find_cuda() {
	mapfile -t cuda < <("$top/tests/support/cuda_toolkit.sh" "$top/build/cuda-toolkit")
}

# ahead COMMAND...: builds and analysis of later lanes, with what the tests that run now leave of the processors. Those lanes wait for them
# (the lock of a folder) and say what is wrong. A process group of its own: whoever stops this script stops that, too.
ahead() {
	set -m
	(renice -n 19 "$BASHPID" && "$@") >/dev/null 2>&1 &
	set +m
}

end_ahead() {
	local group
	# A child that is ended before it has reset this trap must not end the others.
	[ "$BASHPID" = "$$" ] || return
	for group in $(jobs -pr); do
		kill -- "-$group" 2>/dev/null
	done
}
trap end_ahead EXIT

# tests NAME FOLDER CTEST-OPTION...: run a build's tests and count them. One more at a time than there are processors: many wait now and then,
# and the longest (processes_chaos) leaves the processors to the others.
tests() {
	local name=$1 folder=$top/$2 start=$SECONDS counts pass fail skip alone=
	shift 2
	[ -e "$folder/CTestTestfile.cmake" ] || return 0
	rm -f "$folder"/tests/*.tap "$folder/junit.xml" "$folder/flaky" "$folder/ctest.log"
	git -C "$top" rev-parse --short=12 HEAD >"$folder/tests.commit" 2>/dev/null
	waits "$name" running_tests "$folder"
	"${as[@]}" ctest --test-dir "$folder" -j "$((jobs + 1))" --output-on-failure --no-tests=error --output-junit "$folder/junit.xml" "$@" \
		>"$folder/ctest.log" 2>&1 </dev/null
	end_waits
	counts=$(awk -f "$top/tests/support/results.awk" "$folder/junit.xml" 2>/dev/null |
		awk '{ n[$1]++ } END { printf "%d %d %d", n["pass"], n["fail"], n["skip"] }')
	read -r pass fail skip <<<"${counts:-0 0 0}"
	if [ "$((pass + fail + skip))" -eq 0 ]; then
		fail=1
		tail -n 20 "$folder/ctest.log"
	elif [ "$fail" -gt 0 ]; then
		# What the failed tests said; the whole is in the log.
		grep -vE '^ *[0-9]+/[0-9]+ Test +#[0-9]+: .* Passed|^ +Start ' "$folder/ctest.log" | tail -n 80
		printf '(all of it: %s)\n' "$folder/ctest.log"
		# One or two: a condition that did not come in time beside everything else may be the machine's doing. It is a defect all the same.
		if [ "$fail" -le 2 ] && "$top/tests/support/again.sh" "$folder"; then
			alone=" (flaky, passed only when run again: $(tr '\n' ' ' <"$folder/flaky" | sed 's/ $//'))"
			flaky=$((flaky + $(wc -l <"$folder/flaky")))
			pass=$((pass + fail)) fail=0
		fi
	fi
	passed=$((passed + pass)) failed=$((failed + fail)) skipped=$((skipped + skip))
	line '%-34s %-7s %4d s   %d passed, %d failed, %d skipped%s\n' "$name" "$([ "$fail" -eq 0 ] && echo ok || echo FAILED)" \
		$((SECONDS - start)) "$pass" "$fail" "$skip" "$alone"
}

# once_each: a database of compile commands with the first command of each file; clang-tidy takes a file once for each.
once_each() {
	awk '/^\{/ { entry = "" } { entry = entry $0 "\n" }
		/^ *"file":/ { file = $0; sub(/,$/, "", file) }
		/^\}/ { sub(/\}.*/, "}", entry); if (!seen[file]++) printf "%s%s", n++ ? ",\n" : "[\n", entry }
		END { print "\n]" }' "$1"
}

tidy_sources() {
	sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$1" | grep -E "^$top/(shared|daemon|client)/"
}

# tidy [CLANG-TIDY-OPTION...]
tidy() {
	mkdir -p "$top/build/tidy" && locked "$top/build/tidy/.lock" tidy_once "$@"
}

tidy_once() {
	local log=$top/build/logs/tidy.log commands=$top/build/tidy
	once_each "$top/build/compile_commands.json" >"$commands/compile_commands.json" || return 1
	if ! tidy_sources "$commands/compile_commands.json" |
		each_once "$commands/clean" 8 clang-tidy --quiet "$@" -p "$commands" >"$log" 2>&1; then
		grep -E '(error|warning):' "$log" | sort -u | head -n 60
		printf '(all of it: %s)\n' "$log"
		return 1
	fi
}

# How far the analyzer follows a function's paths: a fortieth of what it does by itself. --long does all.
short_paths=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=max-nodes=5000)

# fuzz SECONDS: each target for so long, from its corpus; new inputs stay in the build folder.
fuzz() {
	local target corpus bad=0
	for target in "$top"/build/check-clang/tests/fuzz_*; do
		[ -x "$target" ] || continue
		corpus=$top/build/check-clang/corpus/${target##*/fuzz_}
		mkdir -p "$corpus"
		quietly "$top/build/logs/${target##*/}.log" "$target" -max_total_time="$1" -timeout=20 -rss_limit_mb=2048 \
			-artifact_prefix="$corpus/crash-" "$corpus" "$top/tests/fuzz/corpus/${target##*/fuzz_}" || bad=1
	done
	return "$bad"
}

# Names are the tests' own; what ran last in each lane counts.
rows() {
	local gpus=0 file
	for file in /dev/nvidia[0-9]*; do
		[ -e "$file" ] && gpus=$((gpus + 1))
	done
	"$top/tests/support/rows.sh" "$top" "$gpus"
}

# Sanitizers see more with assert() in place. Lines are all that their reports name.
asserts=(-DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -g1")
# Most of the time of --fast is the compiler's. Without the optimiser that is a third less, and few tests take longer.
unoptimised=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O0 -g1")
clang=(-DSYCLD_TESTS=ON -DCMAKE_C_COMPILER=clang -DSYCLD_SANITIZE=address -DSYCLD_FUZZ=ON "${asserts[@]}")

fuzzers() {
	build_into "$top/build/check-clang" "fuzzers sycl_proto" "${cuda[@]}" "${clang[@]}"
}

# clang's warnings about the tests' sources, without making code of what gcc has made code of. About the others clang-tidy reports them.
clang_warnings() {
	[ -e "$top/build/check-clang/compile_commands.json" ] && locked "$top/build/check-clang/.warnings.lock" clang_warnings_once
}

clang_warnings_once() {
	local log=$top/build/logs/clang.log
	if ! sed -n 's/^ *"command": "\(.*\)",\{0,1\}$/\1/p' "$top/build/check-clang/compile_commands.json" |
		sed 's/\\"/"/g; s/\\\\/\\/g; s/ -o [^ ]* -c / -fsyntax-only /' |
		awk -v tests="$top/tests/" 'index($NF, tests) == 1 && !seen[$NF]++' |
		(cd "$top/build/check-clang" && each_once "$top/build/check-clang/clean" 1 sh -c) >"$log" 2>&1; then
		grep -E '(error|warning):' "$log" | sort -u | head -n 60
		printf '(all of it: %s)\n' "$log"
		return 1
	fi
}

# What compilers have made for the first lane's tests: the same for every lane, and the greater part of their time. PoCL's own cache (pocl,
# cache-direct) and the engines' results of builds (builds). Engines find these in the next lane. The build helper, its child and the
# backends' builds run there in unit_build, conformance_* and processes_builds, which keep their own or none.
lend_cache() {
	local from=$top/$1/tests to=$top/$2/tests folder
	while IFS= read -r folder; do
		mkdir -p "$to/${folder%/*}" && cp -an "$from/$folder" "$to/${folder%/*}/" || return 1
	done < <(cd "$from" && find . -type d \( -name pocl -o -name cache-direct -o -path '*cache*/builds' \) -prune)
}

asan=(-DSYCLD_SANITIZE=address "${asserts[@]}")

compile_asan() {
	compile_lane build/check-asan address "${asan[@]}"
}

compile_tsan() {
	compile_lane build/check-tsan race -DSYCLD_SANITIZE=thread "${asserts[@]}"
}

# All that later lanes do without running a test, in the order of these lanes.
prepare_lanes() {
	compile_asan
	compile_tsan
	fuzzers
	clang_warnings
	tidy "${short_paths[@]}"
}

everything() {
	lane "build (gcc)" compile_lane build plain &&
		ahead prepare_lanes &&
		tests "tests" build -L '^plain$' &&
		script "OpenCL programs of others" judges "$top/tests/judges/short.sh" "$top/build" "$top/build/judges"
	lane "text" text
	lane "build (gcc, address, undefined)" compile_asan &&
		lend_cache build build/check-asan &&
		tests "tests under address, undefined" build/check-asan -L '^address$' &&
		script "timelines read by Perfetto" perfetto "$top/tests/support/perfetto/read.sh" "$top/build/perfetto" "$top"/build{,/check-asan}
	lane "build (gcc, thread)" compile_tsan &&
		tests "race tests under thread" build/check-tsan -L '^race$' -E '^wake_model'
	lane "build (clang, fuzz)" fuzzers &&
		lane "warnings (clang)" clang_warnings &&
		tests "fuzz replay (clang)" build/check-clang -L '^fuzz$'
	lane "every test has run" every_test_ran "$top"/build "$top"/build/check-{asan,tsan,clang}
	lane "clang-tidy" tidy "${short_paths[@]}"
}

# The last line.
sum() {
	local line="$passed passed, $failed failed"
	[ "$skipped" -eq 0 ] || line="$line, $skipped skipped"
	[ "$flaky" -eq 0 ] || line="$line, $flaky flaky"
	# What this machine could not build has no test that could fail.
	sed -n 's/^-- Left out: /left out: /p' "$built/configure.log" 2>/dev/null
	printf '(%d s)\n%s\n' $((SECONDS - started)) "$line"
	[ "$failed" -eq 0 ]
}

main() {
	case ${1-} in
	'' | --fast | --rows | --build-only) ;;
	--long) known_parts "${@:2}" ;;
	--help | -h)
		usage
		long_usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
	prepare_folder
	: >"$logs/lanes"
	rm -f "$top/build/tidy/clean" "$top/build/check-clang/clean"
	if [ "${1-}" = --rows ]; then
		rows
		exit
	fi
	install_packages build run check || {
		printf '0 passed, 1 failed\n'
		exit 1
	}
	case ${1-} in
	'' | --build-only) install_optional_packages slurm ;;
	esac
	find_cuda
	case ${1-} in
	'')
		# All that --fast runs is run now. Its last results would count, too.
		rm -f "$top/build/check-fast/junit.xml" "$top"/build/check-fast/tests/*.tap "$top/build/check-fast/tests.commit"
		everything
		rows | tail -n 1
		;;
	--fast)
		built=$top/build/check-fast
		lane "build (gcc)" build_into "$top/build/check-fast" fast_tests -DSYCLD_TESTS=ON "${cuda[@]}" "${unoptimised[@]}" &&
			tests "unit, wire, fuzz replay, text" build/check-fast -L '^(unit|wire|fuzz|text)$' -LE '^compiler$'
		rows | tail -n 1
		;;
	--build-only) lane "build (gcc)" compile build ;;
	--long) long "${@:2}" ;;
	esac
	sum
}

main "$@" </dev/null
