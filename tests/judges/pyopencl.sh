#!/bin/bash
# pyopencl.sh BUILD OUT FOLDER [PART]: pyopencl's own tests, both ways. FOLDER keeps the packages of pyopencl.txt and pyopencl's tests; what is
# missing there is fetched. pyopencl's wheel has a loader of its own. PART: a regular expression of the tests' names; without it all.
#
# Tests run one after another in one process, as their authors run them. A test that crashes or takes too long ends that process. It counts
# as died or time, and the tests behind it go on in another process.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
folder=${3:?BUILD OUT FOLDER} part=${4-}
wanted=$judges/pyopencl.txt

get() {
	timeout 600 python3 -m pip "$@" --quiet --disable-pip-version-check --no-deps --retries 2 --timeout 30
}

# The order of the steps matters: the tests are there last, and say that all is.
fetch() {
	local new=$folder/new
	rm -rf "$new"
	mkdir -p "$new/sources" || return 1
	get install --only-binary=:all: --require-hashes --target "$new/packages" --requirement "$wanted" &&
		grep '^pyopencl==' "$wanted" >"$new/source.txt" &&
		get download --no-binary=pyopencl --require-hashes --dest "$new/sources" --requirement "$new/source.txt" &&
		tar -x -z -C "$new/sources" --strip-components 1 -f "$new"/sources/pyopencl-*.tar.gz &&
		mv "$new/sources/test" "$new/tests" && cp "$wanted" "$new/wanted" &&
		rm -rf "$new/sources" "$folder/pyopencl" && mv "$new" "$folder/pyopencl"
}

mkdir -p "$folder" || exit 1
folder=$(cd "$folder" && pwd)
if ! cmp -s "$wanted" "$folder/pyopencl/wanted"; then
	fetch >"$folder/pip.log" 2>&1 </dev/null || judge_skip "the packages of pyopencl.txt cannot be fetched: $(tail -n 1 "$folder/pip.log")"
fi
tests=$folder/pyopencl/tests
export PYTHONPATH=$folder/pyopencl/packages:$judges PYTHONDONTWRITEBYTECODE=1

export PYTHONPATH=$folder/pyopencl/packages:$judges PYTHONDONTWRITEBYTECODE=1 PYOPENCL_NO_CACHE=1 JUDGE_LIMIT=$limit JUDGE_PART=$part

# run WAY: writes "TEST<tab>RESULT" to $work/WAY.results, until a process has come to its end, or a new one has begun no test.
run() {
	local way=$1 status=0 before=-1 ended list=$work/$1.results
	: >"$list"
	while [ "$(wc -l <"$list")" -ne "$before" ]; do
		before=$(wc -l <"$list")
		[ "$way" = plain ] || serves
		status=0
		JUDGE_RESULTS=$list XDG_CACHE_HOME=$work/python on "$way" \
			python3 -m pytest -p pytest_judge -p no:cacheprovider --rootdir "$tests" --tb=short -q "$tests" \
			>>"$logs/$way.log" 2>&1 </dev/null || status=$?
		[ "$status" -gt 128 ] || break
		# What has begun and not ended has ended the process.
		ended=$(awk -F '\t' -v status="$status" 'END { if ($2 == "begins") print $1 "\t" (status == 142 ? "time" : "died") }' "$list")
		[ -z "$ended" ] || printf '%s\n' "$ended" >>"$list"
	done
}

judge_begin pyopencl "$1" "$2"
rm -f "$logs/plain.log" "$logs/through.log"
run plain
run through
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
judge_end
