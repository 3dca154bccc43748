# Makes one table of the results of several runs: awk -F '\t' -v history=FILE -f merge.awk TABLE NEW... (history.sh made FILE; results.tsv
# names the columns).
# For each test it keeps the latest result at a commit that is in the history. A skip does not replace a pass or a failure but is kept
# beside it. So is the end of a suite that was killed. But a failure is removed if the test is skipped later on the same GPUs: the test now
# checks for what it needs, and that machine lacks it. Later results at commits outside of the history are kept, too, and do not count. A
# suite that ran to its end replaces all of its earlier results. A test that it does not have any more is removed from the table.
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
