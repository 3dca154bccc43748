# Prints tables of figures: awk -v page=PAGE -f benchmarks.awk groups.tsv figures.tsv processor.tsv
# PAGE is "benchmarks" for docs/benchmarks.md, or "readme" for the rows of the project's README.
BEGIN {
	FS = "\t"
	# Figures of builds that had no copy threads by default. syclbench does not measure them any
	# more.
	gone["TG7.up_helped"] = gone["TG7.down_helped"] = 1
	# These have a line of their own without a baseline or a target. All other such figures
	# belong to one that has a line.
	alone["TG6.first_of_user"] = alone["TG10.p50"] = alone["TG10.mps.p50"] = alone["TG12.first"] = 1
}
/^#/ || NF < 3 { next }
FILENAME ~ /groups\.tsv$/ {
	order[++groups] = $1
	title[$1] = $2
	sentence[$1] = $3
	next
}
{
	if ($1 in gone)
		next
	# The latest line of a figure is the last one.
	if (!($1 in line))
		names[++count] = $1
	line[$1] = $0
}
function group_of(name) {
	sub(/\..*/, "", name)
	return name
}
# wrapped TEXT: divides it into lines of at most 80 columns.
function wrapped(text,    words, n, i, out, width) {
	n = split(text, words, " ")
	for (i = 1; i <= n; i++) {
		if (width && width + 1 + length(words[i]) > 80) {
			out = out "\n" words[i]
			width = length(words[i])
		} else {
			out = out (width ? " " : "") words[i]
			width += (width ? 1 : 0) + length(words[i])
		}
	}
	return out
}
function commit_of(text) {
	return substr(text, 1, 7)
}
# "2 x NVIDIA H200" as "2 x H200"
function machine_of(text) {
	gsub(/NVIDIA /, "", text)
	return text
}
function target_of(met, target) {
	if (target == "")
		return ""
	gsub(/<=/, "at most", target)
	gsub(/>=/, "at least", target)
	return target (met == "no" ? ", **missed**" : "")
}
function with_unit(value, unit) {
	return value == "" ? "" : value " " unit
}
function is_gpu(group) {
	return group !~ /^TC/ && group != "TR10"
}
function print_head(group) {
	print "| figure | service | baseline | ratio | target | spread | note |" (is_gpu(group) ? " commit |" : "")
	print "| --- | --- | --- | --- | --- | --- | --- |" (is_gpu(group) ? " --- |" : "")
}
# Prints the GPUs on which a commit was measured, in the order of the commits.
function machines(    i, part, key, said, all) {
	for (i = 1; i <= count; i++) {
		split(line[names[i]], part, "\t")
		key = commit_of(part[10]) " on " machine_of(part[12])
		if (!is_gpu(group_of(names[i])) || key in said)
			continue
		said[key] = 1
		all = all (all ? ", " : "") key
		driver = part[13]
	}
	return all
}
function print_programs(group,    i, part, name) {
	print "| program | GPU | one thread | ratio | size |"
	print "| --- | --- | --- | --- | --- |"
	for (i = 1; i <= count; i++) {
		if (group_of(names[i]) != group)
			continue
		split(line[names[i]], part, "\t")
		name = names[i]
		sub(/^programs\.gpu\./, "", name)
		sub(/; beside one thread of the CPU/, "", part[9])
		printf "| %s | %s | %s | %s | %s |\n", name, with_unit(part[2], part[3]), part[4], part[5], part[9]
	}
	printf "\n%s\n", wrapped("All of them at " commit_of(part[10]) ", " machine_of(part[12]) ".")
}
function print_group(group,    i, part) {
	printf "\n### %s: %s\n\n%s\n\n", group, title[group], wrapped(sentence[group])
	if (group == "programs") {
		print_programs(group)
		return
	}
	print_head(group)
	for (i = 1; i <= count; i++) {
		if (group_of(names[i]) != group)
			continue
		split(line[names[i]], part, "\t")
		if (part[4] == "" && part[6] == "" && !(names[i] in alone))
			continue
		printf "| %s | %s | %s | %s | %s | %s | %s |%s\n", names[i], with_unit(part[2], part[3]), part[4], part[5],
			target_of(part[7], part[6]), part[8], part[9], is_gpu(group) ? " " commit_of(part[10]) " |" : ""
	}
}
# Three digits are enough for readers.
function rounded(value, unit) {
	if (value >= 1000000)
		return sprintf("%.2f M %s", value / 1000000, unit)
	if (value >= 1000)
		return sprintf("%.0f k %s", value / 1000, unit)
	if (value == 0)
		return "0 " unit
	return sprintf(value >= 100 ? "%.0f %s" : "%.1f %s", value, unit)
}
function print_row(label, name, baseline,    part) {
	split(line[name], part, "\t")
	printf "| %s | %s | %s, %s | %s, %s |\n", label, rounded(part[2], part[3]), rounded(part[4], part[3]), baseline,
		machine_of(part[12]), commit_of(part[10])
}
function print_readme() {
	print "| | sycld | compared with | GPU, commit |"
	print "| --- | --- | --- | --- |"
	print_row("submit a kernel and wait, median", "TG1.p50", "direct launch")
	print_row("rate of one client, small kernels", "TG2.rate", "one process, direct")
	print_row("rate of eight clients", "TG3.mps", "eight processes, MPS")
	print_row("device memory of one more client", "TG6.memory", "a process of its own")
	print_row("from a fault to the next kernel", "TG12.again", "MPS")
	print_row("a solver alone, an iteration", "TR1.p50", "CUDA directly")
	print_row("fourteen programs alone, mean time of an iteration", "TR7.mean.p50", "CUDA directly")
	print_row("fourteen programs, each by eight clients, mean rate", "TR8.mean.mps", "eight processes, MPS")
}
function is_drawn(group,    i) {
	for (i = 1; i <= count; i++)
		if (group_of(names[i]) == group)
			return 1
	return 0
}
END {
	if (page == "readme") {
		print_readme()
		exit
	}
	print "# Benchmarks"
	print ""
	print wrapped("Made by `tests/bench/benchmarks.sh`; do not edit. Each line is the youngest measurement of a figure: the median of several runs of the service. Beside it is what a program has without the service, in the same runs on the same machine.")
	print ""
	print wrapped("`ratio` is the median of the runs' own ratios, service by baseline. `spread` is the largest value less the smallest, by the median; a difference smaller than the spread is none. Targets are the project's own. `p50` is the median of single measurements, `p99` the largest of 99 in a hundred. Names in `.mps` and `.processes` are the same work under NVIDIA's MPS, and in processes of their own (time slicing). How to run these measurements: [tests/bench](../tests/bench/README.md). What was learnt from them: [performance notes](performance-notes.md). Figures of earlier commits: `tests/gpu/figures.tsv`.")
	print ""
	print wrapped("Rows from TG1 to TG15 measure single steps, rows from TR1 on real programs. Why a target is missed, as far as that is known: [performance notes](performance-notes.md).")
	print "\n## On a GPU"
	print ""
	machine_list = machines()
	print wrapped("Commits and GPUs: " machine_list "; driver " driver ".")
	for (i = 1; i <= groups; i++)
		if (is_gpu(order[i]) && is_drawn(order[i]))
			print_group(order[i])
	print "\n## On a processor"
	print ""
	split(line["TC1.pinned.p50"], part, "\t")
	print wrapped("PoCL as the device; " part[12] ", " part[11] ", commit " commit_of(part[10]) ".")
	for (i = 1; i <= groups; i++)
		if (!is_gpu(order[i]) && is_drawn(order[i]))
			print_group(order[i])
}
