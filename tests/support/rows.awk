# The table of requirement rows: awk -v gpus=N -v document=FILE -f rows.awk rows.txt RESULTS [LAST-RUN.md ...]
# RESULTS has lines "pass|fail|skip TESTNAME" (results.awk). A row is shown by the tests that carry its id in their name.
# LAST-RUN.md is what gpu/run.sh wrote: such lines between ```results and ```, and the lines "| date | TIME |" and
# "| commit | ID |". It shows the rows that need a GPU where there is none; a test that passed without one does not show them.
# Of a test that several pages tell of, the youngest page counts.
BEGIN {
	while ((getline line <document) > 0) {
		count = split(line, words, /[^A-Z0-9]+/)
		for (i = 1; i <= count; i++)
			documented[words[i]] = 1
	}
}
FNR == 1 {
	file = FILENAME == ARGV[1] ? 1 : (FILENAME == ARGV[2] ? 2 : 3)
}
file == 1 && /^[A-Z][0-9]+ \|/ {
	split($0, part, / \| /)
	order[++rows] = part[1]
	known[part[1]] = 1
	where[part[1]] = part[3]
	text[part[1]] = part[4]
}
file == 2 {
	take_result("here", $1, $2)
}
file > 2 && /^\| commit \| / {
	commit = $0
	sub(/^\| commit \| */, "", commit)
	sub(/ *\|.*/, "", commit)
}
file > 2 && /^```/ {
	in_results = /^```results/
}
file > 2 && /^\| date \| / {
	date = $4
}
file > 2 && in_results && /^(pass|fail|skip) / && !($2 in date_of && date_of[$2] > date) {
	if ($2 in date_of && date_of[$2] < date)
		delete found[$2]
	date_of[$2] = date
	found[$2] = found[$2] " " $1
	commit_at[$2] = commit
}

function take_result(run, result, name,    count, words, i) {
	count = split(name, words, /_|::|\.|\//)
	for (i = 1; i <= count; i++)
		if (words[i] in known) {
			number[run, words[i], result]++
			if (result != "pass")
				example[run, words[i], result] = name
			if (run == "gpu" && date_of[name] >= commit_date[words[i], result]) {
				commit_date[words[i], result] = date_of[name]
				commit_of[words[i], result] = commit
			}
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

function tests(count) {
	return count (count == 1 ? " test" : " tests")
}

function state(id,    reason) {
	reason = out_of_reach(where[id])
	if (number["here", id, "fail"])
		return "FAIL (" example["here", id, "fail"] ")"
	if (number["gpu", id, "fail"])
		return "FAIL on a GPU (" example["gpu", id, "fail"] ", commit " commit_of[id, "fail"] ")"
	if (number["gpu", id, "pass"] && (reason != "" || !number["here", id, "pass"]))
		return "pass on a GPU (" tests(number["gpu", id, "pass"]) ", commit " commit_of[id, "pass"] ")"
	if (reason != "" && number["here", id, "pass"])
		return "out of reach here: " reason ", " tests(number["here", id, "pass"]) " without"
	if (number["here", id, "pass"])
		return "pass (" tests(number["here", id, "pass"]) ")"
	if (where[id] == "doc")
		return id in documented ? "pass (documented)" : "not documented yet"
	if (reason != "")
		return "out of reach here: " reason
	if (number["here", id, "skip"])
		return "skipped (" example["here", id, "skip"] ")"
	return "no test yet"
}

# What GPUs showed, when all pages are read.
function take_pages(    name, count, results, i) {
	for (name in found) {
		commit = commit_at[name]
		count = split(found[name], results, " ")
		for (i = 1; i <= count; i++)
			take_result("gpu", results[i], name)
	}
}

END {
	take_pages()
	for (i = 1; i <= rows; i++) {
		s = state(order[i])
		printf "%-4s %-42s %s\n", order[i], s, text[order[i]]
		kind = s ~ /^FAIL/ ? "fail" : (s ~ /^pass/ ? "pass" : (s ~ /^out/ ? "out" : (s ~ /^skip/ ? "skipped" : "none")))
		total[kind]++
	}
	printf "%d rows: %d pass, %d fail, %d skipped, %d no test yet, %d out of reach here\n", rows, total["pass"], total["fail"],
		total["skipped"], total["none"], total["out"]
	exit total["fail"] > 0
}
