# Text of comments as roff, in the macros of man(7).

# Characters that mean something to roff; a line that begins with a request's character is guarded by text_line().
function escaped(text,   n, i, parts, made) {
	n = split(text, parts, /\\/)
	made = parts[1]
	for (i = 2; i <= n; i++)
		made = made "\\e" parts[i]
	return made
}

function code(text) {
	text = escaped(text)
	gsub(/-/, "\\-", text)
	return text
}

function text_line(line) {
	if (line ~ /^[.']/)
		line = "\\&" line
	print line > page
	fresh = 0
}

# A macro's line; arguments are put into quotes by the caller.
function request(line) {
	print line > page
}

function section(title) {
	request(".SH " title)
	fresh = 1
}

# A new paragraph, but for the first one of a section or an item.
function paragraph() {
	if (!fresh)
		request(".PP")
	fresh = 1
}

# One word of a text: calls and headers are references, constants are bold.
function word(name, rest) {
	if (name in public) {
		if (name == self)
			return "\\fB" name "\\fR"
		mentioned[name] = 1
		return "\\fB" name "\\fR" (rest ~ /^\(/ ? "" : "(3)")
	}
	if (name in known_header)
		return "\\fBsyclclient\\-" name "\\fR(3)"
	if (name ~ /^(SYCL|CL|CUDA)_[A-Z0-9_]+$/ || name ~ /^sycl_[a-z0-9_]+$/)
		return "\\fB" name "\\fR"
	return name
}

function inline_text(line,   made, token, rest) {
	made = ""
	while (match(line, /`[^`]+`|[A-Za-z_][A-Za-z0-9_]*(\.h)?/)) {
		token = substr(line, RSTART, RLENGTH)
		rest = substr(line, RSTART + RLENGTH)
		made = made escaped(substr(line, 1, RSTART - 1))
		if (token ~ /^`/)
			made = made "\\fI" code(substr(token, 2, length(token) - 2)) "\\fR"
		else
			made = made word(token, rest)
		line = rest
	}
	made = made escaped(line)
	gsub(/--/, "\\-\\-", made) # an option's
	return made
}

function table_row(line, heads,   n, i, cells, sentence) {
	n = split(line, cells, /[ ]*\|[ ]*/)
	if (line ~ /---/)
		return
	if (!heads["count"]) {
		for (i = 2; i < n; i++)
			heads[i] = cells[i]
		heads["count"] = n - 2
		return
	}
	request(".TP")
	text_line(inline_text(cells[2]))
	sentence = ""
	for (i = 3; i < n; i++)
		sentence = sentence (i > 3 ? "; " : "") heads[i] ": " inline_text(cells[i])
	text_line(sentence ".")
}

# Leave what the line does not belong to: "list", "code" or "table".
function change(to) {
	if (mode == to)
		return
	if (mode == "code") {
		request(".fi")
		request(".RE")
	}
	if (to == "" && mode != "") {
		request(".PP")
		fresh = 1
	}
	if (to == "code") {
		if (!fresh)
			request(".PP")
		request(".nf")
		request(".RS 4")
	}
	mode = to
}

# A comment's lines: paragraphs, lists with "- ", tables, and code, which is indented by a tab.
function prose(text,   n, i, lines, line, gap, heads) {
	n = split(text, lines, /\n/)
	mode = ""
	gap = 0
	heads["count"] = 0
	for (i = 1; i <= n; i++) {
		line = lines[i]
		if (line ~ /^[ \t]*$/) {
			gap = 1
			continue
		}
		if (line ~ /^\t/) {
			if (mode == "code" && gap)
				request(".sp")
			change("code")
			text_line(code(substr(line, 2)))
		} else if (line ~ /^\|/) {
			change("table")
			table_row(line, heads)
		} else if (line ~ /^- /) {
			change("list")
			request(".IP \\- 2")
			text_line(inline_text(substr(line, 3)))
		} else if (mode == "list" && line ~ /^  /) {
			text_line(inline_text(substr(line, 3)))
		} else {
			if (mode == "" && gap)
				paragraph()
			change("")
			sub(/^ +/, "", line)
			text_line(inline_text(line))
		}
		gap = 0
	}
	if (mode == "code") {
		request(".fi")
		request(".RE")
	}
	mode = ""
}
