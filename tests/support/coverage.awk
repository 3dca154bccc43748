# For coverage.sh: reads gcov's report on each object, and makes a page. A line or a function counts as run if it ran in any object.

function folder_of(file) {
	sub(/\/[^\/]*$/, "", file)
	return file
}

function percent(part, whole) {
	return whole == 0 ? "-" : sprintf("%.1f %%", 100 * part / whole)
}

# Flushes first, so that earlier output comes before this.
function print_sorted() {
	fflush()
	close(sorted)
}

/^ *-: *0:Source:/ {
	file = $0
	sub(/^ *-: *0:Source:/, "", file)
	is_product = file ~ /^(shared|client\/(ask|cli|exporter|lib)|daemon)\//
	next
}

!is_product { next }

# "function NAME called COUNT returned ..."
$1 == "function" && $3 == "called" {
	if (!((file, $2) in calls))
		functions[file] = functions[file] " " $2
	calls[file, $2] += $4
	next
}

# "COUNT:LINE:TEXT"; nothing is counted where COUNT is "-".
/^ *[0-9#=*-]+: *[0-9]+:/ {
	split($0, field, ":")
	gsub(/ /, "", field[1])
	gsub(/ /, "", field[2])
	if (field[1] == "-" || field[2] == 0)
		next
	line = file ":" field[2]
	if (!(line in ran)) {
		ran[line] = 0
		lines[file]++
	}
	if (field[1] !~ /[#=]/ && ran[line] == 0) {
		ran[line] = 1
		run[file]++
	}
}

END {
	sorted = "sort"
	print "# What the tests run\n\nWritten by `./check.sh --long coverage`: lines of the product's sources, by gcov.\n"
	print "| folder | lines | run | |\n| --- | --- | --- | --- |"
	for (file in lines) {
		all_lines[folder_of(file)] += lines[file]
		all_run[folder_of(file)] += run[file]
		total += lines[file]
		total_run += run[file]
	}
	for (folder in all_lines)
		printf "| `%s` | %d | %d | %s |\n", folder, all_lines[folder], all_run[folder], percent(all_run[folder], all_lines[folder]) | sorted
	print_sorted()
	print "\n## Files with the most lines that no test runs\n\n| file | lines not run | of |\n| --- | --- | --- |"
	sorted = "LC_ALL=C sort -t '|' -k 3,3nr -k 2,2 | head -n 10"
	for (file in lines)
		if (run[file] < lines[file])
			printf "| `%s` | %d | %d |\n", file, lines[file] - run[file], lines[file] | sorted
	print_sorted()
	sorted = "sort"
	print "\n## Files that no test runs\n"
	for (file in lines)
		if (run[file] == 0) {
			printf "* `%s`, %d lines\n", file, lines[file] | sorted
			silent_files++
		}
	print_sorted()
	print "\n## Functions that no test runs, in the other files\n"
	for (file in functions) {
		if (run[file] == 0)
			continue
		count = split(functions[file], name, " ")
		text = ""
		for (i = 1; i <= count; i++)
			if (calls[file, name[i]] == 0) {
				text = text ", `" name[i] "`"
				silent_functions++
			}
		if (text != "")
			printf "* `%s`: %s\n", file, substr(text, 3) | sorted
	}
	print_sorted()
	printf "\n%s of %d lines run; not run: %d files, %d functions of others\n", percent(total_run, total), total, silent_files, silent_functions
	exit total == 0
}
