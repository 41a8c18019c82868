package wrap

import "sbx/seccomp"

func (w *printer) programs(p *Programs) {
	if !p.Any() {
		return
	}
	w.KeyOpen("programs", '{')
	w.KeyFlag("limited", p.Limited)
	w.KeyTexts("files", p.Files)
	w.KeyTexts("folders", p.Folders)
	w.KeyTexts("denied", p.Denied)
	w.KeyTexts("loaders", p.Loaders)
	w.Close('}')
}

func (w *printer) filter(f *Filter) {
	if !f.On {
		return
	}
	w.Key("seccomp")
	w.OpenFlat('{')
	w.KeyText("profile", f.Profile)
	w.KeyFlag("root", f.Root)
	w.KeyFlag("unix_datagrams_refused", f.Unix)
	w.KeyFlag("inet_refused", f.NoInet)
	w.KeyFlag("fast_open_refused", f.Slow)
	if f.Seal != seccomp.SealNone {
		w.KeyText("memfd_create", f.Seal.String())
	}
	w.KeyFlag("connect_noted", f.Reach)
	w.KeyFlag("looks_noted", f.Looks)
	if f.Code == nil {
		n := len(seccomp.Shipped(f.Options(), seccomp.Native)) / 8
		w.KeyInt("instructions", int64(n))
	} else {
		w.KeyInt("instructions", int64(len(f.Code)/8))
	}
	w.Close('}')
}
