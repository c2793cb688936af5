package modules

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strings"

	"play/modules/argspec"
	"play/modules/atomicfile"
	"play/modules/perm"
	"play/modules/value"
)

// deb822RepositoryArgs are the arguments of deb822_repository. The fields of
// deb822Options stand in the file, under the names that apt gives them.
type deb822RepositoryArgs struct {
	Name  string `arg:"name,required" doc:"name of the repository and, without odd characters, of its file"`
	State string `arg:"state,default=present,choices=absent|present" doc:"whether it shall be there"`
	Mode  any    `arg:"mode,default=0644" doc:"permissions of the file"`
	deb822Options
}

type deb822Options struct {
	DowngradeInsecure *bool    `arg:"allow_downgrade_to_insecure" doc:"accept that it loses its signature"`
	Insecure          *bool    `arg:"allow_insecure" doc:"accept it without a signature"`
	Weak              *bool    `arg:"allow_weak" doc:"accept weak hashes"`
	Architectures     []string `arg:"architectures" doc:"architectures to fetch"`
	ByHash            *bool    `arg:"by_hash" doc:"fetch files by their hash"`
	CheckDate         *bool    `arg:"check_date" doc:"check the date of the release file"`
	CheckValidUntil   *bool    `arg:"check_valid_until" doc:"check when the release file ends"`
	Components        []string `arg:"components" doc:"components"`
	DateMaxFuture     *int     `arg:"date_max_future" doc:"how far in the future a date may be, in seconds"`
	Enabled           *bool    `arg:"enabled" doc:"whether it is used"`
	InreleasePath     *string  `arg:"inrelease_path" doc:"path of the InRelease file"`
	Languages         []string `arg:"languages" doc:"languages to fetch translations of"`
	Pdiffs            *bool    `arg:"pdiffs" doc:"fetch differences of indexes"`
	SignedBy          *string  `arg:"signed_by" doc:"a URL, a file or the text of the key, or a fingerprint"`
	Suites            []string `arg:"suites" doc:"suites, or paths that end with a slash"`
	Targets           []string `arg:"targets" doc:"index targets to fetch"`
	Trusted           *bool    `arg:"trusted" doc:"trust it without a signature"`
	Types             []string `arg:"types,default=deb,choices=deb|deb-src" doc:"types of packages"`
	URIs              []string `arg:"uris" doc:"addresses"`
}

// deb822Repository is younger than the recorded reference: it was written from
// the documentation.
func deb822Repository() Module {
	return Define("deb822_repository", "Add or remove APT repositories in deb822 format", runDeb822Repository).Downloads("signed_by")
}

func runDeb822Repository(c *Call, args *deb822RepositoryArgs) (*Result, error) {
	folders := readAptFolders(c)
	slug := repositorySlug(args.Name)
	dest := filepath.Join(folders.parts, slug+".sources")
	if args.State == "absent" {
		return removeDeb822(c, folders, dest, slug)
	}
	key := ""
	changed := false
	if args.SignedBy != nil {
		signed, file, fetched, err := deb822Key(c, folders, slug, *args.SignedBy)
		if err != nil {
			return nil, err
		}
		args.SignedBy, key, changed = &signed, file, fetched
	}
	text := args.render()
	old, err := os.ReadFile(dest)
	if err != nil && !os.IsNotExist(err) {
		return nil, Failf("cannot read %q: %s", dest, osText(err, dest))
	}
	if string(old) != text {
		changed = true
		if !c.Check {
			limit := uint32(0o644)
			if err := atomicfile.Write(dest, strings.NewReader(text), atomicfile.Options{Scratch: c.TmpDir, Mode: &limit}); err != nil {
				return nil, Failf("%v", err)
			}
		}
	}
	shared := fileArgs{Mode: args.Mode}
	set, err := shared.setAttributes(c, dest, perm.NewDiff())
	if err != nil {
		return nil, err
	}
	out := NewResult(changed || set && len(old) > 0).With("repo", text).With("dest", dest)
	if out.Set("key_filename", nil); key != "" {
		out.Set("key_filename", key)
	}
	return out.With("diff", deb822Diff(c, dest, string(old), text)), nil
}

func deb822Diff(c *Call, dest, before, after string) *value.Dict {
	if !c.Diff {
		return value.NewDict()
	}
	return value.DictOf("before", before, "after", after, "before_header", dest, "after_header", dest)
}

