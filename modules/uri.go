//go:build !plain

package modules

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
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

	"play/modules/argspec"
	"play/modules/atomicfile"
	"play/modules/value"
)

// maxAnswer is how much of an answer is kept in memory, in bytes.
const maxAnswer = 256 << 20

// uriArgs are the arguments of uri. A src of the control machine comes as the
// call's body.
type uriArgs struct {
	urlArgs
	User          string      `arg:"url_username,aliases=user" doc:"user to authenticate as"`
	Password      string      `arg:"url_password,aliases=password,nolog" doc:"the user's password"`
	Dest          string      `arg:"dest,type=path" doc:"file or folder for the answer"`
	Body          any         `arg:"body" doc:"what to send"`
	BodyFormat    string      `arg:"body_format,default=raw,choices=form-urlencoded|json|raw|form-multipart" doc:"how body is written"`
	Src           string      `arg:"src,type=path" doc:"file to send"`
	Method        string      `arg:"method,default=GET" doc:"method of the request"`
	ReturnContent bool        `arg:"return_content,default=no" doc:"put the answer into the result as content"`
	Follow        string      `arg:"follow_redirects,default=safe,choices=all|no|none|safe|urllib2|yes" doc:"which redirects to follow; safe: those of GET and HEAD"`
	Creates       string      `arg:"creates,type=path" doc:"do nothing when this file exists"`
	Removes       string      `arg:"removes,type=path" doc:"do nothing when this file does not exist"`
	StatusCode    []int       `arg:"status_code,default=200" doc:"statuses that are no failure"`
	Timeout       int         `arg:"timeout,default=30" doc:"seconds to wait for the server"`
	Headers       *value.Dict `arg:"headers,default={}" doc:"further headers of the request"`
	Socket        string      `arg:"unix_socket,type=path" doc:"socket to connect to"`
	RemoteSrc     bool        `arg:"remote_src,default=no" doc:"src is on the target"`
	CAPath        string      `arg:"ca_path,type=path" doc:"PEM file with further authorities"`
	fileArgs
}

// Rules relates the arguments.
func (uriArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"body", "src"}}}
}

func uri() Module {
	return Define("uri", "Ask a web service", runURI).NoCheck()
}

func runURI(c *Call, args *uriArgs) (*Result, error) {
	method := strings.ToUpper(args.Method)
	if !regexp.MustCompile(`^[A-Z]+$`).MatchString(method) {
		return nil, Failf("Parameter 'method' needs to be a single word in uppercase, like GET or POST.")
	}
	if skipped := c.skippedBy(args.Creates, args.Removes); skipped != "" {
		return NewResult(false).With("stdout", "skipped, since "+skipped), nil
	}
	h := &httpClient{Call: c, urlArgs: &args.urlArgs, user: args.User, password: args.Password,
		headers: headerTexts(args.Headers), redirects: args.Follow, timeout: inSeconds(args.Timeout), caPath: args.CAPath}
	if args.Socket != "" {
		h.socket = c.abs(args.Socket)
	}
	body, err := args.payload(c, h.headers)
	if err != nil {
		return nil, err
	}
	start := time.Now()
	reply, err := h.send(method, args.URL, body, args.since(c))
	if err != nil {
		return nil, args.unanswered(err, start)
	}
	defer reply.Body.Close()
	content, err := io.ReadAll(io.LimitReader(reply.Body, maxAnswer))
	if err != nil {
		return nil, args.unanswered(h.failure(reply.at, err), start)
	}
	return args.report(c, reply, content, start)
}

// skippedBy words why creates or removes skip the call, "" when they do not.
func (c *Call) skippedBy(creates, removes string) string {
	there := func(pattern string) bool {
		found, err := filepath.Glob(c.abs(pattern))
		return err == nil && len(found) > 0
	}
	switch {
	case creates != "" && there(creates):
		return "'" + creates + "' exists"
	case removes != "" && !there(removes):
		return "'" + removes + "' does not exist"
	}
	return ""
}

func headerTexts(d *value.Dict) map[string]string {
	out := map[string]string{}
	if d != nil {
		for name, text := range d.All() {
			out[value.Str(name)] = value.Str(text)
		}
	}
	return out
}

// since is the time of the file that dest already is.
func (a *uriArgs) since(c *Call) time.Time {
	info, err := os.Stat(c.abs(a.Dest))
	if a.Dest == "" || err != nil || info.IsDir() {
		return time.Time{}
	}
	return info.ModTime()
}

// wanted tells whether a status is none of a failure.
func (a *uriArgs) wantedStatus(status int) bool { return slices.Contains(a.StatusCode, status) }

