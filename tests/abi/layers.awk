# For layers.sh. Reads lines "file PATH", "include FILE LINE < PATH" and "symbol FILE TYPE NAME".

function parent(path) {
	return sub(/\/[^\/]*$/, "", path) ? path : ""
}

# Returns the nearest folder, or the file itself, that has a rule.
function room_of(path) {
	while (path != "" && !(path in rule))
		path = parent(path)
	return path
}

# Adds the folders that `room` may use: the words of its rule, and those of the sibling folders
# among them.
function add_allowed(room, from,    words, count, i) {
	count = split(rule[from], words, " ")
	for (i = 1; i <= count; i++) {
		if ((room, words[i]) in allowed)
			continue
		allowed[room, words[i]] = 1
		if (words[i] in rule && parent(words[i]) != "" && parent(words[i]) == parent(from))
			add_allowed(room, words[i])
	}
}

function read_rules(    line, colon, room) {
	while ((getline line <rules) > 0) {
		if (line ~ /^circle /) {
			split(line, word, " ")
			limit[word[2]] = word[3]
		} else if (line !~ /^#/ && (colon = index(line, ": "))) {
			rule[substr(line, 1, colon - 1)] = substr(line, colon + 2)
		}
	}
	for (room in rule) {
		allowed[room, room] = 1
		add_allowed(room, room)
	}
	while ((getline line <exceptions) > 0)
		is_exception[line] = 1
}

