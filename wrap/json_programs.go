package wrap

import "sbx/seccomp"

func (w *printer) programs(p *Programs) {
	if !p.Any() {
		return
	}
	w.key("programs")
	w.open('{')
	w.flag("limited", p.Limited)
	w.list("files", p.Files)
	w.list("folders", p.Folders)
	w.list("denied", p.Denied)
	w.list("loaders", p.Loaders)
	w.close('}')
}

func (w *printer) filter(f *Filter) {
	if !f.On {
		return
	}
	w.key("seccomp")
	w.flat = true
	w.open('{')
	w.text("profile", f.Profile)
	w.flag("root", f.Root)
	w.flag("unix_datagrams_refused", f.Unix)
	w.flag("inet_refused", f.NoInet)
	if f.Seal != seccomp.SealNone {
		w.text("memfd_create", f.Seal.String())
	}
	if f.Reach {
		w.flag("connect_noted", f.Reach)
	}
	if f.Code == nil {
		n := len(seccomp.Shipped(f.Options(), seccomp.Native)) / 8
		w.num("instructions", int64(n))
	} else {
		w.num("instructions", int64(len(f.Code)/8))
	}
	w.close('}')
	w.flat = false
}
