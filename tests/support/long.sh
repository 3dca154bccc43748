# shellcheck shell=bash
# The long runs of check.sh, in parts, and their page, build/long.md. Sourced by check.sh, whose functions `tests` and `lane` run them. It
# also sets `top`, `logs`, `asan` and `started`.
# shellcheck disable=SC2154
: "${top:?the project folder}"

long_parts='races rows lives seeds chaos again other coverage boot exporter slurm packages judges guest machines fuzz tidy'

# These tests make 100,000 random groups, 10,000 programs with USM, and 10,000,000 submissions.
random_rows='client_random_(fake|cpu|two_cpus|both|double_cpu|two_doubles)'
long_rows="$random_rows|client_usm_(fake|cpu|two_cpus)|client_model_(fake|cpu)|unit_cuda_memory_model"

long_usage() {
	cat <<TXT
Parts of --long (without any, all of them run):
  races     race the ring and the library's threads with 1e8 messages
  rows      test rows at full length: 100,000 random groups for each of the first twenty seeds, 1e7 submissions, 1e4 programs with USM, and
            memory orders and scopes for each architecture that NVRTC supports
  lives     run 1e4 clients that connect, work and end, and 1e4 that are killed
  seeds     test random groups of twenty seeds that no earlier run had
  chaos     for half an hour, kill clients, engines and the service at random, with devices that fail or are full
  again     run the tests of real processes ten times, except chaos
  other     run each test in the lane that leaves it out: plain, or under the address and undefined sanitizers (tests/lanes.cmake)
  coverage  count the product's lines that the tests run, and list files and functions that no test runs, in build/coverage.md
  boot      restart, reload and kill the installed units under a separate systemd while a client works
  exporter  test sycld-exporter with Prometheus and a browser; screenshots of the page remain in build/exporter
  slurm     run a hundred jobs of four users in a cluster of Slurm on this machine, while jobs, slurmd and sycld are killed
  packages  build the Debian packages twice to the same bytes, check them with lintian, then install, use, upgrade and purge them on a copy
            of the root folder; the same with RPM packages, built once
  judges    run other projects' OpenCL programs and tests on the plain drivers and through the service; tests/judges/README.md says how to
            make the ones that are built from sources. The table is written to build/judges-long/judges.md
  guest     install the Debian packages in a virtual machine with a systemd and all control groups, let users take too much, upgrade and purge
  machines  run tests that depend on the machine on imitated ones: with 1, 16 and 64 processors, an old processor, small caches, /tmp in
            memory, in large pages, and on disk; part of them also under AddressSanitizer
  fuzz      fuzz each target for five minutes
  tidy      analyse all paths of the sources statically
The results are written to build/long.md.
TXT
}

# known_parts [PART...]: prints the usage and exits if one of the parts does not exist.
known_parts() {
	local part
	for part in "$@"; do
		case " $long_parts " in
		*" $part "*) ;;
		*)
			long_usage >&2
			exit 2
			;;
		esac
	done
}