func (a *uriArgs) badStatus(status int, why string) string {
	codes := value.NewList()
	for _, code := range a.StatusCode {
		codes.Append(code)
	}
	return "Status code was " + value.Str(status) + " and not " + value.Repr(codes) + ": " + why
}

// unanswered reports that no answer came.
func (a *uriArgs) unanswered(err error, start time.Time) error {
	fetch, ok := err.(*fetchError)
	if !ok {
		return err
	}
	return &Failure{Msg: a.badStatus(-1, fetch.msg), With: value.DictOf("redirected", false, "url", a.URL, "status", -1,
		"elapsed", int(time.Since(start).Seconds()), "changed", false)}
}

func (a *uriArgs) report(c *Call, reply *httpReply, content []byte, start time.Time) (*Result, error) {
	out := replyResult(reply)
	out.Set("elapsed", int(time.Since(start).Seconds()))
	wanted := a.wantedStatus(reply.StatusCode)
	if a.Dest != "" {
		if err := a.save(c, out, reply, content, wanted); err != nil {
			return nil, err
		}
	}
	text := answerText(content, reply.Header.Get("Content-Type"))
	if isJSONType(reply.Header.Get("Content-Type")) {
		if v, err := value.DecodeJSON([]byte(text)); err == nil {
			out.Set("json", v)
		}
	}
	if a.ReturnContent {
		out.Set("content", text)
	} else if wanted && !reply.ok() {
		out.Set("body", text)
	}
	if !wanted {
		return nil, &Failure{Msg: a.badStatus(reply.StatusCode, reply.msg), With: out.Dict}
	}
	return out.With("msg", reply.msg), nil
}

// replyResult has the headers under their names with underscores.
func replyResult(reply *httpReply) *Result {
	out := NewResult(false).With("redirected", reply.redirected).With("url", reply.url).With("status", reply.StatusCode)
	for name, texts := range reply.Header {
		out.Set(strings.ReplaceAll(strings.ToLower(name), "-", "_"), strings.Join(texts, ", "))
	}
	if location := reply.Header.Get("Location"); location != "" {
		if at, err := reply.at.Parse(location); err == nil {
			out.Set("location", at.String())
		}
	}
	if !reply.ok() {
		return out
	}
	cookies, texts := value.NewDict(), []string{}
	for _, c := range reply.cookies {
		cookies.Set(c.name, c.text)
		texts = append(texts, c.name+"="+c.text)
	}
	return out.With("cookies", cookies).With("cookies_string", strings.Join(texts, "; "))
}

// save writes the answer to dest where it differs.
func (a *uriArgs) save(c *Call, out *Result, reply *httpReply, content []byte, wanted bool) error {
	dest := c.abs(a.Dest)
	if isDir(dest) {
		dest = filepath.Join(dest, urlFileName(reply.url))
	}
	out.Set("path", dest)
	if !wanted || reply.StatusCode == 304 {
		return nil
	}
	sum := sha1.Sum(content)
	if have, err := checksum(dest, "sha1"); err != nil || have != hex.EncodeToString(sum[:]) {
		if !accessible(filepath.Dir(dest), unix.W_OK) {
			return Failf("Destination dir '%s' not writable", filepath.Dir(dest))
		}
		if err := atomicfile.Write(realPath(dest), bytes.NewReader(content), atomicfile.Options{Unsafe: a.Unsafe, Scratch: c.TmpDir, Mode: a.newFileMode()}); err != nil {
			return Failf("%v", err)
		}
	}
	if _, err := a.setAttributes(c, dest, nil); err != nil {
		return err
	}
	out.Changed(true) // an answer that came is a change, whatever it holds
	return nil
}

// urlFileName is the last part of a URL's path.
func urlFileName(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.HasSuffix(u.Path, "/") || u.Path == "" {
		return "index.html"
	}
	return path.Base(u.Path)
}

// isJSONType tells whether a content type announces JSON.
func isJSONType(text string) bool {
	kind, _, _ := strings.Cut(strings.ToLower(text), ";")
	_, sub, _ := strings.Cut(strings.TrimSpace(kind), "/")
	if i := strings.LastIndexByte(sub, '+'); i >= 0 {
		sub = sub[i+1:]
	}
	return sub == "json" || sub == "javascript"
}

// answerText reads content in the charset of its type; UTF-8 and Latin-1 are known.
func answerText(content []byte, contentType string) string {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return string(content)
	}
	switch strings.ToLower(params["charset"]) {
	case "latin-1", "latin1", "iso-8859-1":
		runes := make([]rune, len(content))
		for i, b := range content {
			runes[i] = rune(b)
		}
		return string(runes)
	}
	return string(content)
}
