#!/bin/sh
# Refreshes the dumps of the cluster `{cluster}`. Arguments go to kubectl: --context NAME
set -eu
cd "$(dirname "$0")"

definitions=$(kubectl get crd --ignore-not-found -o yaml "$@" \
  jobsets.jobset.x-k8s.io \
  podgroups.scheduling.x-k8s.io \
  podgroups.scheduling.volcano.sh)
printf '%s\n' "$definitions" > definitions.yaml

for kind in clustertrainingruntimes priorityclasses runtimeclasses storageclasses \
  clusterqueues localqueues resourceflavors namespaces limitranges persistentvolumeclaims \
  validatingadmissionpolicies validatingadmissionpolicybindings \
  mutatingwebhookconfigurations validatingwebhookconfigurations; do
  echo ---
  kubectl get "$kind" -A -o yaml "$@" || true
done > cluster.yaml
