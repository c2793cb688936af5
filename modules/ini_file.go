package modules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"play/modules/argspec"
	"play/modules/atomicfile"
	"play/modules/value"
)

// iniFileArgs are the arguments of ini_file.
type iniFileArgs struct {
	Path          string   `arg:"path,required,type=path,aliases=dest" doc:"the file to change"`
	Section       *string  `arg:"section" doc:"name of the section; absent: what stands before the first"`
	Option        *string  `arg:"option" doc:"name of the option; absent: the section itself"`
	Value         *string  `arg:"value" doc:"value of the option"`
	Values        []string `arg:"values" doc:"values of an option that stands several times"`
	Backup        bool     `arg:"backup,default=no" doc:"keep a copy of the old file"`
	State         string   `arg:"state,default=present,choices=absent|present" doc:"whether the option or section shall be there"`
	Exclusive     bool     `arg:"exclusive,default=yes" doc:"remove other values of the option"`
	NoExtraSpaces bool     `arg:"no_extra_spaces,default=no" doc:"write no spaces around ="`
	AllowNoValue  bool     `arg:"allow_no_value,default=no" doc:"the option may stand without a value"`
	Create        bool     `arg:"create,default=yes" doc:"create a missing file"`
	fileArgs
}

// Rules relates the arguments.
func (iniFileArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"value", "values"}}}
}

func iniFile() Module {
	return Define("ini_file", "Set options in an INI file", runIniFile).In("community.general", "community.general.files")
}

func runIniFile(c *Call, args *iniFileArgs) (*Result, error) {
	if args.State == "present" && !args.AllowNoValue && args.Value == nil && len(args.Values) == 0 {
		return nil, Failf("Parameter 'value(s)' must be defined if state=present and allow_no_value=False.")
	}
	path := c.abs(args.Path)
	diff := value.DictOf("before", "", "after", "", "before_header", path+" (content)", "after_header", path+" (content)")
	old, missing, err := args.read(c, path)
	if err != nil {
		return nil, err
	}
	if missing && c.Check && args.State == "present" {
		return NewResult(true).With("msg", "section and option added").With("path", path).With("diff", diff), nil
	}
	e := newIniEdit(args, old)
	msg := e.apply()
	now := e.text()
	out := NewResult(msg != "").With("path", path).With("diff", diff).With("msg", msg)
	if msg == "" {
		out.Set("msg", "OK")
	}
	if c.Diff {
		diff.Set("before", old)
		diff.Set("after", now)
	}
	if msg != "" && !c.Check {
		if err := args.write(c, path, now, missing, out); err != nil {
			return nil, err
		}
	}
	if c.Check && missing {
		return out, nil
	}
	changed, err := args.setAttributes(c, path, nil)
	if changed {
		out.Changed(true)
	}
	return out, err
}

func (a *iniFileArgs) read(c *Call, path string) (text string, missing bool, err error) {
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
		return strings.TrimPrefix(string(data), "\ufeff"), false, nil
	case lexists(path):
		return "", false, Failf("cannot read %q: %s", path, osTextString(err, path))
	case !a.Create:
		return "", false, &Failure{Msg: "Destination " + path + " does not exist!", With: value.DictOf("rc", 257)}
	}
	if dir := filepath.Dir(path); !exists(dir) && !c.Check {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return "", false, Failf("cannot create %q: %s", dir, osText(err, dir))
		}
	}
	return "", true, nil
}

func (a *iniFileArgs) write(c *Call, path, text string, missing bool, out *Result) error {
	if a.Backup && !missing {
		backup, err := atomicfile.Backup(path, time.Now())
		if err != nil {
			return Failf("%v", err)
		}
		out.Set("backup_file", backup)
	}
	err := atomicfile.Write(realPath(path), strings.NewReader(text), atomicfile.Options{Unsafe: a.Unsafe, Scratch: c.TmpDir, Mode: a.newFileMode()})
	if err != nil {
		return Failf("%v", err)
	}
	return nil
}

// iniEdit is the file as lines without their ends.
type iniEdit struct {
	*iniFileArgs
	lines      []string
	start, end int // the section's own lines
	found      bool
}

func newIniEdit(args *iniFileArgs, text string) *iniEdit {
	e := &iniEdit{iniFileArgs: args}
	if text != "" {
		e.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	} else {
		e.lines = []string{""}
	}
	e.find()
	return e
}

func (e *iniEdit) text() string {
	if len(e.lines) == 0 {
		return ""
	}
	return strings.Join(e.lines, "\n") + "\n"
}

// find sets start and end to the first section of the name.
func (e *iniEdit) find() {
	e.end = len(e.lines)
	if e.Section == nil || *e.Section == "" {
		e.found = true
		for i, line := range e.lines {
			if isIniHeader(line) {
				e.end = i
				return
			}
		}
		return
	}
	for i, line := range e.lines {
		switch {
		case !e.found && strings.TrimRight(line, " \t\r") == "["+*e.Section+"]":
			e.found, e.start = true, i+1
		case e.found && isIniHeader(line):
			e.end = i
			return
		}
	}
}

func isIniHeader(line string) bool { return strings.HasPrefix(line, "[") }

