"""Findings and answers in words: for people, for reviews, for programs.

Reports and answers come in; lines and JSON go out. It decides nothing, and leaves printing to the command line.
"""
