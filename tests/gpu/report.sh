#!/usr/bin/env bash
# Writes the results of a run as data. report.sh RESULTS-FOLDER writes results.tsv and figures.tsv
# there; run.sh calls it at its end. report.sh --merge RESULTS-FOLDER... adds such files to the
# tables beside this script.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
support=$here/../support
t=$'\t'

# fact FOLDER NAME
fact() {
	sed -n "s/^$2\t//p" "$1/facts"
}

# facts FOLDER: prints commit, date, GPU and driver, which are the last columns of both tables.
facts() {
	local gpu
	gpu=$(fact "$1" gpu)
	printf '%s\t%s\t%s\t%s\n' "$(fact "$1" commit)" "$(fact "$1" date)" "${gpu%%, *}" "$(cut -d , -f 2 <<<"$gpu" | tr -d ' ')"
}

# results: prints "SUITE - RESULT" for each suite that ran. Then it prints "SUITE TEST RESULT" for tests whose name has a row, and for
# failed tests. If a suite was killed, or failed as a whole, all its tests count as failed. The name of a suite on OpenCL contains the
# driver. Names of other suites that do not run on CUDA contain no driver.
results() {
	awk -v tests="$1/tests" -v killed="$1/killed" '
		BEGIN {
			FS = OFS = "\t"
			while ((getline line <killed) > 0)
				is_killed[line] = 1
			while ((getline line <tests) > 0) {
				split(line, part, " ")
				if (part[1] in is_killed && part[2] ~ /(_|::)[A-Z][0-9]+(_|$)/)
					print part[1], part[2], "killed"
			}
		}
		FILENAME ~ /suites.tsv$/ {
			if ($2 == "ok" || $2 == "FAILED")
				print $1, "-", $1 in is_killed ? "killed" : ($2 == "ok" ? "pass" : "fail")
			next
		}
		{
			split($0, part, " ")
			suite = test = part[2]
			sub(/::.*/, "", suite)
			sub(/^[^:]*::/, "", test)
		}
		suite == test || (suite in is_killed && part[1] != "fail") { next }
		part[1] != "fail" && suite ~ /opencl|^conformance_kernels_|^client_embedded_cpu$/ && suite !~ /_(nvidia|pocl)$/ { next }
		part[1] == "fail" || test ~ /(_|::)[A-Z][0-9]+(_|$)/ { print suite, test, part[1] }
	' "$1/suites.tsv" "$1/results" | awk -F "$t" '!($1 FS $2 in line) || $3 == "fail" { line[$1 FS $2] = $0 } END { for (key in line) print line[key] }'
}

report() {
	local facts
	facts=$(facts "$1")
	results "$1" | LC_ALL=C sort | sed "s/\$/$t${facts//\//\\/}/" >"$1/results.tsv"
	awk -v tabs=1 -f "$here/figures.awk" "$1/bench.json" | sed "s/\$/$t${facts//\//\\/}/" >"$1/figures.tsv"
}

merge() {
	local folder new=()
	for folder; do
		new+=("$folder/results.tsv")
	done
	cat "$here/results.tsv" "${new[@]}" | grep -v '^#' | cut -f 4 | "$support/history.sh" "$here/../.." >"$here/history" &&
		awk -F "$t" -v history="$here/history" -f "$here/merge.awk" "$here/results.tsv" "${new[@]}" >"$here/merged" &&
		mv "$here/merged" "$here/results.tsv" || return 1
	# For each figure and commit the latest run counts, so that all columns come from one run.
	for folder; do
		cat "$folder/figures.tsv"
	done | cat "$here/figures.tsv" - | awk -F "$t" '
		/^#/ { print; next }
		!(($1, $10) in date) || $11 >= date[$1, $10] { date[$1, $10] = $11; line[$1, $10] = $0 }
		END { for (key in line) print line[key] | "LC_ALL=C sort -t \"\t\" -k 1,1V -k 11,11" }' >"$here/merged" &&
		mv "$here/merged" "$here/figures.tsv"
	rm -f "$here/history"
	# In the source tree, docs/benchmarks.md is made from the tables.
	[ ! -x "$here/../bench/benchmarks.sh" ] || "$here/../bench/benchmarks.sh"
}

case ${1-} in
--merge) merge "${@:2}" ;;
'' | -*)
	printf 'Usage: report.sh RESULTS-FOLDER, or report.sh --merge RESULTS-FOLDER...\n' >&2
	exit 2
	;;
*) report "$1" ;;
esac
