#!/usr/bin/env bash
# Runs tests and measurements on a machine with a GPU, from the folder that stage.sh made. It builds nothing. Every part has a time limit,
# and so have all of them together. A part that hangs is ended and the next one runs.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
bin=$here/build/bin tests=$here/build/tests

out=${OUT:-$here/results} seconds_all=480 parts='' quick='' scratch='' runs=5 stress_processes=16 stress_rounds=20
clock_seconds=0 clock_pid='' clock_started=0
lanes='' lane=''
took_before=0

usage() {
	cat <<TXT
Usage: run.sh [PART ...] [OPTION ...]
Parts (without any: --tests --bench --memcheck --drivers):
  --probe        measure launches only: round trip, one client, eight clients, compared with the driver (1 min)
  --tests        run the tests on CUDA, the example programs and the demo (12 min)
  --bench        run the measurements, compared with the driver alone and with MPS (8 min)
  --memcheck     run kernels under NVIDIA's memory checker (1 min)
  --drivers      run the lists and the clients' tests on NVIDIA's OpenCL and on PoCL (11 min)
  --two-gpus     run the tests that need two GPUs or more (4 min)
  --two-clients  run the clients' tests over two GPUs (6 min)
  --confined     run the service with its unit's restrictions, and a kernel that fills the GPU (30 s)
  --long         submit ten million command groups, and check the memory that they leave behind (1 min)
  --stress       run the tests of chains in many processes on one GPU, so that they get it in time slices
Options:
  --quick        run only the shortest tests and measurements of each part
  --only WORDS   run only tests whose name contains one of the words
  --rows LIST    measure only these rows ("TG1 TG2")
  --runs N       repeat each comparison N times (default 5)
  --processes N, --rounds N
                 processes at a time, and number of rounds, of --stress (defaults 16 and 20)
  --lanes LIST   run suites at the same time, each lane on its own GPUs ("0,1 2 3"). --two-gpus and --two-clients run
                 in lanes with two GPUs, other tests on the first GPU of any lane, measurements afterwards.
  --clock N      run the probes of the clock for N seconds: with several GPUs on the last one, during the parts that
                 need one GPU; with one GPU before them
  --seconds N    end everything after N seconds (default 480)
  --out DIR      write logs, results.tsv and figures.tsv here (default \$OUT, else results/)
  --after FILE   add the results of an earlier call for other parts to the tables (its logs.tar.gz)
TXT
}

say() {
	printf '%s\n' "$*"
}

fail() {
	printf 'run.sh: %s\n' "$*" >&2
	exit 1
}

# Returns 0 if the process belongs to this lane: it has the lane's GPUs, or one of them.
is_of_lane() {
	local gpus
	[ -n "$lane" ] || return 0
	gpus=$(tr '\0' '\n' <"/proc/$1/environ" | sed -n 's/^CUDA_VISIBLE_DEVICES=//p')
	[ -n "$gpus" ] && case ",$lane," in *",$gpus,"*) return 0 ;; esac
	return 1
}

# Prints only processes of this folder's programs, and of MPS as syclbench starts it.
our_processes() {
	local exe pid
	for exe in /proc/[0-9]*/exe; do
		pid=${exe#/proc/} pid=${pid%/exe}
		is_of_lane "$pid" || continue
		case $(readlink "$exe" 2>/dev/null) in
		"$here"/build/*) printf '%s\n' "$pid" ;;
		*/nvidia-cuda-mps-*) ! grep -qz '^CUDA_MPS_PIPE_DIRECTORY=/tmp/sycld-mps\.' "/proc/$pid/environ" || printf '%s\n' "$pid" ;;
		esac
	done 2>/dev/null
}

# A suite must not disturb the next one. The clock's probes run beside all of them and have their own variable.
end_leftovers() {
	local pid
	for pid in $(our_processes); do
		[ -n "$clock_pid" ] && grep -qz '^GPU_CLOCK_SECONDS=' "/proc/$pid/environ" 2>/dev/null && continue
		kill -KILL "$pid" 2>/dev/null
	done
}

# note_stacks: prints the stack of each thread of this folder's programs. A debugger, if there is one, prints backtraces; the kernel's view
# is always printed.
note_stacks() {
	local pid task
	for pid in $(our_processes); do
		printf '== %s: %s\n' "$pid" "$(tr '\0' ' ' <"/proc/$pid/cmdline")"
		for task in /proc/"$pid"/task/*; do
			printf '%s %s: in %s, system call %s\n' "${task##*/}" "$(cat "$task/comm")" "$(cat "$task/wchan")" \
				"$(cat "$task/syscall")"
		done
		! command -v gdb >/dev/null || timeout -k 2 10 gdb -p "$pid" -batch -nx -ex 'thread apply all backtrace 24'
	done
}

