package modules

import (
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// debconfArgs are the arguments of debconf.
type debconfArgs struct {
	Name     string  `arg:"name,required,aliases=pkg" doc:"the package"`
	Question *string `arg:"question,aliases=selection|setting" doc:"the question to answer"`
	Vtype    *string `arg:"vtype,choices=boolean|error|multiselect|note|password|seen|select|string|text|title" doc:"type of the answer"`
	Value    *string `arg:"value,aliases=answer" doc:"the answer"`
	Unseen   bool    `arg:"unseen,default=no" doc:"leave the question marked as not asked yet"`
}

// Rules relates the arguments.
func (debconfArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredTogether: [][]string{{"question", "vtype", "value"}}}
}

func debconf() Module {
	return Define("debconf", "Configure a Debian package before it is installed", runDebconf)
}

func runDebconf(c *Call, args *debconfArgs) (*Result, error) {
	show, err := pkgProgram(c, "debconf-show")
	if err != nil {
		return nil, err
	}
	out, err := show.run(args.Name)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, Failf("%s", out.Stderr)
	}
	answers := debconfAnswers(out.Stdout)
	if args.Question == nil {
		return NewResult(false).With("msg", "").With("current", answers), nil
	}
	return setDebconf(c, args, answers)
}

// debconfAnswers reads what debconf-show prints: "* question: answer", where
// the star marks questions that were asked.
func debconfAnswers(text string) *value.Dict {
	d := value.NewDict()
	for _, line := range outLines(text) {
		key, answer, _ := strings.Cut(line, ":")
		d.Set(strings.TrimSpace(strings.TrimLeft(key, "* ")), strings.TrimSpace(answer))
	}
	return d
}

func setDebconf(c *Call, args *debconfArgs, answers *value.Dict) (*Result, error) {
	question, want := *args.Question, *args.Value
	if *args.Vtype == "boolean" && (want == "True" || want == "False") {
		want = strings.ToLower(want)
	}
	previous := value.NewDict()
	now, known := answers.Get(question)
	if known && now == want {
		return NewResult(false).With("msg", "").With("current", answers), nil
	}
	if known {
		previous.Set(question, now)
	} else {
		answers.Set(question, "")
		previous = answers
	}
	msg := ""
	if !c.Check {
		set, err := pkgProgram(c, "debconf-set-selections")
		if err != nil {
			return nil, err
		}
		var flags []string
		if args.Unseen {
			flags = []string{"-u"}
		}
		out, err := set.feed(strings.Join([]string{args.Name, question, *args.Vtype, want}, " ")+"\n", flags...)
		if err != nil {
			return nil, err
		}
		if out.RC != 0 {
			return nil, Failf("%s", out.Stderr)
		}
		msg = out.Stderr
	}
	current := value.DictOf(question, want)
	diff := value.NewDict()
	if c.Diff {
		diff = value.DictOf("before", previous, "after", current)
	}
	return NewResult(true).With("msg", msg).With("current", current).With("previous", previous).With("diff", diff), nil
}
