//go:build !plain

package modules

import (
	"encoding/hex"
	"fmt"
	"io"
	"mime"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/atomicfile"
	"play/modules/value"
)

// getURLArgs are the arguments of get_url.
type getURLArgs struct {
	urlArgs
	User     string      `arg:"url_username,aliases=username" doc:"user to authenticate as"`
	Password string      `arg:"url_password,aliases=password,nolog" doc:"the user's password"`
	Dest     string      `arg:"dest,required,type=path" doc:"file or folder to download to"`
	Backup   bool        `arg:"backup,default=no" doc:"keep a copy of the old file"`
	Checksum string      `arg:"checksum,default=" doc:"algorithm:digest, or algorithm:URL of a list of digests"`
	Timeout  int         `arg:"timeout,default=10" doc:"seconds to wait for the server"`
	Headers  *value.Dict `arg:"headers" doc:"further headers of the request"`
	TmpDest  string      `arg:"tmp_dest,type=path" doc:"folder for the download on its way"`
	fileArgs
}

func getURL() Module {
	return Define("get_url", "Download a file to the target", runGetURL)
}

// download is one run of get_url.
type download struct {
	*Call
	*getURLArgs
	client         *httpClient
	dest           string
	algorithm, sum string // expected; "": none
	start          time.Time
	src            string // the downloaded file
	srcSum         any    // SHA1 of src, nil until known
	destSum        any    // SHA1 of the old file, nil for none
}

func runGetURL(c *Call, args *getURLArgs) (*Result, error) {
	g := &download{Call: c, getURLArgs: args, dest: c.abs(args.Dest), start: time.Now()}
	g.client = &httpClient{Call: c, urlArgs: &args.urlArgs, user: args.User, password: args.Password,
		headers: headerTexts(args.Headers), redirects: "urllib2", timeout: inSeconds(args.Timeout)}
	if err := g.expect(); err != nil {
		return nil, err
	}
	into := isDir(g.dest)
	var since time.Time
	if !into && exists(g.dest) {
		if !args.Force && g.sum != "" {
			if have, err := checksum(g.dest, g.algorithm); err == nil && have == g.sum {
				return g.already()
			}
		}
		if info, err := os.Stat(g.dest); err == nil && g.sum == "" {
			since = info.ModTime()
		}
	}
	reply, err := g.fetch(args.URL, since)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode == 304 {
		return &Result{value.DictOf("url", args.URL, "dest", g.dest, "changed", false, "msg", reply.msg,
			"status_code", 304, "elapsed", g.elapsed())}, nil
	}
	if err := g.receive(reply); err != nil {
		return nil, err
	}
	defer os.Remove(g.src)
	if into {
		g.dest = filepath.Join(g.dest, fileNameOf(reply))
	}
	return g.place(reply)
}

func (g *download) elapsed() int { return int(time.Since(g.start).Seconds()) }

// result has what every outcome tells.
func (g *download) result(changed bool) *Result {
	out := &Result{value.DictOf("changed", changed, "checksum_dest", g.destSum, "checksum_src", g.srcSum,
		"dest", g.dest, "elapsed", g.elapsed(), "url", g.URL)}
	if g.src != "" {
		out.Set("src", g.src)
	}
	return out
}

func (g *download) fail(changed bool, format string, args ...any) error {
	return &Failure{Msg: fmt.Sprintf(format, args...), With: g.result(changed).Dict}
}

// expect reads the checksum argument, and the list it may name.
func (g *download) expect() error {
	if g.getURLArgs.Checksum == "" {
		return nil
	}
	algorithm, sum, ok := strings.Cut(g.getURLArgs.Checksum, ":")
	if !ok {
		return g.fail(false, "The checksum parameter has to be in format <algorithm>:<checksum>")
	}
	g.algorithm = strings.TrimSpace(algorithm)
	if !slices.Contains([]string{"md5", "sha1", "sha224", "sha256", "sha384", "sha512"}, g.algorithm) {
		return Failf("Could not hash file '%s' with algorithm '%s'. Available algorithms: md5, sha1, sha224, sha256, sha384, sha512", g.dest, g.algorithm)
	}
	if isURL(sum) {
		listed, err := g.listedSum(sum)
		if err != nil {
			return err
		}
		sum = listed
	}
	sum = regexp.MustCompile(`\W+`).ReplaceAllString(strings.ToLower(sum), "")
	if _, err := hex.DecodeString(sum); err != nil {
		return g.fail(false, "The checksum format is invalid")
	}
	g.sum = sum
	return nil
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && slices.Contains([]string{"http", "https", "file"}, u.Scheme)
}

// listedSum finds the digest of the file in a list as sha256sum prints it; a
// list with one digest and no name is taken as it is.
func (g *download) listedSum(address string) (string, error) {
	reply, err := g.ask("GET", address, time.Time{})
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, 16<<20))
	if err != nil {
		return "", Failf("cannot read %q: %v", address, err)
	}
	name := urlFileName(g.URL)
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if len(lines) == 1 && len(strings.Fields(lines[0])) == 1 {
		return strings.TrimSpace(lines[0]), nil
	}
	for _, line := range lines {
		words := strings.Fields(line)
		if len(words) == 2 && strings.TrimPrefix(strings.TrimPrefix(words[1], "*"), "./") == name {
			return words[0], nil
		}
	}
	return "", Failf("Unable to find a checksum for file '%s' in '%s'", name, address)
}