# note_stacks_at SECONDS NAME: calls note_stacks after this time, shortly before a suite is ended, and writes the output to the suite's logs.
# It returns when its input ends. It gets no signal instead: a signal that comes before this child has reset the traps of run.sh makes the
# child run them, and they remove the scratch folder.
note_stacks_at() {
	read -rt "$1" _
	[ $? -le 128 ] || note_stacks </dev/null >"$out/logs/$2.stacks" 2>&1
}

time_left() {
	printf '%s\n' $((seconds_all - SECONDS))
}

# note NAME STATE PASSED FAILED SKIPPED SECONDS TEXT: prints a suite's line, and adds a line to the file from which the report is made.
note() {
	printf '%-34s %-8s %4d passed %3d failed %3d skipped %4d s  %s\n' "$@"
	printf '%s\t%s\t%d\t%d\t%d\t%d\t%s\n' "$@" >>"$out/suites.tsv"
}

# begun NAME: prints the tests that have begun and not ended, by the log of this suite.
begun() {
	awk '/^\[RUN \]/ { begun[$3] } /^\[(PASS|FAIL|SKIP)\]/ { sub(/:$/, "", $2); delete begun[$2] }
		END { for (name in begun) printf " %s", name }' "$out/logs/$1.log"
}

# ended_before NAME: prints the results of tests that had ended before this suite was ended. Such a suite leaves only a log, no TAP file.
ended_before() {
	awk -v name="$1" '/^\[(PASS|FAIL|SKIP)\] / && !/Test is disabled/ { result = tolower(substr($1, 2, 4)); sub(/:$/, "", $2)
		print result, name "::" $2 }' "$out/logs/$1.log"
}

# tests_of NAME PROGRAM [FILTER]: adds the suite's tests to the list of tests. If the suite is killed,
# all of these count as failed.
tests_of() {
	local name=$1 program=$2 filter=${3-} of test
	while read -r of test; do
		[ "$of" = "$program" ] || continue
		# shellcheck disable=SC2254  # it is a pattern
		case ${test/::/\/} in ${filter:-*}) printf '%s %s\n' "$name" "$test" ;; esac
	done <"$here/suite-tests" >>"$out/tests"
}

# forget NAME: removes the results of a suite that an earlier call has run and that runs again.
forget() {
	local file
	for file in results suites.tsv killed; do
		awk -v name="$1" '{ suite = $0; sub(/^(pass|fail|skip) /, "", suite); sub(/(::|\t).*/, "", suite) } suite != name' "$out/$file" \
			>"$scratch/kept" && cp "$scratch/kept" "$out/$file"
	done
}

# result_of NAME STATUS SECONDS LIMIT: reads the TAP file if the program wrote one, otherwise the log or the exit status. A suite counts as
# killed if it did not run to its end, or if it failed and none of its tests did. Then all its tests count as failed (report.sh).
result_of() {
	local name=$1 status=$2 took=$3 limit=$4 tap=$scratch/$1.tap passed failed skipped state=ok text=''
	forget "$name"
	if [ -s "$tap" ]; then
		awk -f "$here/tests/support/results.awk" "$tap" | sed "s/^\([a-z]*\) /\1 $name::/" >"$scratch/$name.results"
	else
		ended_before "$name" >"$scratch/$name.results"
	fi
	passed=$(grep -c '^pass ' "$scratch/$name.results")
	failed=$(grep -c '^fail ' "$scratch/$name.results")
	skipped=$(grep -c '^skip ' "$scratch/$name.results")
	if [ $((passed + failed + skipped)) -eq 0 ]; then
		case $status in
		0) passed=1 && printf 'pass %s\n' "$name" ;;
		77) skipped=1 && printf 'skip %s\n' "$name" ;;
		*) failed=1 && printf 'fail %s\n' "$name" ;;
		esac >"$scratch/$name.results"
	fi
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		text="ended after $limit s$(begun "$name")"
		[ ! -s "$out/logs/$name.stacks" ] || text="$text (logs/$name.stacks)"
		[ $((passed + skipped)) -eq 0 ] || { failed=$((failed + 1)) && printf 'fail %s\n' "$name" >>"$scratch/$name.results"; }
	elif [ "$status" -ge 126 ]; then
		text="status $status"
	elif [ "$status" -ne 0 ] && [ "$status" -ne 77 ] && [ "$failed" -eq 0 ]; then
		failed=1
		printf 'fail %s\n' "$name" >>"$scratch/$name.results"
		text="status $status"
	fi
	[ -z "$text" ] || printf '%s\n' "$name" >>"$out/killed"
	cat "$scratch/$name.results" >>"$out/results"
	[ "$failed" -eq 0 ] && [ -z "$text" ] || state=FAILED
	[ $((passed + failed)) -gt 0 ] || state=skipped
	[ "$failed" -eq 0 ] || text="$text $(sed -n 's/^fail [^:]*::*//p' "$scratch/$name.results" | head -n 4 | tr '\n' ' ')"
	note "$name" "$state" "$passed" "$failed" "$skipped" "$took" "$text"
	[ "$state" != FAILED ] || grep -av '^\[\(RUN \|PASS\)\]' "$out/logs/$name.log" | tail -n 16 | cut -c 1-240 | sed 's/^/    /'
}

