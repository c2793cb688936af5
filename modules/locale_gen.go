package modules

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// localeGenArgs are the arguments of locale_gen.
type localeGenArgs struct {
	Name  string `arg:"name,required" doc:"the locale, such as de_CH.UTF-8"`
	State string `arg:"state,default=present,choices=absent|present" doc:"whether it shall exist"`
}

func localeGen() Module {
	return Define("locale_gen", "Make and remove locales", runLocaleGen).In("community.general", "community.general.system")
}

func runLocaleGen(c *Call, args *localeGenArgs) (*Result, error) {
	if !localeKnown(args.Name) {
		return nil, Failf("The locale you've entered is not available on your system.")
	}
	out, err := c.mustTool("locale", "-a")
	if err != nil {
		return nil, err
	}
	there := slices.ContainsFunc(strings.Fields(out.out), func(l string) bool { return plainLocale(l) == plainLocale(args.Name) })
	changed := there != (args.State == "present")
	if c.Check {
		return NewResult(changed), nil
	}
	if changed {
		if err := c.switchLocale(args); err != nil {
			return nil, err
		}
	}
	return NewResult(changed).With("name", args.Name).With("msg", "OK"), nil
}

// plainLocale writes the character set of a locale as "locale -a" does.
func plainLocale(name string) string {
	language, charset, ok := strings.Cut(name, ".")
	if !ok {
		return name
	}
	charset, modifier, more := strings.Cut(charset, "@")
	language += "." + strings.ToLower(strings.ReplaceAll(charset, "-", ""))
	if more {
		language += "@" + modifier
	}
	return language
}

// localeFile lists the locales to make.
const localeFile = "/etc/locale.gen"

// localeLine matches the line of a locale in the lists, commented out or not.
func localeLine(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^#?[ \t]*(` + regexp.QuoteMeta(name) + `(?:[ \t]+\S.*)?)$`)
}

// localeKnown tells whether the system could make the locale.
func localeKnown(name string) bool {
	for _, file := range []string{localeFile, "/usr/share/i18n/SUPPORTED"} {
		if data, err := os.ReadFile(file); err == nil && localeLine(name).Match(data) {
			return true
		}
	}
	return false
}

// switchLocale edits the list and makes all its locales.
func (c *Call) switchLocale(args *localeGenArgs) error {
	data, err := os.ReadFile(localeFile)
	if err != nil {
		return c.switchUbuntuLocale(args)
	}
	pattern, text := localeLine(args.Name), string(data)
	switch {
	case args.State == "absent":
		text = pattern.ReplaceAllString(text, "# $1")
	case pattern.MatchString(text):
		text = pattern.ReplaceAllString(text, "$1")
	default:
		text += args.Name + " " + localeCharset(args.Name) + "\n"
	}
	if err := os.WriteFile(localeFile, []byte(text), 0o644); err != nil {
		return Failf("cannot write %q: %v", localeFile, err)
	}
	_, err = c.mustTool("locale-gen")
	return err
}

// localeCharset is the character set that a locale's name tells.
func localeCharset(name string) string {
	_, charset, ok := strings.Cut(name, ".")
	if !ok {
		return "ISO-8859-1"
	}
	charset, _, _ = strings.Cut(charset, "@")
	return charset
}

// switchUbuntuLocale is for systems without the list, where locale-gen takes
// the locale itself.
func (c *Call) switchUbuntuLocale(args *localeGenArgs) error {
	if args.State == "absent" {
		_, err := c.mustTool("localedef", "--delete-from-archive", plainLocale(args.Name))
		return err
	}
	_, err := c.mustTool("locale-gen", args.Name)
	return err
}
