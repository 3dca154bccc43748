# shellcheck shell=bash
# Functions for demo.sh and check.sh: packages, builds, messages. A script sets `top` to the project's folder before it sources this file.
: "${top:?the project folder}"

# say TEXT...: prints one line.
say() {
	printf '%s\n' "$*"
}

# fail TEXT...: prints the reason on stderr and exits.
fail() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# quietly LOG COMMAND...: runs the command with all output in LOG. If it fails, the end of the output is shown.
quietly() {
	local log=$1
	shift
	if ! "$@" >"$log" 2>&1 </dev/null; then
		printf '%s: failed: %s\n' "${0##*/}" "$*" >&2
		tail -n 40 "$log" >&2
		printf '(the whole output: %s)\n' "$log" >&2
		return 1
	fi
}

# locked FILE COMMAND...: runs the command while it holds the lock FILE, because two of these scripts may
# run in the same folder.
locked() {
	local file=$1
	shift
	(
		flock -n 9 || {
			say "(waits until another run releases $file)"
			flock 9 || exit 1
		}
		"$@" 9>&-
	) 9>"$file"
}

# packages_of KIND...: prints their names, from .ci/packages.txt.
packages_of() {
	local kind
	for kind in "$@"; do
		sed -n "s/^$kind:[[:space:]]*//p" "$top/.ci/packages.txt"
	done
}

# missing_packages KIND...: prints those that are not installed.
missing_packages() {
	local package
	for package in $(packages_of "$@"); do
		[ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif ! command -v sudo >/dev/null; then
		fail "packages are missing, and only root or sudo may install them: $(missing_packages "${package_kinds[@]}" | tr '\n' ' ')"
	elif [ -t 2 ]; then
		sudo "$@"
	else
		sudo -n "$@"
	fi
}

install_missing() {
	local missing
	missing=$(missing_packages "${package_kinds[@]}")
	[ -n "$missing" ] || return 0
	say "Installing $(printf '%s\n' "$missing" | wc -l) packages"
	# If sudo needs a password, it must prompt before output goes to a file.
	as_root true || fail "sudo refused"
	quietly "$logs/apt-update.log" as_root apt-get update -q -o Acquire::Retries=3 || return 1
	# shellcheck disable=SC2086  # one word for each package
	quietly "$logs/apt-install.log" as_root "$top/tests/support/apt_install.sh" "${apt_options[@]}" $missing
}

# install_packages KIND...: installs the missing ones, and starts no daemon of theirs. It prints nothing unless it fails.
install_packages() {
	package_kinds=("$@")
	if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
		say "There is no apt-get here: assuming that the packages of .ci/packages.txt are installed"
		return 0
	fi
	locked "$logs/packages.lock" install_missing
}

# install_optional_packages KIND: the same for packages that only a few tests need. No other package gives way to them, nobody is asked for a
# password, and where they cannot be installed a line says so.
apt_options=()
install_optional_packages() {
	local apt_options=(--no-remove) log=$logs/packages-$1.log
	[ -n "$(missing_packages "$1")" ] && command -v apt-get >/dev/null || return 0
	install_packages "$1" 2>"$log" && return
	say "The packages $(missing_packages "$1" | paste -s -d ' ') cannot be installed, so tests that need them are skipped ($log)"
}

# build_into FOLDER TARGETS CMAKE-OPTION...: configures and builds. TARGETS is one list of words, "all" for everything, or "lane:LABEL" for
# the programs that the tests of that label need (lanes.sh).
build_into() {
	local folder=$1 targets=$2
	shift 2
	mkdir -p "$folder" || return 1
	locked "$folder/.lock" configure_and_build "$folder" "$targets" "$@"
}

configure_and_build() {
	local folder=$1 targets=$2
	shift 2
	quietly "$folder/configure.log" cmake -S "$top" -B "$folder" -G Ninja "$@" || return 1
	case $targets in
	lane:*) targets=$(lane_targets "$folder" "${targets#lane:}") ;;
	esac
	# shellcheck disable=SC2086  # one word for each target
	quietly "$folder/build.log" cmake --build "$folder" --target $targets
}

# prepare_folder: makes the folder for logs. It prints what to do if another user's build prevents
# that.
prepare_folder() {
	logs=$top/build/logs
	if ! mkdir -p "$logs" 2>/dev/null || ! [ -w "$logs" ] || ! [ -w "$top/build" ]; then
		fail "cannot write to $top/build (does another user's build lie there? remove it)"
	fi
}
