package modules

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"

	"play/modules/argspec"
	"play/modules/atomicfile"
	"play/modules/perm"
	"play/modules/value"
)

// yumRepositoryArgs are the arguments of yum_repository. The fields of
// yumRepositoryOptions stand in the file under their names.
type yumRepositoryArgs struct {
	Name        string  `arg:"name,required" doc:"id of the repository: its section in the file"`
	State       string  `arg:"state,default=present,choices=present|absent" doc:"whether it shall be there"`
	Description *string `arg:"description" doc:"its name for people"`
	File        string  `arg:"file" doc:"name of the file, without .repo; by default the id"`
	Reposdir    string  `arg:"reposdir,type=path,default=/etc/yum.repos.d" doc:"folder of the files"`
	yumRepositoryOptions
	fileArgs
}

type yumRepositoryOptions struct {
	Async            *bool    `arg:"async" doc:"fetch in parallel"`
	Bandwidth        *string  `arg:"bandwidth" doc:"bandwidth in bytes a second"`
	Baseurl          []string `arg:"baseurl" doc:"addresses"`
	Cost             *string  `arg:"cost" doc:"relative cost"`
	DeltaMetadata    *string  `arg:"deltarpm_metadata_percentage" doc:"largest size of delta metadata, in percent"`
	DeltaPercentage  *string  `arg:"deltarpm_percentage" doc:"largest size of a delta, in percent"`
	Enabled          *bool    `arg:"enabled" doc:"whether it is used"`
	Enablegroups     *bool    `arg:"enablegroups" doc:"whether its groups are used"`
	Exclude          []string `arg:"exclude" doc:"packages to leave out"`
	Failovermethod   *string  `arg:"failovermethod,choices=roundrobin|priority" doc:"order of the addresses"`
	Gpgcakey         *string  `arg:"gpgcakey" doc:"address of the CA key"`
	Gpgcheck         *bool    `arg:"gpgcheck" doc:"check signatures of packages"`
	Gpgkey           []string `arg:"gpgkey" doc:"addresses of keys"`
	HTTPCaching      *string  `arg:"http_caching,choices=all|packages|none" doc:"what HTTP caches may keep"`
	Include          *string  `arg:"include" doc:"a further file to read"`
	Includepkgs      []string `arg:"includepkgs" doc:"the only packages to use"`
	IPResolve        *string  `arg:"ip_resolve,choices=4|6|IPv4|IPv6|whatever" doc:"version of IP"`
	Keepalive        *bool    `arg:"keepalive" doc:"keep connections open"`
	Keepcache        *string  `arg:"keepcache,choices=0|1" doc:"keep fetched packages"`
	MetadataExpire   *string  `arg:"metadata_expire" doc:"when metadata is too old"`
	MetadataFilter   *string  `arg:"metadata_expire_filter,choices=never|read-only:past|read-only:present|read-only:future" doc:"which commands may use old metadata"`
	Metalink         *string  `arg:"metalink" doc:"address of a metalink file"`
	Mirrorlist       *string  `arg:"mirrorlist" doc:"address of a list of mirrors"`
	MirrorlistExpire *string  `arg:"mirrorlist_expire" doc:"when the list is too old"`
	ModuleHotfixes   *bool    `arg:"module_hotfixes" doc:"let its packages win over modules"`
	Password         *string  `arg:"password,nolog" doc:"password for the repository"`
	Priority         *string  `arg:"priority" doc:"priority, 1 to 99"`
	Protect          *bool    `arg:"protect" doc:"protect its packages"`
	Proxy            *string  `arg:"proxy" doc:"address of a proxy, or _none_"`
	ProxyPassword    *string  `arg:"proxy_password,nolog" doc:"password for the proxy"`
	ProxyUsername    *string  `arg:"proxy_username" doc:"user at the proxy"`
	RepoGpgcheck     *bool    `arg:"repo_gpgcheck" doc:"check signatures of metadata"`
	Retries          *string  `arg:"retries" doc:"how often a fetch is tried"`
	S3Enabled        *bool    `arg:"s3_enabled" doc:"it is in Amazon S3"`
	SkipUnavailable  *bool    `arg:"skip_if_unavailable" doc:"go on without it"`
	CheckCertPerms   *bool    `arg:"ssl_check_cert_permissions" doc:"check permissions of certificates"`
	SSLCACert        *string  `arg:"sslcacert,aliases=ca_cert" doc:"file of CA certificates"`
	SSLClientCert    *string  `arg:"sslclientcert,aliases=client_cert" doc:"file of the client's certificate"`
	SSLClientKey     *string  `arg:"sslclientkey,aliases=client_key" doc:"file of the client's key"`
	SSLVerify        *bool    `arg:"sslverify,aliases=validate_certs" doc:"check the server's certificate"`
	Throttle         *string  `arg:"throttle" doc:"limit of bandwidth"`
	Timeout          *string  `arg:"timeout" doc:"time limit of a connection, in seconds"`
	UIRepoidVars     *string  `arg:"ui_repoid_vars" doc:"variables to show with the id"`
	Username         *string  `arg:"username" doc:"user at the repository"`
}

func yumRepository() Module {
	return Define("yum_repository", "Add or remove YUM repositories", runYumRepository)
}

