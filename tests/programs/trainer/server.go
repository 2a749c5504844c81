package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	trainerruntime "github.com/kubeflow/trainer/v2/pkg/runtime"
	trainertesting "github.com/kubeflow/trainer/v2/pkg/util/testing"
	"github.com/kubeflow/trainer/v2/pkg/webhooks"
)

// server holds what an API server and a Trainer hold: definitions, webhooks, runtimes, and the objects of one question.
type server struct {
	store
	definitions map[string]definition
	hooks       hooks
	runtimes    map[string]trainerruntime.Runtime
}

// store is a client whose content is exchanged between questions.
type store struct {
	client.WithWatch
	builder func() *fake.ClientBuilder
}

type index struct {
	object  client.Object
	field   string
	extract client.IndexerFunc
}

type indexes []index

func (i *indexes) IndexField(_ context.Context, object client.Object, name string, extract client.IndexerFunc) error {
	*i = append(*i, index{object, name, extract})
	return nil
}

// definition is the part of a CRD that judges an object.
type definition struct {
	structural *schema.Structural
	strategy   strategy
	plural     string
	namespaced bool
}

type strategy interface {
	Validate(context.Context, runtime.Object) field.ErrorList
}

// hooks is a webhook server that never listens: it is asked in the process.
type hooks map[string]http.Handler

func (h hooks) Register(path string, handler http.Handler) { h[path] = handler }
func (h hooks) NeedLeaderElection() bool                   { return false }
func (h hooks) Start(context.Context) error                { return nil }
func (h hooks) StartedChecker() healthz.Checker            { return nil }
func (h hooks) WebhookMux() *http.ServeMux                 { return nil }

var _ webhook.Server = hooks{}

func newServer(folder string) (*server, error) {
	s := &server{definitions: map[string]definition{}, hooks: hooks{}}
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if err := s.define(file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	var known indexes
	s.builder = func() *fake.ClientBuilder {
		builder := trainertesting.NewClientBuilder()
		for _, index := range known {
			builder = builder.WithIndex(index.object, index.field, index.extract)
		}
		return builder
	}
	s.reset()
	s.runtimes, err = newRuntimes(context.Background(), &s.store, &known)
	if err != nil {
		return nil, err
	}
	manager, err := ctrl.NewManager(&rest.Config{Host: "http://127.0.0.1:1"}, ctrl.Options{
		Scheme:         s.Scheme(),
		WebhookServer:  s.hooks,
		Metrics:        metricsserver.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return s.RESTMapper(), nil },
	})
	if err != nil {
		return nil, err
	}
	_, err = webhooks.Setup(manager, s.runtimes)
	return s, err
}

// define reads one CRD; a kustomization beside them is none.
func (s *server) define(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil || crd.Kind != "CustomResourceDefinition" {
		return err
	}
	for _, version := range crd.Spec.Versions {
		internal := &apiextensions.CustomResourceValidation{}
		err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(version.Schema, internal, nil)
		if err != nil {
			return err
		}
		structural, err := schema.NewStructural(internal.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		namespaced := crd.Spec.Scope == apiextensionsv1.NamespaceScoped
		kind := runtimeschema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}
		s.definitions[kind.Kind] = definition{
			structural: structural,
			strategy:   customresource.NewStrategy(nil, namespaced, kind, validator, nil, structural, nil, nil, nil),
			plural:     crd.Spec.Names.Plural,
			namespaced: namespaced,
		}
	}
	return nil
}

// reset forgets the objects of the former question.
func (s *store) reset() { s.WithWatch = s.builder().Build() }

// add puts an object there that exists already. A namespace is none of a cluster-wide kind.
func (s *server) add(tree *unstructured.Unstructured) error {
	object, err := s.Scheme().New(tree.GroupVersionKind())
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree.Object, object); err != nil {
		return err
	}
	return s.Create(context.Background(), object.(client.Object))
}

