# Takes the text of a comment apart.

# Takes a comment apart into `said`: text, parameters, results with an error's code, return, since, example.
function take_apart(doc, said,   n, i, lines, line, at) {
	split("", said)
	said["params"] = said["errors"] = 0
	if (match(doc, /@since[ \n]+[0-9.]*[0-9]/)) {
		said["since"] = substr(doc, RSTART, RLENGTH)
		sub(/@since[ \n]+/, "", said["since"])
		doc = substr(doc, 1, RSTART - 1) substr(doc, RSTART + RLENGTH)
	}
	at = "text"
	n = split(doc, lines, /\n/)
	for (i = 1; i <= n; i++) {
		line = lines[i]
		if (line ~ /^ *@param/)
			at = begin_param(line, said)
		else if (line ~ /^ *@retval/)
			at = begin_error(line, said)
		else if (line ~ /^ *@return/) {
			at = "return"
			sub(/^ *@return */, "", line)
			said[at] = line
		} else if (line ~ /^ *@example/) {
			at = "example"
		} else {
			if (at != "text")
				sub(/^ +/, "", line)
			said[at] = said[at] (said[at] == "" ? "" : "\n") line
		}
	}
}

function begin_param(line, said,   at, name) {
	at = "param" ++said["params"]
	sub(/^ *@param(\[[a-z,]+\])? +/, "", line)
	name = line
	sub(/ .*/, "", name)
	said[at "name"] = name
	said[at] = substr(line, length(name) + 1)
	sub(/^ +/, "", said[at])
	return at
}

function begin_error(line, said,   at) {
	at = "error" ++said["errors"]
	sub(/^ *@retval +/, "", line)
	match(line, /^[A-Z0-9_]+(, [A-Z0-9_]+)*/)
	said[at "name"] = substr(line, 1, RLENGTH)
	said[at] = substr(line, RLENGTH + 1)
	sub(/^ +/, "", said[at])
	return at
}

# The names of the parameters in a declaration, in their order, into `names`, and which of them are handles; returns how many.
function parameters(declared, names, is_handle,   n, i, type) {
	sub(/^[^(]*\(/, "", declared)
	sub(/\)[^)]*$/, "", declared)
	n = declared == "void" || declared == "" ? 0 : split(declared, names, /, */)
	for (i = 1; i <= n; i++) {
		type = names[i]
		sub(/ .*/, "", type)
		is_handle[i] = type in handle && names[i] !~ /\*/
		sub(/\[.*/, "", names[i])
		sub(/.*[ *]/, "", names[i])
	}
	return n
}

# The text on a parameter from the comment of a call, or from that of another call which it names;
# "" if neither has one.
function described(call, name, depth,   said, i, text) {
	take_apart(doc_of[call], said)
	for (i = 1; i <= said["params"]; i++)
		if (said["param" i "name"] == name)
			return said["param" i]
	text = said["text"] " " said["return"]
	while (depth > 0 && match(text, /sycl_[a-z0-9_]+/)) {
		call = substr(text, RSTART, RLENGTH)
		text = substr(text, RSTART + RLENGTH)
		if ((call in doc_of) && (said["found"] = described(call, name, depth - 1)) != "")
			return said["found"]
	}
	return ""
}

# The parameters of a call in the order of its declaration. Each has its description from here, or from a call that is like it. What is said
# of a handle holds for its own call.
function complete(call, said,   n, i, names, is_handle, text, number) {
	n = parameters(prototype[call], names, is_handle)
	number = 0
	for (i = 1; i <= n; i++)
		text[i] = described(call, names[i], is_handle[i] ? 0 : 3)
	for (i = 1; i <= n; i++)
		if (text[i] != "") {
			said["param" ++number "name"] = names[i]
			said["param" number] = text[i]
		}
	said["params"] = number
}

function first_sentence(text,   from, rest, at) {
	sub(/^[ \n]+/, "", text)
	if ((at = index(text, "\n\n")) > 0)
		text = substr(text, 1, at - 1)
	text = one_line(text)
	from = 0
	rest = text
	while (match(rest, /[.?] /)) {
		from += RSTART
		if (substr(text, 1, from) !~ /(e\.g|i\.e)\.$/)
			return substr(text, 1, from)
		rest = substr(text, from + 1)
	}
	return text
}

# The first sentence as one says what a thing is: no full stop, not too long.
function purpose(text,   at) {
	text = first_sentence(text)
	gsub(/ \([^()]*\.h\)/, "", text)
	gsub(/`/, "", text)
	sub(/\.$/, "", text)
	if (length(text) > 80 && (at = match(substr(text, 14), /[a-z0-9)](;|:|,| \() ?/)) > 0)
		text = substr(text, 1, 13 + at)
	if (text ~ /^[A-Z][a-z ]/)
		text = tolower(substr(text, 1, 1)) substr(text, 2)
	return text
}

# A struct's or an enum's members: member[1..], member_doc[1..]; returns how many.
function members(text,   n, last, separator, to, note, before) {
	separator = text ~ /^(typedef )?enum/ ? "," : ";"
	text = substr(text, index(text, "{") + 1)
	sub(/\}[^}]*$/, "", text)
	n = 0
	before = ""
	split("", member)
	split("", member_doc)
	for (;;) {
		sub(/^[ \t\n]+/, "", text)
		if (text == "")
			return n
		if (text ~ /^\/\*/) {
			to = index(text, "*/")
			note = substr(text, 1, to - 1)
			text = substr(text, to + 2)
			last = note ~ /^\/\*\*</
			sub(/^\/\*+<?/, "", note)
			gsub(/\n[ \t]*\*?/, " ", note)
			if (last)
				member_doc[n] = member_doc[n] (member_doc[n] != "" ? "\n" : "") one_line(note)
			else
				before = one_line(note)
			continue
		}
		to = index(text, separator)
		last = index(text, "/*")
		if (to == 0 || (last > 0 && last < to))
			to = last > 0 ? last : length(text) + 1
		member[++n] = one_line(substr(text, 1, to - 1))
		member_doc[n] = before
		before = ""
		text = substr(text, to)
		if (substr(text, 1, 1) == separator)
			text = substr(text, 2)
	}
}
