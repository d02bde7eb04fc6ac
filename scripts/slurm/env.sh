# Settings of this site, for every script in this folder. A variable that is set already wins: LAUNCHER=mpirun sbatch ...
# Modules that the program was built with:
# module load gcc openmpi hdf5

# Who starts the ranks. srun needs an MPI with PMIx (`srun --mpi=list` says what there is), and --wait so that the other ranks
# end when one has died; hetjob.sbatch works by srun alone.
LAUNCHER=${LAUNCHER:-srun}
SRUN_OPTIONS=${SRUN_OPTIONS:---mpi=pmix --wait=60}
MPIRUN_OPTIONS=${MPIRUN_OPTIONS:-}

# On a file system that every node sees, as is the folder that jobs are submitted from.
PROGRAM=${PROGRAM:-$STEELYARD_HOME/build/steelyard}
RESULTS=${RESULTS:-$STEELYARD_HOME/results}

# For sweep.sbatch; 3.11 or later.
PYTHON=${PYTHON:-/usr/bin/python3}

# A job that is stopped by a signal (preemption, its time limit) is queued again at most so often. Its run begins anew.
MAX_REQUEUES=${MAX_REQUEUES:-3}
