package sim

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
)

// ParsePrice reads a price in units of money, such as 0.02: a number of at least 0 with at most nine decimals.
func ParsePrice(text string) (sched.Money, error) {
	whole, part, _ := strings.Cut(text, ".")
	m, err := strconv.ParseUint(whole+part+strings.Repeat("0", max(0, 9-len(part))), 10, 63)
	if err != nil || whole == "" || len(part) > 9 || sched.Money(m) > sched.MostPrice {
		return 0, fmt.Errorf("expected a price between 0 and %.0f with at most nine decimals, such as 0.02, got %s", sched.MostPrice.Units(), quoted(text))
	}
	return sched.Money(m), nil
}

// priceUnset stands for a price that a file does not say.
const priceUnset sched.Money = -1

// prices are what a file says of money, before it is known of which links.
type prices struct {
	any    bool          // the file says something
	all    sched.Money   // links.price
	egress []sched.Money // by site; priceUnset where the file says nothing
	rent   []sched.Money // by site
}

// readPrice returns a reader of a price.
func (r *clusterReader) readPrice(to *sched.Money) func(clusterField) error {
	return func(f clusterField) error {
		text, err := f.text()
		if err != nil {
			return err
		}
		if *to, err = ParsePrice(text); err != nil {
			return f.wrong(err)
		}
		r.any = true
		return nil
	}
}

// readMoney reads the name of the unit that prices are in.
func (r *clusterReader) readMoney(f clusterField) (err error) {
	if r.c.Money, err = f.text(); err == nil && (r.c.Money == "" || len(r.c.Money) > 12 || strings.ContainsFunc(r.c.Money, func(c rune) bool { return c <= ' ' || c == ',' })) {
		err = f.expected("the name of a unit of money such as EUR, at most 12 letters, got %s", quoted(r.c.Money))
	}
	return err
}

// usePrices gives every link the price that the file says of all links, or else of what leaves its site.
func (r *clusterReader) usePrices(n *sched.Network) {
	if !r.any {
		return
	}
	k := len(r.c.Sites)
	n.Price, n.Rent = make([]sched.Money, k*k), r.rent
	for i := range n.Price {
		if from, to := i/k, i%k; from != to {
			if n.Price[i] = r.egress[from]; n.Price[i] == priceUnset {
				n.Price[i] = r.all
			}
		}
	}
}
