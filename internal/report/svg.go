package report

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The plot's size, and how much of it is kept for the legend at its right.
const (
	svgWidth    = 18 * vg.Centimeter
	svgHeight   = 9 * vg.Centimeter
	legendWidth = 4.6 * vg.Centimeter
)

// palette is Okabe and Ito's: readers who do not tell red from green tell these apart.
var palette = []color.RGBA{
	{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
	{86, 180, 233, 255}, {230, 159, 0, 255}, {0, 0, 0, 255}, {148, 130, 0, 255},
}

// WriteSVG draws the plot. Points with a coordinate that is no finite number, or not positive on a logarithmic axis,
// are left out. A plot without a point that can be drawn is an error.
func (p *Plot) WriteSVG(w io.Writer) error {
	pl, legend := plot.New(), plot.NewLegend()
	p.axes(pl)
	legend.Top, legend.Left, legend.XOffs = true, true, 3*vg.Millimeter
	legend.TextStyle.Font = sans(8)
	legend.ThumbnailWidth, legend.Padding = 6*vg.Millimeter, 1*vg.Millimeter
	drawn := 0
	for i, s := range p.Series {
		n, err := p.add(pl, &legend, s, palette[i%len(palette)], i/len(palette))
		if err != nil {
			return fmt.Errorf("report: plot %s, series %s: %w", p.Name, s.Name, err)
		}
		drawn += n
	}
	if drawn == 0 {
		return fmt.Errorf("report: plot %s has no finite point", p.Name)
	}
	if !p.LogY && pl.Y.Min > 0 && pl.Y.Min < pl.Y.Max/2 {
		pl.Y.Min = 0
	}
	if p.LogX {
		pl.X.Min, pl.X.Max = widen(pl.X.Min, pl.X.Max)
	}
	if p.LogY {
		pl.Y.Min, pl.Y.Max = widen(pl.Y.Min, pl.Y.Max)
	}
	c := vgsvg.NewWith(vgsvg.UseWH(svgWidth, svgHeight))
	whole := draw.New(c)
	pl.Draw(draw.Crop(whole, 0, -legendWidth, 0, 0))
	legend.Draw(draw.Crop(whole, svgWidth-legendWidth, 0, 0, -3*vg.Millimeter))
	_, err := c.WriteTo(w)
	return err
}

// widen keeps a logarithmic axis from having no length.
func widen(low, high float64) (float64, float64) {
	if high < low*1.01 {
		return low / 2, high * 2
	}
	return low, high
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func (p *Plot) axes(pl *plot.Plot) {
	pl.Title.Text, pl.X.Label.Text, pl.Y.Label.Text = p.Title, p.X, p.Y
	pl.Title.TextStyle.Font, pl.Title.Padding = sans(10), 2*vg.Millimeter
	for _, a := range []*plot.Axis{&pl.X, &pl.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans(9), sans(8)
		a.Tick.Marker = plot.TickerFunc(ticks)
	}
	if p.LogX {
		pl.X.Scale, pl.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if p.LogY {
		pl.Y.Scale, pl.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	pl.Add(grid)
}

// ticks puts five to ten labels at multiples of 1, 2 or 5 times a power of ten. gonum's own are three or four.
func ticks(low, high float64) (all []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/5)))
	for _, times := range []float64{5, 2} {
		if (high-low)/(step*times) >= 5 {
			step *= times
			break
		}
	}
	digits := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	for i := math.Ceil(low/step - 1e-9); i*step <= high*(1+1e-12); i++ {
		all = append(all, plot.Tick{Value: i * step, Label: strconv.FormatFloat(i*step+0, 'f', digits, 64)})
	}
	return all
}

// points is what of a series can be drawn, with the bounds of its intervals.
type points struct {
	plotter.XYs
	low, high []float64
}

// YError is the interval below and above point i.
func (ps points) YError(i int) (float64, float64) { return ps.Y(i) - ps.low[i], ps.high[i] - ps.Y(i) }

// Y is the height of point i.
func (ps points) Y(i int) float64 { return ps.XYs[i].Y }

func (p *Plot) points(s Series) (ps points) {
	good := func(x float64, log bool) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) && (!log || x > 0) }
	for i := range s.X {
		if !good(s.X[i], p.LogX) || !good(s.Y[i], p.LogY) {
			continue
		}
		ps.XYs = append(ps.XYs, plotter.XY{X: s.X[i], Y: s.Y[i]})
		if s.Low != nil {
			low, high := s.Low[i], s.High[i]
			if !good(low, p.LogY) || !good(high, p.LogY) {
				low, high = s.Y[i], s.Y[i]
			}
			ps.low, ps.high = append(ps.low, low), append(ps.high, high)
		}
	}
	return ps
}

// add draws a series and says how many points it has. The round counts how often the palette was used up: dashes tell
// those apart.
func (p *Plot) add(pl *plot.Plot, legend *plot.Legend, s Series, c color.RGBA, round int) (int, error) {
	if s.Kind == Spans {
		return p.addSpans(pl, legend, s, c), nil
	}
	ps := p.points(s)
	if len(ps.XYs) == 0 {
		return 0, nil
	}
	line, scatter, err := plotter.NewLinePoints(ps.XYs)
	if err != nil {
		return 0, err
	}
	line.Color, line.Width = c, vg.Points(1.4)
	scatter.Color, scatter.Radius, scatter.Shape = c, vg.Points(2.2), draw.CircleGlyph{}
	if round > 0 {
		line.Dashes = []vg.Length{vg.Points(float64(2 * round)), vg.Points(2)}
	}
	if s.Published {
		line.Dashes, scatter.Shape = []vg.Length{vg.Points(5), vg.Points(3)}, draw.RingGlyph{}
	}
	thumbs := []plot.Thumbnailer{line}
	switch s.Kind {
	case Points:
		pl.Add(scatter)
		thumbs[0] = scatter
	case Bars:
		line.StepStyle, line.Width = plotter.PostStep, vg.Points(0.7)
		line.FillColor = color.NRGBA{c.R, c.G, c.B, 90}
		pl.Add(line)
	case Steps:
		line.StepStyle = plotter.PostStep
		pl.Add(line)
	default:
		pl.Add(line)
		if len(ps.XYs) <= 40 {
			pl.Add(scatter)
			thumbs = append(thumbs, scatter)
		}
	}
	if s.Low != nil {
		bars, err := plotter.NewYErrorBars(ps)
		if err != nil {
			return 0, err
		}
		bars.Color = c
		pl.Add(bars)
	}
	legend.Add(s.Name, thumbs...)
	return len(ps.XYs), nil
}
