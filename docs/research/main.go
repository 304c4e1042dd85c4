// The program compares a policy of its own with published ones, on a workload of its own, while the load grows. It draws
// a picture of the result. Copy it and change it.
package main

import (
	"context"
	"fmt"
	"image/color"
	"log"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/tailcut/tailcut"
	"github.com/tailcut/tailcut/sim"
)

const machines = 300

// The first policy is what the others are compared with.
var policies = []string{"fifo", "spark", "srpt", "twins:below=50"}

var colors = []color.Color{color.Gray{0x60}, color.RGBA{R: 0xd5, G: 0x5e, A: 0xff}, color.RGBA{G: 0x72, B: 0xb2, A: 0xff}, color.RGBA{G: 0x9e, B: 0x73, A: 0xff}}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: research PICTURE.svg (or .png, .pdf)")
	}
	tailcut.Register(&twinsEntry)
	lines := make([]curve, len(policies))
	fmt.Println("load  policy          class  vs fifo [95 % interval]")
	for _, load := range []float64{0.3, 0.45, 0.6, 0.75} {
		c := compare(load)
		for class, name := range c.Classes {
			of := c.Runs.Class(class)
			for k := 1; k < len(policies); k++ {
				ratio := of.VersusRatio(k)
				fmt.Printf("%4.2f  %-14s  %-5s  %5.2f [%.2f, %.2f]", load, policies[k], name, ratio.Value, ratio.Low, ratio.High)
				if ratio.Doubt != sim.Sound { // too few repetitions for such tails
					fmt.Print("  ", ratio.Doubt)
				}
				fmt.Println()
				if name == "short" {
					lines[k].add(load, ratio.Value, ratio.Low, ratio.High)
				}
			}
		}
	}
	check(draw(lines[1:], os.Args[1]))
}

// compare simulates all policies at a load: the share of the slots that the tasks take without clones.
func compare(load float64) *tailcut.Comparison {
	const mean = 5 * 1.8 / 0.8 // of a task in seconds: Pareto
	perJob := (0.9*shortJobs + 0.1*longJobs) * mean
	workload, err := mixture(400, load*machines/perJob, 1)
	check(err)
	c, err := tailcut.Simulate(context.Background(), tailcut.Simulation{
		Workload: workload, Machines: machines, Policies: policies, Runs: 20, Service: "law", By: "name", Cut: "20,5",
	})
	check(err)
	return c
}

// curve is a line of the plot, with the intervals of its points.
type curve struct {
	plotter.XYs
	plotter.YErrors
}

func (c *curve) add(x, y, low, high float64) {
	c.XYs = append(c.XYs, plotter.XY{X: x, Y: y})
	c.YErrors = append(c.YErrors, struct{ Low, High float64 }{y - low, high - y})
}

func draw(curves []curve, path string) error {
	p := plot.New()
	p.Title.Text = "Short jobs: mean flow time as a share of FIFO's"
	p.X.Label.Text, p.Y.Label.Text = "load without clones", "share, with 95 % intervals"
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.25, 0.8, 0, 1.1
	p.Title.Padding, p.Legend.Left = vg.Points(6), true
	p.Add(plotter.NewGrid())
	for k, c := range curves {
		line, points, err := plotter.NewLinePoints(c.XYs)
		if err != nil {
			return err
		}
		bars, err := plotter.NewYErrorBars(c)
		if err != nil {
			return err
		}
		line.Color, points.Color, bars.Color = colors[k+1], colors[k+1], colors[k+1]
		line.Width = vg.Points(1.5)
		p.Add(line, points, bars)
		p.Legend.Add(policies[k+1], line, points)
	}
	return p.Save(6*vg.Inch, 4*vg.Inch, path)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
