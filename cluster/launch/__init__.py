"""Start of jobs: hosts, resources, the layout of ranks, the command of mpirun or srun, and batch scripts for Slurm.

Drivers import `commands` (Python and mpirun of this environment); `python -m cluster` starts `job` and `slurm`.
Work of a started rank belongs to `cluster.mpi`.
"""
