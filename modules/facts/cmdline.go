package facts

import (
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// cmdline is the kernel's command line: once with the last value of each name,
// once with all.
func cmdline(h *Host) *value.Dict {
	last, all := value.NewDict(), value.NewDict()
	words, err := shellquote.Split(h.read("/proc/cmdline"))
	if err != nil {
		words = strings.Fields(h.read("/proc/cmdline"))
	}
	for _, w := range words {
		key, val, given := strings.Cut(w, "=")
		var v any = val
		if !given {
			v = true
		}
		last.Set(key, v)
		switch old, ok := all.Get(key); {
		case !ok || !given:
			all.Set(key, v)
		default:
			if l, ok := old.(*value.List); ok {
				l.Append(v)
			} else {
				all.Set(key, value.NewList(old, v))
			}
		}
	}
	return value.DictOf("cmdline", last, "proc_cmdline", all)
}
