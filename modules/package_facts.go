package modules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"play/modules/value"
)

// packageFactsArgs are the arguments of package_facts.
type packageFactsArgs struct {
	Manager  []string `arg:"manager,default=auto" doc:"package managers to ask: auto, apt, rpm, pacman, apk, portage"`
	Strategy string   `arg:"strategy,default=first,choices=first|all" doc:"stop at the first that answers, or ask all"`
}

// packageLister lists what one package manager has installed.
type packageLister struct {
	name, tool string
	list       func(t *pkgTool) (*value.Dict, error)
}

// packageListers are asked in this order.
func packageListers() []packageLister {
	return []packageLister{
		{"rpm", "rpm", rpmPackages}, {"apt", "dpkg-query", aptPackages},
		{"portage", "qlist", portagePackages}, {"pacman", "pacman", pacmanPackages}, {"apk", "apk", apkPackages},
	}
}

func packageFacts() Module {
	return Define("package_facts", "The installed packages as facts", runPackageFacts)
}

func runPackageFacts(c *Call, args *packageFactsArgs) (*Result, error) {
	all := packageListers()
	var unknown []string
	for _, m := range args.Manager {
		known := m == "auto" || m == "pkg" || m == "pkg_info" ||
			slices.ContainsFunc(all, func(l packageLister) bool { return l.name == strings.ToLower(m) })
		if !known {
			unknown = append(unknown, m)
		}
	}
	if len(unknown) > 0 {
		return nil, Failf("Unsupported package managers requested: %s", strings.Join(unknown, ", "))
	}
	packages := value.NewDict()
	var warnings []string
	asked := 0
	for _, l := range all {
		if !slices.Contains(args.Manager, "auto") && !slices.Contains(args.Manager, l.name) {
			continue
		}
		path := c.findTool(l.tool)
		if path == "" {
			continue
		}
		found, err := l.list(&pkgTool{Call: c, Path: path})
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("Requested package manager %s was not usable by this module: %v", l.name, err))
			continue
		}
		asked++
		packages.Update(found)
		if args.Strategy == "first" && (found.Len() > 0 || len(args.Manager) == 1 && args.Manager[0] != "auto") {
			break
		}
	}
	if asked == 0 {
		return nil, Failf("Could not detect a supported package manager from the following list: %s, "+
			"or the required Python library is not installed. Check warnings for details.", value.Repr(stringList(args.Manager)))
	}
	out := &Result{value.DictOf("ansible_facts", value.DictOf("packages", packages))}
	if len(warnings) > 0 {
		out.Set("warnings", stringList(warnings))
	}
	return out, nil
}

// addPackage appends an entry to the list under a package's name.
func addPackage(all *value.Dict, entry *value.Dict) {
	v, _ := entry.Get("name")
	name := value.Str(v)
	if old, ok := all.Get(name); ok {
		old.(*value.List).Append(entry)
		return
	}
	all.Set(name, value.NewList(entry))
}

// listed runs a query and cuts its lines into fields.
func (t *pkgTool) listed(sep string, args ...string) ([][]string, error) {
	out, err := t.run(args...)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, fmt.Errorf("%s", strings.TrimSpace(out.Stderr))
	}
	var rows [][]string
	for _, line := range outLines(out.Stdout) {
		rows = append(rows, strings.Split(line, sep))
	}
	return rows, nil
}

func aptPackages(t *pkgTool) (*value.Dict, error) {
	rows, err := t.listed("|", "-W", "-f", `${db:Status-Abbrev}|${Package}|${Architecture}|${Version}|${Section}\n`)
	if err != nil {
		return nil, err
	}
	var names []string
	rows = slices.DeleteFunc(rows, func(f []string) bool { return len(f) != 5 || len(f[0]) < 2 || f[0][1] != 'i' })
	for _, f := range rows {
		names = append(names, f[1]+":"+strings.Replace(f[2], "all", "", 1))
	}
	origins := aptOrigins(t.Call, names)
	all := value.NewDict()
	for _, f := range rows {
		addPackage(all, value.DictOf("name", f[1], "version", f[3], "arch", f[2], "category", f[4],
			"origin", origins[f[1]+"|"+f[3]], "source", "apt"))
	}
	return all, nil
}

// aptOrigins finds the origin of each installed version, under "name|version":
// what the release files of its sources say. Nothing is known without apt-cache.
func aptOrigins(c *Call, names []string) map[string]string {
	path := c.findTool("apt-cache")
	if path == "" {
		return nil
	}
	cache := &pkgTool{Call: c, Path: path}
	sources, err := cache.run("policy")
	if err != nil {
		return nil
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ":")
	}
	versions, err := cache.run(append([]string{"policy", "--"}, names...)...)
	if err != nil {
		return nil
	}
	return versionOrigins(versions.Stdout, releaseOrigins(sources.Stdout))
}

