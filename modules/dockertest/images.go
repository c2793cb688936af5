package dockertest

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// hijack takes the connection over for a command's streams.
func (c *call) hijack(given object, out Output, tty bool) *fault {
	conn, rw, err := c.w.(http.Hijacker).Hijack()
	if err != nil {
		return &fault{http.StatusInternalServerError, err.Error()}
	}
	defer conn.Close()
	fmt.Fprintf(rw, "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
	rw.Flush()
	time.Sleep(c.Pause)
	if given["AttachStdin"] == true {
		input, err := io.ReadAll(rw)
		if err != nil {
			return nil
		}
		out.Stdout += string(input)
	}
	for i, s := range []string{out.Stdout, out.Stderr} {
		if s == "" {
			continue
		}
		if !tty {
			head := []byte{byte(i + 1), 0, 0, 0, 0, 0, 0, 0}
			binary.BigEndian.PutUint32(head[4:], uint32(len(s)))
			rw.Write(head)
		}
		rw.WriteString(s)
	}
	rw.Flush()
	return nil
}

// image finds an image by ID, name, name:tag or name@digest.
func (e *Engine) image(name string) object {
	for _, image := range e.State.Images {
		id := text(image, "Id")
		if name != "" && (name == id || strings.HasPrefix(strings.TrimPrefix(id, "sha256:"), strings.TrimPrefix(name, "sha256:"))) || hasName(image, name) {
			return image
		}
	}
	return nil
}

func hasName(image object, name string) bool {
	if !strings.Contains(name[strings.LastIndex(name, "/")+1:], ":") && !strings.Contains(name, "@") {
		name += ":latest"
	}
	return slices.Contains(names(image, "RepoTags"), name) || slices.Contains(names(image, "RepoDigests"), name)
}

func names(image object, key string) []string {
	var out []string
	list, _ := image[key].([]any)
	for _, item := range list {
		out = append(out, fmt.Sprint(item))
	}
	return out
}

func (c *call) images(method string, parts []string) *fault {
	switch parts[0] {
	case "json":
		return c.listImages()
	case "create":
		return c.pull()
	case "load":
		return c.load()
	case "prune":
		return c.pruneImages()
	}
	verb := parts[len(parts)-1]
	name := strings.Join(parts[:len(parts)-1], "/")
	if method == http.MethodDelete {
		verb, name = "", strings.Join(parts, "/")
	}
	image := c.image(name)
	if image == nil {
		return &fault{http.StatusNotFound, "No such image: " + name}
	}
	switch verb {
	case "json":
		c.json(http.StatusOK, image)
	case "tag":
		c.tag(image, c.query.Get("repo")+":"+c.query.Get("tag"))
		c.w.WriteHeader(http.StatusCreated)
	case "push":
		return c.stream(object{"status": "The push refers to repository [" + name + "]"}, object{"status": "Pushing"}, object{"status": "done"})
	case "get":
		c.w.WriteHeader(http.StatusOK)
		c.w.Write([]byte("archive of " + name))
	default:
		return c.removeImage(image, name)
	}
	return nil
}

func (c *call) listImages() *fault {
	reference := c.filters()["reference"]
	list := []object{}
	for _, image := range c.State.Images {
		if len(reference) > 0 && !matches(image, reference[0]) {
			continue
		}
		list = append(list, object{"Id": image["Id"], "RepoTags": image["RepoTags"], "RepoDigests": image["RepoDigests"], "Created": 1704067200, "Size": 10, "Labels": nil})
	}
	c.json(http.StatusOK, list)
	return nil
}

func matches(image object, reference string) bool {
	for _, name := range append(names(image, "RepoTags"), names(image, "RepoDigests")...) {
		if strings.HasPrefix(name, reference+":") || strings.HasPrefix(name, reference+"@") || name == reference {
			return true
		}
	}
	return false
}

// tag gives an image a name and takes it from another.
func (e *Engine) tag(image object, name string) {
	for _, other := range e.State.Images {
		left := []any{}
		for _, have := range names(other, "RepoTags") {
			if have != name {
				left = append(left, have)
			}
		}
		other["RepoTags"] = left
	}
	tags, _ := image["RepoTags"].([]any)
	image["RepoTags"] = append(tags, name)
}

func (c *call) pull() *fault {
	name, tag := c.query.Get("fromImage"), c.query.Get("tag")
	full := name + ":" + tag
	if strings.HasPrefix(tag, "sha256:") {
		full = name + "@" + tag
	}
	found, ok := c.State.Registry[full]
	if !ok {
		return &fault{http.StatusNotFound, "pull access denied for " + name + ", repository does not exist or may require 'docker login': denied: requested access to the resource is denied"}
	}
	if text(found, "Error") != "" {
		return c.stream(object{"status": "Pulling from " + name}, object{"error": found["Error"], "errorDetail": object{"message": found["Error"]}})
	}
	state := "Image is up to date"
	if have := c.image(text(found, "Id")); have == nil {
		state = "Downloaded newer image"
		c.State.Images = append(c.State.Images, maps.Clone(found))
	}
	if !strings.Contains(full, "@") {
		c.tag(c.image(text(found, "Id")), full)
	}
	return c.stream(object{"status": "Pulling from " + name, "id": tag}, object{"status": "Status: " + state + " for " + full})
}

func (c *call) load() *fault {
	name := strings.TrimSpace(string(c.body))
	image, ok := c.State.Registry[name]
	if !ok {
		return &fault{http.StatusInternalServerError, "unexpected EOF"}
	}
	if c.image(text(image, "Id")) == nil {
		c.State.Images = append(c.State.Images, maps.Clone(image))
	}
	c.tag(c.image(text(image, "Id")), name)
	return c.stream(object{"stream": "Loaded image: " + name + "\n"})
}

func (c *call) removeImage(image object, name string) *fault {
	for _, box := range c.State.Containers {
		if box["Image"] == image["Id"] && !truth(c.query.Get("force")) {
			return &fault{http.StatusConflict, "conflict: unable to remove repository reference \"" + name + "\" (must force) - container " + text(box, "Id")[:12] + " is using its referenced image " + text(image, "Id")[7:19]}
		}
	}
	left := []any{}
	for _, tag := range names(image, "RepoTags") {
		if tag != name && tag != name+":latest" {
			left = append(left, tag)
		}
	}
	image["RepoTags"] = left
	answer := []object{{"Untagged": name}}
	if len(left) == 0 || strings.HasPrefix(name, "sha256:") {
		answer = append(answer, object{"Deleted": image["Id"]})
		c.State.Images = slices.DeleteFunc(c.State.Images, func(o object) bool { return o["Id"] == image["Id"] })
	}
	c.json(http.StatusOK, answer)
	return nil
}

func (c *call) pruneImages() *fault {
	gone := []any{}
	c.State.Images = slices.DeleteFunc(c.State.Images, func(image object) bool {
		if len(names(image, "RepoTags")) > 0 {
			return false
		}
		gone = append(gone, object{"Deleted": image["Id"]})
		return true
	})
	c.json(http.StatusOK, object{"ImagesDeleted": gone, "SpaceReclaimed": 100 * len(gone)})
	return nil
}

// build makes an image whose ID follows from the names of the context's files.
func (c *call) build(parts []string) *fault {
	if len(parts) > 0 {
		c.json(http.StatusOK, object{"CachesDeleted": []any{"x"}, "SpaceReclaimed": 7})
		return nil
	}
	name := c.query.Get("t")
	if strings.Contains(name, "broken") {
		return c.stream(object{"stream": "Step 1/1 : FROM x\n"}, object{"error": "no FROM", "errorDetail": object{"code": 1, "message": "no FROM"}})
	}
	image := object{"Id": "sha256:" + c.nextID("image", name), "RepoTags": []any{}, "RepoDigests": []any{}, "Config": object{"Env": nil, "Labels": nil}, "Created": created}
	c.State.Images = append(c.State.Images, image)
	c.tag(image, name)
	return c.stream(object{"stream": "Step 1/1 : FROM scratch\n"}, object{"stream": "Successfully tagged " + name + "\n"})
}

// tarNames lists what an archive holds; nil when it is none.
func tarNames(data []byte) []string {
	if len(data) < 512 {
		return nil
	}
	var out []string
	in := tar.NewReader(bytes.NewReader(data))
	for {
		head, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil
		}
		out = append(out, strings.TrimSuffix(head.Name, "/"))
	}
	slices.Sort(out)
	return out
}
