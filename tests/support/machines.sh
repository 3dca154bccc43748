# shellcheck shell=bash
# Runs the tests as on other machines, as far as this machine can imitate them: `check.sh --long machines`. Sourced by check.sh, whose
# function `tests` runs them. The words in `as` are put before ctest.
# shellcheck disable=SC2154,SC2034
: "${top:?the project folder}"

# Tests that depend on the machine: threads, PoCL's compiler, memory, processes, folders below /tmp.
machine_tests='unit_.*|conformance_(fake|opencl|opencl_kernels|cuda|cuda_memory)|client_(basic|embedded|opencl|usm_cpu|model_cpu|images_cpu)'
machine_tests="$machine_tests|session_.*|supervisor_(service|engines|unsettled)|processes_(sharing|split|builds|engine_death|service_death|orders|trace|adoption|cuda_filter)"
machine_tests="$machine_tests|client_random_cpu|race_ring_wake_.*|race_client_(threads|pages|bridge|tasks)|bench_smoke"

# The same under AddressSanitizer. LLVM, inside PoCL, replaces a thread's signal stack if that is small, which depends on the processor. So
# these programs have PoCL in the test, in the engine or in the build helper. They are few, as each takes several times as long.
sanitized_tests='sanitizer_.*|unit_build|conformance_opencl|conformance_opencl_kernels|client_(opencl|usm_cpu)|processes_builds'

# as_machine NAME COMMAND...: runs the tests, each started by the command.
as_machine() {
	local name=$1 as=("${@:2}")
	tests "as $name" build -R "^($machine_tests)\$"
}

# as_sanitized NAME COMMAND...: the same with the programs of the address lane, if machines() has built them.
as_sanitized() {
	local name=$1 as=("${@:2}")
	[ "$sanitized" = 0 ] || tests "as $name, address" build/check-asan -R "^($sanitized_tests)\$"
}

# as_both NAME COMMAND...: plain programs, then sanitized ones.
as_both() {
	as_machine "$@"
	as_sanitized "$@"
}

# with_tmp RUN NAME COMMAND...: RUN (as_both, as_machine) with another kind of /tmp, in a name space of its own. Only root can do that
# without becoming another user, which would change the tests.
with_tmp() {
	local run=$1 name=$2
	shift 2
	if [ "$(id -u)" != 0 ] || ! unshare -m "$@" true 2>/dev/null; then
		skipped=$((skipped + 1))
		line '%-34s %-7s %4d s   it cannot be mounted here\n' "as $name" skipped 0
		return
	fi
	"$run" "$name" unshare -m "$@"
}

machines() {
	local disk=$top/build/tmp first sanitized=0
	first=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
	lane "build (gcc, address, undefined)" compile_asan && lend_cache build build/check-asan && sanitized=1
	as_both "one processor" taskset -c "$first"
	as_both "16 processors" env SYCLD_PROCESSORS=16 POCL_MAX_PTHREAD_COUNT=16
	as_both "64 processors" env SYCLD_PROCESSORS=64 POCL_MAX_PTHREAD_COUNT=64
	# PoCL has a thread for each processor, bound to it. It crashes if it has more threads than there are processors.
	as_both "bound threads" env POCL_AFFINITY=1
	# No AVX, for the C library and for PoCL's compiler; a kernel without rseq.
	as_both "an old processor" env POCL_LLVM_CPU_NAME=x86-64 POCL_KERNELLIB_NAME=sse2 \
		GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX2,-AVX,-BMI2,-ERMS,-FSRM,-XSAVEC:glibc.pthread.rseq=0
	# Copies then bypass the caches, and all threads allocate from one arena.
	as_both "small caches" env \
		GLIBC_TUNABLES=glibc.cpu.x86_data_cache_size=16384:glibc.cpu.x86_shared_cache_size=65536:glibc.cpu.x86_non_temporal_threshold=16448:glibc.malloc.arena_max=1
	# Each file there has pages of 2 MiB, if it has any. Kernels without these refuse the mount, and the lane is skipped.
	with_tmp as_machine "/tmp in large pages" sh -c 'mount -t tmpfs -o huge=always tmpfs /tmp && exec "$@"' sh
	with_tmp as_both "/tmp in memory" sh -c 'mount -t tmpfs tmpfs /tmp && exec "$@"' sh
	mkdir -p "$disk" && chmod 1777 "$disk"
	# shellcheck disable=SC2016
	with_tmp as_both "/tmp on disk" sh -c 'folder=$1 && shift && mount --bind "$folder" /tmp && exec "$@"' sh "$disk"
	rm -rf "$disk"
}
