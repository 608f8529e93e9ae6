from spack.package import *

try:  # Spack 1.0 moved it
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass


class Mutirao(CMakePackage):
    """Makes the collectives of any MPI program fit the network it really runs on. Preloaded; programs are not
    compiled anew."""

    # git = "...": the address of the repository that `spack install` is to clone; `spack dev-build mutirao@main` in a
    # clone needs none.

    license("BSD-3-Clause")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("mpi")
    depends_on("libsodium")
    depends_on("sqlite")

    def cmake_args(self):
        mpi = self.spec["mpi"]
        return [
            self.define("MUTIRAO_TESTS", False),
            self.define("MUTIRAO_MPIS", f"{mpi.name}={mpi.mpicc}"),
        ]

    def setup_run_environment(self, env):
        env.set("MUTIRAO_HOME", self.prefix)
