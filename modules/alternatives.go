package modules

import (
	"os"
	"regexp"
	"strconv"
	"strings"

	"play/modules/value"
)

// alternativesArgs are the arguments of alternatives.
type alternativesArgs struct {
	Name        string       `arg:"name,required" doc:"the generic name"`
	Path        string       `arg:"path,required,type=path" doc:"the program that the name shall lead to"`
	Link        *string      `arg:"link,type=path" doc:"the link of the generic name; needed for a new one"`
	Priority    *int         `arg:"priority" doc:"its priority; 50 for a new one"`
	State       string       `arg:"state,default=selected,choices=present|selected|absent|auto" doc:"present: known; selected: chosen too; auto: the best one is chosen"`
	Subcommands []subcommand `arg:"subcommands,aliases=slaves" doc:"links that change along"`
}

// subcommand is a link that changes along with the main one.
type subcommand struct {
	Name string `arg:"name,required" doc:"the generic name"`
	Path string `arg:"path,required,type=path" doc:"what it leads to"`
	Link string `arg:"link,required,type=path" doc:"the link"`
}

func alternatives() Module {
	return Define("alternatives", "Manage which program a generic name leads to", runAlternatives).In("community.general", "community.general.system")
}

// alternative is one generic name on its way to the wanted state.
type alternative struct {
	*Call
	*alternativesArgs
	auto     bool
	current  string
	link     string
	priority map[string]int          // of each known path
	slaves   map[string][]subcommand // of each known path
	messages []string
	before   *value.Dict
	after    *value.Dict
}

func runAlternatives(c *Call, args *alternativesArgs) (*Result, error) {
	a := &alternative{Call: c, alternativesArgs: args, priority: map[string]int{}, slaves: map[string][]subcommand{},
		before: value.NewDict(), after: value.NewDict()}
	out, err := a.tool("update-alternatives", "--display", args.Name)
	if err != nil {
		return nil, err
	}
	if !out.failed() {
		a.read(out.out)
	}
	a.noteBefore()
	if err := a.bring(); err != nil {
		return nil, err
	}
	diff := value.DictOf("before", value.NewDict(), "after", value.NewDict())
	if c.Diff {
		diff = value.DictOf("before", a.before, "after", a.after)
	}
	return NewResult(len(a.messages) > 0).With("msg", strings.Join(a.messages, " ")).With("diff", diff), nil
}

// read reads the output of "update-alternatives --display".
func (a *alternative) read(text string) {
	entry := regexp.MustCompile(`^(/.*) - priority (\d+)`)
	slaveLink := regexp.MustCompile(`^  slave (\S+) is (.*)$`)
	slavePath := regexp.MustCompile(`^  slave (\S+): (.*)$`)
	links := map[string]string{}
	path := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if at, ok := strings.CutPrefix(strings.TrimSpace(line), "link currently points to "); ok {
			a.current = at
		} else if at, ok := strings.CutPrefix(strings.TrimSpace(line), "link "+a.Name+" is "); ok {
			a.link = at
		} else if m := slaveLink.FindStringSubmatch(line); m != nil {
			links[m[1]] = m[2]
		} else if m := entry.FindStringSubmatch(line); m != nil {
			path = m[1]
			a.priority[path], _ = strconv.Atoi(m[2])
		} else if m := slavePath.FindStringSubmatch(line); m != nil && path != "" {
			a.slaves[path] = append(a.slaves[path], subcommand{Name: m[1], Path: m[2], Link: links[m[1]]})
		}
	}
	first, _, _ := strings.Cut(text, "\n")
	a.auto = strings.Contains(first, "auto")
	a.linkFromFile()
}

// linkFromFile finds the link where the display does not tell it (Red Hat).
func (a *alternative) linkFromFile() {
	if a.link != "" {
		return
	}
	data, err := os.ReadFile("/var/lib/alternatives/" + a.Name)
	if lines := strings.Split(string(data), "\n"); err == nil && len(lines) > 1 {
		a.link = lines[1]
	}
}

func (a *alternative) noteBefore() {
	priority, known := a.priority[a.Path]
	if !known {
		a.before.Set("state", "absent")
		return
	}
	a.before.Set("state", "present")
	if a.current == a.Path {
		a.before.Set("state", "selected")
		if a.auto {
			a.before.Set("state", "auto")
		}
	}
	a.before.Set("path", a.Path)
	a.before.Set("priority", priority)
	a.before.Set("link", a.link)
}

func (a *alternative) bring() error {
	_, known := a.priority[a.Path]
	if a.State == "absent" {
		if !known {
			return nil
		}
		return a.do("Remove alternative '"+a.Path+"' from '"+a.Name+"'.", "--remove", a.Name, a.Path)
	}
	if !known || a.differs() {
		if err := a.install(); err != nil {
			return err
		}
	}
	switch {
	case a.State == "selected" && a.current != a.Path:
		return a.do("Set alternative '"+a.Path+"' for '"+a.Name+"'.", "--set", a.Name, a.Path)
	case a.State == "auto" && !a.auto:
		return a.do("Set alternative to auto for '"+a.Name+"'.", "--auto", a.Name)
	}
	return nil
}

// differs tells whether a known path has another priority or other subcommands.
func (a *alternative) differs() bool {
	if a.Priority != nil && *a.Priority != a.priority[a.Path] {
		return true
	}
	if a.Subcommands == nil {
		return false
	}
	have := map[subcommand]bool{}
	for _, s := range a.slaves[a.Path] {
		have[s] = true
	}
	for _, s := range a.Subcommands {
		if !have[s] {
			return true
		}
	}
	return len(have) != len(a.Subcommands)
}

func (a *alternative) install() error {
	if !exists(a.Path) {
		return Failf("Specified path %s does not exist", a.Path)
	}
	link := a.link
	if a.Link != nil {
		link = *a.Link
	}
	if link == "" {
		return Failf("Needed to install the alternative, but unable to do so as we are missing the link")
	}
	priority := 50
	if a.Priority != nil {
		priority = *a.Priority
	} else if p, ok := a.priority[a.Path]; ok {
		priority = p
	}
	words := []string{"--install", link, a.Name, a.Path, strconv.Itoa(priority)}
	subcommands := a.Subcommands
	if subcommands == nil {
		subcommands = a.slaves[a.Path]
	}
	for _, s := range subcommands {
		words = append(words, "--slave", s.Link, s.Name, s.Path)
	}
	err := a.do("Install alternative '"+a.Path+"' for '"+a.Name+"'.", words...)
	a.after.Set("path", a.Path)
	a.after.Set("priority", priority)
	a.after.Set("link", link)
	return err
}

// do runs one change and notes it.
func (a *alternative) do(message string, words ...string) error {
	a.messages = append(a.messages, message)
	a.after.Set("state", a.State)
	if a.Check {
		return nil
	}
	_, err := a.mustTool(append([]string{"update-alternatives"}, words...)...)
	return err
}
