#!/usr/bin/env bash
# Removes what `make install` put below a prefix, and the folders that are empty then.
#   packaging/uninstall.sh PREFIX
set -euo pipefail

prefix=${1-}
list=$prefix/lib/mutirao/installed-files.txt
if [[ ! -f $list ]]; then
    printf "uninstall: no mutirao is installed below '%s' (%s is missing)\n" "$prefix" "$list" >&2
    exit 2
fi
mapfile -t files <"$list"
cd "$prefix"
rm -f -- "${files[@]}"
# What Python left while it ran.
find lib/mutirao -type d -name __pycache__ -prune -exec rm -rf {} +
folders=()
for file in "${files[@]}"; do
    while [[ $file == */* ]]; do
        file=${file%/*}
        folders+=("$file")
    done
done
# The longest first, so that each is empty once those in it are gone.
printf '%s\n' "${folders[@]}" | sort -ru | while read -r folder; do
    rmdir --ignore-fail-on-non-empty -- "$folder" 2>/dev/null || true
done
