# The table of requirement rows: awk -v gpus=N -v document=FILE -f rows.awk rows.txt RESULTS [LAST-RUN.md ...]
# RESULTS has lines "pass|fail|skip TESTNAME" (results.awk). A row is shown by the tests that carry its id in their name.
# LAST-RUN.md is what gpu/run.sh wrote: such lines between ```results and ```, and the lines "| date | TIME |" and
# "| commit | ID |". It shows the rows that need a GPU where there is none; a test that passed without one does not show them.
# Of a test that several pages tell of, the youngest page counts. A pass is told with the commit of the page that has it: a suite that
# a younger page did not get to the end of, or not to at all, has passed there, and not at the younger page's commit.
BEGIN {
	while ((getline line <document) > 0) {
		count = split(line, words, /[^A-Z0-9]+/)
		for (i = 1; i <= count; i++)
			documented[words[i]] = 1
	}
}
FNR == 1 {
	file = FILENAME == ARGV[1] ? 1 : (FILENAME == ARGV[2] ? 2 : 3)
	in_results = 0
	commit = date = ""
}
file == 1 && /^[A-Z][0-9]+ \|/ {
	split($0, part, / \| /)
	order[++rows] = part[1]
	known[part[1]] = 1
	where[part[1]] = part[3]
	text[part[1]] = part[4]
}
file == 2 {
	take_result("here", $1, $2, "")
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
	if (commit == "")
		commit = "unknown"
	found[$2] = found[$2] $1 ";" commit ";"
	if (!(commit in commit_date) || commit_date[commit] < date)
		commit_date[commit] = date
}

# On what a suite runs, by its name: "" is no device, or does not matter.
function place_of(run, suite) {
	if (run == "gpu")
		return suite ~ /_together$/ ? "2 GPUs" : (suite ~ /_nvidia$/ ? "NVIDIA OpenCL" : (suite ~ /_pocl$/ ? "PoCL" : "CUDA"))
	if (suite ~ /_both$|^client_backends$/)
		return "fake with PoCL"
	if (suite ~ /_double_cpu$/)
		return "double with PoCL"
	if (suite ~ /_two_doubles$|programs_cuda_together/)
		return "2 doubles"
	if (suite ~ /double|cuda/)
		return "double"
	if (suite ~ /_two_cpus$|programs_opencl_together/)
		return "2 PoCL"
	if (suite ~ /_cpu$|_random_all$|opencl|embedded/)
		return "PoCL"
	return suite ~ /fake|^client_|^session_|^unit_scheduler|^unit_engine|^hostile/ ? "fake" : ""
}

# "on fake, PoCL, CUDA": where tests of the row have passed, always in the same order.
function places_of(id,    count, names, i, said) {
	count = split("fake,double,2 doubles,PoCL,2 PoCL,fake with PoCL,double with PoCL,CUDA,2 GPUs,NVIDIA OpenCL", names, ",")
	for (i = 1; i <= count; i++)
		if ((id, names[i]) in passed_on)
			said = said (said == "" ? "on " : ", ") names[i]
	return said
}

# Does a pass on a GPU show the row? Not one on other drivers that the machine has, and of a row for two GPUs alone not one on a single GPU.
function shows(row, place) {
	if (place == "NVIDIA OpenCL" || place == "PoCL")
		return 0
	return place == "2 GPUs" || where[row] != "2G"
}

# `commit`: of the page that tells of it, "" of this machine's.
function take_result(run, result, name, commit,    count, words, i, row, place) {
	place = name
	sub(/::.*/, "", place)
	place = place_of(run, place)
	count = split(name, words, /_|::|\.|\//)
	for (i = 1; i <= count; i++) {
		row = words[i]
		if (!(row in known))
			continue
		if (result == "pass" && place != "")
			passed_on[row, place] = 1
		if (run == "gpu" && result == "pass" && !shows(row, place))
			continue
		number[run, row, result]++
		if (run == "gpu" && !number_at[row, result, commit]++)
			commits[row, result] = commits[row, result] commit ";"
		if (result != "pass" && is_better_example(run SUBSEP row SUBSEP result, name, commit)) {
			example[run, row, result] = name
			example_commit[run, row, result] = commit
		}
	}
}

# The youngest page's, of that the first by name, whatever the order in which they come.
function is_better_example(key, name, commit) {
	if (!(key in example) || commit == "" || commit_date[commit] > commit_date[example_commit[key]])
		return 1
	return commit == example_commit[key] && name < example[key]
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

# "2 tests, commit A; 1 test, commit B": what passed and where, the youngest commit first.
function passed_at(id,    count, list, i, j, swap, said) {
	count = split(commits[id, "pass"], list, ";") - 1 # behind the last one is nothing
	for (i = 2; i <= count; i++)
		for (j = i; j > 1 && commit_date[list[j]] > commit_date[list[j - 1]]; j--) {
			swap = list[j]
			list[j] = list[j - 1]
			list[j - 1] = swap
		}
	for (i = 1; i <= count; i++)
		said = said (i > 1 ? "; " : "") tests(number_at[id, "pass", list[i]]) ", commit " list[i]
	return said
}

function state(id,    reason) {
	reason = out_of_reach(where[id])
	if (number["here", id, "fail"])
		return "FAIL (" example["here", id, "fail"] ")"
	if (number["gpu", id, "fail"])
		return "FAIL on a GPU (" example["gpu", id, "fail"] ", commit " example_commit["gpu", id, "fail"] ")"
	if (number["gpu", id, "pass"] && (reason != "" || !number["here", id, "pass"]))
		return "pass on a GPU (" passed_at(id) ")"
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
		count = split(found[name], results, ";")
		for (i = 1; i < count; i += 2)
			take_result("gpu", results[i], name, results[i + 1])
	}
}

END {
	take_pages()
	for (i = 1; i <= rows; i++) {
		s = state(order[i])
		printf "%-4s %-42s %s", order[i], s, text[order[i]]
		printf places_of(order[i]) == "" ? "\n" : "\n     %s\n", places_of(order[i])
		kind = s ~ /^FAIL/ ? "fail" : (s ~ /^pass/ ? "pass" : (s ~ /^out/ ? "out" : (s ~ /^skip/ ? "skipped" : "none")))
		total[kind]++
	}
	printf "%d rows: %d pass, %d fail, %d skipped, %d no test yet, %d out of reach here\n", rows, total["pass"], total["fail"],
		total["skipped"], total["none"], total["out"]
	exit total["fail"] > 0
}
