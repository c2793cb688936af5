package modules

import (
	"os"
	"path/filepath"

	"play/modules/value"
)

// ppaKey makes the signing key of a Launchpad archive known to apt.
func ppaKey(c *Call, args *aptRepositoryArgs, owner, name string) error {
	fingerprint, err := ppaFingerprint(c, args, owner, name)
	if err != nil {
		return err
	}
	keys, err := pkgProgram(c, "apt-key")
	if err != nil {
		return err
	}
	known, err := keys.run("export", fingerprint)
	if err != nil {
		return err
	}
	if known.RC == 0 && known.Stdout != "" {
		return nil
	}
	out, err := keys.run("adv", "--recv-keys", "--no-tty", "--keyserver", "hkp://keyserver.ubuntu.com:80", fingerprint)
	if err != nil {
		return err
	}
	if out.RC != 0 {
		return out.failf("failed to fetch the key %s: %s", fingerprint, out.Stderr)
	}
	return nil
}

// ppaFingerprint asks Launchpad for the fingerprint of an archive's key.
func ppaFingerprint(c *Call, args *aptRepositoryArgs, owner, name string) (string, error) {
	path := filepath.Join(c.TmpDir, "ppa-"+randomName())
	address := "https://launchpad.net/api/1.0/~" + owner + "/+archive/" + name
	if err := fetchURL(c, address, args.ValidateCerts, path); err != nil {
		return "", Failf("failed to fetch PPA information, error was: %v", err)
	}
	defer os.Remove(path)
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	v, err := value.DecodeJSON(data)
	if err != nil {
		return "", Failf("cannot read Launchpad's answer: %v", err)
	}
	info, _ := v.(*value.Dict)
	fingerprint, _ := info.Get("signing_key_fingerprint")
	text, _ := fingerprint.(string)
	if text == "" {
		return "", Failf("Launchpad names no signing key for ppa:%s/%s", owner, name)
	}
	return text, nil
}
