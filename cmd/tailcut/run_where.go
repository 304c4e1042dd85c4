package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/tailcut/tailcut/internal/live/remote"
)

// addWhere adds the flags that say where attempts run.
func (f *runFlags) addWhere(cmd *cobra.Command) {
	group(cmd, "Where", func(fl *pflag.FlagSet) {
		f.on = &choice{value: remote.Local, valid: []string{remote.Local, remote.Kubernetes}}
		fl.Var(f.on, "on", "run attempts as processes of this machine, or as pods")
		fl.StringVar(&f.podTemplate, "pod-template", "", "YAML `file` with a Pod as template: resources, volumes, credentials")
		fl.StringVar(&f.image, "image", "", "container `image` of the pods (default: tailcut-cloud:latest)")
		fl.StringVar(&f.namespace, "namespace", "", "`namespace` of the pods (default: the kubeconfig's)")
		fl.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` of the cluster (default: as for kubectl)")
		fl.StringArrayVar(&f.sites, "site", nil, "an emulated `site`, NAME=SLOTS[,speed=F][,bandwidth=RATE]: its tasks compute at a fraction F of this machine's speed and fetch from other sites at RATE; repeatable")
		fl.StringArrayVar(&f.data, "data", nil, "input that is at a site, `SITE=PATH` with a file or folder; repeatable. Unlisted splits are assigned to sites at random. A job file can also say where data may be (datasets)")
		fl.StringVar(&f.cluster, "cluster", "", "sites, slots, speeds and links from a YAML `file`, as for 'tailcut simulate'")
		rare(fl, "image", "namespace", "kubeconfig", "site", "data", "cluster")
	})
}
