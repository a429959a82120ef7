"""Start of jobs: hosts, resources, the layout of ranks, the command of mpirun or srun, and batch scripts for Slurm.

Drivers import `commands` (Python and mpirun of this environment); `python -m cluster` starts `job` and `slurm`.
What a rank does after its start belongs to `cluster.mpi`.
"""