// releaseOrigins reads apt-cache policy without names: an index file, then its
// release's fields.
func releaseOrigins(text string) map[string]string {
	origins := map[string]string{}
	index := ""
	for _, line := range outLines(text) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "     release "):
			for _, field := range strings.Split(strings.TrimPrefix(line, "     release "), ",") {
				if o, ok := strings.CutPrefix(field, "o="); ok {
					origins[index] = o
				}
			}
		case len(f) > 1 && strings.HasPrefix(line, " "):
			if _, err := strconv.Atoi(f[0]); err == nil {
				index = strings.Join(f[1:], " ")
			}
		}
	}
	return origins
}

// versionOrigins reads apt-cache policy with names: each version, then the
// index files that have it, of which the first counts.
func versionOrigins(text string, origins map[string]string) map[string]string {
	out, noted := map[string]string{}, map[string]bool{}
	name, version := "", ""
	for _, line := range outLines(text) {
		f := strings.Fields(line)
		switch {
		case line[0] != ' ':
			name, _, _ = strings.Cut(strings.TrimSuffix(line, ":"), ":")
		case strings.HasPrefix(line, "        ") && len(f) > 1 && version != "":
			if key := name + "|" + version; !noted[key] {
				noted[key] = true
				out[key] = origins[strings.Join(f[1:], " ")]
			}
		case strings.HasPrefix(line, " *** ") && len(f) == 3:
			version = f[1]
		case strings.HasPrefix(line, "     ") && len(f) == 2:
			version = "" // not the installed one
		}
	}
	return out
}

func rpmPackages(t *pkgTool) (*value.Dict, error) {
	rows, err := t.listed("|", "-qa", "--qf", `%{NAME}|%{VERSION}|%{RELEASE}|%{EPOCH}|%{ARCH}\n`)
	if err != nil {
		return nil, err
	}
	all := value.NewDict()
	for _, f := range rows {
		if len(f) != 5 {
			continue
		}
		var epoch, arch any = nil, f[4]
		if n, err := strconv.Atoi(f[3]); err == nil {
			epoch = n
		}
		if f[4] == "(none)" {
			arch = nil
		}
		addPackage(all, value.DictOf("name", f[0], "version", f[1], "release", f[2], "epoch", epoch, "arch", arch, "source", "rpm"))
	}
	return all, nil
}

func pacmanPackages(t *pkgTool) (*value.Dict, error) {
	out, err := t.run("-Qi")
	if err != nil {
		return nil, err
	}
	all := value.NewDict()
	for block := range strings.SplitSeq(out.Stdout, "\n\n") {
		info := map[string]string{}
		key := ""
		for _, line := range outLines(block) {
			k, v, ok := strings.Cut(line, " : ")
			if ok && !strings.HasPrefix(line, " ") {
				key = strings.TrimSpace(k)
				info[key] = strings.TrimSpace(v)
			} else if key != "" {
				info[key] += "  " + strings.TrimSpace(line)
			}
		}
		if info["Name"] == "" {
			continue
		}
		var provides any
		if info["Provides"] != "None" {
			provides = stringList(providedNames(info["Provides"]))
		}
		addPackage(all, value.DictOf("name", info["Name"], "version", info["Version"], "arch", info["Architecture"],
			"provides", provides, "source", "pacman"))
	}
	return all, nil
}

// providedNames drops the versions of what a package provides.
func providedNames(text string) []string {
	var names []string
	for _, p := range strings.Fields(text) {
		name, _, _ := strings.Cut(p, "=")
		names = append(names, name)
	}
	return names
}

func apkPackages(t *pkgTool) (*value.Dict, error) {
	rows, err := t.listed("\n", "info", "-v")
	if err != nil {
		return nil, err
	}
	all := value.NewDict()
	for _, f := range rows {
		parts := strings.Split(f[0], "-")
		if n := len(parts); n > 2 {
			addPackage(all, value.DictOf("name", strings.Join(parts[:n-2], "-"), "version", parts[n-2], "release", parts[n-1], "source", "apk"))
		}
	}
	return all, nil
}

func portagePackages(t *pkgTool) (*value.Dict, error) {
	rows, err := t.listed("|", "-Iv", "--format", "%{CATEGORY}|%{PN}|%{PV}|%{PR}")
	if err != nil {
		return nil, err
	}
	all := value.NewDict()
	for _, f := range rows {
		if len(f) == 4 {
			addPackage(all, value.DictOf("name", f[1], "version", f[2], "release", f[3], "category", f[0], "source", "portage"))
		}
	}
	return all, nil
}
