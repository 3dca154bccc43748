# One page for each public call and for each header, into the folder `out`: variables version, date, out.

function begin_page(name, about) {
	self = name
	split("", mentioned)
	page = out "/" name ".3"
	print ".\\\" Made from the comments of the public headers." > page
	request(".TH \"" name "\" \"3\" \"" date "\" \"libsyclclient " version "\" \"libsyclclient\"")
	request(".nh") # names are long, and not to be divided
	request(".ad l")
	section("NAME")
	text_line(code(name) " \\- " escaped(about))
}

# A declaration in lines that are not too long, broken behind parameters.
function wrapped(line, width,   n, i, parts, made, column) {
	if (length(line) <= width)
		return line
	n = split(line, parts, /, /)
	made = parts[1]
	column = length(made)
	for (i = 2; i <= n; i++) {
		if (column + 2 + length(parts[i]) >= width) {
			made = made ",\n    " parts[i]
			column = 4 + length(parts[i])
		} else {
			made = made ", " parts[i]
			column += 2 + length(parts[i])
		}
	}
	return made
}

function code_block(text,   n, i, lines) {
	n = split(text, lines, /\n/)
	request(".nf")
	for (i = 1; i <= n; i++) {
		if (lines[i] == "")
			request(".sp")
		else
			text_line("\\fB" code(lines[i]) "\\fR")
	}
	request(".fi")
}

function definitions(said, what, count,   i) {
	for (i = 1; i <= said[count]; i++) {
		request(".TP")
		if (what == "param")
			text_line("\\fI" code(said[what i "name"]) "\\fR")
		else
			text_line(inline_text(said[what i "name"]))
		fresh = 1
		prose(said[what i] != "" ? said[what i] : "This.")
	}
}

function type_entry(h, i,   n, j, said) {
	if (item_kind[h, i] == "function") {
		paragraph()
		code_block(wrapped(item_text[h, i], 74))
		paragraph()
		take_apart(item_doc[h, i], said)
		prose(said["text"])
		definitions(said, "param", "params")
		if (said["return"] != "") {
			paragraph()
			prose("It returns " lower_first(said["return"]))
		}
		return
	}
	request(".SS " item_kind[h, i] (item_name[h, i] != "" ? " " item_name[h, i] : ""))
	fresh = 1
	prose(item_doc[h, i])
	n = members(item_text[h, i])
	for (j = 1; j <= n; j++) {
		request(".TP")
		text_line("\\fB" code(member[j]) "\\fR")
		fresh = 1
		if (member_doc[j] != "")
			prose(member_doc[j])
		else
			request("\\&")
	}
}

function lower_first(text) {
	return text ~ /^[A-Z][a-z ]/ ? tolower(substr(text, 1, 1)) substr(text, 2) : text
}

function see_also(names, n,   i) {
	section("SEE ALSO")
	for (i = 1; i <= n; i++)
		request(".BR " code(names[i]) " (3)" (i < n ? "," : ""))
}

# Types of the call's own header that its declaration names.
function call_types(name,   n, i, words, h, begun) {
	h = header_of[name]
	split("", type_seen)
	n = split(prototype[name], words, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++) {
		if (words[i] == "" || words[i] in type_seen || type_header[words[i]] != h)
			continue
		if (item_kind[h, type_item[words[i]]] == "handle")
			continue
		type_seen[words[i]] = 1
		if (!begun++)
			section("TYPES")
		type_entry(h, type_item[words[i]])
	}
}

function takes(name, kind,   n, i, words) {
	n = split(prototype[name], words, /[^A-Za-z0-9_]+/)
	for (i = 1; i <= n; i++)
		if (kind == "" ? words[i] in handle : words[i] == kind)
			return 1
	return 0
}

function returns(name, said) {
	section("RETURN VALUE")
	if (prototype[name] !~ /^sycl_result / || said["return"] ~ /^0[ ,]/) {
		prose(said["return"])
	} else {
		text_line("0 (\\fBSYCL_SUCCESS\\fR), or a negative code. A failure leaves the outputs untouched, unless the")
		text_line("description says otherwise. \\fBsycl_get_last_error\\fR(3) gives the detail of a failure.")
	}
	if (prototype[name] !~ /^sycl_result /)
		return
	section("ERRORS")
	definitions(said, "error", "errors")
	if (said["return"] != "" && said["return"] !~ /^0[ ,]/) {
		paragraph()
		prose(said["return"])
	}
	paragraph()
	text_line("\\fBlibsyclclient\\fR(3) lists the codes that every call may return.")
}

