# Reads the output of `results.awk -v suites=1`, then ctest's JUnit file, then its log (Testing/Temporary/LastTest.log). Prints a row of a
# Markdown table for each test program that ran: passed, failed, skipped, seconds. If the length of a test can be chosen, the last column
# shows how much it did (amount.h, and the seeds of random groups). A test that is no Criterion program counts as one.
FNR == 1 {
	file++
}
file == 1 && split($2, name, "::") > 1 {
	single[name[1]] = 1
}
file == 1 {
	count[name[1], $1, name[2] != ""]++
	next
}
file == 2 && /<testcase / {
	name[1] = $0
	sub(/.* name="/, "", name[1])
	sub(/".*/, "", name[1])
	seconds = $0
	sub(/.* time="/, "", seconds)
	sub(/".*/, "", seconds)
	order[++n] = name[1]
	took[name[1]] = seconds
	next
}
# "12/194 Test: client_random_fake" comes once, before the output of the test.
file == 3 && /^[0-9]+\/[0-9]+ Test: / {
	suite = $3
	next
}
# "random groups: seed 7, 100000 of them", "random threads: seed 7, 100000 groups"
file == 3 && /^random [a-z]+: seed [0-9]+, [0-9]+ / {
	seed = $4 + 0
	kind = $2 == "threads:" ? "groups of several threads" : "groups"
	key = suite SUBSEP kind
	if (!(key in seeds) || seed < first[key])
		first[key] = seed
	last[key] = seed > last[key] ? seed : last[key]
	each[key] = $5 + 0
	seeds[key]++
	next
}
file == 3 && /^amount: [0-9]+ / {
	sub(/^amount: /, "")
	add($0)
}
function add(text) {
	remark[suite] = remark[suite] (remark[suite] ? "; " : "") text
}
END {
	for (key in seeds) {
		split(key, part, SUBSEP)
		suite = part[1]
		add(sprintf("%d %s for each of %d seeds, %.0f to %.0f", each[key], part[2], seeds[key], first[key], last[key]))
	}
	for (i = 1; i <= n; i++) {
		s = single[order[i]] + 0 # a Criterion program's own line in the JUnit file adds nothing
		printf "| %s | %d | %d | %d | %.0f | %s |\n", order[i], count[order[i], "pass", s], count[order[i], "fail", s],
			count[order[i], "skip", s], took[order[i]], remark[order[i]]
	}
}
