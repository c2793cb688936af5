package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/engine/yamldump"
	"play/modules/value"
)

// yamlFilters read and write YAML.
func yamlFilters() []Builtin {
	return []Builtin{
		{Name: "from_yaml", Doc: "read YAML", Fn: filterFromYAML},
		{Name: "from_yaml_all", Doc: "read every document of a YAML text", Fn: filterFromYAMLAll},
		{Name: "to_nice_yaml", Params: "indent=4, *args, **options", Doc: "write YAML, one item a line", Fn: func(c *Call) (any, error) {
			return toYAML(c, yamldump.Options{Flow: yamldump.FlowNever}, c.Args[0])
		}},
		{Name: "to_yaml", Params: "*args, **options", Doc: "write YAML", Fn: func(c *Call) (any, error) {
			return toYAML(c, yamldump.Options{}, nil)
		}},
	}
}

// yamlDocuments reads with the environment's reader.
func yamlDocuments(c *Call, text string) ([]any, error) {
	if c.Env.readYAML == nil {
		return nil, errors.New("cannot read YAML: the environment was made without Options.ReadYAML")
	}
	return c.Env.readYAML([]byte(text))
}

func filterFromYAML(c *Call) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return c.Value, nil
	}
	docs, err := yamlDocuments(c, s)
	switch {
	case err != nil:
		return nil, err
	case len(docs) > 1:
		return nil, errors.New("expected a single document in the stream, but found another document")
	case len(docs) == 0:
		return nil, nil
	}
	return docs[0], nil
}

func filterFromYAMLAll(c *Call) (any, error) {
	s, ok := c.Value.(string)
	if !ok {
		return c.Value, nil
	}
	docs, err := yamlDocuments(c, s)
	if err != nil {
		return nil, err
	}
	return value.NewList(docs...), nil
}

func toYAML(c *Call, o yamldump.Options, indent any) (any, error) {
	options := optionsOf(c)
	if indent != nil {
		options.Set("indent", indent)
	}
	for k, v := range options.All() {
		if err := yamlOption(&o, value.Str(k), v); err != nil {
			return nil, err
		}
	}
	if err := checkDefined(c.Value, 0); err != nil {
		return nil, err
	}
	s, err := yamldump.Dump(c.Value, o)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func yamlOption(o *yamldump.Options, name string, v any) (err error) {
	switch name {
	case "indent":
		o.Indent, err = optInt(v, 0)
	case "width":
		o.Width, err = yamlWidth(v)
	case "sort_keys":
		o.KeepOrder = !value.Truth(v)
	case "allow_unicode":
		o.ASCII = !value.Truth(v)
	case "explicit_start":
		o.ExplicitHead = value.Truth(v)
	case "explicit_end":
		o.ExplicitEnd = value.Truth(v)
	case "default_flow_style":
		switch {
		case v == nil:
			o.Flow = yamldump.FlowLeaves
		case value.Truth(v):
			o.Flow = yamldump.FlowAlways
		default:
			o.Flow = yamldump.FlowNever
		}
	case "default_style":
		if v == nil {
			return nil
		}
		if o.Style = value.Str(v); o.Style != "" && !strings.Contains(`'"|>`, o.Style) {
			return fmt.Errorf("cannot write YAML in the style %s", value.Repr(v))
		}
	case "line_break", "encoding", "version", "tags", "canonical":
	default:
		return fmt.Errorf("dump_all() got an unexpected keyword argument '%s'", name)
	}
	return err
}

// yamlWidth reads a width; people write inf for lines that never break.
func yamlWidth(v any) (int, error) {
	if f, ok := v.(float64); ok && f > 1<<31 {
		return -1, nil
	}
	return optInt(v, 0)
}
