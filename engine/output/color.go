package output

import "strings"

// Colors name the colour of each kind of line, with Ansible's colour names
// ("bright red"); "" means the default of that kind.
type Colors struct {
	OK, Changed, Skip, Error, Unreachable, Warn, Deprecate, Debug, Verbose string
	DiffAdd, DiffRemove, DiffLines                                         string
}

// withDefaults fills what is empty.
func (c Colors) withDefaults() Colors {
	for _, d := range []struct {
		color *string
		name  string
	}{
		{&c.OK, "green"}, {&c.Changed, "yellow"}, {&c.Skip, "cyan"}, {&c.Error, "red"},
		{&c.Unreachable, "bright red"}, {&c.Warn, "bright purple"}, {&c.Deprecate, "purple"},
		{&c.Debug, "dark gray"}, {&c.Verbose, "blue"},
		{&c.DiffAdd, "green"}, {&c.DiffRemove, "red"}, {&c.DiffLines, "cyan"},
	} {
		if *d.color == "" {
			*d.color = d.name
		}
	}
	return c
}

// colorCode returns the SGR parameters of a colour name; "" for an unknown one.
func colorCode(name string) string {
	switch name {
	case "normal":
		return "0"
	case "black":
		return "0;30"
	case "red":
		return "0;31"
	case "green":
		return "0;32"
	case "yellow":
		return "0;33"
	case "blue":
		return "0;34"
	case "purple", "magenta":
		return "0;35"
	case "cyan":
		return "0;36"
	case "bright gray":
		return "0;37"
	case "dark gray":
		return "1;30"
	case "bright red":
		return "1;31"
	case "bright green":
		return "1;32"
	case "bright yellow":
		return "1;33"
	case "bright blue":
		return "1;34"
	case "bright purple", "bright magenta":
		return "1;35"
	case "bright cyan":
		return "1;36"
	case "white":
		return "1;37"
	}
	return ""
}

// paint puts every line of text into the named colour.
func paint(text, color string) string {
	code := colorCode(color)
	if code == "" {
		return text
	}
	before, after := "\x1b["+code+"m", "\x1b[0m"
	return before + strings.ReplaceAll(text, "\n", after+"\n"+before) + after
}
