# Reads the symbol map and then the public headers, for pages.awk:
#   public[NAME]             a public call, of the map
#   header_of[NAME]          the header that declares the call NAME
#   doc_of[NAME]             its comment, lines without the stars
#   prototype[NAME]          its declaration in one line
#   headers, header[1..]     names of headers, "queue.h"; header_doc[H]: the comment at its top
#   items[H], item_kind[H, I], item_name[H, I], item_doc[H, I], item_text[H, I]
#                            what H has, in its order: call, struct, enum, function (a type), inline, macro, text
#   type_item[NAME]          I of a struct, an enum or a function type; type_header[NAME]: its H

function add_item(kind, name, text) {
	items[H]++
	item_kind[H, items[H]] = kind
	item_name[H, items[H]] = name
	item_text[H, items[H]] = text
	item_doc[H, items[H]] = pending
	pending = ""
}

# The text of a comment's line, without the marks of a comment.
function comment_line(line) {
	sub(/^[ \t]*\/\*\*?</, "", line)
	sub(/^[ \t]*\/\*\*?/, "", line)
	sub(/\*\/[ \t]*$/, "", line)
	sub(/^ \*/, "", line)
	sub(/^ /, "", line)
	sub(/[ ]+$/, "", line)
	return line
}

function end_comment() {
	state = ""
	if (comment ~ /SPDX-License|clang-format/)
		return
	if (documents && comment ~ /^[ \n]*@file/) {
		sub(/^[ \n]*@file [^ ]+ /, "", comment)
		header_doc[H] = comment
	} else if (documents) {
		pending = comment
	} else {
		pending = ""
		add_item("text", "", comment)
	}
}

# A declaration without its comments.
function bare(text,   from, to, left) {
	left = ""
	while ((from = index(text, "/*")) > 0) {
		to = index(substr(text, from), "*/")
		if (to == 0)
			return left substr(text, 1, from - 1) "{" # not whole yet
		left = left substr(text, 1, from - 1)
		text = substr(text, from + to + 1)
	}
	return left text
}

function one_line(text) {
	gsub(/[ \t\n]+/, " ", text)
	sub(/^ /, "", text)
	sub(/ $/, "", text)
	return text
}

function is_whole(text,   opened, closed, plain) {
	plain = bare(text)
	opened = gsub(/\{/, "{", plain)
	closed = gsub(/\}/, "}", plain)
	if (opened != closed)
		return 0
	return plain ~ /^static inline/ ? opened > 0 : plain ~ /;[ \t\n]*$/
}

function word_before(text, mark,   n, words) {
	text = substr(text, 1, index(text, mark) - 1)
	n = split(text, words, /[ *]+/)
	return words[n] != "" ? words[n] : words[n - 1]
}

# The name of a type: behind the closing brace, or else before the opening one.
function type_name(plain,   tail) {
	tail = plain
	sub(/.*\}/, "", tail)
	gsub(/[ ;]/, "", tail)
	return tail != "" ? tail : word_before(plain, "{")
}

function end_declaration(   plain, name, kind) {
	state = ""
	plain = one_line(bare(declaration))
	if (plain ~ /^SYCL_API/) {
		sub(/^SYCL_API /, "", plain)
		name = word_before(plain, "(")
		header_of[name] = H
		doc_of[name] = pending
		prototype[name] = plain
		add_item("call", name, plain)
	} else if (plain ~ /^static inline/) {
		sub(/ ?\{.*/, ";", plain)
		sub(/^static inline /, "", plain)
		add_item("inline", word_before(plain, "("), plain)
	} else if (plain ~ /\{/) {
		kind = plain ~ /^(typedef )?enum/ ? "enum" : "struct"
		name = type_name(plain)
		if (name == "enum")
			name = ""
		add_item(kind, name, declaration)
		type_item[name] = items[H]
		type_header[name] = H
	} else {
		kind = plain ~ /\(/ ? "function" : "handle"
		name = kind == "function" ? word_before(plain, "(") : word_before(plain, ";")
		add_item(kind, name, plain)
		type_item[name] = items[H]
		type_header[name] = H
	}
}

function end_macro(   name, value) {
	state = ""
	gsub(/\\\n/, " ", declaration)
	sub(/^#(cmake)?define[ \t]+/, "", declaration)
	value = ""
	if (match(declaration, /\/\*\*<.*\*\//)) {
		pending = comment_line(substr(declaration, RSTART, RLENGTH))
		declaration = substr(declaration, 1, RSTART - 1)
	}
	name = declaration
	if (match(declaration, /^[A-Za-z0-9_]+(\([^)]*\))?/))
		name = substr(declaration, 1, RLENGTH)
	value = one_line(substr(declaration, length(name) + 1))
	if (name ~ /(_H|_DECLS|_CAST\([a-z, ]*\)|^SYCL_API)$/ || (H, name) in defined)
		return
	defined[H, name] = 1 # its other form, for C++ or for C, needs no entry
	add_item("macro", name, value ~ /@/ ? "" : value)
}

FILENAME ~ /\.map$/ {
	if ($1 ~ /^sycl_[a-z0-9_]+;$/)
		public[substr($1, 1, length($1) - 1)] = 1
	next
}

FNR == 1 {
	H = FILENAME
	sub(/.*\//, "", H)
	sub(/\.in$/, "", H)
	header[++headers] = H
	known_header[H] = 1
	state = pending = ""
}

state == "" && /^#(cmake)?define/ {
	state = "macro"
	declaration = ""
}

state == "macro" {
	declaration = declaration $0 "\n"
	if ($0 !~ /\\$/)
		end_macro()
	next
}

state == "" && /^\/\*/ {
	state = "comment"
	documents = /^\/\*\*/
	comment = ""
}

state == "comment" {
	comment = comment comment_line($0) "\n"
	if (/\*\//)
		end_comment()
	next
}

state == "" && /^(SYCL_API|typedef|struct|enum|static inline)/ {
	state = "declaration"
	declaration = ""
}

state == "declaration" {
	declaration = declaration $0 "\n"
	if (is_whole(declaration))
		end_declaration()
}
