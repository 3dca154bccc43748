#!/bin/sh
# examples.sh INCLUDE-FOLDER FOLDER-OF-MADE-HEADERS compiles the examples in the comments of the public headers, which are also in the
# manual pages. Each becomes a function; the objects that it does not make itself are its parameters. Functions that an example defines, or
# declares as those of its program, come first and end with an empty line.
set -u
include=$1
made=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
awk '
BEGIN {
	print "#include <stdio.h>\n#include <string.h>\n#include <syclclient.h>"
	given = "(sycl_platform platform, sycl_device device, sycl_queue queue, sycl_handler handler, sycl_buffer buffer, " \
		"sycl_kernel kernel, sycl_event event, sycl_graph graph, const char *source, void *pointer, uint64_t bytes)"
}
/^ \* @example/ {
	count++
	at = "example"
	next
}
function begin() {
	print "sycl_result example" count given ";\nsycl_result example" count given "\n{\n\tsycl_result result = SYCL_SUCCESS;"
}
at == "example" {
	at = $0 ~ /^ \*\t(static|extern) [^=]*\(/ ? "functions" : "body"
	if (at == "body")
		begin()
	print "#line " FNR " \"" FILENAME "\""
}
at == "functions" && /^ \*$/ {
	at = "body"
	begin()
	print "#line " FNR " \"" FILENAME "\""
}
at == "body" && /^ \*\// {
	at = ""
	print "\treturn result;\n}"
}
at != "" { print substr($0, 3) }
END {
	print count " examples" >"/dev/stderr"
	exit at != "" || count < 20
}' "$include"/syclclient/*.h >"$folder/examples.c" || exit 1
warnings='-Wall -Wextra -Wconversion -Wno-unused -Werror -fsyntax-only'
# shellcheck disable=SC2086  # a list of options
gcc -std=c99 -pedantic-errors $warnings "-I$include" "-I$made" "$folder/examples.c" &&
	g++ -std=c++17 -pedantic-errors $warnings "-I$include" "-I$made" -x c++ "$folder/examples.c"
