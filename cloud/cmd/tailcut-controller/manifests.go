package main

import (
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/tailcut/tailcut/cloud/chart"
)

// Parts of the manifests, values of --print-manifests.
const (
	partAll        = "all"        // controller and pools
	partController = "controller" // without what there is of the user's
	partPools      = "pools"      // the definition of SlotPools, without which there are none
	partAdmission  = "admission"
)

// ownHome is the namespace that the manifests bring along. One of another name is somebody else's, with all that is in
// it: whoever deletes what the manifests name must not delete that.
const ownHome = "tailcut-system"

// printManifests prints what a cluster needs to run the controller with the flags of the command line, as the chart has
// it. What cannot be honoured there is an error.
func printManifests(out io.Writer, flags *pflag.FlagSet, image, part string) error {
	templates := map[string][]string{
		partAll: {chart.Pools, chart.Controller}, partController: {chart.Controller}, partPools: {chart.Pools}, partAdmission: {chart.Admission},
	}[part]
	if templates == nil {
		return fmt.Errorf("--print-manifests: %q is none of %s, %s, %s, %s", part, partAll, partController, partPools, partAdmission)
	}
	home, values, err := valuesOf(flags)
	if err != nil {
		return err
	}
	values["image"], values["admission"] = image, part == partAdmission
	if part == partPools { // which are there whatever a controller is for
		values["flags"] = map[string]any{}
	}
	return chart.Render(out, home, values, templates...)
}

// valuesOf returns the namespace of the controller, and the values of the chart for the flags of the command line.
func valuesOf(flags *pflag.FlagSet) (home string, values map[string]any, err error) {
	if flags.Changed("kubeconfig") {
		return "", nil, fmt.Errorf("--kubeconfig does not go with --print-manifests: in the cluster, the controller speaks to the cluster around it")
	}
	home = ownHome
	if flags.Changed("leader-election-namespace") {
		if home = flags.Lookup("leader-election-namespace").Value.String(); home == "" {
			return "", nil, fmt.Errorf("--leader-election-namespace: the manifests need a namespace: the controller runs in it, two of which one leads")
		}
	}
	said := map[string]any{}
	flags.Visit(func(f *pflag.Flag) {
		switch text := f.Value.String(); f.Name {
		case "print-manifests", "image", "leader-election-namespace":
		case "namespace", "history-namespace", "clone-priority-class":
			if text != "" && (len(text) > 63 || !dnsLabel.MatchString(text)) {
				err = fmt.Errorf("--%s: %q is no name in Kubernetes", f.Name, text)
			}
			said[f.Name] = text
		default:
			said[f.Name] = text
		}
	})
	if err == nil && (len(home) > 63 || !dnsLabel.MatchString(home)) {
		err = fmt.Errorf("--leader-election-namespace: %q is no name in Kubernetes", home)
	}
	values = map[string]any{"flags": said, "createNamespace": home == ownHome}
	for flag, value := range map[string]string{"metrics-address": "metricsPort", "probe-address": "probePort"} {
		if err != nil || !flags.Changed(flag) {
			continue
		}
		port, text := 0, said[flag]
		port, err = portBeyond(flag, flags.Lookup(flag).Value.String())
		if values[value] = port; text == fmt.Sprintf(":%d", port) || text == "0" { // which is what the chart says
			delete(said, flag)
		}
	}
	return home, values, err
}

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

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
