package modules

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"play/modules/atomicfile"
	"play/modules/value"
)

// pamLimitsArgs are the arguments of pam_limits.
type pamLimitsArgs struct {
	Domain  string `arg:"domain,required" doc:"user, @group or *"`
	Type    string `arg:"limit_type,required,choices=hard|soft|-" doc:"kind of the limit"`
	Item    string `arg:"limit_item,required,choices=core|data|fsize|memlock|nofile|rss|stack|cpu|nproc|as|maxlogins|maxsyslogins|priority|locks|sigpending|msgqueue|nice|rtprio|chroot" doc:"what is limited"`
	Value   string `arg:"value,required" doc:"the limit"`
	UseMax  bool   `arg:"use_max,default=no" doc:"keep a limit that is higher"`
	UseMin  bool   `arg:"use_min,default=no" doc:"keep a limit that is lower"`
	Backup  bool   `arg:"backup,default=no" doc:"keep a copy of the old file"`
	Dest    string `arg:"dest,type=path,default=/etc/security/limits.conf" doc:"the file"`
	Comment string `arg:"comment,default=" doc:"comment behind the limit"`
}

func pamLimits() Module {
	return Define("pam_limits", "Manage limits of users' resources", runPamLimits).In("community.general", "community.general.system")
}

func runPamLimits(c *Call, args *pamLimitsArgs) (*Result, error) {
	if args.UseMax && args.UseMin {
		return nil, Failf("Cannot use use_min and use_max at the same time.")
	}
	if !validLimit(args.Item, args.Value) {
		return nil, Failf(" Value of '%s' for item '%s' is invalid. Value must either be 'unlimited', 'infinity' or -1, all of which indicate no limit, "+
			"or a limit of 0 or larger. Refer to the limits.conf(5) manual pages for more details.", args.Value, args.Item)
	}
	path := c.abs(args.Dest)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Failf("cannot read %q: %v", path, err)
	}
	old := string(data)
	text, message := args.edit(old)
	out := NewResult(text != old).With("msg", message).With("diff", value.DictOf("before", old, "after", text))
	if c.Check {
		return out, nil
	}
	if args.Backup && err == nil {
		name, err := atomicfile.Backup(path, time.Now())
		if err != nil {
			return nil, Failf("%v", err)
		}
		out.Set("backup_file", name)
	}
	if err := atomicfile.Write(realPath(path), strings.NewReader(text), atomicfile.Options{}); err != nil {
		return nil, Failf("%v", err)
	}
	return out, nil
}

// validLimit tells whether the item can have the value.
func validLimit(item, text string) bool {
	n, err := strconv.Atoi(text)
	if item == "nice" || item == "priority" {
		return err == nil && n >= -20 && n <= 19
	}
	return unlimited(text) || err == nil && n >= 0
}

// unlimited tells whether a value means no limit.
func unlimited(text string) bool {
	return slices.Contains([]string{"unlimited", "infinity", "-1"}, text)
}

// edit returns the new text of the file, and the line that it has for the limit.
func (a *pamLimitsArgs) edit(old string) (text, message string) {
	var b strings.Builder
	for line := range strings.Lines(old) {
		content, comment, _ := strings.Cut(line, "#")
		fields := strings.Fields(content)
		if len(fields) != 4 || fields[0] != a.Domain || fields[1] != a.Type || fields[2] != a.Item {
			b.WriteString(line)
			continue
		}
		message = line
		if limit := a.choose(fields[3]); limit != fields[3] {
			if a.Comment != "" {
				comment = a.Comment
			}
			message = a.line(limit, comment) // an old comment comes with its line's end, as in the reference
		}
		b.WriteString(message)
	}
	if message != "" {
		return b.String(), message
	}
	text = b.String()
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	message = a.line(a.Value, a.Comment)
	return text + message, message
}

func (a *pamLimitsArgs) line(limit, comment string) string {
	words := []string{a.Domain, a.Type, a.Item, limit}
	if comment != "" {
		words = append(words, "#"+comment)
	}
	return strings.Join(words, "\t") + "\n"
}

// choose picks the value of the file or of the task.
func (a *pamLimitsArgs) choose(current string) string {
	if !a.UseMax && !a.UseMin {
		return a.Value
	}
	have, want := limitSize(current), limitSize(a.Value)
	if a.UseMax == (want > have) && want != have {
		return a.Value
	}
	return current
}

// limitSize is a value as a number that can be compared.
func limitSize(text string) int {
	if n, err := strconv.Atoi(text); err == nil && !unlimited(text) {
		return n
	}
	return int(^uint(0) >> 1)
}
