#!/bin/bash
# clblast.sh BUILD OUT FOLDER: CLBlast's own tests, both ways. FOLDER: a build of CLBlast with -DTESTS=ON, with its programs clblast_test_*.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
folder=$(cd "${3:?BUILD OUT FOLDER}" 2>/dev/null && pwd) || judge_skip "$3 is no folder"
ls "$folder"/clblast_test_* >/dev/null 2>&1 || judge_skip "$folder has no program clblast_test_*"

judge_begin clblast "$1" "$2"
for program in "$folder"/clblast_test_*; do
	[ ! -x "$program" ] || [ -d "$program" ] || judge_both "${program##*/clblast_test_}" "$program" -platform 0 -device 0
done
judge_end
