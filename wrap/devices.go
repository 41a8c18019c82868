package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap/defaults"
)

// OpenedDevices are the devices of the host that a spec writes by name.
func OpenedDevices(r *spec.Resolved) (opened []Found) {
	for i := range r.Write {
		w := &r.Write[i]
		if why := defaults.DeviceGives(w.Real); why != "" && w.Field != "" && w.Field != FieldAgent && w.Exists && !w.IsDir {
			opened = append(opened, Found{Path: w.Real, Real: w.Real, Kind: Device, Why: why})
		}
	}
	return opened
}

// tellPresets says in the record what presets among what is written open and give away,
// and before the start of those that give away the machine.
func (b *draft) tellPresets() {
	for i := range b.r.Presets {
		p := &b.r.Presets[i]
		if len(p.Paths) == 0 || !strings.HasPrefix(string(p.Field), string(fieldWrite)) {
			continue
		}
		text := p.Name + " opens " + strings.Join(p.Paths, ", ") + ": " + p.Gives
		b.fault(fieldWrite, Enforced, text)
		if p.Loud {
			b.plan.Warnings = append(b.plan.Warnings, spec.Warning{Field: fieldWrite, On: b.r.At(p.Field), Text: text})
		}
	}
}

// openDevices moves such devices from what is written to those of the sandbox's own /dev.
func (b *draft) openDevices() {
	opened := OpenedDevices(b.r)
	if len(opened) == 0 {
		return
	}
	r, h := *b.r, *b.h
	r.Write = slices.DeleteFunc(slices.Clone(r.Write), func(w spec.Path) bool {
		return slices.ContainsFunc(opened, func(d Found) bool { return d.Real == w.Real })
	})
	h.Devices = append(slices.Clone(h.Devices), opened...)
	b.r, b.h = &r, &h
	for _, d := range opened {
		text := d.Path + " of the host is open: " + d.Why
		b.fault(fieldWrite, Enforced, text)
		b.plan.Warnings = append(b.plan.Warnings, spec.Warning{Field: fieldWrite, Text: text})
	}
}

// deviceField is the field that a device of the sandbox's /dev is there for.
func deviceField(d *Found) spec.Field {
	if defaults.DeviceGives(d.Path) != "" {
		return fieldWrite
	}
	return FieldPrivate
}
