# Sourced by the sbatch files after STEELYARD_HOME is known: settings, the launcher, and what a signal leads to.
source "$STEELYARD_HOME/scripts/slurm/env.sh"

refuse() {
  echo "steelyard: $1" >&2
  exit 2
}

[[ -x $PROGRAM ]] || refuse "there is no program '$PROGRAM'; build it, or set PROGRAM in scripts/slurm/env.sh"
case $LAUNCHER in
  srun) launcher="srun $SRUN_OPTIONS" ;;
  mpirun) launcher="mpirun $MPIRUN_OPTIONS" ;;
  *) refuse "LAUNCHER=$LAUNCHER is unknown; choose srun or mpirun" ;;
esac
command -v "$LAUNCHER" >/dev/null || refuse "there is no $LAUNCHER; load its module in scripts/slurm/env.sh"

[[ $LAUNCHER != mpirun ]] || source "$STEELYARD_HOME/scripts/mpi_environment.sh"

# A job that was requeued has its number still, and a run directory is never overwritten.
run_name=$SLURM_JOB_NAME-$SLURM_JOB_ID
((${SLURM_RESTART_COUNT:-0} == 0)) || run_name+=-restart$SLURM_RESTART_COUNT

signalled=
# run COMMAND...: to its end, in the background, since bash hears signals only while it waits.
run() {
  "$@" &
  local child=$! code
  trap 'signalled=1; echo "steelyard: USR1: stopping the run" >&2; kill -USR1 '"$child"' 2>/dev/null' USR1
  while true; do
    wait "$child" && code=0 || code=$?
    kill -0 "$child" 2>/dev/null || break  # A trap ends `wait` while the child is still there.
  done
  trap '' USR1
  finish "$code"
}

# finish CODE: 85 is a run that the signal stopped; 138, one that it met before the program was ready for it.
finish() {
  local code=$1
  [[ -n $signalled && $code -eq 138 ]] && code=85
  [[ $code -eq 85 ]] || exit "$code"
  if ((${SLURM_RESTART_COUNT:-0} >= MAX_REQUEUES)); then
    echo "steelyard: stopped by a signal, and requeued $MAX_REQUEUES times already (MAX_REQUEUES): left alone" >&2
    exit 1
  fi
  # Where Slurm itself requeues jobs that end so, a second request would be one too many.
  if scontrol show config | grep -E '^RequeueExit +=' | grep -qw 85; then
    echo "steelyard: stopped by a signal; RequeueExit queues the job again" >&2
  else
    echo "steelyard: stopped by a signal; queueing the job again" >&2
    scontrol requeue "$SLURM_JOB_ID" || exit 1
  fi
  exit 85
}
