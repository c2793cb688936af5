package modules

import (
	"os"
	"path/filepath"
	"strings"

	"play/modules/atomicfile"
)

// htpasswdArgs are the arguments of htpasswd.
type htpasswdArgs struct {
	Path     string `arg:"path,required,type=path,aliases=dest|destfile" doc:"the file of users"`
	Name     string `arg:"name,required,aliases=username" doc:"the user"`
	Password string `arg:"password,nolog" doc:"the user's password"`
	Scheme   string `arg:"crypt_scheme,default=apr_md5_crypt" doc:"apr_md5_crypt, md5_crypt, bcrypt, ldap_sha1 or plaintext"`
	State    string `arg:"state,default=present,choices=present|absent" doc:"whether the user shall be in the file"`
	Create   bool   `arg:"create,default=yes" doc:"create a missing file"`
	fileArgs
}

func htpasswd() Module {
	return Define("htpasswd", "Set users and passwords of basic authentication", runHtpasswd).In("community.general", "community.general.web_infrastructure")
}

func runHtpasswd(c *Call, args *htpasswdArgs) (*Result, error) {
	path := c.abs(args.Path)
	data, err := os.ReadFile(path)
	missing := os.IsNotExist(err)
	if err != nil && !missing {
		return nil, Failf("cannot read %q: %s", path, osText(err, path))
	}
	if args.State == "absent" {
		return args.absent(c, path, string(data), missing)
	}
	return args.present(c, path, string(data), missing)
}

func (a *htpasswdArgs) absent(c *Call, path, text string, missing bool) (*Result, error) {
	out := NewResult(false).With("msg", a.Name+" not present")
	if missing {
		return out.With("warnings", stringList([]string{path + " does not exist"})), nil
	}
	var kept strings.Builder
	for _, line := range splitLines(text) {
		if strings.HasPrefix(line, a.Name+":") {
			out.Changed(true).Set("msg", "Remove "+a.Name)
			continue
		}
		kept.WriteString(line)
	}
	return a.finish(c, path, kept.String(), text, out)
}

func (a *htpasswdArgs) present(c *Call, path, text string, missing bool) (*Result, error) {
	out := NewResult(false).With("msg", a.Name+" already present")
	if missing {
		if !a.Create {
			return nil, Failf("Destination %s does not exist", path)
		}
		if c.Check {
			return NewResult(true).With("msg", "Create "+path), nil
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, Failf("cannot create %q: %s", filepath.Dir(path), osText(err, path))
		}
	}
	lines := splitLines(text)
	at := -1
	for i, line := range lines {
		if hash, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), a.Name+":"); ok {
			if passwordMatches(hash, a.Password) {
				return a.finish(c, path, text, text, out)
			}
			at = i
		}
	}
	hash, err := hashPassword(a.Scheme, a.Password)
	if err != nil {
		return nil, err
	}
	line := a.Name + ":" + hash + "\n"
	if at >= 0 {
		lines[at] = line
	} else {
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
			lines[n-1] += "\n"
		}
		lines = append(lines, line)
	}
	out.Changed(true).Set("msg", "Add/update "+a.Name)
	if missing {
		out.Set("msg", "Created "+path+" and added "+a.Name)
	}
	return a.finish(c, path, strings.Join(lines, ""), text, out)
}

// finish writes what differs. Attributes are no change of the result's, as with
// Ansible's module.
func (a *htpasswdArgs) finish(c *Call, path, now, old string, out *Result) (*Result, error) {
	if c.Check {
		return out, nil
	}
	if now != old {
		if err := atomicfile.Write(realPath(path), strings.NewReader(now), atomicfile.Options{Unsafe: a.Unsafe, Scratch: c.TmpDir, Mode: a.newFileMode()}); err != nil {
			return nil, Failf("%v", err)
		}
	}
	_, err := a.setAttributes(c, path, nil)
	return out, err
}