# is_wanted NAME: returns 0 if NAME contains one of the words of --only.
is_wanted() {
	local word
	[ -n "$only" ] || return 0
	for word in $only; do
		case $1 in *"$word"*) return 0 ;; esac
	done
	return 1
}

# claim NAME: returns 0 if this lane runs the suite. The first lane that claims a suite runs it.
claim() {
	is_wanted "$1" && mkdir "$scratch/claim.$1" 2>/dev/null
}

# suite NAME SECONDS COMMAND...: runs COMMAND for at most this time.
suite() {
	claim "$1" && run_suite "$@"
}

run_suite() {
	local name=$1 limit=$2 start=$SECONDS left status stacks_pid=''
	shift 2
	if [ ! -x "$1" ] && ! command -v "$1" >/dev/null; then
		note "$name" skipped 0 0 1 0 "not here: ${1##*/}"
		return 1
	fi
	left=$(time_left)
	if [ "$left" -lt 10 ]; then
		note "$name" 'not run' 0 0 0 0 "no time left"
		return 1
	fi
	[ "$limit" -le "$left" ] || limit=$left
	rm -f "$out/logs/$name.stacks"
	if [ "$limit" -ge 60 ]; then
		exec 8> >(note_stacks_at $((limit - 20)) "$name")
		stacks_pid=$!
	fi
	timeout -k 5 "$limit" "$@" >"$out/logs/$name.log" 2>&1 </dev/null 8>&-
	status=$?
	exec 8>&-
	end_leftovers
	[ -z "$stacks_pid" ] || wait "$stacks_pid"
	{
		flock 9
		result_of "$name" "$status" $((SECONDS - start)) "$limit"
	} 9>"$scratch/results.lock"
	return 0
}

# program NAME SECONDS PROGRAM ARGUMENT...: runs a test program that uses the test framework.
program() {
	local name=$1 limit=$2 file=$3
	shift 3
	local at_once=$jobs
	claim "$name" || return 1
	tests_of "$name" "$file" "$([ "${1-}" != --filter ] || printf '%s' "$2")"
	# Other processes at the same time would share the GPU by time slices of milliseconds, and use
	# some of its memory.
	case $file in gpu_clock | gpu_platforms | processes_client_death) at_once=1 ;; esac
	# A GPU that recovers from a fault delays others: two tests at a time have four users, four engines and two standbys.
	case $file in processes_gpu_faults) [ "$at_once" -le 2 ] || at_once=2 ;; esac
	# The log lists each test as it begins and ends. So it shows how long each took, and what a program was doing when it was ended.
	run_suite "$name" "$limit" "$tests/$file" --jobs="$at_once" --verbose=1 --tap="$scratch/$name.tap" "$@"
}

# Paths of the build folder that were compiled in lead to this folder.
link_build_folder() {
	local folder
	folder=$(cat "$here/build-folder") || return 1
	[ ! -e "$folder/bin" ] || return 0
	mkdir -p "$(dirname "$folder")" && ln -sfn "$here/build" "$folder"
}

# is_known LIBRARY: returns 0 if the loader finds the library by itself.
is_known() {
	ldconfig -p | grep -q "^[[:space:]]*$1 "
}

# link_libraries NAME PATTERN FOLDER...: links what matches the pattern, from the first of the folders that has NAME.
link_libraries() {
	local name=$1 pattern=$2 folder library
	shift 2
	for folder; do
		[ -e "$folder/$name" ] || continue
		for library in "$folder"/$name "$folder"/$pattern; do
			[ ! -e "$library" ] || [ -e "$here/build/lib/${library##*/}" ] || ln -s "$library" "$here/build/lib/"
		done
		return
	done
	say "not installed: $name"
}

