package document

import (
	_ "embed"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"sbx/internal/doc"
)

//go:embed broker.schema.json
var brokerSchema string

//go:embed plan.schema.json
var planSchema string

// BrokerSchema is the JSON Schema (2020-12) of the Broker document.
func BrokerSchema() string { return brokerSchema }

// PlanSchema is that of the Plan.
func PlanSchema() string { return planSchema }

// Compile makes the schema of a tool's arguments ready for Check, and tells what is wrong
// with it. It loads no other schema: a broker opens no URL because a document says so.
func (t *Tool) Compile() (err error) {
	var of jsonschema.Schema
	if err = json.Unmarshal(t.Args.AppendJSON(nil, nil), &of); err == nil {
		t.schema, err = of.Resolve(nil)
	}
	return err
}

// Check tells what of a call's arguments is against their schema, and at which place of
// that.
func (t *Tool) Check(args *doc.Node) (why string) {
	err := t.schema.Validate(value(args))
	if err == nil {
		return ""
	}
	// The places that lead to the last are said before it.
	why = strings.TrimPrefix(err.Error(), "validating root: ")
	if i := strings.LastIndex(why, "validating /"); i >= 0 {
		why = why[i+len("validating "):]
	}
	return why[:min(len(why), 500)]
}

// value is a node as package json of the standard library has it.
func value(n *doc.Node) any {
	switch n.Kind {
	case doc.Bool:
		return n.Text == "true"
	case doc.Number:
		v, _ := strconv.ParseFloat(n.Text, 64)
		return v
	case doc.String:
		return n.Text
	case doc.List:
		list := make([]any, len(n.Items))
		for i, item := range n.Items {
			list[i] = value(item)
		}
		return list
	case doc.Object:
		object := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			object[m.Key] = value(m.Value)
		}
		return object
	}
	return nil
}
