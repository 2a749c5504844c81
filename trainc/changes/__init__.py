"""Two states of a repository side by side, and edits of people's files.

Files and Git's history come in; differences, their causes and new texts go out, with comments and layout kept. It
writes nothing but temporary files, and runs nothing that a repository names.
"""
