# Checks what flatten.awk prints against fields.txt, and what the manifests say about each other. Prints a line for each fault.
function fault(text) { print FILENAME_OF ": " kind[document] ": " text; faults = 1 }
function known(of, path,    prefix) {
	if ((of, path) in type) return of SUBSEP path
	prefix = path
	# A map with free keys is known by its own name, and its keys may have dots.
	while (sub(/\.[^.]*$/, "", prefix))
		if ((of, prefix ".*") in type) return of SUBSEP prefix ".*"
	return (of, path ".*") in type ? of SUBSEP path ".*" : ""
}
function look_up(path,    found, rest) {
	rest = path
	if (sub(/^spec\.template\.spec\./, "", rest) && (found = known("POD", rest)) != "") return found
	found = known(kind[document] "", path)
	return found != "" ? found : known("ANY", path)
}
function fits(want, have, free) {
	if (have == "open") return free || want == "map" || want == "list"
	return want == have || (want == "one-of" && have == "string")
}
# Each map or item that is open must have its required fields: `place` is its path, `seen` what it has had.
function close_item(place,    key, parts, path, root) {
	for (key in required) {
		split(key, parts, SUBSEP)
		if (parts[1] == "POD") { if (kind[document] != "Job" && kind[document] != "DaemonSet") continue; path = "spec.template.spec." parts[2] }
		else if (parts[1] != "ANY" && parts[1] != kind[document]) continue
		else path = parts[2]
		root = path
		if (!sub(/\.[^.]*$/, "", root)) root = ""
		if (root == place && !((document, path, count[document, place]) in seen))
			fault((place == "" ? "the document" : place) " lacks " path)
	}
}
FILENAME == ARGV[1] {
	if ($0 ~ /^ *(#|$)/) next
	type[$1, $2] = $3
	if ($4 == "required") required[$1, $2] = 1
	if ($3 == "one-of") { for (i = 4; i <= NF; i++) choice[$1, $2, $i] = 1 }
	next
}
{
	lines[++total] = $0
	if ($2 == "kind") kind[$1] = $4
}
END {
	for (n = 1; n <= total; n++) {
		split(lines[n], word, " ")
		document = word[1]; path = word[2]; have = word[3]
		value = lines[n]
		sub(/^[^ ]* [^ ]* [^ ]* ?/, "", value)
		documents[document] = 1
		if (have == "wrong") { fault("cannot be read: " path " " value); continue }
		found = look_up(path)
		if (found == "") { fault("there is no field " path); continue }
		free = found ~ /\.\*$/
		if (!fits(type[found], have, free)) fault(path " is a " have ", not a " type[found])
		if (type[found] == "one-of" && !((found, value) in choice)) fault(path " cannot be " value)
		if (have == "item") { items[document, path]++; count[document, path] = items[document, path] }
		up = path
		if (!sub(/\.[^.]*$/, "", up)) up = ""
		sub(/\[\]$/, "[]", up)
		if (have == "open" || have == "item") places[document, path, count[document, path]] = 1
		seen[document, path, count[document, up]] = 1
		values[document, path] = values[document, path] " " value
	}
	for (document in documents) {
		places[document, "", ""] = 1
		if (kind[document] != "DaemonSet" && kind[document] != "Job") continue
		pod = "spec.template.spec."
		if (values[document, "spec.selector.matchLabels"] != "" || kind[document] == "DaemonSet") {
			a = values[document, "spec.selector.matchLabels.app.kubernetes.io/name"]
			b = values[document, "spec.template.metadata.labels.app.kubernetes.io/name"]
			if (a == "" || a != b) fault("the selector" a " does not select the template's labels" b)
		}
		split(values[document, pod "containers[].volumeMounts[].name"], mounts, " ")
		for (i in mounts)
			if (index(values[document, pod "volumes[].name"] " ", " " mounts[i] " ") == 0) fault("there is no volume " mounts[i])
		split(values[document, pod "volumes[].name"], volumes, " ")
		for (i in volumes)
			if (index(values[document, pod "containers[].volumeMounts[].name"] " ", " " volumes[i] " ") == 0) fault("the volume " volumes[i] " is not mounted")
	}
	for (place in places) {
		split(place, parts, SUBSEP)
		document = parts[1]
		count[document, parts[2]] = parts[3]
		close_item(parts[2])
	}
	exit faults
}
