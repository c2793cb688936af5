package modules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// rpmKeyArgs are the arguments of rpm_key.
type rpmKeyArgs struct {
	State         string  `arg:"state,default=present,choices=present|absent" doc:"whether the key shall be trusted"`
	Key           string  `arg:"key,required" doc:"a file or URL with the key, or its id"`
	Fingerprint   *string `arg:"fingerprint" doc:"the fingerprint that the key must have"`
	ValidateCerts bool    `arg:"validate_certs,default=yes" doc:"check the server's certificate"`
}

func rpmKey() Module {
	return Define("rpm_key", "Trust a key of an RPM repository, or no more", runRPMKey).Downloads("key")
}

// rpmKeyRun is one run of rpm_key.
type rpmKeyRun struct {
	*rpmKeyArgs
	rpm, gpg *pkgTool
	file     string // of the key; "" for an id
	id       string
}

var rpmKeyID = regexp.MustCompile(`^(0[xX])?[0-9A-Fa-f]{8,}$`)

func runRPMKey(c *Call, args *rpmKeyArgs) (*Result, error) {
	rpm, err := pkgProgram(c, "rpm")
	if err != nil {
		return nil, err
	}
	gpg, err := pkgProgram(c, "gpg")
	if err != nil {
		if gpg, err = pkgProgram(c, "gpg2"); err != nil {
			return nil, err
		}
	}
	k := &rpmKeyRun{rpmKeyArgs: args, rpm: rpm, gpg: gpg}
	if err := k.locate(c); err != nil {
		return nil, err
	}
	there, err := k.imported()
	if err != nil {
		return nil, err
	}
	if there == (args.State == "present") {
		return NewResult(false), nil
	}
	return k.change(c)
}

// locate finds the key's file and id.
func (k *rpmKeyRun) locate(c *Call) error {
	switch {
	case strings.Contains(k.Key, "://"):
		k.file = filepath.Join(c.TmpDir, "key-"+randomName())
		if err := fetchURL(c, k.Key, k.ValidateCerts, k.file); err != nil {
			return Failf("failed to fetch key at %s , error was: %v", k.Key, err)
		}
		data, err := os.ReadFile(k.file)
		if err != nil {
			return err
		}
		if !strings.Contains(string(data), "-----BEGIN PGP PUBLIC KEY BLOCK-----") {
			return Failf("Not a public key: %s", k.Key)
		}
	case rpmKeyID.MatchString(k.Key):
		text := strings.ToUpper(k.Key)
		k.id = strings.TrimPrefix(text, "0X")
		return nil
	case isFile(c.abs(k.Key)):
		k.file = c.abs(k.Key)
	default:
		return Failf("Not a valid key %s", k.Key)
	}
	lines, err := k.describe("", k.file)
	if err != nil {
		return err
	}
	k.id = gpgField(lines, "pub", 4)
	if k.id == "" {
		return Failf("Unexpected gpg output")
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// describe lets gpg read a key from a file, or from text for "-".
func (k *rpmKeyRun) describe(text string, args ...string) ([]string, error) {
	out, err := k.gpg.feed(text, append([]string{"--no-tty", "--batch", "--with-colons", "--fixed-list-mode"}, args...)...)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, Failf("%s", out.Stderr)
	}
	return outLines(out.Stdout), nil
}

// gpgField is a field of the first line of a kind in gpg's colon format.
func gpgField(lines []string, kind string, field int) string {
	for _, line := range lines {
		if f := strings.Split(line, ":"); f[0] == kind && len(f) > field {
			return f[field]
		}
	}
	return ""
}

// imported tells whether rpm trusts the key.
func (k *rpmKeyRun) imported() (bool, error) {
	out, err := k.rpm.run("-q", "gpg-pubkey")
	if err != nil || out.RC != 0 { // no key at all
		return false, err
	}
	keys, err := k.rpm.run("-q", "gpg-pubkey", "--qf", "%{description}")
	if err != nil || keys.Stdout == "" {
		return false, err
	}
	lines, err := k.describe(keys.Stdout, "-")
	if err != nil {
		return false, err
	}
	for _, line := range lines {
		f := strings.Split(line, ":")
		if len(f) > 4 && (f[0] == "pub" || f[0] == "sub") && strings.HasSuffix(f[4], k.id[max(0, len(k.id)-16):]) {
			return true, nil
		}
	}
	return false, nil
}

func (k *rpmKeyRun) change(c *Call) (*Result, error) {
	args := []string{"--erase", "--allmatches", "gpg-pubkey-" + strings.ToLower(k.id[max(0, len(k.id)-8):])}
	if k.State == "present" {
		if k.file == "" {
			return nil, Failf("When importing a key, a valid file must be given")
		}
		if err := k.checkFingerprint(); err != nil {
			return nil, err
		}
		args = []string{"--import", k.file}
	}
	if !c.Check {
		out, err := k.rpm.run(args...)
		if err != nil {
			return nil, err
		}
		if out.RC != 0 {
			return nil, Failf("%s", out.Stderr)
		}
	}
	return NewResult(true), nil
}

func (k *rpmKeyRun) checkFingerprint() error {
	if k.Fingerprint == nil {
		return nil
	}
	lines, err := k.describe("", "--with-fingerprint", k.file)
	if err != nil {
		return err
	}
	want := strings.ToUpper(strings.ReplaceAll(*k.Fingerprint, " ", ""))
	if has := gpgField(lines, "fpr", 9); has != want {
		return Failf("The specified fingerprint, '%s', does not match the key fingerprint '%s'", want, has)
	}
	return nil
}