func runYumRepository(c *Call, args *yumRepositoryArgs) (*Result, error) {
	if args.State == "present" {
		if args.Description == nil {
			return nil, Failf("Parameter 'description' is required.")
		}
		if args.Baseurl == nil && args.Metalink == nil && args.Mirrorlist == nil {
			return nil, Failf("Parameter 'baseurl', 'metalink' or 'mirrorlist' is required.")
		}
	}
	dir, file := c.abs(args.Reposdir), args.File
	if !isDir(dir) {
		return nil, Failf("Repo directory '%s' does not exist.", dir)
	}
	if file == "" {
		file = args.Name
	}
	path := filepath.Join(dir, file+".repo")
	repos, err := readRepoFile(path)
	if err != nil {
		return nil, err
	}
	before := repos.sorted()
	repos.remove(args.Name)
	if args.State == "present" {
		repos = append(repos, args.section())
	}
	after := repos.sorted()
	changed := before != after
	if changed && !c.Check {
		if err := repos.save(c, path); err != nil {
			return nil, err
		}
	}
	if args.State == "present" && (exists(path) || !c.Check) {
		set, err := args.setAttributes(c, path, perm.NewDiff())
		if err != nil {
			return nil, err
		}
		changed = changed || set
	}
	diff := value.DictOf("before_header", path, "before", before, "after_header", path, "after", after)
	return NewResult(changed).With("repo", args.Name).With("state", args.State).With("diff", diff), nil
}

// section is the repository as it stands in the file.
func (a *yumRepositoryArgs) section() *repoSection {
	s := &repoSection{name: a.Name}
	fields := reflect.ValueOf(&a.yumRepositoryOptions).Elem()
	for i, o := range argspec.Of(yumRepositoryOptions{}).Options {
		if text, ok := repoValue(o.Name, fields.Field(i).Interface()); ok {
			s.entries = append(s.entries, [2]string{o.Name, text})
		}
	}
	s.entries = append(s.entries, [2]string{"name", *a.Description})
	sort.Slice(s.entries, func(i, j int) bool { return s.entries[i][0] < s.entries[j][0] })
	return s
}

// repoValue is an argument as it stands in the file; ok is false for None.
func repoValue(name string, v any) (text string, ok bool) {
	switch v := v.(type) {
	case *bool:
		if v == nil {
			return "", false
		}
		if *v {
			return "1", true
		}
		return "0", true
	case *string:
		if v == nil {
			return "", false
		}
		return *v, true
	case []string:
		if name == "exclude" || name == "includepkgs" {
			return strings.Join(v, " "), v != nil
		}
		return strings.Join(v, "\n"), v != nil
	}
	return "", false
}

// repoSection is one section of a .repo file.
type repoSection struct {
	name    string
	entries [][2]string // key and value; lines of a value are joined by newlines
}

type repoFile []*repoSection

// readRepoFile reads a .repo file; a missing one is empty.
func readRepoFile(path string) (repoFile, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, Failf("cannot read %q: %s", path, osText(err, path))
	}
	var f repoFile
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\r\n")
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case text[0] == '[' && strings.HasSuffix(text, "]"):
			f = append(f, &repoSection{name: text[1 : len(text)-1]})
		case len(f) == 0 || !f[len(f)-1].read(line, text):
			return nil, Failf("cannot read %q: the line %q is no part of a repository", path, text)
		}
	}
	return f, nil
}

// read takes a line "key = value", or one that goes on with the value before.
func (s *repoSection) read(line, text string) bool {
	if line[0] == ' ' || line[0] == '\t' {
		if n := len(s.entries); n > 0 {
			s.entries[n-1][1] += "\n" + text
			return true
		}
	}
	i := strings.IndexAny(text, "=:")
	if i < 0 {
		return false
	}
	s.entries = append(s.entries, [2]string{strings.ToLower(strings.TrimSpace(text[:i])), strings.TrimSpace(text[i+1:])})
	return true
}

func (f *repoFile) remove(name string) {
	*f = slices.DeleteFunc(*f, func(s *repoSection) bool { return s.name == name })
}

// render is the file's text; indent goes before further lines of a value.
func (f repoFile) render(indent string) string {
	var b strings.Builder
	for _, s := range f {
		b.WriteString("[" + s.name + "]\n")
		for _, e := range s.entries {
			b.WriteString(e[0] + " = " + strings.ReplaceAll(e[1], "\n", "\n"+indent) + "\n")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// sorted is the content in an order that tells whether two files say the same.
func (f repoFile) sorted() string {
	sections := make(repoFile, len(f))
	for i, s := range f {
		sections[i] = &repoSection{s.name, slices.Clone(s.entries)}
		entries := sections[i].entries
		sort.SliceStable(entries, func(i, j int) bool { return entries[i][0] < entries[j][0] })
	}
	sort.SliceStable(sections, func(i, j int) bool { return sections[i].name < sections[j].name })
	return sections.render("")
}

// save writes the file; one without repositories is removed.
func (f repoFile) save(c *Call, path string) error {
	if len(f) == 0 {
		if err := os.Remove(path); err != nil {
			return Failf("Cannot remove empty repo file: %s", osTextString(err, path))
		}
		return nil
	}
	err := atomicfile.Write(realPath(path), strings.NewReader(f.render("\t")), atomicfile.Options{Scratch: c.TmpDir})
	if err != nil {
		return Failf("Problems handling file %s: %v", path, err)
	}
	return nil
}
