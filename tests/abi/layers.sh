#!/bin/sh
# Which folder may include what: layers.sh PROJECT-FOLDER
# Prints each include that crosses a layer; exit 0 when there is none.
set -u
cd "$1" || exit 1
# shellcheck disable=SC2016  # awk's dollars
find include shared daemon client -name '*.[ch]' | sort | xargs awk '
# Own headers are named by their folder, others by their library; what is in no list is the C library or Linux.
function library(path) {
	if (path == "uv.h") return "libuv"
	if (path ~ /^nng\//) return "nng"
	if (path == "ini.h") return "inih"
	if (path == "jansson.h") return "jansson"
	if (path ~ /^systemd\//) return "systemd"
	if (path ~ /^CL\//) return "opencl"
	if (path ~ /^(cuda|nvrtc|nvml|cudart|cublas)/) return "cuda"
	if (path == "xxhash.h") return "xxhash"
	if (path == "png.h") return "png"
	if (path ~ /curses/) return "ncurses"
	if (path ~ /^protobuf-c\//) return "protobuf-c"
	if (path ~ /\.pb-c\.h$/) return "proto"
	if (path ~ /^syclclient(\/|\.h)/) return "include"
	return "libc"
}
function folder_of(file) {
	sub(/\/[^\/]*$/, "", file)
	while (file != "" && !(file in allowed)) {
		if (file !~ /\//) return file
		sub(/\/[^\/]*$/, "", file)
	}
	return file
}
BEGIN {
	allowed["include"] = "standard include"
	allowed["include/syclclient/cuda.h"] = "standard include cuda"
	allowed["include/syclclient/opencl.h"] = "standard include opencl"
	allowed["shared"] = "libc protobuf-c shared"
	allowed["daemon/backends"] = "libc shared daemon/backends daemon/backends/prelude"
	allowed["daemon/backends/opencl"] = "libc shared daemon/backends daemon/backends/prelude daemon/backends/opencl opencl"
	allowed["daemon/backends/cuda"] = "libc shared daemon/backends daemon/backends/prelude daemon/backends/cuda cuda"
	allowed["daemon/backends/prelude"] = "libc daemon/backends/prelude"
	allowed["daemon/engine"] = "libc shared proto protobuf-c libuv xxhash daemon/engine backend.h surprise.h"
	allowed["daemon/supervisor"] = "libc shared proto protobuf-c libuv nng inih jansson systemd daemon/supervisor"
	allowed["client"] = "libc include shared proto protobuf-c client"
	allowed["client/cli"] = "libc include shared proto protobuf-c nng jansson ncurses client/cli"
	allowed["client/examples"] = "libc include png opencl cuda client/examples"
	while (("find include shared daemon client -name \"*.h\"" | getline file) > 0) {
		base = file
		sub(/.*\//, "", base)
		home[base] = folder_of(file)
		exists[file] = 1
	}
}
FNR == 1 {
	folder = FILENAME in allowed ? FILENAME : folder_of(FILENAME)
	beside = FILENAME
	sub(/[^\/]*$/, "", beside)
	files++
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	path = $0
	sub(/^[^<"]*[<"]/, "", path)
	sub(/[>"].*/, "", path)
	base = path
	sub(/.*\//, "", base)
	if ($0 ~ /"/ && (beside path) in exists)
		origin = folder_of(beside path)
	else if ($0 ~ /"/ && base in home)
		origin = home[base]
	else
		origin = library(path)
	if (origin == "libc" && path ~ /^(stddef|stdint)\.h$/)
		next
	# The two that are for their vendors own types; syclclient.h includes neither.
	if ((FILENAME ~ /^include\/syclclient\/opencl\.h$/ && origin == "opencl") ||
	    (FILENAME ~ /^include\/syclclient\/cuda\.h$/ && origin == "cuda"))
		next
	if (origin == "daemon/backends" && (base == "backend.h" || base == "surprise.h"))
		origin = base
	if ((origin == "backend.h" || origin == "surprise.h") && folder ~ /^daemon\/backends/)
		next
	if (index(" " allowed[folder] " ", " " origin " ") == 0) {
		printf "%s:%d: %s may not include <%s> (%s)\n", FILENAME, FNR, folder, path, origin
		bad++
	}
	includes++
}
END {
	printf "%d files, %d includes, %d across a layer\n", files, includes, bad
	exit bad > 0 || files < 20
}'
