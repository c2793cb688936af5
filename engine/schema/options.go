package schema

import (
	"play/modules"
	"play/modules/argspec"
)

// Module is what is known of a module or action: its names, what it does, and
// its options.
type Module struct {
	Names []string // the short one first
	Doc   string
	Spec  *argspec.Spec
	Open  bool // takes further arguments of any name
	Free  bool // takes text in place of arguments
}

// The options of actions that work on the control machine, or there besides.
type (
	copyMore struct {
		Decrypt bool `arg:"decrypt,default=yes" doc:"decrypt a source that is in a vault"`
	}
	unarchiveMore struct {
		Decrypt bool `arg:"decrypt,default=yes" doc:"decrypt a source that is in a vault"`
		Copy    bool `arg:"copy,default=yes" doc:"old name: the opposite of remote_src"`
	}
	assembleMore struct {
		Decrypt bool `arg:"decrypt,default=yes" doc:"decrypt a source that is in a vault"`
	}
	scriptMore struct {
		Decrypt bool `arg:"decrypt,default=yes" doc:"decrypt a source that is in a vault"`
	}
	fetchMore struct {
		Dest             string `arg:"dest,required" doc:"where to put it on the control machine"`
		Flat             bool   `arg:"flat,default=no" doc:"dest is the file itself"`
		FailOnMissing    bool   `arg:"fail_on_missing,default=yes" doc:"fail when the file is not there"`
		ValidateChecksum bool   `arg:"validate_checksum,default=yes" doc:"compare the checksums afterwards"`
	}
	templateMore struct {
		Src                 string `arg:"src,required" doc:"the template on the control machine"`
		NewlineSequence     string `arg:"newline_sequence,default='\\n'" doc:"the line end of the result"`
		BlockStartString    string `arg:"block_start_string" doc:"begins a statement"`
		BlockEndString      string `arg:"block_end_string" doc:"ends a statement"`
		VariableStartString string `arg:"variable_start_string" doc:"begins an expression"`
		VariableEndString   string `arg:"variable_end_string" doc:"ends an expression"`
		CommentStartString  string `arg:"comment_start_string" doc:"begins a comment"`
		CommentEndString    string `arg:"comment_end_string" doc:"ends a comment"`
		TrimBlocks          bool   `arg:"trim_blocks,default=yes" doc:"drop the newline after a statement"`
		LstripBlocks        bool   `arg:"lstrip_blocks,default=no" doc:"drop the spaces before a statement"`
		OutputEncoding      string `arg:"output_encoding,default=utf-8" doc:"the encoding of the result"`
	}
	debugArgs struct {
		Msg       any    `arg:"msg" doc:"what to print"`
		Var       any    `arg:"var" doc:"the variable to print"`
		Verbosity string `arg:"verbosity,type=int,default=0" doc:"print only with so many -v"`
	}
	failArgs struct {
		Msg any `arg:"msg" doc:"why"`
	}
	assertArgs struct {
		That       any  `arg:"that,required,type=raw" doc:"a condition or a list of them"`
		FailMsg    any  `arg:"fail_msg,aliases=msg,type=raw" doc:"what to say when one does not hold"`
		SuccessMsg any  `arg:"success_msg,type=raw" doc:"what to say when all hold"`
		Quiet      bool `arg:"quiet,default=no" doc:"say less"`
	}
	pauseArgs struct {
		Minutes string `arg:"minutes" doc:"how long"`
		Seconds string `arg:"seconds" doc:"how long"`
		Prompt  any    `arg:"prompt" doc:"what to ask"`
		Echo    bool   `arg:"echo,default=yes" doc:"show what is typed"`
	}
	includeVarsArgs struct {
		File        string `arg:"file" doc:"the file"`
		Dir         string `arg:"dir" doc:"a folder of files"`
		Name        string `arg:"name" doc:"put the variables into this one"`
		Depth       string `arg:"depth,type=int" doc:"how deep to go into folders"`
		FilesMatch  string `arg:"files_matching" doc:"only files whose names match"`
		IgnoreFiles any    `arg:"ignore_files,type=raw" doc:"names to leave out"`
		Extensions  any    `arg:"extensions,type=raw" doc:"only files with these"`
		IgnoreOther bool   `arg:"ignore_unknown_extensions,default=no" doc:"pass over other files"`
		HashBehave  string `arg:"hash_behaviour,choices=replace|merge" doc:"what to do with dicts of the same name"`
	}
	groupByArgs struct {
		Key     string `arg:"key,required" doc:"the name of the group"`
		Parents any    `arg:"parents,type=raw" doc:"groups that it belongs to"`
	}
	setStatsArgs struct {
		Data      any  `arg:"data,required,type=raw" doc:"names and values"`
		PerHost   bool `arg:"per_host,default=no" doc:"for each host"`
		Aggregate bool `arg:"aggregate,default=yes" doc:"add to what is there"`
	}
	rebootArgs struct {
		PreDelay    string `arg:"pre_reboot_delay,aliases=pre_reboot_delay_sec" doc:"seconds to wait before"`
		PostDelay   string `arg:"post_reboot_delay,aliases=post_reboot_delay_sec" doc:"seconds to wait after"`
		Timeout     string `arg:"reboot_timeout,aliases=reboot_timeout_sec" doc:"seconds for it to come back"`
		ConnTimeout string `arg:"connect_timeout,aliases=connect_timeout_sec" doc:"seconds for each attempt to connect"`
		Test        string `arg:"test_command" doc:"the command that shows that it is back"`
		Msg         string `arg:"msg" doc:"what users are told"`
		Search      any    `arg:"search_paths,type=raw" doc:"where the shutdown command may be"`
		BootTime    string `arg:"boot_time_command" doc:"prints something that changes with each boot"`
		Command     string `arg:"reboot_command" doc:"the command that reboots"`
	}
	waitForConnectionArgs struct {
		ConnTimeout string `arg:"connect_timeout" doc:"seconds for each attempt"`
		Delay       string `arg:"delay" doc:"seconds before the first one"`
		Sleep       string `arg:"sleep" doc:"seconds between them"`
		Timeout     string `arg:"timeout" doc:"seconds in all"`
	}
	validateSpecArgs struct {
		Spec     any `arg:"argument_spec,required,type=raw" doc:"the specification"`
		Provided any `arg:"provided_arguments,type=raw" doc:"what to check"`
	}
	rawArgs struct {
		Executable string `arg:"executable" doc:"the shell"`
	}
	tasksArgs struct {
		File  string `arg:"file" doc:"the file of tasks"`
		Apply any    `arg:"apply,type=raw" doc:"keywords for the tasks"`
	}
	roleArgs struct {
		Name            string `arg:"name,required,aliases=role" doc:"the role"`
		TasksFrom       string `arg:"tasks_from" doc:"the file of tasks"`
		VarsFrom        string `arg:"vars_from" doc:"the file of variables"`
		DefaultsFrom    string `arg:"defaults_from" doc:"the file of defaults"`
		HandlersFrom    string `arg:"handlers_from" doc:"the file of handlers"`
		AllowDuplicates bool   `arg:"allow_duplicates,default=yes" doc:"run it again with the same parameters"`
		Public          bool   `arg:"public,default=no" doc:"its variables are seen after it"`
		Validate        bool   `arg:"rolespec_validate,default=yes" doc:"check its argument specification"`
		Apply           any    `arg:"apply,type=raw" doc:"keywords for the tasks"`
	}
	metaArgs struct {
		What string `arg:"free_form" doc:"flush_handlers, end_play, end_host, end_batch, clear_facts, clear_host_errors, refresh_inventory, reset_connection or noop"`
	}
	noArgs struct{}
)

