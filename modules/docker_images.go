//go:build !plain

package modules

import (
	"bytes"
	"encoding/base64"
	"net/textproto"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"play/modules/process"
	"play/modules/value"
)

var (
	imageID  = regexp.MustCompile(`^sha256:[0-9a-fA-F]{64}$`)
	imageTag = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127}$`)
)

// cutTag splits name:tag or name@digest; without either, tag is "".
func cutTag(name string) (repository, tag string) {
	if i := strings.LastIndex(name, "@"); i >= 0 {
		return name[:i], name[i+1:]
	}
	if i := strings.LastIndex(name, ":"); i >= 0 && !strings.Contains(name[i:], "/") {
		return name[:i], name[i+1:]
	}
	return name, ""
}

// cutRegistry splits a repository's name into its registry and the rest.
func cutRegistry(name string) (registry, rest string) {
	first, rest, found := strings.Cut(name, "/")
	if !found || !strings.ContainsAny(first, ".:") && first != "localhost" {
		return "docker.io", name
	}
	return registryHost(first), rest
}

// registryHost is the name that a registry's URL stands for.
func registryHost(address string) string {
	address = strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://")
	host, _, _ := strings.Cut(address, "/")
	if host == "index.docker.io" {
		return "docker.io"
	}
	return host
}

// imageByID inspects an image; one that does not exist is nil.
func (d *docker) imageByID(id string) (*value.Dict, error) {
	found, err := d.getDict(dockerPath("/images/{0}/json", id))
	if err != nil {
		return nil, d.fail("Error inspecting image ID %s - %v", id, err)
	}
	return found, nil
}

// image inspects an image by name and tag (or digest); one that does not exist
// is nil. Names of Docker's own registry are tried in all their spellings.
func (d *docker) image(name, tag string) (*value.Dict, error) {
	if name == "" {
		return nil, nil
	}
	spellings := []string{name}
	if registry, rest := cutRegistry(name); registry == "docker.io" {
		spellings = append(spellings, rest)
		if short, ok := strings.CutPrefix(rest, "library/"); ok {
			spellings = append(spellings, short)
		}
		spellings = append(spellings, registry+"/"+rest)
		if !strings.Contains(rest, "/") {
			spellings = append(spellings, registry+"/library/"+rest)
		}
	}
	for _, spelling := range spellings {
		ids, err := d.imageIDs(spelling, tag)
		if err != nil {
			return nil, err
		}
		if len(ids) > 1 {
			return nil, d.fail("Registry returned more than one result for %s:%s", name, tag)
		}
		if len(ids) == 1 {
			found, err := d.getDict(dockerPath("/images/{0}/json", ids[0]))
			if err != nil {
				return nil, d.fail("Error inspecting image %s:%s - %v", name, tag, err)
			}
			return found, nil
		}
	}
	return nil, nil
}

// imageIDs lists the images of a name; with a tag, the first that has it.
func (d *docker) imageIDs(name, tag string) ([]string, error) {
	filters := dockerFilters(value.DictOf("reference", name))
	list, err := d.getDicts("/images/json", "only_ids", "0", "all", "0", "filters", filters)
	if err != nil {
		return nil, d.fail("Error searching for image %s - %v", name, err)
	}
	var ids []string
	for _, item := range list {
		if tag == "" {
			ids = append(ids, dictText(item, "Id"))
			continue
		}
		tags, _ := item.Get("RepoTags")
		digests, _ := item.Get("RepoDigests")
		tagged, _ := value.Contains(tags, name+":"+tag)
		digested, _ := value.Contains(digests, name+"@"+tag)
		if tagged || digested {
			return []string{dictText(item, "Id")}, nil
		}
	}
	return ids, nil
}

// findImage inspects an image by ID or by name; without a tag it is the latest.
func (d *docker) findImage(name string) (*value.Dict, error) {
	if imageID.MatchString(name) {
		return d.imageByID(name)
	}
	repository, tag := cutTag(name)
	if tag == "" {
		tag = "latest"
	}
	return d.image(repository, tag)
}

// pullImage pulls and tells whether the image was the same before.
func (d *docker) pullImage(name, tag, platform string) (image *value.Dict, same bool, err error) {
	before, err := d.image(name, tag)
	if err != nil {
		return nil, false, err
	}
	repository, own := cutTag(name)
	if tag == "" {
		tag = own
	}
	if tag == "" {
		tag = "latest"
	}
	params := []string{"tag", tag, "fromImage", repository}
	if platform != "" {
		params = append(params, "platform", platform)
	}
	registry, _ := cutRegistry(repository)
	r := &dockerRequest{method: "POST", path: "/images/create", params: params, header: d.registryHeader(registry), patience: -1}
	err = d.lines(r, func(line *value.Dict) error {
		said := dictText(line, "error")
		if said == "" {
			return nil
		}
		if detail := dictIn(line, "errorDetail"); detail != nil {
			code, _ := detail.Get("code")
			return d.fail("Error pulling %s - code: %s message: %s", name, value.Str(code), dictText(detail, "message"))
		}
		return d.fail("Error pulling %s - %s", name, said)
	})
	if f, ok := err.(*Failure); ok {
		return nil, false, f
	}
	if err != nil {
		return nil, false, d.fail("Error pulling image %s:%s - %v", name, tag, err)
	}
	image, err = d.image(name, tag)
	return image, value.Equal(dictOrNil(before), dictOrNil(image)), err
}

// dictOrNil makes no dict a plain nil.
func dictOrNil(d *value.Dict) any {
	if d == nil {
		return nil
	}
	return d
}

// dockerLogin is what is known of a registry's user.
type dockerLogin struct {
	Username string `json:"username"`
	Password string `json:"password"`
	Email    any    `json:"email"`
	Server   string `json:"serveraddress"`
	token    string
}

// header is the login as the X-Registry-Auth header has it.
func (l *dockerLogin) header() string {
	d := value.DictOf("username", l.Username, "password", l.Password, "email", l.Email, "serveraddress", l.Server)
	if l.token != "" {
		d = value.DictOf("IdentityToken", l.token)
	}
	text, err := value.EncodeJSON(d, value.JSONOptions{EnsureASCII: true})
	if err != nil {
		return "" // texts can always be encoded
	}
	return base64.URLEncoding.EncodeToString([]byte(text))
}

// dockerConfig is Docker's file of logins.
type dockerConfig struct {
	Auths       map[string]savedLogin
	CredsStore  string
	CredHelpers map[string]string
}

// savedLogin is one login of the file.
type savedLogin struct {
	Auth, IdentityToken string
	Email               any
}

// dockerConfigPath is where the user's logins are.
func (c *Call) dockerConfigPath() string {
	if folder, ok := c.Getenv("DOCKER_CONFIG"); ok && folder != "" {
		return filepath.Join(folder, "config.json")
	}
	return filepath.Join(c.Home, ".docker", "config.json")
}

// dockerConfig reads a file of logins; one that is missing or broken is empty.
func (c *Call) dockerConfig(path string) *dockerConfig {
	config := &dockerConfig{Auths: map[string]savedLogin{}, CredHelpers: map[string]string{}}
	data, err := os.ReadFile(path)
	if err != nil {
		return config
	}
	top := jsonDict(data)
	config.CredsStore = wordIn(top, "credsStore")
	for registry, v := range dictIn(top, "auths").All() {
		entry, _ := v.(*value.Dict)
		email, _ := entry.Get("email")
		config.Auths[value.Str(registry)] = savedLogin{wordIn(entry, "auth"), wordIn(entry, "identitytoken"), email}
	}
	for registry, v := range dictIn(top, "credHelpers").All() {
		config.CredHelpers[value.Str(registry)] = value.Str(v)
	}
	return config
}

// jsonDict reads an object; anything else is an empty one.
func jsonDict(data []byte) *value.Dict {
	v, err := value.DecodeJSON(data)
	if d, ok := v.(*value.Dict); ok && err == nil {
		return d
	}
	return value.NewDict()
}

// wordIn is a text of a dict, or "".
func wordIn(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

// helper is the program that keeps a registry's logins, or "".
func (config *dockerConfig) helper(registry string) string {
	if registry == "" || registry == "docker.io" {
		registry = "https://index.docker.io/v1/"
	}
	if name := config.CredHelpers[registry]; name != "" {
		return name
	}
	return config.CredsStore
}

// login finds a registry's user, or nil.
func (c *Call) dockerLogin(config *dockerConfig, registry string) *dockerLogin {
	if name := config.helper(registry); name != "" {
		if found := c.helperLogin(name, registry); found != nil {
			return found
		}
	}
	host := registryHost(registry)
	for _, exact := range []bool{true, false} {
		for key, entry := range config.Auths {
			if exact && key != host || registryHost(key) != host {
				continue
			}
			user, password, _ := cutAuth(entry.Auth)
			return &dockerLogin{Username: user, Password: password, Email: entry.Email, Server: key, token: entry.IdentityToken}
		}
	}
	return nil
}

func cutAuth(auth string) (user, password string, ok bool) {
	data, err := base64.StdEncoding.DecodeString(auth)
	if err != nil {
		return "", "", false
	}
	return strings.Cut(string(data), ":")
}

// helperLogin asks docker-credential-NAME.
func (c *Call) helperLogin(name, registry string) *dockerLogin {
	if registry == "" || registry == "docker.io" {
		registry = "https://index.docker.io/v1/"
	}
	out, err := c.credentialHelper(name, "get", registry)
	if err != nil || out.RC != 0 {
		return nil
	}
	said := jsonDict(out.Stdout)
	user, secret := wordIn(said, "Username"), wordIn(said, "Secret")
	if user == "<token>" {
		return &dockerLogin{token: secret}
	}
	return &dockerLogin{Username: user, Password: secret, Server: registry}
}

// credentialHelper runs a program that keeps logins.
func (c *Call) credentialHelper(name, verb, input string) (*process.Outcome, error) {
	path, err := c.needTool("docker-credential-" + name)
	if err != nil {
		return nil, err
	}
	return process.Run(c, process.Command{Argv: []string{path, verb}, Env: c.Env, Stdin: bytes.NewReader([]byte(input))})
}

// registryHeader is the login for a registry as headers of a request.
func (d *docker) registryHeader(registry string) textproto.MIMEHeader {
	header := textproto.MIMEHeader{}
	if found := d.dockerLogin(d.dockerConfig(d.dockerConfigPath()), registry); found != nil {
		header.Set("X-Registry-Auth", found.header())
	}
	return header
}