# suites PART FOLDER: adds rows to the page for the suites that `tests` has just run in this build.
suites() {
	local folder=$top/$2 files=() file
	for file in "$folder"/tests/*.tap "$folder/junit.xml"; do
		[ -e "$file" ] && files+=("$file")
	done
	awk -v suites=1 -f "$top/tests/support/results.awk" "${files[@]}" |
		awk -f "$top/tests/support/suites.awk" - "$folder/junit.xml" "$folder/Testing/Temporary/LastTest.log" |
		sed "s/^/| $1 /" >>"$logs/long.rows"
}

# long_tests PART NAME FOLDER CTEST-OPTION...
long_tests() {
	local part=$1 folder=$3
	shift
	SYCLD_LONG=1 tests "$@"
	suites "$part" "$folder"
}

# script NAME LOG COMMAND...: runs a test that is a script. If the script cannot run here, the line
# gives the reason.
script() {
	local name=$1 log=$logs/$2.log start=$SECONDS status=0 result=ok why=
	shift 2
	"$@" >"$log" 2>&1 </dev/null || status=$?
	case $status in
	0) passed=$((passed + 1)) ;;
	77) skipped=$((skipped + 1)) result=skipped why="   $(sed -n 's/^skipped: //p' "$log")" ;;
	*)
		failed=$((failed + 1)) result=FAILED
		cat "$log"
		;;
	esac
	line '%-34s %-7s %4d s%s\n' "$name" "$result" $((SECONDS - start)) "$why"
}

long_part() {
	case $1 in
	races) long_tests races "races of 1e8 messages" build -L '^race$' ;;
	rows) long_tests rows "long rows" build -R "^($long_rows)\$" ;;
	lives) long_tests lives "ten thousand lives" build -R '^processes_client_death$' ;;
	seeds)
		local seed
		seed=$(date +%s)
		SYCLD_RANDOM_FIRST=$seed long_tests seeds "random groups from seed $seed" build -R "^($random_rows)\$"
		;;
	chaos) long_tests chaos "everything at once" build -R '^processes_chaos$' ;;
	again) tests "integration, ten times over" build -L '^integration$' -E '^processes_chaos$' --repeat until-fail:10 ;;
	other)
		tests "tests that other lanes run" build -LE '^plain$'
		lane "build (gcc, address, undefined)" compile build/check-asan "${asan[@]}" &&
			lend_cache build build/check-asan &&
			tests "others under address, undefined" build/check-asan -LE '^(address|race)$'
		;;
	coverage) coverage ;;
	boot) script "units under systemd" boot "$top/tests/systemd/boot.sh" "$top/build" ;;
	exporter)
		install_packages long &&
			script "Prometheus and a browser" exporter "$top/tests/exporter/exporter.sh" "$top/build" "$top/build/exporter"
		;;
	slurm)
		install_packages slurm &&
			lane "build with Slurm's headers" compile build &&
			script "a cluster of Slurm" slurm "$top/tests/slurm/run" "$top/build" &&
			script "a hundred jobs in it" slurm-long "$top/tests/slurm/run" "$top/build" --long
		;;
	packages)
		install_packages package &&
			script "Debian packages" packages "$top/tests/packages/packages.sh" "$top/build/packages" &&
			script "RPM packages" rpm "$top/tests/packages/rpm.sh" "$top/build/rpm"
		;;
	judges)
		install_packages judge clang &&
			script "OpenCL programs of others, whole" judges "$top/tests/judges/long.sh" "$top/build" "$top/build/judges-long"
		;;
	guest)
		install_packages package guest &&
			script "packages in a virtual machine" guest "$top/tests/systemd/guest.sh" "$top/build" "$top/build/guest"
		;;
	machines) machines ;;
	fuzz)
		lane "build (clang, fuzz)" fuzzers &&
			lane "fuzzing, 5 min for each target" fuzz 300
		;;
	tidy) lane "clang-tidy, all paths" tidy ;;
	esac
}

long_page() {
	local commit
	commit=$(git -C "$top" rev-parse --short=12 HEAD 2>/dev/null) || commit=unknown
	[ -z "$(git -C "$top" status --porcelain 2>/dev/null)" ] || commit="$commit, with changes"
	cat <<TXT
# What a long run showed

Written by \`./check.sh --long\` and copied here as it is. Never edited by hand.

| | |
| --- | --- |
| date | $(date -u +%Y-%m-%dT%H:%MZ) |
| commit | $commit |
| system | $(. /etc/os-release && printf '%s' "$PRETTY_NAME"), $(nproc) processors, $(awk '/MemTotal/ { printf "%d GiB", $2 / 1048576 }' /proc/meminfo) |
| parts | $* |
| took | $((SECONDS - started)) s |

\`\`\`
$(cat "$logs/lanes")
\`\`\`

| part | suite | passed | failed | skipped | seconds | how much |
| --- | --- | --- | --- | --- | --- | --- |
$(cat "$logs/long.rows")
TXT
}

# long [PART...]
long() {
	local part
	# shellcheck disable=SC2086  # one word for each part
	[ $# -gt 0 ] || set -- $long_parts
	: >"$logs/long.rows"
	# Coverage has a build of its own.
	if [ "$*" != coverage ]; then
		lane "build (gcc)" compile build || return
	fi
	for part in "$@"; do
		long_part "$part"
	done
	long_page "$@" >"$top/build/long.md"
}
