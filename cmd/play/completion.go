package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completions are the scripts that teach a shell to complete: each asks play
// itself, with the words so far and --generate-bash-completion.
var completions = map[string]string{
	"bash": `_play() {
  local cur="${COMP_WORDS[COMP_CWORD]}" ask=("${COMP_WORDS[@]:0:$COMP_CWORD}")
  [[ "$cur" == -* ]] && ask+=("$cur")
  COMPREPLY=($(compgen -W "$("${ask[@]}" --generate-bash-completion 2>/dev/null)" -- "$cur") $(compgen -f -- "$cur"))
}
complete -o bashdefault -o filenames -F _play play
`,
	"zsh": `#compdef play
_play() {
  local -a found ask
  ask=("${(@)words[1,$CURRENT-1]}")
  [[ "${words[$CURRENT]}" == -* ]] && ask+=("${words[$CURRENT]}")
  found=("${(@f)$("${ask[@]}" --generate-bash-completion 2>/dev/null)}")
  _describe 'play' found
  _files
}
compdef _play play
`,
	"fish": `function __play_complete
  set -l ask (commandline -opc)
  set -l cur (commandline -ct)
  string match -q -- '-*' $cur; and set ask $ask $cur
  command $ask --generate-bash-completion 2>/dev/null
end
complete -c play -a '(__play_complete)'
`,
}

// completionCommand prints the script for a shell.
func completionCommand(h *host) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print what teaches a shell to complete play's words", ArgsUsage: "bash|zsh|fish",
		Description: "bash: source <(play completion bash)    zsh: source <(play completion zsh)\nfish: play completion fish | source",
		Action: func(c *cli.Context) error {
			script, ok := completions[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return usagef("play completion takes the name of a shell: bash, zsh or fish")
			}
			_, err := fmt.Fprint(h.Out, script)
			return err
		},
	}
}

// completionFlag ends a command line by which a shell asks what may stand next.
const completionFlag = "--generate-bash-completion"

// complete prints, a line each, what may stand after the words: the options
// that the last word begins, or else the commands. It reports whether a shell
// asked.
func complete(h *host, app *cli.App, args []string) bool {
	if len(args) < 2 || args[len(args)-1] != completionFlag {
		return false
	}
	words := args[1 : len(args)-1]
	flags, commands := app.Flags, app.Commands
	for _, w := range words {
		if i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(w) }); i >= 0 {
			flags, commands = commands[i].Flags, commands[i].Subcommands
		}
	}
	if len(words) > 0 && strings.HasPrefix(words[len(words)-1], "-") {
		completeFlags(h, flags, words[len(words)-1])
		return true
	}
	for _, c := range commands {
		fmt.Fprintln(h.Out, c.Name)
	}
	return true
}

// completeFlags prints the options that begin with a text.
func completeFlags(h *host, flags []cli.Flag, start string) {
	for _, f := range flags {
		for _, name := range f.Names() {
			if name = "--" + name; len(name) > 3 && strings.HasPrefix(name, start) {
				fmt.Fprintln(h.Out, name)
			}
		}
	}
}
