#!/usr/bin/env bash
# Packs what was built and the command line into one wheel, dist/mutirao-*.whl.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cd "$root"
stage=build/wheel
rm -rf "$stage" dist
cmake --install build --component package --prefix "$stage" --strip >/dev/null
mv "$stage/lib/mutirao" "$stage/python"
cp pyproject.toml README.md LICENSE "$stage"
# Nothing in it depends on the version of Python.
.env/cli/bin/python -m pip --disable-pip-version-check -q wheel --no-deps --no-build-isolation \
    --config-settings=--build-option=--plat-name="linux_$(uname -m)" -w dist "$stage"
ls dist/mutirao-*.whl
