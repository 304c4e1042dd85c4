package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"text/template"

	"github.com/spf13/pflag"
)

//go:embed manifests.yaml
var manifests string

// crd defines SlotPools, whose types in Go are kube.SlotPool's. They are in no namespace, so a controller of one
// namespace has none.
//
//go:embed crd.yaml
var crd string

// admission has API servers set managedBy in namespaces with a label, and warn of Jobs that must not be cloned.
//
//go:embed admission.yaml
var admission string

// Parts of the manifests, values of --print-manifests.
const (
	partAll        = "all"        // controller and pools
	partController = "controller" // without what there is of the user's
	partPools      = "pools"      // the definition of SlotPools, without which there are none
	partAdmission  = "admission"
)

// inManifests are the flags that the Deployment has unless the command line says otherwise.
var inManifests = [][2]string{
	{"leader-election-namespace", ownHome},
	{"history-namespace", ownHome},
	{"clone-priority-class", ownClass},
	{"metrics-address", ":8443"},
	{"probe-address", ":8081"},
}

// ownHome is the namespace that the manifests bring along. One of another name is somebody else's, with all that is in
// it: whoever deletes what the manifests name must not delete that.
const ownHome = "tailcut-system"

// ownClass is the priority class that the manifests bring along; one of another name is somebody else's.
const ownClass = "tailcut-expendable"

// deployment is what the manifests are made from. Args are quoted for YAML.
type deployment struct {
	Home, Namespace, History, Class, Image string
	Pools                                  string
	OwnHome, OwnClass, Winners, Nodes      bool
	MetricsPort, ProbePort                 int // 0 for none
	Args                                   []string
}

// printManifests prints what a cluster needs to run the controller with the flags of the command line. What cannot be
// honoured there is an error.
func printManifests(out io.Writer, flags *pflag.FlagSet, image, part string) error {
	switch part {
	case partAll, partController:
	case partPools:
		_, err := io.WriteString(out, crd)
		return err
	case partAdmission:
		_, err := io.WriteString(out, admission)
		return err
	default:
		return fmt.Errorf("--print-manifests: %q is none of %s, %s, %s, %s", part, partAll, partController, partPools, partAdmission)
	}
	if flags.Changed("kubeconfig") {
		return fmt.Errorf("--kubeconfig does not go with --print-manifests: in the cluster, the controller speaks to the cluster around it")
	}
	for _, f := range inManifests {
		if flags.Changed(f[0]) {
			continue
		}
		if f[0] == "metrics-address" && flags.Changed("namespace") { // who may scrape is a right beyond the namespace
			continue
		}
		if err := flags.Set(f[0], f[1]); err != nil {
			return err
		}
	}
	said := func(name string) string { return flags.Lookup(name).Value.String() }
	d := deployment{
		Home: said("leader-election-namespace"), Namespace: said("namespace"), History: said("history-namespace"),
		Class: said("clone-priority-class"), Image: quoted(image), Winners: said("winners") == "true", Nodes: said("lost-node-after") != "0s",
	}
	if part == partAll && d.Namespace == "" {
		d.Pools = crd
	}
	d.OwnHome, d.OwnClass = d.Home == ownHome, d.Class == ownClass
	if d.Home == "" {
		return fmt.Errorf("--leader-election-namespace: the manifests need a namespace: the controller runs in it, two of which one leads")
	}
	for _, name := range []string{"leader-election-namespace", "namespace", "history-namespace", "clone-priority-class"} {
		if text := said(name); text != "" && (len(text) > 63 || !dnsLabel.MatchString(text)) {
			return fmt.Errorf("--%s: %q is no name in Kubernetes", name, text)
		}
	}
	var err error
	if d.MetricsPort, err = portBeyond("metrics-address", said("metrics-address")); err != nil {
		return err
	}
	if d.ProbePort, err = portBeyond("probe-address", said("probe-address")); err != nil {
		return err
	}
	flags.Visit(func(f *pflag.Flag) {
		if f.Name != "print-manifests" && f.Name != "image" {
			d.Args = append(d.Args, quoted("--"+f.Name+"="+f.Value.String()))
		}
	})
	return template.Must(template.New("manifests").Parse(manifests)).Execute(out, &d)
}

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

// plain are texts that YAML takes as they are.
var plain = regexp.MustCompile(`^(--|[a-z]+[./])[-A-Za-z0-9_./=:@]*[A-Za-z0-9]$`)

// quoted writes a text so that YAML reads just it: its strings take what JSON's do.
func quoted(text string) string {
	if plain.MatchString(text) {
		return text
	}
	data, err := json.Marshal(text)
	if err != nil {
		panic("tailcut-controller: a string is JSON: " + err.Error())
	}
	return string(data)
}

// portBeyond returns the port of an address that is reached from beyond the pod, 0 if there is none.
func portBeyond(flag, address string) (int, error) {
	if address == "0" {
		return 0, nil
	}
	host, text, err := net.SplitHostPort(address)
	port, err2 := strconv.ParseUint(text, 10, 16)
	if err != nil || err2 != nil || port == 0 {
		return 0, fmt.Errorf("--%s: %q is neither host:port nor 0", flag, address)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return 0, nil
	}
	return int(port), nil
}
