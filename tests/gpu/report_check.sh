#!/bin/sh
# report_check.sh GPU-FOLDER checks run.sh and report.sh on suites, with an invented stage whose
# only program is a script.
set -u
gpu=$(cd "$1" && pwd) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
# The test does not search for libraries.
export SYCLD_TEST_CUBLAS_FOLDER=/nonexistent
stage=$folder/stage out=$folder/out tables=$folder/tree/tests/gpu
bad=0

mkdir -p "$stage/build/bin" "$stage/build/tests" "$stage/build/lib" "$stage/tests/gpu" "$stage/tests/support" "$tables" \
	"$folder/tree/tests/support"
cp "$gpu/run.sh" "$stage/"
cp "$gpu/report.sh" "$gpu"/*.awk "$stage/tests/gpu/"
cp "$gpu/report.sh" "$gpu"/*.awk "$tables/"
cp "$gpu/../support"/*.awk "$stage/tests/support/"
cp "$gpu/../support/history.sh" "$folder/tree/tests/support/"
echo "$stage/build" >"$stage/build-folder"
echo 0123456789ab >"$stage/commit"
printf 'conformance_cuda_chains chains::F5_one\nconformance_cuda_chains chains::F5_two\nconformance_cuda_chains chains::no_row\n' >"$stage/suite-tests"
printf '#\n' >"$tables/results.tsv"
printf '#\n' >"$tables/figures.tsv"

# program LINE...: writes the program's actions; $tap is the file for its results.
program() {
	{
		# shellcheck disable=SC2016  # for the script that is written here
		printf '#!/bin/sh\nfor word; do case $word in --tap=*) tap=${word#--tap=} ;; esac; done\n'
		printf '%s\n' "$@"
	} >"$stage/build/tests/conformance_cuda_chains"
	chmod +x "$stage/build/tests/conformance_cuda_chains"
}

# run OPTION...: runs the invented stage.
run() {
	rm -rf "$out"
	"$stage/run.sh" --tests --only conformance_cuda_chains --seconds 60 --out "$out" "$@" >"$folder/log" 2>&1
}

# expect FILE LINE...: "SUITE TEST RESULT" of each line, and the commit.
expect() {
	file=$1
	shift
	printf '%s 0123456789ab\n' "$@" | LC_ALL=C sort >"$folder/wanted"
	grep -v '^#' "$file" | cut -f 1-4 | tr '\t' ' ' | LC_ALL=C sort | diff "$folder/wanted" - || {
		echo "$file"
		cat "$folder/log"
		bad=1
	}
}

# Signals of run.sh to its own children are recorded: a child that has one before it has reset the traps would run these.
cat >"$folder/environment" <<'TXT'
kill() {
	local word
	for word; do
		[ ! -e "/proc/$word/stat" ] || [ "$(cut -d ' ' -f 4 "/proc/$word/stat")" != "$BASHPID" ] || echo "$word" >>"$SIGNALLED"
	done
	builtin kill "$@"
}
TXT
# shellcheck disable=SC2016
program 'printf "ok - chains::F5_one (1s)\nok - chains::F5_two (1s)\nok - chains::no_row (1s)\n" >$tap'
BASH_ENV=$folder/environment SIGNALLED=$folder/signalled run --seconds 120 || bad=1
[ ! -e "$folder/signalled" ] || {
	echo "run.sh sends signals to its own children"
	bad=1
}
s=conformance_cuda_chains
expect "$out/results.tsv" "$s - pass" "$s chains::F5_one pass" "$s chains::F5_two pass"
"$tables/report.sh" --merge "$out" || bad=1
expect "$tables/results.tsv" "$s - pass" "$s chains::F5_one pass" "$s chains::F5_two pass"

# shellcheck disable=SC2016
program 'printf "ok - chains::F5_one (1s)\nnot ok - chains::no_row (1s)\n" >$tap; exit 1'
! run || bad=1
expect "$out/results.tsv" "$s - fail" "$s chains::F5_one pass" "$s chains::no_row fail"

# If it was killed, all its tests failed, even those that had passed. If it ran once more, that
# result counts.
# shellcheck disable=SC2016
program 'echo "[PASS] chains::F5_one: (1s)"; kill -ABRT $$'
! run || bad=1
expect "$out/results.tsv" "$s - killed" "$s chains::F5_one killed" "$s chains::F5_two killed"
"$tables/report.sh" --merge "$out" || bad=1
sort "$tables/results.tsv" | grep -q 'F5_two	killed' || {
	echo "a killed suite is not in the table"
	bad=1
}
# shellcheck disable=SC2016
program 'printf "ok - chains::F5_one (1s)\n" >$tap'
cp "$out/logs.tar.gz" "$folder/before.tar.gz"
run --after "$folder/before.tar.gz" || bad=1
expect "$out/results.tsv" "$s - pass" "$s chains::F5_one pass"

# The clock's probes end first, and the next process that run.sh starts gets their number. Only root can choose numbers, in a name space.
if [ "$(id -u)" = 0 ] && unshare -mpf sh -c 'mount -t proc proc /proc && [ -w /proc/sys/kernel/ns_last_pid ]' 2>/dev/null; then
	mkdir "$folder/bin"
	printf '#!/bin/sh\nprintf "GPU-1\\nGPU-2\\n"\n' >"$folder/bin/nvidia-smi"
	# shellcheck disable=SC2016
	program 'echo "ok - gpu_clock::H8_probes (1s)" >$tap; echo $PPID >"$CLOCK"'
	mv "$stage/build/tests/conformance_cuda_chains" "$stage/build/tests/gpu_clock"
	# shellcheck disable=SC2016
	program 'until read -r pid <"$CLOCK"; do :; done 2>/dev/null; while [ -e "/proc/$pid" ]; do :; done' \
		'echo "ok - chains::F5_one (1s)" >$tap; echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid'
	chmod +x "$folder/bin/nvidia-smi"
	rm -rf "$out"
	# shellcheck disable=SC2016
	CLOCK=$folder/clock PATH=$folder/bin:$PATH unshare -mpf sh -c 'mount -t proc proc /proc && "$@"' sh "$stage/run.sh" --tests --clock 60 \
		--only conformance_cuda_chains --seconds 120 --out "$out" >"$folder/log" 2>&1 || bad=1
	expect "$out/results.tsv" "$s - pass" "$s chains::F5_one pass" "clock_long - pass" "clock_long gpu_clock::H8_probes pass"
fi

# A skip is kept beside a pass and beside a failure on other GPUs. A failure on the same GPUs is
# removed.
line() {
	printf '%s\t%s\t%s\t0123456789ab\t2026-01-02T%s:00Z\t%s\t1.0\n' "$s" "$@"
}
{
	line chains::F5_one fail 10 '1 x A'
	line chains::F5_one skip 11 '1 x A'
	line chains::F5_two fail 10 '2 x A'
	line chains::F5_two skip 11 '1 x A'
	line chains::F6_three pass 10 '1 x A'
	line chains::F6_three skip 11 '1 x A'
	line chains::F7_four skip 10 '1 x A'
	line chains::F7_four fail 11 '1 x A'
} >"$folder/new.tsv"
awk -F '\t' -v history=/dev/null -f "$tables/merge.awk" /dev/null "$folder/new.tsv" >"$folder/merged.tsv"
expect "$folder/merged.tsv" "$s chains::F5_one skip" "$s chains::F5_two fail" "$s chains::F5_two skip" \
	"$s chains::F6_three pass" "$s chains::F6_three skip" "$s chains::F7_four fail"

# Of figures of one commit the latest counts.
figure() {
	printf '{"row":"TG1","name":"TG1.p50","value":%s,"unit":"us","baseline":8.5,"ratio":0.9,"target":"ratio <= 1","met":true,"spread":0.1,"note":"n"}\n' "$1"
}
figure 7.5 >"$out/bench.json"
sed -i 's/^date\t.*/date\t2026-01-02T10:00Z/; s/^gpu\t.*/gpu\t1 x GPU, 1.0, 5 MiB/' "$out/facts"
"$tables/report.sh" "$out" && "$tables/report.sh" --merge "$out" || bad=1
figure 6.5 >"$out/bench.json"
sed -i 's/T10:00Z/T11:00Z/' "$out/facts"
"$tables/report.sh" "$out" && "$tables/report.sh" --merge "$out" || bad=1
wanted='TG1.p50	6.500	us	8.500	0.900	ratio <= 1	yes	10 %	n	0123456789ab	2026-01-02T11:00Z	1 x GPU	1.0'
got=$(grep -v '^#' "$tables/figures.tsv")
[ "$got" = "$wanted" ] || {
	echo "figures: '$got'"
	bad=1
}
exit "$bad"
