#!/bin/sh
# documents_check.sh checks that documents.sh finds each fault of pages, each by itself.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0

# page TEXT: makes a project of two pages whose links are valid, and adds this text.
page() {
	mkdir -p "$work/docs"
	printf '# One\n\nTo [the other](docs/two.md#the-second-heading) and [here](#one).\n\n%s\n' "$1" >"$work/one.md"
	printf '# Two\n\n## The second heading\n\nBack to [one](../one.md).\n' >"$work/docs/two.md"
}

# finds TEXT WHAT: the text must be reported, with this reason.
finds() {
	page "$1"
	if output=$("$here/documents.sh" "$work") || ! printf '%s\n' "$output" | grep -qF -e "$2"; then
		printf 'not found: %s\n%s\n' "$2" "$output"
		failed=1
	fi
}

# passes TEXT
passes() {
	page "$1"
	output=$("$here/documents.sh" "$work") || {
		printf 'wrongly found:\n%s\n' "$output"
		failed=1
	}
}

long=$(printf '%0101d' 0)
wide=$(printf '%0100d' 0 | sed 's/0/─/g')
passes 'Nothing is wrong.'
passes "| a table of $long |"
passes "$wide"
passes "A link in \`[code](nowhere.md)\`, and an [outside one](https://example.org/nowhere)."
finds 'To [nothing](docs/three.md).' 'one.md: docs/three.md leads nowhere'
finds 'To [no heading](docs/two.md#the-third-heading).' 'one.md: docs/two.md#the-third-heading names no heading'
finds "To [what
is broken](docs/three.md) over two lines." 'docs/three.md leads nowhere'
finds "$long" 'one.md:5: 101 columns'
exit "$failed"