# Programs load these by name: the driver, the compiler and OpenCL's loader.
find_libraries() {
	if ! is_known 'libcuda\.so\.1'; then
		link_libraries libcuda.so.1 'libnvidia-*.so.*' /usr/local/nvidia/lib64 /usr/lib64
		# This is for programs that are linked with it.
		[ ! -e /usr/local/nvidia/lib64/libcuda.so.1 ] ||
			export LD_LIBRARY_PATH="/usr/local/nvidia/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
	fi
	is_known 'libnvrtc\.so\.13' ||
		link_libraries libnvrtc.so.13 'libnvrtc-builtins.so.13.*' /usr/local/cuda/lib64 /usr/local/cuda/targets/x86_64-linux/lib
	# The machine's loader is not used: some loaders ignore OCL_ICD_VENDORS and give all drivers to every suite.
	if [ -e "$here/spare/libOpenCL.so.1" ]; then
		cp "$here/spare/libOpenCL.so.1" "$here/build/lib/"
	else
		is_known 'libOpenCL\.so\.1' || say "not installed: libOpenCL.so.1"
	fi
}

# Links cuBLAS and cuFFT, whose functions take streams of programs: from the toolkit, or from
# packages of Python.
find_math_libraries() {
	local library
	[ -z "${SYCLD_TEST_CUBLAS_FOLDER:-}" ] || return
	while IFS= read -r library; do
		[ -e "${library%/*}/libcufft.so.12" ] || continue
		export SYCLD_TEST_CUBLAS_FOLDER=${library%/*}
		return
	done < <(find /usr/local /usr/lib /opt -name libcublas.so.13 2>/dev/null)
	say "not installed: libcublas.so.13 with libcufft.so.12"
}

# Folders for OCL_ICD_VENDORS, which ends in "/": NVIDIA's OpenCL, PoCL's, and both.
make_vendors() {
	mkdir -p "$scratch"/vendors/{nvidia,pocl,both} || return 1
	printf 'libnvidia-opencl.so.1\n' | tee "$scratch/vendors/nvidia/nvidia.icd" >"$scratch/vendors/both/nvidia.icd"
	[ ! -e /etc/OpenCL/vendors/pocl.icd ] || cp /etc/OpenCL/vendors/pocl.icd "$scratch/vendors/pocl/"
	[ ! -e /etc/OpenCL/vendors/pocl.icd ] || cp /etc/OpenCL/vendors/pocl.icd "$scratch/vendors/both/"
}

facts() {
	local smi
	smi=$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>&1) || smi=''
	printf 'date\t%s\n' "$(date -u +%Y-%m-%dT%H:%MZ)"
	printf 'commit\t%s\n' "$(cat "$here/commit")"
	printf 'gpu\t%s\n' "$(printf '%s' "${smi:-none}" | sed 's/, */, /g' | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' | paste -sd ';')"
	printf 'cuda\t%s\n' "$(nvidia-smi 2>/dev/null | sed -n 's/.*CUDA Version: *\([0-9.]*\).*/\1/p')"
	printf 'system\t%s, %s, %s processors\n' "$(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)" "$(uname -r)" "$(nproc)"
	printf 'user\t%s\n' "$(id -u)"
}

gpu_count() {
	nvidia-smi --query-gpu=uuid --format=csv,noheader 2>/dev/null | grep -c GPU-
}

# measure ROW SECONDS OPTION...: runs one row of syclbench.
measure() {
	local row=$1 limit=$2 name=bench_$1
	shift 2
	case " $rows " in "  " | *" $row "*) ;; *) return ;; esac
	suite "$name" "$limit" "$bin/syclbench" "$row" --json --runs "$runs" ${quick:+--quick} "$@" || return
	grep '^{' "$out/logs/$name.log" >>"$out/bench.json" 2>/dev/null
	awk -f "$here/tests/gpu/figures.awk" "$out/logs/$name.log"
}

probe() {
	say "== launching"
	local row
	for row in TG1 TG2 TG3; do
		measure "$row" 90
	done
}

bench() {
	say "== measurements"
	local row
	for row in TG1 TG2 TG3 TG4 TG5 TG6 TG7 TG8 TG12 TG13; do
		measure "$row" 60
	done
	# Pictures are returned with the logs.
	measure TG9 120 --pictures "$out/logs"
	measure TG10 150 --pictures "$out/logs"
	for row in TG11 TG12.runaway TG15 TG16; do
		measure "$row" 120
	done
	for row in TR1 TR2 TR3 TR4 TR5 TR6 TR7 TR8 TR9 TR9.processes TR10; do
		measure "$row" 120 --device gpu
	done
	# Each run is checked on the processor, which takes most of its time.
	measure examples 120 --device gpu --size large --runs 2
}

# under VENDORS COMMAND...: runs COMMAND with only these OpenCL drivers. Tests of one driver check that they got it.
under() {
	local vendors=$scratch/vendors/$1/ platform=''
	case $1 in
	nvidia) platform='NVIDIA CUDA' ;;
	pocl) platform='Portable Computing Language' ;;
	esac
	shift
	OCL_ICD_VENDORS=$vendors OCL_ICD_FILENAMES='' SYCLD_TEST_OPENCL_PLATFORM=$platform "$@"
}

