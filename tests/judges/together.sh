#!/bin/bash
# together.sh BUILD OUT FOLDER [ROUNDS]: one and eight programs of dpnp at once, on Intel's runtime for processors and through the service on the
# same runtime, in turns: time until they have imported dpnp, until the first and the last of them has a result, processor time, memory. Prints a
# table of medians with the smallest and the largest, which is also in OUT/together.md. Times judge nothing; a wrong result fails. The first
# round through the service begins with a new one, and is a row of its own.
# shellcheck source=tests/judges/judge.sh
. "$(dirname "${BASH_SOURCE[0]}")/judge.sh"
folder=$(cd "${3:?BUILD OUT FOLDER}" && pwd) || exit 1
rounds=${4:-5}
python=$folder/bin/python3
[ -e "$folder/lib/libintelocl.so" ] || judge_skip "$folder has no lib/libintelocl.so"
(cd / && "$python" -c "import dpnp") 2>/dev/null || judge_skip "$folder has no dpnp"

judge_vendors=$2/together.vendors
mkdir -p "$judge_vendors" && echo "$folder/lib/libintelocl.so" >"$judge_vendors/intel.icd" || exit 1
judge_begin together "$1" "$2"
export PYTHONDONTWRITEBYTECODE=1 SYCL_CACHE_PERSISTENT=0 XDG_CACHE_HOME=$work/python
found=$work/found
: >"$found"

# one WAY NAME COUNT ARGUMENT...
one() {
	local way=$1 name=$2 count=$3 said
	said=$(on "$way" timeout 600 "$python" "$judges/together.py" "$count" "${@:4}") || {
		echo "together: $count programs on the way \"$way\" failed; $(tail -n 3 "$logs/service.log")"
		exit 1
	}
	printf '%s\t%s\t%s\t%s\n' "$name" "$count" "$way" "$said" >>"$found"
}

# round NAME COUNT: once each way.
round() {
	one plain "$1" "$2"
	one through "$1" "$2" "$service"
}

# The files of the wheels are read once before anything counts.
on plain "$python" "$judges/together.py" 1 >/dev/null || exit 1
round new 8
for ((i = 0; i < rounds; i++)); do
	round warm 1
	round warm 8
done

"$python" - "$found" <<'TXT' | tee "$out/together.md"
import json, os, statistics, sys

rows = {}
for line in open(sys.argv[1]):
    state, count, way, text = line.rstrip("\n").split("\t")
    rows.setdefault((state, int(count), way), []).append(json.loads(text))

def shown(values, form):
    middle = form(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({form(min(values))} to {form(max(values))})"

time = lambda values: shown(values, lambda v: f"{v:.2f}")
size = lambda values: shown(values, lambda v: f"{v / 2**20:.0f}")
print("| programs at once | way | the last has imported dpnp, s | first result, s | last result, s | processor time, s | memory of programs, MiB | of service and engine, MiB |")
print("| --- | --- | --- | --- | --- | --- | --- | --- |")
for (state, count, way), found in sorted(rows.items(), key=lambda row: (row[0][1], row[0][0] == "new", row[0][2])):
    name = {"plain": "the plain runtime", "through": "the service"}[way] + (", just started" if (state, way) == ("new", "through") else "")
    if (state, way) == ("new", "plain"):
        continue
    part = lambda key: [each[key] for each in found]
    print(f"| {count} | {name} | {time(part('import'))} | {time(part('first'))} | {time(part('last'))} | {time(part('processor'))} "
          f"| {size(part('programs_pss'))} | {size(part('service_pss')) if way == 'through' else ''} |")
print(f"\n{len(rows['warm', 8, 'plain'])} rounds, in turns; medians, with the smallest and the largest. {os.cpu_count()} processors, a load of {os.getloadavg()[0]:.0f} at the end.")
TXT
