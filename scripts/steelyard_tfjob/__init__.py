"""A Kubeflow TFJob as a Slurm job of Steelyard."""
