package inventory

import (
	"fmt"
	"strings"

	"play/modules/value"
)

// Graph returns what --graph prints for a group; vars adds variables.
func (r *Render) Graph(group string, vars bool) (string, error) {
	g, ok := r.Inventory.Group(group)
	if !ok {
		return "", fmt.Errorf("cannot draw %q: it is not the name of a group", group)
	}
	gr := grapher{r: r, vars: vars}
	if err := gr.group(g, 0); err != nil {
		return "", err
	}
	return strings.Join(gr.lines, "\n") + "\n", nil
}

type grapher struct {
	r     *Render
	vars  bool
	lines []string
}

func (gr *grapher) line(text string, depth int) {
	if depth > 0 {
		text = strings.Repeat("  |", depth) + "--" + text
	}
	gr.lines = append(gr.lines, text)
}

func (gr *grapher) group(g *Group, depth int) error {
	gr.line("@"+g.Name+":", depth)
	for _, c := range g.Children() {
		if err := gr.group(c, depth+1); err != nil {
			return err
		}
	}
	if g.Name != "all" {
		for _, h := range g.DirectHosts() {
			if err := gr.host(h, depth+1); err != nil {
				return err
			}
		}
	}
	if !gr.vars {
		return nil
	}
	vars, err := gr.r.groupVars(g)
	if err != nil {
		return err
	}
	gr.dict(vars, depth+1)
	return nil
}

func (gr *grapher) host(h *Host, depth int) error {
	gr.line(h.Name, depth)
	if !gr.vars {
		return nil
	}
	vars, err := gr.r.hostVars(h)
	if err != nil {
		return err
	}
	gr.dict(vars, depth+1)
	return nil
}

func (gr *grapher) dict(vars *value.Dict, depth int) {
	for k, v := range vars.All() {
		gr.line(fmt.Sprintf("{%s = %s}", value.Str(k), value.Str(v)), depth)
	}
}
