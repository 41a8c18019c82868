package wrap

import (
	"slices"
	"strings"

	"sbx/spec"
	"sbx/wrap/defaults"
)

// OpenedDevices returns the devices of the host that a spec names as writable.
func OpenedDevices(r *spec.Resolved) (opened []Found) {
	for i := range r.Write {
		w := &r.Write[i]
		if why := defaults.DeviceGives(w.Real); why != "" && w.Field != "" && w.Field != FieldAgent && w.Exists && !w.IsDir {
			opened = append(opened, Found{Path: w.Real, Real: w.Real, Kind: Device, Why: why})
		}
	}
	return opened
}

// reportPresets reports which paths the presets of filesystem.write open and what those give away. It
// warns before the start if a preset gives away the machine.
func (b *draft) reportPresets() {
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

// openDevices moves the opened devices from the writable paths to the devices of the sandbox's own
// /dev.
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

// deviceField returns the field because of which the sandbox's /dev has a device.
func deviceField(d *Found) spec.Field {
	if defaults.DeviceGives(d.Path) != "" {
		return fieldWrite
	}
	return FieldPrivate
}
