# Prints the table of requirement rows: awk -v gpus=N -v document=FILE -v tests=FILE -v sources=FILE -v history=FILE -f rows.awk rows.txt
# RESULTS [TABLE]
# RESULTS has lines "pass|fail|skip|killed|flaky TESTNAME" of this machine (results.awk, rows.sh). The tests with a row's id in their name
# show the row. TABLE is ../gpu/results.tsv. It shows the rows that need a GPU if this machine has none; a test that passed without one does
# not show them. "killed" stands for every test of a suite that did not end: all their rows fail. "flaky" passed only when run again.
# `tests` (row_tests.txt) has "ROW TEST" for each test that must exist, `sources` for those that do. `history` (history.sh) has "COMMIT
# AGE". A result of a commit that is not in the history does not count.
BEGIN {
	while ((getline line <document) > 0) {
		count = split(line, words, /[^A-Z0-9]+/)
		for (i = 1; i <= count; i++)
			documented[words[i]] = 1
	}
	while ((getline line <sources) > 0)
		exists[line] = 1
	while ((getline line <tests) > 0) {
		split(line, words, " ")
		listed[words[1]]++
		listed_test[words[1], listed[words[1]]] = words[2]
		if (!(words[2] in exists) && !(words[1] in gone))
			gone[words[1]] = words[2]
	}
	while ((getline line <history) > 0) {
		split(line, words, " ")
		age[words[1]] = words[2]
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
	take_result("here", $1, $2, "")
}
file == 3 && !/^#/ && split($0, field, "\t") > 4 {
	take_line(field[1] "::" field[2], field[3], field[4], field[5])
}

# The latest result of a test counts. A skip is no result: the one before it stands.
function take_line(name, result, commit, date) {
	if (date > commit_date[commit])
		commit_date[commit] = date
	if (!is_in_history(commit)) {
		if (result == "pass" && (!(name in elsewhere) || date >= elsewhere_date[name])) {
			elsewhere[name] = commit
			elsewhere_date[name] = date
		}
		return
	}
	if (name in found && (result == "skip" || (found[name] != "skip" && date < date_of[name])))
		return
	if (found[name] == "killed" && date == date_of[name])
		return
	found[name] = result
	date_of[name] = date
	commit_of[name] = commit
}

function is_in_history(commit) {
	sub(/ .*/, "", commit)
	return age[commit] != "-"
}

# "commit X, 3 commits old"
function said_commit(commit,    id, old) {
	id = commit
	sub(/ .*/, "", id)
	old = age[id]
	if (old == "" || old == "?")
		return "commit " commit ", there is no history here to say how old"
	return "commit " commit ", " old (old == 1 ? " commit old" : " commits old")
}

# Finds the device of a suite by its name. "" is no device, or it does not matter.
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

# Prints "on fake, PoCL, CUDA": where tests of the row have passed, always in the same order.
function places_of(id,    count, names, i, said) {
	count = split("fake,double,2 doubles,PoCL,2 PoCL,fake with PoCL,double with PoCL,CUDA,2 GPUs,NVIDIA OpenCL", names, ",")
	for (i = 1; i <= count; i++)
		if ((id, names[i]) in passed_on)
			said = said (said == "" ? "on " : ", ") names[i]
	return said
}

# Returns true if a pass on a GPU shows the row. A pass on another driver of that machine does not. For a row about two GPUs, a pass on one
# does not either.
function shows(row, place) {
	if (place == "NVIDIA OpenCL" || place == "PoCL")
		return 0
	return place == "2 GPUs" || where[row] != "2G"
}