// apply makes the change and words it, "" for none.
func (e *iniEdit) apply() string {
	switch {
	case e.State == "present" && !e.found:
		return e.addSection()
	case e.State == "present" && e.Option != nil:
		return e.present()
	case !e.found:
		return ""
	case e.State == "absent" && e.Option != nil:
		return e.absent()
	case e.State == "absent" && e.Section != nil && *e.Section != "":
		e.lines = slices.Delete(e.lines, e.start-1, e.end)
		return "section removed"
	}
	return ""
}

// wanted are the values that shall stand; one empty for an option without.
func (e *iniEdit) wanted() []string {
	if e.Value != nil {
		return []string{*e.Value}
	}
	return slices.Compact(slices.Clone(e.Values))
}

func (e *iniEdit) line(text string) string {
	if e.NoExtraSpaces {
		return *e.Option + "=" + text
	}
	return *e.Option + " = " + text
}

func (e *iniEdit) newLines() []string {
	if e.Option == nil {
		return nil
	}
	values := e.wanted()
	if len(values) == 0 {
		return []string{*e.Option}
	}
	lines := make([]string, len(values))
	for i, v := range values {
		lines[i] = e.line(v)
	}
	return lines
}

func (e *iniEdit) addSection() string {
	e.lines = append(append(e.lines, "["+*e.Section+"]"), e.newLines()...)
	if e.Option == nil {
		return "only section added"
	}
	return "section and option added"
}

// option reads a line as the option: ok is false for another line. A line that
// is commented out counts when comments is set.
func (e *iniEdit) option(line string, comments bool) (text string, hasValue, commented, ok bool) {
	rest := strings.TrimLeft(line, " \t")
	if comments && rest != "" && strings.ContainsRune("#;", rune(rest[0])) {
		commented = true
		rest = strings.TrimLeft(rest[1:], " \t")
	}
	rest, ok = strings.CutPrefix(rest, *e.Option)
	if !ok {
		return "", false, false, false
	}
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" || rest == "\r" {
		return "", false, commented, e.AllowNoValue || e.State == "absent"
	}
	text, hasValue = strings.CutPrefix(rest, "=")
	return strings.Trim(text, " \t\r"), hasValue, commented, hasValue
}

// present sets the option's values: lines that hold one already stay, others are
// rewritten in turn, what is missing is added behind the last line of text.
func (e *iniEdit) present() string {
	left := e.wanted()
	bare := len(left) == 0
	msg := ""
	var mine, kept []int
	for i := e.start; i < e.end; i++ {
		text, hasValue, commented, ok := e.option(e.lines[i], true)
		switch at := slices.Index(left, text); {
		case !ok:
		case !commented && bare && !hasValue:
			kept = append(kept, i)
		case !commented && hasValue && at >= 0:
			if line := e.line(text); e.lines[i] != line {
				e.lines[i], msg = line, "option changed"
			}
			left = slices.Delete(left, at, at+1)
			kept = append(kept, i)
		default:
			if !commented || e.Exclusive {
				mine = append(mine, i)
			}
		}
	}
	if bare && len(kept) == 0 {
		left = []string{""}
	}
	if e.Exclusive {
		if m := e.rewrite(&left, mine, bare); m != "" {
			msg = m
		}
	}
	if len(left) > 0 {
		e.insert(left, bare)
		msg = "option added"
	}
	return msg
}

// rewrite uses the option's other lines for the values that are left, and
// removes those that are too many; comments are only rewritten.
func (e *iniEdit) rewrite(left *[]string, mine []int, bare bool) (msg string) {
	slices.SortStableFunc(mine, func(a, b int) int { return boolInt(e.isComment(a)) - boolInt(e.isComment(b)) })
	var drop []int
	for _, i := range mine {
		switch {
		case len(*left) > 0:
			e.lines[i] = e.line((*left)[0])
			if bare {
				e.lines[i] = *e.Option
			}
			*left = (*left)[1:]
			msg = "option changed"
		case !e.isComment(i):
			drop = append(drop, i)
			msg = "option changed"
		}
	}
	slices.Sort(drop)
	for n := len(drop) - 1; n >= 0; n-- {
		e.lines = slices.Delete(e.lines, drop[n], drop[n]+1)
		e.end--
	}
	return msg
}

func (e *iniEdit) isComment(i int) bool {
	text := strings.TrimLeft(e.lines[i], " \t")
	return strings.HasPrefix(text, "#") || strings.HasPrefix(text, ";")
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// insert adds lines behind the last one of the section that is neither empty
// nor a comment.
func (e *iniEdit) insert(values []string, bare bool) {
	at := e.start
	for i := e.end - 1; i >= e.start; i-- {
		if strings.TrimSpace(e.lines[i]) != "" && !e.isComment(i) {
			at = i + 1
			break
		}
	}
	lines := make([]string, len(values))
	for i, v := range values {
		if lines[i] = e.line(v); bare {
			lines[i] = *e.Option
		}
	}
	e.lines = slices.Insert(e.lines, at, lines...)
}

// absent removes the option, or only those lines of it that hold one of the values.
func (e *iniEdit) absent() string {
	values, msg := e.wanted(), ""
	for i := e.end - 1; i >= e.start; i-- {
		text, _, _, ok := e.option(e.lines[i], false)
		if ok && (e.Exclusive || slices.Contains(values, text)) {
			e.lines = slices.Delete(e.lines, i, i+1)
			msg = "option changed"
		}
	}
	return msg
}
