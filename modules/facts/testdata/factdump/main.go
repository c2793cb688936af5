// Command factdump prints all facts of this machine as JSON, for compare.py.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"play/modules"
	"play/modules/argspec"
	"play/modules/value"
)

func main() {
	m := modules.Table(modules.All())["setup"]
	args := m.New()
	c := &modules.Call{Context: context.Background(), Env: os.Environ(), Home: os.Getenv("HOME"), Extra: value.NewDict(), Output: io.Discard, Content: io.Discard}
	if _, err := argspec.Of(m.Args).Decode("setup", value.NewDict(), argspec.Env{}, args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	r, err := m.Run(c, args)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, err := value.EncodeJSON(r.Dict, value.WireJSON())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(text)
}
