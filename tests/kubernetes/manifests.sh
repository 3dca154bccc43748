#!/bin/sh
# tests/kubernetes/manifests.sh FOLDER: checks the manifests of docs/kubernetes without a network: their fields against
# fields.txt, and what must agree with other files. Then it checks that each kind of fault is found.
root=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/sycld-manifests-XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP
failures=0
fail() {
	failures=$((failures + 1))
	echo "FAILED: $*"
}

manifest_is_right() { # FILE
	awk -f "$here/flatten.awk" "$1" >"$folder/flat" &&
		awk -v FILENAME_OF="${1##*/}" -f "$here/manifests.awk" "$here/fields.txt" "$folder/flat"
}
values_of() { # FILE PATH
	awk -f "$here/flatten.awk" "$1" | awk -v path="$2" '$2 == path {$1 = $2 = $3 = ""; sub(/^ */, ""); print}'
}

for file in "$root"/docs/kubernetes/*.yaml; do
	manifest_is_right "$file" || fail "${file##*/}"
done

service=$root/docs/kubernetes/sycld.yaml program=$root/docs/kubernetes/program.yaml
unit=$(sed -n 's/^CapabilityBoundingSet=//p' "$root"/systemd/sycld.service* | tr ' ' '\n' | grep CAP_ | sed 's/^CAP_//' | sort | paste -sd ' ')
container=$(values_of "$service" 'spec.template.spec.containers[].securityContext.capabilities.add' | grep -o '[A-Z_]\{2,\}' | sort | paste -sd ' ')
[ "$unit" = "$container" ] || fail "the container has the capabilities $container, and the systemd unit has $unit"
endpoint=$(values_of "$program" 'spec.template.spec.containers[].env[].value')
for file in "$service" "$program"; do
	values_of "$file" 'spec.template.spec.volumes[].hostPath.path' | grep -qx "$(dirname "${endpoint#unix:}")" ||
		fail "${file##*/} does not mount the folder of $endpoint"
done

# Each change must be a fault.
must_fail() { # FILE WHAT SED
	sed "$3" "$1" >"$folder/changed.yaml"
	if cmp -s "$1" "$folder/changed.yaml"; then
		fail "nothing was changed: $2"
	elif manifest_is_right "$folder/changed.yaml" >/dev/null; then
		fail "not found: $2"
	fi
}
must_fail "$service" "a field that does not exist" 's/hostPID:/hostPid:/'
must_fail "$service" "a field in the wrong place" 's/^      hostPID:/  hostPID:/'
must_fail "$service" "a number where words must be" 's/mountPath: \/tmp/mountPath: 5/'
must_fail "$service" "words where a number must be" 's/periodSeconds: 10/periodSeconds: 10s/'
must_fail "$program" "a boolean as words" 's/readOnly: true/readOnly: "yes"/'
must_fail "$service" "a missing name" '/^        - name: cache/{N;s/- name: cache\n */- /;}'
must_fail "$program" "a missing image" '/image:/d'
must_fail "$service" "a missing selector" '/^  selector:/,/name: sycld/d'
must_fail "$service" "labels that are not selected" '0,/^      app.kubernetes.io/s//      app.kubernetes.io\/part/'
must_fail "$service" "a mount without a volume" '0,/- name: tmp/s//- name: other/'
must_fail "$program" "a word that is not in the list" 's/restartPolicy: Never/restartPolicy: Seldom/'
must_fail "$service" "a line that is no YAML" 's/^kind: ConfigMap/kind ConfigMap/'
[ "$failures" = 0 ] || exit 1
echo "the manifests follow the fields of Kubernetes that they use"
