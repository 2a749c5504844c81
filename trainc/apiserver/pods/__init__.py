"""Pod template validation: what a child Job's pods are refused for, as far as it is rare.

Source: k8s.io/kubernetes/pkg/apis/core/validation (ValidatePodTemplateSpec), Kubernetes 1.36. Every function takes one
field of a pod or a container (`Field` of complaints.py), and looks at nothing else than it names.
"""
