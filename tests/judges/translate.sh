#!/usr/bin/env bash
# translate.sh BUILD OUT [STEP]: translates kernels of hashcat (Debian's hashcat-data) and of OpenCL-CTS for a CUDA device, and gives each
# text to ptxas. Every STEP-th file of hashcat (default 16), all kernels of CTS' suite `basic` that are files. Prints one line of counts.
# SYCLD_CTS_SOURCES: OpenCL-CTS' sources; HASHCAT: the folder with hashcat's kernels. OUT is not used: there is no plain driver beside.
set -u
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd) || exit 1
build=${1:-$top/build} step=${3:-16}
hashcat=${HASHCAT:-/usr/share/hashcat/OpenCL}
ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

# What hashcat defines for a GPU of NVIDIA's, for a kernel without rules.
hashcat_options="-I $hashcat -D KERNEL_STATIC -D INCLUDE_PATH=$hashcat/ -D XM2S(x)=#x -D M2S(x)=XM2S(x) -D MAX_THREADS_PER_BLOCK=1024
	-D LOCAL_MEM_TYPE=1 -D VENDOR_ID=32 -D CUDA_ARCH=900 -D VECT_SIZE=1 -D DEVICE_TYPE=4 -D DGST_R0=0 -D DGST_R1=3 -D DGST_R2=2
	-D DGST_R3=1 -D DGST_ELEM=4 -D KERN_TYPE=0 -D ATTACK_EXEC=11 -D ATTACK_KERN=0 -D FIXED_LOCAL_SIZE=32 -w"
for word in ADD ADDC SUB SUBC VADD VADDC VADD_CO VADDC_CO VSUB VSUBB VSUB_CO VSUBB_CO VADD3 VBFE BFE LOP3 MOV64 PRMT; do
	hashcat_options="$hashcat_options -D HAS_$word=0"
done

clean=0 refused=0 wrong=0
# judge FILE OPTIONS
judge() {
	local status
	timeout 120 "$build/tests/cuda_translate" opencl "$1" "$2" >"$scratch/text.ptx" 2>"$scratch/log"
	status=$?
	if [ $status -eq 77 ]; then
		cat "$scratch/log"
		exit 77
	elif [ $status -ne 0 ]; then
		refused=$((refused + 1))
		printf 'refused %s: %s\n' "${1##*/}" "$(grep -m 1 -E 'error|not there|cannot' "$scratch/log" | cut -c 1-160)"
	elif timeout 600 "$ptxas" -arch=sm_90 "$scratch/text.ptx" -o /dev/null 2>"$scratch/log"; then
		clean=$((clean + 1))
	else
		wrong=$((wrong + 1))
		printf 'ptxas %s: %s\n' "${1##*/}" "$(grep -m 1 error "$scratch/log" | cut -c 1-160)"
	fi
}

if [ ! -x "$build/tests/cuda_translate" ] || [ ! -x "$ptxas" ]; then
	echo "translate.sh: no cuda_translate in $build/tests, or no ptxas"
	exit 77
fi
number=0
for file in "$hashcat"/m*.cl; do
	number=$((number + 1))
	[ ! -f "$file" ] || [ $((number % step)) -ne 1 ] || judge "$file" "$hashcat_options"
done
# The suite has its kernels in texts of C++. Each whole raw string with a kernel is one program; what is put together there is left out.
if [ -n "${SYCLD_CTS_SOURCES:-}" ]; then
	awk -v folder="$scratch" 'FNR == 1 { inside = 0 }
		/R"\(/ { inside = 1; text = ""; sub(/.*R"\(/, "") }
		inside { line = $0; ends = sub(/\)".*/, "", line); text = text line "\n"
			if (ends) { inside = 0; if (text ~ /kernel/ && text !~ /%[sd]/) { file = sprintf("%s/cts%03d.cl", folder, ++n); printf "%s", text >file; close(file) } } }
	' "$SYCLD_CTS_SOURCES"/test_conformance/basic/*.cpp
	for file in "$scratch"/cts*.cl; do
		[ ! -f "$file" ] || judge "$file" "-cl-std=CL3.0 -DTYPE=int -DBARRIER=barrier -w"
	done
fi
if [ $((clean + wrong + refused)) -eq 0 ]; then
	echo "translate.sh: no kernels in $hashcat"
	exit 77
fi
printf 'translate: %d clean in ptxas, %d refused by ptxas, %d not translated\n' "$clean" "$wrong" "$refused"
[ "$wrong" -eq 0 ]
