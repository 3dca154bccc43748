# Prints the output of syclbench --json as a table for readers: awk -f figures.awk FILE... With -v
# tabs=1 it prints lines of figures.tsv, without the columns that identify the run.
function field(name,    at, value) {
	at = index($0, "\"" name "\":")
	if (!at)
		return ""
	value = substr($0, at + length(name) + 3)
	if (substr(value, 1, 1) == "\"") {
		value = substr(value, 2)
		sub(/".*/, "", value)
	} else
		sub(/[,}].*/, "", value)
	return value == "null" ? "" : value
}
function number(text,    n) {
	if (text == "")
		return "-"
	n = text + 0
	return n >= 1000 || n <= -1000 ? sprintf("%.0f", n) : n >= 10 ? sprintf("%.1f", n) : sprintf("%.3f", n)
}
function percent(text) {
	return text == "" ? "-" : sprintf("%.0f %%", text * 100)
}
function plain(text) {
	return text == "-" ? "" : text
}
function print_row(a, b, c, d, e, f, g, h, i) {
	if (tabs)
		printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", a, plain(b), c, plain(d), plain(e), f, g, plain(h), i
	else
		printf "  %-22s %12s %-12s %12s %8s  %-14s %-4s %6s  %s\n", a, b, c, d, e, f, g, h, i
}
BEGIN {
	if (!tabs)
		print_row("name", "value", "unit", "baseline", "ratio", "target", "met", "spread", "note")
}
/^\{/ && field("skipped") != "" {
	print_row(field("row"), "-", "", "-", "-", "", "", "-", "skipped: " field("skipped"))
	next
}
/^\{/ {
	met = field("met")
	print_row(field("name"), number(field("value")), field("unit"), number(field("baseline")), number(field("ratio")),
		field("target"), met == "true" ? "yes" : met == "false" ? "no" : "", percent(field("spread")), field("note"))
}
