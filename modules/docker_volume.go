//go:build !plain

package modules

import (
	"fmt"

	"play/modules/value"
)

// dockerVolumeArgs are the arguments of docker_volume.
type dockerVolumeArgs struct {
	Name          string      `arg:"volume_name,required,aliases=name" doc:"the volume's name"`
	State         string      `arg:"state,default=present,choices=present|absent" doc:"whether the volume shall exist"`
	Driver        string      `arg:"driver,default=local" doc:"what keeps the volume"`
	DriverOptions *value.Dict `arg:"driver_options" doc:"the driver's options"`
	Labels        *value.Dict `arg:"labels" doc:"labels of the volume"`
	Recreate      string      `arg:"recreate,default=never,choices=always|never|options-changed" doc:"when it is made anew, which loses its data"`
	dockerArgs
}

func dockerVolume() Module {
	return Define("docker_volume", "Make and remove Docker volumes", runDockerVolume).In("community.docker", "community.general")
}

// volumeRun is one run of docker_volume.
type volumeRun struct {
	*docker
	args    *dockerVolumeArgs
	have    *value.Dict // nil: there is none
	actions *value.List
	tracked differences
	out     *Result
}

func runDockerVolume(c *Call, args *dockerVolumeArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	v := &volumeRun{docker: d, args: args, actions: value.NewList(), out: NewResult(false)}
	return d.finish(v.run())
}

func (v *volumeRun) run() (*Result, error) {
	var err error
	if v.have, err = v.find(); err != nil {
		return nil, err
	}
	diff := value.NewDict()
	if v.args.State == "absent" {
		v.out.Set("actions", v.actions)
		v.tracked.add("exists", false, v.have != nil)
		err = v.remove()
	} else {
		err = v.present(diff)
	}
	if err != nil {
		return nil, err
	}
	if v.Diff || v.Check || v.args.Debug {
		if v.Diff {
			v.tracked.into(diff)
		}
		v.out.Set("diff", diff)
	}
	return v.out, nil
}

func (v *volumeRun) find() (*value.Dict, error) {
	all, err := v.getDict("/volumes")
	if err != nil {
		return nil, v.fail("%v", err)
	}
	list, _ := all.Get("Volumes")
	for _, item := range dictItems(list) {
		if dictText(item, "Name") == v.args.Name {
			return item, nil
		}
	}
	return nil, nil
}

func (v *volumeRun) present(diff *value.Dict) error {
	differ := &differences{}
	if v.have != nil {
		differ = v.compare()
	}
	v.tracked.add("exists", true, v.have != nil)
	if !differ.empty() && v.args.Recreate == "options-changed" || v.args.Recreate == "always" {
		if err := v.remove(); err != nil {
			return err
		}
		v.have = nil
	}
	if err := v.create(); err != nil {
		return err
	}
	if v.Diff || v.Check || v.args.Debug {
		diff.Set("differences", stringList(differ.names))
		v.tracked.merge(differ)
	}
	if v.Check || v.args.Debug {
		v.out.Set("actions", v.actions)
	}
	now, err := v.find()
	v.out.Set("volume", dictOrNil(now))
	return err
}

// compare lists what differs between the arguments and the volume.
func (v *volumeRun) compare() *differences {
	d := &differences{}
	if driver := dictText(v.have, "Driver"); v.args.Driver != "" && driver != v.args.Driver {
		d.add("driver", v.args.Driver, driver)
	}
	have := dictIn(v.have, "Options")
	if v.args.DriverOptions.Len() > 0 && have.Len() == 0 {
		d.add("driver_options", v.args.DriverOptions, firstOf(v.have, "Options"))
	} else {
		compareEntries(d, "driver_options", v.args.DriverOptions, have)
	}
	compareEntries(d, "labels", v.args.Labels, dictIn(v.have, "Labels"))
	return d
}

func compareEntries(d *differences, name string, want, have *value.Dict) {
	for k, w := range want.All() {
		if there, _ := have.GetKey(k); !value.Equal(w, there) {
			d.add(name+"."+value.Str(k), w, there)
		}
	}
}

func (v *volumeRun) did(format string, args ...any) {
	v.actions.Append(fmt.Sprintf(format, args...))
	v.out.Changed(true)
}

func (v *volumeRun) create() error {
	if v.have != nil {
		return nil
	}
	if !v.Check {
		body := value.DictOf("Name", v.args.Name, "Driver", v.args.Driver, "DriverOpts", orEmpty(v.args.DriverOptions), "Labels", dictOrNil(v.args.Labels))
		if _, err := v.post("/volumes/create", body); err != nil {
			return v.fail("%v", err)
		}
	}
	v.did("Created volume %s with driver %s", v.args.Name, v.args.Driver)
	return nil
}

func (v *volumeRun) remove() error {
	if v.have == nil {
		return nil
	}
	if !v.Check {
		if _, err := v.order("DELETE", dockerPath("/volumes/{0}", v.args.Name)); err != nil {
			return v.fail("%v", err)
		}
	}
	v.did("Removed volume %s", v.args.Name)
	return nil
}
