// Answers what Kubeflow Trainer makes of objects, a JSON text for each line of its input: what its CRDs refuse, by the API
// server's own code, what its webhooks refuse, and the objects that its controller would apply.
//
// Usage: trainer FOLDER, the folder of Trainer's CRDs.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"

	trainer "github.com/kubeflow/trainer/v2/pkg/apis/trainer/v1alpha1"
	trainerruntime "github.com/kubeflow/trainer/v2/pkg/runtime"
)

const uid = "11111111-2222-3333-4444-555555555555"

type question struct {
	Objects []map[string]any `json:"objects"`
}

type refusal struct {
	By      string `json:"by"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Message string `json:"message"`
}

type answer struct {
	Objects  []any     `json:"objects"`
	Refusals []refusal `json:"refusals"`
	Warnings []string  `json:"warnings"`
}

func main() {
	ctrl.SetLogger(logr.Discard())
	server, err := newServer(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	input := bufio.NewReader(os.Stdin)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := output.Encode(server.answer(normalised(asked.Objects))); err != nil {
			os.Exit(1)
		}
	}
}

// normalised has whole numbers as int64, as the API server decodes them.
func normalised(objects []map[string]any) []map[string]any {
	for _, object := range objects {
		whole(object)
	}
	return objects
}

func whole(node any) any {
	switch value := node.(type) {
	case map[string]any:
		for key, item := range value {
			value[key] = whole(item)
		}
	case []any:
		for index, item := range value {
			value[index] = whole(item)
		}
	case float64:
		if value == float64(int64(value)) && value < 1<<53 && value > -(1<<53) {
			return int64(value)
		}
	}
	return node
}

// answer admits the runtimes, then the TrainJobs beside them, and builds what was admitted.
func (s *server) answer(objects []map[string]any) (result answer) {
	result = answer{Objects: []any{}, Refusals: []refusal{}, Warnings: []string{}}
	s.reset()
	var jobs []*unstructured.Unstructured
	for _, object := range objects {
		tree := &unstructured.Unstructured{Object: object}
		switch tree.GetKind() {
		case "TrainJob":
			jobs = append(jobs, tree)
		case "TrainingRuntime", "ClusterTrainingRuntime":
			s.admit(tree, &result)
		default:
			if err := s.add(tree); err != nil {
				result.Refusals = append(result.Refusals, refused("input", tree, err.Error()))
			}
		}
	}
	if len(result.Refusals) > 0 {
		return result
	}
	for _, tree := range jobs {
		tree.SetUID(uid)
		if job := s.admit(tree, &result); job != nil {
			s.build(tree, job, &result)
		}
	}
	return result
}

// build adds the objects of one TrainJob. A dereferenced nil pointer of the controller is its answer.
func (s *server) build(tree *unstructured.Unstructured, admitted map[string]any, result *answer) {
	defer func() {
		if problem := recover(); problem != nil {
			result.Refusals = append(result.Refusals, refused("panic", tree, fmt.Sprint(problem)))
		}
	}()
	job := &trainer.TrainJob{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(admitted, job); err != nil {
		result.Refusals = append(result.Refusals, refused("decode", tree, err.Error()))
		return
	}
	job.TypeMeta = metav1.TypeMeta{APIVersion: trainer.GroupVersion.String(), Kind: trainer.TrainJobKind}
	key := trainerruntime.RuntimeRefToRuntimeRegistryKey(job.Spec.RuntimeRef)
	built, err := s.runtimes[key].NewObjects(context.Background(), job)
	if err != nil {
		result.Refusals = append(result.Refusals, refused("build", tree, err.Error()))
		return
	}
	for _, object := range built {
		result.Objects = append(result.Objects, object)
	}
}

func refused(by string, tree *unstructured.Unstructured, message string) refusal {
	return refusal{By: by, Kind: tree.GetKind(), Name: tree.GetName(), Message: message}
}
