# Sourced by scripts. Open MPI refuses to run as root unless told; these variables are set only then, and it is said.
if [[ $(id -u) -eq 0 && -z ${OMPI_ALLOW_RUN_AS_ROOT_CONFIRM:-} ]]; then
  echo "running as root: setting OMPI_ALLOW_RUN_AS_ROOT and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM for this command"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
