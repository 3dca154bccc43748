# The table of requirement rows: awk -v gpus=N -v document=FILE -f rows.awk rows.txt RESULTS
# RESULTS has lines "pass|fail|skip TESTNAME" (results.awk). A row is shown by the tests that carry its id in their name.
BEGIN {
	while ((getline line <document) > 0) {
		count = split(line, words, /[^A-Z0-9]+/)
		for (i = 1; i <= count; i++)
			documented[words[i]] = 1
	}
}
FNR == 1 {
	file++
}
file == 1 && /^[A-Z][0-9]+ \|/ {
	split($0, part, / \| /)
	order[++rows] = part[1]
	known[part[1]] = 1
	where[part[1]] = part[3]
	text[part[1]] = part[4]
}
file == 2 {
	count = split($2, words, /_|::|\./)
	for (i = 1; i <= count; i++)
		if (words[i] in known) {
			number[words[i], $1]++
			if ($1 != "pass")
				example[words[i], $1] = $2
		}
}

# Why no machine like this one can show the row, or "".
function out_of_reach(place,    count, ways, i, needed) {
	count = split(place, ways, "/")
	for (i = 1; i <= count; i++) {
		needed = ways[i] ~ /2G/ ? 2 : (ways[i] ~ /G/ ? 1 : 0)
		if (gpus >= needed)
			return ""
	}
	return needed == 2 ? "needs two GPUs" : "needs a GPU"
}

function state(id,    reason) {
	if (number[id, "fail"])
		return "FAIL (" example[id, "fail"] ")"
	if (number[id, "pass"])
		return "pass (" number[id, "pass"] (number[id, "pass"] == 1 ? " test)" : " tests)")
	if (where[id] == "doc")
		return id in documented ? "pass (documented)" : "not documented yet"
	reason = out_of_reach(where[id])
	if (reason != "")
		return "out of reach here: " reason
	if (number[id, "skip"])
		return "skipped (" example[id, "skip"] ")"
	return "no test yet"
}

END {
	for (i = 1; i <= rows; i++) {
		s = state(order[i])
		printf "%-4s %-30s %s\n", order[i], s, text[order[i]]
		kind = s ~ /^FAIL/ ? "fail" : (s ~ /^pass/ ? "pass" : (s ~ /^out/ ? "out" : (s ~ /^skip/ ? "skipped" : "none")))
		total[kind]++
	}
	printf "%d rows: %d pass, %d fail, %d skipped, %d no test yet, %d out of reach here\n", rows, total["pass"], total["fail"],
		total["skipped"], total["none"], total["out"]
	exit total["fail"] > 0
}
