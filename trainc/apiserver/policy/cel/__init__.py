"""CEL as the API server evaluates it for admission policies: parsed and type-checked by cel-cpp, evaluated here.

The modules of this folder run in a process of their own (process.py), whose time and memory are bounded.
"""