// action is an entry of the list of actions.
type action struct {
	name, doc  string
	args       any
	base       string // a module whose options it takes besides
	open, free bool
}

func actions() []action {
	return []action{
		{name: "add_host", doc: "Add a host to the inventory of this run", args: noArgs{}, open: true},
		{name: "assemble", args: assembleMore{}, base: "assemble"},
		{name: "assert", doc: "Fail unless conditions hold", args: assertArgs{}},
		{name: "copy", args: copyMore{}, base: "copy"},
		{name: "debug", doc: "Print a message or a variable", args: debugArgs{}},
		{name: "fail", doc: "Fail with a message", args: failArgs{}},
		{name: "fetch", args: fetchMore{}, base: "fetch"},
		{name: "gather_facts", doc: "Gather facts", args: noArgs{}, open: true},
		{name: "group_by", doc: "Put the host into a group named by a value", args: groupByArgs{}},
		{name: "import_role", doc: "Put a role's tasks here when the playbook is loaded", args: roleArgs{}},
		{name: "import_tasks", doc: "Put a file's tasks here when the playbook is loaded", args: tasksArgs{}, free: true},
		{name: "include", doc: "Old name of include_tasks and import_tasks", args: tasksArgs{}, free: true},
		{name: "include_role", doc: "Run a role's tasks", args: roleArgs{}},
		{name: "include_tasks", doc: "Run a file's tasks", args: tasksArgs{}, free: true},
		{name: "include_vars", doc: "Read variables from files", args: includeVarsArgs{}, free: true},
		{name: "meta", doc: "Steer the run", args: metaArgs{}, free: true},
		{name: "pause", doc: "Wait for a time or a person", args: pauseArgs{}},
		{name: "raw", doc: "Run a command without the agent", args: rawArgs{}, free: true},
		{name: "reboot", doc: "Reboot and wait until the host is back", args: rebootArgs{}},
		{name: "script", args: scriptMore{}, base: "script", free: true},
		{name: "set_fact", doc: "Set variables of the host", args: noArgs{}, open: true},
		{name: "set_stats", doc: "Set what the recap shows", args: setStatsArgs{}},
		{name: "template", doc: "Render a template onto the host", args: templateMore{}, base: "copy"},
		{name: "unarchive", args: unarchiveMore{}, base: "unarchive"},
		{name: "validate_argument_spec", doc: "Check arguments against a specification", args: validateSpecArgs{}},
		{name: "wait_for_connection", doc: "Wait until the host can be reached", args: waitForConnectionArgs{}},
	}
}

