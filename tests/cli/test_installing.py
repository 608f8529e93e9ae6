"""What is installed needs neither the source tree nor .env, can be moved, and can be removed."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import pytest

from mutirao.base.paths import BUILD, ROOT
from mutirao.run.mpis import found_mpis
from shared import text_of

MODULES = Path("/usr/share/modules/init/bash")
SYSTEMS = [mpi for mpi in found_mpis() if not mpi.is_outside_the_system]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
# What its user has: no source tree.
HIDE = 'mount -t tmpfs tmpfs "$0" && exec "$@"'


def completed(*words, **options):
    return subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=120, check=False,
                          **options)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Installed at one place, then moved to another."""
    first = tmp_path_factory.mktemp("installed") / "first"
    text_of(completed("cmake", "--install", BUILD, "--prefix", first))
    return first.rename(first.with_name("second"))


@pytest.fixture
def surroundings(tmp_path):
    """Nothing of ours in the environment, but for what a module file sets."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("MUTIRAO_") and name != "PYTHONPATH"}
    return {**kept, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state"),
            "TMPDIR": str(tmp_path), "MUTIRAO_HOME": "/opt/mutirao", "MUTIRAO_VERSION": "1",
            "MUTIRAO_ROOT": "/opt/mutirao", "MUTIRAO_DIR": "/opt/mutirao", "MUTIRAO_PROFILE": "off"}


def test_the_command_runs_a_program(prefix, surroundings, tmp_path):
    mpi = found_mpis()[0]
    report = tmp_path / "report.json"
    ran = completed(prefix / "bin" / "mutirao", "run", "-n", 2, "--mpi", mpi.launcher, "--report", report,
                    mpi.program("collective"), "broadcast", env=surroundings, cwd=tmp_path)
    assert '"bytes":24' in text_of(ran)
    explained = completed(prefix / "bin" / "mutirao", "explain", report, env=surroundings, cwd=tmp_path)
    assert "MPI_COMM_WORLD: 2 ranks" in text_of(explained)


def test_a_python_without_its_standard_library_is_passed_over(prefix, tmp_path):
    """Debian's python3-minimal is such a one."""
    for name in ("python3", "python3.14", "python3.13", "python3.12", "python3.11"):
        minimal = tmp_path / name
        minimal.write_text(f'#!/bin/sh\necho {name} >> {tmp_path}/asked\n[ "${{2#*difflib}}" = "$2" ]\n')
        minimal.chmod(0o755)
    script = (prefix / "bin" / "mutirao").read_text().replace("/usr/bin/python3", "/none/python3")
    copy = tmp_path / "mutirao"
    copy.write_text(script)
    ran = completed("sh", copy, "version", env={"PATH": f"{tmp_path}:/usr/bin:/bin"})
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("mutirao: no Python of at least 3.11 in PATH that has its standard library")
    assert (tmp_path / "asked").read_text().split() == [
        "python3", "python3.14", "python3.13", "python3.12", "python3.11"]


def test_what_measures_is_compiled_for_the_users_mpi(prefix, surroundings, tmp_path):
    mpi = found_mpis()[0]
    path = f"{mpi.wrapper.parent}:{surroundings['PATH']}"
    bench = [prefix / "bin" / "mutirao", "bench", "broadcast", "-n", 2, "--bytes", 8, "--repeat", 2, "--only", "auto",
             "--mpi", mpi.launcher]
    for _ in range(2):
        assert "auto" in text_of(completed(*bench, env={**surroundings, "PATH": path}, cwd=tmp_path))
    [program] = (tmp_path / "state" / "mutirao" / "programs").glob("*/*")
    assert program.name == "collective"


def test_other_tools_find_it(prefix, tmp_path):
    library = prefix / "lib" / "libmutirao.so"
    said = completed("pkg-config", "--variable=preload", "mutirao",
                     env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")})
    assert os.path.samefile(said.stdout.strip(), library)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(uses NONE)\nfind_package(mutirao 0.1 REQUIRED)\n"
        "get_target_property(path mutirao::preload IMPORTED_LOCATION)\nmessage(NOTICE \"at ${path}\")\n")
    said = completed("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}")
    assert said.returncode == 0, said.stderr
    assert os.path.samefile(re.search(r"^at (.*)$", said.stderr, re.MULTILINE)[1], library)


@pytest.mark.skipif(not MODULES.is_file(), reason="no Environment Modules (scripts/setup.sh --cluster)")
def test_the_module_adds_to_what_there_is(prefix):
    """An empty entry in MANPATH stands for the system's manual pages."""
    script = (f". {MODULES}; module use {prefix}/share/modulefiles; module load mutirao; command -v mutirao;"
              " echo $MANPATH; module unload mutirao; command -v mutirao || echo none")
    environment = {"HOME": os.environ["HOME"], "PATH": "/usr/bin:/bin"}
    assert completed("bash", "-c", script, env=environment).stdout.split() == [
        f"{prefix}/bin/mutirao", f"{prefix}/share/man:", "none"]


