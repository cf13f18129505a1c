#!/bin/sh
# All linters, each to its end, so that one run shows everything there is to repair.
set -u

failed=""

check() {
    name=$1
    shift
    if output=$("$@" 2>&1); then
        echo "ok    $name"
    else
        echo "FAIL  $name"
        echo "$output"
        failed="$failed $name"
    fi
}

check style ruff check .
check format ruff format --check .
check types mypy
check layers lint-imports --no-logo
check spelling codespell

if [ -n "$failed" ]; then
    echo "to repair:$failed  ('make format' does part of it)"
    exit 1
fi
