//go:build !plain

package modules

import (
	"archive/tar"
	"bufio"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"io"
	"io/fs"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"play/modules/value"
)

// buildHeader is what a build is sent with: the context's type and all logins.
func (i *imageRun) buildHeader() textproto.MIMEHeader {
	header := textproto.MIMEHeader{}
	header.Set("Content-Type", "application/tar")
	config := i.dockerConfig(i.dockerConfigPath())
	logins := value.NewDict()
	for name, entry := range config.Auths {
		user, password, ok := cutAuth(entry.Auth)
		if ok {
			logins.Set(name, value.DictOf("username", user, "password", password, "email", entry.Email, "serveraddress", name))
		}
	}
	for name, helper := range config.CredHelpers {
		if found := i.helperLogin(helper, name); found != nil {
			logins.Set(name, value.DictOf("Username", found.Username, "Password", found.Password, "ServerAddress", name))
		}
	}
	if logins.Len() > 0 {
		header.Set("X-Registry-Config", base64.URLEncoding.EncodeToString([]byte(jsonText(logins))))
	}
	return header
}

// buildContext packs the folder, without what .dockerignore excludes, into a
// scratch file that is gone once it is closed.
func (i *imageRun) buildContext(root string) (*os.File, error) {
	f, err := os.CreateTemp(i.TmpDir, "context")
	if err != nil {
		return nil, err
	}
	if err = os.Remove(f.Name()); err == nil {
		err = i.pack(root, tar.NewWriter(f))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, i.fail("cannot pack the build context %q: %v", i.args.Build.Path, err)
	}
	return f, nil
}

func (i *imageRun) pack(root string, out *tar.Writer) error {
	rules, err := readIgnored(filepath.Join(root, ".dockerignore"))
	if err != nil {
		return err
	}
	extra, err := i.placeDockerfile(root)
	if err != nil {
		return err
	}
	inside := "Dockerfile"
	if i.args.Build.Dockerfile != nil {
		inside = *i.args.Build.Dockerfile
	}
	all := append(slices.Clone(rules), ignoreRuleOf("!"+inside), ignoreRuleOf("!.dockerignore"))
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if !ignored(all, name) {
			if extra != "" && name == ".dockerignore" {
				return nil
			}
			return addToContext(out, path, name)
		}
		if entry.IsDir() && !mayHold(all, name) {
			return fs.SkipDir
		}
		return nil
	})
	if err == nil && extra != "" {
		err = i.addDockerfile(out, root, extra)
	}
	if err != nil {
		return err
	}
	return out.Close()
}

// placeDockerfile makes build.dockerfile relative to the context. One outside is
// given a name inside, which is returned.
func (i *imageRun) placeDockerfile(root string) (extra string, err error) {
	b := i.args.Build
	if b.Dockerfile == nil || *b.Dockerfile == "" {
		b.Dockerfile = nil
		return "", nil
	}
	full := *b.Dockerfile
	if !filepath.IsAbs(full) {
		full = filepath.Join(root, full)
	}
	inside, err := filepath.Rel(root, full)
	if err != nil {
		return "", err
	}
	if inside != ".." && !strings.HasPrefix(inside, "../") {
		b.Dockerfile = &inside
		return "", nil
	}
	name := make([]byte, 20)
	rand.Read(name)
	inside = ".dockerfile." + hex.EncodeToString(name)
	b.Dockerfile = &inside
	return full, nil
}

// addDockerfile adds a Dockerfile from outside, and has it ignored in copies.
func (i *imageRun) addDockerfile(out *tar.Writer, root, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	rules, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	if os.IsNotExist(err) {
		rules, err = []byte(".dockerignore"), nil
	}
	if err != nil {
		return err
	}
	name := *i.args.Build.Dockerfile
	rules = append(append(rules, '\n'), name...)
	for _, file := range []struct {
		name    string
		content []byte
	}{{".dockerignore", rules}, {name, content}} {
		if err := out.WriteHeader(&tar.Header{Name: file.name, Mode: 0o644, Size: int64(len(file.content))}); err != nil {
			return err
		}
		if _, err := out.Write(file.content); err != nil {
			return err
		}
	}
	return nil
}

func addToContext(out *tar.Writer, path, name string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSocket != 0 {
		return err
	}
	target := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		if target, err = os.Readlink(path); err != nil {
			return err
		}
	}
	head, err := tar.FileInfoHeader(info, target)
	if err != nil {
		return err
	}
	head.Name = name
	if info.IsDir() {
		head.Name += "/"
	}
	if err := out.WriteHeader(head); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(out, f, head.Size)
	return err
}

// ignoreRule is a line of .dockerignore.
type ignoreRule struct {
	keeps   bool // it began with "!"
	pattern string
	parts   int
	match   *regexp.Regexp
}

func readIgnored(path string) ([]ignoreRule, error) {
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rules []ignoreRule
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if rule := ignoreRuleOf(line); rule.parts > 0 {
			rules = append(rules, rule)
		}
	}
	return rules, lines.Err()
}

func ignoreRuleOf(line string) ignoreRule {
	rest, keeps := strings.CutPrefix(line, "!")
	pattern := strings.Trim(filepath.Clean("/"+strings.TrimSpace(rest)), "/")
	if pattern == "" {
		return ignoreRule{}
	}
	return ignoreRule{keeps: keeps, pattern: pattern, parts: strings.Count(pattern, "/") + 1, match: ignorePattern(pattern)}
}

// ignorePattern translates the wildcards: * and ? stay within a folder, ** does not.
func ignorePattern(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString("(.*/)?")
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[' && strings.Contains(pattern[i:], "]"):
			end := i + strings.Index(pattern[i:], "]")
			class := strings.ReplaceAll(pattern[i+1:end], `\`, `\\`)
			b.WriteString("[" + strings.Replace(class, "!", "^", 1) + "]")
			i = end
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re, err := regexp.Compile(b.String() + "$")
	if err != nil {
		return regexp.MustCompile("^" + regexp.QuoteMeta(pattern) + "$")
	}
	return re
}

// ignored tells whether a path is left out: the last rule that is about it, or
// about a folder that it is in, decides.
func ignored(rules []ignoreRule, name string) bool {
	out := false
	folders := strings.Split(name, "/")
	for _, r := range rules {
		match := r.match.MatchString(name)
		if !match && r.parts < len(folders) {
			match = r.match.MatchString(strings.Join(folders[:r.parts], "/"))
		}
		if match {
			out = !r.keeps
		}
	}
	return out
}

// mayHold tells whether something in a folder that is left out may be kept.
func mayHold(rules []ignoreRule, folder string) bool {
	return slices.ContainsFunc(rules, func(r ignoreRule) bool { return r.keeps && strings.HasPrefix(r.pattern, folder) })
}
