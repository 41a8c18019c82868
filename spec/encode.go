package spec

import (
	"slices"
	"strconv"
	"time"

	"sbx/internal/doc"
	"sbx/internal/reach"
)

// Node returns the document as it was read or, for a spec made in Go, a document that decodes to an
// equal spec.
func (s *SandboxSpec) Node() *Node {
	if s.Source.Root != nil {
		return s.Source.Root
	}
	return nodeOf(specFields)(*s)
}

// nodeOf returns a function that makes the node of an object by its table of fields.
func nodeOf[T any](fields []member[T]) func(T) *Node {
	return func(t T) *Node {
		n := &Node{Kind: Object}
		for i := range fields {
			if v := fields[i].Node(&t); v != nil {
				n.Members = append(n.Members, Member{Key: fields[i].Name, Value: v})
			}
		}
		return n
	}
}

// given returns the node of a value; nil if it is not set.
func given[T any](o Opt[T], node func(T) *Node) *Node {
	if !o.Set {
		return nil
	}
	return node(o.Value)
}

func intNode[N ~int | ~int64](i N) *Node { return doc.Int(int64(i)) }

func wordNode[E interface{ String() string }](e E) *Node { return doc.Str(e.String()) }

func floatNode(f float64) *Node {
	return &Node{Kind: Number, Text: string(doc.AppendNumber(nil, f))}
}

// durationNode writes d in the largest unit of ParseDuration that divides it, or else in seconds.
func durationNode(d time.Duration) *Node {
	for _, c := range clocks {
		count := strconv.FormatInt(int64(d/c.length), 10)
		if d%c.length == 0 && len(count) <= c.digits {
			return doc.Str(count + c.suffix)
		}
	}
	return floatNode(d.Seconds())
}

func listNode[T any](items []T, node func(T) *Node) *Node {
	n := &Node{Kind: List}
	for _, item := range items {
		n.Items = append(n.Items, node(item))
	}
	return n
}

func listenNode(l reach.Listen) *Node {
	if l.IsPort() {
		return intNode(l.Host)
	}
	return doc.Str(l.String())
}

// variablesNode sorts the names: a map has no order.
func variablesNode(set map[string]string) *Node {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	n := &Node{Kind: Object}
	for _, name := range names {
		n.Members = append(n.Members, Member{Key: name, Value: doc.Str(set[name])})
	}
	return n
}