# `commit`: the commit of the run; "" for this machine's results.
function take_result(run, result, name, commit,    count, words, i, row, place, short) {
	place = short = name
	sub(/::.*/, "", place)
	place = place_of(run, place)
	sub(/^[^:]*::/, "", short)
	has_result[name] = has_result[short] = 1
	if (result != "skip")
		has_run[name] = has_run[short] = 1
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

# A pass at a commit that is not in the history is printed and not counted.
function take_elsewhere(name, commit,    count, words, i, place) {
	place = name
	sub(/::.*/, "", place)
	place = place_of("gpu", place)
	count = split(name, words, /_|::|\.|\//)
	for (i = 1; i <= count; i++)
		if (words[i] in known && shows(words[i], place)) {
			number_elsewhere[words[i]]++
			if (commit_date[commit] >= commit_date[commit_elsewhere[words[i]]])
				commit_elsewhere[words[i]] = commit
		}
}

# The example is the latest run's first test by name, whatever the order of the lines.
function is_better_example(key, name, commit) {
	if (!(key in example) || commit == "" || commit_date[commit] > commit_date[example_commit[key]])
		return 1
	return commit == example_commit[key] && name < example[key]
}

# Returns why no machine like this one can show the row, or "".
function out_of_reach(place,    count, ways, i, needed) {
	count = split(place, ways, "/")
	for (i = 1; i <= count; i++) {
		needed = ways[i] ~ /2G/ ? 2 : (ways[i] ~ /G/ ? 1 : 0)
		if (gpus >= needed)
			return ""
	}
	return needed == 2 ? "needs two GPUs" : "needs a GPU"
}

function tests_said(count) {
	return count (count == 1 ? " test" : " tests")
}

# Prints "2 tests, commit A, 1 commit old; 1 test, commit B, 30 commits old": what passed and where, the latest first.
function passed_at(id,    count, list, i, j, swap, said) {
	count = split(commits[id, "pass"], list, ";") - 1 # behind the last one is nothing
	for (i = 2; i <= count; i++)
		for (j = i; j > 1 && commit_date[list[j]] > commit_date[list[j - 1]]; j--) {
			swap = list[j]
			list[j] = list[j - 1]
			list[j - 1] = swap
		}
	for (i = 1; i <= count; i++)
		said = said (i > 1 ? "; " : "") tests_said(number_at[id, "pass", list[i]]) ", " said_commit(list[i])
	return said
}

# Returns "", or how many tests of the row have no result at all, and how many were skipped wherever they ran.
function without_result(id,    i, none, skipped) {
	for (i = 1; i <= listed[id]; i++)
		if (!(listed_test[id, i] in has_result))
			none++
		else if (!(listed_test[id, i] in has_run))
			skipped++
	return of_its(id, none, "no result") of_its(id, skipped, "only skips")
}

function of_its(id, count, what) {
	return count ? ", " count " of its " tests_said(listed[id]) (count == 1 ? " has " : " have ") what : ""
}

function suite_of(name) {
	sub(/::.*/, "", name)
	return name
}

function failure(id) {
	if (id in gone)
		return "FAIL (" gone[id] " is listed and is gone)"
	if (number["here", id, "fail"])
		return "FAIL (" example["here", id, "fail"] ")"
	if (number["here", id, "killed"])
		return "FAIL (" suite_of(example["here", id, "killed"]) " was killed or failed as a whole)"
	if (number["gpu", id, "fail"])
		return "FAIL on a GPU (" example["gpu", id, "fail"] ", " said_commit(example_commit["gpu", id, "fail"]) ")"
	if (number["gpu", id, "killed"])
		return "FAIL on a GPU (" suite_of(example["gpu", id, "killed"]) " was killed or failed as a whole, " \
			said_commit(example_commit["gpu", id, "killed"]) ")"
	return ""
}

function state(id,    reason, said) {
	said = failure(id)
	if (said != "")
		return said
	if (number["here", id, "flaky"])
		return "flaky (" example["here", id, "flaky"] " passed only when run again)"
	reason = out_of_reach(where[id])
	if (number["gpu", id, "pass"] && (reason != "" || !number["here", id, "pass"]))
		return "pass on a GPU (" passed_at(id) without_result(id) ")"
	if (reason != "" && number["here", id, "pass"])
		said = ", " tests_said(number["here", id, "pass"]) " without"
	else if (number["here", id, "pass"])
		return "pass (" tests_said(number["here", id, "pass"]) without_result(id) ")"
	if (where[id] == "doc")
		return id in documented ? "pass (documented)" : "not documented yet"
	if (!listed[id])
		return "no test yet"
	if (number_elsewhere[id])
		said = said ", " tests_said(number_elsewhere[id]) " passed on one at commit " commit_elsewhere[id] ", which is not in the history"
	if (reason != "")
		return "out of reach here: " reason said
	if (number["here", id, "skip"])
		return "skipped (" example["here", id, "skip"] ")"
	return "no result" said without_result(id)
}

END {
	for (name in found)
		take_result("gpu", found[name], name, commit_of[name])
	for (name in elsewhere)
		take_elsewhere(name, elsewhere[name])
	for (i = 1; i <= rows; i++) {
		s = state(order[i])
		printf "%-4s %-42s %s", order[i], s, text[order[i]]
		printf places_of(order[i]) == "" ? "\n" : "\n     %s\n", places_of(order[i])
		kind = s ~ /^no test/ ? "none" : s
		sub(/ .*/, "", kind)
		total[kind]++
	}
	printf "%d rows: %d pass, %d fail, %d flaky, %d skipped, %d no result, %d no test yet, %d out of reach here\n", rows, total["pass"],
		total["FAIL"], total["flaky"], total["skipped"], total["no"], total["none"] + total["not"], total["out"]
	exit total["FAIL"] > 0
}