def test_manual_and_completion_know_every_command(prefix, surroundings):
    told = completed(prefix / "bin" / "mutirao", "--help", env=surroundings).stdout
    commands = re.findall(r"^    ([a-z-]+) ", told, re.MULTILINE)
    assert {"run", "explain", "doctor"} <= set(commands)
    for command in commands:
        assert (prefix / "share" / "man" / "man1" / f"mutirao-{command}.1").read_text().startswith(".TH ")
    script = (f"source {prefix}/share/bash-completion/completions/mutirao; COMP_WORDS=(mutirao run --la);"
              " COMP_CWORD=2; _mutirao; echo ${COMPREPLY[@]}; COMP_WORDS=(mutirao \"\"); COMP_CWORD=1;"
              " _mutirao; echo ${COMPREPLY[@]}; COMP_WORDS=(mutirao show bro); COMP_CWORD=2; _mutirao;"
              " echo ${COMPREPLY[@]}")
    option, first, shown = completed("bash", "-c", script).stdout.splitlines()
    assert option.split()[0] == "--lab" and set(commands) <= set(first.split()) and shown == "broadcast"


def test_uninstall_leaves_nothing(prefix, tmp_path):
    copy = shutil.copytree(prefix, tmp_path / "copy", symlinks=True)
    (copy / "lib" / "somebody-elses").touch()
    assert completed(ROOT / "packaging" / "uninstall.sh", copy).returncode == 0
    assert list(copy.rglob("*")) == [copy / "lib", copy / "lib" / "somebody-elses"]
    again = completed(ROOT / "packaging" / "uninstall.sh", copy)
    assert again.returncode == 2 and again.stderr.count("\n") == 1


def test_the_spack_recipe_names_what_the_build_knows(monkeypatch):
    """There is no Spack here, but what it would ask of the recipe."""
    class CMakePackage:
        define = staticmethod(lambda name, value: (name, value))

    told = []
    spack = types.ModuleType("spack.package")
    directives = {name: lambda *words, **_: told.append(words[0]) for name in ("license", "version", "depends_on")}
    vars(spack).update(directives, CMakePackage=CMakePackage)
    monkeypatch.setitem(sys.modules, "spack.package", spack)
    recipe = runpy.run_path(str(ROOT / "packaging" / "spack" / "package.py"))["Mutirao"]()
    recipe.spec = {"mpi": types.SimpleNamespace(name="openmpi", mpicc="/opt/bin/mpicc")}
    assert dict(recipe.cmake_args()) == {"MUTIRAO_TESTS": False, "MUTIRAO_MPIS": "openmpi=/opt/bin/mpicc"}
    assert {"mpi", "cxx", "libsodium", "sqlite"} <= set(told)
    assert all(f" {name}" in (ROOT / "CMakeLists.txt").read_text().replace("(", " ") for name, _ in recipe.cmake_args())


def everything_works(command, surroundings, folder, user):
    """run, explain, doctor, a lab and mpi4py, as `user`, where there is no source tree."""
    site = next(path for path in sys.path if os.path.isdir(f"{path}/mpi4py"))
    shutil.copytree(f"{site}/mpi4py", folder / "site" / "mpi4py")
    program = shutil.copy(SYSTEMS[0].program("collective"), folder / "collective")
    (folder / "program.py").write_text("from mpi4py import MPI\n"
                                       "print(MPI.COMM_WORLD.bcast('42\\n', root=1), end='', flush=True)\n")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 65534, 65534)
    folder.chmod(0o755)

    def said(*words, **variables):
        done = completed("unshare", "--mount", "--propagation", "private", "sh", "-c", HIDE, ROOT, *user,
                         command, *words, env={**surroundings, **variables}, cwd=folder)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    assert '"bytes":24' in said("run", "-n", 2, program, "broadcast")
    assert "MPI_COMM_WORLD: 2 ranks" in said("explain")
    assert said("run", "-n", 2, "--", "/usr/bin/python3", "program.py",
                PYTHONPATH=str(folder / "site")).split() == ["42", "42"]
    assert "can be used here" in said("doctor")
    assert "native" in said("bench", "broadcast", "-n", 2, "--bytes", 8, "--repeat", 2)
    assert '"bytes":24' in said("run", "--lab", "two-hosts", program, "broadcast")


@pytest.fixture
def home(tmp_path_factory):
    """A folder that anybody may enter."""
    folder = tmp_path_factory.mktemp("readable") / "home"
    folder.mkdir()
    for parent in folder.parents:
        if Path(tempfile.gettempdir()) in parent.parents:
            parent.chmod(0o755)
    return folder


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0 or not SYSTEMS, reason="needs root, and an MPI library of the system's")
@pytest.mark.parametrize("way", ["installed, as another user", "a wheel in a fresh environment"])
def test_without_the_source(way, prefix, surroundings, home):
    variables = {"HOME": str(home), "XDG_STATE_HOME": str(home), "TMPDIR": str(home),
                 "PATH": "/usr/bin:/bin"}
    if way.startswith("installed"):
        prefix.parent.chmod(0o755)
        command, user = prefix / "bin" / "mutirao", NOBODY
    else:
        subprocess.run([ROOT / "scripts" / "wheel.sh"], check=True, capture_output=True)
        subprocess.run([sys.executable, "-m", "venv", home.parent / "venv"], check=True)
        [wheel] = (ROOT / "dist").glob("*.whl")
        subprocess.run([home.parent / "venv" / "bin" / "pip", "-q", "install", wheel], check=True)
        command, user = home.parent / "venv" / "bin" / "mutirao", []
    everything_works(command, {**surroundings, **variables}, home, user)
