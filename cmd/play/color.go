package main

// color reports whether the output is coloured: on a terminal, unless the
// environment or the configuration says otherwise.
func (o *options) color(h *host) bool {
	s := o.Settings
	return s.ForceColor || terminal(h.OutFile) && !s.NoColor
}
