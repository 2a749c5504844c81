//go:build !without_configuration

package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	config "github.com/kubeflow/trainer/v2/pkg/apis/config/v1alpha1"
	trainerruntime "github.com/kubeflow/trainer/v2/pkg/runtime"
	"github.com/kubeflow/trainer/v2/pkg/runtime/core"
)

func newRuntimes(ctx context.Context, c client.Client, i client.FieldIndexer) (map[string]trainerruntime.Runtime, error) {
	return core.New(ctx, c, i, &config.Configuration{})
}