# Runs the backends' lists on each driver. Programs that have a double of the driver use the real one, because SYCLD_TEST_CUDA says so.
conformance() {
	say "== one list on every backend"
	local name
	for name in conformance_cuda conformance_cuda_portable conformance_cuda_kernels conformance_cuda_chains \
		conformance_cuda_memory conformance_cuda_compiled conformance_images_cuda; do
		program "$name" 150 "$name"
	done
}

other_conformance() {
	say "== the list on other drivers"
	local name
	for name in opencl opencl_kernels opencl_portable images_opencl; do
		under nvidia program "conformance_${name}_nvidia" 90 "conformance_$name"
	done
	for name in opencl opencl_kernels opencl_portable images_opencl; do
		# With a cold cache, compiling for the processor takes long.
		under pocl program "conformance_${name}_pocl" 240 "conformance_$name"
	done
}

# Runs the programs of this folder.
alone() {
	say "== contexts and clocks"
	local name limit
	SYCLD_TEST_PLATFORMS='NVIDIA CUDA;Portable Computing Language' under both program gpu_platforms 120 gpu_platforms
	for name in "$tests"/gpu_*; do
		name=${name##*/}
		case $name in gpu_platforms | gpu_list | *.*) continue ;; esac
		[ -e "$tests/$name" ] || continue
		if is_framework_program "$tests/$name"; then
			# Most tests have a service and also make a context themselves: seconds each where the driver is slow to open one.
			limit=240
			under both program "$name" "$limit" "$name"
		else
			under both suite "$name" 90 "$tests/$name"
		fi
	done
}

# Runs clients, service and engines as they are installed.
services() {
	say "== whole programs"
	local name
	for name in processes_gpu_faults processes_gpu_share processes_sharing processes_client_death processes_engine_death \
		client_embedded; do
		under pocl program "$name" 150 "$name"
	done
}

# OpenCL's own interface over the CUDA backend. The programs were translated where the stage was made.
opencl_programs() {
	say "== OpenCL programs on CUDA"
	local name
	if [ ! -d "$here/opencl-cache" ]; then
		note opencl_gpu skipped 0 0 1 0 "the stage has no programs for it"
		return
	fi
	cp -r "$here/opencl-cache" "$scratch/" && chmod -R go-w "$scratch/opencl-cache" || return
	for name in language commands svm; do
		XDG_CACHE_HOME=$scratch/opencl-cache SYCLD_TEST_OPENCL=real \
			program "opencl_${name}_gpu" 150 opencl_driver --filter "$name/*"
	done
}

# The time limit of a list of the clients' tests. Each test of the execution model is a process with
# its own context, and there are more than a hundred. The driver makes contexts one after the other,
# in half a second each, and destroys them.
client_seconds() {
	case $1 in
	model) printf '240\n' ;;
	*) printf '90\n' ;;
	esac
}

# Tests the execution model, random groups, images and USM through the public functions: on CUDA together with the CPU device, then on
# NVIDIA's OpenCL alone. Random groups are four sequences, which are longer than elsewhere.
clients() {
	say "== clients"
	local name
	export SYCLD_RANDOM_GROUPS=100000
	for name in model random images usm usm_service; do
		# With 32 queues to the device, as in a service, its context would take twice as
		# long.
		SYCLD_BACKEND_OPTIONS=cuda:connections=16 under pocl program "client_${name}_gpu" "$(client_seconds "$name")" \
			"client_${name}_gpu"
	done
	unset SYCLD_RANDOM_GROUPS
	SYCLD_BACKEND_OPTIONS=cuda:connections=16 under pocl program client_checking_gpu 90 client_checking_gpu
}

other_clients() {
	say "== clients on NVIDIA's OpenCL"
	local name
	# Tests OpenCL's objects that belong to objects of the library.
	SYCLD_BACKEND_OPTIONS=cuda:library=/nonexistent under nvidia program client_opencl_nvidia 360 client_opencl
	export SYCLD_RANDOM_GROUPS=10000
	# The longest suite is the last. Its tests share nothing: each opens the device and compiles again, which takes one to three seconds.
	for name in random images usm model; do
		SYCLD_BACKEND_OPTIONS=cuda:library=/nonexistent under nvidia program "client_${name}_opencl_nvidia" \
			$((2 * $(client_seconds "$name"))) \
			"client_${name}_gpu"
	done
	unset SYCLD_RANDOM_GROUPS
}

