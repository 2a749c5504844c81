// Answers CEL expressions as kube-apiserver compiles and evaluates those of admission policies.
//
// Each line of input is a question in JSON, each line of output its answer.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/resource"
	unstructured "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	plugin "k8s.io/apiserver/pkg/admission/plugin/cel"
	kubernetes "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

type question struct {
	Minor      uint           `json:"minor"`
	Expression string         `json:"expression"`
	Stored     bool           `json:"stored"`
	Values     map[string]any `json:"values"`
	Functions  bool           `json:"functions"` // list the functions of new expressions
}

type answer struct {
	Functions []string `json:"functions,omitempty"`
	Panics    bool     `json:"panics,omitempty"`
	Refused   string   `json:"refused,omitempty"`
	Type      string   `json:"type,omitempty"`
	Value     any      `json:"value"`
	Error     string   `json:"error,omitempty"`
	Cost      uint64   `json:"cost"`
}

type expression string

func (e expression) GetExpression() string { return string(e) }

func (e expression) ReturnTypes() []*cel.Type { return []*cel.Type{cel.AnyType} }

func main() {
	environments := map[uint]*environment.EnvSet{}
	compilers := map[uint]plugin.Compiler{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		reader := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		reader.UseNumber() // whole numbers of objects are ints
		if err := reader.Decode(&asked); err != nil {
			panic(err)
		}
		unstructured.ConvertMapNumbers(asked.Values, 0)
		compiler, ok := compilers[asked.Minor]
		if !ok {
			env := environment.MustBaseEnvSet(version.MajorMinor(1, asked.Minor))
			environments[asked.Minor] = env
			compiler = plugin.NewCompiler(env)
			compilers[asked.Minor] = compiler
		}
		result := answer{}
		if asked.Functions {
			result.Functions = functions(environments[asked.Minor].NewExpressionsEnv())
		} else {
			result = answered(compiler, asked)
		}
		if err := out.Encode(result); err != nil {
			panic(err)
		}
	}
}

func answered(compiler plugin.Compiler, asked question) (result answer) {
	defer func() {
		if recover() != nil { // the server answers a request with an error 500
			result = answer{Panics: true}
		}
	}()
	mode := environment.NewExpressions
	if asked.Stored {
		mode = environment.StoredExpressions
	}
	options := plugin.OptionalVariableDeclarations{HasParams: true, HasAuthorizer: true}
	compiled := compiler.CompileCELExpression(expression(asked.Expression), options, mode)
	if compiled.Error != nil {
		return answer{Refused: compiled.Error.Detail}
	}
	value, details, err := compiled.Program.ContextEval(context.Background(), asked.Values)
	result = answer{Type: compiled.OutputType.String()}
	if details != nil && details.ActualCost() != nil {
		result.Cost = *details.ActualCost()
	}
	if err != nil {
		result.Error = err.Error()
		return result
	}
	result.Value = shown(value)
	return result
}

// functions are the overloads of an environment in its order, as `name(int, int) -> int` or `string.name(int) -> int`.
func functions(env *cel.Env) []string {
	lines := []string{}
	declared := env.Functions()
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		for _, overload := range declared[name].OverloadDecls() {
			words := []string{}
			for _, parameter := range overload.ArgTypes() {
				words = append(words, parameter.String())
			}
			line := name + "(" + strings.Join(words, ", ") + ")"
			if overload.IsMemberFunction() {
				line = words[0] + "." + name + "(" + strings.Join(words[1:], ", ") + ")"
			}
			lines = append(lines, line+" -> "+overload.ResultType().String())
		}
	}
	return lines
}

// shown is a value in words that tell its type: 1, 1u, 1.0, "text", [..], {..}.
func shown(value ref.Val) string {
	switch held := value.(type) {
	case types.Double:
		return "double " + strconv.FormatFloat(float64(held), 'g', -1, 64)
	case types.Uint:
		return fmt.Sprintf("%du", uint64(held))
	case types.String:
		return strconv.Quote(string(held))
	case types.Bytes:
		return fmt.Sprintf("bytes %x", []byte(held))
	case types.Duration:
		return fmt.Sprintf("duration %d", held.Nanoseconds())
	case types.Timestamp:
		return fmt.Sprintf("timestamp %d.%09d", held.Unix(), held.Nanosecond())
	case types.Null:
		return "null"
	case *types.Type:
		return "type " + held.TypeName()
	case *types.Optional:
		if !held.HasValue() {
			return "none"
		}
		return "some " + shown(held.GetValue())
	case traits.Lister:
		parts := []string{}
		for i := types.Int(0); i < held.Size().(types.Int); i++ {
			parts = append(parts, shown(held.Get(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		parts := []string{}
		for at := held.Iterator(); at.HasNext() == types.True; {
			key := at.Next()
			parts = append(parts, shown(key)+": "+shown(held.Get(key)))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	}
	switch held := value.Value().(type) {
	case *resource.Quantity:
		text := held.AsDec().String()
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		return text
	case *url.URL:
		return fmt.Sprintf("%s %s %s %s", held.Scheme, held.Host, held.EscapedPath(), held.RawQuery)
	case semver.Version:
		held.Build = nil
		return held.String()
	case kubernetes.Format:
		return strings.ToLower(held.Name)
	}
	return fmt.Sprintf("%v", value.Value())
}
