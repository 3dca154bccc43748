# shellcheck shell=bash
# What the judges share: OpenCL programs of others, run on the plain drivers of this machine and through the service, side by side. Each
# judge sources this file with the arguments BUILD OUT, calls judge_begin, judge_both for each of its tests, and judge_end.
#
# The service is the judge's own, in a folder below /tmp. Nothing of this machine is changed: a loader is pointed at folders of the judge's.
# JUDGE_LIMIT: seconds that a test may take, 60 without it. JUDGE_CACHE: a folder for what PoCL and the service build; without it each run
# begins without any.
set -u
judges=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
limit=${JUDGE_LIMIT:-60}
judge=
service=
work=
out=
logs=
results=
cache=

judge_skip() {
	echo "skipped: $*"
	exit 77
}

judge_stop() {
	[ -z "$service" ] || kill "$service" 2>/dev/null
	[ -z "$service" ] || wait "$service" 2>/dev/null
	service=
	[ -z "$work" ] || rm -rf "$work"
}

# judge_begin NAME BUILD OUT: starts the service, and the table of results, OUT/NAME.tsv. The plain drivers are those of the machine, or of
# the folder that judge_vendors names.
judge_begin() {
	local build=$2 file
	judge=$1 out=$3
	for file in bin/sycld bin/sycl-engine bin/syclctl lib/libsyclcl.so.0; do
		[ -e "$build/$file" ] || judge_skip "$build has no $file"
	done
	build=$(cd "$build" && pwd)
	mkdir -p "$out/$judge.logs" || exit 1
	out=$(cd "$out" && pwd)
	logs=$out/$judge.logs results=$out/$judge.tsv
	: >"$results"
	work=$(mktemp -d "${TMPDIR:-/tmp}/sycld-judge.XXXXXX") || exit 1
	cache=${JUDGE_CACHE:-$work/cache}
	mkdir -p "$cache/plain" "$cache/through" || exit 1
	trap judge_stop EXIT
	trap 'exit 130' INT TERM
	mkdir "$work/plain" "$work/through"
	for file in "${judge_vendors:-/etc/OpenCL/vendors}"/*.icd; do
		[ ! -e "$file" ] || grep -q libsyclcl "$file" || cp "$file" "$work/plain/"
	done
	[ -n "$(ls "$work/plain")" ] || judge_skip "this machine has no OpenCL driver"
	echo "$build/lib/libsyclcl.so.0" >"$work/through/sycld.icd"
	OCL_ICD_VENDORS=$work/plain "$build/bin/sycld" --user --runtime-dir "$work/run" --cache-dir "$cache/through" \
		>"$logs/service.log" 2>&1 </dev/null &
	service=$!
	until [ -S "$work/run/session.sock" ]; do
		kill -0 "$service" 2>/dev/null || {
			cat "$logs/service.log"
			exit 1
		}
		sleep 0.05
	done
}

# on WAY COMMAND...: runs the command with the loader pointed at the plain drivers or at the driver to the service. Both of the loaders'
# variables are set: Debian's reads the first, Khronos' the second.
on() {
	local way=$1
	shift
	case $way in
	plain)
		env -u SYCLD_ENDPOINT POCL_CACHE_DIR="$cache/plain" OCL_ICD_VENDORS="$work/plain" OCL_ICD_FILENAMES="$(cat "$work"/plain/*.icd | paste -sd :)" "$@"
		;;
	through)
		env SYCLD_ENDPOINT="unix:$work/run/session.sock" OCL_ICD_VENDORS="$work/through" \
			OCL_ICD_FILENAMES="$(cat "$work/through/sycld.icd")" "$@"
		;;
	esac
}

# Before each test on the service: a test must not end because one before it has ended the engine's user or the service.
serves() {
	kill -0 "$service" 2>/dev/null || {
		echo "$judge: the service has ended: $(tail -n 3 "$logs/service.log")"
		exit 1
	}
}

# judge_one WAY TEST COMMAND...: runs it once and prints pass, fail, skip, time or died. It is skipped if it exits with 77.
judge_one() {
	local way=$1 log=$logs/${2//[^A-Za-z0-9_.-]/_}.$1.log status=0
	shift 2
	[ "$way" = plain ] || serves
	(cd "$work" && on "$way" timeout -k 5 "$limit" "$@") >"$log" 2>&1 </dev/null || status=$?
	case $status in
	0) echo pass ;;
	77) echo skip ;;
	124 | 137) echo time ;;
	129 | 13[0-69] | 14*) echo died ;;
	*) echo fail ;;
	esac
}

# judge_note TEST PLAIN THROUGH: adds a row to the table.
judge_note() {
	printf '%s\t%s\t%s\t%s\n' "$1" "$2" "$3" "$(judge_why "$@")" >>"$results"
}

# judge_both TEST COMMAND...: runs the test both ways.
judge_both() {
	local test=$1 plain through
	shift
	plain=$(judge_one plain "$test" "$@")
	through=$(judge_one through "$test" "$@")
	judge_note "$test" "$plain" "$through"
}

# judge_why TEST PLAIN THROUGH: prints the known reason of a difference, from reasons.tsv, or "unknown". Nothing if there is no difference.
judge_why() {
	[ "$2" != "$3" ] || return 0
	awk -F '\t' -v judge="$judge" -v test="$1" -v through="$3" '
		!/^#/ && $1 == judge && match(test, "^(" $2 ")$") { print $3; found = 1; exit }
		END { if (!found) print through == "pass" ? "the plain driver alone does not pass" : "unknown" }' "$judges/reasons.tsv"
}

# judge_end: prints the line of counts. 1: a test that passes on the plain driver does not pass through the service, for no known reason.
judge_end() {
	awk -F '\t' -v judge="$judge" '
		{ plain[$2]++; through[$3]++ }
		$2 == "pass" && $3 != "pass" { lost++; if ($4 == "unknown") { unknown++; names = names " " $1 } }
		$2 != "pass" && $3 == "pass" { won++ }
		function counts(n, text, i) {
			split("pass fail skip time died", kinds, " ")
			for (i = 1; i <= 5; i++)
				if (n[kinds[i]] > 0)
					text = text (text == "" ? "" : ", ") n[kinds[i]] " " kinds[i]
			return text
		}
		END {
			printf "%s: %d tests: plain %s; through the service %s; %d pass plain only (%d of them for no known reason)", \
				judge, NR, counts(plain), counts(through), lost, unknown
			printf "; %d pass through the service only\n", won
			if (names != "")
				printf "%s: for no known reason:%s\n", judge, names
			exit unknown > 0 || NR == 0
		}' "$results"
}
