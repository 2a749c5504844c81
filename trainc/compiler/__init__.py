"""The compiler: `pipeline` joins its stages.

Files come in; bundles of manifests and findings go out. No stage imports another one, and none prints.
"""
