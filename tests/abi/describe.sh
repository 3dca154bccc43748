#!/bin/sh
# describe.sh LIBRARY INCLUDE-FOLDER FOLDER-OF-MADE-HEADERS OUT describes the interface on which a
# program built with this library relies. OUT gets libsyclclient.abi: the calls with all their
# types, as libabigail reads them from the debug information. It also gets constants.txt: every
# enumerator, every macro that is a number, and each member of a structure with its offset and size.
# Most of these are in no call's type.
set -eu
library=$1
include=$2
made=$3
out=$4
mkdir -p "$out"

# Only public parts that do not depend on where and for what it was built: no folders and no file names.
abidw --headers-dir "$include" --headers-dir "$made" --drop-private-types --exported-interfaces-only --drop-undefined-syms \
	--no-show-locs --no-comp-dir-path --no-corpus-path --no-architecture --no-elf-needed --no-parameter-names \
	--no-write-default-sizes "$library" >"$out/raw.abi"
awk '{
	if (match($0, / path=\047[^\047]*\047/))
		$0 = substr($0, 1, RSTART - 1) " path=\047" ++files "\047" substr($0, RSTART + RLENGTH)
	print
}' "$out/raw.abi" >"$out/libsyclclient.abi"
rm "$out/raw.abi"

# Makes a program that prints them. The lines of the headers, without comments, are short enough for
# this. Functions that need a vendor's headers are inline there and use only what is described here.
find "$include"/syclclient -name '*.h' ! -name cuda.h ! -name opencl.h | LC_ALL=C sort | xargs cat | awk '
BEGIN {
	print "#include <stddef.h>\n#include <stdio.h>\n#include <syclclient.h>"
	print "#define SHOW(name) printf(\"%s %lld\\n\", #name, (long long)(name))"
	print "#define MEMBER(of, name) printf(\"%s.%s %zu %zu\\n\", #of, #name, offsetof(struct of, name), sizeof(((struct of *)0)->name))"
	print "int main(void)\n{"
}
{
	line = line " " $0
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
	if (line ~ /\/\*/)
		next # the comment goes on in the next line
	text = line
	line = ""
	if (text ~ /^ *#define +SYCL_[A-Z0-9_]+ +[^ {\\]/ && text !~ /__|extern|SYCL_(BEGIN|END)_DECLS/) {
		split(text, words)
		print "\tSHOW(" words[2] ");"
	}
	if (text ~ /^ *(typedef +)?enum( |\{)/)
		inside = 1
	if (text ~ /^ *(typedef +)?struct +sycl_[a-z0-9_]+ +\{/) {
		of = text
		sub(/.*struct +/, "", of)
		sub(/ .*/, "", of)
	} else if (of != "" && text ~ /;/ && text !~ /\}/) {
		gsub(/\[[^]]*\]|;.*/, "", text)
		sub(/ +$/, "", text)
		sub(/.*[ *]/, "", text)
		print "\tMEMBER(" of ", " text ");"
	}
	if (text ~ /\}/)
		of = ""
	ends = text ~ /\}/
	while (inside && match(text, /SYCL_[A-Z0-9_]+/)) {
		print "\tSHOW(" substr(text, RSTART, RLENGTH) ");"
		text = substr(text, RSTART + RLENGTH)
	}
	if (ends)
		inside = 0
}
END { print "\treturn 0;\n}" }' >"$out/constants.c"
"${CC:-cc}" -I"$include" -I"$made" "$out/constants.c" -o "$out/constants"
"$out/constants" | LC_ALL=C sort -u >"$out/constants.txt"
rm "$out/constants" "$out/constants.c"
