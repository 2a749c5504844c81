"""Help for people who write jobs: a first job, a field explained, a rehearsal on this machine, a cluster adopted.

Words, schemas or dumps come in; files and answers go out. It never changes what a job compiles to.
"""
