package wire

import (
	"encoding/base64"
	"errors"
	"strconv"

	"sbx/internal/doc"
)

// walker visits the members of a message, to write or to read them.
type walker struct {
	to    *doc.Writer
	from  *doc.Node // the object that is read; nil if to is set
	taken int       // how many of its members were read
	err   error
}

// next returns the member called name of the object that is read; nil if there is none.
func (w *walker) next(name string, kind doc.Kind) *doc.Node {
	n := w.from.Get(name)
	if n == nil || w.err != nil {
		return nil
	}
	w.taken++
	if n.Kind != kind {
		w.err = errors.New("message: " + name + ": want " + kind.String())
		return nil
	}
	return n
}

func (w *walker) str(name string, s *string) {
	if w.to != nil {
		w.to.KeyText(name, *s)
	} else if n := w.next(name, doc.String); n != nil {
		*s = n.Text
	}
}

func (w *walker) bytes(name string, b *[]byte) {
	text := base64.StdEncoding.EncodeToString(*b)
	if w.str(name, &text); w.to == nil && w.err == nil && text != "" {
		*b, w.err = base64.StdEncoding.DecodeString(text)
	}
}

func (w *walker) flag(name string, v *bool) {
	if w.to != nil {
		w.to.KeyFlag(name, *v)
	} else if n := w.next(name, doc.Bool); n != nil {
		*v = n.Text == "true"
	}
}

func (w *walker) num(name string, v *int64) {
	if w.to != nil {
		w.to.KeyInt(name, *v)
	} else if n := w.next(name, doc.Number); n != nil {
		*v, w.err = strconv.ParseInt(n.Text, 10, 64)
	}
}

func (w *walker) strs(name string, list *[]string) {
	if w.to != nil {
		w.to.KeyTexts(name, *list)
	} else if n := w.next(name, doc.List); n != nil {
		for _, item := range n.Items {
			if item.Kind != doc.String {
				w.err = errors.New("message: " + name + ": want strings")
				return
			}
			*list = append(*list, item.Text)
		}
	}
}

func (w *walker) object(name string, members func(*walker)) {
	if w.to != nil {
		w.to.KeyOpen(name, '{')
		members(w)
		w.to.Close('}')
	} else if n := w.next(name, doc.Object); n != nil {
		w.within(n, members)
	}
}

// within reads the members of n. Unknown members are an error.
func (w *walker) within(n *doc.Node, members func(*walker)) {
	in := walker{from: n}
	members(&in)
	if w.err = in.err; w.err == nil && in.taken != len(n.Members) {
		w.err = errors.New("message: a member that is unknown, or there twice")
	}
}

// objects visits a list of objects.
func objects[T any](w *walker, name string, list *[]T, members func(*walker, *T)) {
	if w.to != nil {
		if len(*list) > 0 {
			doc.Objects(w.to, name, *list, func(v *T) { members(w, v) })
		}
		return
	}
	n := w.next(name, doc.List)
	if n == nil {
		return
	}
	*list = make([]T, len(n.Items))
	for i, item := range n.Items {
		if item.Kind != doc.Object {
			w.err = errors.New("message: " + name + ": want objects")
		}
		if w.err != nil {
			return
		}
		w.within(item, func(w *walker) { members(w, &(*list)[i]) })
	}
}