# Returns 0 if the program accepts the test framework's options.
is_framework_program() {
	LC_ALL=C grep -qa 'libcriterion\.so' "$1"
}

# Runs real programs with large problems and compares results with the CPU's; on the GPU through
# CUDA and through NVIDIA's OpenCL.
example_programs() {
	say "== programs"
	under pocl suite programs_cuda 120 "$bin/sycl_programs" --endpoint embedded: --device gpu --size large --no-skip
	suite example_graph_stencil 60 "$bin/graph_stencil" embedded:
	suite example_graph_while 60 "$bin/graph_while" embedded:
	suite example_cuda_variable 60 "$bin/cuda_variable" embedded:
	local with="${SYCLD_TEST_CUBLAS_FOLDER:-}:/usr/local/cuda/lib64:${LD_LIBRARY_PATH:-}"
	if LD_LIBRARY_PATH=$with ldd "$bin/cublas_graph" 2>&1 | grep -q 'not found\|No such file'; then
		! claim example_cublas_graph || note example_cublas_graph skipped 0 0 1 0 "not here: cuBLAS, or CUDA's run-time library"
	else
		suite example_cublas_graph 60 env LD_LIBRARY_PATH="$with" "$bin/cublas_graph"
	fi
	SYCLD_BACKEND_OPTIONS=cuda:library=/nonexistent under nvidia suite programs_opencl_nvidia 120 "$bin/sycl_programs" \
		--endpoint embedded: --device gpu --size small --no-skip
}

demo() {
	say "== the demo"
	suite demo 90 "$here/demo.sh" --built "$here/build" || return
	[ ! -e "$out/logs/demo.log" ] || sed 's/^/  /' "$out/logs/demo.log" | tail -n 22
	[ ! -e "$here/build/mandelbrot.png" ] || cp "$here/build/mandelbrot.png" "$out/"
}

# The engine runs inside the checked program, because the checker does not follow processes that the service starts with a clean environment.
memory_checker() {
	say "== the memory checker"
	local checker
	checker=$(command -v compute-sanitizer || printf '%s\n' /usr/local/cuda/bin/compute-sanitizer)
	# Kernels are built before, because the limits of the compiler's process are too small for the checker. Some calls are refused on
	# purpose, for example a query for the number of a function's parameters.
	"$bin/demo_heat" --endpoint embedded: --report "$scratch/heat.report" >/dev/null 2>&1
	"$tests/gpu_list" --endpoint embedded: >/dev/null 2>&1
	# The checker must observe the engine's kernels: it must find a launch that writes to an invalid address.
	suite memcheck_control 60 bash -c '"$@" && exit 1; [ $? -eq 9 ]' control "$checker" --tool memcheck --error-exitcode 9 \
		--report-api-errors no --target-processes all "$tests/gpu_list" --endpoint embedded: --write-nowhere yes
	suite memcheck_demo 90 "$checker" --tool memcheck --error-exitcode 9 --report-api-errors no \
		--target-processes all "$bin/demo_heat" --endpoint embedded: --report "$scratch/heat.report"
	suite memcheck_list 120 "$checker" --tool memcheck --error-exitcode 9 --report-api-errors no \
		--target-processes all "$tests/gpu_list" --endpoint embedded:
}

run_tests() {
	conformance
	clients
	opencl_programs
	alone
	services
	example_programs
	say "== the service as a client of MPS"
	suite under_mps 150 "$here/tests/gpu/under_mps.sh" "$here/build"
	demo
}

other_drivers() {
	other_conformance
	other_clients
}

# status_of NAME: prints what a child in the background has written as its status. The shell forgets a child that has ended when a new one
# gets the same process number.
status_of() {
	cat "$scratch/$1.status" 2>/dev/null || printf '137\n'
}

# The clock's probes have a GPU of their own, because other processes there would make them less exact.
clock_begin() {
	[ "$clock_seconds" -gt 0 ] || return
	local final
	final=$(($(gpu_count) - 1))
	clock_started=$SECONDS
	tests_of clock_long gpu_clock 'gpu_clock/H8_probes*'
	{
		GPU_CLOCK_SECONDS=$clock_seconds CUDA_VISIBLE_DEVICES=$final timeout -k 5 $((clock_seconds + 30)) \
			"$tests/gpu_clock" --filter 'gpu_clock/H8_probes*' --jobs=1 --verbose=1 --tap="$scratch/clock_long.tap" \
			>"$out/logs/clock_long.log" 2>&1 </dev/null
		printf '%d\n' $? >"$scratch/clock_long.status"
	} &
	clock_pid=$!
	if [ "$final" -gt 0 ]; then
		CUDA_VISIBLE_DEVICES=$(seq -s, 0 $((final - 1)))
		export CUDA_VISIBLE_DEVICES
	else
		clock_end
	fi
}

