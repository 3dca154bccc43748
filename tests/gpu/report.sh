#!/usr/bin/env bash
# Writes what a run showed as a page: report.sh RESULTS-FOLDER >last-run.md. Called by run.sh at its end.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
out=$1

fact() {
	sed -n "s/^$1\t//p" "$out/facts"
}

cat <<TXT
# What a run on a GPU showed

Written by \`tests/gpu/run.sh\` and copied here as it is; \`./check.sh --rows\` reads it. Never edited by hand.

| | |
| --- | --- |
| date | $(fact date) |
| commit | $(fact commit) |
| GPU | $(fact gpu) |
| CUDA | $(fact cuda) |
| system | $(fact system) |
| run as | uid $(fact user) |
| parts | $(fact parts) |
| took | $(fact took) s |

## Tests

| suite | result | passed | failed | skipped | seconds | remark |
| --- | --- | --- | --- | --- | --- | --- |
TXT
awk -F '\t' '
	{ gsub(/\|/, "/", $7); printf "| %s | %s | %d | %d | %d | %d | %s |\n", $1, $2, $3, $4, $5, $6, $7 }
	{ passed += $3; failed += $4; skipped += $5; took += $6 }
	END { printf "| all | | %d | %d | %d | %d | |\n", passed, failed, skipped, took }' "$out/suites.tsv"

printf '\n### Failed\n\n'
awk '/^fail / && !seen[$0]++ { printf "* `%s`\n", substr($0, 6); any = 1 } END { if (!any) print "None." }' "$out/results"

if [ -s "$out/bench.json" ]; then
	cat <<TXT

## Figures

Each beside its baseline, measured by turns in this run; the ratio is the median of the runs' own ratios.

TXT
	awk -v markdown=1 -f "$here/figures.awk" "$out/bench.json"
fi

# Only tests that carry a requirement's row, and what failed. Suites on OpenCL say on whose by their names; others that are not on CUDA
# show nothing about it.
printf '\n## Results\n\n%sresults\n' '```'
awk '$1 == "fail" || $2 ~ /^[a-z_]*_(nvidia|pocl)(::|$)/ ||
	$2 !~ /^([a-z_]*opencl[a-z_]*|conformance_kernels_[a-z]*|client_embedded_cpu)(::|$)/' "$out/results" |
	grep -E '(_|::|\.|/)[A-N][0-9]+(_|$)|^fail ' | sort -u
printf '%s\n' '```'
