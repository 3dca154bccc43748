# shellcheck shell=bash
# The commands of a page, so that a test runs what the page says. Sourced.

# page_block FILE HEADING [NUMBER [LANGUAGE]]: prints the first, or that, block of code under "## HEADING".
page_block() {
	awk -v heading="## $2" -v number="${3:-1}" -v language="${4:-sh}" '
		/^## / && !inside { under = $0 == heading }
		!under { next }
		/^```/ && inside && taking { exit }
		/^```/ { inside = !inside; if ($0 == "```" language && ++found == number) taking = 1; next }
		taking { print; lines++ }
		END { exit lines == 0 }' "$1" || {
		echo "$1 has no block ${3:-1} of ${4:-sh} under \"$2\"" >&2
		return 1
	}
}

# page_run COMMANDS: runs them in one shell, which prints each one and ends at the first that fails.
page_run() {
	bash -exo pipefail -c "$1" </dev/null
}