clock_end() {
	[ -n "$clock_pid" ] || return
	local status
	wait "$clock_pid" 2>/dev/null
	status=$(status_of clock_long)
	clock_pid=''
	unset CUDA_VISIBLE_DEVICES
	result_of clock_long "$status" $((SECONDS - clock_started)) $((clock_seconds + 30))
	grep -a '^\(neighbours\|all along\|one base\)' "$out/logs/clock_long.log" | sed 's/^/    /'
}

# has_two PART: returns 0 if there are two GPUs. Otherwise it notes PART as skipped, with the reason.
has_two() {
	[ "$(gpu_count)" -lt 2 ] || return 0
	note "$1" skipped 0 0 1 0 "there are $(gpu_count) GPUs"
	return 1
}

two_gpus() {
	say "== two GPUs"
	has_two two_gpus || return
	local name
	for name in conformance_cuda conformance_cuda_memory conformance_images_cuda; do
		program "${name}_together" 150 "$name"
	done
	SYCLD_TEST_PLATFORMS='NVIDIA CUDA;Portable Computing Language' under both program gpu_platforms_together 120 gpu_platforms
	under both program gpu_order_together 240 gpu_order
	under both program gpu_native_together 240 gpu_native
	under both program gpu_bridge_together 240 gpu_bridge
	measure TG14 120
}

# The longest suite is the last and gets all remaining time: making contexts on two GPUs takes twice as long.
two_clients() {
	say "== clients on two GPUs"
	has_two two_clients || return
	local name
	export SYCLD_RANDOM_GROUPS=100000
	for name in random images usm model; do
		SYCLD_BACKEND_OPTIONS=cuda:connections=16 under pocl program "client_${name}_together" \
			$((2 * $(client_seconds "$name"))) "client_${name}_gpu"
	done
	unset SYCLD_RANDOM_GROUPS
	under pocl suite programs_together 120 "$bin/sycl_programs" --endpoint embedded: --device gpu --size small --devices 2 \
		--no-skip
}

# Runs tests that take long and do the same every time.
long_ones() {
	say "== ten million command groups"
	export SYCLD_LONG=1
	SYCLD_BACKEND_OPTIONS=cuda:connections=16 under pocl program client_events_long 300 client_model_gpu --filter 'events/H13*'
	unset SYCLD_LONG
}

# Its log is the result: what the container permits, and what the device does.
confined() {
	say "== the service with the restrictions of its unit"
	suite confined 120 "$here/tests/gpu/confined.sh" "$here/build" || return
	cat "$out/logs/confined.log"
}

# Runs one round, all processes at once. Returns how many failed; their output is in the log.
stress_round() {
	local round=$1 process failed=0 pids=()
	for process in $(seq "$stress_processes"); do
		rm -f "$scratch/stress.$process.status"
		{
			timeout -k 5 60 "$tests/conformance_cuda_chains" --jobs=1 >"$scratch/stress.$process" 2>&1 </dev/null
			printf '%d\n' $? >"$scratch/stress.$process.status"
		} &
		pids+=($!)
	done
	wait "${pids[@]}" 2>/dev/null
	for process in $(seq "$stress_processes"); do
		[ "$(status_of "stress.$process")" -ne 0 ] || continue
		failed=$((failed + 1))
		sed "s/^/round $round, process $process: /" "$scratch/stress.$process" >>"$out/logs/stress.log"
	done
	stress_passed=$((stress_passed + stress_processes - failed)) stress_failed=$((stress_failed + failed))
}

stress() {
	say "== many processes on one GPU"
	local round start=$SECONDS state=ok text='' stress_passed=0 stress_failed=0
	: >"$out/logs/stress.log"
	for round in $(seq "$stress_rounds"); do
		if [ "$(time_left)" -lt 20 ]; then
			text="ended after $((round - 1)) rounds: no time left"
			break
		fi
		stress_round "$round"
	done
	[ "$stress_failed" -eq 0 ] || state=FAILED
	note stress "$state" "$stress_passed" "$stress_failed" 0 $((SECONDS - start)) "$text"
	grep -a 'expected' "$out/logs/stress.log" | head -n 20
}