func (g *download) already() (*Result, error) {
	changed, err := g.setAttributes(g.Call, g.dest, nil)
	if err != nil {
		return nil, err
	}
	msg := "file already exists"
	if changed {
		msg += " but file attributes changed"
	}
	return g.result(changed).With("msg", msg), nil
}

func (g *download) fetch(address string, since time.Time) (*httpReply, error) {
	method := "GET"
	if g.Check {
		method = "HEAD"
	}
	return g.ask(method, address, since)
}

// ask fails for every status but success and 304.
func (g *download) ask(method, address string, since time.Time) (*httpReply, error) {
	reply, err := g.client.send(method, address, nil, since)
	if fetch, ok := err.(*fetchError); ok {
		return nil, &Failure{Msg: fetch.msg, With: value.DictOf("url", address, "dest", g.dest, "elapsed", g.elapsed())}
	}
	if err != nil {
		return nil, err
	}
	if reply.ok() || reply.StatusCode == 304 {
		return reply, nil
	}
	reply.Body.Close()
	return nil, &Failure{Msg: "Request failed", With: value.DictOf("status_code", reply.StatusCode, "response", reply.msg,
		"url", address, "dest", g.dest, "elapsed", g.elapsed())}
}

// receive keeps the answer in a file of its own.
func (g *download) receive(reply *httpReply) error {
	dir := g.TmpDir
	if g.TmpDest != "" {
		dir = g.abs(g.TmpDest)
		switch {
		case !exists(dir):
			return &Failure{Msg: dir + " directory does not exist.", With: value.DictOf("elapsed", g.elapsed())}
		case !isDir(dir):
			return &Failure{Msg: dir + " is a file but should be a directory.", With: value.DictOf("elapsed", g.elapsed())}
		}
	}
	f, err := os.CreateTemp(dir, "tmp")
	if err != nil {
		return Failf("cannot keep the download: %v", err)
	}
	g.src = f.Name()
	_, err = io.Copy(f, reply.Body)
	if closing := f.Close(); err == nil {
		err = closing
	}
	var sum string
	if err == nil {
		sum, err = checksum(g.src, "sha1")
	}
	if err != nil {
		os.Remove(g.src)
		return &Failure{Msg: "failed to create temporary content file: " + err.Error(), With: value.DictOf("elapsed", g.elapsed())}
	}
	g.srcSum = sum
	return nil
}

// fileNameOf is the name that the server gives, or the last part of the URL.
func fileNameOf(reply *httpReply) string {
	if _, params, err := mime.ParseMediaType(reply.Header.Get("Content-Disposition")); err == nil {
		if name := path.Base(params["filename"]); params["filename"] != "" && name != "." && name != ".." && name != "/" {
			return name
		}
	}
	return urlFileName(reply.url)
}

// place compares, checks, and puts the file where it belongs.
func (g *download) place(reply *httpReply) (*Result, error) {
	if err := g.lookAtDest(); err != nil {
		return nil, err
	}
	changed := g.srcSum != g.destSum
	if g.Check {
		return g.result(changed).With("msg", reply.msg), nil
	}
	if g.sum != "" {
		if have, err := checksum(g.src, g.algorithm); err != nil || have != g.sum {
			return nil, g.fail(true, "The checksum for %s did not match %s; it was %s.", g.dest, g.sum, have)
		}
	}
	backup := ""
	if changed {
		var err error
		if backup, err = g.move(); err != nil {
			return nil, err
		}
	}
	attributes, err := g.setAttributes(g.Call, g.dest, nil)
	if err != nil {
		return nil, err
	}
	out := g.result(changed || attributes)
	if backup != "" {
		out.Set("backup_file", backup)
	}
	if sum, err := checksum(g.dest, "md5"); err == nil {
		out.Set("md5sum", sum)
	}
	out.With("msg", reply.msg).Set("status_code", reply.StatusCode)
	if reply.StatusCode == 0 {
		out.Set("status_code", nil)
	}
	return out, nil
}

func (g *download) lookAtDest() error {
	dir := filepath.Dir(g.dest)
	switch {
	case exists(g.dest):
		if !accessible(g.dest, unix.W_OK) {
			return g.fail(false, "Destination %s is not writable", g.dest)
		}
		if !accessible(g.dest, unix.R_OK) {
			return g.fail(false, "Destination %s is not readable", g.dest)
		}
		if sum, err := checksum(g.dest, "sha1"); err == nil {
			g.destSum = sum
		}
	case !exists(dir):
		return g.fail(false, "Destination %s does not exist", dir)
	case !accessible(dir, unix.W_OK):
		return g.fail(false, "Destination %s is not writable", dir)
	}
	return nil
}

func (g *download) move() (backup string, err error) {
	if g.getURLArgs.Backup && exists(g.dest) {
		if backup, err = atomicfile.Backup(g.dest, time.Now()); err != nil {
			return "", Failf("%v", err)
		}
	}
	f, err := os.Open(g.src)
	if err != nil {
		return "", Failf("cannot read the download: %v", err)
	}
	defer f.Close()
	if err := atomicfile.Write(g.dest, f, atomicfile.Options{Unsafe: g.Unsafe, Scratch: g.TmpDir, Mode: g.newFileMode()}); err != nil {
		return "", Failf("%v", err)
	}
	return backup, nil
}
