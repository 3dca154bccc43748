# shellcheck shell=bash
# What judges share whose tests are pytest's; sourced after judge.sh. Tests run one after another in one process, as their authors run them. A
# test that crashes or takes too long ends that process. It counts as died or time, and the tests behind it go on in another process.

# shellcheck disable=SC2154 # work and logs are judge.sh's
# pytest_run WAY PYTHON TESTS: writes "TEST<tab>RESULT" to $work/WAY.results, until a process has come to its end, or a new one has begun no test.
pytest_run() {
	local way=$1 python=$2 tests=$3 status=0 before=-1 ended list=$work/$1.results
	: >"$list"
	while [ "$(wc -l <"$list")" -ne "$before" ]; do
		before=$(wc -l <"$list")
		[ "$way" = plain ] || serves
		status=0
		JUDGE_RESULTS=$list XDG_CACHE_HOME=$work/python on "$way" \
			"$python" -m pytest -p pytest_judge -p no:cacheprovider --rootdir "$tests" --tb=short -q "$tests" \
			>>"$logs/$way.log" 2>&1 </dev/null || status=$?
		[ "$status" -gt 128 ] || break
		# What has begun and not ended has ended the process.
		ended=$(awk -F '\t' -v status="$status" 'END { if ($2 == "begins") print $1 "\t" (status == 142 ? "time" : "died") }' "$list")
		[ -z "$ended" ] || printf '%s\n' "$ended" >>"$list"
	done
}

# pytest_both PYTHON TESTS: runs the folder's tests both ways, and adds a row for each to the table.
pytest_both() {
	local test plain through
	rm -f "$logs/plain.log" "$logs/through.log"
	pytest_run plain "$@"
	pytest_run through "$@"
	awk -F '\t' '
		{ if (!seen[$1]++) order[++n] = $1 }
		FNR == NR { plain[$1] = $2; next }
		{ through[$1] = $2 }
		END {
			for (i = 1; i <= n; i++)
				print order[i] "\t" (order[i] in plain ? plain[order[i]] : "died") "\t" (order[i] in through ? through[order[i]] : "died")
		}' "$work/plain.results" "$work/through.results" >"$work/both"
	while IFS=$'\t' read -r test plain through; do
		judge_note "$test" "$plain" "$through"
	done <"$work/both"
}
