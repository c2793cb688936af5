//go:build !plain

package modules

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// dockerLoginArgs are the arguments of docker_login.
type dockerLoginArgs struct {
	RegistryURL string `arg:"registry_url,default=https://index.docker.io/v1/,aliases=registry|url" doc:"the registry"`
	Username    string `arg:"username" doc:"the user"`
	Password    string `arg:"password,nolog" doc:"the user's password"`
	Reauthorize bool   `arg:"reauthorize,default=no,aliases=reauth" doc:"log in even if the user is known"`
	State       string `arg:"state,default=present,choices=present|absent" doc:"whether the login shall be known"`
	ConfigPath  string `arg:"config_path,type=path,default=~/.docker/config.json,aliases=dockercfg_path" doc:"Docker's file of logins"`
	dockerArgs
}

// Rules relates the arguments.
func (dockerLoginArgs) Rules() argspec.Rules {
	r := dockerRules()
	r.RequiredIf = []argspec.RequiredIf{{Name: "state", Value: "present", Needs: []string{"username", "password"}}}
	return r
}

func dockerLoginModule() Module {
	return Define("docker_login", "Log in to an image registry", runDockerLogin).In("community.docker", "community.general")
}

// loginRun is one run of docker_login.
type loginRun struct {
	*docker
	args   *dockerLoginArgs
	path   string
	config *dockerConfig
}

func runDockerLogin(c *Call, args *dockerLoginArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	l := &loginRun{docker: d, args: args, path: c.abs(args.ConfigPath)}
	l.config = c.dockerConfig(l.path)
	if args.State == "absent" {
		return d.finish(l.logout())
	}
	return d.finish(l.login())
}

func (l *loginRun) login() (*Result, error) {
	said, err := l.authorize()
	if err != nil {
		return nil, l.fail("Logging into %s for user %s failed - %v", l.args.RegistryURL, l.args.Username, err)
	}
	out := NewResult(false).With("login_result", said)
	user, password, _ := l.stored()
	if user == l.args.Username && password == l.args.Password && !l.args.Reauthorize {
		return out, nil
	}
	if !l.Check {
		if err := l.store(); err != nil {
			return nil, err
		}
	}
	return out.Changed(true), nil
}

// authorize asks the engine to log in, unless the same user and password are known.
func (l *loginRun) authorize() (*value.Dict, error) {
	known := l.dockerLogin(l.config, l.args.RegistryURL)
	if known != nil && known.Username == l.args.Username && known.Password == l.args.Password && !l.args.Reauthorize {
		return value.DictOf("username", known.Username, "email", known.Email, "serveraddress", known.Server), nil
	}
	answer, err := l.post("/auth", value.DictOf("username", l.args.Username, "password", l.args.Password, "serveraddress", l.args.RegistryURL))
	return orEmpty(answer), err
}

// stored is the login that the file or the helper holds for exactly this registry.
func (l *loginRun) stored() (user, password string, ok bool) {
	if name := l.config.helper(l.args.RegistryURL); name != "" {
		found := l.helperLogin(name, l.args.RegistryURL)
		if found == nil {
			return "", "", false
		}
		return found.Username, found.Password, true
	}
	entry, ok := l.config.Auths[l.args.RegistryURL]
	if !ok {
		return "", "", false
	}
	user, password, _ = cutAuth(entry.Auth)
	return user, password, true
}

func (l *loginRun) logout() (*Result, error) {
	if _, _, ok := l.stored(); !ok {
		return NewResult(false).With("login_result", value.NewDict()), nil
	}
	if !l.Check {
		if err := l.erase(); err != nil {
			return nil, err
		}
	}
	return NewResult(true).With("login_result", value.NewDict()), nil
}

func (l *loginRun) store() error {
	if name := l.config.helper(l.args.RegistryURL); name != "" {
		text := jsonText(value.DictOf("ServerURL", l.args.RegistryURL, "Username", l.args.Username, "Secret", l.args.Password))
		return l.helped(name, "store", text)
	}
	auth := base64.StdEncoding.EncodeToString([]byte(l.args.Username + ":" + l.args.Password))
	return l.rewrite(func(auths *value.Dict) { auths.Set(l.args.RegistryURL, value.DictOf("auth", auth)) })
}

func (l *loginRun) erase() error {
	if name := l.config.helper(l.args.RegistryURL); name != "" {
		return l.helped(name, "erase", l.args.RegistryURL)
	}
	return l.rewrite(func(auths *value.Dict) { auths.Delete(l.args.RegistryURL) })
}

func (l *loginRun) helped(name, verb, input string) error {
	out, err := l.credentialHelper(name, verb, input)
	if err != nil {
		return err
	}
	if out.RC != 0 {
		return l.fail("Credentials store docker-credential-%s exited with \"%s\".", name, strings.TrimSpace(string(out.Stdout)))
	}
	return nil
}

// rewrite changes the logins in the file and leaves the rest of it.
func (l *loginRun) rewrite(change func(auths *value.Dict)) error {
	all := value.NewDict()
	if data, err := os.ReadFile(l.path); err == nil {
		all = jsonDict(data)
	}
	auths := dictIn(all, "auths")
	if auths == nil {
		auths = value.NewDict()
		all.Set("auths", auths)
	}
	change(auths)
	text, err := value.EncodeJSON(all, value.JSONOptions{Multiline: true, Indent: "    ", SortKeys: true, EnsureASCII: true})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o777); err != nil {
		return l.fail("cannot create %q: %s", filepath.Dir(l.path), osText(err, l.path))
	}
	if err := os.WriteFile(l.path, []byte(text), 0o600); err != nil {
		return l.fail("cannot write %q: %s", l.path, osText(err, l.path))
	}
	return nil
}
