"""Start of jobs: hosts, resources, the layout of ranks, the command of mpirun or srun, and batch scripts for Slurm.

`job` reads a `LaunchRequest` from the command line and the `LaunchResources` of this machine; `plan_launch` chooses a
`RankLayout` and returns the `LaunchCommand` that `job` runs. `slurm` writes the same command into a batch script.

Drivers import `commands` (Python and mpirun of this environment); `python -m cluster` starts `job` and `slurm`.
Work of a started rank belongs to `cluster.mpi`.
"""