// Modules lists every native module and action with its options, sorted by
// name. It is made from the structs that the modules decode their arguments
// with.
func Modules() []Module {
	byName, order := map[string]*Module{}, []string{}
	for _, m := range modules.All() {
		byName[m.Name] = &Module{Names: append([]string{m.Name}, m.FullNames()...), Doc: m.Doc, Spec: argspec.Of(m.Args), Free: freeForm[m.Name]}
		order = append(order, m.Name)
	}
	for _, a := range actions() {
		m := &Module{Doc: a.doc, Spec: argspec.Of(a.args), Open: a.open, Free: a.free, Names: names(a.name)}
		if base := byName[a.base]; base != nil {
			m.Spec = joined(m.Spec, base.Spec)
			if a.doc == "" {
				m.Doc, m.Names = base.Doc, base.Names
			}
		}
		if byName[a.name] == nil {
			order = append(order, a.name)
		}
		byName[a.name] = m
	}
	out := make([]Module, len(order))
	for i, name := range order {
		out[i] = *byName[name]
	}
	return sorted(out)
}

// freeForm are the modules that take text in place of arguments.
var freeForm = map[string]bool{"command": true, "shell": true, "script": true}

func names(short string) []string {
	return []string{short, "ansible.builtin." + short, "ansible.legacy." + short}
}

// joined has the options of both; of the same name those of the first.
func joined(a, b *argspec.Spec) *argspec.Spec {
	out := &argspec.Spec{Options: append([]argspec.Option{}, a.Options...), Rules: b.Rules}
	for _, o := range b.Options {
		if _, ok := a.Find(o.Name); !ok {
			out.Options = append(out.Options, o)
		}
	}
	return out
}
