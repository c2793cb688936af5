package modules

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"play/modules/atomicfile"
	"play/modules/value"
)

// crypttabArgs are the arguments of crypttab.
type crypttabArgs struct {
	Name     string  `arg:"name,required" doc:"the device's name, with or without /dev/mapper/"`
	State    string  `arg:"state,required,choices=absent|opts_absent|opts_present|present" doc:"whether the line, or options in it, shall be there"`
	Device   *string `arg:"backing_device" doc:"the device below it"`
	Password *string `arg:"password,type=path" doc:"the file of the password, or -"`
	Opts     *string `arg:"opts" doc:"options, with commas between"`
	Path     string  `arg:"path,type=path,default=/etc/crypttab" doc:"the file"`
}

func crypttab() Module {
	return Define("crypttab", "Describe encrypted devices in /etc/crypttab", runCrypttab).In("community.general", "community.general.system")
}

// returned are the arguments, which every result repeats.
func (a *crypttabArgs) returned() *value.Dict {
	return value.DictOf("name", a.Name, "state", a.State, "backing_device", orNil(a.Device), "password", orNil(a.Password),
		"opts", orNil(a.Opts), "path", a.Path)
}

func runCrypttab(c *Call, args *crypttabArgs) (*Result, error) {
	if msg := args.wrong(); msg != "" {
		return nil, &Failure{Msg: msg, With: args.returned()}
	}
	path := c.abs(args.Path)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, &Failure{Msg: "failed to open and parse crypttab file: " + osText(err, path), With: args.returned()}
	}
	t := &cryptLines{lines: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}
	if len(data) == 0 {
		t.lines = nil
	}
	name := strings.TrimPrefix(args.Name, "/dev/mapper/")
	at := slices.IndexFunc(t.lines, func(l string) bool { f := cryptFields(l); return f != nil && f[0] == name })
	if strings.HasSuffix(args.State, "present") && at < 0 && args.Device == nil {
		return nil, &Failure{Msg: "'backing_device' required to add a new entry", With: args.returned()}
	}
	differs, msg := args.edit(t, name, at)
	out := &Result{args.returned()}
	out.Changed(differs).Set("msg", msg)
	if !differs || c.Check {
		return out, nil
	}
	text := strings.Join(t.lines, "\n") + "\n"
	if err := atomicfile.Write(realPath(path), strings.NewReader(text), atomicfile.Options{}); err != nil {
		return nil, Failf("%v", err)
	}
	return out, nil
}

// wrong says what is wrong about the arguments together.
func (a *crypttabArgs) wrong() string {
	switch {
	case a.State != "absent" && a.Device == nil && a.Password == nil && a.Opts == nil:
		return "expected one or more of 'backing_device', 'password' or 'opts'"
	case strings.HasPrefix(a.State, "opts_") && (a.Device != nil || a.Password != nil):
		return "cannot update 'backing_device' or 'password' when state=" + a.State
	}
	name := strings.TrimPrefix(a.Name, "/dev/mapper/")
	for _, v := range []struct {
		name string
		text *string
	}{{"name", &name}, {"backing_device", a.Device}, {"password", a.Password}, {"opts", a.Opts}} {
		if v.text != nil && (*v.text == "" || strings.ContainsAny(*v.text, " \t")) {
			return "invalid '" + v.name + "': contains white space or is empty"
		}
	}
	return ""
}

type cryptLines struct{ lines []string }

// cryptFields are the two to four words of a line that describes a device.
func cryptFields(line string) []string {
	f := strings.Fields(line)
	if strings.HasPrefix(line, "#") || len(f) < 2 || len(f) > 4 {
		return nil
	}
	return f
}

// edit changes the line, whose place is negative when there is none, and says
// whether and how.
func (a *crypttabArgs) edit(t *cryptLines, name string, at int) (differs bool, msg string) {
	if at < 0 {
		if !strings.HasSuffix(a.State, "present") {
			return false, "?"
		}
		t.lines = append(t.lines, cryptLine(name, *a.Device, a.Password, cryptOptions(a.Opts)))
		return true, "added line"
	}
	if a.State == "absent" {
		t.lines[at] = ""
		return true, "removed line"
	}
	f := cryptFields(t.lines[at])
	device, password, opts := f[1], (*string)(nil), []string(nil)
	if len(f) > 2 {
		password = &f[2]
	}
	if len(f) > 3 {
		opts = cryptOptions(&f[3])
	}
	switch a.State {
	case "opts_present":
		differs, msg = addCryptOptions(&opts, cryptOptions(a.Opts)), "updated options"
	case "opts_absent":
		differs, msg = removeCryptOptions(&opts, cryptOptions(a.Opts)), "removed options"
	default:
		differs, msg = a.update(&device, &password, &opts), "updated line"
	}
	t.lines[at] = cryptLine(name, device, password, opts)
	return differs, msg
}

// update sets the parts that are given.
func (a *crypttabArgs) update(device *string, password **string, opts *[]string) bool {
	differs := false
	if a.Device != nil && *a.Device != *device {
		*device, differs = *a.Device, true
	}
	if a.Password != nil && (*password == nil || **password != *a.Password) {
		*password, differs = a.Password, true
	}
	if a.Opts != nil {
		wanted := cryptOptions(a.Opts)
		if !slices.Equal(slices.Sorted(slices.Values(wanted)), slices.Sorted(slices.Values(*opts))) {
			*opts, differs = wanted, true
		}
	}
	return differs
}

// cryptOptions splits options; of one that is there twice the last counts, at
// the first one's place.
func cryptOptions(text *string) []string {
	var opts []string
	if text != nil {
		addCryptOptions(&opts, strings.Split(*text, ","))
	}
	return opts
}

func cryptOptionName(opt string) string {
	name, _, _ := strings.Cut(opt, "=")
	return name
}

func addCryptOptions(opts *[]string, more []string) (differs bool) {
	for _, opt := range more {
		if parts := strings.SplitN(opt, "=", 3); len(parts) > 2 {
			opt = parts[0] + "=" + parts[1] // what follows a second = is dropped
		}
		i := slices.IndexFunc(*opts, func(o string) bool { return cryptOptionName(o) == cryptOptionName(opt) })
		switch {
		case i < 0:
			*opts, differs = append(*opts, opt), true
		case (*opts)[i] != opt:
			(*opts)[i], differs = opt, true
		}
	}
	return differs
}

func removeCryptOptions(opts *[]string, names []string) bool {
	n := len(*opts)
	*opts = slices.DeleteFunc(*opts, func(o string) bool {
		return slices.ContainsFunc(names, func(x string) bool { return cryptOptionName(x) == cryptOptionName(o) })
	})
	return len(*opts) < n
}

// cryptLine writes a line; options need something in the password's place.
func cryptLine(name, device string, password *string, opts []string) string {
	words := []string{name, device}
	switch {
	case password != nil:
		words = append(words, *password)
	case len(opts) > 0:
		words = append(words, "none")
	}
	if len(opts) > 0 {
		words = append(words, strings.Join(opts, ","))
	}
	return strings.Join(words, " ")
}
