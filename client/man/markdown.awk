# A page of section 7 from a page in Markdown, with roff.awk: variables version, date, out, name, about.
# It reads headings, paragraphs, lists, tables and blocks of code, and nothing else.

# `code` and **words** in bold, the rest as it is.
function marked(text,   made, token) {
	made = ""
	while (match(text, /`[^`]+`|\*\*[^*]+\*\*/)) {
		token = substr(text, RSTART, RLENGTH)
		made = made code_free(substr(text, 1, RSTART - 1))
		if (token ~ /^`/)
			token = substr(token, 2, length(token) - 2)
		else
			token = substr(token, 3, length(token) - 4)
		made = made "\\fB" code(token) "\\fR"
		text = substr(text, RSTART + RLENGTH)
	}
	return made code_free(text)
}

function code_free(text) {
	text = escaped(text)
	gsub(/--/, "\\-\\-", text)
	return text
}

# A paragraph or an item that has been collected.
function flush() {
	if (text == "")
		return
	if (!item)
		paragraph()
	text_line(marked(text))
	text = ""
	item = 0
}

function row(line,   n, i, cells, rest) {
	gsub(/\\\|/, "\001", line)
	n = split(line, cells, / *\| */)
	rest = ""
	for (i = 3; i < n; i++)
		rest = rest (i > 3 ? "; " : "") cells[i]
	gsub(/\001/, "|", cells[2])
	gsub(/\001/, "|", rest)
	request(".TP")
	text_line(marked(cells[2]))
	text_line(marked(rest))
}

BEGIN {
	page = out
	print ".\\\" Made from a page in Markdown." > page
	request(".TH \"" name "\" \"7\" \"" date "\" \"libsyclclient " version "\" \"libsyclclient\"")
	request(".nh")
	request(".ad l")
	section("NAME")
	text_line(code(name) " \\- " about)
	section("DESCRIPTION")
}

/^## / {
	flush()
	section(toupper(substr($0, 4)))
	next
}

/^# / { next }

/^```/ {
	flush()
	if (!in_code) {
		paragraph()
		request(".nf")
		request(".RS 4")
	} else {
		request(".RE")
		request(".fi")
		fresh = 0
	}
	in_code = !in_code
	next
}

in_code {
	if ($0 == "")
		request(".sp")
	else
		text_line("\\fB" code($0) "\\fR")
	next
}

/^\|/ {
	flush()
	if (!rows++ || /^\| *---/)
		next # what the columns are
	row($0)
	next
}

{ rows = 0 }

/^$/ {
	flush()
	next
}

/^[*-] / {
	flush()
	request(".IP \\- 2")
	item = 1
	text = substr($0, 3)
	next
}

{
	line = $0
	sub(/^ +/, "", line)
	text = text (text == "" ? "" : " ") line
}

END {
	flush()
	section("SEE ALSO")
	request(".BR sycl_kernel_from_source (3),")
	request(".BR sycl_kernel_bundle_from_source (3),")
	request(".BR syclclient\\-kernel.h (3),")
	request(".BR libsyclclient (3),")
	request(".BR sycld\\-overview (7)")
}
