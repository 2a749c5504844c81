"""Other programs that call the compiler: Argo CD, Flux, kustomize, kpt, editors, Kubeflow's SDK."""
