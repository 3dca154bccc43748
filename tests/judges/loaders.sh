#!/bin/bash
# loaders.sh BUILD OUT [FOLDER...]: whether each loader finds the plain drivers and the driver to the service, and runs kernels by it. FOLDER:
# one with a loader, libOpenCL.so.1 (a build of Khronos' OpenCL-ICD-Loader), or one that pyopencl.sh has filled, with the wheel's loader. The
# system's loader is always tried.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"

# tries NAME FOLDER: the program of the tests, with a loader of that folder.
tries() {
	# shellcheck disable=SC2016  # the inner shell's
	judge_both "$1/list" env LD_LIBRARY_PATH="$2" bash -c '"$1" list | tee /dev/stderr | grep -q "^platform .*, devices [1-9]"' - "$program"
	judge_both "$1/kernels" env LD_LIBRARY_PATH="$2" "$program" work --platform ''
}

judge_begin loaders "$1" "$2"
program=$(cd "$1" && pwd)/tests/opencl_program
[ -x "$program" ] || judge_skip "$program is not built"
shift 2
tries system ''
for folder in "$@"; do
	folder=$(cd "$folder" && pwd) || exit 1
	if [ -d "$folder/pyopencl/packages" ]; then
		for what in list kernels; do
			judge_both "wheel/$what" env PYTHONPATH="$folder/pyopencl/packages" PYOPENCL_NO_CACHE=1 python3 "$judges/wheel.py" "$what"
		done
	elif [ -e "$folder/libOpenCL.so.1" ]; then
		tries "$(basename "$folder")" "$folder"
	else
		judge_skip "$folder has no loader"
	fi
done
judge_end