function library(path) {
	if (path == "uv.h") return "libuv"
	if (path ~ /^nng\//) return "nng"
	if (path == "ini.h") return "inih"
	if (path == "jansson.h") return "jansson"
	if (path == "microhttpd.h") return "microhttpd"
	if (path ~ /^slurm\//) return "slurm"
	if (path == "mpi.h") return "mpi"
	if (path ~ /^systemd\//) return "systemd"
	if (path ~ /^CL\//) return "opencl"
	if (path ~ /^(cuda|nvrtc|nvml|cudart|cublas)/) return "cuda"
	if (path == "xxhash.h") return "xxhash"
	if (path == "png.h") return "png"
	if (path ~ /curses/) return "ncurses"
	if (path ~ /^protobuf-c\//) return "protobuf-c"
	if (path ~ /^syclclient\//) return "include" # made by the build
	if (path ~ /\.pb-c\.h$/) return "proto"
	if (path ~ /^(stddef|stdint|stdbool)\.h$/) return "standard"
	return "libc"
}

# A header is known by each end of its path: "scheduler/task.h", "ring.h".
function add_header(path,    end) {
	end = path
	do
		headers[end] = headers[end] " " path
	while (sub(/^[^\/]*\//, "", end))
}

function common_length(a, b,    i) {
	for (i = 1; substr(a, i, 1) == substr(b, i, 1); i++)
		;
	return i
}

# Finds the header that `file` includes by `path`. It is beside the file, or the nearest with that name; of two at the same distance it is
# the one with the shorter path. In <> only public ones belong to the project.
function header_for(file, bracket, path,    list, count, i, best) {
	if (bracket == "<" && path !~ /^syclclient[\/.]/)
		return ""
	if ((parent(file) "/" path) in is_file)
		return parent(file) "/" path
	count = split(headers[path], list, " ")
	for (i = 1; i <= count; i++)
		if (best == "" || common_length(file, list[i]) > common_length(file, best) ||
		    (common_length(file, list[i]) == common_length(file, best) && length(list[i]) < length(best)))
			best = list[i]
	return best
}

function refuse(file, what, text) {
	if (write) {
		print "exception " file " " what
	} else if ((file " " what) in is_exception) {
		occurs[file " " what] = 1
	} else {
		print text
		bad++
	}
}

function check_include(file, line, bracket, path,    room, header, origin) {
	room = room_of(file)
	header = header_for(file, bracket, path)
	origin = header != "" ? room_of(parent(header)) : library(path)
	includes++
	if (origin == "standard" || (room, origin) in allowed)
		return
	if (header ~ /^daemon\/backends\/(backend|backend_sensors|surprise|vendor_role)\.h$/ && (room, substr(header, 17)) in allowed)
		return
	refuse(file, path, file ":" line ": " room " may not include <" path "> (" origin ")")
}

# A component is the outermost folder that has a limit for its circles.
function component_of(file,    folder, outermost) {
	for (folder = file; folder != ""; folder = parent(folder))
		if (folder in limit)
			outermost = folder
	return outermost
}

# Returns the innermost folder with a limit that contains all of `files`.
function home_of_circle(files,    list, count, i, folder) {
	count = split(files, list, " ")
	folder = list[1]
	for (i = 1; i <= count; i++)
		while (index(list[i], folder "/") != 1 || !(folder in limit))
			folder = parent(folder)
	return folder
}

# Returns the file that defines `name` for `file`: one of its own component, if there is one.
function definer_of(file, name,    list, count, i) {
	count = split(definers[name], list, " ")
	for (i = 1; i <= count; i++)
		if (component_of(list[i]) == component_of(file))
			return list[i]
	return ""
}

function check_symbol(file, name,    other, room) {
	other = definer_of(file, name)
	if (other == "" || other == file || component_of(file) == "")
		return
	if (!((file, other) in is_edge)) {
		is_edge[file, other] = 1
		edges[file] = edges[file] " " other
	}
	room = room_of(file)
	if (!((room, room_of(other)) in allowed))
		refuse(file, name, file ": " room " may not use " name "() of " other)
}

# Tarjan's algorithm: stores the files of each circle in `circle`.
function visit(node,    list, count, i, members, size, home) {
	low[node] = seen[node] = ++clock
	stack[++depth] = node
	is_open[node] = 1
	count = split(edges[node], list, " ")
	for (i = 1; i <= count; i++) {
		if (!(list[i] in seen))
			visit(list[i])
		if (is_open[list[i]] && low[list[i]] < low[node])
			low[node] = low[list[i]]
	}
	if (low[node] != seen[node])
		return
	do {
		is_open[stack[depth]] = 0
		members = members " " stack[depth]
		size++
	} while (stack[depth--] != node)
	if (size == 1)
		return
	home = home_of_circle(members)
	if (size > largest[home]) {
		largest[home] = size
		circle[home] = members
	}
}

function check_circles(    node, folder) {
	for (node in edges)
		if (!(node in seen))
			visit(node)
	for (folder in limit) {
		if (write) {
			print "circle " folder " " largest[folder] + 0
			continue
		}
		printf "circle of %s: %d files, at most %d\n", folder, largest[folder], limit[folder]
		if (largest[folder] > limit[folder]) {
			print "too large:" circle[folder]
			bad++
		}
	}
}

# A file without an object is not checked.
function check_exceptions(    line, word) {
	for (line in is_exception) {
		split(line, word, " ")
		if (line in occurs || (word[2] !~ /\.h$/ && !(word[1] in has_object)))
			continue
		if (word[2] !~ /\.h$/ && (word[1], word[2]) in is_used && definer_of(word[1], word[2]) == "")
			continue
		print "layers_exceptions.txt: occurs no more: " line
		bad++
	}
}

function check_rules(    room) {
	for (room in rule)
		if (!(room in is_used_rule)) {
			print "layers.txt: no file is in " room
			bad++
		}
}

BEGIN { read_rules() }

$1 == "file" {
	is_file[$2] = 1
	files++
	is_used_rule[room_of($2)] = 1
	if (room_of($2) == "") {
		print $2 ": its folder has no rule in layers.txt"
		bad++
	}
	if ($2 ~ /\.h$/)
		add_header($2)
}

$1 == "include" {
	include_file[++include_count] = $2
	include_line[include_count] = $3
	include_bracket[include_count] = $4
	include_path[include_count] = $5
}

# A build folder may contain objects of removed files. The C library's abort() is ignored, because the engine defines its own.
$1 == "symbol" && $2 in is_file && $4 != "abort" {
	has_object[$2] = 1
	if ($3 == "U") {
		if (!(($2, $4) in is_used)) {
			is_used[$2, $4] = 1
			use_file[++use_count] = $2
			use_name[use_count] = $4
		}
	} else if (!(($2, $4) in is_defined)) {
		is_defined[$2, $4] = 1
		definers[$4] = definers[$4] " " $2
	}
}

END {
	for (i = 1; i <= include_count; i++)
		check_include(include_file[i], include_line[i], include_bracket[i], include_path[i])
	for (i = 1; i <= use_count; i++)
		check_symbol(use_file[i], use_name[i])
	if (symbols)
		check_circles()
	if (write)
		exit 0
	check_exceptions()
	check_rules()
	printf "%d files, %d includes, %d uses of symbols, %d wrong\n", files, includes, use_count, bad
	exit bad > 0 || files == 0 || includes == 0 || (symbols && use_count == 0)
}
