package broker

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"

	"sbx/internal/broker/document"
	"sbx/internal/doc"
)

// Serve answers at the sandbox's sockets until the server is closed.
func (b *Broker) Serve(sockets []net.Listener) *http.Server {
	s := &http.Server{Handler: newDoors(b), ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(io.Discard, "", 0), ConnContext: withConn, ConnState: freePlace}
	all := newPlaces(maxConns, answerTime)
	for _, l := range sockets {
		go func() { _ = s.Serve(limited{l, all}) }()
	}
	return s
}

// doors are the two protocols, plain HTTP and MCP; both lead to Dispatch.
type doors struct {
	*Broker
	mcp http.Handler
}

func newDoors(b *Broker) http.Handler {
	d := &doors{Broker: b}
	d.mcp = d.overMCP()
	return d
}

// ServeHTTP rejects requests from other origins before it looks at the token, and requests
// without the token before it reads anything else.
func (d *doors) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !isLocal(r) {
		refuse(w, http.StatusForbidden, "the broker answers at 127.0.0.1 alone, and to no web page")
		return
	}
	if !d.Authentic(bearerToken(r)) {
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

// post reads the body and passes it on. The body is read as strictly as documents are: it
// is bounded, and no key occurs twice.
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
	case !holdPlace(r):
		return
	}
	if r.URL.Path == "/mcp" {
		if _, err := doc.ParseJSON("body", body); err != nil {
			answerJSON(w, http.StatusBadRequest, map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": -32700, "message": d.redactor.quoted(err.Error())}})
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		d.mcp.ServeHTTP(w, r)
		return
	}
	call, err := document.ReadCall(body)
	if err != nil {
		refuse(w, http.StatusBadRequest, d.redactor.quoted(err.Error()))
		return
	}
	res := d.Dispatch(bearerToken(r), call)
	answerJSON(w, statuses[res.Kind], res.object())
}

var statuses = [...]int{Allowed: http.StatusOK, NoToken: http.StatusUnauthorized, NoTool: http.StatusNotFound, BadArgs: http.StatusBadRequest,
	Forbidden: http.StatusForbidden, Busy: http.StatusServiceUnavailable, Broken: http.StatusBadGateway, Closed: http.StatusServiceUnavailable}

// tools lists the tools that may still be allowed.
func (d *doors) tools(w http.ResponseWriter) {
	list := []map[string]any{}
	for _, t := range d.PossibleTools() {
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
