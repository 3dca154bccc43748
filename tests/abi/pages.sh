#!/bin/sh
# pages.sh FOLDER-OF-BUILT-PAGES SYMBOL-MAP INCLUDE-FOLDER checks that each public call and each header has a manual page with all its
# sections, and that there are no other pages.
set -u
pages=$1
map=$2
include=$3
failed=0

complain() {
	echo "$*"
	failed=1
}

for page in sycld.8 sycld-exporter.8 syclctl.1 sycld.conf.5 libsyclclient.3 sycld-overview.7 sycld-portable-kernels.7; do
	[ -s "$pages/$page" ] || complain "$page is missing"
done

calls=$(sed -n 's/^[[:space:]]*\(sycl_[a-z0-9_]*\);$/\1/p' "$map" | LC_ALL=C sort)
headers=$(cd "$include/syclclient" && printf '%s\n' *.h *.h.in | sed 's/\.in$//; s/^/syclclient-/')
wanted=$(printf '%s\n%s\n' "$calls" "$headers" | LC_ALL=C sort)
there=$(cd "$pages/man3" && printf '%s\n' * | sed 's/\.3$//' | LC_ALL=C sort)
[ "$(printf '%s\n' "$calls" | wc -l)" -ge 200 ] || complain "the map has too few calls: $map"
lists=$(mktemp -d) || exit 1
trap 'rm -rf "$lists"' EXIT
printf '%s\n' "$wanted" >"$lists/wanted"
printf '%s\n' "$there" >"$lists/there"
LC_ALL=C comm -23 "$lists/wanted" "$lists/there" | sed 's/$/: no page; is it declared in a public header, with a comment and @since?/' >"$lists/missing"
LC_ALL=C comm -13 "$lists/wanted" "$lists/there" | sed 's/$/: a page of something that does not exist/' >"$lists/extra"
cat "$lists/missing" "$lists/extra"
[ ! -s "$lists/missing" ] && [ ! -s "$lists/extra" ] || failed=1

# The sections that a page must have. A call states whether it may block, or refers to another call
# for that.
# shellcheck disable=SC2016  # awk's dollars
awk -v list="$lists/there" '
function complain(text) {
	printf "%s: %s\n", name, text
	bad = 1
}
# Each parameter must have an item, except handles, which the text describes.
function check_parameters(   declared, n, i, words) {
	declared = text["SYNOPSIS"]
	gsub(/\n/, " ", declared)
	sub(/.*sycl_[a-z0-9_]+\(/, "", declared)
	sub(/\).*/, "", declared)
	n = declared == "void" ? 0 : split(declared, words, /, */)
	for (i = 1; i <= n; i++) {
		if (words[i] ~ /^ *sycl_[a-z_]+ [a-z_]+$/ && words[i] !~ /_(info|mode|memory|kind|type|advice|aspect|language|state|format|range|backend|target|profiling|property) /)
			continue
		sub(/\[.*/, "", words[i])
		sub(/.*[ *]/, "", words[i])
		if (index("\n" text["DESCRIPTION"], "\n" words[i] "\n") == 0)
			complain("parameter " words[i] " is not described")
	}
}
function check_page(   n, i, sections) {
	n = split(name ~ /^sycl_/ ? "NAME,SYNOPSIS,DESCRIPTION,RETURN VALUE,THREADS,HISTORY,SEE ALSO" : "NAME,SYNOPSIS,DESCRIPTION,SEE ALSO",
		sections, ",")
	for (i = 1; i <= n; i++)
		if (text[sections[i]] == "")
			complain("section " sections[i] " is missing or empty")
	if (index(text["NAME"], name " - ") != 1 || text["NAME"] !~ / - ./)
		complain("NAME has no description")
	if (index(text["SYNOPSIS"], "#include <syclclient.h>") == 0)
		complain("SYNOPSIS has no #include")
	if (name !~ /^sycl_/)
		return
	if (index(text["SYNOPSIS"], name "(") == 0)
		complain("SYNOPSIS has no declaration")
	if (text["SYNOPSIS"] ~ /sycl_result sycl_/ && text["ERRORS"] == "")
		complain("section ERRORS is missing or empty")
	check_parameters()
	if (name in needs_example && text["EXAMPLE"] == "")
		complain("section EXAMPLE is missing or empty")
	gsub(/\n/, " ", text["DESCRIPTION"])
	if (text["DESCRIPTION"] !~ /[Bb]lock|[Ww]ait|round trip|[Oo]ne-way|sycl_[a-z_]+\(3\)/)
		complain("DESCRIPTION does not state whether the call may block")
	if (text["HISTORY"] !~ /^Since version [0-9]+\.[0-9]+/)
		complain("HISTORY has no version")
}
function plain(line) {
	gsub(/\\f[BIR]/, "", line)
	gsub(/\\-/, "-", line)
	sub(/^\\&/, "", line)
	return line
}
BEGIN {
	# The most used calls.
	n = split("buffer_create buffer_release context_release device_get_devices device_get_info device_release device_select " \
		"event_get_profiling event_release event_wait event_wait_for executable_graph_release get_last_error " \
		"get_last_error_text graph_add graph_begin_recording graph_finalize graph_release handler_begin " \
		"handler_depends_on handler_native_command handler_parallel_for handler_parallel_for_nd handler_set_accessor " \
		"handler_set_value handler_submit host_accessor_create host_accessor_get_pointer host_accessor_release " \
		"image_release " \
		"kernel_bundle_from_source kernel_bundle_release kernel_create kernel_from_source kernel_release malloc_device " \
		"platform_open platform_release queue_copy_to_host queue_create queue_create_default queue_fill queue_graph " \
		"queue_launch queue_memcpy queue_release queue_submit queue_wait queue_wait_for", most)
	for (i = 1; i <= n; i++)
		needs_example["sycl_" most[i]] = 1
	while ((getline line < list) > 0)
		known[line] = 1
	known["libsyclclient"] = 1
}
FNR == 1 {
	if (name != "")
		check_page()
	name = FILENAME
	sub(/.*\//, "", name)
	sub(/\.3$/, "", name)
	split("", text)
	section = ""
	count++
}
/^\.SH / {
	section = plain(substr($0, 5))
	next
}
{
	line = plain($0)
	if (line ~ /^\.BR /) {
		sub(/^\.BR /, "", line)
		sub(/ \(/, "(", line)
	} else if (line ~ /^\./) {
		next
	}
	text[section] = text[section] line "\n"
	while (match(line, /[A-Za-z_][-A-Za-z0-9_.]*\(3\)/)) {
		other = substr(line, RSTART, RLENGTH - 3)
		if (!(other in known))
			complain("refers to " other "(3), which does not exist")
		line = substr(line, RSTART + RLENGTH)
	}
}
END {
	check_page()
	exit bad || count < 200
}' "$pages"/man3/*.3 || failed=1

for header in $headers; do
	sed 's/\\&//g' "$pages/libsyclclient.3" | grep -qF "$header" || complain "libsyclclient(3) does not name $header(3)"
done

# scdoc writes pages in a form that mandoc partly warns about, so only errors count.
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning "$pages"/man3/*.3 || complain "mandoc finds fault with these"
	mandoc -T lint -W error "$pages"/*.[1-8] || complain "mandoc finds fault with these"
else
	complain "mandoc is missing, so nobody has read the pages"
fi
echo "$(printf '%s\n' "$there" | wc -l) pages in section 3"
[ "$failed" -eq 0 ]
