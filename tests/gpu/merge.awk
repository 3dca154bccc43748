# Makes one table of results of several runs: awk -F '\t' -v history=FILE -f merge.awk TABLE NEW... (history.sh made FILE; the columns stand
# in results.tsv). Of each test it keeps the youngest result at a commit that is in the history. A skip does not replace a pass or a
# failure, it stands beside it. So does the end of a suite that was killed. But a failure goes when the test is skipped later on the same
# GPUs: the test asks now for what it needs, and that machine lacks it. What is younger and not in the history is kept, too, and counts for
# nothing. A suite that came to its end replaces all that it had before. A test that it has no more is in the table no more.
BEGIN {
	OFS = FS
	while ((getline line <history) > 0) {
		split(line, part, " ")
		if (part[2] == "-")
			is_strange[part[1]] = 1
	}
}
/^#/ {
	if (NR == FNR)
		print
	next
}
{
	split($4, part, " ")
	key = $1 FS $2
	strange = part[1] in is_strange
	kind = strange ? "strange" : ($3 == "skip" || $3 == "killed" ? $3 : "kept")
	if (!strange && $2 == "-" && $3 != "killed" && $5 > whole[$1])
		whole[$1] = $5
	if (!((key, kind) in date) || $5 >= date[key, kind]) {
		date[key, kind] = $5
		text[key, kind] = $0
		result[key, kind] = $3
		gpu[key, kind] = $6
	}
	keys[key] = $1
}
function at(key, kind) {
	return (key, kind) in date ? date[key, kind] : ""
}
function write(key, kind) {
	print text[key, kind] | "LC_ALL=C sort"
}
END {
	for (key in keys) {
		since = whole[keys[key]]
		kept = at(key, "kept")
		skip = at(key, "skip")
		killed = at(key, "killed")
		strange = at(key, "strange")
		if (kept < since && skip < since)
			kept = skip = ""
		if (skip > kept && result[key, "kept"] == "fail" && gpu[key, "kept"] == gpu[key, "skip"])
			kept = ""
		if (kept != "")
			write(key, "kept")
		if (skip > kept)
			write(key, "skip")
		if (killed != "" && killed >= since && killed >= kept)
			write(key, "killed")
		if (strange > kept && strange > skip && strange > killed && strange > since)
			write(key, "strange")
	}
	close("LC_ALL=C sort")
}
