package modules

import (
	"fmt"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// annotate adds, deletes and changes annotations of packages.
func (p *pkgngRun) annotate(names []string) error {
	wanted := p.Annotation
	if len(wanted) == 1 {
		wanted = strings.Split(wanted[0], ",")
		for i := range wanted {
			wanted[i] = strings.TrimSpace(wanted[i])
		}
	}
	done := 0
	for _, name := range names {
		for _, text := range wanted {
			changed, err := p.annotation(name, text)
			if err != nil {
				return err
			}
			if changed {
				done++
			}
		}
	}
	if done == 0 {
		p.msgs = append(p.msgs, "changed no annotations")
		return nil
	}
	p.changed = true
	p.msgs = append(p.msgs, fmt.Sprintf("added %d annotations.", done))
	return nil
}

// annotation does what one text asks for: +tag=value, -tag or :tag=value.
func (p *pkgngRun) annotation(name, text string) (bool, error) {
	if len(text) < 2 || !strings.Contains("-+:", text[:1]) || text[1] == '=' {
		return false, Failf("failed to annotate %s, invalid annotate string: %s", name, text)
	}
	tag, wanted, _ := strings.Cut(text[1:], "=")
	out, err := p.pkg("", "info", "-g", "-A", name)
	if err != nil {
		return false, err
	}
	now, err := annotationOf(out.out, tag)
	if err != nil {
		return false, err
	}
	switch text[0] {
	case '+':
		if now != "" && now != wanted {
			return false, Failf("failed to annotate %s, because %s is already set to %s, but should be set to %s", name, tag, now, wanted)
		}
		return p.write(now == "", wanted, "could not annotate "+name+": ", "-A", name, tag)
	case '-':
		return p.write(now != "", "", "could not delete annotation to "+name+": ", "-D", name, tag)
	}
	if now == "" {
		return false, Failf("could not change annotation to %s: tag %s does not exist", name, tag)
	}
	return p.write(now != wanted, wanted, fmt.Sprintf("failed to annotate %s, could not change annotation %s to %s: ", name, tag, wanted), "-M", name, tag)
}

// annotationOf finds a tag's value in what pkg prints, or "".
func annotationOf(text, tag string) (string, error) {
	re, err := pyre.Compile(`^\s*(?P<tag>`+tag+`)\s*:\s*(?P<value>\w+)`, pyre.Multiline)
	if err != nil {
		return "", Failf("cannot look for the annotation %q: %v", tag, err)
	}
	m, err := re.Search(text)
	if err != nil || m == nil {
		return "", err
	}
	found, _ := m.Named("value")
	return found, nil
}

// write changes one annotation, if need be. pkg may fail although it has changed one.
func (p *pkgngRun) write(needed bool, wanted, failure, flag, name, tag string) (bool, error) {
	if !needed || p.Check {
		return needed, nil
	}
	out, err := p.pkg(wanted, "annotate", "-y", flag, name, tag)
	if err != nil {
		return false, err
	}
	if out.failed() && !(flag == "-M" && strings.Contains(out.out, ": Modified annotation tagged: "+tag)) {
		return false, &Failure{Msg: failure + out.out, With: value.DictOf("stderr", out.errOut)}
	}
	return true, nil
}
