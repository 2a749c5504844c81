"""Job validation: what the API server says of the child Jobs that JobSet makes, and of their pods.

Source: k8s.io/kubernetes/pkg/apis/batch/validation, Kubernetes 1.36, and the JobSet controller that makes the Jobs.
"""
