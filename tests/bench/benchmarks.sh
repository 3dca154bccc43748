#!/bin/sh
# benchmarks.sh [--check] writes docs/benchmarks.md and the README's table from the tables of figures. --check writes nothing, and compares
# the committed files with the ones that would be written.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1

tables() {
	LC_ALL=C awk -v page="$1" -f "$here/benchmarks.awk" "$here/groups.tsv" "$top/tests/gpu/figures.tsv" "$here/processor.tsv"
}

# readme TABLE: prints the README with this table in its section on benchmarks.
readme() {
	awk -v table="$1" '
		/^## / { here = $0 == "## Benchmarks" }
		here && /^\|/ {
			while (!written && (getline row <table) > 0)
				print row
			written = 1
			next
		}
		{ print }' "$top/README.md"
}

write() {
	tables benchmarks >"$top/docs/benchmarks.md" && tables readme >"$work/table" && readme "$work/table" >"$work/readme" &&
		cat "$work/readme" >"$top/README.md"
}

check() {
	tables benchmarks >"$work/page"
	tables readme >"$work/table"
	readme "$work/table" >"$work/readme"
	bad=0
	diff -u "$top/docs/benchmarks.md" "$work/page" || {
		echo "docs/benchmarks.md is not what tests/bench/benchmarks.sh writes."
		bad=1
	}
	diff -u "$top/README.md" "$work/readme" || {
		echo "The table in README.md is not what tests/bench/benchmarks.sh writes."
		bad=1
	}
	# Empty tables would not differ from anything.
	echo "$(grep -c '^| T' "$work/page") figures"
	[ "$(grep -c '^| T' "$work/page")" -ge 50 ] && [ "$(wc -l <"$work/table")" -eq 10 ] && grep -qxF "$(tail -n 1 "$work/table")" "$top/README.md" &&
		[ "$bad" -eq 0 ]
}

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
case ${1-} in
--check) check ;;
'') write ;;
*)
	echo "Usage: benchmarks.sh [--check]" >&2
	exit 2
	;;
esac