function threads(name) {
	section("THREADS")
	if (takes(name, "sycl_handler")) {
		text_line("Any thread may call this; one thread at a time uses a handler.")
		return
	}
	text_line("Any thread may call this at any time, unless the description says otherwise.")
}

function call_page(name,   h, n, i, said, names) {
	h = header_of[name]
	take_apart(doc_of[name], said)
	complete(name, said)
	begin_page(name, purpose(said["text"]))
	section("SYNOPSIS")
	code_block("#include <syclclient.h>\n\n" wrapped(prototype[name], 74))
	section("DESCRIPTION")
	prose(said["text"])
	definitions(said, "param", "params")
	call_types(name)
	returns(name, said)
	threads(name)
	if (said["example"] != "") {
		section("EXAMPLE")
		prose(said["example"])
	}
	section("HISTORY")
	text_line("Since version " said["since"] ".")
	names[n = 1] = "libsyclclient"
	names[++n] = "syclclient-" h
	for (i = 1; i <= items[h]; i++) {
		if (item_kind[h, i] == "call" && item_name[h, i] != name)
			names[++n] = item_name[h, i]
		delete mentioned[item_name[h, i]]
	}
	for (i = 1; i <= calls; i++)
		if (call[i] in mentioned)
			names[++n] = call[i]
	see_also(names, n)
	close(page)
}

# The parts of a header beside its calls. A macro without words of its own belongs to the type
# before it.
function header_types(h,   i, begun) {
	for (i = 1; i <= items[h]; i++) {
		if (item_kind[h, i] !~ /^(struct|enum|function|handle)$/)
			continue
		if (!begun++)
			section("TYPES")
		if (item_kind[h, i] != "handle") {
			type_entry(h, i)
			continue
		}
		request(".TP")
		text_line("\\fB" code(item_text[h, i]) "\\fR")
		fresh = 1
		if (item_doc[h, i] != "")
			prose(item_doc[h, i])
		else
			request("\\&")
	}
}

function header_list(h, kind, title,   i, begun, said) {
	for (i = 1; i <= items[h]; i++) {
		if (item_kind[h, i] != kind)
			continue
		if (!begun++)
			section(title)
		request(".TP")
		if (kind == "call")
			request(".BR " code(item_name[h, i]) " (3)")
		else
			text_line("\\fB" code(kind == "macro" ? item_name[h, i] : item_text[h, i]) "\\fR")
		take_apart(item_doc[h, i], said)
		fresh = 1
		if (kind == "call")
			text_line(inline_text(purpose(said["text"])))
		else if (said["text"] != "")
			prose(said["text"])
		else if (kind == "macro" && item_text[h, i] != "")
			text_line(code(item_text[h, i]))
		else
			request("\\&")
	}
}

function header_page(h,   i, n, names) {
	begin_page("syclclient-" h, purpose(header_doc[h]))
	section("SYNOPSIS")
	code_block("#include <syclclient.h>")
	section("DESCRIPTION")
	prose(header_doc[h])
	for (i = 1; i <= items[h]; i++) {
		if (item_kind[h, i] == "text") {
			paragraph()
			prose(item_text[h, i])
		}
	}
	header_types(h)
	header_list(h, "macro", "MACROS")
	header_list(h, "inline", "INLINE FUNCTIONS")
	header_list(h, "call", "CALLS")
	names[1] = "libsyclclient"
	names[2] = "syclclient-" (h == "types.h" ? "result.h" : "types.h")
	see_also(names, 2)
	close(page)
}

# A call without all that a page needs has none; the test of the pages reports it.
END {
	for (i = 1; i <= headers; i++) {
		h = header[i]
		for (j = 1; j <= items[h]; j++) {
			if (item_kind[h, j] == "handle" && item_text[h, j] ~ /\*/)
				handle[item_name[h, j]] = 1
			if (item_kind[h, j] == "call" && item_name[h, j] in public && doc_of[item_name[h, j]] ~ /@since/)
				call[++calls] = item_name[h, j]
		}
	}
	for (i = 1; i <= calls; i++)
		call_page(call[i])
	for (i = 1; i <= headers; i++)
		header_page(header[i])
	printf "%d calls, %d headers\n", calls, headers
}