var oddInSlug = regexp.MustCompile(`[^a-z0-9-]+`)

// repositorySlug is a name without characters that apt ignores files for.
func repositorySlug(name string) string {
	return oddInSlug.ReplaceAllString(strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(name)), "")
}

// deb822Field is apt's name for an argument.
func deb822Field(name string) string {
	switch name {
	case "name":
		return "X-Repolib-Name"
	case "uris":
		return "URIs"
	case "pdiffs":
		return "PDiffs"
	}
	words := strings.Split(name, "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "-")
}

// render is the file's text, with the arguments in the order of their names.
func (a *deb822RepositoryArgs) render() string {
	lines := [][2]string{{"name", a.Name}}
	fields := reflect.ValueOf(&a.deb822Options).Elem()
	for i, o := range argspec.Of(deb822Options{}).Options {
		text := ""
		switch v := fields.Field(i).Interface().(type) {
		case *bool:
			if v == nil {
				continue
			}
			text = yesNo(*v)
		case *string:
			text = value.Str(orNone(v))
			if v == nil {
				continue
			}
		case *int:
			if v == nil {
				continue
			}
			text = value.Str(*v)
		case []string:
			if v == nil {
				continue
			}
			text = strings.Join(v, " ")
		}
		lines = append(lines, [2]string{o.Name, text})
	}
	sort.Slice(lines, func(i, j int) bool { return lines[i][0] < lines[j][0] })
	var b strings.Builder
	for _, l := range lines {
		if strings.HasPrefix(l[1], "\n") {
			b.WriteString(deb822Field(l[0]) + ":" + l[1] + "\n")
			continue
		}
		b.WriteString(deb822Field(l[0]) + ": " + l[1] + "\n")
	}
	return b.String()
}

// deb822Key is the value of Signed-By: a key's text is set into the field, one
// at an address is kept in a file beside apt's settings.
func deb822Key(c *Call, f aptFolders, slug, signed string) (field, file string, changed bool, err error) {
	if strings.Contains(signed, "-----BEGIN PGP") {
		return "\n" + foldedKey(signed), "", false, nil
	}
	if !strings.Contains(signed, "://") {
		return signed, "", false, nil
	}
	temp := filepath.Join(c.TmpDir, "key-"+randomName())
	if err := fetchURL(c, signed, true, temp); err != nil {
		return "", "", false, Failf("Failed to fetch the key at %s: %v", signed, err)
	}
	defer os.Remove(temp)
	data, err := os.ReadFile(temp)
	if err != nil {
		return "", "", false, err
	}
	ext := ".gpg"
	if strings.Contains(string(data), "-----BEGIN PGP") {
		ext = ".asc"
	}
	dir := filepath.Join(filepath.Dir(f.list), "keyrings")
	file = filepath.Join(dir, slug+ext)
	old, err := os.ReadFile(file)
	if err == nil && string(old) == string(data) {
		return file, file, false, nil
	}
	if c.Check {
		return file, file, true, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", "", false, Failf("%s", osTextString(err, dir))
	}
	limit := uint32(0o644)
	if err := atomicfile.Write(file, strings.NewReader(string(data)), atomicfile.Options{Scratch: c.TmpDir, Mode: &limit}); err != nil {
		return "", "", false, Failf("%v", err)
	}
	return file, file, true, nil
}

// foldedKey is a key's text as further lines of a field: each begins with a
// space, and an empty one is a dot.
func foldedKey(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		if l = strings.TrimSpace(l); l == "" {
			l = "."
		}
		lines[i] = " " + l
	}
	return strings.Join(lines, "\n")
}

// removeDeb822 removes the repository's file and the key that was fetched for it.
func removeDeb822(c *Call, f aptFolders, dest, slug string) (*Result, error) {
	keyrings := filepath.Join(filepath.Dir(f.list), "keyrings")
	out := NewResult(false).With("repo", nil).With("dest", dest).With("key_filename", nil)
	for _, path := range []string{dest, filepath.Join(keyrings, slug+".asc"), filepath.Join(keyrings, slug+".gpg")} {
		if !lexists(path) {
			continue
		}
		out.Changed(true)
		if path != dest {
			out.Set("key_filename", path)
		}
		if c.Check {
			continue
		}
		if err := os.Remove(path); err != nil {
			return nil, Failf("%s", osTextString(err, path))
		}
	}
	return out.With("diff", value.NewDict()), nil
}
