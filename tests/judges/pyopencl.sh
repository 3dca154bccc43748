#!/bin/bash
# pyopencl.sh BUILD OUT FOLDER [PART]: pyopencl's own tests, both ways. FOLDER keeps the packages of pyopencl.txt and pyopencl's tests; what is
# missing there is fetched. pyopencl's wheel has a loader of its own. PART: a regular expression of the tests' names; without it all.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
# shellcheck source=tests/judges/pytest.sh
. "$judges/pytest.sh"
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
export PYTHONPATH=$folder/pyopencl/packages:$judges PYTHONDONTWRITEBYTECODE=1 PYOPENCL_NO_CACHE=1 JUDGE_LIMIT=$limit JUDGE_PART=$part

judge_begin pyopencl "$1" "$2"
pytest_both python3 "$tests"
judge_end
