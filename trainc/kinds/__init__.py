"""Job kinds beside TrainJob and JobSet, a folder each with the same files: admission, spec, plan, environment.

A document comes in; a plan goes out, or the refusal that its operator would have given. No kind imports another one.
"""
