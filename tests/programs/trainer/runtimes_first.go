//go:build without_configuration

package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	trainerruntime "github.com/kubeflow/trainer/v2/pkg/runtime"
	"github.com/kubeflow/trainer/v2/pkg/runtime/core"
)

// Trainer 2.0 and 2.1 have no configuration.
func newRuntimes(ctx context.Context, c client.Client, i client.FieldIndexer) (map[string]trainerruntime.Runtime, error) {
	return core.New(ctx, c, i)
}
