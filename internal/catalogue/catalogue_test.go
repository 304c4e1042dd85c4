package catalogue

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/policy"
)

func text(t *testing.T, l *List) string {
	t.Helper()
	var b strings.Builder
	if err := l.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Every policy has a line, and a page with each of its parameters.
func TestCatalogue(t *testing.T) {
	all := All()
	if len(all.Policies) != len(policy.Entries()) || len(all.Presets) != len(policy.Presets()) {
		t.Errorf("%d policies, %d presets", len(all.Policies), len(all.Presets))
	}
	list := text(t, all)
	for _, p := range all.Policies {
		if !strings.Contains(list, p.Name) {
			t.Errorf("the list has no %s", p.Name)
		}
		one, err := One(p.Name)
		if err != nil {
			t.Fatal(err)
		}
		page := text(t, one)
		for _, param := range p.Params {
			if !strings.Contains(page, param.Name) || param.Kind == "" {
				t.Errorf("%s: the page has no %s (%s)", p.Name, param.Name, param.Kind)
			}
		}
	}
	if _, err := One("spork"); err == nil || !strings.Contains(err.Error(), "spark") {
		t.Errorf("no policy: %v", err)
	}
	one, err := One("srew:beta=0.5")
	if err != nil {
		t.Fatal(err)
	}
	var js strings.Builder
	if err := one.WriteJSON(&js); err != nil {
		t.Fatal(err)
	}
	var back List
	if err := json.Unmarshal([]byte(js.String()), &back); err != nil || len(back.Policies) != 1 || back.Policies[0].Name != "srew" || back.Schema == "" {
		t.Errorf("%s, %v", js.String(), err)
	}
}
