#!/bin/bash
# run.sh BUILD [PYTHON]: makes a wheel of client/python with pip, installs it in a new virtual environment, and runs tests/ there, against
# services of that build. NumPy is the system's; with another PYTHON, which must have one. Nothing is downloaded. Exit status 77: it cannot run here.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source=$here/../../client/python
build=$(cd "$1" && pwd)
python=${2:-/usr/bin/python3}

for module in pip setuptools wheel numpy venv ensurepip; do
	"$python" -c "import $module" 2>/dev/null || {
		echo "skipped: $python has no $module"
		exit 77
	}
done
work=$(mktemp -d "${TMPDIR:-/tmp}/sycld-wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH PYTHONHOME SYCLD_ENDPOINT SYCLD_CLASS SYCLD_WEIGHT
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1

"$python" "$source/schema.py" --check
# setuptools writes into the folder that it builds.
cp -r "$source" "$work/source"
"$python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$work" "$work/source" >"$work/log" 2>&1 || {
	cat "$work/log"
	exit 1
}
wheels=("$work"/*.whl)
echo "${wheels[*]##*/}"
[[ ${wheels[*]##*/} = sycld-*-py3-none-any.whl ]]

"$python" -m venv --system-site-packages "$work/venv"
"$work/venv/bin/pip" install --quiet --no-deps "${wheels[0]}"
export SYCLD_BUILD=$build LD_LIBRARY_PATH=$build/lib:$build/tests/fake_cuda
cd "$here/tests"
# The installed package, and no other one.
"$work/venv/bin/python3" -c "import sycld, sys; sys.exit(not sycld.__file__.startswith('$work/venv/') or sycld.version() != sycld.__version__)"
"$work/venv/bin/python3" -X dev -W error::ResourceWarning -m unittest discover --start-directory . "${@:3}"
