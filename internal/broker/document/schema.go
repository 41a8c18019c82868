package document

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"sbx/internal/doc"
)

//go:embed broker.schema.json
var brokerSchema string

//go:embed plan.schema.json
var planSchema string

// BrokerSchema returns the JSON Schema (2020-12) of the Broker document.
func BrokerSchema() string { return brokerSchema }

// PlanSchema returns the JSON Schema of the Plan.
func PlanSchema() string { return planSchema }

// Compile prepares the schema of a tool's arguments for Check and returns what is wrong
// with it. It loads no other schema: a document must not make the broker open a URL.
func (t *Tool) Compile() (err error) {
	if err = checkKeywords(t.Args, "args"); err != nil {
		return err
	}
	var of jsonschema.Schema
	if err = json.Unmarshal(t.Args.AppendJSON(nil, nil), &of); err == nil {
		t.schema, err = of.Resolve(nil)
	}
	return err
}

// within says where in a keyword's value schemas are.
type within uint8

const (
	nowhere within = iota
	schema         // the value is a schema, or a list of them
	members        // the value is an object with schemas as members
)

// keywords are the keywords of drafts 2020-12 and 7 that package jsonschema implements.
var keywords = func() map[string]within {
	all := map[string]within{}
	for kind, names := range map[within]string{
		nowhere: "$schema $id $ref $anchor $dynamicAnchor $dynamicRef $vocabulary $comment title description default examples deprecated readOnly writeOnly " +
			"type enum const multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern format contentEncoding contentMediaType " +
			"minItems maxItems uniqueItems minContains maxContains minProperties maxProperties required dependentRequired",
		schema: "items additionalProperties additionalItems contains propertyNames not if then else unevaluatedItems unevaluatedProperties contentSchema " +
			"allOf anyOf oneOf prefixItems",
		members: "properties patternProperties dependentSchemas $defs definitions",
	} {
		for _, name := range strings.Fields(names) {
			all[name] = kind
		}
	}
	return all
}()

// checkKeywords rejects what a validator would ignore: a misspelled keyword forbids
// nothing, and a misspelled type allows no value.
func checkKeywords(n *doc.Node, at string) error {
	for _, item := range n.Items {
		if err := checkKeywords(item, at); err != nil {
			return err
		}
	}
	for _, m := range n.Members {
		at, kind, known := at+"."+m.Key, nowhere, strings.HasPrefix(m.Key, "x-")
		if !known {
			kind, known = keywords[m.Key]
		}
		var err error
		switch {
		case !known:
			err = errors.New(at + " is not a keyword of JSON Schema")
		case m.Key == "type" && !areTypes(m.Value):
			err = errors.New(at + ": want array, boolean, integer, null, number, object, string, or a list of them")
		case kind == schema:
			err = checkKeywords(m.Value, at)
		case kind == members:
			for _, v := range m.Value.Members {
				err = cmp.Or(err, checkKeywords(v.Value, at+"."+v.Key))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func areTypes(n *doc.Node) bool {
	all := n.Items
	if n.Kind == doc.String {
		all = []*doc.Node{n}
	}
	return len(all) > 0 && !slices.ContainsFunc(all, func(n *doc.Node) bool {
		return !slices.Contains([]string{"array", "boolean", "integer", "null", "number", "object", "string"}, n.Text)
	})
}

// Check returns how a call's arguments violate their schema, and at which place of the
// schema.
func (t *Tool) Check(args *doc.Node) (why string) {
	if at := outOfRange(args, ""); at != "" {
		return at + ": the number is larger than any that is computed with"
	}
	err := t.schema.Validate(value(args))
	if err == nil {
		return ""
	}
	// The error lists all places on the way; only the last matters.
	why = strings.TrimPrefix(err.Error(), "validating root: ")
	if i := strings.LastIndex(why, "validating /"); i >= 0 {
		why = why[i+len("validating "):]
	}
	return why
}

// outOfRange returns the place of a number that is too large for a float64; "" for none.
func outOfRange(n *doc.Node, at string) string {
	if n.Kind == doc.Number {
		if _, err := strconv.ParseFloat(n.Text, 64); err != nil {
			return cmp.Or(at, "/")
		}
	}
	for i, item := range n.Items {
		if place := outOfRange(item, at+"/"+strconv.Itoa(i)); place != "" {
			return place
		}
	}
	for _, m := range n.Members {
		if place := outOfRange(m.Value, at+"/"+m.Key); place != "" {
			return place
		}
	}
	return ""
}

// value converts a node to the types of encoding/json.
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
