# Prints one line "DOCUMENT PATH TYPE VALUE" for each node of a YAML file in block style, which is what the manifests use:
# lists are "PATH[]", a type is map, list, string, int, bool or text ("|"). What it cannot read it reports as type "wrong".
function depth_of(line) { match(line, /^ */); return RLENGTH }
function type_of(value) {
	if (value ~ /^-?[0-9]+$/) return "int"
	if (value == "true" || value == "false") return "bool"
	if (value ~ /^\[.*\]$/) return "list"
	if (value == "{}") return "map"
	return "string"
}
function plain(value) { gsub(/^["']|["']$/, "", value); return value }
function show(path, type, value) { print document, path, type, value }
# Drops what is deeper than the line, and returns the path of what it belongs to.
function parent(depth) {
	while (levels > 0 && at[levels] >= depth) levels--
	return levels ? name[levels] : ""
}
function open(depth, path) { at[++levels] = depth; name[levels] = path }
function member(depth, text,    up, path, value) {
	up = parent(depth)
	if (!match(text, /^[A-Za-z0-9_.\/-]+:( |$)/)) { show(up, "wrong", text); return }
	path = (up == "" ? "" : up ".") substr(text, 1, RLENGTH - (text ~ /^[^ ]*: /) - 1)
	value = substr(text, RLENGTH + 1)
	sub(/^ +/, "", value)
	if (value == "|") { text_depth = depth; show(path, "text", ""); return }
	if (value == "") { open(depth, path); show(path, "open", ""); return }
	show(path, type_of(value), plain(value))
}
BEGIN { document = 1; text_depth = -1 }
text_depth >= 0 && (depth_of($0) > text_depth || /^ *$/) { next }
{ text_depth = -1 }
/^ *(#|$)/ { next }
/^---$/ { document++; levels = 0; next }
{
	line = $0
	sub(/ +#.*$/, "", line)
	depth = depth_of(line)
	text = substr(line, depth + 1)
	if (text ~ /^- /) {
		# A list's items stand deeper than its name, or as deep.
		while (levels > 0 && (at[levels] > depth || (at[levels] == depth && name[levels] ~ /\[\]$/))) levels--
		list = (levels ? name[levels] : "") "[]"
		show(list, "item", "")
		open(depth, list)
		sub(/^- +/, "", text)
		member(length(line) - length(text), text)
		next
	}
	member(depth, text)
}
