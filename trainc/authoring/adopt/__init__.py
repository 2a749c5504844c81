"""What runs on a cluster as a repository: what `kubectl get -o yaml` printed comes in, files and an account of all objects go out.

Nothing here asks a cluster, and no file that is there already is written again.
"""
