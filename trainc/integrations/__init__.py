"""Other programs that call the compiler: Argo CD, kustomize and kpt, editors, Kubeflow's SDK.

Their requests come in; their answers go out. Nothing here decides what a job becomes.
"""
