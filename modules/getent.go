package modules

import (
	"strings"

	"play/modules/value"
)

// getentArgs are the arguments of getent.
type getentArgs struct {
	Database string  `arg:"database,required" doc:"the database: passwd, group, hosts, services…"`
	Key      *string `arg:"key" doc:"the entry; without one all are returned"`
	Service  *string `arg:"service" doc:"ask only this source of the name service"`
	Split    *string `arg:"split" doc:"what separates the fields of a line"`
	FailKey  bool    `arg:"fail_key,default=yes" doc:"fail when the entry does not exist"`
}

func getent() Module {
	return Define("getent", "Look up entries of the name service as facts", runGetent)
}

func runGetent(c *Call, args *getentArgs) (*Result, error) {
	argv := []string{"getent", args.Database}
	if args.Key != nil {
		argv = append(argv, *args.Key)
	}
	if args.Service != nil {
		argv = append(argv, "-s", *args.Service)
	}
	out, err := c.tool(argv...)
	if err != nil {
		return nil, err
	}
	fact := "getent_" + args.Database
	const notFound = "One or more supplied key could not be found in the database."
	switch {
	case out.rc == 0:
		return NewResult(false).With("ansible_facts", value.DictOf(fact, getentRecords(out.out, args))), nil
	case out.rc == 1:
		return nil, Failf("Missing arguments, or database unknown.")
	case out.rc == 2 && !args.FailKey:
		entry := value.NewDict()
		if args.Key != nil {
			entry.Set(*args.Key, nil)
		}
		return NewResult(false).With("ansible_facts", value.DictOf(fact, entry)).With("msg", notFound), nil
	case out.rc == 2:
		return nil, Failf(notFound)
	case out.rc == 3:
		return nil, Failf("Enumeration not supported on this database.")
	}
	return nil, Failf("Unexpected failure!")
}

// getentRecords maps the first field of each line to the others; a name that
// comes more than once has a list of them.
func getentRecords(text string, args *getentArgs) *value.Dict {
	records := value.NewDict()
	seen := map[string]int{}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		fields := getentFields(line, args)
		if len(fields) == 0 {
			continue
		}
		name, rest := fields[0], stringList(fields[1:])
		old, _ := records.Get(name)
		switch seen[name]++; seen[name] {
		case 1:
			records.Set(name, rest)
		case 2:
			records.Set(name, value.NewList(old, rest))
		default:
			old.(*value.List).Append(rest)
		}
	}
	return records
}

func getentFields(line string, args *getentArgs) []string {
	if args.Split != nil {
		return strings.Split(line, *args.Split)
	}
	switch args.Database {
	case "passwd", "shadow", "group", "gshadow":
		return strings.Split(line, ":")
	}
	return strings.Fields(line)
}
