package modules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// aptKeyArgs are the arguments of apt_key.
type aptKeyArgs struct {
	ID            *string `arg:"id" doc:"the key's id, 8, 16 or 40 hexadecimal digits"`
	URL           *string `arg:"url" doc:"address to fetch the key from"`
	Data          *string `arg:"data" doc:"the key itself"`
	File          *string `arg:"file,type=path" doc:"a file with the key"`
	Keyring       *string `arg:"keyring,type=path" doc:"the keyring, instead of apt's own"`
	ValidateCerts bool    `arg:"validate_certs,default=yes" doc:"check the server's certificate"`
	Keyserver     *string `arg:"keyserver" doc:"a key server to ask"`
	State         string  `arg:"state,default=present,choices=absent|present" doc:"whether the key shall be trusted"`
}

// Rules relates the arguments.
func (aptKeyArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"data", "file", "keyserver", "url"}}}
}

func aptKey() Module {
	return Define("apt_key", "Trust a key of an APT repository, or no more", runAptKey).Downloads("url")
}

// aptKeyRun is one run of apt_key.
type aptKeyRun struct {
	*Result
	*aptKeyArgs
	tool *pkgTool // apt-key
	id   keyID
	data string // the key, when it came by argument or address
}

// keyID is a key's name in three lengths.
type keyID struct{ short, fingerprint, full string }

func parseKeyID(text string) (id keyID, ok bool) {
	text = strings.ToUpper(strings.TrimSpace(text))
	text = strings.TrimPrefix(strings.TrimPrefix(text, "0X"), "0x")
	if len(text) < 8 || strings.Trim(text, "0123456789ABCDEF") != "" {
		return id, false
	}
	return keyID{text[len(text)-8:], text[max(0, len(text)-16):], text}, true
}

func runAptKey(c *Call, args *aptKeyArgs) (*Result, error) {
	tool, err := pkgProgram(c, "apt-key")
	if err != nil {
		return nil, err
	}
	k := &aptKeyRun{Result: NewResult(false), aptKeyArgs: args, tool: tool}
	if args.Data != nil {
		k.data = *args.Data
	}
	if err := k.identify(); err != nil {
		return nil, err
	}
	k.With("short_id", k.id.short).With("fp", k.id.fingerprint).With("key_id", k.id.full)
	keys, err := k.keys("before")
	if err != nil {
		return nil, err
	}
	there := slices.Contains(keys, k.id.fingerprint)
	if there == (args.State == "present") {
		return k.Result, nil
	}
	k.Changed(true)
	if args.State == "absent" {
		return k.remove()
	}
	return k.add()
}

func (k *aptKeyRun) fail(msg string) error { return &Failure{Msg: msg, With: k.Dict} }

// identify finds out the key's id, from the key where it is not given.
func (k *aptKeyRun) identify() error {
	text := ""
	switch {
	case k.ID != nil:
		text = *k.ID
	case k.Keyserver != nil:
		return Failf("Missing key_id, required with keyserver.")
	default:
		var err error
		if text, err = k.idOfKey(); err != nil {
			return err
		}
	}
	k.Set("id", nil)
	if text != "" {
		k.Set("id", text)
	}
	var ok bool
	if k.id, ok = parseKeyID(text); !ok {
		return k.fail("Invalid key_id")
	}
	return nil
}

// idOfKey asks gpg for the id of a key that was given; "" when none was.
func (k *aptKeyRun) idOfKey() (string, error) {
	source := "-"
	switch {
	case k.File != nil:
		source = k.tool.abs(*k.File)
	case k.URL != nil:
		if err := k.fetch(); err != nil {
			return "", err
		}
	case k.Data == nil:
		return "", nil
	}
	gpg, err := pkgProgram(k.tool.Call, "gpg")
	if err != nil {
		return "", err
	}
	out, err := gpg.feed(k.data, "--with-colons", source)
	if err != nil {
		return "", err
	}
	for _, line := range outLines(out.Stdout) {
		if f := strings.Split(line, ":"); f[0] == "pub" && len(f) > 4 {
			return f[4], nil
		}
	}
	return "", &Failure{Msg: "Unable to extract key from '" + source + "'",
		With: value.DictOf("stdout", out.Stdout, "stderr", out.Stderr)}
}

