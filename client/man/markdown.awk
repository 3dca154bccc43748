# A page of section 7 from a page in Markdown, with roff.awk: variables version, date, out, name, about, leave_out.
# Headings, paragraphs, lists, tables and blocks of code are all that is read. Sections whose heading begins with
# `leave_out` are no part of the page.

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
	say(marked(text))
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
	ask(".TP")
	say(marked(cells[2]))
	say(marked(rest))
}

BEGIN {
	page = out
	print ".\\\" Made from a page in Markdown." > page
	ask(".TH \"" name "\" \"7\" \"" date "\" \"libsyclclient " version "\" \"libsyclclient\"")
	ask(".nh")
	ask(".ad l")
	section("NAME")
	say(code(name) " \\- " about)
	section("DESCRIPTION")
}

/^## / {
	flush()
	skipping = leave_out != "" && index($0, "## " leave_out) == 1
	if (!skipping)
		section(toupper(substr($0, 4)))
	next
}

skipping || /^# / { next }

/^```/ {
	flush()
	if (!in_code) {
		paragraph()
		ask(".nf")
		ask(".RS 4")
	} else {
		ask(".RE")
		ask(".fi")
		fresh = 0
	}
	in_code = !in_code
	next
}

in_code {
	if ($0 == "")
		ask(".sp")
	else
		say("\\fB" code($0) "\\fR")
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
	ask(".IP \\- 2")
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
	ask(".BR sycl_kernel_from_source (3),")
	ask(".BR sycl_kernel_bundle_from_source (3),")
	ask(".BR syclclient\\-kernel.h (3),")
	ask(".BR libsyclclient (3),")
	ask(".BR sycld\\-overview (7)")
}
