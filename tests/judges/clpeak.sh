#!/bin/bash
# clpeak.sh BUILD OUT [KIND...]: Debian's clpeak, both ways; without KINDs all that it measures. What it measures is in the logs.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
command -v clpeak >/dev/null || judge_skip "clpeak is not installed"

judge_begin clpeak "$1" "$2"
shift 2
[ "$#" -gt 0 ] || set -- global-bandwidth compute-sp compute-dp compute-integer compute-intfast transfer-bandwidth kernel-latency
for kind in "$@"; do
	judge_both "$kind" clpeak -p 0 -d 0 "--$kind"
done
judge_end