func (k *aptKeyRun) fetch() error {
	if k.data != "" {
		return nil
	}
	path := filepath.Join(k.tool.TmpDir, "key-"+randomName())
	if err := fetchURL(k.tool.Call, *k.URL, k.ValidateCerts, path); err != nil {
		return Failf("error getting key id from url: %s, %v", *k.URL, err)
	}
	defer os.Remove(path)
	data, err := os.ReadFile(path)
	k.data = string(data)
	return err
}

// keys lists the trusted keys, in the length of the wanted one, and notes them
// in the result.
func (k *aptKeyRun) keys(name string) ([]string, error) {
	out, err := k.run("", "adv", "--list-public-keys", "--keyid-format=long")
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, out.failf("Unable to list public keys")
	}
	var keys []string
	for _, line := range outLines(out.Stdout) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "pub" && f[0] != "sub" || strings.Contains(line, "expired") {
			continue
		}
		if _, id, ok := strings.Cut(f[1], "/"); ok {
			keys = append(keys, id[max(0, len(id)-len(k.id.fingerprint)):])
		}
	}
	k.Set(name, stringList(keys))
	return keys, nil
}

// run runs apt-key on the wanted keyring.
func (k *aptKeyRun) run(stdin string, args ...string) (*pkgOutcome, error) {
	if k.Keyring != nil {
		args = append([]string{"--keyring", k.tool.abs(*k.Keyring)}, args...)
	}
	return k.tool.feed(stdin, args...)
}

func (k *aptKeyRun) add() (*Result, error) {
	if k.tool.Check {
		return k.Result, nil
	}
	var out *pkgOutcome
	var err error
	switch {
	case k.File != nil:
		out, err = k.run("", "add", k.tool.abs(*k.File))
	case k.Keyserver != nil:
		out, err = k.receive()
	case k.Data == nil && k.URL == nil:
		return nil, k.fail("No key to add ... how did i get here?!?!")
	default:
		if k.URL != nil {
			if err := k.fetch(); err != nil {
				return nil, err
			}
		}
		out, err = k.run(k.data, "add", "-")
	}
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		if k.Keyserver != nil {
			return nil, &Failure{Msg: "Error fetching key " + k.id.full + " from keyserver: " + *k.Keyserver, With: out.dict()}
		}
		return nil, out.failf("Unable to add a key from binary data")
	}
	keys, err := k.keys("after")
	if err == nil && !slices.Contains(keys, k.id.fingerprint) {
		err = k.fail("apt-key did not return an error, but failed to add the key (check that the id is correct and *not* a subkey)")
	}
	return k.Result, err
}

// receiveTries is how often a key server is asked: they fail now and then.
const receiveTries = 5

func (k *aptKeyRun) receive() (out *pkgOutcome, err error) {
	for range receiveTries {
		out, err = k.run("", "adv", "--no-tty", "--keyserver", *k.Keyserver, "--recv", k.id.full)
		if err != nil || out.RC == 0 {
			break
		}
	}
	return out, err
}

func (k *aptKeyRun) remove() (*Result, error) {
	if k.tool.Check {
		return k.Result, nil
	}
	out, err := k.run("", "del", k.id.short)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, out.failf("unable to remove key_id %s", k.id.full)
	}
	keys, err := k.keys("after")
	if err == nil && slices.Contains(keys, k.id.fingerprint) {
		err = k.fail("apt-key del did not return an error but the key was not removed (check that the id is correct and *not* a subkey)")
	}
	return k.Result, err
}
