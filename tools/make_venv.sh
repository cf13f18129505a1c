#!/bin/sh
# Make a virtual environment with pip in it, also where Debian has split venv and pip off from python3.
#
# usage: PYTHON=python3 make_venv.sh FOLDER
#
# Four ways, the plainest first; none needs administrator rights and none changes anything outside FOLDER.
set -eu

python=${PYTHON:-python3}
venv=$1

if ! command -v "$python" >/dev/null 2>&1; then
    echo "closedchain needs Python 3.11 or later, and there is no '$python' here (Debian: apt install python3)." >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "closedchain needs Python 3.11 or later; '$python' is $("$python" -V 2>&1)." >&2
    echo "Name a newer one: make PYTHON=python3.12 ..." >&2
    exit 1
fi

echo "making a virtual environment in $venv ..."
log=$(mktemp)
spare=$(mktemp -d)
trap 'rm -rf "$log" "$spare"' EXIT

with_venv() {
    "$python" -m venv --clear "$venv"
}

with_virtualenv() {
    "$python" -m virtualenv --quiet --clear "$venv"
}

with_pip() {
    "$python" -m pip install --quiet --target "$spare" virtualenv &&
        PYTHONPATH="$spare" "$python" -m virtualenv --quiet --clear "$venv"
}

# Debian's own pip, fetched as a package file and unpacked in a temporary folder
with_apt() {
    "$python" -m venv --without-pip --clear "$venv" &&
        (cd "$spare" && apt-get download python3-pip-whl && dpkg-deb -x python3-pip-whl_*.deb .) &&
        PYTHONPATH=$(ls "$spare"/usr/share/python-wheels/pip-*.whl) \
            "$venv/bin/python" -m pip install --quiet --ignore-installed pip
}

for way in with_venv with_virtualenv with_pip with_apt; do
    if $way >>"$log" 2>&1 && "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        exit 0
    fi
done

rm -rf "$venv"
sed 's/^/  | /' "$log" >&2
echo "No virtual environment could be made with '$python': Debian keeps that part in a package of its own." >&2
echo "Install it and try again:  sudo apt update && sudo apt install python3-venv" >&2
exit 1
