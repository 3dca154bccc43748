# shellcheck shell=bash
# The text lane of check.sh: checks of sources that need no build. Sourced by check.sh, with `top` and `jobs`.
# shellcheck disable=SC2154
: "${top:?the project folder}"

# From this commit on each subject must be `component: imperative`.
first_subject=50fb2db52dce

# These words are not misspelled: names of access modes, British spelling, mistakes that tests make on purpose.
spelling() {
	codespell --quiet-level=2 --skip='./build*,./.git,*.png,./tests/fuzz/corpus' \
		--ignore-words-list=nwo,dependant,dependants,servce,objectss,tha .
}

scripts() {
	find . \( -path './build*' -o -path ./debian/build \) -prune -o -name '*.sh' -print0 | xargs -0 shellcheck -x .ci/run
}

# Prints only the first line of each report; clang-format -i FILE corrects it.
formatting() {
	local found
	command -v clang-format >/dev/null || {
		echo 'no clang-format'
		return 1
	}
	found=$(find . \( -path './build*' -o -path ./debian/build \) -prune -o -name '*.[ch]' -print0 |
		xargs -0 -P "$jobs" -n 50 clang-format --dry-run -Werror 2>&1 | grep -E '^[^ ]+:[0-9]+:[0-9]+: error:')
	[ -n "$found" ] || return 0
	printf '%s\n' "$found" | head -n 40
	printf '%d places are not as .clang-format says\n' "$(printf '%s\n' "$found" | wc -l)"
	return 1
}

# requirement_ids FOLDER...: finds ids of conformance/rows.txt in public headers and sources of manual pages. Their readers do not have that
# list. C11 and C17 are also names of the language.
requirement_ids() {
	local ids
	ids=$(sed -n 's/^\([A-Z][0-9][0-9]*\) |.*/\1/p' tests/conformance/rows.txt | grep -vxE 'C11|C17' | paste -sd '|')
	! grep -rnE --include='*.h' --include='*.scd' --include='*.awk' "\\b($ids)\\b|\\((see )?C1[17][,;)]" "$@"
}

# repeated_names FOLDER MOST: finds names that static functions have in more than MOST of the folder's sources. A backtrace shows no file.
repeated_names() {
	# shellcheck disable=SC2016  # awk's dollars
	find "$1" -name '*.c' -print0 | xargs -0 awk -v most="$2" '
		/^static [^;={}]*\(/ {
			name = $0
			sub(/__attribute__\(\(.*\)\) /, "", name)
			sub(/\(.*/, "", name)
			sub(/.*[ *]/, "", name)
			if (name == "" || seen[FILENAME, name]++)
				next
			files[name] = files[name] " " FILENAME
			count[name]++
		}
		END {
			for (name in count)
				if (count[name] > most) {
					print name ":" files[name]
					bad = 1
				}
			exit bad
		}'
}

# In the examples each source is a program.
static_names() {
	local bad=0 folder
	for folder in client/lib client/cli client/ask client/exporter daemon shared; do
		repeated_names "$folder" 1 || bad=1
	done
	repeated_names tests 3 || bad=1
	return "$bad"
}

# bad_subjects: reads lines "COMMIT SUBJECT" and prints what is wrong with them.
bad_subjects() {
	awk '{
		commit = $1
		sub(/^[^ ]* /, "")
		why = ""
		verb = $0
		sub(/^[^:]*: /, "", verb)
		sub(/[ ,].*/, "", verb)
		if (length($0) > 72)
			why = length($0) " characters"
		else if ($0 !~ /^[A-Za-z0-9_.\/-]+(, [A-Za-z0-9_.\/-]+)*: [a-z]/)
			why = "not `component: imperative`"
		else if (verb ~ /(ing|ed)$/ && verb !~ /^(bring|ring|need|feed|seed|embed|exceed|proceed|speed)$/)
			why = "not an imperative: " verb
		else if ($0 ~ /[.]$/)
			why = "a full stop"
		if (why != "") {
			printf "%s %s (%s)\n", commit, $0, why
			bad = 1
		}
	}
	END { exit bad }'
}

# If the history does not reach so far back, as in a tarball, nothing is checked.
subjects() {
	git merge-base --is-ancestor "$first_subject" HEAD 2>/dev/null || return 0
	git log --no-merges --format='%h %s' "$first_subject..HEAD" | bad_subjects
}

# text: each part prints what it has found.
text() {
	local part bad=0
	cd "$top" || return 1
	for part in scripts spelling formatting "requirement_ids include client/man" static_names subjects; do
		# shellcheck disable=SC2086  # words
		if ! $part; then
			printf '(text: %s)\n' "${part%% *}"
			bad=1
		fi
	done
	return "$bad"
}