take_arguments() {
	only='' rows='' earlier=''
	while [ $# -gt 0 ]; do
		case $1 in
		--probe | --tests | --bench | --memcheck | --drivers | --two-gpus | --two-clients | --confined | --long | --stress) parts="$parts ${1#--}" ;;
		--quick) quick=yes ;;
		--only | --rows | --runs | --seconds | --out | --after | --processes | --rounds | --clock | --lanes)
			[ $# -gt 1 ] || fail "$1 needs a value"
			case $1 in
			--only) only=$2 ;;
			--rows) rows=$2 ;;
			--runs) runs=$2 ;;
			--seconds) seconds_all=$2 ;;
			--out) out=$2 ;;
			--after) earlier=$2 ;;
			--processes) stress_processes=$2 ;;
			--rounds) stress_rounds=$2 ;;
			--clock) clock_seconds=$2 ;;
			--lanes) lanes=$2 ;;
			esac
			shift
			;;
		--help | -h)
			usage
			exit 0
			;;
		*)
			usage >&2
			exit 2
			;;
		esac
		shift
	done
	[ -z "$lanes" ] || [ "$clock_seconds" -eq 0 ] || fail "--clock cannot be combined with --lanes"
	[ -n "$parts" ] || parts=' tests bench memcheck drivers'
}

# A child that has not reset the traps yet does nothing here.
end_run() {
	[ "$BASHPID" = "$$" ] || return
	clock_pid=''
	end_leftovers
	rm -rf "$scratch"
}

prepare() {
	mkdir -p "$out/logs" || fail "cannot write to $out"
	: >"$out/results" && : >"$out/suites.tsv" && : >"$out/bench.json" && : >"$out/killed" && : >"$out/tests"
	local parts_before='' commit
	commit=$(cat "$here/commit")
	if [ -n "$earlier" ]; then
		tar -C "$out" -xzf "$earlier" || fail "cannot read $earlier"
		grep -qx "commit	$commit" "$out/facts" || fail "$earlier is not of commit $commit"
		parts_before=$(sed -n 's/^parts\t//p' "$out/facts") took_before=$(sed -n 's/^took\t//p' "$out/facts")
	fi
	scratch=$(mktemp -d /tmp/sycld-gpu.XXXXXX) && chmod 755 "$scratch" || exit 1
	trap end_run EXIT
	trap 'exit 130' INT TERM HUP
	jobs=2 # the driver makes contexts one after the other, so more tests at a time would only wait for each other
	export SYCLD_TEST_CUDA=real # tests that have a double of the driver do not use it
	link_build_folder || fail "cannot make $(cat "$here/build-folder")"
	find_libraries
	find_math_libraries
	make_vendors || exit 1
	facts >"$out/facts"
	local asked=${parts# }${quick:+ quick}${only:+, only $only}${rows:+, rows $rows}
	printf 'parts\t%s\n' "${parts_before:+$parts_before, then }$asked" >>"$out/facts"
	sed 's/\t/: /' "$out/facts"
}

run_part() {
	case $1 in
	probe) probe ;;
	tests) run_tests ;;
	bench) bench ;;
	memcheck) memory_checker ;;
	drivers) other_drivers ;;
	two-gpus)
		clock_end
		two_gpus
		;;
	two-clients)
		clock_end
		two_clients
		;;
	confined) confined ;;
	long) long_ones ;;
	stress) stress ;;
	esac
}

# run_lane GPUS: runs the suites that need two GPUs first, if it has two, and then those that no other lane has claimed.
run_lane() {
	lane=$1
	export CUDA_VISIBLE_DEVICES=$lane
	local part
	case $lane in
	*,*)
		for part in $parts; do
			case $part in two-gpus | two-clients) run_part "$part" ;; esac
		done
		;;
	esac
	export CUDA_VISIBLE_DEVICES=${lane%%,*}
	for part in $parts; do
		case $part in tests | memcheck | drivers) run_part "$part" ;; esac
	done
}

run_lanes() {
	local pids=() gpus
	for gpus in $lanes; do
		run_lane "$gpus" &
		pids+=($!)
	done
	wait "${pids[@]}"
	for part in $parts; do
		case $part in tests | memcheck | drivers | two-gpus | two-clients) ;; *) run_part "$part" ;; esac
	done
}

main() {
	take_arguments "$@"
	prepare
	local part
	if [ -n "$lanes" ]; then
		run_lanes
	else
		clock_begin
		for part in $parts; do
			run_part "$part"
		done
	fi
	clock_end
	printf 'took\t%d\n' $((SECONDS + took_before)) >>"$out/facts"
	"$here/tests/gpu/report.sh" "$out"
	# Some machines return only few files.
	tar -C "$out" -czf "$out/logs.tar.gz" logs results suites.tsv bench.json facts killed tests && rm -rf "$out/logs"
	say "== summary ($SECONDS s)"
	awk -F '\t' '{ printf "%-34s %-8s %4d passed %3d failed %3d skipped  %s\n", $1, $2, $3, $4, $5, $7 }' "$out/suites.tsv"
	! grep -qE "$(printf '\t(FAILED|not run)\t')" "$out/suites.tsv"
}

main "$@"
