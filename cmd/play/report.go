package main

import (
	"io"

	"github.com/urfave/cli/v2"

	"play/engine/history"
	"play/engine/report"
)

// reportCommand makes a page of a run.
func reportCommand(h *host) *cli.Command {
	return &cli.Command{Name: "report", Usage: "make an HTML page of a run, the last one if none is named", ArgsUsage: "[N]",
		Flags: []cli.Flag{&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "report.html", Usage: "write to `FILE`; - for standard output"}},
		Action: func(c *cli.Context) error {
			return withHistory(h, c, func(h *host, c *cli.Context, s *history.Store) error {
				r, err := numbered(c, s, 0)
				if err != nil {
					return err
				}
				return writeReport(h, r, c.String("output"))
			})
		}}
}

func writeReport(h *host, r *history.Run, name string) error {
	if name == "-" {
		return report.Write(h.Out, r)
	}
	return writeWhole(h.path(name), func(w io.Writer) error { return report.Write(w, r) })
}

// reportPage writes the page of a run of the history.
func reportPage(h *host, run int64, name string) error {
	s, err := openHistory(h)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := s.Load(run)
	if err != nil {
		return err
	}
	return writeReport(h, r, name)
}