// admit is what an API server does to create an object; it is nil where somebody refuses.
func (s *server) admit(tree *unstructured.Unstructured, result *answer) map[string]any {
	definition, found := s.definitions[tree.GetKind()]
	if !found {
		result.Refusals = append(result.Refusals, refused("input", tree, "no such kind"))
		return nil
	}
	if definition.namespaced && tree.GetNamespace() == "" {
		tree.SetNamespace(metav1.NamespaceDefault)
	}
	if err := coerced(tree, definition.structural, result); err != nil {
		result.Refusals = append(result.Refusals, refused("decode", tree, err.Error()))
		return nil
	}
	defaulting.Default(tree.Object, definition.structural)
	if !s.call("mutate", tree, definition, result) {
		return nil
	}
	faults := definition.strategy.Validate(context.Background(), tree)
	for _, fault := range faults {
		result.Refusals = append(result.Refusals, refused("schema", tree, fault.Error()))
	}
	if len(faults) > 0 || !s.call("validate", tree, definition, result) {
		return nil
	}
	if err := s.add(tree); err != nil {
		result.Refusals = append(result.Refusals, refused("input", tree, err.Error()))
		return nil
	}
	return tree.Object
}

// coerced drops what the definition does not know, with a warning for each field.
func coerced(tree *unstructured.Unstructured, structural *schema.Structural, result *answer) error {
	kind, version := tree.GetKind(), tree.GetAPIVersion()
	data, found, unknown, err := objectmeta.GetObjectMetaWithOptions(tree.Object, objectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return err
	}
	options := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown = append(unknown, pruning.PruneWithOptions(tree.Object, structural, true, options)...)
	defaulting.PruneNonNullableNullsWithoutDefaults(tree.Object, structural)
	fault, paths := objectmeta.CoerceWithOptions(nil, tree.Object, structural, false, objectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if fault != nil {
		return fault
	}
	for _, path := range append(unknown, paths...) {
		result.Warnings = append(result.Warnings, fmt.Sprintf("unknown field %q", path))
	}
	tree.SetKind(kind)
	tree.SetAPIVersion(version)
	if found {
		return objectmeta.SetObjectMeta(tree.Object, data)
	}
	return nil
}

// call asks the webhook of a kind, where Trainer registers one; false is a refusal.
func (s *server) call(verb string, tree *unstructured.Unstructured, definition definition, result *answer) (admitted bool) {
	kind := tree.GroupVersionKind()
	handler, found := s.hooks[fmt.Sprintf("/%s-trainer-kubeflow-org-%s-%s", verb, kind.Version, strings.ToLower(kind.Kind))]
	if !found {
		return true
	}
	defer func() {
		if problem := recover(); problem != nil {
			result.Refusals = append(result.Refusals, refused("panic", tree, fmt.Sprint(problem)))
			admitted = false
		}
	}()
	raw, err := json.Marshal(tree.Object)
	if err != nil {
		panic(err)
	}
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID:       uid,
			Kind:      metav1.GroupVersionKind(kind),
			Resource:  metav1.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: definition.plural},
			Name:      tree.GetName(),
			Namespace: tree.GetNamespace(),
			Operation: admissionv1.Create,
			Object:    runtime.RawExtension{Raw: raw},
		},
	}
	body, err := json.Marshal(review)
	if err != nil {
		panic(err)
	}
	request := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	if err := json.Unmarshal(recorder.Body.Bytes(), &review); err != nil {
		panic(err)
	}
	for _, warning := range review.Response.Warnings {
		if !slices.Contains(result.Warnings, warning) {
			result.Warnings = append(result.Warnings, warning)
		}
	}
	if !review.Response.Allowed {
		by := "webhook"
		if verb == "mutate" { // it refuses nothing but what it cannot read, before the schema is asked
			by = "decode"
		}
		if review.Response.Result.Code == http.StatusInternalServerError {
			by = "panic"
		}
		result.Refusals = append(result.Refusals, refused(by, tree, review.Response.Result.Message))
		return false
	}
	if len(review.Response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(review.Response.Patch)
		if err != nil {
			panic(err)
		}
		changed, err := patch.Apply(raw)
		if err != nil {
			panic(err)
		}
		object := map[string]any{}
		if err := json.Unmarshal(changed, &object); err != nil {
			panic(err)
		}
		tree.Object = whole(object).(map[string]any)
	}
	return true
}
