package broker

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"sbx/internal/broker/document"
	"sbx/internal/doc"
)

// The bounds of the doors.
const (
	maxConns  = 64
	maxHeader = 16 << 10
	maxBody   = 1 << 20

	headerTime = 5 * time.Second  // for the headers of a request
	bodyTime   = 10 * time.Second // for all of it
	idleTime   = 10 * time.Second // between two of them
	answerTime = 10 * time.Second // for a part of an answer to be read
)

// Serve answers at the sandbox's sockets until they are closed.
func (b *Broker) Serve(sockets []net.Listener) *http.Server {
	s := &http.Server{Handler: newDoors(b), ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0), ConnContext: withConn, ConnState: answered}
	all := newPlaces(maxConns, answerTime)
	for _, l := range sockets {
		go func() { _ = s.Serve(limited{l, all}) }()
	}
	return s
}

// doors lead all to Dispatch.
type doors struct {
	*Broker
	mcp http.Handler
}

func newDoors(b *Broker) http.Handler {
	d := &doors{Broker: b}
	d.mcp = d.overMCP()
	return d
}

// ServeHTTP refuses who comes from elsewhere before the token is looked at, and who has
// none before anything else is read.
func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !local(r) {
		refuse(w, http.StatusForbidden, "the broker answers at 127.0.0.1 alone, and to no web page")
		return
	}
	if !d.Authentic(bearer(r)) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(w, http.StatusUnauthorized, "no token of this execution")
		return
	}
	switch want := map[string]string{"/call": "POST", "/mcp": "POST", "/tools": "GET"}[r.URL.Path]; {
	case want == "":
		refuse(w, http.StatusNotFound, "POST /call, GET /tools and /mcp are all that there is")
	case r.Method != want:
		w.Header().Set("Allow", want)
		refuse(w, http.StatusMethodNotAllowed, "want "+want)
	case want == "GET":
		d.tools(w)
	default:
		d.post(w, r)
	}
}

// post reads the body, which is JSON as documents are: within its bounds, and no key
// there twice.
func (d *doors) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	large := &http.MaxBytesError{}
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "the body is larger than 1 MiB")
		return
	case err != nil:
		refuse(w, http.StatusBadRequest, "the body ends too soon")
		return
	case !call(r):
		return
	}
	if r.URL.Path == "/mcp" {
		if _, err := doc.ParseJSON("body", body); err != nil {
			answerJSON(w, http.StatusBadRequest, map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32700, "message": d.redactor.said(err.Error())}})
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		d.mcp.ServeHTTP(w, r)
		return
	}
	call, err := document.ReadCall(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, d.redactor.said(err.Error()))
		return
	}
	res := d.Dispatch(bearer(r), call)
	answerJSON(w, statuses[res.Kind], res.object())
}

var statuses = [...]int{Allowed: http.StatusOK, NoToken: http.StatusUnauthorized, NoTool: http.StatusNotFound, BadArgs: http.StatusBadRequest,
	Forbidden: http.StatusForbidden, Busy: http.StatusServiceUnavailable, Broken: http.StatusBadGateway, Closed: http.StatusServiceUnavailable}

// object is a result as callers read it.
func (r *Result) object() map[string]any {
	o := map[string]any{"verdict": "deny"}
	add := func(key, s string) {
		if s != "" {
			o[key] = s
		}
	}
	add("rule", r.Rule)
	add("reason", r.Reason)
	add("allow_with", r.AllowWith)
	if r.Kind != Allowed && r.Kind != Broken {
		return o
	}
	if o["verdict"] = "allow"; r.Kind == Broken {
		o["verdict"] = "error"
	}
	result := map[string]any{"stdout": r.Stdout, "stderr": r.Stderr, "truncated": r.Truncated}
	if r.Status.Set {
		result["status"] = r.Status.Value
	}
	o["result"] = result
	made := []map[string]any{}
	for _, a := range r.Artifacts {
		made = append(made, map[string]any{"path": a.Path, "size": a.Size, "sha256": a.SHA256})
	}
	o["artifacts"], o["unexpected"] = made, append([]string{}, r.Unexpected...)
	return o
}

// tools lists what could be allowed.
func (d *doors) tools(w http.ResponseWriter) {
	list := []map[string]any{}
	for _, t := range d.Could() {
		list = append(list, map[string]any{"name": t.Name, "description": t.Description, "args": json.RawMessage(t.Args.AppendJSON(nil, nil))})
	}
	answerJSON(w, http.StatusOK, map[string]any{"tools": list})
}

func refuse(w http.ResponseWriter, status int, why string) {
	answerJSON(w, status, map[string]any{"error": why})
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
}

// bearer is the token of a request; "" where it has none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// local tells whether a request names the broker by the loopback, and comes from no page
// of anywhere else: a browser inside must not be led here.
func local(r *http.Request) bool {
	port := ""
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		_, port, _ = net.SplitHostPort(at.String())
	}
	named := func(host string) bool {
		name, at, err := net.SplitHostPort(host)
		if err != nil {
			name, at = strings.Trim(host, "[]"), ""
		}
		return (name == "127.0.0.1" || name == "localhost" || name == "::1" || name == "" && port == "") && (at == port || port == "")
	}
	origins := r.Header["Origin"]
	if len(origins) == 0 {
		return named(r.Host)
	}
	from, plain := strings.CutPrefix(origins[0], "http://")
	return named(r.Host) && len(origins) == 1 && plain && from == r.Host
}

// Could are the tools of which some call might be allowed.
func (b *Broker) Could() (all []*document.Tool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.doc.Tools {
		if b.failed == "" && b.calls < b.doc.MaxCalls && b.planned(t.Name) && b.never(t) == nil {
			all = append(all, t)
		}
	}
	return all
}

// planned tells whether a step of the plan that is not done is a call of the tool.
func (d *decider) planned(tool string) bool {
	if d.plan.AnyCall() {
		return true
	}
	for i := range d.plan.Steps {
		if d.plan.Steps[i].Tool == tool && (!d.plan.Ordered || d.steps[i] != done) {
			return true
		}
	}
	return false
}
