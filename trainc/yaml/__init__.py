"""Kubernetes' YAML: one scalar table, and the reader and the writer made from it.

Bytes come in; documents whose every value knows its line go out, and the other way round. It knows no kind.
"""
