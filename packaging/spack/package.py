"""Spack's recipe. In a repository of packages: `spack dev-build --source-path . py-onekernel@1.0.0` installs it.

Not tried. Spack's packages of July 2026 lack py-msgspec and py-tsplib95 (`spack create` makes recipes from the package
index), and have older versions of py-filelock, py-llvmlite, py-numba and py-pyopencl.
"""

from spack.package import depends_on, license, variant, version
from spack_repo.builtin.build_systems.python import PythonPackage


class PyOnekernel(PythonPackage):
    """The same heuristic, the same trajectory, on a GPU, on cores and on a cluster."""

    license("MIT")
    version("1.0.0")

    variant("mpi", default=True, description="Ranks over the MPI of the site")
    variant("opencl", default=False, description="OpenCL devices")
    variant("report", default=True, description="Reports and plots")

    depends_on("python@3.11:3.14", type=("build", "run"))
    depends_on("py-hatchling@1.27:1", type="build")
    depends_on("py-cloudpickle@3:3.1.2", type="run")
    depends_on("py-filelock@3.30:4", type="run")
    depends_on("py-joblib@1.4:1", type="run")
    depends_on("py-llvmlite@0.50", type="run")
    depends_on("py-msgspec@0.19:0", type="run")
    depends_on("py-numba@0.68", type="run")
    depends_on("py-numpy@2:2.5", type="run")
    depends_on("py-platformdirs@4", type="run")
    depends_on("py-pooch@1.8:1", type="run")
    depends_on("py-psutil@6:7", type="run")
    depends_on("py-py-cpuinfo@9", type="run")
    depends_on("py-rich@13.7:15", type="run")
    depends_on("py-tsplib95@0.7.1:0.7", type="run")
    depends_on("py-mpi4py@4", type="run", when="+mpi")
    depends_on("py-pyopencl@2025.1:", type="run", when="+opencl")
    depends_on("py-jinja2@3.1:3", type="run", when="+report")
    depends_on("py-matplotlib@3.9:3", type="run", when="+report")
    depends_on("py-pandas@2.3:3", type="run", when="+report")
    depends_on("py-scipy@1.14:1", type="run", when="+report")
