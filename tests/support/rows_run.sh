#!/bin/sh
# Checks rows.sh on the files of the last run, and history.sh on commits, in an invented project:
# rows_run.sh TESTS-FOLDER
set -u
tests=$(cd "$1" && pwd) || exit 1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
top=$folder/top build=$folder/top/build
bad=0

mkdir -p "$build/tests/inner" "$top/tests/conformance" "$top/tests/gpu" "$top/include"
: >"$top/include/README.md"
cat >"$top/tests/conformance/rows.txt" <<'TXT'
A1 | 001 | C | the first
A2 | 001 | C | the second
A3 | 001 | C | of another program
A5 | 000 | G | of a GPU
TXT
printf 'A1 one::A1_works\nA2 one::A2_works\nA3 two::A3_works\nA5 one::A5_works\n' >"$top/tests/conformance/row_tests.txt"
printf 'Test(one, A1_works)\n{\n}\nTest(one, A2_works, .timeout = 1)\nParameterizedTest(int *i, one, A5_works)\n' >"$top/tests/one.c"
printf 'Test(two, A3_works)\n' >"$top/tests/two.c"
printf 'one %s\ntwo %s\n' "$top/tests/one.c" "$top/tests/two.c" >"$build/tests/programs.txt"
cat >"$build/tests/inner/CTestTestfile.cmake" <<'TXT'
add_test([=[one]=] "/somewhere/one" "--jobs=2")
add_test([=[one_again]=] "/somewhere/one" "--filter" "one/A2*")
add_test([=[two]=] "/somewhere/two")
TXT
printf '#\n' >"$top/tests/gpu/results.tsv"

# ran SUITE STATUS ...: writes ctest's report on them.
ran() {
	while [ $# -gt 0 ]; do
		printf '<testcase name="%s" status="%s">\n' "$1" "$2"
		shift 2
	done >"$build/junit.xml"
}

expect() {
	got=$("$tests/support/rows.sh" "$top" 0 | sed -n "s/^$1  *//p")
	case $got in
	"$2"*) ;;
	*)
		echo "$1: '$got' instead of '$2'"
		bad=1
		;;
	esac
}

printf 'ok - one::A1_works  (0.1s)\nok - one::A2_works (0.1s)\n' >"$build/tests/one.tap"
printf 'ok - two::A3_works (0.1s)\n' >"$build/tests/two.tap"
ran one run two run
expect A1 'pass (1 test)'
expect A3 'pass (1 test)'
expect A5 'out of reach here: needs a GPU'

# The program ended before it could write its file, for example by a time limit. Each row of its tests fails, and no other row.
rm "$build/tests/one.tap"
ran one fail two run
expect A1 'FAIL (one was killed or failed as a whole)'
expect A5 'FAIL (one was killed or failed as a whole)'
expect A3 'pass (1 test)'
# Only the tests that ctest ran count.
ran one_again fail two run
expect A2 'FAIL (one_again was killed or failed as a whole)'
expect A1 'no result'

# All tests passed and the program failed, for example because of a leak at its end.
printf 'ok - one::A1_works  (0.1s)\n' >"$build/tests/one.tap"
ran one fail two run
expect A1 'FAIL (one was killed or failed as a whole)'
# One test failed. The program's line adds nothing.
printf 'ok - one::A1_works  (0.1s)\nnot ok - one::A2_works (0.1s)\n' >"$build/tests/one.tap"
expect A1 'pass (1 test)'
expect A2 'FAIL (one::one::A2_works)'

# It ran nowhere, and a line reports it.
ran one run two run
printf 'A1 one::A1_works\nA1 one::A1_more\nA1 one::A1_never\n' >"$folder/more"
cp "$top/tests/conformance/row_tests.txt" "$folder/row_tests.txt"
cat "$folder/more" >>"$top/tests/conformance/row_tests.txt"
printf 'Test(one, A1_more)\nTest(one, A1_never)\n' >>"$top/tests/one.c"
printf 'ok - one::A1_works  (0.1s)\nok - one::A1_more # SKIP no device\n' >"$build/tests/one.tap"
expect A1 'pass (1 test, 1 of its 4 tests has no result, 1 of its 4 tests has only skips)'
cp "$folder/row_tests.txt" "$top/tests/conformance/"
echo 0123456789ab >"$build/tests.commit"
"$tests/support/rows.sh" "$top" 0 | grep -q '^build: results of commit 0123456789ab' || {
	echo 'the commit of older results is not said'
	bad=1
}
ran one fail two run

# It passed when it was run again.
printf 'ok - one::A1_works  (0.1s)\nok - one::A2_works (0.1s)\n' >"$build/tests/one.tap"
echo one::one::A2_works >"$build/flaky"
expect A2 'flaky (one::one::A2_works passed only when run again)'
expect A1 'pass (1 test)'
echo one >"$build/flaky"
expect A1 'flaky (one::one::A1_works passed only when run again)'

# history.sh is run without a history, and with one.
history() {
	printf '%s\n' "$@" | "$tests/support/history.sh" "$top" | tr '\n' ' '
}
[ "$(history 0123456789ab)" = '0123456789ab ? ' ] || {
	echo "no history: $(history 0123456789ab)"
	bad=1
}
if command -v git >/dev/null; then
	commit() {
		git -C "$top" -c user.name=a -c user.email=a@b commit -q --allow-empty -m "$1" && git -C "$top" rev-parse --short=12 HEAD
	}
	git -C "$top" init -q -b main
	first=$(commit first)
	aside=$(git -C "$top" checkout -q -b aside && commit aside && git -C "$top" checkout -q main)
	last=$(commit last)
	wanted=$(printf '%s\n' "$first 1" "$last 0" "$aside -" '0123456789ab -' | sort | tr '\n' ' ')
	got=$(history "$first" "$last with changes" "$aside" 0123456789ab)
	[ "$got" = "$wanted" ] || {
		echo "history: '$got' instead of '$wanted'"
		bad=1
	}
fi
exit "$bad"
