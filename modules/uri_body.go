//go:build !plain

package modules

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"play/modules/value"
)

// payload is what is sent, nil for nothing; it may add a content type.
func (a *uriArgs) payload(c *Call, headers map[string]string) ([]byte, error) {
	if a.Src != "" {
		return a.sourceFile(c)
	}
	if a.Body == nil {
		return nil, nil
	}
	switch a.BodyFormat {
	case "json":
		return jsonBody(a.Body, headers)
	case "form-urlencoded":
		return formBody(a.Body, headers)
	case "form-multipart":
		return c.multipartBody(a.Body, headers)
	}
	switch v := a.Body.(type) {
	case *value.Dict, *value.List:
		return nil, Failf("cannot send a %s as body: set body_format to json, form-urlencoded or form-multipart", value.TypeName(v))
	}
	return []byte(value.Str(a.Body)), nil
}

func (a *uriArgs) sourceFile(c *Call) ([]byte, error) {
	if c.Body != nil && !a.RemoteSrc {
		data, err := io.ReadAll(c.Body)
		if err != nil {
			return nil, Failf("cannot receive the content: %v", err)
		}
		return data, nil
	}
	data, err := os.ReadFile(c.abs(a.Src))
	if err != nil {
		return nil, &Failure{Msg: "Unable to open source file " + a.Src, With: value.DictOf("elapsed", 0)}
	}
	return data, nil
}

func defaultHeader(headers map[string]string, name, text string) {
	if !hasHeader(headers, name) {
		headers[name] = text
	}
}

func jsonBody(body any, headers map[string]string) ([]byte, error) {
	defaultHeader(headers, "Content-Type", "application/json")
	if text, ok := body.(string); ok {
		return []byte(text), nil
	}
	text, err := value.EncodeJSON(body, value.JSONOptions{EnsureASCII: true})
	if err != nil {
		return nil, Failf("cannot write body as JSON: %v", err)
	}
	return []byte(text), nil
}

// formBody writes a dict, a list of pairs, or a text that is one already.
func formBody(body any, headers map[string]string) ([]byte, error) {
	defaultHeader(headers, "Content-Type", "application/x-www-form-urlencoded")
	var parts []string
	add := func(name, v any) {
		items := []any{v}
		if list, ok := v.(*value.List); ok {
			items = list.Items
		}
		for _, item := range items {
			parts = append(parts, url.QueryEscape(value.Str(name))+"="+url.QueryEscape(value.Str(item)))
		}
	}
	switch v := body.(type) {
	case *value.Dict:
		for name, item := range v.All() {
			add(name, item)
		}
	case *value.List:
		for _, item := range v.Items {
			pair, ok := value.Items(item)
			if !ok || len(pair) != 2 {
				return nil, Failf("failed to parse body as form_urlencoded: not a sequence of pairs")
			}
			add(pair[0], pair[1])
		}
	default:
		return []byte(value.Str(body)), nil
	}
	return []byte(strings.Join(parts, "&")), nil
}

// multipartBody writes fields, and files given by filename, content and mime_type.
func (c *Call) multipartBody(body any, headers map[string]string) ([]byte, error) {
	fields, ok := body.(*value.Dict)
	if !ok {
		return nil, Failf("failed to parse body as form-multipart: Mapping is required, cannot be type %s", value.TypeName(body))
	}
	n, err := rand.Int(rand.Reader, big.NewInt(1e18))
	if err != nil {
		return nil, Failf("cannot make a boundary: %v", err)
	}
	mark := fmt.Sprintf("===============%019d==", n)
	var out strings.Builder
	for name, field := range fields.All() {
		part, err := c.bodyPart(value.Str(name), field)
		if err != nil {
			return nil, err
		}
		out.WriteString("--" + mark + "\r\n" + part + "\r\n")
	}
	out.WriteString("--" + mark + "--\r\n")
	headers["Content-Type"] = `multipart/form-data; boundary="` + mark + `"`
	return []byte(out.String()), nil
}

func (c *Call) bodyPart(name string, field any) (string, error) {
	d, ok := field.(*value.Dict)
	if !ok {
		if _, isText := field.(string); !isText {
			return "", Failf("failed to parse body as form-multipart: value must be a string, or mapping, cannot be type %s", value.TypeName(field))
		}
		return partHead("", "text/plain", name, "") + field.(string), nil
	}
	text := func(key string) string {
		v, _ := d.Get(key)
		if v == nil {
			return ""
		}
		return value.Str(v)
	}
	filename, content, kind := text("filename"), text("content"), text("mime_type")
	if filename == "" && content == "" {
		return "", Failf("failed to parse body as form-multipart: at least one of filename or content must be provided")
	}
	if kind == "" {
		if kind = mime.TypeByExtension(filepath.Ext(filename)); kind == "" {
			kind = "application/octet-stream"
		}
	}
	if content != "" {
		return partHead("", kind, name, filepath.Base(filename)) + content, nil
	}
	data, err := os.ReadFile(c.abs(filename))
	if err != nil {
		return "", Failf("failed to parse body as form-multipart: %s", osTextString(err, filename))
	}
	return partHead("base64", kind, name, filepath.Base(filename)) + base64Lines(data), nil
}

func partHead(encoding, kind, name, filename string) string {
	head := ""
	if encoding != "" {
		head = "Content-Transfer-Encoding: " + encoding + "\r\n"
	}
	head += "Content-Type: " + kind + "\r\nContent-Disposition: form-data; name=\"" + name + `"`
	if filename != "" && filename != "." {
		head += `; filename="` + filename + `"`
	}
	return head + "\r\n\r\n"
}

// base64Lines has 76 characters in a line.
func base64Lines(data []byte) string {
	text := base64.StdEncoding.EncodeToString(data)
	var out strings.Builder
	for len(text) > 76 {
		out.WriteString(text[:76] + "\r\n")
		text = text[76:]
	}
	out.WriteString(text + "\r\n")
	return out.String()
}
