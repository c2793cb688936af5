package modules

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// fetchLimit bounds what a package module downloads, in bytes.
const fetchLimit = 4 << 30

// fetchURL downloads an address into a new file that only its owner can read,
// through the proxies that the call's environment names.
func fetchURL(c *Call, address string, verify bool, dest string) error {
	h := &httpClient{Call: c, headers: map[string]string{}, redirects: "all", timeout: time.Minute,
		urlArgs: &urlArgs{Agent: "ansible-httpget", UseProxy: true, ValidateCerts: verify, UseNetrc: true}}
	reply, err := h.send("GET", address, nil, time.Time{})
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if !reply.ok() {
		return errors.New(reply.msg)
	}
	f, err := os.OpenFile(dest, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(reply.Body, fetchLimit+1))
	if err == nil && n > fetchLimit {
		err = fmt.Errorf("it has more than %d bytes", int64(fetchLimit))
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
