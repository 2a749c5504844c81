"""Plain functions and constants without state: numbers, quantities, globs, spelling, names that programs share.

Texts and values come in; texts and values go out. It imports no other room.
"""
