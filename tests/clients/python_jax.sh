# JAX and its plug-in for CUDA from PyPI.
. "$WARPBEAM_CLIENTS/python/environment.sh"
only_with_all "4 GB" || exit
python_client jax jax_cases.py "jax[cuda13]==0.10.2" numpy==2.4.6
